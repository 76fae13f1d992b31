use super::*;
use crate::far::mesh::spread::samples::{
    ARRANGEMENTS, Arrangement, Sample, for_windows, mesh_values, meshes,
};
use crate::far::mesh::{Spreader, naive};
use crate::parallel::loops::tests::on;

/// Largest rounding error of an operation in this precision.
fn epsilon<S: SpreadScalar>() -> f64 {
    if S::LANES == 16 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// Fills the brick from a mesh.
fn fill<S: SpreadScalar>(mut brick: Brick<S>, mesh: &[f64]) -> Brick<S> {
    let (points, origin, extent) = (brick.points(), brick.origin(), brick.extent());
    for k in 0..brick.values.len() {
        let at = [k / extent[2] / extent[1], k / extent[2] % extent[1], k % extent[2]];
        let [x, y, z] = [0, 1, 2].map(|d| (origin[d] + at[d]) % points[d]);
        brick.values[k] = S::from_f64(mesh[(x * points[1] + y) * points[2] + z]);
    }
    brick
}

fn interpolated<S: SpreadScalar>(
    instructions: Instructions,
    sample: &Sample,
    window: &Window,
    brick: &Brick<S>,
) -> [Vec<f64>; 4] {
    let mut columns = [(); 4].map(|()| vec![f64::NAN; sample.values.len()]);
    let [a, b, c, d] = &mut columns;
    interpolate_on(instructions, &sample.geometry, window, brick, sample.positions(), [a, b, c, d]);
    columns
}

/// Checks against the naive form. Mesh values are at most 1.
fn check<S: SpreadScalar>(
    instructions: Instructions,
    sample: &Sample,
    window: &Window,
    brick: Brick<S>,
    label: &str,
) {
    let mesh = mesh_values(&sample.geometry);
    let expected = naive::interpolate(&sample.geometry, window, &mesh, sample.positions());
    let columns = interpolated(instructions, sample, window, &fill(brick, &mesh));
    let [x, y, z] = sample.geometry.scale;
    for (column, size) in [1.0, x, y, z].into_iter().enumerate() {
        for (particle, expected) in expected.iter().enumerate() {
            let (value, expected) = (columns[column][particle], expected[column]);
            let error = (value - expected).abs();
            let bound = 16.0 * epsilon::<S>() * size;
            assert!(
                error <= bound,
                "{label}: {column} of {particle}: {value} {expected} {error:e} {bound:e}"
            );
        }
    }
}

#[test]
fn values_are_those_of_the_naive_form() {
    for_windows(|window| {
        for points in meshes(window.order()) {
            for arrangement in ARRANGEMENTS {
                let sample = Sample::new(points, 1100, arrangement);
                let label = format!("order {} on {points:?}, {arrangement:?}", window.order());
                check(Instructions::Best, &sample, &window, Brick::<f32>::whole(points), &label);
                check(Instructions::Best, &sample, &window, Brick::<f64>::whole(points), &label);
            }
        }
    });
}

#[test]
fn all_instruction_sets_interpolate() {
    for_windows(|window| {
        for instructions in [Instructions::Avx2, Instructions::Baseline] {
            let points = [30, 17, 25];
            let sample = Sample::new(points, 700, Arrangement::Sorted);
            let label = format!("{instructions:?}, order {}", window.order());
            check(instructions, &sample, &window, Brick::<f32>::whole(points), &label);
            check(instructions, &sample, &window, Brick::<f64>::whole(points), &label);
        }
    });
}

#[test]
fn few_particles_and_none_are_interpolated() {
    let (window, points) = (Window::b_spline(5), [19, 24, 40]);
    for count in [0, 1, 2, 15, 16, 17, CHUNK - 1, CHUNK, CHUNK + 1] {
        let sample = Sample::new(points, count, Arrangement::Random);
        let label = format!("{count} particles");
        check(Instructions::Best, &sample, &window, Brick::<f32>::whole(points), &label);
        check(Instructions::Best, &sample, &window, Brick::<f64>::whole(points), &label);
    }
}

#[test]
fn bricks_are_enough_for_their_particles() {
    for_windows(|window| {
        for shift in [0.0, 0.5, 0.9] {
            let mut sample = Sample::new([40, 32, 50], 900, Arrangement::Sorted);
            for d in 0..3 {
                let lower = sample.geometry.lower[d];
                let length = sample.geometry.points[d] as f64 / sample.geometry.scale[d];
                let squeezed = |x: &f64| lower + length * shift + 0.6 * (x - lower);
                sample.positions[d] = sample.positions[d].iter().map(squeezed).collect();
            }
            let label = format!("order {}, from {shift}", window.order());
            let (order, positions) = (window.order(), sample.positions());
            let single = Brick::<f32>::covering(&sample.geometry, order, positions);
            assert!(single.extent()[2] < 50, "{label}");
            check(Instructions::Best, &sample, &window, single, &label);
            let double = Brick::<f64>::covering(&sample.geometry, order, positions);
            check(Instructions::Best, &sample, &window, double, &label);
        }
    });
}

/// The sum of mesh times spread values is the sum of values times interpolated mesh.
#[test]
fn interpolation_is_the_adjoint_of_spreading() {
    fn check<S: SpreadScalar>(sample: &Sample, window: &Window) {
        let Sample { geometry, values, .. } = sample;
        let mesh = fill(Brick::<S>::whole(geometry.points), &mesh_values(geometry));
        let mut brick = Brick::<S>::whole(geometry.points);
        Spreader::new().spread(geometry, window, sample.positions(), values, &mut brick);
        let potential = &interpolated(Instructions::Best, sample, window, &mesh)[0];
        let product = |(a, b): (&S, &S)| a.to_f64() * b.to_f64();
        let on_mesh: f64 = mesh.values.iter().zip(&brick.values).map(product).sum();
        let of_particles: f64 = potential.iter().zip(values).map(|(a, b)| a * b).sum();
        let size: f64 = values.iter().map(|value| value.abs()).sum();
        let error = (on_mesh - of_particles).abs();
        assert!(error < epsilon::<S>() * size, "order {}: {error:e} of {size}", window.order());
    }
    for_windows(|window| {
        for arrangement in ARRANGEMENTS {
            let sample = Sample::new([17, 12, 20], 1500, arrangement);
            check::<f32>(&sample, &window);
            check::<f64>(&sample, &window);
        }
    });
}

#[test]
fn the_gradient_is_the_finite_difference_of_the_potential() {
    for_windows(|window| {
        let sample = Sample::new([12, 9, 20], 300, Arrangement::Random);
        let brick = fill(Brick::<f64>::whole(sample.geometry.points), &mesh_values(&sample.geometry));
        let gradient = interpolated(Instructions::Best, &sample, &window, &brick);
        for d in 0..3 {
            let scale = sample.geometry.scale[d];
            let step = 1e-4 / scale;
            let moved = |steps: f64| {
                let mut moved = Sample {
                    values: sample.values.clone(),
                    ..Sample::new([12, 9, 20], 300, Arrangement::Random)
                };
                moved.positions[d].iter_mut().for_each(|x| *x += steps * step);
                let [potential, ..] = interpolated(Instructions::Best, &moved, &window, &brick);
                potential
            };
            let [far_left, left, right, far_right] = [-2.0, -1.0, 1.0, 2.0].map(moved);
            for particle in 0..sample.values.len() {
                let near = right[particle] - left[particle];
                let far = far_right[particle] - far_left[particle];
                let difference = (8.0 * near - far) / (12.0 * step);
                let error = (difference - gradient[d + 1][particle]).abs();
                assert!(error < 1e-10 * scale, "order {} in {d}: {error:e}", window.order());
            }
        }
    });
}

#[test]
fn bits_do_not_depend_on_threads() {
    let window = Window::b_spline(5);
    for arrangement in [Arrangement::Random, Arrangement::Sorted] {
        let sample = Sample::new([40, 33, 53], 20_000, arrangement);
        let brick = fill(Brick::<f32>::whole(sample.geometry.points), &mesh_values(&sample.geometry));
        let of = |threads| on(threads, || interpolated(Instructions::Best, &sample, &window, &brick));
        let alone = of(1);
        assert!(alone.iter().flatten().all(|value| value.is_finite()));
        assert!([2, 4, 7].iter().all(|&threads| of(threads) == alone));
    }
}
