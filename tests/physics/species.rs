//! Runs of several species: mixtures, charges, corrections for the tail, units.

use crate::common::{Row, difference, evolved, plan, rows, started};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::deck;
use hilbrium::observe::{Layout, Molecular};
use hilbrium::particles::{Field, Particles};
use hilbrium::snapshot::{Header, write_snapshot};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use hilbrium::start;
use hilbrium::step::Simulation;
use std::path::Path;

/// Two species, with what the interaction needs of them.
fn salt(interaction: &str) -> String {
    let (cation, anion) = match interaction.contains("lennard-jones") {
        true => ("epsilon = 1.0\nsigma = 0.8", "epsilon = 0.7\nsigma = 1.1"),
        false => ("", ""),
    };
    format!(
        "[species.cation]\nmass = 1.0\ncharge = 1.0\n{cation}\n[species.anion]\nmass = 1.5\ncharge = -1.0\n{anion}\n"
    )
}

/// A crystal of rock salt, of so many cells, whose nearest neighbors are at a distance of 1.
fn crystal(cells: usize, temperature: f64, interaction: &str) -> String {
    let species = salt(interaction);
    format!(
        r#"
        [run]
        steps = 1
        precision = "double"
        [start.lattice]
        kind = "rock-salt"
        cells = [{cells}, {cells}, {cells}]
        spacing = 2.0
        temperature = {temperature}
        [space]
        boundary = "periodic"
        [time_step]
        fixed = 0.002
        {species}
        {interaction}
        "#
    )
}

/// Energy per ion of the crystal in a reaction field: half the sum over all ions within the cutoff, and its own energy.
fn exact(cutoff: f64, permittivity: f64) -> f64 {
    let ratio =
        if permittivity.is_finite() { (permittivity - 1.0) / (2.0 * permittivity + 1.0) } else { 0.5 };
    let field = ratio / cutoff.powi(3);
    let shift = 1.0 / cutoff + field * cutoff * cutoff;
    let most = cutoff.ceil() as i32;
    let mut sum = -shift;
    for (x, y, z) in
        (-most..=most).flat_map(|x| (-most..=most).flat_map(move |y| (-most..=most).map(move |z| (x, y, z))))
    {
        let r = f64::from(x * x + y * y + z * z).sqrt();
        if r > 0.0 && r < cutoff {
            let sign = if (x + y + z) % 2 == 0 { 1.0 } else { -1.0 };
            sum += sign * (1.0 / r + field * r * r - shift);
        }
    }
    0.5 * sum
}

#[test]
fn rock_salt_in_a_reaction_field_has_the_energy_of_its_shells() {
    for (cutoff, permittivity) in [(2.5, "1.0"), (3.3, "78.0"), (5.2, "inf"), (7.3, "inf")] {
        let law = format!("[interaction.coulomb]\ncutoff = {cutoff}\npermittivity = {permittivity}");
        let mut simulation = started(&plan(&crystal(8, 0.0, &law)), &Communicator::solo());
        let wanted = exact(cutoff, permittivity.parse().unwrap());
        simulation.evaluate_energies();
        let particles = &simulation.particles;
        for row in particles.owned() {
            let energy = particles.scalar(Field::PairEnergy)[row];
            assert!((energy - wanted).abs() < 1e-11, "{cutoff}: {energy} {wanted}");
            assert!(particles.vector_at(Field::Force, row).norm() < 1e-10, "a crystal is in equilibrium");
        }
        println!("{cutoff} {permittivity}: {wanted}");
    }
    // with a conductor beyond, the sums approach Madelung's constant, half of which each ion has
    let madelung = 1.7475645946331822;
    let error = |cutoff: f64| (2.0 * exact(cutoff, f64::INFINITY) / -madelung - 1.0).abs();
    println!("{:e} {:e} {:e}", error(5.2), error(10.3), error(40.4));
    assert!(error(10.3) < 0.02 && error(40.4) < 0.002);
}

