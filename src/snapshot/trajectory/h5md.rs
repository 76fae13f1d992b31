//! H5MD trajectories (de Buyl, Colberg & Höfling 2014, Comput. Phys. Commun. 185, 1546; specification version
//! 1.1): HDF5 that MDAnalysis, VMD's plug-in and others read.
//!
//! `/particles/all` has `position` and the optional fields, each with `value` and links to the common `step`
//! and `time`, as has `box/edges`. `id`, `species`, `mass` and `charge` are constant and have no time.

mod constant;
mod frames;
mod resume;
mod tell;

pub use frames::Frames;
pub(in crate::snapshot) use tell::describe;

use std::path::{Path, PathBuf};

use hdf5::types::VarLenUnicode;
use hdf5::{Dataset, File, Location};

use super::super::collective::{failure, options, partial_name, rename};
use super::super::hdf::{self, Outcome, write_rows};
use super::super::layout::{FORMAT_VERSION, PROGRAM_GROUP};
use super::growing::{self, NumberType, Shape};
use super::order::Order;
use super::{Content, Moment};
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox};
use crate::units::UnitSystem;
use crate::{Error, Result};
use constant::{Constant, constants};

/// The group of the particles.
const ALL_PARTICLES: &str = "particles/all";
/// Half the maximum number of chunks per index node; large, so that nodes rarely split.
const INDEX_NODE: u32 = 256;
/// One block for all headers and first index nodes, so that a node is adjacent to its header.
const METADATA_BLOCK: u64 = 1 << 18;

/// An H5MD trajectory. The file is closed between frames.
pub struct H5md {
    path: PathBuf,
    order: Order,
    tables: Vec<Table>,
    frames: u64,
    last_step: Option<u64>,
}

/// A field and the shape of its dataset.
#[derive(Clone, Copy)]
struct Table {
    field: Field,
    shape: Shape,
}

impl Table {
    fn name(&self) -> String {
        format!("{ALL_PARTICLES}/{}/value", self.field.name())
    }
}

