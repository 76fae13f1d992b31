//! The deck as written: TOML walked along the table of keys, so that every mistake is found and keeps its place.

use super::keys::{self, SECTIONS, Section};
use super::mistake::{Mistake, Place, Source};
use super::nearest::nearest;
use super::value::{self, Value, shortened};
use crate::units::UnitSystem;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Largest deck that is read. Real ones have a few thousand bytes.
pub const LARGEST: usize = 256 * 1024;
/// Most dots between the parts of dotted keys on one line: each nests a table, and nothing may nest without bound.
const MOST_DOTS: usize = 24;

/// What is written for a key.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The value, or `None` where it is wrong, which is reported already.
    pub value: Option<Value>,
    /// Where.
    pub place: Place,
}

/// All that is written, by section and key, and what was wrong with it.
#[derive(Debug)]
pub struct Raw {
    /// The deck, then the options.
    pub sources: Vec<Source>,
    /// Values by the paths of their section and their names.
    pub entries: BTreeMap<String, BTreeMap<&'static str, Entry>>,
    /// The sections that are there.
    pub sections: BTreeMap<String, Place>,
    /// The units that texts may carry.
    pub system: UnitSystem,
    /// What is wrong so far.
    pub mistakes: Vec<Mistake>,
    /// Whether the TOML itself is broken, so that what is missing may be in the broken part.
    pub broken: bool,
}

impl Raw {
    /// The deck `text` of that name, with `key=value` options over it.
    pub fn new(name: &str, text: &str, overrides: &[String]) -> Self {
        let mut raw = Raw {
            sources: Vec::new(),
            entries: BTreeMap::new(),
            sections: BTreeMap::new(),
            system: UnitSystem::Reduced,
            mistakes: Vec::new(),
            broken: false,
        };
        raw.deck(name, text, overrides.iter().rev().find_map(|option| system_of_option(option)));
        for option in overrides {
            raw.option(option);
        }
        raw
    }

    /// What is written about a key, if anything.
    pub fn entry(&self, section: &str, name: &str) -> Option<&Entry> {
        self.entries.get(section)?.get(name)
    }

    /// The sections of a patterned one that are there, in the order in which they are written.
    pub fn instances(&self, section: &Section) -> Vec<String> {
        let mut found: Vec<(&String, &Place)> =
            self.sections.iter().filter(|(path, _)| section.is_at(path)).collect();
        found.sort_by_key(|(path, place)| (place.source, place.span.start, *path));
        found.into_iter().map(|(path, _)| path.clone()).collect()
    }

