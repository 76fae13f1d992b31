//! Energies that a deck gives as formulas and tables, against independent values and the built-in laws.

use hilbrium::deck;
use hilbrium::laws::interaction::{LawVisitor, Laws};
use hilbrium::laws::{InteractionLaw, lennard_jones};
use hilbrium::neighbors::{ClusterList, Coding, ListRequest, NeighborList, Radii};
use hilbrium::pair::language::{Field, Vec3};
use hilbrium::pair::law::Columns;
use hilbrium::pair::{PairLaw, Pass, Precision, Sweep, find_tiles};
use hilbrium::particles::Particles;
use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};

/// The law of a deck's interaction.
fn law_of(sections: &str) -> InteractionLaw {
    let deck = format!(
        "run.steps = 1\ntime_step.fixed = 0.002\nspace.boundary = \"periodic\"\n\
         start.random = {{ particles = 10, lengths = 9.0 }}\n{sections}"
    );
    let checked = deck::examine("deck", &deck, &[]).unwrap_or_else(|report| panic!("{report}"));
    checked.plan.interaction.unwrap().law.unwrap().law(None)
}

fn formula(energy: &str, parameters: &str) -> InteractionLaw {
    law_of(&format!(
        "[interaction.formula]\nenergy = \"{energy}\"\n[interaction.formula.parameters]\n{parameters}\n"
    ))
}

/// Energy and force of two particles of these species at a distance, in double precision.
struct At {
    species: [f64; 2],
    distance: f64,
    found: [f64; 2],
}

impl LawVisitor for At {
    fn visit<L: PairLaw>(&mut self, law: &L) {
        let parameters = law.parameters::<f64>(());
        let [i, j] = self
            .species
            .map(|species| L::prepare::<f64>((), parameters, L::Particle::<f64>::from_columns(|_| species)));
        let r = Vec3 { x: self.distance, y: 0.0, z: 0.0 };
        let sums = L::interact::<f64>((), parameters, i, j, r, r.dot(r)).to_columns();
        self.found = [sums.as_ref()[3], sums.as_ref()[0]];
    }
}

fn at(law: &InteractionLaw, species: [f64; 2], distance: f64) -> [f64; 2] {
    let mut at = At { species, distance, found: [f64::NAN; 2] };
    law.visit(&mut at);
    at.found
}

/// Distances, energies and forces in 40 digits by mpmath 1.3.
type Values = [[f64; 3]; 5];

const TANG_TOENNIES: Values = [
    [0.6, 9.160388751161594, 23.257419313129894],
    [0.95, 3.7644366682164625, 9.57278890498074],
    [1.3, 1.5444154388536655, 3.9359552311560027],
    [1.9, 0.33333609655537794, 0.8546423046436215],
    [2.45, 0.08084088998956405, 0.20941337737455773],
];
const BUCKINGHAM: Values = [
    [0.6, -48.345194178338275, -554.2986318436981],
    [0.95, -2.272391336949852, -13.968638932784676],
    [1.3, -0.4490634599379495, -1.669480570751482],
    [1.9, -0.06368895383389735, -0.18665252092825985],
    [2.45, -0.014675011836438098, -0.03544741620296036],
];
const MORSE: Values = [
    [0.6, 298.76933589418167, 3527.359225852496],
    [0.95, 0.9005056151297379, 45.046525552498395],
    [1.3, -0.7769146126473553, -3.4198460501704835],
    [1.9, -0.034165525423457965, -0.18674974515078366],
    [2.45, -0.0016687528838089602, -0.009175404220959435],
];
const SOFT_SPHERE: Values = [
    [0.6, 7.155417527999327, 7.453559924999299],
    [0.95, 4.824935686666252, 5.8840679105686],
    [1.3, 3.0215457865683946, 4.443449686129992],
    [1.9, 1.017626924571657, 2.312788464935584],
    [2.45, 0.17989272477065749, 0.8176942035029885],
];

