//! Measurements of molecules: what they must be where it is known, on any number of ranks, and over restarts.

use crate::common::{plan, started};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::deck;
use hilbrium::domain::{Domain, DomainSettings};
use hilbrium::observe::{Columns, Measurements};
use hilbrium::particles::{Field, Particles};
use hilbrium::run::run;
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use hilbrium::step::Simulation;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// A periodic cube of Lennard-Jones atoms on a lattice, with further sections.
fn liquid(cells: u32, density: f64, temperature: f64, more: &str) -> String {
    let spacing = (4.0 / density).cbrt();
    format!(
        r#"
        [start.lattice]
        kind = "fcc"
        cells = [{cells}, {cells}, {cells}]
        spacing = {spacing}
        density = {density}
        temperature = {temperature}
        [space]
        boundary = "periodic"
        [interaction.lennard-jones]
        cutoff = 2.5
        truncation = "switched"
        switch_start = 2.0
        [neighbors]
        skin = 0.12
        {more}
        "#
    )
}

fn measure(measurements: &mut Measurements, simulation: &Simulation) {
    let (step, time) = (simulation.step, simulation.time);
    measurements.measure(&simulation.domain, &simulation.particles, step, time).unwrap();
}

/// Particles at random in a periodic cube, placed anew for every sample.
fn scattered(random: &mut ChaCha8Rng, count: usize, edge: f64) -> (Domain, Particles) {
    let bx = SimulationBox {
        lower: Vec3d::zeros(),
        upper: Vec3d::repeat(edge),
        boundary: [Boundary::Periodic; 3],
    };
    let mut particles = Particles::new(&[Field::Position, Field::Species], count);
    for row in 0..count {
        particles.set_vector(Field::Position, row, Vec3d::from_fn(|_, _| edge * random.random::<f64>()));
        particles.scalar_mut(Field::Species)[row] = f64::from(row % 3 == 0);
    }
    let mut domain = Domain::new(Communicator::solo(), bx, DomainSettings::default());
    domain.sync(&mut particles, |particles| vec![0.1; particles.len()]).unwrap();
    (domain, particles)
}

#[test]
fn an_ideal_gas_of_few_particles_has_no_structure() {
    let folder = tempfile::tempdir().unwrap();
    let species =
        "[species.A]\nmass = 1.0\nfraction = \"2/3\"\n[species.B]\nmass = 1.0\nfraction = \"1/3\"\n";
    let section = "[measure.radial-distribution]\nbins = 6\ndistance = 5.0\n[run]\nsteps = 1\n[time_step]\nfixed = 0.1\n";
    for (more, kinds) in [("", 1), (species, 2)] {
        // masses of species give the density
        let deck = liquid(4, 0.2, 1.0, section) + more;
        let plan = plan(&if kinds == 2 { deck.replace("density = 0.2", "") } else { deck });
        let mut measurements = Measurements::new(&plan, folder.path());
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for sample in 0..4000 {
            // twelve particles: N^2 / V for N (N - 1) / V would be 9 % wrong
            let (domain, particles) = scattered(&mut random, 12, 10.0);
            measurements.measure(&domain, &particles, 100 * sample, 0.0).unwrap();
        }
        measurements.write(&Communicator::solo()).unwrap();
        let table = Columns::read(&folder.path().join("radial-distribution.csv"), |_| true).unwrap();
        let column = |name: &str| table.values[table.find(name).expect(name)].clone();
        let pairs: &[&str] = if kinds == 1 { &[""] } else { &["_A_A", "_A_B", "_B_B"] };
        for pair in pairs {
            let (g, error) =
                (column(&format!("radial_distribution{pair}")), column(&format!("standard_error{pair}")));
            for bin in 0..6 {
                assert!(
                    (g[bin] - 1.0).abs() < 4.0 * error[bin],
                    "{pair} {bin}: {} +- {}",
                    g[bin],
                    error[bin]
                );
            }
            assert!(error[5] < 0.03, "{pair}: {error:?}");
        }
        // the outermost bin ends where a ball fills a share pi / 6 of the box
        let (around, others) = if kinds == 1 { ("coordination", 11.0) } else { ("coordination_B_A", 8.0) };
        let found = column(around)[5] / others / (std::f64::consts::PI / 6.0);
        assert!((found - 1.0).abs() < 0.01, "{found}");
    }
}

