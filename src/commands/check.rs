//! `hilbrium check`: prints the resolved deck, particle count and memory estimate, and checks that the run
//! can start.

use super::Ending;
use crate::comm::Communicator;
use crate::memory;
use crate::report::{grouped, line};
use crate::step::Estimate;
use crate::{Result, deck, start};
use std::path::Path;

pub(super) fn check(path: &Path, overrides: &[String]) -> Result<Ending> {
    let checked = deck::read_checked(path, overrides)?;
    line(checked.resolved.trim_end());
    line("");
    let particles = start::count_all(&checked.plan.start)?;
    line(&format!("# particles: {}", grouped(particles)));
    let estimate = Estimate::of(&checked.plan);
    line(&format!("# memory: {}", estimate.text(particles)));
    let (needed, free) = (estimate.total(particles), memory::available());
    if needed > free {
        line(&format!(
            "# the deck is right; its start was not built, because it needs more than the {} that are free on this machine: \
             files were not read to their end, and box and neighbors not tried",
            memory::bytes(free)
        ));
        return Ok(Ending::Done);
    }
    let notes = crate::run::can_begin(&checked, &Communicator::solo())?;
    notes.iter().for_each(|note| line(&format!("# {note}")));
    line("# this deck is right: its start was built as a run builds it; no forces were evaluated");
    Ok(Ending::Done)
}
