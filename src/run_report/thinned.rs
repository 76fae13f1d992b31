//! Tables of any length, thinned out for charts: a bounded number of points with all extremes.

use std::path::Path;

use crate::Result;
use crate::observe::Rows;

/// Most intervals of rows of a column: each keeps its minimum and maximum.
const MOST_INTERVALS: usize = 1024;

/// A table with at most `2 * MOST_INTERVALS + 2` points a column. Up to `2 * MOST_INTERVALS` rows it is
/// complete; else rows are divided into intervals of equal length, of which minimum and maximum are kept, and
/// the first and the last row.
#[derive(Clone, Debug)]
pub struct Thinned {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Their units.
    pub units: Vec<String>,
    /// Points of each column: the abscissa (NaN without the column) and the value.
    pub points: Vec<Vec<(f64, f64)>>,
    /// Rows of the file.
    pub rows: u64,
    /// Values of the first row; empty without rows.
    pub first: Vec<f64>,
    /// Values of the last row; empty without rows.
    pub last: Vec<f64>,
    /// Why reading ended before the end of the file.
    pub damage: Option<String>,
}

/// A point with its row.
#[derive(Clone, Copy, Debug)]
struct Point {
    row: u64,
    x: f64,
    value: f64,
}

impl Point {
    /// Whether this later point replaces the minimum `other`: the first of equal values stays.
    fn is_below(&self, other: &Point) -> bool {
        self.value < other.value || other.value.is_nan() && !self.value.is_nan()
    }

    /// Whether this later point replaces the maximum `other`: the last of equal values stays, so that two
    /// equal rows are both kept.
    fn is_not_below(&self, other: &Point) -> bool {
        self.value >= other.value || other.value.is_nan()
    }
}

/// Minimum and maximum of an interval of rows.
#[derive(Clone, Copy, Debug)]
struct Extremes {
    minimum: Point,
    maximum: Point,
}

impl Extremes {
    fn include(&mut self, other: &Extremes) {
        if other.minimum.is_below(&self.minimum) {
            self.minimum = other.minimum;
        }
        if other.maximum.is_not_below(&self.maximum) {
            self.maximum = other.maximum;
        }
    }
}

impl Thinned {
    /// Reads a table over its column `along`.
    ///
    /// # Errors
    /// The file cannot be opened or has no line of names. Damage in a later line ends the table there.
    pub fn read(path: &Path, along: &str) -> Result<Self> {
        let mut rows = Rows::open(path, |_| true)?;
        let (names, units) = (rows.names.clone(), rows.units.clone());
        let abscissa = names.iter().position(|name| name == along);
        let at = |values: &[f64]| abscissa.and_then(|place| values.get(place)).copied().unwrap_or(f64::NAN);
        let mut columns: Vec<Vec<Extremes>> = vec![Vec::new(); names.len()];
        let (mut row, mut length) = (0u64, 1u64);
        let (mut first, mut last) = (Vec::new(), Vec::new());
        let damage = loop {
            let values = match rows.next_row() {
                Ok(Some(values)) => values,
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            };
            let x = at(values);
            let starts = row.is_multiple_of(length);
            for (intervals, &value) in columns.iter_mut().zip(values) {
                let value = if value.is_finite() { value } else { f64::NAN };
                let point = Point { row, x, value };
                let own = Extremes { minimum: point, maximum: point };
                match intervals.last_mut() {
                    Some(interval) if !starts => interval.include(&own),
                    _ => intervals.push(own),
                }
            }
            if row == 0 {
                first = values.to_vec();
            }
            last.clear();
            last.extend_from_slice(values);
            row += 1;
            if starts && columns.first().is_some_and(|intervals| intervals.len() > MOST_INTERVALS) {
                // the last interval has one row, which begins the next one of the doubled length
                columns.iter_mut().for_each(join_pairs);
                length *= 2;
            }
        };
        let ends = |values: &[f64], column: usize, row: u64| {
            values.get(column).map(|&value| Point { row, x: at(values), value })
        };
        let points = columns.iter().enumerate().map(|(column, intervals)| {
            let mut points: Vec<Point> =
                intervals.iter().flat_map(|interval| [interval.minimum, interval.maximum]).collect();
            points.extend(ends(&first, column, 0).into_iter().chain(ends(
                &last,
                column,
                row.saturating_sub(1),
            )));
            points.sort_by_key(|point| point.row);
            points.dedup_by_key(|point| point.row);
            points.into_iter().map(|point| (point.x, point.value)).collect()
        });
        Ok(Thinned { points: points.collect(), names, units, rows: row, first, last, damage })
    }

