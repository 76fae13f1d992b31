//! `hilbrium report`: writes one HTML page about a run.

use super::Ending;
use crate::run::lock;
use crate::run_report::{self, Circumstances, Samples};
use crate::{Error, Result, report};
use std::path::Path;

/// Most particles of a last snapshot that is compared with the solution of its case: all are held in memory.
const MOST_JUDGED: u64 = 20_000_000;

/// Most particles of a last snapshot whose density is mapped.
const MOST_MAPPED: u64 = 100_000_000;

/// Writes the page of the run in `folder` to `output`, by default `report.html` in the folder.
pub(super) fn report(folder: &Path, output: Option<&Path>) -> Result<Ending> {
    let held = lock::find(folder).ok().map(|run| run.is_some());
    let circumstances = Circumstances {
        held,
        most_judged: MOST_JUDGED,
        most_mapped: MOST_MAPPED,
        ..Circumstances::default()
    };
    if let Some(output) = output
        && output.extension().is_none_or(|extension| extension != "html" && extension != "htm")
    {
        return Err(Error::usage(
            format!("{} is not the name of a page", output.display()),
            "name a file that ends in .html: no other file is overwritten",
        ));
    }
    let output = output.map_or_else(|| run_report::path_in(folder), Path::to_owned);
    let problems = run_report::write(folder, &output, &circumstances, &mut Samples::default())?;
    for problem in problems {
        report::line(&format!("note: {}: {}", problem.file, problem.message));
    }
    report::line(&format!("report: {}", output.display()));
    Ok(Ending::Done)
}
