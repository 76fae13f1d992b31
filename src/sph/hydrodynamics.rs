//! The gas on processors: the [`Backend`] of the passes.

use crate::Result;
use crate::allocator;
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::domain::Domain;
use crate::faults::{Fault, planted};
use crate::neighborhood::Neighborhood;
use crate::neighbors::Radii;
use crate::pair::{PairLaw, Pass, Precision, Sweep};
use crate::particles::blocks::{BLOCK_ROWS, map_blocks, reduce_blocks, row_blocks};
use crate::particles::{Field, OverlappedWork, Particles};
use crate::plan::SphPlan;
use crate::sph::gas::isotropic_matrices;
use crate::sph::passes::{Backend, GasPass, LawVisitor, RowOperation, Searched};
use crate::sph::smoothing::{self, Next, Search};
use rayon::prelude::*;
use std::ops::Range;

/// The gas: its plan, and statistics of the smoothing-length search.
pub struct Hydrodynamics {
    plan: SphPlan,
    precision: Precision,
    /// Whether all particles have equal masses; `None` before the first check.
    equal_masses: Option<bool>,
    /// Whether intermediate fields stay with the particles after the last pass that reads them, for
    /// inspection.
    pub keep_fields: bool,
    /// Statistics of the smoothing-length search so far.
    pub smoothing: SmoothingStatistics,
}

/// Statistics of the smoothing-length search, over all ranks and since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmoothingStatistics {
    /// Sweeps over the active particles.
    pub sweeps: u64,
    /// Evaluations, summed over the particles.
    pub evaluations: u64,
    /// Searches that were continued in another list with a larger support.
    pub outgrown: u64,
    /// Particles with too few neighbors at the largest smoothing length.
    pub lonely: u64,
    /// Particles whose search did not converge: they keep the last trial value.
    pub unconverged: u64,
}

impl SmoothingStatistics {
    /// Reduces over all ranks: sums, and the maximum of `sweeps`. Collective.
    pub(crate) fn over_ranks(self, comm: &Communicator) -> Self {
        let mut sums = [self.evaluations, self.outgrown, self.lonely, self.unconverged];
        comm.all_sum(&mut sums);
        let mut sweeps = [self.sweeps];
        comm.all_max(&mut sweeps);
        SmoothingStatistics {
            sweeps: sweeps[0],
            evaluations: sums[0],
            outgrown: sums[1],
            lonely: sums[2],
            unconverged: sums[3],
        }
    }

    /// Adds the counts of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        self.sweeps += other.sweeps;
        self.evaluations += other.evaluations;
        self.outgrown += other.outgrown;
        self.lonely += other.lonely;
        self.unconverged += other.unconverged;
    }
}

/// Smoothing-length searches of a step: one per owned particle.
pub struct Searches {
    search: Vec<Search>,
    /// Rows that search, halos included (which never do).
    active: Vec<bool>,
    /// Owned rows whose support outgrew the list.
    outgrown: Vec<bool>,
    largest: f64,
}

impl Hydrodynamics {
    /// Fields of a gas between steps.
    pub const FIELDS: [Field; 6] = [
        Field::SmoothingLength,
        Field::InternalEnergy,
        Field::InternalEnergyRate,
        Field::Viscosity,
        Field::Density,
        Field::VelocityDivergence,
    ];

    /// Creates the gas of a plan.
    pub fn new(plan: &SphPlan, precision: Precision) -> Self {
        Hydrodynamics {
            plan: plan.clone(),
            precision,
            equal_masses: None,
            keep_fields: false,
            smoothing: SmoothingStatistics::default(),
        }
    }
}

/// The gas of this rank's particles during a force evaluation.
pub struct Processors<'a> {
    /// The gas.
    pub hydrodynamics: &'a mut Hydrodynamics,
    /// Owned particles and halos.
    pub domain: &'a mut Domain,
    /// Neighbor list.
    pub neighborhood: &'a mut Neighborhood,
    /// Particles.
    pub particles: &'a mut Particles,
    /// Phase timers.
    pub clock: &'a mut Clock,
    /// Interaction radii 2h of all rows, after [`Backend::set_supports`].
    pub supports: Vec<f64>,
}

/// Sweeps the law that it visits.
struct SweepPass<'s, 'p> {
    backend: &'s mut Processors<'p>,
    exchanged: &'s [Field],
    spent: &'s [Field],
}

impl LawVisitor for SweepPass<'_, '_> {
    type Output = ();

