//! Summaries of text files for `hilbrium info`.

use std::fmt::Write;
use std::path::Path;

use super::lines::excerpt;
use super::{Configuration, FileFormat, Hints, read};
use crate::Result;
use crate::report::{Listing, box_text, grouped};
use crate::space::Vec3d;

/// Maximum number of species listed, one line each.
const MAX_SPECIES: usize = 100;

/// Summarizes a configuration: format, box, species with their numbers, and the range of each quantity, in
/// the file's units.
///
/// # Errors
/// Those of [`read`].
pub fn info(path: &Path, format: FileFormat) -> Result<String> {
    let found = read(path, format, Hints { first_frame: true, ..Hints::default() }, |count| 0..count)?;
    let mut listing = Listing::default();
    listing.line("file", path.display());
    listing.line("kind", format!("configuration, {}", format.name()));
    listing.line("title", &found.title);
    listing.line("units", found.units.map_or("not said", |units| units.name()));
    listing.line("box", found.bx.as_ref().map_or("none".into(), box_text));
    if found.bx.is_some() && !found.boundary_stated {
        listing.line("boundary", "periodic by convention: the file does not state it");
    }
    listing.line("particles", grouped(found.count));
    for about in species_texts(&found) {
        listing.line("species", about);
    }
    let vectors = [
        ("position", Some(&found.positions)),
        ("velocity", found.velocities.as_ref()),
        ("momentum", found.momenta.as_ref()),
    ];
    for (name, column) in vectors {
        if let Some(column) = column {
            listing.line("field", format!("{name:<12}{}", range_text(column)));
        }
    }
    found.notes.iter().for_each(|note| listing.line("note", note));
    Ok(listing.into_text())
}

/// One line per species, at most [`MAX_SPECIES`].
fn species_texts(found: &Configuration) -> Vec<String> {
    let mut members = vec![Vec::new(); found.names.len()];
    found.species.iter().enumerate().for_each(|(row, &kind)| members[kind].push(row));
    let masses = found.masses.as_ref().map(|column| ("mass", column));
    let charges = found.charges.as_ref().map(|column| ("charge", column));
    let mut texts = Vec::new();
    for (name, members) in found.names.iter().zip(&members).take(MAX_SPECIES) {
        let mut about = format!("\"{}\", {} particles", excerpt(name), grouped(members.len() as u64));
        for (what, column) in [masses, charges].into_iter().flatten() {
            let (least, most) = range(members.iter().map(|&row| column[row]));
            let value = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let _ = write!(about, ", {what} {value}");
        }
        texts.push(about);
    }
    if found.names.len() > MAX_SPECIES {
        texts.push(format!("and {} more", grouped((found.names.len() - MAX_SPECIES) as u64)));
    }
    texts
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (value.min(least), value.max(most)))
}

fn range_text(column: &[Vec3d]) -> String {
    let (least, most) = range(column.iter().flat_map(|vector| vector.iter().copied()));
    if least > most { "no values".into() } else { format!("{least:.6e} to {most:.6e}") }
}
