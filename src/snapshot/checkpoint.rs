//! Checkpoints: ids and every state column bit for bit, and what a run needs beside them.
//!
//! Layout: group `State` with the attributes of [`CheckpointState`] that must keep their bits, `rank_rows` (rows of
//! each rank), `run` (JSON), `id`, and one dataset per component, called `field.component`; rows in global key order.
//! Where there are tables, group `Tables` with a dataset each.

use super::collective::{Rows, SharedFile};
use super::fault::Reading;
use super::hdf::{self, read_numbers, read_rows};
use super::keep;
use super::layout::{FORMAT_VERSION, OURS};
use super::read::{refuse_other_kinds, zeros};
use super::seal::{self, Seal};
use crate::comm::Communicator;
use crate::comm::shares::share;
use crate::particles::{Field, Particles, Role};
use crate::report;
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use hdf5::{Group, H5Type};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

const GROUP: &str = "State";

/// The group of what is carried beside the particles.
const TABLES: &str = "Tables";

/// Rows of words that a run carries beside its particles, as measurements do; each rank brings its own rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Words in a row, at least 1.
    pub width: usize,
    /// Row after row.
    pub words: Vec<u64>,
}

/// What a run needs beside its particles to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointState {
    /// Number of steps done.
    pub step: u64,
    /// Time, bit for bit.
    pub time: f64,
    /// The time step that comes next, bit for bit.
    pub time_step: f64,
    /// The box, bit for bit.
    pub bx: SimulationBox,
    /// What the run is called.
    pub title: String,
    /// The deck's text.
    pub deck: String,
    /// Counts and words; fractions may lose their last bit here.
    pub counters: serde_json::Value,
    /// Further numbers, bit for bit.
    pub numbers: BTreeMap<String, f64>,
    /// This rank's rows of tables by name; all ranks name the same. On reading each rank gets an even share of the rows,
    /// in the order of the ranks that wrote them.
    pub tables: BTreeMap<String, Table>,
}

/// The part of the state that is stored as JSON; numbers as their bits, which keeps also NaN.
#[derive(serde::Serialize, serde::Deserialize)]
struct Run {
    title: String,
    deck: String,
    counters: serde_json::Value,
    numbers: BTreeMap<String, u64>,
}

