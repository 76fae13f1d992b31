//! A text file line by line, with what an error must name.

use std::io::{BufRead, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::source::{Source, failure};
use crate::{Error, Result};

/// Longest line that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// An open text file, and the line that was read last.
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

    /// The first bytes, at most [`source::HEAD`](super::source::HEAD); to be asked for before the first line.
    pub(super) fn head(&mut self) -> Result<&[u8]> {
        let (path, compressed) = (&self.path, self.source.compressed);
        self.source.input.fill_buf().map_err(|cause| failure(path, compressed, &cause))
    }

    /// Whether the file is compressed.
    pub(super) fn compressed(&self) -> bool {
        self.source.compressed
    }

    /// Number of the last line, counted from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line into `text`, without its end; `false` at the end of the file.
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
                self.wrong(format!("is longer than {LONGEST} bytes"), "check that this is a text file")
            );
        }
        text.push_str(String::from_utf8_lossy(&self.raw).trim_end_matches(['\n', '\r']));
        Ok(true)
    }

    /// The next line, which must be there: it holds `what`.
    pub(super) fn expect(&mut self, text: &mut String, what: &str) -> Result<()> {
        if self.next(text)? {
            return Ok(());
        }
        let what = format!("the file ends after line {}, where {what} should follow", self.number);
        Err(self.content(what, "copy the file anew if it was cut off, or correct the number of atoms"))
    }

    /// Pass over a line, which must be there, without looking at it.
    pub(super) fn pass(&mut self, what: &str) -> Result<()> {
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

    /// A count that the last line states, of rows of at least `shortest` bytes: refused if the file cannot hold them.
    pub(super) fn believable(&self, count: u64, shortest: u64) -> Result<u64> {
        if count.saturating_mul(shortest) > self.source.bytes {
            let what = format!("announces {count} rows, more than the bytes of the file can hold");
            return Err(self.wrong(what, "correct the number, or copy the file anew if it was cut off"));
        }
        Ok(count)
    }

    /// An error on the last line.
    pub(super) fn wrong(&self, what: impl std::fmt::Display, remedy: &str) -> Error {
        self.wrong_at(self.number, what, remedy)
    }

    /// An error on an earlier line.
    pub(super) fn wrong_at(&self, line: u64, what: impl std::fmt::Display, remedy: &str) -> Error {
        self.content(format!("line {line} {what}"), remedy)
    }

    /// An error that no line stands for.
    pub(super) fn content(&self, what: String, remedy: &str) -> Error {
        Error::Content { path: self.path.clone(), what, remedy: remedy.into() }
    }

    /// A finite number in a field of the last line; an exponent may begin with Fortran's `D`.
    pub(super) fn number_in(&self, field: &str, what: &str) -> Result<f64> {
        let number = field.parse::<f64>().or_else(|_| field.replace(['d', 'D'], "e").parse());
        match number {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.wrong(
                format!("has \"{}\" where {what} should be, a finite number", shortened(field)),
                "correct that line",
            )),
        }
    }

    /// A whole number in a field of the last line.
    pub(super) fn whole_in<T: std::str::FromStr>(&self, field: &str, what: &str) -> Result<T> {
        field.parse::<T>().map_err(|_| {
            let what = format!("has \"{}\" where {what} should be, a whole number", shortened(field));
            self.wrong(what, "correct that line")
        })
    }
}

/// A piece of the file as it can be shown.
pub(super) fn shortened(text: &str) -> String {
    let shown: String =
        text.chars().take(40).map(|letter| if letter.is_control() { '?' } else { letter }).collect();
    if text.chars().nth(40).is_some() { shown + "..." } else { shown }
}
