//! Domain decomposition: key ranges of the ranks, particle migration, halos.

pub mod assign;
pub mod decomposition;
pub mod halo;
pub(crate) mod halo_selection;
pub(crate) mod interaction_test;
mod migrate;
mod wrap;

use crate::Result;
use crate::comm::Communicator;
use crate::particles::{
    Field, OverlappedWork, Particles, ReactionExchange, ReturnedSums, SUPER_CLUSTER, SumWriter,
};
use crate::space::SimulationBox;
use crate::tree::bounds::Extent;
use crate::tree::leaves::Leaves;
use assign::Assignment;
use halo::Halos;
use halo_selection::{OwnBoxes, OwnRows};
pub(crate) use migrate::sort;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Assignment of pairs whose particles belong to two ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairSharing {
    /// Both ranks evaluate the pair: each has halos of all particles near its own.
    #[default]
    BothRanks,
    /// One rank evaluates the pair and returns the reaction to the other ([`Domain::give_back`]). No pair is
    /// evaluated twice, and there are about half as many halos. The lower rank evaluates the pairs with
    /// particles in the first half of the boxes of the higher rank, the higher rank all others.
    OneRank,
}

/// Settings of the decomposition.
#[derive(Clone, Copy, Debug)]
pub struct DomainSettings {
    /// Largest number of particles of a fine leaf.
    pub bucket_size: u64,
    /// Approximate number of coarse leaves per rank: more leaves balance better, fewer are cheaper to
    /// replicate.
    pub coarse_leaves_per_rank: u64,
    /// Assignment of pairs across ranks.
    pub across: PairSharing,
}

impl Default for DomainSettings {
    fn default() -> Self {
        Self { bucket_size: 64, coarse_leaves_per_rank: 96, across: PairSharing::BothRanks }
    }
}

/// The part of space that this rank owns, and its view of the other ranks.
#[derive(Clone, Debug)]
pub struct Domain {
    /// The simulation box; its open faces follow the particles.
    pub bx: SimulationBox,
    /// The ranks.
    pub comm: Communicator,
    /// Whether communication overlaps with work that needs no halos. True between hosts. On one host the
    /// cores copy the messages themselves: nothing would be hidden, and ranks would wait for each other once
    /// more.
    pub overlaps: bool,
    settings: DomainSettings,
    assignment: Assignment,
    halos: Halos,
    refreshed: Arc<ExchangeCounters>,
}

/// Counts of halo exchanges and of returned sums, also on one rank, which has no halos.
#[derive(Debug, Default)]
struct ExchangeCounters {
    halo_exchanges: Counter,
    sums_returned: Counter,
}

/// Number of exchanges, and number of columns in all of them.
#[derive(Debug, Default)]
struct Counter([AtomicU64; 2]);

impl Counter {
    fn add(&self, columns: usize) {
        self.0[0].fetch_add(1, Relaxed);
        self.0[1].fetch_add(columns as u64, Relaxed);
    }

    fn counts(&self) -> [u64; 2] {
        [0, 1].map(|k| self.0[k].load(Relaxed))
    }
}

impl Domain {
    /// Creates a domain without particles; [`Self::sync`] adds them.
    pub fn new(comm: Communicator, bx: SimulationBox, settings: DomainSettings) -> Self {
        let (ranks, (_, of_host)) = (comm.size(), comm.of_host());
        Self {
            bx,
            comm,
            overlaps: of_host < ranks,
            settings,
            assignment: Assignment::new(ranks),
            halos: Halos::default(),
            refreshed: Arc::default(),
        }
    }

    /// Moves the particles of all ranks to their owners, in key order, and attaches halos for pairs closer
    /// than the larger of their radii. Rows are laid out as [`crate::particles`] describes. State columns
    /// move, derived columns become zero.
    ///
    /// `radius` returns the radius of each row (length unit). It gets the owned particles in their new order;
    /// the content of rows reserved for halos is unspecified. Collective. The result depends on the state of
    /// all particles (position, id, work, radius) and the number of ranks, not on the previous owners.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0 if a position is not finite or too large, on the rank that owns
    /// it; [`crate::Error::Elsewhere`] on the others. The particles are unchanged then.
    pub fn sync(&mut self, particles: &mut Particles, radius: impl Fn(&Particles) -> Vec<f64>) -> Result<()> {
        self.bx = wrap::enter(&self.comm, &self.bx, particles)?;
        let sorted = migrate::sort(&self.bx, particles);
        let work = assign::work_prefix_sums(particles, &sorted.rows);
        self.assignment.update(&self.comm, &sorted.keys, &work, &self.settings);
        migrate::migrate(&self.comm, &self.assignment, sorted, particles, self.halos.room());
        self.add_halos(particles, radius);
        Ok(())
    }

