//! The atom styles of LAMMPS, which define the columns of the section Atoms.

use super::super::lines::{Lines, excerpt};
use crate::Result;

/// Column indices of an atom style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub kind: usize,
    pub charge: Option<usize>,
    pub position: usize,
}

/// The supported atom styles.
const STYLES: [(&str, Style); 6] = [
    ("atomic", Style { kind: 1, charge: None, position: 2 }),
    ("charge", Style { kind: 1, charge: Some(2), position: 3 }),
    ("bond", Style { kind: 2, charge: None, position: 3 }),
    ("angle", Style { kind: 2, charge: None, position: 3 }),
    ("molecular", Style { kind: 2, charge: None, position: 3 }),
    ("full", Style { kind: 2, charge: Some(3), position: 4 }),
];

/// Unsupported styles of LAMMPS (LAMMPS manual, "atom_style command").
const OTHERS: [&str; 28] = [
    "amoeba",
    "apip",
    "body",
    "bpm/sphere",
    "dielectric",
    "dipole",
    "dpd",
    "edpd",
    "electron",
    "ellipsoid",
    "granular",
    "hybrid",
    "line",
    "mdpd",
    "oxdna",
    "peri",
    "rheo",
    "rheo/thermal",
    "sdpd",
    "smd",
    "sph",
    "sphere",
    "spin",
    "tdpd",
    "template",
    "tri",
    "wavepacket",
    "meso",
];

/// The style named by file or deck.
pub(super) enum Named {
    /// A supported style.
    Style(Style),
    /// Neither names a style; the file may have some other comment there.
    Unknown,
}

/// The style of the section Atoms, from the comment after its keyword and the deck's `atom_style`. A comment
/// that is not a style is reported in a note.
///
/// # Errors
/// [`crate::Error::Content`] if the file's style is not supported, or differs from the deck's.
pub(super) fn named(
    lines: &Lines,
    comment: Option<&str>,
    deck: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Named> {
    let known = |name: &str| STYLES.iter().find(|(style, _)| *style == name).map(|(_, style)| *style);
    let ours = deck.and_then(|deck| known(deck).map(|style| (deck, style)));
    let words: Vec<&str> = comment.unwrap_or("").split_whitespace().collect();
    let first = words.first().map_or("", |word| word.trim_end_matches("/kk"));
    let theirs = known(first).filter(|_| words.len() == 1);
    if theirs.is_none() && OTHERS.contains(&first) && (words.len() == 1 || first == "hybrid") {
        let what = format!("gives atoms of the style \"{}\"", excerpt(&words.join(" ")));
        let names = STYLES.map(|(name, _)| name).join(", ");
        let remedy = format!(
            "their other properties are not available here: write the data with one of the styles {names}"
        );
        return Err(lines.error(what, &remedy));
    }
    match (theirs, ours) {
        (Some(theirs), Some((deck, ours))) if theirs != ours => {
            let what =
                format!("gives atoms of the style \"{first}\", and the deck says atom_style = \"{deck}\"");
            Err(lines.error(what, "take atom_style out of [start.file], or correct the comment behind Atoms"))
        }
        (Some(style), _) => Ok(Named::Style(style)),
        (None, ours) => {
            if !words.is_empty() {
                let by = ours
                    .map_or("the number of columns".into(), |(deck, _)| format!("atom_style = \"{deck}\""));
                notes.push(format!(
                    "the comment behind Atoms, \"{}\", names no atom style: by {by}",
                    excerpt(&words.join(" "))
                ));
            }
            Ok(ours.map_or(Named::Unknown, |(_, style)| Named::Style(style)))
        }
    }
}

/// The style with this number of columns, if it is unique.
pub(super) fn by_columns(columns: usize) -> Option<Style> {
    match columns {
        5 | 8 => Some(STYLES[0].1),
        7 | 10 => Some(STYLES[5].1),
        _ => None,
    }
}

/// The error text for atoms with `columns` columns and unknown style.
pub(super) fn unknown_style(columns: usize) -> String {
    let fitting: Vec<&str> = STYLES
        .iter()
        .filter(|(_, style)| columns == style.position + 3 || columns == style.position + 6)
        .map(|(name, _)| *name)
        .collect();
    match fitting.is_empty() {
        true => format!("has {columns} columns, which none of the atom styles has that are read"),
        false => format!("has {columns} columns, which may be of the atom styles {}", fitting.join(", ")),
    }
}