#[test]
fn formulas_have_the_values_of_an_independent_program() {
    let damping = "a*exp(-x) - d6*c6/r^6 - d8*c8/r^8 - d10*c10/r^10; x = b*r; d6 = 1 - exp(-x)*s6; \
                   d8 = 1 - exp(-x)*s8; d10 = 1 - exp(-x)*s10; s6 = 1 + x + x^2/2 + x^3/6 + x^4/24 + x^5/120 + \
                   x^6/720; s8 = s6 + x^7/5040 + x^8/40320; s10 = s8 + x^9/362880 + x^10/3628800";
    let cases = [
        (formula(damping, "a = 41.96\nb = 2.523\nc6 = 1.461\nc8 = 14.11\nc10 = 183.5"), TANG_TOENNIES),
        (formula("a*exp(-b*r) - c/r^6", "a = 1000\nb = 6.5\nc = 3.2"), BUCKINGHAM),
        (formula("d*((1 - exp(-a*(r - r0)))^2 - 1)", "d = 1.4\na = 5.5\nr0 = 1.1"), MORSE),
        (formula("k*(1 - r/s)^p", "k = 12.5\ns = 3\np = 2.5"), SOFT_SPHERE),
    ];
    for (law, values) in cases {
        for [distance, energy, force] in values {
            let found = at(&law, [0.0; 2], distance);
            let scale = energy.abs() + (distance * force).abs();
            assert!((found[0] - energy).abs() < 1e-10 * scale, "{distance}: {found:?} {energy}");
            assert!((found[1] - force).abs() < 1e-10 * scale / distance, "{distance}: {found:?} {force}");
        }
    }
}

#[test]
fn parameters_of_species_make_their_pairs() {
    let deck = "[species.A]\nmass = 1\nparameters = { s = 1.0, e = 1.0 }\n\
                [species.B]\nmass = 1\nparameters = { s = 0.8, e = 0.5 }\n\
                [interaction.formula]\nenergy = \"4*sqrt(e_i*e_j)*(x^12 - x^6); x = (s_i + s_j)/(2*r)\"\n";
    let law = law_of(deck);
    for (pair, [epsilon, sigma]) in
        [([0.0, 0.0], [1.0, 1.0]), ([0.0, 1.0], [0.5f64.sqrt(), 0.9]), ([1.0, 1.0], [0.5, 0.8])]
    {
        let truth = lennard_jones::Law::truncated(epsilon, sigma);
        for distance in [0.8, 1.0, 1.7, 2.4] {
            let mut wanted = At { species: [0.0; 2], distance, found: [0.0; 2] };
            wanted.visit(&truth);
            for species in [pair, [pair[1], pair[0]]] {
                let found = at(&law, species, distance);
                let scale = wanted.found[0].abs() + wanted.found[1].abs();
                assert!((found[0] - wanted.found[0]).abs() < 1e-12 * scale, "{found:?} {:?}", wanted.found);
                assert!((found[1] - wanted.found[1]).abs() < 1e-12 * scale, "{found:?} {:?}", wanted.found);
            }
        }
    }
}

#[test]
fn a_table_of_lammps_has_the_energies_of_its_law() {
    let law = law_of(
        "[species.A]\nmass = 1\n[species.B]\nmass = 1\n\
         [interaction.table]\nfile = \"tests/data/tables/mixture.table\"\n",
    );
    for (species, [epsilon, sigma]) in
        [([0.0, 0.0], [1.0, 1.0]), ([1.0, 0.0], [0.8, 1.1]), ([1.0, 1.0], [0.6, 1.2])]
    {
        for k in 0..60 {
            let distance = 0.95 + 0.0257 * f64::from(k);
            let mut wanted = At { species: [0.0; 2], distance, found: [0.0; 2] };
            wanted.visit(&lennard_jones::Law::truncated(epsilon, sigma));
            let found = at(&law, species, distance);
            let scale = wanted.found[0].abs() + wanted.found[1].abs() + 0.01;
            assert!(
                (found[0] - wanted.found[0]).abs() < 2e-5 * scale,
                "{distance}: {found:?} {:?}",
                wanted.found
            );
            assert!(
                (found[1] - wanted.found[1]).abs() < 2e-3 * scale,
                "{distance}: {found:?} {:?}",
                wanted.found
            );
        }
    }
}

