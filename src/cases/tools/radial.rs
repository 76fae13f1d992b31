//! Particles sorted by distance from their center of mass.

use crate::particles::{Field, Particles};
use crate::space::Vec3d;

/// Columns sorted by radius, in code units.
#[derive(Clone, Debug, Default)]
pub struct Radial {
    /// Distance from the center of mass.
    pub radius: Vec<f64>,
    /// Radial velocity, positive outward.
    pub velocity: Vec<f64>,
    /// Mass density.
    pub density: Vec<f64>,
    /// Pressure.
    pub pressure: Vec<f64>,
    /// P / density^gamma.
    pub entropy: Vec<f64>,
    /// Smoothing length.
    pub smoothing: Vec<f64>,
    /// Enclosed mass, including half of the particle's own.
    pub enclosed: Vec<f64>,
    /// Total mass.
    pub mass: f64,
    /// |sum of m v| over sum of m |v|: relative deviation of the momentum from zero.
    pub momentum: f64,
    /// Sum of m v^2 / 2.
    pub kinetic: f64,
    /// Sum of m u.
    pub thermal: f64,
}

/// Smallest number of particles in a bin; bins with fewer are left out.
const MIN_PARTICLES: usize = 8;

impl Radial {
    /// Sorts the owned particles of an ideal gas with adiabatic exponent `gamma` by radius. Position,
    /// velocity, mass, density and internal energy are required. A missing pressure is computed as
    /// (gamma - 1) density u, a missing smoothing length h from a sphere of radius 2h that holds the mass of
    /// 100 particles.
    pub fn new(particles: &Particles, gamma: f64) -> Self {
        let scalar = |field| particles.scalar(field);
        let (masses, densities, energies) =
            (scalar(Field::Mass), scalar(Field::Density), scalar(Field::InternalEnergy));
        let optional = |field| particles.has(field).then(|| scalar(field));
        let (pressures, smoothing) = (optional(Field::Pressure), optional(Field::SmoothingLength));

        let mut sorted = Self::default();
        let (mut center, mut momentum, mut speeds) = (Vec3d::zeros(), Vec3d::zeros(), 0.0);
        for row in particles.owned() {
            let velocity = particles.vector_at(Field::Velocity, row);
            sorted.mass += masses[row];
            sorted.thermal += masses[row] * energies[row];
            sorted.kinetic += 0.5 * masses[row] * velocity.norm_squared();
            center += masses[row] * particles.vector_at(Field::Position, row);
            momentum += masses[row] * velocity;
            speeds += masses[row] * velocity.norm();
        }
        if sorted.mass > 0.0 {
            center /= sorted.mass;
        }
        sorted.momentum = if speeds > 0.0 { momentum.norm() / speeds } else { 0.0 };

        let mut order: Vec<(f64, usize)> = particles
            .owned()
            .map(|row| ((particles.vector_at(Field::Position, row) - center).norm(), row))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut enclosed = 0.0;
        for (radius, row) in order {
            let (mass, density) = (masses[row], densities[row]);
            let outward = particles.vector_at(Field::Position, row) - center;
            let along = particles.vector_at(Field::Velocity, row).dot(&outward);
            let computed = (gamma - 1.0) * density * energies[row];
            // a snapshot may have a pressure column of zeros; with thermal energy that means no pressure
            let pressure =
                pressures.map(|column| column[row]).filter(|&stored| stored > 0.0).unwrap_or(computed);
            let volume = 100.0 * mass / density;
            let sphere = 0.5 * (volume * 0.75 / std::f64::consts::PI).cbrt();
            sorted.radius.push(radius);
            sorted.velocity.push(if radius > 0.0 { along / radius } else { 0.0 });
            sorted.density.push(density);
            sorted.pressure.push(pressure);
            sorted.entropy.push(pressure / density.powf(gamma));
            sorted.smoothing.push(smoothing.map_or(sphere, |column| column[row]));
            sorted.enclosed.push(enclosed + 0.5 * mass);
            enclosed += mass;
        }
        sorted
    }

    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        self.radius.len()
    }

    /// Whether there is no particle.
    pub fn is_empty(&self) -> bool {
        self.radius.is_empty()
    }

    /// Returns the rows between two radii.
    pub fn between(&self, inner: f64, outer: f64) -> std::ops::Range<usize> {
        let first = self.radius.partition_point(|&radius| radius <= inner);
        first..self.radius.partition_point(|&radius| radius < outer).max(first)
    }

    /// Returns the medians of a column in `bins` logarithmic bins between two radii, as (geometric middle of
    /// the bin, median), for bins with at least eight particles.
    pub fn medians(&self, column: &[f64], bins: usize, (inner, outer): (f64, f64)) -> Vec<(f64, f64)> {
        let edge = |k: usize| inner * (outer / inner).powf(k as f64 / bins as f64);
        (0..bins)
            .filter_map(|k| {
                let rows = self.between(edge(k), edge(k + 1));
                let middle = (edge(k) * edge(k + 1)).sqrt();
                (rows.len() >= MIN_PARTICLES)
                    .then(|| median(column[rows].to_vec()).map(|value| (middle, value)))?
            })
            .collect()
    }

    /// Returns the radius of the shock between two radii, and the smoothing length there. The shock is where
    /// the radial velocity falls most steeply outward, by a weighted linear fit over one smoothing length to
    /// either side. `None` if the velocity falls nowhere.
    pub fn shock(&self, (inner, outer): (f64, f64)) -> Option<(f64, f64)> {
        const CANDIDATES: usize = 400;
        let mut steepest: Option<(f64, f64, f64)> = None;
        for k in 0..CANDIDATES {
            let radius = inner * (outer / inner).powf((k as f64 + 0.5) / CANDIDATES as f64);
            let at = self.radius.partition_point(|&other| other < radius);
            let near = at.saturating_sub(32)..(at + 32).min(self.len());
            let Some(h) = median(self.smoothing[near].to_vec()) else { continue };
            let rows = self.between(radius - h, radius + h);
            if rows.len() < 32 {
                continue;
            }
            let slope = slope(&self.radius[rows.clone()], &self.velocity[rows], radius, h);
            if slope < steepest.map_or(0.0, |known| known.0) {
                steepest = Some((slope, radius, h));
            }
        }
        steepest.map(|(_, radius, h)| (radius, h))
    }
}