#[test]
fn shifted_charges_are_a_reaction_field_of_the_vacuum() {
    let energy = |law: &str| {
        let law = format!("[interaction.coulomb]\ncutoff = 3.3\n{law}");
        started(&plan(&crystal(4, 0.0, &law)), &Communicator::solo()).observe(0.0).potential
    };
    let shifted = energy("truncation = \"shifted\"");
    assert!((shifted - energy("permittivity = 1.0")).abs() < 1e-9 * shifted.abs());
    // plain charges have no energy by themselves and none of the shift
    let plain = energy("truncation = \"plain\"");
    assert!((plain - shifted).abs() > 0.01 * shifted.abs());
}

const LAWS: [(&str, &str); 4] = [
    ("mixed", "[interaction.lennard-jones]\ntruncation = \"shifted\"\ncutoff = 2.1\n[interaction.coulomb]"),
    (
        "switched, two cutoffs",
        "[interaction.lennard-jones]\ntruncation = \"switched\"\nswitch_start = 1.3\ncutoff = 1.7\n\
         [interaction.coulomb]\ncutoff = 2.4",
    ),
    (
        "explicit",
        "[interaction.lennard-jones]\ntruncation = \"shifted\"\ncutoff = 2.1\n\
         [pair.anion.cation]\nepsilon = 2.0\n[interaction.coulomb]\ncutoff = 1.8",
    ),
    (
        "geometric, switched",
        "[interaction.lennard-jones]\nmixing = \"geometric\"\ntruncation = \"switched\"\nswitch_start = 1.3\n\
         cutoff = 2.1\n[interaction.coulomb]",
    ),
];

#[test]
fn ranks_threads_and_lists_give_the_serial_trajectory_of_a_salt() {
    const FIELDS: &[Field] = &[Field::Velocity, Field::Force, Field::PairEnergy, Field::Mass, Field::Charge];
    for (name, law) in LAWS {
        let deck = crystal(5, 0.5, law);
        let serial = evolved(&plan(&deck), 1, 1, 20, FIELDS);
        for (ranks, threads, neighbors) in
            [(1, 2, "skin = 0.1"), (3, 1, "symmetric = true"), (2, 2, "method = \"particles\"")]
        {
            let other = plan(&format!("{deck}\n[neighbors]\n{neighbors}"));
            let apart = difference(&serial, &evolved(&other, ranks, threads, 20, FIELDS));
            println!("{name} {ranks} {threads} {neighbors}: {apart:e}");
            assert!(apart < 1e-9, "{name}, {ranks} ranks, {threads} threads, {neighbors}: {apart:e}");
        }
    }
}

#[test]
fn a_salt_keeps_its_energy() {
    for (name, law) in LAWS {
        let wander = |step: f64, precision: &str| {
            let deck = crystal(5, 0.5, law)
                .replace("fixed = 0.002", &format!("fixed = {step}"))
                .replace("\"double\"", &format!("\"{precision}\""));
            let mut simulation = started(&plan(&deck), &Communicator::solo());
            let first = simulation.observe(0.0);
            while simulation.time < 0.2 {
                simulation.advance(step).expect("a step");
            }
            let last = simulation.observe(0.0);
            assert!((last.kinetic - first.kinetic).abs() > 1e-2 * first.kinetic, "it moves");
            (last.total_energy() - first.total_energy()).abs() / first.kinetic
        };
        let [double, mixed] = ["double", "mixed"].map(|precision| wander(0.002, precision));
        println!("{name}: {double:e} {mixed:e}");
        // forces jump where a cutoff is plain or shifted
        assert!(double < 2e-3 && mixed < 2e-3, "{name}: {double:e} {mixed:e}");
    }
}

