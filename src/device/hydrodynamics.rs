//! The gas passes of a step on a device, in their order: mirrors [`crate::sph::Hydrodynamics`]. Columns that only passes
//! read are there from the one that writes them to the last that reads them.

use super::arguments::state::{
    ColumnExtremesArguments, EstimateVolumesArguments, IdealGasArguments, IsothermalGasArguments,
    IsotropicMatricesArguments, ScaledColumnArguments,
};
use super::arguments::viscosity::SwitchViscosityArguments;
use super::arguments::{Arguments, Input, Rows};
use super::columns::Columns;
use super::exchange::Exchange;
use super::neighborhood::Neighborhood;
use super::reduction::{Findings, largest, over_pieces, over_rows, smallest};
use super::smoothing::Searches;
use super::sweep::{Part, Pass, Sweep, SweepMemory};
use super::{Buffer, Device, values};
use crate::Result;
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::deck::plan::{EquationOfState, Formulation, Gradients, SphPlan};
use crate::laws;
use crate::laws::viscosity_switch::ViscositySwitch;
use crate::pair::{Kernel, PairLaw, Precision};
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;
use crate::sph::{CROSSING, MOST_SWEEPS, Smoothing, smoothing};
use std::ops::Range;

/// A law's kernels, and the fields that it reads and writes.
#[derive(Debug)]
struct Law {
    sweep: Sweep,
    inputs: &'static [Field],
    outputs: &'static [Field],
}

/// What a sweep of a law is over.
#[derive(Clone, Copy, Default)]
struct Over<'a> {
    /// Interaction radii within the list's, by row; those of the list where there are none.
    radius: Option<&'a Buffer<f64>>,
    /// The rows that get outputs, if not all.
    active: Option<&'a Buffer<u8>>,
    /// Inputs of rows of others that are brought up to date meanwhile.
    shared: &'a [Field],
    /// Fields that are read for the last time.
    spent: &'a [Field],
}

impl Law {
    fn new<L: PairLaw>(device: &Device, law: &L, precision: Precision) -> Result<Self> {
        // full lists alone: the laws of the gas evaluate both sides of a pair, and sums have the same bits in every run
        Ok(Law { sweep: Sweep::new(device, law, precision, false)?, inputs: L::INPUTS, outputs: L::OUTPUTS })
    }
}

/// What the passes of a step work on.
#[derive(Debug)]
pub struct Stage<'a> {
    /// The box.
    pub bx: &'a SimulationBox,
    /// The full list, and who holds the particles of whom.
    pub neighborhood: &'a mut Neighborhood,
    /// The particles.
    pub columns: &'a mut Columns,
    /// Phase timers.
    pub clock: &'a mut Clock,
}

/// The gas: its plan, its laws, and the counts of its smoothing-length iteration.
#[derive(Debug)]
pub struct Hydrodynamics {
    device: Device,
    comm: Communicator,
    plan: SphPlan,
    kernel: Kernel<f64>,
    precision: Precision,
    memory: SweepMemory,
    number_density: Law,
    /// Made when it is first needed.
    density: Option<Law>,
    volume_elements: Law,
    gradients: Law,
    divergence_gradient: Law,
    momentum_energy: Law,
    /// Whether all particles have one mass, once that has been looked at.
    equal_masses: Option<bool>,
    /// Whether columns that only passes read stay after the last of them, for who wants to look at them.
    pub keep_fields: bool,
    /// Whether memory of a pass is given back when it is done, for others: some microseconds a pass.
    pub frugal: bool,
    /// How the smoothing lengths were found so far.
    pub smoothing: Smoothing,
}

