//! Sweeps on a device against the O(N^2) truth: half and full lists, both precisions, every kind of cutoff, open and periodic
//! boxes, halos, ghosts, inactive rows. Runs on the emulation, and on a GPU with HILBRIUM_DEVICE_UNDER_TEST=cuda.

use hilbrium::Result;
use hilbrium::device::list::Records;
use hilbrium::device::sweep::{Pass, Sweep, SweepMemory};
use hilbrium::device::{Buffer, Device};
use hilbrium::laws::*;
use hilbrium::neighbors::{ClusterList, Coding, ListRequest, SUPER_CLUSTER};
use hilbrium::pair::{Energies, Forces, Kernel, PairLaw, Precision, naive};
use hilbrium::particles::{Field, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Particles with their box and radii.
struct Scene {
    bx: SimulationBox,
    particles: Particles,
    radius: Vec<f64>,
}

/// What a scene is made of: owned particles, halos on either side, and whether space repeats.
#[derive(Clone, Copy)]
struct Kind {
    owned: usize,
    halos: usize,
    periodic: bool,
    /// Whether radii differ.
    radii: bool,
}

const OPEN: Kind = Kind { owned: 700, halos: 90, periodic: false, radii: true };
const PERIODIC: Kind = Kind { owned: 1000, halos: 0, periodic: true, radii: true };

/// Jittered places of a lattice of unit density in the order of their keys: no two are close to each other. Rows are halos,
/// ghosts up to a whole super-cluster, owned ones, halos; every eleventh owned row of a scene with halos is a ghost too.
fn scene(kind: Kind, fields: &[Field], seed: u64) -> Scene {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let count = kind.owned + 2 * kind.halos;
    let edge = (count as f64).cbrt().ceil();
    let boundary = if kind.periodic { Boundary::Periodic } else { Boundary::Open };
    let bx = SimulationBox {
        lower: Vec3d::repeat(-0.3 * edge),
        upper: Vec3d::repeat(0.7 * edge),
        boundary: [boundary; 3],
    };
    let side = edge as usize;
    let mut places: Vec<(u64, Vec3d)> = (0..count)
        .map(|k| {
            let corner = Vec3d::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
            let inside = Vec3d::from_fn(|_, _| random.random_range(0.35..0.65));
            let place = bx.lower + corner + inside;
            (hilbert::key_of(&place, &bx), place)
        })
        .collect();
    places.sort_by_key(|&(key, _)| key);
    let before = kind.halos.next_multiple_of(SUPER_CLUSTER);
    let mut particles = Particles::new(fields, before + kind.owned + kind.halos);
    let mut radius = vec![0.0; particles.len()];
    for row in 0..particles.len() {
        let owned = (before..before + kind.owned).contains(&row);
        if (kind.halos..before).contains(&row) || (kind.halos > 0 && owned && row % 11 == 3) {
            particles.id[row] = u64::MAX;
            particles.set_vector(Field::Position, row, Vec3d::repeat(f64::INFINITY));
            continue;
        }
        let (key, place) = places[if row < before { row } else { row - (before - kind.halos) }];
        particles.key[row] = key;
        particles.set_vector(Field::Position, row, place);
        radius[row] = if kind.radii { random.random_range(1.3..2.3) } else { 2.1 };
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
    particles.set_owned(before..before + kind.owned);
    Scene { bx, particles, radius }
}

/// The records of a list in a device's memory.
fn records(device: &Device, list: &ClusterList) -> Result<Records> {
    let (data, offsets, counts) = list.records();
    let mut padded = data.to_vec();
    padded.extend([0xff; 8]);
    Ok(Records {
        data: Buffer::from_host(device, &padded)?,
        offsets: Buffer::from_host(device, offsets)?,
        counts: Buffer::from_host(device, counts)?,
        super_clusters: list.super_clusters(),
        length: data.len() as u64,
        interior_and_boundary: None,
    })
}

/// A law on the device over a list with a skin; every `stride`-th owned row is active, all where that is 0.
struct Trial {
    precision: Precision,
    symmetric: bool,
    parts: usize,
    stride: usize,
}

const FULL: Trial = Trial { precision: Precision::Mixed, symmetric: false, parts: 1, stride: 0 };
const HALF: Trial = Trial { symmetric: true, ..FULL };

/// What outputs are before a sweep.
const BEFORE: f64 = -7.5;

impl Trial {
    /// The largest error of an output over its column's root mean square.
    fn error<L: PairLaw>(&self, device: &Device, law: &L, kind: Kind, seed: u64) -> f64 {
        let fields: Vec<Field> = [&[Field::Position], L::INPUTS].concat();
        let mut scene = scene(kind, &fields, seed);
        scene.particles.add(L::OUTPUTS);
        let reach: Vec<f64> = scene.radius.iter().map(|radius| 1.1 * radius).collect();
        let Scene { bx, particles, radius } = &mut scene;
        let request = ListRequest::of(bx, particles, &reach, self.symmetric, Coding::Nibble);
        let list = ClusterList::build(&request).unwrap();
        let found = self.run(device, law, (bx, particles, radius), &list).unwrap();
        naive(law, bx, radius, particles);
        let owned = particles.owned();
        let mut worst: f64 = 0.0;
        let mut column = 0;
        for &field in L::OUTPUTS {
            for c in 0..field.components() {
                let expected = particles.component(field, c);
                let rows = owned.clone().filter(|&row| !particles.ghost(row));
                let square: f64 = rows.clone().map(|row| expected[row] * expected[row]).sum();
                let scale = (square / rows.clone().count() as f64).sqrt();
                assert!(scale > 0.0, "{} is all zeros: the test is blind", field.name());
                for row in rows {
                    let active = self.stride == 0 || row % self.stride == 0;
                    let wanted = if active { expected[row] } else { BEFORE };
                    let error = (found[column][row] - wanted).abs() / scale;
                    assert!(error.is_finite(), "{} of row {row}: {}", field.name(), found[column][row]);
                    worst = worst.max(error);
                }
                column += 1;
            }
        }
        worst
    }

    fn run<L: PairLaw>(
        &self,
        device: &Device,
        law: &L,
        (bx, particles, radius): (&SimulationBox, &Particles, &[f64]),
        list: &ClusterList,
    ) -> Result<Vec<Vec<f64>>> {
        let on = |column: &[f64]| Buffer::from_host(device, column);
        let columns = |fields: &[Field]| -> Result<Vec<Buffer<f64>>> {
            let components =
                fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c)));
            components.map(|(field, c)| on(particles.component(field, c))).collect()
        };
        let (position, inputs) = (columns(&[Field::Position])?, columns(L::INPUTS)?);
        let count = L::OUTPUTS.iter().map(|field| field.components()).sum();
        let outputs = (0..count).map(|_| on(&vec![BEFORE; particles.len()])).collect::<Result<Vec<_>>>()?;
        let id = Buffer::from_host(device, &particles.id)?;
        let device_radius = on(radius)?;
        let padded = particles.len().next_multiple_of(SUPER_CLUSTER);
        let active: Vec<u8> =
            (0..padded).map(|row| u8::from(self.stride > 0 && row % self.stride == 0)).collect();
        let active = Buffer::from_host(device, &active)?;
        let pass = Pass {
            rows: particles.len(),
            owned: &particles.owned(),
            position: [&position[0], &position[1], &position[2]],
            id: Some(&id),
            radius: Some(&device_radius),
            cutoff: radius.iter().copied().fold(0.0, f64::max),
            bx,
            active: (self.stride > 0).then_some(&active),
        };
        let sweep = Sweep::new(device, law, self.precision, self.symmetric)?.with_parts(self.parts);
        let mut memory = SweepMemory::new(device)?;
        let (inputs, written): (Vec<_>, Vec<_>) = (inputs.iter().collect(), outputs.iter().collect());
        sweep.run(&mut memory, &pass, &records(device, list)?, &inputs, &written)?;
        device.synchronize()?;
        outputs.iter().map(Buffer::download).collect()
    }
}

