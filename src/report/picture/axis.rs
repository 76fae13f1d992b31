//! Axes: the mapping of values, and ticks with their labels.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

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
    /// The quantity, with its unit.
    pub label: String,
    /// First and last value.
    pub range: (f64, f64),
    /// The mapping.
    pub scale: Scale,
}

/// A value on an axis and its label; minor ticks have none.
pub(super) struct Tick {
    pub value: f64,
    pub label: String,
}

impl Axis {
    /// Returns where a value lies between the ends, 0 to 1.
    pub(super) fn fraction(&self, value: f64) -> f64 {
        let (from, to) = self.range;
        match self.scale {
            Scale::Linear => (value - from) / (to - from),
            Scale::Logarithmic => (value / from).ln() / (to / from).ln(),
        }
    }

    /// Returns whether a value lies between the ends.
    pub(super) fn contains(&self, value: f64) -> bool {
        (0.0..=1.0).contains(&self.fraction(value))
    }

    /// Returns the ticks; none for a range without width or with an end that is not finite.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let (from, to) = self.range;
        match self.scale {
            _ if !((to - from).is_finite() && from < to) => Vec::new(),
            Scale::Linear => linear_ticks(from, to),
            Scale::Logarithmic if from > 0.0 => logarithmic_ticks(from, to),
            Scale::Logarithmic => Vec::new(),
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        first.saturating_add((self.fraction(*value) * f64::from(last - first)).round() as i32)
    }

    /// Returns the values of the ticks: of all, or of those with a label.
    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let all = hint.weight().allow_light_points();
        self.ticks().iter().filter(|tick| all || !tick.label.is_empty()).map(|tick| tick.value).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.0..self.range.1
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.ticks().into_iter().find(|tick| tick.value == *value).map(|tick| tick.label).unwrap_or_default()
    }
}

/// Returns multiples of 1, 2 or 5 times a power of ten, at most nine of them; large and small ones are
/// labelled with the power of ten of the largest.
fn linear_ticks(from: f64, to: f64) -> Vec<Tick> {
    let rough = (to - from) / 8.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let largest = from.abs().max(to.abs()).log10().floor() as i32;
    let exponent = if (-4..6).contains(&largest) { 0 } else { largest };
    let decimals = (exponent - (step * 1.000001).log10().floor() as i32).max(0) as usize;
    let (first, last) = ((from / step - 1e-9).ceil() as i64, (to / step + 1e-9).floor() as i64);
    let label = |value: f64| match exponent {
        0 => format!("{value:.decimals$}"),
        _ if value == 0.0 => "0".into(),
        _ => superscripts(&format!("{:.decimals$}·10^{exponent}", value / 10f64.powi(exponent))),
    };
    let tick = |value: f64| Tick { value, label: label(value).replace('-', "−") };
    (first..=last).map(|k| tick(k as f64 * step)).collect()
}

/// Returns multiples of powers of ten. The powers have labels; where there are fewer than 2.5 of them, also 2
/// and 5 times them.
fn logarithmic_ticks(from: f64, to: f64) -> Vec<Tick> {
    let decades = to.log10() - from.log10();
    let (plain, every) = (decades < 2.5, if decades > 8.0 { 2 } else { 1 });
    let label = |digit: i32, exponent: i32, value: f64| match digit {
        1 | 2 | 5 if plain => rounded(value, 3),
        1 if exponent.rem_euclid(every) == 0 => superscripts(&format!("10^{exponent}")),
        _ => String::new(),
    };
    (from.log10().floor() as i32..=to.log10().floor() as i32)
        .flat_map(|exponent| (1..10).map(move |digit| (digit, exponent)))
        .map(|(digit, exponent)| (digit, exponent, f64::from(digit) * 10f64.powi(exponent)))
        .filter(|&(.., value)| (from * (1.0 - 1e-9)..=to * (1.0 + 1e-9)).contains(&value))
        .map(|(digit, exponent, value)| Tick { value, label: label(digit, exponent, value) })
        .collect()
}

/// Formats the label of an axis: the quantity in words with its unit. Units of decks without physical units
/// (U_M, U_L, U_t) are called code units, pure numbers ("" or "1") have none.
pub fn axis_label(words: &str, unit: &str) -> String {
    match unit {
        "" | "1" => words.to_owned(),
        _ if unit.contains("U_") => format!("{words} (code units)"),
        _ => format!("{words} ({})", superscripts(unit)),
    }
}

/// Formats powers as superscripts: `nm² ps⁻¹` for `nm^2 ps^-1`.
pub fn superscripts(text: &str) -> String {
    let mut power = false;
    let raise = |c: char| match c {
        '^' => {
            power = true;
            None
        }
        '-' if power => Some('⁻'),
        digit if power && digit.is_ascii_digit() => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize - '0' as usize),
        other => {
            power = false;
            Some(other)
        }
    };
    text.chars().filter_map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&linear_ticks(-1.7, 0.3)), ["−1.5", "−1.0", "−0.5", "0.0"]);
        assert_eq!(
            labels(&linear_ticks(0.0, 0.35)),
            ["0.00", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]
        );
        assert_eq!(labels(&linear_ticks(-1e-24, 2e-24))[1..4], ["−0.5·10⁻²⁴", "0", "0.5·10⁻²⁴"]);
        assert_eq!(labels(&linear_ticks(2.05e9, 2.31e9))[0], "2.05·10⁹");
        assert_eq!(labels(&logarithmic_ticks(0.01, 1.0)), ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(&logarithmic_ticks(0.01, 10.0)), ["10⁻²", "10⁻¹", "10⁰", "10¹"]);
        assert_eq!(logarithmic_ticks(1.0, 1000.0).len(), 28);
        let broken = Axis { label: String::new(), range: (0.0, f64::NAN), scale: Scale::Linear };
        assert!(broken.ticks().is_empty());
    }

    #[test]
    fn ends_and_labels_are_mapped() {
        let axis = Axis { label: String::new(), range: (0.01, 1.0), scale: Scale::Logarithmic };
        assert_eq!([0.01, 0.1, 1.0].map(|value| axis.map(&value, (100, 0))), [100, 50, 0]);
        assert!(axis.contains(0.01) && axis.contains(1.0) && !axis.contains(1.1) && !axis.contains(f64::NAN));
        assert_eq!((axis.format_ext(&0.01), axis.format_ext(&0.03)), ("0.01".into(), String::new()));
    }

    #[test]
    fn labels_have_units_that_mean_something() {
        assert_eq!(axis_label("time", "U_t"), "time (code units)");
        assert_eq!(axis_label("density", "amu nm^-3"), "density (amu nm⁻³)");
        assert_eq!([axis_label("step", "1"), axis_label("step", "")], ["step", "step"]);
    }

    #[test]
    fn powers_are_raised() {
        assert_eq!(superscripts("U_L^2 U_t^-1"), "U_L² U_t⁻¹");
        assert_eq!(superscripts("kJ mol^-1 nm^-10"), "kJ mol⁻¹ nm⁻¹⁰");
    }
}
