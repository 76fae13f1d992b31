//! Cuboids of uniform density: a glass, a lattice, or independent positions. Glass and lattices continue
//! seamlessly across periodic faces.

use super::glass::Tile;
use super::pattern::Pattern;
use super::{Arrangement, Layout, Values, particle_rng, random_point};
use crate::space::Vec3d;
use std::ops::Range;

/// Points per edge of the glass tile that is repeated to fill a large cuboid.
const TILE_EDGE: f64 = 16.0;
/// Minimum number of points per tile, even in a slender cuboid.
const TILE_POINTS: u64 = 512;

/// A cuboid to fill evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    /// Number of particles, >= 1; glass and lattices round it.
    pub particles: u64,
    /// Lower corner.
    pub lower: [f64; 3],
    /// Edges, > 0.
    pub lengths: [f64; 3],
    /// The layout.
    pub arrangement: Arrangement,
    /// Lattice cells per dimension; `None`: as nearly unstrained as the edges allow.
    pub cells: Option<[u64; 3]>,
    /// Seed of the glass and of independent positions.
    pub seed: u64,
}

/// An edge of a cuboid of particles with a mean distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edge {
    /// A length.
    Fixed(f64),
    /// A number of mean distances; a lattice rounds it to whole cells.
    Distances(f64),
}

impl Cuboid {
    /// Creates a cuboid of particles at a mean distance of about `spacing`. The first fixed edge has a whole
    /// number of cells, which sets the distance. A lattice is not strained along the edges that are given as
    /// numbers of distances.
    pub fn fitted(
        lower: [f64; 3],
        edges: [Edge; 3],
        spacing: f64,
        arrangement: Arrangement,
        seed: u64,
    ) -> Self {
        let pattern = Pattern::lattice_of(arrangement).map(Pattern::normalized);
        let unit = |d: usize| pattern.as_ref().map_or(1.0, |pattern| pattern.cell[d]);
        let whole = |length: f64| length.round().max(1.0);
        let fixed = |d: usize| match edges[d] {
            Edge::Fixed(length) => Some((d, length)),
            Edge::Distances(_) => None,
        };
        // a glass needs no whole number
        let spacing = match (0..3).find_map(fixed) {
            Some((d, length)) if pattern.is_some() => length / unit(d) / whole(length / unit(d) / spacing),
            _ => spacing,
        };
        let cells = [0, 1, 2].map(|d| match edges[d] {
            Edge::Fixed(length) => whole(length / unit(d) / spacing),
            Edge::Distances(count) => whole(count / unit(d)),
        });
        let lengths = [0, 1, 2].map(|d| match edges[d] {
            Edge::Fixed(length) => length,
            Edge::Distances(_) if pattern.is_some() => cells[d] * unit(d) * spacing,
            Edge::Distances(count) => count * spacing,
        });
        let volume: f64 = lengths.iter().product();
        let particles = match &pattern {
            Some(pattern) => cells.iter().product::<f64>() * pattern.points.len() as f64,
            None => (volume / spacing.powi(3)).round().max(1.0),
        };
        let cells = pattern.map(|_| cells.map(|cells| cells as u64));
        Self { particles: particles as u64, lower, lengths, arrangement, cells, seed }
    }

    /// Returns the number of particles: exact for independent positions, within half a particle per tile for
    /// a glass, rounded to whole cells for a lattice.
    pub fn count(&self) -> u64 {
        match self.arrangement {
            Arrangement::Random => self.particles,
            Arrangement::Glass => self.tiles().iter().product::<u64>() * self.tile_points(),
            lattice => match Pattern::lattice_of(lattice) {
                Some(pattern) => {
                    self.lattice_cells(&pattern).iter().product::<u64>() * pattern.points.len() as u64
                }
                None => unreachable!("every arrangement but glass and random is a lattice"),
            },
        }
    }

    /// Returns the volume.
    pub fn volume(&self) -> f64 {
        self.lengths.iter().product()
    }

    /// Returns the positions of the particles.
    pub fn filling(&self) -> Filling {
        self.quiet_filling(None)
    }

    /// Returns the tile of glass that fills the cuboid, if it is one.
    pub fn tile(&self) -> Option<Tile> {
        (self.arrangement == Arrangement::Glass).then(|| Tile {
            count: self.tile_points() as usize,
            lengths: cell_edges(self.lengths.into(), self.tiles()),
            seed: self.seed,
        })
    }

    /// Returns the positions of the particles; a glass has at most `noise` ([`Tile::noise`]).
    pub fn quiet_filling(&self, noise: Option<f64>) -> Filling {
        let (lower, lengths) = (Vec3d::from(self.lower), Vec3d::from(self.lengths));
        let repeated = match self.arrangement {
            Arrangement::Random => None,
            Arrangement::Glass => self.tile().map(|tile| {
                let cell = tile.lengths;
                let points = tile.points(noise).iter().map(|point| point.component_div(&cell)).collect();
                (Pattern { cell, points }, self.tiles())
            }),
            // Strain the cell slightly so that a whole number of cells fills the cuboid.
            lattice => Pattern::lattice_of(lattice).map(|mut pattern| {
                let cells = self.lattice_cells(&pattern);
                pattern.cell = cell_edges(lengths, cells);
                (pattern, cells)
            }),
        };
        Filling { lower, lengths, repeated, seed: self.seed }
    }