fn salt() -> lennard_jones_coulomb::Law<f64> {
    lennard_jones_coulomb::Law::new(
        lennard_jones::Law::truncated(1.0, 0.8),
        coulomb::Law::reaction_field(1.5, 80.0, 2.1),
    )
}

const KERNEL: &str = "sinc-6";

fn kernel() -> Kernel<f64> {
    Kernel::named(KERNEL).unwrap()
}

fn momentum() -> momentum_energy_volume::Law<f64> {
    let (crossing_start, crossing_slope) = (0.1, 10.0);
    momentum_energy_volume::Law {
        kernel: kernel(),
        beta: 2.0,
        conductivity: 0.3,
        switched_conductivity: 0.4,
        crossing_start,
        crossing_slope,
    }
}

/// Of sums in single precision, and in double, over the root mean square of all rows: a force of r^-13 has thirteen times what
/// offsets in single precision leave of a distance, and near neighbors several times the mean force.
const SINGLE: f64 = 6e-5;
const DOUBLE: f64 = 1e-11;

#[test]
fn forces_over_half_lists() {
    let device = Device::under_test().unwrap();
    let one = |kind| Kind { radii: false, ..kind };
    for (kind, parts) in [(OPEN, 1), (PERIODIC, 8), (PERIODIC, 1)] {
        // no pair of this seed is so near the cutoff that single precision would take it for one beyond
        let error = Trial { parts, ..HALF }.error(&device, &Forces(salt()), one(kind), 13);
        assert!(error < SINGLE, "{error:e}");
    }
    let double = Trial { precision: Precision::Double, parts: 2, ..HALF };
    for kind in [OPEN, PERIODIC] {
        let error = double.error(&device, &Energies(salt()), one(kind), 4);
        assert!(error < DOUBLE, "{error:e}");
    }
}

