//! The start `[start.radial-table]`: a text file of radii, densities, and optionally internal energies and
//! radial velocities.

use std::ops::Range;
use std::path::Path;

use crate::layout::Layout;
use crate::layout::radial_table::RadialTable;
use crate::plan::RadialTableStart;
use crate::{Error, Result};

/// Largest size of a file in bytes: a million rows.
const LARGEST: u64 = 100 << 20;

const REMEDY: &str = "write rows of ascending r, rho >= 0, and optionally u >= 0 and v_r, in the deck's units; a line \
                      that begins with # is a comment";

/// Lays out the particles of a range of ids.
///
/// # Errors
/// Those of [`read`].
pub fn layout(start: &RadialTableStart, share: Range<u64>) -> Result<Layout> {
    let table = read(&start.path, start.internal_energy)?;
    Ok(table.layout(start.particles, start.arrangement, start.seed, share))
}

/// Reads a table: two to four numbers a row, separated by white space or commas. `internal_energy` is that of
/// a table without this column.
///
/// # Errors
/// [`Error::File`] if the file cannot be read; [`Error::Content`] with the line of a row that is not made of
/// finite numbers, has another length than the first, does not ascend, or is negative; for no mass.
pub fn read(path: &Path, internal_energy: f64) -> Result<RadialTable> {
    let content = |what: String| Error::Content { path: path.to_owned(), what, remedy: REMEDY.into() };
    let reading = |cause: std::io::Error| Error::file("read", path, &cause);
    if std::fs::metadata(path).map_err(reading)?.len() > LARGEST {
        return Err(content("it is too large for a table of radii".into()));
    }
    let text = String::from_utf8_lossy(&std::fs::read(path).map_err(reading)?).into_owned();
    let mut table = RadialTable::default();
    let mut columns = None;
    for (number, line) in text.lines().enumerate().map(|(k, line)| (k + 1, line.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|cell| !cell.is_empty());
        let row: Option<Vec<f64>> =
            cells.map(|cell| cell.parse().ok().filter(|x: &f64| x.is_finite())).collect();
        let row = row.ok_or_else(|| content(format!("line {number} is not made of finite numbers")))?;
        let expected = *columns.get_or_insert(row.len());
        if row.len() != expected || !(2..=4).contains(&row.len()) {
            return Err(content(format!("line {number} has {} numbers", row.len())));
        }
        let energy = row.get(2).copied().unwrap_or(internal_energy);
        if row[0] < 0.0 || table.radii.last().is_some_and(|&last| row[0] <= last) {
            return Err(content(format!("r in line {number} does not ascend from 0")));
        }
        if row[1] < 0.0 || energy < 0.0 {
            return Err(content(format!("line {number} has a negative density or internal energy")));
        }
        table.radii.push(row[0]);
        table.density.push(row[1]);
        table.internal_energy.push(energy);
        table.velocity.push(row.get(3).copied().unwrap_or(0.0));
    }
    if table.radii.is_empty() || !(table.mass() > 0.0 && table.mass().is_finite()) {
        return Err(content("it has no mass".into()));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Arrangement;

    fn read_text(text: &str) -> Result<RadialTable> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path(), 0.7)
    }

    #[test]
    fn columns_are_read_in_their_order() {
        let table = read_text("# r rho u v\n0, 1, 2, -0.5\n\n1.5\t0.25 1e-1 -1\n").unwrap();
        assert_eq!((table.radii, table.density), (vec![0.0, 1.5], vec![1.0, 0.25]));
        assert_eq!((table.internal_energy, table.velocity), (vec![2.0, 0.1], vec![-0.5, -1.0]));
        assert_eq!(read_text("1 2\n").unwrap().internal_energy, [0.7]);
    }

    #[test]
    fn damage_is_named_with_its_line() {
        for (text, words) in [
            ("", "no mass"),
            ("0 0\n1 0\n", "no mass"),
            ("0 1\n1 x\n", "line 2"),
            ("0 1\n1 NaN\n", "line 2"),
            ("0 1\n1 1 1\n", "line 2 has 3 numbers"),
            ("0\n", "line 1 has 1 numbers"),
            ("0 1 1 1 1\n", "line 1 has 5 numbers"),
            ("1 1\n1 2\n", "line 2 does not ascend"),
            ("-1 1\n", "line 1 does not ascend"),
            ("0 -1\n", "negative"),
            ("0 1 -1\n", "negative"),
        ] {
            let error = read_text(text).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("help: "), "{text}: {error}");
        }
    }

    #[test]
    fn the_layout_has_the_mass_of_the_table() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "0 3\n2 3\n").unwrap();
        let start = RadialTableStart {
            path: file.path().to_owned(),
            particles: 100,
            arrangement: Arrangement::FaceCentered,
            seed: 1,
            internal_energy: 0.5,
        };
        let layout = layout(&start, 0..100).unwrap();
        let mass = 32.0 * std::f64::consts::PI;
        assert!((layout.mass.at(0) * 100.0 / mass - 1.0).abs() < 1e-12);
        assert_eq!((layout.positions.len(), layout.internal_energy.at(3)), (100, 0.5));
    }
}
