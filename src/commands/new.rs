//! `hilbrium new`: prints a commented deck.

use super::Ending;
use crate::{Error, Result, deck, report};

pub(super) fn new(case: &str) -> Result<Ending> {
    let Some(template) = deck::template(case) else {
        let names: Vec<&str> = deck::cases().map(|case| case.name).collect();
        return Err(Error::usage(
            format!("there is no case `{case}`"),
            format!("choose one of {}", names.join(", ")),
        ));
    };
    report::line(template.trim_end());
    Ok(Ending::Done)
}
