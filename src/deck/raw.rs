//! Parses a deck: walks the TOML tree along the table of keys and records each mistake with its position.

use super::keys::{self, SECTIONS, Section};
use super::mistake::{Mistake, Place, Source};
use super::suggest::nearest;
use super::value::{self, Value, shortened};
use crate::units::UnitSystem;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Largest deck in bytes; real ones have a few thousand.
pub const MAX_BYTES: usize = 256 * 1024;
/// Largest number of dots in dotted keys on one line: each nests a table, and nesting must be bounded.
const MAX_DOTS: usize = 24;

/// A key as set by the deck or an option.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The value; `None` if it is wrong, which has been reported.
    pub value: Option<Value>,
    /// Its position.
    pub place: Place,
}

/// Everything that the deck and the options set, by section and key, and the mistakes in it.
#[derive(Debug)]
pub struct Raw {
    /// The deck, then the options.
    pub sources: Vec<Source>,
    /// Entries by section path and key name.
    pub entries: BTreeMap<String, BTreeMap<String, Entry>>,
    /// Positions of the sections present, by path.
    pub sections: BTreeMap<String, Place>,
    /// Unit system of quantities in quotes.
    pub system: UnitSystem,
    /// Mistakes so far.
    pub mistakes: Vec<Mistake>,
    /// Whether the TOML is malformed: keys that seem to be missing may be in the malformed part.
    pub malformed: bool,
    /// Whether a caller gives the particles, so that the deck has no start.
    pub given_particles: bool,
    /// Whether a caller performs steps, whatever end the deck states.
    pub caller_steps: bool,
}

impl Raw {
    /// Parses the deck `text` called `name`, with `key=value` options over it.
    pub fn new(name: &str, text: &str, overrides: &[String]) -> Self {
        let mut raw = Raw {
            sources: Vec::new(),
            entries: BTreeMap::new(),
            sections: BTreeMap::new(),
            system: UnitSystem::Reduced,
            mistakes: Vec::new(),
            malformed: false,
            given_particles: false,
            caller_steps: false,
        };
        raw.deck(name, text, overrides.iter().rev().find_map(|option| unit_system_of_option(option)));
        for option in overrides {
            raw.option(option);
        }
        raw
    }

    /// Returns the entry of a key, if it is set.
    pub fn entry(&self, section: &str, name: &str) -> Option<&Entry> {
        self.entries.get(section)?.get(name)
    }

    /// Returns the paths of the sections present that match a wildcard section, in the order of the deck.
    pub fn instances(&self, section: &Section) -> Vec<String> {
        let mut found: Vec<(&String, &Place)> =
            self.sections.iter().filter(|(path, _)| section.is_at(path)).collect();
        found.sort_by_key(|(path, place)| (place.source, place.span.start, *path));
        found.into_iter().map(|(path, _)| path.clone()).collect()
    }

    fn deck(&mut self, name: &str, text: &str, system: Option<UnitSystem>) {
        self.sources.push(Source { name: name.into(), text: text.into() });
        if text.len() > MAX_BYTES {
            self.sources[0].text.clear();
            self.unreadable(
                0..0,
                format!("the deck has {} bytes, more than the {MAX_BYTES} that a deck may have", text.len()),
                "check that this is a deck and not a data file",
            );
        } else if let Some(span) = too_many_dots(text) {
            self.unreadable(span, "too many dots on one line".into(), "write sections as [section] tables");
        } else {
            let (table, errors) = DeTable::parse_recoverable(text);
            let newlines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
            let line_of = |at: usize| newlines.partition_point(|&newline| newline < at);
            let (mut lines, mut said) = (BTreeSet::new(), BTreeSet::new());
            self.system = system.or_else(|| unit_system_of_deck(table.get_ref())).unwrap_or(self.system);
            for error in &errors {
                let span = error.span().unwrap_or(text.len()..text.len());
                lines.insert(line_of(span.start));
                let (message, help) = syntax_mistake(error.message());
                // a path with backslashes is one mistake, whatever their number
                if help != BACKSLASH_HELP || said.insert(line_of(span.start)) {
                    self.unreadable(span, message, help);
                }
            }
            let before = self.mistakes.len();
            self.walk(0, "", table.get_ref());
            // what the parser inserts to recover from a malformed line is not the user's mistake
            if self.malformed {
                let found = self.mistakes.split_off(before);
                let elsewhere = |mistake: &Mistake| match &mistake.place {
                    Some(place) => !lines.contains(&line_of(place.span.start)),
                    None => false,
                };
                self.mistakes.extend(found.into_iter().filter(elsewhere));
            }
        }
    }

