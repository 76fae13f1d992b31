//! XTC, DCD and LAMMPS dumps: summary.

#![no_main]

#[path = "../../tests/examine/mod.rs"]
mod examine;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = examine::bounded(examine::trajectory, bytes);
});
