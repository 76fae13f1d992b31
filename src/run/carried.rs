//! What a checkpoint carries beside the particles, as it is written and as it is read back.

use std::collections::BTreeMap;
use std::path::Path;

use super::changes::Changes;
use crate::comm::Communicator;
use crate::deck::plan::{Plan, TrajectoryFormat, TrajectoryPlan};
use crate::deck::{self, Checked};
use crate::neighbors::{Costs, Reach, Skins};
use crate::particles::{Field, Role};
use crate::report::box_text;
use crate::snapshot::{self, CheckpointState, Table};
use crate::start::{species, units};
use crate::step::Simulation;
use crate::units::UnitSystem;
use crate::{Error, Result};

/// The numbers of a checkpoint that are its units of mass, length and time in cgs.
const UNITS: [&str; 3] = ["unit_mass", "unit_length", "unit_time"];

/// What outputs carry over a restart.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// Conserved energy at the start.
    pub first_energy: f64,
    /// Number of snapshots written.
    pub snapshots: u64,
    /// The step of the last of them.
    pub last_snapshot: Option<u64>,
    /// What measurements have carried so far; taken when they go on.
    pub tables: BTreeMap<String, Table>,
}

impl Carried {
    /// All that a checkpoint of a simulation holds beside the particles; [`read_checkpoint`] reads it back. `tables` are those
    /// that measurements carry now.
    pub fn state(
        &self,
        simulation: &Simulation,
        deck: &str,
        tables: BTreeMap<String, Table>,
    ) -> CheckpointState {
        let skins = simulation.neighborhood.skins();
        let species: Vec<&str> = simulation.plan.species.iter().map(|kind| kind.name.as_str()).collect();
        let units = UNITS.into_iter().zip(simulation.plan.units.cgs);
        CheckpointState {
            step: simulation.step,
            time: simulation.time,
            time_step: simulation.next_step,
            bx: simulation.domain.bx,
            title: simulation.plan.title.clone(),
            deck: deck.to_owned(),
            counters: serde_json::json!({ "snapshots": self.snapshots, "last_snapshot": self.last_snapshot, "species": species }),
            numbers: [
                ("first_energy", self.first_energy),
                ("skin", skins.outer),
                ("inner_skin", skins.inner.unwrap_or(0.0)),
                ("heat", simulation.heat),
            ]
            .into_iter()
            .chain(units)
            .chain(simulation.list_costs.into_iter().flat_map(Costs::to_numbers))
            .map(|(name, number)| (name.to_owned(), number))
            .collect(),
            tables,
        }
    }
}

/// A checkpoint that goes on under a deck.
pub struct Restart {
    /// The deck, its species in the order of the checkpoint's.
    pub deck: Checked,
    /// The state of the checkpoint.
    pub simulation: Simulation,
    /// What outputs go on with.
    pub carried: Carried,
    /// What a user should know: the box, the changes of the deck.
    pub notes: Vec<String>,
}

