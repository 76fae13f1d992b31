//! How a simulation finds its pairs, on processors or the device: method, half or full lists, skins.

use super::{Resident, Simulation};
use crate::Result;
use crate::device::{Device, gas};
use crate::memory;
use crate::neighborhood::{Chosen, Method, NeighborSettings, Skins, search_needs_a_gpu};
use crate::plan::{self, Plan};
use crate::space::SimulationBox;

/// Skin of molecules on processors, as a fraction of the cutoff, before list costs have been measured.
pub(super) const FIRST_SKIN: f64 = 0.2;

/// Skins of a plan's lists. For molecules the outer skin defaults to `open`, or to the widest that fits the
/// box if that is less.
pub(super) fn first_skins(plan: &Plan, space: &SimulationBox, open: f64) -> Skins {
    let Some(interaction) = &plan.interaction else {
        return Skins { outer: plan.neighbors.min_skin(), inner: None };
    };
    let room = Skins::widest(space, interaction.cutoff).max(0.0);
    let outer = plan.neighbors.skin.unwrap_or(open.min(room));
    let inner = plan.neighbors.inner_skin.unwrap_or(0.3 * outer);
    Skins { outer, inner: (inner > 0.0).then_some(inner) }
}

/// Default skin of molecules on a device, as a fraction of the cutoff, before list costs have been measured.
/// List builds are fast there, so it is smaller than the skins that processors choose.
const FIRST_SKIN_ON_DEVICE: f64 = 0.22;

impl Simulation {
    /// The present method and skins.
    pub fn neighbors(&self) -> NeighborSettings {
        match self.residence.resident() {
            Some(Resident::Verlet(verlet)) => verlet.neighbors(),
            Some(Resident::Gas(gas)) => gas.neighbors(),
            None => self.neighborhood.settings(),
        }
    }

    /// Sets method and skins; the next force evaluation builds what they need. Collective.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a search on processors; those of the device.
    pub fn set_neighbors(&mut self, settings: &NeighborSettings) -> Result<()> {
        self.forget_list_lifetime();
        if let Some(resident) = self.residence.change() {
            let set = match resident {
                Resident::Verlet(verlet) => verlet.set_neighbors(settings),
                Resident::Gas(gas) => gas.set_neighbors(settings),
            };
            return self.domain.comm.agree(set);
        }
        if settings.method == Method::Search {
            return Err(search_needs_a_gpu());
        }
        self.neighborhood.set(settings);
        self.domain.set_pair_sharing(self.neighborhood.across());
        Ok(())
    }

    /// Skins before any were measured: those of the deck, else defaults for processors or the device.
    pub fn first_skins(&self) -> Skins {
        let open = if self.is_resident() { FIRST_SKIN_ON_DEVICE } else { FIRST_SKIN };
        first_skins(&self.plan, &self.domain.bx, open)
    }

    /// Settings for a device: what was chosen on one, else those of the deck. Collective.
    ///
    /// # Errors
    /// Those of the device, on all ranks.
    pub(super) fn settings_for_device(&self, device: &Device) -> Result<NeighborSettings> {
        if let Some(chosen) = self.chosen.filter(|chosen| chosen.on_device) {
            return Ok(chosen.settings);
        }
        let method = match (self.plan.neighbors.method, &self.plan.sph) {
            (None, Some(_)) => {
                let (comm, rows) = (&self.domain.comm, self.particles.owned().len());
                let fit = gas::particle_lists_fit(device, comm, rows, self.precision);
                // the same on all ranks
                let mut lacking = [u64::from(!comm.agree_on(fit)?)];
                comm.all_max(&mut lacking);
                if lacking[0] == 0 { Method::Particles } else { Method::Clusters }
            }
            (method, _) => Method::before_choice(method),
        };
        let half = self.plan.sph.is_none() && method == Method::Clusters;
        Ok(NeighborSettings {
            method,
            symmetric: half && self.plan.neighbors.symmetric.unwrap_or(true),
            skins: first_skins(&self.plan, &self.domain.bx, FIRST_SKIN_ON_DEVICE),
        })
    }

    /// Notes on keys of `[neighbors]` in the deck that have no effect on a device.
    pub fn unused_on_device(&self) -> Vec<String> {
        let plan = &self.plan.neighbors;
        let method = Method::before_choice(plan.method);
        let gas = self.plan.sph.is_some();
        let full = gas || method == Method::Particles;
        let why = if gas { "gas has full lists there" } else { "lists of particles are full there" };
        let keys = [
            (plan.symmetric == Some(true) && full, "symmetric = true", why),
            (plan.coding == plan::Coding::Plain, "coding = \"plain\"", "lists have codes of their own there"),
            (plan.inner_skin.is_some_and(|skin| skin > 0.0), "inner_skin", "there is one list"),
        ];
        let unused = keys.into_iter().filter(|(unused, ..)| *unused);
        unused.map(|(_, key, why)| format!("neighbors.{key} has no effect on a GPU: {why}")).collect()
    }

    /// Whether lists of particles could not number the neighbors at the last build, so that lists of clusters
    /// are swept.
    pub fn particle_lists_fell_back(&self) -> bool {
        match self.residence.resident() {
            Some(Resident::Verlet(verlet)) => verlet.fell_back(),
            Some(Resident::Gas(gas)) => gas.fell_back(),
            None => false,
        }
    }

    /// Bytes of lists or cells of this rank, beside the particles.
    pub fn neighbor_bytes(&self) -> u64 {
        match self.residence.resident() {
            Some(Resident::Verlet(verlet)) => verlet.neighbor_bytes() as u64,
            Some(Resident::Gas(gas)) => gas.neighbor_bytes() as u64,
            None => self.neighborhood.bytes(),
        }
    }

    /// Free memory for the particles of this rank: that of its device, or its share of the machine's (bytes).
    pub fn free_memory(&self) -> f64 {
        let free = match self.residence.resident() {
            Some(resident) => resident.columns().device().memory().map(|(free, _)| free as f64).ok(),
            None => None,
        };
        free.unwrap_or_else(|| memory::available() / self.domain.comm.of_host().1.max(1) as f64)
    }

    /// Gives memory that candidates have left back to the system.
    ///
    /// # Errors
    /// Those of the device.
    pub fn release_freed_memory(&self) -> Result<()> {
        match self.residence.resident() {
            Some(resident) => resident.columns().device().release_freed(),
            None => Ok(()),
        }
    }

    /// Number of particles of this rank.
    pub fn owned(&self) -> usize {
        match self.residence.resident() {
            Some(resident) => resident.columns().owned().len(),
            None => self.particles.owned().len(),
        }
    }

    /// The list is dropped before its skin is used up: how long it has served says nothing of speeds.
    pub(super) fn forget_list_lifetime(&mut self) {
        self.chosen = self.chosen.map(|chosen| Chosen { built_at_step: None, ..chosen });
    }

    /// Whether the pairs of molecules are only a part of their forces.
    pub fn has_mesh(&self) -> bool {
        self.molecules.as_ref().is_some_and(|molecules| molecules.ewald().is_some())
    }
}