    fn unreadable(&mut self, span: Range<usize>, message: String, help: &str) {
        self.malformed = true;
        self.record_mistake(0, span, message, help.into());
    }

    fn record_mistake(&mut self, source: usize, span: Range<usize>, message: String, help: String) {
        self.mistakes.push(Mistake { message, help, place: Some(Place { source, span }) });
    }

    /// Applies one `--set` option. A value that is not TOML is a string: `--set output.directory=out`.
    fn option(&mut self, option: &str) {
        let source = self.sources.len();
        let name = format!("option --set {}", shortened(option));
        self.sources.push(Source { name, text: option.into() });
        let split = option.split_once('=').map(|(path, written)| (path.trim(), written.trim()));
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let (path, written) = match split {
            Some((path, written))
                if !path.is_empty()
                    && !written.is_empty()
                    && path.chars().all(plain)
                    && too_many_dots(option).is_none() =>
            {
                (path, written)
            }
            _ => {
                let help = "write --set section.key=value, for example --set run.end_time=0.5".into();
                return self.record_mistake(source, 0..option.len(), "this is no key=value".into(), help);
            }
        };
        let wants_text = matches!(key_kind(path), Some(keys::Kind::Text | keys::Kind::Path));
        let parsed = if option.contains('\n') { None } else { DeTable::parse(option).ok() };
        match parsed {
            Some(table) if !wants_text || written.starts_with(['"', '\'']) => {
                self.walk(source, "", table.get_ref())
            }
            _ => {
                let at = option.len() - option.trim_end().len();
                let end = option.len() - at;
                let text = Spanned::new(end - written.len()..end, DeValue::String(written.into()));
                let start = option.find(path).unwrap_or(0);
                let table = nested_tables(path, start..start + path.len(), text);
                self.walk(source, "", &table);
            }
        }
    }

    fn walk(&mut self, source: usize, path: &str, table: &DeTable<'_>) {
        let section = keys::section_at(path).unwrap_or(&SECTIONS[0]);
        for (name, value) in table.iter() {
            let text = name.get_ref().as_ref();
            let inner = keys::section_inside(section, text);
            if let Some(inner) =
                inner.filter(|inner| !inner.path.ends_with('*') || value.get_ref().is_table())
            {
                let path = if path.is_empty() { text.to_string() } else { format!("{path}.{text}") };
                match invalid_name(text).filter(|_| inner.path.ends_with('*')) {
                    Some(message) => {
                        let help = "use letters, digits, _, + and -, at most 24".into();
                        self.record_mistake(source, name.span(), message, help);
                    }
                    None => self.read_section(source, inner, &path, value),
                }
            } else if let Some(key) = section.key(text) {
                self.read_value(source, (section, path), (key, name), value);
            } else {
                let (message, help) = unknown_name(section, path, text, value.get_ref());
                self.record_mistake(source, name.span(), message, help);
            }
        }
    }

    fn read_section(&mut self, source: usize, section: &Section, path: &str, written: &Spanned<DeValue<'_>>) {
        let Some(table) = written.get_ref().as_table() else {
            let help = match written.get_ref() {
                DeValue::Array(array) if array.iter().any(|item| item.get_ref().is_table()) => {
                    format!("write {} with single brackets, once", section.title())
                }
                _ => format!("write the section as {}, with its keys on the lines below", section.title()),
            };
            let message = format!("`{path}` is a section, not a single value");
            return self.record_mistake(source, written.span(), message, help);
        };
        let place = Place { source, span: written.span() };
        self.sections.entry(path.to_string()).or_insert(place);
        self.walk(source, path, table);
    }