#[test]
fn the_distribution_is_the_same_on_any_number_of_ranks() {
    let section =
        "[measure.radial-distribution]\nevery_steps = 1\n[run]\nsteps = 1\n[time_step]\nfixed = 0.004\n";
    let plan = plan(&liquid(6, 0.8442, 1.44, section));
    let tables: Vec<String> = [1, 2, 3, 5]
        .into_iter()
        .map(|ranks| {
            let folder = tempfile::tempdir().unwrap();
            run_local(ranks, |comm| {
                let mut measurements = Measurements::new(&plan, folder.path());
                measure(&mut measurements, &started(&plan, &comm));
                measurements.write(&comm).unwrap();
            });
            std::fs::read_to_string(folder.path().join("radial-distribution.csv")).unwrap()
        })
        .collect();
    assert!(tables.iter().all(|table| *table == tables[0]));
    // twice the cutoff, or half the box
    let last: f64 = tables[0].lines().last().unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert!((last - 5.0).abs() < 1e-12, "{last}");
    // the twelve nearest of the lattice
    let table =
        tables[0].lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect());
    let table: Vec<Vec<f64>> = table.collect();
    let near = table.iter().find(|line| line[1] > 1.3).unwrap();
    assert!((near[4] - 12.0).abs() < 1e-12, "{near:?}");
}

#[test]
fn free_particles_move_in_straight_lines_whatever_the_box_and_the_ranks() {
    const DECK: &str = r#"
        [run]
        steps = 90
        [start.lattice]
        cells = [6, 7, 8]
        temperature = 4.0
        [space]
        boundary = ["periodic", "open", "periodic"]
        [interaction.yukawa]
        strength = 0.0
        cutoff = 0.9
        [neighbors]
        skin = 0.3
        [time_step]
        fixed = 0.05
        [measure.mean-square-displacement]
        window = 3.0
        origins = 7
        every_steps = 2
        fit_from = 0.0
    "#;
    let plan = plan(DECK);
    for ranks in [1, 3] {
        let found = run_local(ranks, |comm| {
            let folder = tempfile::tempdir().unwrap();
            let mut measurements = Measurements::new(&plan, folder.path());
            let mut simulation = started(&plan, &comm);
            let mut squares = [0.0; 4];
            for row in simulation.particles.owned() {
                let velocity = simulation.particles.vector_at(Field::Velocity, row);
                (0..3).for_each(|c| squares[c] += velocity[c].powi(2));
                squares[3] += 1.0;
            }
            comm.all_sum(&mut squares);
            measure(&mut measurements, &simulation);
            while simulation.step < 90 {
                simulation.advance(0.05).unwrap();
                if measurements.due(simulation.step, simulation.time) {
                    measure(&mut measurements, &simulation);
                }
            }
            let fastest =
                simulation.particles.owned().map(|row| simulation.particles.vector_at(Field::Image, row));
            let turns = fastest.map(|image| image.amax()).fold(0.0, f64::max);
            let displacement = measurements.mean_square_displacement.as_ref().unwrap();
            (displacement.values(0), squares, turns, displacement.diffusion())
        });
        assert!(
            found.iter().any(|(_, _, turns, _)| *turns > 1.0),
            "particles go around the box more than once"
        );
        let (values, squares, _, diffusion) = &found[0];
        assert_eq!(values.len(), 30);
        for (k, (time, means)) in values.iter().enumerate() {
            assert!((time - 0.1 * (k + 1) as f64).abs() < 1e-9);
            for c in 0..3 {
                let exact = squares[c] / squares[3] * time * time;
                assert!((means[c] / exact - 1.0).abs() < 1e-9, "{ranks}: {time} {} {exact}", means[c]);
            }
        }
        // all windows have the slope of the parabola over its whole range, <v^2> (first + last time), over 6
        let exact = (squares[0] + squares[1] + squares[2]) / squares[3] * 3.1 / 6.0;
        let coefficient = diffusion[0].coefficient;
        assert!((coefficient.mean / exact - 1.0).abs() < 1e-9, "{coefficient:?} {exact}");
        assert!(coefficient.values >= 4 && coefficient.standard_error < 1e-9 * exact, "{coefficient:?}");
    }
}

