//! `hilbrium info`: describes a snapshot, checkpoint, trajectory or configuration.

use super::Ending;
use crate::plan::FileFormat;
use crate::start::formats;
use crate::{Result, report, snapshot};
use std::path::Path;

pub(super) fn info(file: &Path) -> Result<Ending> {
    let told = match snapshot::trajectory::info(file)? {
        Some(told) => told,
        None => match formats::format_of(file)? {
            FileFormat::Hdf5 => snapshot::info(file)?,
            format => formats::info(file, format)?,
        },
    };
    report::line(told.trim_end());
    Ok(Ending::Done)
}
