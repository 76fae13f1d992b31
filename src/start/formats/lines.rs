//! Line-by-line reading of a text file, with errors that name file and line.

use std::io::{BufRead, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::source::{Source, failure};
use crate::{Error, Result};

/// Longest line accepted, in bytes.
const LONGEST: u64 = 1 << 20;

/// An open text file at its current line.
pub(super) struct Lines {
    path: PathBuf,
    source: Source,
    number: u64,
    raw: Vec<u8>,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), source: Source::open(path)?, number: 0, raw: Vec::new() })
    }

    /// The first bytes, at most [`source::HEAD`](super::source::HEAD). Call before the first line is read.
    pub(super) fn head(&mut self) -> Result<&[u8]> {
        let (path, compressed) = (&self.path, self.source.compressed);
        self.source.input.fill_buf().map_err(|cause| failure(path, compressed, &cause))
    }

    /// Whether the file is compressed.
    pub(super) fn compressed(&self) -> bool {
        self.source.compressed
    }

    /// Number of the current line, counted from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line into `text`, without its newline; `false` at the end of the file.
    pub(super) fn next(&mut self, text: &mut String) -> Result<bool> {
        text.clear();
        self.raw.clear();
        let read = (&mut self.source.input).take(LONGEST + 1).read_until(b'\n', &mut self.raw);
        if read.map_err(|cause| failure(&self.path, self.source.compressed, &cause))? == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.raw.len() as u64 > LONGEST {
            return Err(
                self.error(format!("is longer than {LONGEST} bytes"), "check that this is a text file")
            );
        }
        text.push_str(String::from_utf8_lossy(&self.raw).trim_end_matches(['\n', '\r']));
        Ok(true)
    }

    /// Reads the next line, which must exist; `what` names its content in the error.
    pub(super) fn expect(&mut self, text: &mut String, what: &str) -> Result<()> {
        if self.next(text)? {
            return Ok(());
        }
        let what = format!("the file ends after line {}, where {what} should follow", self.number);
        Err(self.file_error(what, "copy the file anew if it was cut off, or correct the number of atoms"))
    }

    /// Skips a line, which must exist, without parsing it.
    pub(super) fn skip(&mut self, what: &str) -> Result<()> {
        let mut length = 0;
        loop {
            let buffer = match self.source.input.fill_buf() {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                buffer => buffer.map_err(|cause| failure(&self.path, self.source.compressed, &cause))?,
            };
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.source.input.consume(used);
            length += used;
            if end.is_some() || (used == 0 && length > 0) {
                self.number += 1;
                return Ok(());
            }
            if used == 0 {
                return self.expect(&mut String::new(), what);
            }
        }
    }

    /// Checks a row count stated in the current line: the file must be able to hold that many rows of at
    /// least `shortest` bytes. Returns the count.
    pub(super) fn check_count(&self, count: u64, shortest: u64) -> Result<u64> {
        if count.saturating_mul(shortest) > self.source.bytes {
            let what = format!("announces {count} rows, more than the bytes of the file can hold");
            return Err(self.error(what, "correct the number, or copy the file anew if it was cut off"));
        }
        Ok(count)
    }

    /// An error in the current line.
    pub(super) fn error(&self, what: impl std::fmt::Display, remedy: &str) -> Error {
        self.error_at(self.number, what, remedy)
    }

    /// An error in an earlier line.
    pub(super) fn error_at(&self, line: u64, what: impl std::fmt::Display, remedy: &str) -> Error {
        self.file_error(format!("line {line} {what}"), remedy)
    }

    /// An error without a line number.
    pub(super) fn file_error(&self, what: String, remedy: &str) -> Error {
        Error::Content { path: self.path.clone(), what, remedy: remedy.into() }
    }

    /// Parses a finite number in a field of the current line; also accepts Fortran's exponent letter `D`.
    pub(super) fn parse_number(&self, field: &str, what: &str) -> Result<f64> {
        let number = field.parse::<f64>().or_else(|_| field.replace(['d', 'D'], "e").parse());
        match number {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.error(
                format!("has \"{}\" where {what} should be, a finite number", excerpt(field)),
                "correct that line",
            )),
        }
    }

    /// Parses an integer in a field of the current line.
    pub(super) fn parse_integer<T: std::str::FromStr>(&self, field: &str, what: &str) -> Result<T> {
        field.parse::<T>().map_err(|_| {
            let what = format!("has \"{}\" where {what} should be, a whole number", excerpt(field));
            self.error(what, "correct that line")
        })
    }
}

/// Shortens a text from the file for a message, and replaces control characters.
pub(super) fn excerpt(text: &str) -> String {
    let shown: String =
        text.chars().take(40).map(|letter| if letter.is_control() { '?' } else { letter }).collect();
    if text.chars().nth(40).is_some() { shown + "..." } else { shown }
}
