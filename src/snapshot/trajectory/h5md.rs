//! H5MD (de Buyl, Colberg & Höfling 2014, Comput. Phys. Commun. 185, 1546; version 1.1 of its specification): HDF5 that
//! MDAnalysis, VMD's plug-in and others read.
//!
//! `/particles/all` has `position` and what else is asked for, each with `value`, and `step` and `time`, which all share;
//! `box/edges` likewise; `id`, `species`, `mass` and `charge`, which do not change, without time.

use std::path::{Path, PathBuf};

use hdf5::types::VarLenUnicode;
use hdf5::{Dataset, File, Group, H5Type, Location};

use super::super::collective::{failure, options, partial_name, rename};
use super::super::fault::Reading;
use super::super::hdf::{self, Outcome, read_rows, read_string, write_rows};
use super::super::layout::{FORMAT_VERSION, OURS};
use super::super::read::zeros;
use super::growing::{self, Number, Shape};
use super::order::Order;
use super::{Content, Moment};
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::space::Boundary;
use crate::units::UnitSystem;
use crate::{Error, Result};

/// The group of the particles, and of what belongs to it.
const GROUP: &str = "particles/all";
/// Chunks in a node of their index, halved: a node is split rarely.
const INDEX_NODE: u32 = 256;

/// A trajectory, closed between frames.
pub struct H5md {
    path: PathBuf,
    order: Order,
    tables: Vec<Table>,
    frames: u64,
    last_step: Option<u64>,
}

/// A field with its place in the file.
#[derive(Clone, Copy)]
struct Table {
    field: Field,
    shape: Shape,
}

impl Table {
    fn name(&self) -> String {
        format!("{GROUP}/{}/value", self.field.name())
    }
}

/// The fields that grow; the position, by which readers count frames, is the last to be published.
fn tables(content: &Content, particles: u64) -> Vec<Table> {
    let number = if content.plan.double { Number::Double } else { Number::Single };
    let wanted = [
        (content.plan.images, Field::Image, Number::Integer),
        (content.plan.velocities, Field::Velocity, number),
        (content.plan.forces, Field::Force, number),
        (true, Field::Position, number),
    ];
    let asked = wanted.into_iter().filter(|(asked, ..)| *asked);
    asked.map(|(_, field, number)| Table { field, shape: Shape::new(particles, number) }).collect()
}

impl H5md {
    pub(super) fn create(
        path: &Path,
        comm: &Communicator,
        content: &Content,
        particles: &Particles,
    ) -> Result<Self> {
        let order = Order::new(comm, &particles.id[particles.owned()]);
        let made = Self {
            path: path.to_owned(),
            tables: tables(content, order.total()),
            order,
            frames: 0,
            last_step: None,
        };
        let partial = partial_name(path);
        let constants = constants(particles);
        let described = comm.is_root().then(|| {
            std::fs::File::create(&partial).map_err(|cause| Error::file("create", path, &cause))?;
            made.describe(&partial, content, &constants).map_err(|error| failure("write", path, &error))
        });
        let written = comm.agree_on(described.transpose()).and_then(|places| {
            made.write_constants(&partial, comm, &constants, particles, places.unwrap_or_default())?;
            comm.agree(if comm.is_root() { rename(&partial, path) } else { Ok(()) })
        });
        if written.is_err() && comm.is_root() {
            let _ = std::fs::remove_file(&partial);
        }
        written.map(|()| made)
    }

    /// All groups and attributes, on the root; where the columns that do not change are to be written.
    fn describe(&self, partial: &Path, content: &Content, constants: &[Constant]) -> Outcome<Vec<u64>> {
        let mut options = options();
        options.with_fcpl(|plan| plan.istore_k(INDEX_NODE));
        let file = options.create(partial)?;
        match self.describe_in(&file, content, constants) {
            Ok(places) => hdf::close(file).map(|()| places),
            Err(error) => {
                hdf::abandon(file);
                Err(error)
            }
        }
    }