    fn visit<L: PairLaw>(self, law: &L) {
        let Processors { domain, neighborhood, particles, supports, hydrodynamics, .. } = self.backend;
        let domain = &**domain;
        let Some(list) = neighborhood.list() else { return particles.add(L::OUTPUTS) };
        let radius = Radii::Each(supports);
        let pass = Pass { bx: &domain.bx, radius, precision: hydrodynamics.precision, active: None };
        if !self.spent.is_empty() || self.exchanged.is_empty() {
            // spent columns must be complete when they are packed: no overlap with the exchange
            if !self.exchanged.is_empty() {
                domain.exchange_halos(particles, self.exchanged);
            }
            if !self.spent.is_empty() {
                allocator::give_back(particles.bytes());
            }
            let spent = if hydrodynamics.keep_fields { &[] } else { self.spent };
            Sweep::new(&pass, list).consuming(spent).run(law, particles);
            return;
        }
        let mut halo_exchange = |particles: &mut Particles, meanwhile: &mut OverlappedWork| {
            domain.exchange_halos_while(particles, self.exchanged, Some(meanwhile));
        };
        Sweep::new(&pass, list).exchanging_halos(&mut halo_exchange).run(law, particles);
    }
}

/// Sweeps the number density of the active rows, within the radii of the list.
struct SweepActive<'s, 'p> {
    backend: &'s mut Processors<'p>,
    active: &'s [bool],
}

impl LawVisitor for SweepActive<'_, '_> {
    type Output = ();

    fn visit<L: PairLaw>(self, law: &L) {
        let Processors { domain, neighborhood, particles, hydrodynamics, .. } = self.backend;
        let Some(list) = neighborhood.list() else { return particles.add(L::OUTPUTS) };
        let radius = Radii::Each(neighborhood.radius());
        let active = Some(self.active);
        let pass = Pass { bx: &domain.bx, radius, precision: hydrodynamics.precision, active };
        Sweep::new(&pass, list).run(law, particles);
    }
}

impl Backend for Processors<'_> {
    type Searches = Searches;

    fn plan(&self) -> &SphPlan {
        &self.hydrodynamics.plan
    }

    fn comm(&self) -> &Communicator {
        &self.domain.comm
    }

    fn owned(&self) -> usize {
        self.particles.owned().len()
    }

    fn lap(&mut self, phase: &'static str) {
        self.clock.lap(phase);
    }

    fn smoothing(&mut self) -> &mut SmoothingStatistics {
        &mut self.hydrodynamics.smoothing
    }

    fn equal_masses(&mut self) -> Result<bool> {
        let equal = self.hydrodynamics.equal_masses.unwrap_or_else(|| self.compare_masses());
        self.hydrodynamics.equal_masses = Some(equal);
        Ok(equal)
    }

    fn start_searches(&mut self) -> Result<Searches> {
        let owned = self.particles.owned();
        let largest = self.neighborhood.largest_smoothing_length(&self.domain.bx);
        let mut searches = Searches {
            search: vec![Search::new(largest); owned.len()],
            active: Vec::new(),
            outgrown: vec![true; owned.len()],
            largest,
        };
        self.restart(&mut searches)?;
        Ok(searches)
    }

    fn search(&mut self, searches: &mut Searches, _: u64) -> Result<Searched> {
        let plan = self.hydrodynamics.plan.clone();
        GasPass::NumberDensity.visit(&plan, SweepActive { backend: self, active: &searches.active });
        Ok(self.advance_searches(searches))
    }

    fn restart(&mut self, searches: &mut Searches) -> Result<()> {
        let owned = self.particles.owned();
        searches.active = vec![false; self.particles.len()];
        searches.active[owned].copy_from_slice(&searches.outgrown);
        let restarted = searches.search.iter_mut().zip(&searches.outgrown).filter(|(_, outgrown)| **outgrown);
        restarted.for_each(|(search, _)| *search = Search::new(searches.largest));
        searches.outgrown.fill(false);
        Ok(())
    }

    fn rebuild_list(&mut self) -> Result<()> {
        let neighborhood = &*self.neighborhood;
        self.domain.renew_halos(self.particles, |particles| neighborhood.radii(particles));
        self.neighborhood.rebuild(self.domain, self.particles)
    }

    fn check_coincident(&self) -> Result<()> {
        let plan = &self.hydrodynamics.plan;
        smoothing::check_coincident(
            &self.domain.bx,
            self.particles,
            plan.interpolation_kernel(),
            plan.neighbors,
        )
    }

    fn exchange_halos(&mut self, fields: &[Field]) -> Result<()> {
        self.domain.exchange_halos(self.particles, fields);
        Ok(())
    }

    fn set_supports(&mut self) -> Result<()> {
        let lengths = self.particles.scalar(Field::SmoothingLength).par_iter();
        let support = if planted(Fault::SupportShort) { 1.4 } else { 2.0 };
        self.supports = lengths.with_min_len(BLOCK_ROWS).map(|h| support * h).collect();
        Ok(())
    }

    fn sweep(&mut self, pass: GasPass, exchanged: &[Field], spent: &[Field]) -> Result<()> {
        let plan = self.hydrodynamics.plan.clone();
        pass.visit(&plan, SweepPass { backend: self, exchanged, spent });
        Ok(())
    }

    fn apply(&mut self, operation: RowOperation) -> Result<()> {
        match operation {
            RowOperation::EstimateVolumes => self.estimate_volumes(),
            RowOperation::EquationOfState => self.hydrodynamics.plan.equation_of_state.apply(self.particles),
            RowOperation::SwitchViscosity(switch, dt) => switch.update_all(self.particles, dt),
            RowOperation::IsotropicMatrices => isotropic_matrices(self.particles),
            RowOperation::Fill(field, value) => self.particles.fill(field, value),
        }
        Ok(())
    }

    fn remove(&mut self, fields: &[Field]) {
        if !self.hydrodynamics.keep_fields {
            self.particles.remove(fields);
        }
    }
}

