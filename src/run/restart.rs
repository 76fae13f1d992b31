//! Writes and reads the state that a checkpoint holds beside the particles.

use std::collections::BTreeMap;
use std::path::Path;

use super::changes::Changes;
use crate::comm::Communicator;
use crate::deck::{self, Checked};
use crate::neighborhood::{Chosen, Costs, InteractionRange, Method, NeighborSettings, Skins};
use crate::particles::{Field, Role};
use crate::plan::Plan;
use crate::report::box_text;
use crate::snapshot::{self, CheckpointState, Table};
use crate::start::{species, units};
use crate::step::Simulation;
use crate::units::UnitSystem;
use crate::{Error, Result};

/// Names of the checkpoint numbers that hold the units of mass, length and time in cgs.
const UNITS: [&str; 3] = ["unit_mass", "unit_length", "unit_time"];

/// State of the outputs that survives a restart.
#[derive(Clone, Debug, Default)]
pub struct OutputState {
    /// Conserved energy at the start; not a number if unknown.
    pub first_energy: f64,
    /// Number of snapshots written.
    pub snapshots: u64,
    /// The step of the last snapshot.
    pub last_snapshot: Option<u64>,
    /// Measurement tables of the checkpoint; taken when the measurements resume.
    pub tables: BTreeMap<String, Table>,
}

impl OutputState {
    /// Returns the checkpoint state beside the particles, which [`read_checkpoint`] reads back. `tables` are
    /// the current tables of the measurements.
    pub fn checkpoint_state(
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
            counters: serde_json::json!({
                "snapshots": self.snapshots,
                "last_snapshot": self.last_snapshot,
                "species": species,
                "neighbor_candidates": simulation.candidates,
            }),
            numbers: [
                ("first_energy", self.first_energy),
                ("skin", skins.outer),
                ("inner_skin", skins.inner.unwrap_or(0.0)),
                ("heat", simulation.heat),
            ]
            .into_iter()
            .chain(units)
            .chain(simulation.list_costs.into_iter().flat_map(Costs::to_numbers))
            .chain(simulation.chosen.into_iter().flat_map(Chosen::to_numbers))
            .map(|(name, number)| (name.to_owned(), number))
            .collect(),
            tables,
        }
    }
}

/// Adopts the method of a checkpoint where the deck leaves it open.
fn adopt_choice(state: &CheckpointState, simulation: &mut Simulation) {
    let Some(chosen) = Chosen::from_numbers(|name| state.numbers.get(name).copied()) else { return };
    let NeighborSettings { method, symmetric, skins } = chosen.settings;
    let plan = &simulation.plan.neighbors;
    let open = Method::of(plan.method).is_none_or(|wanted| wanted == method)
        && plan.symmetric.is_none_or(|wanted| wanted == symmetric)
        && plan.skin.is_none_or(|wanted| wanted == skins.outer)
        && (simulation.hydrodynamics.is_some() || simulation.list_costs.is_some());
    if !open {
        return;
    }
    if !chosen.on_device {
        let skins = simulation.neighborhood.skins();
        let settings = NeighborSettings { skins, ..chosen.settings };
        simulation.neighborhood.set(&settings);
        simulation.domain.set_pair_sharing(simulation.neighborhood.across());
    }
    simulation.chosen = Some(chosen);
    simulation.candidates = state.counters["neighbor_candidates"].clone();
}

/// A checkpoint to continue under a deck.
pub struct Restart {
    /// The deck, its species in the order of the checkpoint's.
    pub deck: Checked,
    /// The state of the checkpoint.
    pub simulation: Simulation,
    /// Output state to continue with.
    pub output_state: OutputState,
    /// Notes for the user: the box, the changes of the deck.
    pub notes: Vec<String>,
}