#[test]
fn a_mixture_has_its_composition_on_any_ranks() {
    let deck = plan(
        r#"
        [run]
        steps = 1
        [species.A]
        mass = 1.0
        fraction = 0.7
        [species.B]
        mass = 2.5
        fraction = 0.2
        [species.C]
        mass = 4.0
        fraction = 0.1
        [start.lattice]
        kind = "fcc"
        cells = [5, 5, 5]
        density = 2.0
        temperature = 1.3
        [space]
        boundary = "periodic"
        [interaction.yukawa]
        [time_step]
        fixed = 0.001
        "#,
    );
    // 500 particles: 350, 100, 50; the density gives the box
    let mass = 350.0 * 1.0 + 100.0 * 2.5 + 50.0 * 4.0;
    let edge = deck.space.corners.expect("a box")[1][0];
    assert!((edge.powi(3) * 2.0 / mass - 1.0).abs() < 1e-12, "{edge}");
    let on = |ranks: usize| -> Vec<Row> {
        let parts = run_local(ranks, |comm| {
            let mut simulation = started(&deck, &comm);
            let seen = simulation.observe(0.0);
            let Some(Molecular { temperature, .. }) = seen.molecular else { panic!("molecules") };
            assert!((temperature - 1.3).abs() < 1e-12 && seen.momentum.norm() < 1e-10, "{temperature}");
            assert!((seen.mass - mass).abs() < 1e-9);
            rows(&simulation.particles, &[Field::Species, Field::Mass, Field::Velocity])
        });
        let mut all: Vec<Row> = parts.into_iter().flatten().collect();
        all.sort_by_key(|row| row.0);
        all
    };
    let one = on(1);
    for (species, count, mass) in [(0.0, 350, 1.0), (1.0, 100, 2.5), (2.0, 50, 4.0)] {
        let found: Vec<&Row> = one.iter().filter(|row| row.1[0] == species).collect();
        assert!(found.len() == count && found.iter().all(|row| row.1[1] == mass), "{species}");
        // spread over the ids, which are in the order of the lattice
        let half = found.iter().filter(|row| row.0 < 250).count() as f64;
        assert!((half - 0.5 * count as f64).abs() < 4.0 * (0.25 * count as f64).sqrt(), "{species}: {half}");
    }
    assert!(difference(&one, &on(3)) < 1e-12);
}

/// A configuration of the NIST Standard Reference Simulation Website as a file to start from.
fn nist(name: &str, to: &Path) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = std::fs::read_to_string(path).expect("the configuration");
    let mut lines = text.lines();
    let count: usize = lines.next().expect("a count").trim().parse().expect("a number");
    let edge: f64 =
        lines.next().expect("a cell").split_whitespace().nth(1).expect("an edge").parse().unwrap();
    let bx = SimulationBox {
        lower: Vec3d::repeat(-0.5 * edge),
        upper: Vec3d::repeat(0.5 * edge),
        boundary: [Boundary::Periodic; 3],
    };
    let mut particles = Particles::new(&[Field::Position, Field::Mass], count);
    for (row, line) in lines.filter(|line| !line.trim().is_empty()).enumerate() {
        let place: Vec<f64> = line.split_whitespace().skip(1).map(|x| x.parse().unwrap()).collect();
        particles.set_vector(Field::Position, row, bx.wrap(Vec3d::new(place[0], place[1], place[2])));
        particles.scalar_mut(Field::Mass)[row] = 1.0;
    }
    write_snapshot(to, &Communicator::solo(), &particles, &Header::new(bx), &[]).expect("a snapshot");
    count
}

