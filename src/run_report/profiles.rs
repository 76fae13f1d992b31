//! Verdicts: those in files of the run's directory, and that of the last snapshot by the case of its deck.

use std::path::Path;

use serde_json::Value;

use super::figures::{Axis, Figure, Mark, Section, Series};
use super::folder::{Folder, name_of};
use crate::observe::History;
use crate::plan::{Plan, StartPlan};
use crate::report::picture::{self, Picture, Scale};
use crate::snapshot;
use crate::validate::{self, Subject};
use crate::{Result, deck};

/// Most points of a series of a profile: the particles of a picture are a sample of at most as many.
const MOST_POINTS: usize = 4000;

/// Returns the verdict in a JSON file; `None` if the file is something else.
pub fn verdict_in(path: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(path).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let is_verdict = value.get("against").is_some_and(Value::is_string)
        && value.get("passed").is_some_and(Value::is_boolean)
        && value
            .get("checks")
            .and_then(Value::as_array)
            .is_some_and(|checks| checks.iter().all(Value::is_object));
    is_verdict.then_some(value)
}

/// Compares the last snapshot with the solution of the case that its deck starts from: verdict and profiles.
/// `None` without a case, or if the snapshot has more than `most` particles.
///
/// # Errors
/// The snapshot cannot be read, lacks a column, or has a value that is not finite.
pub fn judge(folder: &Folder, most: u64) -> Result<Option<(Value, Vec<Figure>)>> {
    let Some((_, path)) = folder.snapshots.last().filter(|_| most > 0) else { return Ok(None) };
    let header = snapshot::read_header(path)?;
    let plan = deck::examine("the snapshot's deck", &header.deck, &[]).ok().map(|checked| checked.plan);
    let Some(plan) = plan.filter(|_| header.particle_count <= most) else { return Ok(None) };
    let StartPlan::Case(case) = &plan.start else { return Ok(None) };
    let (header, particles) = snapshot::read_snapshot(path)?;
    // a damaged record is reported by the charts of the energies
    let history = folder.observables.as_deref().and_then(|record| History::read(record).ok());
    let subject = Subject {
        particles: &particles,
        time: header.time,
        gamma: header.adiabatic_index,
        history: history.as_ref(),
        surroundings: Some(Plan::surroundings(&plan)),
    };
    let (mut verdict, findings) = validate::judge_case(&subject, case, path)?;
    verdict.snapshot = name_of(path);
    let figures = findings.pictures.iter().flat_map(|(tail, picture)| of_picture(tail, picture)).collect();
    let verdict = serde_json::to_value(verdict).unwrap_or_else(|_| unreachable!("a verdict is plain data"));
    Ok(Some((verdict, figures)))
}

/// Charts of the panels of a picture.
fn of_picture(tail: &str, picture: &Picture) -> Vec<Figure> {
    let axis = |axis: &picture::Axis| Axis {
        label: axis.label.clone(),
        unit: String::new(),
        logarithmic: axis.scale == Scale::Logarithmic,
    };
    let panels = picture.panels.iter().enumerate().map(|(place, panel)| Figure {
        id: format!("{tail}-{}", place + 1),
        section: Section::Profiles,
        title: if picture.panels.len() == 1 { picture.title.clone() } else { panel.y.label.clone() },
        note: picture.title.clone(),
        x: axis(&panel.x),
        y: axis(&panel.y),
        series: panel.series.iter().filter_map(of_series).collect(),
    });
    panels.collect()
}

/// A series of a picture, of at most [`MOST_POINTS`] points; `None` for areas, which profiles do not have.
fn of_series(series: &picture::Series) -> Option<Series> {
    let stride = series.points.len().div_ceil(MOST_POINTS).max(1);
    let mut points: Vec<(f64, f64)> = series.points.iter().step_by(stride).copied().collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (x, y) = points.into_iter().unzip();
    let mark = match series.mark {
        picture::Mark::Line(_, None) => Mark::Line,
        picture::Mark::Line(..) => Mark::Dashes,
        picture::Mark::Dots(..) => Mark::Dots,
        picture::Mark::Markers(_) => Mark::Markers,
        picture::Mark::Area(_) => return None,
    };
    Some(Series { name: series.name.clone(), mark, x, y })
}
