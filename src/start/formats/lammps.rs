//! LAMMPS data: a header of counts and box, then sections named by keywords (LAMMPS manual, "read_data command").
//!
//! Read are Masses, Atoms (styles atomic, charge, molecular with its kin, full), Velocities, the labels of types; pair
//! coefficients are told, as the deck's interaction is what holds. Bonded interactions, slanted boxes and particles with
//! a shape are refused, because leaving them out would be another system.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::lines::{Lines, shortened};
use super::{Configuration, Hints, SLANTED, box_of};
use crate::Result;
use crate::deck::plan::FileUnits;
use crate::space::{SimulationBox, Vec3d};

/// Most coefficients that are told.
const MOST_TOLD: usize = 20;

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
            title: header.title.clone(),
            count: header.atoms,
            bx: Some(header.bx),
            ..Configuration::default()
        },
        rows: share(header.atoms),
        header,
        masses: BTreeMap::new(),
        labels: BTreeMap::new(),
        kinds: HashMap::new(),
        types: Vec::new(),
        velocities: None,
        atoms_read: false,
    };
    // `text` holds a keyword, or nothing at the end of the file
    while !text.is_empty() {
        data.section(lines, &mut text, hints)?;
    }
    data.finish(lines)
}

/// The count, if a line of the header says how many atoms there are.
pub(super) fn counts_atoms(line: &str) -> Option<u64> {
    match line.split('#').next()?.split_whitespace().collect::<Vec<_>>()[..] {
        [count, "atoms"] => count.parse().ok(),
        _ => None,
    }
}

/// The units that newer versions of `write_data` note in the first line.
fn units_of(lines: &Lines, title: &str) -> Result<Option<FileUnits>> {
    let name = title.split_once("units = ").and_then(|(_, after)| after.split([',', ' ']).next());
    let Some(name) = name else { return Ok(None) };
    FileUnits::named(name).map(Some).ok_or_else(|| {
        let what = format!("its first line says that it is in the units \"{}\"", shortened(name));
        lines.content(what, "write it in LAMMPS's units lj, real or metal")
    })
}

/// What stands before the first section.
struct Header {
    title: String,
    atoms: u64,
    types: u64,
    bx: SimulationBox,
}

impl Header {
    /// Leaves the first keyword in `text`, which holds the title before.
    fn read(lines: &mut Lines, text: &mut String) -> Result<Self> {
        let title = text.trim_start_matches('#').trim().to_owned();
        let (mut atoms, mut types) = (None, None);
        let mut sides = [None; 3];
        while lines.next(text)? {
            let fields: Vec<&str> = bare(text).split_whitespace().collect();
            match fields[..] {
                [] => continue,
                [count, "atoms"] => {
                    let count = lines.whole_in(count, "the number of atoms")?;
                    // "1 1 0 0 0" and its end
                    atoms = Some(lines.believable(count, 9)?);
                }
                [count, "atom", "types"] => types = Some(lines.whole_in(count, "the number of atom types")?),
                [count, kind @ ("bonds" | "angles" | "dihedrals" | "impropers" | "crossterms")] => {
                    refuse(
                        lines,
                        count,
                        kind,
                        "bonded interactions are not available: write the file without them",
                    )?;
                }
                [count, kind @ ("ellipsoids" | "lines" | "triangles" | "bodies")] => {
                    refuse(lines, count, kind, "particles have no shape here: take atoms of another style")?;
                }
                [_, "bond" | "angle" | "dihedral" | "improper", "types"] | [_, "extra", ..] => {}
                [lower, upper, from, to] if dimension(from, to) < 3 => {
                    let side = [lines.number_in(lower, from)?, lines.number_in(upper, to)?];
                    sides[dimension(from, to)] = Some(side);
                }
                [xy, xz, yz, "xy", "xz", "yz"] => {
                    for (field, what) in [(xy, "xy"), (xz, "xz"), (yz, "yz")] {
                        let tilt = lines.number_in(field, what)?;
                        if tilt != 0.0 {
                            let what = format!("tilts the box: {what} = {tilt}");
                            return Err(lines.wrong(what, SLANTED));
                        }
                    }
                }
                [.., "avec" | "bvec" | "cvec"] | [.., "abc", "origin"] => {
                    return Err(lines.wrong("gives a general triclinic box", SLANTED));
                }
                _ => break,
            }
        }
        if bare(text).is_empty() {
            return Err(lines.content("it has a header and no section".into(), "add the section Atoms"));
        }
        let missing = |what: &str| {
            lines.content(format!("its header has no \"{what}\""), "add that line below the title")
        };
        let side = |d: usize| sides[d].ok_or_else(|| missing(&format!("{0}lo {0}hi", ["x", "y", "z"][d])));
        let (x, y, z) = (side(0)?, side(1)?, side(2)?);
        let bx = box_of(Vec3d::new(x[0], y[0], z[0]), Vec3d::new(x[1], y[1], z[1]), [true; 3]);
        Ok(Header {
            title,
            atoms: atoms.ok_or_else(|| missing("N atoms"))?,
            types: types.ok_or_else(|| missing("N atom types"))?,
            bx: bx.ok_or_else(|| {
                lines.content(
                    format!("its box has no extent: {x:?}, {y:?}, {z:?}"),
                    "give each lo below its hi",
                )
            })?,
        })
    }
}

