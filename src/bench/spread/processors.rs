//! The rows of `bench spread` for processors.

use super::super::{Cell, Common, Remark, Table, machine, median};
use super::contender::Contender;
use super::row::{Case, Floors, Times};
use super::{Options, REPEATS, cube, particles};
use crate::domain;
use crate::far::mesh::interpolate::interpolate;
use crate::far::mesh::{Brick, SpreadScalar, Spreader, Window};
use crate::pair::Precision;
use crate::particles::Field;

/// Bytes per particle of an interpolation: three coordinates read, potential and gradient written.
const INTERPOLATED_BYTES: f64 = 56.0;

/// Measures spreading and interpolation of all cases, with all threads. Returns what holds for all rows.
pub fn measure(options: &Options, common: &Common, table: &mut Table) -> Vec<Remark> {
    let (repeats, window) = (common.repeats(REPEATS), options.window());
    let threads = rayon::current_num_threads() as f64;
    let fused = |precision| threads * 0.5 * machine::peak(precision);
    let fused = [Precision::Mixed, Precision::Double].map(fused);
    let cached = [Precision::Mixed, Precision::Double].map(machine::cached_sums);
    for &count in &options.particles {
        let sample = Sample::new(count as usize);
        for case in options.cases(count) {
            let double = case.precision == Precision::Double;
            let times = match double {
                true => sample.times::<f64>(&case, &window, repeats),
                false => sample.times::<f32>(&case, &window, repeats),
            };
            let floors = floors(&case, fused[usize::from(double)]);
            table.push(case.row(Contender::Processors, Some((times, floors))));
        }
    }
    let giga = |rate: f64| Cell::Number(1e-9 * rate, 1);
    vec![
        ("fused_billion_per_second", giga(fused[0])),
        ("fused_billion_per_second_in_double", giga(fused[1])),
        ("cached_sums_billion_per_second_and_core", giga(cached[0])),
        ("cached_sums_billion_per_second_and_core_in_double", giga(cached[1])),
    ]
}

/// The least times of a case at this rate of fused multiply-adds of all threads (per second).
fn floors(case: &Case, fused: f64) -> Floors {
    let interpolated = INTERPOLATED_BYTES * case.particles as f64 + case.mesh_bytes();
    let copied = [case.spread_bytes(), interpolated].map(|bytes| machine::copied(bytes as usize));
    case.floors(fused, copied, INTERPOLATED_BYTES)
}

/// Particles, ordered along the Hilbert curve.
struct Sample {
    positions: [Vec<f64>; 3],
    charges: Vec<f64>,
}

impl Sample {
    fn new(count: usize) -> Self {
        let mut particles = particles(count);
        let rows = domain::sort(&cube(), &mut particles).rows;
        let ordered = |column: &[f64]| rows.iter().map(|&row| column[row as usize]).collect();
        Sample {
            positions: particles.vector(Field::Position).map(ordered),
            charges: ordered(particles.scalar(Field::Charge)),
        }
    }

    /// The median times of a case, after one warm-up run.
    fn times<S: SpreadScalar>(&self, case: &Case, window: &Window, repeats: usize) -> Times {
        let geometry = case.geometry();
        let positions = self.positions.each_ref().map(Vec::as_slice);
        let mut spreader = Spreader::<S>::new();
        let mut brick = Brick::whole(geometry.points);
        let mut spread = || spreader.spread(&geometry, window, positions, &self.charges, &mut brick);
        spread();
        let (spread, ()) = median(repeats, spread);
        let mut columns = [0; 4].map(|_| vec![0.0; self.charges.len()]);
        let mut interpolate = || {
            let columns = columns.each_mut().map(Vec::as_mut_slice);
            interpolate(&geometry, window, &brick, positions, columns);
        };
        interpolate();
        let (interpolate, ()) = median(repeats, interpolate);
        Times { construct: 0.0, spread, interpolate: Some(interpolate), bytes: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::hilbert;

    #[test]
    fn a_sample_is_ordered_along_the_curve() {
        let sample = Sample::new(500);
        let mut keys = vec![0; 500];
        hilbert::keys(&cube(), sample.positions.each_ref().map(Vec::as_slice), &mut keys);
        assert!(keys.is_sorted());
        assert_eq!(sample.charges.iter().sum::<f64>(), 0.0);
        assert_eq!(sample.charges.iter().filter(|&&charge| charge == 1.0).count(), 250);
    }
}
