use super::samples::{ARRANGEMENTS, Arrangement, Sample, for_windows, meshes};
use super::*;
use crate::far::mesh::naive;
use crate::parallel::loops::tests::on;

const INSTRUCTIONS: [Instructions; 3] = [Instructions::Best, Instructions::Avx2, Instructions::Baseline];

/// Largest rounding error of an operation in this precision.
fn epsilon<S: SpreadScalar>() -> f64 {
    if S::LANES == 16 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

fn spread<S: SpreadScalar>(sample: &Sample, window: &Window, mut brick: Brick<S>) -> Brick<S> {
    // What is in the brick before does not matter.
    brick.values.fill(S::from_f64(7.0));
    let Sample { geometry, values, .. } = sample;
    Spreader::new().spread(geometry, window, sample.positions(), values, &mut brick);
    brick
}

/// The mesh that a brick is part of; zero elsewhere.
fn whole_mesh<S: SpreadScalar>(brick: &Brick<S>) -> Vec<f64> {
    let (points, origin, extent) = (brick.points(), brick.origin(), brick.extent());
    let mut mesh = vec![0.0; points.iter().product()];
    for (k, value) in brick.values.iter().enumerate() {
        let at = [k / extent[2] / extent[1], k / extent[2] % extent[1], k % extent[2]];
        let [x, y, z] = [0, 1, 2].map(|d| (origin[d] + at[d]) % points[d]);
        mesh[(x * points[1] + y) * points[2] + z] = value.to_f64();
    }
    mesh
}

/// Checks every mesh point against the naive sum. The error of a weight is some units in the last place of 1.
fn check<S: SpreadScalar>(sample: &Sample, window: &Window, mesh: &[f64], label: &str) {
    let Sample { geometry, values, .. } = sample;
    let expected = naive::spread(geometry, window, sample.positions(), values);
    let sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    let size = naive::spread(geometry, window, sample.positions(), &sizes);
    for k in 0..mesh.len() {
        let bound = 8.0 * epsilon::<S>() * (1.0 + size[k]);
        let error = (mesh[k] - expected[k]).abs();
        assert!(error <= bound, "{label}: point {k}: {} {} {error:e} {bound:e}", mesh[k], expected[k]);
    }
}

fn check_whole<S: SpreadScalar>(sample: &Sample, window: &Window, label: &str) {
    let brick = spread(sample, window, Brick::<S>::whole(sample.geometry.points));
    let mesh = whole_mesh(&brick);
    check::<S>(sample, window, &mesh, label);
    let (total, size) = sample.values.iter().fold((0.0, 0.0), |(total, size), q| (total + q, size + q.abs()));
    let error = (mesh.iter().sum::<f64>() - total).abs();
    assert!(error <= 4.0 * epsilon::<S>() * size, "{label}: total off by {error:e} of {size}");
}

#[test]
fn sums_are_those_of_the_naive_form() {
    for_windows(|window| {
        for points in meshes(window.order()) {
            for arrangement in ARRANGEMENTS {
                let sample = Sample::new(points, 1100, arrangement);
                let label = format!("order {} on {points:?}, {arrangement:?}", window.order());
                check_whole::<f32>(&sample, &window, &label);
                check_whole::<f64>(&sample, &window, &label);
            }
        }
    });
}

#[test]
fn few_particles_and_none_are_spread() {
    let window = Window::b_spline(5);
    for count in [0, 1, 2, 15, 16, 17, CHUNK - 1, CHUNK, CHUNK + 1] {
        for arrangement in [Arrangement::Random, Arrangement::Sorted] {
            let sample = Sample::new([19, 24, 40], count, arrangement);
            check_whole::<f32>(&sample, &window, &format!("{count} particles"));
            check_whole::<f64>(&sample, &window, &format!("{count} particles"));
        }
    }
}

#[test]
fn all_instruction_sets_spread() {
    for_windows(|window| {
        for arrangement in [Arrangement::Sorted, Arrangement::Outside] {
            let sample = Sample::new([30, 17, 25], 700, arrangement);
            let Sample { geometry, values, .. } = &sample;
            for instructions in INSTRUCTIONS {
                let label = format!("{instructions:?}, order {}", window.order());
                let mut single = Brick::<f32>::whole(geometry.points);
                let positions = sample.positions();
                Spreader::on(instructions).spread(geometry, &window, positions, values, &mut single);
                check::<f32>(&sample, &window, &whole_mesh(&single), &label);
                let mut double = Brick::<f64>::whole(geometry.points);
                Spreader::on(instructions).spread(geometry, &window, positions, values, &mut double);
                check::<f64>(&sample, &window, &whole_mesh(&double), &label);
            }
        }
    });
}

/// A part of the box, also across its edges, needs a part of the mesh only.
#[test]
fn particles_of_a_part_are_spread_onto_a_brick() {
    for_windows(|window| {
        for (begin, end) in [(0.0, 0.4), (0.3, 0.9), (0.8, 1.3), (0.1, 1.05)] {
            for arrangement in [Arrangement::Random, Arrangement::Sorted] {
                let points = [40, 32, 50];
                let mut sample = Sample::new(points, 900, arrangement);
                for d in 0..2 {
                    let length = points[d] as f64 / sample.geometry.scale[d];
                    let lower = sample.geometry.lower[d];
                    let squeezed = |x: &f64| lower + length * begin + (x - lower) * (end - begin);
                    sample.positions[d] = sample.positions[d].iter().map(squeezed).collect();
                }
                let label = format!("order {}, from {begin} to {end}, {arrangement:?}", window.order());
                let positions = sample.positions();
                let single = Brick::<f32>::covering(&sample.geometry, window.order(), positions);
                let [x, _, z] = single.extent();
                assert!(z == 50 && (x < 40) == (end - begin < 0.9), "{label}: {:?}", single.extent());
                check::<f32>(&sample, &window, &whole_mesh(&spread(&sample, &window, single)), &label);
                let double = Brick::<f64>::covering(&sample.geometry, window.order(), positions);
                check::<f64>(&sample, &window, &whole_mesh(&spread(&sample, &window, double)), &label);
            }
        }
    });
}

#[test]
fn bits_do_not_depend_on_threads() {
    fn check<S: SpreadScalar + std::fmt::Debug>(sample: &Sample) {
        let window = Window::b_spline(6);
        let brick = || Brick::<S>::whole(sample.geometry.points);
        let alone = on(1, || spread(sample, &window, brick()));
        for threads in [2, 4, 7] {
            assert!(on(threads, || spread(sample, &window, brick())) == alone, "{threads} threads");
        }
    }
    for arrangement in [Arrangement::Random, Arrangement::Sorted] {
        // More chunks than in a round of four threads.
        let sample = Sample::new([40, 33, 53], 40_000, arrangement);
        check::<f32>(&sample);
        check::<f64>(&sample);
    }
}

/// The buffers of a spreading do not disturb the next one.
#[test]
fn a_spreader_is_used_again() {
    let mut spreader = Spreader::<f32>::new();
    for (order, count, points) in [(8, 3000, [40, 33, 53]), (4, 500, [9, 9, 9]), (5, 1500, [20, 30, 20])] {
        let window = Window::b_spline(order);
        let sample = Sample::new(points, count, Arrangement::Random);
        let Sample { geometry, values, .. } = &sample;
        let mut brick = Brick::whole(points);
        spreader.spread(geometry, &window, sample.positions(), values, &mut brick);
        assert!(brick == spread(&sample, &window, Brick::whole(points)));
    }
}

#[test]
#[should_panic = "the brick lacks mesh points of particles"]
fn a_brick_must_have_all_points() {
    let sample = Sample::new([20, 20, 20], 100, Arrangement::Random);
    spread(&sample, &Window::b_spline(4), Brick::<f32>::new([20; 3], [3, 0, 0], [12, 20, 20]));
}

#[test]
#[should_panic = "a mesh of 5 points is smaller than a window of 6"]
fn a_mesh_must_have_as_many_points_as_the_window() {
    let sample = Sample::new([20, 20, 5], 100, Arrangement::Random);
    spread(&sample, &Window::b_spline(6), Brick::<f32>::whole([20, 20, 5]));
}
