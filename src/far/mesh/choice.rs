//! Splitting parameter, mesh and order of an Ewald sum from the requested error of the forces.

use super::window::ORDERS;

/// Settings of an Ewald sum on a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshSettings {
    /// Mesh points per dimension.
    pub points: [usize; 3],
    /// Order of the window.
    pub order: usize,
    /// Splitting parameter a, 1 / length: the mesh has the potential erf(a r) / r of each particle.
    pub splitting: f64,
}

/// What is known of the particles, the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChargeStatistics {
    /// Number of particles.
    pub particles: f64,
    /// Sum of the squared charges.
    pub squared: f64,
    /// Edges of the box.
    pub lengths: [f64; 3],
}

/// What is requested; `None` is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Root mean square error of the forces in units of [`ChargeStatistics::typical_force`].
    pub tolerance: f64,
    /// Cutoff of the pairs.
    pub cutoff: f64,
    /// Mesh points per dimension.
    pub points: Option<[usize; 3]>,
    /// Order of the window.
    pub order: Option<usize>,
    /// Splitting parameter.
    pub splitting: Option<f64>,
    /// Largest number of mesh points per dimension.
    pub most_points: usize,
    /// Largest product of splitting and cutoff.
    pub most_split: f64,
}

/// Error of the mesh forces, measured on random charges against exact sums over waves, for mesh spacings h in a
/// cubic box: `force^2 = q^2 (Q a / V G(a h)^2 + q^2 a^4 S(a h)^2)` with Q the sum of squared charges. G is due to the
/// other particles, S to the particle itself. Rows: a h; columns: orders 4 to 8.
const SPACINGS: [f64; 10] = [0.1, 0.125, 0.16, 0.2, 0.25, 0.32, 0.4, 0.5, 0.64, 0.8];
const OTHERS: [[f64; 10]; 5] = [
    [4.29e-5, 8.53e-5, 1.81e-4, 3.65e-4, 7.60e-4, 1.70e-3, 3.86e-3, 9.28e-3, 3.05e-2, 6.76e-2],
    [1.60e-6, 3.99e-6, 1.11e-5, 2.88e-5, 7.60e-5, 2.37e-4, 7.27e-4, 2.69e-3, 1.93e-2, 5.53e-2],
    [7.33e-8, 2.34e-7, 8.54e-7, 2.89e-6, 1.01e-5, 4.44e-5, 1.93e-4, 9.73e-4, 8.40e-3, 2.92e-2],
    [3.67e-9, 1.48e-8, 7.25e-8, 3.22e-7, 1.49e-6, 9.31e-6, 5.83e-5, 5.08e-4, 7.51e-3, 2.76e-2],
    [2.11e-10, 1.10e-9, 7.20e-9, 4.24e-8, 2.63e-7, 2.35e-6, 2.10e-5, 2.42e-4, 4.53e-3, 2.03e-2],
];
const ITSELF: [[f64; 10]; 5] = [
    [2.88e-5, 5.45e-5, 1.18e-4, 2.34e-4, 4.75e-4, 1.13e-3, 2.35e-3, 5.36e-3, 1.43e-2, 2.78e-2],
    [2.19e-7, 7.28e-7, 2.79e-6, 7.81e-6, 2.71e-5, 1.01e-4, 3.55e-4, 1.49e-3, 8.46e-3, 2.11e-2],
    [5.33e-8, 1.64e-7, 6.12e-7, 1.98e-6, 6.95e-6, 2.98e-5, 1.20e-4, 5.74e-4, 3.60e-3, 9.78e-3],
    [1.05e-9, 4.98e-9, 2.97e-8, 1.42e-7, 7.92e-7, 5.35e-6, 3.41e-5, 2.82e-4, 2.48e-3, 7.13e-3],
    [1.56e-10, 7.97e-10, 5.20e-9, 2.86e-8, 1.77e-7, 1.53e-6, 1.26e-5, 1.27e-4, 1.51e-3, 4.86e-3],
];

/// Interpolates a row of the tables in logarithms; beyond its ends the last slope is continued.
fn interpolate(row: &[f64; 10], spacing: f64) -> f64 {
    let last = SPACINGS.len() - 2;
    let k = SPACINGS.partition_point(|&tabulated| tabulated < spacing).saturating_sub(1).min(last);
    let slope = (row[k + 1] / row[k]).ln() / (SPACINGS[k + 1] / SPACINGS[k]).ln();
    row[k] * (spacing / SPACINGS[k]).powf(slope)
}

