//! A gas on a device against the processor's: its kernels one by one, then steps of whole runs. Runs on the emulation, and
//! on a GPU with HILBRIUM_DEVICE_UNDER_TEST=cuda.

use crate::common::{difference, plan, rows, started};
use hilbrium::clock::Clock;
use hilbrium::comm::Communicator;
use hilbrium::device::arguments::state::{IdealGasArguments, IsothermalGasArguments};
use hilbrium::device::arguments::viscosity::SwitchViscosityArguments;
use hilbrium::device::arguments::{Input, Rows};
use hilbrium::device::columns::Columns;
use hilbrium::device::exchange::Exchange;
use hilbrium::device::gas::{Gas, Settings};
use hilbrium::device::smoothing::Searches;
use hilbrium::device::totals::totals;
use hilbrium::device::{Buffer, Device};
use hilbrium::laws::viscosity_switch::ViscositySwitch;
use hilbrium::neighborhood::Method;
use hilbrium::observe::observe;
use hilbrium::particles::{Field, Particles};
use hilbrium::plan::{EquationOfState, Plan};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use hilbrium::sph::smoothing::{Next, Search, target};
use hilbrium::start;
use hilbrium::step::Simulation;
use hilbrium::units::{UnitSystem, Units};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Particles with numbers of either sign, or positive ones, in all columns.
fn particles(fields: &[Field], count: usize, seed: u64) -> Particles {
    const SIGNED: [Field; 5] = [
        Field::Position,
        Field::Velocity,
        Field::VelocityDivergence,
        Field::DivergenceGradient,
        Field::Potential,
    ];
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut particles = Particles::new(fields, count);
    for &field in fields {
        for c in 0..field.components() {
            let lower = if SIGNED.contains(&field) { -1.0 } else { 0.1 };
            particles.component_mut(field, c).fill_with(|| random.random_range(lower..1.0));
        }
    }
    particles
}

/// The largest relative difference of a column of a device from one of the host.
fn apart(column: &Buffer<f64>, expected: &[f64]) -> f64 {
    let found = column.download().unwrap();
    let both = found.iter().zip(expected);
    both.map(|(a, b)| if a == b { 0.0 } else { ((a - b) / b).abs() }).fold(0.0, f64::max)
}

#[test]
fn the_equations_of_state_have_the_same_bits() {
    let device = Device::under_test().unwrap();
    let fields = [Field::Density, Field::InternalEnergy, Field::Pressure, Field::SoundSpeed];
    let mut particles = particles(&fields, 1000, 1);
    let columns = Columns::upload(&device, &particles, &fields).unwrap();
    let [density, energy, pressure, sound] = fields.map(|field| columns.scalar(field));
    for state in
        [EquationOfState::IdealGas { gamma: 5.0 / 3.0 }, EquationOfState::Isothermal { sound_speed: 0.7 }]
    {
        let rows = Rows { begin: 0, end: 1000 };
        match state {
            EquationOfState::IdealGas { gamma } => {
                let arguments = IdealGasArguments {
                    density: density.into(),
                    energy: energy.into(),
                    gamma,
                    pressure: pressure.into(),
                    sound_speed: sound.into(),
                    rows,
                };
                device.run(4, 256, &arguments)
            }
            EquationOfState::Isothermal { sound_speed: speed } => {
                let arguments = IsothermalGasArguments {
                    density: density.into(),
                    speed,
                    pressure: pressure.into(),
                    sound_speed: sound.into(),
                    rows,
                };
                device.run(4, 256, &arguments)
            }
        }
        .unwrap();
        state.apply(&mut particles);
        assert_eq!(pressure.download().unwrap(), particles.scalar(Field::Pressure));
        assert_eq!(sound.download().unwrap(), particles.scalar(Field::SoundSpeed));
    }
}