    fn deck(&mut self, name: &str, text: &str, system: Option<UnitSystem>) {
        self.sources.push(Source { name: name.into(), text: text.into() });
        if text.len() > LARGEST {
            self.sources[0].text.clear();
            self.unreadable(
                0..0,
                format!("the deck has {} bytes, more than the {LARGEST} that a deck may have", text.len()),
                "check that this is a deck and not a data file",
            );
        } else if let Some(span) = too_deep(text) {
            self.unreadable(span, "too many dots on one line".into(), "write sections as [section] tables");
        } else {
            let (table, errors) = DeTable::parse_recoverable(text);
            let newlines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
            let line_of = |at: usize| newlines.partition_point(|&newline| newline < at);
            let (mut lines, mut said) = (BTreeSet::new(), BTreeSet::new());
            self.system = system.or_else(|| written_system(table.get_ref())).unwrap_or(self.system);
            for error in &errors {
                let span = error.span().unwrap_or(text.len()..text.len());
                lines.insert(line_of(span.start));
                let (message, help) = syntax(error.message());
                // a path with backslashes is one mistake, whatever the number of its backslashes
                if help != ESCAPES || said.insert(line_of(span.start)) {
                    self.unreadable(span, message, help);
                }
            }
            let before = self.mistakes.len();
            self.walk(0, "", table.get_ref());
            // What the parser made up to go on after a broken line is not the user's mistake.
            if self.broken {
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
        self.broken = true;
        self.wrong(0, span, message, help.into());
    }

    fn wrong(&mut self, source: usize, span: Range<usize>, message: String, help: String) {
        self.mistakes.push(Mistake { message, help, place: Some(Place { source, span }) });
    }

    /// One `--set` option. A value that is no TOML is a text: `--set output.directory=out`.
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
                    && too_deep(option).is_none() =>
            {
                (path, written)
            }
            _ => {
                let help = "write --set section.key=value, for example --set run.end_time=0.5".into();
                return self.wrong(source, 0..option.len(), "this is no key=value".into(), help);
            }
        };
        let wants_text = matches!(known_kind(path), Some(keys::Kind::Text | keys::Kind::Path));
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
                let table = nested(path, start..start + path.len(), text);
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
                match wrong_name(text).filter(|_| inner.path.ends_with('*')) {
                    Some(message) => {
                        let help = "use letters, digits, _, + and -, at most 24".into();
                        self.wrong(source, name.span(), message, help);
                    }
                    None => self.enter(source, inner, &path, value),
                }
            } else if let Some(key) = section.key(text) {
                self.enter_value(source, (section, path), key, value);
            } else {
                let (message, help) = unknown(section, path, text, value.get_ref());
                self.wrong(source, name.span(), message, help);
            }
        }
    }

    fn enter(&mut self, source: usize, section: &Section, path: &str, written: &Spanned<DeValue<'_>>) {
        let Some(table) = written.get_ref().as_table() else {
            let help = match written.get_ref() {
                DeValue::Array(array) if array.iter().any(|item| item.get_ref().is_table()) => {
                    format!("write {} with single brackets, once", section.title())
                }
                _ => format!("write the section as {}, with its keys on the lines below", section.title()),
            };
            let message = format!("`{path}` is a section, not a single value");
            return self.wrong(source, written.span(), message, help);
        };
        let place = Place { source, span: written.span() };
        self.sections.entry(path.to_string()).or_insert(place);
        self.walk(source, path, table);
    }

    fn enter_value(
        &mut self,
        source: usize,
        (section, path): (&Section, &str),
        key: &'static keys::Key,
        written: &Spanned<DeValue<'_>>,
    ) {
        let place = Place { source, span: written.span() };
        let value = match value::convert(&key.kind, written, self.system) {
            Ok(value) => Some(value),
            Err(wrong) => {
                let known = written.get_ref().as_str().and_then(|text| expected_elsewhere(key.name, text));
                let (message, help) =
                    known.unwrap_or_else(|| (format!("`{}` {}", key.name, wrong.message), wrong.help));
                self.wrong(source, wrong.span, message, help);
                None
            }
        };
        let entries = self.entries.entry(path.to_string()).or_default();
        if section.one_of && key.is_interval() {
            // An option chooses anew; within one source both stay, to be reported.
            let interval = |name: &str| section.key(name).is_some_and(keys::Key::is_interval);
            entries.retain(|name, entry| !interval(name) || entry.place.source == source);
        }
        entries.insert(key.name, Entry { value, place });
    }
}

/// Message and help for a choice that a key does not have but people may well expect.
fn expected_elsewhere(key: &str, written: &str) -> Option<(String, String)> {
    match (key, written) {
        ("precision", "single") => Some((
            "`precision` has no \"single\": mixed computes its pairs in single precision at the same cost and keeps \
             positions and sums in double"
                .into(),
            "write \"mixed\"".into(),
        )),
        ("list", "full" | "half") => Some((
            format!("`list` has no \"{written}\": it says how a list is stored, not whether a pair is in it twice"),
            format!(
                "write list = \"per-particle\" for a row of indices a particle; a {written} list is symmetric = {}",
                written == "half"
            ),
        )),
        _ => None,
    }
}

