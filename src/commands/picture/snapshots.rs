//! Maps of snapshots: one picture, or the frames of a film with the same view and colors.

use super::{MapArguments, Numbers, Pair, Plane};
use crate::maps::{AXES, Extent, Map, Request, Spread, extent_of, joined, square, unit_system};
use crate::units::{Dimension, UnitSystem, parse};
use crate::{Error, Result, inputs, plan, report, snapshot};
use std::path::{Path, PathBuf};

/// Draws the files into a folder, which is made if missing.
pub(super) fn draw(files: &[PathBuf], asked: &MapArguments, folder: &Path) -> Result<()> {
    let Some(first) = files.first() else { return Ok(()) };
    let request = request(files, first, asked)?;
    let range = asked.range.map(|Numbers(low, high)| (low, high));
    let single = files.len() == 1;
    std::fs::create_dir_all(folder).map_err(|cause| Error::file("create", folder, &cause))?;
    let mut said: Vec<String> = Vec::new();
    let mut say = |map: &Map| {
        for note in &map.notes {
            if !said.contains(note) {
                report::line(&format!("note: {note}"));
                said.push(note.clone());
            }
        }
    };
    // the colors of all frames
    let mut spread: Option<Spread> = None;
    let mut last = None;
    for file in files {
        let map = Map::of_snapshot(file, &request)?;
        say(&map);
        let own = Spread::of(&map);
        spread = Some(spread.map_or(own.clone(), |before| before.joined(&own)));
        last = Some(map);
    }
    let (Some(spread), Some(last)) = (spread, last) else { return Ok(()) };
    if spread.is_empty() {
        return Err(no_values(&request));
    }
    let colors = spread.colors(range, asked.scale())?;
    let stem = stem(&last, &request);
    let path = |number: usize, file: &Path| match single {
        true => {
            let snapshot = file.file_stem().map_or_else(Default::default, |stem| stem.to_string_lossy());
            folder.join(format!("{snapshot}-{stem}.png"))
        }
        false => folder.join(format!("{stem}-{number:04}.png")),
    };
    let outputs: Vec<PathBuf> = files.iter().enumerate().map(|(number, file)| path(number, file)).collect();
    let known: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    inputs::keep(&known, &outputs, "draw into another folder with --folder")?;
    if single {
        last.heatmap(&colors, asked.colors()).write(&outputs[0])?;
        report::line(&format!("drawn as {}", outputs[0].display()));
        return Ok(());
    }
    for (file, output) in files.iter().zip(&outputs) {
        Map::of_snapshot(file, &request)?.heatmap(&colors, asked.colors()).write(output)?;
    }
    let pattern = folder.join(format!("{stem}-%04d.png"));
    report::line(&format!("{} frames drawn as {} and following", files.len(), outputs[0].display()));
    report::line(&format!(
        "a film: ffmpeg -framerate 12 -i {} -pix_fmt yuv420p {stem}.mp4",
        pattern.display()
    ));
    Ok(())
}

