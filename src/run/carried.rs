//! What a checkpoint carries beside the particles, as it is written and as it is read back.

use std::collections::BTreeMap;
use std::path::Path;

use crate::comm::Communicator;
use crate::deck::plan::Plan;
use crate::neighbors::{Costs, Reach, Skins};
use crate::particles::{Field, Role};
use crate::snapshot::{self, CheckpointState, Table};
use crate::start::species_known;
use crate::step::Simulation;
use crate::{Error, Result};

/// What outputs carry over a restart.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// Conserved energy at the start.
    pub first_energy: f64,
    /// Number of snapshots written.
    pub snapshots: u64,
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
        CheckpointState {
            step: simulation.step,
            time: simulation.time,
            time_step: simulation.next_step,
            bx: simulation.domain.bx,
            title: simulation.plan.title.clone(),
            deck: deck.to_owned(),
            counters: serde_json::json!({ "snapshots": self.snapshots }),
            numbers: [
                ("first_energy", self.first_energy),
                ("skin", skins.outer),
                ("inner_skin", skins.inner.unwrap_or(0.0)),
                ("heat", simulation.heat),
            ]
            .into_iter()
            .chain(simulation.list_costs.into_iter().flat_map(Costs::to_numbers))
            .map(|(name, number)| (name.to_owned(), number))
            .collect(),
            tables,
        }
    }
}

/// The simulation that a checkpoint holds, under a plan that may differ in anything but the particles' fields.
///
/// # Errors
/// On all ranks: [`Error::File`], [`Error::Content`], and [`Error::Usage`] where the plan needs fields that the checkpoint
/// lacks, or the checkpoint has particles of a species that the plan lacks.
pub fn read_checkpoint(plan: &Plan, comm: &Communicator, path: &Path) -> Result<(Simulation, Carried)> {
    let (state, mut particles) = snapshot::read_checkpoint(path, comm)?;
    let fields = Simulation::fields(plan);
    let lacking = fields.iter().find(|&&field| {
        // a count of periods may begin anywhere
        field.role() == Role::State && field != Field::Image && !particles.has(field)
    });
    let other =
        |what: String| Error::usage(what, "restart with the deck that the checkpoint was written with");
    if let Some(field) = lacking {
        return Err(other(format!(
            "the deck needs {}, which {} does not hold",
            field.name(),
            path.display()
        )));
    }
    // without an interaction nothing depends on the species
    if plan.interaction.is_some() {
        let known = species_known(&particles, plan);
        comm.agree(known.map_err(|what| other(format!("in {} {what}", path.display()))))?;
    }
    particles.add(&fields);
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
    let first_energy = state.numbers.get("first_energy").copied();
    let carried = Carried {
        first_energy: first_energy.filter(|_| !other_energy).unwrap_or(f64::NAN),
        snapshots: state.counters["snapshots"].as_u64().unwrap_or(0),
        tables: state.tables,
    };
    Ok((simulation, carried))
}
