//! `hilbrium info`: what a snapshot or checkpoint holds.

use super::Ending;
use crate::{Error, Result};
use std::path::Path;

pub(super) fn info(file: &Path) -> Result<Ending> {
    Err(Error::usage(format!("cannot tell what {} holds in this version", file.display()), "use h5dump"))
}
