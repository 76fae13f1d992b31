//! The gas on a device: the [`Backend`] of the passes in [`crate::sph::passes`].

mod laws;

use super::arguments::state::{
    ColumnExtremesArguments, EstimateVolumesArguments, IdealGasArguments, IsothermalGasArguments,
    IsotropicMatricesArguments, ScaledColumnArguments,
};
use super::arguments::viscosity::SwitchViscosityArguments;
use super::arguments::{Arguments, Input, Rows};
use super::columns::Columns;
use super::exchange::Exchange;
use super::neighborhood::Neighborhood;
use super::pair_sums::{Neighbors, SumMemory};
use super::reduction::{Findings, largest, over_blocks, over_rows, smallest};
use super::smoothing::Searches;
use super::sweep::Pass;
use super::{Buffer, Device, values};
use crate::Result;
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::laws::viscosity_switch::ViscositySwitch;
use crate::neighborhood::Method;
use crate::pair::Precision;
use crate::particles::{Field, Particles};
use crate::plan::{EquationOfState, SphPlan};
use crate::space::SimulationBox;
use crate::sph::passes::{Backend, GasPass, RowOperation, Searched};
use crate::sph::{SmoothingStatistics, smoothing};
use laws::{Compile, Law, compile};
use std::ops::Range;

/// The gas of a rank's device during a force evaluation.
#[derive(Debug)]
pub struct GasOnDevice<'a> {
    /// The passes.
    pub hydrodynamics: &'a mut Hydrodynamics,
    /// The box.
    pub bx: &'a SimulationBox,
    /// The full list or none, and the halos.
    pub neighborhood: &'a mut Neighborhood,
    /// The particles.
    pub columns: &'a mut Columns,
    /// Phase timers.
    pub clock: &'a mut Clock,
    /// The supports, after [`Backend::set_supports`]; before it, sweeps use the list radii.
    pub supports: Option<Supports>,
}

/// Interaction radii 2h of all rows.
#[derive(Debug)]
pub struct Supports {
    radius: Buffer<f64>,
    /// The largest one, where there is no list.
    largest: Option<f64>,
}

/// The gas: its plan, compiled laws, and statistics of the smoothing-length search.
#[derive(Debug)]
pub struct Hydrodynamics {
    device: Device,
    comm: Communicator,
    plan: SphPlan,
    precision: Precision,
    method: Method,
    memory: SumMemory,
    /// In the order of [`GasPass::ALL`]. [`GasPass::Density`] and [`GasPass::VolumeEstimate`] are compiled
    /// when they are first swept, the others at the start.
    laws: [Option<Law>; GasPass::ALL.len()],
    /// Whether all particles have equal masses; `None` before the first check.
    equal_masses: Option<bool>,
    /// Whether intermediate fields are kept after the last pass that reads them, for inspection.
    pub keep_fields: bool,
    /// Whether scratch memory is released after each pass; it costs a few microseconds a pass.
    pub frugal: bool,
    /// Statistics of the smoothing-length search so far.
    pub smoothing: SmoothingStatistics,
}

impl Hydrodynamics {
    /// The gas of a plan.
    ///
    /// # Errors
    /// Those of the device; kernels that do not compile.
    pub fn new(exchange: &Exchange, plan: &SphPlan, precision: Precision, method: Method) -> Result<Self> {
        let device = exchange.device();
        Ok(Self {
            device: device.clone(),
            comm: exchange.comm().clone(),
            plan: plan.clone(),
            precision,
            method,
            memory: SumMemory::new(device)?,
            laws: compile(plan, Compile { device, precision, method })?,
            equal_masses: None,
            keep_fields: false,
            frugal: false,
            smoothing: SmoothingStatistics::default(),
        })
    }

    /// Finds pairs by another method from now on, and releases the memory of the last one.
    ///
    /// # Errors
    /// Those of [`Hydrodynamics::new`].
    pub fn set_method(&mut self, method: Method) -> Result<()> {
        if method != self.method {
            let compiler = Compile { device: &self.device, precision: self.precision, method };
            self.laws = compile(&self.plan, compiler)?;
            self.memory = SumMemory::new(&self.device)?;
            self.method = method;
        }
        Ok(())
    }

    /// Allocated bytes of grids of cells.
    pub fn grid_bytes(&self) -> usize {
        self.memory.grid_bytes()
    }

    /// Whether the particles of all ranks have equal masses. Collective.
    fn compare_masses(&self, columns: &Columns) -> Result<bool> {
        let (findings, rows) = (Findings::new(&self.device, 2)?, columns.owned());
        let arguments = ColumnExtremesArguments {
            column: columns.scalar(Field::Mass).into(),
            rows: (&rows).into(),
            extremes: findings.word(0),
        };
        over_blocks(&self.device, &rows, &arguments)?;
        let words = findings.read()?;
        // maxima over all ranks of m and -m
        let mut extremes = match largest(words[1]) {
            Some(most) => [most, -smallest(words[0])],
            None => [f64::NEG_INFINITY; 2],
        };
        self.comm.all_max(&mut extremes);
        Ok(extremes[0] == -extremes[1] || extremes[0] == f64::NEG_INFINITY)
    }

