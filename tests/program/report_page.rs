//! `hilbrium report`: the page of a run as a browser shows it, of runs that ended in every way and of damaged
//! folders.

use crate::common::program::Case;
use crate::common::skip;
use hilbrium::comm::Communicator;
use hilbrium::particles::{Field, Particles};
use hilbrium::run_report::{self, Circumstances, ColorMap, Raster, Samples};
use hilbrium::snapshot::{Header, write_snapshot};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// 108 atoms of a Lennard-Jones liquid, measured.
const LIQUID: &str = r#"
title = "a small liquid"
[run]
steps = 40
device = "cpu"
threads = 1
[start.lattice]
kind = "fcc"
cells = [3, 3, 3]
spacing = 1.7
density = 0.8442
temperature = 1.44
[space]
boundary = "periodic"
[interaction.lennard-jones]
cutoff = 2.0
[time_step]
fixed = 0.004
[neighbors]
skin = 0.2
[measure.radial-distribution]
every_steps = 5
[output]
directory = "out"
snapshots = { every_steps = 20 }
"#;

/// A page as a browser shows it.
struct Shown {
    dom: String,
}

/// Chromium, or the program that HILBRIUM_CHROMIUM names; without it the test is skipped.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("HILBRIUM_CHROMIUM").map(PathBuf::from);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = named.or_else(|| {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let mut places = std::env::split_paths(&folders).flat_map(|at| names.map(|name| at.join(name)));
        places.find(|place| place.is_file())
    });
    if found.is_none() {
        skip::skip("install chromium, or name it with HILBRIUM_CHROMIUM, to open pages of reports");
    }
    found
}

/// Opens a page in the browser and sees that its scripts report no error.
fn show(browser: &Path, page: &Path, fragment: &str) -> Shown {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"])
        .args(["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"])
        .args(["--window-size=1280,6000", "--virtual-time-budget=4000", "--dump-dom"])
        .args(["--enable-logging=stderr", "--v=0"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}{fragment}", page.canonicalize().unwrap().display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    let shown = Shown { dom: String::from_utf8_lossy(&output.stdout).into_owned() };
    assert!(shown.root().contains("data-ready=\"true\""), "{}: {log}\n{}", page.display(), shown.root());
    assert!(errors.is_empty(), "{errors:?}");
    shown
}

impl Shown {
    /// The tag of the root element.
    fn root(&self) -> &str {
        let from = self.dom.find("<html").unwrap_or(0);
        self.dom[from..].split('>').next().unwrap_or_default()
    }

    /// Value of a data attribute of the root.
    fn data(&self, name: &str) -> Option<&str> {
        self.root().split_once(&format!("data-{name}=\""))?.1.split('"').next()
    }

    /// Text of an element, without its tags; `None` if it is not there.
    fn text(&self, id: &str) -> Option<String> {
        let start = self.dom.find(&format!("id=\"{id}\""))?;
        let inner = self.dom[start..].split_once('>')?.1;
        let mut depth = 0i32;
        let mut text = String::new();
        for (place, piece) in inner.split('<').enumerate() {
            let content = match place {
                0 => piece,
                _ => {
                    depth += if piece.starts_with('/') { -1 } else { 1 };
                    piece.split_once('>')?.1
                }
            };
            if depth < 0 {
                return Some(text);
            }
            text += content;
        }
        None
    }

    /// Number in an element.
    fn number(&self, id: &str) -> f64 {
        let text = self.text(id).unwrap_or_else(|| panic!("no element {id}"));
        let digits = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|other| other == c).map(|d| d.to_string());
        let plain: String = text
            .replace(" × 10", "e")
            .chars()
            .filter(|letter| *letter != ',')
            .map(|letter| match letter {
                '−' | '⁻' => "-".to_owned(),
                _ => digits(letter).unwrap_or_else(|| letter.to_string()),
            })
            .collect();
        let number = plain.split_whitespace().next().unwrap();
        number.parse().unwrap_or_else(|_| panic!("{text} is no number"))
    }
}