/// Energy, virial and tail of the configurations as NIST prints them, to the last digit, by a deck.
#[test]
fn decks_meet_the_reference_energies() {
    let folder = tempfile::tempdir().unwrap();
    for (name, cutoff, energy, virial, tail, digits) in [
        ("nist-lj-1.xyz", 3.0, -4351.5, -568.67, -198.49, [0.05, 0.005, 0.005]),
        ("nist-lj-1.xyz", 4.0, -4467.5, -1263.9, -83.769, [0.05, 0.05, 0.0005]),
        ("nist-lj-2.xyz", 3.0, -690.00, -568.46, -24.230, [0.005, 0.005, 0.0005]),
        ("nist-lj-2.xyz", 4.0, -704.60, -655.99, -10.226, [0.005, 0.005, 0.0005]),
    ] {
        let file = folder.path().join(format!("{name}.hdf5"));
        let count = nist(name, &file);
        let deck = |tail: bool, precision: &str| {
            plan(&format!(
                "[run]\nsteps = 0\nprecision = \"{precision}\"\n[start.file]\npath = {file:?}\n\
                 [space]\nboundary = \"periodic\"\n\
                 [interaction.lennard-jones]\ncutoff = {cutoff:?}\ntail = {tail}\n"
            ))
        };
        for precision in ["double", "mixed"] {
            for ranks in [1, 2] {
                let seen = run_local(ranks, |comm| {
                    [false, true].map(|tail| {
                        let mut simulation = started(&deck(tail, precision), &comm);
                        let volume = simulation.domain.bx.lengths().product();
                        (simulation.observe(0.0), volume)
                    })
                });
                let [(plain, volume), (corrected, _)] = &seen[0];
                let pressure = |seen: &hilbrium::observe::Observables| seen.molecular.unwrap().pressure;
                let w = 3.0 * volume * pressure(plain);
                assert!((plain.potential - energy).abs() <= digits[0], "{name}: {}", plain.potential);
                assert!((w - virial).abs() <= digits[1], "{name}: {w}");
                let found = corrected.potential - plain.potential;
                assert!((found - tail).abs() <= digits[2], "{name}: {found}");
                // Allen & Tildesley 2017, equation 2.148: 16/3 pi rho^2 (2/3 r^-9 - r^-3)
                let density = count as f64 / volume;
                let rest = f64::powi(cutoff, -3);
                let exact =
                    16.0 / 3.0 * std::f64::consts::PI * density.powi(2) * (2.0 / 3.0 * rest.powi(3) - rest);
                let found = pressure(corrected) - pressure(plain);
                assert!((found - exact).abs() < 1e-12, "{name}: {found} {exact}");
            }
        }
    }
}

#[test]
fn a_file_in_a_box_below_twice_the_cutoff_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nist.hdf5");
    nist("nist-lj-2.xyz", &file);
    let deck = plan(&format!(
        "[run]\nsteps = 0\n[start.file]\npath = {file:?}\n[space]\nboundary = \"periodic\"\n\
         [interaction.lennard-jones]\ncutoff = 4.1\n"
    ));
    let comm = Communicator::solo();
    let (space, particles) = start::particles(&deck, &comm, &Simulation::fields(&deck)).expect("a start");
    let mut simulation = Simulation::new(deck, &comm, space, particles);
    let error = simulation.evaluate_forces(0.0).expect_err("8 is less than twice 4.1").to_string();
    assert!(error.contains("box"), "{error}");
}

/// A liquid on a lattice; what is the same in all units.
fn liquid(more: &str) -> String {
    format!(
        "[run]\nsteps = 20\nprecision = \"double\"\n[space]\nboundary = \"periodic\"\n\
         [start.lattice]\nkind = \"fcc\"\ncells = [5, 5, 5]\n{more}"
    )
}

/// Species of equal parameters are one kind: same energies, same tail, whatever the law that computes them.
#[test]
fn alike_species_are_one_kind() {
    let energy = |matter: &str| {
        let deck = liquid(&format!(
            "spacing = 1.68\n[time_step]\nfixed = 0.001\n[interaction.lennard-jones]\ncutoff = 2.5\ntail = true\n{matter}"
        ));
        let seen = started(&plan(&deck), &Communicator::solo()).observe(0.0);
        (seen.potential, seen.molecular.unwrap().pressure)
    };
    let kind = |name: &str| format!("[species.{name}]\nmass = 1.0\nepsilon = 1.0\nsigma = 1.0\n");
    let one = energy("epsilon = 1.0\nsigma = 1.0");
    let two = energy(&(kind("A") + &kind("B")));
    // the table and the rule
    let table = energy(&(kind("A") + &kind("B") + "[pair.A.B]\nepsilon = 1.0\n"));
    let almost = kind("B").replace("epsilon = 1.0", "epsilon = 1.0000000000000002");
    let mixed = energy(&(kind("A") + &almost));
    for other in [two, table, mixed] {
        assert!(
            (other.0 / one.0 - 1.0).abs() < 1e-12 && (other.1 / one.1 - 1.0).abs() < 1e-10,
            "{other:?} {one:?}"
        );
    }
}

