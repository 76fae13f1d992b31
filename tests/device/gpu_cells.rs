//! Sweeps over cells on a device against direct sums: all strategies, every kind of cutoff, both precisions,
//! open and periodic boxes, particles in all arrangements; and prefix sums in shared memory.

use hilbrium::Result;
use hilbrium::device::cells::prefix::{PrefixSums, Way};
use hilbrium::device::cells::{CellSweep, Cells, Strategy};
use hilbrium::device::sweep::{Pass, SweepMemory};
use hilbrium::device::{Buffer, Device};
use hilbrium::laws::*;
use hilbrium::neighbors::SUPER_CLUSTER;
use hilbrium::pair::{Energies, Forces, Kernel, PairLaw, Precision, naive};
use hilbrium::particles::{Field, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How particles lie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Places {
    /// Independent of each other, at unit density.
    Uniform,
    /// On the sites of a lattice, of which some are on faces of the box.
    Lattice,
    /// A sphere with a dense center.
    Plummer,
    /// All in one point.
    Point,
    /// On a line along x.
    Line,
}

const ALL: [Places; 5] = [Places::Uniform, Places::Lattice, Places::Plummer, Places::Point, Places::Line];

#[derive(Clone, Copy, Debug)]
struct Kind {
    places: Places,
    count: usize,
    periodic: bool,
    /// The largest radius; radii are between half of it and all of it if they differ.
    radius: f64,
    radii_differ: bool,
    /// Rows before and behind the owned ones, and whether every eleventh owned one is a ghost.
    halos: [usize; 2],
    ghosts: bool,
}

const KIND: Kind = Kind {
    places: Places::Uniform,
    count: 420,
    periodic: false,
    radius: 2.1,
    radii_differ: false,
    halos: [0; 2],
    ghosts: false,
};

struct Scene {
    bx: SimulationBox,
    particles: Particles,
    radius: Vec<f64>,
}

impl Scene {
    fn new(kind: Kind, fields: &[Field], seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let edge = (kind.count as f64).cbrt().ceil();
        let mut lengths = Vec3d::repeat(edge);
        match kind.places {
            Places::Plummer => lengths = Vec3d::repeat(6.0 * edge),
            Places::Line => lengths.x = 0.9 * kind.count as f64,
            _ => {}
        }
        let boundary = if kind.periodic { Boundary::Periodic } else { Boundary::Open };
        let lower = Vec3d::new(-0.25, 1.5, -3.0);
        let bx = SimulationBox { lower, upper: lower + lengths, boundary: [boundary; 3] };
        let side = edge as usize;
        let mut places: Vec<(u64, Vec3d)> = (0..kind.count)
            .map(|k| {
                let place = match kind.places {
                    Places::Uniform => Vec3d::from_fn(|_, _| random.random_range(0.0..edge)),
                    Places::Lattice => {
                        Vec3d::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64)
                    }
                    Places::Plummer => plummer(&mut random, 0.4 * edge) + 0.5 * lengths,
                    Places::Point => Vec3d::new(3.0, 2.0, 1.0),
                    Places::Line => Vec3d::new(0.9 * (k as f64 + 0.3), 0.5 * edge, 0.5),
                };
                (hilbert::key_of(&(lower + place), &bx), lower + place)
            })
            .collect();
        places.sort_by_key(|&(key, _)| key);
        let mut particles = Particles::new(fields, kind.count);
        let owned = kind.halos[0]..kind.count - kind.halos[1];
        let mut radius = vec![kind.radius; kind.count];
        for (row, (key, place)) in places.into_iter().enumerate() {
            particles.key[row] = key;
            particles.set_vector(Field::Position, row, place);
            if kind.radii_differ {
                radius[row] *= random.random_range(0.5..1.0);
            }
            if kind.ghosts && owned.contains(&row) && row % 11 == 3 {
                particles.id[row] = u64::MAX;
                particles.set_vector(Field::Position, row, Vec3d::repeat(f64::INFINITY));
            }
        }
        for &field in fields.iter().filter(|&&field| field != Field::Position) {
            for c in 0..field.components() {
                for (row, value) in particles.component_mut(field, c).iter_mut().enumerate() {
                    *value = match field {
                        Field::SmoothingLength => 0.5 * radius[row],
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

/// A place in a Plummer sphere, within seven scale lengths.
fn plummer(random: &mut ChaCha8Rng, scale: f64) -> Vec3d {
    loop {
        let mass: f64 = random.random_range(0.01..1.0);
        let distance = (mass.powf(-2.0 / 3.0) - 1.0).powf(-0.5);
        let direction = Vec3d::from_fn(|_, _| random.random_range(-1.0..1.0));
        let length: f64 = direction.norm();
        if distance < 7.0 && length > 0.1 && length < 1.0 {
            return direction * (scale * distance / length);
        }
    }
}

fn components(fields: &[Field]) -> Vec<(Field, usize)> {
    fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))).collect()
}

/// What outputs are before a sweep.
const BEFORE: f64 = -7.5;

/// A scene in a device's memory, with what a law gives for it.
struct Trial<L> {
    device: Device,
    law: L,
    scene: Scene,
    position: Vec<Buffer<f64>>,
    inputs: Vec<Buffer<f64>>,
    id: Buffer<u64>,
    radius: Buffer<f64>,
    active: Buffer<u8>,
    stride: usize,
}

impl<L: PairLaw> Trial<L> {
    fn new(device: &Device, law: L, kind: Kind, stride: usize) -> Self {
        let mut scene = Scene::new(kind, &[&[Field::Position], L::INPUTS].concat(), 3);
        let on = |fields: &[Field]| -> Vec<Buffer<f64>> {
            let column = |(field, c)| Buffer::from_host(device, scene.particles.component(field, c)).unwrap();
            components(fields).into_iter().map(column).collect()
        };
        let (position, inputs) = (on(&[Field::Position]), on(L::INPUTS));
        let id = Buffer::from_host(device, &scene.particles.id).unwrap();
        let radius = Buffer::from_host(device, &scene.radius).unwrap();
        let padded = kind.count.next_multiple_of(SUPER_CLUSTER);
        let active: Vec<u8> =
            (0..padded).map(|row| u8::from(stride == 0 || row.is_multiple_of(stride))).collect();
        let active = Buffer::from_host(device, &active).unwrap();
        scene.particles.add(L::OUTPUTS);
        naive(&law, &scene.bx, &scene.radius, &mut scene.particles);
        Self { device: device.clone(), law, scene, position, inputs, id, radius, active, stride }
    }

    /// The output columns of a strategy; `shared` bounds its shared memory (bytes).
    fn run(
        &self,
        precision: Precision,
        strategy: Strategy,
        shared: Option<usize>,
    ) -> Result<(Vec<Vec<f64>>, Cells)> {
        let Scene { bx, particles, radius } = &self.scene;
        let outputs = components(L::OUTPUTS)
            .iter()
            .map(|_| Buffer::from_host(&self.device, &vec![BEFORE; particles.len()]))
            .collect::<Result<Vec<_>>>()?;
        let reach = radius.iter().copied().fold(0.0, f64::max);
        let pass = Pass {
            rows: particles.len(),
            owned: &particles.owned(),
            position: [&self.position[0], &self.position[1], &self.position[2]],
            id: Some(&self.id),
            radius: Some(&self.radius),
            cutoff: reach,
            bx,
            active: (self.stride > 0).then_some(&self.active),
        };
        let mut sweep = CellSweep::new(&self.device, self.law, precision, strategy)?;
        if let Some(bytes) = shared {
            sweep = sweep.with_shared_memory(bytes);
        }
        let (mut memory, mut cells) = (SweepMemory::new(&self.device)?, Cells::new(&self.device)?);
        let (inputs, written): (Vec<_>, Vec<_>) = (self.inputs.iter().collect(), outputs.iter().collect());
        sweep.run(&mut memory, &mut cells, &pass, reach, &inputs, &written)?;
        self.device.synchronize()?;
        Ok((outputs.iter().map(Buffer::download).collect::<Result<Vec<_>>>()?, cells))
    }

    /// The largest error of an output over its column's root mean square.
    fn error(&self, found: &[Vec<f64>]) -> f64 {
        let particles = &self.scene.particles;
        let mut worst: f64 = 0.0;
        for ((field, c), found) in components(L::OUTPUTS).into_iter().zip(found) {
            let expected = particles.component(field, c);
            let rows = || particles.owned().filter(|&row| !particles.ghost(row));
            let square: f64 = rows().map(|row| expected[row] * expected[row]).sum();
            let scale = (square / rows().count() as f64).sqrt();
            // forces across a line are zero
            let scale = if scale > 1e-12 { scale } else { 1.0 };
            for row in particles.owned() {
                let active = self.stride == 0 || row.is_multiple_of(self.stride);
                let is_written = active && !particles.ghost(row);
                let wanted = if is_written { expected[row] } else { BEFORE };
                let error = (found[row] - wanted).abs() / scale;
                assert!(error.is_finite(), "{} of row {row}: {}", field.name(), found[row]);
                worst = worst.max(error);
            }
        }
        worst
    }

    /// All strategies meet the tolerance, with much and with little shared memory.
    fn check(&self, precision: Precision, tolerance: f64, what: &str) {
        let sums = components(L::OUTPUTS).iter().any(|&(field, c)| {
            self.scene.particles.component(field, c).iter().any(|&value| value.abs() > 1e-6)
        });
        assert!(sums, "{what}: all outputs are zero, the test is blind");
        for strategy in Strategy::ALL {
            let is_shared = !matches!(strategy, Strategy::Particle | Strategy::ParticleLoop | Strategy::Cell);
            // a few dozen particles, so that they come in rounds
            let little = if strategy == Strategy::SubBox { 7 * 1024 } else { 1024 };
            let memories = [None, Some(little)];
            for shared in &memories[..if is_shared { 2 } else { 1 }] {
                let (found, _) = self.run(precision, strategy, *shared).unwrap();
                let error = self.error(&found);
                assert!(error < tolerance, "{what}, {strategy:?}, {shared:?}: {error:e}");
            }
        }
    }
}

fn salt() -> lennard_jones_coulomb::Law<f64> {
    lennard_jones_coulomb::Law::new(
        lennard_jones::Law::truncated(1.0, 0.4),
        coulomb::Law::reaction_field(1.5, 80.0, 2.1),
    )
}

fn kernel() -> Kernel<f64> {
    Kernel::named("wendland-c6").unwrap()
}

/// Of the root mean square: pairs of uniform particles come close, where the force of r^-13 has thirteen
/// times the error of the distance.
const SINGLE: f64 = 2e-4;
const DOUBLE: f64 = 1e-10;

fn kinds() -> impl Iterator<Item = Kind> {
    ALL.into_iter().flat_map(|places| [false, true].map(|periodic| Kind { places, periodic, ..KIND }))
}

#[test]
fn lennard_jones_with_coulomb() {
    let device = Device::under_test().unwrap();
    for kind in kinds().filter(|kind| kind.places != Places::Point) {
        let what = format!("{kind:?}");
        Trial::new(&device, Forces(salt()), kind, 0).check(Precision::Mixed, SINGLE, &what);
        if kind.places == Places::Uniform {
            Trial::new(&device, Energies(salt()), kind, 0).check(Precision::Double, DOUBLE, &what);
        }
    }
}

#[test]
fn densities() {
    let device = Device::under_test().unwrap();
    for kind in kinds() {
        let kind = Kind { radii_differ: true, ..kind };
        let what = format!("{kind:?}");
        let law = density::Law { kernel: kernel() };
        Trial::new(&device, law, kind, 0).check(Precision::Mixed, SINGLE, &what);
    }
    let kind = Kind { radii_differ: true, periodic: true, ..KIND };
    Trial::new(&device, density::Law { kernel: kernel() }, kind, 0).check(
        Precision::Double,
        DOUBLE,
        "double",
    );
}

#[test]
fn laws_of_benchmarks() {
    let device = Device::under_test().unwrap();
    let soft = softened_lennard_jones::Law::new(1.0, 0.8, 0.3);
    for kind in kinds() {
        Trial::new(&device, soft, kind, 0).check(Precision::Mixed, SINGLE, &format!("{kind:?}"));
    }
    let few = separation_sum::Law::new(0.5);
    Trial::new(&device, few, KIND, 0).check(Precision::Mixed, SINGLE, "few operations");
    let many = prolonged_lennard_jones::Law::new(1.0, 0.8, 0.3);
    Trial::new(&device, many, Kind { periodic: true, ..KIND }, 0).check(
        Precision::Mixed,
        SINGLE,
        "many operations",
    );
}

#[test]
fn the_larger_radius_of_the_two_with_halos_and_inactive_rows() {
    let device = Device::under_test().unwrap();
    let law = momentum_energy_standard::Law {
        kernel: kernel(),
        beta: 2.0,
        conductivity: 0.3,
        switched_conductivity: 0.4,
    };
    let kind = Kind { radii_differ: true, halos: [128, 70], ghosts: true, ..KIND };
    Trial::new(&device, law, kind, 0).check(Precision::Double, DOUBLE, "halos");
    let kind = Kind { radii_differ: true, periodic: true, ..KIND };
    Trial::new(&device, law, kind, 3).check(Precision::Double, DOUBLE, "inactive rows");
}

#[test]
fn periodic_boxes_of_one_and_of_two_cells() {
    let device = Device::under_test().unwrap();
    let soft = softened_lennard_jones::Law::new(1.0, 0.8, 0.3);
    // boxes of edge 5: half of it is the largest reach
    for (radius, cells) in [(2.5, 1), (2.4, 2)] {
        let kind = Kind { count: 125, periodic: true, radius, ..KIND };
        let trial = Trial::new(&device, soft, kind, 0);
        let (_, sorted) = trial.run(Precision::Mixed, Strategy::Particle, None).unwrap();
        assert_eq!(sorted.grid().unwrap().counts, [cells; 3]);
        trial.check(Precision::Mixed, SINGLE, "a small box");
    }
    let trial = Trial::new(&device, soft, Kind { count: 125, periodic: true, ..KIND }, 0);
    let sweep = CellSweep::new(&device, soft, Precision::Mixed, Strategy::Particle).unwrap();
    let mut memory = SweepMemory::new(&device).unwrap();
    let pass = Pass {
        rows: 125,
        owned: &(0..125),
        position: [&trial.position[0], &trial.position[1], &trial.position[2]],
        id: None,
        radius: None,
        cutoff: 2.6,
        bx: &trial.scene.bx,
        active: None,
    };
    let mut cells = Cells::new(&device).unwrap();
    let refused = sweep.run(&mut memory, &mut cells, &pass, 2.6, &[], &[&trial.radius]).unwrap_err();
    assert!(refused.to_string().contains("twice the interaction radius"), "{refused}");
}

#[test]
fn empty_cells_have_no_blocks_and_bounded_memory() {
    let device = Device::under_test().unwrap();
    let law = softened_lennard_jones::Law::new(1.0, 0.8, 0.3);
    // 0.9 apart on a line: one cell in nine of the box has a particle
    let kind = Kind { places: Places::Line, radius: 1.0, ..KIND };
    let trial = Trial::new(&device, law, kind, 0);
    for strategy in [Strategy::Cell, Strategy::CellShared, Strategy::SubBox, Strategy::Pencil] {
        let (found, cells) = trial.run(Precision::Mixed, strategy, None).unwrap();
        assert!(trial.error(&found) < SINGLE);
        let grid = cells.grid().unwrap();
        assert!(grid.cells() <= 4096 && grid.cells() > 8 * cells.occupied(), "{grid:?}");
        assert_eq!(cells.particles(), kind.count);
        assert!(cells.tasks() <= cells.occupied() + kind.count / 32, "{} blocks", cells.tasks());
    }
}

#[test]
fn sums_have_the_same_bits_again() {
    let device = Device::under_test().unwrap();
    let law = softened_lennard_jones::Law::new(1.0, 0.8, 0.3);
    let trial = Trial::new(&device, law, Kind { periodic: true, ..KIND }, 0);
    for strategy in Strategy::ALL {
        let run = || trial.run(Precision::Mixed, strategy, None).unwrap().0;
        assert_eq!(run(), run(), "{strategy:?}");
    }
}

#[test]
fn prefix_sums_with_the_barriers_and_updates_of_the_tree() {
    let device = Device::under_test().unwrap();
    let mut sums = Buffer::new(&device, 0).unwrap();
    for count in (1..=70).chain([95, 96, 127, 128, 191, 192, 193, 1000, 1024]) {
        let host: Vec<u32> = (0..3 * count as u32).map(|k| k.wrapping_mul(2_654_435_761)).collect();
        let numbers = Buffer::from_host(&device, &host).unwrap();
        let expected: Vec<u32> = host
            .chunks(count)
            .flat_map(|block| {
                block.iter().scan(0u32, |sum, &number| {
                    *sum = sum.wrapping_add(number);
                    Some(*sum)
                })
            })
            .collect();
        for threads in if count <= 70 { vec![32] } else { vec![32, 128, 512] } {
            let prefix = PrefixSums { count, threads, repeats: 1 };
            for way in [Way::InPlace, Way::Warps] {
                prefix.run(way, &numbers, &mut sums).unwrap();
                assert_eq!(sums.download().unwrap(), expected, "{way:?} of {count} by {threads}");
            }
        }
        let one = Buffer::from_host(&device, &host[..count]).unwrap();
        let prefix = PrefixSums { count, threads: 64, repeats: 1 };
        let [barriers, updates] = prefix.counted(&one, &mut sums).unwrap();
        assert_eq!(sums.download().unwrap(), expected[..count]);
        let height = count.ilog2() + 1; // ceil(log2(count + 1))
        assert_eq!(updates, 2 * count as u32 - count.count_ones() - height, "updates of {count}");
        let power = 1 << (height - 1);
        let further = u32::from(count >= 2 && 2 * count >= 3 * power);
        let wanted = if count == 1 { 0 } else { 2 * height - 3 + further };
        assert_eq!(barriers, wanted, "barriers of {count}");
        if count == 8 {
            // the paper counts 5 barriers, and 10 updates although its formulas give N - 1 + N - h = 11
            assert_eq!([barriers, updates], [5, 11]);
        }
    }
}
