//! Interpolation against direct sums, conserved masses and known fields.

use super::{Raster, Samples, View, interpolate};
use crate::pair::Kernel;
use crate::pair::kernel::kernel_value;
use crate::space::{Boundary, SimulationBox, Vec3d};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

/// Particles by columns.
struct Particles {
    position: [Vec<f64>; 3],
    h: Vec<f64>,
    mass: Vec<f64>,
}

impl Particles {
    fn samples<'a>(&'a self, value: Option<&'a [f64]>) -> Samples<'a> {
        let position = [&self.position[0][..], &self.position[1], &self.position[2]];
        Samples { position, smoothing_length: &self.h, weight: &self.mass, value }
    }

    /// Uniformly random in the unit cube, with smoothing lengths up to `longest`.
    fn random(count: usize, longest: f64, seed: u64) -> Self {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut column =
            |from: f64, to: f64| (0..count).map(|_| random.random_range(from..to)).collect::<Vec<f64>>();
        let position = [column(0.0, 1.0), column(0.0, 1.0), column(0.0, 1.0)];
        Self { position, h: column(0.0, longest), mass: column(0.5, 1.5) }
    }

    /// A cubic lattice in the unit cube of unit density, with the smoothing length in spacings.
    fn lattice(side: usize, h: f64) -> Self {
        let at = |k: usize| (k as f64 + 0.5) / side as f64;
        let count = side * side * side;
        let position = [0, 1, 2].map(|d| (0..count).map(|k| at(k / side.pow(d) % side)).collect());
        Self { position, h: vec![h / side as f64; count], mass: vec![1.0 / count as f64; count] }
    }
}

fn unit_box(boundary: [Boundary; 3]) -> SimulationBox {
    SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary }
}

fn view(axis: usize, plane: Option<f64>, extent: [(f64, f64); 2], pixels: [usize; 2]) -> View {
    View { axis, plane, extent, pixels }
}

/// Coordinate of the center of a pixel in a direction.
fn center(view: &View, d: usize, pixel: usize) -> f64 {
    view.extent[d].0 + (pixel as f64 + 0.5) * view.pixel()[d]
}

/// Sums of w_j A_j W and of w_j W over all particles and images at each pixel of a slice.
fn direct(samples: &Samples, kernel: Kernel<f64>, bx: &SimulationBox, view: &View) -> Vec<(f64, f64)> {
    let shifts = |d: usize| if bx.boundary[d] == Boundary::Periodic { -3..=3 } else { 0..=0 };
    let images: Vec<Vec3d> = shifts(0)
        .flat_map(|x| shifts(1).flat_map(move |y| shifts(2).map(move |z| [x, y, z])))
        .map(|image| bx.lengths().component_mul(&Vec3d::from(image.map(f64::from))))
        .collect();
    let [across, up] = view.directions();
    let mut values = Vec::new();
    for (j, i) in (0..view.pixels[1]).flat_map(|j| (0..view.pixels[0]).map(move |i| (j, i))) {
        let mut point = Vec3d::repeat(view.plane.unwrap());
        (point[across], point[up]) = (center(view, 0, i), center(view, 1, j));
        let (mut sum, mut weights) = (0.0, 0.0);
        for row in 0..samples.weight.len() {
            let (h, weight) = (samples.smoothing_length[row], samples.weight[row]);
            let at = Vec3d::from(samples.position.map(|column| column[row]));
            for image in &images {
                let w =
                    weight * kernel_value(kernel, (at + image - point).norm_squared() / (h * h)) / h.powi(3);
                weights += w;
                sum += w * samples.value.map_or(1.0, |values| values[row]);
            }
        }
        values.push((sum, weights));
    }
    values
}