    fn describe_in(&self, file: &File, content: &Content, constants: &[Constant]) -> Outcome<Vec<u64>> {
        let head = hdf::create_group(file, "h5md")?;
        hdf::write_numbers(&head, "version", &[1i32, 1])?;
        let author = hdf::create_group(file, "h5md/author")?;
        text(&author, "name", "unknown")?;
        let creator = hdf::create_group(file, "h5md/creator")?;
        text(&creator, "name", "hilbrium")?;
        text(&creator, "version", env!("CARGO_PKG_VERSION"))?;
        let ours = hdf::create_group(file, OURS)?;
        hdf::write_string(&ours, "Kind", "trajectory")?;
        hdf::write_numbers(&ours, "Format version", &[FORMAT_VERSION])?;
        hdf::write_string(&ours, "Title", &content.title.chars().take(1000).collect::<String>())?;

        hdf::create_group(file, "particles")?;
        hdf::create_group(file, GROUP)?;
        let total = self.order.total() as usize;
        let mut places = Vec::new();
        for constant in constants {
            places.push(constant.create(file, total, content)?);
        }
        let molecular = content.units.system == UnitSystem::Molecular;
        let unit = |to: &Location, name: &str| if molecular { text(to, "unit", name) } else { Ok(()) };
        let space = hdf::create_group(file, &format!("{GROUP}/box"))?;
        space.new_attr::<i32>().create("dimension")?.write_scalar(&3)?;
        let edges = hdf::create_group(file, &format!("{GROUP}/box/edges"))?;
        growing::create_small::<i64>(&edges, "step", None)?;
        let time = growing::create_small::<f64>(&edges, "time", None)?;
        unit(&time, "ps")?;
        let value = growing::create_small::<f64>(&edges, "value", Some(3))?;
        unit(&value, "nm")?;
        for table in &self.tables {
            let group = hdf::create_group(file, &format!("{GROUP}/{}", table.field.name()))?;
            let all = file.group(GROUP)?;
            for name in ["step", "time"] {
                all.link_hard(&format!("box/edges/{name}"), &format!("{}/{name}", table.field.name()))?;
            }
            let dataset = table.shape.create(&group, "value")?;
            match table.field {
                Field::Position => unit(&dataset, "nm")?,
                Field::Velocity => unit(&dataset, "nm ps-1")?,
                Field::Force => unit(&dataset, "kJ mol-1 nm-1")?,
                _ => {}
            }
        }
        Ok(places)
    }

    /// Every rank its rows.
    fn write_constants(
        &self,
        partial: &Path,
        comm: &Communicator,
        constants: &[Constant],
        particles: &Particles,
        mut places: Vec<u64>,
    ) -> Result<()> {
        use std::os::unix::fs::FileExt;
        comm.broadcast(&mut places, 0);
        let arrangement = self.order.arrange(comm, particles);
        let first = self.order.rows(comm).start;
        let mut outcome = growing::open(partial).map_err(|cause| Error::file("write", &self.path, &cause));
        for (constant, place) in constants.iter().zip(places) {
            let bytes: Vec<u8> = match constant.field {
                None => arrangement.ids().iter().flat_map(|&id| (id as i64).to_ne_bytes()).collect(),
                Some(field) => {
                    let column = arrangement.column(comm, particles, field);
                    column.iter().flat_map(|value| constant.bytes_of(*value)).collect()
                }
            };
            outcome = outcome.and_then(|file| {
                let written = file.write_all_at(&bytes, place + first * constant.bytes());
                written.map(|()| file).map_err(|cause| Error::file("write", &self.path, &cause))
            });
        }
        comm.agree(outcome.map(drop))
    }

    pub(super) fn resume(
        path: &Path,
        comm: &Communicator,
        content: &Content,
        particles: &Particles,
        step: u64,
    ) -> Result<Self> {
        let order = Order::new(comm, &particles.id[particles.owned()]);
        let mut made = Self {
            path: path.to_owned(),
            tables: tables(content, order.total()),
            order,
            frames: 0,
            last_step: None,
        };
        let cut = comm.is_root().then(|| made.cut(step)).transpose();
        let (frames, last) = comm.agree_on(cut)?.unwrap_or_default();
        let mut shared = vec![frames, last.map_or(u64::MAX, |last| last)];
        comm.broadcast(&mut shared, 0);
        (made.frames, made.last_step) = (shared[0], Some(shared[1]).filter(|&last| last != u64::MAX));
        let ids = made.order.arrange(comm, particles).ids();
        comm.agree(made.same_particles(comm, &ids))?;
        Ok(made)
    }

