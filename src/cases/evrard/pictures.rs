//! Plots of an Evrard collapse: radial profiles and energies against the reference.

use super::judge::{BINS, RANGE};
use super::reference::{Reference, energies, initial_entropy};
use crate::cases::Subject;
use crate::cases::tools::radial::Radial;
use crate::report::picture::{Axis, BLUE, GRAY, GREEN, INK, Mark, Panel, Picture, RED, Scale, Series};
use crate::report::{grouped, rounded};

/// Largest number of particles drawn; more would only fill the plot.
const MAX_PARTICLES: usize = 5000;
/// Range of radii shown.
const RADIUS_RANGE: (f64, f64) = (0.01, 1.0);
const DASHED: Option<(f64, f64)> = Some((6.0, 4.0));

/// Returns the plots by the suffix of their file name.
pub(super) fn draw(
    radial: &Radial,
    reference: Option<&Reference>,
    subject: &Subject,
    particles: u64,
) -> Vec<(&'static str, Picture)> {
    let time = rounded(subject.time, 4);
    let title = format!("Evrard collapse at t = {time}, {} particles", grouped(particles));
    let panels = profiles(radial, reference);
    let mut pictures = vec![("profiles", Picture { title, panels, columns: 2, size: (520, 360) })];
    if subject.history.is_some_and(|history| history.time.len() > 1) {
        let title = format!("Evrard collapse, {} particles: energies", grouped(particles));
        let panels = energy_panels(subject);
        pictures.push(("energies", Picture { title, panels, columns: 2, size: (520, 400) }));
    }
    pictures
}

fn profiles(radial: &Radial, reference: Option<&Reference>) -> Vec<Panel> {
    let exact = |radius: f64| {
        // ahead of the shock, from the enclosed mass
        let row = radial.between(0.0, radius).end;
        radial.enclosed.get(row).map_or(f64::NAN, |&enclosed| initial_entropy(enclosed))
    };
    let of = |value: fn(&Reference, f64) -> f64| {
        reference.map(|reference| curve(|radius| value(reference, radius)))
    };
    let mut panels = vec![
        panel(radial, "density ρ", Scale::Logarithmic, &radial.density, of(Reference::density)),
        panel(radial, "radial velocity", Scale::Linear, &radial.velocity, of(Reference::velocity)),
        panel(radial, "pressure P", Scale::Logarithmic, &radial.pressure, of(Reference::pressure)),
        panel(radial, "entropic function K", Scale::Linear, &radial.entropy, of(Reference::entropy)),
    ];
    let unshocked = Series {
        name: "exact until the shock".into(),
        points: curve(exact),
        mark: Mark::Line(1.4, DASHED),
        color: GREEN,
    };
    if let Some(entropy) = panels.last_mut() {
        entropy.series.insert(1, unshocked);
    }
    panels
}

/// Samples a function at logarithmically spaced radii.
fn curve(value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    const POINTS: usize = 500;
    (0..=POINTS)
        .map(|k| RADIUS_RANGE.0 * (RADIUS_RANGE.1 / RADIUS_RANGE.0).powf(k as f64 / POINTS as f64))
        .map(|radius| (radius, value(radius)))
        .collect()
}

/// Plots particles as faint dots, the reference as a line, bins as markers.
fn panel(
    radial: &Radial,
    label: &str,
    scale: Scale,
    column: &[f64],
    reference: Option<Vec<(f64, f64)>>,
) -> Panel {
    let stride = radial.len().div_ceil(MAX_PARTICLES).max(1);
    let dots: Vec<_> =
        (0..radial.len()).step_by(stride).map(|row| (radial.radius[row], column[row])).collect();
    let bins = radial.medians(column, BINS, RANGE);
    let range = shown_range(radial, column, scale, reference.as_deref().unwrap_or_default());
    let mut series =
        vec![Series { name: "particles".into(), points: dots, mark: Mark::Dots(0.8, 0.28), color: BLUE }];
    if let Some(points) = reference {
        series.push(Series { name: "reference".into(), points, mark: Mark::Line(1.6, None), color: INK });
    }
    series.push(Series {
        name: "medians of bins".into(),
        points: bins,
        mark: Mark::Markers(2.6),
        color: RED,
    });
    Panel {
        x: Axis { label: "radius r".into(), range: RADIUS_RANGE, scale: Scale::Logarithmic },
        y: Axis { label: label.into(), range, scale },
        series,
    }
}

