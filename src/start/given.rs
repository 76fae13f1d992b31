//! Starts from particles that a caller of the crate gives, and the rules for their values.

use std::collections::HashSet;
use std::path::Path;

use super::file::{self, check_fields, fit_to_plan, unused_fields};
use super::start_box::Enclosure;
use super::{Start, check_particle_count};
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::plan::{GIVEN_PARTICLES, Plan};
use crate::snapshot::Header;
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::units::UnitSystem;
use crate::{Error, Result};

/// Builds the start of a plan ([`crate::deck::examine_for_session`]) from `particles` in the plan's units,
/// as from a file without a box. All rows are owned. Of their fields, position, velocity, mass, smoothing
/// length, internal energy, viscosity, species and charge are taken; missing ones are set as for files. A
/// note names those that the plan does not use.
/// `species` are the names that values of the species field index. Species set masses and charges. `fields`
/// are the columns to allocate.
///
/// # Errors
/// [`Error::Content`] for other fields, values that cannot be, repeated ids, particles that lack what the
/// plan needs, a periodic box that the plan does not state; [`Error::Usage`] for too many particles.
pub fn given(plan: &Plan, species: &[String], mut particles: Particles, fields: &[Field]) -> Result<Start> {
    let comm = Communicator::solo();
    check_particle_count(particles.len() as u64, &comm)?;
    if let Some(field) = particles.fields().iter().find(|field| !file::FIELDS.contains(field)) {
        let known = file::FIELDS.map(Field::name).join(", ");
        return Err(refused(
            &format!("they have the field {}, which no start takes", field.name()),
            &format!("leave it out: a start takes {known}"),
        ));
    }
    let unused = unused_fields(plan, &particles, false);
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
    let (particles, Enclosure { bx, mut notes }) =
        fit_to_plan(path, &header, &particles, plan, &comm, fields)?;
    if !unused.is_empty() {
        let unused = unused.join(", ");
        notes.push(format!(
            "{GIVEN_PARTICLES}: their {unused} are not used: the deck states them, or nothing in it uses them"
        ));
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::examine_for_session;

    const ARGON: &str = "[run]\nsteps = 1\n[units]\nsystem = \"molecular\"\n\
        [species.Ar]\nmass = 39.948\nepsilon = \"119.8 K\"\nsigma = \"3.405 angstrom\"\n\
        [space]\nboundary = \"periodic\"\nlower = [0.0, 0.0, 0.0]\nupper = [4.0, 4.0, 4.0]\n\
        [interaction.lennard-jones]\ncutoff = \"8 angstrom\"\n[time_step]\nfixed = \"5 fs\"\n";

    /// The start of two particles with these fields beside the position, all 1.
    fn start(fields: &[Field]) -> Result<Start> {
        let plan = examine_for_session("deck", ARGON, &[], true).unwrap_or_else(|report| panic!("{report}"));
        let mut particles = Particles::new(&[&[Field::Position], fields].concat(), 2);
        particles.set_vector(Field::Position, 1, Vec3d::repeat(1.0));
        for &field in fields {
            (0..field.components()).for_each(|d| particles.component_mut(field, d).fill(1.0));
        }
        given(&plan.plan, &[], particles, &[Field::Position, Field::Velocity, Field::Mass])
    }

    #[test]
    fn fields_that_are_not_used_are_noted() {
        let note = |fields: &[Field]| start(fields).unwrap().notes.join("\n");
        assert!(!note(&[Field::Velocity]).contains("not used"));
        let noted = note(&[Field::Mass, Field::Charge, Field::InternalEnergy]);
        assert!(noted.contains("their internal_energy, mass, charge are not used"), "{noted}");
    }

    #[test]
    fn fields_that_no_start_takes_are_refused() {
        let error = start(&[Field::Density]).err().unwrap().to_string();
        assert!(error.contains("field density") && error.contains("leave it out"), "{error}");
    }
}
