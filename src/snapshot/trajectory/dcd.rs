//! DCD: coordinates in single precision, as CHARMM, NAMD and LAMMPS write them, little-endian. Molecular
//! units are converted to angstroms, and the time step to CHARMM's unit (AKMA); reduced ones are written as
//! they are.
//!
//! The file consists of Fortran records: numbers between two copies of their length in bytes. The head has
//! the record of 20 integers (see `head_of`), titles, and the number of particles. A frame has the periodic
//! box, if there is one, as A, cos gamma, B, cos beta, cos alpha, C, then all x, all y, all z.
//!
//! The head states the number of frames, the step of the first and the interval: frames are equally spaced. A
//! frame is counted after it is written.
//!
//! Layout of the files: CHARMM's documentation; plug-in "dcd" of VMD; `dump dcd` of LAMMPS.

use std::path::Path;

use super::appended::{Frame, Layout, Sink, WholeFrames, gather};
use super::dcd_head::{self, CELL_BYTES, Head};
use super::{ANGSTROM, Content, foreign, narrow, unholdable};
use crate::Result;
use crate::particles::Field;
use crate::plan::Every;
use crate::units::UnitSystem;

/// CHARMM's unit of time in picoseconds: sqrt(u angstrom^2 / (kcal/mol)).
const AKMA: f64 = 4.888821e-2;
/// Bytes of the head of our files, and of a title.
const HEAD_BYTES: u64 = 276;
const TITLE_BYTES: usize = 80;
/// Bytes of the first record with its length.
const FIRST_RECORD_BYTES: usize = 92;
/// First title of our files.
const WRITTEN_BY: &str = "Written by hilbrium";
/// Place of the number of frames; behind it are the first step, the interval and the last step.
const COUNT_AT: u64 = 8;
/// Version of CHARMM that the layout is of; readers look for any.
const CHARMM: u32 = 24;

/// DCD.
pub(super) struct Dcd {
    pub content: Content,
    /// Whether frames have the box.
    pub periodic: bool,
}

impl Dcd {
    /// Steps between frames; the deck requires them.
    fn interval(&self) -> u64 {
        match self.content.plan.every {
            Every::EverySteps(steps) => steps,
            Every::EveryTime(_) | Every::EveryWall(_) => 1,
        }
    }

    /// Factor of lengths, and the time step in the file's unit.
    fn scales(&self) -> (f64, f32) {
        let step = self.content.time_step.unwrap_or(0.0);
        match self.content.units.system {
            UnitSystem::Reduced => (1.0, step as f32),
            UnitSystem::Molecular => (ANGSTROM, (step / AKMA) as f32),
        }
    }

    /// The four numbers at [`COUNT_AT`].
    fn counts(&self, frames: &WholeFrames) -> Result<Vec<u8>> {
        let last = frames.last_step.unwrap_or(0);
        let mut bytes = Vec::new();
        for (number, what) in [
            (frames.count, "a number of frames"),
            (frames.first_step, "a step"),
            (self.interval(), "an interval in steps"),
            (last, "a step"),
        ] {
            bytes.extend(narrow(number, last, what)?.to_le_bytes());
        }
        Ok(bytes)
    }

    /// The step of the next frame, if the frames in front of it say.
    fn next_step(&self, before: &WholeFrames) -> Option<u64> {
        before.last_step.map(|last| last + self.interval())
    }
}

impl Layout for Dcd {
    fn head(&self, total: u64) -> Vec<u8> {
        let mut numbers = [0u32; 20];
        numbers[2] = u32::try_from(self.interval()).unwrap_or(0);
        numbers[9] = self.scales().1.to_bits();
        numbers[10] = u32::from(self.periodic);
        numbers[19] = CHARMM;
        let mut first = b"CORD".to_vec();
        first.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        let title: String =
            self.content.title.chars().map(|c| if c.is_ascii_graphic() { c } else { ' ' }).collect();
        let mut titles = 2u32.to_le_bytes().to_vec();
        for title in [WRITTEN_BY, &title] {
            titles.extend(title.bytes().chain(std::iter::repeat(b' ')).take(TITLE_BYTES));
        }
        let particles = (total as u32).to_le_bytes();
        [record(&first), record(&titles), record(&particles)].concat()
    }

    fn write(&self, frame: &Frame, out: &mut Sink) -> Result<()> {
        let step = frame.moment.step;
        let bytes_of_record = narrow(frame.total.saturating_mul(4), step, "a record in bytes");
        let expected = if frame.comm.is_root() { self.next_step(&frame.before) } else { None };
        let ready = bytes_of_record.and_then(|bytes| match expected {
            Some(expected) if expected != step => Err(unholdable(
                step,
                format!("DCD has one interval for all frames: the next is of step {expected}, not {step}"),
                "write another format, or choose another output directory for a new file",
            )),
            _ => Ok(bytes.to_le_bytes()),
        });
        let marker = frame.comm.agree_on(ready)?;
        let (scale, _) = self.scales();
        if self.periodic {
            let [a, b, c] = (frame.moment.bx.lengths() * scale).into();
            let cell: Vec<u8> = [a, 0.0, b, 0.0, 0.0, c].iter().flat_map(|x: &f64| x.to_le_bytes()).collect();
            out.push(&record(&cell));
        }
        let positions = frame.redistribution.column(frame.comm, frame.particles, Field::Position);
        for d in 0..3 {
            let values = positions.iter().skip(d).step_by(3);
            let bytes: Vec<u8> = values.flat_map(|&x| ((x * scale) as f32).to_le_bytes()).collect();
            out.push(&marker);
            gather(frame.comm, &bytes, |bytes| out.push(bytes));
            out.push(&marker);
        }
        Ok(())
    }

