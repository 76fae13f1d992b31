//! Wall time of the steps by phase, reduced over all ranks.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::comm::Communicator;
use crate::report;

/// Timer of one rank. The time since the start or the last lap belongs to the phase of the next lap.
#[derive(Clone, Debug)]
pub struct Clock {
    phases: Vec<(&'static str, f64)>,
    since: Instant,
    fence: Option<Fence>,
    meter: Option<Meter>,
}

/// Counter of joules, and its state at the start.
#[derive(Clone)]
struct Meter {
    read: Arc<dyn Fn() -> Option<f64> + Send + Sync>,
    start: f64,
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Meter(from {} J)", self.start)
    }
}

/// Synchronization before a phase ends, for asynchronous work that the phase has launched.
#[derive(Clone)]
struct Fence(Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Fence")
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock {
    /// Creates a running clock without phases.
    pub fn new() -> Self {
        Self { phases: Vec::new(), since: Instant::now(), fence: None, meter: None }
    }

    /// Removes all phases and starts timing now.
    pub fn restart(&mut self) {
        self.phases.clear();
        self.since = Instant::now();
        if let Some(meter) = self.meter.take() {
            self.count_joules(meter.read);
        }
    }

    /// Counts the joules of this rank from now on, if `read` finds a counter.
    pub fn count_joules(&mut self, read: Arc<dyn Fn() -> Option<f64> + Send + Sync>) {
        self.meter = read().map(|start| Meter { read, start });
    }

    /// Joules of this rank since the start, if they are counted.
    fn joules(&self) -> Option<f64> {
        let Meter { read, start } = self.meter.as_ref()?;
        Some(read()? - start)
    }

    /// Makes each later lap call `wait` first, to complete the asynchronous work of the phase.
    pub fn wait_for(&mut self, wait: impl Fn() + Send + Sync + 'static) {
        self.fence = Some(Fence(Arc::new(wait)));
    }

    /// Whether laps wait for asynchronous work.
    pub fn waits(&self) -> bool {
        self.fence.is_some()
    }

    /// Makes later laps wait for nothing.
    pub fn stop_waiting(&mut self) {
        self.fence = None;
    }

    /// Ends a phase: adds the time since the last lap to the phase `name`. Returns that time (s).
    pub fn lap(&mut self, name: &'static str) -> f64 {
        if let Some(Fence(wait)) = &self.fence {
            wait();
        }
        let now = Instant::now();
        let seconds = now.duration_since(self.since).as_secs_f64();
        self.since = now;
        self.add(name, seconds);
        seconds
    }

    /// Returns the accumulated time of the phase `name` on this rank (s).
    pub fn seconds(&self, name: &str) -> f64 {
        self.phases.iter().find(|phase| phase.0 == name).map_or(0.0, |phase| phase.1)
    }

    fn add(&mut self, name: &'static str, seconds: f64) {
        match self.phases.iter_mut().find(|phase| phase.0 == name) {
            Some(phase) => phase.1 += seconds,
            None => self.phases.push((name, seconds)),
        }
    }

    /// Reduces the phases over all ranks; every rank gets the same table. Collective.
    ///
    /// `updates` is the number of particle updates of this rank (owned particles, summed over its steps),
    /// `threads` its number of threads. A phase that is missing on a rank counts as zero seconds there.
    pub fn phases(&self, comm: &Communicator, updates: u64, threads: usize) -> PhaseTable {
        let names: Vec<u8> = self.phases.iter().flat_map(|(name, _)| name.bytes().chain([b'\n'])).collect();
        let seconds: Vec<f64> = self.phases.iter().map(|phase| phase.1).collect();
        let (names, seconds) = (comm.all_gather(&names), comm.all_gather(&seconds));
        let mut counts = [updates, threads as u64];
        comm.all_sum(&mut counts);
        let mut joules = [self.joules().unwrap_or(f64::NAN)];
        comm.all_sum(&mut joules);

        let mut merged: Vec<(String, Vec<f64>)> = Vec::new();
        for (rank, (names, seconds)) in names.iter().zip(&seconds).enumerate() {
            let names = String::from_utf8_lossy(names);
            for (name, &seconds) in names.lines().zip(seconds) {
                let known = merged.iter().position(|phase| phase.0 == name);
                let row = known.unwrap_or_else(|| {
                    merged.push((name.to_owned(), vec![0.0; comm.size()]));
                    merged.len() - 1
                });
                merged[row].1[rank] += seconds;
            }
        }
        let total: Vec<f64> =
            (0..comm.size()).map(|rank| merged.iter().map(|phase| phase.1[rank]).sum()).collect();
        let rows: Vec<Phase> = merged.into_iter().map(|(name, seconds)| Phase::new(name, &seconds)).collect();
        let [updates, threads] = counts;
        let joules = Some(joules[0]).filter(|joules| joules.is_finite());
        PhaseTable { total: Phase::new("total".into(), &total), rows, updates, threads, joules }
    }
}

/// Time of a phase over the ranks (s).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Name of the phase.
    pub name: String,
    /// Minimum over the ranks (s).
    pub min: f64,
    /// Mean over the ranks (s).
    pub mean: f64,
    /// Maximum over the ranks (s).
    pub max: f64,
    /// Maximum divided by mean: 1 is perfect balance.
    pub imbalance: f64,
}