/// Reads a checkpoint to continue under `deck`, which may differ from the checkpoint's deck in everything
/// that a restart can apply. Species are matched by name and take mass and charge from the deck.
///
/// # Errors
/// On all ranks: [`Error::File`], [`Error::Content`], [`Error::Deck`] for conflicts with the checkpoint's
/// defaults, and [`Error::Usage`] if the deck needs fields that the checkpoint lacks, lacks one of its
/// species, has other units, or describes another start.
pub fn read_checkpoint(deck: &Checked, comm: &Communicator, path: &Path) -> Result<Restart> {
    let (state, mut particles) = snapshot::read_checkpoint(path, comm)?;
    let (mut deck, old_defaults) =
        deck.with_defaults_of(&state.deck).map_err(|report| Error::Deck { report: report.to_string() })?;
    let mut changes = Changes::between(&state.deck, &deck.resolved);
    // every key of a new section is a change, even one with its default value
    let had_section = |key: &str| {
        let header = key.rsplit_once('.').map(|(section, _)| format!("[{section}]"));
        header.is_some_and(|header| state.deck.lines().any(|line| line == header))
    };
    changes.ignore_new_defaults(|key| had_section(key) && deck::is_default(&deck.resolved, key));
    if deck.plan.space.boundary == Some(state.bx.boundary) {
        changes.ignore("space.boundary");
    }
    adopt_units(&state, &mut deck.plan, path)?;
    changes.check_applicable(path)?;
    let names = species_names(&state);
    let other = |what: String, remedy: String| Error::usage(format!("{}: {what}", path.display()), remedy);
    if !names.is_empty() {
        let order = species::indices(&names, &deck.plan);
        let order = order.map_err(|mismatch| other(mismatch.what, mismatch.remedy))?;
        deck.plan.order_species(order);
    }
    let plan = &deck.plan;
    let fields = Simulation::fields(plan);
    let set_by_species = |field: Field| {
        !names.is_empty() && [Field::Mass, Field::Charge].contains(&field)
            || plan.species.len() <= 1 && field == Field::Species
    };
    let missing = fields.iter().find(|&&field| {
        // image counts may start anywhere
        field.role() == Role::State
            && field != Field::Image
            && !set_by_species(field)
            && !particles.has(field)
    });
    if let Some(field) = missing {
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
    // without a thermostat the heat of an earlier one is no longer counted: another energy is conserved
    let energy_redefined = heat != 0.0 && !plan.motion.exchanges_heat();
    simulation.heat = if energy_redefined { 0.0 } else { heat };
    let settings = &plan.time_step;
    let largest = settings.largest.unwrap_or(f64::INFINITY);
    simulation.next_step = settings.fixed.unwrap_or(state.time_step.min(largest));
    // skins outside the bounds of the deck's key are ignored
    let skin = |name: &str| state.numbers.get(name).copied().filter(|skin| (0.0..=1.0).contains(skin));
    if let (None, Some(outer)) = (plan.neighbors.skin, skin("skin")) {
        let inner = skin("inner_skin").filter(|inner| *inner > 0.0);
        simulation.neighborhood.set_skins(Skins { outer, inner });
    }
    if let InteractionRange::Cutoff(cutoff) = simulation.neighborhood.reach() {
        let widest = Skins::widest(&simulation.domain.bx, cutoff);
        let costs = Costs::from_numbers(|name| state.numbers.get(name).copied(), widest);
        // costs measured with another cutoff do not apply
        simulation.list_costs = costs.filter(|costs| costs.cutoff == cutoff);
    }
    adopt_choice(&state, &mut simulation);
    let mut notes = vec![format!("box: {} (of the checkpoint)", box_text(&simulation.domain.bx))];
    if !old_defaults.is_empty() {
        notes.push(format!(
            "the checkpoint's defaults go on where the deck writes nothing: {}; write a key to change it",
            old_defaults.join(", ")
        ));
    }
    notes.extend(changes.text());
    let first_energy = state.numbers.get("first_energy").copied();
    let first_energy = first_energy.filter(|_| !changes.affects_forces() && !energy_redefined);
    if changes.affects_forces() {
        notes.push(
            "the energy drift counts from here, since forces or energies are others than before".into(),
        );
    }
    if changes.affects_masses_or_charges() {
        refuse_changed_trajectory(plan)?;
    }
    let output_state = OutputState {
        // an unknown first energy is replaced by the first one observed
        first_energy: first_energy.unwrap_or(f64::NAN),
        snapshots: state.counters["snapshots"].as_u64().unwrap_or(0),
        last_snapshot: state.counters["last_snapshot"].as_u64(),
        tables: state.tables,
    };
    Ok(Restart { deck, simulation, output_state, notes })
}

/// Returns the species names of the checkpoint in the order of its species indices; version 0.1.0 stored them
/// in the deck only.
fn species_names(state: &CheckpointState) -> Vec<String> {
    match state.counters["species"].as_array() {
        Some(names) => names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
        None => deck::species_names(&state.deck),
    }
}

/// Checks that the deck has the checkpoint's unit system, and adopts the cgs units of the file that the run
/// started from.
fn adopt_units(state: &CheckpointState, plan: &mut Plan, path: &Path) -> Result<()> {
    let table = state.deck.parse::<toml::Table>().ok();
    let system = table.as_ref().and_then(|deck| deck.get("units")?.get("system")?.as_str());
    units::same_as(path, system.unwrap_or(UnitSystem::Reduced.name()), plan)?;
    for (unit, name) in plan.units.cgs.iter_mut().zip(UNITS) {
        *unit = state.numbers.get(name).copied().unwrap_or(*unit);
    }
    Ok(())
}

/// Refuses to continue a trajectory after a change of masses or charges, since it states them once.
fn refuse_changed_trajectory(plan: &Plan) -> Result<()> {
    let trajectory = plan.output.trajectory.as_ref();
    let stated = trajectory.and_then(|trajectory| trajectory.format.constants_name());
    match stated.map(|name| plan.output.directory.join(name)).filter(|path| path.exists()) {
        Some(path) => Err(Error::usage(
            format!("{} has masses and charges of before, and the deck has others", path.display()),
            "choose another folder with --set output.directory=...",
        )),
        None => Ok(()),
    }
}
