//! Motion on a device against the processor's: the same bits where kernels promise them. Runs on the
//! emulation, and on a GPU with HILBRIUM_DEVICE_UNDER_TEST=cuda.

use hilbrium::comm::Communicator;
use hilbrium::device::leapfrog::{self as device_leapfrog, Heated, Predicted};
use hilbrium::device::motion::{Motion, Moving};
use hilbrium::device::order::enter;
use hilbrium::device::time_step::{self as device_time_step, GasRates};
use hilbrium::device::values;
use hilbrium::device::{Buffer, Device, skin as device_skin};
use hilbrium::motion::bulk_motion;
use hilbrium::motion::steps::FirstHalf;
use hilbrium::motion::thermostat::Langevin;
use hilbrium::motion::{leapfrog, time_step, verlet};
use hilbrium::neighborhood::Skin;
use hilbrium::neighbors::Radii;
use hilbrium::particles::{Field, Particles};
use hilbrium::plan::TimeStepPlan;
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

const FIELDS: &[Field] = &[
    Field::Position,
    Field::Velocity,
    Field::Acceleration,
    Field::Mass,
    Field::SmoothingLength,
    Field::InternalEnergy,
    Field::InternalEnergyRate,
    Field::VelocityDivergence,
    Field::SignalSpeed,
    Field::SoundSpeed,
    Field::Image,
];

/// Row counts about the sizes of warps, blocks and pieces.
const COUNTS: [usize; 7] = [1, 31, 33, 256, 257, 2049, 5000];

/// Particles with numbers of either sign in all columns, lengths, masses and energies positive; the first
/// `before` rows are not owned.
fn particles(before: usize, count: usize, seed: u64) -> Particles {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut particles = Particles::new(FIELDS, before + count);
    for &field in FIELDS {
        for c in 0..field.components() {
            let positive = matches!(
                field,
                Field::Mass
                    | Field::SmoothingLength
                    | Field::InternalEnergy
                    | Field::SignalSpeed
                    | Field::SoundSpeed
            );
            for value in particles.component_mut(field, c) {
                *value = random.random_range(if positive { 0.1..2.0 } else { -1.0..1.0 });
                if field == Field::Image {
                    *value = value.round();
                }
            }
        }
    }
    for id in &mut particles.id {
        *id = random.random_range(0..1 << 40);
    }
    particles.set_owned(before..before + count);
    particles
}

/// The columns of particles on a device.
struct Columns {
    columns: BTreeMap<Field, Vec<Buffer<f64>>>,
    id: Buffer<u64>,
}

impl Columns {
    fn new(device: &Device, particles: &Particles) -> Self {
        let column = |field, c| Buffer::from_host(device, particles.component(field, c)).unwrap();
        let of = |&field: &Field| (field, (0..field.components()).map(|c| column(field, c)).collect());
        Columns {
            columns: particles.fields().iter().map(of).collect(),
            id: Buffer::from_host(device, &particles.id).unwrap(),
        }
    }

    fn vector(&self, field: Field) -> [&Buffer<f64>; 3] {
        let columns = &self.columns[&field];
        [&columns[0], &columns[1], &columns[2]]
    }

    fn scalar(&self, field: Field) -> &Buffer<f64> {
        &self.columns[&field][0]
    }

    fn moving(&self) -> Moving<'_> {
        let [position, velocity, acceleration] =
            [Field::Position, Field::Velocity, Field::Acceleration].map(|field| self.vector(field));
        Moving { position, velocity, acceleration }
    }

    fn heated(&self) -> Heated<'_> {
        Heated {
            energy: self.scalar(Field::InternalEnergy),
            rate: self.scalar(Field::InternalEnergyRate),
            length: self.scalar(Field::SmoothingLength),
            divergence: self.scalar(Field::VelocityDivergence),
        }
    }

    /// The largest difference from particles in any column, relative to 1.
    fn apart(&self, particles: &Particles, fields: &[Field]) -> f64 {
        let mut most = 0f64;
        for &field in fields {
            for (c, column) in self.columns[&field].iter().enumerate() {
                let expected = particles.component(field, c);
                for (row, (found, expected)) in column.download().unwrap().iter().zip(expected).enumerate() {
                    if found.to_bits() != expected.to_bits() {
                        most = most.max((found - expected).abs());
                        assert!(
                            (found - expected).abs() < 1e-12,
                            "{field:?} {c} row {row}: {found} {expected}"
                        );
                    }
                }
            }
        }
        most
    }
}

