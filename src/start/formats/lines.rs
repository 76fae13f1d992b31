//! A text file line by line, with what an error must name.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Longest line that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// An open text file, and the line that was read last.
pub(super) struct Lines {
    path: PathBuf,
    input: BufReader<File>,
    bytes: u64,
    number: u64,
    raw: Vec<u8>,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |cause: std::io::Error| Error::file("read", path, &cause);
        let file = File::open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        let input = BufReader::with_capacity(1 << 18, file);
        Ok(Self { path: path.to_owned(), input, bytes, number: 0, raw: Vec::new() })
    }

    /// The next line into `text`, without its end; `false` at the end of the file.
    pub(super) fn next(&mut self, text: &mut String) -> Result<bool> {
        text.clear();
        self.raw.clear();
        let read = (&mut self.input).take(LONGEST + 1).read_until(b'\n', &mut self.raw);
        if read.map_err(|cause| Error::file("read", &self.path, &cause))? == 0 {
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
        Err(self.content(what, "the file was cut off: copy or write it anew"))
    }

    /// Pass over a line, which must be there, without looking at it.
    pub(super) fn pass(&mut self, what: &str) -> Result<()> {
        let mut length = 0;
        loop {
            let buffer = match self.input.fill_buf() {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                buffer => buffer.map_err(|cause| Error::file("read", &self.path, &cause))?,
            };
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.input.consume(used);
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
        if count.saturating_mul(shortest) > self.bytes {
            let what =
                format!("announces {count} rows, more than the {} bytes of the file can hold", self.bytes);
            return Err(self.wrong(what, "correct the number, or copy the file anew if it was cut off"));
        }
        Ok(count)
    }

    /// An error on the last line.
    pub(super) fn wrong(&self, what: impl std::fmt::Display, remedy: &str) -> Error {
        self.content(format!("line {} {what}", self.number), remedy)
    }

    /// An error that no line stands for.
    pub(super) fn content(&self, what: String, remedy: &str) -> Error {
        Error::Content { path: self.path.clone(), what, remedy: remedy.into() }
    }

    /// A finite number in a field of the last line.
    pub(super) fn number_in(&self, field: &str, what: &str) -> Result<f64> {
        match field.parse::<f64>() {
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
