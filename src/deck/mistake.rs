//! Mistakes in a deck, and the report that shows them all.

use std::fmt::{self, Display, Write as _};
use std::ops::Range;

/// Number of mistakes shown in full; the others are only counted.
const MAX_SHOWN: usize = 100;
/// Width in characters of the excerpt around the offending text.
const EXCERPT_WIDTH: usize = 100;

/// A source of settings: the deck, or one `--set` option.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file's path, or the option.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A position in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the source: 0 is the deck, the k-th `--set` option is k.
    pub source: usize,
    /// Byte range in the source's text.
    pub span: Range<usize>,
}

/// One mistake.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// Position; `None` if something is missing from the deck as a whole.
    pub place: Option<Place>,
}

/// All mistakes of a deck and its overrides, sorted by position. `Display` formats the report for the user.
#[derive(Clone, Debug)]
pub struct Report {
    sources: Vec<Source>,
    mistakes: Vec<Mistake>,
}

impl Report {
    /// Creates the report of `mistakes` found in `sources`.
    pub fn new(sources: Vec<Source>, mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| match &mistake.place {
            Some(place) => (place.source, place.span.start),
            None => (usize::MAX, 0),
        });
        Self { sources, mistakes }
    }

    /// Returns the mistakes sorted by position; those without a position come last.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// Returns the source's name, and the line and column (both from 1, in characters) of a position.
    pub fn locate(&self, place: &Place) -> (&str, usize, usize) {
        let source = &self.sources[place.source];
        let (line_start, at) = line_start(&source.text, place.span.start);
        let line = 1 + source.text[..line_start].bytes().filter(|&b| b == b'\n').count();
        (&source.name, line, 1 + source.text[line_start..at].chars().count())
    }

    fn show(&self, out: &mut impl fmt::Write, mistake: &Mistake) -> fmt::Result {
        writeln!(out, "error: {}", printable(&mistake.message))?;
        match &mistake.place {
            None => {
                let name = self.sources.first().map_or("", |source| &source.name);
                writeln!(out, "  --> {}", printable(name))?;
                writeln!(out, "  = help: {}", printable(&mistake.help))
            }
            Some(place) => {
                let (name, line, column) = self.locate(place);
                let gutter = " ".repeat(line.to_string().len());
                let (excerpt, before, width) = self.excerpt(place);
                let position = if place.source == 0 { format!(":{line}:{column}") } else { String::new() };
                writeln!(out, "{gutter}--> {}{position}", printable(name))?;
                writeln!(out, "{gutter} |")?;
                writeln!(out, "{line} | {excerpt}")?;
                writeln!(out, "{gutter} | {}{}", " ".repeat(before), "^".repeat(width))?;
                writeln!(out, "{gutter} = help: {}", printable(&mistake.help))
            }
        }
    }

    /// Returns the excerpt of the line around the position, the number of characters before the offending
    /// text, and the length of that text.
    fn excerpt(&self, place: &Place) -> (String, usize, usize) {
        let text = &self.sources[place.source].text;
        let (start, at) = line_start(text, place.span.start);
        let line = text[start..].lines().next().unwrap_or("");
        let before = text[start..at].chars().count().min(line.chars().count());
        let marked = text.get(at..place.span.end).unwrap_or("").lines().next().unwrap_or("").chars().count();
        let skipped = if before > EXCERPT_WIDTH / 2 { before - EXCERPT_WIDTH / 4 } else { 0 };
        let shown: String = line.chars().skip(skipped).take(EXCERPT_WIDTH).map(printable_char).collect();
        let tail = if line.chars().nth(skipped + EXCERPT_WIDTH).is_some() { "..." } else { "" };
        let head = if skipped > 0 { "..." } else { "" };
        let before = before - skipped;
        let width = marked.clamp(1, (EXCERPT_WIDTH - before).max(1));
        (format!("{head}{}{tail}", shown.trim_end()), head.len() + before, width)
    }
}

impl Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for mistake in self.mistakes.iter().take(MAX_SHOWN) {
            self.show(&mut text, mistake)?;
            text.push('\n');
        }
        match self.mistakes.len() {
            1 => text.push_str("1 mistake; nothing was run"),
            count if count > MAX_SHOWN => {
                write!(text, "{count} mistakes, the first {MAX_SHOWN} are shown; nothing was run")?
            }
            count => write!(text, "{count} mistakes; nothing was run")?,
        }
        out.write_str(&text)
    }
}

/// Returns the start of the line that contains byte `at`, and `at` moved back to a character boundary of the
/// text.
fn line_start(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    (text[..at].rfind('\n').map_or(0, |newline| newline + 1), at)
}

/// Replaces control characters and text-direction marks, which could steer the terminal; a tab becomes a
/// space.
fn printable_char(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
        {
            char::REPLACEMENT_CHARACTER
        }
        c => c,
    }
}

/// Makes a text safe for the terminal and cuts it to 600 characters.
fn printable(text: &str) -> String {
    text.chars().take(600).map(printable_char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str, span: Range<usize>) -> String {
        let source = Source { name: "a.toml".into(), text: text.into() };
        let place = Some(Place { source: 0, span });
        let mistake = Mistake { message: "wrong".into(), help: "right it".into(), place };
        Report::new(vec![source], vec![mistake]).to_string()
    }

    #[test]
    fn shows_line_column_and_caret() {
        let shown = report("[run]\nend_time = -1\n", 17..19);
        assert_eq!(
            shown,
            "error: wrong\n --> a.toml:2:12\n  |\n2 | end_time = -1\n  |            ^^\n  = help: right it\n\n\
             1 mistake; nothing was run"
        );
    }

    #[test]
    fn long_lines_are_cut_and_control_characters_replaced() {
        let text = format!("{}\u{1b}[31mé{}", "x".repeat(5000), "y".repeat(5000));
        let shown = report(&text, 5000..5001);
        assert!(shown.len() < 500 && !shown.contains('\u{1b}'), "{shown}");
    }

    #[test]
    fn any_span_is_shown() {
        for (start, end) in [(0, 0), (1, 2), (2, 1), (3, 900), (900, 901)] {
            report("é\nü", start..end);
            report("", start..end);
        }
    }
}
