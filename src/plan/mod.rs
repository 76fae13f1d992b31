//! The plan: a checked deck as plain data in code units. The ranges stated here hold for every plan; nothing
//! else reads the deck.

mod external;
mod gas;
mod measure;
mod molecules;
mod motion;
mod start;

pub use external::*;
pub use gas::*;
pub use measure::*;
pub use molecules::*;
pub use motion::*;
pub use start::*;

use crate::space::Boundary;
use crate::units::Units;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// All settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Free text, written to logs and files.
    pub title: String,
    /// The unit system of the run.
    pub units: Units,
    /// Duration, device and precision.
    pub run: RunPlan,
    /// The species in the order of the deck; a particle's [`crate::particles::Field::Species`] is its index.
    /// Empty if all particles are of one unnamed species.
    pub species: Vec<SpeciesPlan>,
    /// The initial state.
    pub start: StartPlan,
    /// Largest noise of the start's glass ([`crate::layout::glass::Tile::noise`]); `None`: that of the usual
    /// relaxation.
    pub noise: Option<f64>,
    /// The box and its boundaries.
    pub space: SpacePlan,
    /// Hydrodynamics; `None` without `[sph]`. At least one of `sph`, `gravity`, `interaction` and
    /// `external` is present.
    pub sph: Option<SphPlan>,
    /// Self-gravity; `None` without `[gravity]`.
    pub gravity: Option<GravityPlan>,
    /// External accelerations; `None` without `[external]`.
    #[serde(default)]
    pub external: Option<ExternalPlan>,
    /// Molecular dynamics, if any; never together with `sph`.
    pub interaction: Option<InteractionPlan>,
    /// Thermostat, drift removal and minimization of molecules.
    pub motion: MotionPlan,
    /// Measurements of molecules, beside the observables.
    pub measure: MeasurePlan,
    /// Neighbor lists.
    pub neighbors: NeighborsPlan,
    /// Time-step criteria.
    pub time_step: TimeStepPlan,
    /// Output files and their intervals.
    pub output: OutputPlan,
}

impl Plan {
    /// Returns the length in the acceleration criterion of particles without smoothing lengths: the softening
    /// length of gravity, else that of the external point mass; 0 without one.
    pub fn softening_length(&self) -> f64 {
        let gravity = self.gravity.as_ref().map_or(0.0, |gravity| gravity.softening);
        let external = self.external.and_then(|external| external.point_mass);
        if gravity > 0.0 { gravity } else { external.map_or(0.0, |point| point.softening) }
    }

    /// Whether observables contain the tail correction of pairs beyond the cutoff.
    pub fn tail_corrected(&self) -> bool {
        let law = self.interaction.as_ref().and_then(|interaction| interaction.law.as_ref());
        law.is_some_and(Interaction::tail_corrected)
    }
}

choice! {
    /// Where particles are stored and passes run.
    Device {
        /// A GPU if there is one that supports the plan, else the CPU.
        Auto = "auto",
        /// The CPU.
        Cpu = "cpu",
        /// A CUDA device.
        Cuda = "cuda",
    }
}

choice! {
    /// Precision of the pair passes; the state is always double.
    Precision {
        /// Single-precision offsets from local frames, double-precision sums and state.
        Mixed = "mixed",
        /// Double precision throughout.
        Double = "double",
    }
}

/// `[run]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// End time, >= 0; `None` if only `steps` bounds the run (one of the two is always set).
    pub end_time: Option<f64>,
    /// Number of steps after which the run ends; 0 evaluates the forces once.
    pub steps: Option<u64>,
    /// Device of the passes.
    pub device: Device,
    /// Precision of the pair passes.
    pub precision: Precision,
    /// Threads per rank, >= 1; `None`: the cores available to this rank.
    pub threads: Option<usize>,
}

/// `[space]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpacePlan {
    /// Lower and upper corner, lower < upper; `None` if the start file or the particles define the box.
    pub corners: Option<[[f64; 3]; 2]>,
    /// Boundary per dimension; `None` if the deck does not set it: then that of the start file, else open.
    pub boundary: Option<[Boundary; 3]>,
}

impl SpacePlan {
    /// Returns the boundary of a generated start.
    pub fn boundary_or_open(&self) -> [Boundary; 3] {
        self.boundary.unwrap_or([Boundary::Open; 3])
    }
}

choice! {
    /// How pairs of particles are found.
    Method {
        /// The fastest of the others in measured force evaluations of the run.
        Auto = "auto",
        /// Lists of clusters: super-clusters of 64 particles, clusters of 8, interaction masks.
        Clusters = "clusters",
        /// Lists of the neighbors of each particle.
        Particles = "particles",
        /// Cells of a grid.
        Cells = "cells",
        /// Two-level search without a list, on GPUs.
        Search = "search",
    }
}

choice! {
    /// Compression of the indices of a clustered list.
    Coding {
        /// Index differences in nibbles.
        Nibble = "nibble",
        /// 32-bit indices.
        Plain = "plain",
    }
}