/// A file that `pair_write` of LAMMPS (22 July 2025) wrote: 100 rows of lj/cut for argon, spaced evenly in r
/// and in r^2, in kcal/mol and angstrom. Cubic Hermite interpolation of so few rows is off by up to 1.1e-3
/// and 3.7e-3 at these distances (computed with numpy).
#[test]
fn a_file_of_lammps_has_the_energies_of_its_law() {
    for (name, tolerance) in [("LJ_R", 1.2e-3), ("LJ_RSQ", 4e-3)] {
        let law = law_of(&format!(
            "[units]\nsystem = \"molecular\"\n[species.Ar]\nmass = 39.948\n\
             [interaction.table]\nfile = \"tests/data/tables/lammps-lj.table\"\nsection = \"{name}\"\n\
             length_unit = \"1 angstrom\"\nenergy_unit = \"1 kcal/mol\"\n"
        ));
        let truth = lennard_jones::Law::truncated(0.238 * 4.184, 0.3405);
        for k in 0..60 {
            let distance = 0.31 + 0.0113 * f64::from(k);
            let mut wanted = At { species: [0.0; 2], distance, found: [0.0; 2] };
            wanted.visit(&truth);
            let found = at(&law, [0.0; 2], distance);
            let scale = wanted.found[0].abs() + (distance * wanted.found[1]).abs();
            let error = (found[0] - wanted.found[0]).abs() + distance * (found[1] - wanted.found[1]).abs();
            assert!(error < tolerance * scale, "{name} {distance}: {found:?} {:?}", wanted.found);
        }
    }
}

/// A face-centered lattice with displacements, 500 particles at a density of 0.8.
fn liquid() -> (SimulationBox, Particles) {
    let (cells, edge) = (5, 5.0 * (4.0f64 / 0.8).cbrt());
    let bx = SimulationBox {
        lower: Vec3d::zeros(),
        upper: Vec3d::repeat(edge),
        boundary: [Boundary::Periodic; 3],
    };
    let mut places = Vec::new();
    for cell in 0..cells * cells * cells {
        let corner = [cell % cells, cell / cells % cells, cell / (cells * cells)].map(f64::from);
        for (k, site) in
            [[0.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]].iter().enumerate()
        {
            let jitter = |d: usize| 0.05 * (f64::from(cell * 12) + (k * 3 + d) as f64 * 1.7).sin();
            let place: [f64; 3] =
                std::array::from_fn(|d| (corner[d] + site[d] + jitter(d)) * edge / f64::from(cells));
            places.push(bx.wrap(Vec3d::from(place)));
        }
    }
    places.sort_by_key(|place| hilbert::key_of(place, &bx));
    let fields = [Field::Position, Field::Species, Field::Force, Field::PairEnergy, Field::Virial];
    let mut particles = Particles::new(&fields, places.len());
    for (row, place) in places.into_iter().enumerate() {
        particles.id[row] = row as u64;
        particles.key[row] = hilbert::key_of(&place, &bx);
        particles.set_vector(Field::Position, row, place);
    }
    (bx, particles)
}

/// Total energy of a liquid.
struct Total {
    precision: Precision,
    energy: f64,
    largest_force: Vec<f64>,
}

impl LawVisitor for Total {
    fn visit<L: PairLaw>(&mut self, law: &L) {
        let (bx, mut particles) = liquid();
        let radius = vec![2.5; particles.len()];
        let request = ListRequest::of(&bx, &particles, &radius, true, Coding::Nibble);
        let clusters = ClusterList::build(&request).unwrap();
        let list = NeighborList::Tiled(find_tiles(&clusters, &request, None).unwrap());
        let pass = Pass { bx: &bx, radius: Radii::Each(&radius), precision: self.precision, active: None };
        Sweep::new(&pass, &list).run(law, &mut particles);
        self.energy = particles.scalar(Field::PairEnergy).iter().sum();
        self.largest_force = particles.component(Field::Force, 0).to_vec();
    }
}

#[test]
fn lennard_jones_as_a_formula_has_the_energies_of_the_law() {
    let law = formula("4*epsilon*((sigma/r)^12 - (sigma/r)^6)", "epsilon = 1.0\nsigma = 1.0");
    for (precision, tolerance) in [(Precision::Double, 1e-12), (Precision::Mixed, 1e-6)] {
        let total = || Total { precision, energy: 0.0, largest_force: Vec::new() };
        let (mut wanted, mut found) = (total(), total());
        wanted.visit(&lennard_jones::Law::truncated(1.0, 1.0));
        law.visit(&mut found);
        assert!((found.energy / wanted.energy - 1.0).abs() < tolerance, "{} {}", found.energy, wanted.energy);
        let size = wanted.largest_force.iter().fold(0.0f64, |most, force| most.max(force.abs()));
        for (a, b) in found.largest_force.iter().zip(&wanted.largest_force) {
            assert!((a - b).abs() < 10.0 * tolerance * size, "{precision:?}: {a} {b}");
        }
    }
}