#[test]
fn the_repulsive_truncation_is_cut_at_the_minimum() {
    let energy = |law: &str| {
        let deck = liquid(&format!(
            "spacing = 1.5\njitter = 0.1\n[time_step]\nfixed = 0.001\n[interaction.lennard-jones]\nsigma = 0.95\n{law}"
        ));
        let mut simulation = started(&plan(&deck), &Communicator::solo());
        simulation.evaluate_energies();
        assert!(simulation.particles.scalar(Field::PairEnergy).iter().all(|&energy| energy >= 0.0));
        simulation.observe(0.0).potential
    };
    let named = energy("truncation = \"weeks-chandler-andersen\"");
    let cutoff = 0.95 * 2f64.powf(1.0 / 6.0);
    let written = energy(&format!("truncation = \"shifted\"\ncutoff = {cutoff:?}"));
    assert!(named > 1.0 && (named / written - 1.0).abs() < 1e-12, "{named} {written}");
}

/// Argon in molecular units moves as the reduced liquid does.
#[test]
fn units_are_a_matter_of_scale() {
    let (epsilon, sigma, mass): (f64, f64, f64) = (119.8 * 0.00831446261815324, 0.3405, 39.948);
    let time = (mass * sigma * sigma / epsilon).sqrt();
    let reduced = liquid(
        "spacing = 1.68\ntemperature = 1.2\n[species.Ar]\nmass = 1.0\nepsilon = 1.0\nsigma = 1.0\n\
         [time_step]\nfixed = 0.004\n[interaction.lennard-jones]\ncutoff = 2.5\n",
    );
    let molecular = liquid(&format!(
        "spacing = \"{:e} angstrom\"\ntemperature = \"{:e} K\"\n[units]\nsystem = \"molecular\"\n\
         [species.Ar]\nmass = \"39.948 g/mol\"\nepsilon = \"119.8 K\"\nsigma = \"3.405 angstrom\"\n\
         [time_step]\nfixed = \"{:e} fs\"\n[interaction.lennard-jones]\ncutoff = \"{:e} nm\"\n",
        16.8 * sigma,
        1.2 * 119.8,
        4.0 * time,
        2.5 * sigma
    ));
    let run = |deck: &str| {
        let mut simulation = started(&plan(deck), &Communicator::solo());
        (0..20).for_each(|_| simulation.advance(simulation.next_step).expect("a step"));
        let seen = simulation.observe(0.0);
        (rows(&simulation.particles, &[Field::Position, Field::Velocity]), seen)
    };
    let ((small, a), (real, b)) = (run(&reduced), run(&molecular));
    for (small, real) in small.iter().zip(&real) {
        for d in 0..3 {
            assert!((small.1[d] * sigma - real.1[d]).abs() < 1e-10, "{small:?} {real:?}");
            assert!((small.1[d + 3] * sigma / time - real.1[d + 3]).abs() < 1e-9);
        }
    }
    assert!((a.total_energy() * epsilon / b.total_energy() - 1.0).abs() < 1e-10);
    let (a, b) = (a.molecular.unwrap(), b.molecular.unwrap());
    assert!((a.temperature * 119.8 / b.temperature - 1.0).abs() < 1e-10);
    assert!((a.pressure * epsilon / sigma.powi(3) / b.pressure - 1.0).abs() < 1e-10);
}

/// Atoms at one point have no direction to part in: the run ends with an error that names one of them.
#[test]
fn atoms_at_one_point_end_the_run_and_one_atom_is_alone() {
    for (name, law) in LAWS {
        for (count, precision) in [(2, "mixed"), (2, "double"), (1, "mixed")] {
            let deck = plan(&crystal(5, 0.0, law).replace("\"double\"", &format!("\"{precision}\"")));
            let comm = Communicator::solo();
            let fields = Simulation::fields(&deck);
            let (space, _) = start::particles(&deck, &comm, &fields).expect("a start");
            let mut particles = Particles::new(&fields, count);
            for row in 0..count {
                particles.set_vector(Field::Position, row, Vec3d::repeat(1.0));
                particles.scalar_mut(Field::Mass)[row] = 1.0;
                particles.scalar_mut(Field::Species)[row] = row as f64;
                particles.scalar_mut(Field::Charge)[row] = 1.0 - 2.0 * row as f64;
                particles.scalar_mut(Field::Work)[row] = 1.0;
            }
            let mut simulation = Simulation::new(deck, &comm, space, particles);
            match (count, simulation.evaluate_forces(0.0)) {
                (2, Err(error)) => assert!(error.to_string().contains("of particle"), "{name}: {error}"),
                (1, Ok(())) => {
                    let row = simulation.particles.owned().start;
                    assert_eq!(simulation.particles.vector_at(Field::Force, row), Vec3d::zeros());
                }
                (_, outcome) => panic!("{name} {precision}: {outcome:?}"),
            }
        }
    }
}

