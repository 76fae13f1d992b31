//! The interactions of molecules: reference energies, force as the energy's derivative, lanes against the O(N^2) truth.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use hilbrium::laws::{coulomb, lennard_jones, lennard_jones_switched, mie, yukawa};
use hilbrium::neighbors::{ClusterList, Coding, ListRequest, NeighborList, ParticleList};
use hilbrium::pair::{PairLaw, Pass, Precision, naive, sweep};
use hilbrium::particles::{Field, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};
use rand::{RngExt, SeedableRng};

const FIELDS: &[Field] = &[Field::Position, Field::Charge, Field::Force, Field::PairEnergy, Field::Virial];

fn cube(edge: f64, boundary: Boundary) -> SimulationBox {
    SimulationBox {
        lower: Vec3d::repeat(-0.5 * edge),
        upper: Vec3d::repeat(0.5 * edge),
        boundary: [boundary; 3],
    }
}

/// Particles at these places, in key order.
fn placed(bx: &SimulationBox, mut places: Vec<Vec3d>) -> Particles {
    places.iter_mut().for_each(|place| *place = bx.wrap(*place));
    places.sort_by_key(|place| hilbert::key_of(place, bx));
    let mut particles = Particles::new(FIELDS, places.len());
    for (row, place) in places.into_iter().enumerate() {
        particles.id[row] = row as u64;
        particles.key[row] = hilbert::key_of(&place, bx);
        particles.set_vector(Field::Position, row, place);
        particles.scalar_mut(Field::Charge)[row] = if row % 2 == 0 { 1.0 } else { -1.0 };
    }
    particles
}

/// A configuration of the NIST Standard Reference Simulation Website.
fn nist(name: &str) -> (SimulationBox, Particles) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = std::fs::read_to_string(path).expect("the configuration");
    let mut lines = text.lines();
    let count: usize = lines.next().expect("a count").trim().parse().expect("a number");
    let cell = lines.next().expect("a cell").split_whitespace().nth(1).expect("an edge");
    let bx = cube(cell.parse().expect("a number"), Boundary::Periodic);
    let place = |line: &str| {
        let numbers: Vec<f64> =
            line.split_whitespace().skip(1).map(|x| x.parse().expect("a number")).collect();
        Vec3d::new(numbers[0], numbers[1], numbers[2])
    };
    let places: Vec<Vec3d> = lines.filter(|line| !line.trim().is_empty()).map(place).collect();
    assert_eq!(places.len(), count);
    (bx, placed(&bx, places))
}

fn lists(bx: &SimulationBox, particles: &Particles, radius: &[f64]) -> Vec<NeighborList> {
    let request = |symmetric| ListRequest::of(bx, particles, radius, symmetric, Coding::Nibble);
    vec![
        NeighborList::Clustered(ClusterList::build(&request(false)).expect("a list")),
        NeighborList::Clustered(ClusterList::build(&request(true)).expect("a list")),
        NeighborList::PerParticle(ParticleList::build(&request(false)).expect("a list")),
        NeighborList::PerParticle(ParticleList::build(&request(true)).expect("a list")),
    ]
}

fn total(particles: &Particles, field: Field) -> f64 {
    particles.scalar(field).iter().sum()
}

