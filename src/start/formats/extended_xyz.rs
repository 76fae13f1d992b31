//! Extended XYZ: the number of atoms; a line of `key=value` with the box (`Lattice`), the meaning of the columns
//! (`Properties`), `pbc` and `Origin`; a line an atom. Plain XYZ is the case without keys: a name and three coordinates.
//!
//! Sources: the extended XYZ specification (libAtoms/extxyz), ASE's `ase.io.extxyz` for the names of the columns, OVITO's
//! manual for `Origin`. Ångström by convention. Velocities come as `momenta` (ASE: per mass) or as `velo` and the like.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lines::{Lines, shortened};
use super::{Configuration, Hints, SLANTED, box_of, index_of, only_frame};
use crate::Result;
use crate::space::{SimulationBox, Vec3d};

/// Shortest line of an atom: `0 0 0` and its end, which the last line may lack: the two lines before make up for it.
const SHORTEST: u64 = 6;
/// Most columns of an atom.
const MOST_COLUMNS: usize = 4096;

pub(super) fn read(
    lines: &mut Lines,
    hints: Hints,
    share: &dyn Fn(u64) -> Range<u64>,
) -> Result<Configuration> {
    let mut text = String::new();
    lines.expect(&mut text, "the number of atoms")?;
    let count: u64 = lines.whole_in(text.trim(), "the number of atoms")?;
    let count = lines.believable(count, SHORTEST)?;
    lines.expect(&mut text, "the comment with Lattice and Properties")?;
    let keys = keys_of(&text);
    let columns = Columns::of(lines, keys.get("properties").map_or("species:S:1:pos:R:3", String::as_str))?;
    let mut found = Configuration { count, bx: lattice(lines, &keys)?, ..Configuration::default() };
    found.title = keys.get("title").cloned().unwrap_or_default();
    let rows = share(count);
    let mut atoms = Atoms::new(&columns);
    for row in 0..count {
        if rows.contains(&row) {
            lines.expect(&mut text, "an atom")?;
            atoms.add(lines, &columns, &text, row)?;
        } else {
            lines.pass("an atom")?;
        }
    }
    only_frame(
        lines,
        hints,
        &mut found,
        "cut out one frame, for example with `ase convert -n 0 FILE FRAME.xyz`",
    )?;
    atoms.fill(&mut found);
    Ok(found)
}

/// The keys of the comment, in lower case, with their values; a key alone is true.
fn keys_of(comment: &str) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let mut rest = comment.trim();
    while !rest.is_empty() {
        let (key, after) = word(rest, true);
        let after = after.trim_start();
        let value = match after.strip_prefix('=') {
            Some(after) => {
                let (value, after) = word(after.trim_start(), false);
                rest = after.trim_start();
                value
            }
            None => {
                rest = after;
                "T"
            }
        };
        keys.entry(key.to_ascii_lowercase()).or_insert_with(|| value.to_owned());
    }
    keys
}

/// A word, or what stands in quotes or brackets, and what follows.
fn word(text: &str, key: bool) -> (&str, &str) {
    let close = match text.chars().next() {
        Some('"') => '"',
        Some('\'') => '\'',
        Some('{') => '}',
        Some('[') => ']',
        _ => {
            let end = text.find(|c: char| c.is_whitespace() || (key && c == '=')).unwrap_or(text.len());
            return text.split_at(end);
        }
    };
    let inside = &text[1..];
    match inside.find(close) {
        Some(end) => (&inside[..end], &inside[end + 1..]),
        None => (inside, ""),
    }
}

/// Numbers of a value, however they are separated.
fn numbers(lines: &Lines, text: &str, what: &str) -> Result<Vec<f64>> {
    let parts = text.split(|c: char| c.is_whitespace() || ",[]".contains(c)).filter(|part| !part.is_empty());
    parts.take(10).map(|part| lines.number_in(part, what)).collect()
}

/// The box of `Lattice`, `Origin` and `pbc`.
fn lattice(lines: &Lines, keys: &BTreeMap<String, String>) -> Result<Option<SimulationBox>> {
    let Some(written) = keys.get("lattice") else { return Ok(None) };
    let vectors = numbers(lines, written, "Lattice")?;
    let edges = match vectors[..] {
        [x, y, z] => [x, y, z],
        [x, _, _, _, y, _, _, _, z] => [x, y, z],
        _ => {
            let what = format!("has a Lattice of {} numbers", vectors.len());
            return Err(lines.wrong(what, "write Lattice=\"ax 0 0 0 by 0 0 0 cz\""));
        }
    };
    if vectors.len() == 9
        && let Some(&slant) = [1, 2, 3, 5, 6, 7].iter().map(|&k| &vectors[k]).find(|&&off| off != 0.0)
    {
        let what = format!(
            "has a Lattice that is not rectangular: its vectors have a component {slant} off the axes"
        );
        return Err(lines.wrong(what, SLANTED));
    }
    let lower =
        match keys.get("origin").map(|origin| numbers(lines, origin, "Origin")).transpose()?.as_deref() {
            None => Vec3d::zeros(),
            Some(&[x, y, z]) => Vec3d::new(x, y, z),
            Some(_) => {
                return Err(lines.wrong("has an Origin that is not three numbers", "write Origin=\"x y z\""));
            }
        };
    let periodic = match keys.get("pbc") {
        None => [true; 3],
        Some(text) => {
            let flags: Vec<bool> = text
                .split(|c: char| c.is_whitespace() || ",[]".contains(c))
                .filter(|flag| !flag.is_empty())
                .map(|flag| matches!(flag, "T" | "t" | "True" | "true" | "1"))
                .collect();
            match flags[..] {
                [x, y, z] => [x, y, z],
                [all] => [all; 3],
                _ => return Err(lines.wrong("has a pbc that is not three flags", "write pbc=\"T T T\"")),
            }
        }
    };
    let upper = lower + Vec3d::from(edges);
    box_of(lower, upper, periodic).map(Some).ok_or_else(|| {
        lines
            .wrong(format!("has a Lattice without extent: {edges:?}"), "give the edges of the box in Lattice")
    })
}