const MOVED: [Field; 3] = [Field::Position, Field::Velocity, Field::Acceleration];

#[test]
fn velocity_verlet_has_the_same_bits() {
    let device = Device::under_test().unwrap();
    let mut motion = Motion::new(&device).unwrap();
    for count in COUNTS {
        let mut particles = particles(64, count, count as u64);
        let columns = Columns::new(&device, &particles);
        let rows = particles.owned();
        motion.kick_and_drift(&columns.moving(), rows.clone(), 0.01, 1e3).unwrap();
        let expected = verlet::kick_and_drift(&mut particles, None, 0.01, 1e3);
        let found = motion.findings().unwrap().first_half;
        assert_eq!(found, FirstHalf { skipped: 0, displacement: expected.farthest, heat: 0.0 });
        assert_eq!(columns.apart(&particles, &MOVED), 0.0);
        motion.kick(&columns.moving(), rows.clone(), 0.01, false).unwrap();
        verlet::kick(&mut particles, 0.01, &verlet::SkippedChunks::default());
        assert_eq!(columns.apart(&particles, &MOVED), 0.0);
        motion.drift_back(&columns.moving(), rows, 0.01, true).unwrap();
        verlet::drift_back(&mut particles, 0.01, &verlet::SkippedChunks::default());
        assert_eq!(columns.apart(&particles, &MOVED), 0.0);
    }
}

#[test]
fn what_would_fly_away_is_left_and_the_rest_taken_back() {
    let device = Device::under_test().unwrap();
    let mut motion = Motion::new(&device).unwrap();
    let mut particles = particles(64, 3000, 5);
    particles.component_mut(Field::Acceleration, 1)[64 + 2047] = 1e30;
    particles.component_mut(Field::Velocity, 2)[64 + 70] = f64::NAN;
    particles.component_mut(Field::Velocity, 0)[64 + 2999] = f64::INFINITY;
    let columns = Columns::new(&device, &particles);
    let rows = particles.owned();
    motion.kick_and_drift(&columns.moving(), rows.clone(), 0.01, 1e3).unwrap();
    assert_eq!(motion.findings().unwrap().first_half.skipped, 3);
    assert_eq!(motion.left_rows(rows.clone()).unwrap(), [64 + 70, 64 + 2047, 64 + 2999]);
    motion.drift_back(&columns.moving(), rows.clone(), 0.01, true).unwrap();
    motion.kick(&columns.moving(), rows, -0.01, true).unwrap();
    particles.component_mut(Field::Velocity, 2)[64 + 70] = 0.0;
    let mut velocity = columns.columns[&Field::Velocity][2].download().unwrap();
    assert!(velocity[64 + 70].is_nan());
    velocity[64 + 70] = 0.0;
    let restored = Buffer::from_host(&device, &velocity).unwrap();
    let found = Columns {
        columns: BTreeMap::from([(Field::DivergenceGradient, vec![restored])]),
        id: Buffer::new(&device, 0).unwrap(),
    };
    let mut expected = Particles::new(&[Field::DivergenceGradient], velocity.len());
    expected
        .component_mut(Field::DivergenceGradient, 0)
        .copy_from_slice(particles.component(Field::Velocity, 2));
    assert!(found.apart(&expected, &[Field::DivergenceGradient]) < 1e-15);
    assert!(columns.apart(&particles, &[Field::Position]) < 1e-15);
}

