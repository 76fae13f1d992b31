//! Trajectories: one file that grows by one frame at a time, particles sorted by id.
//!
//! In all formats a killed run leaves a file that opens and has the earlier frames (with two exceptions for
//! H5MD, see `docs/src/reliability.md`). A restart from a checkpoint cuts off the frames after its step and
//! continues without gaps or duplicates.
//!
//! H5MD is written by all ranks (`h5md`), every other format by rank 0, which appends (`appended`). XTC and
//! DCD have a topology beside them (`psf`).

mod appended;
mod dcd;
mod dcd_head;
mod describe;
mod growing;
mod h5md;
mod lammps;
mod order;
mod psf;
mod superblock;
mod text;
mod xtc;
mod xyz;

pub use describe::info;
pub use h5md::Frames;
pub(super) use h5md::describe as describe_h5md;

use std::path::Path;

use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::plan::{Plan, TrajectoryFormat, TrajectoryPlan};
use crate::space::{Boundary, SimulationBox};
use crate::units::Units;
use crate::{Error, Result};
use appended::{Appended, Layout};
use h5md::H5md;

/// Angstroms per nanometre.
const ANGSTROM: f64 = 10.0;

/// The contents of a trajectory, and its metadata.
#[derive(Clone, Debug)]
pub struct Content {
    /// The deck's section.
    pub plan: TrajectoryPlan,
    /// Units of the values.
    pub units: Units,
    /// Names of the species; empty if all particles are of one kind.
    pub species: Vec<String>,
    /// Title of the run.
    pub title: String,
    /// Length of all time steps, if it is fixed.
    pub time_step: Option<f64>,
}

impl Content {
    /// The trajectory requested by the deck, if any.
    pub fn of(plan: &Plan) -> Option<Self> {
        plan.output.trajectory.as_ref().map(|trajectory| Self {
            plan: trajectory.clone(),
            units: plan.units,
            species: plan.species.iter().map(|kind| kind.name.clone()).collect(),
            title: plan.title.clone(),
            time_step: plan.time_step.fixed,
        })
    }

    /// As the function [`check_box`].
    fn check_box(&self, bx: &SimulationBox) -> Result<()> {
        let open = bx.boundary.iter().filter(|boundary| **boundary == Boundary::Open).count();
        if self.plan.format.topology_name().is_none() || open == 0 || open == 3 {
            return Ok(());
        }
        Err(Error::usage(
            format!(
                "the box is open in some dimensions, and format = \"{}\" of [output.trajectory] has boxes \
                 that are periodic in all",
                self.plan.format.name()
            ),
            "write format = \"h5md\", \"xyz\" or \"lammps-dump\", which state the boundary of each dimension",
        ))
    }

    /// The layout of a format whose frames are appended; `None` for H5MD.
    fn layout(&self, bx: &SimulationBox, particles: &Particles) -> Option<Box<dyn Layout>> {
        let content = self.clone();
        match self.plan.format {
            TrajectoryFormat::H5md => None,
            TrajectoryFormat::Xyz => Some(Box::new(xyz::Xyz { content })),
            TrajectoryFormat::Xtc => Some(Box::new(xtc::Xtc { resolution: self.plan.resolution })),
            TrajectoryFormat::Dcd => {
                Some(Box::new(dcd::Dcd { content, periodic: bx.boundary == [Boundary::Periodic; 3] }))
            }
            TrajectoryFormat::LammpsDump => {
                Some(Box::new(lammps::LammpsDump { content, charges: particles.has(Field::Charge) }))
            }
        }
    }
}

/// Checks that the format of the deck's trajectory, if there is one, can state this box.
///
/// # Errors [`Error::Usage`] for XTC and DCD if only some dimensions are open: their box is periodic in all,
/// or absent.
pub fn check_box(plan: &Plan, bx: &SimulationBox) -> Result<()> {
    Content::of(plan).map_or(Ok(()), |content| content.check_box(bx))
}

/// Step, time and box of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Number of steps.
    pub step: u64,
    /// Simulation time.
    pub time: f64,
    /// The box.
    pub bx: SimulationBox,
}