/// Where in a line the quantities stand.
#[derive(Default)]
struct Columns {
    count: usize,
    species: Option<usize>,
    position: usize,
    velocity: Option<usize>,
    momentum: Option<usize>,
    mass: Option<usize>,
    charge: Option<usize>,
    id: Option<usize>,
}

impl Columns {
    /// Of a `Properties` value: names, types and numbers of columns, separated by colons.
    fn of(lines: &Lines, properties: &str) -> Result<Self> {
        let wrong =
            |what: String| lines.wrong(what, "write Properties=species:S:1:pos:R:3, then perhaps velo:R:3");
        let mut columns = Columns::default();
        let mut position = None;
        let parts: Vec<&str> = properties.split(':').collect();
        for triple in parts.chunks(3) {
            let &[name, _, width] = triple else {
                return Err(wrong("has Properties that are not triples of name, type and number".into()));
            };
            let width: usize = lines.whole_in(width, "a number of columns")?;
            let at = columns.count;
            columns.count = at.saturating_add(width);
            if width == 0 || columns.count > MOST_COLUMNS {
                return Err(wrong(format!("gives {} columns to \"{}\"", width, shortened(name))));
            }
            let (place, expected) = match name.to_ascii_lowercase().as_str() {
                "species" | "type" | "element" => (&mut columns.species, 1),
                "z" | "numbers" if columns.species.is_none() => (&mut columns.species, 1),
                "pos" | "positions" | "position" => (&mut position, 3),
                "velo" | "vel" | "velocity" | "velocities" => (&mut columns.velocity, 3),
                "momenta" | "momentum" => (&mut columns.momentum, 3),
                "mass" | "masses" => (&mut columns.mass, 1),
                "charge" | "charges" | "initial_charges" => (&mut columns.charge, 1),
                "id" | "identifier" => (&mut columns.id, 1),
                _ => continue,
            };
            if width != expected {
                return Err(wrong(format!("gives {width} columns to \"{name}\" instead of {expected}")));
            }
            *place = Some(at);
        }
        columns.position = position.ok_or_else(|| wrong("has Properties without pos:R:3".into()))?;
        Ok(columns)
    }
}

/// The rows read so far.
struct Atoms {
    found: Configuration,
    places: BTreeMap<String, usize>,
    velocities: Vec<Vec3d>,
    momenta: Vec<Vec3d>,
    masses: Vec<f64>,
    charges: Vec<f64>,
    has: [bool; 4],
}

impl Atoms {
    fn new(columns: &Columns) -> Self {
        let has =
            [columns.velocity, columns.momentum, columns.mass, columns.charge].map(|place| place.is_some());
        Self {
            found: Configuration::default(),
            places: BTreeMap::new(),
            velocities: Vec::new(),
            momenta: Vec::new(),
            masses: Vec::new(),
            charges: Vec::new(),
            has,
        }
    }

    fn add(&mut self, lines: &Lines, columns: &Columns, text: &str, row: u64) -> Result<()> {
        let fields: Vec<&str> = text.split_whitespace().take(columns.count).collect();
        if fields.len() < columns.count {
            let what = format!("has {} columns instead of {}", fields.len(), columns.count);
            return Err(lines.wrong(what, "compare it with Properties, and the number of atoms with line 1"));
        }
        let vector = |at: usize, what: &str| -> Result<Vec3d> {
            let component = |k: usize| lines.number_in(fields[at + k], what);
            Ok(Vec3d::new(component(0)?, component(1)?, component(2)?))
        };
        let id = columns.id.map_or(Ok(row), |at| lines.whole_in(fields[at], "an atom number"))?;
        if id == u64::MAX {
            return Err(lines.wrong("has an atom number beyond 2^64 - 2", "number the atoms from 1"));
        }
        let name = columns.species.map_or("X", |at| fields[at]);
        self.found.species.push(index_of(&mut self.found.names, &mut self.places, name));
        self.found.ids.push(id);
        self.found.positions.push(vector(columns.position, "a coordinate")?);
        for (place, to) in [(columns.velocity, &mut self.velocities), (columns.momentum, &mut self.momenta)] {
            if let Some(at) = place {
                to.push(vector(at, "a velocity or momentum")?);
            }
        }
        if let Some(at) = columns.mass {
            let mass = lines.number_in(fields[at], "a mass")?;
            if mass <= 0.0 {
                return Err(lines.wrong(format!("has the mass {mass}"), "give every atom a mass above 0"));
            }
            self.masses.push(mass);
        }
        if let Some(at) = columns.charge {
            self.charges.push(lines.number_in(fields[at], "a charge")?);
        }
        Ok(())
    }

    fn fill(self, found: &mut Configuration) {
        let [velocity, momentum, mass, charge] = self.has;
        found.momenta = (momentum && !velocity).then_some(self.momenta);
        found.velocities = velocity.then_some(self.velocities);
        found.masses = mass.then_some(self.masses);
        found.charges = charge.then_some(self.charges);
        (found.names, found.ids) = (self.found.names, self.found.ids);
        (found.species, found.positions) = (self.found.species, self.found.positions);
    }
}
