//! Tabulated pair potentials: [`read`] returns the sections of a file, [`Rows::check`] compares forces with
//! energies, [`Rows::evaluate`] interpolates. Values keep the units of the file.

mod reader;
mod section;

use serde::{Deserialize, Serialize};
use std::fmt;

pub use reader::read;

/// Largest file in bytes.
pub const MAX_BYTES: u64 = 64_000_000;

/// A tabulated pair potential in the units of its file: at least 4 rows, distances > 0 in increasing order.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Rows {
    /// The keyword of the section, or "".
    pub name: String,
    /// Distances r.
    pub distance: Vec<f64>,
    /// Energies V(r).
    pub energy: Vec<f64>,
    /// Forces -dV/dr.
    pub force: Vec<f64>,
    /// Line of each row in the file, from 1.
    #[serde(skip)]
    pub line: Vec<usize>,
    /// Largest rounding errors of each row's distance, energy and force, from the printed digits.
    #[serde(skip)]
    pub rounding: Vec<[f64; 3]>,
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &[f64], other: &[f64]| {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        self.name == other.name
            && same(&self.distance, &other.distance)
            && same(&self.energy, &other.energy)
            && same(&self.force, &other.force)
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (first, last) = (self.distance.first(), self.distance.last());
        write!(out, "Rows {{ {:?}: {} from {first:?} to {last:?} }}", self.name, self.distance.len())
    }
}

/// A mistake in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableMistake {
    /// Line in the file, from 1; 0 means the whole file.
    pub line: usize,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for TableMistake {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "line {}: {}\n  help: {}", self.line, self.message, self.help)
    }
}

impl std::error::Error for TableMistake {}

/// Returns a mistake.
fn mistake<T>(line: usize, message: impl Into<String>, help: impl Into<String>) -> Result<T, TableMistake> {
    Err(TableMistake { line, message: message.into(), help: help.into() })
}

/// A row as [`Rows::check`] uses it.
struct Point {
    distance: f64,
    energy: f64,
    force: f64,
    rounding: [f64; 3],
}

/// A row whose force contradicts the energies.
struct Contradiction {
    row: usize,
    message: String,
    /// Whether rows without energy and force are next to it.
    zeros: bool,
}

impl Rows {
    /// Compares forces with energies. For every row, the change of the energy from the row before to the row
    /// after must be the integral of the force. The integral is that of the quartic through the forces of
    /// five rows (Abramowitz & Stegun 1972, 25.4.14 is the closed form for equal steps).
    ///
    /// The deviation may be the largest of: 1 % of the change; ten times the difference between the quartic
    /// and the cubic through four of the rows; the error that the rounding to the printed digits causes;
    /// beside rows with zero energy and force, the force times the distance of the rows, because the cutoff
    /// is not known.
    ///
    /// # Errors
    /// The first row that deviates more.
    pub fn check(&self) -> Result<(), TableMistake> {
        let lengths = [self.energy.len(), self.force.len(), self.line.len(), self.rounding.len()];
        if lengths.iter().any(|&length| length != self.distance.len()) {
            return mistake(0, "the columns differ in length", "Give every row all of its values.");
        }
        let Some(found) = self.contradiction(false, 1.0) else { return Ok(()) };
        let line = self.line.get(found.row).copied().unwrap_or(0);
        let fits = |swapped, sign| self.contradiction(swapped, sign).is_none();
        let help = if fits(false, -1.0) {
            "The column is dV/dr; it must be -dV/dr. Change the sign of all forces."
        } else if fits(true, 1.0) {
            "The columns of energy and force are swapped. The order is distance, energy, force."
        } else if fits(true, -1.0) {
            "The columns of energy and dV/dr are swapped. The order is distance, energy, force -dV/dr."
        } else if found.zeros {
            "pair_write prints zeros from the cutoff on. End the table below the cutoff."
        } else {
            "Correct the energy or the force (-dV/dr) of this row, or of a row next to it."
        };
        mistake(line, found.message, help)
    }

