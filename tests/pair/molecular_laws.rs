//! The interactions of molecules: reference energies, force as the energy's derivative, lanes against the O(N^2) truth.

use hilbrium::laws::interaction::ExampleVisitor;
use hilbrium::laws::{
    Interaction, coulomb, lennard_jones, lennard_jones_coulomb, lennard_jones_mixed,
    lennard_jones_mixed_switched, lennard_jones_switched, lennard_jones_table, mie, visit_examples, yukawa,
};
use hilbrium::neighbors::{CellList, ClusterList, Coding, ListRequest, NeighborList, ParticleList, Radii};
use hilbrium::pair::language::Table;
use hilbrium::pair::{PairLaw, Pass, Precision, Sweep, Together, find_tiles, naive};
use hilbrium::particles::{Field, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};
use rand::{RngExt, SeedableRng};

const FIELDS: &[Field] = &[
    Field::Position,
    Field::Species,
    Field::Charge,
    Field::HalfSigma,
    Field::RootEpsilon,
    Field::Force,
    Field::PairEnergy,
    Field::Virial,
];

/// Epsilon and sigma of three species.
const SPECIES: [[f64; 2]; 3] = [[1.3, 0.9], [0.4, 1.0], [0.9, 0.75]];

/// Their pairs by rule, but for one.
fn explicit(a: usize, b: usize) -> [f64; 2] {
    match (a.min(b), a.max(b)) {
        (0, 2) => [2.0, 0.8],
        (a, b) if a == b => SPECIES[a],
        (a, b) => mixed(a, b),
    }
}

/// By the rule of Lorentz and Berthelot.
fn mixed(a: usize, b: usize) -> [f64; 2] {
    [(SPECIES[a][0] * SPECIES[b][0]).sqrt(), 0.5 * (SPECIES[a][1] + SPECIES[b][1])]
}

fn tables(of: fn(usize, usize) -> [f64; 2]) -> [Table<f64>; 2] {
    [
        Table::new(3, |a, b| 4.0 * of(a, b)[0]).expect("few species"),
        Table::new(3, |a, b| of(a, b)[1].powi(6)).expect("few species"),
    ]
}

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
        let species = (row + row / 7) % 3;
        particles.scalar_mut(Field::Species)[row] = species as f64;
        particles.scalar_mut(Field::HalfSigma)[row] = 0.5 * SPECIES[species][1];
        particles.scalar_mut(Field::RootEpsilon)[row] = SPECIES[species][0].sqrt();
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

fn tiles(request: &ListRequest) -> NeighborList {
    let clusters = ClusterList::build(request).expect("a list");
    NeighborList::Tiled(find_tiles(&clusters, request, None).expect("tiles"))
}

