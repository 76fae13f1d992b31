//! Range and scale of the colors of one map, or of all frames of a film.

use super::snapshot::Map;
use crate::report::picture::Scale;
use crate::{Error, Result};

/// Share of the integral of a density that the pixels left out of a logarithmic scale may hold: where the gas
/// ends, kernels fall to zero over many decades.
const CUT: f64 = 1e-4;
/// Decades of a logarithmic scale by default, at most.
const DECADES: f64 = 8.0;

/// Ends of the values of maps.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    name: String,
    positive: bool,
    least: f64,
    /// The least value, of a density after [`CUT`].
    low: f64,
    greatest: f64,
}

/// Range and scale of the colors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colors {
    /// Values of the first and the last color.
    pub range: (f64, f64),
    /// The mapping between them.
    pub scale: Scale,
}

impl Spread {
    /// The spread of a map.
    pub fn of(map: &Map) -> Self {
        let values = map.raster.sorted();
        let total: f64 = values.iter().sum();
        let mut below = 0.0;
        let held = values.iter().find(|value| {
            below += **value;
            !map.is_sum || below > CUT * total
        });
        Self {
            name: map.quantity.clone(),
            positive: map.positive,
            least: values.first().copied().unwrap_or(f64::INFINITY),
            low: held.copied().unwrap_or(f64::INFINITY),
            greatest: values.last().copied().unwrap_or(f64::NEG_INFINITY),
        }
    }

    /// Whether no pixel of the maps has a value.
    pub fn is_empty(&self) -> bool {
        self.least > self.greatest
    }

    /// The spread of both.
    pub fn joined(self, other: &Self) -> Self {
        Self {
            least: self.least.min(other.least),
            low: self.low.min(other.low),
            greatest: self.greatest.max(other.greatest),
            ..self
        }
    }

    /// Chooses the colors; `range` and `scale` are what the user asks for. By default the scale is
    /// logarithmic for quantities that cannot be negative and span more than a decade.
    ///
    /// # Errors
    /// [`Error::Usage`] for a range that is empty, or a logarithmic scale of values that are not positive.
    pub fn colors(&self, range: Option<(f64, f64)>, scale: Option<Scale>) -> Result<Colors> {
        if let Some((low, high)) = range
            && !(low < high && (high - low).is_finite())
        {
            return Err(Error::usage(
                format!("the range of the colors from {low} to {high} is empty or infinite"),
                "write the lower end first: --range 0.1,10",
            ));
        }
        let ends = range.unwrap_or((self.low, self.greatest));
        let wide = self.positive && self.least > 0.0 && ends.0 > 0.0 && ends.1 > 10.0 * ends.0;
        let scale = scale.unwrap_or(if wide { Scale::Logarithmic } else { Scale::Linear });
        if scale == Scale::Logarithmic && (self.least < 0.0 || ends.0 <= 0.0) {
            return Err(Error::usage(
                format!(
                    "a logarithmic scale needs positive values; {} is from {:e} to {:e}{}",
                    self.name,
                    self.least,
                    self.greatest,
                    range.map_or(String::new(), |(low, _)| format!(", the range begins at {low}"))
                ),
                "take --scale linear, or a --range above 0 for a positive quantity",
            ));
        }
        if let Some(range) = range {
            return Ok(Colors { range, scale });
        }
        let range = match scale {
            Scale::Logarithmic => (self.low.max(self.greatest * 10f64.powf(-DECADES)), self.greatest),
            Scale::Linear => (self.least, self.greatest),
        };
        Ok(Colors { range: with_width(range, scale), scale })
    }
}

/// Widens the range of a constant, which still needs colors.
fn with_width((low, high): (f64, f64), scale: Scale) -> (f64, f64) {
    match scale {
        _ if high - low > 1e-9 * low.abs().max(high.abs()) => (low, high),
        Scale::Logarithmic => (0.5 * low, 2.0 * high),
        Scale::Linear if low == 0.0 && high == 0.0 => (-1.0, 1.0),
        Scale::Linear => (low - 0.1 * low.abs(), high + 0.1 * high.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::Raster;

    fn spread(positive: bool, least: f64, low: f64, greatest: f64) -> Spread {
        Spread { name: "density".into(), positive, least, low, greatest }
    }

    #[test]
    fn positive_quantities_over_decades_are_logarithmic() {
        let colors = spread(true, 1e-9, 0.1, 5.0).colors(None, None).unwrap();
        assert_eq!(colors, Colors { range: (0.1, 5.0), scale: Scale::Logarithmic });
        let deep = spread(true, 1e-30, 1e-20, 1.0).colors(None, None).unwrap();
        assert_eq!(deep.range, (1e-8, 1.0));
        for linear in [spread(true, 1.0, 1.0, 5.0), spread(false, 0.1, 0.1, 5.0), spread(true, 0.0, 0.1, 5.0)]
        {
            let colors = linear.colors(None, None).unwrap();
            assert_eq!(colors, Colors { range: (linear.least, 5.0), scale: Scale::Linear });
        }
        let constant = spread(true, 2.0, 2.0, 2.0).colors(None, None).unwrap();
        assert_eq!(constant.range, (1.8, 2.2));
    }

    #[test]
    fn what_is_asked_holds_or_is_refused() {
        let speed = spread(true, 0.0, 0.0, 5.0);
        let error = speed.colors(None, Some(Scale::Logarithmic)).unwrap_err().to_string();
        assert!(error.contains("positive values") && error.contains("--scale linear"), "{error}");
        assert!(speed.colors(Some((0.1, 5.0)), Some(Scale::Logarithmic)).is_ok(), "the remedy holds");
        let density = spread(true, 0.1, 0.1, 50.0);
        let linear = density.colors(Some((0.0, 1.0)), None).unwrap();
        assert_eq!(linear, Colors { range: (0.0, 1.0), scale: Scale::Linear });
        assert!(density.colors(Some((0.0, 1.0)), Some(Scale::Logarithmic)).is_err());
        for range in [(1.0, 1.0), (2.0, 1.0), (0.0, f64::INFINITY), (f64::NAN, 1.0)] {
            assert!(density.colors(Some(range), None).unwrap_err().to_string().contains("--range"));
        }
    }

    #[test]
    fn the_edge_of_a_density_is_left_out() {
        let values = [vec![f64::NAN, 1e-30, 1e-9], vec![0.5; 20], vec![8.0]].concat();
        let pixels = [values.len(), 1];
        let map = |is_sum: bool| Map {
            raster: Raster { values: values.clone(), pixels, extent: [(0.0, 1.0); 2] },
            quantity: "density".into(),
            title: String::new(),
            axes: [String::new(), String::new()],
            label: String::new(),
            positive: true,
            is_sum,
            notes: Vec::new(),
        };
        let density = Spread::of(&map(true));
        assert_eq!((density.least, density.low, density.greatest), (1e-30, 0.5, 8.0));
        assert_eq!(Spread::of(&map(false)).low, 1e-30);
    }

    #[test]
    fn frames_share_their_ends() {
        let both = spread(true, 0.1, 0.2, 1.0).joined(&spread(true, 0.3, 0.4, 9.0));
        assert_eq!((both.least, both.low, both.greatest), (0.1, 0.2, 9.0));
        assert!(!both.is_empty() && spread(true, f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY).is_empty());
    }
}