    /// Finds and receives the halos again, for other radii of the same owned particles. Halo columns that are
    /// not exchanged become zero. Collective.
    pub fn renew_halos(&mut self, particles: &mut Particles, radius: impl Fn(&Particles) -> Vec<f64>) {
        halo::detach(particles);
        self.add_halos(particles, radius);
    }

    /// Finds and receives the halos of particles that have none.
    fn add_halos(&mut self, particles: &mut Particles, radius: impl Fn(&Particles) -> Vec<f64>) {
        let radius = radius(particles);
        self.halos =
            Halos::find(&self.comm, &self.bx, &self.assignment, particles, &radius, self.settings.across);
        self.halos.attach(&self.comm, self.range(self.comm.rank()), particles);
    }

    /// Copies fields of the owned rows to the halo rows on other ranks. Collective.
    pub fn exchange_halos(&self, particles: &mut Particles, fields: &[Field]) {
        self.exchange_halos_while(particles, fields, None);
    }

    /// [`Self::exchange_halos`] with overlapping work that reads no halos. `meanwhile` is not called if
    /// communication does not overlap ([`Self::overlaps`]). Collective.
    pub fn exchange_halos_while(
        &self,
        particles: &mut Particles,
        fields: &[Field],
        meanwhile: Option<&mut OverlappedWork>,
    ) {
        let components: usize = fields.iter().map(|field| field.components()).sum();
        self.refreshed.halo_exchanges.add(components);
        self.halos.refresh(&self.comm, particles, fields, meanwhile.filter(|_| self.overlaps));
    }

    /// Returns the first super-cluster that has pairs with halos of lower ranks on this rank; `None` unless
    /// [`PairSharing::OneRank`].
    pub fn first_with_lower_halos(&self, particles: &Particles) -> Option<usize> {
        let first = particles.owned().start / SUPER_CLUSTER;
        (self.settings.across == PairSharing::OneRank).then(|| first + self.halos.first_with_lower)
    }

    /// Returns the number of halo exchanges so far and their total number of columns, and the same for
    /// returned sums.
    pub fn refreshed(&self) -> [[u64; 2]; 2] {
        [self.refreshed.halo_exchanges.counts(), self.refreshed.sums_returned.counts()]
    }

    /// Returns the same domain for complete halos ([`PairSharing::BothRanks`]), which have yet to be found.
    pub fn with_all_halos(&self) -> Self {
        let settings = DomainSettings { across: PairSharing::BothRanks, ..self.settings };
        Self { settings, halos: Halos::default(), ..self.clone() }
    }

    /// Adopts an assignment of keys to ranks. The particles must already be at their owners, without halos.
    pub(crate) fn adopt(&mut self, assignment: &Assignment) {
        self.assignment = assignment.clone();
        self.halos = Halos::default();
    }

    /// Returns the fine leaves of the own key range, for the particles of the last synchronization, and the
    /// coarse leaves elsewhere.
    pub fn leaves(&self, particles: &Particles) -> Leaves {
        let own = &particles.key[particles.owned()];
        self.assignment.refined(self.comm.rank(), own, self.settings.bucket_size)
    }

    /// Returns the coarse leaves of all ranks and their owners, the same on every rank.
    pub fn coarse(&self) -> &Assignment {
        &self.assignment
    }

    /// Returns the boxes that this rank publishes for its owned rows and these radii (one per row): for each
    /// own coarse leaf in which super-clusters begin, their extent with the largest radius inside. Recomputed
    /// on each call.
    pub fn published(&self, particles: &Particles, radius: &[f64]) -> Vec<Extent> {
        OwnBoxes::new(&self.assignment, self.comm.rank(), OwnRows::of(particles, radius)).boxes().to_vec()
    }

    /// Returns the key range of a rank.
    pub fn range(&self, rank: usize) -> Range<u64> {
        self.assignment.range(rank)
    }

    /// Returns the halo rows owned by `rank`.
    pub fn halo_rows(&self, rank: usize) -> Range<usize> {
        self.halos.rows.get(rank).cloned().unwrap_or(0..0)
    }

    /// Sets which ranks list a pair of two ranks, from the next [`Self::sync`] on. Call it on all ranks.
    pub fn set_pair_sharing(&mut self, across: PairSharing) {
        self.settings.across = across;
    }

    /// Returns the settings of the decomposition.
    pub fn settings(&self) -> DomainSettings {
        self.settings
    }
}

/// Return of reaction sums to their owners, for [`PairSharing::OneRank`].
impl ReactionExchange for Domain {
    fn others(&self) -> bool {
        self.comm.size() > 1
    }

    fn alone(&self) -> &[Range<usize>] {
        &self.halos.unshared
    }

    fn give_back(
        &self,
        words: usize,
        sums: &SumWriter,
        meanwhile: &mut dyn FnMut(),
        show: &mut dyn FnMut(&[ReturnedSums]),
    ) {
        self.refreshed.sums_returned.add(words);
        self.halos.give_back(&self.comm, words, sums, meanwhile, show);
    }
}