    fn read_value(
        &mut self,
        source: usize,
        (section, path): (&Section, &str),
        (key, name): (&'static keys::Key, &Spanned<DeString<'_>>),
        written: &Spanned<DeValue<'_>>,
    ) {
        let place = Place { source, span: written.span() };
        let written_name = name.get_ref().as_ref();
        if key.name == keys::CHOSEN && !is_identifier(written_name) {
            let message = format!("`{}` cannot be a name", shortened(written_name));
            let help = "use letters, digits and _, not a digit first, at most 24".into();
            return self.record_mistake(source, name.span(), message, help);
        }
        let value = match value::convert(&key.kind, written, self.system) {
            Ok(value) => Some(value),
            Err(wrong) => {
                let known = written.get_ref().as_str().and_then(|text| expected_elsewhere(key.name, text));
                let (message, help) =
                    known.unwrap_or_else(|| (format!("`{written_name}` {}", wrong.message), wrong.help));
                self.record_mistake(source, wrong.span, message, help);
                None
            }
        };
        let entries = self.entries.entry(path.to_string()).or_default();
        if section.one_of && key.is_interval() {
            // an option replaces the deck's interval; two intervals of one source both stay, to be reported
            let interval = |name: &str| section.key(name).is_some_and(keys::Key::is_interval);
            entries.retain(|name, entry| !interval(name) || entry.place.source == source);
        }
        entries.insert(written_name.to_string(), Entry { value, place });
    }
}

/// Returns message and help for a choice that the key lacks but users may expect.
fn expected_elsewhere(key: &str, written: &str) -> Option<(String, String)> {
    match (key, written) {
        ("precision", "single") => Some((
            "`precision` has no \"single\": mixed computes its pairs in single precision at the same cost and keeps \
             positions and sums in double"
                .into(),
            "write \"mixed\"".into(),
        )),
        ("coding", "band") => Some((
            "`coding` has no \"band\" any more: its lists are longer than those of \"nibble\"".into(),
            "write \"nibble\", or remove the key: results are the same".into(),
        )),
        _ => None,
    }
}

/// Returns the unit system that a deck sets, if it does. An unknown name is reported elsewhere; it counts as
/// molecular here, so that quantities with units cause no further mistakes.
fn unit_system_of_deck(table: &DeTable<'_>) -> Option<UnitSystem> {
    let name = table.get("units")?.get_ref().as_table()?.get("system")?.get_ref().as_str()?;
    Some(UnitSystem::named(name).unwrap_or(UnitSystem::Molecular))
}

/// Returns the unit system that an option sets, with or without quotes.
fn unit_system_of_option(option: &str) -> Option<UnitSystem> {
    let (path, written) = option.split_once('=')?;
    let bare = || (path.trim() == "units.system").then(|| UnitSystem::named(written.trim()))?;
    let within_bounds =
        option.len() <= MAX_BYTES && !option.contains('\n') && too_many_dots(option).is_none();
    let table = if within_bounds { DeTable::parse(option).ok() } else { None };
    table.and_then(|table| unit_system_of_deck(table.get_ref())).or_else(bare)
}

/// Returns the problem with a name chosen by the user, if any.
fn invalid_name(name: &str) -> Option<String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || "_+-".contains(c);
    let right = !name.is_empty() && name.len() <= 24 && name.chars().all(letter);
    (!right).then(|| format!("`{}` cannot be a name", shortened(name)))
}

/// Whether a name may stand in a formula.
fn is_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=24).contains(&name.len())
        && name.chars().all(letter)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the kind of the key at a dotted path, if there is such a key.
fn key_kind(path: &str) -> Option<keys::Kind> {
    let (section, name) = path.rsplit_once('.').unwrap_or(("", path));
    Some(keys::section_at(section)?.key(name)?.kind)
}

/// Wraps `value` in the tables named by `path`, all at the position `span`.
fn nested_tables<'i>(path: &str, span: Range<usize>, value: Spanned<DeValue<'i>>) -> DeTable<'i> {
    let mut value = value;
    let mut table = DeTable::new();
    for name in path.rsplit('.') {
        table = DeTable::new();
        table.insert(Spanned::new(span.clone(), DeString::from(name.to_string())), value);
        value = Spanned::new(span.clone(), DeValue::Table(table.clone()));
    }
    table
}

