//! A snapshot without seal: the bytes of an HDF5 file, to its summary and its particles.

#![no_main]

#[path = "../../tests/examine/mod.rs"]
mod examine;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = examine::bounded(examine::snapshot, bytes);
});
