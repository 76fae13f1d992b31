//! Energies over time, read back from a record of observables.

use std::path::Path;

use super::EXTERNAL_COLUMNS;
use super::columns::{Columns, content};
use crate::Result;
pub use crate::cases::History;

const EXTERNAL: &str = EXTERNAL_COLUMNS[0].0;

impl History {
    /// Reads a record. The potential energy includes that in an external field. Columns are found by name; an
    /// incomplete last line, as a killed run leaves it, is ignored.
    ///
    /// # Errors
    /// The file cannot be read, lacks a column, or has a row that is not made of finite numbers at increasing
    /// times.
    pub fn read(path: &Path) -> Result<Self> {
        let names = ["time", "kinetic_energy", "thermal_energy", "potential_energy"];
        let mut columns = Columns::read(path, |name| names.contains(&name) || name == EXTERNAL)?;
        let external = columns.find(EXTERNAL).map(|_| columns.take(path, EXTERNAL)).transpose()?;
        let [time, kinetic, thermal, potential] = names.map(|name| columns.take(path, name));
        let (time, kinetic, thermal, mut potential) = (time?, kinetic?, thermal?, potential?);
        let external = external.unwrap_or_default();
        potential.iter_mut().zip(external).for_each(|(potential, external)| *potential += external);
        let history = Self { time, kinetic, thermal, potential };
        for row in 0..history.time.len() {
            let values = [&history.time, &history.kinetic, &history.thermal, &history.potential];
            if values.iter().any(|column| !column[row].is_finite()) {
                return Err(content(path, format!("row {row} is not made of finite numbers")));
            }
            if row > 0 && history.time[row] < history.time[row - 1] {
                return Err(content(path, format!("row {row} goes back in time")));
            }
        }
        Ok(history)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<History> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        History::read(file.path())
    }

    const HEADER: &str = "step [1],time [U_t],potential_energy [U],kinetic_energy [U],thermal_energy [U]\n";

    #[test]
    fn columns_are_found_by_name() {
        let history = read(&format!("{HEADER}0,0.0,-2,0.5,0.5\n1,0.1,-2.5,0.75,0.73\n2,0.2,-")).unwrap();
        assert_eq!(history.time, [0.0, 0.1]);
        assert_eq!((history.kinetic[1], history.thermal[1], history.potential[1]), (0.75, 0.73, -2.5));
        assert!((history.drift(0.2).unwrap() - 0.02).abs() < 1e-12);
        assert_eq!(history.drift(0.05), Some(0.0));
        assert_eq!(History::default().drift(1.0), None);
    }

    #[test]
    fn damage_is_named() {
        for (text, words) in [
            (String::new(), "empty"),
            ("step,time\n".into(), "kinetic_energy"),
            (format!("{HEADER}0,0,1,NaN,1\n"), "row 0"),
            (format!("{HEADER}0,0,1,1,1\n1,0.1,1\n"), "line 3"),
            (format!("{HEADER}0,1,1,1,1\n1,0.1,1,1,1\n"), "back in time"),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
