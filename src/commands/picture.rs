//! `hilbrium picture`: draws tables as PNG and SVG, and maps of snapshots as PNG.

mod snapshots;

use super::Ending;
use crate::maps::AXES;
use crate::observe::picture::picture as draw;
use crate::report::picture::{ColorMap, Scale};
use crate::{Error, Result, plan, report, snapshot};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};

/// Least and most pixels along the longer side.
const PIXELS: std::ops::RangeInclusive<i64> = 16..=4096;

#[derive(Debug, Args)]
pub(super) struct PictureArguments {
    /// Tables, or snapshots. Several snapshots, or the folder of a run, become the frames of a film
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Where to draw [default: beside each table, or beside the first snapshot]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// The column of the horizontal axis [default: distance, time, or the first column]
    #[arg(long, value_name = "NAME", help_heading = "Tables")]
    along: Option<String>,
    /// Columns by name, comma-separated [default: the usual ones of such a table]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Tables")]
    columns: Vec<String>,
    #[command(flatten)]
    map: MapArguments,
}

/// What to draw of snapshots.
#[derive(Debug, Args)]
#[command(next_help_heading = "Snapshots")]
struct MapArguments {
    /// Draw the values in a plane: z=0, "x=1.2 nm"
    #[arg(long, value_name = "AXIS=VALUE", value_parser = plane, conflicts_with = "project")]
    slice: Option<Plane>,
    /// Draw column densities, or means along the line of sight
    #[arg(long, value_name = "AXIS", value_parser = axis)]
    project: Option<Axis>,
    /// The quantity, e.g. pressure, speed, velocity_x [default: density, or number_density of molecules]
    #[arg(long, value_name = "NAME")]
    quantity: Option<String>,
    /// Center of the picture [default: that of the box or of the particles]
    #[arg(long, value_name = "X,Y", value_parser = pair, allow_hyphen_values = true)]
    center: Option<Pair>,
    /// Width and height of the picture [default: those of the box, or of the particles in an open one]
    #[arg(long, value_name = "LENGTH")]
    width: Option<String>,
    /// Pixels along the longer side [default: 800]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(PIXELS))]
    pixels: Option<u32>,
    /// Limits of the color scale [default: minimum and maximum; a log scale may leave out the lowest values]
    #[arg(long, value_name = "LOW,HIGH", value_parser = numbers, allow_hyphen_values = true)]
    range: Option<Numbers>,
    /// log or linear [default: log for quantities that are positive and span more than a decade]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(["log", "linear"]))]
    scale: Option<String>,
    /// The color map [default: viridis]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(ColorMap::NAMES))]
    colors: Option<String>,
    /// The kernel [default: that of the snapshot's deck]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(plan::Kernel::NAMES))]
    kernel: Option<String>,
    /// Smoothing length h of particles that have none [default: the mean particle spacing]
    #[arg(long, value_name = "LENGTH")]
    smoothing: Option<String>,
}

/// Number of a dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis(usize);

/// A plane: dimension, and coordinate as text, whose units are those of the snapshot.
#[derive(Clone, Debug, PartialEq)]
struct Plane(Axis, String);

/// Two lengths as text.
#[derive(Clone, Debug, PartialEq)]
struct Pair([String; 2]);

/// Two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Numbers(f64, f64);

fn axis(text: &str) -> Result<Axis, String> {
    let found = AXES.iter().position(|name| *name == text.trim()).map(Axis);
    found.ok_or_else(|| format!("\"{text}\" is no axis: x, y or z"))
}

fn plane(text: &str) -> Result<Plane, String> {
    let (name, value) = text.split_once('=').ok_or("write AXIS=VALUE, for example z=0")?;
    Ok(Plane(axis(name)?, value.trim().to_owned()))
}

fn pair(text: &str) -> Result<Pair, String> {
    match text.split(',').collect::<Vec<_>>()[..] {
        [first, second] => Ok(Pair([first, second].map(|part| part.trim().to_owned()))),
        _ => Err("write two values with a comma between them".into()),
    }
}

fn numbers(text: &str) -> Result<Numbers, String> {
    let Pair(parts) = pair(text)?;
    let number = |text: &String| text.parse::<f64>().map_err(|_| format!("\"{text}\" is no number"));
    Ok(Numbers(number(&parts[0])?, number(&parts[1])?))
}

impl MapArguments {
    /// Names of the options that are given.
    fn given(&self) -> Vec<&'static str> {
        let options = [
            ("--slice", self.slice.is_some()),
            ("--project", self.project.is_some()),
            ("--quantity", self.quantity.is_some()),
            ("--center", self.center.is_some()),
            ("--width", self.width.is_some()),
            ("--pixels", self.pixels.is_some()),
            ("--range", self.range.is_some()),
            ("--scale", self.scale.is_some()),
            ("--colors", self.colors.is_some()),
            ("--kernel", self.kernel.is_some()),
            ("--smoothing", self.smoothing.is_some()),
        ];
        options.into_iter().filter(|option| option.1).map(|option| option.0).collect()
    }

    fn scale(&self) -> Option<Scale> {
        let logarithmic = |name: &String| if name == "log" { Scale::Logarithmic } else { Scale::Linear };
        self.scale.as_ref().map(logarithmic)
    }

    fn colors(&self) -> ColorMap {
        self.colors.as_deref().and_then(ColorMap::named).unwrap_or_default()
    }
}

