//! Configurations that LAMMPS and GROMACS wrote have the energies that those programs print for them.
//!
//! `tests/data/foreign/README.md` says how the files were made; `energies.json` has what was printed.

use crate::common::{plan, rows, started};
use hilbrium::comm::run_local;
use hilbrium::observe::Molecular;
use hilbrium::particles::Field;
use hilbrium::step::Simulation;
use serde_json::Value;

fn data(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/foreign");
    // a path that begins at the root stays what it is
    folder.join(name).to_str().unwrap().to_owned()
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
        let volume = simulation.domain.bx.lengths().product();
        (seen, rows(&simulation.particles, &[Field::Force, Field::Velocity, Field::Mass]), volume)
    });
    let (seen, _, volume) = &parts[0];
    close("potential energy", seen.potential, number("potential"), 11);
    close("kinetic energy", seen.kinetic, number("kinetic"), 12);
    let Some(Molecular { temperature, pressure }) = seen.molecular else { panic!("molecules") };
    let forces: Vec<_> = parts.iter().flat_map(|part| &part.1).collect();
    // LAMMPS counts the motion of the whole as heat, by the same number of degrees of freedom
    let momentum: f64 =
        (3..6).map(|c| forces.iter().map(|row| row.1[c] * row.1[6]).sum::<f64>().powi(2)).sum();
    let whole = 0.5 * momentum / forces.iter().map(|row| row.1[6]).sum::<f64>();
    let thermal = 2.0 * (number("kinetic") - whole);
    let degrees = 3.0 * (forces.len() - 1) as f64;
    close("temperature", temperature, thermal / degrees, 12);
    if whole < 1e-20 {
        close("temperature", temperature, number("temperature"), 12);
        close("pressure", pressure, number("pressure"), 10);
    }
    close("pressure", pressure, number("virial_pressure") + thermal / (3.0 * volume), 10);
    let squared: f64 = forces.iter().flat_map(|row| &row.1[..3]).map(|f| f * f).sum();
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

/// The deck of the mixture, with these charges of its species where there are any.
fn mixture(charges: Option<[f64; 2]>, more: &str) -> String {
    let charge = |k: usize| charges.map_or(String::new(), |charges| format!("charge = {}\n", charges[k]));
    let [one, two] = [charge(0), charge(1)];
    format!(
        "[species.1]\nmass = 1\n{one}epsilon = 1\nsigma = 1\n\
         [species.2]\nmass = 2\n{two}epsilon = 0.6\nsigma = 1.15\n\
         [interaction.lennard-jones]\ncutoff = 3\n{more}"
    )
}

#[test]
fn a_mixture_of_lammps_has_its_energies() {
    like_lammps("mixture-lorentz-berthelot", &mixture(None, ""), 1);
    like_lammps("mixture-geometric", &mixture(None, "mixing = \"geometric\"\n"), 2);
}

#[test]
fn a_charged_mixture_of_lammps_has_its_energies() {
    let charges = Some([0.7, -0.9]);
    let coulomb = "[interaction.coulomb]\ntruncation = \"plain\"\n";
    like_lammps("mixture-charged", &mixture(charges, coulomb), 3);
    let shifted = format!("truncation = \"shifted\"\n{coulomb}");
    like_lammps("mixture-charged-shifted", &mixture(charges, &shifted), 2);
}

/// Potential energy of a configuration, the volume of its box, and the constant of Coulomb's law.
fn potential(file: &str, more: &str, ranks: usize) -> (f64, f64, f64) {
    let plan = plan(&deck(file, more));
    let parts = run_local(ranks, |comm| {
        let mut simulation = started(&plan, &comm);
        (simulation.observe(0.0).potential, simulation.domain.bx.lengths().product())
    });
    (parts[0].0, parts[0].1, plan.units.coulomb)
}