#[test]
fn accelerations_are_forces_over_masses_and_the_first_that_is_none_is_named() {
    let device = Device::under_test().unwrap();
    let mut motion = Motion::new(&device).unwrap();
    let mut particles = particles(0, 1000, 9);
    let force = particles.clone();
    let columns = Columns::new(&device, &particles);
    let forces = Columns::new(&device, &force);
    let accelerate = |particles: &mut Particles, force: &Particles| {
        for c in 0..3 {
            for row in 0..1000 {
                let inverse = 1.0 / force.scalar(Field::Mass)[row];
                particles.component_mut(Field::Acceleration, c)[row] =
                    force.component(Field::Position, c)[row] * inverse;
            }
        }
    };
    let (force_there, mass) = (forces.vector(Field::Position), columns.scalar(Field::Mass));
    motion.accelerate(force_there, mass, &columns.moving(), 0..1000, 0.0, f64::INFINITY).unwrap();
    accelerate(&mut particles, &force);
    assert_eq!(columns.apart(&particles, &MOVED), 0.0);
    motion.accelerate(force_there, mass, &columns.moving(), 0..1000, 0.02, f64::INFINITY).unwrap();
    verlet::kick(&mut particles, 0.02, &verlet::SkippedChunks::default());
    assert_eq!(columns.apart(&particles, &MOVED), 0.0);
    assert_eq!(motion.findings().unwrap().not_finite, None);

    let before = columns.vector(Field::Velocity).map(|column| column.download().unwrap());
    let mut spoiled = force.clone();
    spoiled.component_mut(Field::Position, 1)[700] = f64::NAN;
    spoiled.component_mut(Field::Position, 2)[633] = f64::INFINITY;
    let spoiled = Columns::new(&device, &spoiled);
    let force_there = spoiled.vector(Field::Position);
    motion.accelerate(force_there, mass, &columns.moving(), 0..1000, 0.02, f64::INFINITY).unwrap();
    assert_eq!(motion.findings().unwrap().not_finite, Some(633));
    let after = columns.vector(Field::Velocity).map(|column| column.download().unwrap());
    for row in [633, 700] {
        assert!((0..3).all(|c| before[c][row] == after[c][row]), "no kick without a finite acceleration");
    }
    assert!(before[0][634] != after[0][634]);

    motion.clear().unwrap();
    motion.kick_finite(&columns.moving(), 0..1000, 0.02).unwrap();
    assert_eq!(motion.findings().unwrap().not_finite, Some(633));
}

/// A step is enqueued before the host knows its displacements: forces whose list may be too short are
/// dropped.
#[test]
fn accelerations_of_a_drift_beyond_the_bound_are_dropped() {
    let device = Device::under_test().unwrap();
    let mut motion = Motion::new(&device).unwrap();
    let langevin = Langevin { thermal_energy: 1.3, friction: 0.7, seed: 5 };
    let mut particles = particles(0, 1000, 12);
    let force = Columns::new(&device, &self::particles(0, 1000, 13));
    for (refused, thermostat) in [(false, false), (true, false), (false, true)] {
        if refused {
            particles.component_mut(Field::Velocity, 0)[500] = f64::INFINITY;
        }
        let columns = Columns::new(&device, &particles);
        let (moving, mass) = (columns.moving(), columns.scalar(Field::Mass));
        let acceleration = || columns.vector(Field::Acceleration).map(|column| column.download().unwrap());
        let before = acceleration();
        if thermostat {
            motion
                .langevin_kick_and_drift(&langevin, &moving, mass, &columns.id, 0..1000, 0.01, 1, 1e3)
                .unwrap();
        } else {
            motion.kick_and_drift(&moving, 0..1000, 0.01, 1e3).unwrap();
        }
        let displacement = motion.findings().unwrap().first_half.displacement;
        let mut accelerate = |most: f64| {
            let force = force.vector(Field::Position);
            motion.accelerate(force, mass, &moving, 0..1000, 0.01, most).unwrap();
            motion.findings().unwrap().within_bound
        };
        assert!(!accelerate(0.999 * displacement));
        assert_eq!(acceleration(), before, "{refused} {thermostat}");
        assert!(accelerate(1.001 * displacement));
        assert_eq!(acceleration() == before, refused, "{refused} {thermostat}");
        if refused {
            particles.component_mut(Field::Velocity, 0)[500] = 0.0;
        }
    }
}

