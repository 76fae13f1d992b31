//! Stop requests of `hilbrium stop`: a file in the output directory that rank 0 polls.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::lock::{Holder, Lock};
use crate::{Error, Result};

/// Name of the request file.
const FILE_NAME: &str = ".hilbrium.stop";

/// Polling interval.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Requests the run that holds a directory to stop. The request names the holder, so that it stops no other
/// run.
///
/// # Errors
/// [`Error::File`].
pub fn request(directory: &Path, holder: &Holder) -> Result<()> {
    let path = directory.join(FILE_NAME);
    std::fs::write(&path, holder.text()).map_err(|cause| Error::file("write", &path, &cause))
}

/// Polls for stop requests, on rank 0.
#[derive(Debug)]
pub struct StopRequests {
    path: PathBuf,
    expected: String,
    last_poll: Instant,
}

impl StopRequests {
    /// Polls for the run that holds this lock; a request to an earlier run is removed.
    pub fn new(directory: &Path, lock: &Lock) -> Self {
        let path = directory.join(FILE_NAME);
        let _ = std::fs::remove_file(&path);
        StopRequests { path, expected: lock.holder().text(), last_poll: Instant::now() }
    }

    /// Whether the run was requested to stop; reads the file at most once a second.
    pub fn pending(&mut self) -> bool {
        if self.last_poll.elapsed() < POLL_INTERVAL {
            return false;
        }
        self.last_poll = Instant::now();
        std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.expected)
    }
}

impl Drop for StopRequests {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::super::lock::take;
    use super::*;

    #[test]
    fn a_request_stops_the_run_that_it_names_and_no_later_one() {
        let folder = tempfile::tempdir().unwrap();
        let lock = take(folder.path()).unwrap().lock;
        std::fs::write(folder.path().join(FILE_NAME), lock.holder().text()).unwrap();
        let mut requests = StopRequests::new(folder.path(), &lock);
        assert!(!folder.path().join(FILE_NAME).exists(), "of an earlier run");
        let mut asks = || {
            requests.last_poll = Instant::now() - 2 * POLL_INTERVAL;
            (requests.pending(), requests.pending())
        };
        assert_eq!(asks(), (false, false));
        std::fs::write(folder.path().join(FILE_NAME), "host elsewhere\n").unwrap();
        assert_eq!(asks(), (false, false));
        request(folder.path(), lock.holder()).unwrap();
        assert_eq!(asks(), (true, false), "looked at once a second");
        drop(requests);
        assert!(!folder.path().join(FILE_NAME).exists());
    }
}
