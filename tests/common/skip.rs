//! Tests that need what not every machine has.

use std::ffi::OsString;
use std::io::Write;

/// Report that the calling test is skipped. The test harness captures what macros print and shows it only for
/// failures; this line always appears, and `scripts/test` counts it.
pub fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The Python that has `tests/python/requirements.txt`, named by HILBRIUM_PYTHON; without it the test is
/// skipped.
pub fn python(purpose: &str) -> Option<OsString> {
    let python = std::env::var_os("HILBRIUM_PYTHON");
    if python.is_none() {
        skip(&format!("set HILBRIUM_PYTHON to a Python with tests/python/requirements.txt {purpose}"));
    }
    python
}
