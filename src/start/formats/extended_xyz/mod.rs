//! Extended XYZ: the number of atoms; a line of `key=value` pairs with the box (`Lattice`), the columns
//! (`Properties`), `pbc` and `Origin`; one line per atom. Plain XYZ has no keys: a name and three
//! coordinates.
//!
//! Sources: the extended XYZ specification (libAtoms/extxyz), ASE's `ase.io.extxyz` for the column names,
//! OVITO's manual for `Origin`. Units are Ångström by convention. Velocities are `momenta` (ASE: momentum,
//! divided by the mass) or `velo` and its synonyms.

mod columns;
mod keys;

use std::collections::BTreeMap;
use std::ops::Range;

use super::elements::atomic_symbol;
use super::lines::{Lines, excerpt};
use super::{Configuration, Hints, RECTANGULAR_ONLY, box_of, check_single_frame, index_of, listed, off_axes};
use crate::Result;
use crate::space::Vec3d;
use columns::Columns;
use keys::{Keys, Value};

/// Shortest atom line: `0 0 0` with newline. The last line may lack the newline; the two lines before make up
/// for it.
const MIN_ATOM_BYTES: u64 = 6;

pub(super) fn read(
    lines: &mut Lines,
    hints: Hints,
    share: &dyn Fn(u64) -> Range<u64>,
) -> Result<Configuration> {
    let mut text = String::new();
    lines.expect(&mut text, "the number of atoms")?;
    let count: u64 = lines.parse_integer(text.trim(), "the number of atoms")?;
    let count = lines.check_count(count, MIN_ATOM_BYTES)?;
    lines.expect(&mut text, "the comment with Lattice and Properties")?;
    let keys = Keys::of(lines, &text)?;
    let mut found = Configuration { count, ..Configuration::default() };
    cell(lines, &keys, &mut found)?;
    found.title = match keys.get("title") {
        Some(title) => title.text().to_owned(),
        None if keys.extended => String::new(),
        None => text.trim().to_owned(),
    };
    let properties = keys.get("properties");
    let mut columns = match properties {
        Some(properties) => Columns::of(lines, properties.text())?,
        None => Columns::plain(),
    };
    found.notes.extend(columns.note());
    if keys.extended && !keys.unused().is_empty() {
        found.notes.push(format!("keys not used: {}", listed(&keys.unused())));
    }
    let rows = share(count);
    let mut atoms = Atoms::new(&columns);
    for row in 0..count {
        // In plain XYZ all ranks parse the first atom, which defines the number of columns.
        let counted = row == 0 && properties.is_none();
        if !counted && !rows.contains(&row) {
            lines.skip("an atom")?;
            continue;
        }
        lines.expect(&mut text, "an atom")?;
        if counted {
            let more = text.split_whitespace().count().saturating_sub(columns.count);
            columns.count += more;
            if more > 0 {
                found.notes.push(format!("columns not used: the last {more}, which no Properties name"));
            }
        }
        if rows.contains(&row) {
            atoms.add(lines, &columns, &text, row)?;
        }
    }
    let remedy = "cut out one frame, for example with `ase convert -n 0 FILE FRAME.xyz`";
    check_single_frame(lines, hints, &mut found, remedy)?;
    atoms.fill(&mut found);
    Ok(found)
}

/// Reads the box from `Lattice` and `Origin`, and the boundary from `pbc`.
fn cell(lines: &Lines, keys: &Keys, found: &mut Configuration) -> Result<()> {
    let flags = keys.get("pbc").map(|value| boundary(lines, value)).transpose()?;
    let Some(written) = keys.get("lattice") else {
        if flags.is_some_and(|flags| flags.contains(&true)) {
            return Err(lines.error(
                "says that it is periodic (pbc), and has no Lattice",
                "write Lattice=\"ax 0 0 0 by 0 0 0 cz\", or take pbc out and give the box in [space]",
            ));
        }
        return Ok(());
    };
    let (edges, off) = vectors(lines, written)?;
    let lower = match keys.get("origin") {
        None => Vec3d::zeros(),
        Some(origin) => match numbers(lines, origin, "Origin")?[..] {
            [x, y, z] => Vec3d::new(x, y, z),
            _ => return Err(lines.error("has an Origin that is not three numbers", "write Origin=\"x y z\"")),
        },
    };
    let bx = box_of(lower, lower + edges, flags.unwrap_or([true; 3])).ok_or_else(|| {
        let what = format!("has a Lattice without extent: {} x {} x {}", edges.x, edges.y, edges.z);
        lines.error(
            what,
            "give the box three edges above 0 in Lattice, or take Lattice out where there is no box",
        )
    })?;
    if let Some(slant) = off_axes(edges, &off, &mut found.notes) {
        let what = format!(
            "has a Lattice that is not rectangular: its vectors have a component {slant} off the axes"
        );
        return Err(lines.error(what, RECTANGULAR_ONLY));
    }
    found.bx = Some(bx);
    found.boundary_stated = flags.is_some();
    Ok(())
}