fn lists(bx: &SimulationBox, particles: &Particles, radius: &[f64]) -> Vec<NeighborList> {
    let request = |symmetric| ListRequest::of(bx, particles, radius, symmetric, Coding::Nibble);
    vec![
        NeighborList::Clustered(ClusterList::build(&request(false)).expect("a list")),
        tiles(&request(true)),
        NeighborList::PerParticle(ParticleList::build(&request(false)).expect("a list")),
        NeighborList::PerParticle(ParticleList::build(&request(true)).expect("a list")),
        NeighborList::Cells(CellList::build(&request(false)).expect("a list")),
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
                let pass = Pass {
                    bx: &bx,
                    radius: Radii::Each(&radius),
                    precision: Precision::Double,
                    active: None,
                };
                Sweep::new(&pass, &list).run(&law, &mut swept);
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
    // what each has by itself is not the pair's
    let mut apart = particles.clone();
    apart.set_vector(Field::Position, outer, Vec3d::new(49.0, 0.0, 0.0));
    apart.set_vector(Field::Position, 1 - outer, Vec3d::new(-49.0, 0.0, 0.0));
    naive(law, &bx, &[50.0, 50.0], &mut apart);
    let own = total(&apart, Field::PairEnergy);
    [total(&particles, Field::PairEnergy) - own, force, total(&particles, Field::Virial)]
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

/// Every registered interaction, by the constants of its examples.
#[test]
fn registered_interactions_have_independent_energies_and_their_derivatives() {
    struct Battery(Vec<&'static str>);
    impl ExampleVisitor for Battery {
        fn visit<L: PairLaw>(&mut self, law: &L, energies: &[[f64; 2]]) {
            derivative_is_force(law, &[0.8, 0.95, 1.1, 1.4, 1.9, 2.3]);
            for &[distance, expected] in energies {
                let [energy, ..] = pair(law, distance);
                let tolerance = 1e-9 * expected.abs().max(1e-3);
                assert!((energy - expected).abs() < tolerance, "{} at {distance}: {energy}", L::NAME);
            }
            self.0.extend((!energies.is_empty()).then_some(L::NAME));
        }
    }
    let mut battery = Battery(Vec::new());
    visit_examples(&mut battery);
    for section in Interaction::SECTIONS {
        let name = section.path.trim_start_matches("interaction.").replace('-', "_");
        // formulas and tables share a law
        let law = if ["formula", "table"].contains(&name.as_str()) { "radial" } else { &name };
        assert!(battery.0.contains(&law), "{name} has no independent energy");
    }
}

#[test]
fn registered_interactions_give_the_sums_of_all_pairs_on_every_list() {
    struct Battery;
    impl ExampleVisitor for Battery {
        fn visit<L: PairLaw>(&mut self, law: &L, _: &[[f64; 2]]) {
            lanes_agree(law);
        }
    }
    visit_examples(&mut Battery);
}

#[test]
fn forces_are_the_derivatives_of_the_energies() {
    let distances = [0.8, 0.95, 1.1, 1.4, 1.9, 2.3];
    derivative_is_force(&lennard_jones::Law::truncated(1.3, 0.9), &distances);
    derivative_is_force(&lennard_jones_switched::Law::new(1.3, 0.9, 1.2, 2.5), &distances);
    derivative_is_force(&mie::Law::truncated(0.7, 1.1, 14.0, 6.5), &distances);
    derivative_is_force(&yukawa::Law { strength: 2.0, screening: 0.8, shift: 0.1 }, &distances);
    derivative_is_force(&coulomb::Law::plain(3.0), &distances);
    derivative_is_force(&coulomb::Law::shifted(3.0, 2.5), &distances);
    derivative_is_force(&coulomb::Law::reaction_field(3.0, 78.0, 2.5), &distances);
    let [depth, sigma6] = tables(explicit);
    derivative_is_force(&lennard_jones_mixed::Law::shifted(2.5), &distances);
    derivative_is_force(&lennard_jones_mixed_switched::Law::new(1.2, 2.5), &distances);
    derivative_is_force(&lennard_jones_table::Law::truncated(depth, sigma6, 2.5), &distances);
    derivative_is_force(&lennard_jones_table::Law::switched(depth, sigma6, 1.2, 2.5), &distances);
    let charges = coulomb::Law::reaction_field(3.0, 78.0, 2.5);
    let both = Together::new(lennard_jones_mixed::Law::shifted(1.6), charges, [1.6, 2.5]);
    derivative_is_force(&both, &distances);
    let alike = lennard_jones::Law::shifted(1.3, 0.9, 2.5);
    derivative_is_force(&lennard_jones_coulomb::Law::new(alike, charges), &distances);
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
    assert!(pair(&coulomb::Law::shifted(3.0, cutoff), cutoff)[0].abs() < 1e-13);
    // of unlike particles too, whatever their parameters
    let [depth, sigma6] = tables(explicit);
    assert!(pair(&lennard_jones_mixed::Law::shifted(cutoff), cutoff)[0].abs() < 1e-14);
    assert!(pair(&lennard_jones_table::Law::shifted(depth, sigma6, cutoff), cutoff)[0].abs() < 1e-14);
    for [energy, force, _] in [
        pair(&lennard_jones_mixed_switched::Law::new(1.2, cutoff), cutoff),
        pair(&lennard_jones_table::Law::switched(depth, sigma6, 1.2, cutoff), cutoff),
    ] {
        assert!(energy.abs() < 1e-13 && force.abs() < 1e-13, "{energy} {force}");
    }
}

/// A law of several species must give each pair what Lennard-Jones of that pair's parameters gives.
#[test]
fn unlike_particles_act_by_their_parameters() {
    let bx = cube(100.0, Boundary::Open);
    let of = |law: &dyn Fn(&mut Particles), a: usize, b: usize, r: f64| {
        let mut particles = placed(&bx, vec![Vec3d::zeros(), Vec3d::new(r, 0.0, 0.0)]);
        for (row, species) in [a, b].into_iter().enumerate() {
            particles.scalar_mut(Field::Species)[row] = species as f64;
            particles.scalar_mut(Field::HalfSigma)[row] = 0.5 * SPECIES[species][1];
            particles.scalar_mut(Field::RootEpsilon)[row] = SPECIES[species][0].sqrt();
        }
        law(&mut particles);
        [total(&particles, Field::PairEnergy), total(&particles, Field::Virial)]
    };
    let radius = [50.0; 2];
    for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
        for r in [0.8, 1.1, 1.9] {
            for rule in [mixed, explicit] {
                let [epsilon, sigma] = if a == b { SPECIES[a] } else { rule(a, b) };
                let [depth, sigma6] = tables(rule);
                let near = |x: [f64; 2], y: [f64; 2]| {
                    let apart = x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-12 * y.abs().max(1.0));
                    assert!(apart, "{a} {b} at {r}: {x:?} {y:?}");
                };
                let truth = lennard_jones::Law::shifted(epsilon, sigma, 2.5);
                let plain = of(&|particles| naive(&truth, &bx, &radius, particles), a, b, r);
                let table = lennard_jones_table::Law::shifted(depth, sigma6, 2.5);
                near(of(&|particles| naive(&table, &bx, &radius, particles), a, b, r), plain);
                let truth = lennard_jones_switched::Law::new(epsilon, sigma, 1.2, 2.5);
                let switched = of(&|particles| naive(&truth, &bx, &radius, particles), a, b, r);
                let table = lennard_jones_table::Law::switched(depth, sigma6, 1.2, 2.5);
                near(of(&|particles| naive(&table, &bx, &radius, particles), a, b, r), switched);
                if rule(0, 2) == mixed(0, 2) {
                    let law = lennard_jones_mixed::Law::shifted(2.5);
                    near(of(&|particles| naive(&law, &bx, &radius, particles), a, b, r), plain);
                    let law = lennard_jones_mixed_switched::Law::new(1.2, 2.5);
                    near(of(&|particles| naive(&law, &bx, &radius, particles), a, b, r), switched);
                }
            }
        }
    }
}

/// The law of alike particles with charges is the sum of those of particles and of charges.
#[test]
fn alike_ions_have_both_interactions() {
    let alike = lennard_jones::Law::shifted(1.3, 0.9, 2.5);
    for charges in [coulomb::Law::plain(3.0), coulomb::Law::reaction_field(3.0, 78.0, 2.5)] {
        for r in [0.8, 1.1, 1.9, 2.4] {
            let [first, second] = [pair(&alike, r), pair(&charges, r)];
            let both = pair(&lennard_jones_coulomb::Law::new(alike, charges), r);
            for ((both, first), second) in both.iter().zip(first).zip(second) {
                let scale = first.abs().max(second.abs());
                assert!((both - first - second).abs() < 1e-13 * scale, "{r}: {both} {first} {second}");
            }
        }
    }
}

/// Two laws in one pass give the sum of what each gives by itself, each within its cutoff.
#[test]
fn two_laws_together_are_their_sum() {
    let bx = cube(8.0, Boundary::Periodic);
    let start = gas(&bx, 300, 0.85);
    let law = lennard_jones_mixed::Law::shifted(2.5);
    for cutoffs in [[2.5, 2.5], [1.7, 2.5], [2.5, 1.3]] {
        let charges = coulomb::Law::reaction_field(3.0, 78.0, cutoffs[1]);
        let alone = |act: &dyn Fn(&mut Particles)| {
            let mut particles = start.clone();
            act(&mut particles);
            particles
        };
        let radius = |cutoff: f64| vec![cutoff; start.len()];
        let first = alone(&|particles| naive(&law, &bx, &radius(cutoffs[0]), particles));
        let second = alone(&|particles| naive(&charges, &bx, &radius(cutoffs[1]), particles));
        let both = Together::new(law, charges, cutoffs);
        let all = alone(&|particles| naive(&both, &bx, &radius(cutoffs[0].max(cutoffs[1])), particles));
        for field in [Field::Force, Field::PairEnergy, Field::Virial] {
            for c in 0..field.components() {
                for row in 0..start.len() {
                    let sum = first.component(field, c)[row] + second.component(field, c)[row];
                    let found = all.component(field, c)[row];
                    assert!((found - sum).abs() < 1e-11 * sum.abs().max(1.0), "{cutoffs:?}: {found} {sum}");
                }
            }
        }
    }
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
        pair(&coulomb::Law::plain(3.0), 1.7),
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
                let pass = Pass { bx: &bx, radius: Radii::Each(&radius), precision, active: None };
                Sweep::new(&pass, &list).run(law, &mut swept);
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
    let charges = coulomb::Law::reaction_field(3.0, 78.0, 2.5);
    lanes_agree(&charges);
    lanes_agree(&coulomb::Law::plain(3.0));
    let alike = lennard_jones::Law::shifted(1.3, 0.9, 2.5);
    lanes_agree(&lennard_jones_coulomb::Law::new(alike, charges));
    let [depth, sigma6] = tables(explicit);
    let mixed = lennard_jones_mixed::Law::shifted(2.5);
    let table = lennard_jones_table::Law::truncated(depth, sigma6, 2.5);
    lanes_agree(&mixed);
    lanes_agree(&lennard_jones_mixed_switched::Law::new(1.2, 2.5));
    lanes_agree(&table);
    lanes_agree(&lennard_jones_table::Law::switched(depth, sigma6, 1.2, 2.5));
    lanes_agree(&Together::new(mixed, charges, [1.8, 2.5]));
    lanes_agree(&Together::new(table, charges, [2.5, 1.8]));
}
