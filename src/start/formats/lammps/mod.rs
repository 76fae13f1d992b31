//! LAMMPS data: a header of counts and box, then sections named by keywords (LAMMPS manual, "read_data
//! command").
//!
//! Reads Masses, Atoms (styles atomic, charge, bond, angle, molecular, full), Velocities and type labels.
//! Pair coefficients are noted only, because the deck defines the interaction. Bonded interactions, triclinic
//! boxes and particles with a shape are refused: ignoring them would change the system.

mod header;
mod style;
mod types;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::lines::{Lines, excerpt};
use super::{Configuration, Hints, index_of};
use crate::Result;
use crate::plan::FileUnits;
use crate::space::Vec3d;
use header::Header;
use style::{Named, Style};
use types::Types;

/// Maximum number of coefficients or types in a note.
const MAX_NOTED: usize = 20;

pub(super) fn read(
    lines: &mut Lines,
    hints: Hints,
    share: &dyn Fn(u64) -> Range<u64>,
) -> Result<Configuration> {
    let mut text = String::new();
    lines.expect(&mut text, "the title")?;
    let header = Header::read(lines, &mut text)?;
    let mut data = Data {
        found: Configuration {
            units: units_of(lines, &header.title)?,
            title: header.title,
            count: header.atoms,
            bx: Some(header.bx),
            notes: header.notes,
            ..Configuration::default()
        },
        rows: share(header.atoms),
        types: Types::new(header.types),
        kinds: Vec::new(),
        first_line: None,
        style_unknown: false,
    };
    // `text` holds a section keyword, or is empty at the end of the file.
    while !text.is_empty() {
        data.section(lines, &mut text, hints)?;
    }
    data.finish(lines)
}

/// The count, if the line is the atom count of a header.
pub(super) fn counts_atoms(line: &str) -> Option<u64> {
    match line.split('#').next()?.split_whitespace().collect::<Vec<_>>()[..] {
        [count, "atoms"] => count.parse().ok(),
        _ => None,
    }
}

/// The units that newer versions of `write_data` state in the first line.
fn units_of(lines: &Lines, title: &str) -> Result<Option<FileUnits>> {
    let name = title.split_once("units = ").and_then(|(_, after)| after.split([',', ' ']).next());
    let Some(name) = name else { return Ok(None) };
    FileUnits::named(name).map(Some).ok_or_else(|| {
        let what = format!("its first line says that it is in the units \"{}\"", excerpt(name));
        lines.file_error(what, "write it in LAMMPS's units lj, real or metal")
    })
}

/// A line without its comment.
fn without_comment(text: &str) -> &str {
    text.split('#').next().unwrap_or("").trim()
}

/// The data read so far.
struct Data {
    found: Configuration,
    rows: Range<u64>,
    types: Types,
    /// Type of each particle.
    kinds: Vec<u64>,
    /// Line of the first atom, once the section Atoms has been read.
    first_line: Option<u64>,
    /// Whether the atom style is unknown, so that no atoms were read.
    style_unknown: bool,
}

