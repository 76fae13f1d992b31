//! Benchmarks: one file a part of the step, each a table of times on this machine.
//!
//! Times are medians over the repeats. Nothing here is a test: what is slow is written down, never failed.

pub mod decomposition;
mod gravity;
mod neighbors;
mod step;
mod sweep;
mod table;

use std::time::Instant;

use crate::comm::Communicator;
use crate::deck;
use crate::report;
use crate::step::Simulation;
use crate::{Error, Result};

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Benchmark {
    /// Building neighbor lists, and their memory, by coding
    Neighbors,
    /// The laws of the case over a neighbor list, by precision, list and instructions
    Sweep,
    /// The tree's time and its error against direct summation, by opening angle
    Gravity,
    /// Whole steps, by phase; under mpirun, on all ranks
    Step,
}

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Case {
    /// The Evrard collapse at its start: volume elements and gravity
    Evrard,
    /// The Sedov explosion at its start: volume elements in a periodic cube
    Sedov,
    /// The Lennard-Jones liquid of inputs/lj-liquid.toml, whose number of atoms is the next 4 k^3
    Liquid,
    /// The ions of inputs/ions.toml, Lennard-Jones and Coulomb, whose number is the next 32 k^3
    Ions,
}

/// How to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is simulated.
    pub case: Case,
    /// Number of particles.
    pub particles: u64,
    /// How often each is measured; steps of [`Benchmark::Step`].
    pub repeats: usize,
    /// `section.key=value` options over the case's deck.
    pub overrides: Vec<String>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A number, with the decimals that a table shows.
    Number(f64, usize),
    /// A small number, shown with its power of ten.
    Error(f64),
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    fn shown(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(value, decimals) => format!("{value:.decimals$}"),
            Cell::Error(value) => format!("{value:.1e}"),
        }
    }

    fn json(&self) -> serde_json::Value {
        match self {
            Cell::Text(text) => text.as_str().into(),
            Cell::Number(value, _) | Cell::Error(value) => (*value).into(),
        }
    }
}

/// What a benchmark found: rows with a cell under each head.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The heads of the columns.
    pub heads: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Lines below the table: name and value of what holds for all rows.
    pub remarks: Vec<(&'static str, Cell)>,
}

impl Table {
    fn new(heads: &[&'static str]) -> Self {
        Table { heads: heads.to_vec(), rows: Vec::new(), remarks: Vec::new() }
    }

    /// The table as people read it.
    pub fn text(&self) -> String {
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(Cell::shown).collect()).collect();
        let remarks = self.remarks.iter().map(|(name, value)| format!("\n{name}: {}", value.shown()));
        report::table(&self.heads, &rows) + &remarks.collect::<String>()
    }

    /// The table as JSON: `{"rows": [{head: cell, ...}, ...], remark: value, ...}`.
    pub fn json(&self) -> serde_json::Value {
        let object = |row: &Vec<Cell>| {
            let cells = self.heads.iter().zip(row).map(|(head, cell)| ((*head).to_owned(), cell.json()));
            serde_json::Value::Object(cells.collect())
        };
        let mut json = serde_json::json!({ "rows": self.rows.iter().map(object).collect::<Vec<_>>() });
        for (name, value) in &self.remarks {
            json[*name] = value.json();
        }
        json
    }
}

/// Measure; collective, but only [`Benchmark::Step`] uses more than one rank.
///
/// # Errors
/// [`Error::Deck`] for wrong options, and whatever a step can fail with.
pub fn measure(benchmark: Benchmark, settings: &Settings, comm: &Communicator) -> Result<Table> {
    if benchmark != Benchmark::Step && comm.size() > 1 {
        let what = format!("{benchmark:?}").to_lowercase();
        return Err(Error::usage(
            format!("bench {what} measures one rank, and {} were started", comm.size()),
            "start it without mpirun; --threads sets the number of threads",
        ));
    }
    let mut table = match benchmark {
        Benchmark::Neighbors => neighbors::table(settings, comm)?,
        Benchmark::Sweep => sweep::table(settings, comm)?,
        Benchmark::Gravity => gravity::table(settings),
        Benchmark::Step => step::table(settings, comm)?,
    };
    table.remarks.extend([
        ("particles", Cell::Number(settings.particles as f64, 0)),
        ("repeats", Cell::Number(settings.repeats as f64, 0)),
        ("ranks", Cell::Number(comm.size() as f64, 0)),
        ("threads per rank", Cell::Number(rayon::current_num_threads() as f64, 0)),
        ("lanes", Cell::text(crate::pair::lane::widest())),
    ]);
    Ok(table)
}

