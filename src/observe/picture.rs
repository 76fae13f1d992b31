//! Plots of tables: columns over the first one, or over time or distance.

use std::path::{Path, PathBuf};

use plotters::style::RGBColor;

use super::Columns;
use super::averages::DEFAULT_COLUMNS;
use crate::report::picture::{
    Axis, BLUE, GREEN, INK, Mark, ORANGE, PURPLE, Panel, Picture, RED, Scale, Series, axis_label,
};
use crate::{Error, Result, inputs};

/// Columns for the horizontal axis by default: the first of these that exists.
const DEFAULT_X: [&str; 2] = ["distance", "time"];

/// Prefixes of the columns drawn by default; without such columns, those averaged by default.
const DEFAULT_PREFIXES: [&str; 2] = ["radial_distribution", "mean_square_displacement"];

const COLORS: [RGBColor; 6] = [BLUE, RED, GREEN, PURPLE, ORANGE, INK];

/// Draws columns of the table at `path`, one panel per quantity and unit, with bands of their standard
/// errors, as `STEM.svg` and `STEM.png` in `folder`; returns the path of the PNG. Without `columns` the
/// default ones of such a table are drawn.
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
    drawn(title(&stem), &table, x, &chosen).write(folder, &stem)?;
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

/// The title of a table by the stem of its file.
fn title(stem: &str) -> String {
    match stem {
        "radial-distribution" => "Radial distribution function".into(),
        "mean-square-displacement" => "Mean-square displacement".into(),
        "observables" => "Observables".into(),
        _ => {
            let words = stem.replace(['-', '_'], " ");
            let mut letters = words.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        }
    }
}

/// The name of a column in words.
fn words(name: &str) -> String {
    match name {
        "distance" => "distance r".into(),
        "outer_distance" => "outer distance".into(),
        "radial_distribution" => "radial distribution function g(r)".into(),
        "mean_square_displacement" => "mean-square displacement".into(),
        "coordination" => "coordination number".into(),
        _ => name.replace('_', " "),
    }
}

/// Splits the name of a column of a pair or of a species: `radial_distribution_Na+_Cl-`.
fn split(name: &str) -> (&str, &str) {
    let known = ["radial_distribution", "mean_square_displacement", "coordination", "standard_error"];
    let parts = known.iter().find_map(|known| Some((*known, name.strip_prefix(known)?.strip_prefix('_')?)));
    parts.unwrap_or((name, ""))
}

/// The column with the standard errors of a column: the next one, of the same pair or species.
fn errors(table: &Columns, place: usize) -> Option<usize> {
    let next = table.names.get(place + 1)?;
    let ((_, kind), (name, other)) = (split(&table.names[place]), split(next));
    (name == "standard_error" && kind == other).then_some(place + 1)
}

/// The quantity of a column, which columns that share an axis have in common: all energies are one.
fn kind(name: &str) -> &str {
    let base = split(name).0;
    let component = ["_x", "_y", "_z"].iter().find_map(|end| base.strip_suffix(end));
    if base.ends_with("_energy") { "energy" } else { component.unwrap_or(base) }
}

/// The quantity of columns of the same [`kind`], and what tells each from the others.
fn shared_words(names: &[&str]) -> (String, Vec<String>) {
    let bases: Vec<&str> = names.iter().map(|name| split(name).0).collect();
    if bases.iter().all(|base| *base == bases[0]) {
        let kinds = names.iter().map(|name| split(name).1.replace('_', "–")).collect();
        return (words(bases[0]), kinds);
    }
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split('_').collect()).collect();
    let everywhere = |word: &&&str| parts.iter().all(|others| others.contains(*word));
    let shared: Vec<&str> = parts[0].iter().filter(everywhere).copied().collect();
    let rest = |words: &Vec<&str>| {
        let rest: Vec<&str> = words.iter().filter(|word| !shared.contains(*word)).copied().collect();
        if rest.is_empty() { words.join(" ") } else { rest.join(" ") }
    };
    (shared.join(" "), parts.iter().map(rest).collect())
}

fn drawn(title: String, table: &Columns, x: usize, chosen: &[usize]) -> Picture {
    let group = |place: usize| (kind(&table.names[place]), table.units[place].as_str());
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for &place in chosen {
        if !groups.contains(&group(place)) {
            groups.push(group(place));
        }
    }
    let along = axis_label(&words(&table.names[x]), &table.units[x]);
    let mut with_errors = false;
    let mut panels = Vec::new();
    for panel in groups {
        let places: Vec<usize> = chosen.iter().copied().filter(|&place| group(place) == panel).collect();
        let names: Vec<&str> = places.iter().map(|&place| table.names[place].as_str()).collect();
        let (quantity, legend) = shared_words(&names);
        let (mut bands, mut lines) = (Vec::new(), Vec::new());
        for ((&place, color), name) in places.iter().zip(COLORS.into_iter().cycle()).zip(legend) {
            if let Some(errors) = errors(table, place) {
                bands.extend(areas(&table.values[x], &table.values[place], &table.values[errors], color));
            }
            lines.push(Series {
                name: if places.len() > 1 || !split(&table.names[place]).1.is_empty() {
                    name
                } else {
                    String::new()
                },
                points: table.values[x].iter().copied().zip(table.values[place].iter().copied()).collect(),
                mark: Mark::Line(1.6, None),
                color,
            });
        }
        with_errors |= !bands.is_empty();
        let all = places.iter().flat_map(|&place| table.values[place].iter().copied());
        let ends = bands.iter().flat_map(|band| band.points.iter().map(|point| point.1));
        let shown = range(all.chain(ends), 0.06);
        panels.push(Panel {
            x: Axis {
                label: along.clone(),
                range: range(table.values[x].iter().copied(), 0.0),
                scale: Scale::Linear,
            },
            y: Axis { label: axis_label(&quantity, panel.1), range: shown, scale: Scale::Linear },
            series: bands.into_iter().chain(lines).collect(),
        });
    }
    let title = if with_errors { format!("{title} (bands: standard error)") } else { title };
    Picture { title, columns: panels.len().min(2), panels, size: (640, 400) }
}

