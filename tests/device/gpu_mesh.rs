//! Spreading onto a mesh and interpolation from it, on a device, against naive sums in double precision.

use hilbrium::Result;
use hilbrium::device::mesh::{DeviceSpreader, InterpolationTarget, MeshParticles, Method, Variant, Weights};
use hilbrium::device::{Buffer, Device};
use hilbrium::far::mesh::window::{MOST_ORDER, ORDERS};
use hilbrium::far::mesh::{MeshGeometry, Window};
use hilbrium::pair::Precision;
use hilbrium::space::hilbert;
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use rand::RngExt as _;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::ops::Range;

const BOTH: [Precision; 2] = [Precision::Mixed, Precision::Double];

/// Where the particles are.
#[derive(Clone, Copy, Debug)]
enum Distribution {
    Uniform,
    /// In one cell of the mesh.
    Clustered,
    /// On mesh points.
    OnPoints,
    /// On the faces, edges and corners of the box.
    OnEdge,
    /// Up to three periods outside of the box.
    Outside,
}

const DISTRIBUTIONS: [Distribution; 5] = [
    Distribution::Uniform,
    Distribution::Clustered,
    Distribution::OnPoints,
    Distribution::OnEdge,
    Distribution::Outside,
];

fn the_box() -> SimulationBox {
    SimulationBox {
        lower: Vec3d::new(-1.0, 0.5, 2.0),
        upper: Vec3d::new(2.0, 4.5, 4.5),
        boundary: [Boundary::Periodic; 3],
    }
}

/// Particles on the host.
struct Particles {
    position: [Vec<f64>; 3],
    values: Vec<f64>,
}

impl Particles {
    /// `count` particles, along the Hilbert curve as in a step.
    fn new(distribution: Distribution, geometry: &MeshGeometry, count: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let bx = the_box();
        let mut places: Vec<[f64; 3]> = (0..count)
            .map(|_| {
                [0, 1, 2].map(|d| {
                    let (lower, length) = (bx.lower[d], bx.upper[d] - bx.lower[d]);
                    let uniform: f64 = random.random();
                    lower
                        + length
                            * match distribution {
                                Distribution::Uniform => uniform,
                                Distribution::Clustered => (uniform + 2.0) / geometry.points[d] as f64,
                                Distribution::OnPoints => {
                                    (uniform * geometry.points[d] as f64).floor() / geometry.points[d] as f64
                                }
                                Distribution::OnEdge => [0.0, 1.0, uniform][random.random_range(0..3)],
                                Distribution::Outside => 6.0 * uniform - 3.0,
                            }
                })
            })
            .collect();
        let columns = [0, 1, 2].map(|d| places.iter().map(|place| place[d]).collect::<Vec<f64>>());
        let mut keys = vec![0; count];
        hilbert::keys(&bx, [&columns[0], &columns[1], &columns[2]], &mut keys);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&row| keys[row]);
        places = order.iter().map(|&row| places[row]).collect();
        let position = [0, 1, 2].map(|d| places.iter().map(|place| place[d]).collect());
        // some are 0
        let values = (0..count).map(|row| if row % 17 == 3 { 0.0 } else { random.random_range(-1.0..1.0) });
        Particles { position, values: values.collect() }
    }

    /// Calls `add` with each point of a row's footprint: index, weight and gradient of the weight.
    fn footprint(
        &self,
        row: usize,
        geometry: &MeshGeometry,
        window: &Window,
        mut add: impl FnMut(usize, f64, [f64; 3]),
    ) {
        let order = window.order();
        let mut cells = [0; 3];
        let mut weights = [([0.0; MOST_ORDER], [0.0; MOST_ORDER]); 3];
        for d in 0..3 {
            let (cell, fraction) = geometry.locate(d, self.position[d][row]);
            (cells[d], weights[d]) = (cell, window.weights(fraction));
        }
        let point = |d: usize, k: usize| (cells[d] + k + geometry.points[d] + 1 - order) % geometry.points[d];
        for (i, j, k) in
            (0..order).flat_map(|i| (0..order).flat_map(move |j| (0..order).map(move |k| (i, j, k))))
        {
            let index = (point(0, i) * geometry.points[1] + point(1, j)) * geometry.points[2] + point(2, k);
            let [(x, slope_x), (y, slope_y), (z, slope_z)] = &weights;
            let gradient = [slope_x[i] * y[j] * z[k], x[i] * slope_y[j] * z[k], x[i] * y[j] * slope_z[k]];
            add(index, x[i] * y[j] * z[k], [0, 1, 2].map(|d| gradient[d] * geometry.scale[d]));
        }
    }

    /// The mesh, and the sum of the terms' magnitudes at each point.
    fn spread(&self, rows: Range<usize>, geometry: &MeshGeometry, window: &Window) -> (Vec<f64>, Vec<f64>) {
        let (mut sums, mut magnitudes) = (vec![0.0; geometry.len()], vec![0.0; geometry.len()]);
        for row in rows {
            self.footprint(row, geometry, window, |index, weight, _| {
                sums[index] += self.values[row] * weight;
                magnitudes[index] += (self.values[row] * weight).abs();
            });
        }
        (sums, magnitudes)
    }
}