impl Phase {
    fn new(name: String, seconds: &[f64]) -> Self {
        let min = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let max = seconds.iter().copied().fold(0.0, f64::max);
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        Self { name, min, mean, max, imbalance: if mean > 0.0 { max / mean } else { 1.0 } }
    }
}

/// The phases of a run or of an interval of it, over all ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseTable {
    /// The phases in the order of their first lap.
    pub rows: Vec<Phase>,
    /// Sum of the phases, computed per rank.
    pub total: Phase,
    /// Particle updates of all ranks.
    pub updates: u64,
    /// Threads of all ranks.
    pub threads: u64,
    /// Energy of the GPUs of all ranks (J), if all of them count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joules: Option<f64>,
}

impl PhaseTable {
    /// Returns particle updates per second of the slowest rank; zero if no time was measured.
    pub fn rate(&self) -> f64 {
        if self.total.max > 0.0 { self.updates as f64 / self.total.max } else { 0.0 }
    }

    /// Returns particle updates per second and thread (core).
    pub fn rate_per_core(&self) -> f64 {
        self.rate() / self.threads.max(1) as f64
    }

    /// Returns the energy of the GPUs per particle update (1e-6 J), if all of them count it.
    pub fn microjoules_per_update(&self) -> Option<f64> {
        Some(1e6 * self.joules? / self.updates.max(1) as f64)
    }

    /// Formats the table in one line: share of each phase, largest first, and the overall imbalance.
    pub fn line(&self) -> String {
        let share = |phase: &Phase| 100.0 * phase.mean / self.total.mean.max(f64::MIN_POSITIVE);
        let mut rows: Vec<&Phase> = self.rows.iter().filter(|phase| share(phase) >= 1.0).collect();
        rows.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        let shares: Vec<String> =
            rows.iter().map(|phase| format!("{} {:.0} %", phase.name, share(phase))).collect();
        let seconds = report::duration(self.total.max);
        format!("{seconds} so far: {}; imbalance {:.2}", shares.join(", "), self.total.imbalance)
    }

