//! The domain: who owns which keys, particle exchange, halos.

pub mod assign;
pub mod decomposition;
mod enter;
mod exchange;
pub mod halo;
pub(crate) mod needed;
pub(crate) mod reach;

use crate::Result;
use crate::comm::Communicator;
use crate::particles::{Field, GiveBack, Meanwhile, Particles, Returned, SUPER_CLUSTER, SumsOf};
use crate::space::SimulationBox;
use crate::tree::bounds::Extent;
use crate::tree::leaves::Leaves;
use assign::Assignment;
pub(crate) use exchange::sort;
use halo::Halos;
use needed::{Own, OwnRows};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Which ranks have a pair of particles that two of them own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Across {
    /// Both: each has halos of all that is near its particles.
    #[default]
    Both,
    /// One of them, which gives the other its part ([`Domain::give_back`]): no pair is evaluated twice, and halos are about
    /// half as many. The lower rank has the pairs with particles in the boxes of the higher one's first half, that one the
    /// others.
    One,
}

/// How the domain divides space, and the pairs of two ranks.
#[derive(Clone, Copy, Debug)]
pub struct DomainSettings {
    /// Most particles of a fine leaf.
    pub bucket_size: u64,
    /// About how many coarse leaves a rank owns: more balance better, fewer cost less to replicate.
    pub coarse_leaves_per_rank: u64,
    /// Which ranks have pairs of particles of two.
    pub across: Across,
}

impl Default for DomainSettings {
    fn default() -> Self {
        Self { bucket_size: 64, coarse_leaves_per_rank: 96, across: Across::Both }
    }
}

/// The part of space that this rank owns, and what it knows of the others.
#[derive(Clone, Debug)]
pub struct Domain {
    /// The simulation box; its open faces follow the particles.
    pub bx: SimulationBox,
    /// The ranks.
    pub comm: Communicator,
    /// Whether ranks go on with what needs no halos while their values travel: between hosts. On one host the cores themselves copy
    /// messages: nothing is hidden, and ranks would wait for each other once more.
    pub overlaps: bool,
    settings: DomainSettings,
    assignment: Assignment,
    halos: Halos,
    refreshed: Arc<Refreshed>,
}

/// Counts what halos are refreshed with, and what is given back of them, also on one rank, which has none.
#[derive(Debug, Default)]
struct Refreshed {
    brought: Exchanged,
    given_back: Exchanged,
}

/// Exchanges, and all their columns.
#[derive(Debug, Default)]
struct Exchanged([AtomicU64; 2]);

impl Exchanged {
    fn add(&self, columns: usize) {
        self.0[0].fetch_add(1, Relaxed);
        self.0[1].fetch_add(columns as u64, Relaxed);
    }

    fn counts(&self) -> [u64; 2] {
        [0, 1].map(|k| self.0[k].load(Relaxed))
    }
}

impl Domain {
    /// A domain without particles; [`Self::sync`] brings them in.
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

    /// Bring the particles of all ranks to their owners, in key order, with halos for pairs closer than the larger of
    /// their radii. Rows as [`crate::particles`] describes them; state is moved, derived columns become zero.
    ///
    /// `radius` gives the radius of each row (length unit); it sees the owned particles, in their new order, and anything in rows that
    /// are left for halos.
    /// Collective. The result depends on the state of all particles (position, id, work, radius) and the number of
    /// ranks, not on who owned what before.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0, on the rank that owns it, when a position is not finite;
    /// [`crate::Error::Elsewhere`] on the others. The particles are unchanged then.
    pub fn sync(&mut self, particles: &mut Particles, radius: impl Fn(&Particles) -> Vec<f64>) -> Result<()> {
        self.bx = enter::enter(&self.comm, &self.bx, particles)?;
        let sorted = exchange::sort(&self.bx, particles);
        let work = assign::running_work(particles, &sorted.rows);
        self.assignment.update(&self.comm, &sorted.keys, &work, &self.settings);
        exchange::migrate(&self.comm, &self.assignment, sorted, particles, self.halos.room());
        self.add_halos(particles, radius);
        Ok(())
    }

    /// Find and receive the halos anew, for other radii of the same owned particles. Columns that halos do not come with
    /// become zero there. Collective.
    pub fn renew_halos(&mut self, particles: &mut Particles, radius: impl Fn(&Particles) -> Vec<f64>) {
        halo::detach(particles);
        self.add_halos(particles, radius);
    }