#[test]
fn the_langevin_thermostat_has_the_same_noise() {
    let device = Device::under_test().unwrap();
    let mut motion = Motion::new(&device).unwrap();
    let langevin = Langevin { thermal_energy: 1.3, friction: 0.7, seed: 0x1234_5678_9abc_def0 };
    for count in COUNTS {
        let mut particles = particles(0, count, 100 + count as u64);
        let columns = Columns::new(&device, &particles);
        let (moving, mass) = (columns.moving(), columns.scalar(Field::Mass));
        motion
            .langevin_kick_and_drift(&langevin, &moving, mass, &columns.id, 0..count, 0.05, 1 << 33 | 7, 1e3)
            .unwrap();
        let found = motion.findings().unwrap().first_half;
        let expected = langevin.kick_and_drift(&mut particles, 0.05, 1 << 33 | 7, 1e3);
        assert_eq!((found.skipped, found.displacement), (0, expected.farthest));
        assert!(
            (found.heat - expected.heat).abs() < 1e-13 * count as f64,
            "{} {}",
            found.heat,
            expected.heat
        );
        assert_eq!(columns.apart(&particles, &MOVED), 0.0);
        motion
            .langevin_drift_back(&langevin, &moving, mass, &columns.id, 0..count, 0.05, 1 << 33 | 7, true)
            .unwrap();
        langevin.drift_back(&mut particles, 0.05, 1 << 33 | 7, &verlet::SkippedChunks::default());
        assert_eq!(columns.apart(&particles, &MOVED), 0.0);
    }
}

#[test]
fn the_motion_of_the_whole_is_summed_scaled_and_shifted() {
    let device = Device::under_test().unwrap();
    let mut motion = Motion::new(&device).unwrap();
    let solo = Communicator::solo();
    for count in COUNTS {
        let mut particles = particles(64, count, 200 + count as u64);
        let columns = Columns::new(&device, &particles);
        let (velocity, rows) = (columns.vector(Field::Velocity), particles.owned());
        let found = motion.whole(velocity, columns.scalar(Field::Mass), rows.clone()).unwrap();
        let again = motion.whole(velocity, columns.scalar(Field::Mass), rows.clone()).unwrap();
        assert_eq!(found, again);
        let expected = bulk_motion::BulkMotion::of(&mut particles, &solo);
        assert_eq!(found.particles, expected.particles);
        let tolerance = 1e-13 * count as f64;
        assert!((found.mass - expected.mass).abs() < tolerance);
        assert!((found.kinetic - expected.kinetic).abs() < tolerance);
        assert!((found.momentum - expected.momentum).norm() < tolerance);
        let drift = expected.drift();
        motion.scale(velocity, rows.clone(), 0.9, drift * (1.0 - 0.9)).unwrap();
        bulk_motion::scale(&mut particles, 0.9, drift * (1.0 - 0.9));
        motion.scale(velocity, rows, 1.0, -drift).unwrap();
        bulk_motion::scale(&mut particles, 1.0, -drift);
        assert_eq!(columns.apart(&particles, &MOVED), 0.0);
    }
    let empty = Columns::new(&device, &particles(0, 0, 1));
    let whole = motion.whole(empty.vector(Field::Velocity), empty.scalar(Field::Mass), 0..0).unwrap();
    assert_eq!((whole.particles, whole.mass, whole.kinetic), (0, 0.0, 0.0));
}

