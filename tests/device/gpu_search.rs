//! Neighbor searches on a device against the O(N^2) truth: every method, all kinds of cutoff, all
//! distributions, open and periodic boxes, both precisions, halos, ghosts, inactive rows, dense cells. Rows
//! are in no order. Runs on the emulation, and on a GPU with HILBRIUM_DEVICE_UNDER_TEST=cuda.

use hilbrium::device::search::{Method, Space};
use hilbrium::device::sweep::{Pass, SweepMemory};
use hilbrium::device::{Buffer, Device};
use hilbrium::laws::*;
use hilbrium::neighbors::SUPER_CLUSTER;
use hilbrium::pair::{Energies, Forces, Kernel, PairLaw, Precision, naive};
use hilbrium::particles::{Field, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How particles lie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Places {
    Uniform,
    Lattice,
    Plummer,
    /// All in one point.
    OnePoint,
    /// A lattice that is much smaller than the cutoff.
    NearlyOnePoint,
    Collinear,
}

const ALL: [Places; 5] =
    [Places::Uniform, Places::Lattice, Places::Plummer, Places::NearlyOnePoint, Places::Collinear];

impl Places {
    /// Smallest distance of two particles, for a unit density in the box.
    fn nearest(self) -> f64 {
        match self {
            Places::Uniform => 0.5,
            Places::Lattice => 1.0,
            Places::Plummer => 0.08,
            Places::OnePoint => 0.0,
            Places::NearlyOnePoint => 0.02,
            Places::Collinear => 0.02,
        }
    }

    fn points(self, bx: &SimulationBox, count: usize, random: &mut ChaCha8Rng) -> Vec<Vec3d> {
        let (lengths, center) = (bx.lengths(), bx.center());
        let side = (count as f64).cbrt().ceil() as usize;
        let site =
            |k: usize| Vec3d::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
        let mut points: Vec<Vec3d> = Vec::new();
        while points.len() < count {
            let k = points.len();
            let point = match self {
                Places::Uniform => bx.lower + lengths.map(|length| length * random.random::<f64>()),
                Places::Lattice => bx.lower + site(k) + Vec3d::repeat(0.3),
                Places::OnePoint => center,
                Places::NearlyOnePoint => center + (site(k) - Vec3d::repeat(0.5 * side as f64)) * 0.02,
                Places::Collinear => bx.lower + lengths * ((k as f64 + 0.5) / count as f64),
                Places::Plummer => {
                    let r = 0.6 / (random.random_range(0.05f64..1.0).powf(-2.0 / 3.0) - 1.0).sqrt();
                    let z: f64 = random.random_range(-1.0..1.0);
                    let (phi, flat) = (random.random_range(0.0..std::f64::consts::TAU), (1.0 - z * z).sqrt());
                    center
                        + Vec3d::new(flat * f64::cos(phi), flat * f64::sin(phi), z)
                            * r.min(0.45 * lengths.min())
                }
            };
            let near = |other: &Vec3d| bx.shortest(point - other).norm() < self.nearest();
            let random_places = matches!(self, Places::Uniform | Places::Plummer);
            if !(random_places && points.iter().any(near)) {
                points.push(point);
            }
        }
        points.shuffle(random);
        points
    }
}

#[derive(Clone, Copy, Debug)]
struct Kind {
    places: Places,
    count: usize,
    boundary: [Boundary; 3],
    /// Radii from the first to the second number.
    radii: [f64; 2],
    /// Rows before and behind the owned ones; every eleventh owned one is a ghost if there are any.
    halos: [usize; 2],
}

const OPEN: [Boundary; 3] = [Boundary::Open; 3];
const PERIODIC: [Boundary; 3] = [Boundary::Periodic; 3];

/// Half of the rows are halos where space is open, and some are ghosts.
fn kind(places: Places, boundary: [Boundary; 3], radii: [f64; 2]) -> Kind {
    let halos = if boundary == OPEN { [70, 90] } else { [0; 2] };
    Kind { places, count: 600, boundary, radii, halos }
}

struct Scene {
    bx: SimulationBox,
    particles: Particles,
    radius: Vec<f64>,
}

impl Scene {
    fn new(kind: Kind, fields: &[Field], seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let edge = (kind.count as f64).cbrt().ceil();
        let (lower, upper) = (Vec3d::repeat(-0.3 * edge), Vec3d::repeat(0.7 * edge));
        let bx = SimulationBox { lower, upper, boundary: kind.boundary };
        let mut particles = Particles::new(fields, kind.count);
        let owned = kind.halos[0]..kind.count - kind.halos[1];
        let mut radius = vec![0.0; kind.count];
        for (row, place) in kind.places.points(&bx, kind.count, &mut random).into_iter().enumerate() {
            particles.set_vector(Field::Position, row, place);
            radius[row] = random.random_range(kind.radii[0]..=kind.radii[1]);
            if kind.halos[0] > 0 && owned.contains(&row) && row % 11 == 3 {
                particles.id[row] = u64::MAX;
                particles.set_vector(Field::Position, row, Vec3d::repeat(f64::INFINITY));
                radius[row] = 0.0;
            }
        }
        for &field in fields.iter().filter(|&&field| field != Field::Position) {
            for c in 0..field.components() {
                for (row, value) in particles.component_mut(field, c).iter_mut().enumerate() {
                    *value = match field {
                        Field::SmoothingLength => 0.5 * radius[row].max(0.1),
                        Field::Velocity | Field::Charge => random.random_range(-1.0..1.0),
                        _ => random.random_range(0.5..1.5),
                    };
                }
            }
        }
        particles.set_owned(owned);
        Scene { bx, particles, radius }
    }
}

/// A method for a law.
#[derive(Clone, Copy, Debug)]
struct Trial {
    method: Method,
    precision: Precision,
    width: Option<f64>,
    /// Every such row is active; all for 0.
    stride: usize,
}

const BEFORE: f64 = -7.5;

fn components(fields: &[Field]) -> Vec<(Field, usize)> {
    fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))).collect()
}

