//! Trajectories: one file that grows by one frame at a time, particles sorted by id.
//!
//! In both formats a killed run leaves a file that opens and has the earlier frames (with two exceptions for
//! H5MD, see `docs/src/reliability.md`). A restart from a checkpoint cuts off the frames after its step and
//! continues without gaps or duplicates.

mod growing;
mod h5md;
mod order;
mod superblock;
mod xyz;

pub(super) use h5md::describe;

use std::path::Path;

use crate::comm::Communicator;
use crate::particles::Particles;
use crate::plan::{Plan, TrajectoryFormat, TrajectoryPlan};
use crate::space::SimulationBox;
use crate::units::Units;
use crate::{Error, Result};
use h5md::H5md;
use xyz::Xyz;

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
}

impl Content {
    /// The trajectory requested by the deck, if any.
    pub fn of(plan: &Plan) -> Option<Self> {
        plan.output.trajectory.as_ref().map(|trajectory| Self {
            plan: trajectory.clone(),
            units: plan.units,
            species: plan.species.iter().map(|kind| kind.name.clone()).collect(),
            title: plan.title.clone(),
        })
    }

    /// The name of the file.
    pub fn file_name(&self) -> &'static str {
        match self.plan.format {
            TrajectoryFormat::H5md => "trajectory.h5md",
            TrajectoryFormat::Xyz => "trajectory.xyz",
        }
    }
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
    /// Extended XYZ.
    Xyz(Xyz),
}

impl Trajectory {
    /// Creates a trajectory without frames at `directory/trajectory.*`, replacing an existing file.
    ///
    /// # Errors
    /// [`Error::File`] on every rank if any fails.
    pub fn create(
        directory: &Path,
        comm: &Communicator,
        content: &Content,
        bx: &SimulationBox,
        particles: &Particles,
    ) -> Result<Self> {
        let path = directory.join(content.file_name());
        match content.plan.format {
            TrajectoryFormat::H5md => H5md::create(&path, comm, content, bx, particles).map(Self::H5md),
            TrajectoryFormat::Xyz => Xyz::create(&path, comm, content, particles).map(Self::Xyz),
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
        let path = directory.join(content.file_name());
        // The root decides, so that all ranks take the same branch.
        let mut there = vec![u8::from(path.exists())];
        comm.broadcast(&mut there, 0);
        if there == [0] {
            return Self::create(directory, comm, content, bx, particles);
        }
        match content.plan.format {
            TrajectoryFormat::H5md => H5md::resume(&path, comm, content, particles, step).map(Self::H5md),
            TrajectoryFormat::Xyz => Xyz::resume(&path, comm, content, particles, step).map(Self::Xyz),
        }
    }

    /// Appends a frame. Does nothing if the last frame is of the same step.
    ///
    /// # Errors
    /// [`Error::File`] on every rank if any rank fails; earlier frames are kept.
    pub fn append(&mut self, comm: &Communicator, particles: &Particles, moment: &Moment) -> Result<()> {
        match self {
            Self::H5md(file) => file.append(comm, particles, moment),
            Self::Xyz(file) => file.append(comm, particles, moment),
        }
    }
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
