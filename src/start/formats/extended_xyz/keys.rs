//! The comment line of extended XYZ: `key=value` pairs, in every value syntax of the specification.
//!
//! A value is a bare word, a text in double quotes (backslash escapes), a blank-separated list in quotes or
//! braces, a comma-separated list in brackets, or a list of such lists. Single quotes are equivalent to
//! double ones, as in ASE. A key without a value is true.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::lines::{Lines, excerpt};
use crate::Result;

/// Keys that this program uses, in lower case.
pub(super) const USED: [&str; 5] = ["lattice", "origin", "pbc", "properties", "title"];

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A word, or the contents of quotes or braces.
    Text(String),
    /// A list in brackets.
    List(Vec<String>),
    /// A list of lists in brackets.
    Matrix(Vec<Vec<String>>),
}

impl Value {
    /// The words of a list in any syntax; `None` for a matrix or malformed brackets.
    pub(super) fn words(&self) -> Option<Vec<String>> {
        match self.written() {
            Some(Value::List(words)) => Some(words),
            Some(Value::Text(text)) => {
                let words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
                Some(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
            }
            _ => None,
        }
    }

    /// The value, with brackets inside quotes parsed too; `None` if they are malformed.
    pub(super) fn written(&self) -> Option<Value> {
        match self {
            Value::Text(text) if text.trim_start().starts_with('[') => {
                let mut scan = Scan { rest: text.trim() };
                scan.brackets().ok().filter(|_| scan.rest.trim().is_empty())
            }
            other => Some(other.clone()),
        }
    }

    /// The value as a text; empty for lists.
    pub(super) fn text(&self) -> &str {
        if let Value::Text(text) = self { text } else { "" }
    }
}

/// The pairs of a comment, by key in lower case.
pub(super) struct Keys {
    pub pairs: BTreeMap<String, Value>,
    /// Whether the line has a key of extended XYZ, as opposed to a free comment.
    pub extended: bool,
}

impl Keys {
    /// Parses a comment. A malformed line is a plain XYZ comment, unless it mentions the box, its boundary or
    /// the columns.
    ///
    /// # Errors
    /// [`crate::Error::Content`] if a used key occurs twice, or the line is malformed.
    pub(super) fn of(lines: &Lines, comment: &str) -> Result<Self> {
        match pairs(comment) {
            Ok((pairs, twice)) => {
                if let Some(key) = twice.iter().find(|key| USED.contains(&key.as_str())) {
                    return Err(
                        lines.error(format!("has the key \"{key}\" more than once"), "keep one of them")
                    );
                }
                let extended = ["lattice", "pbc", "properties"].iter().any(|key| pairs.contains_key(*key));
                Ok(Self { pairs, extended })
            }
            Err(what) => {
                let squeezed: String = comment.split_whitespace().collect::<String>().to_ascii_lowercase();
                if ["lattice=", "pbc=", "properties="].iter().any(|key| squeezed.contains(key)) {
                    let remedy = "close every quote and bracket; a quote inside of quotes is written \\\"";
                    return Err(lines.error(format!("is no line of key=value pairs: {what}"), remedy));
                }
                Ok(Self { pairs: BTreeMap::new(), extended: false })
            }
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.pairs.get(key)
    }

    /// The keys that are not used.
    pub(super) fn unused(&self) -> Vec<String> {
        self.pairs.keys().filter(|key| !USED.contains(&key.as_str())).cloned().collect()
    }
}

type Pairs = (BTreeMap<String, Value>, Vec<String>);

/// The first pair of each key, and the keys that occur more than once.
fn pairs(comment: &str) -> std::result::Result<Pairs, String> {
    let (mut found, mut twice) = (BTreeMap::new(), Vec::new());
    let mut scan = Scan { rest: comment.trim() };
    while !scan.rest.is_empty() {
        let key = scan.key()?.to_ascii_lowercase();
        scan.blanks();
        let value = match scan.rest.strip_prefix('=') {
            Some(after) => {
                scan.rest = after.trim_start();
                scan.value()?
            }
            None => Value::Text("T".into()),
        };
        scan.blanks();
        match found.entry(key) {
            Entry::Occupied(before) => twice.push(before.key().clone()),
            Entry::Vacant(place) => {
                place.insert(value);
            }
        }
    }
    Ok((found, twice))
}

/// The unparsed rest of the line.
struct Scan<'a> {
    rest: &'a str,
}

impl Scan<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn key(&mut self) -> std::result::Result<String, String> {
        if self.rest.starts_with(['"', '\'']) {
            return self.quoted();
        }
        let end =
            self.rest.find(|letter: char| letter.is_whitespace() || letter == '=').unwrap_or(self.rest.len());
        if end == 0 {
            return Err("a \"=\" has no key".into());
        }
        Ok(self.take(end))
    }

