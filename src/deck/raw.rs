//! The deck as written: TOML walked along the table of keys, so that every mistake is found and keeps its place.

use super::keys::{self, SECTIONS, Section};
use super::mistake::{Mistake, Place, Source};
use super::nearest::nearest;
use super::value::{self, Value, shortened};
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
#[derive(Debug, Default)]
pub struct Raw {
    /// The deck, then the options.
    pub sources: Vec<Source>,
    /// Values by the paths of their section and their names.
    pub entries: BTreeMap<(&'static str, &'static str), Entry>,
    /// The sections that are there.
    pub sections: BTreeMap<&'static str, Place>,
    /// What is wrong so far.
    pub mistakes: Vec<Mistake>,
    /// Whether the TOML itself is broken, so that what is missing may be in the broken part.
    pub broken: bool,
}

impl Raw {
    /// The deck `text` of that name, with `key=value` options over it.
    pub fn new(name: &str, text: &str, overrides: &[String]) -> Self {
        let mut raw = Raw::default();
        raw.deck(name, text);
        for option in overrides {
            raw.option(option);
        }
        raw
    }

    fn deck(&mut self, name: &str, text: &str) {
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
            let mut lines = BTreeSet::new();
            for error in &errors {
                let span = error.span().unwrap_or(text.len()..text.len());
                lines.insert(line_of(span.start));
                let (message, help) = syntax(error.message());
                self.unreadable(span, message, help);
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

    fn walk(&mut self, source: usize, path: &'static str, table: &DeTable<'_>) {
        let section = keys::section_at(path).unwrap_or(&SECTIONS[0]);
        for (name, value) in table.iter() {
            let inside = keys::sections_inside(path).find(|(known, _)| *known == name.get_ref().as_ref());
            if let Some((_, inner)) = inside {
                self.enter(source, inner, value);
            } else if let Some(key) = section.key(name.get_ref()) {
                self.enter_value(source, section, key, value);
            } else {
                let (message, help) = unknown(section, name.get_ref(), value.get_ref());
                self.wrong(source, name.span(), message, help);
            }
        }
    }

    fn enter(&mut self, source: usize, section: &'static Section, written: &Spanned<DeValue<'_>>) {
        let Some(table) = written.get_ref().as_table() else {
            let help = match written.get_ref() {
                DeValue::Array(array) if array.iter().any(|item| item.get_ref().is_table()) => {
                    format!("write [{}] with single brackets, once", section.path)
                }
                _ => format!("write the section as [{}], with its keys on the lines below", section.path),
            };
            let message = format!("`{}` is a section, not a single value", section.path);
            return self.wrong(source, written.span(), message, help);
        };
        let place = Place { source, span: written.span() };
        self.sections.entry(section.path).or_insert(place);
        self.walk(source, section.path, table);
    }

    fn enter_value(
        &mut self,
        source: usize,
        section: &'static Section,
        key: &'static keys::Key,
        written: &Spanned<DeValue<'_>>,
    ) {
        let place = Place { source, span: written.span() };
        let value = match value::convert(&key.kind, written) {
            Ok(value) => Some(value),
            Err(wrong) => {
                let known = written.get_ref().as_str().and_then(|text| expected_elsewhere(key.name, text));
                let (message, help) =
                    known.unwrap_or_else(|| (format!("`{}` {}", key.name, wrong.message), wrong.help));
                return self.add(section, key, source, wrong.span, message, help);
            }
        };
        if section.one_of {
            // An option chooses anew; within one source both stay, to be reported.
            self.entries.retain(|(path, _), entry| *path != section.path || entry.place.source == source);
        }
        self.entries.insert((section.path, key.name), Entry { value, place });
    }

    fn add(
        &mut self,
        section: &'static Section,
        key: &'static keys::Key,
        source: usize,
        span: Range<usize>,
        message: String,
        help: String,
    ) {
        let place = Place { source, span: span.clone() };
        self.entries.insert((section.path, key.name), Entry { value: None, place });
        self.wrong(source, span, message, help);
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
fn unknown(section: &Section, name: &str, written: &DeValue<'_>) -> (String, String) {
    let what = if written.is_table() { "section" } else { "key" };
    let message = match section.path {
        "start" => format!("unknown case `{}` in [start]", shortened(name)),
        "interaction" => format!("unknown law `{}` in [interaction]", shortened(name)),
        _ => format!("unknown {what} `{}` in {}", shortened(name), section.title()),
    };
    let inside = keys::sections_inside(section.path).map(|(inner, _)| inner);
    let here: Vec<&str> = section.keys.iter().map(|key| key.name).chain(inside).collect();
    let wanted = name.to_ascii_lowercase();
    if let Some(key) = section.keys.iter().find(|key| key.synonyms.contains(&wanted.as_str())) {
        return (message, format!("did you mean `{}`?", key.name));
    }
    let elsewhere = SECTIONS.iter().find(|other| other.key(name).is_some() || last_name(other.path) == name);
    let help = match (elsewhere, nearest(name, here.iter().copied())) {
        (_, Some(meant)) => format!("did you mean `{meant}`?"),
        (Some(other), None) if other.key(name).is_some() => format!("`{name}` belongs in {}", other.title()),
        (Some(other), None) => format!("write it as [{}]", other.path),
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

/// The parser's message and what to do about it.
fn syntax(message: &str) -> (String, &'static str) {
    let help = match message {
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