#[test]
fn the_viscosity_switch_is_that_of_the_processor() {
    let device = Device::under_test().unwrap();
    let fields = [
        Field::SmoothingLength,
        Field::SoundSpeed,
        Field::VelocityDivergence,
        Field::VelocityCurl,
        Field::DivergenceGradient,
        Field::Viscosity,
    ];
    for (case, limiter) in [false, true].into_iter().enumerate() {
        let mut particles = particles(&fields, 3000, 2 + case as u64);
        particles.scalar_mut(Field::VelocityDivergence)[7] = f64::NAN;
        let columns = Columns::upload(&device, &particles, &fields).unwrap();
        let [h, c, div, curl] = [fields[0], fields[1], fields[2], fields[3]].map(|f| columns.scalar(f));
        let alpha = columns.scalar(Field::Viscosity);
        let switch = ViscositySwitch { minimum: 0.05, maximum: 0.8, decay: 0.2, limiter };
        let dt = 0.3;
        let arguments = SwitchViscosityArguments {
            smoothing_length: h.into(),
            sound_speed: c.into(),
            divergence: div.into(),
            curl: curl.into(),
            divergence_gradient: columns.vector(Field::DivergenceGradient).map(Input::from),
            viscosity: alpha.into(),
            minimum: switch.minimum,
            maximum: switch.maximum,
            decay: switch.decay,
            limiter: u32::from(limiter),
            step: dt,
            rows: Rows { begin: 0, end: 3000 },
        };
        device.run(12, 256, &arguments).unwrap();
        switch.update_all(&mut particles, dt);
        assert!(apart(alpha, particles.scalar(Field::Viscosity)) < 4e-16);
    }
}

