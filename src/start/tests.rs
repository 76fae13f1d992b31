//! Properties that every start must have.

use proptest::prelude::*;

use super::*;
use crate::cases::evrard::Evrard;
use crate::cases::plummer::{Plummer, Velocities};
use crate::cases::sedov::Sedov;
use crate::cases::tools::testing::NOWHERE;
use crate::cases::{AnyCase, Case};
use crate::comm::run_local;
use crate::layout::noise;
use crate::plan::*;
use crate::space::Boundary;
use crate::space::Vec3d;

fn plan(start: StartPlan, space: SpacePlan) -> Plan {
    Plan {
        units: crate::units::Units::new(crate::units::UnitSystem::Reduced),
        species: Vec::new(),
        title: "a test".into(),
        run: RunPlan {
            end_time: None,
            steps: Some(0),
            device: Device::Cpu,
            precision: Precision::Double,
            threads: None,
        },
        start,
        noise: None,
        space,
        sph: None,
        gravity: None,
        external: None,
        interaction: None,
        motion: MotionPlan::default(),
        measure: MeasurePlan::default(),
        neighbors: NeighborsPlan {
            method: Some(Method::Clusters),
            memory: None,
            coding: Coding::Nibble,
            symmetric: None,
            skin: None,
            inner_skin: None,
            bucket_size: 64,
        },
        time_step: TimeStepPlan {
            courant: 0.2,
            acceleration: 0.2,
            energy: 0.2,
            expansion: 0.2,
            growth: 1.1,
            largest: None,
            smallest: 0.0,
            first: None,
            fixed: None,
        },
        output: OutputPlan {
            directory: "out".into(),
            overwrite: false,
            snapshots: None,
            checkpoint: None,
            observables: Every::EverySteps(1),
            trajectory: None,
            report: None,
        },
    }
}

const FIELDS: [Field; 5] =
    [Field::Position, Field::Velocity, Field::Mass, Field::SmoothingLength, Field::InternalEnergy];

/// The box, and all particles of a plan on `ranks` ranks, sorted by id.
fn all(plan: &Plan, ranks: usize) -> (SimulationBox, Vec<(u64, Vec<f64>)>) {
    let parts = run_local(ranks, |comm| {
        let (bx, particles) = particles(plan, &comm, &FIELDS).unwrap();
        assert_eq!(particles.owned(), 0..particles.len());
        let rows: Vec<(u64, Vec<f64>)> = (0..particles.len())
            .map(|row| {
                let values = FIELDS.iter().flat_map(|&field| {
                    (0..field.components()).map(|c| particles.component(field, c)[row]).collect::<Vec<_>>()
                });
                (particles.id[row], values.collect())
            })
            .collect();
        (bx, rows)
    });
    let bx = parts[0].0;
    assert!(parts.iter().all(|part| part.0 == bx), "every rank has the same box");
    (bx, parts.into_iter().flat_map(|part| part.1).collect())
}

fn arrangement() -> impl Strategy<Value = Arrangement> {
    prop::sample::select(Arrangement::ALL)
}

/// Any start with few particles, in the space that a deck would define.
fn any_start() -> impl Strategy<Value = (StartPlan, SpacePlan)> {
    let open = SpacePlan { corners: None, boundary: Some([Boundary::Open; 3]) };
    let periodic = |lengths: [f64; 3]| SpacePlan {
        corners: Some([[-1.0; 3], lengths.map(|length| length - 1.0)]),
        boundary: Some([Boundary::Periodic; 3]),
    };
    let lengths = prop::array::uniform3(0.3f64..5.0);
    let count = prop_oneof![0u64..4, 0u64..600];
    let (open_too, density) = (open.clone(), 1.5);
    prop_oneof![
        (count.clone(), arrangement(), any::<u64>()).prop_map(move |(particles, arrangement, seed)| {
            let start =
                Evrard { particles, arrangement, seed, radius: 2.0, mass: 3.0, internal_energy: 0.05 };
            (StartPlan::Case(AnyCase::Evrard(start)), open.clone())
        }),
        (1u64..600, arrangement(), lengths.clone(), any::<u64>()).prop_map(
            move |(particles, arrangement, lengths, seed)| {
                let start = UniformBoxStart {
                    particles,
                    lengths,
                    density,
                    internal_energy: 0.1,
                    temperature: 0.0,
                    arrangement,
                    seed,
                };
                (StartPlan::UniformBox(start), periodic(lengths))
            }
        ),
        (prop::sample::select(LatticeKind::ALL), prop::array::uniform3(1u64..5), 0.0f64..0.5).prop_map(
            move |(kind, cells, jitter)| {
                let spacing = 0.7;
                let edges = kind.edges();
                let lengths = [0, 1, 2].map(|d| edges[d] * cells[d] as f64 * spacing);
                let start = LatticeStart {
                    kind,
                    cells,
                    spacing,
                    density,
                    internal_energy: 0.1,
                    temperature: 0.0,
                    jitter,
                    seed: 3,
                };
                (StartPlan::Lattice(start), periodic(lengths))
            }
        ),
        (count.clone(), lengths).prop_map(move |(particles, lengths)| {
            let start =
                RandomStart { particles, lengths, density, internal_energy: 0.1, temperature: 0.0, seed: 9 };
            (StartPlan::Random(start), periodic(lengths))
        }),
        (1u64..600, arrangement(), any::<u64>(), 0.0f64..0.5).prop_map(
            move |(particles, arrangement, seed, width)| {
                let (energy, width) = (2.0, width + 0.01);
                let start = Sedov {
                    particles,
                    arrangement,
                    seed,
                    edge: 2.0,
                    density,
                    energy,
                    width,
                    internal_energy: 0.1,
                };
                (StartPlan::Case(AnyCase::Sedov(start)), periodic([2.0; 3]))
            }
        ),
        (count, any::<bool>()).prop_map(move |(particles, rest)| {
            let velocities = if rest { Velocities::Rest } else { Velocities::Equilibrium };
            let start =
                Plummer { particles, radius: 0.5, mass: 3.0, velocities, internal_energy: 0.0, seed: 1 };
            (StartPlan::Case(AnyCase::Plummer(start)), open_too.clone())
        }),
    ]
}

