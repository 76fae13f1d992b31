//! Plots of tables: columns over the first one, or over time or distance.

use std::path::{Path, PathBuf};

use plotters::style::RGBColor;

use super::Columns;
use super::averages::DEFAULT_COLUMNS;
use crate::report::picture::{
    Axis, BLUE, GREEN, INK, Mark, ORANGE, PURPLE, Panel, Picture, RED, Scale, Series, superscripts,
};
use crate::{Error, Result, inputs};

/// Columns for the horizontal axis by default: the first of these that exists.
const DEFAULT_X: [&str; 2] = ["distance", "time"];

/// Prefixes of the columns drawn by default; without such columns, those averaged by default.
const DEFAULT_PREFIXES: [&str; 2] = ["radial_distribution", "mean_square_displacement"];

const COLORS: [RGBColor; 6] = [BLUE, RED, GREEN, PURPLE, ORANGE, INK];

/// Draws columns of the table at `path`, one panel per unit, as `STEM.svg` and `STEM.png` in `folder`;
/// returns the path of the PNG. Without `columns` the default ones of such a table are drawn.
///
/// # Errors
/// [`Error::File`] and [`Error::Content`] for a file that is not a table or cannot be written,
/// [`Error::Usage`] for columns that it does not have.
pub fn picture(path: &Path, along: Option<&str>, columns: &[String], folder: &Path) -> Result<PathBuf> {
    let table = Columns::read(path, |name| name != "species" && name != "converged")?;
    let place = |name: &str| {
        table.find(name).ok_or_else(|| {
            Error::usage(
                format!("{} has no column \"{name}\"", path.display()),
                format!("its columns are {}", table.names.join(", ")),
            )
        })
    };
    let x = match along {
        Some(name) => place(name)?,
        None => DEFAULT_X.iter().find_map(|name| table.find(name)).unwrap_or(0),
    };
    let chosen: Vec<usize> = match columns {
        [] => default_columns(&table, x),
        _ => columns.iter().map(|name| place(name)).collect::<Result<_>>()?,
    };
    if table.values.get(x).is_none_or(|values| values.len() < 2) || chosen.is_empty() {
        return Err(Error::usage(
            format!("{} has nothing to draw", path.display()),
            "wait until the run has written more, or choose with --columns",
        ));
    }
    let stem = path.file_stem().map_or_else(|| "picture".into(), |stem| stem.to_string_lossy().into_owned());
    let outputs = ["png", "svg"].map(|ending| folder.join(format!("{stem}.{ending}")));
    inputs::keep(&[path], &outputs, "draw into another folder with --folder")?;
    drawn(stem.replace(['-', '_'], " "), &table, x, &chosen).write(folder, &stem)?;
    let [png, _] = outputs;
    Ok(png)
}

fn default_columns(table: &Columns, x: usize) -> Vec<usize> {
    let matching = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..table.names.len()).filter(|&place| place != x && wanted(&table.names[place])).collect()
    };
    let shown = matching(&|name| DEFAULT_PREFIXES.iter().any(|beginning| name.starts_with(beginning)));
    let shown = if shown.is_empty() { matching(&|name| DEFAULT_COLUMNS.contains(&name)) } else { shown };
    if shown.is_empty() { matching(&|_| true).into_iter().take(1).collect() } else { shown }
}

