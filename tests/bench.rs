//! `hilbrium bench`: what every benchmark prints for programs, and whether it can be true.
//!
//! A program of its own: heavier tests beside it would distort the times that it compares.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use serde_json::Value;
use std::process::{Command, Output};

/// Runs `bench` with a program before it, if any, on two threads at most.
fn run(launcher: &[&str], arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_hilbrium");
    let line: Vec<&str> =
        launcher.iter().copied().chain([program, "bench"]).chain(arguments.iter().copied()).collect();
    let mut command = Command::new(line[0]);
    command.args(&line[1..]).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.output().unwrap()
}

/// The JSON of a benchmark.
fn json(launcher: &[&str], arguments: &[&str]) -> Value {
    let output = run(launcher, &[arguments, &["--json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}{complaint}");
    let found: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"));
    assert_eq!(found["benchmark"], arguments[0]);
    let book = include_str!("../docs/src/performance.md");
    for field in rows(&found).iter().flat_map(|row| row.as_object().unwrap().keys()) {
        assert!(book.contains(&format!("`{field}`")), "{field} is not in docs/src/performance.md");
    }
    found
}

fn alone(arguments: &[&str]) -> Value {
    json(&[], &[arguments, &["--threads", "1", "--repeats", "1"]].concat())
}

/// What starts two ranks.
#[cfg(feature = "mpi")]
fn two_ranks() -> Vec<&'static str> {
    let version = Command::new("mpirun").arg("--version").output().expect("mpirun, which runs MPI programs");
    let mut launcher = vec!["mpirun", "-n", "2"];
    if String::from_utf8_lossy(&version.stdout).contains("Open MPI") {
        launcher.extend(["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]);
    }
    launcher
}

fn rows(found: &Value) -> &Vec<Value> {
    found["rows"].as_array().unwrap()
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("no number {field} in {row}"))
}

/// Every number of a row is finite and positive but for these fields, which may be 0.
fn is_positive(row: &Value, but: &[&str]) {
    for (field, value) in row.as_object().unwrap() {
        if let Some(value) = value.as_f64() {
            let least = if but.contains(&field.as_str()) { 0.0 } else { f64::MIN_POSITIVE };
            assert!(value.is_finite() && value >= least, "{field} of {row}");
        }
    }
}

#[test]
fn lists_are_the_sum_of_their_parts() {
    let found = alone(&["neighbors", "--particles", "3000", "--neighbors", "25,80"]);
    // three distributions, two numbers, half and full, four codings; cells are full alone
    assert_eq!(rows(&found).len(), 3 * 2 * (2 * 4 + 1));
    let mut last = [0.0; 2];
    for row in rows(&found) {
        is_positive(row, &[]);
        let bytes = ["index_bytes", "offset_bytes"].map(|field| number(row, field));
        assert!((bytes.iter().sum::<f64>() - number(row, "bytes")).abs() < 1e-9, "{row}");
        let ratio = number(row, "build_nanoseconds") / number(row, "sweep_nanoseconds");
        assert!((ratio / number(row, "build_by_sweep") - 1.0).abs() < 1e-9, "{row}");
        let useful = number(row, "useful_fraction");
        // cells of a Plummer sphere are as wide as its largest radius
        let least = if row["coding"] == "cells" { 20.0 / 3000.0 } else { 0.02 };
        assert!(useful > least && useful <= 1.0, "{row}");
        let decoded = row["coding"] != "rows" && row["coding"] != "cells";
        assert_eq!(decoded, !row["decode_nanoseconds"].is_null(), "{row}");
        // codings change the indices and nothing else
        match row["coding"].as_str().unwrap() {
            "nibble" => last = [bytes[0], bytes[1]],
            "band" | "plain" => assert!(bytes[0] > last[0] && bytes[1] == last[1], "{row}"),
            _ => {}
        }
        let neighbors = number(row, "neighbors");
        let near = |wanted: f64| (0.7 * wanted..1.5 * wanted).contains(&neighbors);
        assert!(near(25.0) || near(80.0), "{row}");
    }
    let of = |list: &str| -> f64 {
        let chosen = rows(&found).iter().filter(|row| row["list"] == list);
        chosen.map(|row| number(row, "bytes")).sum()
    };
    assert!(of("half") < 0.8 * of("full"), "{} {}", of("half"), of("full"));
    let uniform = ["neighbors", "--particles", "3000", "--distribution", "uniform", "--neighbors", "80"];
    let first = |found: Value| rows(&found)[0].clone();
    let [near, far] = ["1", "1.25"].map(|reach| first(alone(&[&uniform[..], &["--reach", reach]].concat())));
    // the same list, and pairs in a ball of half the volume
    assert_eq!((&near["bytes"], &near["neighbors"]), (&far["bytes"], &far["neighbors"]));
    let ratio = number(&far, "useful_fraction") / number(&near, "useful_fraction");
    assert!((0.5..1.0).contains(&ratio), "{ratio}");
}

#[test]
fn keys_have_a_rate_in_each_order() {
    let found = alone(&["keys", "--particles", "5000"]);
    let orders: Vec<_> = rows(&found).iter().map(|row| row["order"].as_str().unwrap()).collect();
    assert_eq!(orders, ["sorted", "drifted", "random"]);
    for row in rows(&found) {
        is_positive(row, &[]);
        let product = number(row, "keys_nanoseconds") * number(row, "million_keys_per_second");
        assert!((product / 1e3 - 1.0).abs() < 1e-9, "{row}");
        assert_eq!(row["million_keys_per_second"], row["million_keys_per_second_and_thread"]);
    }
}

#[test]
fn every_law_is_swept_and_none_beats_the_core() {
    let found = alone(&["sweep", "--particles", "2000"]);
    for row in rows(&found) {
        is_positive(row, &[]);
        let useful = number(row, "useful_fraction");
        assert!(useful > 0.02 && useful <= 1.0, "{row}");
        assert!(number(row, "percent_of_peak") < 100.0, "{row}");
        assert!(number(row, "operations_per_pair") > 10.0, "{row}");
        assert!(number(row, "cycles_per_vector") > 1.0, "{row}");
    }
    let swept = |law: &str| rows(&found).iter().filter(|row| row["law"] == law).count();
    for law in hilbrium::laws::printed() {
        assert!(swept(&law.name.replace('_', " ")) >= 2, "{law:?}");
    }
    for (law, _) in hilbrium::laws::printed_with_coulomb() {
        let name = law.replace('_', " ").replace(" and coulomb", ", coulomb");
        assert!(swept(&name) >= 2, "{name}");
    }
    // the same pairs on half as many lanes at most
    let of = |list: &str| {
        let chosen = |row: &&Value| row["law"] == "mie" && row["list"] == list && row["precision"] == "mixed";
        rows(&found).iter().find(chosen).unwrap().clone()
    };
    let pairs = |row: &Value| number(row, "nanoseconds_per_particle") / number(row, "nanoseconds_per_pair");
    assert!((pairs(&of("full")) / pairs(&of("tiles")) - 2.0).abs() < 1e-3);
    // cells are full, too: a ball within 27 cells
    let of_law = |row: &&Value| row["law"] == "lennard jones" && row["precision"] == "mixed";
    let of_law =
        |list: &str| rows(&found).iter().filter(of_law).find(|row| row["list"] == list).unwrap().clone();
    assert!((pairs(&of_law("full")) / pairs(&of_law("cells")) - 1.0).abs() < 1e-3);
    assert!((0.03..0.5).contains(&number(&of_law("cells"), "useful_fraction")));
    // what tiles are for
    assert!(number(&of("tiles"), "useful_fraction") > 1.3 * number(&of("full"), "useful_fraction"));
    assert!(number(&found, "clock_in_gigahertz") > 0.1);
    let one = alone(&["sweep", "--particles", "500", "--case", "liquid", "--law", "mie"]);
    assert!(rows(&one).iter().all(|row| row["law"] == "mie") && rows(&one).len() == 4);
}

#[test]
fn gravity_has_a_price_at_an_error() {
    let found = alone(&[
        "gravity",
        "--particles",
        "3000",
        "--compared",
        "300",
        "--precision",
        "mixed",
        "--opening-angle",
        "0.3,0.6,1",
        "--error",
        "5e-4",
    ]);
    assert_eq!(rows(&found).len(), 2 * 2 * 3);
    for row in rows(&found) {
        let mut magnitudes = row.clone();
        magnitudes["error_of_energy"] = number(row, "error_of_energy").abs().into();
        is_positive(&magnitudes, &["error_of_energy", "nodes_per_particle"]);
        assert!(number(row, "error_median") <= number(row, "error_99_percent"), "{row}");
        let done = number(row, "pairs_per_particle") + number(row, "nodes_per_particle");
        let rate = done / number(row, "microseconds_per_particle") * 1e-3;
        assert!((rate / number(row, "billion_interactions_per_second") - 1.0).abs() < 1e-6, "{row}");
    }
    for group in rows(&found).chunks(3) {
        assert!(group.windows(2).all(|pair| number(&pair[0], "error_rms") < number(&pair[1], "error_rms")));
        assert!(group.iter().all(|row| row["expansion"] == group[0]["expansion"]));
    }
    let prices = found["at_error"].as_array().unwrap();
    assert!(!prices.is_empty());
    for price in prices {
        let angle = number(price, "opening_angle");
        assert!((0.3..=1.0).contains(&angle) && number(price, "seconds") > 0.0, "{price}");
        assert_eq!(number(price, "error_rms"), 5e-4);
    }
    let angle = |order: &str| {
        let row = prices.iter().find(|row| row["expansion"] == order && row["distribution"] == "evrard");
        row.map(|row| number(row, "opening_angle"))
    };
    if let (Some(quadrupole), Some(octupole)) = (angle("quadrupole"), angle("octupole")) {
        assert!(octupole > quadrupole, "{octupole} {quadrupole}");
    }
}

#[test]
fn the_phases_of_a_step_add_up() {
    for (case, particles, phase) in [("evrard", "1000", "gravity"), ("liquid", "864", "pair forces")] {
        let found = alone(&["step", "--case", case, "--particles", particles]);
        let (total, phases) = rows(&found).split_last().unwrap();
        assert_eq!(total["phase"], "total");
        assert!(phases.iter().any(|row| row["phase"] == phase), "{found}");
        let sum: f64 = phases.iter().map(|row| number(row, "mean_seconds")).sum();
        assert!((sum / number(total, "mean_seconds") - 1.0).abs() < 1e-9, "{found}");
        assert_eq!(number(&found, "steps"), 1.0);
        let rate = number(&found, "updates_per_second");
        assert!((rate * number(total, "core_microseconds_per_update") * 1e-6 - 1.0).abs() < 1e-6, "{found}");
        // Of one step, without what the benchmark does between steps: at most twice the step's own work.
        // Compared with the time of the processor, which other programs do not lengthen.
        let quiet = number(&found, "quiet_updates_per_second");
        assert!(quiet > 0.999 * rate, "{found}");
        assert!(quiet * number(&found, "processor_microseconds_per_update") * 1e-6 < 3.0, "{found}");
        assert!(number(&found, "peak_memory_per_particle_in_bytes") > 100.0, "{found}");
        // one thread works less than it is there, but for the clocks' grains
        let worked = number(&found, "processor_microseconds_per_update");
        let all = number(total, "core_microseconds_per_update");
        assert!(worked > 0.02 * all && worked < 1.2 * all, "{found}");
        assert_eq!(found["skins"].is_string(), case == "liquid", "{found}");
    }
}

#[test]
fn sizes_stop_at_the_budget() {
    let found = alone(&["size", "--case", "evrard", "--particles", "500,2000"]);
    let sizes: Vec<f64> = rows(&found).iter().map(|row| number(row, "particles")).collect();
    assert_eq!(sizes, [500.0, 2000.0]);
    for row in rows(&found) {
        is_positive(row, &["other"]);
        let parts = ["domain", "lists", "pairs", "gravity", "other"].map(|part| number(row, part));
        let sum: f64 = parts.iter().sum();
        assert!((sum / number(row, "core_microseconds_per_update") - 1.0).abs() < 1e-9, "{row}");
        // seven passes over pairs, gravity, and one to move
        assert!(number(row, "other") < 0.5 * number(row, "pairs").min(number(row, "gravity")), "{row}");
    }
    assert!(found["evrard_stopped"].is_null());
    let small =
        alone(&["size", "--case", "liquid,uniform", "--particles", "500,4000000000", "--memory", "1"]);
    assert_eq!(rows(&small).len(), 2);
    assert!(small["uniform_stopped"].as_str().unwrap().contains("GB of 1.0"), "{small}");
    assert!(small["liquid_stopped"].as_str().unwrap().contains("GB of 1.0"), "{small}");
    let brief = alone(&["size", "--case", "liquid", "--particles", "500,2000000", "--time", "1"]);
    assert!(brief["liquid_stopped"].as_str().unwrap().contains("s are left"), "{brief}");
}

#[test]
fn one_rank_has_no_halos() {
    let found = alone(&["domain", "--particles", "3000"]);
    assert_eq!(rows(&found).len(), 3);
    for row in rows(&found) {
        for field in [
            "moved_fraction",
            "halo_fraction",
            "most_halo_fraction",
            "peers",
            "halo_bytes_per_particle",
            "received_bytes_per_particle",
            "messages",
        ] {
            assert_eq!(number(row, field), 0.0, "{field} of {row}");
        }
        assert_eq!(number(row, "imbalance"), 1.0);
        assert!(number(row, "sync_nanoseconds") > 0.0 && number(row, "first_nanoseconds") > 0.0, "{row}");
    }
}

#[test]
fn threads_are_compared_with_one() {
    let arguments =
        ["scaling", "--particles", "1000", "--steps", "1", "--threads", "2", "--repeats", "1", "--weak"];
    let found = json(&[], &arguments);
    let threads: Vec<f64> = rows(&found).iter().map(|row| number(row, "threads")).collect();
    assert_eq!(threads, [1.0, 2.0]);
    assert_eq!(number(&rows(&found)[0], "speedup"), 1.0);
    for (row, particles) in rows(&found).iter().zip([1000.0, 2000.0]) {
        is_positive(row, &[]);
        assert_eq!(number(row, "particles"), particles);
        let efficiency = number(row, "speedup") / number(row, "threads");
        assert!((efficiency / number(row, "efficiency") - 1.0).abs() < 1e-9, "{row}");
        let rate = number(row, "updates_per_second") * number(row, "seconds_per_step");
        assert!((rate / particles - 1.0).abs() < 1e-9, "{row}");
    }
}

#[test]
#[cfg(feature = "mpi")]
fn two_ranks_exchange_and_are_compared_with_one() {
    let launcher = two_ranks();
    let few = ["--threads", "1", "--repeats", "1"];
    let found = json(&launcher, &[&["domain", "--particles", "3000"], &few[..]].concat());
    assert_eq!(number(&found, "ranks"), 2.0);
    let moved: f64 = rows(&found).iter().map(|row| number(row, "moved_fraction")).sum();
    assert!(moved > 0.0);
    for row in rows(&found) {
        // those of a lattice may all stay on their side
        is_positive(row, &["moved_fraction", "exchanged_bytes_per_particle", "box_jumps"]);
        assert_eq!(number(row, "peers"), 1.0, "{row}");
        let jumps = number(row, "box_jumps");
        if jumps == 0.0 {
            // A drift of at most a tenth brings 5 % of a layer of particles over each of two borders, a layer being
            // 3000^(2/3) of 3000; the borders move by a leaf of at most 64.
            assert!(number(row, "moved_fraction") < 0.04, "{row}");
        }
        assert!(jumps == 0.0 || row["distribution"] == "plummer", "periodic space does not follow: {row}");
        let parts = number(row, "halo_bytes_per_particle") + number(row, "exchanged_bytes_per_particle");
        assert!(number(row, "received_bytes_per_particle") > 0.99 * parts, "{row}");
        let bytes = number(row, "halo_bytes_per_particle") / number(row, "halo_fraction");
        assert!(bytes >= 8.0 * 10.0 && (bytes / 8.0).fract().abs() < 1e-6, "{row}");
        assert!(number(row, "most_halo_fraction") >= number(row, "halo_fraction") * (1.0 - 1e-9), "{row}");
    }
    // the outermost stay where they are
    let still = ["domain", "--particles", "3000", "--distribution", "plummer", "--drift", "0.0001"];
    let row = rows(&json(&launcher, &[&still, &few[..]].concat()))[0].clone();
    assert_eq!(number(&row, "box_jumps"), 0.0, "{row}");
    assert!(number(&row, "moved_fraction") < 0.03, "{row}");
    let found = json(&launcher, &[&["scaling", "--particles", "1000", "--steps", "1"], &few[..]].concat());
    let ranks: Vec<f64> = rows(&found).iter().map(|row| number(row, "ranks")).collect();
    assert_eq!(ranks, [1.0, 2.0]);
    let refused = run(&launcher, &["keys", "--particles", "500"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("bench keys measures one rank"));
}

#[test]
fn methods_spread_particles() {
    let arguments =
        ["spread", "--points", "16", "--particles", "700", "--method", "particles,tiles", "--repeats", "1"];
    let found = json(&["env", "HILBRIUM_DEVICE_UNDER_TEST=emulated"], &arguments);
    let methods: Vec<&str> = rows(&found).iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["particles", "tiles"]);
    assert_eq!(found["device"], "emulation");
    for row in rows(&found) {
        is_positive(row, &["construct_milliseconds", "bytes_per_particle"]);
        assert_eq!(number(row, "additions_per_point"), 700.0 * 216.0 / 4096.0);
        let [once, many] =
            ["once", "of_many"].map(|uses| number(row, &format!("billion_additions_per_second_{uses}")));
        let by_time = number(row, "spread_milliseconds")
            / (number(row, "construct_milliseconds") + number(row, "spread_milliseconds"));
        assert!((once / many / by_time - 1.0).abs() < 1e-9, "{row}");
    }
}

/// Without a GPU the table has the rows of processors, one per mesh, precision and number of particles.
#[test]
fn processors_spread_particles() {
    let sizes = ["spread", "--points", "8,16", "--particles", "700,3000", "--precision", "mixed,double"];
    let found = alone(&[&sizes[..], &["--device", "cpu"]].concat());
    assert_eq!(rows(&found).len(), 2 * 2 * 2);
    assert!(found["device"].is_null());
    for row in rows(&found) {
        assert_eq!(row["method"], "processors");
        is_positive(row, &["construct_milliseconds"]);
        assert_eq!(number(row, "construct_milliseconds"), 0.0);
        let points = number(row, "points_per_dimension");
        let additions = number(row, "particles") * 216.0;
        assert_eq!(number(row, "additions_per_point"), additions / points.powi(3));
        for (time, rate) in [
            ("spread_milliseconds", "billion_additions_per_second_of_many"),
            ("interpolate_milliseconds", "billion_points_per_second_interpolated"),
        ] {
            let product = number(row, time) * 1e-3 * number(row, rate) * 1e9;
            assert!((product / additions - 1.0).abs() < 1e-9, "{time} {row}");
        }
        let share = 100.0 * number(row, "floor_milliseconds") / number(row, "spread_milliseconds");
        assert!((share / number(row, "percent_of_floor_of_many") - 1.0).abs() < 1e-9, "{row}");
        // p^3 fused multiply-adds, unless memory takes longer
        let fused = match row["precision"].as_str().unwrap() {
            "mixed" => number(&found, "fused_billion_per_second"),
            _ => number(&found, "fused_billion_per_second_in_double"),
        };
        let floor = 1e3 * additions / (1e9 * fused);
        assert!(number(row, "floor_milliseconds") > 0.999 * floor, "{row}");
    }
    is_positive(&found, &[]);
    let chosen = alone(&["spread", "--points", "8", "--particles", "700", "--method", "processors"]);
    assert_eq!(rows(&chosen).len(), 1);
}

/// Figures of Guo et al. 2015: methods and variants by name, and the mesh of the paper.
#[test]
fn figures_compare_methods_and_variants() {
    let emulated = ["env", "HILBRIUM_DEVICE_UNDER_TEST=emulated"];
    let of_figure = |figure: &str, points: &[&str]| {
        let small = ["spread", "--figure", figure, "--particles", "100", "--repeats", "1"];
        json(&emulated, &[&small, points].concat())
    };
    let matrices = [
        "single mesh, by shuffles",
        "single mesh, through shared memory",
        "group mesh, by shuffles",
        "group mesh, through shared memory",
        "hybrid mesh, by shuffles",
        "hybrid mesh, through shared memory",
    ];
    for (figure, methods) in [
        ("5", &matrices[..]),
        ("6", &["particles", "particles, not atomic: sums are wrong"]),
        ("7", &["particles", "gather"]),
    ] {
        let found = of_figure(figure, &["--points", "8"]);
        let names: Vec<&str> = rows(&found).iter().map(|row| row["method"].as_str().unwrap()).collect();
        assert_eq!(names, methods, "figure {figure}");
        assert_eq!(number(&found, "figure").to_string(), figure);
        for row in rows(&found) {
            is_positive(row, &["construct_milliseconds", "bytes_per_particle"]);
        }
    }
    for row in rows(&of_figure("6", &[])) {
        assert_eq!(number(row, "points_per_dimension"), 64.0);
    }
    let figure = alone(&["spread", "--figure", "8", "--particles", "100", "--device", "cpu"]);
    assert_eq!(rows(&figure).len(), 1);
    assert_eq!(number(&rows(&figure)[0], "points_per_dimension"), 128.0);
}

#[test]
fn cells_are_swept_by_every_strategy() {
    let arguments = ["cells", "--edges", "2,3", "--per-cell", "4", "--repeats", "1"];
    let found = json(&["env", "HILBRIUM_DEVICE_UNDER_TEST=emulated"], &arguments);
    assert_eq!(found["device"], "emulation");
    let table = |name: &str| found[name].as_array().unwrap().clone();
    // seven strategies, the sub-box twice; then both cluster lists and the particle list
    assert_eq!([table("rows").len(), table("within_cutoff").len()], [2 * 8, 2 * 11]);
    for row in table("rows").iter().chain(&table("within_cutoff")) {
        for field in ["pairs_per_particle", "build_microseconds", "sweep_microseconds", "all_microseconds"] {
            assert!(number(row, field) > 0.0, "{field} of {row}");
        }
    }
    let pairs = |name: &str| number(&table(name)[0], "pairs_per_particle");
    // every particle of eight cells has all others
    assert_eq!(pairs("rows"), 31.0);
    assert!(pairs("within_cutoff") > 5.0 && pairs("within_cutoff") < 16.0);
    let operations: Vec<f64> = table("laws").iter().map(|row| number(row, "operations_per_pair")).collect();
    assert_eq!(operations.len(), 3 * 8);
    assert!(operations[0] < operations[8] && operations[16] == operations[8] + 150.0, "{operations:?}");
    assert!(table("prefix_sums").iter().all(|row| number(row, "nanoseconds") > 0.0));
    if !std::path::Path::new("/dev/nvidia0").exists() {
        let output = run(&[], &["cells"]);
        let said = String::from_utf8_lossy(&output.stderr).to_string();
        assert!(output.status.code() == Some(2) && said.contains("there is none here"), "{said}");
    }
}

#[test]
fn grids_and_lists_find_neighbors() {
    let arguments = ["search", "--scene", "1", "--radius", "1.0", "--particles", "1024", "--repeats", "1"];
    let found = json(&["env", "HILBRIUM_DEVICE_UNDER_TEST=emulated"], &arguments);
    let strategies: Vec<&str> = rows(&found).iter().map(|row| row["strategy"].as_str().unwrap()).collect();
    let expected = [
        "two levels",
        "counting grid",
        "sorted grid",
        "two levels, 18 cells",
        "list of clusters",
        "list of particles",
    ];
    assert_eq!(strategies, expected);
    let quoted = [Some(0.51), Some(0.73), Some(1.48), Some(0.51), None, None];
    for (row, quoted) in rows(&found).iter().zip(quoted) {
        is_positive(
            row,
            &["sort_milliseconds", "search_milliseconds", "total_milliseconds", "bytes_per_particle"],
        );
        assert_eq!(row["quoted_milliseconds"].as_f64(), quoted, "{row}");
    }
    assert_eq!(rows(&found)[1]["cells"], "90 x 90 x 90");
    assert_eq!(rows(&found)[3]["cells"], "18 x 18 x 18");
    assert!(number(&rows(&found)[0], "bytes_per_particle") <= 4.0, "{found}");
}

#[test]
fn tables_are_for_people_and_bad_options_are_refused() {
    let output = run(&[], &["keys", "--particles", "500", "--threads", "1", "--repeats", "1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1e6 keys per s") && text.contains("threads per rank: 1"), "{text}");
    for arguments in [
        &["neighbors", "--neighbors", "0"][..],
        &["neighbors", "--distribution", "cube"],
        &["neighbors", "--reach", "0.9"],
        &["gravity", "--opening-angle", "7"],
        &["domain", "--drift", "-1"],
        &["size", "--memory", "0"],
        &["spread", "--method", "tile"],
        &["spread", "--points", "4"],
        &["spread", "--figure", "4"],
        &["spread", "--figure", "5", "--device", "cpu"],
        &["spread", "--figure", "5", "--method", "tiles"],
        &["spread", "--device", "cuda", "--method", "processors"],
        &["spread", "--device", "cpu", "--method", "tiles"],
        &["cells", "--edges", "1"],
        &["search", "--scene", "4"],
        &["search", "--radius", "0"],
        &["step", "--particles", "1"],
        &["sweep", "--set", "sph.neighbours=50"],
        &["sweep", "--case", "plummer"],
        &["sweep", "--set", "run.device=cuda"],
        &["size", "--set", "run.device=cuda"],
        &["scaling", "--set", "run.device=cuda"],
        &["decomposition", "--set", "run.device=cuda"],
        &[],
    ] {
        let output = run(&[], arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    for name in [
        "neighbors",
        "keys",
        "sweep",
        "gravity",
        "spread",
        "cells",
        "search",
        "step",
        "size",
        "domain",
        "scaling",
        "decomposition",
    ] {
        let output = run(&[], &[name, "--help"]);
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && help.contains("--json") && help.len() > 700, "{help}");
    }
}
