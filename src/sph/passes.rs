//! The force evaluation of a gas, written once for processors ([`super::Processors`]) and devices, which
//! implement [`Backend`]: the smoothing-length search and the order of the passes.

use crate::comm::Communicator;
use crate::faults::{Fault, planted};
use crate::laws::viscosity_switch::ViscositySwitch;
use crate::laws::{
    density, divergence_gradient, gradients, momentum_energy_standard, momentum_energy_volume,
    number_density, volume_elements, volume_estimate,
};
use crate::pair::PairLaw;
use crate::particles::Field;
use crate::plan::{EquationOfState, Formulation, Gradients, SphPlan, VolumeEstimate};
use crate::sph::SmoothingStatistics;
use crate::{Error, Result};

/// Maximum number of sweeps of a smoothing-length search in one list; searches beyond it have not converged.
const MOST_SWEEPS: u64 = 60;

/// Maximum number of neighbor lists per step with increasing supports; beyond it the step fails.
const MOST_ROUNDS: u32 = 100;

/// Range of Atwood numbers in which the volume-element momentum equation blends from the uncrossed to the
/// crossed form (Garcia-Senz, Cabezon & Escartin 2022).
const CROSSING: [f64; 2] = [0.1, 0.2];

/// Ramps of the estimate of the volume ([`volume_estimate`]): contrast of the thermal energies; 0.0003 and
/// 0.00125 are those of a gas in which half of the neighbors differ by 5 % and by 10 %.
const ENERGY_CONTRAST: [f64; 2] = [0.0003, 0.00125];

/// Offset of the center of the thermal energies, over h.
const ENERGY_OFFSET: [f64; 2] = [0.04, 0.08];

/// Compression -h div v / c.
const COMPRESSION: [f64; 2] = [0.05, 0.1];

/// A pass over the pairs of the gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GasPass {
    /// Number density and its derivative with respect to the smoothing length.
    NumberDensity,
    /// Density.
    Density,
    /// First estimate of the volume elements.
    VolumeEstimate,
    /// Volume elements, the density from them, and the grad-h factor.
    VolumeElements,
    /// Matrix of the integral approach, velocity divergence and curl.
    Gradients,
    /// Gradient of the velocity divergence, for the viscosity switch.
    DivergenceGradient,
    /// Accelerations, heating rates and signal speeds.
    MomentumEnergy,
}

/// An independent operation per row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowOperation {
    /// Volume elements m/rho from the last density.
    EstimateVolumes,
    /// Pressure and sound speed from density and internal energy.
    EquationOfState,
    /// Advances the viscosity coefficients by a time step.
    SwitchViscosity(ViscositySwitch, f64),
    /// Replaces the gradient matrices by those of kernel gradients.
    IsotropicMatrices,
    /// Sets a scalar field to one value.
    Fill(Field, f64),
}

/// Result of one sweep of a smoothing-length search on this rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// Searches whose support outgrew the list.
    pub outgrown: u64,
    /// Particles with too few neighbors at the largest smoothing length.
    pub lonely: u64,
    /// Searches that have not converged.
    pub searching: u64,
}

/// Receives the law of a pass.
pub trait LawVisitor {
    /// Result of the visit.
    type Output;
    /// Visits a law.
    fn visit<L: PairLaw>(self, law: &L) -> Self::Output;
}

impl GasPass {
    /// All passes.
    pub const ALL: [GasPass; 7] = [
        GasPass::NumberDensity,
        GasPass::Density,
        GasPass::VolumeEstimate,
        GasPass::VolumeElements,
        GasPass::Gradients,
        GasPass::DivergenceGradient,
        GasPass::MomentumEnergy,
    ];

    /// Calls the visitor with the law of this pass in a plan.
    pub fn visit<V: LawVisitor>(self, plan: &SphPlan, visitor: V) -> V::Output {
        let kernel = plan.interpolation_kernel();
        match self {
            GasPass::NumberDensity => visitor.visit(&number_density::Law { kernel }),
            GasPass::Density => visitor.visit(&density::Law { kernel }),
            GasPass::VolumeEstimate => visitor.visit(&volume_estimate::Law {
                kernel,
                ideal: match plan.equation_of_state {
                    EquationOfState::IdealGas { .. } => 1.0,
                    EquationOfState::Isothermal { .. } => 0.0,
                },
                contrast_start: ENERGY_CONTRAST[0],
                contrast_slope: 1.0 / (ENERGY_CONTRAST[1] - ENERGY_CONTRAST[0]),
                sound_squared: match plan.equation_of_state {
                    EquationOfState::IdealGas { gamma } => gamma * (gamma - 1.0),
                    EquationOfState::Isothermal { sound_speed } => sound_speed * sound_speed,
                },
                offset_start: ENERGY_OFFSET[0],
                offset_slope: 1.0 / (ENERGY_OFFSET[1] - ENERGY_OFFSET[0]),
                compression_start: COMPRESSION[0],
                compression_slope: 1.0 / (COMPRESSION[1] - COMPRESSION[0]),
            }),
            GasPass::VolumeElements => visitor.visit(&volume_elements::Law { kernel }),
            GasPass::Gradients => visitor.visit(&gradients::Law::new(kernel)),
            GasPass::DivergenceGradient => visitor.visit(&divergence_gradient::Law { kernel }),
            GasPass::MomentumEnergy => {
                let kernel = plan.momentum_kernel();
                let [conductivity, switched_conductivity] = plan.conductivities();
                let beta = plan.viscosity.beta;
                match plan.formulation {
                    Formulation::Standard => visitor.visit(&momentum_energy_standard::Law {
                        kernel,
                        beta,
                        conductivity,
                        switched_conductivity,
                    }),
                    Formulation::VolumeElements => visitor.visit(&momentum_energy_volume::Law {
                        kernel,
                        beta,
                        conductivity,
                        switched_conductivity,
                        crossing_start: CROSSING[0],
                        crossing_slope: 1.0 / (CROSSING[1] - CROSSING[0]),
                    }),
                }
            }
        }
    }
}

