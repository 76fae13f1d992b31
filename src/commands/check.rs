//! `hilbrium check`: the resolved deck, the particle count and a memory estimate.

use super::Ending;
use crate::memory::Estimate;
use crate::report::{grouped, line};
use crate::{Result, deck, start};
use std::path::Path;

pub(super) fn check(path: &Path, overrides: &[String]) -> Result<Ending> {
    let checked = deck::read_checked(path, overrides)?;
    line(checked.resolved.trim_end());
    line("");
    let particles = start::count_all(&checked.plan.start)?;
    line(&format!("# particles: {}", grouped(particles)));
    line(&format!("# memory: {}", Estimate::of(&checked.plan).text(particles)));
    line("# this deck is right; nothing was run");
    Ok(Ending::Done)
}
