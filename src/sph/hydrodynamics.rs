//! The gas passes of a step, in their order. A field that only passes read is there from the one that writes it to the
//! last that reads it: its memory is another's before and after.

use crate::allocator;
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::deck::plan::{EquationOfState, Formulation, Gradients, SphPlan};
use crate::domain::Domain;
use crate::laws::{self, viscosity_switch::ViscositySwitch};
use crate::neighbors::{Neighborhood, Radii};
use crate::pair::pieces::{PIECE, over_pieces, pieces, reduce_pieces};
use crate::pair::{Kernel, PairLaw, Pass, Precision, Traffic, sweep_across, sweep_spending};
use crate::particles::{Field, Meanwhile, Particles};
use crate::space::SimulationBox;
use crate::sph::gas::isotropic_matrices;
use crate::sph::smoothing::{self, Next, Search};
use crate::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;

/// A search for a smoothing length that has not ended after this many sweeps has failed.
pub(crate) const MOST_SWEEPS: u64 = 60;

/// Smoothing lengths that outgrew so many lists of one step, each larger than the one before, are lost.
pub(crate) const MOST_ROUNDS: u32 = 100;

/// Atwood numbers between which the momentum equation of volume elements goes from uncrossed to crossed
/// (Garcia-Senz, Cabezon & Escartin 2022).
pub(crate) const CROSSING: [f64; 2] = [0.1, 0.2];

/// The gas: its plan, its kernel and the counts of its smoothing-length iteration.
pub struct Hydrodynamics {
    plan: SphPlan,
    kernel: Kernel<f64>,
    precision: Precision,
    /// Whether all particles have one mass, once that has been looked at.
    equal_masses: Option<bool>,
    /// Whether fields that only passes read stay with the particles after the last of them, for who wants to look at them.
    pub keep_fields: bool,
    /// How the smoothing lengths were found so far.
    pub smoothing: Smoothing,
}

/// How the smoothing lengths were found, over all ranks and since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Smoothing {
    /// Sweeps over the particles that still searched.
    pub sweeps: u64,
    /// Evaluations, summed over the particles.
    pub evaluations: u64,
    /// Searches that went on in another list, with a larger support.
    pub outgrown: u64,
    /// Particles that have not enough neighbors at the largest smoothing length.
    pub lonely: u64,
    /// Particles whose search did not end: they keep the last one tried.
    pub unconverged: u64,
}

/// What the passes of a step work on.
pub struct Stage<'a> {
    /// Owners and halos.
    pub domain: &'a Domain,
    /// The list.
    pub neighborhood: &'a Neighborhood,
    /// The particles.
    pub particles: &'a mut Particles,
    /// Phase timers.
    pub clock: &'a mut Clock,
}

impl Smoothing {
    /// Of all ranks together. Collective.
    pub(crate) fn over_ranks(self, comm: &Communicator) -> Self {
        let mut sums = [self.evaluations, self.outgrown, self.lonely, self.unconverged];
        comm.all_sum(&mut sums);
        let mut sweeps = [self.sweeps];
        comm.all_max(&mut sweeps);
        Smoothing {
            sweeps: sweeps[0],
            evaluations: sums[0],
            outgrown: sums[1],
            lonely: sums[2],
            unconverged: sums[3],
        }
    }

    /// Counts these too.
    pub(crate) fn add(&mut self, other: &Self) {
        self.sweeps += other.sweeps;
        self.evaluations += other.evaluations;
        self.outgrown += other.outgrown;
        self.lonely += other.lonely;
        self.unconverged += other.unconverged;
    }
}

/// The searches for the smoothing lengths of a step, by owned particle.
pub struct Searches {
    search: Vec<Search>,
    searching: Vec<bool>,
    largest: f64,
}

impl Searches {
    /// All particles search, among the smoothing lengths up to `largest`.
    pub fn new(particles: usize, largest: f64) -> Self {
        Searches { search: vec![Search::new(largest); particles], searching: vec![true; particles], largest }
    }

    /// These search anew, the others no more.
    fn restart(&mut self, searching: Vec<bool>) {
        for (search, _) in self.search.iter_mut().zip(&searching).filter(|(_, searching)| **searching) {
            *search = Search::new(self.largest);
        }
        self.searching = searching;
    }
}

