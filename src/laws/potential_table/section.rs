//! A section of a table file while it is read.

use super::{Rows, TableMistake, mistake};

/// The most rows of a file.
pub(super) const MOST_ROWS: usize = 1_000_000;
/// The fewest rows of a table: [`Rows::check`] compares two orders of quadrature.
const FEWEST_ROWS: usize = 4;
/// The most columns of a format.
pub(super) const COLUMNS: usize = 7;

/// Remedy for a text of no format.
pub(super) const FORMATS: &str = "Give rows of distance, energy and force; or a LAMMPS table \
    (keyword, `N 1000 R 0.8 2.5`, rows of index, distance, energy and force); or a GROMACS table of 3 or 7 \
    columns. # starts a comment.";

/// How the distances of a section are given.
enum Spacing {
    Column,
    /// From the first to the last distance in equal steps of r.
    Linear([f64; 2]),
    /// From the first to the last distance in equal steps of r^2.
    Square([f64; 2]),
}

/// Precision of a printed column.
#[derive(Clone, Copy, Default)]
struct Precision {
    /// Most significant digits of a number.
    digits: i32,
    /// Power of ten of the last digit, the smallest of all numbers.
    last_digit: i32,
}

/// Whether a printed number is this one.
fn near(printed: f64, exact: f64) -> bool {
    (printed / exact - 1.0).abs() < 1e-4
}

impl Precision {
    fn include(&mut self, number: &str) {
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // trailing zeros of an integer may not be significant
        let zeros = if mantissa.contains('.') { 0 } else { whole.len() - whole.trim_end_matches('0').len() };
        let significant = mantissa.trim_start_matches(['+', '-', '0', '.']);
        let digits = significant.bytes().filter(u8::is_ascii_digit).count();
        let exponent = exponent.parse::<i32>().unwrap_or(0).clamp(-400, 400);
        let limited = |count: usize| count.min(400) as i32;
        self.digits = self.digits.max(limited(digits.saturating_sub(zeros)));
        self.last_digit = self.last_digit.min(exponent - limited(fraction.len()));
    }

    /// Half a unit of the last printed digit of `value`, at least two units of its last bit. Formats like
    /// `%g` strip zeros, therefore the precision is that of the column. A column of zeros is exact.
    fn rounding(&self, value: f64) -> f64 {
        if self.digits == 0 {
            return 0.0;
        }
        let leading = (value.abs().max(1e-300).log10() + 1e-12).floor() as i32;
        0.5 * 10f64.powi((leading + 1 - self.digits).max(self.last_digit)) + 2.0 * f64::EPSILON * value.abs()
    }
}

/// A section while it is read.
pub(super) struct Section {
    name: String,
    /// Line of the keyword or of the first row.
    line: usize,
    /// Columns of a row; 0 before the parameters of a LAMMPS section.
    pub columns: usize,
    /// Rows that the section announces.
    pub row_count: usize,
    spacing: Spacing,
    /// Line and values of each row.
    pub rows: Vec<(usize, [f64; COLUMNS])>,
    precision: [Precision; COLUMNS],
}

impl Section {
    pub fn new(name: &str, line: usize, columns: usize) -> Self {
        let (row_count, spacing, precision) = (usize::MAX, Spacing::Column, Default::default());
        Section { name: name.into(), line, columns, row_count, spacing, rows: Vec::new(), precision }
    }

