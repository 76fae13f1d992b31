//! The plan: what a checked deck says, as plain data in code units. Whoever holds a plan may trust the ranges
//! stated here; nothing else reads the deck.

use crate::space::Boundary;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything a run needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Free text, written to logs and files.
    pub title: String,
    /// How long, where and how precisely.
    pub run: RunPlan,
    /// The initial state.
    pub start: StartPlan,
    /// The box and its boundaries.
    pub space: SpacePlan,
    /// Hydrodynamics; `None` when the deck has no `[sph]`. At least one of `sph` and `gravity` is there.
    pub sph: Option<SphPlan>,
    /// Self-gravity; `None` when the deck has no `[gravity]`.
    pub gravity: Option<GravityPlan>,
    /// Molecular dynamics, if any; never together with `sph`.
    pub interaction: Option<InteractionPlan>,
    /// Neighbor lists.
    pub neighbors: NeighborsPlan,
    /// Time-step criteria.
    pub time_step: TimeStepPlan,
    /// What is written, where and how often.
    pub output: OutputPlan,
}

/// An enum whose members have a name in the deck.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])+ $member:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$doc])+ #[serde(rename = $text)] $member),+ }

        impl $name {
            /// The names, as written in a deck, in the order of the members.
            pub const NAMES: &[&str] = &[$($text),+];
            /// The members.
            pub const ALL: &[Self] = &[$(Self::$member),+];

            /// The name in the deck.
            pub const fn name(self) -> &'static str { Self::NAMES[self as usize] }

            /// The member of that name.
            pub fn named(name: &str) -> Option<Self> {
                Self::NAMES.iter().position(|&known| known == name).map(|k| Self::ALL[k])
            }
        }
    };
}

choice! {
    /// Where the passes run.
    Device {
        /// CUDA if the program and the machine have it, else CPU.
        Auto = "auto",
        /// The processor's cores.
        Cpu = "cpu",
        /// A CUDA device.
        Cuda = "cuda",
    }
}

choice! {
    /// In which precision the pair passes compute; the state is always double.
    Precision {
        /// Single-precision offsets from local frames, double-precision sums and state.
        Mixed = "mixed",
        /// Double throughout.
        Double = "double",
    }
}

/// `[run]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// Time at which the run ends, >= 0; `None` when only `steps` bounds it (one of the two is always there).
    pub end_time: Option<f64>,
    /// Number of steps after which the run ends; 0 evaluates the forces once.
    pub steps: Option<u64>,
    /// Where the passes run.
    pub device: Device,
    /// In which precision.
    pub precision: Precision,
    /// Threads per rank, >= 1; `None` takes what the machine offers this rank.
    pub threads: Option<usize>,
}

choice! {
    /// How the particles of a sphere or a box are laid out before they are stretched to the wanted profile.
    Arrangement {
        /// Relaxed by repulsion until the density noise is lowest.
        Glass = "glass",
        /// Simple cubic.
        SimpleCubic = "sc",
        /// Body-centered cubic.
        BodyCentered = "bcc",
        /// Face-centered cubic.
        FaceCentered = "fcc",
        /// Hexagonal close-packed.
        Hexagonal = "hcp",
        /// Independent uniform positions.
        Random = "random",
    }
}

choice! {
    /// A crystal lattice.
    LatticeKind {
        /// Simple cubic, 1 particle a cell.
        SimpleCubic = "sc",
        /// Body-centered cubic, 2 particles a cell.
        BodyCentered = "bcc",
        /// Face-centered cubic, 4 particles a cell.
        FaceCentered = "fcc",
        /// Hexagonal close-packed in an orthorhombic cell of edges 1, sqrt(3), sqrt(8/3); 4 particles a cell.
        Hexagonal = "hcp",
    }
}

impl LatticeKind {
    /// Particles in a cell.
    pub const fn particles_per_cell(self) -> u64 {
        match self {
            Self::SimpleCubic => 1,
            Self::BodyCentered => 2,
            Self::FaceCentered | Self::Hexagonal => 4,
        }
    }

    /// Edges of the cell, in units of the spacing.
    pub fn edges(self) -> [f64; 3] {
        match self {
            Self::Hexagonal => [1.0, 3f64.sqrt(), (8.0f64 / 3.0).sqrt()],
            _ => [1.0; 3],
        }
    }
}

