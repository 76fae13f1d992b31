//! The header of LAMMPS data: counts and box, in any order, up to the first section.

use super::super::lines::{Lines, excerpt};
use super::super::{RECTANGULAR_ONLY, box_of, off_axes};
use super::without_comment;
use crate::Result;
use crate::space::{SimulationBox, Vec3d};

/// The data before the first section.
pub(super) struct Header {
    pub title: String,
    pub atoms: u64,
    pub types: u64,
    pub bx: SimulationBox,
    pub notes: Vec<String>,
}

/// Sides of the box and tilts, each with its line number.
#[derive(Default)]
struct Cell {
    sides: [Option<([f64; 2], u64)>; 3],
    tilts: Option<([f64; 3], u64)>,
}

impl Header {
    /// Reads the header. On entry `text` holds the title, on return the first section keyword.
    ///
    /// # Errors
    /// [`crate::Error::Content`] if counts or box are missing, stated twice, or invalid.
    pub(super) fn read(lines: &mut Lines, text: &mut String) -> Result<Self> {
        let title = text.trim_start_matches('#').trim().to_owned();
        let (mut atoms, mut types) = (None, None);
        let mut cell = Cell::default();
        while lines.next(text)? {
            let fields: Vec<&str> = without_comment(text).split_whitespace().collect();
            match fields[..] {
                [] => continue,
                [count, "atoms"] => {
                    let count = lines.parse_integer(count, "the number of atoms")?;
                    // The shortest row is "1 1 0 0 0", without newline.
                    set_once(lines, &mut atoms, lines.check_count(count, 9)?)?;
                }
                [count, "atom", "types"] => {
                    set_once(lines, &mut types, lines.parse_integer(count, "the number of atom types")?)?;
                }
                [count, kind @ ("bonds" | "angles" | "dihedrals" | "impropers" | "crossterms")] => {
                    let remedy = "bonded interactions are not available: write the file without them";
                    refuse(lines, count, kind, remedy)?;
                }
                [count, kind @ ("ellipsoids" | "lines" | "triangles" | "bodies")] => {
                    refuse(lines, count, kind, "particles have no shape here: take atoms of another style")?;
                }
                [_, "bond" | "angle" | "dihedral" | "improper", "types"] | [_, "extra", ..] => {}
                _ if cell.line(lines, &fields)? => {}
                [.., "avec" | "bvec" | "cvec"] | [.., "abc", "origin"] => {
                    return Err(lines.error("gives a general triclinic box", RECTANGULAR_ONLY));
                }
                [word, ..] if word.parse::<f64>().is_ok() => {
                    let what = format!(
                        "is \"{}\", which no header of LAMMPS data has",
                        excerpt(without_comment(text))
                    );
                    return Err(lines
                        .error(what, "correct that line, or give the file's own `format` in [start.file]"));
                }
                _ => break,
            }
        }
        if without_comment(text).is_empty() {
            return Err(lines.file_error("it has a header and no section".into(), "add the section Atoms"));
        }
        let missing = |what: &str| {
            lines.file_error(format!("its header has no \"{what}\""), "add that line below the title")
        };
        let mut notes = Vec::new();
        Ok(Header {
            title,
            atoms: atoms.ok_or_else(|| missing("N atoms"))?,
            types: types.ok_or_else(|| missing("N atom types"))?,
            bx: cell.finish(lines, &mut notes)?,
            notes,
        })
    }
}

impl Cell {
    /// Parses a line of the box; `false` if it is none.
    fn line(&mut self, lines: &Lines, fields: &[&str]) -> Result<bool> {
        let names = [["xlo", "xhi"], ["ylo", "yhi"], ["zlo", "zhi"]];
        if let Some(d) = names.iter().position(|names| fields.ends_with(names)) {
            let [lower, upper, _, _] = fields[..] else {
                let what = format!("does not give two numbers for {} {}", names[d][0], names[d][1]);
                return Err(lines.error(what, "write both ends of that side of the box"));
            };
            let side = [lines.parse_number(lower, names[d][0])?, lines.parse_number(upper, names[d][1])?];
            if side[0] >= side[1] {
                let what = format!("gives the box no extent: {} to {}", side[0], side[1]);
                return Err(lines.error(what, "give lo below hi"));
            }
            set_once(lines, &mut self.sides[d], (side, lines.number()))?;
            return Ok(true);
        }
        if !fields.ends_with(&["xy", "xz", "yz"]) {
            return Ok(false);
        }
        let [xy, xz, yz, _, _, _] = fields[..] else {
            return Err(lines.error("does not give three numbers for xy xz yz", "write the three tilts"));
        };
        let tilts =
            [lines.parse_number(xy, "xy")?, lines.parse_number(xz, "xz")?, lines.parse_number(yz, "yz")?];
        set_once(lines, &mut self.tilts, (tilts, lines.number()))?;
        Ok(true)
    }

    fn finish(self, lines: &Lines, notes: &mut Vec<String>) -> Result<SimulationBox> {
        let side = |d: usize| {
            self.sides[d].map(|(side, _)| Vec3d::new(side[0], side[1], 0.0)).ok_or_else(|| {
                let what = format!("its header has no \"{0}lo {0}hi\"", ["x", "y", "z"][d]);
                lines
                    .file_error(what, "add that line below the title, with both ends of that side of the box")
            })
        };
        let (x, y, z) = (side(0)?, side(1)?, side(2)?);
        let (lower, upper) = (Vec3d::new(x.x, y.x, z.x), Vec3d::new(x.y, y.y, z.y));
        let bx = box_of(lower, upper, [true; 3])
            .ok_or_else(|| lines.file_error("its box has no extent".into(), "give each lo below its hi"))?;
        if let Some((tilts, line)) = self.tilts
            && let Some(slant) = off_axes(upper - lower, &tilts, notes)
        {
            let which = ["xy", "xz", "yz"][tilts.iter().position(|&tilt| tilt == slant).unwrap_or_default()];
            return Err(lines.error_at(line, format!("tilts the box: {which} = {slant}"), RECTANGULAR_ONLY));
        }
        Ok(bx)
    }
}

/// Stores a value that must not have been stated before.
fn set_once<T>(lines: &Lines, place: &mut Option<T>, stated: T) -> Result<()> {
    match place.replace(stated) {
        Some(_) => Err(lines.error("states this a second time in the header", "keep one of the two lines")),
        None => Ok(()),
    }
}

fn refuse(lines: &Lines, count: &str, kind: &str, remedy: &str) -> Result<()> {
    let count: u64 = lines.parse_integer(count, "a count")?;
    if count == 0 { Ok(()) } else { Err(lines.error(format!("announces {count} {kind}"), remedy)) }
}
