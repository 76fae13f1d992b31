//! How a deck differs from the one that wrote a checkpoint: a restart applies a change wholly, or refuses it.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use crate::{Error, Result};

/// The value of a key that a deck does not have.
const NOT_SET: &str = "not set";

/// Most keys that a message lists.
const MOST_LISTED: usize = 12;

/// A key with other values than before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    key: String,
    before: String,
    now: String,
}

/// The keys in which a deck differs from that of a checkpoint.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    changes: Vec<Change>,
}

/// Sections that describe the start alone: a restart takes the particles of the checkpoint.
const OF_THE_START: [&str; 3] = ["start.", "minimize.", "space."];
/// Sections on which forces and energies depend.
const OF_THE_PHYSICS: [&str; 5] = ["interaction.", "pair.", "sph.", "gravity.", "species."];
/// The keys of these sections that say how the program works, not what it computes.
const OF_THE_MACHINERY: [&str; 1] = ["start.file.path"];

impl Changes {
    /// Between two decks with all their defaults. A deck that is no TOML (cut off) counts as without keys in common.
    pub fn between(before: &str, now: &str) -> Self {
        let (before, now) = (flat(before), flat(now));
        if before.is_empty() {
            return Self::default();
        }
        let keys: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let text = |value: Option<&String>| value.cloned().unwrap_or_else(|| NOT_SET.into());
        let changes = keys.into_iter().filter(|key| before.get(*key) != now.get(*key)).map(|key| Change {
            key: key.clone(),
            before: text(before.get(key)),
            now: text(now.get(key)),
        });
        Changes { changes: changes.collect() }
    }

    /// Leave out a key whose new value is what the checkpoint has.
    pub fn forget(&mut self, key: &str) {
        self.changes.retain(|change| change.key != key);
    }

    /// Leave out the keys that the checkpoint's version did not have, where `is_default` says that the deck
    /// does not write them.
    pub fn forget_new(&mut self, is_default: impl Fn(&str) -> bool) {
        self.changes.retain(|change| change.before != NOT_SET || !is_default(&change.key));
    }

    /// See that a restart can apply all changes.
    ///
    /// # Errors
    /// [`Error::Usage`] with the keys that describe the start.
    pub fn applicable(&self, checkpoint: &Path) -> Result<()> {
        let refused = self.of(|key| {
            let start = OF_THE_START.iter().any(|section| key.starts_with(section));
            let share = key.starts_with("species.") && key.ends_with(".fraction");
            // box and minimization that are not asked for any longer follow the checkpoint
            let follows = !key.starts_with("start.") && self.now(key) == Some(NOT_SET);
            (start || share) && !OF_THE_MACHINERY.contains(&key) && !follows
        });
        if refused.is_empty() {
            return Ok(());
        }
        Err(Error::usage(
            format!(
                "a restart takes particles and box from {}, and the deck has another start: {}",
                checkpoint.display(),
                listed(&refused)
            ),
            "set these keys back, or begin a new run without --restart",
        ))
    }

    /// Whether forces or energies are others than before.
    pub fn physics(&self) -> bool {
        let physical = |key: &str| OF_THE_PHYSICS.iter().any(|section| key.starts_with(section));
        !self.of(|key| physical(key) && !key.ends_with(".names")).is_empty()
    }

    /// Whether masses or charges of species are others than before.
    pub fn masses_or_charges(&self) -> bool {
        let named = |key: &str| key.ends_with(".mass") || key.ends_with(".charge");
        !self.of(|key| key.starts_with("species.") && named(key)).is_empty()
    }

    /// What is applied, in one line; `None` without changes.
    pub fn text(&self) -> Option<String> {
        let shown = self.of(|key| key != "title");
        (!shown.is_empty())
            .then(|| format!("the deck differs from that of the checkpoint: {}", listed(&shown)))
    }

    fn now(&self, key: &str) -> Option<&str> {
        self.changes.iter().find(|change| change.key == key).map(|change| change.now.as_str())
    }

    fn of(&self, wanted: impl Fn(&str) -> bool) -> Vec<&Change> {
        self.changes.iter().filter(|change| wanted(&change.key)).collect()
    }
}

fn listed(changes: &[&Change]) -> String {
    let texts = changes.iter().take(MOST_LISTED).map(|change| {
        let Change { key, before, now } = change;
        format!("{key} = {now} (before: {before})")
    });
    let more = changes.len().saturating_sub(MOST_LISTED);
    texts.collect::<Vec<_>>().join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// The keys of a deck with the values as texts.
fn flat(deck: &str) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    if let Ok(table) = deck.parse::<Table>() {
        flatten("", &table, &mut keys);
    }
    keys
}

fn flatten(path: &str, table: &Table, keys: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Table(inner) => flatten(&key, inner, keys),
            value => drop(keys.insert(key, value.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "[run]\nsteps = 4\n[start.lattice]\ncells = 3\n[species.Na]\nmass = 1.0\n[space]\nboundary = \"periodic\"\n";

    #[test]
    fn changes_of_the_start_are_refused_and_others_are_told() {
        let path = Path::new("checkpoint-000002.h5");
        let same = Changes::between(BEFORE, BEFORE);
        assert!(same.applicable(path).is_ok() && same.text().is_none() && !same.physics());
        let longer = Changes::between(BEFORE, &BEFORE.replace("steps = 4", "steps = 9"));
        assert!(longer.applicable(path).is_ok() && !longer.physics());
        assert!(longer.text().unwrap().ends_with("run.steps = 9 (before: 4)"));
        let heavier = Changes::between(BEFORE, &BEFORE.replace("mass = 1.0", "mass = 2.0"));
        assert!(heavier.applicable(path).is_ok() && heavier.physics() && heavier.masses_or_charges());
        for (from, to, key) in
            [("cells = 3", "cells = 4", "start.lattice.cells"), ("periodic", "open", "space.boundary")]
        {
            let other = Changes::between(BEFORE, &BEFORE.replace(from, to));
            let error = other.applicable(path).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("help: "), "{error}");
        }
        let mut said = Changes::between(&BEFORE.replace("boundary = \"periodic\"\n", ""), BEFORE);
        assert!(said.applicable(path).is_err());
        said.forget("space.boundary");
        assert!(said.applicable(path).is_ok());
        let unset = Changes::between(BEFORE, &BEFORE.replace("boundary = \"periodic\"\n", ""));
        assert!(unset.applicable(path).is_ok());
    }
}