/// The time-dependent fields. Readers count frames by the position, so it is published last.
fn tables(content: &Content, particles: u64) -> Vec<Table> {
    let number = if content.plan.double { NumberType::Double } else { NumberType::Single };
    let wanted = [
        (content.plan.images, Field::Image, NumberType::Integer),
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
        bx: &SimulationBox,
        particles: &Particles,
    ) -> Result<Self> {
        let order = Order::new(comm, &particles.id[particles.owned()]);
        let trajectory = Self {
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
            trajectory
                .describe(&partial, content, bx, &constants)
                .map_err(|error| failure("write", path, &error))
        });
        let written = comm.agree_on(described.transpose()).and_then(|offsets| {
            trajectory.write_constants(&partial, comm, &constants, particles, offsets.unwrap_or_default())?;
            comm.agree(if comm.is_root() { rename(&partial, path) } else { Ok(()) })
        });
        if written.is_err() && comm.is_root() {
            let _ = std::fs::remove_file(&partial);
        }
        written.map(|()| trajectory)
    }

    /// Writes all groups and attributes, on the root; returns the file offsets of the constant columns.
    fn describe(
        &self,
        partial: &Path,
        content: &Content,
        bx: &SimulationBox,
        constants: &[Constant],
    ) -> Outcome<Vec<u64>> {
        let mut options = options();
        options.with_fcpl(|plan| plan.istore_k(INDEX_NODE));
        options.with_fapl(|access| access.meta_block_size(METADATA_BLOCK));
        let file = options.create(partial)?;
        match self.describe_in(&file, content, bx, constants) {
            Ok(offsets) => hdf::close(file).map(|()| offsets),
            Err(error) => {
                hdf::abandon(file);
                Err(error)
            }
        }
    }

    fn describe_in(
        &self,
        file: &File,
        content: &Content,
        bx: &SimulationBox,
        constants: &[Constant],
    ) -> Outcome<Vec<u64>> {
        let head = hdf::create_group(file, "h5md")?;
        hdf::write_numbers(&head, "version", &[1i32, 1])?;
        let author = hdf::create_group(file, "h5md/author")?;
        write_text(&author, "name", "unknown")?;
        let creator = hdf::create_group(file, "h5md/creator")?;
        write_text(&creator, "name", "hilbrium")?;
        write_text(&creator, "version", env!("CARGO_PKG_VERSION"))?;
        let ours = hdf::create_group(file, PROGRAM_GROUP)?;
        hdf::write_string(&ours, "Kind", "trajectory")?;
        hdf::write_numbers(&ours, "Format version", &[FORMAT_VERSION])?;
        hdf::write_string(&ours, "Title", &content.title.chars().take(1000).collect::<String>())?;

        hdf::create_group(file, "particles")?;
        hdf::create_group(file, ALL_PARTICLES)?;
        let total = self.order.total() as usize;
        let mut offsets = Vec::new();
        for constant in constants {
            offsets.push(constant.create(file, total, content)?);
        }
        let molecular = content.units.system == UnitSystem::Molecular;
        let unit = |to: &Location, name: &str| if molecular { write_text(to, "unit", name) } else { Ok(()) };
        let space = hdf::create_group(file, &format!("{ALL_PARTICLES}/box"))?;
        space.new_attr::<i32>().create("dimension")?.write_scalar(&3)?;
        let names =
            bx.boundary.map(|boundary| if boundary == Boundary::Periodic { "periodic" } else { "none" });
        let names: Vec<VarLenUnicode> = names.iter().filter_map(|name| name.parse().ok()).collect();
        space.new_attr::<VarLenUnicode>().shape([3]).create("boundary")?.write_raw(&names)?;
        let edges = hdf::create_group(file, &format!("{ALL_PARTICLES}/box/edges"))?;
        growing::create_per_frame::<i64>(&edges, "step", None)?;
        let time = growing::create_per_frame::<f64>(&edges, "time", None)?;
        unit(&time, "ps")?;
        let value = growing::create_per_frame::<f64>(&edges, "value", Some(3))?;
        unit(&value, "nm")?;
        for table in &self.tables {
            let group = hdf::create_group(file, &format!("{ALL_PARTICLES}/{}", table.field.name()))?;
            let all = file.group(ALL_PARTICLES)?;
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
        Ok(offsets)
    }

    /// Writes the constant columns; every rank writes its rows. Collective.
    fn write_constants(
        &self,
        partial: &Path,
        comm: &Communicator,
        constants: &[Constant],
        particles: &Particles,
        mut offsets: Vec<u64>,
    ) -> Result<()> {
        use std::os::unix::fs::FileExt;
        comm.broadcast(&mut offsets, 0);
        let redistribution = self.order.redistribution(comm, particles);
        let first = self.order.rows(comm).start;
        let mut outcome = growing::open(partial).map_err(|cause| Error::file("write", &self.path, &cause));
        for (constant, offset) in constants.iter().zip(offsets) {
            let bytes: Vec<u8> = match constant.field {
                None => redistribution.ids().iter().flat_map(|&id| (id as i64).to_ne_bytes()).collect(),
                Some(field) => {
                    let column = redistribution.column(comm, particles, field);
                    column.iter().flat_map(|value| constant.bytes_of(*value)).collect()
                }
            };
            outcome = outcome.and_then(|file| {
                let written = file.write_all_at(&bytes, offset + first * constant.bytes());
                written.map(|()| file).map_err(|cause| Error::file("write", &self.path, &cause))
            });
        }
        comm.agree(outcome.map(drop))
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
        let redistribution = self.order.redistribution(comm, particles);
        let reserved = comm.is_root().then(|| self.reserve()).transpose();
        let reserved = reserved.map_err(|error| failure("write", &self.path, &error));
        let (file, mut offsets) = match comm.agree_on(reserved)? {
            Some((file, offsets)) => (Some(file), offsets),
            None => (None, Vec::new()),
        };
        comm.broadcast(&mut offsets, 0);
        let first = self.order.rows(comm).start;
        let mut outcome = growing::open(&self.path);
        let each = offsets.len() / self.tables.len();
        for (table, offsets) in self.tables.iter().zip(offsets.chunks(each.max(1))) {
            let values = redistribution.column(comm, particles, table.field);
            outcome =
                outcome.and_then(|file| table.shape.write(&file, offsets, first, &values).map(|()| file));
        }
        let written = outcome.map(drop).map_err(|cause| Error::file("write", &self.path, &cause));
        let written = comm.agree(written);
        let published = match (file, &written) {
            (Some(file), Ok(())) => match self.publish(&file, moment) {
                Ok(()) => hdf::close(file),
                Err(error) => Err(self.roll_back(file, error)),
            },
            (Some(file), Err(_)) => Err(self.roll_back(file, "the frame could not be written".into())),
            (None, _) => Ok(()),
        };
        let published = comm.agree(published.map_err(|error| failure("write", &self.path, &error)));
        written.and(published)?;
        self.frames += 1;
        self.last_step = Some(moment.step);
        Ok(())
    }

    /// Allocates a frame, on the root, in memory: readers do not see it yet.
    fn reserve(&self) -> Outcome<(File, Vec<u64>)> {
        let file = options().open_rw(&self.path)?;
        let mut offsets = Vec::new();
        for table in &self.tables {
            match table.shape.reserve(&file.dataset(&table.name())?, self.frames) {
                Ok(of_table) => offsets.extend(of_table),
                Err(error) => return Err(self.roll_back(file, error)),
            }
        }
        match growing::extend_file(&self.path, &file) {
            Ok(()) => Ok((file, offsets)),
            Err(error) => Err(self.roll_back(file, error)),
        }
    }

    /// Discards an allocated frame that was not written, so that HDF5 does not publish it. Returns `error`.
    fn roll_back(&self, file: File, error: hdf5::Error) -> hdf5::Error {
        match self.shrink(&file, self.frames) {
            Ok(()) => drop(hdf::close(file)),
            Err(_) => hdf::abandon(file),
        }
        error
    }

    /// Publishes the frame: step, time and box, then the fields, the position last.
    fn publish(&self, file: &File, moment: &Moment) -> Outcome<()> {
        let frame = self.frames as usize;
        let small = |name: &str| file.dataset(&format!("{ALL_PARTICLES}/box/edges/{name}"));
        let (step, time, value) = (small("step")?, small("time")?, small("value")?);
        step.resize(frame + 1)?;
        time.resize(frame + 1)?;
        value.resize((frame + 1, 3))?;
        write_rows(&step, self.frames, &[moment.step as i64])?;
        write_rows(&time, self.frames, &[moment.time])?;
        write_rows(&value, self.frames, moment.bx.lengths().as_slice())?;
        growing::extend_file(&self.path, file)?;
        for dataset in [&step, &time, &value] {
            dataset.flush()?;
        }
        for table in &self.tables {
            file.dataset(&table.name())?.flush()?;
        }
        file.flush()
    }
}

/// Writes a variable-length string attribute, the type that H5MD readers compare with unit names.
fn write_text(to: &Location, name: &str, value: &str) -> Outcome<()> {
    let value: VarLenUnicode = value.parse().map_err(|_| "a zero byte in a text")?;
    to.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&value)
}

fn row_count(dataset: &Dataset) -> u64 {
    dataset.shape().first().map_or(0, |&rows| rows as u64)
}
