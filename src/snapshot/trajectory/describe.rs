//! Summaries of XTC and DCD files and LAMMPS dumps, of any program, for `hilbrium info`.

use std::path::Path;

use super::dcd_head::{self, Head};
use super::lammps::{ATOM_COUNT, ATOMS, BOX_BOUNDS, TIMESTEP};
use super::text::Lines;
use super::{dcd, xtc};
use crate::report::Listing;
use crate::{Error, Result};

/// Bytes that tell formats apart.
const HEAD_BYTES: u64 = 64;

/// Describes the trajectory: frames, particles, steps, times, box. `None` if the file is of another format.
///
/// # Errors
/// [`Error::File`], and [`Error::Damaged`] if it begins like a trajectory and goes on otherwise.
pub fn info(path: &Path) -> Result<Option<String>> {
    let (head, _) = dcd_head::read(path, HEAD_BYTES)?;
    let summary = if Head::begins(&head) {
        dcd::describe(path)?
    } else if [1995u32, 2023].iter().any(|magic| head.starts_with(&magic.to_be_bytes())) {
        xtc::describe(path)?
    } else if head.starts_with(b"ITEM: ") {
        dump(path)?
    } else {
        return Ok(None);
    };
    let mut listing = Listing::default();
    listing.line("file", path.display());
    summary.into_iter().for_each(|(name, value)| listing.line(name, value));
    Ok(Some(listing.into_text()))
}

/// The error for a file that goes on otherwise than it begins.
pub(super) fn damaged(path: &Path, what: String) -> Error {
    Error::Damaged {
        path: path.to_owned(),
        what,
        remedy: "copy the file anew, or cut it by restarting its run from a checkpoint".into(),
    }
}

/// A note on bytes behind the last whole frame.
pub(super) fn incomplete(bytes: u64) -> Option<(&'static str, String)> {
    (bytes > 0).then(|| ("note", format!("{bytes} bytes behind the last whole frame")))
}

/// What the frames of a dump say, as far as they are read.
#[derive(Default)]
struct Dump {
    time: Option<String>,
    step: Option<String>,
    particles: u64,
    sides: Vec<String>,
    boundary: String,
    columns: String,
}

/// Describes a LAMMPS dump as pairs of name and value.
fn dump(path: &Path) -> Result<Vec<(&'static str, String)>> {
    let mut lines = Lines::open(path)?;
    let (mut frame, mut first, mut last) = (Dump::default(), None, None);
    let (mut frames, mut end, mut units) = (0u64, 0, None);
    while lines.next()? {
        let item = lines.text().into_owned();
        if let Some(columns) = item.strip_prefix(ATOMS) {
            frame.columns = columns.trim().to_owned();
            if !lines.skip(frame.particles)? {
                break;
            }
            (frames, end) = (frames + 1, lines.at);
            let ends = (frame.step.clone(), frame.time.clone());
            first = first.or_else(|| Some(ends.clone()));
            last = Some((ends, std::mem::take(&mut frame)));
            continue;
        }
        let count = if item.starts_with(BOX_BOUNDS) { 3 } else { 1 };
        let mut values = Vec::new();
        for _ in 0..count {
            if !lines.next()? {
                break;
            }
            values.push(shown(&lines.text()));
        }
        if values.len() < count {
            break;
        }
        match item.as_str() {
            "ITEM: UNITS" => units = values.pop(),
            "ITEM: TIME" => frame.time = values.pop(),
            TIMESTEP => frame.step = values.pop(),
            ATOM_COUNT => match values[0].parse() {
                Ok(particles) => frame.particles = particles,
                Err(_) => return Err(damaged(path, format!("\"{}\" is not a number of atoms", values[0]))),
            },
            _ if item.starts_with(BOX_BOUNDS) => {
                frame.boundary = shown(&item[BOX_BOUNDS.len()..]);
                frame.sides = values;
            }
            _ => {
                let what = format!("\"{}\" before byte {} is not an item of a dump", shown(&item), lines.at);
                return Err(damaged(path, what));
            }
        }
    }
    let mut summary = vec![("kind", "trajectory, LAMMPS dump".to_owned())];
    if let (Some((first_step, first_time)), Some(((last_step, last_time), last))) = (first, last) {
        summary.push(("particles", last.particles.to_string()));
        summary.push(("frames", frames.to_string()));
        for (name, one, other) in [("steps", first_step, last_step), ("times", first_time, last_time)] {
            if let (Some(one), Some(other)) = (one, other) {
                summary.push((name, format!("{one} to {other}")));
            }
        }
        summary.extend(units.map(|units| ("units", units)));
        summary.push(("box", format!("{} in the last frame, {}", last.sides.join(" x "), last.boundary)));
        summary.push(("columns", shown(&last.columns)));
    } else {
        summary.push(("frames", "0".into()));
    }
    summary.extend(incomplete(lines.at - end));
    Ok(summary)
}

/// The beginning of a text for a message.
fn shown(text: &str) -> String {
    text.trim().chars().take(200).collect()
}