/// The case with so many particles, before its first forces.
fn simulation(settings: &Settings, comm: &Communicator) -> Result<Simulation> {
    let (name, deck, mut overrides) = match settings.case {
        Case::Evrard => {
            let particles = format!("start.evrard.particles={}", settings.particles);
            let deck = deck::template("evrard").unwrap_or_default();
            ("the deck of the Evrard collapse", deck, vec![particles, "sph.neighbors=100".to_owned()])
        }
        Case::Sedov => {
            let particles = format!("start.sedov.particles={}", settings.particles);
            let deck = include_str!("../../inputs/sedov.toml").to_owned();
            ("the deck of the explosion", deck, vec![particles])
        }
        Case::Liquid => {
            let cells = cells_along(settings.particles as f64 / 4.0);
            let deck = include_str!("../../inputs/lj-liquid.toml").to_owned();
            ("the deck of the liquid", deck, vec![format!("start.lattice.cells={cells}")])
        }
        Case::Ions => {
            let cells = cells_along(settings.particles as f64 / 32.0);
            let deck = include_str!("../../inputs/ions.toml").to_owned();
            let cells = format!("start.lattice.cells=[{0}, {0}, {cells}]", 2 * cells);
            ("the deck of the ions", deck, vec![cells])
        }
    };
    overrides.extend(settings.overrides.iter().cloned());
    let plan = deck::examine(name, &deck, &overrides)
        .map_err(|report| Error::Deck { report: report.to_string() })?
        .plan;
    let (space, particles) = crate::start::particles(&plan, comm, &Simulation::fields(&plan))?;
    Ok(Simulation::new(plan, comm, space, particles))
}

/// The edge of the smallest cube of at least so many cells.
fn cells_along(cells: f64) -> u64 {
    // a cube root that is whole but for its last digits stays what it is
    (cells.cbrt() - 1e-9).ceil().max(1.0) as u64
}

/// The median of the seconds that a task takes, and what it returned last.
fn median<T>(repeats: usize, mut task: impl FnMut() -> T) -> (f64, T) {
    let mut seconds = Vec::with_capacity(repeats);
    loop {
        let start = Instant::now();
        let result = task();
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() >= repeats {
            seconds.sort_by(f64::total_cmp);
            return (seconds[seconds.len() / 2], result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            case: Case::Evrard,
            particles: 600,
            repeats: 1,
            overrides: vec!["sph.neighbors=40".into()],
        }
    }

    #[test]
    fn every_benchmark_fills_its_table() {
        let comm = Communicator::solo();
        for benchmark in [Benchmark::Neighbors, Benchmark::Sweep, Benchmark::Gravity, Benchmark::Step] {
            let table = measure(benchmark, &settings(), &comm).unwrap();
            assert!(!table.rows.is_empty(), "{benchmark:?}");
            for row in &table.rows {
                assert_eq!(row.len(), table.heads.len(), "{benchmark:?}");
                let good = |cell: &Cell| match cell {
                    Cell::Text(text) => !text.is_empty(),
                    Cell::Number(value, _) | Cell::Error(value) => value.is_finite(),
                };
                assert!(row.iter().all(good), "{benchmark:?}: {row:?}");
            }
            let json = table.json();
            assert_eq!(json["rows"].as_array().unwrap().len(), table.rows.len());
            assert_eq!(json["particles"], 600.0);
            assert!(table.text().lines().count() > table.rows.len() + 2);
        }
    }

    #[test]
    fn cubes_hold_their_cells() {
        for edge in 1..200u64 {
            assert_eq!(cells_along((edge * edge * edge) as f64), edge);
            assert_eq!(cells_along((edge * edge * edge + 1) as f64), edge + 1);
        }
    }

    #[test]
    fn only_steps_are_measured_on_many_ranks() {
        crate::comm::run_local(2, |comm| {
            assert!(measure(Benchmark::Sweep, &settings(), &comm).is_err());
            let table = measure(Benchmark::Step, &settings(), &comm).unwrap();
            assert_eq!(table.json()["ranks"], 2.0);
        });
    }
}