/// The data of a page.
fn data(page: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(page).unwrap();
    let block = text.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(block).unwrap()
}

fn report(case: &Case) -> PathBuf {
    let (status, text) = case.hilbrium(&["report", "out"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("report: out/report.html"), "{text}");
    case.path("out/report.html")
}

#[test]
fn a_page_shows_the_numbers_of_the_run_without_a_network() {
    let case = Case::new();
    let displacement =
        ["every_steps=1", "window=0.08"].map(|key| format!("measure.mean-square-displacement.{key}"));
    let (status, text) = case.run(LIQUID, &displacement.each_ref().map(String::as_str));
    assert_eq!(status, 0, "{text}");
    let page = report(&case);
    let text = std::fs::read_to_string(&page).unwrap();
    for fetched in ["src=\"", "@import", "url(http", "href=\"http", "fetch(", "XMLHttpRequest"] {
        assert!(!text.contains(fetched), "{fetched}");
    }
    let found = data(&page);
    let ids: Vec<&str> =
        found["figures"].as_array().unwrap().iter().map(|figure| figure["id"].as_str().unwrap()).collect();
    for id in ["energies", "energy-drift", "momentum", "temperature", "pressure"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    for id in ["radial-distribution", "mean-square-displacement"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    assert_eq!(found["particles"]["frames"].as_array().unwrap().len(), 3);
    assert_eq!(found["problems"], serde_json::json!([]));
    let Some(browser) = chromium() else { return };
    let shown = show(&browser, &page, "#turn");
    assert_eq!(shown.text("state").as_deref(), Some("done"));
    let energies = case.column("out", "total_energy");
    let (first, last) = (energies[0], energies[energies.len() - 1]);
    assert!((shown.number("total-energy") / last - 1.0).abs() < 1e-5);
    let drift = (last - first) / first.abs();
    assert!((shown.number("drift") / drift - 1.0).abs() < 0.01, "{} {drift}", shown.number("drift"));
    assert!(shown.data("charts").unwrap().parse::<u32>().unwrap() >= 2, "{}", shown.root());
    assert_eq!(shown.data("figures"), Some(ids.len().to_string().as_str()));
    let phases = shown.text("phases").unwrap();
    assert!(phases.contains("pair forces") && phases.contains("total"), "{phases}");
    assert!(shown.text("neighbors").unwrap().contains("bytes a particle"));
    assert!(shown.dom.contains("All 108 particles; all 3 snapshots."));
    assert!(shown.dom.contains("data-pictures="), "the view of particles was drawn");
    assert!(shown.text("problems").is_none() && shown.text("thinned").is_none());
}

#[test]
fn a_title_is_a_text_whatever_it_says() {
    let case = Case::new();
    let title = "</script><b id='evil'>bold</b>\\u2028<!--";
    let (status, text) = case
        .run(&LIQUID.replace("a small liquid", title), &["run.steps=0", "output.snapshots.every_steps=1"]);
    assert_eq!(status, 0, "{text}");
    let page = report(&case);
    assert_eq!(data(&page)["title"], title.replace("\\u2028", "\u{2028}"));
    let Some(browser) = chromium() else { return };
    let shown = show(&browser, &page, "");
    assert!(!shown.dom.contains("<b id=") && shown.dom.contains("&lt;b id="));
    assert_eq!(shown.text("state").as_deref(), Some("done"));
    assert_eq!(shown.text("step").as_deref(), Some("step 0"));
}

#[test]
fn the_end_of_a_run_is_shown() {
    let case = Case::new();
    let (status, text) = case.run(LIQUID, &["time_step.fixed=1e200"]);
    assert_eq!(status, 1, "{text}");
    let failed = report(&case);
    let message = data(&failed)["status"]["message"].as_str().unwrap().to_owned();
    assert!(text.contains(&message), "{message}");
    let Some(browser) = chromium() else { return };
    let shown = show(&browser, &failed, "");
    assert_eq!(shown.text("state").as_deref(), Some("failed"));
    assert!(shown.text("failure").unwrap().contains("The run failed."));
}

#[test]
fn a_run_writes_its_page_while_it_goes_on() {
    let case = Case::new();
    let reports = ["output.report.every_steps=10"];
    let (status, text) = case.run(LIQUID, &reports);
    assert_eq!(status, 0, "{text}");
    let page = case.path("out/report.html");
    let found = data(&page);
    assert_eq!((found["condition"].as_str(), found["reload"].is_null()), (Some("done"), true));
    assert!(text.contains("report"), "a row of the phases: {text}");
    std::fs::remove_dir_all(case.path("out")).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_hilbrium"))
        .args(["run", "deck.toml", "--set", "run.steps=100000000", "--set", reports[0]])
        .current_dir(case.path("."))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !page.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no page is written");
        std::thread::sleep(Duration::from_millis(20));
    }
    let found = data(&page);
    assert_eq!(found["condition"], "running");
    assert!(found["reload"].as_f64().unwrap() >= 5.0);
    run.kill().unwrap();
    run.wait().unwrap();
    let killed = report(&case);
    assert_eq!((data(&killed)["condition"].as_str(), &data(&killed)["reload"]), (Some("killed"), &().into()));
    let Some(browser) = chromium() else { return };
    let shown = show(&browser, &killed, "");
    assert!(shown.text("state").unwrap().starts_with("killed") && shown.text("killed").is_some());
}

#[test]
fn of_many_snapshots_some_are_shown() {
    let case = Case::new();
    let (status, text) = case.run(LIQUID, &["run.steps=199", "output.snapshots.every_steps=1"]);
    assert_eq!(status, 0, "{text}");
    let page = report(&case);
    let found = data(&page);
    let frames: Vec<u64> = found["particles"]["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| frame["snapshot"].as_u64().unwrap())
        .collect();
    assert_eq!((frames.len(), frames[1], frames[frames.len() - 1]), (26, 8, 199));
    let Some(browser) = chromium() else { return };
    assert!(show(&browser, &page, "").dom.contains("26 of 200 snapshots, evenly spaced."));
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_shown() {
    let case = Case::new();
    let (status, text) = case.run(LIQUID, &[]);
    assert_eq!(status, 0, "{text}");
    let cut = |name: &str| {
        let whole = std::fs::read(case.path(name)).unwrap();
        std::fs::write(case.path(name), &whole[..whole.len() / 2]).unwrap();
    };
    cut("out/snapshot-0002.hdf5");
    cut("out/status.json");
    let record = std::fs::read_to_string(case.path("out/observables.csv")).unwrap();
    let mut lines: Vec<&str> = record.lines().collect();
    lines[20] = "damaged,line";
    std::fs::write(case.path("out/observables.csv"), lines.join("\n")).unwrap();
    let page = report(&case);
    let found = data(&page);
    let problems: Vec<&str> = found["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["file"].as_str().unwrap())
        .collect();
    assert_eq!(problems, ["status.json", "snapshot-0002.hdf5", "observables.csv"]);
    assert_eq!(found["observables"]["rows"], 19);
    assert_eq!(found["particles"]["frames"].as_array().unwrap().len(), 2);
    if let Some(browser) = chromium() {
        let shown = show(&browser, &page, "");
        assert_eq!(shown.text("state").as_deref(), Some("state unknown"));
        assert!(shown.text("problems").unwrap().contains("line 21 is not made of numbers"));
    }
    // a folder without a run, and a folder that is not there
    let (status, text) = case.hilbrium(&["report", "."]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("holds no run") && text.contains("help: "), "{text}");
    assert_eq!(case.hilbrium(&["report", "missing"]).0, 1);
    // the page replaces no file of the run
    let (status, text) = case.hilbrium(&["report", "out", "--output", "out/observables.csv"]);
    assert_eq!(status, 2, "{text}");
}

/// Particles of a random gas of which the page shows a sample.
fn random_snapshot(path: &Path, count: usize, time: f64) {
    let fields = [
        Field::Position,
        Field::Velocity,
        Field::Mass,
        Field::InternalEnergy,
        Field::Density,
        Field::Pressure,
    ];
    let mut particles = Particles::new(&fields, count);
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for row in 0..count {
        particles.id[row] = row as u64;
        particles.set_vector(Field::Position, row, Vec3d::new(next(), next(), next()));
        particles.set_vector(Field::Velocity, row, Vec3d::new(next(), time, next()));
        for field in [Field::InternalEnergy, Field::Density, Field::Pressure] {
            particles.scalar_mut(field)[row] = 0.1 + next();
        }
    }
    particles.scalar_mut(Field::Mass).fill(1.0 / count as f64);
    let bx =
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Periodic; 3] };
    let mut header = Header::new(bx);
    header.time = time;
    write_snapshot(path, &Communicator::solo(), &particles, &header, &fields).unwrap();
}

/// Numbers of the 200,000 rows of a record, and nine snapshots of 100,000 particles, with two rasters.
#[test]
fn a_large_run_has_a_page_of_bounded_size() {
    let case = Case::new();
    std::fs::create_dir(case.path("out")).unwrap();
    let mut record =
        "step [1],time [U_t],total_energy [U],kinetic_energy [U],potential_energy [U]\n".to_owned();
    for row in 0..200_000 {
        let kinetic = if row == 77_777 { 99.0 } else { (f64::from(row) * 0.01).sin() };
        record +=
            &format!("{row},{},{},{kinetic},{}\n", f64::from(row) * 0.1, -1.0 - 1e-9 * f64::from(row), -1.5);
    }
    std::fs::write(case.path("out/observables.csv"), record).unwrap();
    for k in 0..9 {
        random_snapshot(&case.path(&format!("out/snapshot-{k:04}.hdf5")), 100_000, 0.1 * f64::from(k));
    }
    let raster = |title: &str, color_map, logarithmic| Raster {
        title: title.into(),
        values: (0..512 * 512).map(|cell| 1.0 + (cell % 512) as f32 * (cell / 512) as f32).collect(),
        width: 512,
        height: 512,
        extent: [0.0, 1.0, -1.0, 1.0],
        axes: ["x (U_L)".into(), "y (U_L)".into()],
        label: "density".into(),
        unit: "U_M U_L^-3".into(),
        color_map,
        logarithmic,
        range: None,
    };
    let rasters = [
        raster("Density in the plane z = 0", ColorMap::Inferno, true),
        raster("Column density along z", ColorMap::Viridis, false),
        Raster { width: 3, ..raster("of contradictory sizes", ColorMap::Viridis, false) },
    ];
    let page = case.path("page.html");
    let circumstances = Circumstances { held: Some(false), rasters: &rasters, ..Circumstances::default() };
    let problems =
        run_report::write(&case.path("out"), &page, &circumstances, &mut Samples::default()).unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].message.contains("of contradictory sizes"), "{problems:?}");
    let size = std::fs::metadata(&page).unwrap().len();
    assert!(size <= 8_000_000, "{size} bytes");
    let found = data(&page);
    let energies = found["figures"].as_array().unwrap().iter().find(|figure| figure["id"] == "energies");
    let kinetic = energies.unwrap()["series"].as_array().unwrap().iter().find(|one| one["name"] == "kinetic");
    let values: Vec<f64> =
        kinetic.unwrap()["y"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
    assert!(values.contains(&99.0) && values.len() < 2100, "{}", values.len());
    let Some(browser) = chromium() else { return };
    let shown = show(&browser, &page, "");
    assert!(shown.text("thinned").unwrap().contains("200,000 lines"));
    assert!((shown.number("drift") + 1.99999e-4).abs() < 2e-6, "{}", shown.number("drift"));
    assert_eq!(shown.data("rasters"), Some("2"));
    assert!(shown.dom.contains("Density in the plane z = 0: density (U_M U_L⁻³) from 1 to 261,122"));
    assert!(shown.dom.contains("of 100,000 particles, chosen by id"));
}
