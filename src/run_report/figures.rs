//! Charts of the page, from the tables of a run.

use serde::Serialize;

use super::thinned::Thinned;
use crate::observe::Drift;

/// A chart.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Name for files and for links, in lower case with hyphens.
    pub id: String,
    /// Section of the page.
    pub section: Section,
    /// Heading.
    pub title: String,
    /// A sentence below the heading; empty for none.
    pub note: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Series.
    pub series: Vec<Series>,
}

/// Sections of the page that have charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// Energies, momenta.
    Conservation,
    /// Temperature, pressure, extremes of a gas, time step.
    State,
    /// g(r), mean square displacement.
    Measurements,
    /// Comparison with the solution of the case.
    Profiles,
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// Quantity in words.
    pub label: String,
    /// Unit; empty or "1" without one.
    pub unit: String,
    /// Whether the axis is logarithmic.
    pub logarithmic: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Axis { label: label.into(), unit: unit.into(), logarithmic: false }
    }
}

/// Points of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Abscissas; a value that is not finite is `null`.
    pub x: Vec<f64>,
    /// Ordinates.
    pub y: Vec<f64>,
}

/// Marks of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// A line.
    Line,
    /// A dashed line.
    Dashes,
    /// Small, pale dots: many particles.
    Dots,
    /// Dots with a rim.
    Markers,
}

/// A chart of columns of the record over time: id, section, title, label of the vertical axis, logarithmic,
/// columns with their names.
struct Plan {
    id: &'static str,
    section: Section,
    title: &'static str,
    label: &'static str,
    logarithmic: bool,
    columns: &'static [(&'static str, &'static str)],
}

const PLANS: &[Plan] = &[
    Plan {
        id: "energies",
        section: Section::Conservation,
        title: "Energies",
        label: "energy",
        logarithmic: false,
        columns: &[
            ("total_energy", "total"),
            ("kinetic_energy", "kinetic"),
            ("thermal_energy", "thermal"),
            ("potential_energy", "potential"),
            ("external_energy", "external"),
        ],
    },
    Plan {
        id: "momentum",
        section: Section::Conservation,
        title: "Momentum",
        label: "momentum",
        logarithmic: false,
        columns: &[("momentum_x", "x"), ("momentum_y", "y"), ("momentum_z", "z")],
    },
    Plan {
        id: "angular-momentum",
        section: Section::Conservation,
        title: "Angular momentum",
        label: "angular momentum",
        logarithmic: false,
        columns: &[("angular_momentum_x", "x"), ("angular_momentum_y", "y"), ("angular_momentum_z", "z")],
    },
    Plan {
        id: "thermostat",
        section: Section::Conservation,
        title: "Heat of the thermostat",
        label: "kinetic energy added",
        logarithmic: false,
        columns: &[("thermostat_heat", "heat")],
    },
    Plan {
        id: "temperature",
        section: Section::State,
        title: "Temperature",
        label: "temperature",
        logarithmic: false,
        columns: &[("temperature", "temperature")],
    },
    Plan {
        id: "pressure",
        section: Section::State,
        title: "Pressure",
        label: "pressure",
        logarithmic: false,
        columns: &[("pressure", "pressure")],
    },
    Plan {
        id: "maximum-density",
        section: Section::State,
        title: "Maximum density",
        label: "maximum density",
        logarithmic: true,
        columns: &[("maximum_density", "maximum density")],
    },
    Plan {
        id: "smoothing-length",
        section: Section::State,
        title: "Minimum smoothing length",
        label: "minimum smoothing length",
        logarithmic: true,
        columns: &[("minimum_smoothing_length", "minimum smoothing length")],
    },
    Plan {
        id: "time-step",
        section: Section::State,
        title: "Time step",
        label: "length of a step",
        logarithmic: true,
        columns: &[("time_step", "time step")],
    },
];

/// Charts of the record of observables; `periodic` is whether any dimension of the box is.
pub fn of_observables(table: &Thinned, periodic: bool) -> Vec<Figure> {
    let Some(time) = table.find("time") else { return Vec::new() };
    let x = Axis::linear("time", table.units[time].as_str());
    let mut figures: Vec<Figure> = PLANS.iter().filter_map(|plan| plan.draw(table, &x)).collect();
    // a fixed time step needs no chart
    figures.retain(|figure| figure.id != "time-step" || figure.varies());
    for figure in figures.iter_mut().filter(|figure| figure.id == "angular-momentum") {
        figure.note = match periodic {
            true => "About the origin; a periodic box does not conserve it.".into(),
            false => "About the origin.".into(),
        };
    }
    let drift = drift(table, &x);
    let place = figures.iter().position(|figure| figure.id == "energies").map_or(0, |place| place + 1);
    drift.into_iter().for_each(|figure| figures.insert(place, figure));
    figures
}

impl Figure {
    fn varies(&self) -> bool {
        let mut values = self.series.iter().flat_map(|series| &series.y);
        let first = values.next();
        values.any(|value| Some(value) != first)
    }
}

impl Plan {
    /// Draws the columns that the table has and that are not zero or empty; `None` without any.
    fn draw(&self, table: &Thinned, x: &Axis) -> Option<Figure> {
        let mut unit = String::new();
        let series: Vec<Series> = self
            .columns
            .iter()
            .filter_map(|(column, name)| {
                let place = table.find(column)?;
                let points = &table.points[place];
                // the time step of the line at the start is 0: no length of a step
                let shown = |&&(_, y): &&(f64, f64)| !self.logarithmic || y > 0.0;
                let (x, y): (Vec<f64>, Vec<f64>) = points.iter().filter(shown).copied().unzip();
                y.iter().any(|value| value.is_finite() && *value != 0.0).then(|| {
                    unit.clone_from(&table.units[place]);
                    Series { name: (*name).into(), mark: Mark::Line, x, y }
                })
            })
            .collect();
        (!series.is_empty()).then(|| Figure {
            id: self.id.into(),
            section: self.section,
            title: self.title.into(),
            note: String::new(),
            x: x.clone(),
            y: Axis { label: self.label.into(), unit, logarithmic: self.logarithmic },
            series,
        })
    }
}