/// The error of smoothing lengths that outgrew [`MOST_ROUNDS`] lists of one step.
pub(crate) fn outgrew_all() -> Error {
    Error::State {
        step: 0,
        what: format!("some smoothing lengths outgrew {MOST_ROUNDS} neighbor lists in a row"),
        remedy: "look for particles far from all others; fewer sph.neighbors or a smaller step may help"
            .into(),
    }
}

/// What a step finds anew from a first guess, and that guess, for where failed forces have spoiled it; `viscosity` is the
/// largest coefficient.
pub(crate) fn first_guesses(viscosity: f64) -> [(Field, f64); 3] {
    [(Field::Density, 0.0), (Field::VelocityDivergence, 0.0), (Field::Viscosity, viscosity)]
}

/// Whether the gas particles of all ranks have one mass.
fn equal_masses(stage: &Stage) -> bool {
    let mass = stage.particles.scalar(Field::Mass);
    // the largest mass, and the largest of the negative ones
    let both = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a.max(c), b.max(d)];
    let of_piece =
        |rows: Range<usize>| rows.map(|row| [mass[row], -mass[row]]).fold([f64::NEG_INFINITY; 2], both);
    let extremes = reduce_pieces(stage.particles.owned(), of_piece, both);
    let mut extremes = extremes.unwrap_or([f64::NEG_INFINITY; 2]);
    stage.domain.comm.all_max(&mut extremes);
    extremes[0] == -extremes[1]
}

impl Hydrodynamics {
    /// The fields that a gas has between its steps.
    pub const FIELDS: [Field; 6] = [
        Field::SmoothingLength,
        Field::InternalEnergy,
        Field::InternalEnergyRate,
        Field::Viscosity,
        Field::Density,
        Field::VelocityDivergence,
    ];

    /// The gas of a plan.
    pub fn new(plan: &SphPlan, precision: Precision) -> Self {
        Hydrodynamics {
            plan: plan.clone(),
            kernel: plan.interpolation_kernel(),
            precision,
            equal_masses: None,
            keep_fields: false,
            smoothing: Smoothing::default(),
        }
    }

    /// Find the smoothing lengths of the particles that still search, with the present list. False, on all ranks, when
    /// one outgrew the list: such a one has come as far as the list lets it, and goes on searching in a list for it.
    ///
    /// The density is then m n, n taken on to the new smoothing length by its derivative: what the density is where all
    /// masses are equal, to second order in the last change of h.
    pub fn smooth(&mut self, stage: &mut Stage, searches: &mut Searches) -> bool {
        let law = laws::number_density::Law { kernel: self.kernel };
        self.equal_masses = self.equal_masses.or_else(|| Some(equal_masses(stage)));
        let mut active = vec![false; stage.particles.len()];
        active[stage.particles.owned()].copy_from_slice(&searches.searching);
        let mut outgrown = vec![false; searches.searching.len()];
        let mut found = Smoothing::default();
        let mut remaining = searches.searching.iter().filter(|&&searching| searching).count() as u64;
        while remaining > 0 && found.sweeps < MOST_SWEEPS {
            self.sweep(&law, stage, stage.neighborhood.radius(), Some(&active), &[]);
            found.sweeps += 1;
            found.evaluations += remaining;
            let searched = self.search(stage, &mut searches.search, &mut active, &mut outgrown);
            found.add(&searched);
            remaining = searched.unconverged;
        }
        found.unconverged = remaining;
        self.done_with(stage, &[Field::NumberDensity, Field::NumberDensitySlope]);
        searches.restart(outgrown);
        let round = found.over_ranks(&stage.domain.comm);
        self.smoothing.add(&round);
        round.outgrown == 0
    }

    /// After a search for smoothing lengths of which some did not end: particles must not coincide.
    ///
    /// # Errors
    /// Those of [`smoothing::check_places`], on the rank that has them.
    pub(crate) fn check_places(&self, bx: &SimulationBox, particles: &Particles) -> Result<()> {
        smoothing::check_places(bx, particles, self.kernel, self.plan.neighbors)
    }