/// Returns the slope of y over x by least squares with weights (1 - ((x - center) / reach)^2)^2.
fn slope(x: &[f64], y: &[f64], center: f64, reach: f64) -> f64 {
    let [mut weights, mut mean_x, mut mean_y] = [0.0; 3];
    let weight = |x: f64| (1.0 - ((x - center) / reach).powi(2)).max(0.0).powi(2);
    for (&x, &y) in x.iter().zip(y) {
        weights += weight(x);
        mean_x += weight(x) * x;
        mean_y += weight(x) * y;
    }
    (mean_x, mean_y) = (mean_x / weights, mean_y / weights);
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (&x, &y) in x.iter().zip(y) {
        covariance += weight(x) * (x - mean_x) * (y - mean_y);
        variance += weight(x) * (x - mean_x).powi(2);
    }
    covariance / variance
}

/// Returns the median; for an even count the mean of the middle two; `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    Some(if values.len() % 2 == 1 { values[half] } else { 0.5 * (values[half - 1] + values[half]) })
}

/// Returns the mean; `None` without values.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_means() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
        assert_eq!(mean([1.0, 2.0].into_iter()), Some(1.5));
        assert_eq!(mean(std::iter::empty()), None);
    }

    #[test]
    fn radii_are_about_the_centre_of_mass() {
        let fields = [Field::Position, Field::Velocity, Field::Mass, Field::Density, Field::InternalEnergy];
        let mut particles = Particles::new(&fields, 3);
        for (row, x) in [(0, 4.0), (1, 7.0), (2, 1.0)] {
            particles.set_vector(Field::Position, row, Vec3d::new(x, 5.0, 0.0));
            particles.set_vector(Field::Velocity, row, Vec3d::new(2.0 * (4.0 - x), 1.0, 0.0));
            particles.scalar_mut(Field::Mass)[row] = 2.0;
            particles.scalar_mut(Field::Density)[row] = 8.0;
            particles.scalar_mut(Field::InternalEnergy)[row] = 3.0;
        }
        let radial = Radial::new(&particles, 5.0 / 3.0);
        assert_eq!(radial.radius, [0.0, 3.0, 3.0]);
        assert_eq!(radial.velocity, [0.0, -6.0, -6.0]);
        assert_eq!(radial.enclosed, [1.0, 3.0, 5.0]);
        assert!((radial.pressure[1] - 16.0).abs() < 1e-12 && (radial.entropy[1] - 0.5).abs() < 1e-12);
        assert_eq!(radial.between(0.0, 3.0), 1..1);
        assert_eq!(radial.between(2.0, 3.1), 1..3);
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        let radial = Radial::default();
        assert!(radial.is_empty() && radial.shock((0.1, 0.5)).is_none());
        assert!(radial.medians(&[], 10, (0.1, 1.0)).is_empty());
    }
}
