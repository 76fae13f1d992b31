//! `hilbrium validate`: compares a snapshot with an exact or reference solution.

use super::Ending;
use crate::{Result, validate};
use std::path::Path;

pub(super) fn validate(
    snapshot: &Path,
    against: &str,
    json: Option<&Path>,
    pictures: Option<&Path>,
) -> Result<Ending> {
    let passed = validate::run(snapshot, against, json, pictures)?;
    Ok(if passed { Ending::Done } else { Ending::Failed })
}