impl Trial {
    fn new(method: Method, precision: Precision) -> Self {
        Self { method, precision, width: None, stride: 0 }
    }

    /// The output columns of a law.
    fn run<L: PairLaw>(&self, device: &Device, law: L, scene: &Scene) -> Vec<Vec<f64>> {
        let rows = scene.particles.len();
        let on = |column: &[f64]| Buffer::from_host(device, column).unwrap();
        let columns = |fields: &[Field]| -> Vec<Buffer<f64>> {
            components(fields).into_iter().map(|(field, c)| on(scene.particles.component(field, c))).collect()
        };
        let (position, inputs) = (columns(&[Field::Position]), columns(L::INPUTS));
        let outputs: Vec<Buffer<f64>> =
            components(L::OUTPUTS).iter().map(|_| on(&vec![BEFORE; rows])).collect();
        let id = Buffer::from_host(device, &scene.particles.id).unwrap();
        let radius = on(&scene.radius);
        let active: Vec<u8> =
            (0..rows.next_multiple_of(SUPER_CLUSTER)).map(|row| u8::from(self.active(row))).collect();
        let active = Buffer::from_host(device, &active).unwrap();
        let pass = Pass {
            rows,
            owned: &scene.particles.owned(),
            position: [&position[0], &position[1], &position[2]],
            id: Some(&id),
            radius: Some(&radius),
            cutoff: scene.radius.iter().copied().fold(0.0, f64::max),
            bx: &scene.bx,
            active: (self.stride > 0).then_some(&active),
        };
        let space = Space::measure(device, &pass, L::CUTOFF).unwrap();
        let mut memory = SweepMemory::new(device).unwrap();
        let mut search = self.method.of(device, law, self.precision, self.width).unwrap();
        let (inputs, written): (Vec<_>, Vec<_>) = (inputs.iter().collect(), outputs.iter().collect());
        search.run(&mut memory, &pass, &space, &inputs, &written).unwrap();
        device.synchronize().unwrap();
        outputs.iter().map(|output| output.download().unwrap()).collect()
    }

    fn active(&self, row: usize) -> bool {
        self.stride == 0 || row.is_multiple_of(self.stride)
    }

    /// The largest error of an output over its column's root mean square.
    fn error<L: PairLaw>(&self, device: &Device, law: L, kind: Kind, seed: u64) -> f64 {
        let mut scene = Scene::new(kind, &[&[Field::Position], L::INPUTS].concat(), seed);
        let found = self.run(device, law, &scene);
        scene.particles.add(L::OUTPUTS);
        naive(&law, &scene.bx, &scene.radius, &mut scene.particles);
        let (mut worst, mut largest): (f64, f64) = (0.0, 0.0);
        for ((field, c), found) in components(L::OUTPUTS).into_iter().zip(&found) {
            let expected = scene.particles.component(field, c);
            let rows = || scene.particles.owned().filter(|&row| !scene.particles.ghost(row));
            let square: f64 = rows().map(|row| expected[row] * expected[row]).sum();
            let mean = (square / rows().count() as f64).sqrt();
            largest = largest.max(mean);
            // grad-h of particles in one point, 1 - 1
            let scale = if mean > CANCELED { mean } else { 1.0 };
            for row in rows() {
                let wanted = if self.active(row) { expected[row] } else { BEFORE };
                let error = (found[row] - wanted).abs() / scale;
                assert!(
                    error.is_finite(),
                    "{} of row {row}: {}, {self:?}, {kind:?}",
                    field.name(),
                    found[row]
                );
                worst = worst.max(error);
            }
        }
        assert!(largest > CANCELED, "all outputs are zeros: the test is blind");
        worst
    }