    /// Reads the second line of a LAMMPS section.
    pub fn read_parameters(&mut self, content: &str, line: usize) -> Result<(), TableMistake> {
        let mut words = content.split_whitespace();
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN);
            let values = match word {
                "N" => [number(), 0.0],
                "R" | "RSQ" | "FPRIME" | "FP" => [number(), number()],
                "BITMAP" => {
                    let message =
                        "BITMAP orders rows by the bits of r^2 in single precision, not by distance";
                    return mistake(line, message, "Let pair_write use the style r or rsq.");
                }
                _ => {
                    let message = format!("{} is not a parameter of a LAMMPS table", shown(word));
                    return mistake(line, message, FORMATS);
                }
            };
            if !values.iter().all(|value| value.is_finite()) {
                return mistake(line, format!("{word} lacks a number"), FORMATS);
            }
            match word {
                "N" if (FEWEST_ROWS as f64..=MOST_ROWS as f64).contains(&values[0])
                    && values[0].fract() == 0.0 =>
                {
                    (self.row_count, self.columns) = (values[0] as usize, 4);
                }
                "N" => {
                    return mistake(line, "N is not an integer from 4 to 1,000,000", "Write as many rows.");
                }
                "R" => self.spacing = Spacing::Linear(values),
                "RSQ" => self.spacing = Spacing::Square(values),
                _ => {}
            }
        }
        if self.columns == 0 {
            mistake(line, "the section lacks N, its number of rows", FORMATS)
        } else {
            Ok(())
        }
    }

    /// Reads a row; skips a leading row of zeros.
    pub fn read_row(&mut self, content: &str, line: usize) -> Result<(), TableMistake> {
        let columns = content.split_whitespace().take(COLUMNS + 1).count();
        if columns != self.columns {
            let message = format!("the row has {columns} columns instead of {}", self.columns);
            return mistake(
                line,
                message,
                "Every row of a section has the same columns, and LAMMPS rows N of them.",
            );
        }
        let mut values = [0.0; COLUMNS];
        for ((value, precision), word) in
            values.iter_mut().zip(&mut self.precision).zip(content.split_whitespace())
        {
            match word.parse::<f64>() {
                Ok(number) if number.is_finite() => *value = number,
                _ => {
                    let message = format!("{} is not a finite number", shown(word));
                    return mistake(
                        line,
                        message,
                        "Write numbers like -1.25e-3; remove or correct this row.",
                    );
                }
            }
            precision.include(word);
        }
        let zero = values.iter().skip(1).all(|&value| value == 0.0);
        let (coulomb, coulomb_force) = (values[1], values[2]);
        let inverse = 1.0 / values[0];
        let plain = near(coulomb, inverse) && near(coulomb_force, inverse * inverse);
        if columns == COLUMNS && !plain && (coulomb != 0.0 || coulomb_force != 0.0) {
            let message = "the Coulomb columns f and -f' (2 and 3) are neither zero nor those of 1/r";
            return mistake(
                line,
                message,
                "Set columns 2 and 3 to zero: [interaction.coulomb] computes charges, not this table.",
            );
        }
        let leading = columns != 4 && self.rows.is_empty();
        if !(zero && leading) {
            self.rows.push((line, values));
        }
        Ok(())
    }

    /// The distance LAMMPS computes for row `index`, from 0; `None` if the column holds it.
    fn computed_distance(&self, index: usize) -> Option<f64> {
        let part =
            |first: f64, last: f64| first + (last - first) * index as f64 / (self.row_count - 1) as f64;
        match self.spacing {
            Spacing::Column => None,
            Spacing::Linear([first, last]) => Some(part(first, last)),
            Spacing::Square([first, last]) => Some(part(first * first, last * last).sqrt()),
        }
    }

    /// Rounding error of the distances if they are a grid with equal steps of r or r^2: twice the largest
    /// difference from the grid between the first and the last distance. Round numbers have none.
    fn grid_error(&self) -> f64 {
        let column = usize::from(self.columns == 4);
        let distances = || self.rows.iter().filter_map(|(_, values)| values.get(column).copied());
        let (first, last) = (distances().next().unwrap_or(0.0), distances().next_back().unwrap_or(0.0));
        let steps = self.rows.len().saturating_sub(1).max(1) as f64;
        let (mut linear, mut square) = (0.0f64, 0.0f64);
        for (index, distance) in distances().enumerate() {
            let part = index as f64 / steps;
            linear = linear.max((first + (last - first) * part - distance).abs());
            square =
                square.max(((first * first + (last * last - first * first) * part).sqrt() - distance).abs());
        }
        2.0 * linear.min(square)
    }

    /// Checks distances and returns the table.
    pub fn finish(self) -> Result<Rows, TableMistake> {
        let count = self.rows.len();
        if self.columns == 0 {
            let message = format!("no line with N follows the keyword {}", shown(&self.name));
            return mistake(self.line, message, FORMATS);
        }
        if self.columns != 4 && count < FEWEST_ROWS {
            let message = format!("the table has {count} rows; leading rows of zeros do not count");
            return mistake(self.line, message, "A table needs at least 4 rows.");
        }
        if self.columns == 4 && count != self.row_count {
            let message = format!("the section has {count} rows instead of {}", self.row_count);
            return mistake(
                self.line,
                message,
                "Correct N or add the missing rows; the file may be cut off.",
            );
        }
        let (distance, energy, force) = (Vec::new(), Vec::new(), Vec::new());
        let name = self.name.clone();
        let mut table = Rows { name, distance, energy, force, line: Vec::new(), rounding: Vec::new() };
        let (mut last, grid_error) = (0.0, self.grid_error());
        for (index, &(line, values)) in self.rows.iter().enumerate() {
            let error = |column: usize| {
                let value = values.get(column).copied().unwrap_or(0.0);
                self.precision.get(column).map_or(0.0, |precision| precision.rounding(value))
            };
            let [mut distance, energy, force] = match self.columns {
                4 => [values[1], values[2], values[3]],
                COLUMNS => [values[0], values[3] + values[5], values[4] + values[6]],
                _ => [values[0], values[1], values[2]],
            };
            let mut rounding = match self.columns {
                4 => [error(1), error(2), error(3)],
                COLUMNS => [error(0), error(3) + error(5), error(4) + error(6)],
                _ => [error(0), error(1), error(2)],
            };
            if self.columns == 4 && values[0] != (index + 1) as f64 {
                let message = format!("the index is {} instead of {}", values[0], index + 1);
                return mistake(
                    line,
                    message,
                    "Rows count from 1 to N; a row is missing, repeated or misplaced.",
                );
            }
            if let Some(computed) = self.computed_distance(index) {
                let tolerance = 1.001 * rounding[0] + 1e-14 * computed;
                if !computed.is_finite() || (distance - computed).abs() > tolerance {
                    let message =
                        format!("the distance is {distance:?}, but N and R or RSQ give {computed:?}");
                    return mistake(line, message, "Correct the row or the section's N, R or RSQ.");
                }
                (distance, rounding[0]) = (computed, 0.0);
            }
            rounding[0] = rounding[0].min(grid_error) + 2.0 * f64::EPSILON * distance;
            if !(energy.is_finite() && force.is_finite()) {
                return mistake(line, "g + h is not finite", "Correct the columns g and h of this row.");
            }
            if distance <= last {
                let message = format!("the distance {distance:?} is not larger than {last:?}");
                let help = "Sort rows by distance, with distances > 0. The order is distance, energy, force.";
                return mistake(line, message, help);
            }
            last = distance;
            table.distance.push(distance);
            table.energy.push(energy);
            table.force.push(force);
            table.line.push(line);
            table.rounding.push(rounding);
        }
        Ok(table)
    }
}

/// The start of a word from a file, without control characters.
pub(super) fn shown(word: &str) -> String {
    format!("{:?}", word.chars().take(40).collect::<String>())
}
