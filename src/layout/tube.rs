//! Tubes along x of several densities with particles of equal masses.

use std::ops::Range;

use super::cuboid::{Cuboid, Filling};
use super::glass::Tile;
use super::pattern::Pattern;
use super::{Arrangement, Layout, Values};
use crate::space::Vec3d;

/// A part of a tube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Its length along x, > 0.
    pub length: f64,
    /// Mass density, > 0.
    pub density: f64,
}

/// A tube: parts from `lower` along x, all of the same cross-section.
#[derive(Clone, Debug, PartialEq)]
pub struct Tube {
    /// Lower corner.
    pub lower: [f64; 3],
    /// Edges along y and z, > 0.
    pub width: [f64; 2],
    /// The parts, along x.
    pub parts: Vec<Part>,
    /// Distance of the particles in the densest part, > 0.
    pub spacing: f64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the glass and of independent positions.
    pub seed: u64,
}

impl Tube {
    /// Returns the cuboid of each part. Masses are equal as nearly as whole particles or cells allow: exactly
    /// for lattices whose distances have whole ratios, as at 8:1.
    pub fn cuboids(&self) -> Vec<Cuboid> {
        let pattern = Pattern::lattice_of(self.arrangement).map(Pattern::normalized);
        let mut start = self.lower[0];
        let cuboid = |part: &Part| {
            let lengths = [part.length, self.width[0], self.width[1]];
            let cells = pattern.as_ref().map(|pattern| self.cells(pattern, lengths, part.density));
            let volume: f64 = lengths.iter().product();
            let particles = match (&pattern, cells) {
                (Some(pattern), Some(cells)) => cells.iter().product::<u64>() * pattern.points.len() as u64,
                _ => (volume / self.distance(part.density).powi(3)).round().max(1.0) as u64,
            };
            let lower = [start, self.lower[1], self.lower[2]];
            start += part.length;
            Cuboid { particles, lower, lengths, arrangement: self.arrangement, cells, seed: self.seed }
        };
        self.parts.iter().map(cuboid).collect()
    }

    /// Mean distance of particles at a density.
    fn distance(&self, density: f64) -> f64 {
        let densest = self.parts.iter().map(|part| part.density).fold(0.0, f64::max);
        self.spacing * (densest / density).cbrt()
    }

    /// Lattice cells of a part: a whole multiple of those at the least density, if the ratio of the distances
    /// is whole.
    fn cells(&self, pattern: &Pattern, lengths: [f64; 3], density: f64) -> [u64; 3] {
        let least = self.parts.iter().map(|part| part.density).fold(f64::INFINITY, f64::min);
        let ratio = self.distance(least) / self.distance(density);
        let unit = if (ratio - ratio.round()).abs() < 1e-6 { ratio.round() } else { 1.0 };
        [0, 1, 2].map(|d| {
            let coarse = pattern.cell[d] * self.distance(density) * unit;
            ((lengths[d] / coarse).round().max(1.0) * unit) as u64
        })
    }

    /// Returns the number of particles.
    pub fn count(&self) -> u64 {
        self.cuboids().iter().map(Cuboid::count).sum()
    }

    /// Returns the tiles of glass that fill the parts, if they are glass.
    pub fn tiles(&self) -> Vec<Tile> {
        self.cuboids().iter().filter_map(Cuboid::tile).collect()
    }

    /// Returns the positions of all particles.
    pub fn filling(&self) -> TubeFilling {
        self.quiet_filling(None)
    }

    /// Returns the positions of all particles; a glass has at most `noise` ([`Tile::noise`]).
    pub fn quiet_filling(&self, noise: Option<f64>) -> TubeFilling {
        let cuboids = self.cuboids();
        let mut first = 0;
        let parts = cuboids.iter().zip(&self.parts).map(|(cuboid, part)| {
            let (begin, count) = (first, cuboid.count());
            first += count;
            Filled {
                ids: begin..first,
                filling: cuboid.quiet_filling(noise),
                mass: part.density * cuboid.volume() / count.max(1) as f64,
            }
        });
        TubeFilling { parts: parts.collect() }
    }