/// Energy, virial and tail of the configurations as NIST prints them, to the last digit.
#[test]
fn reference_energies_are_met_to_the_digits_printed() {
    for (name, cutoff, energy, virial, tail, digits) in [
        ("nist-lj-1.xyz", 3.0, -4351.5, -568.67, -198.49, [0.05, 0.005, 0.005]),
        ("nist-lj-1.xyz", 4.0, -4467.5, -1263.9, -83.769, [0.05, 0.05, 0.0005]),
        ("nist-lj-2.xyz", 3.0, -690.00, -568.46, -24.230, [0.005, 0.005, 0.0005]),
        ("nist-lj-2.xyz", 4.0, -704.60, -655.99, -10.226, [0.005, 0.005, 0.0005]),
    ] {
        let (bx, start) = nist(name);
        let law = lennard_jones::Law::truncated(1.0, 1.0);
        let radius = vec![cutoff; start.len()];
        // twice the cutoff is the box's edge for one of them, where a list refuses and all pairs do not
        let fits = 2.0 * cutoff < bx.lengths().min();
        let mut found = vec![start.clone()];
        naive(&law, &bx, &radius, &mut found[0]);
        if fits {
            for list in lists(&bx, &start, &radius) {
                let mut swept = start.clone();
                let pass = Pass { bx: &bx, radius: &radius, precision: Precision::Double, active: None };
                sweep(&law, &pass, &list, &mut swept);
                found.push(swept);
            }
        }
        let density = start.len() as f64 / bx.lengths().product();
        let correction = law.tail(start.len() as f64, density, cutoff)[0];
        assert!((correction - tail).abs() <= digits[2], "{name} {cutoff}: tail {correction}");
        for particles in &found {
            let [u, w] = [total(particles, Field::PairEnergy), total(particles, Field::Virial)];
            assert!((u - energy).abs() <= digits[0], "{name} {cutoff}: energy {u}");
            assert!((w - virial).abs() <= digits[1], "{name} {cutoff}: virial {w}");
        }
    }
}

/// Energy and force of a pair at a distance, by the law itself.
fn pair<L: PairLaw>(law: &L, distance: f64) -> [f64; 3] {
    let bx = cube(100.0, Boundary::Open);
    let mut particles = placed(&bx, vec![Vec3d::zeros(), Vec3d::new(distance, 0.0, 0.0)]);
    naive(law, &bx, &[50.0, 50.0], &mut particles);
    let at = |row: usize| particles.vector_at(Field::Position, row).x;
    let outer = usize::from(at(1) > at(0));
    let force = particles.vector_at(Field::Force, outer).x;
    [total(&particles, Field::PairEnergy), force, total(&particles, Field::Virial)]
}

fn derivative_is_force<L: PairLaw>(law: &L, distances: &[f64]) {
    for &r in distances {
        let step = 1e-5 * r;
        let [_, force, virial] = pair(law, r);
        // of fourth order
        let energy = |k: f64| pair(law, r + k * step)[0];
        let slope = (8.0 * (energy(1.0) - energy(-1.0)) - (energy(2.0) - energy(-2.0))) / (12.0 * step);
        let scale = force.abs().max(1e-3);
        assert!((force + slope).abs() < 1e-7 * scale, "{} at {r}: {force} {slope}", L::NAME);
        assert!((virial - r * force).abs() < 1e-12 * (r * scale), "{} at {r}: {virial}", L::NAME);
    }
}

#[test]
fn forces_are_the_derivatives_of_the_energies() {
    let distances = [0.8, 0.95, 1.1, 1.4, 1.9, 2.3];
    derivative_is_force(&lennard_jones::Law::truncated(1.3, 0.9), &distances);
    derivative_is_force(&lennard_jones_switched::Law::new(1.3, 0.9, 1.2, 2.5), &distances);
    derivative_is_force(&mie::Law::truncated(0.7, 1.1, 14.0, 6.5), &distances);
    derivative_is_force(&yukawa::Law { strength: 2.0, screening: 0.8, shift: 0.1 }, &distances);
    derivative_is_force(&coulomb::Law::plain(3.0, 0.4), &distances);
    derivative_is_force(&coulomb::Law::reaction_field(3.0, 78.0, 2.5), &distances);
}

#[test]
fn cutoffs_are_as_smooth_as_they_say() {
    let cutoff = 2.5;
    assert!(pair(&lennard_jones::Law::shifted(1.3, 0.9, cutoff), cutoff)[0].abs() < 1e-14);
    let [energy, force, _] = pair(&lennard_jones_switched::Law::new(1.3, 0.9, 1.2, cutoff), cutoff);
    assert!(energy.abs() < 1e-13 && force.abs() < 1e-13, "{energy} {force}");
    // inside the switch's start the force is Lennard-Jones' own
    let [plain, switched] = [
        pair(&lennard_jones::Law::truncated(1.3, 0.9), 1.1)[1],
        pair(&lennard_jones_switched::Law::new(1.3, 0.9, 1.2, cutoff), 1.1)[1],
    ];
    assert!((plain - switched).abs() < 1e-12 * plain.abs());
    // a conductor beyond the cutoff screens the force to zero there
    let [energy, force, _] = pair(&coulomb::Law::reaction_field(3.0, f64::INFINITY, cutoff), cutoff);
    assert!(energy.abs() < 1e-13 && force.abs() < 1e-13, "{energy} {force}");
}