    /// Formats the table: times and share of each phase, then the rates.
    pub fn text(&self) -> String {
        let row = |phase: &Phase| {
            let share = if self.total.mean > 0.0 { 100.0 * phase.mean / self.total.mean } else { 0.0 };
            let seconds = [phase.min, phase.mean, phase.max].map(|seconds| format!("{seconds:.3}"));
            let mut cells = vec![phase.name.clone()];
            cells.extend(seconds);
            cells.extend([format!("{:.2}", phase.imbalance), format!("{share:.1} %")]);
            cells
        };
        let rows: Vec<_> = self.rows.iter().chain([&self.total]).map(row).collect();
        let header = ["phase", "min s", "mean s", "max s", "imbalance", "share"];
        let energy = self.joules.map_or(String::new(), |joules| {
            format!(
                "\nenergy of the GPUs: {} J, {:.3} microjoules per particle update",
                report::quantity(joules),
                self.microjoules_per_update().unwrap_or(f64::NAN)
            )
        });
        format!(
            "{}\n{} particle updates: {} per second, {} per second and core ({} cores){energy}",
            report::table(&header, &rows),
            report::grouped(self.updates),
            report::quantity(self.rate()),
            report::quantity(self.rate_per_core()),
            self.threads,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;

    #[test]
    fn the_energy_of_all_ranks_is_known_if_each_counts_it() {
        let table = |counting: usize| {
            run_local(2, move |comm| {
                let reading = Arc::new(std::sync::Mutex::new(100.0));
                let counter = reading.clone();
                let mut clock = Clock::new();
                if comm.rank() < counting {
                    clock.count_joules(Arc::new(move || Some(*counter.lock().unwrap())));
                }
                *reading.lock().unwrap() += 50.0;
                clock.restart();
                *reading.lock().unwrap() += 2.0 + comm.rank() as f64;
                clock.phases(&comm, 500_000, 1)
            })
            .swap_remove(0)
        };
        let counted = table(2);
        assert_eq!((counted.joules, counted.microjoules_per_update()), (Some(5.0), Some(5.0)));
        assert!(counted.text().ends_with("energy of the GPUs: 5 J, 5.000 microjoules per particle update"));
        assert_eq!(table(1).joules, None);
        assert!(!table(1).text().contains("energy"));
    }

    #[test]
    fn phases_are_reduced_over_ranks() {
        let tables = run_local(3, |comm| {
            let mut clock = Clock::new();
            clock.add("domain", 1.0);
            clock.add("gravity", 1.0 + comm.rank() as f64);
            clock.add("gravity", 1.0);
            if comm.rank() == 2 {
                clock.add("snapshot", 3.0);
            }
            clock.phases(&comm, 700, 2)
        });
        let table = &tables[0];
        assert!(tables.iter().all(|other| other == table));
        let names: Vec<_> = table.rows.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["domain", "gravity", "snapshot"]);
        let gravity = &table.rows[1];
        assert_eq!((gravity.min, gravity.mean, gravity.max), (2.0, 3.0, 4.0));
        assert!((gravity.imbalance - 4.0 / 3.0).abs() < 1e-15);
        assert_eq!((table.rows[2].min, table.rows[2].mean), (0.0, 1.0));
        assert_eq!((table.total.min, table.total.max), (3.0, 8.0));
        assert_eq!((table.rate(), table.rate_per_core()), (2100.0 / 8.0, 2100.0 / 48.0));
        assert_eq!(table.line(), "8.00 s so far: gravity 60 %, domain 20 %, snapshot 20 %; imbalance 1.60");
        let text = table.text();
        let line = text.lines().find(|line| line.starts_with("gravity")).unwrap();
        let cells: Vec<_> = line.split_whitespace().collect();
        assert_eq!(cells, ["gravity", "2.000", "3.000", "4.000", "1.33", "60.0", "%"], "{text}");
    }

    #[test]
    fn laps_add_up_to_the_wall_time() {
        let wall = Instant::now();
        let mut clock = Clock::new();
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(2));
            clock.lap("work");
            clock.lap("nothing");
        }
        let sum = clock.seconds("work") + clock.seconds("nothing");
        assert!(sum >= 0.006 && sum <= wall.elapsed().as_secs_f64());
        assert_eq!(clock.seconds("unknown"), 0.0);
        assert_eq!(Clock::new().phases(&Communicator::solo(), 0, 0).rate(), 0.0);
    }
}
