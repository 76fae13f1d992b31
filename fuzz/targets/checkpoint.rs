//! Checkpoints. The seal (checksums) is recomputed after each mutation, so that the parser is reached.

#![no_main]

#[path = "../../tests/examine/mod.rs"]
mod examine;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = examine::bounded(examine::checkpoint, bytes);
});
