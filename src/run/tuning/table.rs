//! Text of a choice: the table of the candidates, and the keys that repeat it.

use super::candidates::Candidate;
use super::measure::Measured;
use crate::neighborhood::{Costs, Method, NeighborSettings, SweptPairs};
use crate::report;

/// What became of a candidate.
#[derive(Clone, Debug)]
pub enum Fate {
    /// It was measured.
    Measured(Measured),
    /// It was measured, but takes too much memory.
    TooLarge(Measured),
    /// It was not tried, for this reason.
    NotTried(String),
}

/// A candidate and what became of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The candidate.
    pub candidate: Candidate,
    /// What became of it.
    pub fate: Fate,
}

impl Row {
    /// Its measurement, if it was measured.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.fate {
            Fate::Measured(found) | Fate::TooLarge(found) => Some(found),
            Fate::NotTried(_) => None,
        }
    }

    /// Its measurement, if it can be chosen.
    pub fn usable(&self) -> Option<&Measured> {
        match &self.fate {
            Fate::Measured(found) => Some(found),
            Fate::TooLarge(_) | Fate::NotTried(_) => None,
        }
    }
}

/// The candidates, and the choice.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The candidates.
    pub rows: Vec<Row>,
    /// Index of the chosen one.
    pub chosen: usize,
    /// The settings of the run from now on.
    pub settings: NeighborSettings,
    /// Seconds of the measurements.
    pub seconds: f64,
}

impl Tuned {
    /// What is reported: the table if several candidates were measured, and the choice.
    pub fn lines(&self) -> Vec<String> {
        let measured = self.rows.iter().filter(|row| row.measured().is_some()).count();
        let mut lines = Vec::new();
        if measured > 1 {
            lines.extend(self.table().lines().map(str::to_owned));
        }
        lines.push(self.summary());
        if let Fate::TooLarge(found) = &self.rows[self.chosen].fate {
            let bytes = report::rounded(found.bytes, 3);
            lines.push(format!(
                "no method keeps within neighbors.memory: this one takes least, {bytes} bytes per particle"
            ));
        }
        lines
    }

    /// The table of all candidates.
    pub fn table(&self) -> String {
        let milliseconds = |seconds: f64| report::rounded(1e3 * seconds, 3);
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .enumerate()
            .map(|(k, row)| {
                let candidate = row.candidate.settings(self.settings.skins);
                let mut cells = vec![row.candidate.method.name().to_owned(), candidate.pairs().to_owned()];
                match row.measured() {
                    Some(found) => cells.extend([
                        report::rounded(found.skins.outer, 3),
                        milliseconds(found.build),
                        milliseconds(found.sweep),
                        milliseconds(found.seconds),
                        report::rounded(found.bytes, 3),
                    ]),
                    None => cells.extend(std::iter::repeat_n(String::new(), 5)),
                }
                cells.push(match &row.fate {
                    Fate::Measured(_) if k == self.chosen => "chosen".into(),
                    Fate::Measured(_) => String::new(),
                    Fate::TooLarge(_) => "takes more than neighbors.memory".into(),
                    Fate::NotTried(reason) => format!("not tried: {reason}"),
                });
                cells
            })
            .collect();
        report::table(
            &["method", "pairs", "skin", "build ms", "sweep ms", "ms a step", "bytes a particle", ""],
            &rows,
        )
    }

    /// The keys of the deck that repeat the choice.
    pub fn keys(&self) -> Vec<String> {
        let NeighborSettings { method, symmetric, skins } = self.settings;
        let mut keys = vec![format!("method = \"{}\"", method.name())];
        if method.is_list() {
            keys.push(format!("symmetric = {symmetric}"));
        }
        keys.push(format!("skin = {}", report::rounded(skins.outer, 6)));
        if method == Method::Clusters {
            keys.push(format!("inner_skin = {}", report::rounded(skins.inner.unwrap_or(0.0), 6)));
        }
        keys
    }

    /// One line: what was chosen.
    pub fn summary(&self) -> String {
        let costs = self.rows[self.chosen].measured().and_then(|found| found.costs);
        match costs {
            Some(costs) => summary(&costs, &self.settings),
            None => format!("pairs: {}", described(&self.settings)),
        }
    }

    /// The rows as JSON, for programs and checkpoints.
    pub fn to_json(&self) -> serde_json::Value {
        let rows = self.rows.iter().enumerate().map(|(k, row)| {
            let mut value = serde_json::json!({
                "method": row.candidate.method.name(),
                "symmetric": row.candidate.symmetric,
                "chosen": k == self.chosen,
            });
            match row.measured() {
                Some(found) => {
                    value["skin"] = found.skins.outer.into();
                    value["inner_skin"] = found.skins.inner.unwrap_or(0.0).into();
                    value["build_seconds"] = found.build.into();
                    value["sweep_seconds"] = found.sweep.into();
                    value["seconds_per_step"] = found.seconds.into();
                    value["bytes_per_particle"] = found.bytes.into();
                    if let Some(costs) = found.costs {
                        value["costs"] = costs.to_numbers().into_iter().collect();
                    }
                    value["fits_memory"] = matches!(row.fate, Fate::Measured(_)).into();
                }
                None => {
                    if let Fate::NotTried(reason) = &row.fate {
                        value["not_tried"] = reason.as_str().into();
                    }
                }
            }
            value
        });
        rows.collect()
    }
}

/// The candidates with measured costs within the memory limit, from the rows of [`Tuned::to_json`]. Any value
/// gives candidates or none.
pub(super) fn measured_candidates(rows: &serde_json::Value, widest: f64) -> Vec<(Candidate, Costs)> {
    let candidate = |row: &serde_json::Value| {
        let method = Method::named(row["method"].as_str()?)?;
        let costs = Costs::from_numbers(|name| row["costs"][name].as_f64(), widest)?;
        (row["fits_memory"] == true)
            .then_some((Candidate { method, symmetric: row["symmetric"].as_bool()? }, costs))
    };
    rows.as_array().into_iter().flatten().filter_map(candidate).collect()
}

/// Method and symmetry of settings.
fn described(settings: &NeighborSettings) -> String {
    match settings.method {
        Method::Clusters | Method::Particles => {
            format!("lists of {}, each pair {}", settings.method.name(), settings.pairs())
        }
        Method::Cells => "cells of a grid".into(),
        Method::Search => "two-level search".into(),
    }
}

/// One line on lists of molecules.
pub(super) fn summary(costs: &Costs, settings: &NeighborSettings) -> String {
    let skins = settings.skins;
    let reach = |skin: f64| report::rounded(costs.cutoff * (1.0 + skin), 4);
    let pruned = skins.inner.map_or(String::new(), |inner| {
        format!(
            ", pruned to {} every {} steps or more (inner_skin = {})",
            reach(inner),
            costs.steps(inner),
            report::rounded(inner, 3)
        )
    });
    if costs.swept == SweptPairs::InRange {
        return format!(
            "{}: cutoff {}, particles sorted every {} steps or more (skin = {})",
            described(settings),
            costs.cutoff,
            costs.rebuild_interval(skins),
            report::rounded(skins.outer, 3),
        );
    }
    format!(
        "{}: cutoff {}, built to {} every {} steps or more (skin = {}){pruned}",
        described(settings),
        costs.cutoff,
        reach(skins.outer),
        costs.rebuild_interval(skins),
        report::rounded(skins.outer, 3),
    )
}
