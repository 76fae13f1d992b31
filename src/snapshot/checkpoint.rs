//! Checkpoints: ids and all state columns bit for bit, and the rest of a run's state.
//!
//! Layout: group `State` holds the exact numbers of [`CheckpointState`] as attributes, and the datasets
//! `rank_rows` (rows per rank), `run` (JSON), `id`, and one per component, named `field.component`. Rows are
//! in global key order. Group `Tables`, if present, holds one dataset per table.

use super::collective::{RowDistribution, SharedFile};
use super::crash_guard::ReadGuard;
use super::hdf::{self, read_numbers, read_rows};
use super::layout::{FORMAT_VERSION, PROGRAM_GROUP};
use super::read::{check_kind, zeros};
use super::retention;
use super::seal::{self, Seal};
use crate::comm::Communicator;
use crate::comm::distribution::share;
use crate::particles::{Field, Particles, Role};
use crate::report;
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use hdf5::{Group, H5Type};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

const STATE_GROUP: &str = "State";

/// The group of the tables.
const TABLES_GROUP: &str = "Tables";

/// Extra per-run data rows, such as those of measurements. Each rank contributes its own rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Words per row, at least 1.
    pub width: usize,
    /// The rows, concatenated.
    pub words: Vec<u64>,
}

/// The state of a run apart from its particles.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointState {
    /// Number of steps done.
    pub step: u64,
    /// Time, exact.
    pub time: f64,
    /// The next time step, exact.
    pub time_step: f64,
    /// The box, exact.
    pub bx: SimulationBox,
    /// Title of the run.
    pub title: String,
    /// Text of the deck.
    pub deck: String,
    /// Counters and strings. JSON may lose the last bit of fractions.
    pub counters: serde_json::Value,
    /// Further numbers, exact.
    pub numbers: BTreeMap<String, f64>,
    /// This rank's rows of each table, by name. All ranks have the same names. On reading, each rank gets an
    /// even share of the rows, in the order of the ranks that wrote them.
    pub tables: BTreeMap<String, Table>,
}

/// The part of the state stored as JSON. Numbers are stored as bits, so NaN survives.
#[derive(serde::Serialize, serde::Deserialize)]
struct JsonState {
    title: String,
    deck: String,
    counters: serde_json::Value,
    numbers: BTreeMap<String, u64>,
}

