//! Plan of gas and self-gravity.

use serde::{Deserialize, Serialize};

choice! {
    /// The SPH equations.
    Formulation {
        /// Density sum with grad-h terms.
        Standard = "standard",
        /// Generalized volume elements (Garcia-Senz, Cabezon & Escartin 2022).
        VolumeElements = "volume-elements",
    }
}

choice! {
    /// First estimate of the volume elements.
    VolumeEstimate {
        /// Volume over thermal energy where the pressure is uniform, 1 / n elsewhere
        /// ([`crate::laws::volume_estimate`]).
        Energy = "energy",
        /// m / rho of the density sum (Garcia-Senz, Cabezon & Escartin 2022).
        Density = "density",
    }
}

choice! {
    /// Gradient estimate of the momentum and energy equations.
    Gradients {
        /// The integral approach, exact for linear functions (Garcia-Senz, Cabezon & Escartin 2012).
        Integral = "integral",
        /// The gradient of the kernel itself: the heating is then that of an adiabatic change of the density
        /// sum.
        Kernel = "kernel",
    }
}

impl VolumeEstimate {
    /// The estimate of plans without the key.
    fn of_older_plans() -> Self {
        Self::Density
    }
}

/// The interpolation kernel; the support radius is 2h for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Kernel {
    /// Cubic spline.
    CubicSpline,
    /// Wendland C2.
    WendlandC2,
    /// Wendland C4.
    WendlandC4,
    /// Wendland C6.
    WendlandC6,
    /// Sinc of this exponent, 3 to 12 (Cabezon, Garcia-Senz & Relano 2008).
    Sinc(u32),
}

impl Kernel {
    /// The names in the deck.
    pub const NAMES: &[&str] = &[
        "cubic-spline",
        "wendland-c2",
        "wendland-c4",
        "wendland-c6",
        "sinc-3",
        "sinc-4",
        "sinc-5",
        "sinc-6",
        "sinc-7",
        "sinc-8",
        "sinc-9",
        "sinc-10",
        "sinc-11",
        "sinc-12",
    ];

    /// Returns the kernel of that name.
    pub fn named(name: &str) -> Option<Self> {
        let index = Self::NAMES.iter().position(|&known| known == name)?;
        Some(match index {
            0 => Self::CubicSpline,
            1 => Self::WendlandC2,
            2 => Self::WendlandC4,
            3 => Self::WendlandC6,
            _ => Self::Sinc(index as u32 - 1),
        })
    }

    /// Returns the name in the deck.
    pub fn name(self) -> &'static str {
        match self {
            Self::CubicSpline => Self::NAMES[0],
            Self::WendlandC2 => Self::NAMES[1],
            Self::WendlandC4 => Self::NAMES[2],
            Self::WendlandC6 => Self::NAMES[3],
            Self::Sinc(exponent) => Self::NAMES[exponent.clamp(3, 12) as usize + 1],
        }
    }
}

impl From<Kernel> for String {
    fn from(kernel: Kernel) -> Self {
        kernel.name().into()
    }
}

impl TryFrom<String> for Kernel {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("unknown kernel {name}"))
    }
}

/// The equation of state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EquationOfState {
    /// P = (gamma - 1) rho u.
    IdealGas {
        /// Adiabatic exponent, > 1.
        gamma: f64,
    },
    /// P = c^2 rho.
    Isothermal {
        /// Speed of sound, > 0.
        sound_speed: f64,
    },
}

/// `[sph]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SphPlan {
    /// The SPH equations.
    pub formulation: Formulation,
    /// Gradient estimate of the momentum and energy equations.
    pub gradients: Gradients,
    /// First estimate of the volume elements.
    #[serde(default = "VolumeEstimate::of_older_plans")]
    pub volume_estimate: VolumeEstimate,
    /// Iterations of the volume elements towards the partition of unity.
    #[serde(default)]
    pub volume_iterations: u64,
    /// The kernel.
    pub kernel: Kernel,
    /// Target number of neighbors within 2h, the particle itself included, 10 to 1000.
    pub neighbors: f64,
    /// Largest relative deviation from the target, > 0 and < 1.
    pub neighbor_tolerance: f64,
    /// The equation of state.
    pub equation_of_state: EquationOfState,
    /// Artificial viscosity.
    pub viscosity: ViscosityPlan,
    /// Coefficient of artificial thermal conductivity, >= 0; 0 turns it off.
    pub conductivity: f64,
    /// Whether the conductivity follows the viscosity switch.
    #[serde(default)]
    pub conductivity_switch: bool,
}

/// `[sph.viscosity]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViscosityPlan {
    /// Smallest alpha, >= 0.
    pub alpha_min: f64,
    /// Largest alpha, >= `alpha_min`; all particles have it if the switch is off.
    pub alpha_max: f64,
    /// Coefficient of the quadratic term in the signal velocity, >= 0.
    pub beta: f64,
    /// Whether a switch varies alpha per particle.
    pub switch: bool,
    /// Whether the factor of Balsara 1995 suppresses the viscosity in shear flows.
    pub limiter: bool,
}

choice! {
    /// How the potential of a point mass is softened.
    SofteningKernel {
        /// (r^2 + epsilon^2)^(-1/2).
        Plummer = "plummer",
        /// Cubic spline of support 2.8 epsilon: exactly Newtonian beyond.
        Spline = "spline",
    }
}

choice! {
    /// Multipole acceptance criterion: when a tree node is opened.
    OpeningCriterion {
        /// By node size over distance, against `opening_angle`.
        Geometric = "geometric",
        /// By the expected force error relative to the last acceleration, against `force_error`.
        Relative = "relative",
    }
}

choice! {
    /// Order of a node's multipole expansion.
    MultipoleOrder {
        /// Up to second moments.
        Quadrupole = "quadrupole",
        /// Up to third moments.
        Octupole = "octupole",
    }
}

/// `[gravity]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GravityPlan {
    /// The gravitational constant, > 0.
    pub constant: f64,
    /// Opening angle theta, 0 (direct summation) to 1.5.
    pub opening_angle: f64,
    /// Allowed force error of the relative criterion, > 0 and < 1.
    pub force_error: f64,
    /// Multipole acceptance criterion.
    pub criterion: OpeningCriterion,
    /// Order of a node's multipole expansion.
    pub order: MultipoleOrder,
    /// Softening length epsilon, >= 0.
    pub softening: f64,
    /// Softening of the point-mass potential.
    pub softening_kernel: SofteningKernel,
    /// Mesh points per dimension in a periodic box; `None`: by the number of particles.
    #[serde(default)]
    pub mesh: Option<[u64; 3]>,
    /// Split length in mesh spacings in a periodic box; `None`: the default.
    #[serde(default)]
    pub split: Option<f64>,
}
