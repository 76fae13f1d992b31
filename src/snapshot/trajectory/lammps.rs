//! LAMMPS dumps: text of the style `custom`, for OVITO, VMD, MDAnalysis and ASE.
//!
//! A frame has nine lines in front of its particles, no `ITEM: UNITS` or `ITEM: TIME`: MDAnalysis 2.11 counts
//! on nine. Molecular units are converted to LAMMPS's `metal`, which ASE expects; others are written as they
//! are (`lj`).

use std::path::Path;

use super::appended::{Frame, Layout, Sink, WholeFrames, gather};
use super::text::{Column, Lines, rows};
use super::{ANGSTROM, Content, foreign};
use crate::Result;
use crate::particles::Field;
use crate::space::Boundary;
use crate::units::{ASE_FORCE, UnitSystem};

pub(super) const TIMESTEP: &str = "ITEM: TIMESTEP";
pub(super) const ATOM_COUNT: &str = "ITEM: NUMBER OF ATOMS";
pub(super) const BOX_BOUNDS: &str = "ITEM: BOX BOUNDS";
pub(super) const ATOMS: &str = "ITEM: ATOMS ";

/// A LAMMPS dump.
pub(super) struct LammpsDump {
    pub content: Content,
    /// Whether particles have charges.
    pub charges: bool,
}

impl Layout for LammpsDump {
    fn write(&self, frame: &Frame, out: &mut Sink) -> Result<()> {
        let (names, columns): (Vec<&str>, Vec<Column>) = self.columns().into_iter().unzip();
        let rows = rows(frame, &columns, &self.content.species, self.content.plan.double);
        out.push(self.head_of(frame, &names.join(" ")).as_bytes());
        gather(frame.comm, &rows, |bytes| out.push(bytes));
        Ok(())
    }

    fn scan(&self, path: &Path, total: u64, step: u64) -> Result<WholeFrames> {
        let names: Vec<&str> = self.columns().into_iter().map(|(names, _)| names).collect();
        let atoms = format!("{ATOMS}{}", names.join(" "));
        let count = total.to_string();
        let mut lines = Lines::open(path)?;
        let mut frames = WholeFrames::default();
        'frames: loop {
            let refuse = |what: String| {
                Err(foreign(path, format!("the frame that begins at byte {} {what}", frames.end)))
            };
            let mut of_step = 0;
            for number in 0..9 {
                let whole = lines.next()?;
                let fits = match number {
                    0 => lines.is(TIMESTEP),
                    2 => lines.is(ATOM_COUNT),
                    3 => lines.is(&count),
                    4 => lines.begins(BOX_BOUNDS),
                    8 => lines.is(&atoms),
                    _ => true,
                };
                match number {
                    _ if fits => {}
                    3 => return refuse(format!("does not have this run's {total} particles")),
                    8 => {
                        let found = lines.text().into_owned();
                        return refuse(format!("has \"{found}\", other than the deck asks for: \"{atoms}\""));
                    }
                    _ => return refuse(format!("was not written by hilbrium: line {} differs", number + 1)),
                }
                if !whole {
                    break 'frames;
                }
                if number == 1 {
                    match lines.text().parse::<u64>() {
                        Ok(found) => of_step = found,
                        Err(_) => return refuse("does not say its step".into()),
                    }
                }
            }
            if of_step > step || !lines.skip(total)? {
                break;
            }
            frames.add(of_step, lines.at);
        }
        Ok(frames)
    }
}

impl LammpsDump {
    /// Names of the columns and what they hold.
    fn columns(&self) -> Vec<(&'static str, Column)> {
        let [length, velocity, force] = self.scales();
        let Content { plan, species, .. } = &self.content;
        // a name that is no element is refused by ASE in a column of this name
        let elements = !species.is_empty() && species.iter().all(|name| is_element(name));
        let columns = [
            (true, "id", Column::Id),
            (true, "type", Column::Type),
            (elements, "element", Column::Name),
            (self.charges, "q", Column::Values(Field::Charge, 1.0)),
            (true, "x y z", Column::Values(Field::Position, length)),
            (plan.images, "ix iy iz", Column::Whole(Field::Image)),
            (plan.velocities, "vx vy vz", Column::Values(Field::Velocity, velocity)),
            (plan.forces, "fx fy fz", Column::Values(Field::Force, force)),
        ];
        columns.into_iter().filter(|(asked, ..)| *asked).map(|(_, names, column)| (names, column)).collect()
    }

    /// Factors of lengths, velocities and forces: molecular units are converted to `metal`.
    fn scales(&self) -> [f64; 3] {
        match self.content.units.system {
            UnitSystem::Reduced => [1.0; 3],
            UnitSystem::Molecular => [ANGSTROM, ANGSTROM, 1.0 / ASE_FORCE],
        }
    }

    fn head_of(&self, frame: &Frame, columns: &str) -> String {
        let [length, ..] = self.scales();
        let bx = &frame.moment.bx;
        // an open box follows the particles, as LAMMPS's shrink-wrapped ones do
        let flags = bx.boundary.map(|boundary| if boundary == Boundary::Periodic { "pp" } else { "ss" });
        let sides: String =
            (0..3).map(|d| format!("{} {}\n", bx.lower[d] * length, bx.upper[d] * length)).collect();
        format!(
            "{TIMESTEP}\n{}\n{ATOM_COUNT}\n{}\n{BOX_BOUNDS} {}\n{sides}{ATOMS}{columns}\n",
            frame.moment.step,
            frame.total,
            flags.join(" "),
        )
    }
}

fn is_element(name: &str) -> bool {
    mendeleev::Element::list().iter().any(|element| element.symbol() == name)
}