#[test]
fn random_walks_diffuse_as_they_must() {
    let section = "[measure.mean-square-displacement]\nwindow = 4.0\norigins = 8\nevery_steps = 1\nviscosity = 2.0\n\
                   [run]\nsteps = 1\n[time_step]\nfixed = 0.1\n";
    let plan = plan(&liquid(4, 0.2, 1.0, section));
    let folder = tempfile::tempdir().unwrap();
    let mut measurements = Measurements::new(&plan, folder.path());
    let displacement = measurements.mean_square_displacement.as_mut().unwrap();
    let (count, edge, exact, interval) = (300, 2.0, 0.25, 0.1);
    let bx = SimulationBox {
        lower: Vec3d::zeros(),
        upper: Vec3d::repeat(edge),
        boundary: [Boundary::Periodic; 3],
    };
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut particles = Particles::new(&[Field::Position, Field::Image], count);
    let mut domain = Domain::new(Communicator::solo(), bx, DomainSettings::default());
    let width = (24.0f64 * exact * interval).sqrt();
    for sample in 0..1500 {
        for row in 0..count {
            // evenly distributed steps of the variance 2 D dt along each axis
            let step = Vec3d::from_fn(|_, _| width * (random.random::<f64>() - 0.5));
            let moved = particles.vector_at(Field::Position, row) + step;
            particles.set_vector(Field::Position, row, moved);
        }
        domain.sync(&mut particles, |particles| vec![0.1; particles.len()]).unwrap();
        displacement.measure(&domain, &particles, f64::from(sample) * interval, Some(1.5));
    }
    let found = displacement.diffusion()[0].clone();
    let (mean, error) = (found.coefficient.mean, found.coefficient.standard_error);
    println!("{mean} +- {error}, {} windows", found.coefficient.values);
    assert!((mean - exact).abs() < 4.0 * error && error < 0.02 * exact, "{mean} +- {error}");
    // not as if windows that overlap were independent
    let scatter = found.coefficient.deviation / (found.coefficient.values as f64).sqrt();
    assert!(error > 1.3 * scatter, "{error} {scatter}");
    let correction = 2.837_297 * 1.5 / (6.0 * std::f64::consts::PI * 2.0 * edge);
    assert!((found.corrected.unwrap() - mean - correction).abs() < 1e-12);
}

/// The tables that a run leaves.
const FILES: [&str; 3] = ["radial-distribution.csv", "mean-square-displacement.csv", "diffusion.csv"];

fn read(folder: &Path) -> [String; 3] {
    FILES.map(|name| std::fs::read_to_string(folder.join(name)).expect(name))
}

#[test]
fn a_restart_goes_on_with_the_same_statistics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deck.toml");
    let sections = r#"
        [run]
        steps = 60
        precision = "double"
        [time_step]
        fixed = 0.004
        [measure.radial-distribution]
        every_steps = 4
        bins = 50
        [measure.mean-square-displacement]
        window = 0.08
        origins = 4
        every_steps = 2
        from_time = 0.032
        viscosity = 3.0
        [output]
        overwrite = true
        [output.checkpoint]
        every_steps = 25
    "#;
    std::fs::write(&path, liquid(5, 0.8442, 1.44, sections)).unwrap();
    let went = |name: &str, ranks: usize, steps: u64, from: Option<&str>, more: &[&str]| {
        let out = folder.path().join(name);
        let mut options =
            vec![format!("output.directory={:?}", out.display().to_string()), format!("run.steps={steps}")];
        options.extend(more.iter().map(|option| (*option).to_owned()));
        let deck = deck::read_checked(&path, &options).unwrap_or_else(|error| panic!("{error}"));
        run_local(ranks, |comm| {
            run(&deck, &comm, from.map(|from| folder.path().join(from)).as_deref()).map(drop).unwrap();
        });
        out
    };
    for ranks in [1, 2] {
        let whole = read(&went("whole", ranks, 60, None, &[]));
        let first = went("first", ranks, 25, None, &[]);
        let unfinished = read(&first);
        // the run that goes on keeps its last two alone
        let checkpoint = "half.h5";
        std::fs::copy(first.join("checkpoint-000025.h5"), folder.path().join(checkpoint)).unwrap();
        let rest = read(&went("first", ranks, 60, Some(checkpoint), &[]));
        assert!(unfinished != rest && rest[0].lines().count() == 51 && rest[1].lines().count() == 11);
        for (file, name) in FILES.iter().enumerate() {
            assert_eq!(rest[file], whole[file], "{ranks} ranks, {name}");
        }
        // on another number of ranks to rounding
        went("other", 3, 60, Some(checkpoint), &[]);
        for name in &FILES[..2] {
            let [a, b] = ["whole", "other"]
                .map(|run| Columns::read(&folder.path().join(run).join(name), |_| true).unwrap().values);
            let near =
                |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-8 * a.abs() + 1e-12 || a.is_nan() && b.is_nan();
            assert!(a.iter().flatten().zip(b.iter().flatten()).all(near), "{name}");
        }
        // what is measured otherwise begins anew
        let more = ["measure.radial-distribution.bins=20", "measure.mean-square-displacement.window=0.16"];
        let other = read(&went("anew", ranks, 60, Some(checkpoint), &more));
        assert_eq!(other[0].lines().count(), 21);
        let origins =
            |text: &str| text.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse::<u64>().unwrap();
        assert!(origins(&other[1]) < origins(&whole[1]) && origins(&other[1]) > 1);
    }
}

