//! Configurations that LAMMPS and GROMACS wrote have the energies that those programs print for them.
//!
//! `tests/data/foreign/README.md` says how the files were made; `energies.json` has what was printed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod common;

use common::{plan, rows, started};
use hilbrium::comm::run_local;
use hilbrium::observe::Molecular;
use hilbrium::particles::Field;
use hilbrium::step::Simulation;
use serde_json::Value;

fn data(name: &str) -> String {
    format!("{}/tests/data/foreign/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn facts(case: &str) -> Value {
    let text = std::fs::read_to_string(data("energies.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()[case].take()
}

/// The deck that evaluates a file once, in double precision.
fn deck(file: &str, more: &str) -> String {
    format!("[run]\nsteps = 0\nprecision = \"double\"\n[start.file]\npath = {:?}\n{more}", data(file))
}

fn close(what: &str, found: f64, printed: f64, digits: i32) {
    let apart = (found - printed).abs() / printed.abs().max(1.0);
    println!("{what}: {found:.15e}, printed {printed:.15e}, apart {apart:.1e}");
    assert!(apart < 10f64.powi(-digits), "{what}: {found} is not {printed}");
}

/// Energy, virial pressure, temperature, sum of squared forces and single forces as LAMMPS prints them.
fn like_lammps(case: &str, interaction: &str, ranks: usize) {
    let facts = facts(case);
    let number = |name: &str| facts[name].as_f64().unwrap();
    let plan = plan(&deck(facts["file"].as_str().unwrap(), interaction));
    let parts = run_local(ranks, |comm| {
        let mut simulation = started(&plan, &comm);
        let seen = simulation.observe(0.0);
        (seen, rows(&simulation.particles, &[Field::Force]))
    });
    let seen = &parts[0].0;
    close("potential energy", seen.potential, number("potential"), 11);
    close("kinetic energy", seen.kinetic, number("kinetic"), 12);
    let Some(Molecular { temperature, pressure }) = seen.molecular else { panic!("molecules") };
    close("temperature", temperature, number("temperature"), 12);
    close("pressure", pressure, number("pressure"), 10);
    let forces: Vec<_> = parts.iter().flat_map(|part| &part.1).collect();
    let squared: f64 = forces.iter().flat_map(|row| &row.1).map(|f| f * f).sum();
    close("squared forces", squared, number("squared_forces"), 11);
    let printed = facts["forces"].as_object().unwrap();
    assert_eq!(printed.len(), 12);
    for (id, force) in printed {
        let id: u64 = id.parse().unwrap();
        let row = forces.iter().find(|row| row.0 == id).unwrap_or_else(|| panic!("no atom {id}"));
        for c in 0..3 {
            let (found, printed) = (row.1[c], force[c].as_f64().unwrap());
            assert!(
                (found - printed).abs() < 1e-9 * printed.abs().max(1.0),
                "atom {id}: {found} is not {printed}"
            );
        }
    }
}

#[test]
fn a_liquid_of_lammps_has_its_energies() {
    let law = "[interaction.lennard-jones]\n";
    like_lammps("lj-liquid-plain", &format!("{law}cutoff = 2.5\n"), 1);
    like_lammps("lj-liquid-plain-4", &format!("{law}cutoff = 4.0\n"), 2);
    like_lammps("lj-liquid-shifted", &format!("{law}cutoff = 2.5\ntruncation = \"shifted\"\n"), 3);
}

/// Energies and virial as GROMACS prints them.
fn like_gromacs(case: &str, more: &str, ranks: usize) {
    let facts = facts(case);
    let number = |name: &str| facts[name].as_f64().unwrap();
    let plan = plan(&deck(facts["file"].as_str().unwrap(), more));
    let parts = run_local(ranks, |comm| {
        let mut simulation = started(&plan, &comm);
        let seen = simulation.observe(0.0);
        (seen, rows(&simulation.particles, &[Field::Virial]))
    });
    close("potential energy", parts[0].0.potential, number("potential"), 11);
    let virial: f64 = parts.iter().flat_map(|part| &part.1).map(|row| row.1[0]).sum();
    let printed: f64 = facts["virial"].as_array().unwrap().iter().map(|part| part.as_f64().unwrap()).sum();
    // minus half the sum of r F
    close("virial", -0.5 * virial, printed, 10);
}

const ARGON: &str = "[units]\nsystem = \"molecular\"\n[species.Ar]\nmass = 39.948\n\
                     [interaction.lennard-jones]\nepsilon = 0.99607262165\nsigma = 0.3405\ncutoff = 0.85\n";

#[test]
fn argon_of_gromacs_has_its_energies() {
    like_gromacs("argon-plain", ARGON, 1);
    like_gromacs("argon-shifted", &format!("{ARGON}truncation = \"shifted\"\n"), 2);
    like_gromacs("argon-switched", &format!("{ARGON}truncation = \"switched\"\nswitch_start = 0.7\n"), 3);
}

#[test]
fn velocities_can_be_drawn_anew() {
    let text = ARGON.replace("[units]", "temperature = \"94 K\"\nseed = 8\n[units]");
    let plan = plan(&deck("argon.gro", &text));
    let temperatures = run_local(3, |comm| {
        let mut simulation = started(&plan, &comm);
        let seen = simulation.observe(0.0);
        seen.molecular.unwrap().temperature
    });
    assert!((temperatures[0] - 94.0).abs() < 1e-9, "{temperatures:?}");
}

#[test]
fn what_does_not_fit_the_deck_is_told() {
    let refused = |text: &str, part: &str| {
        let plan = plan(text);
        let errors = run_local(2, |comm| {
            hilbrium::start::particles(&plan, &comm, &Simulation::fields(&plan)).expect_err(part).to_string()
        });
        assert!(
            errors.iter().any(|error| error.contains(part) && error.contains("help:")),
            "{part}: {errors:?}"
        );
    };
    let reduced = "[interaction.lennard-jones]\ncutoff = 2.5\n";
    let molecular = ARGON;
    refused(&deck("salt.gro", reduced), "species \"CL\", \"NA\"");
    refused(&deck("salt.gro", molecular), "species \"NA\", and the deck has \"Ar\"");
    refused(&deck("lj-liquid.data", molecular), "does not say its units");
    refused(&deck("lj-liquid.data", &format!("units = \"lj\"\n{molecular}")), "reduced units");
    refused(&deck("lj-liquid.data", &format!("units = \"metal\"\n{reduced}")), "\"metal\"");
    refused(&deck("argon.gro", &format!("format = \"lammps-data\"\n{reduced}")), "xlo xhi");
    let single = ARGON.replace("[species.Ar]\nmass = 39.948\n", "");
    refused(&deck("argon.gro", &single), "no masses");
}

#[test]
fn info_and_check_tell_what_a_file_holds() {
    let ask = |arguments: &[&str]| {
        let output =
            std::process::Command::new(env!("CARGO_BIN_EXE_hilbrium")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let told = ask(&["info", &data("salt-real.data")]);
    for part in [
        "lammps-data",
        "periodic",
        "512",
        "\"1\", 256 particles, mass 22.98976928, charge 1",
        "lj/cut/coul/cut",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = ask(&["info", &data("argon.gro")]);
    assert!(
        told.contains("gromacs") && told.contains("\"AR\", 500 particles") && told.contains("velocity"),
        "{told}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deck.toml");
    std::fs::write(&path, deck("lj-liquid.data", "[interaction.lennard-jones]\ncutoff = 2.5\n")).unwrap();
    let told = ask(&["check", path.to_str().unwrap()]);
    assert!(told.contains("# particles: 864") && told.contains("# memory"), "{told}");
}