/// Write `directory/checkpoint-NNNNNN.h5` (N: the step) and give its path; the one before it is kept, older ones are
/// removed, and later ones (of a run that this one supersedes) are renamed to end in `.superseded`. Collective; the
/// ranks give the same state, but for the rows of the tables.
///
/// # Errors
/// [`Error::File`] or [`Error::Elsewhere`] on every rank if any fails; then nothing has changed.
pub fn write_checkpoint(
    directory: &Path,
    comm: &Communicator,
    particles: &Particles,
    state: &CheckpointState,
) -> Result<PathBuf> {
    let path = directory.join(keep::name(state.step));
    let run = Run {
        title: state.title.clone(),
        deck: state.deck.clone(),
        counters: state.counters.clone(),
        numbers: state.numbers.iter().map(|(name, number)| (name.clone(), number.to_bits())).collect(),
    };
    let run = serde_json::to_vec(&run).map_err(|cause| {
        Error::usage(format!("the run's state is no JSON: {cause}"), "report this as a bug")
    });
    let run = comm.agree_on(run)?;

    let mut file = SharedFile::create(&path, comm)?;
    file.describe(|file| {
        let group = hdf::create_group(file, OURS)?;
        hdf::write_string(&group, "Kind", "checkpoint")?;
        hdf::write_string(&group, "Version", env!("CARGO_PKG_VERSION"))?;
        hdf::write_numbers(&group, "Format version", &[FORMAT_VERSION])?;
        let group = hdf::create_group(file, GROUP)?;
        hdf::write_numbers(&group, "step", &[state.step])?;
        hdf::write_numbers(&group, "time", &[state.time])?;
        hdf::write_numbers(&group, "time_step", &[state.time_step])?;
        hdf::write_numbers(&group, "lower", state.bx.lower.as_slice())?;
        hdf::write_numbers(&group, "upper", state.bx.upper.as_slice())?;
        let periodic = state.bx.boundary.map(|boundary| i32::from(boundary == Boundary::Periodic));
        hdf::write_numbers(&group, "periodic", &periodic)?;
        if !state.tables.is_empty() {
            hdf::create_group(file, TABLES)?;
        }
        Ok(())
    })?;
    let root_alone = |count: usize| if comm.is_root() { count } else { 0 };
    let run_rows = Rows::new(comm, root_alone(run.len()));
    let rank_rows = Rows::new(comm, root_alone(comm.size()));
    let rows = Rows::new(comm, particles.owned().len());
    let fields = particles.fields_of(Role::State);
    let columns: Vec<(Field, usize)> =
        fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))).collect();
    let named = |field: Field, c: usize| format!("{GROUP}/{}.{c}", field.name());
    file.plan_table::<u8>(&format!("{GROUP}/run"), &run_rows, 1, |_| Ok(()))?;
    file.plan_table::<u64>(&format!("{GROUP}/rank_rows"), &rank_rows, 1, |_| Ok(()))?;
    file.plan_table::<u64>(&format!("{GROUP}/id"), &rows, 1, |_| Ok(()))?;
    for &(field, c) in &columns {
        file.plan_table::<f64>(&named(field, c), &rows, 1, |_| Ok(()))?;
    }
    let mut tables = Vec::new();
    for (name, table) in &state.tables {
        let rows = Rows::new(comm, table.words.len() / table.width);
        file.plan_table::<u64>(&format!("{TABLES}/{name}"), &rows, table.width, |_| Ok(()))?;
        tables.push((name, table, rows));
    }

    file.fill()?;
    file.write_table(&format!("{GROUP}/run"), &run_rows, |range| run[range].to_vec())?;
    file.write_table(&format!("{GROUP}/rank_rows"), &rank_rows, |range| rows.counts()[range].to_vec())?;
    let start = particles.owned().start;
    let owned = |range: Range<usize>| start + range.start..start + range.end;
    file.write_table(&format!("{GROUP}/id"), &rows, |range| particles.id[owned(range)].to_vec())?;
    for (field, c) in columns {
        let column = particles.component(field, c);
        file.write_table(&named(field, c), &rows, |range| column[owned(range)].to_vec())?;
    }
    for (name, table, rows) in tables {
        let words =
            |range: Range<usize>| table.words[range.start * table.width..range.end * table.width].to_vec();
        file.write_table(&format!("{TABLES}/{name}"), &rows, words)?;
    }
    file.finish()?;
    if comm.is_root() {
        keep::tidy(directory, state.step);
    }
    comm.barrier();
    Ok(path)
}

/// Read a checkpoint, or the newest whole one of a folder, after verifying it: on the number of ranks that wrote it
/// each gets the rows it had, on another number an even share, in the same global order. Only state fields are there.
/// Collective.
///
/// # Errors
/// On every rank if any fails: [`Error::File`] if it cannot be read or a folder has none, [`Error::Content`] if it is
/// damaged or no checkpoint, with the name of the checkpoint to use instead.
pub fn read_checkpoint(path: &Path, comm: &Communicator) -> Result<(CheckpointState, Particles)> {
    let path = chosen(path, comm)?;
    comm.agree_on(Content::open(&path).and_then(|content| content.read(comm)))
}

/// The deck of the checkpoint that a path names, or of the newest whole one of a folder, printed with its
/// defaults; nothing where there is no such checkpoint, which reading it reports. Collective; verifies the file.
pub fn deck_of_checkpoint(path: &Path, comm: &Communicator) -> Option<String> {
    // before HDF5 opens it: it may fail on a damaged file
    let (path, _) = comm.agree_on(find(path, comm)).ok()?;
    let read = || Content::open(&path).and_then(|content| content.state()).map(|state| state.deck);
    let mut text = if comm.is_root() { read().unwrap_or_default().into_bytes() } else { Vec::new() };
    comm.broadcast(&mut text, 0);
    String::from_utf8(text).ok().filter(|text| !text.is_empty())
}

