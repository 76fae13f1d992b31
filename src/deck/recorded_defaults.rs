//! Defaults of the version that wrote a checkpoint: a restart keeps them even if the program's defaults have
//! changed.

use super::check::{self, Checked};
use super::mistake::Report;
use super::raw::Raw;
use super::value::Value;

/// End of the line of a default in a printed deck.
pub(super) const DEFAULT_MARK: &str = "# default";

/// The resolved deck stored in a checkpoint; the line of each default ends with [`DEFAULT_MARK`].
pub(super) struct RecordedDefaults {
    raw: Raw,
}

impl RecordedDefaults {
    /// Parses a printed deck; text that is not a deck has no defaults.
    pub(super) fn new(printed: &str) -> Self {
        RecordedDefaults { raw: Raw::new("the checkpoint's deck", printed, &[]) }
    }

    /// Returns the value of a key that was a default. `None` for start and box, which a restart takes from
    /// the checkpoint.
    pub(super) fn default(&self, section: &str, name: &str) -> Option<Value> {
        if section == "space" || section.starts_with("start.") {
            return None;
        }
        let entry = self.raw.entry(section, name)?;
        let text = &self.raw.sources.first()?.text;
        let rest = text.get(entry.place.span.end..)?;
        let line = rest.split('\n').next()?;
        if !line.trim_end().ends_with(DEFAULT_MARK) {
            return None;
        }
        entry.value.clone()
    }
}

/// Whether the key `section.name` is a default in a printed deck.
pub fn is_default(printed: &str, key: &str) -> bool {
    key.rsplit_once('.')
        .is_some_and(|(section, name)| RecordedDefaults::new(printed).default(section, name).is_some())
}

/// Checks a deck with the defaults recorded in `printed`, the resolved deck of a checkpoint. Also returns the
/// recorded defaults that differ from today's, one text each.
///
/// # Errors
/// The report of all mistakes.
#[allow(clippy::result_large_err)]
pub(super) fn examine_with_defaults(
    name: &str,
    text: &str,
    options: &[String],
    printed: &str,
) -> Result<(Checked, Vec<String>), Report> {
    let (checked, kept) =
        check::check_with(Raw::new(name, text, options), Some(&RecordedDefaults::new(printed)))?;
    let source = (name.to_owned(), text.to_owned(), options.to_vec());
    Ok((Checked { source, ..checked }, kept))
}

impl Checked {
    /// Checks this deck again: keys that it does not set take the defaults recorded in `printed`, the
    /// resolved deck of a checkpoint. Also returns the recorded defaults that differ from today's, one text
    /// each.
    ///
    /// # Errors
    /// The report of settings that conflict with those defaults.
    #[allow(clippy::result_large_err)]
    pub fn with_defaults_of(&self, printed: &str) -> Result<(Checked, Vec<String>), Report> {
        let (name, text, options) = &self.source;
        examine_with_defaults(name, text, options, printed)
    }
}

#[cfg(test)]
mod tests {
    use crate::deck::examine;
    use crate::plan::Kernel;

    const DECK: &str =
        "[run]\nend_time = 1.0\n[start.random]\nparticles = 500\n[space]\nboundary = \"periodic\"\n[sph]\n";

    #[test]
    fn defaults_of_a_checkpoint_go_on_and_what_is_written_holds() {
        let now = examine("deck", DECK, &[]).unwrap();
        assert_eq!(now.with_defaults_of(&now.resolved).unwrap(), (now.clone(), vec![]));
        let marked = |line: &str| line.trim_start().starts_with("kernel ") || line.starts_with("courant ");
        assert_eq!(
            now.resolved.lines().filter(|line| marked(line) && line.ends_with("# default")).count(),
            2
        );
        // another version's defaults
        let other: String = now
            .resolved
            .lines()
            .map(|line| match line.split(' ').next() {
                Some("kernel") => "kernel = \"cubic-spline\" # default\n".to_owned(),
                Some("courant") => "courant = 0.11 # default\n".to_owned(),
                _ => format!("{line}\n"),
            })
            .collect();
        let (checked, kept) = now.with_defaults_of(&other).unwrap();
        assert_eq!(checked.plan.sph.as_ref().unwrap().kernel, Kernel::CubicSpline);
        assert_eq!(checked.plan.time_step.courant, 0.11);
        assert_eq!(kept.len(), 2);
        assert!(kept[0].starts_with("sph.kernel = \"cubic-spline\" (now: "), "{kept:?}");
        // the next restart finds them as defaults again
        assert_eq!(now.with_defaults_of(&checked.resolved).unwrap().0, checked);
        // a value written in that deck is not a default; a value written in this deck takes precedence
        let written = other.replace("\"cubic-spline\" # default", "\"cubic-spline\"");
        let (checked, kept) = now.with_defaults_of(&written).unwrap();
        assert_eq!(
            (checked.plan.sph.as_ref().unwrap().kernel, kept.len()),
            (now.plan.sph.as_ref().unwrap().kernel, 1)
        );
        let chosen = examine("deck", &(DECK.to_owned() + "kernel = \"sinc-5\"\n"), &[]).unwrap();
        let (checked, kept) = chosen.with_defaults_of(&other).unwrap();
        assert_eq!((checked.plan.sph.unwrap().kernel, kept.len()), (Kernel::Sinc(5), 1));
        assert_eq!(now.with_defaults_of("no deck").unwrap(), (now.clone(), vec![]));
        // a value that decks no longer have
        let removed = now.resolved.replace("\"nibble\"", "\"band\"");
        assert_ne!(removed, now.resolved);
        assert_eq!(now.with_defaults_of(&removed).unwrap(), (now.clone(), vec![]));
    }
}