/// A trajectory open for writing. All methods are collective.
pub enum Trajectory {
    /// H5MD.
    H5md(H5md),
    /// A format whose frames are appended.
    Appended(Appended),
}

impl Trajectory {
    /// Creates a trajectory without frames at `directory/trajectory.*`, replacing an existing file, and the
    /// topology beside it.
    ///
    /// # Errors
    /// [`Error::File`] on every rank if any fails; [`Error::Usage`] as of [`check_box`].
    pub fn create(
        directory: &Path,
        comm: &Communicator,
        content: &Content,
        bx: &SimulationBox,
        particles: &Particles,
    ) -> Result<Self> {
        content.check_box(bx)?;
        let path = directory.join(content.plan.format.file_name());
        if let Some(name) = content.plan.format.topology_name() {
            psf::write(&directory.join(name), comm, content, particles)?;
        }
        match content.layout(bx, particles) {
            None => H5md::create(&path, comm, content, bx, particles).map(Self::H5md),
            Some(layout) => Appended::create(&path, comm, layout, particles).map(Self::Appended),
        }
    }

    /// Continues a trajectory after the frames up to `step`; cuts off later ones. Creates the file if absent.
    ///
    /// # Errors
    /// On every rank if any rank fails: [`Error::File`], and [`Error::Content`] if the file's content does
    /// not match the deck.
    pub fn resume(
        directory: &Path,
        comm: &Communicator,
        content: &Content,
        bx: &SimulationBox,
        particles: &Particles,
        step: u64,
    ) -> Result<Self> {
        let path = directory.join(content.plan.format.file_name());
        let topology = content.plan.format.topology_name().map(|name| directory.join(name));
        // the root decides, so that all ranks take the same branch
        let missing = topology.as_ref().is_some_and(|topology| !topology.exists());
        let mut there = vec![u8::from(path.exists()), u8::from(missing)];
        comm.broadcast(&mut there, 0);
        if there[0] == 0 {
            return Self::create(directory, comm, content, bx, particles);
        }
        content.check_box(bx)?;
        let resumed = match content.layout(bx, particles) {
            None => H5md::resume(&path, comm, content, particles, step).map(Self::H5md),
            Some(layout) => Appended::resume(&path, comm, layout, particles, step).map(Self::Appended),
        }?;
        if let Some(topology) = topology.filter(|_| there[1] == 1) {
            psf::write(&topology, comm, content, particles)?;
        }
        Ok(resumed)
    }

    /// Appends a frame. Does nothing if the last frame is of the same step.
    ///
    /// # Errors
    /// On every rank if any rank fails: [`Error::File`], and [`Error::State`] for values that the format
    /// cannot hold. Earlier frames are kept.
    pub fn append(&mut self, comm: &Communicator, particles: &Particles, moment: &Moment) -> Result<()> {
        match self {
            Self::H5md(file) => file.append(comm, particles, moment),
            Self::Appended(file) => file.append(comm, particles, moment),
        }
    }
}

/// The error for a frame with values that the format cannot hold.
fn unholdable(step: u64, what: String, remedy: &str) -> Error {
    Error::State { step, what, remedy: remedy.into() }
}

/// A number as XTC and DCD store it.
///
/// # Errors
/// [`Error::State`] beyond 31 bits.
fn narrow(number: u64, step: u64, what: &str) -> Result<u32> {
    i32::try_from(number).map(|number| number as u32).map_err(|_| {
        unholdable(
            step,
            format!("XTC and DCD hold {what} up to {}, not {number}", i32::MAX),
            "write format = \"h5md\", \"xyz\" or \"lammps-dump\"",
        )
    })
}

/// The error if the existing trajectory file does not belong to this run.
fn foreign(path: &Path, what: String) -> Error {
    Error::Content {
        path: path.to_owned(),
        what,
        remedy: "move the file away, or choose another output directory; the restart then starts a new one"
            .into(),
    }
}

#[cfg(test)]
mod tests;
