//! Extended XYZ trajectories: text, for programs that do not read HDF5. Every rank formats its lines; rank 0
//! gathers them in bounded messages.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::order::Order;
use super::{Content, Moment, foreign};
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::space::Boundary;
use crate::units::{ASE_FORCE, ASE_VELOCITY, UnitSystem};
use crate::{Error, Result};

/// Rows per message.
const ROWS_PER_MESSAGE: usize = 1 << 16;
/// Output buffer in bytes. A frame that fits is written at once, so that a killed run leaves whole frames.
const BUFFER_BYTES: usize = 64 << 20;

/// Longest line that our trajectories have, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Start of a frame's second line, and the keys in front of its columns and its step.
const HEAD: &str = "Lattice=\"";
const PROPERTIES: &str = " Properties=";
const STEP: &str = " Step=";

/// Ångström per nanometre.
const ANGSTROM: f64 = 10.0;

/// An open trajectory; only rank 0 has the file.
pub struct Xyz {
    path: PathBuf,
    file: Option<File>,
    order: Order,
    content: Content,
    last_step: Option<u64>,
}

impl Xyz {
    pub(super) fn create(
        path: &Path,
        comm: &Communicator,
        content: &Content,
        particles: &Particles,
    ) -> Result<Self> {
        let created = comm
            .is_root()
            .then(|| File::create(path).map_err(|cause| Error::file("create", path, &cause)))
            .transpose();
        Ok(Self::with(comm.agree_on(created)?, None, path, comm, content, particles))
    }

    pub(super) fn resume(
        path: &Path,
        comm: &Communicator,
        content: &Content,
        particles: &Particles,
        step: u64,
    ) -> Result<Self> {
        let mut total = [particles.owned().len() as u64];
        comm.all_sum(&mut total);
        let cut = comm.is_root().then(|| truncate(path, total[0], &properties(content), step)).transpose();
        let (file, last_step) = comm.agree_on(cut)?.map_or((None, None), |(file, last)| (Some(file), last));
        Ok(Self::with(file, last_step, path, comm, content, particles))
    }

    fn with(
        file: Option<File>,
        last_step: Option<u64>,
        path: &Path,
        comm: &Communicator,
        content: &Content,
        particles: &Particles,
    ) -> Self {
        let order = Order::new(comm, &particles.id[particles.owned()]);
        Self { path: path.to_owned(), file, order, content: content.clone(), last_step }
    }

    pub(super) fn append(
        &mut self,
        comm: &Communicator,
        particles: &Particles,
        moment: &Moment,
    ) -> Result<()> {
        let mut last = vec![self.last_step.map_or(u64::MAX, |step| step)];
        comm.broadcast(&mut last, 0);
        if last[0] == moment.step {
            return Ok(());
        }
        let lines = self.lines(comm, particles);
        let mut text = if comm.is_root() { self.head(moment).into_bytes() } else { Vec::new() };
        let batches: Vec<&[String]> = lines.chunks(ROWS_PER_MESSAGE).collect();
        let mut outcome = Ok(());
        for rank in 0..comm.size() {
            let mut batch_count = vec![batches.len() as u64];
            comm.broadcast(&mut batch_count, rank);
            for batch in 0..batch_count[0] as usize {
                let mut to = vec![Vec::new(); comm.size()];
                if comm.rank() == rank {
                    to[0] = batches[batch].concat().into_bytes();
                }
                text.extend(comm.all_to_all(&to).concat());
                if text.len() > BUFFER_BYTES {
                    outcome = outcome.and_then(|()| self.write(&mut text));
                }
            }
        }
        outcome = outcome.and_then(|()| self.write(&mut text));
        comm.agree(outcome)?;
        self.last_step = Some(moment.step);
        Ok(())
    }