/// Areas between value - error and value + error, one for each run of lines that have an error.
fn areas(x: &[f64], values: &[f64], errors: &[f64], color: RGBColor) -> Vec<Series> {
    let rows: Vec<(f64, f64, f64)> =
        x.iter().zip(values).zip(errors).map(|((x, y), e)| (*x, *y, *e)).collect();
    let valid = |(x, y, error): &(f64, f64, f64)| x.is_finite() && y.is_finite() && *error > 0.0;
    let runs = rows.split(|row| !valid(row)).filter(|run| run.len() > 1);
    let area = |run: &[(f64, f64, f64)]| {
        let upper = run.iter().map(|(x, y, error)| (*x, y + error));
        let lower = run.iter().rev().map(|(x, y, error)| (*x, y - error));
        Series { name: String::new(), points: upper.chain(lower).collect(), mark: Mark::Area(0.3), color }
    };
    runs.map(area).collect()
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
        for part in ["distance r (nm)", "radial distribution function g(r)", "Na+–Cl-"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!svg.contains("standard error"), "none has an error");
        let both = ["outer_distance", "distance"].map(String::from);
        picture(&path, None, &both, folder.path()).unwrap();
        let svg = std::fs::read_to_string(folder.path().join("radial-distribution.svg")).unwrap();
        assert!(svg.contains("\ndistance r (nm)\n") && svg.contains("\nouter distance (nm)\n"), "{svg}");
        let error = picture(&path, Some("time"), &[], folder.path()).unwrap_err().to_string();
        assert!(error.contains("time") && error.contains("outer_distance"), "{error}");
        std::fs::write(&path, "time [U_t],pressure [P]\n1,2\n").unwrap();
        let error = picture(&path, None, &[], folder.path()).unwrap_err().to_string();
        assert!(error.contains("nothing to draw"), "{error}");
    }

    #[test]
    fn errors_are_bands_and_code_units_have_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mean-square-displacement.csv");
        let mut text =
            "time [U_t],origins [1],mean_square_displacement [U_L^2],standard_error [U_L^2]\n".to_owned();
        for k in 0..9 {
            // the first and a middle one have no error: two runs
            let error = if k % 4 == 0 { f64::NAN } else { 0.5 };
            text += &format!("{k},1,{k},{error}\n");
        }
        std::fs::write(&path, &text).unwrap();
        picture(&path, None, &[], folder.path()).unwrap();
        let svg = std::fs::read_to_string(path.with_extension("svg")).unwrap();
        assert!(svg.contains("mean-square displacement (code units)") && !svg.contains("U_"), "{svg}");
        assert_eq!(svg.matches("<polygon").count(), 2, "{svg}");
        assert!(svg.contains("Mean-square displacement (bands: standard error)"), "{svg}");
        let bands = areas(&[0.0, 1.0, 2.0], &[1.0, 2.0, 3.0], &[f64::NAN, 0.5, 0.25], BLUE);
        assert_eq!(bands[0].points, [(1.0, 2.5), (2.0, 3.25), (2.0, 2.75), (1.0, 1.5)]);
    }

    #[test]
    fn names_are_words() {
        let energies = shared_words(&["kinetic_energy", "potential_energy"]);
        assert_eq!(energies, ("energy".into(), vec!["kinetic".into(), "potential".into()]));
        let momenta = shared_words(&["angular_momentum_x", "angular_momentum_z"]);
        assert_eq!(momenta, ("angular momentum".into(), vec!["x".into(), "z".into()]));
        let kinds = ["total_energy", "temperature", "momentum_x", "radial_distribution_A_B"].map(kind);
        assert_eq!(kinds, ["energy", "temperature", "momentum", "radial_distribution"]);
        let pair = shared_words(&["coordination_Na+_Cl-"]);
        assert_eq!(pair, ("coordination number".into(), vec!["Na+–Cl-".into()]));
        assert_eq!(
            [title("radial-distribution"), title("my_table")],
            ["Radial distribution function", "My table"]
        );
    }

    #[test]
    fn ranges_hold_what_is_drawn() {
        assert_eq!(range([0.1, 3.0, f64::NAN].into_iter(), 0.0), (0.0, 3.0));
        assert_eq!(range([].into_iter(), 0.1), (0.0, 1.0));
        let (lower, upper) = range([-2.0; 3].into_iter(), 0.1);
        assert!(lower < -2.0 && upper > -2.0);
    }
}