/// Returns message and help for a name that is not a key of its section.
fn unknown_name(section: &Section, path: &str, name: &str, written: &DeValue<'_>) -> (String, String) {
    if let Some(inner) = keys::section_inside(section, name) {
        let keys: Vec<&str> = inner.keys.iter().map(|key| key.name).collect();
        let message = format!("`{}` in [{path}] is not a section", shortened(name));
        let keys = if keys.is_empty() { String::new() } else { format!(": {}", keys.join(", ")) };
        return (message, format!("write {} with its keys on the lines below{keys}", inner.title()));
    }
    let what = if written.is_table() { "section" } else { "key" };
    let message = match section.path {
        "start" => format!("unknown case `{}` in [start]", shortened(name)),
        "interaction" => format!("unknown law `{}` in [interaction]", shortened(name)),
        _ => format!("unknown {what} `{}` in {}", shortened(name), keys::section_title(path)),
    };
    let inside = keys::sections_inside(section.path).map(|(inner, _)| inner).filter(|inner| *inner != "*");
    let here: Vec<&str> = section.keys.iter().map(|key| key.name).chain(inside).collect();
    if let ("neighbors", "list") = (section.path, name) {
        return renamed_list(written.as_str());
    }
    let wanted = name.to_ascii_lowercase();
    if let Some(key) = section.keys.iter().find(|key| key.synonyms.contains(&wanted.as_str())) {
        return (message, format!("did you mean `{}`?", key.name));
    }
    let elsewhere =
        SECTIONS.iter().find(|other| other.named_key(name).is_some() || last_name(other.path) == name);
    let help = match (elsewhere, nearest(name, here.iter().copied())) {
        (_, Some(meant)) => format!("did you mean `{meant}`?"),
        (Some(other), None) if other.named_key(name).is_some() => {
            format!("`{name}` belongs in {}", other.title())
        }
        (Some(other), None) => format!("write it as {}", other.title()),
        (None, None) if here.is_empty() => format!("{} has no such section", section.title()),
        (None, None) => format!("{} has: {}", section.title(), here.join(", ")),
    };
    (message, help)
}

/// Returns message and help for the former key `neighbors.list`.
fn renamed_list(value: Option<&str>) -> (String, String) {
    let help = match value {
        Some("clustered") => "write method = \"clusters\"",
        Some("per-particle") => "write method = \"particles\"",
        Some("half") => "write symmetric = true for half lists",
        Some("full") => "write symmetric = false for full lists",
        _ => "write method = \"clusters\", \"particles\", \"cells\", \"search\" or \"auto\"",
    };
    ("`list` in [neighbors] is now `method`".into(), help.into())
}

fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Returns the first line with more than [`MAX_DOTS`] dots between names. Comment lines may have any number.
fn too_many_dots(text: &str) -> Option<Range<usize>> {
    let mut start = 0;
    for line in text.split('\n') {
        let letters = line.as_bytes();
        let part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-\"'".contains(&byte) || !byte.is_ascii();
        let mut dots = 0;
        let mut before = b' ';
        for (k, &byte) in letters.iter().enumerate() {
            if byte == b'.' && part(before) {
                let after = letters[k + 1..].iter().find(|byte| !b" \t".contains(byte));
                dots += usize::from(after.is_some_and(|&byte| part(byte)));
            }
            if !b" \t".contains(&byte) {
                before = byte;
            }
        }
        if dots > MAX_DOTS && !line.trim_start().starts_with('#') {
            return Some(start..start + line.len());
        }
        start += line.len() + 1;
    }
    None
}

/// Help for backslashes that were meant literally.
pub(super) const BACKSLASH_HELP: &str = "a backslash in double quotes starts an escape, such as \\n for a new line: write '/' instead, \
                                  or single quotes around the text: 'C:\\data\\x.gro'";

/// Returns message and help for an error of the TOML parser.
fn syntax_mistake(message: &str) -> (String, &'static str) {
    let help = match message {
        text if text.contains("escape") || text.contains("unicode") => BACKSLASH_HELP,
        text if text.contains("duplicate key") => "keep one of them: a key and a [section] are written once",
        text if text.contains("string") || text.contains("quote") => {
            "texts stand between double quotes on one line: \"text\""
        }
        text if text.contains("recursion") => "this nests deeper than any deck does",
        text if text.contains("number") || text.contains("integer") || text.contains("float") => {
            "numbers look like 100, 1e5 or 0.005; texts and units stand in quotes: \"15min\""
        }
        text if text.contains("header") || text.contains("table") => {
            "sections look like [sph], alone on their line"
        }
        _ => "lines look like: key = value, [section] or # comment; texts stand in double quotes",
    };
    (format!("this is no valid TOML: {message}"), help)
}
