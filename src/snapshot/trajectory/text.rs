//! What the text formats share: rows of columns, and lines of files that may end anywhere.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use super::appended::Frame;
use crate::particles::Field;
use crate::{Error, Result};

/// Longest line that is read at once, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// What is in front of the first column, and of the others.
const BLANK: [&str; 2] = ["", " "];

/// A column of a row, or three for a vector.
pub(super) enum Column {
    /// The particle's id.
    Id,
    /// One plus the index of the species.
    Type,
    /// Name of the species.
    Name,
    /// Values of a field, times a factor.
    Values(Field, f64),
    /// Values of a field that are whole numbers.
    Whole(Field),
}

/// Formats this rank's rows in the order of the ids: columns separated by blanks. A species without a name is
/// `X`. Values have the digits that read back to the same double, or to the same single. Collective.
pub(super) fn rows(frame: &Frame, columns: &[Column], species: &[String], double: bool) -> Vec<u8> {
    let values: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| match *column {
            Column::Id => Vec::new(),
            Column::Type | Column::Name if !frame.particles.has(Field::Species) => Vec::new(),
            Column::Type | Column::Name => {
                frame.redistribution.column(frame.comm, frame.particles, Field::Species)
            }
            Column::Values(field, _) | Column::Whole(field) => {
                frame.redistribution.column(frame.comm, frame.particles, field)
            }
        })
        .collect();
    let mut text = String::new();
    for (row, id) in frame.redistribution.ids().into_iter().enumerate() {
        for (k, (column, values)) in columns.iter().zip(&values).enumerate() {
            text += BLANK[k.min(1)];
            let index = || values.get(row).map_or(0, |&index| index as usize);
            let vector = |field: Field| {
                let width = field.components();
                values[width * row..width * (row + 1)].iter().enumerate()
            };
            // writing to a string cannot fail
            let _ = match *column {
                Column::Id => write!(text, "{id}"),
                Column::Type => write!(text, "{}", index() + 1),
                Column::Name => write!(text, "{}", species.get(index()).map_or("X", String::as_str)),
                Column::Values(field, scale) => vector(field).try_for_each(|(c, value)| match double {
                    true => write!(text, "{}{}", BLANK[c.min(1)], value * scale),
                    false => write!(text, "{}{}", BLANK[c.min(1)], (value * scale) as f32),
                }),
                Column::Whole(field) => vector(field)
                    .try_for_each(|(c, value)| write!(text, "{}{}", BLANK[c.min(1)], *value as i64)),
            };
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// Reads a text line by line.
pub(super) struct Lines<'a> {
    path: &'a Path,
    input: BufReader<File>,
    /// End of the last line, in bytes.
    pub at: u64,
    /// The last line, with its newline.
    pub line: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub fn open(path: &'a Path) -> Result<Self> {
        let file = File::open(path).map_err(|cause| Error::file("read", path, &cause))?;
        Ok(Self { path, input: BufReader::new(file), at: 0, line: Vec::new() })
    }

    /// Reads the next line. Returns whether it is whole: one without a newline was cut off.
    pub fn next(&mut self) -> Result<bool> {
        self.line.clear();
        let read = (&mut self.input).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line);
        self.at += read.map_err(|cause| Error::file("read", self.path, &cause))? as u64;
        Ok(self.line.ends_with(b"\n"))
    }

    /// Skips lines. Returns whether all are whole.
    pub fn skip(&mut self, count: u64) -> Result<bool> {
        for _ in 0..count {
            if !self.next()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the last line is `expected`, or the beginning of it where the text was cut off.
    pub fn is(&self, expected: &str) -> bool {
        match self.line.strip_suffix(b"\n") {
            Some(line) => line == expected.as_bytes(),
            None => expected.as_bytes().starts_with(&self.line),
        }
    }

    /// Whether the last line begins with `expected`, or is the beginning of it where the text was cut off.
    pub fn begins(&self, expected: &str) -> bool {
        self.line.starts_with(expected.as_bytes())
            || (!self.line.ends_with(b"\n") && expected.as_bytes().starts_with(&self.line))
    }

    /// The last line as text, without its newline.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.line.strip_suffix(b"\n").unwrap_or(&self.line))
    }
}