#[test]
fn a_dilute_gas_has_the_distribution_of_its_boltzmann_factor() {
    let density = 0.02;
    let section = "[measure.radial-distribution]\ndistance = 2.5\nbins = 25\nevery_steps = 20\n[run]\nsteps = 1\n\
                   [time_step]\nfixed = 0.005\n";
    let plan = plan(&shifted(&liquid(5, density, 2.0, section)).replace("skin = 0.12", "skin = 0.8"));
    let folder = tempfile::tempdir().unwrap();
    let mut measurements = Measurements::new(&plan, folder.path());
    let comm = Communicator::solo();
    let mut simulation = started(&plan, &comm);
    let (mut temperature, mut samples) = (0.0, 0.0);
    while simulation.step < 20_000 {
        simulation.advance(0.005).unwrap();
        if simulation.step > 4000 && measurements.due(simulation.step, simulation.time) {
            measure(&mut measurements, &simulation);
            let seen = simulation.observe(0.0);
            temperature += seen.molecular.unwrap().temperature;
            samples += 1.0;
        }
    }
    let temperature = temperature / samples;
    measurements.write(&comm).unwrap();
    let table = Columns::read(&folder.path().join("radial-distribution.csv"), |_| true).unwrap();
    let mut judged = 0;
    for bin in 0..25 {
        let [r, outer, g, error] = [0, 1, 2, 3].map(|column| table.values[column][bin]);
        // the mean of exp(-V / T) over the shell
        let width = 2.0 * (outer - r);
        let (mut sum, mut volume) = (0.0, 0.0);
        for k in 0..200 {
            let r = outer - width + width * (f64::from(k) + 0.5) / 200.0;
            sum += r * r * (-energy(r) / temperature).exp();
            volume += r * r;
        }
        let exact = sum / volume * (1.0 + density * third(r, temperature));
        if exact > 0.05 {
            println!("{r:.2} {g:.4} {error:.4} {exact:.4}");
            // beyond that four particles matter
            assert!((g - exact).abs() < 4.0 * error + 0.01 * exact, "r = {r}: {g} +- {error}, {exact}");
            assert!(error < 0.03 * exact + 0.01, "r = {r}: {g} +- {error}");
            judged += 1;
        } else {
            assert!(g < 0.08, "r = {r}: {g}");
        }
    }
    assert!(judged >= 15);
}

/// The deck with the energy shifted to zero at the cutoff.
fn shifted(deck: &str) -> String {
    deck.replace("\"switched\"", "\"shifted\"").replace("switch_start = 2.0", "")
}

/// The energy of a pair, shifted to zero at the cutoff.
fn energy(r: f64) -> f64 {
    let plain = |r: f64| 4.0 * (r.powi(-12) - r.powi(-6));
    if r < 2.5 { plain(r) - plain(2.5) } else { 0.0 }
}

/// What a third particle adds to the distribution, by the density: the integral of f(s) f(t) over its places, s and t its
/// distances from the two that are r apart, f = exp(-V / T) - 1; in bipolar coordinates 2 pi / r s t ds dt.
fn third(r: f64, temperature: f64) -> f64 {
    const STEP: f64 = 0.01;
    let f = |r: f64| (-energy(r) / temperature).exp() - 1.0;
    let places: Vec<f64> = (0..250).map(|k| (f64::from(k) + 0.5) * STEP).collect();
    let mut sum = 0.0;
    for &s in &places {
        for &t in places.iter().filter(|&&t| (r - s).abs() < t && t < r + s) {
            sum += s * f(s) * t * f(t);
        }
    }
    2.0 * std::f64::consts::PI / r * sum * STEP * STEP
}