impl Processors<'_> {
    /// Whether the gas particles of all ranks have equal masses. Collective.
    fn compare_masses(&self) -> bool {
        let mass = self.particles.scalar(Field::Mass);
        // maximum of the masses, and of the negated masses
        let both = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a.max(c), b.max(d)];
        let of_block =
            |rows: Range<usize>| rows.map(|row| [mass[row], -mass[row]]).fold([f64::NEG_INFINITY; 2], both);
        let extremes = reduce_blocks(self.particles.owned(), of_block, both);
        let mut extremes = extremes.unwrap_or([f64::NEG_INFINITY; 2]);
        self.domain.comm.all_max(&mut extremes);
        extremes[0] == -extremes[1]
    }

    fn estimate_volumes(&mut self) {
        self.particles.add(&[Field::VolumeElement]);
        let wanted = [(Field::VolumeElement, 0), (Field::Mass, 0), (Field::Density, 0)];
        map_blocks(self.particles, wanted, |block| {
            let [element, mass, density] = block.columns;
            for ((element, mass), density) in element.iter_mut().zip(mass).zip(density) {
                *element = *mass / *density;
            }
        });
    }

    /// Advances the active searches by one step, from the number density at the present smoothing lengths.
    fn advance_searches(&mut self, searches: &mut Searches) -> Searched {
        let wanted = [
            (Field::SmoothingLength, 0),
            (Field::NumberDensity, 0),
            (Field::NumberDensitySlope, 0),
            (Field::Mass, 0),
            (Field::Density, 0),
        ];
        let plan = &self.hydrodynamics.plan;
        let (target, tolerance) = (smoothing::target(plan.neighbors), plan.neighbor_tolerance);
        let owned = self.particles.owned();
        let supports = self.neighborhood.largest_supports(owned.clone());
        let per_row = searches
            .search
            .par_chunks_mut(BLOCK_ROWS)
            .zip(searches.active[owned.clone()].par_chunks_mut(BLOCK_ROWS))
            .zip(searches.outgrown.par_chunks_mut(BLOCK_ROWS));
        let blocks = row_blocks(self.particles, wanted).into_par_iter().zip(per_row);
        let searched = blocks.map(|(block, ((searches, active), outgrown))| {
            let [length, n, slope, mass, density] = block.columns;
            let supports = &supports[block.first - owned.start..];
            let mut found = Searched::default();
            for k in (0..length.len()).filter(|&k| active[k]).collect::<Vec<_>>() {
                let next = searches[k].next(length[k], n[k], slope[k], target, tolerance);
                let (Next::Found(h) | Next::Try(h) | Next::Beyond(h)) = next;
                let extrapolated = n[k] + slope[k] * (h / length[k] - 1.0);
                density[k] = mass[k] * extrapolated.max(0.1 * n[k]);
                length[k] = h;
                outgrown[k] = 2.0 * h > supports[k];
                found.outgrown += u64::from(outgrown[k]);
                found.lonely += u64::from(matches!(next, Next::Beyond(_)) && !outgrown[k]);
                active[k] = !outgrown[k] && matches!(next, Next::Try(_));
                found.searching += u64::from(active[k]);
            }
            found
        });
        searched.reduce(Searched::default, |a, b| Searched {
            outgrown: a.outgrown + b.outgrown,
            lonely: a.lonely + b.lonely,
            searching: a.searching + b.searching,
        })
    }
}