    /// Cut off the frames after `step`, on the root: how many are left, and the step of the last.
    fn cut(&self, step: u64) -> Result<(u64, Option<u64>)> {
        let unreadable = |error: hdf5::Error| self.other(hdf::reason(&error));
        let _reading = Reading::or(|what| self.other(what));
        let file = reopening().open_rw(&self.path).map_err(unreadable)?;
        let kind = file.group(OURS).ok().and_then(|ours| read_string(&ours, "Kind"));
        if kind.as_deref() != Some("trajectory") {
            return Err(self.other("it is no trajectory of hilbrium".into()));
        }
        let group = file.group(GROUP).map_err(unreadable)?;
        let steps = group.dataset("box/edges/step").map_err(unreadable)?;
        let mut frames = rows_of(&steps);
        for name in ["time", "value"] {
            frames = frames.min(rows_of(&group.dataset(&format!("box/edges/{name}")).map_err(unreadable)?));
        }
        for table in &self.tables {
            let dataset = file.dataset(&table.name()).map_err(unreadable)?;
            let kind = dataset.dtype().map_err(unreadable)?;
            let shape = dataset.shape();
            if shape.len() != 3
                || shape[1..] != [self.order.total() as usize, 3]
                || kind.size() as u64 != table.shape.number_bytes()
            {
                let name = table.field.name();
                return Err(self.other(format!(
                    "its {name} is stored as {kind:?} of {shape:?}, other than the deck asks for"
                )));
            }
            frames = frames.min(shape[0] as u64);
        }
        let bytes =
            std::fs::metadata(&self.path).map_err(|cause| Error::file("read", &self.path, &cause))?.len();
        if frames.saturating_mul(8) > bytes {
            return Err(self.other(format!("it claims {frames} frames in {bytes} bytes")));
        }
        let mut values: Vec<i64> = zeros(frames as usize, &self.path)?;
        read_rows(&steps, 0, &mut values).map_err(unreadable)?;
        let kept = values.partition_point(|&value| value >= 0 && value as u64 <= step);
        drop((group, steps));
        let shrunk = self.shrink(&file, kept as u64).and_then(|()| hdf::close(file));
        shrunk.map_err(|error| failure("write", &self.path, &error))?;
        Ok((kept as u64, kept.checked_sub(1).map(|last| values[last] as u64)))
    }

    fn other(&self, what: String) -> Error {
        Error::Content {
            path: self.path.clone(),
            what,
            remedy:
                "move the file away, or choose another output directory; the restart then starts a new one"
                    .into(),
        }
    }

    /// Leave so many frames, the position's first.
    fn shrink(&self, file: &File, frames: u64) -> Outcome<()> {
        for table in self.tables.iter().rev() {
            let dataset = file.dataset(&table.name())?;
            let shape = dataset.shape();
            if shape.first().is_some_and(|&rows| rows as u64 > frames) {
                dataset.resize((frames as usize, shape[1], shape[2]))?;
            }
        }
        for (name, width) in [("step", None), ("time", None), ("value", Some(3))] {
            let dataset = file.dataset(&format!("{GROUP}/box/edges/{name}"))?;
            match width {
                None => dataset.resize(frames as usize)?,
                Some(width) => dataset.resize((frames as usize, width))?,
            }
        }
        Ok(())
    }

    /// See that the file is of the same particles.
    fn same_particles(&self, comm: &Communicator, ids: &[u64]) -> Result<()> {
        let unreadable = |error: hdf5::Error| self.other(hdf::reason(&error));
        let _reading = Reading::or(|what| self.other(what));
        let file = File::open(&self.path).map_err(unreadable)?;
        let dataset = file.dataset(&format!("{GROUP}/id")).map_err(unreadable)?;
        let mut stored: Vec<i64> = zeros(ids.len(), &self.path)?;
        if dataset.shape() != [self.order.total() as usize] {
            return Err(self.other("it has another number of particles".into()));
        }
        read_rows(&dataset, self.order.rows(comm).start, &mut stored).map_err(unreadable)?;
        match stored.iter().zip(ids).find(|(stored, id)| **stored as u64 != **id) {
            Some((stored, id)) => {
                Err(self.other(format!("it has the particle {stored} where this run has {id}")))
            }
            None => Ok(()),
        }
    }

