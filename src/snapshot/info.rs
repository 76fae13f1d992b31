//! Summaries of HDF5 files for `hilbrium info`.

use super::checkpoint::CheckpointFile;
use super::crash_guard::{self, ReadGuard};
use super::hdf::{self, read_string};
use super::layout::PROGRAM_GROUP;
use super::read::Source;
use super::seal::{self, Seal};
use super::{Header, trajectory};
use crate::Result;
use crate::comm::Communicator;
use crate::particles::Field;
use crate::report::{Listing, box_text};
use std::ops::Range;
use std::path::Path;

/// Rows read at a time; bounds the memory.
const CHUNK: u64 = 1 << 18;

/// Summarizes a snapshot, checkpoint or trajectory: kind, time, step, box, particles, and the range and unit
/// of every field.
///
/// # Errors
/// [`crate::Error::File`] if it cannot be read, [`crate::Error::Damaged`] or [`crate::Error::Content`] if it
/// is damaged or of another kind.
pub fn info(path: &Path) -> Result<String> {
    let sealed = seal::verify(path, &Communicator::solo(), "copy the file anew, or take an earlier one")?;
    let _reading = ReadGuard::new(path);
    let ours = hdf::open(path).ok().and_then(|file| file.group(PROGRAM_GROUP).ok());
    let kind = ours.and_then(|ours| read_string(&ours, "Kind"));
    let mut listing = Listing::default();
    listing.line("file", path.display());
    if kind.as_deref() == Some("trajectory") || has_group(path, "h5md") {
        trajectory::describe_h5md(path)?.into_iter().for_each(|(name, value)| listing.line(name, value));
        return Ok(listing.into_text());
    }
    let checksum = match sealed {
        Seal::Intact => "verified",
        Seal::Absent => "none",
    };
    if kind.as_deref() == Some("checkpoint") {
        let content = CheckpointFile::open(path)?;
        let state = content.state()?;
        listing.line("kind", format!("checkpoint of {} ranks", content.rank_rows.len()));
        listing.line("checksum", checksum);
        listing.line("title", &state.title);
        listing.line("time", format!("{}, next step {:.6e}", state.time, state.time_step));
        listing.line("step", state.step);
        listing.line("box", box_text(&state.bx));
        listing.line("particles", content.total());
        for field in content.fields() {
            let range = range_of(content.total(), |rows| {
                let components = (0..field.components()).map(|c| content.component(field, c, rows.clone()));
                Ok(components.collect::<Result<Vec<_>>>()?.concat())
            });
            listing.line("field", field_text(field, &range?));
        }
    } else {
        let source = Source::open(path)?;
        let header = &source.header;
        let program = if kind.is_some() { "hilbrium" } else { "another program" };
        listing.line("kind", format!("snapshot of {program}"));
        listing.line("checksum", checksum);
        listing.line("title", &header.title);
        listing.line("time", header.time);
        listing.line("step", header.step);
        list_box(header, &mut listing);
        match (header.stated.units, header.units) {
            (true, units) => {
                let [mass, length, time] = units.map(compact);
                listing.line("units", format!("{mass} g, {length} cm, {time} s"));
            }
            (false, _) => listing.line("units", "not stated"),
        }
        if let Some(index) = header.adiabatic_index {
            listing.line("gamma", index);
        }
        listing.line("particles", header.particle_count);
        for (group, count) in &header.stated.left_out {
            listing.line("left out", format!("{count} particles of {group}"));
        }
        header.stated.notes.iter().for_each(|note| listing.line("note", note));
        for field in source.fields() {
            let range = range_of(header.particle_count, |rows| source.values(field, rows));
            listing.line("field", field_text(field, &range?));
        }
    }
    Ok(listing.into_text())
}

/// Lists the box and boundaries that a snapshot states; assumed ones are not listed.
fn list_box(header: &Header, listing: &mut Listing) {
    let bx = &header.bx;
    match (header.stated.bx, header.stated.boundary) {
        (true, true) => listing.line("box", box_text(bx)),
        (true, false) => {
            let side = |d: usize| format!("[{}, {})", bx.lower[d], bx.upper[d]);
            listing.line("box", [side(0), side(1), side(2)].join(" x "));
            listing.line("boundary", "not stated");
        }
        (false, stated) => {
            listing.line("box", "none");
            listing.line("boundary", if stated { "open" } else { "not stated" });
        }
    }
}

/// Formats a number, with an exponent if it would have many zeros.
fn compact(number: f64) -> String {
    if (1e-3..1e6).contains(&number) { number.to_string() } else { format!("{number:e}") }
}

/// Whether the file has the group.
fn has_group(path: &Path, group: &str) -> bool {
    hdf::open(path).is_ok_and(|file| file.link_exists(group))
}

/// Minimum and maximum over all rows and components, and the number of values that are not finite.
fn range_of(rows: u64, read: impl Fn(Range<u64>) -> Result<Vec<f64>>) -> Result<(f64, f64, u64)> {
    let (mut least, mut most, mut bad) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for first in (0..rows).step_by(CHUNK as usize) {
        crash_guard::reset_expected();
        for value in read(first..(first + CHUNK).min(rows))? {
            (least, most) = (value.min(least), value.max(most));
            bad += u64::from(!value.is_finite());
        }
    }
    Ok((least, most, bad))
}

fn field_text(field: Field, &(least, most, bad): &(f64, f64, u64)) -> String {
    let units = ["mass", "length", "time"];
    let unit: Vec<String> = units
        .iter()
        .zip(field.dimensions())
        .filter(|(_, exponent)| *exponent != 0)
        .map(|(unit, exponent)| if exponent == 1 { (*unit).to_owned() } else { format!("{unit}^{exponent}") })
        .collect();
    let unit = if unit.is_empty() { "1".to_owned() } else { unit.join(" ") };
    let range = if least > most { "no values".into() } else { format!("{least:.6e} to {most:.6e}") };
    let bad = if bad > 0 { format!(", {bad} NOT FINITE") } else { String::new() };
    format!("{:<22} {} x {range} [{unit}]{bad}", field.name(), field.components())
}
