//! Everything that a page shows, as one object that becomes its JSON block.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::figures::{self, Figure};
use super::folder::{self, Folder, name_of};
use super::particle_view::ParticleView;
use super::raster::RasterData;
use super::thinned::Thinned;
use super::{Circumstances, Samples, profiles};
use crate::snapshot::Header;
use crate::space::Boundary;
use crate::status::{self, Condition, State, Status};
use crate::units::{UnitSystem, Units};
use crate::{Error, deck};

/// Condition of a run without a status, or with one that says `running` and a lock that cannot be read.
const UNKNOWN: &str = "unknown";

/// Something of the run that the page could not show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// Name of the file.
    pub file: String,
    /// The reason, with a remedy.
    pub message: String,
}

/// A verdict of the page: that of a file, or of the last snapshot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Name of the file; empty if the page has judged the last snapshot itself.
    pub file: String,
    /// The verdict, as `hilbrium validate --json` writes it.
    pub verdict: Value,
}

/// The data of a page.
#[derive(Debug, Serialize)]
pub struct Content<'a> {
    /// Title of the run.
    title: String,
    /// Name of the directory.
    folder: String,
    /// Version of the program that wrote the page.
    version: &'static str,
    /// When the page was written (seconds since 1970, UTC).
    written: f64,
    /// Name of the [`Condition`], or [`UNKNOWN`].
    condition: &'static str,
    /// Whether nobody could tell if a run holds the directory.
    lock_unknown: bool,
    /// Seconds until the page loads itself again.
    reload: Option<f64>,
    interval: Option<f64>,
    status: Option<Status>,
    /// The last snapshot's header.
    last_snapshot: Option<SnapshotFacts>,
    snapshots: usize,
    observables: Option<Record>,
    figures: Vec<Figure>,
    diffusion: Option<TextTable>,
    verdicts: Vec<Verdict>,
    particles: Option<ParticleView>,
    rasters: Vec<RasterData<'a>>,
    /// What the page does not show, and why.
    pub problems: Vec<Problem>,
}

/// Facts of a snapshot.
#[derive(Debug, Serialize)]
struct SnapshotFacts {
    name: String,
    time: f64,
    step: u64,
    particles: u64,
}

/// First and last line of the record of observables.
#[derive(Debug, Serialize)]
struct Record {
    names: Vec<String>,
    units: Vec<String>,
    first: Vec<f64>,
    last: Vec<f64>,
    rows: u64,
    /// Whether charts show fewer points than there are rows.
    thinned: bool,
    /// Name of the column of the conserved energy.
    conserved: Option<&'static str>,
    /// Whether its changes are shown relative to its first value.
    relative: bool,
}

/// A small table with words: header and cells.
#[derive(Debug, Serialize)]
struct TextTable {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Largest text table that is read (bytes).
const LARGEST_TABLE: u64 = 1 << 16;

impl TextTable {
    fn read(path: &Path) -> crate::Result<Self> {
        let failed = |cause: std::io::Error| Error::file("read", path, &cause);
        let mut text = Vec::new();
        File::open(path).map_err(failed)?.take(LARGEST_TABLE).read_to_end(&mut text).map_err(failed)?;
        let text = String::from_utf8_lossy(&text);
        let mut rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
        Ok(TextTable { header: rows.next().unwrap_or_default(), rows: rows.collect() })
    }
}

impl Content<'_> {
    /// Lists the failure to map the last snapshot, unless a problem of that file is already listed.
    pub fn add_problem(&mut self, failure: Option<Error>, folder: &Folder) {
        if let (Some(error), Some((_, path))) = (failure, folder.snapshots.last()) {
            let file = name_of(path);
            if self.problems.iter().all(|problem| problem.file != file) {
                self.problems.push(Problem { file, message: error.to_string() });
            }
        }
    }
}