/// Backend of the passes: processors or a device. Operations act on the rows of this rank unless marked
/// collective. Processors return no errors except those listed.
pub trait Backend {
    /// State of the smoothing-length searches, one per owned row.
    type Searches;

    /// The settings of the gas.
    fn plan(&self) -> &SphPlan;
    /// The ranks.
    fn comm(&self) -> &Communicator;
    /// Number of owned rows.
    fn owned(&self) -> usize;
    /// Adds the time since the last call to a phase.
    fn lap(&mut self, phase: &'static str);
    /// Statistics of the smoothing-length searches so far.
    fn smoothing(&mut self) -> &mut SmoothingStatistics;
    /// Whether the particles of all ranks have equal masses. Collective at the first call.
    ///
    /// # Errors
    /// Those of the device.
    fn equal_masses(&mut self) -> Result<bool>;

    /// Starts a search for every owned row.
    ///
    /// # Errors
    /// Those of the device.
    fn start_searches(&mut self) -> Result<Self::Searches>;
    /// Sweeps the number density of the `searching` rows that have not converged, and advances their searches
    /// by one step: smoothing length, and density extrapolated to it.
    ///
    /// # Errors
    /// Those of the device.
    fn search(&mut self, searches: &mut Self::Searches, searching: u64) -> Result<Searched>;
    /// Restarts the searches that outgrew the last list, and ends the others.
    ///
    /// # Errors
    /// Those of the device.
    fn restart(&mut self, searches: &mut Self::Searches) -> Result<()>;
    /// Builds list and halos for the current smoothing lengths; owners are unchanged. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 for a periodic box too small for the supports.
    fn rebuild_list(&mut self) -> Result<()>;
    /// Checks for coincident particles after a search that did not converge.
    ///
    /// # Errors
    /// [`Error::State`] with step 0, on the rank that detects them.
    fn check_coincident(&self) -> Result<()>;

    /// Exchanges fields of the halos. Collective.
    ///
    /// # Errors
    /// Those of the device.
    fn exchange_halos(&mut self, fields: &[Field]) -> Result<()>;
    /// Sets the interaction radii of the following passes to the supports 2h.
    ///
    /// # Errors
    /// Those of the device.
    fn set_supports(&mut self) -> Result<()>;
    /// Sweeps a pass over the list after exchanging the halo fields `exchanged`; interior work may overlap
    /// the exchange. The fields `spent` are read for the last time: outputs may reuse their memory.
    /// Collective.
    ///
    /// # Errors
    /// Those of the device.
    fn sweep(&mut self, pass: GasPass, exchanged: &[Field], spent: &[Field]) -> Result<()>;
    /// Applies an operation to each row.
    ///
    /// # Errors
    /// Those of the device.
    fn apply(&mut self, operation: RowOperation) -> Result<()>;
    /// Removes fields that no later pass reads.
    fn remove(&mut self, fields: &[Field]);
}

/// Finds the smoothing lengths. Rebuilds the list while supports outgrow it. The density becomes m n, with n
/// extrapolated linearly to the new smoothing length; for equal masses its error is of second order in the
/// last change of h. Collective.
///
/// # Errors
/// [`Error::State`] with step 0, on all ranks: coincident particles, a box too small for the supports,
/// supports that outgrow all lists. Those of the device.
pub fn find_smoothing_lengths<B: Backend>(backend: &mut B) -> Result<()> {
    if planted(Fault::SmoothingStale) && backend.smoothing().sweeps > 0 {
        return Ok(());
    }
    let mut searches = backend.start_searches()?;
    let mut searching = backend.owned() as u64;
    for _ in 0..MOST_ROUNDS {
        let mut found = SmoothingStatistics::default();
        while searching > 0 && found.sweeps < MOST_SWEEPS {
            let searched = backend.search(&mut searches, searching)?;
            found.sweeps += 1;
            found.evaluations += searching;
            found.outgrown += searched.outgrown;
            found.lonely += searched.lonely;
            searching = searched.searching;
        }
        found.unconverged = searching;
        backend.remove(&[Field::NumberDensity, Field::NumberDensitySlope]);
        searching = found.outgrown;
        let found = found.over_ranks(backend.comm());
        backend.smoothing().add(&found);
        if found.unconverged > 0 {
            let checked = backend.check_coincident();
            backend.comm().agree(checked)?;
        }
        backend.lap("smoothing lengths");
        if found.outgrown == 0 {
            return Ok(());
        }
        backend.rebuild_list()?;
        backend.restart(&mut searches)?;
        backend.lap("neighbors");
    }
    Err(Error::State {
        step: 0,
        what: format!("some smoothing lengths outgrew {MOST_ROUNDS} neighbor lists in a row"),
        remedy: "look for particles far from all others; fewer sph.neighbors or a smaller step may help"
            .into(),
    })
}

/// Runs the passes from density to acceleration and heating rate; `dt` is the time since the last run.
/// Intermediate fields exist from the pass that writes them to the last that reads them. Collective.
///
/// # Errors
/// Those of the device.
pub fn evaluate_passes<B: Backend>(backend: &mut B, dt: f64) -> Result<()> {
    use Field::*;
    let plan = backend.plan().clone();
    backend.exchange_halos(&[SmoothingLength])?;
    backend.set_supports()?;
    let volume_elements = plan.formulation == Formulation::VolumeElements;
    if volume_elements {
        find_volumes(backend, &plan)?;
    } else {
        backend.sweep(GasPass::Density, &[], &[])?;
    }
    backend.lap("density");
    backend.apply(RowOperation::EquationOfState)?;
    backend.sweep(GasPass::Gradients, &[Density, GradH, Pressure, SoundSpeed], &[])?;
    backend.lap("gradients");
    update_viscosity(backend, &plan, dt)?;
    if plan.gradients == Gradients::Kernel {
        backend.apply(RowOperation::IsotropicMatrices)?;
    }
    backend.lap("viscosity");
    let spent = [GradientMatrix, VolumeElement, GradH];
    backend.sweep(GasPass::MomentumEnergy, &[GradientMatrix, Viscosity], &spent)?;
    backend.remove(&spent);
    if let EquationOfState::Isothermal { .. } = plan.equation_of_state {
        // isothermal: the internal energy stays constant
        backend.apply(RowOperation::Fill(InternalEnergyRate, 0.0))?;
    }
    backend.lap("momentum and energy");
    Ok(())
}

/// Volume elements and the density from them.
fn find_volumes<B: Backend>(backend: &mut B, plan: &SphPlan) -> Result<()> {
    match plan.volume_estimate {
        VolumeEstimate::Energy => backend.sweep(GasPass::VolumeEstimate, &[], &[])?,
        VolumeEstimate::Density => {
            // for equal masses the search provides the density
            if !backend.equal_masses()? {
                backend.sweep(GasPass::Density, &[], &[])?;
            }
            backend.apply(RowOperation::EstimateVolumes)?;
        }
    }
    backend.sweep(GasPass::VolumeElements, &[Field::VolumeElement], &[])?;
    for _ in 0..plan.volume_iterations {
        // m / rho = X / k: the new estimate
        backend.apply(RowOperation::EstimateVolumes)?;
        backend.sweep(GasPass::VolumeElements, &[Field::VolumeElement], &[])?;
    }
    backend.remove(&[Field::VolumeSum]);
    Ok(())
}

/// Updates the viscosity coefficients from divergence and curl of the velocity.
fn update_viscosity<B: Backend>(backend: &mut B, plan: &SphPlan, dt: f64) -> Result<()> {
    let viscosity = &plan.viscosity;
    if !viscosity.switch {
        backend.remove(&[Field::VelocityCurl]);
        return backend.apply(RowOperation::Fill(Field::Viscosity, viscosity.alpha_max));
    }
    backend.sweep(GasPass::DivergenceGradient, &[Field::VelocityDivergence], &[])?;
    let switch = ViscositySwitch {
        minimum: viscosity.alpha_min,
        maximum: viscosity.alpha_max,
        limiter: viscosity.limiter,
        ..ViscositySwitch::default()
    };
    backend.apply(RowOperation::SwitchViscosity(switch, dt))?;
    backend.remove(&[Field::VelocityCurl, Field::DivergenceGradient]);
    Ok(())
}

/// Fields that a step recomputes, with a first guess to reset them after a failed force evaluation.
/// `viscosity` is the largest coefficient.
pub(crate) fn reset_values(viscosity: f64) -> [(Field, f64); 3] {
    [(Field::Density, 0.0), (Field::VelocityDivergence, 0.0), (Field::Viscosity, viscosity)]
}