/// What the arguments ask for; lengths in the units of the first snapshot.
fn request(files: &[PathBuf], first: &Path, asked: &MapArguments) -> Result<Request> {
    let (axis, plane) = match (&asked.slice, asked.project) {
        (Some(Plane(axis, value)), _) => (axis.0, Some(value)),
        (None, Some(axis)) => (axis.0, None),
        (None, None) => {
            return Err(Error::usage(
                format!("{} is a snapshot: --slice or --project is missing", first.display()),
                "add --slice z=0 for the values in a plane, or --project z for column densities",
            ));
        }
    };
    let header = snapshot::read_header(first)?;
    let system = unit_system(&header);
    let in_units = |option: &str, text: &String| length(option, text, system);
    let positive = |option: &str, text: &String| match in_units(option, text)? {
        length if length > 0.0 => Ok(length),
        length => Err(Error::usage(format!("{option} is {length}"), "give a length above 0")),
    };
    let plane = plane.map(|text| in_units("--slice", text)).transpose()?;
    let center = match &asked.center {
        Some(Pair([x, y])) => Some([in_units("--center", x)?, in_units("--center", y)?]),
        None => None,
    };
    let width = asked.width.as_ref().map(|text| positive("--width", text)).transpose()?;
    let extent = match (center, width) {
        (Some(center), Some(width)) => square(center, width),
        _ => {
            let whole = whole(files, axis)?;
            let middle = whole.map(|side| 0.5 * (side.0 + side.1));
            match (center, width) {
                (None, Some(width)) => square(middle, width),
                (Some(center), None) => {
                    let moved =
                        |d: usize| (whole[d].0 + center[d] - middle[d], whole[d].1 + center[d] - middle[d]);
                    [moved(0), moved(1)]
                }
                _ => whole,
            }
        }
    };
    let mut request = Request::new(axis, plane, extent);
    request.pixels = asked.pixels.map_or(request.pixels, |pixels| pixels as usize);
    request.quantity = asked.quantity.clone();
    request.kernel = asked.kernel.as_deref().and_then(plan::Kernel::named);
    request.smoothing = asked.smoothing.as_ref().map(|text| positive("--smoothing", text)).transpose()?;
    Ok(request)
}

/// The rectangle that holds those of all frames.
fn whole(files: &[PathBuf], axis: usize) -> Result<Extent> {
    let extents = files.iter().map(|file| extent_of(file, axis)).collect::<Result<Vec<_>>>()?;
    Ok(joined(extents).unwrap_or_else(|| unreachable!("a picture has a file")))
}

/// Parses a length: a number in the units of the snapshot, or one with a unit as decks have it.
fn length(option: &str, text: &str, system: UnitSystem) -> Result<f64> {
    let found = text.parse::<f64>().ok().or_else(|| parse(text, Dimension::Length, system).ok());
    found.filter(|length| length.is_finite()).ok_or_else(|| {
        let known: Vec<&str> = Dimension::Length.units(system).iter().map(|(name, _)| *name).collect();
        let remedy = match known.is_empty() {
            true => "give a number: the snapshot's units have no names".to_owned(),
            false => format!("give a number, with one of {} if it has a unit", known.join(", ")),
        };
        Error::usage(format!("{option}: \"{text}\" is no length"), remedy)
    })
}

fn no_values(request: &Request) -> Error {
    let [across, up] = request.view().directions().map(|d| AXES[d]);
    let [(left, right), (bottom, top)] = request.extent;
    let place = request.plane.map_or(String::new(), |at| format!(" at {} = {at}", AXES[request.axis % 3]));
    Error::usage(
        format!(
            "there is nothing to draw: no particle's kernel reaches {across} from {left} to {right}, {up} \
             from {bottom} to {top}{place}"
        ),
        "choose another plane, --center or --width; `hilbrium info` prints the range of the positions",
    )
}

/// Quantity and view as part of a file name.
fn stem(map: &Map, request: &Request) -> String {
    let kept = |letter: char| letter.is_alphanumeric() || "_-+".contains(letter);
    let quantity: String =
        map.quantity.chars().map(|letter| if kept(letter) { letter } else { '_' }).collect();
    let kind = if request.plane.is_some() { "slice" } else { "projection" };
    format!("{quantity}-{kind}-{}", AXES[request.axis % 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units_of_decks() {
        assert_eq!(length("--width", "12 angstrom", UnitSystem::Molecular).unwrap(), 12.0 * 0.1);
        assert_eq!(length("--width", "1.5", UnitSystem::Molecular).unwrap(), 1.5);
        assert_eq!(length("--slice", "-1/4", UnitSystem::Reduced).unwrap(), -0.25);
        for (text, system, words) in [
            ("1 nm", UnitSystem::Reduced, "have no names"),
            ("1 furlong", UnitSystem::Molecular, "angstrom"),
            ("inf", UnitSystem::Reduced, "no length"),
            ("", UnitSystem::Reduced, "no length"),
        ] {
            let error = length("--slice", text, system).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("--slice"), "{error}");
        }
    }
}