/// The units that a deck asks for, if it does; a name that does not exist is reported elsewhere, and the texts with
/// units are none the worse for it.
fn written_system(table: &DeTable<'_>) -> Option<UnitSystem> {
    let name = table.get("units")?.get_ref().as_table()?.get("system")?.get_ref().as_str()?;
    Some(UnitSystem::named(name).unwrap_or(UnitSystem::Molecular))
}

/// The units that an option asks for, with or without quotes.
fn system_of_option(option: &str) -> Option<UnitSystem> {
    let (path, written) = option.split_once('=')?;
    let bare = || (path.trim() == "units.system").then(|| UnitSystem::named(written.trim()))?;
    let within_bounds = option.len() <= LARGEST && !option.contains('\n') && too_deep(option).is_none();
    let table = if within_bounds { DeTable::parse(option).ok() } else { None };
    table.and_then(|table| written_system(table.get_ref())).or_else(bare)
}

/// What is wrong with a name of the user's, if anything.
fn wrong_name(name: &str) -> Option<String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || "_+-".contains(c);
    let right = !name.is_empty() && name.len() <= 24 && name.chars().all(letter);
    (!right).then(|| format!("`{}` cannot be a name", shortened(name)))
}

/// What a path of dots leads to, if it is a key.
fn known_kind(path: &str) -> Option<keys::Kind> {
    let (section, name) = path.rsplit_once('.').unwrap_or(("", path));
    Some(keys::section_at(section)?.key(name)?.kind)
}

/// `value` inside the tables that `path` names, all of them at `span`.
fn nested<'i>(path: &str, span: Range<usize>, value: Spanned<DeValue<'i>>) -> DeTable<'i> {
    let mut value = value;
    let mut table = DeTable::new();
    for name in path.rsplit('.') {
        table = DeTable::new();
        table.insert(Spanned::new(span.clone(), DeString::from(name.to_string())), value);
        value = Spanned::new(span.clone(), DeValue::Table(table.clone()));
    }
    table
}

/// Message and help for a name that is no key of its section.
fn unknown(section: &Section, path: &str, name: &str, written: &DeValue<'_>) -> (String, String) {
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
        _ => format!("unknown {what} `{}` in {}", shortened(name), keys::titled(path)),
    };
    let inside = keys::sections_inside(section.path).map(|(inner, _)| inner).filter(|inner| *inner != "*");
    let here: Vec<&str> = section.keys.iter().map(|key| key.name).chain(inside).collect();
    let wanted = name.to_ascii_lowercase();
    if let Some(key) = section.keys.iter().find(|key| key.synonyms.contains(&wanted.as_str())) {
        return (message, format!("did you mean `{}`?", key.name));
    }
    let elsewhere = SECTIONS.iter().find(|other| other.key(name).is_some() || last_name(other.path) == name);
    let help = match (elsewhere, nearest(name, here.iter().copied())) {
        (_, Some(meant)) => format!("did you mean `{meant}`?"),
        (Some(other), None) if other.key(name).is_some() => format!("`{name}` belongs in {}", other.title()),
        (Some(other), None) => format!("write it as {}", other.title()),
        (None, None) if here.is_empty() => format!("{} has no such section", section.title()),
        (None, None) => format!("{} has: {}", section.title(), here.join(", ")),
    };
    (message, help)
}

fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The first line, if any, with more dots between names than any deck needs. Dots inside comments that stand
/// alone are free.
fn too_deep(text: &str) -> Option<Range<usize>> {
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
        if dots > MOST_DOTS && !line.trim_start().starts_with('#') {
            return Some(start..start + line.len());
        }
        start += line.len() + 1;
    }
    None
}

/// What to do about backslashes that were meant as themselves.
pub(super) const ESCAPES: &str = "a backslash in double quotes starts an escape, such as \\n for a new line: write '/' instead, \
                                  or single quotes around the text: 'C:\\data\\x.gro'";

/// The parser's message and what to do about it.
fn syntax(message: &str) -> (String, &'static str) {
    let help = match message {
        text if text.contains("escape") || text.contains("unicode") => ESCAPES,
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