impl Data {
    /// Reads the section whose keyword is in `text`. On return `text` holds the next keyword, or is empty.
    fn section(&mut self, lines: &mut Lines, text: &mut String, hints: Hints) -> Result<()> {
        let keyword = without_comment(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let comment =
            text.split_once('#').map(|(_, hint)| hint.trim().to_owned()).filter(|hint| !hint.is_empty());
        let comment = comment.as_deref();
        let types = self.types.count;
        match keyword.as_str() {
            "Atoms" => self.atoms(lines, text, comment, hints)?,
            "Velocities" => return self.velocities(lines, text),
            "Masses" => self.for_each_line(lines, text, types, "a mass", |data, lines, line| {
                data.types.mass(lines, line)
            })?,
            "Atom Type Labels" => {
                self.for_each_line(lines, text, types, "a label", |data, lines, line| {
                    data.types.label(lines, line)
                })?
            }
            "Pair Coeffs" => self.coefficients(lines, text, comment, types)?,
            "PairIJ Coeffs" => {
                self.types.paired = true;
                let pairs = types.saturating_mul(types.saturating_add(1)) / 2;
                self.coefficients(lines, text, comment, pairs)?;
            }
            name if name.ends_with(" Coeffs") || name.ends_with("Type Labels") => {
                return pass_section(lines, text);
            }
            "Bonds" | "Angles" | "Dihedrals" | "Impropers" => {
                return Err(lines.error(
                    format!("begins the section {keyword}"),
                    "bonded interactions are not available: write the file without them",
                ));
            }
            _ => {
                let what = format!("begins the section \"{}\", which is not known", excerpt(&keyword));
                return Err(
                    lines.error(what, "remove that section, or check the counts of the section before it")
                );
            }
        }
        next_keyword(lines, text)
    }

    /// Calls `work` for each of `count` lines that are not empty.
    fn for_each_line(
        &mut self,
        lines: &mut Lines,
        text: &mut String,
        count: u64,
        what: &str,
        work: impl Fn(&mut Self, &Lines, &str) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..count {
            next_nonempty(lines, text, what)?;
            work(self, lines, text)?;
        }
        Ok(())
    }

    fn coefficients(
        &mut self,
        lines: &mut Lines,
        text: &mut String,
        style: Option<&str>,
        count: u64,
    ) -> Result<()> {
        let mut told = Vec::new();
        for _ in 0..count {
            next_nonempty(lines, text, "coefficients of pairs")?;
            self.types.coefficient(text);
            if told.len() < MAX_NOTED {
                told.push(excerpt(without_comment(text)));
            }
        }
        let style = style.unwrap_or("a style that is not named");
        self.found.notes.push(format!(
            "its pair coefficients ({}: {}) are not used: the deck's interaction holds",
            excerpt(style),
            told.join("; ")
        ));
        Ok(())
    }

    fn atoms(
        &mut self,
        lines: &mut Lines,
        text: &mut String,
        comment: Option<&str>,
        hints: Hints,
    ) -> Result<()> {
        if self.first_line.is_some() {
            return Err(lines.error("begins a second section Atoms", "keep one of them"));
        }
        self.first_line = Some(lines.number());
        let named = style::named(lines, comment, hints.atom_style, &mut self.found.notes)?;
        let mut style = None;
        let (mut charges, mut images) = (Vec::new(), Vec::new());
        let mut any_images = false;
        for row in 0..self.found.count {
            // All ranks parse the first atom, which determines the style.
            if row > 0 && (self.style_unknown || !self.rows.contains(&row)) {
                lines.skip("an atom")?;
                continue;
            }
            if row == 0 {
                next_nonempty(lines, text, "an atom")?;
                self.first_line = Some(lines.number());
            } else {
                lines.expect(text, "an atom")?;
            }
            let fields: Vec<&str> = without_comment(text).split_whitespace().take(16).collect();
            let style = match style {
                Some(style) => style,
                None => match self.style(lines, &named, fields.len(), hints)? {
                    Some(known) => *style.insert(known),
                    None => continue,
                },
            };
            check_columns(lines, style, fields.len())?;
            if !self.rows.contains(&row) {
                continue;
            }
            self.found.ids.push(atom_id(lines, fields[0])?);
            self.kinds.push(self.types.kind(lines, fields[style.kind])?);
            self.found.positions.push(vector(lines, &fields[style.position..], "a coordinate")?);
            if let Some(charge) = style.charge {
                charges.push(lines.parse_number(fields[charge], "a charge")?);
            }
            let image = |d: usize| match fields.get(style.position + 3 + d) {
                Some(field) => lines.parse_integer(field, "an image"),
                None => Ok(0),
            };
            any_images |= fields.len() > style.position + 3;
            images.push([image(0)?, image(1)?, image(2)?]);
        }
        self.found.charges = style.and_then(|style: Style| style.charge).map(|_| charges);
        // An atom without image flags has images 0.
        self.found.images = any_images.then_some(images);
        Ok(())
    }

    /// The style of atoms with `columns` columns. `None`, with a note, if it is ambiguous and the file is
    /// only summarized.
    fn style(&mut self, lines: &Lines, named: &Named, columns: usize, hints: Hints) -> Result<Option<Style>> {
        if let Named::Style(style) = named {
            return Ok(Some(*style));
        }
        if let Some(style) = style::by_columns(columns) {
            return Ok(Some(style));
        }
        let what = style::unknown_style(columns);
        if !hints.first_frame {
            let remedy = "write the style behind the keyword, as in `Atoms # charge`, or give `atom_style` \
                          in [start.file]";
            return Err(lines.error(what, remedy));
        }
        self.style_unknown = true;
        self.found.notes.push(format!(
            "the atom style is not told, so that no atoms are read: line {} {what}; give `atom_style` in \
             [start.file]",
            lines.number()
        ));
        Ok(None)
    }

    /// Reads the velocities, which may be in another order than the atoms. On return `text` holds the next
    /// keyword.
    fn velocities(&mut self, lines: &mut Lines, text: &mut String) -> Result<()> {
        let Some(first_line) = self.first_line.filter(|_| self.found.velocities.is_none()) else {
            let remedy = "have one section Atoms and after it one section Velocities";
            return Err(lines.error("begins the section Velocities, which stands behind Atoms, once", remedy));
        };
        let remedy = "give every atom a line in Velocities, 0 where it rests, or leave that section out";
        let places: HashMap<u64, usize> =
            self.found.ids.iter().enumerate().map(|(row, &id)| (id, row)).collect();
        let mut velocities = vec![None; self.found.ids.len()];
        for number in 1..=self.found.count {
            next_keyword(lines, text)?;
            let of = format!("velocity {number} of {}", self.found.count);
            if text.is_empty() {
                let what = format!("the file ends after line {}, where {of} should follow", lines.number());
                return Err(
                    lines.file_error(what, &format!("{remedy}; copy the file anew if it was cut off"))
                );
            }
            if without_comment(text).starts_with(|letter: char| letter.is_ascii_uppercase()) {
                let what = format!("has \"{}\" where {of} should be", excerpt(without_comment(text)));
                return Err(lines.error(what, remedy));
            }
            let fields: Vec<&str> = without_comment(text).split_whitespace().take(8).collect();
            let Some(&row) = places.get(&atom_id(lines, fields[0])?) else { continue };
            if fields.len() != 4 || velocities[row].is_some() {
                let what = "should be an atom number, once, and three components of its velocity";
                return Err(lines.error(what, "correct that line, or leave the section Velocities out"));
            }
            velocities[row] = Some(vector(lines, &fields[1..], "a velocity")?);
        }
        if let Some(row) = velocities.iter().position(Option::is_none) {
            let line = first_line + self.rows.start + row as u64;
            let what = format!("has the atom {}, which has no velocity", self.found.ids[row]);
            return Err(lines.error_at(line, what, remedy));
        }
        if !self.style_unknown {
            self.found.velocities = Some(velocities.into_iter().flatten().collect());
        }
        next_keyword(lines, text)
    }

    fn finish(mut self, lines: &Lines) -> Result<Configuration> {
        if self.first_line.is_none() {
            return Err(lines.file_error(
                "it has no section Atoms".into(),
                "add it, or copy the file anew if it was cut off",
            ));
        }
        let (labels, notes) = self.types.names();
        self.found.notes.extend(notes);
        let name = |kind: &u64| labels.get(kind).cloned().unwrap_or_else(|| kind.to_string());
        let mut kinds = self.kinds.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let (mut places, mut by_name) = (HashMap::new(), BTreeMap::new());
        for kind in kinds {
            places.insert(kind, index_of(&mut self.found.names, &mut by_name, &name(&kind)));
        }
        self.found.species = self.kinds.iter().map(|kind| places[kind]).collect();
        if self.style_unknown {
            let told = self.types.masses.iter().take(MAX_NOTED);
            let told: Vec<String> =
                told.map(|(kind, mass)| format!("\"{}\" {mass}", excerpt(&name(kind)))).collect();
            self.found.notes.push(format!(
                "{} atom types, with masses: {}",
                self.types.count,
                told.join(", ")
            ));
        } else if !self.types.masses.is_empty() || self.found.count == 0 {
            let mass = |kind: &u64| {
                self.types.masses.get(kind).copied().ok_or_else(|| {
                    lines.file_error(
                        format!("the atom type {kind} has no mass"),
                        "add it to the section Masses",
                    )
                })
            };
            self.found.masses = Some(self.kinds.iter().map(mass).collect::<Result<_>>()?);
        }
        Ok(self.found)
    }
}

/// Checks that an atom has the columns of its style, or three more for image flags.
fn check_columns(lines: &Lines, style: Style, columns: usize) -> Result<()> {
    let width = style.position + 3;
    if columns == 0 {
        return Err(
            lines.error("is empty where an atom should be", "check that the number of atoms is right")
        );
    }
    if columns != width && columns != width + 3 {
        let what = format!("has {columns} columns instead of {width}, or {} with images", width + 3);
        return Err(lines.error(what, "check the atom style, and that the number of atoms is right"));
    }
    Ok(())
}

/// Reads the next line that is not empty, which must exist.
fn next_nonempty(lines: &mut Lines, text: &mut String, what: &str) -> Result<()> {
    loop {
        lines.expect(text, what)?;
        if !without_comment(text).is_empty() {
            return Ok(());
        }
    }
}

/// Reads the next line that is not empty; `text` is empty at the end of the file.
fn next_keyword(lines: &mut Lines, text: &mut String) -> Result<()> {
    while lines.next(text)? {
        if !without_comment(text).is_empty() {
            return Ok(());
        }
    }
    Ok(())
}

/// Skips an ignored section, up to the next keyword.
fn pass_section(lines: &mut Lines, text: &mut String) -> Result<()> {
    loop {
        next_keyword(lines, text)?;
        let keyword = text.trim_start().starts_with(|letter: char| letter.is_ascii_uppercase());
        if text.is_empty() || keyword {
            return Ok(());
        }
    }
}

fn atom_id(lines: &Lines, field: &str) -> Result<u64> {
    match lines.parse_integer(field, "an atom number")? {
        0 | u64::MAX => Err(lines.error(format!("has the atom number {field}"), "number the atoms from 1")),
        id => Ok(id),
    }
}

fn vector(lines: &Lines, fields: &[&str], what: &str) -> Result<Vec3d> {
    Ok(Vec3d::new(
        lines.parse_number(fields[0], what)?,
        lines.parse_number(fields[1], what)?,
        lines.parse_number(fields[2], what)?,
    ))
}
