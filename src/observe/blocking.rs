//! Means of correlated values with their statistical errors, by blocking analysis (Flyvbjerg & Petersen 1989,
//! J. Chem. Phys. 91, 461).
//!
//! Neighboring values of a series are averaged in pairs repeatedly. The error estimated from blocks as if
//! they were independent grows with the block length until they are; beyond that only its uncertainty grows.
//! The length chosen is the least `B = 2^k` with `B^3 > 2 n (s_B / s_1)^4`, where n is the number of values
//! and s_B the error from blocks of length B (Wolff 2004, Comput. Phys. Commun. 156, 143; in this form Lee,
//! Conduit, Nemec, Lopez Rios & Drummond 2011, Phys. Rev. E 83, 066706).

/// Smallest number of blocks from which the error of a mean is estimated.
const FEWEST_BLOCKS: u64 = 8;

/// Sums over the blocks of all lengths 2^k, of several series at once; values are added in sequence and not
/// stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocking {
    width: usize,
    levels: Vec<Level>,
}

/// The blocks of one length.
#[derive(Clone, Debug, PartialEq)]
struct Level {
    count: u64,
    /// Per series the mean of the blocks, and the sum of their squared deviations from it.
    mean: Vec<f64>,
    squared_deviations: Vec<f64>,
    /// A block without its pair partner so far.
    unpaired: Option<Vec<f64>>,
}

/// The mean of a series with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of all values.
    pub mean: f64,
    /// Standard error of the mean; not a number with fewer than two values.
    pub standard_error: f64,
    /// Standard deviation of the values.
    pub deviation: f64,
    /// Number of values.
    pub values: u64,
    /// Statistical inefficiency (s_B / s_1)^2: number of values per independent one. It is twice the
    /// integrated autocorrelation time in steps of the series, and 1 for independent values.
    pub inefficiency: f64,
    /// Number of blocks from which the error is estimated.
    pub blocks: u64,
    /// Whether there were blocks long enough; otherwise the error is the largest of any length, a lower
    /// bound.
    pub converged: bool,
}

impl Blocking {
    /// Creates an empty analysis of `width` series.
    pub fn new(width: usize) -> Self {
        Self { width, levels: Vec::new() }
    }

    /// Returns the number of values of each series.
    pub fn count(&self) -> u64 {
        self.levels.first().map_or(0, |level| level.count)
    }

    /// Adds the next value of each series.
    pub fn push(&mut self, values: &[f64]) {
        assert_eq!(values.len(), self.width, "a value of each series");
        let mut block = values.to_vec();
        for k in 0.. {
            if k == self.levels.len() {
                self.levels.push(Level::new(self.width));
            }
            let level = &mut self.levels[k];
            level.add(&block);
            let Some(before) = level.unpaired.take() else {
                level.unpaired = Some(block);
                return;
            };
            block.iter_mut().zip(before).for_each(|(value, before)| *value = 0.5 * (*value + before));
        }
    }

    /// Returns the mean of a series.
    pub fn mean(&self, series: usize) -> f64 {
        self.levels.first().map_or(f64::NAN, |level| level.mean[series])
    }

    /// Returns mean and error of a series.
    pub fn estimate(&self, series: usize) -> Estimate {
        let values = self.count();
        let first = self.levels.first().map_or(f64::NAN, |level| level.error(series));
        let ratio = |error: f64| if first > 0.0 { (error / first).powi(2) } else { 1.0 };
        let usable = || {
            let enough = |&(k, level): &(usize, &Level)| k == 0 || level.count >= FEWEST_BLOCKS;
            self.levels.iter().enumerate().take_while(enough)
        };
        let long_enough = |&(k, level): &(usize, &Level)| {
            8f64.powi(k as i32) > 2.0 * values as f64 * ratio(level.error(series)).powi(2)
        };
        let largest = || usable().max_by(|a, b| a.1.error(series).total_cmp(&b.1.error(series)));
        let found = usable().filter(|(_, level)| level.count >= FEWEST_BLOCKS).find(long_enough);
        let (error, blocks) =
            found.or_else(largest).map_or((f64::NAN, 0), |(_, level)| (level.error(series), level.count));
        Estimate {
            mean: self.mean(series),
            standard_error: error,
            deviation: first * (values as f64).sqrt(),
            values,
            inefficiency: ratio(error),
            blocks,
            converged: found.is_some(),
        }
    }

    /// Returns the state as words, for a checkpoint.
    pub fn to_words(&self) -> Vec<u64> {
        let mut words = vec![self.width as u64, self.levels.len() as u64];
        for level in &self.levels {
            words.extend([level.count, u64::from(level.unpaired.is_some())]);
            let unpaired = level.unpaired.iter().flatten();
            words.extend(
                level
                    .mean
                    .iter()
                    .chain(&level.squared_deviations)
                    .chain(unpaired)
                    .map(|value| value.to_bits()),
            );
        }
        words
    }

    /// Reads the words of [`Self::to_words`] from the front; `None` if they do not fit.
    pub fn from_words(words: &mut impl Iterator<Item = u64>, width: usize) -> Option<Self> {
        let levels = match (words.next()?, words.next()?) {
            (stored, levels) if stored == width as u64 && levels <= u64::from(u64::BITS) => levels,
            _ => return None,
        };
        let mut blocking = Self::new(width);
        for _ in 0..levels {
            let (count, has_unpaired) = (words.next()?, words.next()?);
            let mut column =
                || -> Option<Vec<f64>> { (0..width).map(|_| words.next().map(f64::from_bits)).collect() };
            let (mean, squared_deviations) = (column()?, column()?);
            let unpaired = if has_unpaired == 1 { Some(column()?) } else { None };
            blocking.levels.push(Level { count, mean, squared_deviations, unpaired });
        }
        Some(blocking)
    }
}