    pub(super) fn append(
        &mut self,
        comm: &Communicator,
        particles: &Particles,
        moment: &Moment,
    ) -> Result<()> {
        if self.last_step == Some(moment.step) {
            return Ok(());
        }
        let arrangement = self.order.arrange(comm, particles);
        let reserved = comm.is_root().then(|| self.reserve()).transpose();
        let reserved = reserved.map_err(|error| failure("write", &self.path, &error));
        let (file, mut places) = match comm.agree_on(reserved)? {
            Some((file, places)) => (Some(file), places),
            None => (None, Vec::new()),
        };
        comm.broadcast(&mut places, 0);
        let first = self.order.rows(comm).start;
        let mut outcome = growing::open(&self.path);
        let each = places.len() / self.tables.len();
        for (table, places) in self.tables.iter().zip(places.chunks(each.max(1))) {
            let values = arrangement.column(comm, particles, table.field);
            outcome =
                outcome.and_then(|file| table.shape.write(&file, places, first, &values).map(|()| file));
        }
        let written = outcome.map(drop).map_err(|cause| Error::file("write", &self.path, &cause));
        let written = comm.agree(written);
        let published = match (file, &written) {
            (Some(file), Ok(())) => match self.publish(&file, moment) {
                Ok(()) => hdf::close(file),
                Err(error) => Err(self.take_back(file, error)),
            },
            (Some(file), Err(_)) => Err(self.take_back(file, "the frame could not be written".into())),
            (None, _) => Ok(()),
        };
        let published = comm.agree(published.map_err(|error| failure("write", &self.path, &error)));
        written.and(published)?;
        self.frames += 1;
        self.last_step = Some(moment.step);
        Ok(())
    }

    /// Make room for a frame, on the root, in memory: nothing is told yet to those who read the file.
    fn reserve(&self) -> Outcome<(File, Vec<u64>)> {
        let file = reopening().open_rw(&self.path)?;
        let mut places = Vec::new();
        for table in &self.tables {
            match table.shape.reserve(&file.dataset(&table.name())?, self.frames) {
                Ok(of_table) => places.extend(of_table),
                Err(error) => return Err(self.take_back(file, error)),
            }
        }
        match growing::lengthen(&self.path, &file) {
            Ok(()) => Ok((file, places)),
            Err(error) => Err(self.take_back(file, error)),
        }
    }

    /// Forget the frame that has room but is not there, so that HDF5 does not tell of it; gives the error back.
    fn take_back(&self, file: File, error: hdf5::Error) -> hdf5::Error {
        match self.shrink(&file, self.frames) {
            Ok(()) => drop(hdf::close(file)),
            Err(_) => hdf::abandon(file),
        }
        error
    }

    /// Tell of the frame: step, time and box, then the fields, at last the position.
    fn publish(&self, file: &File, moment: &Moment) -> Outcome<()> {
        let frame = self.frames as usize;
        let small = |name: &str| file.dataset(&format!("{GROUP}/box/edges/{name}"));
        let (step, time, value) = (small("step")?, small("time")?, small("value")?);
        step.resize(frame + 1)?;
        time.resize(frame + 1)?;
        value.resize((frame + 1, 3))?;
        let alone = hdf::Transfer::Independent;
        write_rows(&step, self.frames, &[moment.step as i64], alone)?;
        write_rows(&time, self.frames, &[moment.time], alone)?;
        write_rows(&value, self.frames, moment.bx.lengths().as_slice(), alone)?;
        if self.frames == 0 {
            let group = file.group(&format!("{GROUP}/box"))?;
            let names = moment
                .bx
                .boundary
                .map(|boundary| if boundary == Boundary::Periodic { "periodic" } else { "none" });
            let names: Vec<VarLenUnicode> = names.iter().filter_map(|name| name.parse().ok()).collect();
            group.new_attr::<VarLenUnicode>().shape([3]).create("boundary")?.write_raw(&names)?;
        }
        growing::lengthen(&self.path, file)?;
        for dataset in [&step, &time, &value] {
            dataset.flush()?;
        }
        for table in &self.tables {
            file.dataset(&table.name())?.flush()?;
        }
        file.flush()
    }
}

/// A column that does not change; `None` are the ids.
struct Constant {
    name: &'static str,
    field: Option<Field>,
}

/// The columns that do not change and that the particles have.
fn constants(particles: &Particles) -> Vec<Constant> {
    let mut constants = vec![Constant { name: "id", field: None }];
    let fields = [("species", Field::Species), ("mass", Field::Mass), ("charge", Field::Charge)];
    let there = fields.into_iter().filter(|(_, field)| particles.has(*field));
    constants.extend(there.map(|(name, field)| Constant { name, field: Some(field) }));
    constants
}

impl Constant {
    fn bytes(&self) -> u64 {
        if self.field == Some(Field::Species) { 4 } else { 8 }
    }

    fn bytes_of(&self, value: f64) -> Vec<u8> {
        if self.field == Some(Field::Species) {
            (value as i32).to_ne_bytes().to_vec()
        } else {
            value.to_ne_bytes().to_vec()
        }
    }