/// The edges of a Lattice, and the off-axis components of its vectors. Accepts three vectors as nine numbers
/// or three lists, or three edges.
fn vectors(lines: &Lines, written: &Value) -> Result<(Vec3d, Vec<f64>)> {
    let remedy = "write Lattice=\"ax 0 0 0 by 0 0 0 cz\"";
    let vectors = match written.written() {
        Some(Value::Matrix(rows)) if rows.len() == 3 && rows.iter().all(|row| row.len() == 3) => {
            numbers(lines, &Value::List(rows.concat()), "Lattice")?
        }
        Some(Value::Matrix(rows)) => {
            let what = format!("has a Lattice of {} lists, which are not three of three numbers", rows.len());
            return Err(lines.error(what, remedy));
        }
        _ => numbers(lines, written, "Lattice")?,
    };
    match vectors[..] {
        [x, y, z] => Ok((Vec3d::new(x, y, z), Vec::new())),
        [x, xy, xz, yx, y, yz, zx, zy, z] => Ok((Vec3d::new(x, y, z), vec![xy, xz, yx, yz, zx, zy])),
        _ => Err(lines.error(format!("has a Lattice of {} numbers instead of 9", vectors.len()), remedy)),
    }
}

/// The numbers of a list, at most ten.
fn numbers(lines: &Lines, value: &Value, what: &str) -> Result<Vec<f64>> {
    let words = value.words().ok_or_else(|| {
        lines.error(
            format!("has brackets in {what} that are no list of numbers"),
            "write the numbers in quotes",
        )
    })?;
    words.iter().take(10).map(|word| lines.parse_number(word, what)).collect()
}

/// The flags of `pbc`: one for all dimensions, or three. 1 and 0 are accepted as in ASE; other words are
/// errors.
fn boundary(lines: &Lines, value: &Value) -> Result<[bool; 3]> {
    let remedy = "write pbc=\"T T T\" with T (periodic) or F (open) for x, y and z";
    let words = value.words().unwrap_or_default();
    let flag = |word: &String| match word.as_str() {
        "T" | "t" | "true" | "True" | "TRUE" | "1" => Ok(true),
        "F" | "f" | "false" | "False" | "FALSE" | "0" => Ok(false),
        _ => Err(lines.error(format!("has \"{}\" in pbc, which is no flag", excerpt(word)), remedy)),
    };
    let flags: Vec<bool> = words.iter().take(4).map(flag).collect::<Result<_>>()?;
    match flags[..] {
        [x, y, z] => Ok([x, y, z]),
        [all] => Ok([all; 3]),
        _ => Err(lines.error("has a pbc that is not three flags", remedy)),
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
        let fields: Vec<&str> = text.split_whitespace().take(columns.count + 1).collect();
        if fields.len() != columns.count {
            let more = if fields.len() > columns.count { "more" } else { "fewer" };
            let what =
                format!("has {} columns, {more} than {}", text.split_whitespace().count(), columns.count);
            let remedy = "give every atom the columns of Properties (without it, those of the first atom), \
                          and as many \
                          atoms as line 1 says";
            return Err(lines.error(what, remedy));
        }
        let vector = |at: usize, what: &str| -> Result<Vec3d> {
            let component = |k: usize| lines.parse_number(fields[at + k], what);
            Ok(Vec3d::new(component(0)?, component(1)?, component(2)?))
        };
        let id = columns.id.map_or(Ok(row), |at| lines.parse_integer(fields[at], "an atom number"))?;
        if id == u64::MAX {
            return Err(lines.error("has an atom number beyond 2^64 - 2", "number the atoms from 1"));
        }
        let name = match columns.numbers {
            Some(at) => {
                let number = lines.parse_integer(fields[at], "an atomic number")?;
                atomic_symbol(number).ok_or_else(|| {
                    let what = format!("has the atomic number {number}, which no element has");
                    lines.error(what, "correct it, or name the atoms in a column species:S:1")
                })?
            }
            None => columns.species.map_or("X", |at| fields[at]),
        };
        self.found.species.push(index_of(&mut self.found.names, &mut self.places, name));
        self.found.ids.push(id);
        self.found.positions.push(vector(columns.position, "a coordinate")?);
        for (place, to) in [(columns.velocity, &mut self.velocities), (columns.momentum, &mut self.momenta)] {
            if let Some(at) = place {
                to.push(vector(at, "a velocity or momentum")?);
            }
        }
        if let Some(at) = columns.mass {
            let mass = lines.parse_number(fields[at], "a mass")?;
            if mass <= 0.0 {
                return Err(lines.error(format!("has the mass {mass}"), "give every atom a mass above 0"));
            }
            self.masses.push(mass);
        }
        if let Some(at) = columns.charge {
            self.charges.push(lines.parse_number(fields[at], "a charge")?);
        }
        Ok(())
    }

    fn fill(self, found: &mut Configuration) {
        let [velocity, momentum, mass, charge] = self.has;
        found.momenta = momentum.then_some(self.momenta);
        found.velocities = velocity.then_some(self.velocities);
        found.masses = mass.then_some(self.masses);
        found.charges = charge.then_some(self.charges);
        (found.names, found.ids) = (self.found.names, self.found.ids);
        (found.species, found.positions) = (self.found.species, self.found.positions);
    }
}
