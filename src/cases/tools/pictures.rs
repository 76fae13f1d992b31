//! Pictures of cases: particles as dots, solutions as lines.

pub use crate::report::picture::Picture;
use crate::report::picture::{self, Axis, BLUE, INK, Mark, Scale, Series};

/// Largest number of particles drawn; more would only fill the plot.
const MAX_PARTICLES: usize = 5000;

/// A quantity over a coordinate.
pub struct Panel {
    /// The quantity.
    pub label: &'static str,
    /// The particles.
    pub particles: Vec<(f64, f64)>,
    /// The solution.
    pub exact: Vec<(f64, f64)>,
}

/// Draws panels over the range of a coordinate, in two columns.
pub fn draw(title: &str, coordinate: &str, range: (f64, f64), panels: Vec<Panel>) -> Picture {
    let panels = panels.into_iter().map(|panel| chart_panel(coordinate, range, panel)).collect();
    Picture { title: title.into(), panels, columns: 2, size: (520, 360) }
}

fn chart_panel(coordinate: &str, range: (f64, f64), panel: Panel) -> picture::Panel {
    let inside: Vec<(f64, f64)> =
        panel.particles.into_iter().filter(|(at, _)| (range.0..=range.1).contains(at)).collect();
    let shown = shown(&inside, &panel.exact);
    let stride = inside.len().div_ceil(MAX_PARTICLES).max(1);
    let dots = inside.into_iter().step_by(stride).collect();
    picture::Panel {
        x: Axis { label: coordinate.into(), range, scale: Scale::Linear },
        y: Axis { label: panel.label.into(), range: shown, scale: Scale::Linear },
        series: vec![
            Series { name: "particles".into(), points: dots, mark: Mark::Dots(0.9, 0.28), color: BLUE },
            Series { name: "solution".into(), points: panel.exact, mark: Mark::Line(1.4, None), color: INK },
        ],
    }
}

/// Range of values that holds the solution and all but 0.1 % of the particles on either side, with a margin.
fn shown(particles: &[(f64, f64)], exact: &[(f64, f64)]) -> (f64, f64) {
    let mut values: Vec<f64> = particles.iter().map(|point| point.1).collect();
    values.sort_by(f64::total_cmp);
    let skip = values.len() / 1000;
    let kept = values.get(skip..values.len() - skip).unwrap_or_default();
    let ends = kept.first().into_iter().chain(kept.last()).chain(exact.iter().map(|point| &point.1));
    let (low, high) = ends
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let margin = 0.08 * (high - low).max(1e-9 * high.abs()).max(1e-30);
    (low - margin, high + margin)
}
