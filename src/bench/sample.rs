//! Particles of a distribution, for measurements of lists and domains.

use crate::Result;
use crate::comm::Communicator;
use crate::domain::{Domain, DomainSettings};
use crate::particles::{Field, Particles};
use crate::step::Simulation;
use crate::{Error, deck};

use super::case::cells;

/// How particles lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Distribution {
    /// Independent even positions in a periodic box
    Uniform,
    /// A face-centered lattice in a periodic box, whose number of particles is the next 4 k^3
    Lattice,
    /// A Plummer sphere in open space, with radii that follow its density
    Plummer,
}

impl Distribution {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Distribution::Uniform => "uniform",
            Distribution::Lattice => "lattice",
            Distribution::Plummer => "plummer",
        }
    }
}

/// The particles of a distribution where they start, with what a gas has, as ranks share them before a domain does.
pub struct Sample {
    /// The domain, which has not seen the particles.
    pub domain: Domain,
    /// The particles.
    pub particles: Particles,
}

impl Sample {
    /// So many particles, with smoothing lengths for so many neighbors; collective.
    ///
    /// # Errors
    /// Those of the start.
    pub fn new(
        distribution: Distribution,
        particles: u64,
        neighbors: f64,
        comm: &Communicator,
    ) -> Result<Self> {
        let (start, count) = match distribution {
            Distribution::Uniform => ("random", format!("start.random.particles={particles}")),
            Distribution::Lattice => ("lattice", format!("start.lattice.cells={}", cells(particles, 4))),
            Distribution::Plummer => ("plummer", format!("start.plummer.particles={particles}")),
        };
        let mut overrides = vec![count, "sph.neighbors=100".into()];
        if distribution == Distribution::Lattice {
            overrides.push("start.lattice.kind=\"fcc\"".into());
        }
        let text = deck::template(start).unwrap_or_default();
        let mut plan = deck::examine("the deck of the sample", &text, &overrides)
            .map_err(|report| Error::Deck { report: report.to_string() })?
            .plan;
        if let Some(sph) = &mut plan.sph {
            sph.neighbors = neighbors; // also fewer and more than a gas may have
        }
        let (space, particles) = crate::start::particles(&plan, comm, &Simulation::fields(&plan))?;
        let settings =
            DomainSettings { bucket_size: plan.neighbors.bucket_size, ..DomainSettings::default() };
        Ok(Sample { domain: Domain::new(comm.clone(), space, settings), particles })
    }

    /// Radii within which particles have about as many neighbors as was asked for, of all rows.
    pub fn radii(particles: &Particles) -> Vec<f64> {
        particles.scalar(Field::SmoothingLength).iter().map(|h| 2.0 * h).collect()
    }

    /// Bring the particles to their owners and into order, with halos for their neighbors; collective.
    ///
    /// # Errors
    /// Those of [`Domain::sync`].
    pub fn sync(&mut self) -> Result<()> {
        self.domain.sync(&mut self.particles, Self::radii)
    }
}
