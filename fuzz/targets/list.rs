//! The codes of neighbor lists: any bytes are an error or the code of what they decode to.

#![no_main]

#[path = "../../tests/examine/mod.rs"]
mod examine;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = examine::bounded(examine::list, bytes);
});
