//! Particles of simple distributions for list and domain benchmarks.

use crate::Result;
use crate::comm::Communicator;
use crate::domain::{Domain, DomainSettings};
use crate::particles::{Field, Particles};
use crate::step::Simulation;
use crate::{Error, deck};

use super::case::cells;

/// Distribution of the particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Distribution {
    /// Independent uniform positions in a periodic box
    Uniform,
    /// Fcc lattice in a periodic box; rounds the number of particles up to 4 k^3
    Lattice,
    /// Plummer sphere in open space; radii follow the density
    Plummer,
}

impl Distribution {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Distribution::Uniform => "uniform",
            Distribution::Lattice => "lattice",
            Distribution::Plummer => "plummer",
        }
    }
}

/// The initial particles of a distribution with the fields of a gas, spread over the ranks by the start.
pub struct Sample {
    /// The domain, not yet synchronized.
    pub domain: Domain,
    /// The particles.
    pub particles: Particles,
}

impl Sample {
    /// Creates `particles` particles with smoothing lengths for `neighbors` neighbors. Collective.
    ///
    /// # Errors
    /// Errors of the start.
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
            sph.neighbors = neighbors; // may be outside of the range that decks accept
        }
        let (space, particles) = crate::start::particles(&plan, comm, &Simulation::fields(&plan))?;
        let settings =
            DomainSettings { bucket_size: plan.neighbors.bucket_size, ..DomainSettings::default() };
        Ok(Sample { domain: Domain::new(comm.clone(), space, settings), particles })
    }

    /// Returns the radius of each row, which encloses about the requested number of neighbors.
    pub fn radii(particles: &Particles) -> Vec<f64> {
        particles.scalar(Field::SmoothingLength).iter().map(|h| 2.0 * h).collect()
    }

    /// Moves the particles to their owners, in key order, with halos. Collective.
    ///
    /// # Errors
    /// Those of [`Domain::sync`].
    pub fn sync(&mut self) -> Result<()> {
        self.domain.sync(&mut self.particles, Self::radii)
    }
}