/// `[start.<case>]`: the case is the table's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartPlan {
    /// A cold gas sphere with density M / (2 pi R^2 r), at rest (Evrard 1988).
    Evrard(EvrardStart),
    /// A box of one density and internal energy, at rest.
    UniformBox(UniformBoxStart),
    /// Whole cells of a crystal lattice.
    Lattice(LatticeStart),
    /// Independent uniform positions in a box.
    Random(RandomStart),
    /// A Plummer sphere.
    Plummer(PlummerStart),
    /// Particles from a SWIFT or Gadget HDF5 file.
    File(FileStart),
}

/// `[start.evrard]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvrardStart {
    /// Number of particles, >= 1; an arrangement may round it to what it can lay out.
    pub particles: u64,
    /// The layout that is stretched to the profile.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Radius R, > 0.
    pub radius: f64,
    /// Total mass M, > 0.
    pub mass: f64,
    /// Specific internal energy u, > 0.
    pub internal_energy: f64,
}

/// `[start.uniform-box]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UniformBoxStart {
    /// Number of particles, >= 1; an arrangement may round it to what it can lay out.
    pub particles: u64,
    /// Edge lengths, > 0; the plan's `space` has the same.
    pub lengths: [f64; 3],
    /// Mass density, > 0.
    pub density: f64,
    /// Specific internal energy, >= 0.
    pub internal_energy: f64,
    /// Temperature of the velocities, >= 0, k_B = 1; 0: at rest.
    pub temperature: f64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// `[start.lattice]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatticeStart {
    /// The lattice.
    pub kind: LatticeKind,
    /// Cells per dimension, each >= 1.
    pub cells: [u64; 3],
    /// Edge of the (first dimension of the) cell, > 0.
    pub spacing: f64,
    /// Mass density, > 0.
    pub density: f64,
    /// Specific internal energy, >= 0.
    pub internal_energy: f64,
    /// Temperature of the velocities, >= 0, k_B = 1; 0: at rest.
    pub temperature: f64,
    /// Standard deviation of a random displacement per dimension, in units of the spacing, 0 to 0.5.
    pub jitter: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// `[start.random]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomStart {
    /// Number of particles, >= 1.
    pub particles: u64,
    /// Edge lengths, > 0; the plan's `space` has the same.
    pub lengths: [f64; 3],
    /// Mass density, > 0.
    pub density: f64,
    /// Specific internal energy, >= 0.
    pub internal_energy: f64,
    /// Temperature of the velocities, >= 0, k_B = 1; 0: at rest.
    pub temperature: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

choice! {
    /// The velocities of a Plummer sphere.
    Velocities {
        /// Drawn from the isotropic equilibrium distribution (Aarseth, Henon & Wielen 1974).
        Equilibrium = "equilibrium",
        /// All zero.
        Rest = "rest",
    }
}

/// `[start.plummer]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlummerStart {
    /// Number of particles, >= 1.
    pub particles: u64,
    /// Plummer radius, > 0.
    pub radius: f64,
    /// Total mass, > 0.
    pub mass: f64,
    /// The velocities.
    pub velocities: Velocities,
    /// Specific internal energy, >= 0 (matters with `[sph]` only).
    pub internal_energy: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// `[start.file]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileStart {
    /// The file, relative to the folder in which the program is started.
    pub path: PathBuf,
}

/// `[space]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpacePlan {
    /// Lower and upper corner, lower < upper; `None` where the particles (or the file) define the box: then no
    /// dimension is periodic, unless the start is a file, which has a box of its own.
    pub corners: Option<[[f64; 3]; 2]>,
    /// Boundary per dimension.
    pub boundary: [Boundary; 3],
}