    /// Releases the scratch memory of a finished pass, if `frugal`.
    fn release(&mut self) -> Result<()> {
        if self.frugal {
            self.memory = SumMemory::new(&self.device)?;
        }
        Ok(())
    }
}

impl Backend for GasOnDevice<'_> {
    type Searches = Searches;

    fn plan(&self) -> &SphPlan {
        &self.hydrodynamics.plan
    }

    fn comm(&self) -> &Communicator {
        &self.hydrodynamics.comm
    }

    fn owned(&self) -> usize {
        self.columns.owned().len()
    }

    fn lap(&mut self, phase: &'static str) {
        self.clock.lap(phase);
    }

    fn smoothing(&mut self) -> &mut SmoothingStatistics {
        &mut self.hydrodynamics.smoothing
    }

    fn equal_masses(&mut self) -> Result<bool> {
        let equal = match self.hydrodynamics.equal_masses {
            Some(equal) => equal,
            None => self.hydrodynamics.compare_masses(self.columns)?,
        };
        self.hydrodynamics.equal_masses = Some(equal);
        Ok(equal)
    }

    fn start_searches(&mut self) -> Result<Searches> {
        let largest = self.neighborhood.largest_smoothing_length(self.bx);
        Searches::new(&self.hydrodynamics.device, self.columns.owned().len(), largest)
    }

    fn search(&mut self, searches: &mut Searches, searching: u64) -> Result<Searched> {
        let all = searching == self.columns.owned().len() as u64;
        self.run(GasPass::NumberDensity, (!all).then(|| searches.active()), &[], &[])?;
        let plan = &self.hydrodynamics.plan;
        let (neighbors, tolerance) = (plan.neighbors, plan.neighbor_tolerance);
        searches.step(self.columns, self.neighborhood.largest(), neighbors, tolerance)
    }

    fn restart(&mut self, searches: &mut Searches) -> Result<()> {
        searches.restart()
    }

    fn rebuild_list(&mut self) -> Result<()> {
        self.hydrodynamics.release()?;
        self.neighborhood.build(self.bx, self.columns)
    }

    fn check_coincident(&self) -> Result<()> {
        let fields = [Field::Position, Field::SmoothingLength];
        let mut host = Particles::new(&fields, 0);
        self.columns.download(&mut host, &fields)?;
        let plan = &self.hydrodynamics.plan;
        smoothing::check_coincident(self.bx, &host, plan.interpolation_kernel(), plan.neighbors)
    }

    fn exchange_halos(&mut self, fields: &[Field]) -> Result<()> {
        self.neighborhood.domain.refresh(self.columns, fields)
    }

    fn set_supports(&mut self) -> Result<()> {
        self.hydrodynamics.release()?;
        let rows = 0..self.columns.rows();
        let support = self.neighborhood.spend_radius()?;
        let arguments = ScaledColumnArguments {
            column: self.columns.scalar(Field::SmoothingLength).into(),
            factor: 2.0,
            scaled: (&support).into(),
            rows: (&rows).into(),
        };
        over_rows(&self.hydrodynamics.device, &rows, &arguments)?;
        let largest = match self.neighborhood.has_list() {
            true => None,
            false => Some(self.neighborhood.largest_of(&support, self.columns)?),
        };
        self.supports = Some(Supports { radius: support, largest });
        Ok(())
    }

    fn sweep(&mut self, pass: GasPass, exchanged: &[Field], spent: &[Field]) -> Result<()> {
        let spent = if self.hydrodynamics.keep_fields { &[] } else { spent };
        self.run(pass, None, exchanged, spent)?;
        self.hydrodynamics.release()
    }

    fn apply(&mut self, operation: RowOperation) -> Result<()> {
        match operation {
            RowOperation::EstimateVolumes => self.estimate_volumes(),
            RowOperation::EquationOfState => self.equation_of_state(),
            RowOperation::SwitchViscosity(switch, dt) => self.switch_viscosity(&switch, dt),
            RowOperation::IsotropicMatrices => self.isotropic_matrices(),
            RowOperation::Fill(field, value) => {
                let columns = &*self.columns;
                values::fill(columns.device(), columns.scalar(field), value, 0..columns.rows())
            }
        }
    }

    fn remove(&mut self, fields: &[Field]) {
        if !self.hydrodynamics.keep_fields {
            self.columns.remove(fields);
        }
    }
}