/// Writes `directory/checkpoint-NNNNNN.h5` (N: the step) and returns its path. Collective.
///
/// Keeps the previous checkpoint and removes older ones. Later ones, of a run that this one supersedes, are
/// renamed to end in `.superseded`. All ranks pass the same state, except for the rows of the tables.
///
/// # Errors
/// [`Error::File`] or [`Error::Elsewhere`] on every rank if any rank fails; then no file has changed.
pub fn write_checkpoint(
    directory: &Path,
    comm: &Communicator,
    particles: &Particles,
    state: &CheckpointState,
) -> Result<PathBuf> {
    let path = directory.join(retention::file_name(state.step));
    let run = JsonState {
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
    file.write_metadata(|file| {
        let group = hdf::create_group(file, PROGRAM_GROUP)?;
        hdf::write_string(&group, "Kind", "checkpoint")?;
        hdf::write_string(&group, "Version", env!("CARGO_PKG_VERSION"))?;
        hdf::write_numbers(&group, "Format version", &[FORMAT_VERSION])?;
        let group = hdf::create_group(file, STATE_GROUP)?;
        hdf::write_numbers(&group, "step", &[state.step])?;
        hdf::write_numbers(&group, "time", &[state.time])?;
        hdf::write_numbers(&group, "time_step", &[state.time_step])?;
        hdf::write_numbers(&group, "lower", state.bx.lower.as_slice())?;
        hdf::write_numbers(&group, "upper", state.bx.upper.as_slice())?;
        let periodic = state.bx.boundary.map(|boundary| i32::from(boundary == Boundary::Periodic));
        hdf::write_numbers(&group, "periodic", &periodic)?;
        if !state.tables.is_empty() {
            hdf::create_group(file, TABLES_GROUP)?;
        }
        Ok(())
    })?;
    let root_alone = |count: usize| if comm.is_root() { count } else { 0 };
    let run_rows = RowDistribution::new(comm, root_alone(run.len()));
    let rank_rows = RowDistribution::new(comm, root_alone(comm.size()));
    let rows = RowDistribution::new(comm, particles.owned().len());
    let fields = particles.fields_of(Role::State);
    let columns: Vec<(Field, usize)> =
        fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))).collect();
    let named = |field: Field, c: usize| format!("{STATE_GROUP}/{}.{c}", field.name());
    file.plan_table::<u8>(&format!("{STATE_GROUP}/run"), &run_rows, 1, |_| Ok(()))?;
    file.plan_table::<u64>(&format!("{STATE_GROUP}/rank_rows"), &rank_rows, 1, |_| Ok(()))?;
    file.plan_table::<u64>(&format!("{STATE_GROUP}/id"), &rows, 1, |_| Ok(()))?;
    for &(field, c) in &columns {
        file.plan_table::<f64>(&named(field, c), &rows, 1, |_| Ok(()))?;
    }
    let mut tables = Vec::new();
    for (name, table) in &state.tables {
        let rows = RowDistribution::new(comm, table.words.len() / table.width);
        file.plan_table::<u64>(&format!("{TABLES_GROUP}/{name}"), &rows, table.width, |_| Ok(()))?;
        tables.push((name, table, rows));
    }

    file.begin_data()?;
    file.write_table(&format!("{STATE_GROUP}/run"), &run_rows, |range| run[range].to_vec())?;
    file.write_table(&format!("{STATE_GROUP}/rank_rows"), &rank_rows, |range| rows.counts()[range].to_vec())?;
    let start = particles.owned().start;
    let owned = |range: Range<usize>| start + range.start..start + range.end;
    file.write_table(&format!("{STATE_GROUP}/id"), &rows, |range| particles.id[owned(range)].to_vec())?;
    for (field, c) in columns {
        let column = particles.component(field, c);
        file.write_table(&named(field, c), &rows, |range| column[owned(range)].to_vec())?;
    }
    for (name, table, rows) in tables {
        let words =
            |range: Range<usize>| table.words[range.start * table.width..range.end * table.width].to_vec();
        file.write_table(&format!("{TABLES_GROUP}/{name}"), &rows, words)?;
    }
    file.finish()?;
    if comm.is_root() {
        retention::prune(directory, state.step);
    }
    comm.barrier();
    Ok(path)
}

/// Verifies and reads a checkpoint, or the newest intact one of a directory. Collective.
///
/// On as many ranks as wrote it, each rank gets its former rows. On another number of ranks, each gets an
/// even share in the same global order. The particles have state fields only.
///
/// # Errors
/// On every rank if any rank fails. [`Error::File`]: the file cannot be read, or the directory has no
/// checkpoint. [`Error::Content`]: the file is damaged or no checkpoint; the remedy names the checkpoint to
/// use instead.
pub fn read_checkpoint(path: &Path, comm: &Communicator) -> Result<(CheckpointState, Particles)> {
    let path = resolve_and_log(path, comm)?;
    comm.agree_on(CheckpointFile::open(&path).and_then(|content| content.read(comm)))
}

/// Returns the deck, printed with its defaults, of the checkpoint at `path` or of the newest intact one in
/// the directory `path`. `None` if there is no such checkpoint: reading it then reports the error.
/// Collective; verifies the file.
pub fn deck_of_checkpoint(path: &Path, comm: &Communicator) -> Option<String> {
    // Verify before HDF5 opens the file: HDF5 may crash on a damaged one.
    let (path, _) = comm.agree_on(resolve(path, comm)).ok()?;
    let read = || CheckpointFile::open(&path).and_then(|content| content.state()).map(|state| state.deck);
    let mut text = if comm.is_root() { read().unwrap_or_default().into_bytes() } else { Vec::new() };
    comm.broadcast(&mut text, 0);
    String::from_utf8(text).ok().filter(|text| !text.is_empty())
}

/// Returns the verified checkpoint at `path`, or the newest intact one in the directory `path`. Logs the
/// choice from a directory. Collective.
fn resolve_and_log(path: &Path, comm: &Communicator) -> Result<PathBuf> {
    let (found, in_folder) = resolve(path, comm)?;
    if in_folder && comm.is_root() {
        report::line(&format!("from {}", found.display()));
    }
    Ok(found)
}