/// Searches in number densities c h^p, some with bounds that they reach: every step does what the processor's does.
#[test]
fn searches_take_the_same_steps() {
    const COUNT: usize = 2000;
    let device = Device::under_test().unwrap();
    let fields = [
        Field::SmoothingLength,
        Field::NumberDensity,
        Field::NumberDensitySlope,
        Field::Mass,
        Field::Density,
    ];
    let mut particles = particles(&fields, COUNT, 4);
    let mut columns = Columns::upload(&device, &particles, &fields).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let laws: Vec<[f64; 2]> = (0..COUNT)
        .map(|_| [10f64.powf(random.random_range(-3.0..4.0)), random.random_range(-3.1..2.0)])
        .collect();
    let support: Vec<f64> = (0..COUNT).map(|_| random.random_range(0.4..9.0)).collect();
    let supports = Buffer::from_host(&device, &support).unwrap();
    let (largest, tolerance) = (3.0, 1e-4);
    let mut searches = Searches::new(&device, COUNT, largest).unwrap();
    let mut expected = vec![Search::new(largest); COUNT];
    let mut active = vec![true; COUNT];
    let mut outgrown = vec![false; COUNT];
    let mut seen = [0u64; 3];
    for round in 0..2 {
        for _ in 0..60 {
            for (row, [constant, power]) in laws.iter().enumerate() {
                let h = particles.scalar(Field::SmoothingLength)[row];
                particles.scalar_mut(Field::NumberDensity)[row] = constant * h.powf(*power);
                particles.scalar_mut(Field::NumberDensitySlope)[row] = constant * power * h.powf(*power);
            }
            for field in [Field::NumberDensity, Field::NumberDensitySlope, Field::SmoothingLength] {
                columns.put(field, vec![Buffer::from_host(&device, particles.scalar(field)).unwrap()]);
            }
            let found = searches.step(&columns, &supports, 100.0, tolerance).unwrap();
            let mut counts = [0u64; 3];
            for row in (0..COUNT).filter(|&row| active[row]).collect::<Vec<_>>() {
                let (h, n) = (
                    particles.scalar(Field::SmoothingLength)[row],
                    particles.scalar(Field::NumberDensity)[row],
                );
                let slope = particles.scalar(Field::NumberDensitySlope)[row];
                let next = expected[row].next(h, n, slope, target(100.0), tolerance);
                let (Next::Found(to) | Next::Try(to) | Next::Beyond(to)) = next;
                particles.scalar_mut(Field::SmoothingLength)[row] = to;
                particles.scalar_mut(Field::Density)[row] =
                    particles.scalar(Field::Mass)[row] * (n + slope * (to / h - 1.0)).max(0.1 * n);
                outgrown[row] = 2.0 * to > support[row];
                let lonely = matches!(next, Next::Beyond(_)) && !outgrown[row];
                active[row] = !outgrown[row] && matches!(next, Next::Try(_));
                counts[0] += u64::from(outgrown[row]);
                counts[1] += u64::from(lonely);
                counts[2] += u64::from(active[row]);
            }
            assert_eq!([found.outgrown, found.lonely, found.searching], counts);
            assert!(
                apart(columns.scalar(Field::SmoothingLength), particles.scalar(Field::SmoothingLength))
                    < 1e-15
            );
            assert!(apart(columns.scalar(Field::Density), particles.scalar(Field::Density)) < 4e-15);
            // the next step of both begins with the same numbers
            (0..3).for_each(|k| seen[k] += counts[k]);
            if counts[2] == 0 {
                break;
            }
        }
        if round == 0 {
            searches.restart().unwrap();
            for row in (0..COUNT).filter(|&row| outgrown[row]) {
                expected[row] = Search::new(largest);
            }
            active.copy_from_slice(&outgrown);
            outgrown.fill(false);
            let active: Vec<u8> = active.iter().map(|&active| u8::from(active)).collect();
            assert_eq!(searches.active().download().unwrap()[..COUNT], active);
        }
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
}

#[test]
fn totals_are_those_of_the_record() {
    let device = Device::under_test().unwrap();
    let common = [Field::Position, Field::Velocity, Field::Mass];
    let gas = [Field::InternalEnergy, Field::Potential, Field::Density, Field::SmoothingLength];
    for (fields, count) in [
        (common.to_vec(), 1),
        (common.to_vec(), 5000),
        ([&common[..], &gas].concat(), 4097),
        (common.to_vec(), 0),
    ] {
        let particles = particles(&fields, count, count as u64);
        let columns = Columns::upload(&device, &particles, &fields).unwrap();
        let found = totals(&columns).unwrap();
        assert_eq!(found, totals(&columns).unwrap());
        let bx = SimulationBox {
            lower: Vec3d::repeat(-1.0),
            upper: Vec3d::repeat(1.0),
            boundary: [Boundary::Open; 3],
        };
        let units = Units::new(UnitSystem::Reduced);
        let seen = observe(&Communicator::solo(), &bx, &particles, &units, 0, 0.0, 0.0);
        let mut expected = vec![seen.mass, seen.kinetic, seen.thermal, seen.potential];
        let vectors = [seen.momentum, seen.angular_momentum, seen.center_of_mass * seen.mass];
        expected.extend(vectors.iter().flat_map(|vector| vector.iter().copied()));
        expected.push(0.0);
        for (found, expected) in found.sums.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-14 * (count as f64 + 1.0), "{found} {expected}");
        }
        assert_eq!(found.maximum_density, seen.maximum_density);
        assert_eq!(found.minimum_smoothing_length, seen.minimum_smoothing_length);
    }
}

fn evrard(formulation: &str, precision: &str, more: &str) -> Plan {
    plan(&format!(
        r#"
        [run]
        steps = 20
        device = "cpu"
        precision = "{precision}"
        [start.evrard]
        particles = 400
        [sph]
        formulation = "{formulation}"
        neighbors = 40
        {more}
        "#
    ))
}

fn sedov(formulation: &str, precision: &str, more: &str) -> Plan {
    plan(&format!(
        r#"
        [run]
        steps = 20
        device = "cpu"
        precision = "{precision}"
        [start.sedov]
        particles = 512
        [space]
        boundary = "periodic"
        [sph]
        formulation = "{formulation}"
        neighbors = 40
        {more}
        "#
    ))
}

/// A disturbed lattice of a gas that a bath keeps at its temperature.
fn isothermal() -> Plan {
    plan(
        r#"
        [run]
        steps = 20
        device = "cpu"
        precision = "double"
        [space]
        boundary = "periodic"
        [start.lattice]
        kind = "bcc"
        cells = [7, 7, 7]
        spacing = 0.1
        density = 1.0
        internal_energy = 1.0
        jitter = 0.15
        [sph]
        equation_of_state = "isothermal"
        sound_speed = 0.5
        neighbors = 40
        [neighbors]
        skin = 0.2
        "#,
    )
}