/// The simulation that a checkpoint holds, under a deck that may differ from the checkpoint's in all that a restart can apply.
/// Species are those of the same names, with mass and charge as the deck has them.
///
/// # Errors
/// On all ranks: [`Error::File`], [`Error::Content`], and [`Error::Usage`] where the deck needs fields that the checkpoint
/// lacks, lacks a species that it has, is in other units, or describes another start.
pub fn read_checkpoint(deck: &Checked, comm: &Communicator, path: &Path) -> Result<Restart> {
    let (state, mut particles) = snapshot::read_checkpoint(path, comm)?;
    let (mut deck, kept) =
        deck.with_defaults_of(&state.deck).map_err(|report| Error::Deck { report: report.to_string() })?;
    let mut changes = Changes::between(&state.deck, &deck.resolved);
    // a section that is new is a change, whatever is written in it
    let had_section = |key: &str| {
        let header = key.rsplit_once('.').map(|(section, _)| format!("[{section}]"));
        header.is_some_and(|header| state.deck.lines().any(|line| line == header))
    };
    changes.forget_new(|key| had_section(key) && deck::is_default(&deck.resolved, key));
    if deck.plan.space.boundary == Some(state.bx.boundary) {
        changes.forget("space.boundary");
    }
    same_units(&state, &mut deck.plan, path)?;
    changes.applicable(path)?;
    let names = names_of(&state);
    let other = |what: String, remedy: String| Error::usage(format!("{}: {what}", path.display()), remedy);
    if !names.is_empty() {
        let order = species::indices(&names, &deck.plan);
        let order = order.map_err(|mismatch| other(mismatch.what, mismatch.remedy))?;
        deck.plan.order_species(order);
    }
    let plan = &deck.plan;
    let fields = Simulation::fields(plan);
    let of_species = |field: Field| {
        !names.is_empty() && [Field::Mass, Field::Charge].contains(&field)
            || names.len() == 1 && field == Field::Species
    };
    let lacking = fields.iter().find(|&&field| {
        // a count of periods may begin anywhere
        field.role() == Role::State && field != Field::Image && !of_species(field) && !particles.has(field)
    });
    if let Some(field) = lacking {
        return Err(other(
            format!("the deck needs {}, which it does not hold", field.name()),
            "restart with the deck that the checkpoint was written with".into(),
        ));
    }
    particles.add(&fields);
    if !names.is_empty() {
        let assigned = species::assign(&mut particles, &names, plan);
        comm.agree(assigned.map_err(|mismatch| other(mismatch.what, mismatch.remedy)))?;
    }
    let mut simulation = Simulation::new(plan.clone(), comm, state.bx, particles);
    (simulation.time, simulation.step) = (state.time, state.step);
    let heat = state.numbers.get("heat").copied().unwrap_or(0.0);
    // without a bath nothing tells of the heat of a former one: the energy that is conserved is another one
    let other_energy = heat != 0.0 && !plan.motion.exchanges_heat();
    simulation.heat = if other_energy { 0.0 } else { heat };
    let settings = &plan.time_step;
    let largest = settings.largest.unwrap_or(f64::INFINITY);
    simulation.next_step = settings.fixed.unwrap_or(state.time_step.min(largest));
    // those of a deck's bounds
    let skin = |name: &str| state.numbers.get(name).copied().filter(|skin| (0.0..=1.0).contains(skin));
    if let (None, Some(outer)) = (plan.neighbors.skin, skin("skin")) {
        let inner = skin("inner_skin").filter(|inner| *inner > 0.0);
        simulation.neighborhood.set_skins(Skins { outer, inner });
        if let Reach::Cutoff(cutoff) = simulation.neighborhood.reach() {
            let widest = Skins::widest(&simulation.domain.bx, cutoff);
            let costs = Costs::from_numbers(|name| state.numbers.get(name).copied(), widest);
            // those of another cutoff tell nothing
            simulation.list_costs = costs.filter(|costs| costs.cutoff == cutoff);
        }
    }
    let mut notes = vec![format!("box: {} (of the checkpoint)", box_text(&simulation.domain.bx))];
    if !kept.is_empty() {
        notes.push(format!(
            "the checkpoint's defaults go on where the deck writes nothing: {}; write a key to change it",
            kept.join(", ")
        ));
    }
    notes.extend(changes.text());
    let first_energy = state.numbers.get("first_energy").copied();
    let first_energy = first_energy.filter(|_| !changes.physics() && !other_energy);
    if changes.physics() {
        notes.push(
            "the energy drift counts from here, since forces or energies are others than before".into(),
        );
    }
    if changes.masses_or_charges() {
        trajectory_of_others(plan)?;
    }
    let carried = Carried {
        // one that is not known is that of the first energy that is observed
        first_energy: first_energy.unwrap_or(f64::NAN),
        snapshots: state.counters["snapshots"].as_u64().unwrap_or(0),
        last_snapshot: state.counters["last_snapshot"].as_u64(),
        tables: state.tables,
    };
    Ok(Restart { deck, simulation, carried, notes })
}

/// The names of the checkpoint's species, in the order of its numbers; version 0.1.0 kept them in the deck alone.
fn names_of(state: &CheckpointState) -> Vec<String> {
    match state.counters["species"].as_array() {
        Some(names) => names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
        None => deck::species_names(&state.deck),
    }
}

/// See that the deck computes in the checkpoint's units, and let it write those of the file that the run started from.
fn same_units(state: &CheckpointState, plan: &mut Plan, path: &Path) -> Result<()> {
    let table = state.deck.parse::<toml::Table>().ok();
    let system = table.as_ref().and_then(|deck| deck.get("units")?.get("system")?.as_str());
    units::same_as(path, system.unwrap_or(UnitSystem::Reduced.name()), plan)?;
    for (unit, name) in plan.units.cgs.iter_mut().zip(UNITS) {
        *unit = state.numbers.get(name).copied().unwrap_or(*unit);
    }
    Ok(())
}

/// A trajectory states masses and charges once, so that one with others cannot go on.
fn trajectory_of_others(plan: &Plan) -> Result<()> {
    let h5md = |trajectory: &TrajectoryPlan| trajectory.format == TrajectoryFormat::H5md;
    let path = plan.output.directory.join("trajectory.h5md");
    if !plan.output.trajectory.as_ref().is_some_and(h5md) || !path.exists() {
        return Ok(());
    }
    Err(Error::usage(
        format!("{} has masses and charges of before, and the deck has others", path.display()),
        "choose another folder with --set output.directory=...",
    ))
}