/// The checkpoint that a path names, verified: itself, or the newest whole one of a folder, which is logged. Collective.
fn chosen(path: &Path, comm: &Communicator) -> Result<PathBuf> {
    let (found, in_folder) = find(path, comm)?;
    if in_folder && comm.is_root() {
        report::line(&format!("from {}", found.display()));
    }
    Ok(found)
}

/// The checkpoint that a path names, verified, and whether the path is a folder. Collective.
fn find(path: &Path, comm: &Communicator) -> Result<(PathBuf, bool)> {
    // The root's view, so that all ranks go the same way.
    let mut is_folder = vec![u8::from(path.is_dir())];
    comm.broadcast(&mut is_folder, 0);
    match is_folder == [0] {
        true => verify(path, comm).map(|()| (path.to_owned(), false)),
        false => keep::find_latest(path, comm).map(|newest| (newest, true)),
    }
}

/// See that a checkpoint is complete and unchanged. Collective.
pub(super) fn verify(path: &Path, comm: &Communicator) -> Result<()> {
    match seal::verify(path, comm, &keep::advice(path))? {
        Seal::Intact => Ok(()),
        Seal::Absent => {
            let what = "the seal at its end is missing: it was cut off, or is no checkpoint".into();
            Err(Error::Content { path: path.to_owned(), what, remedy: keep::advice(path) })
        }
    }
}

/// An open checkpoint whose seal is intact.
pub(super) struct Content<'a> {
    path: &'a Path,
    bytes: u64,
    group: Group,
    tables: Option<Group>,
    /// Rows of each rank that wrote it.
    pub(super) rank_rows: Vec<u64>,
    /// Dropped last.
    _reading: Reading,
}