/// The dimension of the names of a side of the box; 3 for other names.
fn dimension(from: &str, to: &str) -> usize {
    let names = [("xlo", "xhi"), ("ylo", "yhi"), ("zlo", "zhi")];
    names.iter().position(|&names| names == (from, to)).unwrap_or(3)
}

fn refuse(lines: &Lines, count: &str, kind: &str, remedy: &str) -> Result<()> {
    let count: u64 = lines.whole_in(count, "a count")?;
    if count == 0 { Ok(()) } else { Err(lines.wrong(format!("announces {count} {kind}"), remedy)) }
}

/// A line without its comment.
fn bare(text: &str) -> &str {
    text.split('#').next().unwrap_or("").trim()
}

/// Where the columns of an atom style stand.
#[derive(Clone, Copy)]
struct Style {
    kind: usize,
    charge: Option<usize>,
    position: usize,
}

/// The atom styles that are read, with their columns.
const STYLES: [(&str, Style); 6] = [
    ("atomic", Style { kind: 1, charge: None, position: 2 }),
    ("charge", Style { kind: 1, charge: Some(2), position: 3 }),
    ("bond", Style { kind: 2, charge: None, position: 3 }),
    ("angle", Style { kind: 2, charge: None, position: 3 }),
    ("molecular", Style { kind: 2, charge: None, position: 3 }),
    ("full", Style { kind: 2, charge: Some(3), position: 4 }),
];

impl Style {
    /// By the hint behind the keyword, the deck's, or else the columns of the first atom.
    fn of(lines: &Lines, hint: Option<&str>, columns: usize) -> Result<Self> {
        let names = STYLES.map(|(name, _)| name).join(", ");
        match hint {
            Some(hint) => STYLES.iter().find(|(name, _)| *name == hint).map(|(_, style)| *style).ok_or_else(|| {
                let what = format!("gives atoms of the style \"{}\"", shortened(hint));
                lines.wrong(what, &format!("write the data with one of the styles {names}"))
            }),
            None => match columns {
                5 | 8 => Ok(STYLES[0].1),
                7 | 10 => Ok(STYLES[5].1),
                _ => Err(lines.wrong(
                    format!("has {columns} columns, which may be of several atom styles"),
                    "write the style behind the keyword, as in `Atoms # charge`, or give `atom_style` in [start.file]",
                )),
            },
        }
    }
}

/// What has been read.
struct Data {
    found: Configuration,
    header: Header,
    rows: Range<u64>,
    masses: BTreeMap<u64, f64>,
    labels: BTreeMap<u64, String>,
    /// The types by their labels.
    kinds: HashMap<String, u64>,
    /// Type of each particle.
    types: Vec<u64>,
    velocities: Option<Vec<Vec3d>>,
    atoms_read: bool,
}

impl Data {
    /// The section of the keyword in `text`, which holds the next one afterwards, or nothing.
    fn section(&mut self, lines: &mut Lines, text: &mut String, hints: Hints) -> Result<()> {
        let keyword = bare(text).to_owned();
        let hint =
            text.split_once('#').map(|(_, hint)| hint.trim().to_owned()).filter(|hint| !hint.is_empty());
        let types = self.header.types;
        match keyword.as_str() {
            "Atoms" => {
                let hint = hint.as_deref().or(hints.atom_style).map(str::to_owned);
                self.atoms(lines, text, hint.as_deref())?;
            }
            "Velocities" => self.velocities(lines, text)?,
            "Masses" => {
                self.each(lines, text, types, "a mass", |data, lines, line| data.mass(lines, line))?
            }
            "Atom Type Labels" => {
                self.each(lines, text, types, "a label", |data, lines, line| data.label(lines, line))?
            }
            "Pair Coeffs" => self.coefficients(lines, text, hint.as_deref(), types)?,
            "PairIJ Coeffs" => {
                let pairs = types.saturating_mul(types.saturating_add(1)) / 2;
                self.coefficients(lines, text, hint.as_deref(), pairs)?;
            }
            name if name.ends_with(" Coeffs") || name.ends_with("Type Labels") => {
                return pass_section(lines, text);
            }
            "Bonds" | "Angles" | "Dihedrals" | "Impropers" => {
                return Err(lines.wrong(
                    format!("begins the section {keyword}"),
                    "bonded interactions are not available: write the file without them",
                ));
            }
            _ => {
                let what = format!("begins the section \"{}\", which is not known", shortened(&keyword));
                return Err(
                    lines.wrong(what, "remove that section, or check the counts of the section before it")
                );
            }
        }
        next_keyword(lines, text)
    }

