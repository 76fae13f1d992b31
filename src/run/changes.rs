//! Compares a deck with the one stored in a checkpoint: a restart applies a change completely, or refuses it.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use crate::{Error, Result};

/// Shown as the value of a key that a deck does not have.
const NOT_SET: &str = "not set";

/// Largest number of keys list_changes in a message.
const MAX_LISTED: usize = 12;

/// A key whose value has changed.
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

/// Sections that describe only the start: a restart takes particles and box from the checkpoint.
const START_SECTIONS: [&str; 3] = ["start.", "minimize.", "space."];
/// Sections that determine forces and energies.
const FORCE_SECTIONS: [&str; 6] = ["interaction.", "pair.", "sph.", "gravity.", "external.", "species."];
/// Keys of the start that may change, since they do not describe the particles.
const ALLOWED_START_KEYS: [&str; 1] = ["start.file.path"];

impl Changes {
    /// Compares two resolved decks. If `before` is not valid TOML (truncated), there are no changes.
    pub fn between(before: &str, now: &str) -> Self {
        let (before, now) = (flattened(before), flattened(now));
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

    /// Drops a key whose new value agrees with the checkpoint.
    pub fn ignore(&mut self, key: &str) {
        self.changes.retain(|change| change.key != key);
    }

    /// Drops keys that the checkpoint's version did not have, if `is_default` says that the deck does not set
    /// them.
    pub fn ignore_new_defaults(&mut self, is_default: impl Fn(&str) -> bool) {
        self.changes.retain(|change| change.before != NOT_SET || !is_default(&change.key));
    }

    /// Checks that a restart can apply all changes.
    ///
    /// # Errors
    /// [`Error::Usage`] that lists the changed keys of the start.
    pub fn check_applicable(&self, checkpoint: &Path) -> Result<()> {
        let refused = self.filtered(|key| {
            let start = START_SECTIONS.iter().any(|section| key.starts_with(section));
            let fraction = key.starts_with("species.") && key.ends_with(".fraction");
            // box and minimization that the deck no longer sets follow the checkpoint
            let follows = !key.starts_with("start.") && self.now(key) == Some(NOT_SET);
            (start || fraction) && !ALLOWED_START_KEYS.contains(&key) && !follows
        });
        if refused.is_empty() {
            return Ok(());
        }
        Err(Error::usage(
            format!(
                "a restart takes particles and box from {}, and the deck has another start: {}",
                checkpoint.display(),
                list_changes(&refused)
            ),
            "set these keys back, or begin a new run without --restart",
        ))
    }

    /// Whether forces or energies have changed.
    pub fn affects_forces(&self) -> bool {
        let physical = |key: &str| FORCE_SECTIONS.iter().any(|section| key.starts_with(section));
        !self.filtered(|key| physical(key) && !key.ends_with(".names")).is_empty()
    }

    /// Whether masses or charges of species have changed.
    pub fn affects_masses_or_charges(&self) -> bool {
        let named = |key: &str| key.ends_with(".mass") || key.ends_with(".charge");
        !self.filtered(|key| key.starts_with("species.") && named(key)).is_empty()
    }

    /// Lists the applied changes in one line; `None` without changes.
    pub fn text(&self) -> Option<String> {
        let shown = self.filtered(|key| key != "title");
        (!shown.is_empty())
            .then(|| format!("the deck differs from that of the checkpoint: {}", list_changes(&shown)))
    }

    fn now(&self, key: &str) -> Option<&str> {
        self.changes.iter().find(|change| change.key == key).map(|change| change.now.as_str())
    }

    fn filtered(&self, wanted: impl Fn(&str) -> bool) -> Vec<&Change> {
        self.changes.iter().filter(|change| wanted(&change.key)).collect()
    }
}

fn list_changes(changes: &[&Change]) -> String {
    let texts = changes.iter().take(MAX_LISTED).map(|change| {
        let Change { key, before, now } = change;
        format!("{key} = {now} (before: {before})")
    });
    let more = changes.len().saturating_sub(MAX_LISTED);
    texts.collect::<Vec<_>>().join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// Returns the keys of a deck by dotted path, with their values as text.
fn flattened(deck: &str) -> BTreeMap<String, String> {
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
        assert!(same.check_applicable(path).is_ok() && same.text().is_none() && !same.affects_forces());
        let longer = Changes::between(BEFORE, &BEFORE.replace("steps = 4", "steps = 9"));
        assert!(longer.check_applicable(path).is_ok() && !longer.affects_forces());
        assert!(longer.text().unwrap().ends_with("run.steps = 9 (before: 4)"));
        let heavier = Changes::between(BEFORE, &BEFORE.replace("mass = 1.0", "mass = 2.0"));
        assert!(
            heavier.check_applicable(path).is_ok()
                && heavier.affects_forces()
                && heavier.affects_masses_or_charges()
        );
        for (from, to, key) in
            [("cells = 3", "cells = 4", "start.lattice.cells"), ("periodic", "open", "space.boundary")]
        {
            let other = Changes::between(BEFORE, &BEFORE.replace(from, to));
            let error = other.check_applicable(path).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("help: "), "{error}");
        }
        let mut said = Changes::between(&BEFORE.replace("boundary = \"periodic\"\n", ""), BEFORE);
        assert!(said.check_applicable(path).is_err());
        said.ignore("space.boundary");
        assert!(said.check_applicable(path).is_ok());
        let unset = Changes::between(BEFORE, &BEFORE.replace("boundary = \"periodic\"\n", ""));
        assert!(unset.check_applicable(path).is_ok());
    }
}
