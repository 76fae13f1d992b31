//! Planted faults: errors of the program that a build with the feature `faults` makes on request, to show
//! that the test cases find them (`make mutants`).
//!
//! `HILBRIUM_FAULT=NAME` selects one at run time. Code asks [`planted`], which is the constant false in every
//! other build. Laws write `if planted(NAME) { wrong } else { right }`. Faults are in the code of processors
//! only.

/// Defines [`Fault`], its name, what it does, and the checks of `scripts/mutants` that find it.
macro_rules! faults {
    ($($fault:ident = $name:literal, $what:literal, [$($check:literal),+];)+) => {
        /// A fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $(#[doc = $what] $fault,)+
        }

        impl Fault {
            /// All faults.
            pub const ALL: &[Fault] = &[$(Fault::$fault),+];

            /// The name for `HILBRIUM_FAULT`.
            pub fn name(self) -> &'static str {
                match self { $(Fault::$fault => $name),+ }
            }

            /// What the fault does.
            pub fn what(self) -> &'static str {
                match self { $(Fault::$fault => $what),+ }
            }

            /// Checks of `scripts/mutants` that find it, the first one tried first.
            pub fn checks(self) -> &'static [&'static str] {
                match self { $(Fault::$fault => &[$($check),+]),+ }
            }
        }
    };
}

faults! {
    // gas
    ViscositySign = "viscosity-sign", "artificial viscosity accelerates approaching particles",
        ["noh", "sod"];
    ViscosityOff = "viscosity-off", "no artificial viscosity", ["noh", "sod"];
    ViscositySwitchStuck = "viscosity-switch-stuck", "the viscosity switch stays at its maximum",
        ["gresho", "yee"];
    ViscousHeatMissing = "viscous-heat-missing", "artificial viscosity does not heat", ["noh"];
    PressureSign = "pressure-sign", "the pressure of the neighbor has the wrong sign", ["gas-at-rest"];
    PressureFactor = "pressure-factor", "the pressure is 3 % too high", ["ideal-gas", "equations-energy"];
    HeatingOfNeighbor = "heating-of-neighbor", "a particle gets the work of its neighbor's pressure",
        ["equations-energy", "equations-density"];
    GradientFactor = "gradient-factor", "the kernel gradient is twice too large", ["sound-wave"];
    GradHMissing = "grad-h-missing", "the grad-h factor Omega is 1",
        ["equations-energy", "equations-density"];
    SelfDensityMissing = "self-density-missing", "the density lacks the particle itself",
        ["sod", "sound-wave"];
    VolumeByNumber = "volume-by-number", "the volume elements do not follow steps of the density",
        ["isobaric-cube"];
    MatrixSign = "matrix-sign", "a cofactor of the integral approach's matrix has the wrong sign",
        ["equations-standard", "equations-energy", "equations-density"];
    SmoothingStale = "smoothing-stale", "the smoothing lengths stay those of the start", ["noh", "sedov"];
    SupportShort = "support-short", "pairs beyond 1.4 h are left out", ["sound-wave", "gas-at-rest"];
    SoundExponent = "sound-exponent", "the speed of sound lacks the adiabatic exponent", ["time-step"];
    IsothermalPressure = "isothermal-pressure", "the pressure of an isothermal gas is 10 % too low",
        ["isothermal"];
    // pairs and lists
    PairLost = "pair-lost", "the list lacks one pair of clusters", ["gas-at-rest", "energies"];
    ImageWrong = "image-wrong", "periodic images along x are a hundredth of a period off", ["energies"];
    CutoffShort = "cutoff-short", "the cutoff of molecules is 2 % too small", ["energies"];
    ListStale = "list-stale", "a list is not rebuilt when its skin is used up", ["all-pairs"];
    // gravity
    QuadrupoleSign = "quadrupole-sign", "the quadrupole of nodes has the wrong sign", ["direct-sum"];
    OpeningIgnored = "opening-ignored", "nodes are opened at half the distance", ["direct-sum"];
    PotentialUnsoftened = "potential-unsoftened", "the force is softened, the potential is not",
        ["direct-sum"];
    SelfPotential = "self-potential", "the potential contains the particle itself", ["plummer", "direct-sum"];
    NetForce = "net-force", "the net force of the multipoles' errors stays", ["direct-sum", "polytrope"];
    ExternalPull = "external-pull", "the pull of the external point mass is 10 % too strong",
        ["keplerian-ring"];
    // integrator
    HalfKickDropped = "half-kick-dropped", "velocity Verlet lacks its second half kick", ["two-body"];
    KickTwice = "kick-twice", "velocity Verlet does its first half kick twice", ["two-body"];
    DriftOldVelocity = "drift-old-velocity", "velocity Verlet drifts with the velocity before the kick",
        ["two-body", "liquid"];
    GasKickDropped = "gas-kick-dropped", "the leapfrog of a gas keeps the predicted velocities",
        ["convergence"];
    GasEnergyKickDropped = "gas-energy-kick-dropped", "the leapfrog of a gas keeps the predicted energies",
        ["convergence"];
    GasDriftOldVelocity = "gas-drift-old-velocity",
        "the leapfrog of a gas drifts with the velocity before the kick",
        ["convergence"];
    CourantIgnored = "courant-ignored", "the Courant criterion does not limit the step", ["time-step"];
    GrowthIgnored = "growth-ignored", "the growth of the step has no limit", ["time-step"];
    EndOvershot = "end-overshot", "the last step is not shortened to the end time", ["gas-at-rest"];
    // ranks
    HaloStale = "halo-stale", "rank 1 keeps the halo values of the last rebuild", ["ranks-liquid"];
    HaloThin = "halo-thin", "halos are as thick as 0.8 of the interaction range",
        ["ranks-liquid", "ranks-gas"];
    MigrantLost = "migrant-lost", "a particle that migrates is lost", ["ranks-gas"];
    // starts and files
    StartEnergy = "start-energy", "the internal energies of a start are 5 % too high", ["start-energy"];
    BallUnstretched = "ball-unstretched", "balls keep uniform density instead of the case's profile",
        ["evrard"];
    SnapshotVelocity = "snapshot-velocity", "velocities of outputs lack the pending half kick",
        ["liquid", "restart"];
    // molecules
    ShiftMissing = "shift-missing", "a shifted potential is not shifted", ["energies"];
    MixingRule = "mixing-rule", "unlike species mix epsilon by the arithmetic mean", ["energies"];
    VirialSign = "virial-sign", "the virial has the wrong sign in the pressure", ["energies"];
    TailMissing = "tail-missing", "the tail correction is left out", ["energies"];
    CoulombForce = "coulomb-force", "the force of charges is half of the gradient of their energy",
        ["energies"];
    ThermostatTemperature = "thermostat-temperature",
        "the noise of the Langevin thermostat is 10 % too strong",
        ["thermostat"];
    HeatSign = "heat-sign", "the heat of the thermostat is counted with the wrong sign", ["thermostat"];
}

