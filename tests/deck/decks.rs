//! The decks under tests/decks: good ones are read, bad ones report exactly the mistakes that they carry.
//!
//! In a bad deck `#^ text | more` below a line stands for one mistake on that line, whose message and help contain
//! every part; `#! text` stands for one that has no line.

use hilbrium::deck::{self, Report};
use std::path::{Path, PathBuf};

fn decks(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    paths
}

/// Lines (`None` without a place) and what the mistake must contain.
fn expected(text: &str) -> Vec<(Option<usize>, Vec<&str>)> {
    let mut line = 0;
    let mut expected = Vec::new();
    for (k, content) in text.lines().enumerate() {
        let (place, parts) = match (content.strip_prefix("#^ "), content.strip_prefix("#! ")) {
            (Some(parts), _) => (Some(line), parts),
            (_, Some(parts)) => (None, parts),
            _ => {
                line = k + 1;
                continue;
            }
        };
        expected.push((place, parts.split(" | ").collect()));
    }
    expected
}

fn found(report: &Report) -> Vec<(Option<usize>, String)> {
    let describe = |mistake: &deck::Mistake| {
        let line = mistake.place.as_ref().map(|place| report.locate(place).1);
        (line, format!("{} | {}", mistake.message, mistake.help))
    };
    report.mistakes().iter().map(describe).collect()
}

/// What differs between the expected and the found mistakes, if anything.
fn difference(text: &str, report: &Report) -> Option<String> {
    let mut found = found(report);
    let mut lacking = Vec::new();
    for (line, parts) in expected(text) {
        let fits = |(at, said): &(Option<usize>, String)| {
            *at == line && parts.iter().all(|part| said.contains(part))
        };
        match found.iter().position(fits) {
            Some(k) => drop(found.remove(k)),
            None => lacking.push((line, parts)),
        }
    }
    let same = lacking.is_empty() && found.is_empty();
    (!same).then(|| format!("lacking: {lacking:#?}\nunexpected: {found:#?}\n{report}"))
}

#[test]
fn bad_decks_report_exactly_their_mistakes() {
    let paths = decks("tests/decks/bad");
    assert!(paths.len() >= 45, "only {} bad decks", paths.len());
    let mut wrong = String::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!expected(&text).is_empty(), "{} expects nothing", path.display());
        let difference = match deck::examine(&path.display().to_string(), &text, &[]) {
            Ok(_) => Some("it was accepted".to_string()),
            Err(report) => difference(&text, &report),
        };
        if let Some(difference) = difference {
            wrong += &format!("{}: {difference}\n", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn good_decks_and_inputs_are_read_and_resolve_to_themselves() {
    let mut paths = decks("tests/decks/good");
    assert!(paths.len() >= 6);
    paths.extend(decks("inputs"));
    for path in paths {
        let read = |path: &Path| deck::read_checked(path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let checked = read(&path);
        let again = deck::examine("resolved", &checked.resolved, &[])
            .unwrap_or_else(|report| panic!("{}\n{report}", checked.resolved));
        assert_eq!(checked.plan, again.plan, "{}", path.display());
        assert_eq!(
            again.resolved.replace("# default", "").split_whitespace().collect::<Vec<_>>(),
            checked.resolved.replace("# default", "").split_whitespace().collect::<Vec<_>>()
        );
        let json = serde_json::to_string(&checked.plan).unwrap();
        let plan: deck::Plan = serde_json::from_str(&json).unwrap();
        assert_eq!(plan, checked.plan, "{}", path.display());
    }
}

#[test]
fn values_arrive_where_they_belong() {
    use hilbrium::cases::evrard::Evrard;
    use hilbrium::plan::*;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/decks/good/everything.toml");
    let plan = deck::read(&path, &[]).unwrap();
    let expected = Plan {
        title: "Every key that can hold at once".into(),
        units: hilbrium::units::Units::new(hilbrium::units::UnitSystem::Reduced),
        species: Vec::new(),
        run: RunPlan {
            end_time: Some(1.5),
            steps: Some(1000),
            device: Device::Cpu,
            precision: Precision::Double,
            threads: Some(2),
        },
        start: StartPlan::Case(AnyCase::Evrard(Evrard {
            particles: 10_000,
            arrangement: Arrangement::Hexagonal,
            seed: 42,
            radius: 2.0,
            mass: 3.0,
            internal_energy: 0.1,
        })),
        noise: None,
        space: SpacePlan {
            corners: Some([[-3.0; 3], [3.0, 4.0, 5.0]]),
            boundary: Some([hilbrium::space::Boundary::Open; 3]),
        },
        sph: Some(SphPlan {
            formulation: Formulation::Standard,
            volume_estimate: VolumeEstimate::Energy,
            volume_iterations: 0,
            gradients: Gradients::Kernel,
            kernel: Kernel::WendlandC4,
            neighbors: 150.0,
            neighbor_tolerance: 1e-3,
            equation_of_state: EquationOfState::IdealGas { gamma: 1.4 },
            viscosity: ViscosityPlan {
                alpha_min: 0.1,
                alpha_max: 2.0,
                beta: 3.0,
                switch: true,
                limiter: false,
            },
            conductivity: 0.5,
            conductivity_switch: false,
        }),
        gravity: Some(GravityPlan {
            constant: 6.674e-8,
            opening_angle: 0.7,
            force_error: 0.001,
            criterion: OpeningCriterion::Relative,
            order: MultipoleOrder::Octupole,
            softening: 0.0,
            softening_kernel: SofteningKernel::Spline,
            mesh: None,
            split: None,
        }),
        external: Some(ExternalPlan {
            uniform: [0.5, 0.0, -1.0],
            point_mass: Some(PointMassPlan {
                mass: 2.0,
                constant: 6.674e-8,
                position: [1.0, 2.0, 3.0],
                softening: 0.25,
                distance: Distance::Cylindrical,
            }),
        }),
        interaction: None,
        motion: MotionPlan::default(),
        measure: MeasurePlan::default(),
        neighbors: NeighborsPlan {
            method: Some(Method::Clusters),
            memory: None,
            coding: Coding::Plain,
            symmetric: Some(true),
            skin: Some(0.1),
            inner_skin: None,
            bucket_size: 32,
        },
        time_step: TimeStepPlan {
            courant: 0.3,
            acceleration: 0.25,
            energy: 0.1,
            expansion: 0.05,
            growth: 1.2,
            largest: Some(0.01),
            smallest: 1e-9,
            first: Some(1e-5),
            fixed: None,
        },
        output: OutputPlan {
            directory: "out/everything".into(),
            overwrite: true,
            snapshots: Some(Every::EverySteps(10)),
            checkpoint: Some(Every::EveryWall(5400.0)),
            observables: Every::EveryTime(0.01),
            trajectory: Some(TrajectoryPlan {
                every: Every::EverySteps(7),
                format: TrajectoryFormat::Xyz,
                velocities: true,
                forces: false,
                images: false,
                double: true,
                resolution: 0.001,
            }),
            report: Some(Every::EveryWall(600.0)),
        },
    };
    assert_eq!(plan, expected);
}
