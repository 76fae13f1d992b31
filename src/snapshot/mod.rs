//! Files: snapshots, checkpoints, sidecars, initial conditions.
//!
//! **Snapshots** ([`write_snapshot`], [`read_snapshot`]) are HDF5 in SWIFT's layout, so that yt, swiftsimio and pynbody
//! open them as they are, with an XDMF sidecar for ParaView. Conventions that a reader must know:
//!
//! - `Coordinates` are counted from the box's lower corner, so that they lie in `[0, BoxSize)`: yt silently drops
//!   particles outside. `Header/BoxLower` is that corner; adding it gives the simulation's coordinates. An open box
//!   follows the particles, so `BoxLower` may differ between the snapshots of a run.
//! - `SmoothingLengths` are h with the kernel's support radius 2h, which `HydroScheme/"Kernel support over smoothing
//!   length"` states. pynbody draws with support 2h, swiftsimio with 1.936h, yt with h.
//! - `Parameters/"InitialConditions:periodic"` is 1 when every dimension is periodic; `Header/Periodic` has one number
//!   per dimension.
//! - `ParticleIDs` are signed 64-bit integers, because ParaView reads no unsigned ones.
//!
//! **Checkpoints** ([`write_checkpoint`], [`read_checkpoint`]) hold the state bit for bit.
//!
//! All files are written under a temporary name, checked by a seal (a checksum behind the end of the file as HDF5 sees
//! it), and renamed: a file under its final name is complete.

mod checkpoint;
mod collective;
mod fault;
mod hdf;
mod info;
mod keep;
mod layout;
mod names;
mod read;
mod seal;
pub mod trajectory;
mod write;
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
mod written;
mod xdmf;

pub use checkpoint::{CheckpointState, Table, deck_of_checkpoint, read_checkpoint, write_checkpoint};
pub use info::info;
pub use keep::find_latest;
pub use read::{particle_count, read_header, read_snapshot, read_snapshot_slice};
pub use write::write_snapshot;

use crate::space::SimulationBox;

/// Start what reads and writes files; before MPI, if that is started at all. From now on a file on which HDF5 itself fails ends
/// the process with status 1 and its name.
pub fn start() {
    fault::answer();
    hdf::start();
}

/// What a snapshot says beside its particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Time, in the run's units.
    pub time: f64,
    /// Number of steps since the start; 0 in files of other programs.
    pub step: u64,
    /// What the run is called.
    pub title: String,
    /// The box that the file states, whether its particles lie in it or not; boundaries are open unless the file says otherwise.
    /// Where it states none, an open box fitted around the particles.
    pub bx: SimulationBox,
    /// Particles of all ranks. The writer counts them itself.
    pub particle_count: u64,
    /// Ratio of specific heats, where there is one.
    pub adiabatic_index: Option<f64>,
    /// The units of mass, length and time in gram, centimetre and second; all 1 for a run without physical units.
    pub units: [f64; 3],
    /// The deck's text (its first 60,000 bytes are stored), or empty.
    pub deck: String,
    /// Names of the species, in the order of the numbers in the field of species; empty where species have no names.
    pub species: Vec<String>,
    /// What the file itself states, and what a user should know of how it was read. Not written.
    pub stated: Stated,
}

/// What a file states about itself, as opposed to what was assumed where it says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stated {
    /// Whether it states the box.
    pub bx: bool,
    /// Whether it states that space is periodic or open.
    pub boundary: bool,
    /// Whether it states units.
    pub units: bool,
    /// Types of particles that it has and that are left out: names of their groups, and how many they are.
    pub left_out: Vec<(String, u64)>,
    /// Sentences on how it was read: what was converted, left out, or never written.
    pub notes: Vec<String>,
}

impl Header {
    /// Time 0, step 0, no title, units 1.
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