    /// One step of the searches that are active, by the number density at the present smoothing lengths. Tells which outgrew
    /// the list, which are lonely, and how many are still active.
    fn search(
        &self,
        stage: &mut Stage,
        searches: &mut [Search],
        active: &mut [bool],
        outgrown: &mut [bool],
    ) -> Smoothing {
        let wanted = [
            (Field::SmoothingLength, 0),
            (Field::NumberDensity, 0),
            (Field::NumberDensitySlope, 0),
            (Field::Mass, 0),
            (Field::Density, 0),
        ];
        let (target, tolerance) = (smoothing::target(self.plan.neighbors), self.plan.neighbor_tolerance);
        let owned = stage.particles.owned();
        let supports = stage.neighborhood.largest_supports(owned.clone());
        let beside = searches
            .par_chunks_mut(PIECE)
            .zip(active[owned.clone()].par_chunks_mut(PIECE))
            .zip(outgrown.par_chunks_mut(PIECE));
        let pieces = pieces(stage.particles, wanted).into_par_iter().zip(beside);
        let searched = pieces.map(|(piece, ((searches, active), outgrown))| {
            let [length, n, slope, mass, density] = piece.columns;
            let supports = &supports[piece.first - owned.start..];
            let mut found = Smoothing::default();
            for k in (0..length.len()).filter(|&k| active[k]).collect::<Vec<_>>() {
                let next = searches[k].next(length[k], n[k], slope[k], target, tolerance);
                let (Next::Found(h) | Next::Try(h) | Next::Beyond(h)) = next;
                let there = n[k] + slope[k] * (h / length[k] - 1.0);
                density[k] = mass[k] * there.max(0.1 * n[k]);
                length[k] = h;
                outgrown[k] = 2.0 * h > supports[k];
                found.outgrown += u64::from(outgrown[k]);
                found.lonely += u64::from(matches!(next, Next::Beyond(_)) && !outgrown[k]);
                active[k] = !outgrown[k] && matches!(next, Next::Try(_));
                found.unconverged += u64::from(active[k]);
            }
            found
        });
        let none = Smoothing::default;
        searched.reduce(none, |mut all, piece| {
            all.add(&piece);
            all
        })
    }

    /// The passes from density to acceleration and heating; `dt` is the time since the last ones.
    pub fn passes(&self, stage: &mut Stage, dt: f64) {
        use Field::*;
        self.share(stage, &[SmoothingLength]);
        let support: Vec<f64> =
            stage.particles.scalar(SmoothingLength).par_iter().with_min_len(PIECE).map(|h| 2.0 * h).collect();
        self.density(stage, &support);
        self.plan.equation_of_state.apply(stage.particles);
        let law = laws::gradients::Law { kernel: self.kernel };
        self.sweep_sharing(&law, stage, &support, &[Density, GradH, Pressure, SoundSpeed]);
        stage.clock.lap("gradients");
        self.viscosity(stage, &support, dt);
        if self.plan.gradients == Gradients::Kernel {
            isotropic_matrices(stage.particles);
        }
        self.share(stage, &[GradientMatrix, Viscosity]);
        stage.clock.lap("viscosity");
        allocator::give_back(stage.particles.bytes());
        self.momentum_and_energy(stage, &support);
        self.done_with(stage, &[GradientMatrix, VolumeElement, GradH]);
        if let EquationOfState::Isothermal { .. } = self.plan.equation_of_state {
            // a bath takes the heat: the internal energy stays what it was
            stage.particles.fill(InternalEnergyRate, 0.0);
        }
        stage.clock.lap("momentum and energy");
    }

    /// Density and grad-h factor by the formulation.
    fn density(&self, stage: &mut Stage, support: &[f64]) {
        let volume_elements = self.plan.formulation == Formulation::VolumeElements;
        // volume elements need an estimate of the density only, and have that of the search where it is one
        if !volume_elements || self.equal_masses != Some(true) {
            self.sweep(&laws::density::Law { kernel: self.kernel }, stage, support, None, &[]);
        }
        if volume_elements {
            stage.particles.add(&[Field::VolumeElement]);
            let wanted = [(Field::VolumeElement, 0), (Field::Mass, 0), (Field::Density, 0)];
            over_pieces(stage.particles, wanted, |piece| {
                let [element, mass, density] = piece.columns;
                for ((element, mass), density) in element.iter_mut().zip(mass).zip(density) {
                    *element = *mass / *density;
                }
            });
            let law = laws::volume_elements::Law { kernel: self.kernel };
            self.sweep_sharing(&law, stage, support, &[Field::VolumeElement]);
            self.done_with(stage, &[Field::VolumeSum]);
        }
        stage.clock.lap("density");
    }