/// Returns the verified checkpoint at `path`, and whether `path` is a directory. Collective.
fn resolve(path: &Path, comm: &Communicator) -> Result<(PathBuf, bool)> {
    // The root decides, so that all ranks take the same branch.
    let mut is_folder = vec![u8::from(path.is_dir())];
    comm.broadcast(&mut is_folder, 0);
    match is_folder == [0] {
        true => verify(path, comm).map(|()| (path.to_owned(), false)),
        false => retention::find_latest(path, comm).map(|newest| (newest, true)),
    }
}

/// Checks that a checkpoint is complete and unchanged. Collective.
pub(super) fn verify(path: &Path, comm: &Communicator) -> Result<()> {
    match seal::verify(path, comm, &retention::damage_remedy(path))? {
        Seal::Intact => Ok(()),
        Seal::Absent => {
            let what = "the seal at its end is missing: it was cut off, or is no checkpoint".into();
            Err(Error::Content { path: path.to_owned(), what, remedy: retention::damage_remedy(path) })
        }
    }
}

/// An open checkpoint with an intact seal.
pub(super) struct CheckpointFile<'a> {
    path: &'a Path,
    bytes: u64,
    group: Group,
    tables: Option<Group>,
    /// Rows of each rank that wrote the file.
    pub(super) rank_rows: Vec<u64>,
    /// Must be dropped last.
    _reading: ReadGuard,
}

impl<'a> CheckpointFile<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let bytes = seal::open(path)?.metadata().map_err(|cause| Error::file("read", path, &cause))?.len();
        let reading = ReadGuard::new(path);
        let file = hdf::open(path).map_err(|error| damaged(path, hdf::reason(&error)))?;
        let ours = file
            .group(PROGRAM_GROUP)
            .map_err(|_| damaged(path, format!("it has no group {PROGRAM_GROUP}")))?;
        check_kind(path, &ours, "checkpoint")?;
        let group =
            file.group(STATE_GROUP).map_err(|_| damaged(path, format!("it has no group {STATE_GROUP}")))?;
        let tables = file.group(TABLES_GROUP).ok();
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

    /// Reads a dataset, or a range of its rows. Its size must fit the file; if a range is requested, it must
    /// have `total` rows.
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

    /// The state fields in the file.
    pub(super) fn fields(&self) -> Vec<Field> {
        let there = |field: &Field| self.group.link_exists(&format!("{}.0", field.name()));
        Field::ALL.iter().copied().filter(there).collect()
    }

    /// Reads a range of rows of one component of a field.
    pub(super) fn component(&self, field: Field, component: usize, range: Range<u64>) -> Result<Vec<f64>> {
        self.column(&format!("{}.{component}", field.name()), Some(range))
    }

    /// Reads this rank's share of each table.
    fn tables(&self, comm: &Communicator) -> Result<BTreeMap<String, Table>> {
        let failed =
            |error: hdf5::Error| damaged(self.path, format!("{TABLES_GROUP}: {}", hdf::reason(&error)));
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
                return Err(damaged(
                    self.path,
                    format!("{TABLES_GROUP}/{name} has shape {:?}", dataset.shape()),
                ));
            }
            let range = share(rows, comm.rank(), comm.size());
            let mut words = zeros((range.end - range.start) as usize * width, self.path)?;
            read_rows(&dataset, range.start, &mut words).map_err(failed)?;
            tables.insert(name, Table { width, words });
        }
        Ok(tables)
    }

    /// Reads the state, except particles and tables.
    pub(super) fn state(&self) -> Result<CheckpointState> {
        let missing = |name: &str| damaged(self.path, format!("{STATE_GROUP} has no valid attribute {name}"));
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
        let run: JsonState = serde_json::from_slice(&self.column::<u8>("run", None)?).map_err(|cause| {
            damaged(self.path, format!("{STATE_GROUP}/run is not what it should be: {cause}"))
        })?;
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
    Error::Content { path: path.to_owned(), what, remedy: retention::damage_remedy(path) }
}