impl GasOnDevice<'_> {
    fn estimate_volumes(&mut self) -> Result<()> {
        self.columns.add(&[Field::VolumeElement])?;
        over_all(self.columns, |columns, rows| EstimateVolumesArguments {
            mass: columns.scalar(Field::Mass).into(),
            density: columns.scalar(Field::Density).into(),
            element: columns.scalar(Field::VolumeElement).into(),
            rows,
        })
    }

    /// Pressure and sound speed.
    fn equation_of_state(&mut self) -> Result<()> {
        self.columns.add(&[Field::Pressure, Field::SoundSpeed])?;
        match self.hydrodynamics.plan.equation_of_state {
            EquationOfState::IdealGas { gamma } => {
                over_all(self.columns, |columns, rows| IdealGasArguments {
                    density: columns.scalar(Field::Density).into(),
                    energy: columns.scalar(Field::InternalEnergy).into(),
                    gamma,
                    pressure: columns.scalar(Field::Pressure).into(),
                    sound_speed: columns.scalar(Field::SoundSpeed).into(),
                    rows,
                })
            }
            EquationOfState::Isothermal { sound_speed: speed } => {
                over_all(self.columns, |columns, rows| IsothermalGasArguments {
                    density: columns.scalar(Field::Density).into(),
                    speed,
                    pressure: columns.scalar(Field::Pressure).into(),
                    sound_speed: columns.scalar(Field::SoundSpeed).into(),
                    rows,
                })
            }
        }
    }

    fn isotropic_matrices(&mut self) -> Result<()> {
        over_all(self.columns, |columns, rows| IsotropicMatricesArguments {
            length: columns.scalar(Field::SmoothingLength).into(),
            matrix: std::array::from_fn(|k| columns.component(Field::GradientMatrix, k).into()),
            rows,
        })
    }

    fn switch_viscosity(&mut self, switch: &ViscositySwitch, dt: f64) -> Result<()> {
        use Field::*;
        over_all(self.columns, |columns, rows| SwitchViscosityArguments {
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
        })
    }

    /// Sweeps a pass over the pairs, for the `active` rows or all. Interior rows overlap the exchange of the
    /// halo fields `exchanged`. The `spent` fields are removed and the outputs reuse their memory; outputs of
    /// a row may depend on the row's own spent values, which are read before the outputs are written.
    fn run(
        &mut self,
        pass: GasPass,
        active: Option<&Buffer<u8>>,
        exchanged: &[Field],
        spent: &[Field],
    ) -> Result<()> {
        let Self { hydrodynamics, bx, neighborhood, columns, supports, .. } = self;
        let Hydrodynamics { device, precision, method, plan, laws, memory, .. } = &mut **hydrodynamics;
        let law = match &mut laws[pass as usize] {
            Some(law) => law,
            none => {
                none.insert(pass.visit(plan, Compile { device, precision: *precision, method: *method })?)
            }
        };
        let owned = columns.owned();
        let arriving = neighborhood.domain.begin_refresh(columns, exchanged)?;
        if owned.is_empty() {
            neighborhood.domain.finish_refresh(arriving)?;
            columns.remove(spent);
            return columns.add(law.outputs);
        }
        // searches sweep within the list radii, all other passes within the supports
        let radius = supports.as_ref().map_or(neighborhood.radius(), |supports| &supports.radius);
        let neighbors = match supports.as_ref().and_then(|supports| supports.largest) {
            Some(largest) => Neighbors::Within(largest),
            None => neighborhood.neighbors(),
        };
        let rows = SweptRows { owned: &owned, radius, bx, active };
        let (pass, inputs) = (rows.pass(columns), columns.all(law.inputs));
        law.sums.sums(memory, &pass, neighbors, &inputs, (&neighborhood.domain, arriving))?;
        let mut free: Vec<Buffer<f64>> =
            spent.iter().filter_map(|&field| columns.take(field)).flatten().collect();
        for &field in law.outputs {
            if !columns.has(field) && free.len() >= field.components() {
                let recycled = free.split_off(free.len() - field.components());
                columns.put(field, recycled);
            }
        }
        columns.add(law.outputs)?;
        law.sums.finish(memory, &rows.pass(columns), &columns.all(law.outputs))
    }
}

/// Rows of a sweep, and their radii.
struct SweptRows<'a> {
    owned: &'a Range<usize>,
    radius: &'a Buffer<f64>,
    bx: &'a SimulationBox,
    active: Option<&'a Buffer<u8>>,
}

impl SweptRows<'_> {
    fn pass<'s>(&'s self, columns: &'s Columns) -> Pass<'s> {
        Pass {
            rows: columns.rows(),
            owned: self.owned,
            position: columns.vector(Field::Position),
            id: (columns.rows() > self.owned.len()).then_some(&columns.id),
            radius: Some(self.radius),
            cutoff: 0.0,
            bx: self.bx,
            active: self.active,
        }
    }
}

/// Launches a kernel over all rows.
fn over_all<A: Arguments>(columns: &Columns, arguments: impl FnOnce(&Columns, Rows) -> A) -> Result<()> {
    let rows = 0..columns.rows();
    over_rows(columns.device(), &rows, &arguments(columns, (&rows).into()))
}
