//! Charts: panels with axes, series and a legend, laid out in a grid.

use super::{Anchor, Canvas, Color, FAINT, GRAY, INK, font};
use crate::report::rounded;

/// How an axis maps values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By the logarithm; values must be positive.
    Logarithmic,
}

/// An axis: its label, its ends and its scale.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is shown, with its unit.
    pub label: String,
    /// First and last value.
    pub range: (f64, f64),
    /// The mapping.
    pub scale: Scale,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// A line of that width, optionally dashed.
    Line(f64, Option<(f64, f64)>),
    /// Dots of that radius and opacity.
    Dots(f64, f64),
    /// Dots of that radius with a white rim: the ones to look at.
    Markers(f64),
}

/// Points and how to draw them.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend; empty for none.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// The drawing.
    pub mark: Mark,
    /// The color.
    pub color: Color,
}

/// A corner of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    /// Upper left.
    UpperLeft,
    /// Upper right.
    UpperRight,
    /// Lower left.
    LowerLeft,
}

/// One chart.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, drawn in this order.
    pub series: Vec<Series>,
    /// Where the legend stands.
    pub legend: Corner,
}

const MARGIN: [f64; 4] = [66.0, 20.0, 14.0, 46.0]; // left, right, top, bottom
const TITLE: f64 = 44.0;
const LABEL: f64 = 13.0;
const TICK: f64 = 11.5;

/// Draw `panels` of that size, in rows of `columns`, below a title.
pub fn draw(title: &str, panels: &[Panel], columns: usize, (width, height): (u32, u32)) -> Canvas {
    let columns = columns.max(1);
    let rows = panels.len().div_ceil(columns) as u32;
    let mut canvas = Canvas::new(width * columns as u32, height * rows + TITLE as u32);
    canvas.text((MARGIN[0], 29.0), title, 16.0, INK, Anchor::Start);
    for (k, panel) in panels.iter().enumerate() {
        let left = f64::from(width) * (k % columns) as f64 + MARGIN[0];
        let top = f64::from(height) * (k / columns) as f64 + TITLE + MARGIN[2];
        let size = (f64::from(width) - MARGIN[0] - MARGIN[1], f64::from(height) - MARGIN[2] - MARGIN[3]);
        Frame { panel, left, top, size }.draw(&mut canvas);
    }
    canvas
}

/// A panel and its place on the canvas.
struct Frame<'a> {
    panel: &'a Panel,
    left: f64,
    top: f64,
    size: (f64, f64),
}