/// Particles on a device.
struct Uploaded {
    position: [Buffer<f64>; 3],
    values: Buffer<f64>,
}

impl Uploaded {
    fn new(device: &Device, particles: &Particles) -> Result<Self> {
        let [x, y, z] = &particles.position;
        let on = |column: &Vec<f64>| Buffer::from_host(device, column);
        Ok(Self { position: [on(x)?, on(y)?, on(z)?], values: on(&particles.values)? })
    }

    fn rows(&self, rows: Range<usize>) -> MeshParticles<'_> {
        MeshParticles { position: self.position.each_ref(), rows }
    }
}

/// Numbers of a mesh's precision as doubles.
fn numbers(bytes: &Buffer<u8>, precision: Precision) -> Result<Vec<f64>> {
    let bytes = bytes.download()?;
    Ok(match precision {
        Precision::Double => bytes.as_chunks().0.iter().map(|&word| f64::from_le_bytes(word)).collect(),
        Precision::Mixed => bytes.as_chunks().0.iter().map(|&word| f32::from_le_bytes(word).into()).collect(),
    })
}

fn bytes_of(values: &[f64], precision: Precision) -> Vec<u8> {
    match precision {
        Precision::Double => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        _ => values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect(),
    }
}

/// Rounding error of a weight, and of its slope, relative to the largest weight: polynomials of alternating
/// terms.
fn rounding(precision: Precision) -> f64 {
    if precision == Precision::Double { 1e-14 } else { 4e-6 }
}

/// Meshes of tests: whole tiles, parts of tiles, a single point in the last tile, and fewer points than a
/// tile.
const SHAPES: [[usize; 3]; 4] = [[16, 8, 24], [9, 12, 17], [17, 9, 8], [8, 33, 10]];

/// A method, and the variant of its kernels if it is not the usual one.
type Choice = (Method, Option<Variant>);