fn settings(plan: &Plan, simulation: &Simulation) -> Settings {
    Settings {
        sph: plan.sph.clone().expect("a gas"),
        gravity: simulation.gravity.as_ref().map(|gravity| gravity.plan),
        external: simulation.external,
        precision: simulation.precision,
        skin: plan.neighbors.min_skin(),
        method: Method::Clusters,
    }
}

const FORCES: &[Field] = &[
    Field::Position,
    Field::Velocity,
    Field::SmoothingLength,
    Field::Density,
    Field::InternalEnergy,
    Field::Viscosity,
    Field::VelocityDivergence,
    Field::Acceleration,
    Field::InternalEnergyRate,
    Field::Pressure,
    Field::SoundSpeed,
    Field::SignalSpeed,
];

/// A device of one rank.
fn alone(device: &Device) -> Exchange {
    Exchange::new(device, &Communicator::solo()).unwrap()
}

/// The largest difference, relative to the root of the mean square of a quantity, of the particles of a device from those
/// of a simulation.
fn differs(gas: &Gas, simulation: &Simulation, fields: &[Field]) -> f64 {
    let mut host = Particles::new(&[], 0);
    gas.columns.download(&mut host, fields).unwrap();
    difference(&rows(&simulation.particles, fields), &rows(&host, fields))
}

/// Some steps of a plan on both, after which they must be closer than this.
fn follow(plan: &Plan, unequal: bool, steps: usize, tolerance: f64) {
    let device = Device::under_test().unwrap();
    let comm = Communicator::solo();
    let (space, mut begin) = start::particles(plan, &comm, &Simulation::fields(plan)).unwrap();
    if unequal {
        let mut random = ChaCha8Rng::seed_from_u64(8);
        begin.scalar_mut(Field::Mass).iter_mut().for_each(|mass| *mass *= random.random_range(0.5..2.0));
    }
    let mut simulation = Simulation::new(plan.clone(), &comm, space, begin.clone());
    simulation.evaluate_forces(0.0).unwrap();
    let _ = simulation.choose_step(None);
    let settings = settings(plan, &simulation);
    let mut gas = Gas::new(&alone(&device), &settings, &space, &begin).unwrap();
    let mut clock = Clock::new();
    gas.hydrodynamics.frugal = unequal;
    gas.evaluate(0.0, &mut clock).unwrap();
    assert_eq!(gas.bx, simulation.domain.bx);
    let apart = differs(&gas, &simulation, FORCES);
    assert!(apart < tolerance, "{apart:e} apart after the first forces");
    let mut reused = 0;
    for step in 0..steps {
        let (dt, builds) = (simulation.next_step, gas.builds());
        simulation.advance(dt).unwrap();
        gas.advance(dt, &mut clock).unwrap();
        reused += u32::from(gas.builds() == builds);
        let apart = differs(&gas, &simulation, FORCES);
        assert!(apart < tolerance, "{apart:e} apart after step {step}");
        let softening = plan.gravity.as_ref().map_or(0.0, |gravity| gravity.softening);
        let criteria = gas.time_step_criteria(&plan.time_step, softening).unwrap();
        let least = criteria.into_iter().fold(f64::INFINITY, f64::min);
        if least < 1.05 * dt {
            assert!(
                (least / simulation.next_step - 1.0).abs() < tolerance,
                "{least} {}",
                simulation.next_step
            );
        }
    }
    let found = simulation.hydrodynamics.as_ref().unwrap().smoothing;
    assert_eq!(gas.smoothing().sweeps, found.sweeps);
    assert_eq!(gas.builds(), simulation.neighborhood.builds());
    assert_eq!(reused > 0, plan.neighbors.min_skin() > 0.0, "{reused} steps used a list again");
}