    /// The first row that contradicts; optionally with energies and forces swapped, or forces times `sign`.
    fn contradiction(&self, swapped: bool, sign: f64) -> Option<Contradiction> {
        let columns = self.distance.iter().zip(&self.energy).zip(&self.force).zip(&self.rounding);
        let points: Vec<Point> = columns
            .map(|(((&distance, &energy), &force), &[first, second, third])| match swapped {
                false => Point { distance, energy, force: sign * force, rounding: [first, second, third] },
                true => {
                    Point { distance, energy: force, force: sign * energy, rounding: [first, third, second] }
                }
            })
            .collect();
        let first = (0..points.len()).find_map(|row| contradiction_at(&points, row))?;
        // a wrong force of the last row is in the comparison of the row before, too
        let last = points.len().saturating_sub(1);
        let end = (first.row + 1 == last).then(|| contradiction_at(&points, last)).flatten();
        Some(end.unwrap_or(first))
    }

    /// Multiplies distances and energies by the sizes of their units.
    pub fn scale(&mut self, length: f64, energy: f64) {
        self.distance.iter_mut().for_each(|distance| *distance *= length);
        self.energy.iter_mut().for_each(|value| *value *= energy);
        self.force.iter_mut().for_each(|force| *force *= energy / length);
    }

    /// V and dV/dr at a distance within the table, from the cubic Hermite polynomial with the energies and
    /// forces of the rows on both sides (de Boor 2001, A Practical Guide to Splines, chapter IV). dV/dr is
    /// the exact derivative of the interpolated V. `None` outside of the table.
    pub fn evaluate(&self, distance: f64) -> Option<[f64; 2]> {
        let above = self.distance.partition_point(|&row| row <= distance);
        let right = above.min(self.distance.len().saturating_sub(1)).max(1);
        let at =
            |row: usize| Some([*self.distance.get(row)?, *self.energy.get(row)?, -*self.force.get(row)?]);
        let ([start, energy, slope], [end, end_energy, end_slope]) = (at(right - 1)?, at(right)?);
        if !(start..=end).contains(&distance) {
            return None;
        }
        let width = end - start;
        let t = (distance - start) / width;
        let mean = (end_energy - energy) / width;
        // V = energy + width t (slope + t (second + t third))
        let (second, third) = (3.0 * mean - 2.0 * slope - end_slope, slope + end_slope - 2.0 * mean);
        let value = energy + width * t * (slope + t * (second + t * third));
        Some([value, slope + t * (2.0 * second + 3.0 * t * third)])
    }
}

/// Compares the energies and forces around a row.
fn contradiction_at(points: &[Point], row: usize) -> Option<Contradiction> {
    let start = row.saturating_sub(2).min(points.len().saturating_sub(5));
    let all = points.get(start..points.len().min(start + 5))?;
    let (first, last) = (all.split_first()?.1, all.split_last()?.1);
    let fewer = if row >= start + 2 { first } else { last };
    let at = points.get(row)?;
    let (from, to) = (points.get(row.saturating_sub(1))?, points.get(row + 1).unwrap_or(at));
    let width = to.distance - from.distance;
    let total = integral(all, from.distance, to.distance);
    let truncation = (total - integral(fewer, from.distance, to.distance)).abs();
    let largest = |value: fn(&Point) -> f64| all.iter().map(value).fold(0.0, f64::max);
    let rounding = from.rounding[1]
        + to.rounding[1]
        + 2.0 * width * largest(|point| point.rounding[2])
        + 4.0 * largest(|point| point.force.abs()) * largest(|point| point.rounding[0]);
    let change = (at.energy - from.energy).abs() + (to.energy - at.energy).abs();
    // the force may end anywhere between the rows
    let zeros = all.iter().any(|point| point.energy == 0.0 && point.force == 0.0);
    let strongest = from.force.abs().max(at.force.abs()).max(to.force.abs());
    let end = if zeros { width * strongest } else { 0.0 };
    let tolerance = (0.01 * change).max(10.0 * truncation).max(rounding).max(end);
    let difference = to.energy - from.energy;
    if (difference + total).abs() <= tolerance && tolerance.is_finite() {
        return None;
    }
    let message = format!(
        "the energy changes by {difference:.4e} from r = {:?} to r = {:?}, but the forces give {:.4e}",
        from.distance, to.distance, -total
    );
    Some(Contradiction { row, message, zeros })
}

