//! Reads CSV tables as the program writes them: a line of names with units, `time [U_t]`, then lines of
//! numbers.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

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

/// Reads selected columns of a table line by line.
pub struct Rows {
    /// Names of the selected columns.
    pub names: Vec<String>,
    /// Their units, without brackets.
    pub units: Vec<String>,
    path: PathBuf,
    reader: BufReader<File>,
    /// Number of the last line read, from 1.
    line: u64,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl Rows {
    /// Opens a table and reads its line of names; selects the columns whose names are `wanted`. Lines that
    /// begin with `#` are comments.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read, [`Error::Content`] if it has no line of names.
    pub fn open(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Self> {
        let file = File::open(path).map_err(|cause| Error::file("read", path, &cause))?;
        let mut rows = Rows {
            names: Vec::new(),
            units: Vec::new(),
            path: path.to_owned(),
            reader: BufReader::new(file),
            line: 0,
            indices: Vec::new(),
            values: Vec::new(),
        };
        let header = rows.next_line()?.ok_or_else(|| content(path, "it is empty".into()))?;
        for (index, cell) in header.split(',').enumerate() {
            let (name, unit) = cell.split_once(" [").unwrap_or((cell, ""));
            if wanted(name) {
                rows.names.push(name.to_owned());
                rows.units.push(unit.trim_end_matches(']').to_owned());
                rows.indices.push(index);
            }
        }
        Ok(rows)
    }

    /// Returns the values of the next line, in the order of the names; `None` at the end. An incomplete last
    /// line, as a killed run leaves it, is ignored.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read, [`Error::Content`] with the number of a line that is not
    /// made of numbers.
    pub fn next_row(&mut self) -> Result<Option<&[f64]>> {
        let Some(line) = self.next_line()? else { return Ok(None) };
        let cells: Vec<&str> = line.split(',').collect();
        self.values.clear();
        for &index in &self.indices {
            match cells.get(index).and_then(|cell| cell.trim().parse().ok()) {
                Some(value) => self.values.push(value),
                None => {
                    return Err(content(&self.path, format!("line {} is not made of numbers", self.line)));
                }
            }
        }
        Ok(Some(&self.values))
    }

    /// Returns the next complete line that is no comment.
    fn next_line(&mut self) -> Result<Option<String>> {
        loop {
            let mut line = Vec::new();
            let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut line);
            read.map_err(|cause| Error::file("read", &self.path, &cause))?;
            self.line += 1;
            if line.len() as u64 == LONGEST_LINE {
                return Err(content(&self.path, "a line is longer than any record's".into()));
            }
            if !line.ends_with(b"\n") {
                return Ok(None);
            }
            if !line.starts_with(b"#") {
                return Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()));
            }
        }
    }
}

impl Columns {
    /// Reads the columns whose names are `wanted`, as [`Rows`] does.
    ///
    /// # Errors
    /// Those of [`Rows::open`] and [`Rows::next_row`].
    pub fn read(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Self> {
        let mut rows = Rows::open(path, wanted)?;
        let mut values = vec![Vec::new(); rows.names.len()];
        while let Some(row) = rows.next_row()? {
            values.iter_mut().zip(row).for_each(|(column, &value)| column.push(value));
        }
        Ok(Columns { names: rows.names, units: rows.units, values })
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
