//! `hilbrium average`: time averages of a record with statistical errors.

use super::Ending;
use crate::observe::averages::{Selection, averages};
use crate::{Error, Result, inputs, report};
use std::path::Path;

pub(super) fn average(record: &Path, selection: &Selection, csv: Option<&Path>) -> Result<Ending> {
    inputs::keep(&[record], csv, "name another file with --csv")?;
    let averages = averages(record, selection)?;
    if let Some(path) = csv {
        std::fs::write(path, averages.csv()).map_err(|cause| Error::file("write", path, &cause))?;
    }
    report::line(&averages.text());
    Ok(Ending::Done)
}
