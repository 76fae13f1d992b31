//! GROMACS `.gro`: a title, the number of atoms, one fixed-width line per atom, the box. Units are nm and ps.
//!
//! Columns (GROMACS reference manual, "gro file format"): residue number 5, residue name 5, atom name 5, atom
//! number 5, then positions and optional velocities. Their column width is the distance between the decimal
//! points of the first atom. Atom numbers wrap around after 99999, so ids are row numbers, counted from 1.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lines::{Lines, excerpt};
use super::{Configuration, Hints, RECTANGULAR_ONLY, box_of, check_single_frame, index_of, off_axes};
use crate::Result;
use crate::space::{SimulationBox, Vec3d};

/// Columns before the positions.
const FIXED_COLUMNS: usize = 20;
/// Shortest atom line in bytes: the fixed columns, and 9 bytes for three coordinates and the newline.
const MIN_ATOM_BYTES: u64 = FIXED_COLUMNS as u64 + 9;

pub(super) fn read(
    lines: &mut Lines,
    hints: Hints,
    share: &dyn Fn(u64) -> Range<u64>,
) -> Result<Configuration> {
    let mut text = String::new();
    lines.expect(&mut text, "the title")?;
    let mut found = Configuration { title: text.trim().to_owned(), ..Configuration::default() };
    lines.expect(&mut text, "the number of atoms")?;
    let count: u64 = lines.parse_integer(text.trim(), "the number of atoms")?;
    found.count = lines.check_count(count, MIN_ATOM_BYTES)?;
    let rows = share(found.count);
    let mut places = BTreeMap::new();
    // All ranks parse the first atom, which defines the columns.
    let mut columns = None;
    let mut velocities = Vec::new();
    for row in 0..found.count {
        if row > 0 && !rows.contains(&row) {
            lines.skip("an atom")?;
            continue;
        }
        lines.expect(&mut text, "an atom")?;
        let columns = match columns {
            Some(columns) => columns,
            None => *columns.insert(Columns::of(lines, &text)?),
        };
        let (name, position, velocity) = columns.atom(lines, &text)?;
        if rows.contains(&row) {
            found.ids.push(row + 1);
            found.species.push(index_of(&mut found.names, &mut places, name));
            found.positions.push(position);
            velocities.extend(velocity);
        }
    }
    found.velocities = columns.filter(|columns| columns.velocities).map(|_| velocities);
    lines.expect(&mut text, "the box")?;
    found.bx = Some(box_in(lines, &text, &mut found.notes)?);
    check_single_frame(
        lines,
        hints,
        &mut found,
        "cut out one frame, for example with `gmx trjconv -dump TIME`",
    )?;
    Ok(found)
}

/// Column layout of the atoms.
#[derive(Clone, Copy)]
struct Columns {
    width: usize,
    velocities: bool,
}

impl Columns {
    /// Determines the layout from the first atom.
    fn of(lines: &Lines, text: &str) -> Result<Self> {
        let points: Vec<usize> = text
            .char_indices()
            .filter(|&(at, c)| at >= FIXED_COLUMNS && c == '.')
            .map(|(at, _)| at)
            .collect();
        match points[..] {
            [x, y, z, ..] if y - x == z - y && y > x + 1 => {
                let width = y - x;
                Ok(Self { width, velocities: text.trim_end().len() > FIXED_COLUMNS + 3 * width })
            }
            _ => Err(lines.error(
                "does not have three coordinates in columns of equal width after the 20th letter",
                "write the file with GROMACS's own columns: %5d%-5s%5s%5d%8.3f%8.3f%8.3f",
            )),
        }
    }

