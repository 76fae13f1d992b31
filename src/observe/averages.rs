//! Averages of a record over time, with their statistical errors.

use std::path::Path;

use super::Columns;
use super::blocking::{Estimate, equilibrated_from, estimate};
use super::columns::content;
use crate::report;
use crate::{Error, Result};

/// Columns averaged by default.
pub(super) const DEFAULT_COLUMNS: [&str; 7] = [
    "temperature",
    "kinetic_energy",
    "thermal_energy",
    "potential_energy",
    "total_energy",
    "conserved_energy",
    "pressure",
];

/// Start of an average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum From {
    /// Where the averages are the most accurate, see [`equilibrated_from`].
    Equilibrium,
    /// At this time.
    Time(f64),
}

impl std::str::FromStr for From {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            _ if text == "auto" => Ok(From::Equilibrium),
            Ok(time) if time.is_finite() => Ok(From::Time(time)),
            _ => Err("give a time, or \"auto\" for where the record has settled".into()),
        }
    }
}

/// Selection of times and columns to average.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Start of the average.
    pub from: From,
    /// Last time.
    pub to: f64,
    /// Column names; empty for the default columns.
    pub columns: Vec<String>,
    /// Whether energies are divided by the number of particles.
    pub per_particle: bool,
}

/// The average of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// The column's name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Mean and standard error.
    pub estimate: Estimate,
    /// Integrated autocorrelation time; half the interval of the record for independent values.
    pub autocorrelation_time: f64,
}

/// The averages of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Averages {
    /// First and last time.
    pub times: (f64, f64),
    /// Unit of time.
    pub time_unit: String,
    /// Number of lines averaged.
    pub lines: usize,
    /// One average per quantity.
    pub averages: Vec<Average>,
}

/// Averages the record at `path`: a table with a column `time`.
///
/// # Errors
/// [`Error::File`] and [`Error::Content`] for a file that is not a record, [`Error::Usage`] for columns that
/// it does not have and for times without lines.
pub fn averages(path: &Path, selection: &Selection) -> Result<Averages> {
    let mut table = read(path, selection)?;
    let time_unit = table.find("time").map_or(String::new(), |column| table.units[column].clone());
    let time = table.take(path, "time")?;
    if !time.is_sorted() {
        return Err(content(path, "its times do not increase".into()));
    }
    if selection.per_particle {
        divide_energies(path, &mut table)?;
    }
    let chosen: Vec<usize> = (0..table.names.len())
        .filter(|&column| table.names[column] != "time" && table.names[column] != "particles")
        .chain(table.find("particles").filter(|_| selection.columns.iter().any(|name| name == "particles")))
        .collect();
    let end = time.partition_point(|&at| at <= selection.to);
    let begin = match selection.from {
        From::Time(from) => time.partition_point(|&at| at < from),
        From::Equilibrium => {
            chosen.iter().map(|&column| equilibrated_from(&table.values[column][..end])).max().unwrap_or(0)
        }
    };
    let lines = end.saturating_sub(begin);
    if lines < 2 {
        let ends = time.first().zip(time.last());
        let span = ends.map_or("no times".into(), |(first, last)| format!("times from {first} to {last}"));
        return Err(Error::usage(
            format!("{} has {lines} lines between these times, too few to average", path.display()),
            format!("the record has {span}: choose another --from or --to"),
        ));
    }
    let interval = (time[end - 1] - time[begin]) / (lines - 1) as f64;
    let average = |column: usize| {
        let estimate = estimate(&table.values[column][begin..end]);
        Average {
            name: table.names[column].clone(),
            unit: table.units[column].clone(),
            estimate,
            autocorrelation_time: 0.5 * estimate.inefficiency * interval,
        }
    };
    Ok(Averages {
        times: (time[begin], time[end - 1]),
        time_unit,
        lines,
        averages: chosen.into_iter().map(average).collect(),
    })
}

/// Reads the columns that a selection needs.
fn read(path: &Path, selection: &Selection) -> Result<Columns> {
    let asked = |name: &str| match selection.columns.as_slice() {
        [] => DEFAULT_COLUMNS.contains(&name),
        columns => columns.iter().any(|column| column == name),
    };
    let helper = |name: &str| name == "time" || (selection.per_particle && name == "particles");
    let mut names = std::cell::RefCell::new(Vec::new());
    let table = Columns::read(path, |name| {
        names.borrow_mut().push(name.to_owned());
        asked(name) || helper(name)
    })?;
    let known = names.get_mut();
    if let Some(lacking) = selection.columns.iter().find(|column| !known.contains(column)) {
        return Err(Error::usage(
            format!("{} has no column \"{lacking}\"", path.display()),
            format!("its columns are {}", known.join(", ")),
        ));
    }
    if table.names.iter().all(|name| helper(name)) {
        return Err(Error::usage(
            format!("{} has none of the columns that are usually averaged", path.display()),
            format!("choose with --columns among {}", known.join(", ")),
        ));
    }
    Ok(table)
}