impl ChargeStatistics {
    fn volume(&self) -> f64 {
        self.lengths.iter().product()
    }

    /// Force between two charges of the root mean square charge at the distance V^(1/3) / N^(1/3), for
    /// Coulomb's constant 1.
    pub fn typical_force(&self) -> f64 {
        self.squared / self.particles * (self.particles / self.volume()).powf(2.0 / 3.0)
    }

    /// Root mean square error of the forces of pairs beyond the cutoff, in units of the typical force
    /// (Kolafa & Perram 1992, Mol. Simul. 9, 351, equation 18).
    pub fn pair_error(&self, splitting: f64, cutoff: f64) -> f64 {
        let reach = splitting * cutoff;
        2.0 * self.squared * (-reach * reach).exp()
            / (self.particles * cutoff * self.volume()).sqrt()
            / self.typical_force()
    }

    /// Root mean square error of the mesh forces, in units of the typical force.
    pub fn mesh_error(&self, settings: &MeshSettings) -> f64 {
        let MeshSettings { points, order, splitting } = *settings;
        let row = order - ORDERS.start();
        let own = self.squared / self.particles;
        let mut error = 0.0;
        for d in 0..3 {
            let spacing = splitting * self.lengths[d] / points[d] as f64;
            let (others, itself) = (interpolate(&OTHERS[row], spacing), interpolate(&ITSELF[row], spacing));
            error += self.squared * splitting / self.volume() * others.powi(2)
                + own * splitting.powi(4) * itself.powi(2);
        }
        (own * error / 3.0).sqrt() / self.typical_force()
    }

    /// Root mean square error of the forces, in units of the typical force.
    pub fn error(&self, settings: &MeshSettings, cutoff: f64) -> f64 {
        self.pair_error(settings.splitting, cutoff).hypot(self.mesh_error(settings))
    }

    /// Returns the settings of a request: pairs and mesh share the squared error equally; of the orders that
    /// meet it, the fastest by [`Self::cost`]. Settings that are given are taken as they are.
    pub fn choose(&self, request: &Request) -> MeshSettings {
        let half = request.tolerance / 2f64.sqrt();
        let splitting = request.splitting.unwrap_or_else(|| {
            // pair_error is proportional to exp(-(a r)^2)
            let excess = self.pair_error(0.0, request.cutoff) / half;
            excess.max(1.1).ln().sqrt().min(request.most_split) / request.cutoff
        });
        let orders = request.order.map_or(ORDERS, |order| order..=order);
        let candidates = orders.map(|order| {
            let points = request.points.unwrap_or_else(|| self.points(request, order, splitting, half));
            MeshSettings { points, order, splitting }
        });
        let cost = |settings: &MeshSettings| {
            // with a given mesh: the lowest order that meets the tolerance, else the highest
            let misses = request.points.is_some() && self.mesh_error(settings) > half;
            (misses, if misses { 1.0 / settings.order as f64 } else { self.cost(settings) })
        };
        let least =
            candidates.min_by(|a, b| cost(a).partial_cmp(&cost(b)).unwrap_or(std::cmp::Ordering::Equal));
        least.unwrap_or_else(|| unreachable!("there is an order"))
    }

    /// Smallest mesh of about equal spacings with at most this error.
    fn points(&self, request: &Request, order: usize, splitting: f64, error: f64) -> [usize; 3] {
        let with_spacing = |spacing: f64| {
            self.lengths.map(|length| {
                let wanted = (length / spacing).ceil().clamp(order as f64, request.most_points as f64);
                transform_length(wanted as usize).min(request.most_points)
            })
        };
        let meets = |spacing: f64| {
            self.mesh_error(&MeshSettings { points: with_spacing(spacing), order, splitting }) <= error
        };
        let mut spacing = self.lengths.iter().fold(0.0, |longest: f64, &length| longest.max(length));
        let finest = spacing / request.most_points as f64;
        while spacing > finest && !meets(spacing) {
            spacing /= 1.02;
        }
        with_spacing(spacing)
    }

