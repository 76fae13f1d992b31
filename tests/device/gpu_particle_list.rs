//! Lists of particles on a device, and sweeps over them: against the processor's list and its direct sums.

use hilbrium::Result;
use hilbrium::device::hierarchy::{Hierarchy, Radii};
use hilbrium::device::list::{ListBuilder, Records, Search};
use hilbrium::device::particle_list::{ParticleListBuilder, ParticleRecords};
use hilbrium::device::particle_sweep::ParticleSweep;
use hilbrium::device::sweep::{Pass, SweepMemory};
use hilbrium::device::{Buffer, Device};
use hilbrium::laws::*;
use hilbrium::neighbors::{Coding, ListRequest, ParticleList, SUPER_CLUSTER};
use hilbrium::pair::{Energies, Forces, Kernel, PairLaw, Precision, naive};
use hilbrium::particles::{Field, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// How particles lie.
#[derive(Clone, Copy, PartialEq)]
enum Places {
    /// About the sites of a lattice of unit density.
    Even,
    /// As before, and a tenth of them ten times as dense in a corner.
    Crowded,
}

#[derive(Clone, Copy)]
struct Kind {
    places: Places,
    count: usize,
    periodic: bool,
    /// Radii from the first to the second number.
    radii: [f64; 2],
    /// Rows before and behind the owned ones, and whether every eleventh owned one is a ghost.
    halos: [usize; 2],
    ghosts: bool,
    /// Whether the rows behind the owned ones are in no order, so that their clusters span the box.
    mixed: bool,
}

const OPEN: Kind = Kind {
    places: Places::Even,
    count: 900,
    periodic: false,
    radii: [1.3, 2.3],
    halos: [128, 70],
    ghosts: true,
    mixed: false,
};
/// So wide that one image of a cluster is in reach.
const PERIODIC: Kind =
    Kind { periodic: true, count: 4096, radii: [1.1, 1.5], halos: [0; 2], ghosts: false, ..OPEN };
/// As the halos of ranks, from several sides of the box.
const MIXED: Kind = Kind { halos: [0, 1024], mixed: true, ..PERIODIC };
const CROWDED: Kind = Kind { places: Places::Crowded, ..PERIODIC };

struct Scene {
    bx: SimulationBox,
    particles: Particles,
    radius: Vec<f64>,
}

impl Scene {
    fn new(kind: Kind, fields: &[Field], seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let edge = (kind.count as f64).cbrt().ceil();
        let boundary = if kind.periodic { Boundary::Periodic } else { Boundary::Open };
        let bx = SimulationBox {
            lower: Vec3d::repeat(-0.3 * edge),
            upper: Vec3d::repeat(0.7 * edge),
            boundary: [boundary; 3],
        };
        let side = edge as usize;
        let mut places: Vec<(u64, Vec3d)> = (0..kind.count)
            .map(|k| {
                let corner =
                    Vec3d::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
                let inside = corner + Vec3d::from_fn(|_, _| random.random_range(0.35..0.65));
                let crowded = kind.places == Places::Crowded && k % 10 == 0;
                let place = bx.lower + if crowded { inside * 0.45 } else { inside };
                (hilbert::key_of(&place, &bx), place)
            })
            .collect();
        places.sort_by_key(|&(key, _)| key);
        if kind.mixed {
            places[kind.count - kind.halos[1]..].shuffle(&mut random);
        }
        let mut particles = Particles::new(fields, kind.count);
        let owned = kind.halos[0]..kind.count - kind.halos[1];
        let mut radius = vec![0.0; kind.count];
        for (row, (key, place)) in places.into_iter().enumerate() {
            particles.key[row] = key;
            particles.set_vector(Field::Position, row, place);
            radius[row] = random.random_range(kind.radii[0]..=kind.radii[1]);
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

/// Rows and what is listed of them, on a device.
struct OnDevice {
    position: [Buffer<f64>; 3],
    id: Buffer<u64>,
    owned: Range<usize>,
    /// None where they cannot be swept over.
    records: Option<ParticleRecords>,
}

impl OnDevice {
    fn new(device: &Device, scene: &Scene, reach: &[f64]) -> Result<Self> {
        let Scene { bx, particles, .. } = scene;
        let on = |c: usize| Buffer::from_host(device, particles.component(Field::Position, c));
        let position = [on(0)?, on(1)?, on(2)?];
        let (id, radius) = (Buffer::from_host(device, &particles.id)?, Buffer::from_host(device, reach)?);
        let (rows, columns) = (particles.len(), [&position[0], &position[1], &position[2]]);
        let mut hierarchy = Hierarchy::new(device)?;
        let (unit, _) = hierarchy.unit_of(Radii::Each(&radius), Some(&id), rows)?;
        hierarchy.build(columns, Radii::Each(&radius), Some(&id), rows, unit)?;
        let search = Search {
            rows,
            owned: particles.owned(),
            symmetric: false,
            position: columns,
            radius: &radius,
            id: &id,
            center: hierarchy.center(),
            extent: hierarchy.extent(),
            unit,
            bx,
        };
        let (mut list, mut records) = (Records::new(device)?, ParticleRecords::new(device)?);
        ListBuilder::new(device)?.build(&search, &mut list)?;
        let fit = ParticleListBuilder::new(device)?.build(&search, &list, &mut records)?;
        let owned = search.owned;
        Ok(Self { position, id, owned, records: fit.then_some(records) })
    }
}

/// Records in the host's memory.
struct Decoded {
    clusters: Vec<u32>,
    begins: Vec<u64>,
    words: Vec<u32>,
    word_begins: Vec<u64>,
    first: usize,
}

impl Decoded {
    fn new(records: &ParticleRecords) -> Result<Self> {
        Ok(Self {
            clusters: records.clusters.download()?,
            begins: records.begins.download()?,
            words: records.words.download()?,
            word_begins: records.word_begins.download()?,
            first: SUPER_CLUSTER * records.super_clusters.start,
        })
    }

    /// The neighbors of an owned row, sorted.
    fn neighbors(&self, row: usize) -> Vec<u32> {
        let (place, mut rows) = (row - self.first, Vec::new());
        let (half, lane) = (place / 32, place % 32);
        let first_entry = self.begins[place / SUPER_CLUSTER] as usize;
        let mut ended = false;
        for begin in self.word_begins[half]..self.word_begins[half + 1] {
            let word = self.words[32 * begin as usize + lane];
            for number in [word & 0xffff, word >> 16] {
                ended |= number == 0;
                if number != 0 {
                    assert!(!ended, "what fills a list up comes last");
                    rows.push(8 * self.clusters[first_entry + number as usize / 8 - 1] + number % 8);
                }
            }
        }
        rows.sort_unstable();
        rows
    }
}

fn assert_listed(device: &Device, kind: Kind, seed: u64) {
    let pairs = assert_scene_listed(device, &Scene::new(kind, &[Field::Position], seed));
    assert!(pairs > 3 * kind.count, "{pairs} pairs");
}

/// Returns the number of neighbors of all particles.
fn assert_scene_listed(device: &Device, scene: &Scene) -> usize {
    let expected = ParticleList::build(&ListRequest::of(
        &scene.bx,
        &scene.particles,
        &scene.radius,
        false,
        Coding::Nibble,
    ));
    let expected = expected.unwrap();
    assert_neighbors(device, scene, |row| expected.neighbors(row).to_vec())
}

/// Returns the number of neighbors of all particles.
fn assert_neighbors(device: &Device, scene: &Scene, expected: impl Fn(usize) -> Vec<u32>) -> usize {
    let there = OnDevice::new(device, scene, &scene.radius).unwrap();
    let decoded = Decoded::new(there.records.as_ref().expect("a list of particles")).unwrap();
    let mut pairs = 0;
    for row in scene.particles.owned() {
        let wanted = if scene.particles.ghost(row) { Vec::new() } else { expected(row) };
        assert_eq!(decoded.neighbors(row), wanted, "row {row}");
        pairs += wanted.len();
    }
    pairs
}

/// Clusters of rows in no order span the box. The list of the processor needs sorted rows, so all distances
/// are tested.
#[test]
fn clusters_that_span_the_box_are_listed() {
    let device = Device::under_test().unwrap();
    let scene = Scene::new(MIXED, &[Field::Position], 3);
    let position = |row: usize| scene.particles.vector_at(Field::Position, row);
    let lengths = scene.bx.lengths();
    let neighbors = |row: usize| {
        let near = |other: &usize| {
            let apart = position(*other) - position(row);
            let apart = Vec3d::from_fn(|d, _| apart[d] - lengths[d] * (apart[d] / lengths[d]).round());
            *other != row && apart.norm() < scene.radius[row].max(scene.radius[*other])
        };
        (0..scene.particles.len()).filter(near).map(|other| other as u32).collect()
    };
    let pairs = assert_neighbors(&device, &scene, neighbors);
    assert!(pairs > 2 * MIXED.count, "{pairs} pairs");
}

#[test]
fn lists_are_those_of_the_processor() {
    let device = Device::under_test().unwrap();
    for (seed, kind) in [OPEN, PERIODIC, CROWDED].into_iter().enumerate() {
        assert_listed(&device, kind, seed as u64);
    }
    assert_listed(&device, Kind { radii: [1.4; 2], ..PERIODIC }, 4);
    assert_listed(&device, Kind { count: 65, halos: [0; 2], radii: [2.0, 4.0], ..OPEN }, 5);
}

/// Clusters so far away from others that boxes in single precision do not decide, and a list with more words
/// of bits than fit into shared memory.
#[test]
fn particles_with_all_others_in_reach() {
    let device = Device::under_test().unwrap();
    let kind = Kind { count: 4096, halos: [0; 2], radii: [1.1, 1.2], ..OPEN };
    let mut scene = Scene::new(kind, &[Field::Position], 9);
    scene.radius[0] = 40.0;
    scene.radius[1500] = 9.0;
    let pairs = assert_scene_listed(&device, &scene);
    assert!(pairs > 2 * 3700 + 3 * kind.count, "{pairs} pairs");
}

#[test]
fn radii_that_are_distances() {
    let device = Device::under_test().unwrap();
    // sites of a lattice: all pairs of the first shell are just within or just out of reach
    for (radius, count) in [(1.0 - 1e-15, 0), (1.0, 0), (1.0 + 1e-15, 6)] {
        let mut scene = Scene::new(Kind { radii: [radius; 2], ..PERIODIC }, &[Field::Position], 1);
        let lower = scene.bx.lower;
        for row in 0..PERIODIC.count {
            let position = scene.particles.vector(Field::Position).map(|column| column[row]);
            let site = [0, 1, 2].map(|d| (position[d] - lower[d]).floor());
            scene.particles.set_vector(Field::Position, row, Vec3d::from(site));
        }
        (scene.bx.lower, scene.bx.upper) = (Vec3d::zeros(), scene.bx.upper - lower);
        let there = OnDevice::new(&device, &scene, &scene.radius).unwrap();
        let decoded = Decoded::new(there.records.as_ref().unwrap()).unwrap();
        for row in 0..PERIODIC.count {
            assert_eq!(decoded.neighbors(row).len(), count, "row {row}, radius {radius}");
        }
    }
}

#[test]
fn a_box_too_small_for_one_image_has_none() {
    let device = Device::under_test().unwrap();
    let scene = Scene::new(Kind { count: 216, radii: [2.9; 2], ..PERIODIC }, &[Field::Position], 6);
    assert!(OnDevice::new(&device, &scene, &scene.radius).unwrap().records.is_none());
}

/// The largest error of an output over its column's root mean square, of a law swept over a list with a skin.
fn error<L: PairLaw>(device: &Device, law: L, precision: Precision, kind: Kind, stride: usize) -> f64 {
    const BEFORE: f64 = -7.5;
    let mut scene = Scene::new(kind, &[&[Field::Position], L::INPUTS].concat(), 7);
    let reach: Vec<f64> = scene.radius.iter().map(|radius| 1.1 * radius).collect();
    let there = OnDevice::new(device, &scene, &reach).unwrap();
    let rows = scene.particles.len();
    let components = |fields: &[Field]| -> Vec<(Field, usize)> {
        fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))).collect()
    };
    let on = |column: &[f64]| Buffer::from_host(device, column).unwrap();
    let inputs: Vec<Buffer<f64>> =
        components(L::INPUTS).into_iter().map(|(field, c)| on(scene.particles.component(field, c))).collect();
    let outputs: Vec<Buffer<f64>> = components(L::OUTPUTS).iter().map(|_| on(&vec![BEFORE; rows])).collect();
    let radius = on(&scene.radius);
    let is_active = |row: usize| stride == 0 || row.is_multiple_of(stride);
    let active: Vec<u8> =
        (0..rows.next_multiple_of(SUPER_CLUSTER)).map(|row| u8::from(is_active(row))).collect();
    let active = Buffer::from_host(device, &active).unwrap();
    let pass = Pass {
        rows,
        owned: &there.owned,
        position: [&there.position[0], &there.position[1], &there.position[2]],
        id: Some(&there.id),
        radius: Some(&radius),
        cutoff: scene.radius.iter().copied().fold(0.0, f64::max),
        bx: &scene.bx,
        active: (stride > 0).then_some(&active),
    };
    let mut memory = SweepMemory::new(device).unwrap();
    let (read, written): (Vec<_>, Vec<_>) = (inputs.iter().collect(), outputs.iter().collect());
    let records = there.records.as_ref().expect("a list of particles");
    let sweep = ParticleSweep::new(device, law, precision).unwrap();
    sweep.run(&mut memory, &pass, records, &read, &written).unwrap();
    device.synchronize().unwrap();
    scene.particles.add(L::OUTPUTS);
    naive(sweep.law(), &scene.bx, &scene.radius, &mut scene.particles);
    let mut worst: f64 = 0.0;
    for ((field, c), output) in components(L::OUTPUTS).into_iter().zip(&outputs) {
        let (expected, found) = (scene.particles.component(field, c), output.download().unwrap());
        let rows = || there.owned.clone().filter(|&row| !scene.particles.ghost(row));
        let square: f64 = rows().map(|row| expected[row] * expected[row]).sum();
        let scale = (square / rows().count() as f64).sqrt();
        assert!(scale > 0.0, "{} is all zeros: the test is blind", field.name());
        for row in rows() {
            let wanted = if is_active(row) { expected[row] } else { BEFORE };
            let error = (found[row] - wanted).abs() / scale;
            assert!(error.is_finite(), "{} of row {row}: {}", field.name(), found[row]);
            worst = worst.max(error);
        }
    }
    worst
}

fn salt() -> lennard_jones_coulomb::Law<f64> {
    lennard_jones_coulomb::Law::new(
        lennard_jones::Law::truncated(1.0, 0.8),
        coulomb::Law::reaction_field(1.5, 80.0, 2.1),
    )
}

fn kernel() -> Kernel<f64> {
    Kernel::named("sinc-6").unwrap()
}

/// Of the root mean square: pairs at 0.7 of the diameter give many times that, with an error of some 1e-5.
const SINGLE: f64 = 5e-5;
const DOUBLE: f64 = 1e-11;
/// The inverse of a matrix amplifies rounding by up to one over the determinant, 1e4: a GPU's fused
/// operations differ from the processor's by 1.6e-11.
const DOUBLE_OF_INVERSE: f64 = 1e-10;

#[test]
fn one_cutoff() {
    let device = Device::under_test().unwrap();
    for kind in [Kind { radii: [2.1; 2], ..OPEN }, Kind { radii: [1.4; 2], ..PERIODIC }] {
        let single = error(&device, Forces(salt()), Precision::Mixed, kind, 0);
        assert!(single < SINGLE, "{single:e}");
        let double = error(&device, Energies(salt()), Precision::Double, kind, 0);
        assert!(double < DOUBLE, "{double:e}");
    }
    // in single precision, positions in a frame that spans the box have errors of 3e-8 of its edge
    let mixed = Kind { radii: [1.4; 2], ..MIXED };
    let double = error(&device, Forces(salt()), Precision::Double, mixed, 0);
    assert!(double < DOUBLE, "{double:e}");
}

#[test]
fn cutoffs_of_particles() {
    let device = Device::under_test().unwrap();
    for kind in [OPEN, PERIODIC, MIXED] {
        let own = error(&device, density::Law { kernel: kernel() }, Precision::Mixed, kind, 0);
        assert!(own < SINGLE, "{own:e}");
        let either = error(&device, gradients::Law::new(kernel()), Precision::Double, kind, 0);
        assert!(either < DOUBLE_OF_INVERSE, "{either:e}");
    }
    let active = error(&device, number_density::Law { kernel: kernel() }, Precision::Mixed, PERIODIC, 3);
    assert!(active < SINGLE, "{active:e}");
}

/// Where there are more neighbor clusters than on the mean, their particles come in turns.
#[test]
fn turns() {
    let device = Device::under_test().unwrap();
    let law = || density::Law { kernel: kernel() };
    let single = error(&device, law(), Precision::Mixed, CROWDED, 0);
    assert!(single < SINGLE, "{single:e}");
    let double = error(&device, law(), Precision::Double, CROWDED, 0);
    assert!(double < DOUBLE, "{double:e}");
}