/// The integral of the polynomial through all forces (Gauss-Legendre, three nodes: exact to degree 5).
fn integral(points: &[Point], from: f64, to: f64) -> f64 {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    let nodes = [(-(0.6f64.sqrt()), 5.0), (0.0, 8.0), (0.6f64.sqrt(), 5.0)];
    nodes.iter().map(|(node, weight)| weight / 9.0 * half * polynomial(points, middle + half * node)).sum()
}

/// Lagrange's polynomial through all forces.
fn polynomial(points: &[Point], distance: f64) -> f64 {
    let term = |at: usize, point: &Point| {
        let others = points.iter().enumerate().filter(|&(other, _)| other != at);
        let factors =
            others.map(|(_, other)| (distance - other.distance) / (point.distance - other.distance));
        point.force * factors.product::<f64>()
    };
    points.iter().enumerate().map(|(at, point)| term(at, point)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// V and -dV/dr of Lennard-Jones, epsilon = sigma = 1.
    pub(super) fn lennard_jones(r: f64) -> [f64; 2] {
        [4.0 * (r.powi(-12) - r.powi(-6)), 24.0 * (2.0 * r.powi(-13) - r.powi(-7))]
    }

    /// A number as C's %g prints it with `digits` digits, zeros stripped.
    pub(super) fn general(value: f64, digits: usize) -> String {
        format!("{:e}", format!("{value:.*e}", digits - 1).parse::<f64>().unwrap())
    }

    /// Distances of `count` rows from `first` to `last`; `power` 1: steps of r, 2: steps of r^2.
    pub(super) fn spaced(count: usize, first: f64, last: f64, power: i32) -> impl Iterator<Item = f64> {
        let (first, last) = (first.powi(power), last.powi(power));
        (0..count)
            .map(move |k| first + (last - first) * k as f64 / (count - 1) as f64)
            .map(move |value| if power == 2 { value.sqrt() } else { value })
    }

    /// A file as `pair_write` prints it; rows start at line 7.
    pub(super) fn pair_write(count: usize, power: i32, digits: usize, law: fn(f64) -> [f64; 2]) -> String {
        let style = if power == 2 { "RSQ" } else { "R" };
        let mut text = format!(
            "# DATE: 2026-01-01 UNITS: lj\n# Pair potential lj/cut for atom types 1 1: \
            i,r,energy,force\n\nLJ\nN {count} {style} 0.7 2.49\n\n"
        );
        for (k, r) in spaced(count, 0.7, 2.49, power).enumerate() {
            let [energy, force] = law(r);
            let [r, energy, force] = [r, energy, force].map(|value| general(value, digits));
            text += &format!("{} {r} {energy} {force}\n", k + 1);
        }
        text
    }

    fn table(count: usize, power: i32, digits: usize) -> Rows {
        read(&pair_write(count, power, digits, lennard_jones)).unwrap().remove(0)
    }

    #[test]
    fn lennard_jones_tables_pass() {
        for count in [20, 50, 100, 101, 500, 1000, 5000] {
            for (power, digits) in [1, 2].into_iter().flat_map(|power| (6..16).map(move |d| (power, d))) {
                let found = table(count, power, digits).check();
                assert_eq!(found, Ok(()), "{count} rows, power {power}, {digits} digits");
            }
        }
        // distances with rounding errors
        for (count, power) in [(1000, 1), (5000, 1), (5000, 2)] {
            let row = |r: f64| {
                [r, lennard_jones(r)[0], lennard_jones(r)[1]].map(|value| general(value, 6)).join(" ")
            };
            let text = spaced(count, 0.7, 2.5, power).map(row).collect::<Vec<_>>().join("\n");
            assert_eq!(read(&text).unwrap()[0].check(), Ok(()), "{count} rows, power {power}");
        }
    }

    #[test]
    fn four_rows_are_compared() {
        let row = |r: f64| format!("{r} {} {}\n", lennard_jones(r)[0], lennard_jones(r)[1]);
        let mut table = read(&spaced(4, 1.2, 1.26, 1).map(row).collect::<String>()).unwrap().remove(0);
        assert_eq!(table.check(), Ok(()));
        table.force[1] *= -1.0;
        assert_eq!(table.check().unwrap_err().line, 2);
    }

    #[test]
    fn a_force_that_ends_with_a_kink_passes() {
        let purely_repulsive = |r: f64| {
            if r < 2f64.powf(1.0 / 6.0) { [lennard_jones(r)[0] + 1.0, lennard_jones(r)[1]] } else { [0.0; 2] }
        };
        for count in [100, 137, 1000, 4999] {
            let rows = read(&pair_write(count, 1, 15, purely_repulsive)).unwrap().remove(0);
            assert_eq!(rows.check(), Ok(()), "{count}");
        }
    }

    #[test]
    fn one_wrong_force_is_found_at_its_row() {
        for (count, power) in [(100, 1), (100, 2), (200, 2), (1000, 1), (1000, 2)] {
            for (digits, factor) in [(6, -1.0), (15, -1.0), (6, 1.1), (15, 1.1), (15, 0.9)] {
                let good = table(count, power, digits);
                for row in 0..count {
                    let mut bad = good.clone();
                    bad.force[row] *= factor;
                    match bad.check() {
                        // coarse rows hide which of two rows is wrong
                        Err(found) => {
                            assert!(found.line.abs_diff(7 + row) <= usize::from(count == 100), "{found}")
                        }
                        // at the minimum the force vanishes
                        Ok(()) => assert!((good.distance[row] - 2f64.powf(1.0 / 6.0)).abs() < 0.02, "{row}"),
                    }
                }
            }
        }
    }

    #[test]
    fn wrong_columns_are_named() {
        for (count, power) in [(100, 1), (100, 2), (5000, 1)] {
            let mut rows = table(count, power, 10);
            std::mem::swap(&mut rows.energy, &mut rows.force);
            let found = rows.check().unwrap_err();
            assert!(found.help.starts_with("The columns of energy and force are swapped"), "{found}");
            rows.energy.iter_mut().for_each(|force| *force = -*force);
            assert!(rows.check().unwrap_err().help.contains("energy and dV/dr are swapped"));
            std::mem::swap(&mut rows.energy, &mut rows.force);
            let found = rows.check().unwrap_err();
            assert!(found.help.starts_with("The column is dV/dr; it must be -dV/dr."), "{found}");
        }
    }

    #[test]
    fn zeros_at_the_cutoff_are_named() {
        let cut = |r: f64| if r < 2.4 { lennard_jones(r) } else { [0.0; 2] };
        let found = read(&pair_write(500, 1, 15, cut)).unwrap().remove(0).check().unwrap_err();
        assert!(found.help.contains("End the table below the cutoff."), "{found}");
    }

    #[test]
    fn one_wrong_energy_is_found_beside_its_row() {
        let mut rows = table(500, 1, 10);
        rows.energy[100] *= 1.1;
        assert!(rows.check().unwrap_err().line.abs_diff(107) <= 1);
    }

    #[test]
    fn evaluation_meets_rows_and_the_law_between() {
        let rows = table(1000, 2, 15);
        for (row, &r) in rows.distance.iter().enumerate() {
            let [energy, slope] = rows.evaluate(r).unwrap();
            assert!((energy - rows.energy[row]).abs() <= 1e-12 * rows.energy[row].abs());
            assert!((slope + rows.force[row]).abs() <= 1e-9 * rows.force[row].abs().max(1e-3));
        }
        for r in [0.7001, 0.95, 1.3, 2.4899] {
            let ([energy, force], [found, slope]) = (lennard_jones(r), rows.evaluate(r).unwrap());
            assert!((found - energy).abs() < 1e-5 * energy.abs(), "{r}: {found} {energy}");
            assert!((slope + force).abs() < 1e-3 * force.abs(), "{r}: {slope} {force}");
        }
        for outside in [0.0, 0.69, 2.491, f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(rows.evaluate(outside), None);
        }
        let nothing = Vec::new();
        let empty = Rows { distance: nothing.clone(), energy: nothing.clone(), force: nothing, ..rows };
        assert_eq!(empty.evaluate(1.0), None);
        assert!(empty.check().is_err());
    }
}
