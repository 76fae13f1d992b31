//! `hilbrium schema`: prints the JSON Schema of decks.

use super::Ending;
use crate::{Result, deck, report};

pub(super) fn schema() -> Result<Ending> {
    report::line(&format!("{:#}", deck::schema()));
    Ok(Ending::Done)
}