#[test]
fn the_leapfrog_predicts_corrects_and_goes_back() {
    let device = Device::under_test().unwrap();
    for count in COUNTS {
        let mut particles = particles(64, count, 300 + count as u64);
        // cooling that the floor stops
        particles.scalar_mut(Field::InternalEnergyRate)[64] = -1e5;
        let columns = Columns::new(&device, &particles);
        let (moving, heated, rows) = (columns.moving(), columns.heated(), particles.owned());
        device_leapfrog::kick_and_drift(&device, &moving, &heated, rows.clone(), 0.02).unwrap();
        leapfrog::kick_and_drift(&mut particles, 0.02);
        let exact = [Field::Position, Field::Velocity, Field::InternalEnergy];
        assert_eq!(columns.apart(&particles, &exact), 0.0);
        assert!(columns.apart(&particles, &[Field::SmoothingLength]) < 1e-15);

        // the next forces, and the rates that the step was predicted with
        let forces = self::particles(64, count, 400 + count as u64);
        let next = Columns::new(&device, &forces);
        for c in 0..3 {
            particles.add(&[Field::Acceleration]);
            particles
                .component_mut(Field::Acceleration, c)
                .copy_from_slice(forces.component(Field::Acceleration, c));
        }
        particles.add(&[Field::InternalEnergyRate]);
        particles
            .scalar_mut(Field::InternalEnergyRate)
            .copy_from_slice(forces.scalar(Field::InternalEnergyRate));
        let old = Predicted {
            acceleration: columns.vector(Field::Acceleration),
            rate: columns.scalar(Field::InternalEnergyRate),
        };
        let before = particles.clone();
        let kicked = Moving { acceleration: next.vector(Field::Acceleration), ..moving };
        let gas = Heated { rate: next.scalar(Field::InternalEnergyRate), ..heated };
        device_leapfrog::kick(&device, &kicked, &gas, &old, rows.clone(), 0.02).unwrap();
        leapfrog::kick(&mut particles, 0.02);
        assert_eq!(columns.apart(&particles, &exact), 0.0);

        // another copy goes back
        let mut particles = before;
        let states = Columns::new(&device, &particles);
        let Moving { position, velocity, .. } = states.moving();
        let energy = states.scalar(Field::InternalEnergy);
        device_leapfrog::undo(&device, position, velocity, energy, &old, rows, 0.02).unwrap();
        leapfrog::undo(&mut particles, 0.02);
        assert_eq!(states.apart(&particles, &exact), 0.0);
    }
}

#[test]
fn steps_that_lose_the_state_are_found() {
    let device = Device::under_test().unwrap();
    let lost = |particles: &Particles, dt: f64| {
        let columns = Columns::new(&device, particles);
        let (moving, heated) = (columns.moving(), columns.heated());
        let lost = device_leapfrog::lost(&device, &moving, &heated, particles.owned(), dt, 1.0).unwrap();
        assert_eq!(lost == 0, leapfrog::can_undo(particles, dt, 1.0));
        lost
    };
    let mut particles = particles(64, 1000, 6);
    assert_eq!(lost(&particles, 0.1), 0);
    particles.component_mut(Field::Acceleration, 2)[64 + 999] = 1e10;
    particles.scalar_mut(Field::InternalEnergyRate)[64 + 5] = 1e8;
    particles.component_mut(Field::Velocity, 1)[64 + 300] = f64::NAN;
    particles.component_mut(Field::Velocity, 1)[3] = f64::NAN;
    assert_eq!(lost(&particles, 0.1), 3);
    assert_eq!(lost(&particles, 1e4), 1000);
}

#[test]
fn the_time_step_is_that_of_the_criteria() {
    let device = Device::under_test().unwrap();
    let plan = TimeStepPlan {
        courant: 0.3,
        acceleration: 0.2,
        energy: 0.25,
        expansion: 0.1,
        growth: 1.1,
        largest: None,
        smallest: 0.0,
        first: None,
        fixed: None,
    };
    let solo = Communicator::solo();
    let limits = [
        time_step::Limit::Courant,
        time_step::Limit::Acceleration,
        time_step::Limit::Expansion,
        time_step::Limit::Energy,
    ];
    for (case, count) in COUNTS.into_iter().enumerate() {
        let mut particles = particles(64, count, 500 + count as u64);
        let row = 64 + count / 2;
        match case {
            0 => particles.scalar_mut(Field::SignalSpeed)[row] = 1e4,
            1 => particles.component_mut(Field::Acceleration, 0)[row] = 1e8,
            2 => particles.scalar_mut(Field::VelocityDivergence)[row] = -1e5,
            // a cold gas that cools, and one that is heated
            3 | 4 => {
                particles.scalar_mut(Field::InternalEnergyRate)[row] = if case == 3 { -1e6 } else { 1e6 };
                particles.scalar_mut(Field::InternalEnergy)[row] = 1e-6;
            }
            // no limit at all from a particle at rest, nor from what is no number
            _ => {
                for field in [Field::SignalSpeed, Field::SoundSpeed, Field::InternalEnergyRate] {
                    particles.scalar_mut(field)[row] = 0.0;
                }
                particles.scalar_mut(Field::VelocityDivergence)[row] = f64::NAN;
                particles.set_vector(Field::Acceleration, row, Vec3d::zeros());
            }
        }
        let columns = Columns::new(&device, &particles);
        let gas = GasRates {
            length: columns.scalar(Field::SmoothingLength),
            signal: Some(columns.scalar(Field::SignalSpeed)),
            sound: Some(columns.scalar(Field::SoundSpeed)),
            divergence: columns.scalar(Field::VelocityDivergence),
            energy: columns.scalar(Field::InternalEnergy),
            rate: columns.scalar(Field::InternalEnergyRate),
        };
        let found = device_time_step::criteria(
            &device,
            &plan,
            0.0,
            columns.vector(Field::Acceleration),
            Some(&gas),
            particles.owned(),
        )
        .unwrap();
        let expected = time_step::next(&plan, 0.0, &particles, &solo, Some(f64::INFINITY));
        let least =
            found.into_iter().zip(limits).fold((f64::INFINITY, time_step::Limit::Setting), |best, one| {
                if one.0 < best.0 { one } else { best }
            });
        assert_eq!(least, expected, "case {case}: {found:?}");
        if case < 4 {
            assert_eq!(expected.1, limits[case]);
        }
        // without a gas the softening limits
        let found = device_time_step::criteria(
            &device,
            &plan,
            0.05,
            columns.vector(Field::Acceleration),
            None,
            particles.owned(),
        )
        .unwrap();
        particles.remove(&[Field::InternalEnergy]);
        assert_eq!(found[1], time_step::next(&plan, 0.05, &particles, &solo, None).0);
        assert!([0, 2, 3].iter().all(|&k| found[k] == f64::INFINITY));
    }
}

