//! The request of `hilbrium stop`: a file in the run's folder that rank 0 looks for.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::lock::{Holder, Lock};
use crate::{Error, Result};

/// The file of a request.
const NAME: &str = ".hilbrium.stop";

/// Between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// Ask the run that holds a folder to stop. The request names it: it stops no other one.
///
/// # Errors
/// [`Error::File`].
pub fn request(directory: &Path, holder: &Holder) -> Result<()> {
    let path = directory.join(NAME);
    std::fs::write(&path, holder.text()).map_err(|cause| Error::file("write", &path, &cause))
}

/// Rank 0's looks for a request.
#[derive(Debug)]
pub struct Requests {
    path: PathBuf,
    wanted: String,
    looked: Instant,
}

impl Requests {
    /// To the run that holds this lock; a request to an earlier one is removed.
    pub fn new(directory: &Path, lock: &Lock) -> Self {
        let path = directory.join(NAME);
        let _ = std::fs::remove_file(&path);
        Requests { path, wanted: lock.holder().text(), looked: Instant::now() }
    }

    /// Whether the run was asked to stop; looks at most once a second.
    pub fn any(&mut self) -> bool {
        if self.looked.elapsed() < INTERVAL {
            return false;
        }
        self.looked = Instant::now();
        std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.wanted)
    }
}

impl Drop for Requests {
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
        std::fs::write(folder.path().join(NAME), lock.holder().text()).unwrap();
        let mut requests = Requests::new(folder.path(), &lock);
        assert!(!folder.path().join(NAME).exists(), "of an earlier run");
        let mut asks = || {
            requests.looked = Instant::now() - 2 * INTERVAL;
            (requests.any(), requests.any())
        };
        assert_eq!(asks(), (false, false));
        std::fs::write(folder.path().join(NAME), "host elsewhere\n").unwrap();
        assert_eq!(asks(), (false, false));
        request(folder.path(), lock.holder()).unwrap();
        assert_eq!(asks(), (true, false), "looked at once a second");
        drop(requests);
        assert!(!folder.path().join(NAME).exists());
    }
}