/// Returns a range that contains the reference and all but 0.1 % of the particles on either side, with a
/// margin.
fn shown_range(radial: &Radial, column: &[f64], scale: Scale, reference: &[(f64, f64)]) -> (f64, f64) {
    let mut values = column[radial.between(RADIUS_RANGE.0, RADIUS_RANGE.1)].to_vec();
    values.retain(|value| scale == Scale::Linear || *value > 0.0);
    values.sort_by(f64::total_cmp);
    let skip = values.len() / 1000;
    let kept = values.get(skip..values.len() - skip).unwrap_or_default();
    let ends = kept.first().into_iter().chain(kept.last()).chain(reference.iter().map(|(_, value)| value));
    let (low, high) = ends
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
    match scale {
        _ if low > high => (0.1, 1.0),
        Scale::Logarithmic => (low / 1.5, high * 1.5),
        Scale::Linear => {
            let room = 0.06 * (high - low).max(1e-9);
            (low - room, high + room)
        }
    }
}

fn energy_panels(subject: &Subject) -> Vec<Panel> {
    let Some(history) = subject.history else { return Vec::new() };
    let table = energies();
    let end = history.time.iter().copied().fold(subject.time, f64::max);
    let pairs =
        |time: &[f64], values: &[f64]| time.iter().copied().zip(values.iter().copied()).collect::<Vec<_>>();
    let mut series = Vec::new();
    let run_energies = [
        ("kinetic", &history.kinetic, BLUE),
        ("thermal", &history.thermal, RED),
        ("potential", &history.potential, GREEN),
    ];
    for (name, values, color) in run_energies {
        let points = pairs(&history.time, values);
        series.push(Series { name: name.into(), points, mark: Mark::Line(1.8, None), color });
    }
    let total = history.total();
    series.push(Series {
        name: "total".into(),
        points: pairs(&history.time, &total),
        mark: Mark::Line(1.8, None),
        color: GRAY,
    });
    for (k, values) in [&table.kinetic, &table.thermal, &table.potential].into_iter().enumerate() {
        let name = if k == 0 { "reference" } else { "" };
        series.push(Series {
            name: name.into(),
            points: pairs(&table.time, values),
            mark: Mark::Line(1.1, Some((4.0, 3.0))),
            color: INK,
        });
    }
    let time_axis = || Axis { label: "time t".into(), range: (0.0, end.max(1e-9)), scale: Scale::Linear };
    let known =
        table.time.iter().zip(&table.potential).zip(&table.thermal).filter(|((time, _), _)| **time <= end);
    let (low, high) = known.fold((-0.7f64, 0.1f64), |(low, high), ((_, &potential), &thermal)| {
        (low.min(potential), high.max(thermal))
    });
    let room = 0.08 * (high - low);
    let energy = Panel {
        x: time_axis(),
        y: Axis { label: "energy".into(), range: (low - room, high + 4.0 * room), scale: Scale::Linear },
        series,
    };
    let first = total.first().copied().unwrap_or(1.0);
    let drift: Vec<f64> = total.iter().map(|energy| 100.0 * (energy - first) / first.abs()).collect();
    let largest = drift.iter().map(|value| value.abs()).fold(1e-6, f64::max);
    let drift = Panel {
        x: time_axis(),
        y: Axis {
            label: "drift of the total energy, %".into(),
            range: (-1.3 * largest, 1.3 * largest),
            scale: Scale::Linear,
        },
        series: vec![Series {
            name: String::new(),
            points: pairs(&history.time, &drift),
            mark: Mark::Line(1.6, None),
            color: BLUE,
        }],
    };
    vec![energy, drift]
}
