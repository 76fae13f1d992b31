//! Extended XYZ trajectories: text, for programs that do not read HDF5.

use std::fmt::Write as _;
use std::path::Path;

use super::appended::{Frame, Layout, Sink, WholeFrames, gather};
use super::text::{Column, Lines, rows};
use super::{ANGSTROM, Content, foreign};
use crate::Result;
use crate::particles::Field;
use crate::space::Boundary;
use crate::units::{ASE_FORCE, ASE_VELOCITY, UnitSystem};

/// Start of a frame's second line, and the keys in front of its columns and its step.
const HEAD: &str = "Lattice=\"";
const PROPERTIES: &str = " Properties=";
const STEP: &str = " Step=";

/// Extended XYZ.
pub(super) struct Xyz {
    pub content: Content,
}

impl Layout for Xyz {
    fn write(&self, frame: &Frame, out: &mut Sink) -> Result<()> {
        let [length, velocity, force] = self.scales();
        let plan = &self.content.plan;
        let columns = [
            (true, Column::Name),
            (true, Column::Values(Field::Position, length)),
            (true, Column::Id),
            (plan.velocities, Column::Values(Field::Velocity, velocity)),
            (plan.forces, Column::Values(Field::Force, force)),
        ];
        let columns: Vec<Column> =
            columns.into_iter().filter(|(asked, _)| *asked).map(|(_, column)| column).collect();
        let rows = rows(frame, &columns, &self.content.species, plan.double);
        out.push(self.head_of(frame, length).as_bytes());
        gather(frame.comm, &rows, |bytes| out.push(bytes));
        Ok(())
    }

    fn scan(&self, path: &Path, total: u64, step: u64) -> Result<WholeFrames> {
        let mut lines = Lines::open(path)?;
        let mut frames = WholeFrames::default();
        let columns = properties(&self.content);
        loop {
            let refuse = |what: String| {
                Err(foreign(path, format!("the frame that begins at byte {} {what}", frames.end)))
            };
            let whole = lines.next()?;
            if !lines.is(&total.to_string()) {
                return refuse(format!("does not have this run's {total} particles"));
            }
            if !whole {
                break;
            }
            let whole = lines.next()?;
            if !lines.begins(HEAD) {
                return refuse(
                    "was not written by hilbrium: its second line does not begin with Lattice".into(),
                );
            }
            if !whole {
                break;
            }
            let head = lines.text();
            let word = |key| head.split(key).nth(1).and_then(|after| after.split_whitespace().next());
            let (found, of_step) = (word(PROPERTIES).unwrap_or_default(), word(STEP));
            if found != columns {
                return refuse(format!(
                    "has the columns \"{found}\", other than the deck asks for: \"{columns}\""
                ));
            }
            let Some(of_step) = of_step.and_then(|word| word.parse::<u64>().ok()) else {
                return refuse("was not written by hilbrium: its second line lacks its Step".into());
            };
            if of_step > step || !lines.skip(total)? {
                break;
            }
            frames.add(of_step, lines.at);
        }
        Ok(frames)
    }
}

impl Xyz {
    /// Factors of lengths, velocities and forces: molecular units are converted to ASE's.
    fn scales(&self) -> [f64; 3] {
        match self.content.units.system {
            UnitSystem::Reduced => [1.0; 3],
            UnitSystem::Molecular => [ANGSTROM, 1.0 / ASE_VELOCITY, 1.0 / ASE_FORCE],
        }
    }

    fn head_of(&self, frame: &Frame, length: f64) -> String {
        let moment = frame.moment;
        let edges = moment.bx.lengths() * length;
        let lower = moment.bx.lower * length;
        let flag = |d: usize| if moment.bx.boundary[d] == Boundary::Periodic { 'T' } else { 'F' };
        let columns = properties(&self.content);
        let mut text = format!(
            "{}\n{HEAD}{} 0 0 0 {} 0 0 0 {}\" Origin=\"{} {} {}\" pbc=\"{} {} \
             {}\"{PROPERTIES}{columns}{STEP}{} Time={}",
            frame.total,
            edges.x,
            edges.y,
            edges.z,
            lower.x,
            lower.y,
            lower.z,
            flag(0),
            flag(1),
            flag(2),
            moment.step,
            moment.time,
        );
        let title: String = self.content.title.chars().filter(|c| !c.is_control() && *c != '"').collect();
        if !title.is_empty() {
            // writing to a string cannot fail
            let _ = write!(text, " Title=\"{title}\"");
        }
        text + "\n"
    }
}

/// The columns of a line, as in `Properties`.
fn properties(content: &Content) -> String {
    let mut columns = "species:S:1:pos:R:3:id:I:1".to_owned();
    for (wanted, name) in [(content.plan.velocities, ":velo:R:3"), (content.plan.forces, ":forces:R:3")] {
        columns += if wanted { name } else { "" };
    }
    columns
}