impl<'a> Content<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let bytes = seal::open(path)?.metadata().map_err(|cause| Error::file("read", path, &cause))?.len();
        let reading = Reading::of(path);
        let file = hdf::open(path).map_err(|error| damaged(path, hdf::reason(&error)))?;
        let ours = file.group(OURS).map_err(|_| damaged(path, format!("it has no group {OURS}")))?;
        refuse_other_kinds(path, &ours, "checkpoint")?;
        let group = file.group(GROUP).map_err(|_| damaged(path, format!("it has no group {GROUP}")))?;
        let tables = file.group(TABLES).ok();
        let mut content = Self { path, bytes, group, tables, rank_rows: Vec::new(), _reading: reading };
        content.rank_rows = content.column("rank_rows", None)?;
        let total = content.rank_rows.iter().try_fold(0u64, |sum, &rows| sum.checked_add(rows));
        if total.is_none_or(|total| total > bytes) {
            return Err(damaged(path, "it counts more rows than it can hold".into()));
        }
        Ok(content)
    }

    pub(super) fn total(&self) -> u64 {
        self.rank_rows.iter().sum()
    }

    /// A dataset, or a range of its rows; the whole must fit the file, and have `total` rows where a range is asked for.
    fn column<T: H5Type + Clone + Default>(&self, name: &str, range: Option<Range<u64>>) -> Result<Vec<T>> {
        let failed = |error: hdf5::Error| damaged(self.path, format!("{name}: {}", hdf::reason(&error)));
        let dataset = self.group.dataset(name).map_err(failed)?;
        let shape = dataset.shape();
        let rows = shape.first().map_or(0, |&rows| rows as u64);
        let bytes = rows.saturating_mul(size_of::<T>() as u64);
        let expected = range.is_none() || rows == self.total();
        if shape.len() != 1 || bytes > self.bytes || dataset.storage_size() < bytes || !expected {
            return Err(damaged(self.path, format!("{name} has shape {shape:?}")));
        }
        let range = range.unwrap_or(0..rows);
        let mut values = zeros((range.end - range.start) as usize, self.path)?;
        read_rows(&dataset, range.start, &mut values).map_err(failed)?;
        Ok(values)
    }

    /// The state fields it holds.
    pub(super) fn fields(&self) -> Vec<Field> {
        let there = |field: &Field| self.group.link_exists(&format!("{}.0", field.name()));
        Field::ALL.iter().copied().filter(there).collect()
    }

    /// One component of a field, or a range of its rows.
    pub(super) fn component(&self, field: Field, component: usize, range: Range<u64>) -> Result<Vec<f64>> {
        self.column(&format!("{}.{component}", field.name()), Some(range))
    }

    /// The share of a rank of each table.
    fn tables(&self, comm: &Communicator) -> Result<BTreeMap<String, Table>> {
        let failed = |error: hdf5::Error| damaged(self.path, format!("{TABLES}: {}", hdf::reason(&error)));
        let Some(group) = &self.tables else { return Ok(BTreeMap::new()) };
        let mut tables = BTreeMap::new();
        for name in group.member_names().map_err(failed)? {
            let dataset = group.dataset(&name).map_err(failed)?;
            let (rows, width) = match *dataset.shape().as_slice() {
                [rows] => (rows as u64, 1),
                [rows, width] => (rows as u64, width),
                _ => (u64::MAX, 1),
            };
            let bytes = rows.saturating_mul(width as u64).saturating_mul(8);
            if width == 0 || bytes > self.bytes || dataset.storage_size() < bytes {
                return Err(damaged(self.path, format!("{TABLES}/{name} has shape {:?}", dataset.shape())));
            }
            let range = share(rows, comm.rank(), comm.size());
            let mut words = zeros((range.end - range.start) as usize * width, self.path)?;
            read_rows(&dataset, range.start, &mut words).map_err(failed)?;
            tables.insert(name, Table { width, words });
        }
        Ok(tables)
    }

    /// All but the particles and the tables.
    pub(super) fn state(&self) -> Result<CheckpointState> {
        let missing = |name: &str| damaged(self.path, format!("{GROUP} has no valid attribute {name}"));
        let number = |name: &str| {
            read_numbers::<f64>(&self.group, name)
                .and_then(|v| v.first().copied())
                .ok_or_else(|| missing(name))
        };
        let corner = |name: &str| match read_numbers::<f64>(&self.group, name).as_deref() {
            Some(&[x, y, z]) if x.is_finite() && y.is_finite() && z.is_finite() => Ok(Vec3d::new(x, y, z)),
            _ => Err(missing(name)),
        };
        let boundary = match read_numbers::<i32>(&self.group, "periodic").as_deref() {
            Some(&[x, y, z]) => [x, y, z].map(|p| if p == 0 { Boundary::Open } else { Boundary::Periodic }),
            _ => return Err(missing("periodic")),
        };
        let (lower, upper) = (corner("lower")?, corner("upper")?);
        if !(0..3).all(|d| lower[d] < upper[d]) {
            return Err(missing("upper"));
        }
        let step = read_numbers::<u64>(&self.group, "step").and_then(|v| v.first().copied());
        let run: Run = serde_json::from_slice(&self.column::<u8>("run", None)?)
            .map_err(|cause| damaged(self.path, format!("{GROUP}/run is not what it should be: {cause}")))?;
        Ok(CheckpointState {
            step: step.ok_or_else(|| missing("step"))?,
            time: number("time")?,
            time_step: number("time_step")?,
            bx: SimulationBox { lower, upper, boundary },
            title: run.title,
            deck: run.deck,
            counters: run.counters,
            numbers: run.numbers.into_iter().map(|(name, bits)| (name, f64::from_bits(bits))).collect(),
            tables: BTreeMap::new(),
        })
    }

    fn read(&self, comm: &Communicator) -> Result<(CheckpointState, Particles)> {
        let state = CheckpointState { tables: self.tables(comm)?, ..self.state()? };
        let (rank, size, total) = (comm.rank(), comm.size(), self.total());
        let first = |rank: usize| self.rank_rows[..rank].iter().sum();
        let range: Range<u64> = if size == self.rank_rows.len() {
            first(rank)..first(rank + 1)
        } else {
            share(total, rank, size)
        };
        let id = self.column("id", Some(range.clone()))?;
        let fields = self.fields();
        let mut particles = Particles::new(&fields, id.len());
        particles.id = id;
        for field in fields {
            for c in 0..field.components() {
                let column = self.component(field, c, range.clone())?;
                particles.component_mut(field, c).copy_from_slice(&column);
            }
        }
        Ok((state, particles))
    }
}

fn damaged(path: &Path, what: String) -> Error {
    Error::Content { path: path.to_owned(), what, remedy: keep::advice(path) }
}