choice! {
    /// The SPH equations.
    Formulation {
        /// Density sum with grad-h terms.
        Standard = "standard",
        /// Generalized volume elements (Garcia-Senz, Cabezon & Escartin 2022).
        VolumeElements = "volume-elements",
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

    /// The kernel of that name.
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

    /// The name in the deck.
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
    /// The equations.
    pub formulation: Formulation,
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
}

/// `[sph.viscosity]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViscosityPlan {
    /// Smallest alpha, >= 0.
    pub alpha_min: f64,
    /// Largest alpha, >= `alpha_min`; without the switch every particle has it.
    pub alpha_max: f64,
    /// Coefficient of the quadratic term in the signal velocity, >= 0.
    pub beta: f64,
    /// Whether alpha follows the flow per particle.
    pub switch: bool,
    /// Whether shear suppresses the viscosity.
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
    /// When a tree node is opened.
    OpeningCriterion {
        /// By its size over its distance, `opening_angle`.
        Geometric = "geometric",
        /// By the expected force error relative to the last acceleration, `force_error`.
        Relative = "relative",
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
    /// When a node is opened.
    pub criterion: OpeningCriterion,
    /// Softening length epsilon, >= 0.
    pub softening: f64,
    /// The softened potential.
    pub softening_kernel: SofteningKernel,
}

choice! {
    /// What becomes of an interaction at its cutoff.
    Truncation {
        /// Nothing: energy and force jump.
        Plain = "plain",
        /// The energy is shifted to zero; the force jumps.
        Shifted = "shifted",
        /// The force goes to zero smoothly, and so does the energy.
        Switched = "switched",
    }
}

/// `[interaction.<law>]`: the law is the table's name.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interaction {
    /// Lennard-Jones.
    LennardJones {
        /// Depth, > 0.
        epsilon: f64,
        /// Zero of the energy, > 0.
        sigma: f64,
        /// At the cutoff.
        truncation: Truncation,
        /// Where a switched force begins to fall, > 0 and below the cutoff; the cutoff without a switch.
        switch_start: f64,
    },
    /// Mie.
    Mie {
        /// Depth, > 0.
        epsilon: f64,
        /// Zero of the energy, > 0.
        sigma: f64,
        /// Power of the repulsion, above that of the attraction.
        repulsive: f64,
        /// Power of the attraction, > 1.
        attractive: f64,
    },
    /// Yukawa.
    Yukawa {
        /// Energy times length.
        strength: f64,
        /// Inverse length, >= 0.
        screening: f64,
    },
}

/// `[interaction]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InteractionPlan {
    /// The law.
    pub law: Interaction,
    /// Distance beyond which no pair acts, > 0.
    pub cutoff: f64,
}

choice! {
    /// How neighbor lists are stored.
    ListKind {
        /// Super-clusters of 64, clusters of 8, interaction masks.
        Clustered = "clustered",
        /// One row of indices a particle.
        PerParticle = "per-particle",
    }
}

choice! {
    /// How a clustered list codes its indices.
    Coding {
        /// Index differences in nibbles.
        Nibble = "nibble",
        /// 32-bit indices.
        Plain = "plain",
        /// The code of Band et al.
        Band = "band",
    }
}

/// `[neighbors]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeighborsPlan {
    /// How lists are stored.
    pub list: ListKind,
    /// How a clustered list codes its indices.
    pub coding: Coding,
    /// Whether every pair is listed once (half) or from both sides; `None` leaves it to the program.
    pub symmetric: Option<bool>,
    /// Margin added to the cutoffs so that a list can be kept for several steps, in units of the particle's own
    /// cutoff radius, 0 to 1; 0 builds it in every step.
    pub skin: f64,
    /// Most particles in a leaf of the octree, 8 to 4096.
    pub bucket_size: u64,
}

/// `[time_step]`: the step is the smallest of all criteria.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeStepPlan {
    /// Courant factor on h over the signal velocity, > 0 and <= 1.
    pub courant: f64,
    /// Factor on sqrt(h / |a|), > 0 and <= 1 (with gravity alone: the softening instead of h).
    pub acceleration: f64,
    /// Largest relative change of the internal energy in a step, > 0 and <= 1.
    pub energy: f64,
    /// Largest relative change of the density in a step, by the velocity divergence, > 0 and <= 1.
    pub expansion: f64,
    /// Largest ratio of a step to the one before, > 1.
    pub growth: f64,
    /// Largest step, > 0; `None`: unbounded.
    pub largest: Option<f64>,
    /// Smallest step, >= 0; a run that needs a smaller one ends with an error.
    pub smallest: f64,
    /// First step, > 0; `None`: by the criteria.
    pub first: Option<f64>,
    /// The step itself, > 0; `None`: by the criteria.
    pub fixed: Option<f64>,
}

/// When something happens again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Every {
    /// Simulated time, > 0.
    EveryTime(f64),
    /// Steps, >= 1.
    EverySteps(u64),
    /// Seconds of wall time, > 0.
    EveryWall(f64),
}

/// `[output]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputPlan {
    /// The folder of everything that is written, relative to where the program is started.
    pub directory: PathBuf,
    /// Whether files of an earlier run may be replaced.
    pub overwrite: bool,
    /// Snapshots (never by wall time); `None`: only of the first and the last state.
    pub snapshots: Option<Every>,
    /// Checkpoints (never by simulated time); `None`: only on signals and after a failed step.
    pub checkpoint: Option<Every>,
    /// Observables (by steps or time), a line each.
    pub observables: Every,
}