    /// Create the dataset with its room, and say where that is.
    fn create(&self, file: &File, total: usize, content: &Content) -> Outcome<u64> {
        let group = file.group(GROUP)?;
        let dataset = match self.field {
            None => contiguous::<i64>(&group, self.name, total)?,
            Some(Field::Species) => contiguous::<i32>(&group, self.name, total)?,
            Some(_) => contiguous::<f64>(&group, self.name, total)?,
        };
        let molecular = content.units.system == UnitSystem::Molecular;
        match self.field {
            Some(Field::Mass) if molecular => text(&dataset, "unit", "u")?,
            Some(Field::Charge) if molecular => text(&dataset, "unit", "e")?,
            Some(Field::Species) => {
                let names: Vec<VarLenUnicode> =
                    content.species.iter().filter_map(|name| name.parse().ok()).collect();
                dataset
                    .new_attr::<VarLenUnicode>()
                    .shape([names.len()])
                    .create("names")?
                    .write_raw(&names)?;
            }
            _ => {}
        }
        dataset.offset().ok_or_else(|| format!("{} has no room", self.name).into())
    }
}

fn contiguous<T: H5Type>(group: &Group, name: &str, total: usize) -> Outcome<Dataset> {
    use hdf5::plist::dataset_create::{AllocTime, FillTime};
    let plan = group.new_dataset::<T>().shape([total]).alloc_time(Some(AllocTime::Early));
    plan.fill_time(FillTime::Never).obj_track_times(false).create(name)
}

/// How the file is opened again: not locked, because who looks at it while the run goes on must not end the run.
fn reopening() -> hdf5::FileBuilder {
    let mut options = options();
    options.with_fapl(|access| access.file_locking(false));
    options
}

/// Attach a text of variable length, which is what the readers of H5MD compare with their names of units.
fn text(to: &Location, name: &str, value: &str) -> Outcome<()> {
    let value: VarLenUnicode = value.parse().map_err(|_| "a zero byte in a text")?;
    to.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&value)
}

fn rows_of(dataset: &Dataset) -> u64 {
    dataset.shape().first().map_or(0, |&rows| rows as u64)
}

/// What a trajectory holds, as names and values to read.
pub(in crate::snapshot) fn describe(path: &Path) -> Result<Vec<(&'static str, String)>> {
    let wrong = |error: hdf5::Error| Error::Content {
        path: path.to_owned(),
        what: hdf::reason(&error),
        remedy: "copy the file anew, or start again from a checkpoint".into(),
    };
    let file = File::open(path).map_err(wrong)?;
    let group = file.group(GROUP).map_err(wrong)?;
    let mut told = vec![("kind", "trajectory, H5MD".to_owned())];
    let ours = file.group(OURS).ok().and_then(|ours| read_string(&ours, "Title"));
    told.push(("title", ours.unwrap_or_default()));
    let position = group.dataset("position/value").map_err(wrong)?;
    let shape = position.shape();
    told.push(("particles", shape.get(1).copied().unwrap_or(0).to_string()));
    let frames = rows_of(&position);
    told.push(("frames", frames.to_string()));
    if frames > 0 {
        let ends = |name: &str| -> Outcome<[f64; 2]> {
            let dataset = group.dataset(name)?;
            let mut ends = [[0.0f64]; 2];
            read_rows(&dataset, 0, &mut ends[0])?;
            read_rows(&dataset, frames - 1, &mut ends[1])?;
            Ok([ends[0][0], ends[1][0]])
        };
        let ([first, last], [begin, end]) =
            (ends("position/step").map_err(wrong)?, ends("position/time").map_err(wrong)?);
        told.push(("steps", format!("{first} to {last}")));
        told.push(("times", format!("{begin} to {end}")));
        let mut edges = [0.0f64; 3];
        let boxes = group.dataset("box/edges/value").map_err(wrong)?;
        read_rows(&boxes, frames - 1, &mut edges).map_err(wrong)?;
        told.push(("box", format!("{} x {} x {} in the last frame", edges[0], edges[1], edges[2])));
    }
    for name in group.member_names().map_err(wrong)? {
        let Ok(dataset) = group.dataset(&format!("{name}/value")).or_else(|_| group.dataset(&name)) else {
            continue;
        };
        let kind = dataset.dtype().and_then(|kind| kind.to_descriptor()).map_err(wrong)?;
        let unit = dataset.attr("unit").ok().and_then(|unit| unit.read_scalar::<VarLenUnicode>().ok());
        let unit = unit.map_or(String::new(), |unit| format!(" [{unit}]"));
        told.push(("field", format!("{name:<12}{:?} of {kind}{unit}", dataset.shape())));
    }
    Ok(told)
}