#[test]
fn the_deck_of_names_and_units_arrives() {
    let text = r#"
        [units]
        system = "molecular"
        [run]
        end_time = "1 ns"
        [species."Na+"]
        mass = "22.98977 amu"
        charge = "1 e"
        epsilon = "0.3526418 kcal/mol"
        sigma = "2.159538 angstrom"
        [species.Cl-]
        mass = 35.453
        charge = -1.0
        epsilon = "0.0127850 kcal/mol"
        sigma = "4.830453 angstrom"
        [pair.Cl-."Na+"]
        sigma = "0.35 nm"
        [start.random]
        particles = 1000
        density = "1.5 g/cm3"
        temperature = "1300 K"
        [space]
        boundary = "periodic"
        [time_step]
        fixed = "1 fs"
        [interaction.lennard-jones]
        cutoff = "9 angstrom"
        [interaction.coulomb]
        cutoff = 1.0
        permittivity = inf
    "#;
    let checked =
        deck::examine("deck", text, &["species.Cl-.mass=35.5".into()]).unwrap_or_else(|e| panic!("{e}"));
    let plan = &checked.plan;
    assert_eq!(plan.species.iter().map(|kind| kind.name.as_str()).collect::<Vec<_>>(), ["Na+", "Cl-"]);
    assert_eq!((plan.species[1].mass, plan.species[1].charge, plan.run.end_time), (35.5, -1.0, Some(1000.0)));
    let interaction = plan.interaction.as_ref().unwrap();
    assert_eq!((interaction.cutoff, interaction.coulomb.as_ref().unwrap().permittivity), (1.0, None));
    let Some(hilbrium::plan::Interaction::LennardJones(law)) = &interaction.law else {
        panic!("{interaction:?}")
    };
    let [epsilon, sigma] = law.parameters.of(0, 1);
    assert!((epsilon - 4.184 * (0.3526418f64 * 0.0127850).sqrt()).abs() < 1e-12 && sigma == 0.35);
    assert_eq!(law.parameters.of(0, 1), law.parameters.of(1, 0));
    let edge = plan.space.corners.unwrap()[1][0];
    let mass = 500.0 * (22.98977 + 35.5) * 1.66053906892e-27;
    assert!((mass / (edge * 1e-9).powi(3) / 1500.0 - 1.0).abs() < 1e-9, "{edge}");
    let again = deck::examine("resolved", &checked.resolved, &[])
        .unwrap_or_else(|e| panic!("{}\n{e}", checked.resolved));
    assert_eq!(&again.plan, plan, "{}", checked.resolved);
}

#[test]
fn records_name_their_units() {
    let deck = |units: &str| {
        let text = format!(
            "spacing = 1.68\n[time_step]\nfixed = 0.001\n[interaction.lennard-jones]\ncutoff = 1.0\n{units}"
        );
        Layout::of(&plan(&liquid(&text))).header()
    };
    let reduced = deck("");
    let molecular = deck("[units]\nsystem = \"molecular\"");
    for (name, a, b) in [
        ("step", "1", "1"),
        ("time", "U_t", "ps"),
        ("total_energy", "U_M U_L^2 U_t^-2", "kJ mol^-1"),
        ("momentum_x", "U_M U_L U_t^-1", "amu nm ps^-1"),
        ("temperature", "U_M U_L^2 U_t^-2", "K"),
        ("pressure", "U_M U_L^-1 U_t^-2", "kJ mol^-1 nm^-3"),
    ] {
        for (header, unit) in [(&reduced, a), (&molecular, b)] {
            assert!(header.split(',').any(|column| column == format!("{name} [{unit}]")), "{name}: {header}");
        }
    }
}
