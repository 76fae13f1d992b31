//! Communicator backend of a build without MPI: the world is this process alone.

use super::host::exchange::HostMemory;
use super::{Ranks, local};
use crate::{Error, Result};
use std::sync::{Arc, Mutex};

/// Stands in for the MPI world; uninhabited in this build.
pub(super) enum World {}

/// Returns no version: there is no library.
pub(super) fn library_version() -> Option<String> {
    None
}

/// Returns a communicator of size one, or an error if a launcher started this process as one of several
/// ranks.
pub(super) fn world() -> Result<Ranks> {
    for name in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"] {
        let ranks = std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok()).unwrap_or(1);
        if ranks > 1 {
            return Err(Error::usage(
                format!("started as {ranks} processes, but this build has no MPI"),
                "start it without mpirun, or build it with the feature \"mpi\"",
            ));
        }
    }
    Ok(Ranks::Local(Arc::new(local::Member::solo())))
}

impl World {
    pub(super) fn rank(&self) -> usize {
        match *self {}
    }

    pub(super) fn size(&self) -> usize {
        match *self {}
    }

    pub(super) fn of_host(&self) -> (usize, usize) {
        match *self {}
    }

    pub(super) fn barrier(&self) {
        match *self {}
    }

    pub(super) fn transpose(&self, _to: &[u64], _from: &mut [u64]) {
        match *self {}
    }

    pub(super) fn all_gather(&self, _mine: &[u8], _all: &mut [&mut [u8]]) {
        match *self {}
    }

    pub(super) fn exchange(&self, _to: &[&[u8]], _from: &mut [&mut [u8]], _meanwhile: impl FnOnce()) {
        match *self {}
    }

    pub(super) fn host_memory(&self) -> Option<&Mutex<HostMemory>> {
        match *self {}
    }

    pub(super) fn joins_fallback(&self, _some: bool) -> bool {
        match *self {}
    }

    pub(super) fn needs_progress_thread(&self) -> bool {
        match *self {}
    }

    pub(super) fn make_progress(&self) {
        match *self {}
    }

    pub(super) fn abort(&self, _status: i32) -> ! {
        match *self {}
    }
}