    /// Estimated time of the mesh, in nanoseconds on one core.
    ///
    /// The constants are measured on one core with AVX-512 in single precision, 110,592 ions of a jittered
    /// lattice in Hilbert order, as the least processor time of several repeats on a machine with other load.
    /// Spreading and interpolation: meshes of 48, 96 and 144 points per dimension, when interpolation still
    /// copied all mesh values, which took 0.9 ns per point more. Convolutions: meshes of 48 to 192. The
    /// time of pairs does not depend on the choice, as the cutoff is given.
    pub fn cost(&self, settings: &MeshSettings) -> f64 {
        let points: f64 = settings.points.iter().map(|&points| points as f64).product();
        let convolution = CONVOLUTION + BEYOND_CACHE * (points.log2() - 20.0).clamp(0.0, 3.0);
        let of_particle = PARTICLE_COST[settings.order - ORDERS.start()];
        self.particles * of_particle + points * (PASSAGE + convolution)
    }
}

/// Time of spreading and interpolation per particle of orders 4 to 8, see [`ChargeStatistics::cost`]. That of
/// order 8 is from whole steps of 108,000 ions, which take 2 to 3 % longer with it than with orders 6 and 7.
const PARTICLE_COST: [f64; 5] = [33.0, 41.0, 58.0, 79.0, 110.0];

/// Time per mesh point of spreading and interpolation: the mesh passes through the cache, and the boxes of
/// chunks overlap.
const PASSAGE: f64 = 5.3;

/// Time of a convolution per mesh point up to 2^20 points.
const CONVOLUTION: f64 = 3.3;

/// What a convolution costs more per mesh point for every doubling from 2^20 to 2^23 points.
const BEYOND_CACHE: f64 = 2.8;

/// Returns the smallest number from `least` on whose prime factors are 2, 3, 5 and 7.
pub fn transform_length(least: usize) -> usize {
    let smooth = |number: usize| {
        let mut rest = number;
        for prime in [2, 3, 5, 7] {
            while rest.is_multiple_of(prime) {
                rest /= prime;
            }
        }
        rest == 1
    };
    (least.max(1)..).find(|&number| smooth(number)).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn salt() -> ChargeStatistics {
        ChargeStatistics { particles: 1e5, squared: 1e5, lengths: [10.0, 10.0, 10.0] }
    }

    fn request(tolerance: f64) -> Request {
        let given = (None, None, None);
        let (points, order, splitting) = given;
        Request { tolerance, cutoff: 0.71, points, order, splitting, most_points: 4096, most_split: 6.0 }
    }

    #[test]
    fn chosen_settings_meet_the_tolerance() {
        for (tolerance, lengths) in [(1e-2, [10.0; 3]), (1e-4, [10.0; 3]), (1e-6, [7.0, 11.0, 25.0])] {
            let charges = ChargeStatistics { lengths, ..salt() };
            let request = request(tolerance);
            let settings = charges.choose(&request);
            let error = charges.error(&settings, request.cutoff);
            assert!(error <= 1.0001 * tolerance && error > 0.3 * tolerance, "{settings:?} {error}");
            let spacings = [0, 1, 2].map(|d| lengths[d] / settings.points[d] as f64);
            assert!(
                spacings.iter().all(|&spacing| spacing > 0.7 * spacings[0] && spacing < 1.4 * spacings[0])
            );
            for order in ORDERS {
                let one = charges.choose(&Request { order: Some(order), ..request });
                assert!(charges.cost(&one) >= charges.cost(&settings) && one.order == order);
            }
        }
    }

    #[test]
    fn given_settings_are_kept() {
        let given =
            Request { points: Some([32, 40, 48]), order: Some(7), splitting: Some(2.0), ..request(1e-3) };
        assert_eq!(salt().choose(&given), MeshSettings { points: [32, 40, 48], order: 7, splitting: 2.0 });
        // a mesh alone: the order that meets the tolerance, or the highest
        let fine = salt().choose(&Request { points: Some([200; 3]), ..request(1e-3) });
        assert!(fine.order < 6 && salt().mesh_error(&fine) < 1e-3, "{fine:?}");
        assert_eq!(salt().choose(&Request { points: Some([16; 3]), ..request(1e-6) }).order, 8);
    }

    #[test]
    fn transform_lengths_have_small_factors() {
        assert_eq!([1, 7, 11, 13, 97, 121, 211].map(transform_length), [1, 7, 12, 14, 98, 125, 216]);
    }
}
