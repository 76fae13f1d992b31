//! Checks of the folder that outputs go to: writable, locks, space.

use super::Check;
use super::machine::free_space;
use crate::memory::bytes;
use crate::run::lock;
use std::io::Write;
use std::path::Path;

/// Disk space (bytes) of a few snapshots of a million particles.
const SPACE: u64 = 1 << 30;

pub(super) fn checks(directory: &Path) -> Vec<Check> {
    const SUBJECT: &str = "output folder";
    let name = directory.display();
    if let Err(cause) = try_to_write(directory) {
        return vec![Check::bad(
            SUBJECT,
            format!("{name}: {cause}"),
            "name a folder that exists and can be written with --directory",
        )];
    }
    let space = match free_space(directory) {
        Ok(free) if free >= SPACE => Check::good("disk space", format!("{} free", bytes(free as f64))),
        Ok(free) => Check::limited(
            "disk space",
            format!("{} free in {name}", bytes(free as f64)),
            "a snapshot or checkpoint of a gas has about 145 bytes per particle: a full disk ends a run",
        ),
        Err(cause) => Check::limited("disk space", cause.to_string(), "the space is not known"),
    };
    let locks = match lock::test(directory) {
        Ok(()) => Check::good("file locks", "work"),
        Err(cause) => Check::limited(
            "file locks",
            format!("do not work in {name}: {cause}"),
            "a lock file left by a killed run on another host must be removed by hand: use a file system \
             with locks, or a folder for each run",
        ),
    };
    vec![Check::good(SUBJECT, format!("{name} can be written")), space, locks]
}

/// Writes a small file and removes it.
fn try_to_write(directory: &Path) -> std::io::Result<()> {
    let path = directory.join(format!(".hilbrium-doctor-{}", std::process::id()));
    let written = std::fs::File::create_new(&path).and_then(|mut file| {
        file.write_all(b"hilbrium doctor\n")?;
        file.sync_all()
    });
    let removed = std::fs::remove_file(&path);
    written.and(removed)
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn nothing_is_left_in_a_folder_and_a_missing_one_is_bad() {
        let folder = tempfile::tempdir().unwrap();
        let found = checks(folder.path());
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].state, State::Good, "{found:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let missing = checks(&folder.path().join("missing"));
        assert_eq!((missing.len(), missing[0].state), (1, State::Bad));
    }
}
