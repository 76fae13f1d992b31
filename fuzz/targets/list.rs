//! Encoded neighbor lists: any bytes give an error or decode to a list that encodes to the same bytes.

#![no_main]

#[path = "../../tests/examine/mod.rs"]
mod examine;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = examine::bounded(examine::list, bytes);
});