    /// Index of a column.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Whether the charts show fewer points than the table has rows.
    pub fn is_thinned(&self) -> bool {
        self.rows > 2 * MOST_INTERVALS as u64
    }
}

/// Joins intervals in pairs; an odd last one stays as it is.
fn join_pairs(intervals: &mut Vec<Extremes>) {
    let joined = intervals.chunks(2).map(|pair| {
        let mut both = pair[0];
        pair[1..].iter().for_each(|other| both.include(other));
        both
    });
    *intervals = joined.collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Thinned {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Thinned::read(file.path(), "time").unwrap()
    }

    /// A table of a sine with one spike up and one down.
    fn table(rows: usize) -> (String, f64) {
        let mut text = "step [1],time [U_t],value [1]\n".to_owned();
        for row in 0..rows {
            let value = match row {
                _ if row == rows / 3 => 9.0,
                _ if row == rows / 2 => -7.0,
                _ => (row as f64 * 0.01).sin(),
            };
            text += &format!("{row},{},{value}\n", row as f64 * 0.5);
        }
        (text, (rows - 1) as f64 * 0.5)
    }

    #[test]
    fn short_tables_are_complete() {
        for rows in [1, 2, 1024, 1025, 1999, 2048] {
            let (text, end) = table(rows);
            let thinned = read(&text);
            assert!(!thinned.is_thinned());
            let points = &thinned.points[2];
            assert_eq!((points.len(), thinned.rows, points[rows - 1].0), (rows, rows as u64, end));
            assert!(points.iter().zip(0..).all(|(point, row)| point.0 == f64::from(row) * 0.5));
        }
    }

    #[test]
    fn long_tables_keep_ends_and_extremes_in_order() {
        for rows in [2049, 5000, 40_001] {
            let (text, end) = table(rows);
            let thinned = read(&text);
            let points = &thinned.points[2];
            assert!(thinned.is_thinned() && points.len() <= 2 * MOST_INTERVALS + 2, "{}", points.len());
            assert!(points.len() > MOST_INTERVALS / 2, "{}", points.len());
            assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert_eq!((points[0].0, points[points.len() - 1].0), (0.0, end));
            let values = || points.iter().map(|point| point.1);
            assert_eq!((values().fold(0.0, f64::max), values().fold(0.0, f64::min)), (9.0, -7.0));
            assert_eq!((thinned.first[0], thinned.last[0]), (0.0, (rows - 1) as f64));
        }
    }

    #[test]
    fn damage_ends_a_table_and_values_that_are_not_finite_are_gaps() {
        let thinned = read("time [U_t],a [1],b [1]\n0,1,NaN\n1,inf,NaN\n2,3,NaN\n3,four,1\n4,5,1\n");
        assert_eq!(thinned.rows, 3);
        assert!(thinned.damage.as_ref().unwrap().contains("line 5"), "{:?}", thinned.damage);
        assert_eq!(thinned.points[1][2], (2.0, 3.0));
        assert!(thinned.points[1][1].1.is_nan() && thinned.points[2].iter().all(|point| point.1.is_nan()));
        assert_eq!(thinned.find("b"), Some(2));
        assert_eq!(read("time [U_t]\n").rows, 0);
    }
}
