//! `hilbrium validate`: a snapshot against an exact or reference solution.

use super::Ending;
use crate::{Error, Result};
use std::path::Path;

pub(super) fn validate(
    _snapshot: &Path,
    against: &str,
    _json: Option<&Path>,
    _pictures: Option<&Path>,
) -> Result<Ending> {
    Err(Error::usage(format!("cannot validate against {against} in this version"), "use a later version"))
}