impl Level {
    fn new(width: usize) -> Self {
        Self { count: 0, mean: vec![0.0; width], squared_deviations: vec![0.0; width], unpaired: None }
    }

    /// Adds a block by Welford's update (1962, Technometrics 4, 419), which loses no digits to a large mean.
    fn add(&mut self, block: &[f64]) {
        self.count += 1;
        let weight = 1.0 / self.count as f64;
        for ((mean, squared_deviations), value) in
            self.mean.iter_mut().zip(&mut self.squared_deviations).zip(block)
        {
            let before = value - *mean;
            *mean += weight * before;
            *squared_deviations += before * (value - *mean);
        }
    }

    /// Returns the standard error of the mean if the blocks are independent.
    fn error(&self, series: usize) -> f64 {
        let count = self.count as f64;
        if self.count < 2 {
            f64::NAN
        } else {
            (self.squared_deviations[series] / (count * (count - 1.0))).sqrt()
        }
    }
}

/// Returns the estimate of a whole series.
pub fn estimate(values: &[f64]) -> Estimate {
    let mut blocking = Blocking::new(1);
    values.iter().for_each(|value| blocking.push(std::slice::from_ref(value)));
    blocking.estimate(0)
}

/// Returns the index from which a series is best averaged: where the number of independent values after it,
/// n / inefficiency, is largest (Chodera 2016, J. Chem. Theory Comput. 12, 1799). Candidates are multiples
/// of 2 % of the series, up to its middle.
pub fn equilibrated_from(values: &[f64]) -> usize {
    let independent = |start: usize| {
        let estimate = estimate(&values[start..]);
        estimate.values as f64 / estimate.inefficiency
    };
    let starts = (0..=25).map(|k| k * values.len() / 50);
    let rated = starts.map(|start| (start, independent(start))).filter(|(_, rating)| rating.is_finite());
    // the first of equals, which keeps the most values
    rated.fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best }).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Values x' = a x + noise of unit variance: correlation a^|t|, inefficiency (1 + a) / (1 - a).
    fn autoregressive(a: f64, count: usize, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut noise = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let mut x = noise() / (1.0 - a * a).sqrt();
        let mut next = || {
            x = a * x + noise();
            x + 3.0
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn the_error_of_correlated_values_is_the_known_one() {
        for a in [0.0, 0.6, 0.95] {
            let count = 1 << 14;
            let inefficiency = (1.0 + a) / (1.0 - a);
            let exact = (inefficiency / (1.0 - a * a) / count as f64).sqrt();
            let (mut squared_deviations, mut claimed, mut ratio) = (0.0, 0.0, 0.0);
            let runs = 40;
            for seed in 0..runs {
                let found = estimate(&autoregressive(a, count, seed));
                assert!(found.converged && found.values == count as u64);
                assert!((found.standard_error / exact - 1.0).abs() < 0.5, "{a}: {found:?}, {exact}");
                squared_deviations += (found.mean - 3.0).powi(2) / runs as f64;
                claimed += found.standard_error / runs as f64;
                ratio += found.inefficiency / inefficiency / runs as f64;
            }
            // the claimed error on average, and the actual scatter of the means
            assert!((claimed / exact - 1.0).abs() < 0.08, "{a}: {claimed} {exact}");
            assert!((ratio - 1.0).abs() < 0.15, "{a}: {ratio}");
            assert!(
                (squared_deviations.sqrt() / claimed - 1.0).abs() < 0.3,
                "{a}: {} {claimed}",
                squared_deviations.sqrt()
            );
        }
    }

    #[test]
    fn a_series_too_short_for_its_correlation_says_so() {
        let found = estimate(&autoregressive(0.99, 64, 1));
        assert!(!found.converged && found.standard_error > 0.0, "{found:?}");
        assert!(estimate(&[]).mean.is_nan() && estimate(&[2.0]).standard_error.is_nan());
        let still = estimate(&[2.0; 100]);
        assert_eq!((still.mean, still.standard_error, still.inefficiency), (2.0, 0.0, 1.0));
    }

    #[test]
    fn series_side_by_side_are_the_same_as_alone_and_survive_a_restart() {
        let (one, other) = (autoregressive(0.5, 1000, 3), autoregressive(0.8, 1000, 4));
        let mut both = Blocking::new(2);
        for k in 0..1000 {
            if k == 333 {
                let words = both.to_words();
                let again = Blocking::from_words(&mut words.iter().copied(), 2);
                assert_eq!(again.as_ref(), Some(&both));
                both = again.unwrap();
                for damaged in [&words[..words.len() - 1], &words[..1], &[]] {
                    assert!(Blocking::from_words(&mut damaged.iter().copied(), 2).is_none());
                }
                assert!(Blocking::from_words(&mut words.iter().copied(), 3).is_none());
                assert!(Blocking::from_words(&mut [2, u64::MAX].into_iter(), 2).is_none());
            }
            both.push(&[one[k], other[k]]);
        }
        assert_eq!(both.estimate(0), estimate(&one));
        assert_eq!(both.estimate(1), estimate(&other));
    }

    #[test]
    fn the_transient_is_left_out() {
        let mut values = autoregressive(0.5, 2000, 7);
        assert!(equilibrated_from(&values) < 400);
        values[..500]
            .iter_mut()
            .zip(0..)
            .for_each(|(value, k)| *value += 20.0 * (-f64::from(k) / 100.0).exp());
        let from = equilibrated_from(&values);
        assert!((200..700).contains(&from), "{from}");
        assert!((estimate(&values[from..]).mean - 3.0).abs() < 0.3);
    }
}