    fn atom<'a>(&self, lines: &Lines, text: &'a str) -> Result<(&'a str, Vec3d, Option<Vec3d>)> {
        if !text.is_ascii() {
            let what = "has letters that are not ASCII, behind which columns cannot be counted";
            return Err(lines.error(what, "rename the atom or residue in plain letters"));
        }
        let column = |k: usize| {
            let start = FIXED_COLUMNS + k * self.width;
            text.get(start..text.len().min(start + self.width)).unwrap_or("").trim()
        };
        let vector = |first: usize, what: &str| -> Result<Vec3d> {
            let component = |k| lines.parse_number(column(first + k), what);
            Ok(Vec3d::new(component(0)?, component(1)?, component(2)?))
        };
        let name = text.get(10..15).map(str::trim).filter(|name| !name.is_empty()).ok_or_else(|| {
            lines.error("has no atom name in its columns 11 to 15", "give every atom a name")
        })?;
        let position = vector(0, "a coordinate")?;
        self.check_velocity(lines, text)?;
        let velocity = self.velocities.then(|| vector(3, "a velocity")).transpose()?;
        Ok((name, position, velocity))
    }

    /// Checks that this atom has a velocity if the first has, and only then.
    fn check_velocity(&self, lines: &Lines, text: &str) -> Result<()> {
        let length = text.trim_end().len();
        let more = length > FIXED_COLUMNS + 3 * self.width;
        if more != self.velocities {
            let [this, first] = if more { ["a", "none"] } else { ["no", "one"] };
            let what = format!("has {this} velocity, but the first atom (line 3) has {first}");
            return Err(lines.error(what, "give every atom a velocity, 0 where it rests, or none a velocity"));
        }
        if length > FIXED_COLUMNS + 6 * self.width {
            let rest = text.get(FIXED_COLUMNS + 6 * self.width..).unwrap_or("").trim();
            let what = format!("has \"{}\" behind the velocity", excerpt(rest));
            return Err(lines.error(what, "take it out: an atom has a position and a velocity at most"));
        }
        Ok(())
    }
}

/// Parses the box in the last line: three edges, or nine numbers of which the last six are zero up to
/// rounding.
fn box_in(lines: &Lines, text: &str, notes: &mut Vec<String>) -> Result<SimulationBox> {
    let fields = box_fields(text);
    if ![3, 9].contains(&fields.len()) {
        let what = format!("should be the box, three or nine numbers, and is \"{}\"", excerpt(text));
        return Err(lines.error(what, "check the number of atoms in line 2, and that the file is whole"));
    }
    let numbers: Vec<f64> =
        fields.iter().map(|field| lines.parse_number(field, "an edge of the box")).collect::<Result<_>>()?;
    let edges = Vec3d::new(numbers[0], numbers[1], numbers[2]);
    let bx = box_of(Vec3d::zeros(), edges, [true; 3]).ok_or_else(|| {
        let what = format!("has a box without extent: {} x {} x {}", edges.x, edges.y, edges.z);
        lines.error(what, "give the box three edges above 0, for example with `gmx editconf -box X Y Z`")
    })?;
    if let Some(number) = off_axes(edges, &numbers[3..], notes) {
        let what =
            format!("has a box that is not rectangular: its vectors have a component {number} off the axes");
        return Err(lines.error(what, RECTANGULAR_ONLY));
    }
    Ok(bx)
}

/// Splits the box line into at most ten numbers. Numbers of a large box may touch: all have the decimals of
/// the last.
fn box_fields(text: &str) -> Vec<&str> {
    let fields: Vec<&str> = text.split_whitespace().take(10).collect();
    let points = |text: &str| text.bytes().filter(|&byte| byte == b'.').count();
    if !text.is_ascii() || fields.iter().all(|field| points(field) < 2) {
        return fields;
    }
    let text = text.trim_end();
    let decimals = text.len() - text.rfind('.').unwrap_or_default();
    let (mut start, mut cut) = (0, Vec::new());
    for (point, _) in text.match_indices('.').take(10) {
        let end = text.len().min(point + decimals);
        cut.push(text[start.min(end)..end].trim());
        start = end;
    }
    cut
}