#[test]
fn the_distribution_gives_the_energy_and_the_pressure_of_the_same_configuration() {
    let density = 0.8442;
    let section = "[measure.radial-distribution]\ndistance = 2.5\nbins = 2500\nevery_steps = 200\n[run]\nsteps = 1\n\
                   [time_step]\nfixed = 0.004\n";
    let plan = plan(&shifted(&liquid(6, density, 1.44, section)));
    let folder = tempfile::tempdir().unwrap();
    let comm = Communicator::solo();
    let mut measurements = Measurements::new(&plan, folder.path());
    let mut simulation = started(&plan, &comm);
    while simulation.step < 200 {
        simulation.advance(0.004).unwrap();
    }
    measure(&mut measurements, &simulation);
    let table = Columns::read(&folder.path().join("radial-distribution.csv"), |_| true).unwrap();
    let seen = simulation.observe(0.0);
    let molecular = seen.molecular.unwrap();
    // (N - 1) / V is the density that g is relative to
    let number = seen.particles as f64;
    let (mut sum, mut virial) = (0.0, 0.0);
    for bin in 0..2500 {
        let [r, outer, g] = [0, 1, 2].map(|column| table.values[column][bin]);
        let inner = 2.0 * r - outer;
        let volume = 4.0 / 3.0 * std::f64::consts::PI * (outer.powi(3) - inner.powi(3));
        let pairs = 0.5 * density * (number - 1.0) / number * g * volume;
        sum += pairs * if g > 0.0 { energy(r) } else { 0.0 };
        virial += pairs * if g > 0.0 { 24.0 * (2.0 * r.powi(-12) - r.powi(-6)) } else { 0.0 };
    }
    let potential = seen.potential / number;
    assert!((sum / potential - 1.0).abs() < 1e-4, "{sum} {potential}");
    let pressure = density * (molecular.temperature * (number - 1.0) / number + virial / 3.0);
    assert!((pressure - molecular.pressure).abs() < 2e-3, "{pressure} {}", molecular.pressure);
}

#[test]
fn tables_are_averaged_and_drawn_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("observables.csv");
    let mut text =
        "step [1],time [U_t],temperature [U_M U_L^2 U_t^-2],pressure [U_M U_L^-1 U_t^-2]\n".to_owned();
    (0..1000).for_each(|k| text += &format!("{k},{},{},1\n", f64::from(k) * 0.1, 2.0 + f64::from(k % 5 - 2)));
    std::fs::write(&path, text).unwrap();
    let told = |arguments: &[&str]| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_hilbrium"));
        let output = command.current_dir(folder.path()).args(arguments).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let (status, text) = told(&["average", "observables.csv", "--from", "10", "--csv", "averages.csv"]);
    assert!(
        status == Some(0) && text.contains("temperature     2.000") && text.contains("t = 10 to 99.9"),
        "{text}"
    );
    let averages = std::fs::read_to_string(folder.path().join("averages.csv")).unwrap();
    let cells: Vec<&str> = averages.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(cells[..2], ["temperature", "U_M U_L^2 U_t^-2"]);
    assert!((cells[2].parse::<f64>().unwrap() - 2.0).abs() < 1e-12, "{averages}");
    let (status, text) = told(&["average", "observables.csv", "--columns", "enthalpy"]);
    assert!(
        status == Some(2) && text.contains("no column \"enthalpy\"") && text.contains("pressure"),
        "{text}"
    );
    let (status, text) = told(&["average", "lacking.csv"]);
    assert!(status == Some(1) && text.contains("lacking.csv") && text.contains("help:"), "{text}");
    let (status, text) = told(&["picture", "observables.csv", "--folder", "drawn"]);
    assert!(status == Some(0) && text.contains("observables.png"), "{text}");
    assert!(
        ["png", "svg"].iter().all(|kind| folder
            .path()
            .join("drawn/observables")
            .with_extension(kind)
            .exists())
    );
    assert_eq!(told(&["picture", "observables.csv", "--along", "step", "--columns", "mass"]).0, Some(2));
}