/// The total mass of a start.
fn promised_mass(start: &StartPlan, bx: &SimulationBox) -> f64 {
    match start {
        StartPlan::Case(AnyCase::Evrard(start)) => start.mass,
        StartPlan::Case(AnyCase::Plummer(start)) => start.mass,
        _ => 1.5 * bx.lengths().product(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn particles_are_the_same_on_any_number_of_ranks((start, space) in any_start()) {
        let plan = plan(start, space);
        let (bx, alone) = all(&plan, 1);
        for ranks in [2, 3] {
            prop_assert_eq!(&all(&plan, ranks), &(bx, alone.clone()));
        }
        prop_assert_eq!(alone.len() as u64, count(&plan.start).unwrap());
        prop_assert!(alone.iter().enumerate().all(|(k, (id, _))| *id == k as u64));
        prop_assert!(alone.iter().all(|(_, values)| values.iter().all(|value| value.is_finite())));
        prop_assert!(alone.iter().all(|(_, values)| values[7] > 0.0), "smoothing lengths are positive");
        for (_, values) in &alone {
            let position = Vec3d::new(values[0], values[1], values[2]);
            prop_assert!(position >= bx.lower && position < bx.upper);
        }
        if !alone.is_empty() {
            let mass: f64 = alone.iter().map(|(_, values)| values[6]).sum();
            prop_assert!((mass / promised_mass(&plan.start, &bx) - 1.0).abs() < 1e-12, "mass {}", mass);
        }
    }
}

#[test]
fn cases_are_the_same_on_any_number_of_ranks() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/decks/good");
    let mut tested = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(plan) = crate::deck::read(&path, &[]) else { continue };
        let StartPlan::Case(case) = &plan.start else { continue };
        tested.insert(case.name());
        let (bx, alone) = all(&plan, 1);
        assert_eq!(alone.len() as u64, case.count(), "{}", path.display());
        assert!(alone.iter().all(|(_, values)| values.iter().all(|value| value.is_finite())));
        assert_eq!(all(&plan, 3), (bx, alone), "{}", path.display());
    }
    assert!(tested.iter().copied().eq({
        let mut names: Vec<_> = AnyCase::names().collect();
        names.sort_unstable();
        names
    }));
}

#[test]
fn one_share_too_large_is_refused_on_every_rank() {
    let open = SpacePlan { corners: None, boundary: Some([Boundary::Open; 3]) };
    let random = RandomStart {
        // One rank would have 2^31 particles, the others one less.
        particles: 3 * ((1 << 31) - 1) + 1,
        lengths: [1.0; 3],
        density: 1.0,
        internal_energy: 1.0,
        temperature: 0.0,
        seed: 1,
    };
    let plan = plan(StartPlan::Random(random), open);
    let refused = run_local(3, |comm| matches!(particles(&plan, &comm, &FIELDS), Err(Error::Usage { .. })));
    assert_eq!(refused, [true; 3]);
}

#[test]
fn a_glass_that_cannot_be_as_quiet_as_asked_is_refused_on_every_rank() {
    let start = UniformBoxStart {
        particles: 100,
        lengths: [1.0; 3],
        density: 1.0,
        internal_energy: 1.0,
        temperature: 0.0,
        arrangement: Arrangement::Glass,
        seed: 0,
    };
    let space =
        SpacePlan { corners: Some([[0.0; 3], start.lengths]), boundary: Some([Boundary::Periodic; 3]) };
    let mut plan = plan(StartPlan::UniformBox(start), space);
    for (noise, wanted) in [(1e-6, false), (0.5, true)] {
        plan.noise = Some(noise);
        let made = run_local(2, |comm| particles(&plan, &comm, &FIELDS).is_ok());
        assert_eq!(made, [wanted; 2], "{noise}");
    }
}