/// Whether a fault is planted in this run.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub const fn planted(_: Fault) -> bool {
    false
}

/// Notice for logs and titles: `None` without a planted fault.
#[cfg(not(feature = "faults"))]
pub const fn notice() -> Option<String> {
    None
}

#[cfg(feature = "faults")]
pub use choice::{choose, notice, planted};

#[cfg(feature = "faults")]
mod choice {
    use super::Fault;
    use crate::{Error, Result};
    use std::fmt::Write;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// 1 + the chosen fault; 0 for none.
    static CHOSEN: AtomicUsize = AtomicUsize::new(0);

    /// Whether a fault is planted in this run.
    #[inline(always)]
    pub fn planted(fault: Fault) -> bool {
        CHOSEN.load(Ordering::Relaxed) == fault as usize + 1
    }

    /// Notice for logs and titles: `None` without a planted fault.
    pub fn notice() -> Option<String> {
        let chosen = Fault::ALL.iter().find(|&&fault| planted(fault))?;
        Some(format!("PLANTED FAULT {}: {}", chosen.name(), chosen.what()))
    }

    /// Plants the fault that the environment variable `HILBRIUM_FAULT` names. Call it before anything else.
    ///
    /// # Errors
    /// [`Error::Usage`] for another name, with one line per fault: name, what it does, its checks.
    pub fn choose() -> Result<()> {
        let Some(name) = std::env::var_os("HILBRIUM_FAULT").filter(|name| !name.is_empty()) else {
            return Ok(());
        };
        if let Some(fault) = Fault::ALL.iter().find(|fault| name == fault.name()) {
            CHOSEN.store(*fault as usize + 1, Ordering::Relaxed);
            return Ok(());
        }
        let mut list = String::new();
        for fault in Fault::ALL {
            let _ = write!(list, "\n{}: {} [{}]", fault.name(), fault.what(), fault.checks().join(", "));
        }
        Err(Error::usage(
            format!("HILBRIUM_FAULT={} names no fault", name.display()),
            format!("unset it, or choose one:{list}"),
        ))
    }
}