    fn write(&mut self, text: &mut Vec<u8>) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(text).map_err(|cause| Error::file("write", &self.path, &cause))?;
        }
        text.clear();
        Ok(())
    }

    fn head(&self, moment: &Moment) -> String {
        let [length, ..] = self.scales();
        let edges = moment.bx.lengths() * length;
        let lower = moment.bx.lower * length;
        let flag = |d: usize| if moment.bx.boundary[d] == Boundary::Periodic { 'T' } else { 'F' };
        let columns = properties(&self.content);
        let mut text = format!(
            "{}\n{HEAD}{} 0 0 0 {} 0 0 0 {}\" Origin=\"{} {} {}\" pbc=\"{} {} \
             {}\"{PROPERTIES}{columns}{STEP}{} Time={}",
            self.order.total(),
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
            // Writing to a string cannot fail.
            let _ = write!(text, " Title=\"{title}\"");
        }
        text + "\n"
    }

    /// Factors of lengths, velocities and forces: molecular units are converted to ASE's.
    fn scales(&self) -> [f64; 3] {
        match self.content.units.system {
            UnitSystem::Reduced => [1.0; 3],
            UnitSystem::Molecular => [ANGSTROM, 1.0 / ASE_VELOCITY, 1.0 / ASE_FORCE],
        }
    }

    /// Formats this rank's lines, in order.
    fn lines(&self, comm: &Communicator, particles: &Particles) -> Vec<String> {
        let redistribution = self.order.redistribution(comm, particles);
        let [length, velocity, force] = self.scales();
        let wanted = [
            (true, Field::Position, length),
            (self.content.plan.velocities, Field::Velocity, velocity),
            (self.content.plan.forces, Field::Force, force),
        ];
        let species =
            particles.has(Field::Species).then(|| redistribution.column(comm, particles, Field::Species));
        let columns: Vec<(Vec<f64>, f64)> = wanted
            .into_iter()
            .filter(|(wanted, ..)| *wanted)
            .map(|(_, field, scale)| (redistribution.column(comm, particles, field), scale))
            .collect();
        let name = |row: usize| {
            let index = species.as_ref().map_or(0, |species| species[row] as usize);
            self.content.species.get(index).map_or("X", String::as_str)
        };
        let single = !self.content.plan.double;
        redistribution
            .ids()
            .into_iter()
            .enumerate()
            .map(|(row, id)| {
                let mut line = name(row).to_owned();
                for (k, (column, scale)) in columns.iter().enumerate() {
                    for value in &column[3 * row..3 * row + 3] {
                        let value = value * scale;
                        let _ =
                            if single { write!(line, " {}", value as f32) } else { write!(line, " {value}") };
                    }
                    if k == 0 {
                        let _ = write!(line, " {id}");
                    }
                }
                line + "\n"
            })
            .collect()
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

/// Truncates a file after its last complete frame of a step up to `step`, and opens it for appending. Also
/// returns the step of that frame.
///
/// # Errors
/// [`Error::Content`], before anything is cut, if a frame is not in our format, or has another number of
/// particles or other columns.
fn truncate(path: &Path, total: u64, columns: &str, step: u64) -> Result<(File, Option<u64>)> {
    let failed = |cause: std::io::Error| Error::file("read", path, &cause);
    let mut input = BufReader::new(File::open(path).map_err(failed)?);
    let (mut kept, mut at, mut last) = (0u64, 0u64, None);
    let mut line = Vec::new();
    // A line without a newline was cut off.
    let mut next = |line: &mut Vec<u8>, at: &mut u64| -> Result<bool> {
        line.clear();
        *at += (&mut input).take(MAX_LINE_BYTES).read_until(b'\n', line).map_err(failed)? as u64;
        Ok(line.ends_with(b"\n"))
    };
    let begin = format!("{total}\n");
    'frames: loop {
        let refuse =
            |what: String| Err(foreign(path, format!("the frame that begins at byte {kept} {what}")));
        let whole = next(&mut line, &mut at)?;
        if !begin.as_bytes().starts_with(&line) {
            return refuse(format!("does not have this run's {total} particles"));
        }
        if !whole {
            break;
        }
        let whole = next(&mut line, &mut at)?;
        if !(line.starts_with(HEAD.as_bytes()) || (!whole && HEAD.as_bytes().starts_with(&line))) {
            return refuse("is none of hilbrium: its second line does not begin with Lattice".into());
        }
        if !whole {
            break;
        }
        let head = String::from_utf8_lossy(&line);
        let word = |key| head.split(key).nth(1).and_then(|after| after.split_whitespace().next());
        let (found, of_step) = (word(PROPERTIES).unwrap_or_default(), word(STEP));
        if found != columns {
            return refuse(format!(
                "has the columns \"{found}\", other than the deck asks for: \"{columns}\""
            ));
        }
        let Some(of_step) = of_step.and_then(|word| word.parse::<u64>().ok()) else {
            return refuse("is none of hilbrium: it does not say its Step".into());
        };
        if of_step > step {
            break;
        }
        for _ in 0..total {
            if !next(&mut line, &mut at)? {
                break 'frames;
            }
        }
        (kept, last) = (at, Some(of_step));
    }
    let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
    file.set_len(kept).map_err(|cause| Error::file("write", path, &cause))?;
    Ok((file, last))
}
