//! Starts from particles that a caller of the crate gives, and the rules for their values.

use std::collections::HashSet;
use std::path::Path;

use super::file::{self, check_fields, fit_to_plan};
use super::start_box::Enclosure;
use super::{Start, check_particle_count};
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::plan::{GIVEN_PARTICLES, Plan};
use crate::snapshot::Header;
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::units::UnitSystem;
use crate::{Error, Result};

/// Builds the start of a plan ([`crate::deck::examine_without_start`]) from `particles` in the plan's units,
/// as from a file without a box. All rows are owned. Of their fields, position, velocity, mass, smoothing
/// length, internal energy, viscosity, species and charge are taken; missing ones are set as for files.
/// `species` are the names that values of the species field index. Species set masses and charges. `fields`
/// are the columns to allocate.
///
/// # Errors
/// [`Error::Content`] for values that cannot be, repeated ids, particles that lack what the plan needs, a
/// periodic box that the plan does not state; [`Error::Usage`] for too many particles.
pub fn given(plan: &Plan, species: &[String], mut particles: Particles, fields: &[Field]) -> Result<Start> {
    let comm = Communicator::solo();
    check_particle_count(particles.len() as u64, &comm)?;
    if !particles.has(Field::Mass) {
        if plan.species.is_empty() && plan.units.system != UnitSystem::Reduced {
            return Err(refused(
                "they have no masses",
                "give masses, or the deck [species.NAME] with the mass",
            ));
        }
        particles.add(&[Field::Mass]);
        particles.scalar_mut(Field::Mass).fill(1.0);
    }
    for field in file::FIELDS.into_iter().filter(|&field| particles.has(field)) {
        check_values(&particles, field)?;
    }
    let mut known = HashSet::with_capacity(particles.len());
    if let Some(id) = particles.id.iter().find(|&&id| id > i64::MAX as u64 || !known.insert(id)) {
        return Err(refused(
            &format!("the id {id} occurs more than once, or is beyond 63 bits"),
            "give each particle an id of its own",
        ));
    }
    let unknown = SimulationBox {
        lower: Vec3d::repeat(-0.5),
        upper: Vec3d::repeat(0.5),
        boundary: [Boundary::Open; 3],
    };
    let header = Header { species: species.to_vec(), ..Header::new(unknown) };
    let path = Path::new(GIVEN_PARTICLES);
    check_fields(plan, &header, &particles, path)?;
    let (particles, Enclosure { bx, notes }) = fit_to_plan(path, &header, &particles, plan, &comm, fields)?;
    Ok(Start { bx, particles, units: plan.units.cgs, notes })
}

/// Checks the values of a field that a caller has set, in the owned rows: they are finite; masses and
/// smoothing lengths are positive, energies and viscosities not negative.
///
/// # Errors
/// [`Error::Content`] with the particle and the value.
pub fn check_values(particles: &Particles, field: Field) -> Result<()> {
    let (holds, rule): (fn(f64) -> bool, &str) = match field {
        Field::Mass | Field::SmoothingLength => (|value| value > 0.0 && value.is_finite(), "positive"),
        Field::InternalEnergy | Field::Viscosity => {
            (|value| value >= 0.0 && value.is_finite(), "not negative")
        }
        _ => (f64::is_finite, "finite"),
    };
    for component in 0..field.components() {
        let column = particles.component(field, component);
        if let Some(row) = particles.owned().find(|&row| !holds(column[row])) {
            return Err(refused(
                &format!("{} of particle {} is {}", field.name(), particles.id[row], column[row]),
                &format!("give values that are {rule}"),
            ));
        }
    }
    Ok(())
}

fn refused(what: &str, remedy: &str) -> Error {
    Error::Content { path: GIVEN_PARTICLES.into(), what: what.into(), remedy: remedy.into() }
}