/// Spreads twice, the second time with other values, and compares with the naive sum.
fn compare(
    device: &Device,
    (method, variant): Choice,
    precision: Precision,
    window: &Window,
    geometry: &MeshGeometry,
    particles: &Particles,
    rows: Range<usize>,
) -> Result<()> {
    let what = format!(
        "{method:?} {variant:?} {precision:?} order {} {:?} {} particles",
        window.order(),
        geometry.points,
        particles.values.len()
    );
    let uploaded = Uploaded::new(device, particles)?;
    let mut spreader = DeviceSpreader::new(device, geometry, window, precision, method)?;
    if let Some(variant) = variant {
        spreader = spreader.with_variant(variant);
    }
    let mut mesh = Buffer::new(device, spreader.mesh_bytes())?;
    let on_device = uploaded.rows(rows.clone());
    spreader.construct(&on_device)?;
    let (expected, magnitudes) = particles.spread(rows.clone(), geometry, window);
    let twice: Vec<f64> = particles.values.iter().map(|value| 2.0 * value).collect();
    let twice = Buffer::from_host(device, &twice)?;
    for (values, factor) in [(&uploaded.values, 1.0), (&twice, 2.0)] {
        mesh.fill_bytes(0xff)?;
        spreader.spread(&on_device, values, &mut mesh)?;
        let found = numbers(&mesh, precision)?;
        let charge: f64 = particles.values[rows.clone()].iter().sum();
        let total: f64 = magnitudes.iter().sum();
        // a term's error is relative to the largest weight, not to its own
        let largest: f64 = particles.values.iter().fold(0.0, |largest, value| f64::max(largest, value.abs()));
        for (index, found) in found.iter().enumerate() {
            let error = (found - factor * expected[index]).abs();
            let bound = factor * rounding(precision) * (magnitudes[index] + 0.1 * largest);
            let expected = factor * expected[index];
            assert!(error <= bound, "{what}: {found} at {index}, not {expected}: {error:e} > {bound:e}");
        }
        let error = (found.iter().sum::<f64>() - factor * charge).abs();
        assert!(error <= factor * rounding(precision) * (total + 1.0), "{what}: total charge off by {error}");
    }
    Ok(())
}

fn geometry(points: [usize; 3]) -> MeshGeometry {
    MeshGeometry::new(points, &the_box())
}

/// Orders and precisions of tests in the emulation, which compiles kernels for seconds each.
const COMBINATIONS: [(usize, Precision); 5] = [
    (6, Precision::Mixed),
    (5, Precision::Double),
    (4, Precision::Mixed),
    (8, Precision::Double),
    (7, Precision::Mixed),
];

fn on_a_device() -> bool {
    std::env::var("HILBRIUM_DEVICE_UNDER_TEST").is_ok_and(|device| device == "cuda")
}

/// In the emulation some combinations of distribution, shape, order and precision; on a device all of them,
/// with more particles.
fn every_distribution(choice: Choice, combinations: usize) -> Result<()> {
    let device = Device::under_test()?;
    let run = |distribution, points, order, precision, count| {
        let geometry = geometry(points);
        let particles = Particles::new(distribution, &geometry, count, 7);
        compare(&device, choice, precision, &Window::b_spline(order), &geometry, &particles, 0..count)
    };
    if on_a_device() {
        for (distribution, points) in DISTRIBUTIONS.into_iter().flat_map(|d| SHAPES.map(|s| (d, s))) {
            for (order, precision) in ORDERS.flat_map(|order| BOTH.map(|precision| (order, precision))) {
                run(distribution, points, order, precision, 500)?;
            }
            run(distribution, [70, 64, 61], 6, Precision::Mixed, 100_000)?;
        }
        return Ok(());
    }
    for (k, distribution) in DISTRIBUTIONS.into_iter().enumerate() {
        let (order, precision) = COMBINATIONS[k % combinations];
        run(distribution, SHAPES[k % SHAPES.len()], order, precision, 400)?;
    }
    Ok(())
}

/// Ghosts and halos are outside of the range of rows; no particles give a mesh of zeros.
fn ranges_of_rows(choice: Choice) -> Result<()> {
    let device = Device::under_test()?;
    let window = Window::b_spline(6);
    let geometry = geometry([9, 12, 17]);
    let particles = Particles::new(Distribution::Uniform, &geometry, 300, 3);
    for rows in [0..0, 17..17, 40..203] {
        compare(&device, choice, Precision::Mixed, &window, &geometry, &particles, rows)?;
    }
    Ok(())
}

macro_rules! methods {
    ($($name:ident: $choice:expr, $combinations:expr;)*) => {
        $(
            mod $name {
                use super::*;

                #[test]
                fn spreads_every_distribution() -> Result<()> {
                    every_distribution($choice, $combinations)
                }

                #[test]
                fn spreads_ranges_of_rows() -> Result<()> {
                    ranges_of_rows($choice)
                }
            }
        )*
    };
}