impl Hydrodynamics {
    /// The gas of a plan.
    ///
    /// # Errors
    /// Those of the device; kernels that do not compile.
    pub fn new(exchange: &Exchange, plan: &SphPlan, precision: Precision) -> Result<Self> {
        let device = exchange.device();
        let (kernel, momentum_kernel) = (plan.interpolation_kernel(), plan.momentum_kernel());
        let (beta, conductivity) = (plan.viscosity.beta, plan.conductivity);
        let momentum_energy = match plan.formulation {
            Formulation::Standard => {
                let law = laws::momentum_energy_standard::Law { kernel: momentum_kernel, beta, conductivity };
                Law::new(device, &law, precision)
            }
            Formulation::VolumeElements => {
                let law = laws::momentum_energy_volume::Law {
                    kernel: momentum_kernel,
                    beta,
                    conductivity,
                    crossing_start: CROSSING[0],
                    crossing_slope: 1.0 / (CROSSING[1] - CROSSING[0]),
                };
                Law::new(device, &law, precision)
            }
        };
        Ok(Self {
            device: device.clone(),
            comm: exchange.comm().clone(),
            plan: plan.clone(),
            kernel,
            precision,
            memory: SweepMemory::new(device)?,
            number_density: Law::new(device, &laws::number_density::Law { kernel }, precision)?,
            density: None,
            volume_elements: Law::new(device, &laws::volume_elements::Law { kernel }, precision)?,
            gradients: Law::new(device, &laws::gradients::Law { kernel }, precision)?,
            divergence_gradient: Law::new(device, &laws::divergence_gradient::Law { kernel }, precision)?,
            momentum_energy: momentum_energy?,
            equal_masses: None,
            keep_fields: false,
            frugal: false,
            smoothing: Smoothing::default(),
        })
    }

    /// The memory that the passes hold between steps, in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Find the smoothing lengths of the rows that still search, with the present list. Where, on any rank, one outgrew the
    /// list, returns how many of this rank did: such a one has come as far as the list lets it, and goes on searching in a
    /// list for it. Collective.
    ///
    /// The density is then m n, n taken on to the new smoothing length by its derivative.
    ///
    /// # Errors
    /// Those of the device.
    pub fn smooth(
        &mut self,
        stage: &mut Stage,
        searches: &mut Searches,
        searching: u64,
    ) -> Result<Option<u64>> {
        if self.equal_masses.is_none() {
            self.equal_masses = Some(self.have_equal_masses(stage.columns)?);
        }
        let mut found = Smoothing::default();
        let mut remaining = searching;
        while remaining > 0 && found.sweeps < MOST_SWEEPS {
            let all = remaining == stage.columns.owned().len() as u64;
            let over = Over { active: (!all).then(|| searches.active()), ..Over::default() };
            sweep(&self.number_density, &mut self.memory, stage, &over)?;
            found.sweeps += 1;
            found.evaluations += remaining;
            let (neighbors, tolerance) = (self.plan.neighbors, self.plan.neighbor_tolerance);
            let step = searches.step(stage.columns, stage.neighborhood.largest(), neighbors, tolerance)?;
            found.outgrown += u64::from(step.outgrown);
            found.lonely += u64::from(step.lonely);
            remaining = u64::from(step.searching);
        }
        found.unconverged = remaining;
        self.done_with(stage, &[Field::NumberDensity, Field::NumberDensitySlope]);
        self.release()?;
        let outgrown = found.outgrown;
        let found = found.over_ranks(&self.comm);
        self.smoothing.add(&found);
        Ok((found.outgrown > 0).then_some(outgrown))
    }

    /// After a search for smoothing lengths of which some did not end: particles must not coincide.
    ///
    /// # Errors
    /// Those of the search for smoothing lengths, on the rank that has them, and those of the device.
    pub fn check_places(&self, bx: &SimulationBox, columns: &Columns) -> Result<()> {
        let fields = [Field::Position, Field::SmoothingLength];
        let mut host = Particles::new(&fields, 0);
        columns.download(&mut host, &fields)?;
        smoothing::check_places(bx, &host, self.kernel, self.plan.neighbors)
    }

    fn have_equal_masses(&self, columns: &Columns) -> Result<bool> {
        let (findings, rows) = (Findings::new(&self.device, 2)?, columns.owned());
        let arguments = ColumnExtremesArguments {
            column: columns.scalar(Field::Mass).into(),
            rows: (&rows).into(),
            extremes: findings.word(0),
        };
        over_pieces(&self.device, &rows, &arguments)?;
        let words = findings.read()?;
        // the largest mass of all ranks, and the largest of the negative ones
        let mut extremes = match largest(words[1]) {
            Some(most) => [most, -smallest(words[0])],
            None => [f64::NEG_INFINITY; 2],
        };
        self.comm.all_max(&mut extremes);
        Ok(extremes[0] == -extremes[1] || extremes[0] == f64::NEG_INFINITY)
    }