    /// So many lines that are not empty.
    fn each(
        &mut self,
        lines: &mut Lines,
        text: &mut String,
        count: u64,
        what: &str,
        work: impl Fn(&mut Self, &Lines, &str) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..count {
            filled(lines, text, what)?;
            work(self, lines, text)?;
        }
        Ok(())
    }

    fn mass(&mut self, lines: &Lines, line: &str) -> Result<()> {
        let fields: Vec<&str> = bare(line).split_whitespace().collect();
        let &[kind, mass] = &fields[..] else {
            return Err(
                lines.wrong("should be a type and its mass", "write `1 39.948` in the section Masses")
            );
        };
        let kind = self.kind(lines, kind)?;
        let mass = lines.number_in(mass, "a mass")?;
        if mass <= 0.0 {
            return Err(lines.wrong(format!("has the mass {mass}"), "give every type a mass above 0"));
        }
        self.masses.insert(kind, mass);
        let label = line.split_once('#').and_then(|(_, comment)| comment.split_whitespace().next());
        if let Some(label) = label
            && !self.labels.contains_key(&kind)
        {
            self.name(kind, label);
        }
        Ok(())
    }

    fn label(&mut self, lines: &Lines, line: &str) -> Result<()> {
        match bare(line).split_whitespace().collect::<Vec<_>>()[..] {
            [kind, label] => {
                let kind = self.kind(lines, kind)?;
                self.name(kind, label);
                Ok(())
            }
            _ => {
                Err(lines
                    .wrong("should be a type and its label", "write `1 Ar` in the section Atom Type Labels"))
            }
        }
    }

    /// Give a type a label, in place of the one it had.
    fn name(&mut self, kind: u64, label: &str) {
        if let Some(before) = self.labels.insert(kind, label.to_owned())
            && self.kinds.get(&before) == Some(&kind)
        {
            self.kinds.remove(&before);
        }
        self.kinds.entry(label.to_owned()).or_insert(kind);
    }

    /// A type by its number or label.
    fn kind(&self, lines: &Lines, field: &str) -> Result<u64> {
        let labeled = || self.kinds.get(field).copied();
        let kind = match field.parse::<u64>().ok().or_else(labeled) {
            Some(kind) => kind,
            None => lines.whole_in(field, "an atom type")?,
        };
        if kind == 0 || kind > self.header.types {
            let what = format!("has the atom type {kind}, but there are {}", self.header.types);
            return Err(lines.wrong(what, "number the types from 1, and count them in `N atom types`"));
        }
        Ok(kind)
    }

    fn coefficients(
        &mut self,
        lines: &mut Lines,
        text: &mut String,
        hint: Option<&str>,
        count: u64,
    ) -> Result<()> {
        let mut told = Vec::new();
        for _ in 0..count {
            filled(lines, text, "coefficients of pairs")?;
            if told.len() < MOST_TOLD {
                told.push(shortened(bare(text)));
            }
        }
        let style = hint.unwrap_or("a style that is not named");
        self.found.notes.push(format!(
            "its pair coefficients ({}: {}) are not used: the deck's interaction holds",
            shortened(style),
            told.join("; ")
        ));
        Ok(())
    }

    fn atoms(&mut self, lines: &mut Lines, text: &mut String, hint: Option<&str>) -> Result<()> {
        if std::mem::replace(&mut self.atoms_read, true) {
            return Err(lines.wrong("begins a second section Atoms", "keep one of them"));
        }
        let mut style = None;
        let (mut charges, mut images) = (Vec::new(), Vec::new());
        for row in 0..self.header.atoms {
            // all ranks look at the first atom, which says how all are written
            if row > 0 && !self.rows.contains(&row) {
                lines.pass("an atom")?;
                continue;
            }
            if row == 0 {
                filled(lines, text, "an atom")?;
            } else {
                lines.expect(text, "an atom")?;
            }
            let fields: Vec<&str> = bare(text).split_whitespace().take(16).collect();
            let style = match style {
                Some(style) => style,
                None => *style.insert(Style::of(lines, hint, fields.len())?),
            };
            let Style { kind, charge, position } = style;
            let width = position + 3;
            if fields.is_empty() {
                return Err(lines
                    .wrong("is empty where an atom should be", "check that the number of atoms is right"));
            }
            if fields.len() != width && fields.len() != width + 3 {
                let what =
                    format!("has {} columns instead of {width}, or {} with images", fields.len(), width + 3);
                return Err(lines.wrong(what, "check the atom style, and that the number of atoms is right"));
            }
            if !self.rows.contains(&row) {
                continue;
            }
            self.found.ids.push(identity(lines, fields[0])?);
            self.types.push(self.kind(lines, fields[kind])?);
            self.found.positions.push(vector(lines, &fields[position..], "a coordinate")?);
            if let Some(charge) = charge {
                charges.push(lines.number_in(fields[charge], "a charge")?);
            }
            let image = |d: usize| match fields.get(width + d) {
                Some(field) => lines.whole_in(field, "an image"),
                None => Ok(0),
            };
            images.push([image(0)?, image(1)?, image(2)?]);
        }
        self.found.charges = style.and_then(|style| style.charge).map(|_| charges);
        self.found.images = Some(images);
        Ok(())
    }