methods! {
    particles: (Method::Particles, None), 2;
    tiles: (Method::Tiles, None), 5;
    ordered_tiles: (Method::OrderedTiles, None), 1;
    padded_tiles: (Method::PaddedTiles, None), 5;
    gather: (Method::Gather, None), 2;
    single_mesh: (Method::SingleMesh(Weights::Stored), None), 2;
    single_mesh_without_weights: (Method::SingleMesh(Weights::Recomputed), None), 1;
    group_mesh: (Method::GroupMesh(Weights::Stored), None), 2;
    group_mesh_without_weights: (Method::GroupMesh(Weights::Recomputed), None), 1;
    hybrid_mesh: (Method::HybridMesh(Weights::Stored), None), 2;
    hybrid_mesh_without_weights: (Method::HybridMesh(Weights::Recomputed), None), 1;
    single_mesh_through_shared_memory:
        (Method::SingleMesh(Weights::Stored), Some(Variant::SharedMemory)), 2;
    group_mesh_by_shuffles: (Method::GroupMesh(Weights::Stored), Some(Variant::Shuffles)), 2;
    hybrid_mesh_through_shared_memory:
        (Method::HybridMesh(Weights::Stored), Some(Variant::SharedMemory)), 2;
}

/// Variants that are usual for a method are the method.
#[test]
fn usual_variants_change_nothing() -> Result<()> {
    let device = Device::under_test()?;
    let (window, geometry) = (Window::b_spline(4), geometry([9, 12, 17]));
    let particles = Particles::new(Distribution::Uniform, &geometry, 300, 8);
    for (method, variant) in [
        (Method::SingleMesh(Weights::Stored), Variant::Shuffles),
        (Method::GroupMesh(Weights::Stored), Variant::SharedMemory),
        (Method::HybridMesh(Weights::Stored), Variant::Shuffles),
    ] {
        let choice = (method, Some(variant));
        compare(&device, choice, Precision::Mixed, &window, &geometry, &particles, 0..300)?;
    }
    Ok(())
}

/// Without atomic operations a single particle has the right sums: its mesh points differ. Sums of several
/// are wrong by design and not compared.
#[test]
fn particles_that_are_not_atomic_spread_alone() -> Result<()> {
    let device = Device::under_test()?;
    let window = Window::b_spline(6);
    let choice = (Method::Particles, Some(Variant::NotAtomic));
    for (points, distribution) in SHAPES.into_iter().zip(DISTRIBUTIONS) {
        let geometry = geometry(points);
        let particles = Particles::new(distribution, &geometry, 1, 12);
        compare(&device, choice, Precision::Mixed, &window, &geometry, &particles, 0..1)?;
    }
    Ok(())
}

/// Tiles with thousands of candidates are split into slices; a second configuration follows the first.
#[test]
fn crowded_tiles_are_split() -> Result<()> {
    let device = Device::under_test()?;
    let (window, geometry) = (Window::b_spline(5), geometry([16, 8, 24]));
    let mut spreader =
        DeviceSpreader::new(&device, &geometry, &window, Precision::Double, Method::OrderedTiles)?;
    let mut mesh = Buffer::new(&device, spreader.mesh_bytes())?;
    for (distribution, count) in [(Distribution::Clustered, 4000), (Distribution::Uniform, 1500)] {
        let particles = Particles::new(distribution, &geometry, count, 11);
        let uploaded = Uploaded::new(&device, &particles)?;
        let rows = uploaded.rows(0..count);
        spreader.construct(&rows)?;
        let (expected, magnitudes) = particles.spread(0..count, &geometry, &window);
        let mut first = Vec::new();
        for _ in 0..2 {
            spreader.spread(&rows, &uploaded.values, &mut mesh)?;
            let found = numbers(&mesh, Precision::Double)?;
            for (index, found) in found.iter().enumerate() {
                let bound = 1e-13 * (magnitudes[index] + 1.0);
                let error = (found - expected[index]).abs();
                assert!(error <= bound, "{found} at {index}: {error:e} > {bound:e}");
            }
            assert!(first.is_empty() || first == found, "the second spreading has other bits");
            first = found;
        }
    }
    Ok(())
}

