//! `hilbrium manual`: manual pages, made from the command line's own help.

use super::Ending;
use crate::{Error, Result, report};
use std::path::Path;

/// Writes `hilbrium.1` and a page for each command into `folder`.
pub(super) fn manual(folder: &Path, command: clap::Command) -> Result<Ending> {
    std::fs::create_dir_all(folder).map_err(|cause| Error::file("create", folder, &cause))?;
    clap_mangen::generate_to(command, folder).map_err(|cause| Error::file("write", folder, &cause))?;
    report::line(&format!("manual pages: {}", folder.join("hilbrium.1").display()));
    Ok(Ending::Done)
}
