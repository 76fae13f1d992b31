//! Files that once made a reader fail, and some of every kind that fuzzing found to go other ways through it:
//! none may make a reader panic, hang, or take memory without bound. `tests/corpus/NAME/` has those of the
//! fuzz target NAME.
//!
//! A program of its own, because the allocator that counts is the process's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod examine;

use examine::{Outcome, bounded};
use std::path::Path;

/// Examine every file of a corpus, the name of each telling how it is taken: `read-*` or `refused-*`, or else
/// either.
fn replay(name: &str, reader: fn(&[u8]) -> Outcome) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("a corpus").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for path in files {
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        println!("{name}/{file}");
        let outcome = bounded(reader, &std::fs::read(&path).expect("a file"));
        let kind = file.split('-').next().unwrap_or_default();
        match (kind, &outcome) {
            ("read", Outcome::Refused(told)) => panic!("{name}/{file} is refused: {told}"),
            ("refused", Outcome::Read) => panic!("{name}/{file} is read"),
            _ => {}
        }
    }
}

/// The bounds are bounds: a reader that breaks one is found.
fn memory_without_bound_is_found() {
    let greedy = || bounded(|bytes| Outcome::Refused(" ".repeat(bytes.len() << 28)), b"1");
    let panic = std::panic::catch_unwind(greedy).expect_err("a bound that is none");
    let told = panic.downcast_ref::<String>().expect("words");
    assert!(told.contains("bytes of memory"), "{told}");
}

/// One test: the memory that is counted is the process's.
#[test]
fn no_reader_fails_on_what_fuzzing_found() {
    memory_without_bound_is_found();
    replay("deck", examine::deck);
    replay("step", examine::step);
    replay("snapshot", examine::snapshot);
    replay("checkpoint", examine::checkpoint);
    replay("gromacs", examine::gromacs);
    replay("lammps", examine::lammps);
    replay("xyz", examine::xyz);
    replay("trajectory", examine::trajectory);
    replay("list", examine::list);
}