fn boundaries() -> impl Strategy<Value = [Boundary; 3]> {
    proptest::array::uniform3(prop_oneof![Just(Boundary::Open), Just(Boundary::Periodic)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_integral_of_a_projection_is_the_mass(
        boundary in boundaries(), axis in 0..3usize, seed in 0..1000u64,
        longest in 1e-4..0.2f64, pixels in 5..70usize,
    ) {
        let particles = Particles::random(40, longest, seed);
        let bx = unit_box(boundary);
        let sees = view(axis, None, [(0.0, 1.0); 2], [pixels; 2]);
        // room for the supports, widened by a pixel, beyond open sides
        let room = 2.0 * longest.max(1.0 / pixels as f64);
        let extra = (room * pixels as f64).ceil();
        let sides = sees.directions().map(|d| if boundary[d] == Boundary::Open { extra } else { 0.0 });
        let sees = View {
            extent: sides.map(|extra| (-extra / pixels as f64, 1.0 + extra / pixels as f64)),
            pixels: sides.map(|extra| pixels + 2 * extra as usize),
            ..sees
        };
        for kernel in [Kernel::cubic_spline(), Kernel::wendland_c6()] {
            let raster = interpolate(&particles.samples(None), kernel, &bx, &sees).unwrap();
            let mass: f64 = particles.mass.iter().sum();
            prop_assert!((raster.integral() / mass - 1.0).abs() < 2e-3, "{} of {mass}", raster.integral());
        }
    }

    #[test]
    fn slices_are_the_direct_sum(
        boundary in boundaries(), axis in 0..3usize, seed in 0..1000u64,
        longest in 0.05..0.7f64, mean in any::<bool>(),
    ) {
        let particles = Particles::random(12, longest, seed);
        let bx = unit_box(boundary);
        // beyond the box on one side
        let sees = view(axis, Some(0.3), [(-0.4, 0.9), (0.1, 0.8)], [13, 7]);
        let values: Vec<f64> = (0..12).map(|k| f64::from(k * k % 7) - 3.0).collect();
        let samples = particles.samples(mean.then_some(&values[..]));
        let kernel = Kernel::wendland_c2();
        let fast = interpolate(&samples, kernel, &bx, &sees).unwrap();
        let slow = direct(&samples, kernel, &bx, &sees);
        let largest = slow.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
        for (value, (sum, weight)) in fast.values.iter().zip(slow) {
            prop_assert_eq!(value.is_nan(), weight == 0.0);
            if !mean {
                prop_assert!(value.is_nan() || (value - sum).abs() < 1e-10 * largest, "{} {}", value, sum);
            } else if weight > 0.05 * largest {
                prop_assert!((value - sum / weight).abs() < 1e-9, "{} {}", value, sum / weight);
            }
        }
    }

    #[test]
    fn a_projection_is_the_integral_of_slices(
        boundary in boundaries(), axis in 0..3usize, seed in 0..1000u64,
    ) {
        let mut particles = Particles::random(20, 0.3, seed);
        // wider than the pixels, so that projections do not widen them
        particles.h.iter_mut().for_each(|h| *h += 0.15);
        let bx = unit_box(boundary);
        let values: Vec<f64> = (0..20).map(|k| f64::from(k * k % 7) - 3.0).collect();
        let kernel = Kernel::cubic_spline();
        let extent = [(0.1, 0.7), (0.2, 0.9)];
        let steps = 400;
        let range = if boundary[axis] == Boundary::Periodic { (0.0, 1.0) } else { (-1.0, 2.0) };
        let step = (range.1 - range.0) / f64::from(steps);
        let mut sums = [(0.0, 0.0); 30];
        for k in 0..steps {
            let plane = range.0 + (f64::from(k) + 0.5) * step;
            let sees = view(axis, Some(plane), extent, [6, 5]);
            let density = interpolate(&particles.samples(None), kernel, &bx, &sees).unwrap();
            let mean = interpolate(&particles.samples(Some(&values)), kernel, &bx, &sees).unwrap();
            for (sum, (rho, value)) in sums.iter_mut().zip(density.values.iter().zip(&mean.values)) {
                if rho.is_finite() {
                    *sum = (sum.0 + rho * step, sum.1 + rho * value * step);
                }
            }
        }
        let sees = view(axis, None, extent, [6, 5]);
        let column = interpolate(&particles.samples(None), kernel, &bx, &sees).unwrap();
        let mean = interpolate(&particles.samples(Some(&values)), kernel, &bx, &sees).unwrap();
        let most = sums.iter().map(|sum| sum.0).fold(0.0, f64::max);
        for ((column, mean), (sum, product)) in column.values.iter().zip(&mean.values).zip(sums) {
            let found = if column.is_nan() { 0.0 } else { *column };
            prop_assert!((found - sum).abs() < 3e-3 * most, "{} {}", column, sum);
            if sum > 0.05 * most {
                prop_assert!((mean - product / sum).abs() < 0.03, "{} {}", mean, product / sum);
            }
        }
    }
}

/// Largest deviation of a raster from a function of the coordinates.
fn deviation(raster: &Raster, view: &View, expected: impl Fn(f64, f64) -> f64) -> f64 {
    let of = |(k, value): (usize, &f64)| {
        let (i, j) = (k % view.pixels[0], k / view.pixels[0]);
        (value - expected(center(view, 0, i), center(view, 1, j))).abs()
    };
    raster.values.iter().enumerate().map(of).fold(0.0, f64::max)
}

#[test]
fn a_lattice_has_its_density_and_its_column_density() {
    // about 100 neighbors
    let particles = Particles::lattice(12, 1.44);
    let bx = unit_box([Boundary::Periodic; 3]);
    for (plane, pixels) in [(Some(0.37), [50, 50]), (None, [40, 40])] {
        let sees = view(2, plane, [(0.0, 1.0); 2], pixels);
        let raster = interpolate(&particles.samples(None), Kernel::wendland_c6(), &bx, &sees).unwrap();
        let error = deviation(&raster, &sees, |_, _| 1.0);
        assert!(error < 0.03, "{plane:?}: {error}");
    }
}

#[test]
fn a_mean_of_a_linear_field_is_the_field() {
    let particles = Particles::lattice(16, 1.3);
    let bx = unit_box([Boundary::Open; 3]);
    let field = |x: f64, y: f64, z: f64| 2.0 + 3.0 * x - 5.0 * y + z;
    let [x, y, z] = &particles.position;
    let values: Vec<f64> = (0..x.len()).map(|k| field(x[k], y[k], z[k])).collect();
    // away from the faces
    let sees = view(0, Some(0.5), [(0.3, 0.7), (0.4, 0.6)], [40, 20]);
    let raster = interpolate(&particles.samples(Some(&values)), Kernel::wendland_c6(), &bx, &sees).unwrap();
    let error = deviation(&raster, &sees, |y, z| field(0.5, y, z));
    assert!(error < 0.02, "{error}");
}

#[test]
fn a_constant_is_exact_and_what_no_kernel_reaches_has_no_value() {
    let particles = Particles::random(300, 0.1, 3);
    let bx = unit_box([Boundary::Open; 3]);
    for plane in [Some(0.5), None] {
        let sees = view(1, plane, [(-1.0, 2.0), (0.0, 1.0)], [90, 30]);
        let raster =
            interpolate(&particles.samples(Some(&[2.5; 300])), Kernel::cubic_spline(), &bx, &sees).unwrap();
        assert!(raster.values.iter().all(|value| value.is_nan() || (value - 2.5).abs() < 1e-12));
        let bare = raster.values.iter().filter(|value| value.is_nan()).count();
        assert!((1..raster.values.len()).contains(&bare), "{bare}");
        assert!(raster.values[0].is_nan(), "a corner far away");
    }
}

#[test]
fn a_plummer_sphere_has_its_column_density() {
    // radii by the inverse of the mass M(r) = (1 + r^-2)^(-3/2), directions at random
    let count = 20_000;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    let mut position = [const { Vec::new() }; 3];
    let mut h = Vec::new();
    for k in 0..count {
        let mass = (k as f64 + 0.5) / count as f64;
        let radius = (mass.powf(-2.0 / 3.0) - 1.0).powf(-0.5);
        let height: f64 = random.random_range(-1.0..1.0);
        let angle = random.random_range(0.0..std::f64::consts::TAU);
        let across = (1.0 - height * height).sqrt();
        let direction = [across * angle.cos(), across * angle.sin(), height];
        (0..3).for_each(|d| position[d].push(radius * direction[d]));
        let density = count as f64 * 0.75 / std::f64::consts::PI * (1.0 + radius * radius).powf(-2.5);
        h.push(0.5 * (100.0 * 0.75 / std::f64::consts::PI / density).cbrt());
    }
    let particles = Particles { position, h, mass: vec![1.0 / f64::from(count); count as usize] };
    let bx = unit_box([Boundary::Open; 3]);
    let sees = view(2, None, [(-2.0, 2.0); 2], [20, 20]);
    let raster = interpolate(&particles.samples(None), Kernel::wendland_c6(), &bx, &sees).unwrap();
    // Plummer 1911: Sigma = M / (pi (1 + R^2)^2)
    let column = |x: f64, y: f64| std::f64::consts::FRAC_1_PI / (1.0 + x * x + y * y).powi(2);
    let ratios = Raster {
        values: raster
            .values
            .iter()
            .enumerate()
            .map(|(k, value)| value / column(center(&sees, 0, k % 20), center(&sees, 1, k / 20)))
            .collect(),
        ..raster.clone()
    };
    let error = deviation(&ratios, &sees, |_, _| 1.0);
    assert!(error < 0.35, "{error}");
    let mean = ratios.values.iter().sum::<f64>() / 400.0;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
}

#[test]
fn threads_do_not_change_a_bit_and_endless_work_is_refused() {
    let mut particles = Particles::random(500, 0.1, 9);
    let bx = unit_box([Boundary::Periodic; 3]);
    let sees = view(2, Some(0.5), [(0.0, 1.0); 2], [64, 48]);
    let on = |threads: usize, particles: &Particles| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| interpolate(&particles.samples(None), Kernel::cubic_spline(), &bx, &sees))
    };
    let bits = |raster: Raster| raster.values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(on(1, &particles).unwrap()), bits(on(3, &particles).unwrap()));
    for length in [1e5, 1e300] {
        particles.h[7] = length;
        let error = on(1, &particles).unwrap_err().to_string();
        assert!(error.contains("smoothing length is 1e") && error.contains("fewer pixels"), "{error}");
    }
}