/// LAMMPS' units real, read into nm, ps, amu, kJ/mol. LAMMPS has constants of its own for these units.
#[test]
fn molten_salt_of_lammps_has_its_energies() {
    const CALORIE: f64 = 4.184;
    const COULOMB: f64 = 332.06371;
    let species = |charges: [&str; 2]| {
        let [one, two] = charges;
        format!(
            "units = \"real\"\n[units]\nsystem = \"molecular\"\n\
             [species.1]\nmass = 22.98976928\n{one}\n\
             epsilon = \"0.352642 kcal/mol\"\nsigma = \"2.15954 angstrom\"\n\
             [species.2]\nmass = 35.453\n{two}\n\
             epsilon = \"0.012785 kcal/mol\"\nsigma = \"4.83045 angstrom\"\n\
             [interaction.lennard-jones]\ncutoff = \"9 angstrom\"\n"
        )
    };
    let facts = facts("salt-real");
    let number = |name: &str| facts[name].as_f64().unwrap();
    let attraction = number("van_der_waals") * CALORIE;
    let (found, ..) = potential("salt-real.data", &species(["", ""]), 1);
    close("van der Waals", found, attraction, 11);
    let ions = species(["charge = 1", "charge = -1"]);
    let charged = format!("{ions}[interaction.coulomb]\ntruncation = \"plain\"\n");
    let (found, _, constant) = potential("salt-real.data", &charged, 2);
    // kJ/mol nm against kcal/mol angstrom
    let coulomb = number("coulomb") * CALORIE * constant / (0.1 * CALORIE * COULOMB);
    close("potential energy", found, attraction + coulomb, 11);
}

const SALT: &str = "[units]\nsystem = \"molecular\"\n\
                    [species.NA]\nmass = 22.98976928\ncharge = 1\nepsilon = 1.47545\nsigma = 0.215954\n\
                    [species.CL]\nmass = 35.453\ncharge = -1\nepsilon = 0.0534924\nsigma = 0.483045\n\
                    [interaction.lennard-jones]\ncutoff = 0.9\n";

/// Where the energy of a pair is zero at the cutoff, both programs count that of each ion with its own medium. The constant
/// of Coulomb's law that GROMACS has, known to eleven digits, is another one.
fn like_gromacs_salt(case: &str, more: &str, ranks: usize) {
    const COULOMB: f64 = 138.93545764;
    let facts = facts(case);
    let number = |name: &str| facts[name].as_f64().unwrap();
    let (found, _, constant) = potential("salt.gro", &format!("{SALT}{more}"), ranks);
    close(case, found, number("van_der_waals") + number("coulomb") * constant / COULOMB, 10);
}

#[test]
fn molten_salt_of_gromacs_has_its_energies() {
    let coulomb = |more: &str| format!("[interaction.coulomb]\n{more}\n");
    like_gromacs_salt("salt-cut", &coulomb("truncation = \"plain\""), 1);
    let shifted = format!("truncation = \"shifted\"\n{}", coulomb("truncation = \"shifted\""));
    like_gromacs_salt("salt-cutshift", &shifted, 2);
    like_gromacs_salt("salt-rf", &coulomb("permittivity = inf"), 3);
    like_gromacs_salt("salt-rf78", &coulomb("permittivity = 78.5"), 1);
}

/// GROMACS corrects for the attraction beyond the cutoff alone, hilbrium for the repulsion too.
#[test]
fn argon_of_gromacs_has_its_dispersion_correction() {
    let facts = facts("argon-tail");
    let (found, volume, _) = potential("argon.gro", &format!("{ARGON}tail = true\n"), 2);
    let (atoms, epsilon, sigma, cutoff) = (500.0, 0.99607262165, 0.3405f64, 0.85);
    let repulsion = 8.0 / 9.0 * std::f64::consts::PI * atoms * (atoms / volume) * epsilon * sigma.powi(12)
        / f64::powi(cutoff, 9);
    close("potential energy", found - repulsion, facts["potential"].as_f64().unwrap(), 11);
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
    refused(&deck("salt.gro", molecular), "species \"CL\", \"NA\", and the deck has \"Ar\"");
    refused(&deck("lj-liquid.data", molecular), "does not say its units");
    refused(&deck("lj-liquid.data", &format!("units = \"lj\"\n{molecular}")), "reduced units");
    refused(&deck("lj-liquid.data", &format!("units = \"metal\"\n{reduced}")), "\"metal\"");
    refused(&deck("argon.gro", &format!("format = \"lammps-data\"\n{reduced}")), "no header of LAMMPS data");
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open.xyz");
    let atoms =
        "2\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3 pbc=\"T T F\"\nA 1 1 1\nA 3 1 1\n";
    std::fs::write(&open, atoms).unwrap();
    refused(&deck(open.to_str().unwrap(), &format!("{reduced}tail = true\n")), "open in z");
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