    /// Lays out the particles of a range of ids, at rest. `energy_of(k)` is the specific internal energy of
    /// part k.
    pub fn layout(&self, share: Range<u64>, energy_of: impl Fn(usize) -> f64) -> Layout {
        self.quiet_layout(None, share, energy_of)
    }

    /// As [`Self::layout`]; a glass has at most `noise` ([`Tile::noise`]).
    pub fn quiet_layout(
        &self,
        noise: Option<f64>,
        share: Range<u64>,
        energy_of: impl Fn(usize) -> f64,
    ) -> Layout {
        let filling = self.quiet_filling(noise);
        let mut positions = Vec::new();
        let (mut mass, mut energy) = (Vec::new(), Vec::new());
        for id in share {
            let part = filling.part(id);
            positions.push(filling.position(id));
            mass.push(filling.parts[part].mass);
            energy.push(energy_of(part));
        }
        let start = self.lower[0];
        let mut end = start;
        let volumes: Vec<(f64, f64)> = (self.cuboids().iter())
            .map(|cuboid| {
                end += cuboid.lengths[0];
                (end, cuboid.volume() / cuboid.count().max(1) as f64)
            })
            .collect();
        Layout {
            positions,
            velocities: None,
            mass: Values::PerParticle(mass),
            internal_energy: Values::PerParticle(energy),
            volume_of: Box::new(move |position, neighbors| {
                let part = volumes.partition_point(|&(end, _)| end <= position.x).min(volumes.len() - 1);
                neighbors * volumes[part].1
            }),
        }
    }
}

/// A filled part.
struct Filled {
    ids: Range<u64>,
    filling: Filling,
    mass: f64,
}

/// The positions and masses of the particles of a tube.
pub struct TubeFilling {
    parts: Vec<Filled>,
}

impl TubeFilling {
    /// Returns the part of a particle.
    pub fn part(&self, id: u64) -> usize {
        self.parts.partition_point(|part| part.ids.end <= id).min(self.parts.len() - 1)
    }

    /// Returns the position of a particle.
    pub fn position(&self, id: u64) -> Vec3d {
        let part = &self.parts[self.part(id)];
        part.filling.position(id - part.ids.start)
    }

    /// Returns the mass of a particle.
    pub fn mass(&self, id: u64) -> f64 {
        self.parts[self.part(id)].mass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tube(arrangement: Arrangement, spacing: f64) -> Tube {
        Tube {
            lower: [-1.0, 0.0, 0.0],
            width: [0.4, 0.4],
            parts: vec![Part { length: 1.0, density: 1.0 }, Part { length: 1.0, density: 0.125 }],
            spacing,
            arrangement,
            seed: 1,
        }
    }

    #[test]
    fn masses_are_equal_and_sum_up() {
        for &arrangement in Arrangement::ALL {
            // relaxing a large glass takes long without optimization
            let tube = tube(arrangement, if arrangement == Arrangement::Glass { 0.1 } else { 0.025 });
            let (count, filling) = (tube.count(), tube.filling());
            let masses: Vec<f64> = (0..count).map(|id| filling.mass(id)).collect();
            let total: f64 = masses.iter().sum();
            assert!((total / (0.16 * 1.125) - 1.0).abs() < 1e-12, "{arrangement:?}");
            let (least, most) =
                masses.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &m| (a.min(m), b.max(m)));
            // hcp cells are not commensurate with a square cross-section
            let tolerance = if arrangement == Arrangement::Glass { 0.1 } else { 2e-3 };
            assert!(most / least - 1.0 < tolerance, "{arrangement:?}: {least} to {most}");
            let x = |id| filling.position(id).x;
            assert!((0..count).all(|id| (filling.part(id) == 0) == (x(id) < 0.0)));
            let layout = tube.layout(100..count, |part| [1.0, 2.0][part]);
            assert_eq!(layout.positions[0], filling.position(100));
            assert_eq!(layout.internal_energy.at(0), 1.0);
            assert_eq!(layout.internal_energy.at(layout.positions.len() - 1), 2.0);
            let ratio = (layout.volume_of)(&Vec3d::new(0.5, 0.1, 0.1), 50.0) / 50.0 * 0.125;
            assert!((ratio / masses[count as usize - 1] - 1.0).abs() < 1e-12);
        }
    }
}