    fn assert<L: PairLaw>(&self, device: &Device, law: L, kind: Kind, seed: u64) {
        let error = self.error(device, law, kind, seed);
        let most = if self.precision == Precision::Double { DOUBLE } else { SINGLE };
        assert!(error < most, "{error:e} of {}: {self:?}, {kind:?}", L::NAME);
    }
}

/// Of the root mean square: near neighbors give many times that, with an error of some 1e-5.
const SINGLE: f64 = 1e-4;
const DOUBLE: f64 = 1e-11;

/// A column whose root mean square is below this cancels to zero.
const CANCELED: f64 = 1e-12;

const CUTOFF: f64 = 2.1;

/// Lennard-Jones and Coulomb, with a diameter that fits the smallest distance.
fn salt(places: Places) -> lennard_jones_coulomb::Law<f64> {
    lennard_jones_coulomb::Law::new(
        lennard_jones::Law::truncated(1.0, 0.9 * places.nearest()),
        coulomb::Law::reaction_field(1.5, 80.0, CUTOFF),
    )
}

fn kernel() -> Kernel<f64> {
    Kernel::named("sinc-6").unwrap()
}

#[test]
fn lennard_jones_with_coulomb() {
    let device = Device::under_test().unwrap();
    for (k, places) in ALL.into_iter().enumerate() {
        for boundary in [OPEN, PERIODIC] {
            for method in Method::ALL {
                let kind = kind(places, boundary, [CUTOFF; 2]);
                let trial = Trial::new(method, Precision::Mixed);
                trial.assert(&device, Forces(salt(places)), kind, k as u64);
                let trial = Trial::new(method, Precision::Double);
                trial.assert(&device, Energies(salt(places)), kind, 10 + k as u64);
            }
        }
    }
}

/// The law of the benchmark, which has no inputs: positions hold the rows.
#[test]
fn a_law_without_inputs() {
    let device = Device::under_test().unwrap();
    let law = Forces(lennard_jones::Law::truncated(1.0, 0.45));
    for boundary in [OPEN, PERIODIC, [Boundary::Periodic, Boundary::Open, Boundary::Periodic]] {
        for method in Method::ALL {
            for width in [None, Some(2.0 * CUTOFF)] {
                let trial = Trial { width, ..Trial::new(method, Precision::Mixed) };
                trial.assert(&device, law, kind(Places::Uniform, boundary, [CUTOFF; 2]), 3);
            }
        }
    }
}

#[test]
fn cutoffs_of_particles() {
    let device = Device::under_test().unwrap();
    for (k, places) in [Places::OnePoint].into_iter().chain(ALL).enumerate() {
        for boundary in [OPEN, PERIODIC] {
            for method in Method::ALL {
                let kind = kind(places, boundary, [1.2, 2.3]);
                let law = density::Law { kernel: kernel() };
                Trial::new(method, Precision::Mixed).assert(&device, law, kind, k as u64);
                Trial::new(method, Precision::Double).assert(&device, law, kind, 20 + k as u64);
            }
        }
    }
}

#[test]
fn the_larger_radius_of_the_two() {
    let device = Device::under_test().unwrap();
    let law = momentum_energy_volume::Law {
        kernel: kernel(),
        beta: 2.0,
        conductivity: 0.3,
        switched_conductivity: 0.4,
        crossing_start: 0.1,
        crossing_slope: 10.0,
    };
    for boundary in [OPEN, PERIODIC] {
        for method in Method::ALL {
            let trial = Trial::new(method, Precision::Mixed);
            trial.assert(&device, law, kind(Places::Uniform, boundary, [1.2, 2.3]), 5);
        }
    }
}

