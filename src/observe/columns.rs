//! Reads CSV tables as the program writes them: a line of names with units, `time [U_t]`, then lines of
//! numbers.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::{Error, Result};

/// Longest line in bytes; lines of a record have about 500. A file without line ends must not fill the
/// memory.
const LONGEST_LINE: u64 = 1 << 16;

/// Selected columns of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Names.
    pub names: Vec<String>,
    /// Units, without brackets.
    pub units: Vec<String>,
    /// Values by column and line; NaN only where the file has NaN.
    pub values: Vec<Vec<f64>>,
}

impl Columns {
    /// Reads the columns whose names are `wanted`. An incomplete last line, as a killed run leaves it, is
    /// ignored; lines that begin with `#` are comments.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read, [`Error::Content`] with the number of a line that is not
    /// made of numbers.
    pub fn read(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Self> {
        let reading = |cause: std::io::Error| Error::file("read", path, &cause);
        let mut reader = BufReader::new(File::open(path).map_err(reading)?);
        let mut next = || -> Result<Option<String>> {
            let mut line = Vec::new();
            (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(reading)?;
            if line.len() as u64 == LONGEST_LINE {
                return Err(content(path, "a line is longer than any record's".into()));
            }
            Ok(line.ends_with(b"\n").then(|| String::from_utf8_lossy(&line).trim_end().to_owned()))
        };
        let mut number = 1;
        let mut header = next()?;
        while header.as_ref().is_some_and(|line| line.starts_with('#')) {
            header = next()?;
            number += 1;
        }
        let header = header.ok_or_else(|| content(path, "it is empty".into()))?;
        let mut columns = Self::default();
        let mut indices = Vec::new();
        for (index, cell) in header.split(',').enumerate() {
            let (name, unit) = cell.split_once(" [").unwrap_or((cell, ""));
            if wanted(name) {
                columns.names.push(name.to_owned());
                columns.units.push(unit.trim_end_matches(']').to_owned());
                columns.values.push(Vec::new());
                indices.push(index);
            }
        }
        while let Some(line) = next()? {
            number += 1;
            if line.starts_with('#') {
                continue;
            }
            let cells: Vec<&str> = line.split(',').collect();
            for (values, &index) in columns.values.iter_mut().zip(&indices) {
                match cells.get(index).and_then(|cell| cell.trim().parse().ok()) {
                    Some(value) => values.push(value),
                    None => return Err(content(path, format!("line {number} is not made of numbers"))),
                }
            }
        }
        Ok(columns)
    }

    /// Returns the index of a column.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Takes the values of a column out of the table.
    ///
    /// # Errors
    /// [`Error::Content`] if there is no column of that name.
    pub fn take(&mut self, path: &Path, name: &str) -> Result<Vec<f64>> {
        let index = self.find(name).ok_or_else(|| content(path, format!("it has no column \"{name}\"")))?;
        Ok(std::mem::take(&mut self.values[index]))
    }
}

/// Returns the error for a damaged table.
pub(super) fn content(path: &Path, what: String) -> Error {
    Error::Content {
        path: path.to_owned(),
        what,
        remedy: "move the file away if it does not belong to this run, or run again".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_by_name_and_damage_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            Columns::read(file.path(), |name| name != "b")
        };
        let table = read("# from a run\na [U_t],b,c [1]\n1,x,NaN\n2,3,-4e2\n3").unwrap();
        assert_eq!(
            (table.names, table.units),
            (vec!["a".into(), "c".into()], vec!["U_t".into(), "1".into()])
        );
        assert_eq!(table.values[0], [1.0, 2.0]);
        assert!(table.values[1][0].is_nan() && table.values[1][1] == -400.0);
        for (text, words) in [
            (String::new(), "empty"),
            ("# no more\n".into(), "empty"),
            ("a,c\n1,2\n1\n".into(), "line 3"),
            ("# a\na,c\n1,two\n".into(), "line 3"),
            ("x".repeat(200_000), "longer"),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