/// Divides energies by the number of particles.
fn divide_energies(path: &Path, table: &mut Columns) -> Result<()> {
    let column = table.find("particles");
    let particles = column.map(|column| table.values[column].clone());
    let particles = particles.ok_or_else(|| content(path, "it has no column \"particles\"".into()))?;
    for (name, values) in table.names.iter_mut().zip(&mut table.values) {
        if name.ends_with("_energy") {
            name.push_str("_per_particle");
            values.iter_mut().zip(&particles).for_each(|(value, count)| *value /= count);
        }
    }
    Ok(())
}

impl Averages {
    /// Formats the averages as a table for the user.
    pub fn text(&self) -> String {
        let rows: Vec<Vec<String>> = self.averages.iter().map(Average::row).collect();
        let header = ["quantity", "mean", "standard error", "deviation", "autocorrelation", "blocks", ""];
        let (first, last) = self.times;
        format!(
            "averages over {} lines, t = {} to {}\n\n{}",
            report::grouped(self.lines as u64),
            report::rounded(first, 6),
            report::rounded(last, 6),
            report::table(&header, &rows)
        )
    }

    /// Formats the averages as CSV.
    pub fn csv(&self) -> String {
        let time = &self.time_unit;
        let mut text = format!(
            "quantity,unit,mean,standard_error,standard_deviation,autocorrelation_time [{time}],values,blocks,converged\n"
        );
        for average in &self.averages {
            let Estimate { mean, standard_error, deviation, values, blocks, converged, .. } =
                average.estimate;
            text += &format!(
                "{},{},{mean:e},{standard_error:e},{deviation:e},{:e},{values},{blocks},{converged}\n",
                average.name, average.unit, average.autocorrelation_time
            );
        }
        text
    }
}

impl Average {
    fn row(&self) -> Vec<String> {
        let Estimate { mean, standard_error, deviation, blocks, converged, .. } = self.estimate;
        // two digits of the error, and the mean to the same decimal
        let place = if standard_error > 0.0 { 1 - standard_error.log10().floor() as i32 } else { 6 };
        let decimals = place.clamp(0, 12) as usize;
        let remark = if converged { "" } else { "too short: the error is a lower bound" };
        vec![
            self.name.clone(),
            format!("{mean:.decimals$}"),
            report::rounded(standard_error, 1),
            report::rounded(deviation, 3),
            report::rounded(self.autocorrelation_time, 2),
            blocks.to_string(),
            remark.into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection() -> Selection {
        Selection { from: From::Time(0.0), to: f64::INFINITY, columns: Vec::new(), per_particle: false }
    }

    fn record() -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut text = "step [1],time [U_t],potential_energy [U],particles [1],pressure [P]\n".to_owned();
        for k in 0..4000 {
            // a transient, then a value that changes its sign from line to line
            let wave = 10.0 * (-f64::from(k) / 50.0).exp() + f64::from(1 - 2 * (k % 2));
            text += &format!("{k},{},{},10,NaN\n", 0.5 * f64::from(k), -50.0 + wave);
        }
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn columns_times_and_particles_are_chosen() {
        let file = record();
        let from = Selection { from: From::Time(1000.0), to: 1499.5, per_particle: true, ..selection() };
        let found = averages(file.path(), &from).unwrap();
        assert_eq!((found.lines, found.times, found.time_unit.as_str()), (1000, (1000.0, 1499.5), "U_t"));
        let energy = &found.averages[0];
        assert_eq!(energy.name, "potential_energy_per_particle");
        assert!((energy.estimate.mean + 5.0).abs() < 1e-6, "{energy:?}");
        assert!((energy.estimate.deviation - 0.1).abs() < 1e-3);
        assert!(found.averages[1].estimate.mean.is_nan(), "the pressure of an open box");
        assert!(found.text().contains("potential_energy_per_particle  -5.00"), "{}", found.text());
        assert!(found.csv().starts_with("quantity,unit,mean") && found.csv().lines().count() == 3);

        let settled =
            Selection { from: From::Equilibrium, columns: vec!["potential_energy".into()], ..selection() };
        let found = averages(file.path(), &settled).unwrap();
        assert!(found.times.0 > 50.0 && (found.averages[0].estimate.mean + 50.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn what_is_not_there_is_told() {
        let file = record();
        let lacking = Selection { columns: vec!["enthalpy".into()], ..selection() };
        let error = averages(file.path(), &lacking).unwrap_err().to_string();
        assert!(error.contains("enthalpy") && error.contains("pressure"), "{error}");
        let late = Selection { from: From::Time(1e6), ..selection() };
        let error = averages(file.path(), &late).unwrap_err().to_string();
        assert!(error.contains("from 0 to 1999.5"), "{error}");
        assert!("soon".parse::<From>().is_err() && "auto".parse::<From>() == Ok(From::Equilibrium));
        assert!("inf".parse::<From>().is_err() && "2.5".parse::<From>() == Ok(From::Time(2.5)));
    }
}