/// `[neighbors]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeighborsPlan {
    /// How pairs are found; `None`: by lists of clusters, on GPUs for a gas by lists of particles if the
    /// memory suffices.
    pub method: Option<Method>,
    /// Largest memory of lists or cells for [`Method::Auto`], in bytes per particle, > 0; `None`: a quarter
    /// of the free memory of the device, or of the machine.
    pub memory: Option<f64>,
    /// Compression of the indices of cluster lists.
    pub coding: Coding,
    /// Whether a pair is listed once (half list) or from both sides (full list); `None`: chosen by the
    /// program.
    pub symmetric: Option<bool>,
    /// Verlet skin: margin added to the cutoffs so that a list serves several steps, in units of the
    /// particle's own cutoff radius, 0 to 1; 0 rebuilds the list every step; `None`: chosen by the program.
    pub skin: Option<f64>,
    /// Skin of the inner list, which is pruned from the outer one; 0: no inner list; `None`: chosen by the
    /// program.
    pub inner_skin: Option<f64>,
    /// Largest number of particles in a leaf of the octree, 8 to 4096.
    pub bucket_size: u64,
}

impl NeighborsPlan {
    /// Returns the skin that the deck sets, else 0, the least that a run may use.
    pub fn min_skin(&self) -> f64 {
        self.skin.unwrap_or(0.0)
    }
}

/// `[time_step]`: the step is the smallest of all criteria.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeStepPlan {
    /// Courant factor, on h over the signal velocity, > 0 and <= 1.
    pub courant: f64,
    /// Factor on sqrt(h / |a|), > 0 and <= 1 (with gravity alone the softening length replaces h).
    pub acceleration: f64,
    /// Largest relative change of the internal energy in a step, > 0 and <= 1.
    pub energy: f64,
    /// Largest relative change of the density in a step, from the velocity divergence, > 0 and <= 1.
    pub expansion: f64,
    /// Largest ratio of a step to the previous one, > 1.
    pub growth: f64,
    /// Largest step, > 0; `None`: unbounded.
    pub largest: Option<f64>,
    /// Smallest step, >= 0; a run that needs a smaller one fails.
    pub smallest: f64,
    /// First step, > 0; `None`: by the criteria.
    pub first: Option<f64>,
    /// Fixed step, > 0; `None`: by the criteria.
    pub fixed: Option<f64>,
}

/// Interval of a repeated output.
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
    /// Directory of all output files, relative to the working directory.
    pub directory: PathBuf,
    /// Whether files of an earlier run may be overwritten.
    pub overwrite: bool,
    /// Snapshots (never by wall time); `None`: only the first and the last state.
    pub snapshots: Option<Every>,
    /// Checkpoints (never by simulated time); `None`: only at the end, on signals and after a failed step.
    pub checkpoint: Option<Every>,
    /// Observables (by steps or time), one line each.
    pub observables: Every,
    /// The trajectory, if one is written.
    pub trajectory: Option<TrajectoryPlan>,
    /// Shortest interval of reports (never by simulated time); `None`: none is written.
    pub report: Option<Every>,
}

choice! {
    /// The format of a trajectory.
    TrajectoryFormat {
        /// HDF5 as H5MD lays it out.
        H5md = "h5md",
        /// Extended XYZ.
        Xyz = "xyz",
        /// Compressed coordinates of GROMACS.
        Xtc = "xtc",
        /// Coordinates as CHARMM, NAMD and LAMMPS write them.
        Dcd = "dcd",
        /// Text dump of LAMMPS.
        LammpsDump = "lammps-dump",
    }
}

impl TrajectoryFormat {
    /// Returns the name of the file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::H5md => "trajectory.h5md",
            Self::Xyz => "trajectory.xyz",
            Self::Xtc => "trajectory.xtc",
            Self::Dcd => "trajectory.dcd",
            Self::LammpsDump => "trajectory.lammpstrj",
        }
    }

    /// Returns the name of the topology file beside a format that has coordinates only.
    pub const fn topology_name(self) -> Option<&'static str> {
        match self {
            Self::Xtc | Self::Dcd => Some("trajectory.psf"),
            Self::H5md | Self::Xyz | Self::LammpsDump => None,
        }
    }

    /// Returns the name of the file that states masses and charges once for all frames, if there is one.
    pub const fn constants_name(self) -> Option<&'static str> {
        match self {
            Self::H5md => Some(self.file_name()),
            _ => self.topology_name(),
        }
    }
}

choice! {
    /// Precision of a stored trajectory.
    Digits {
        /// Single precision, 7 digits.
        Single = "single",
        /// Double precision, 16 digits.
        Double = "double",
    }
}

/// `[output.trajectory]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryPlan {
    /// Interval in steps or time, from the initial state on.
    pub every: Every,
    /// The format.
    pub format: TrajectoryFormat,
    /// Whether velocities are written.
    pub velocities: bool,
    /// Whether forces are written; only with an interaction.
    pub forces: bool,
    /// Whether image counts (periods that each particle has crossed) are written (H5MD, LAMMPS dump).
    pub images: bool,
    /// Double instead of single precision.
    pub double: bool,
    /// Spacing of the stored coordinates (XTC only).
    pub resolution: f64,
}