fn some_box() -> SimulationBox {
    SimulationBox {
        lower: Vec3d::new(-0.25, -1.0, 0.1),
        upper: Vec3d::new(0.75, 1.0, 0.3),
        boundary: [Boundary::Periodic, Boundary::Open, Boundary::Periodic],
    }
}

#[test]
fn particles_enter_the_box() {
    let device = Device::under_test().unwrap();
    let bx = some_box();
    for count in COUNTS {
        let mut particles = particles(64, count, 600 + count as u64);
        let columns = Columns::new(&device, &particles);
        let rows = particles.owned();
        let (position, image) = (columns.vector(Field::Position), columns.vector(Field::Image));
        let entered = enter(&device, &bx, position, Some(image), rows.clone()).unwrap();
        assert_eq!(entered.nowhere, [None; 3]);
        for d in 0..3 {
            let column = &particles.component(Field::Position, d)[rows.clone()];
            let least = column.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(entered.extent[d], [least, greatest]);
        }
        for row in rows.clone() {
            let outside = particles.vector_at(Field::Position, row);
            let mut inside = bx.wrap(outside);
            let mut image = particles.vector_at(Field::Image, row);
            for d in [0, 2] {
                if (bx.lower[d]..bx.upper[d]).contains(&outside[d]) {
                    inside[d] = outside[d];
                } else {
                    image[d] += ((outside[d] - inside[d]) / bx.lengths()[d]).round();
                }
            }
            particles.set_vector(Field::Position, row, inside);
            particles.set_vector(Field::Image, row, image);
        }
        assert_eq!(columns.apart(&particles, &[Field::Position, Field::Image]), 0.0);
    }
    let mut particles = particles(0, 3000, 7);
    particles.component_mut(Field::Position, 0)[2500] = f64::NAN;
    particles.component_mut(Field::Position, 0)[2100] = -1e151;
    particles.component_mut(Field::Position, 2)[2999] = f64::INFINITY;
    let columns = Columns::new(&device, &particles);
    let entered = enter(&device, &bx, columns.vector(Field::Position), None, 0..3000).unwrap();
    assert_eq!(entered.nowhere, [Some(2100), None, Some(2999)]);
    let none = enter(&device, &bx, columns.vector(Field::Position), None, 0..0).unwrap();
    assert_eq!(none.extent, [[f64::INFINITY, f64::NEG_INFINITY]; 3]);
}

