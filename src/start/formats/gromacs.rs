//! GROMACS `.gro`: a title, the number of atoms, a line an atom in columns of fixed width, the box. Nanometers and
//! picoseconds.
//!
//! Columns (GROMACS reference manual, "gro file format"): residue number 5, residue name 5, atom name 5, atom number 5,
//! then positions and perhaps velocities in columns as wide as the decimal points of the first atom lie apart. Numbers
//! of atoms start anew after 99999, so that ids are the rows, counted from 1.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lines::{Lines, shortened};
use super::{Configuration, Hints, SLANTED, box_of, index_of, off_axes, only_frame};
use crate::Result;
use crate::space::{SimulationBox, Vec3d};

/// Columns before the positions.
const HEAD: usize = 20;
/// Shortest line of an atom: the head and three columns of a digit and a decimal point.
const SHORTEST: u64 = HEAD as u64 + 9;

pub(super) fn read(
    lines: &mut Lines,
    hints: Hints,
    share: &dyn Fn(u64) -> Range<u64>,
) -> Result<Configuration> {
    let mut text = String::new();
    lines.expect(&mut text, "the title")?;
    let mut found = Configuration { title: text.trim().to_owned(), ..Configuration::default() };
    lines.expect(&mut text, "the number of atoms")?;
    let count: u64 = lines.whole_in(text.trim(), "the number of atoms")?;
    found.count = lines.believable(count, SHORTEST)?;
    let rows = share(found.count);
    let mut places = BTreeMap::new();
    // All ranks look at the first atom, which says how all are written.
    let mut columns = None;
    let mut velocities = Vec::new();
    for row in 0..found.count {
        if row > 0 && !rows.contains(&row) {
            lines.pass("an atom")?;
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
    only_frame(lines, hints, &mut found, "cut out one frame, for example with `gmx trjconv -dump TIME`")?;
    Ok(found)
}

/// How atoms are written.
#[derive(Clone, Copy)]
struct Columns {
    width: usize,
    velocities: bool,
}

impl Columns {
    /// As the first atom has them.
    fn of(lines: &Lines, text: &str) -> Result<Self> {
        let points: Vec<usize> =
            text.char_indices().filter(|&(at, c)| at >= HEAD && c == '.').map(|(at, _)| at).collect();
        match points[..] {
            [x, y, z, ..] if y - x == z - y && y > x + 1 => {
                let width = y - x;
                Ok(Self { width, velocities: text.trim_end().len() > HEAD + 3 * width })
            }
            _ => Err(lines.wrong(
                "does not have three coordinates in columns of equal width after the 20th letter",
                "write the file with GROMACS's own columns: %5d%-5s%5s%5d%8.3f%8.3f%8.3f",
            )),
        }
    }

    fn atom<'a>(&self, lines: &Lines, text: &'a str) -> Result<(&'a str, Vec3d, Option<Vec3d>)> {
        if !text.is_ascii() {
            let what = "has letters that are not ASCII, behind which columns cannot be counted";
            return Err(lines.wrong(what, "rename the atom or residue in plain letters"));
        }
        let column = |k: usize| {
            let start = HEAD + k * self.width;
            text.get(start..text.len().min(start + self.width)).unwrap_or("").trim()
        };
        let vector = |first: usize, what: &str| -> Result<Vec3d> {
            let component = |k| lines.number_in(column(first + k), what);
            Ok(Vec3d::new(component(0)?, component(1)?, component(2)?))
        };
        let name = text.get(10..15).map(str::trim).filter(|name| !name.is_empty()).ok_or_else(|| {
            lines.wrong("has no atom name in its columns 11 to 15", "give every atom a name")
        })?;
        let position = vector(0, "a coordinate")?;
        self.alike(lines, text)?;
        let velocity = self.velocities.then(|| vector(3, "a velocity")).transpose()?;
        Ok((name, position, velocity))
    }

    /// All atoms have velocities, or none.
    fn alike(&self, lines: &Lines, text: &str) -> Result<()> {
        let length = text.trim_end().len();
        let more = length > HEAD + 3 * self.width;
        if more != self.velocities {
            let [this, first] = if more { ["a", "none"] } else { ["no", "one"] };
            let what = format!("has {this} velocity, but the first atom (line 3) has {first}");
            return Err(lines.wrong(what, "give every atom a velocity, 0 where it rests, or none a velocity"));
        }
        if length > HEAD + 6 * self.width {
            let rest = text.get(HEAD + 6 * self.width..).unwrap_or("").trim();
            let what = format!("has \"{}\" behind the velocity", shortened(rest));
            return Err(lines.wrong(what, "take it out: an atom has a position and a velocity at most"));
        }
        Ok(())
    }
}

/// The box of the last line: three edges, or nine numbers of which the last six must be zero but for rounding.
fn box_in(lines: &Lines, text: &str, notes: &mut Vec<String>) -> Result<SimulationBox> {
    let fields = box_fields(text);
    if ![3, 9].contains(&fields.len()) {
        let what = format!("should be the box, three or nine numbers, and is \"{}\"", shortened(text));
        return Err(lines.wrong(what, "check the number of atoms in line 2, and that the file is whole"));
    }
    let numbers: Vec<f64> =
        fields.iter().map(|field| lines.number_in(field, "an edge of the box")).collect::<Result<_>>()?;
    let edges = Vec3d::new(numbers[0], numbers[1], numbers[2]);
    let bx = box_of(Vec3d::zeros(), edges, [true; 3]).ok_or_else(|| {
        let what = format!("has a box without extent: {} x {} x {}", edges.x, edges.y, edges.z);
        lines.wrong(what, "give the box three edges above 0, for example with `gmx editconf -box X Y Z`")
    })?;
    if let Some(number) = off_axes(edges, &numbers[3..], notes) {
        let what =
            format!("has a box that is not rectangular: its vectors have a component {number} off the axes");
        return Err(lines.wrong(what, SLANTED));
    }
    Ok(bx)
}

/// The numbers of the box, at most ten. Those of a large box touch each other: all have the decimals of the last.
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
