//! Balls whose density, internal energy and radial velocity are tables over the radius: equal masses,
//! stretched from a glass or lattice.

use std::ops::Range;

use super::ball::{Ball, MassTable, RadialProfile};
use super::{Arrangement, Layout, Values};
use crate::space::Vec3d;

/// Parts into which an interval of the table is divided for the enclosed mass; the density is linear in it.
const PARTS: usize = 16;

/// A spherical gas as a table: linear between rows, nothing beyond the last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RadialTable {
    /// Radii >= 0, ascending; inside the first one its values hold.
    pub radii: Vec<f64>,
    /// Mass densities >= 0, positive in at least one row.
    pub density: Vec<f64>,
    /// Specific internal energies >= 0.
    pub internal_energy: Vec<f64>,
    /// Radial velocities, positive outward; all 0: at rest.
    pub velocity: Vec<f64>,
}

impl RadialTable {
    /// A column at a radius; the last row's value beyond it.
    pub fn at(&self, column: &[f64], radius: f64) -> f64 {
        let above = self.radii.partition_point(|&row| row <= radius);
        if above == 0 {
            return column[0];
        }
        if above == self.radii.len() {
            return column[above - 1];
        }
        let (low, high) = (self.radii[above - 1], self.radii[above]);
        column[above - 1] + (radius - low) / (high - low) * (column[above] - column[above - 1])
    }

    /// Radii from the center in steps finer than the rows, and the masses that they enclose.
    fn masses(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut radii, mut masses, mut last) = (vec![0.0f64], vec![0.0], 0.0);
        for &end in self.radii.iter().filter(|&&radius| radius > 0.0) {
            for part in 1..=PARTS {
                let radius = last + (end - last) * part as f64 / PARTS as f64;
                let inner = radii.last().copied().unwrap_or(0.0);
                let volume = 4.0 / 3.0 * std::f64::consts::PI * (radius.powi(3) - inner.powi(3));
                let density = self.at(&self.density, 0.5 * (inner + radius));
                masses.push(masses.last().copied().unwrap_or(0.0) + density * volume);
                radii.push(radius);
            }
            last = end;
        }
        (radii, masses)
    }

    /// Total mass.
    pub fn mass(&self) -> f64 {
        self.masses().1.last().copied().unwrap_or(0.0)
    }

    /// Lays out the particles of a range of ids; the center of mass is at the origin.
    pub fn layout(&self, count: u64, arrangement: Arrangement, seed: u64, share: Range<u64>) -> Layout {
        let (radii, masses) = self.masses();
        let total = masses.last().copied().unwrap_or(0.0);
        let profile = MassTable::new(&radii, &masses);
        let positions = Ball::new(count, arrangement, seed).positions(&profile, share);
        let energy = |position: &Vec3d| self.at(&self.internal_energy, position.norm());
        let speed = |position: &Vec3d| {
            let radius = position.norm();
            if radius > 0.0 { position * (self.at(&self.velocity, radius) / radius) } else { Vec3d::zeros() }
        };
        let moving = self.velocity.iter().any(|&speed| speed != 0.0);
        let particles = count.max(1) as f64;
        let table = self.clone();
        Layout {
            velocities: moving.then(|| positions.iter().map(speed).collect()),
            internal_energy: Values::PerParticle(positions.iter().map(energy).collect()),
            mass: Values::Uniform(total / particles),
            volume_of: Box::new(move |position, neighbors| {
                // where the density falls to zero, the outermost particles have their neighbors further in
                let inside = profile.radius((1.0 - 0.5 * neighbors / particles).max(0.0));
                let density = table.at(&table.density, position.norm().min(inside));
                neighbors * total / particles / density.max(f64::MIN_POSITIVE)
            }),
            positions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> RadialTable {
        let radii: Vec<f64> = (0..=50).map(|k| 2.0 * f64::from(k) / 50.0).collect();
        RadialTable {
            density: radii.iter().map(|r| 3.0 - r).collect(),
            internal_energy: radii.iter().map(|r| 1.0 + r * 0.5).collect(),
            velocity: radii.iter().map(|r| -0.25 * r).collect(),
            radii,
        }
    }

    /// M(<r) = 4 pi (r^3 - r^4 / 4).
    fn enclosed(radius: f64) -> f64 {
        4.0 * std::f64::consts::PI * (radius.powi(3) - 0.25 * radius.powi(4))
    }

    #[test]
    fn particles_have_the_masses_energies_and_velocities_of_the_table() {
        let table = table();
        assert!((table.mass() / enclosed(2.0) - 1.0).abs() < 1e-4);
        let count = 6000;
        let layout = table.layout(count, Arrangement::BodyCentered, 1, 0..count);
        assert!((layout.mass.at(0) * count as f64 - table.mass()).abs() < 1e-12 * table.mass());
        for radius in [0.5, 1.0, 1.7] {
            let inside = layout.positions.iter().filter(|x| x.norm() < radius).count() as f64 / count as f64;
            assert!((inside - enclosed(radius) / enclosed(2.0)).abs() < 0.005, "{radius}: {inside}");
        }
        let velocities = layout.velocities.as_ref().unwrap();
        for row in (0..count as usize).step_by(97) {
            let (x, v) = (layout.positions[row], velocities[row]);
            assert!((v + 0.25 * x).norm() < 1e-12);
            assert!((layout.internal_energy.at(row) - 1.0 - 0.5 * x.norm().min(2.0)).abs() < 1e-12);
        }
        let center = layout.positions.iter().sum::<Vec3d>() / count as f64;
        assert!(center.norm() < 1e-13);
        let part = table.layout(count, Arrangement::BodyCentered, 1, 100..110);
        assert_eq!(part.positions, layout.positions[100..110]);
        // a ball about a particle in the middle holds the number asked for
        let volume = (layout.volume_of)(&Vec3d::new(1.0, 0.0, 0.0), 60.0);
        assert!((volume * 2.0 / layout.mass.at(0) - 60.0).abs() < 0.5, "{volume}");
    }

    #[test]
    fn a_cusp_is_flat_inside_the_first_row() {
        let table = RadialTable {
            radii: vec![0.5, 1.0],
            density: vec![2.0, 0.0],
            internal_energy: vec![1.0; 2],
            velocity: vec![0.0; 2],
        };
        assert_eq!((table.at(&table.density, 0.1), table.at(&table.density, 0.75)), (2.0, 1.0));
        assert!(table.layout(50, Arrangement::Random, 1, 0..50).velocities.is_none());
    }
}