    /// The passes from density to acceleration and heating; `dt` is the time since the last ones.
    ///
    /// # Errors
    /// Those of the device.
    pub fn passes(&mut self, stage: &mut Stage, dt: f64) -> Result<()> {
        use Field::*;
        stage.share(&[SmoothingLength])?;
        let rows = 0..stage.columns.rows();
        let support = stage.neighborhood.spend_radius()?;
        let arguments = ScaledColumnArguments {
            column: stage.columns.scalar(SmoothingLength).into(),
            factor: 2.0,
            scaled: (&support).into(),
            rows: (&rows).into(),
        };
        over_rows(&self.device, &rows, &arguments)?;
        let over = Over { radius: Some(&support), ..Over::default() };
        self.density(stage, &over)?;
        self.state(stage)?;
        let shared = &[Density, GradH, Pressure, SoundSpeed];
        sweep(&self.gradients, &mut self.memory, stage, &Over { shared, ..over })?;
        self.release()?;
        stage.clock.lap("gradients");
        self.viscosity(stage, &over, dt)?;
        if self.plan.gradients == Gradients::Kernel {
            over_all(stage, |columns, rows| IsotropicMatricesArguments {
                length: columns.scalar(SmoothingLength).into(),
                matrix: std::array::from_fn(|k| columns.component(GradientMatrix, k).into()),
                rows,
            })?;
        }
        stage.clock.lap("viscosity");
        let spent: &[Field] = if self.keep_fields { &[] } else { &[GradientMatrix, VolumeElement, GradH] };
        let shared = &[GradientMatrix, Viscosity];
        sweep(&self.momentum_energy, &mut self.memory, stage, &Over { spent, shared, ..over })?;
        self.release()?;
        if let EquationOfState::Isothermal { .. } = self.plan.equation_of_state {
            // a bath takes the heat: the internal energy stays what it was
            fill(stage, InternalEnergyRate, 0.0)?;
        }
        stage.clock.lap("momentum and energy");
        Ok(())
    }

    /// Density and grad-h factor by the formulation.
    fn density(&mut self, stage: &mut Stage, over: &Over) -> Result<()> {
        let volume_elements = self.plan.formulation == Formulation::VolumeElements;
        // volume elements need an estimate of the density only, and have that of the search where it is one
        if !volume_elements || self.equal_masses != Some(true) {
            let law = match &mut self.density {
                Some(law) => law,
                none => {
                    let law = laws::density::Law { kernel: self.kernel };
                    none.insert(Law::new(&self.device, &law, self.precision)?)
                }
            };
            sweep(law, &mut self.memory, stage, over)?;
        }
        if volume_elements {
            stage.columns.add(&[Field::VolumeElement])?;
            over_all(stage, |columns, rows| EstimateVolumesArguments {
                mass: columns.scalar(Field::Mass).into(),
                density: columns.scalar(Field::Density).into(),
                element: columns.scalar(Field::VolumeElement).into(),
                rows,
            })?;
            let shared = &[Field::VolumeElement];
            sweep(&self.volume_elements, &mut self.memory, stage, &Over { shared, ..*over })?;
            self.done_with(stage, &[Field::VolumeSum]);
        }
        self.release()?;
        stage.clock.lap("density");
        Ok(())
    }

    /// Pressure and speed of sound.
    fn state(&self, stage: &mut Stage) -> Result<()> {
        stage.columns.add(&[Field::Pressure, Field::SoundSpeed])?;
        match self.plan.equation_of_state {
            EquationOfState::IdealGas { gamma } => over_all(stage, |columns, rows| IdealGasArguments {
                density: columns.scalar(Field::Density).into(),
                energy: columns.scalar(Field::InternalEnergy).into(),
                gamma,
                pressure: columns.scalar(Field::Pressure).into(),
                sound_speed: columns.scalar(Field::SoundSpeed).into(),
                rows,
            }),
            EquationOfState::Isothermal { sound_speed: speed } => {
                over_all(stage, |columns, rows| IsothermalGasArguments {
                    density: columns.scalar(Field::Density).into(),
                    speed,
                    pressure: columns.scalar(Field::Pressure).into(),
                    sound_speed: columns.scalar(Field::SoundSpeed).into(),
                    rows,
                })
            }
        }
    }