/// With an opening angle of 0 gravity sums over all pairs on both.
const GRAVITY: &str = "[gravity]\nopening_angle = 0.0\nsoftening = 0.01";

#[test]
fn a_collapse_of_volume_elements_is_followed_to_rounding() {
    follow(&evrard("volume-elements", "double", GRAVITY), false, 3, 1e-9);
}

#[test]
fn a_gas_in_an_external_field_is_followed_to_rounding() {
    let field = "[external]\nuniform = [0.1, 0.0, 0.0]\n[external.point_mass]\nmass = 1.0\nsoftening = 0.3";
    follow(&evrard("volume-elements", "double", field), false, 2, 1e-9);
}

#[test]
fn a_collapse_of_the_standard_formulation_is_followed_to_rounding() {
    follow(&evrard("standard", "double", GRAVITY), false, 2, 1e-9);
}

#[test]
fn a_collapse_in_mixed_precision_is_followed_to_single_rounding() {
    follow(
        &evrard("volume-elements", "mixed", "[gravity]\nopening_angle = 0.5\nsoftening = 0.01"),
        false,
        2,
        2e-2,
    );
}

#[test]
fn an_explosion_in_a_periodic_box_is_followed_to_rounding() {
    follow(&sedov("volume-elements", "double", ""), false, 3, 1e-9);
    follow(&sedov("standard", "double", "viscosity = { switch = false }"), false, 1, 1e-9);
    follow(&sedov("volume-elements", "double", "gradients = \"kernel\""), false, 1, 1e-9);
}

#[test]
fn an_isothermal_gas_of_unequal_masses_is_followed_on_lists_with_a_skin() {
    follow(&isothermal(), true, 3, 1e-9);
}

/// What is wrong is told in the same words, and the step is taken back.
#[test]
fn a_step_that_fails_is_none() {
    let device = Device::under_test().unwrap();
    let plan = evrard("volume-elements", "double", "");
    let comm = Communicator::solo();
    let (space, begin) = start::particles(&plan, &comm, &Simulation::fields(&plan)).unwrap();
    let mut simulation = started(&plan, &comm);
    let mut gas = Gas::new(&alone(&device), &settings(&plan, &simulation), &space, &begin).unwrap();
    let mut clock = Clock::new();
    gas.evaluate(0.0, &mut clock).unwrap();
    let dt = simulation.next_step;
    for (field, value) in [
        (Field::Viscosity, f64::NAN),
        (Field::InternalEnergy, f64::NAN),
        (Field::Acceleration, f64::INFINITY),
    ] {
        let before = simulation.particles.clone();
        simulation.particles.component_mut(field, 0)[100] = value;
        let column = gas.columns.component(field, 0);
        let good = column.download().unwrap();
        let mut bad = good.clone();
        bad[100] = value;
        let spoiled = Buffer::from_host(&device, &bad).unwrap();
        let mut columns = gas.columns.take(field).unwrap();
        columns[0] = spoiled;
        gas.columns.put(field, columns);
        let expected = simulation.advance(dt).unwrap_err().to_string();
        let found = gas.advance(dt, &mut clock).unwrap_err().at_step(1).to_string();
        assert_eq!(found, expected);
        // both are back, the particle that spoiled it included
        let mut host = Particles::new(&[], 0);
        gas.columns.download(&mut host, &[Field::Position, Field::Velocity, Field::InternalEnergy]).unwrap();
        for (row, id) in host.id.iter().enumerate() {
            let old = before.id.iter().position(|old| old == id).unwrap();
            if old != 100 {
                let moved = host.vector_at(Field::Position, row) - before.vector_at(Field::Position, old);
                assert!(moved.norm() < 1e-12, "{moved}");
                let change =
                    host.scalar(Field::InternalEnergy)[row] - before.scalar(Field::InternalEnergy)[old];
                assert!(change.abs() < 1e-12, "{change}");
            }
        }
        simulation.particles = before.clone();
        simulation.neighborhood.invalidate();
        gas = Gas::new(&alone(&device), &settings(&plan, &simulation), &space, &before).unwrap();
    }
}
