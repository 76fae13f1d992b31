//! A checkpoint, sealed anew after each change, so that what is behind the seal is reached.

#![no_main]

#[path = "../../tests/examine/mod.rs"]
mod examine;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = examine::bounded(examine::checkpoint, bytes);
});