#[test]
fn special_cases_are_the_known_ones() {
    // Mie's 12-6 is Lennard-Jones
    for r in [0.9, 1.2, 2.0] {
        let [a, b] = [
            pair(&mie::Law::truncated(1.3, 0.9, 12.0, 6.0), r),
            pair(&lennard_jones::Law::truncated(1.3, 0.9), r),
        ];
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11 * b.abs().max(1.0)), "{r}: {a:?} {b:?}");
    }
    // its depth is epsilon for any powers
    let law = mie::Law::truncated(0.7, 1.1, 20.0, 5.0);
    let minimum = 1.1 * (20.0f64 / 5.0).powf(1.0 / 15.0);
    assert!((pair(&law, minimum)[0] + 0.7).abs() < 1e-12);
    // Weeks, Chandler and Andersen (1971): Lennard-Jones cut at its minimum, where both energy and force vanish
    let minimum = 2f64.powf(1.0 / 6.0);
    let [energy, force, _] = pair(&lennard_jones::Law::shifted(1.0, 1.0, minimum), minimum);
    assert!(energy.abs() < 1e-14 && force.abs() < 1e-13, "{energy} {force}");
    // without screening Yukawa's is Coulomb's of opposite charges
    let [a, b] = [
        pair(&yukawa::Law { strength: -3.0, screening: 0.0, shift: 0.0 }, 1.7),
        pair(&coulomb::Law::plain(3.0, 0.0), 1.7),
    ];
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} {b:?}");
}

/// A gas with a least distance, as molecules keep it.
fn gas(bx: &SimulationBox, count: usize, least: f64) -> Particles {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let mut places: Vec<Vec3d> = Vec::new();
    while places.len() < count {
        let place = bx.lower + bx.lengths().map(|edge| edge * random.random::<f64>());
        if places.iter().all(|other| bx.shortest(place - other).norm() > least) {
            places.push(place);
        }
    }
    placed(bx, places)
}

fn lanes_agree<L: PairLaw>(law: &L) {
    for boundary in [Boundary::Open, Boundary::Periodic] {
        let bx = cube(8.0, boundary);
        let start = gas(&bx, 300, 0.85);
        let radius = vec![2.5; start.len()];
        let mut truth = start.clone();
        naive(law, &bx, &radius, &mut truth);
        for list in lists(&bx, &start, &radius) {
            for (precision, tolerance) in [(Precision::Double, 1e-12), (Precision::Mixed, 1e-5)] {
                let mut swept = start.clone();
                sweep(law, &Pass { bx: &bx, radius: &radius, precision, active: None }, &list, &mut swept);
                for &field in L::OUTPUTS {
                    for c in 0..field.components() {
                        let (a, b) = (swept.component(field, c), truth.component(field, c));
                        let scale = b.iter().fold(1e-300f64, |most, x| most.max(x.abs()));
                        let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs() / scale).fold(0.0, f64::max);
                        assert!(worst < tolerance, "{} {} {precision:?}: {worst:e}", L::NAME, field.name());
                    }
                }
                let net = (0..3).map(|c| swept.component(Field::Force, c).iter().sum::<f64>().abs());
                let size: f64 = (0..start.len()).map(|row| swept.vector_at(Field::Force, row).norm()).sum();
                assert!(net.fold(0.0, f64::max) < 1e-6 * size, "{}: forces cancel", L::NAME);
            }
        }
    }
}

#[test]
fn every_list_gives_the_sums_of_all_pairs() {
    lanes_agree(&lennard_jones::Law::shifted(1.3, 0.9, 2.5));
    lanes_agree(&lennard_jones_switched::Law::new(1.3, 0.9, 1.2, 2.5));
    lanes_agree(&mie::Law::truncated(0.7, 1.1, 14.0, 6.5));
    lanes_agree(&yukawa::Law { strength: 2.0, screening: 0.8, shift: 0.1 });
    lanes_agree(&coulomb::Law::reaction_field(3.0, 78.0, 2.5));
}