/// Reads the files of a run. Files that cannot be read become [`Problem`]s.
pub fn gather<'a>(folder: &Folder, circumstances: &Circumstances<'a>, samples: &mut Samples) -> Content<'a> {
    let mut problems = Problems::default();
    let status = problems.keep(&status::path_in(&folder.path), status::read(&folder.path)).flatten();
    let condition = match (&status, circumstances.held) {
        (None, Some(true)) => Condition::Running.name(),
        (None, _) => UNKNOWN,
        (Some(status), None) if status.state == State::Running => UNKNOWN,
        (Some(status), held) => Condition::of(status.state, held.unwrap_or(false)).name(),
    };
    let lock_unknown = circumstances.held.is_none();
    // headers of the files that have been read as a whole: their checksums are right
    let sampled = samples.read(&folder.snapshots);
    let last = sampled.frames.last().map(|(number, frame)| (*number, &frame.header));
    let is_periodic = |header: &Header| header.bx.boundary.contains(&Boundary::Periodic);
    let periodic = last.is_some_and(|(_, header)| is_periodic(header));
    let units = units_of(last.map(|(_, header)| header));
    for (path, error) in &sampled.failures {
        problems.add(path, error.to_string());
    }
    let mut figures = Vec::new();
    let observables = folder.observables.as_deref().and_then(|path| {
        let table = problems.table(path, "time")?;
        figures.extend(figures::of_observables(&table, periodic));
        Some(Record {
            conserved: figures::conserved(&table),
            relative: figures::is_relative(&table),
            thinned: table.is_thinned(),
            names: table.names,
            units: table.units,
            first: table.first,
            last: table.last,
            rows: table.rows,
        })
    });
    let g = folder.radial_distribution.as_deref().and_then(|path| problems.table(path, "distance"));
    figures.extend(g.and_then(|table| {
        let title = "Radial distribution";
        figures::of_measurement(&table, "radial_distribution", "distance", "radial-distribution", title)
    }));
    let displacement = folder.displacement.as_deref().and_then(|path| problems.table(path, "time"));
    figures.extend(displacement.and_then(|table| {
        let (name, title) = ("mean_square_displacement", "Mean square displacement");
        figures::of_measurement(&table, name, "time", "mean-square-displacement", title)
    }));
    let diffusion = folder.diffusion.as_deref().and_then(|path| problems.keep(path, TextTable::read(path)));
    let mut verdicts: Vec<Verdict> = folder
        .verdicts
        .iter()
        .filter_map(|path| Some(Verdict { file: name_of(path), verdict: profiles::verdict_in(path)? }))
        .collect();
    if let Some((_, path)) = folder.snapshots.last()
        && sampled.failures.iter().all(|(failed, _)| failed != path)
        && let Some((verdict, profiles)) =
            problems.keep(path, profiles::judge(folder, circumstances.most_judged)).flatten()
    {
        verdicts.push(Verdict { file: String::new(), verdict });
        figures.extend(profiles);
    }
    for raster in circumstances.rasters.iter().filter(|raster| !raster.is_valid()) {
        problems.add(&folder.path, format!("the picture \"{}\" has contradictory sizes", raster.title));
    }
    let rasters = circumstances.rasters.iter().filter(|raster| raster.is_valid());
    Content {
        title: title(status.as_ref(), last.map(|(_, header)| header)),
        folder: folder.path.canonicalize().map_or_else(|_| name_of(&folder.path), |path| name_of(&path)),
        version: env!("CARGO_PKG_VERSION"),
        written: status::now(),
        condition,
        lock_unknown,
        reload: circumstances.reload.filter(|_| condition == Condition::Running.name()),
        interval: circumstances.interval,
        last_snapshot: last.map(|(number, header)| SnapshotFacts {
            name: folder::snapshot_name(number),
            time: header.time,
            step: header.step,
            particles: header.particle_count,
        }),
        snapshots: folder.snapshots.len(),
        observables,
        figures,
        diffusion,
        verdicts,
        particles: ParticleView::new(&sampled, folder.snapshots.len(), &units),
        rasters: rasters.map(|raster| raster.data()).collect(),
        status,
        problems: problems.0,
    }
}

fn title(status: Option<&Status>, header: Option<&Header>) -> String {
    let titles = [status.map(|status| &status.title), header.map(|header| &header.title)];
    let title = titles.into_iter().flatten().find(|title| !title.is_empty());
    title.cloned().unwrap_or_default()
}

/// Units of a snapshot's deck; reduced ones without a deck.
fn units_of(header: Option<&Header>) -> Units {
    let plan = header.and_then(|header| deck::examine("the snapshot's deck", &header.deck, &[]).ok());
    plan.map_or_else(|| Units::new(UnitSystem::Reduced), |checked| checked.plan.units)
}

/// Collects what could not be read.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, path: &Path, message: String) {
        self.0.push(Problem { file: name_of(path), message });
    }

    fn keep<T>(&mut self, path: &Path, read: crate::Result<T>) -> Option<T> {
        read.map_err(|error| self.add(path, error.to_string())).ok()
    }

    /// Reads a table; the rows before damage are used.
    fn table(&mut self, path: &Path, along: &str) -> Option<Thinned> {
        let table = self.keep(path, Thinned::read(path, along))?;
        if let Some(damage) = &table.damage {
            self.add(path, format!("{damage}\nThe {} rows before are shown.", table.rows));
        }
        Some(table)
    }
}