fn drawn(title: String, table: &Columns, x: usize, chosen: &[usize]) -> Picture {
    let mut units: Vec<&str> = Vec::new();
    for &place in chosen {
        if !units.contains(&table.units[place].as_str()) {
            units.push(&table.units[place]);
        }
    }
    let labelled = |name: &str, unit: &str| match unit {
        "" | "1" => name.replace('_', " "),
        _ => format!("{} ({})", name.replace('_', " "), superscripts(unit)),
    };
    let panel = |unit: &&str| {
        let places: Vec<usize> =
            chosen.iter().copied().filter(|&place| table.units[place] == *unit).collect();
        let named = places.len() > 1;
        let series = places.iter().zip(COLORS.iter().cycle()).map(|(&place, &color)| Series {
            name: if named { table.names[place].replace('_', " ") } else { String::new() },
            points: table.values[x].iter().copied().zip(table.values[place].iter().copied()).collect(),
            mark: Mark::Line(1.6, None),
            color,
        });
        let all = || places.iter().flat_map(|&place| table.values[place].iter().copied());
        // the words that all names share
        let words = |place: usize| table.names[place].split('_');
        let shared = |word: &&str| places.iter().all(|&place| words(place).any(|other| other == *word));
        let name = words(places[0]).filter(shared).collect::<Vec<_>>().join(" ");
        Panel {
            x: Axis {
                label: labelled(&table.names[x], &table.units[x]),
                range: range(table.values[x].iter().copied(), 0.0),
                scale: Scale::Linear,
            },
            y: Axis {
                label: labelled(&name, unit).trim().to_owned(),
                range: range(all(), 0.06),
                scale: Scale::Linear,
            },
            series: series.collect(),
        }
    };
    let panels: Vec<Panel> = units.iter().map(panel).collect();
    Picture { title, columns: panels.len().min(2), panels, size: (640, 400) }
}

/// Returns the range of the finite values with a margin; it starts at 0 if that is near.
fn range(values: impl Iterator<Item = f64>, margin: f64) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (least, greatest) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| (ends.0.min(value), ends.1.max(value)));
    if least > greatest {
        return (0.0, 1.0);
    }
    let width = greatest - least;
    let lower = if (0.0..=0.3 * width).contains(&least) { 0.0 } else { least - margin * width };
    let upper = greatest + margin * width;
    // a constant column still needs an axis
    if upper > lower {
        (lower, upper)
    } else {
        (lower - 0.5 * lower.abs() - 0.5, upper + 0.5 * upper.abs() + 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_columns_are_drawn_and_others_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("radial-distribution.csv");
        let mut text =
            "distance [nm],outer_distance [nm],radial_distribution_Na+_Cl- [1],standard_error_Na+_Cl- [1]\n"
                .to_owned();
        (0..50).for_each(|k| text += &format!("{},{},{},NaN\n", f64::from(k) * 0.1, 0.1, f64::from(k % 7)));
        std::fs::write(&path, &text).unwrap();
        let drawn = picture(&path, None, &[], folder.path()).unwrap();
        assert!(drawn.ends_with("radial-distribution.png") && drawn.exists());
        let svg = std::fs::read_to_string(folder.path().join("radial-distribution.svg")).unwrap();
        assert!(svg.contains("distance (nm)") && svg.contains("radial distribution Na+ Cl-"), "{svg}");
        assert!(!svg.contains("standard error"));
        let both = ["outer_distance", "distance"].map(String::from);
        picture(&path, None, &both, folder.path()).unwrap();
        let svg = std::fs::read_to_string(folder.path().join("radial-distribution.svg")).unwrap();
        assert!(svg.contains("\ndistance (nm)\n") && svg.contains("\nouter distance\n"), "{svg}");
        let error = picture(&path, Some("time"), &[], folder.path()).unwrap_err().to_string();
        assert!(error.contains("time") && error.contains("outer_distance"), "{error}");
        std::fs::write(&path, "time [U_t],pressure [P]\n1,2\n").unwrap();
        let error = picture(&path, None, &[], folder.path()).unwrap_err().to_string();
        assert!(error.contains("nothing to draw"), "{error}");
    }

    #[test]
    fn ranges_hold_what_is_drawn() {
        assert_eq!(range([0.1, 3.0, f64::NAN].into_iter(), 0.0), (0.0, 3.0));
        assert_eq!(range([].into_iter(), 0.1), (0.0, 1.0));
        let (lower, upper) = range([-2.0; 3].into_iter(), 0.1);
        assert!(lower < -2.0 && upper > -2.0);
    }
}