    /// Velocities may stand in another order than the atoms.
    fn velocities(&mut self, lines: &mut Lines, text: &mut String) -> Result<()> {
        if !self.atoms_read || self.velocities.is_some() {
            let remedy = "have one section Atoms and after it one section Velocities";
            return Err(lines.wrong("begins the section Velocities, which stands behind Atoms, once", remedy));
        }
        let places: HashMap<u64, usize> =
            self.found.ids.iter().enumerate().map(|(row, &id)| (id, row)).collect();
        let mut velocities = vec![None; self.found.ids.len()];
        for _ in 0..self.header.atoms {
            filled(lines, text, "a velocity")?;
            let fields: Vec<&str> = bare(text).split_whitespace().take(8).collect();
            let Some(&row) = places.get(&identity(lines, fields[0])?) else { continue };
            if fields.len() != 4 || velocities[row].is_some() {
                let what = "should be an atom number, once, and three components of its velocity";
                return Err(lines.wrong(what, "correct that line, or leave the section Velocities out"));
            }
            velocities[row] = Some(vector(lines, &fields[1..], "a velocity")?);
        }
        if let Some(row) = velocities.iter().position(Option::is_none) {
            let what = format!("the atom {} has no velocity", self.found.ids[row]);
            return Err(
                lines.content(what, "give every atom a line in Velocities, or leave that section out")
            );
        }
        self.velocities = Some(velocities.into_iter().flatten().collect());
        Ok(())
    }

    fn finish(mut self, lines: &Lines) -> Result<Configuration> {
        if !self.atoms_read {
            return Err(lines.content(
                "it has no section Atoms".into(),
                "add it, or copy the file anew if it was cut off",
            ));
        }
        let mut names: Vec<u64> = self.types.clone();
        names.sort_unstable();
        names.dedup();
        let place = |kind: &u64| names.binary_search(kind).unwrap_or_default();
        self.found.species = self.types.iter().map(place).collect();
        let name = |kind: &u64| self.labels.get(kind).cloned().unwrap_or_else(|| kind.to_string());
        self.found.names = names.iter().map(name).collect();
        if !self.masses.is_empty() || self.header.atoms == 0 {
            let mass = |kind: &u64| {
                self.masses.get(kind).copied().ok_or_else(|| {
                    lines.content(format!("the atom type {kind} has no mass"), "add it to the section Masses")
                })
            };
            self.found.masses = Some(self.types.iter().map(mass).collect::<Result<_>>()?);
        }
        self.found.velocities = self.velocities;
        Ok(self.found)
    }
}

/// The next line that is not empty, which must be there.
fn filled(lines: &mut Lines, text: &mut String, what: &str) -> Result<()> {
    loop {
        lines.expect(text, what)?;
        if !bare(text).is_empty() {
            return Ok(());
        }
    }
}

/// The next line that is not empty, or nothing at the end of the file.
fn next_keyword(lines: &mut Lines, text: &mut String) -> Result<()> {
    while lines.next(text)? {
        if !bare(text).is_empty() {
            return Ok(());
        }
    }
    Ok(())
}

/// Pass over a section that does not matter, to the next keyword.
fn pass_section(lines: &mut Lines, text: &mut String) -> Result<()> {
    loop {
        next_keyword(lines, text)?;
        let keyword = text.trim_start().starts_with(|letter: char| letter.is_ascii_uppercase());
        if text.is_empty() || keyword {
            return Ok(());
        }
    }
}

fn identity(lines: &Lines, field: &str) -> Result<u64> {
    match lines.whole_in(field, "an atom number")? {
        0 | u64::MAX => Err(lines.wrong(format!("has the atom number {field}"), "number the atoms from 1")),
        id => Ok(id),
    }
}

fn vector(lines: &Lines, fields: &[&str], what: &str) -> Result<Vec3d> {
    Ok(Vec3d::new(
        lines.number_in(fields[0], what)?,
        lines.number_in(fields[1], what)?,
        lines.number_in(fields[2], what)?,
    ))
}
