//! The plan: what a checked deck says, as plain data in code units. Whoever holds a plan may trust the ranges
//! stated here; nothing else reads the deck.

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

mod gas;
mod measure;
mod molecules;
mod motion;
mod start;

pub use gas::*;
pub use measure::*;
pub use molecules::*;
pub use motion::*;
pub use start::*;

use crate::space::Boundary;
use crate::units::Units;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything a run needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Free text, written to logs and files.
    pub title: String,
    /// What the run computes in.
    pub units: Units,
    /// How long, where and how precisely.
    pub run: RunPlan,
    /// The kinds of particles, in the order of the deck; a particle's [`crate::particles::Field::Species`] is its
    /// index. Empty where all particles are of one kind that has no name.
    pub species: Vec<SpeciesPlan>,
    /// The initial state.
    pub start: StartPlan,
    /// The box and its boundaries.
    pub space: SpacePlan,
    /// Hydrodynamics; `None` when the deck has no `[sph]`. At least one of `sph`, `gravity` and `interaction` is there.
    pub sph: Option<SphPlan>,
    /// Self-gravity; `None` when the deck has no `[gravity]`.
    pub gravity: Option<GravityPlan>,
    /// Molecular dynamics, if any; never together with `sph`.
    pub interaction: Option<InteractionPlan>,
    /// How molecules move.
    pub motion: MotionPlan,
    /// What is measured of molecules, beside the observables.
    pub measure: MeasurePlan,
    /// Neighbor lists.
    pub neighbors: NeighborsPlan,
    /// Time-step criteria.
    pub time_step: TimeStepPlan,
    /// What is written, where and how often.
    pub output: OutputPlan,
}

impl Plan {
    /// Whether observables are corrected for what lies beyond the cutoff of the pairs.
    pub fn tail_corrected(&self) -> bool {
        let law = self.interaction.as_ref().and_then(|interaction| interaction.law.as_ref());
        matches!(law, Some(Interaction::LennardJones(law)) if law.tail)
    }
}

choice! {
    /// Where the particles live and the passes run.
    Device {
        /// A GPU where there is one that the plan can run on, else the processor's cores.
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

/// `[space]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpacePlan {
    /// Lower and upper corner, lower < upper; `None` where the start's file or the particles define the box.
    pub corners: Option<[[f64; 3]; 2]>,
    /// Boundary per dimension; `None` where the deck does not say it: then the boundary of the start's file holds, and
    /// without a file space is open.
    pub boundary: Option<[Boundary; 3]>,
}

impl SpacePlan {
    /// The boundary of a start that the program generates.
    pub fn boundary_or_open(&self) -> [Boundary; 3] {
        self.boundary.unwrap_or([Boundary::Open; 3])
    }
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
    /// cutoff radius, 0 to 1; 0 builds it in every step; `None` leaves it to the program.
    pub skin: Option<f64>,
    /// The same of a list that is pruned from it; 0: no such list; `None` leaves it to the program.
    pub inner_skin: Option<f64>,
    /// Most particles in a leaf of the octree, 8 to 4096.
    pub bucket_size: u64,
}

impl NeighborsPlan {
    /// The skin that the deck asks for, or none.
    pub fn least_skin(&self) -> f64 {
        self.skin.unwrap_or(0.0)
    }
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
    /// The trajectory, if one is written.
    pub trajectory: Option<TrajectoryPlan>,
}

choice! {
    /// The format of a trajectory.
    TrajectoryFormat {
        /// HDF5 as H5MD lays it out.
        H5md = "h5md",
        /// Extended XYZ.
        Xyz = "xyz",
    }
}

choice! {
    /// How precisely a trajectory is stored.
    Digits {
        /// 7 digits.
        Single = "single",
        /// 16 digits.
        Double = "double",
    }
}

/// `[output.trajectory]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryPlan {
    /// By steps or time, from the start on.
    pub every: Every,
    /// The format.
    pub format: TrajectoryFormat,
    /// Whether velocities are written.
    pub velocities: bool,
    /// Whether forces are written; only with an interaction.
    pub forces: bool,
    /// Whether the periods that particles have crossed are written (H5MD only).
    pub images: bool,
    /// Double instead of single precision.
    pub double: bool,
}