#[test]
fn a_large_glass_box_is_within_a_thousandth_of_its_count() {
    let start = UniformBoxStart {
        particles: 20_000,
        lengths: [2.0, 1.0, 1.0],
        density: 1.0,
        internal_energy: 1.0,
        temperature: 0.0,
        arrangement: Arrangement::Glass,
        seed: 0,
    };
    let made = start.cuboid(None).count();
    assert!(made.abs_diff(20_000) <= 20, "{made}");
    let layout = uniform::uniform_box(&start, None, None, 0..made);
    let ratio = noise::density_ratio(
        &layout.positions,
        Some(start.lengths.into()),
        100.0,
        noise::Kernel::Sinc6,
        |_| made as f64 / 2.0,
    );
    let (mean, spread) = noise::mean_and_spread(&ratio);
    assert!((mean - 1.0).abs() < 0.01 && spread < 0.006, "{mean} {spread}");
}

#[test]
fn smoothing_lengths_hold_the_neighbors() {
    let start = Evrard {
        particles: 20_000,
        arrangement: Arrangement::FaceCentered,
        seed: 0,
        radius: 1.0,
        mass: 1.0,
        internal_energy: 0.05,
    };
    let layout = start.layout(&NOWHERE, 0..start.particles);
    let (mut worst, mut best) = (0, usize::MAX);
    for position in layout.positions.iter().step_by(100).filter(|position| position.norm() < 0.7) {
        let support = 2.0 * smoothing_length((layout.volume_of)(position, 100.0));
        let near = layout.positions.iter().filter(|other| (*other - position).norm() < support).count();
        worst = worst.max(near);
        best = best.min(near);
    }
    assert!(best > 80 && worst < 125, "{best} to {worst} neighbors");
}

#[test]
fn a_file_gives_its_particles_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("start.h5");
    let open = SpacePlan { corners: None, boundary: Some([Boundary::Open; 3]) };
    let sphere = Evrard {
        particles: 700,
        arrangement: Arrangement::Random,
        seed: 4,
        radius: 1.0,
        mass: 2.0,
        internal_energy: 0.05,
    };
    let made = plan(StartPlan::Case(AnyCase::Evrard(sphere)), open.clone());
    let (bx, expected) = all(&made, 1);
    let comm = Communicator::solo();
    let (_, written) = particles(&made, &comm, &FIELDS).unwrap();
    crate::snapshot::write_snapshot(&path, &comm, &written, &crate::snapshot::Header::new(bx), &FIELDS)
        .unwrap();
    let read = plan(StartPlan::File(FileStart::new(path.clone())), open);
    for ranks in [1, 2, 3] {
        let (read_box, mut found) = all(&read, ranks);
        found.sort_by_key(|particle| particle.0);
        assert_eq!(read_box, bx);
        assert_eq!(found.len(), expected.len());
        for ((id, values), (expected_id, exact)) in found.iter().zip(&expected) {
            assert_eq!(id, expected_id, "{ranks} ranks");
            // Coordinates in the file are relative to the corner of its box.
            let near = values.iter().zip(exact).all(|(value, exact)| (value - exact).abs() < 1e-14);
            assert!(near, "{values:?} {exact:?}");
        }
    }
    std::fs::write(&path, b"not HDF5").unwrap();
    let error = particles(&read, &comm, &FIELDS).unwrap_err();
    assert!(matches!(error, Error::Content { .. }), "{error}");
}

#[test]
fn what_a_file_lacks_is_told_with_a_remedy_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (file, deck) = (folder.path().join("start.hdf5"), folder.path().join("deck.toml"));
    let comm = Communicator::solo();
    let mut bare = Particles::new(&[Field::Position, Field::Mass], 2);
    bare.id.copy_from_slice(&[0, 1]);
    bare.scalar_mut(Field::Mass).fill(1.0);
    bare.set_vector(Field::Position, 1, Vec3d::repeat(2.0));
    let bx =
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(8.0), boundary: [Boundary::Periodic; 3] };
    crate::snapshot::write_snapshot(&file, &comm, &bare, &crate::snapshot::Header::new(bx), &[]).unwrap();
    let molecules = "[time_step]\nfixed = 0.001\n[interaction.coulomb]\ncutoff = 2.0\n";
    let salt = format!("{molecules}[species.A]\nmass = 1.0\n[species.B]\nmass = 2.0\n");
    for (field, more, remedy) in [
        (Field::InternalEnergy, "[sph]\n", "take [sph] out of the deck"),
        (Field::Charge, molecules, "give the deck [species.NAME] with a charge"),
        (Field::Species, &salt, "leave the deck one [species.NAME]"),
    ] {
        std::fs::write(&deck, format!("[run]\nsteps = 1\n[start.file]\npath = {file:?}\n{more}")).unwrap();
        let plan = crate::deck::read(&deck, &[]).unwrap_or_else(|error| panic!("{error}"));
        let error = particles(&plan, &comm, &crate::step::Simulation::fields(&plan)).unwrap_err().to_string();
        let told = error.contains(&format!("it has no {}", field.name())) && error.contains(remedy);
        assert!(told && error.contains("[sph]") == (field == Field::InternalEnergy), "{error}");
    }
}
