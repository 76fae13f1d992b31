//! `hilbrium info`: what a snapshot or checkpoint holds.

use super::Ending;
use crate::{Result, report, snapshot};
use std::path::Path;

pub(super) fn info(file: &Path) -> Result<Ending> {
    report::line(snapshot::info(file)?.trim_end());
    Ok(Ending::Done)
}