/// Bits of ordered tiles do not depend on when blocks run: another construction gives the same mesh.
#[test]
fn ordered_tiles_are_reproducible() -> Result<()> {
    let device = Device::under_test()?;
    let (window, geometry) = (Window::b_spline(4), geometry([17, 9, 8]));
    let particles = Particles::new(Distribution::Uniform, &geometry, 2000, 5);
    let uploaded = Uploaded::new(&device, &particles)?;
    let rows = uploaded.rows(0..2000);
    let mut meshes = Vec::new();
    for _ in 0..2 {
        let mut spreader =
            DeviceSpreader::new(&device, &geometry, &window, Precision::Mixed, Method::OrderedTiles)?;
        let mut mesh = Buffer::new(&device, spreader.mesh_bytes())?;
        spreader.construct(&rows)?;
        spreader.spread(&rows, &uploaded.values, &mut mesh)?;
        meshes.push(mesh.download()?);
    }
    assert!(meshes[0] == meshes[1]);
    Ok(())
}

/// Interpolates to all particles: forces and potential, added to columns that start with 1.
fn interpolated(
    spreader: &DeviceSpreader,
    device: &Device,
    rows: &MeshParticles,
    values: &Buffer<f64>,
    mesh: &Buffer<u8>,
    wanted: [bool; 2],
    through_tiles: bool,
) -> Result<([Vec<f64>; 3], Vec<f64>)> {
    let ones = || Buffer::from_host(device, &vec![1.0; values.len()]);
    let (force, potential) = ([ones()?, ones()?, ones()?], ones()?);
    let target = InterpolationTarget {
        weights: Some(values),
        force: wanted[0].then_some(force.each_ref()),
        force_factor: 3.0,
        potential: wanted[1].then_some(&potential),
        potential_factor: 0.5,
    };
    match through_tiles {
        true => spreader.interpolate_through_tiles(rows, mesh, &target)?,
        false => spreader.interpolate(rows, mesh, &target)?,
    }
    let [x, y, z] = force.each_ref().map(|column| column.download());
    Ok(([x?, y?, z?], potential.download()?))
}

#[test]
fn forces_and_potentials_are_interpolated() -> Result<()> {
    let device = Device::under_test()?;
    let count = 400;
    // with bins there are two kernels: through tiles, and, for the last of these, by rows
    for (k, (method, points)) in [
        (Method::Particles, [9, 12, 17]),
        (Method::Tiles, [9, 12, 17]),
        (Method::Tiles, [17, 9, 8]),
        (Method::OrderedTiles, [8, 33, 10]),
        (Method::Tiles, [40, 40, 40]),
    ]
    .into_iter()
    .enumerate()
    {
        for (m, &(order, precision)) in [COMBINATIONS[k % 2], COMBINATIONS[4 - k]].iter().enumerate() {
            let window = Window::b_spline(order);
            let geometry = geometry(points);
            let particles = Particles::new(DISTRIBUTIONS[(k + m) % 5], &geometry, count, k as u64);
            let uploaded = Uploaded::new(&device, &particles)?;
            let mut random = ChaCha8Rng::seed_from_u64(9);
            let mesh: Vec<f64> = (0..geometry.len()).map(|_| random.random_range(-1.0..1.0)).collect();
            let on_device = Buffer::from_host(&device, &bytes_of(&mesh, precision))?;
            let mut spreader = DeviceSpreader::new(&device, &geometry, &window, precision, method)?;
            let (first, end) = (30, 390);
            let rows = uploaded.rows(first..end);
            spreader.construct(&rows)?;
            // each choice is a unit of its own
            let choices = [[true, true], [true, false], [false, true]];
            for &wanted in if on_a_device() || k == 0 { &choices[..] } else { &choices[..1] } {
                let (force, potential) =
                    interpolated(&spreader, &device, &rows, &uploaded.values, &on_device, wanted, k != 4)?;
                for row in 0..count {
                    let (mut at, mut gradient) = (0.0, [0.0; 3]);
                    if (first..end).contains(&row) {
                        particles.footprint(row, &geometry, &window, |index, weight, of_weight| {
                            at += mesh[index] * weight;
                            (0..3).for_each(|d| gradient[d] += mesh[index] * of_weight[d]);
                        });
                    }
                    let value = particles.values[row];
                    let what = format!("{method:?} {precision:?} {points:?} {wanted:?}, row {row}");
                    let expected = 1.0 + if wanted[1] { 0.5 * value * at } else { 0.0 };
                    assert!((potential[row] - expected).abs() < rounding(precision), "potential, {what}");
                    for d in 0..3 {
                        let expected = 1.0 - if wanted[0] { 3.0 * value * gradient[d] } else { 0.0 };
                        let error = (force[d][row] - expected).abs();
                        assert!(error < 10.0 * rounding(precision) * geometry.scale[d], "{error} {what}");
                    }
                }
            }
        }
    }
    Ok(())
}