/// Name of the column of the conserved energy.
pub fn conserved(table: &Thinned) -> Option<&'static str> {
    ["conserved_energy", "total_energy"].into_iter().find(|name| table.find(name).is_some())
}

/// Whether changes of the conserved energy are shown relative to its first value: that is finite, and not
/// near zero compared with its parts ([`Drift::is_near_zero`]).
pub fn is_relative(table: &Thinned) -> bool {
    let first = |name: &str| table.find(name).and_then(|place| table.first.get(place)).copied();
    let parts = ["kinetic_energy", "thermal_energy", "potential_energy", "external_energy"];
    let parts: f64 = parts.into_iter().filter_map(first).map(f64::abs).sum();
    let energy = conserved(table).and_then(first);
    energy.is_some_and(|energy| energy.is_finite() && !Drift::is_near_zero(energy, parts))
}

/// Change of the conserved energy since the first row, relative to its magnitude there, or absolute if that
/// is near zero. `None` if the first value is not finite.
pub fn drift(table: &Thinned, x: &Axis) -> Option<Figure> {
    let name = conserved(table)?;
    let place = table.find(name)?;
    let first = table.first.get(place).copied().filter(|first| first.is_finite())?;
    let relative = is_relative(table);
    let scale = if relative { first.abs() } else { 1.0 };
    let (times, changes) =
        table.points[place].iter().map(|&(time, energy)| (time, (energy - first) / scale)).unzip();
    let of =
        if name == "conserved_energy" { "total energy minus the thermostat's heat" } else { "total energy" };
    Some(Figure {
        id: "energy-drift".into(),
        section: Section::Conservation,
        title: "Energy drift".into(),
        note: format!("Change of the {of} since the first line of the record."),
        x: x.clone(),
        y: match relative {
            true => Axis::linear("relative energy drift", ""),
            false => Axis::linear("energy drift", table.units[place].as_str()),
        },
        series: vec![Series { name: "drift".into(), mark: Mark::Line, x: times, y: changes }],
    })
}

/// Chart of the columns of a table of measurements whose names begin with `start`; what follows names the
/// species.
pub fn of_measurement(table: &Thinned, start: &str, along: &str, id: &str, title: &str) -> Option<Figure> {
    let abscissa = table.find(along)?;
    let places: Vec<usize> =
        (0..table.names.len()).filter(|&place| table.names[place].starts_with(start)).collect();
    let first = *places.first().filter(|_| table.rows > 0)?;
    let series = places.iter().map(|&place| {
        let species = table.names[place][start.len()..].trim_start_matches('_').replace('_', " – ");
        let (x, y) = table.points[place].iter().copied().unzip();
        let name = if species.is_empty() { title.to_owned() } else { species };
        Series { name, mark: Mark::Line, x, y }
    });
    Some(Figure {
        id: id.into(),
        section: Section::Measurements,
        title: title.into(),
        note: String::new(),
        x: Axis::linear(along.replace('_', " "), table.units[abscissa].as_str()),
        y: Axis::linear(start.replace('_', " "), table.units[first].as_str()),
        series: series.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Thinned {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Thinned::read(file.path(), "time").unwrap()
    }

    #[test]
    fn a_record_has_the_charts_of_its_columns() {
        let header = "step [1],time [ps],time_step [ps],total_energy [kJ mol^-1],kinetic_energy [kJ mol^-1],\
                      external_energy [kJ mol^-1],pressure [P],angular_momentum_x [L]\n";
        let figures = of_observables(
            &table(&format!("{header}0,0,0,-2,1,0,NaN,1\n1,0.5,0.5,-2.5,2,0,NaN,2\n2,1,0.5,-1,2,0,NaN,3\n")),
            true,
        );
        let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        // the pressure is not known, the external energy is 0 and the time step is fixed
        assert_eq!(ids, ["energies", "energy-drift", "angular-momentum"]);
        let [energies, drift, angular] = &figures[..] else { unreachable!("three charts") };
        let names: Vec<&str> = energies.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!((names, energies.y.unit.as_str()), (vec!["total", "kinetic"], "kJ mol^-1"));
        assert_eq!((energies.x.label.as_str(), energies.x.unit.as_str()), ("time", "ps"));
        assert_eq!((&drift.series[0].x, &drift.series[0].y), (&vec![0.0, 0.5, 1.0], &vec![0.0, -0.25, 0.5]));
        assert!(angular.note.contains("does not conserve"));
        assert!(of_observables(&table("step [1],total_energy [U]\n1,2\n"), false).is_empty(), "no time");
    }

    #[test]
    fn measurements_of_species_have_a_series_each() {
        let text =
            "distance [nm],radial_distribution_Na_Cl [1],radial_distribution_Na_Na [1]\n1,0.5,0\n2,1,1\n";
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let table = Thinned::read(file.path(), "distance").unwrap();
        let figure = of_measurement(&table, "radial_distribution", "distance", "g", "g(r)").unwrap();
        let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["Na – Cl", "Na – Na"]);
        assert_eq!(figure.series[0].y, [0.5, 1.0]);
        assert!(of_measurement(&table, "mean_square", "distance", "m", "m").is_none());
    }
}
