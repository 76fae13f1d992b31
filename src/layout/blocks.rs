//! Boxes of cuboid blocks of several densities with particles of equal masses. Every block is filled by
//! itself: its glass or lattice ends at its faces, and continues seamlessly into a block of equal density.

use std::ops::Range;

use super::cuboid::{Cuboid, Filling};
use super::glass::Tile;
use super::pattern::Pattern;
use super::{Arrangement, Layout, Values};
use crate::space::Vec3d;

/// A box of equal blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// Lower corner of the box.
    pub lower: [f64; 3],
    /// Edges of a block, > 0.
    pub edges: [f64; 3],
    /// Blocks per dimension, >= 1.
    pub count: [usize; 3],
    /// Density of each block, > 0; that of the block (i, j, k) is at (i count\[1\] + j) count\[2\] + k.
    pub densities: Vec<f64>,
    /// Distance of the particles at density 1, > 0.
    pub spacing: f64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the glass and of independent positions.
    pub seed: u64,
}

impl Blocks {
    /// Returns the cuboid of a density, with its lower corner at the origin. Masses are equal as nearly as
    /// whole particles or cells allow.
    fn cuboid(&self, density: f64) -> Cuboid {
        let distance = self.spacing / density.cbrt();
        let pattern = Pattern::lattice_of(self.arrangement).map(Pattern::normalized);
        let cells = pattern.as_ref().map(|pattern| {
            [0, 1, 2].map(|d| (self.edges[d] / (pattern.cell[d] * distance)).round().max(1.0) as u64)
        });
        let particles = match (&pattern, cells) {
            (Some(pattern), Some(cells)) => cells.iter().product::<u64>() * pattern.points.len() as u64,
            _ => (self.edges.iter().product::<f64>() / distance.powi(3)).round().max(1.0) as u64,
        };
        Cuboid {
            particles,
            lower: [0.0; 3],
            lengths: self.edges,
            arrangement: self.arrangement,
            cells,
            seed: self.seed,
        }
    }

    /// The densities without repetition, in the order of their first blocks.
    fn kinds(&self) -> Vec<f64> {
        let mut kinds = Vec::new();
        for &density in &self.densities {
            if !kinds.contains(&density) {
                kinds.push(density);
            }
        }
        kinds
    }

    /// Returns the number of particles.
    pub fn count(&self) -> u64 {
        self.densities.iter().map(|&density| self.cuboid(density).count()).sum()
    }

    /// Returns the tiles of glass of the densities, if they are glass.
    pub fn tiles(&self) -> Vec<Tile> {
        self.kinds().into_iter().filter_map(|density| self.cuboid(density).tile()).collect()
    }

    fn corner(&self, block: usize) -> Vec3d {
        let place = [
            block / (self.count[1] * self.count[2]),
            block / self.count[2] % self.count[1],
            block % self.count[2],
        ];
        Vec3d::from_fn(|d, _| self.lower[d] + place[d] as f64 * self.edges[d])
    }

    /// Lays out the particles of a range of ids, at rest: block after block. `energy_of(density)` is the
    /// specific internal energy of a block; a glass has at most `noise` ([`Tile::noise`]).
    pub fn layout(&self, noise: Option<f64>, share: Range<u64>, energy_of: impl Fn(f64) -> f64) -> Layout {
        let kinds = self.kinds();
        let cuboids: Vec<Cuboid> = kinds.iter().map(|&density| self.cuboid(density)).collect();
        let fillings: Vec<Filling> = cuboids.iter().map(|cuboid| cuboid.quiet_filling(noise)).collect();
        let kind_of = |density: f64| kinds.iter().position(|&kind| kind == density).unwrap_or(0);
        let volumes: Vec<f64> =
            cuboids.iter().map(|cuboid| cuboid.volume() / cuboid.count().max(1) as f64).collect();
        let (mut positions, mut mass, mut energy) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for (block, &density) in self.densities.iter().enumerate() {
            let kind = kind_of(density);
            let end = first + cuboids[kind].count();
            let corner = self.corner(block);
            for id in share.start.max(first)..share.end.min(end) {
                positions.push(corner + fillings[kind].position(id - first));
                mass.push(density * volumes[kind]);
                energy.push(energy_of(density));
            }
            first = end;
        }
        let block_volumes: Vec<f64> =
            self.densities.iter().map(|&density| volumes[kind_of(density)]).collect();
        let (lower, edges, count) = (self.lower, self.edges, self.count);
        Layout {
            positions,
            velocities: None,
            mass: Values::PerParticle(mass),
            internal_energy: Values::PerParticle(energy),
            volume_of: Box::new(move |position, neighbors| {
                let place = [0, 1, 2]
                    .map(|d| (((position[d] - lower[d]) / edges[d]).max(0.0) as usize).min(count[d] - 1));
                neighbors * block_volumes[(place[0] * count[1] + place[1]) * count[2] + place[2]]
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_their_densities_with_equal_masses() {
        for &arrangement in Arrangement::ALL {
            let glass = arrangement == Arrangement::Glass;
            let blocks = Blocks {
                lower: [-1.0, 0.0, 2.0],
                edges: [0.5, 0.5, 0.5],
                count: [2, 1, 3],
                densities: vec![8.0, 1.0, 1.0, 1.0, 1.0, 8.0],
                // relaxing a large glass takes long without optimization
                spacing: if glass { 0.15 } else { 0.05 },
                arrangement,
                seed: 1,
            };
            let count = blocks.count();
            let layout = blocks.layout(None, 0..count, |density| 3.0 / density);
            assert_eq!(layout.positions.len() as u64, count);
            let total: f64 = (0..count as usize).map(|row| layout.mass.at(row)).sum();
            assert!((total - 20.0 / 8.0).abs() < 1e-12, "{arrangement:?}: {total}");
            let mut dense = 0.0;
            for (row, position) in layout.positions.iter().enumerate() {
                let inside = (0..3).all(|d| {
                    let at = position[d] - blocks.lower[d];
                    at >= 0.0 && at < blocks.count[d] as f64 * 0.5
                });
                assert!(inside, "{arrangement:?}: {position:?}");
                let place = (position - Vec3d::from(blocks.lower)).map(|x| (x / 0.5) as usize);
                let density = blocks.densities[place.x * 3 + place.z];
                assert_eq!(layout.internal_energy.at(row), 3.0 / density);
                assert!(
                    (layout.mass.at(row) / layout.mass.at(0) - 1.0).abs() < if glass { 0.1 } else { 0.05 }
                );
                let volume = (layout.volume_of)(position, 1.0);
                assert!((volume * density / layout.mass.at(row) - 1.0).abs() < 1e-12);
                dense += if density == 8.0 { layout.mass.at(row) } else { 0.0 };
            }
            assert!((dense - 2.0).abs() < 1e-12);
            let part = blocks.layout(None, count / 3..count / 2, |density| 3.0 / density);
            assert_eq!(part.positions, layout.positions[(count / 3) as usize..(count / 2) as usize]);
        }
    }
}