/// The sum over the mesh of spread values times a field is the sum over particles of values times the
/// interpolated field.
#[test]
fn interpolation_is_the_adjoint_of_spreading() -> Result<()> {
    let device = Device::under_test()?;
    let geometry = geometry([12, 9, 20]);
    for order in [5, 6, 8] {
        let window = Window::b_spline(order);
        let particles = Particles::new(Distribution::Outside, &geometry, 300, 2);
        let uploaded = Uploaded::new(&device, &particles)?;
        let rows = uploaded.rows(0..300);
        let mut spreader =
            DeviceSpreader::new(&device, &geometry, &window, Precision::Double, Method::Tiles)?;
        spreader.construct(&rows)?;
        let mut mesh = Buffer::new(&device, spreader.mesh_bytes())?;
        spreader.spread(&rows, &uploaded.values, &mut mesh)?;
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let field: Vec<f64> = (0..geometry.len()).map(|_| random.random_range(-1.0..1.0)).collect();
        let on_mesh: f64 =
            numbers(&mesh, Precision::Double)?.iter().zip(&field).map(|(spread, field)| spread * field).sum();
        let field = Buffer::from_host(&device, &bytes_of(&field, Precision::Double))?;
        let (_, potential) =
            interpolated(&spreader, &device, &rows, &uploaded.values, &field, [false, true], true)?;
        let on_particles: f64 = potential.iter().map(|value| (value - 1.0) / 0.5).sum();
        assert!((on_mesh - on_particles).abs() < 1e-12, "{on_mesh} {on_particles}");
    }
    Ok(())
}

/// Of particles in one cell one is placed; each point holds one at most.
#[test]
fn gathering_overflows() -> Result<()> {
    let device = Device::under_test()?;
    let (window, geometry) = (Window::b_spline(6), geometry([9, 12, 17]));
    let mut spreader = DeviceSpreader::new(&device, &geometry, &window, Precision::Mixed, Method::Gather)?;
    for distribution in [Distribution::Clustered, Distribution::Uniform] {
        let particles = Particles::new(distribution, &geometry, 250, 6);
        let uploaded = Uploaded::new(&device, &particles)?;
        spreader.construct(&uploaded.rows(0..250))?;
        let cells: BTreeSet<[usize; 3]> =
            (0..250).map(|row| [0, 1, 2].map(|d| geometry.locate(d, particles.position[d][row]).0)).collect();
        assert_eq!(spreader.overflowing()?, 250 - cells.len(), "{distribution:?}");
    }
    Ok(())
}

#[test]
fn meshes_that_do_not_suit_are_refused() -> Result<()> {
    let device = Device::under_test()?;
    let window = Window::b_spline(6);
    for points in [[5, 16, 16], [16, 16, 1025], [1024, 1024, 1024]] {
        let new =
            DeviceSpreader::new(&device, &geometry(points), &window, Precision::Mixed, Method::Particles);
        let error = new.unwrap_err().to_string();
        assert!(error.contains("does not suit"), "{error}");
    }
    Ok(())
}