#[test]
fn inactive_rows_keep_what_they_have() {
    let device = Device::under_test().unwrap();
    for method in Method::ALL {
        let trial = Trial { stride: 3, ..Trial::new(method, Precision::Mixed) };
        let kind = kind(Places::Uniform, PERIODIC, [1.2, 2.3]);
        trial.assert(&device, density::Law { kernel: kernel() }, kind, 6);
    }
}

/// A single coarse cell has more particles than a block holds, and several items.
#[test]
fn cells_of_several_batches() {
    let device = Device::under_test().unwrap();
    for (boundary, precision) in
        [(OPEN, Precision::Mixed), (PERIODIC, Precision::Mixed), (OPEN, Precision::Double)]
    {
        let kind = Kind { count: 1900, halos: [0; 2], ..kind(Places::Uniform, boundary, [1.2, 1.9]) };
        let trial = Trial { width: Some(1e3), ..Trial::new(Method::TwoLevel, precision) };
        trial.assert(&device, density::Law { kernel: kernel() }, kind, 7);
    }
}

#[test]
fn few_particles() {
    let device = Device::under_test().unwrap();
    for count in [2, 3, 33] {
        for method in Method::ALL {
            let kind = Kind { count, halos: [0; 2], ..kind(Places::Lattice, OPEN, [1.9; 2]) };
            Trial::new(method, Precision::Mixed).assert(&device, density::Law { kernel: kernel() }, kind, 8);
        }
    }
    for method in Method::ALL {
        let kind = Kind { count: 1, halos: [0; 2], ..kind(Places::Lattice, OPEN, [1.9; 2]) };
        let trial = Trial::new(method, Precision::Mixed);
        let scene = Scene::new(kind, &[Field::Position], 9);
        let forces = trial.run(&device, Forces(lennard_jones::Law::truncated(1.0, 0.45)), &scene);
        assert!(forces.iter().all(|column| column == &[0.0]), "{forces:?}");
        let none = Scene { particles: Particles::new(&[Field::Position], 0), radius: Vec::new(), ..scene };
        assert!(
            trial
                .run(&device, Forces(lennard_jones::Law::truncated(1.0, 0.45)), &none)
                .iter()
                .all(Vec::is_empty)
        );
    }
}

/// More coarse cells than a block counts in shared memory, most of them empty.
#[test]
fn many_cells_most_of_them_empty() {
    const CLUMP: usize = 343;
    let device = Device::under_test().unwrap();
    let count = 30 * CLUMP;
    let bx = SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(100.0), boundary: PERIODIC };
    let mut particles = Particles::new(&[Field::Position], count);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut rows: Vec<usize> = (0..count).collect();
    rows.shuffle(&mut random);
    for (k, row) in rows.into_iter().enumerate() {
        let (clump, site) = (k / CLUMP, k % CLUMP);
        let corner = Vec3d::new((clump % 7) as f64, (clump / 7 % 7) as f64, (clump / 49) as f64) * 14.0;
        let inside = Vec3d::new((site % 7) as f64, (site / 7 % 7) as f64, (site / 49) as f64) * 0.5;
        let jitter = Vec3d::from_fn(|_, _| random.random_range(0.0..0.1));
        particles.set_vector(Field::Position, row, bx.wrap(corner + inside + jitter - Vec3d::repeat(1.0)));
    }
    let scene = Scene { bx, particles, radius: vec![0.8; count] };
    let law = Forces(lennard_jones::Law::truncated(1.0, 0.4));
    let sorted = Trial { width: Some(2.0), ..Trial::new(Method::SortedGrid, Precision::Double) };
    let sorted = sorted.run(&device, law, &scene);
    let two = Trial { width: Some(4.0), ..Trial::new(Method::TwoLevel, Precision::Mixed) };
    let two = two.run(&device, law, &scene);
    let square: f64 = sorted.iter().flatten().map(|force| force * force).sum();
    let scale = (square / count as f64).sqrt();
    for (one, other) in sorted.iter().zip(&two) {
        let worst = one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(scale > 0.0 && worst < SINGLE * scale, "{worst:e} of {scale:e}");
    }
}

#[test]
fn a_sorted_grid_gives_the_same_bits() {
    let device = Device::under_test().unwrap();
    let scene = Scene::new(
        kind(Places::Uniform, PERIODIC, [1.2, 2.3]),
        &[Field::Position, Field::Mass, Field::SmoothingLength],
        11,
    );
    let run = || {
        let trial = Trial::new(Method::SortedGrid, Precision::Mixed);
        trial.run(&device, density::Law { kernel: kernel() }, &scene)
    };
    assert_eq!(run(), run());
}
