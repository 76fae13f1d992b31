//! Boxes of cuboid blocks of several densities with particles of equal masses. Every block is filled by
//! itself: its glass or lattice ends at its faces, and continues seamlessly into a block of equal density. A
//! glass is then relaxed near faces where the density jumps.

use std::ops::Range;

use super::cuboid::{Cuboid, Filling};
use super::glass::Tile;
use super::pattern::Pattern;
use super::{Arrangement, Layout, Values, interface};
use crate::space::Vec3d;

/// Distance from a jump of the density up to which a glass is relaxed, in distances of the particles.
const REACH: f64 = 4.0;
/// Largest factor by which the distance of the particles is changed, so that masses on lattices are equal.
const MOST: f64 = 1.2;

/// A periodic box of equal blocks.
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
    /// Lattice cells of a block, for a distance of the particles.
    fn cells(&self, pattern: &Pattern, distance: f64) -> [u64; 3] {
        [0, 1, 2].map(|d| (self.edges[d] / (pattern.cell[d] * distance)).round().max(1.0) as u64)
    }

    /// Distance of the particles at density 1. On a lattice, it is that near [`Self::spacing`] at which the
    /// masses of whole cells are most nearly equal.
    fn distance(&self) -> f64 {
        const TRIALS: i32 = 40;
        let Some(pattern) = Pattern::lattice_of(self.arrangement).map(Pattern::normalized) else {
            return self.spacing;
        };
        let cost = |factor: f64| {
            let mass = |density: f64| {
                density
                    / self.cells(&pattern, factor * self.spacing / density.cbrt()).iter().product::<u64>()
                        as f64
            };
            let masses = || self.densities.iter().map(|&density| mass(density).ln());
            let spread = masses().fold(f64::NEG_INFINITY, f64::max) - masses().fold(f64::INFINITY, f64::min);
            spread + 0.1 * factor.ln().abs()
        };
        let factors = (-TRIALS..=TRIALS).map(|k| MOST.powf(f64::from(k) / f64::from(TRIALS)));
        self.spacing * factors.min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(1.0)
    }

    /// Returns the cuboid of a density, with its lower corner at the origin. Masses are equal as nearly as
    /// whole particles or cells allow.
    fn cuboid(&self, density: f64) -> Cuboid {
        let distance = self.distance() / density.cbrt();
        let pattern = Pattern::lattice_of(self.arrangement).map(Pattern::normalized);
        let cells = pattern.as_ref().map(|pattern| self.cells(pattern, distance));
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

    /// The density at a place of the periodic box.
    fn density_at(&self, position: &Vec3d) -> f64 {
        let place = [0, 1, 2].map(|d| {
            let at = (position[d] - self.lower[d]) / self.edges[d];
            (at.rem_euclid(self.count[d] as f64) as usize).min(self.count[d] - 1)
        });
        self.densities[(place[0] * self.count[1] + place[1]) * self.count[2] + place[2]]
    }

    /// Whether the density jumps near a particle of size `size`.
    fn is_near_jump(&self, position: &Vec3d, size: f64) -> bool {
        let density = self.density_at(position);
        (0..27).any(|k| {
            let step = Vec3d::new(f64::from(k / 9 - 1), f64::from(k / 3 % 3 - 1), f64::from(k % 3 - 1));
            self.density_at(&(position + step * (REACH * size))) != density
        })
    }

    /// Relaxes all particles of a glass, of the sizes `sizes`, near jumps of the density.
    fn relax_jumps(&self, positions: &mut [Vec3d], sizes: &[f64]) {
        let unit = sizes.iter().copied().fold(0.0, f64::max);
        let lower = Vec3d::from(self.lower);
        let movable: Vec<bool> =
            positions.iter().zip(sizes).map(|(at, &size)| self.is_near_jump(at, size)).collect();
        let mut scaled: Vec<Vec3d> = positions.iter().map(|at| (at - lower) / unit).collect();
        let sizes: Vec<f64> = sizes.iter().map(|size| size / unit).collect();
        let period = Vec3d::from_fn(|d, _| self.count[d] as f64 * self.edges[d] / unit);
        interface::relax(&mut scaled, &sizes, &movable, period);
        for ((position, scaled), _) in
            positions.iter_mut().zip(scaled).zip(movable).filter(|(_, moves)| *moves)
        {
            *position = lower + scaled * unit;
        }
    }

    /// Lays out the particles of a range of ids, at rest: block after block. `energy_of(density)` is the
    /// specific internal energy of a block; a glass has at most `noise` ([`Tile::noise`]), except near jumps.
    /// Their relaxation needs all particles, whatever the range.
    pub fn layout(&self, noise: Option<f64>, share: Range<u64>, energy_of: impl Fn(f64) -> f64) -> Layout {
        let kinds = self.kinds();
        let cuboids: Vec<Cuboid> = kinds.iter().map(|&density| self.cuboid(density)).collect();
        let fillings: Vec<Filling> = cuboids.iter().map(|cuboid| cuboid.quiet_filling(noise)).collect();
        let volumes: Vec<f64> =
            cuboids.iter().map(|cuboid| cuboid.volume() / cuboid.count().max(1) as f64).collect();
        let kind_of = |density: f64| kinds.iter().position(|&kind| kind == density).unwrap_or(0);
        let whole = self.arrangement == Arrangement::Glass && kinds.len() > 1;
        let ids = if whole { 0..self.count() } else { share.clone() };
        let (mut positions, mut of_kind) = (Vec::new(), Vec::new());
        let mut first = 0;
        for (block, &density) in self.densities.iter().enumerate() {
            let kind = kind_of(density);
            let end = first + cuboids[kind].count();
            let corner = self.corner(block);
            for id in ids.start.max(first)..ids.end.min(end) {
                positions.push(corner + fillings[kind].position(id - first));
                of_kind.push(kind);
            }
            first = end;
        }
        if whole {
            let sizes: Vec<f64> = of_kind.iter().map(|&kind| volumes[kind].cbrt()).collect();
            self.relax_jumps(&mut positions, &sizes);
            let rows = share.start as usize..share.end as usize;
            positions = positions[rows.clone()].to_vec();
            of_kind = of_kind[rows].to_vec();
        }
        let blocks = self.clone();
        Layout {
            positions,
            velocities: None,
            mass: Values::PerParticle(of_kind.iter().map(|&kind| kinds[kind] * volumes[kind]).collect()),
            internal_energy: Values::PerParticle(
                of_kind.iter().map(|&kind| energy_of(kinds[kind])).collect(),
            ),
            volume_of: Box::new(move |position, neighbors| {
                neighbors
                    * volumes[kinds.iter().position(|&kind| kind == blocks.density_at(position)).unwrap_or(0)]
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
            let (mut dense, mut crossed) = (0.0, 0);
            for (row, position) in layout.positions.iter().enumerate() {
                let inside = (0..3).all(|d| {
                    let at = position[d] - blocks.lower[d];
                    at >= 0.0 && at < blocks.count[d] as f64 * 0.5
                });
                assert!(inside, "{arrangement:?}: {position:?}");
                let density = 3.0 / layout.internal_energy.at(row);
                dense += if density > 7.9 { layout.mass.at(row) } else { 0.0 };
                let tolerance = if glass { 0.1 } else { 0.05 };
                assert!((layout.mass.at(row) / layout.mass.at(0) - 1.0).abs() < tolerance);
                if (blocks.density_at(position) / density - 1.0).abs() > 1e-12 {
                    crossed += 1;
                    continue;
                }
                let volume = (layout.volume_of)(position, 1.0);
                assert!((volume * density / layout.mass.at(row) - 1.0).abs() < 1e-12);
            }
            assert!((dense - 2.0).abs() < 1e-12);
            // the relaxation of a glass moves some particles across faces; blocks are three distances thick
            assert!(crossed <= if glass { count / 8 } else { 0 }, "{arrangement:?}: {crossed} of {count}");
            let part = blocks.layout(None, count / 3..count / 2, |density| 3.0 / density);
            assert_eq!(part.positions, layout.positions[(count / 3) as usize..(count / 2) as usize]);
        }
    }
}
