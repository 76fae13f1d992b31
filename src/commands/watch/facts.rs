//! Facts of a run as short texts: shared by the display and the text of `--once`.

use super::Moment;
use crate::memory::bytes;
use crate::report::{duration, grouped, quantity, rounded, table};
use crate::status::{Condition, Status};

/// Age of the status (s) from which the display warns that the run may hang.
const OLD: f64 = 60.0;

/// Where the run is: host, ranks, threads, device, particles.
pub(super) fn place(status: &Status) -> String {
    let Status { host, ranks, threads, device, particles, .. } = status;
    let count = |number: u64, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    format!(
        "{} particles, {}, {}, {device}, {host}",
        grouped(*particles),
        count(*ranks, "rank"),
        count(*threads, "thread")
    )
}

/// Step, time and time step.
pub(super) fn position(status: &Status) -> String {
    let Status { step, time, time_step, time_unit, end, .. } = status;
    let mut text = format!("step {}", grouped(*step));
    if let Some(steps) = end.steps {
        text += &format!(" of {}", grouped(steps));
    }
    text += &format!("   t {}", rounded(*time, 5));
    if let Some(time) = end.time {
        text += &format!(" of {}", rounded(time, 5));
    }
    text += &format!(" {time_unit}");
    if let Some(length) = time_step {
        text += &format!("   dt {length:.2e}");
    }
    text
}

/// Rates of the last seconds, or the mean ones of a run that has ended.
pub(super) fn rates(status: &Status, condition: Condition) -> String {
    let rates = if condition == Condition::Running { status.recent } else { status.mean };
    let number = |rate: Option<f64>| rate.map_or("-".into(), quantity);
    format!("{} updates/s   {} steps/s", number(rates.updates_per_second), number(rates.steps_per_second))
}

/// Drift of the energy.
pub(super) fn energy(status: &Status) -> String {
    status
        .energy
        .as_ref()
        .map_or("energy drift unknown".into(), |energy| format!("energy drift {}", energy.drift))
}

/// Progress and wall time.
pub(super) fn progress(status: &Status, condition: Condition) -> String {
    let percent = format!("{:.1} %", 100.0 * status.fraction);
    let elapsed = duration(status.elapsed);
    match status.seconds_left {
        Some(left) if condition == Condition::Running => {
            format!("{percent}   {elapsed} so far, {} left", duration(left))
        }
        _ => format!("{percent}   {elapsed}"),
    }
}

/// Memory, lists and outputs, as names and values.
pub(super) fn details(status: &Status) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let [_, mean, largest] = status.memory.peak;
    if largest > 0.0 {
        rows.push(("peak memory", bytes(mean * status.ranks as f64)));
    }
    if status.ranks > 1 && largest > 0.0 {
        rows.push(("largest rank", bytes(largest)));
    }
    rows.extend(status.memory.estimate.map(|estimate| ("estimate", bytes(estimate))));
    if let Some(neighbors) = &status.neighbors {
        let pairs = if neighbors.symmetric { "half" } else { "full" };
        rows.push(("pairs by", format!("{}, {pairs}", neighbors.method)));
        let inner =
            neighbors.inner_skin.map_or(String::new(), |skin| format!(", inner {}", rounded(skin, 2)));
        rows.push(("skin", format!("{}{inner}", rounded(neighbors.skin, 2))));
        rows.push(("list builds", grouped(neighbors.builds)));
        rows.push(("lists", bytes(neighbors.bytes as f64)));
    }
    rows.push(("snapshots", grouped(status.snapshots)));
    rows.push((
        "checkpoint",
        status.checkpoint.map_or("none yet".into(), |step| format!("step {}", grouped(step))),
    ));
    rows
}

/// Why a run needs attention; `now` is the wall time (seconds since 1970).
pub(super) fn warning(moment: &Moment, now: f64) -> Option<String> {
    let Moment { status, condition } = moment;
    let age = now - status.updated;
    match condition {
        Condition::Killed => Some(
            "the run was killed, or its host went down: `hilbrium run DECK --restart FOLDER` continues from \
             its newest checkpoint"
                .into(),
        ),
        Condition::Failed => Some(status.message.clone().unwrap_or_else(|| "it failed".into())),
        Condition::Running if age > OLD => {
            Some(format!("no new status for {}: a long step, or the run hangs", duration(age)))
        }
        _ => None,
    }
}

/// Everything as text.
pub(super) fn text(moment: &Moment, now: f64) -> String {
    let Moment { status, condition } = moment;
    let mut lines = vec![
        format!("{}: {}", status.title, condition.name()),
        place(status),
        position(status),
        progress(status, *condition),
        rates(status, *condition),
        energy(status),
    ];
    lines.extend(warning(moment, now));
    if let Some(total) = &status.total {
        let phases = status.phases.iter().chain([total]);
        let rows: Vec<Vec<String>> = phases
            .map(|phase| {
                vec![
                    phase.name.clone(),
                    format!("{:.3}", phase.mean),
                    format!("{:.1} %", share(phase.mean, total.mean)),
                    format!("{:.2}", phase.imbalance),
                ]
            })
            .collect();
        lines.push(table(&["phase", "mean s", "share", "imbalance"], &rows));
    }
    lines.extend(details(status).into_iter().map(|(name, value)| format!("{name}: {value}")));
    lines.join("\n")
}

/// Share of a phase in percent.
pub(super) fn share(mean: f64, total: f64) -> f64 {
    if total > 0.0 { 100.0 * mean / total } else { 0.0 }
}