    fn count_of_frames(&self, frames: &WholeFrames) -> Result<Option<(u64, Vec<u8>)>> {
        Ok(Some((COUNT_AT, self.counts(frames)?)))
    }

    fn scan(&self, path: &Path, total: u64, step: u64) -> Result<WholeFrames> {
        let ours = self.head(total);
        let (head, bytes) = dcd_head::read(path, HEAD_BYTES)?;
        let refuse = |what: &str| Err(foreign(path, what.to_owned()));
        let counts = COUNT_AT as usize..COUNT_AT as usize + 16;
        let alike = |end: usize| {
            let mut pairs = head.iter().zip(&ours).take(end).enumerate();
            pairs.all(|(k, (one, other))| counts.contains(&k) || one == other)
        };
        if (head.len() as u64) < HEAD_BYTES && alike(head.len()) {
            // killed before the first frame
            return Ok(WholeFrames::default());
        }
        let written_by = head.get(100..100 + WRITTEN_BY.len()) == Some(WRITTEN_BY.as_bytes());
        let ours_by_size = |head: &Head| written_by && head.bytes == HEAD_BYTES;
        let Some(parsed) = Head::parse(&head).filter(ours_by_size) else {
            return refuse("it is not a DCD trajectory of hilbrium");
        };
        if parsed.particles != total {
            return refuse(&format!("it has {} particles, this run has {total}", parsed.particles));
        }
        if parsed.interval != self.interval() {
            let found = parsed.interval;
            return refuse(&format!(
                "its frames are {found} steps apart, the deck asks for {}",
                self.interval()
            ));
        }
        if !alike(FIRST_RECORD_BYTES) {
            return refuse("it has another time step or other boundaries than this run");
        }
        let whole = parsed.frames.min((bytes - HEAD_BYTES) / parsed.frame_bytes());
        let kept = match step.checked_sub(parsed.first_step) {
            Some(steps) => whole.min(steps / self.interval() + 1),
            None => 0,
        };
        let last = kept.checked_sub(1).map(|last| parsed.first_step + last * self.interval());
        let end = HEAD_BYTES + kept * parsed.frame_bytes();
        Ok(WholeFrames { end, count: kept, first_step: parsed.first_step, last_step: last })
    }
}

/// A Fortran record.
fn record(bytes: &[u8]) -> Vec<u8> {
    let marker = (bytes.len() as u32).to_le_bytes();
    [&marker, bytes, &marker].concat()
}

/// Describes a file, of any program, as pairs of name and value.
pub(super) fn describe(path: &Path) -> Result<Vec<(&'static str, String)>> {
    let (bytes, length) = dcd_head::read(path, dcd_head::MOST_BYTES)?;
    let damaged = |what: &str| super::describe::damaged(path, what.to_owned());
    let head = Head::parse(&bytes)
        .ok_or_else(|| damaged("its header is not that of a DCD file, or is longer than 64 KiB"))?;
    let (frames, incomplete) = head.frames_within(length);
    let order = if head.big_endian { "big-endian" } else { "little-endian" };
    let mut summary = vec![("kind", format!("trajectory, DCD ({order})"))];
    head.titles.iter().for_each(|title| summary.push(("title", title.clone())));
    summary.push(("particles", head.particles.to_string()));
    summary.push(("frames", frames.to_string()));
    if frames != head.frames {
        summary.push(("note", format!("the head states {} frames", head.frames)));
    }
    if let Some(last) = frames.checked_sub(1) {
        let at = |frame: u64| head.first_step.saturating_add(frame.saturating_mul(head.interval));
        summary.push(("steps", format!("{} to {}, every {}", head.first_step, at(last), head.interval)));
        if let Some(time_step) = head.time_step {
            let time = |step: u64| step as f64 * f64::from(time_step);
            let ps = |step: u64| time(step) * AKMA;
            summary.push((
                "times",
                format!(
                    "{:.6} to {:.6} ps, or {:.6} to {:.6} in reduced units",
                    ps(head.first_step),
                    ps(at(last)),
                    time(head.first_step),
                    time(at(last))
                ),
            ));
        }
        let cell = match head.has_cell {
            false => "none".to_owned(),
            true => {
                let begin = head.frame_begin(last);
                let bytes = dcd_head::read_at(path, begin, CELL_BYTES)?;
                let cell = head.cell(&bytes).ok_or_else(|| damaged("its last frame has no box"))?;
                format!("{} x {} x {} in the last frame [angstrom, or reduced]", cell[0], cell[2], cell[5])
            }
        };
        summary.push(("box", cell));
    }
    summary.extend(super::describe::incomplete(incomplete));
    Ok(summary)
}