    /// Find and receive the halos of particles that have none.
    fn add_halos(&mut self, particles: &mut Particles, radius: impl Fn(&Particles) -> Vec<f64>) {
        let radius = radius(particles);
        self.halos =
            Halos::find(&self.comm, &self.bx, &self.assignment, particles, &radius, self.settings.across);
        self.halos.attach(&self.comm, self.range(self.comm.rank()), particles);
    }

    /// Copy fields of the owned rows into the halo rows that mirror them on other ranks. Collective.
    pub fn exchange_halos(&self, particles: &mut Particles, fields: &[Field]) {
        self.exchange_halos_while(particles, fields, None);
    }

    /// [`Self::exchange_halos`], and something that looks at no halos while they travel; it is not called where nothing overlaps.
    /// Collective.
    pub fn exchange_halos_while(
        &self,
        particles: &mut Particles,
        fields: &[Field],
        meanwhile: Option<&mut Meanwhile>,
    ) {
        let components: usize = fields.iter().map(|field| field.components()).sum();
        self.refreshed.brought.add(components);
        self.halos.refresh(&self.comm, particles, fields, meanwhile.filter(|_| self.overlaps));
    }

    /// Of which super-clusters on pairs with halos of lower ranks are on this rank, where one of two ranks has their pairs.
    pub fn with_lower_from(&self, particles: &Particles) -> Option<usize> {
        let first = particles.owned().start / SUPER_CLUSTER;
        (self.settings.across == Across::One).then(|| first + self.halos.first_with_lower)
    }

    /// How often values of halos have been brought so far, and with how many columns in all; and the same of what was given back.
    pub fn refreshed(&self) -> [[u64; 2]; 2] {
        [self.refreshed.brought.counts(), self.refreshed.given_back.counts()]
    }

    /// The same domain for other halos, those of all that is near the own particles: to be found anew.
    pub fn with_all_halos(&self) -> Self {
        let settings = DomainSettings { across: Across::Both, ..self.settings };
        Self { settings, halos: Halos::default(), ..self.clone() }
    }

    /// From now on these ranks own these keys: their particles are here already, without halos.
    pub(crate) fn adopt(&mut self, assignment: &Assignment) {
        self.assignment = assignment.clone();
        self.halos = Halos::default();
    }

    /// The fine leaves of the own key range, for the particles that were synchronized last, and the coarse leaves
    /// elsewhere.
    pub fn leaves(&self, particles: &Particles) -> Leaves {
        let own = &particles.key[particles.owned()];
        self.assignment.refined(self.comm.rank(), own, self.settings.bucket_size)
    }

    /// The coarse leaves of all ranks and their owners, the same on every rank.
    pub fn coarse(&self) -> &Assignment {
        &self.assignment
    }

    /// What this rank tells the others of the rows that it owns when halos are found for these radii, one a row: for each of its
    /// coarse leaves in which super-clusters begin a box of these, with the largest radius inside. Found anew, for who wants
    /// to look at it: it is not kept.
    pub fn published(&self, particles: &Particles, radius: &[f64]) -> Vec<Extent> {
        Own::new(&self.assignment, self.comm.rank(), OwnRows::of(particles, radius)).boxes().to_vec()
    }

    /// The keys of a rank.
    pub fn range(&self, rank: usize) -> Range<u64> {
        self.assignment.range(rank)
    }

    /// The halo rows whose owner is `rank`.
    pub fn halo_rows(&self, rank: usize) -> Range<usize> {
        self.halos.rows.get(rank).cloned().unwrap_or(0..0)
    }

    /// How the domain divides space, and the pairs of two ranks.
    pub fn settings(&self) -> DomainSettings {
        self.settings
    }
}

/// Where one of two ranks has their pairs.
impl GiveBack for Domain {
    fn others(&self) -> bool {
        self.comm.size() > 1
    }

    fn alone(&self) -> &[Range<usize>] {
        &self.halos.alone
    }

    fn give_back(
        &self,
        words: usize,
        sums: &SumsOf,
        meanwhile: &mut dyn FnMut(),
        show: &mut dyn FnMut(&[Returned]),
    ) {
        self.refreshed.given_back.add(words);
        self.halos.give_back(&self.comm, words, sums, meanwhile, show);
    }
}