#[test]
fn a_law_without_inputs_in_double() {
    let device = Device::under_test().unwrap();
    let law = lennard_jones::Law::truncated(1.0, 0.8);
    for (kind, symmetric, parts) in [(OPEN, false, 2), (PERIODIC, false, 1), (OPEN, true, 8)] {
        let trial = Trial { precision: Precision::Double, symmetric, parts, stride: 0 };
        let error = trial.error(&device, &law, Kind { radii: false, ..kind }, 5);
        assert!(error < DOUBLE, "{error:e}");
    }
}

#[test]
fn a_cutoff_of_the_particle_itself() {
    let device = Device::under_test().unwrap();
    for (kind, parts) in [(OPEN, 1), (PERIODIC, 4)] {
        let error = Trial { parts, ..FULL }.error(&device, &density::Law { kernel: kernel() }, kind, 6);
        assert!(error < SINGLE, "{error:e}");
        let double = Trial { precision: Precision::Double, ..FULL };
        let error = double.error(&device, &gradients::Law::new(kernel()), kind, 7);
        assert!(error < DOUBLE, "{error:e}");
    }
}

#[test]
fn the_larger_radius_of_the_two() {
    let device = Device::under_test().unwrap();
    for (kind, parts) in [(OPEN, 4), (PERIODIC, 1)] {
        let error = Trial { parts, ..FULL }.error(&device, &momentum(), kind, 8);
        assert!(error < SINGLE, "{error:e}");
    }
}

#[test]
fn inactive_rows_keep_what_they_have() {
    let device = Device::under_test().unwrap();
    for stride in [3, 70] {
        let trial = Trial { stride, ..FULL };
        let error = trial.error(&device, &number_density::Law { kernel: kernel() }, PERIODIC, 9);
        assert!(error < SINGLE, "{error:e}");
    }
}

/// Super-clusters so large, and a box so small, that pairs find their nearest images one by one.
#[test]
fn images_that_no_frame_tells() {
    let device = Device::under_test().unwrap();
    let kind = Kind { owned: 130, halos: 0, periodic: true, radii: false };
    let error = HALF.error(&device, &Forces(salt()), kind, 10);
    assert!(error < SINGLE, "{error:e}");
}

#[test]
fn full_lists_give_the_same_bits() {
    let device = Device::under_test().unwrap();
    let fields = [Field::Position, Field::Mass, Field::SmoothingLength];
    let Scene { bx, particles, radius } = scene(PERIODIC, &fields, 11);
    let request = ListRequest::of(&bx, &particles, &radius, false, Coding::Nibble);
    let list = ClusterList::build(&request).unwrap();
    let run =
        || FULL.run(&device, &density::Law { kernel: kernel() }, (&bx, &particles, &radius), &list).unwrap();
    assert_eq!(run(), run());
}
