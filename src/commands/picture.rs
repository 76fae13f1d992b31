//! `hilbrium picture`: draws a table as PNG and SVG.

use super::Ending;
use crate::observe::picture::picture as draw;
use crate::{Result, report};
use std::path::{Path, PathBuf};

pub(super) fn picture(
    table: &Path,
    along: Option<&str>,
    columns: &[String],
    folder: Option<PathBuf>,
) -> Result<Ending> {
    let beside =
        || table.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new(".")).to_owned();
    let drawn = draw(table, along, columns, &folder.unwrap_or_else(beside))?;
    report::line(&format!("drawn as {} and {}", drawn.display(), drawn.with_extension("svg").display()));
    Ok(Ending::Done)
}
