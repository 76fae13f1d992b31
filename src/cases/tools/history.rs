//! Energies of a run over time.

/// Energies at increasing times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Times.
    pub time: Vec<f64>,
    /// Kinetic energy.
    pub kinetic: Vec<f64>,
    /// Thermal energy.
    pub thermal: Vec<f64>,
    /// Potential energy.
    pub potential: Vec<f64>,
}

impl History {
    /// Returns the total energies.
    pub fn total(&self) -> Vec<f64> {
        (0..self.time.len()).map(|k| self.kinetic[k] + self.thermal[k] + self.potential[k]).collect()
    }

    /// Returns the largest |E - E(0)| / |E(0)| up to `time`, where E(0) is the first row; `None` without such
    /// rows.
    pub fn drift(&self, time: f64) -> Option<f64> {
        let total = self.total();
        let first = *total.first()?;
        let rows = self.time.iter().take_while(|&&at| at <= time).count();
        let drift =
            total[..rows].iter().map(|energy| (energy - first).abs() / first.abs()).reduce(f64::max)?;
        drift.is_finite().then_some(drift)
    }

    /// Returns time and value of the extremum of `values` (one per row). A parabola is fitted by least
    /// squares to the rows around the largest `sign * value`, within `window` of time to either side, or at
    /// least to the next rows. `None` for fewer than three rows.
    pub fn extremum(&self, values: &[f64], sign: f64, window: f64) -> Option<(f64, f64)> {
        let peak = (0..values.len()).max_by(|&a, &b| (sign * values[a]).total_cmp(&(sign * values[b])))?;
        let center = self.time[peak];
        let next = [peak.saturating_sub(1), (peak + 1).min(values.len() - 1)];
        let window = next.iter().map(|&k| (self.time[k] - center).abs()).fold(window, f64::max);
        let near = (0..values.len()).filter(|&k| (self.time[k] - center).abs() <= window);
        // normal equations of a + b s + c s^2, s = (t - center) / window
        let (mut matrix, mut right, mut count) = (nalgebra::Matrix3::zeros(), nalgebra::Vector3::zeros(), 0);
        for k in near {
            let s = (self.time[k] - center) / window;
            let powers = nalgebra::Vector3::new(1.0, s, s * s);
            matrix += powers * powers.transpose();
            right += powers * values[k];
            count += 1;
        }
        let fit = matrix.lu().solve(&right).filter(|fit| count >= 3 && sign * fit.z < 0.0)?;
        let s = (-0.5 * fit.y / fit.z).clamp(-1.0, 1.0);
        Some((center + s * window, fit.x + s * (fit.y + s * fit.z)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extremum_of_a_parabola_is_exact() {
        let time: Vec<f64> = (0..30).map(|k| 0.037 * f64::from(k) * (1.0 + 0.01 * f64::from(k))).collect();
        let values: Vec<f64> = time.iter().map(|t| 3.0 - (t - 0.6123f64).powi(2)).collect();
        let history = History { time, ..History::default() };
        let (time, value) = history.extremum(&values, 1.0, 0.1).unwrap();
        assert!((time - 0.6123).abs() < 1e-9 && (value - 3.0).abs() < 1e-9);
        assert!(history.extremum(&[], 1.0, 0.1).is_none());
    }
}
