//! Trajectories: one file that grows by a frame at a time, particles in the order of their ids.
//!
//! Both formats keep what was written: a run that is killed leaves a file that opens and has the frames before (but for two
//! moments of H5MD, which `docs/src/reliability.md` names), and a restart from a checkpoint cuts the frames after its step and
//! goes on without a gap and without doubles.

mod growing;
mod h5md;
mod order;
mod superblock;
mod xyz;

pub(super) use h5md::describe;

use std::path::Path;

use crate::comm::Communicator;
use crate::deck::plan::{Plan, TrajectoryFormat, TrajectoryPlan};
use crate::particles::Particles;
use crate::space::SimulationBox;
use crate::units::Units;
use crate::{Error, Result};
use h5md::H5md;
use xyz::Xyz;

/// What a trajectory holds, and what it says of it.
#[derive(Clone, Debug)]
pub struct Content {
    /// The deck's section.
    pub plan: TrajectoryPlan,
    /// The units of the numbers.
    pub units: Units,
    /// The names of the species; empty where all particles are of one kind.
    pub species: Vec<String>,
    /// What the run is called.
    pub title: String,
}

impl Content {
    /// What the deck asks for, if it does.
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

/// When a frame is, and in which box.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Number of steps.
    pub step: u64,
    /// Time.
    pub time: f64,
    /// The box.
    pub bx: SimulationBox,
}

/// A trajectory that is being written; all methods are collective.
pub enum Trajectory {
    /// H5MD.
    H5md(H5md),
    /// Extended XYZ.
    Xyz(Xyz),
}

impl Trajectory {
    /// A trajectory without frames at `directory/trajectory.*`, in place of what was there.
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

    /// Go on with a trajectory after the frames up to `step`; later ones are cut off. Without a file one is started.
    ///
    /// # Errors
    /// On every rank if any fails: [`Error::File`], and [`Error::Content`] if the file holds something else
    /// than the deck asks for.
    pub fn resume(
        directory: &Path,
        comm: &Communicator,
        content: &Content,
        bx: &SimulationBox,
        particles: &Particles,
        step: u64,
    ) -> Result<Self> {
        let path = directory.join(content.file_name());
        // the root's view, so that all ranks go the same way
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

    /// Add a frame. One of a step that the file has already is not added again.
    ///
    /// # Errors
    /// [`Error::File`] on every rank if any fails; the frames before are kept.
    pub fn append(&mut self, comm: &Communicator, particles: &Particles, moment: &Moment) -> Result<()> {
        match self {
            Self::H5md(file) => file.append(comm, particles, moment),
            Self::Xyz(file) => file.append(comm, particles, moment),
        }
    }
}

/// An error of a file in the trajectory's place that is none of this run.
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
