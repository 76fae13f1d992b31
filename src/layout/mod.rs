//! Layouts of particles: glasses and lattices in cuboids, tubes and balls.
//!
//! Particle `k` of a layout is the same on any number of ranks. Patterns are enumerated in a fixed order, of
//! which a rank keeps its range of ids. Random numbers come from a generator per particle (stream `k` of the
//! seed).

pub mod ball;
pub mod blocks;
mod cells;
pub mod cuboid;
pub mod glass;
mod interface;
#[cfg(test)]
pub mod noise;
pub mod pattern;
mod quiet;
pub mod radial_table;
pub mod tube;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::space::Vec3d;

choice! {
    /// Layout of the particles of a sphere or box before they are mapped to the density profile.
    Arrangement {
        /// Relaxed by repulsion until the density noise is lowest.
        Glass = "glass",
        /// Simple cubic.
        SimpleCubic = "sc",
        /// Body-centered cubic.
        BodyCentered = "bcc",
        /// Face-centered cubic.
        FaceCentered = "fcc",
        /// Hexagonal close-packed.
        Hexagonal = "hcp",
        /// Independent uniform positions.
        Random = "random",
    }
}

choice! {
    /// A crystal lattice.
    LatticeKind {
        /// Simple cubic, 1 particle a cell.
        SimpleCubic = "sc",
        /// Body-centered cubic, 2 particles a cell.
        BodyCentered = "bcc",
        /// Face-centered cubic, 4 particles a cell.
        FaceCentered = "fcc",
        /// Hexagonal close-packed in an orthorhombic cell of edges 1, sqrt(3), sqrt(8/3); 4 particles a cell.
        Hexagonal = "hcp",
        /// Two face-centered lattices of one species each, shifted by half an edge; 8 particles a cell.
        RockSalt = "rock-salt",
    }
}

impl LatticeKind {
    /// Returns the number of particles per cell.
    pub const fn particles_per_cell(self) -> u64 {
        match self {
            Self::SimpleCubic => 1,
            Self::BodyCentered => 2,
            Self::FaceCentered | Self::Hexagonal => 4,
            Self::RockSalt => 8,
        }
    }

    /// Returns the edges of the cell in units of the spacing.
    pub fn edges(self) -> [f64; 3] {
        match self {
            Self::Hexagonal => [1.0, 3f64.sqrt(), (8.0f64 / 3.0).sqrt()],
            _ => [1.0; 3],
        }
    }
}

/// The particles of one range of ids.
pub struct Layout {
    /// Positions.
    pub positions: Vec<Vec3d>,
    /// Velocities; `None` for particles at rest.
    pub velocities: Option<Vec<Vec3d>>,
    /// Masses.
    pub mass: Values,
    /// Specific internal energies.
    pub internal_energy: Values,
    /// Volume of the ball about a particle that holds a number of particles, in the continuum limit.
    pub volume_of: Box<VolumeOf>,
}

/// `volume_of(position, n)` is the volume of a ball about `position` that holds `n` particles.
pub type VolumeOf = dyn Fn(&Vec3d, f64) -> f64;

/// A quantity of the particles of a layout.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One value for all particles.
    Uniform(f64),
    /// One value per particle.
    PerParticle(Vec<f64>),
}

impl Values {
    /// Returns the value of the particle in a row of the layout.
    pub fn at(&self, row: usize) -> f64 {
        match self {
            Self::Uniform(value) => *value,
            Self::PerParticle(values) => values[row],
        }
    }
}

/// Returns the random number generator of a particle, independent of those of other particles.
pub fn particle_rng(seed: u64, id: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(id);
    random
}

/// Returns a uniformly distributed point in a box.
pub fn random_point(random: &mut ChaCha8Rng, lower: Vec3d, lengths: Vec3d) -> Vec3d {
    lower + lengths.map(|length| random.random::<f64>() * length)
}

/// Returns an isotropically distributed unit vector.
pub fn random_direction(random: &mut ChaCha8Rng) -> Vec3d {
    let cosine = 2.0 * random.random::<f64>() - 1.0;
    let angle = 2.0 * std::f64::consts::PI * random.random::<f64>();
    let sine = (1.0 - cosine * cosine).sqrt();
    Vec3d::new(sine * angle.cos(), sine * angle.sin(), cosine)
}

/// Returns three independent standard normal deviates (Box & Muller 1958).
pub fn normal(random: &mut impl RngExt) -> Vec3d {
    Vec3d::from_fn(|_, _| {
        let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * random.random::<f64>()).cos()
    })
}