#[test]
fn what_is_not_finite_is_found_and_mended() {
    let device = Device::under_test().unwrap();
    let mut particles = particles(64, 5000, 8);
    particles.scalar_mut(Field::Mass)[10] = f64::NAN;
    particles.scalar_mut(Field::InternalEnergy)[4321] = f64::NEG_INFINITY;
    particles.scalar_mut(Field::InternalEnergy)[4999] = f64::NAN;
    let columns = Columns::new(&device, &particles);
    let energy = columns.scalar(Field::InternalEnergy);
    let looked = [columns.scalar(Field::Mass), energy, columns.scalar(Field::SoundSpeed)];
    let found = values::first_not_finite(&device, &looked, particles.owned()).unwrap();
    assert_eq!(found, [None, Some(4321), None], "row 10 is not owned");
    values::mend(&device, energy, 0.25, particles.owned()).unwrap();
    let found = values::first_not_finite(&device, &looked, particles.owned()).unwrap();
    assert_eq!(found, [None; 3]);
    assert_eq!(energy.download().unwrap()[4321], 0.25);
}

#[test]
fn the_skin_is_used_as_on_the_processor() {
    let device = Device::under_test().unwrap();
    for boundary in [Boundary::Open, Boundary::Periodic] {
        let bx = SimulationBox { boundary: [boundary; 3], ..some_box() };
        for count in COUNTS {
            let mut particles = particles(64, count, 700 + count as u64);
            let rows = particles.owned();
            let columns = Columns::new(&device, &particles);
            let (position, length) =
                (columns.vector(Field::Position), columns.scalar(Field::SmoothingLength));
            let radii = |particles: &Particles| {
                particles.scalar(Field::SmoothingLength).iter().map(|h| 2.08 * h).collect::<Vec<f64>>()
            };
            let mut all = device_skin::Skin::new(&device, 0.3).unwrap();
            let mut each = device_skin::Skin::new(&device, 0.3).unwrap();
            assert_eq!(all.used(&bx, position, None, rows.clone()).unwrap(), f64::INFINITY);
            all.remember(position, rows.clone(), 0.17).unwrap();
            each.remember_each(position, rows.clone(), length, 2.08).unwrap();
            let (mut expected_all, mut expected_each) = (Skin::new(0.3), Skin::new(0.3));
            expected_all.remember(&bx, &particles, Radii::All(0.17));
            expected_each.remember(&bx, &particles, Radii::Each(&radii(&particles)));
            assert_eq!(each.used(&bx, position, Some(length), rows.clone()).unwrap(), 0.0);

            let mut random = ChaCha8Rng::seed_from_u64(count as u64);
            for row in rows.clone() {
                let step = Vec3d::from_fn(|_, _| random.random_range(-0.03..0.03));
                let moved = bx.wrap(particles.vector_at(Field::Position, row) + step);
                particles.set_vector(Field::Position, row, moved);
                particles.scalar_mut(Field::SmoothingLength)[row] *= random.random_range(0.9..1.1);
            }
            let columns = Columns::new(&device, &particles);
            let (position, length) =
                (columns.vector(Field::Position), columns.scalar(Field::SmoothingLength));
            let used = all.used(&bx, position, None, rows.clone()).unwrap();
            assert_eq!(used, expected_all.used(&bx, &particles, Radii::All(0.17)));
            let used = each.used(&bx, position, Some(length), rows.clone()).unwrap();
            assert_eq!(used, expected_each.used(&bx, &particles, Radii::Each(&radii(&particles))));
            let limits = Buffer::zeros(&device, particles.len()).unwrap();
            each.limits(&bx, position, &limits).unwrap();
            let limits = limits.download().unwrap();
            assert_eq!(limits[rows.clone()], expected_each.limits(&bx, &particles));

            particles.component_mut(Field::Position, 1)[rows.end - 1] = f64::NAN;
            let columns = Columns::new(&device, &particles);
            let position = columns.vector(Field::Position);
            assert_eq!(all.used(&bx, position, None, rows.clone()).unwrap(), f64::INFINITY);
            assert_eq!(each.used(&bx, position, Some(length), rows.clone()).unwrap(), f64::INFINITY);
            assert_eq!(all.used(&bx, position, None, rows.start..rows.end - 1).unwrap(), f64::INFINITY);
        }
    }
}