    /// The viscosity coefficients that follow from the velocity's divergence and curl.
    fn viscosity(&mut self, stage: &mut Stage, over: &Over, dt: f64) -> Result<()> {
        use Field::*;
        let viscosity = self.plan.viscosity.clone();
        if !viscosity.switch {
            let alpha = viscosity.alpha_max;
            self.done_with(stage, &[VelocityCurl]);
            return fill(stage, Viscosity, alpha);
        }
        let shared = &[VelocityDivergence];
        sweep(&self.divergence_gradient, &mut self.memory, stage, &Over { shared, ..*over })?;
        self.release()?;
        let switch = ViscositySwitch {
            minimum: viscosity.alpha_min,
            maximum: viscosity.alpha_max,
            limiter: viscosity.limiter,
            ..ViscositySwitch::default()
        };
        over_all(stage, |columns, rows| SwitchViscosityArguments {
            smoothing_length: columns.scalar(SmoothingLength).into(),
            sound_speed: columns.scalar(SoundSpeed).into(),
            divergence: columns.scalar(VelocityDivergence).into(),
            curl: columns.scalar(VelocityCurl).into(),
            divergence_gradient: columns.vector(DivergenceGradient).map(Input::from),
            viscosity: columns.scalar(Viscosity).into(),
            minimum: switch.minimum,
            maximum: switch.maximum,
            decay: switch.decay,
            limiter: u32::from(switch.limiter),
            step: dt,
            rows,
        })?;
        self.done_with(stage, &[VelocityCurl, DivergenceGradient]);
        Ok(())
    }

    /// Memory of a pass that is done.
    fn release(&mut self) -> Result<()> {
        if self.frugal {
            self.memory = SweepMemory::new(&self.device)?;
        }
        Ok(())
    }

    /// Columns that no later pass reads.
    fn done_with(&self, stage: &mut Stage, fields: &[Field]) {
        if !self.keep_fields {
            stage.columns.remove(fields);
        }
    }
}

impl Stage<'_> {
    /// Bring these fields of the rows of others up to date.
    fn share(&mut self, fields: &[Field]) -> Result<()> {
        self.neighborhood.domain.refresh(self.columns, fields)
    }

    /// What a sweep reads beside the law's columns.
    fn pass<'s>(&'s self, owned: &'s Range<usize>, over: &Over<'s>) -> Pass<'s> {
        let columns = &*self.columns;
        Pass {
            rows: columns.rows(),
            owned,
            position: columns.vector(Field::Position),
            id: (columns.rows() > owned.len()).then_some(&columns.id),
            radius: Some(over.radius.unwrap_or(self.neighborhood.radius())),
            cutoff: 0.0,
            bx: self.bx,
            active: over.active,
        }
    }
}

/// One sweep of a law over the list; what needs no rows of others is swept while their fields are on their way. The
/// particles get the columns that it writes, and lose those that are spent: new columns take their memory. What a law
/// stores of a row may depend on the row's own spent values, as it is written when they have been read.
fn sweep(law: &Law, memory: &mut SweepMemory, stage: &mut Stage, over: &Over) -> Result<()> {
    let owned = stage.columns.owned();
    let arriving = stage.neighborhood.domain.begin_refresh(stage.columns, over.shared)?;
    if owned.is_empty() {
        stage.neighborhood.domain.finish_refresh(arriving)?;
        stage.columns.remove(over.spent);
        return stage.columns.add(law.outputs);
    }
    let (pass, inputs) = (stage.pass(&owned, over), stage.columns.all(law.inputs));
    let Neighborhood { domain, records, .. } = &*stage.neighborhood;
    if arriving.is_nothing() {
        law.sweep.pack(memory, &pass, &inputs, Part::All)?;
        law.sweep.sweep(memory, &pass, records, Part::All)?;
    } else {
        law.sweep.sums_arriving(memory, &pass, records, &inputs, || domain.finish_refresh(arriving))?;
    }

    let mut free: Vec<Buffer<f64>> =
        over.spent.iter().filter_map(|&field| stage.columns.take(field)).flatten().collect();
    for &field in law.outputs {
        if !stage.columns.has(field) && free.len() >= field.components() {
            let columns = free.split_off(free.len() - field.components());
            stage.columns.put(field, columns);
        }
    }
    stage.columns.add(law.outputs)?;
    law.sweep.finish(memory, &stage.pass(&owned, over), &stage.columns.all(law.outputs))
}

/// A kernel over all rows.
fn over_all<A: Arguments>(stage: &Stage, arguments: impl FnOnce(&Columns, Rows) -> A) -> Result<()> {
    let rows = 0..stage.columns.rows();
    over_rows(stage.columns.device(), &rows, &arguments(stage.columns, (&rows).into()))
}

/// One value in all rows of a field.
fn fill(stage: &Stage, field: Field, value: f64) -> Result<()> {
    let columns = &*stage.columns;
    values::fill(columns.device(), columns.scalar(field), value, 0..columns.rows())
}