pub(super) fn picture(arguments: &PictureArguments) -> Result<Ending> {
    let files = expanded(&arguments.files)?;
    let kinds = files.iter().map(|file| snapshot::is_hdf5(file)).collect::<Result<Vec<_>>>()?;
    let count = kinds.iter().filter(|hdf5| **hdf5).count();
    let folder_of = |file: &Path| {
        let beside = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        arguments.folder.clone().unwrap_or_else(|| beside.to_owned())
    };
    let refuse = |what: &str, options: &[&str], remedy: &str| {
        let verb = if options.len() == 1 { "is" } else { "are" };
        Err(Error::usage(format!("{} {verb} for {what}", options.join(", ")), remedy))
    };
    match count {
        0 => {
            let given = arguments.map.given();
            if !given.is_empty() {
                return refuse(
                    "snapshots, and these are tables",
                    &given,
                    "name snapshots, or leave the options out",
                );
            }
            let outputs: Vec<PathBuf> = files
                .iter()
                .map(|table| folder_of(table).join(table.file_stem().unwrap_or_default()))
                .collect();
            if let Some(second) = (1..outputs.len()).find(|&k| outputs[..k].contains(&outputs[k])) {
                return Err(Error::usage(
                    format!("two tables would be drawn as {}.png", outputs[second].display()),
                    "draw them in two commands with different --folder",
                ));
            }
            for table in &files {
                let folder = folder_of(table);
                let drawn = draw(table, arguments.along.as_deref(), &arguments.columns, &folder)?;
                let vector = drawn.with_extension("svg");
                report::line(&format!("drawn as {} and {}", drawn.display(), vector.display()));
            }
        }
        _ if count < files.len() => {
            return Err(Error::usage(
                "tables and snapshots are not drawn by one command",
                "name them in two commands",
            ));
        }
        _ => {
            let given =
                [("--along", arguments.along.is_some()), ("--columns", !arguments.columns.is_empty())];
            let given: Vec<&str> =
                given.into_iter().filter(|option| option.1).map(|option| option.0).collect();
            if !given.is_empty() {
                return refuse("tables, and these are snapshots", &given, "take --quantity for snapshots");
            }
            let folder = folder_of(files.first().map_or(Path::new("."), PathBuf::as_path));
            snapshots::draw(&files, &arguments.map, &folder)?;
        }
    }
    Ok(Ending::Done)
}

/// Replaces folders by the snapshots in them, in the order of their numbers.
fn expanded(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for file in files {
        if !file.is_dir() {
            all.push(file.clone());
            continue;
        }
        let entries = std::fs::read_dir(file).map_err(|cause| Error::file("read", file, &cause))?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>();
        let mut paths = paths.map_err(|cause| Error::file("read", file, &cause))?;
        let name = |path: &Path| {
            path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        paths.retain(|path| name(path).starts_with("snapshot-") && name(path).ends_with(".hdf5"));
        // snapshot-10000 is behind snapshot-9999
        paths.sort_by_key(|path| (name(path).len(), name(path)));
        if paths.is_empty() {
            return Err(Error::usage(
                format!("{} has no snapshots: no files snapshot-*.hdf5", file.display()),
                "name the folder of a run that has written some, or the files",
            ));
        }
        all.extend(paths);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_options_are_parsed() {
        assert_eq!(plane("z=-0.5"), Ok(Plane(Axis(2), "-0.5".into())));
        assert_eq!(plane("x = 1.2 nm"), Ok(Plane(Axis(0), "1.2 nm".into())));
        assert!(plane("z").unwrap_err().contains("z=0") && plane("w=0").unwrap_err().contains("x, y or z"));
        assert_eq!(pair("-1, 2 nm"), Ok(Pair(["-1".into(), "2 nm".into()])));
        assert_eq!(numbers("1e-3,10"), Ok(Numbers(1e-3, 10.0)));
        assert!(
            pair("1").is_err() && pair("1,2,3").is_err() && numbers("1,x").unwrap_err().contains("\"x\"")
        );
    }

    #[test]
    fn folders_are_their_snapshots_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["snapshot-10000.hdf5", "snapshot-9999.hdf5", "snapshot-0001.xdmf", "checkpoint-1.h5"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = expanded(&[folder.path().to_owned(), PathBuf::from("other.csv")]).unwrap();
        let names: Vec<&str> = found.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["snapshot-9999.hdf5", "snapshot-10000.hdf5", "other.csv"]);
        let empty = tempfile::tempdir().unwrap();
        let error = expanded(&[empty.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no snapshots"), "{error}");
    }
}