impl Frame<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let (right, bottom) = (self.left + self.size.0, self.top + self.size.1);
        for tick in self.panel.x.ticks() {
            let x = self.left + self.panel.x.map(tick.value) * self.size.0;
            if !tick.text.is_empty() {
                canvas.line(vec![(x, self.top), (x, bottom)], 0.8, FAINT, None);
                canvas.text((x, bottom + 17.0), &tick.text, TICK, INK, Anchor::Middle);
            }
            canvas.line(vec![(x, bottom), (x, bottom - tick.length())], 0.9, GRAY, None);
        }
        for tick in self.panel.y.ticks() {
            let y = bottom - self.panel.y.map(tick.value) * self.size.1;
            if !tick.text.is_empty() {
                canvas.line(vec![(self.left, y), (right, y)], 0.8, FAINT, None);
                canvas.text((self.left - 7.0, y + 4.0), &tick.text, TICK, INK, Anchor::End);
            }
            canvas.line(vec![(self.left, y), (self.left + tick.length(), y)], 0.9, GRAY, None);
        }
        for series in &self.panel.series {
            self.series(canvas, series);
        }
        let corners = [(self.left, self.top), (right, self.top), (right, bottom), (self.left, bottom)];
        canvas.line(corners.into_iter().chain([(self.left, self.top)]).collect(), 1.0, GRAY, None);
        canvas.text(
            (self.left + 0.5 * self.size.0, bottom + 36.0),
            &self.panel.x.label,
            LABEL,
            INK,
            Anchor::Middle,
        );
        let middle = (self.left - 49.0, self.top + 0.5 * self.size.1);
        canvas.vertical_text(middle, &self.panel.y.label, LABEL, INK);
        self.legend(canvas);
    }

    /// Points outside the panel are left out; a line is cut at its border.
    fn series(&self, canvas: &mut Canvas, series: &Series) {
        let unit = |&(x, y): &(f64, f64)| (self.panel.x.map(x), self.panel.y.map(y));
        let place = |(x, y): (f64, f64)| (self.left + x * self.size.0, self.top + (1.0 - y) * self.size.1);
        let inside = |&(x, y): &(f64, f64)| (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y);
        let points: Vec<_> = series.points.iter().map(unit).collect();
        match series.mark {
            Mark::Line(width, dash) => {
                for piece in pieces_inside(&points) {
                    canvas.line(piece.into_iter().map(place).collect(), width, series.color, dash);
                }
            }
            Mark::Dots(radius, opacity) => {
                let points = points.into_iter().filter(inside).map(place).collect();
                canvas.dots(points, radius, series.color, opacity);
            }
            Mark::Markers(radius) => {
                let points: Vec<_> = points.into_iter().filter(inside).map(place).collect();
                canvas.dots(points.clone(), radius + 1.0, [255, 255, 255], 1.0);
                canvas.dots(points, radius, series.color, 1.0);
            }
        }
    }

    fn legend(&self, canvas: &mut Canvas) {
        let named: Vec<_> = self.panel.series.iter().filter(|series| !series.name.is_empty()).collect();
        let widest = named.iter().map(|series| font::width(&series.name, TICK)).fold(0.0, f64::max);
        let left = match self.panel.legend {
            Corner::UpperLeft | Corner::LowerLeft => self.left + 12.0,
            Corner::UpperRight => self.left + self.size.0 - widest - 46.0,
        };
        let top = match self.panel.legend {
            Corner::LowerLeft => self.top + self.size.1 - 18.0 * named.len() as f64 - 4.0,
            _ => self.top + 10.0,
        };
        for (k, series) in named.into_iter().enumerate() {
            let y = top + 18.0 * k as f64 + 6.0;
            let middle = vec![(left + 13.0, y)];
            match series.mark {
                Mark::Line(width, dash) => {
                    canvas.line(vec![(left, y), (left + 26.0, y)], width, series.color, dash)
                }
                Mark::Dots(radius, _) => canvas.dots(middle, radius + 1.0, series.color, 0.8),
                Mark::Markers(radius) => canvas.dots(middle, radius, series.color, 1.0),
            }
            canvas.text((left + 34.0, y + 4.0), &series.name, TICK, INK, Anchor::Start);
        }
    }
}

/// The parts of a line in the unit square, cut at its border (Liang & Barsky 1984).
fn pieces_inside(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut open = false;
    for ends in points.windows(2) {
        let (a, b) = (ends[0], ends[1]);
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut from, mut to) = (0.0f64, 1.0f64);
        for (slope, room) in [(-dx, a.0), (dx, 1.0 - a.0), (-dy, a.1), (dy, 1.0 - a.1)] {
            if slope == 0.0 {
                if room < 0.0 {
                    to = -1.0;
                }
            } else if slope < 0.0 {
                from = from.max(room / slope);
            } else {
                to = to.min(room / slope);
            }
        }
        if !(dx.is_finite() && dy.is_finite() && from <= to) {
            open = false;
            continue;
        }
        let at = |t: f64| (a.0 + t * dx, a.1 + t * dy);
        match pieces.last_mut() {
            Some(piece) if open && from == 0.0 => piece.push(at(to)),
            _ => pieces.push(vec![at(from), at(to)]),
        }
        open = to == 1.0;
    }
    pieces
}

/// A mark on an axis; minor ones have no text.
struct Tick {
    value: f64,
    text: String,
}