    fn value(&mut self) -> std::result::Result<Value, String> {
        match self.rest.chars().next() {
            Some('"' | '\'') => self.quoted().map(Value::Text),
            Some('[') => self.brackets(),
            Some('{') => match self.rest.find('}') {
                Some(end) => {
                    let inside = self.rest[1..end].trim().to_owned();
                    self.rest = &self.rest[end + 1..];
                    Ok(Value::Text(inside.replace('"', "")))
                }
                None => Err(format!("a brace is not closed: {}", excerpt(self.rest))),
            },
            _ => {
                let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
                Ok(Value::Text(self.take(end)))
            }
        }
    }

    fn take(&mut self, end: usize) -> String {
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    /// Parses a quoted text; the first character is the opening quote.
    fn quoted(&mut self) -> std::result::Result<String, String> {
        let mut letters = self.rest.char_indices();
        let quote = letters.next().map(|(_, quote)| quote);
        let (mut text, mut escaped) = (String::new(), false);
        for (at, letter) in letters {
            match letter {
                'n' if escaped => text.push('\n'),
                _ if escaped => text.push(letter),
                '\\' => {
                    escaped = true;
                    continue;
                }
                _ if Some(letter) == quote => {
                    self.rest = &self.rest[at + letter.len_utf8()..];
                    return Ok(text);
                }
                _ => text.push(letter),
            }
            escaped = false;
        }
        Err(format!("a quote is not closed: {}", excerpt(self.rest)))
    }

    /// Parses a list in brackets, or a list of such lists.
    fn brackets(&mut self) -> std::result::Result<Value, String> {
        let begin = self.rest;
        let (mut words, mut rows) = (Vec::new(), Vec::new());
        self.rest = &self.rest[1..];
        loop {
            self.rest = self.rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == ',');
            match self.rest.chars().next() {
                None => return Err(format!("a bracket is not closed: {}", excerpt(begin))),
                Some(']') => {
                    self.rest = &self.rest[1..];
                    break;
                }
                Some('[') => rows.push(self.row(begin)?),
                Some(_) => words.push(self.item()?),
            }
        }
        match (words.is_empty(), rows.is_empty()) {
            (_, true) => Ok(Value::List(words)),
            (true, false) => Ok(Value::Matrix(rows)),
            _ => Err(format!("a list of words and lists: {}", excerpt(begin))),
        }
    }

    /// Parses an inner list.
    fn row(&mut self, begin: &str) -> std::result::Result<Vec<String>, String> {
        let mut words = Vec::new();
        self.rest = &self.rest[1..];
        loop {
            self.rest = self.rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == ',');
            match self.rest.chars().next() {
                None => return Err(format!("a bracket is not closed: {}", excerpt(begin))),
                Some(']') => {
                    self.rest = &self.rest[1..];
                    return Ok(words);
                }
                Some('[') => return Err(format!("lists of more than two levels: {}", excerpt(begin))),
                Some(_) => words.push(self.item()?),
            }
        }
    }

    /// Parses an item of a list in brackets.
    fn item(&mut self) -> std::result::Result<String, String> {
        if self.rest.starts_with(['"', '\'']) {
            return self.quoted();
        }
        let ends = |letter: char| letter.is_whitespace() || ",[]".contains(letter);
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        Ok(self.take(end))
    }
}