    /// Glass tiles per dimension.
    fn tiles(&self) -> [u64; 3] {
        let spacing = (self.volume() / self.particles.max(1) as f64).cbrt();
        let mut most = (self.particles / TILE_POINTS).max(1);
        self.lengths.map(|length| {
            let tiles = ((length / (TILE_EDGE * spacing)).ceil() as u64).clamp(1, most);
            most /= tiles;
            tiles
        })
    }

    fn tile_points(&self) -> u64 {
        let tiles = self.tiles().iter().product::<u64>();
        (self.particles + tiles / 2) / tiles
    }

    /// Lattice cells per dimension.
    fn lattice_cells(&self, pattern: &Pattern) -> [u64; 3] {
        if let Some(cells) = self.cells {
            return cells;
        }
        let cells = self.particles as f64 / pattern.points.len() as f64;
        let scale = (self.volume() / (pattern.cell.product() * cells.max(1.0))).cbrt();
        let mut most = (2 * self.particles).max(1);
        [0, 1, 2].map(|d| {
            let along = ((self.lengths[d] / (pattern.cell[d] * scale)).round() as u64).clamp(1, most);
            most = (most / along).max(1);
            along
        })
    }
}

/// The positions of the particles in a cuboid.
pub struct Filling {
    lower: Vec3d,
    lengths: Vec3d,
    /// A pattern and its repetitions per dimension; `None` for independent positions.
    repeated: Option<(Pattern, [u64; 3])>,
    seed: u64,
}

impl Filling {
    /// The center of the cuboid.
    pub fn middle(&self) -> Vec3d {
        self.lower + self.lengths * 0.5
    }

    /// The position of the particle `id`.
    pub fn position(&self, id: u64) -> Vec3d {
        match &self.repeated {
            Some((pattern, cells)) => pattern_position(pattern, *cells, self.lower, id),
            None => random_position(self.seed, self.lower, self.lengths, id),
        }
    }
}

/// Lays out the particles of a range of ids at the positions of `filling`, at rest, with uniform density and
/// internal energy.
pub fn filled(
    cuboid: &Cuboid,
    filling: &Filling,
    density: f64,
    internal_energy: f64,
    share: Range<u64>,
) -> Layout {
    let positions = share.map(|id| filling.position(id)).collect();
    let lengths = Vec3d::from(cuboid.lengths);
    uniform(positions, cuboid.count(), density * lengths.product(), lengths, internal_energy)
}

/// Particles at rest, with uniform density and internal energy. `positions` are some of `total` particles
/// with the mass `mass` in a cuboid of edges `lengths`.
pub fn uniform(positions: Vec<Vec3d>, total: u64, mass: f64, lengths: Vec3d, internal_energy: f64) -> Layout {
    let total = total.max(1) as f64;
    let volume = lengths.product() / total;
    Layout {
        positions,
        velocities: None,
        mass: Values::Uniform(mass / total),
        internal_energy: Values::Uniform(internal_energy),
        volume_of: Box::new(move |_, neighbors| neighbors * volume),
    }
}

/// A uniformly distributed position of the particle `id`.
pub fn random_position(seed: u64, lower: Vec3d, lengths: Vec3d, id: u64) -> Vec3d {
    random_point(&mut particle_rng(seed, id), lower, lengths)
}

/// The position of the particle `id` in a pattern repeated `cells` times from `lower`, cell by cell.
pub fn pattern_position(pattern: &Pattern, cells: [u64; 3], lower: Vec3d, id: u64) -> Vec3d {
    let per_cell = pattern.points.len() as u64;
    let cell = id / per_cell;
    let corner = [cell / (cells[1] * cells[2]), cell / cells[2] % cells[1], cell % cells[2]];
    let corner = Vec3d::from(corner.map(|c| c as f64));
    lower + (corner + pattern.points[(id % per_cell) as usize]).component_mul(&pattern.cell)
}

fn cell_edges(lengths: Vec3d, cells: [u64; 3]) -> Vec3d {
    lengths.component_div(&Vec3d::from(cells.map(|c| c as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitted_lattices_are_not_strained() {
        for &arrangement in Arrangement::ALL {
            let edges = [Edge::Fixed(2.0), Edge::Distances(7.0), Edge::Distances(5.0)];
            let cuboid = Cuboid::fitted([0.0; 3], edges, 0.1, arrangement, 1);
            assert_eq!(cuboid.lengths[0], 2.0);
            assert!((cuboid.lengths[1] / 0.7 - 1.0).abs() < 0.2, "{arrangement:?}: {:?}", cuboid.lengths);
            let spacing = (cuboid.volume() / cuboid.count() as f64).cbrt();
            assert!((spacing / 0.1 - 1.0).abs() < 0.05, "{arrangement:?}: {spacing}");
            if let Some(pattern) = Pattern::lattice_of(arrangement) {
                let cell = cell_edges(cuboid.lengths.into(), cuboid.lattice_cells(&pattern));
                let strain = cell.component_div(&pattern.cell);
                assert!((strain.max() / strain.min() - 1.0).abs() < 1e-12, "{arrangement:?}: {strain:?}");
            }
        }
    }
}