impl Tick {
    fn length(&self) -> f64 {
        if self.text.is_empty() { 3.0 } else { 6.0 }
    }
}

impl Axis {
    /// Where a value lies between the ends, 0 to 1.
    fn map(&self, value: f64) -> f64 {
        let (from, to) = self.range;
        match self.scale {
            Scale::Linear => (value - from) / (to - from),
            Scale::Logarithmic => (value / from).ln() / (to / from).ln(),
        }
    }

    fn ticks(&self) -> Vec<Tick> {
        let (from, to) = self.range;
        if !(from.is_finite() && to.is_finite() && from < to) {
            return Vec::new();
        }
        match self.scale {
            Scale::Linear => linear_ticks(from, to),
            Scale::Logarithmic if from > 0.0 => logarithmic_ticks(from, to),
            Scale::Logarithmic => Vec::new(),
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, at most eight of them.
fn linear_ticks(from: f64, to: f64) -> Vec<Tick> {
    let rough = (to - from) / 8.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let (first, last) = ((from / step - 1e-9).ceil() as i64, (to / step + 1e-9).floor() as i64);
    (first..=last)
        .map(|k| k as f64 * step)
        .map(|value| Tick { value, text: format!("{value:.decimals$}").replace('-', "−") })
        .collect()
}

/// Powers of ten with text, their multiples without; where there are fewer than two powers also 2 and 5 times
/// them.
fn logarithmic_ticks(from: f64, to: f64) -> Vec<Tick> {
    let (first, last) = (from.log10().floor() as i32, to.log10().floor() as i32);
    let decades = to.log10() - from.log10();
    let mut ticks = Vec::new();
    for exponent in first..=last {
        for digit in 1..10 {
            let value = f64::from(digit) * 10f64.powi(exponent);
            if value < from * (1.0 - 1e-9) || value > to * (1.0 + 1e-9) {
                continue;
            }
            let plain = decades < 2.5;
            let every = if decades > 8.0 { 2 } else { 1 };
            let text = match digit {
                1 if plain => rounded(value, 3),
                1 if exponent.rem_euclid(every) == 0 => format!("10{}", superscript(exponent)),
                2 | 5 if plain => rounded(value, 3),
                _ => String::new(),
            };
            ticks.push(Tick { value, text });
        }
    }
    ticks
}

fn superscript(exponent: i32) -> String {
    let digits: Vec<char> = "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().collect();
    exponent
        .to_string()
        .chars()
        .map(|letter| letter.to_digit(10).map_or('⁻', |digit| digits[digit as usize]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.text.as_str()).filter(|text| !text.is_empty()).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(&linear_ticks(-1.7, 0.3)), ["−1.5", "−1.0", "−0.5", "0.0"]);
        assert_eq!(
            texts(&linear_ticks(0.0, 0.35)),
            ["0.00", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]
        );
        assert_eq!(texts(&logarithmic_ticks(0.01, 1.0)), ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"]);
        assert_eq!(texts(&logarithmic_ticks(0.01, 10.0)), ["10⁻²", "10⁻¹", "10⁰", "10¹"]);
        assert_eq!(logarithmic_ticks(1.0, 1000.0).len(), 28);
        let broken = Axis { label: String::new(), range: (0.0, f64::NAN), scale: Scale::Linear };
        assert!(broken.ticks().is_empty());
    }

    #[test]
    fn lines_are_cut_at_the_border() {
        let pieces = pieces_inside(&[(-0.5, 0.5), (0.5, 0.5), (0.5, 1.5), (2.0, 0.5), (0.5, 0.5)]);
        assert_eq!(pieces, [vec![(0.0, 0.5), (0.5, 0.5), (0.5, 1.0)], vec![(1.0, 0.5), (0.5, 0.5)]]);
        assert!(pieces_inside(&[(f64::NAN, 0.1), (0.2, 0.3)]).is_empty());
    }
}
