//! Files: snapshots, checkpoints, trajectories, XDMF sidecars.
//!
//! **Snapshots** ([`write_snapshot`], [`read_snapshot`]) are HDF5 in SWIFT's layout. yt, swiftsimio and
//! pynbody open them directly; ParaView uses the XDMF sidecar. Conventions a reader must know:
//!
//! - `Coordinates` are relative to the box's lower corner, so they lie in `[0, BoxSize)`: yt silently drops
//!   particles outside. Adding `Header/BoxLower` gives the simulation's coordinates. An open box follows the
//!   particles, so `BoxLower` may differ between the snapshots of a run.
//! - `SmoothingLengths` are h with kernel support radius 2h, stated by `HydroScheme/"Kernel support over
//!   smoothing length"`. pynbody renders with support 2h, swiftsimio with 1.936h, yt with h.
//! - `Parameters/"InitialConditions:periodic"` is 1 if every dimension is periodic; `Header/Periodic` has one
//!   number per dimension.
//! - `ParticleIDs` are signed 64-bit integers, because ParaView cannot read unsigned ones.
//!
//! **Checkpoints** ([`write_checkpoint`], [`read_checkpoint`]) hold the state bit for bit.
//!
//! Snapshots and checkpoints are written under a temporary name, sealed with a checksum after HDF5's end of
//! file, and renamed: a file under its final name is complete.

mod checkpoint;
mod collective;
mod crash_guard;
mod hdf;
mod info;
mod layout;
mod names;
mod read;
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
mod readback;
mod retention;
mod seal;
pub mod trajectory;
mod write;
mod xdmf;

pub use checkpoint::{CheckpointState, Table, deck_of_checkpoint, read_checkpoint, write_checkpoint};
pub use info::info;
pub use read::{
    is_hdf5, particle_count, read_fields, read_header, read_snapshot, read_snapshot_blocks,
    read_snapshot_slice,
};
pub use retention::find_latest;
pub use write::write_snapshot;

use crate::space::SimulationBox;

/// Initializes file I/O; must run before MPI starts, if it does. From now on, if HDF5 crashes on a file, the
/// process names the file and exits with status 1.
pub fn start() {
    crash_guard::handle_signals();
    hdf::start();
}

/// Version of the HDF5 library, and whether it is built with MPI.
pub fn library() -> (String, bool) {
    let (major, minor, patch) = hdf5::library_version();
    (format!("{major}.{minor}.{patch}"), cfg!(feature = "mpi"))
}

/// The contents of a snapshot apart from its particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Time, in the run's units.
    pub time: f64,
    /// Number of steps since the start; 0 in files of other programs.
    pub step: u64,
    /// Title of the run.
    pub title: String,
    /// The box the file states, even if particles lie outside; boundaries are open unless stated. If the file
    /// states no box, an open box fitted around the particles.
    pub bx: SimulationBox,
    /// Total particles of all ranks. The writer counts them itself.
    pub particle_count: u64,
    /// Ratio of specific heats, if any.
    pub adiabatic_index: Option<f64>,
    /// Units of mass, length and time in g, cm and s; all 1 for a run without physical units.
    pub units: [f64; 3],
    /// Text of the deck (only the first 60,000 bytes are stored), or empty.
    pub deck: String,
    /// Names of the species, indexed by the values of the species field; empty if species have no names.
    pub species: Vec<String>,
    /// What the file itself states, and notes for the user. Not written.
    pub stated: Stated,
}

/// What a file states about itself, as opposed to assumed defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stated {
    /// Whether the box is stated.
    pub bx: bool,
    /// Whether the boundary, periodic or open, is stated.
    pub boundary: bool,
    /// Whether units are stated.
    pub units: bool,
    /// Particle types in the file that are not read: group names and particle counts.
    pub left_out: Vec<(String, u64)>,
    /// Notes on reading, one sentence each: data that were converted, left out, or never written.
    pub notes: Vec<String>,
}

impl Header {
    /// Creates a header with time 0, step 0, no title, units 1.
    pub fn new(bx: SimulationBox) -> Self {
        Self {
            time: 0.0,
            step: 0,
            title: String::new(),
            bx,
            particle_count: 0,
            adiabatic_index: None,
            units: [1.0; 3],
            deck: String::new(),
            species: Vec::new(),
            stated: Stated::default(),
        }
    }
}
