//! `hilbrium check` refuses what `run` refuses before its first forces, and writes nothing.

use super::case::*;

#[test]
fn check_refuses_what_run_refuses() {
    let case = Case::new("");
    case.write("a.xyz", "1\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3\nKr 1 1 1\n");
    gas_file(&case.path("gas.hdf5"), |file| {
        file.group("PartType0").unwrap().unlink("InternalEnergy").unwrap()
    });
    case.write(
        "cut.xyz",
        "3\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3\nAr 1 1 1\nAr 2 x 1\nAr 1 2 3\n",
    );
    for (deck, words) in [
        (molecules("a.xyz", "[species.Ar]\nmass = 1\n"), &["\"Kr\""][..]),
        (molecules("a.xyz", ""), &["the box is too small in x"]),
        (molecules("cut.xyz", ""), &["line 4", "\"x\""]),
        (gas("gas.hdf5", ""), &["no internal_energy"]),
    ] {
        case.write("deck.toml", &deck);
        let [checked, run] = ["check", "run"].map(|command| case.deck(command, &[]));
        assert!(run.status != 0, "{}", run.output);
        let status = run.status;
        run.refused(status, words);
        checked.refused(status, words);
    }
}

#[test]
fn check_says_what_it_did_and_writes_nothing() {
    let case = Case::new(&gas("gas.hdf5", ""));
    gas_file(&case.path("gas.hdf5"), |_| {});
    let told = case.deck("check", &["output.overwrite=false"]).done();
    assert!(told.contains("# this deck is right: its start was built"), "{told}");
    assert!(told.contains("# box: [0, 14) open"), "{told}");
    assert!(!case.path("out").exists());
    // more particles than any memory holds
    let large = Case::new(
        "[run]\nsteps = 1\n[start.random]\nparticles = 1e11\n[gravity]\nsoftening = 0.01\n[output]\ndirectory = \"out\"\n",
    );
    let told = large.deck("check", &[]).done();
    assert!(told.contains("was not built") && told.contains("# particles: 100,000,000,000"), "{told}");
    // the folder of an earlier run is in the way, as it is of a run
    case.run(&["output.overwrite=false"]);
    case.deck("check", &["output.overwrite=false"]).refused(2, &["files of an earlier run"]);
}