    /// The viscosity coefficients that follow from the velocity's divergence and curl.
    fn viscosity(&self, stage: &mut Stage, support: &[f64], dt: f64) {
        let viscosity = &self.plan.viscosity;
        if !viscosity.switch {
            self.done_with(stage, &[Field::VelocityCurl]);
            stage.particles.fill(Field::Viscosity, viscosity.alpha_max);
            return;
        }
        let law = laws::divergence_gradient::Law { kernel: self.kernel };
        self.sweep_sharing(&law, stage, support, &[Field::VelocityDivergence]);
        let switch = ViscositySwitch {
            minimum: viscosity.alpha_min,
            maximum: viscosity.alpha_max,
            limiter: viscosity.limiter,
            ..ViscositySwitch::default()
        };
        switch.update_all(stage.particles, dt);
        self.done_with(stage, &[Field::VelocityCurl, Field::DivergenceGradient]);
    }

    /// Accelerations, heating rates and signal speeds by the formulation.
    fn momentum_and_energy(&self, stage: &mut Stage, support: &[f64]) {
        let (beta, conductivity) = (self.plan.viscosity.beta, self.plan.conductivity);
        let kernel = self.plan.momentum_kernel();
        let spent: &[Field] = match self.keep_fields {
            true => &[],
            false => &[Field::GradientMatrix, Field::VolumeElement, Field::GradH],
        };
        match self.plan.formulation {
            Formulation::Standard => {
                let law = laws::momentum_energy_standard::Law { kernel, beta, conductivity };
                self.sweep(&law, stage, support, None, spent);
            }
            Formulation::VolumeElements => {
                let law = laws::momentum_energy_volume::Law {
                    kernel,
                    beta,
                    conductivity,
                    crossing_start: CROSSING[0],
                    crossing_slope: 1.0 / (CROSSING[1] - CROSSING[0]),
                };
                self.sweep(&law, stage, support, None, spent);
            }
        }
    }

    /// One sweep of a law over the list, with interaction radii within the list's. The particles get the fields that it
    /// writes, and lose those that are spent.
    fn sweep<L: PairLaw>(
        &self,
        law: &L,
        stage: &mut Stage,
        radius: &[f64],
        active: Option<&[bool]>,
        spent: &[Field],
    ) {
        let Some(list) = stage.neighborhood.list() else { return stage.particles.add(L::OUTPUTS) };
        let radius = Radii::Each(radius);
        let pass = Pass { bx: &stage.domain.bx, radius, precision: self.precision, active };
        sweep_spending(law, &pass, list, stage.particles, spent);
    }

    /// Bring these fields of the halos up to date, and sweep; what needs no halos may be swept while they are on their way.
    fn sweep_sharing<L: PairLaw>(&self, law: &L, stage: &mut Stage, radius: &[f64], fields: &[Field]) {
        let Some(list) = stage.neighborhood.list() else { return stage.particles.add(L::OUTPUTS) };
        let domain = stage.domain;
        let radius = Radii::Each(radius);
        let pass = Pass { bx: &domain.bx, radius, precision: self.precision, active: None };
        let mut arrive = |particles: &mut Particles, meanwhile: &mut Meanwhile| {
            domain.exchange_halos_while(particles, fields, Some(meanwhile));
        };
        let traffic = Traffic { arrive: Some(&mut arrive), give_back: None };
        sweep_across(law, &pass, list, stage.particles, traffic);
    }

    /// Fields that no later pass reads.
    fn done_with(&self, stage: &mut Stage, fields: &[Field]) {
        if !self.keep_fields {
            stage.particles.remove(fields);
        }
    }

    /// Bring these fields of the halos up to date.
    fn share(&self, stage: &mut Stage, fields: &[Field]) {
        stage.domain.exchange_halos(stage.particles, fields);
    }
}
