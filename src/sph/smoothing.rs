//! The smoothing length: the h of each particle at which its support 2h holds the wanted number of neighbors,
//!
//! ```text
//! (4 pi / 3) (2 h_i)^3 n_i(h_i) = N,    n_i = sum_j W(r_ij, h_i),   so   n_i h_i^3 = 3 N / (32 pi)
//! ```
//!
//! found by Newton's method on ln h, kept inside a bracket (Springel & Hernquist 2002, MNRAS 333, 649;
//! Price 2012, J. Comput. Phys. 231, 759).

/// The value that `n h^3` shall have for `neighbors` particles in the support.
pub fn target(neighbors: f64) -> f64 {
    3.0 * neighbors / (32.0 * std::f64::consts::PI)
}

/// The search for one particle's smoothing length. Invariant: the root lies in `lower..=upper`, or, while `upper` is
/// still the largest allowed length, beyond it.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    lower: f64,
    upper: f64,
    largest: f64,
    bounded: bool,
}

/// What to do with a smoothing length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// The smoothing length is found.
    Found(f64),
    /// Evaluate the number density again at this one.
    Try(f64),
    /// No smoothing length up to the largest allowed one has that many neighbors; this is the largest.
    Beyond(f64),
}

impl Search {
    /// A search among the smoothing lengths up to `largest`.
    pub fn new(largest: f64) -> Self {
        Search { lower: 0.0, upper: largest, largest, bounded: false }
    }

    /// The next step, from the number density `n` and its derivative `slope = dn / d ln h` at `h`. A last Newton step is
    /// taken without another evaluation when the error left by it, of second order, is below `tolerance`.
    pub fn next(&mut self, h: f64, n: f64, slope: f64, target: f64, tolerance: f64) -> Next {
        let ratio = n * h * h * h / target;
        if ratio < 1.0 {
            if h >= self.upper && !self.bounded {
                return Next::Beyond(self.upper);
            }
            self.lower = self.lower.max(h);
        } else {
            (self.upper, self.bounded) = (self.upper.min(h), true);
        }
        // d ln(n h^3) / d ln h: 3 for a homogeneous gas at fixed sum, never far below in practice
        let exponent = 3.0 + slope / n;
        let newton =
            if exponent > 0.3 { h * (-ratio.ln() / exponent).clamp(-0.25, 0.25).exp() } else { f64::NAN };
        let error = ratio - 1.0;
        if error * error < tolerance && newton > 0.0 && newton <= self.upper * 1.01 {
            return Next::Found(newton.min(self.largest));
        }
        if newton > self.lower && newton < self.upper {
            return Next::Try(newton);
        }
        if !self.bounded {
            // never more than doubling: the list must follow
            return Next::Try((2.0 * h).min(self.upper));
        }
        if self.lower == 0.0 {
            return Next::Try(0.5 * h);
        }
        if self.upper <= self.lower * (1.0 + 0.1 * tolerance) {
            return Next::Found(self.upper);
        }
        Next::Try((self.lower * self.upper).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn solve(n: impl Fn(f64) -> f64, start: f64, largest: f64, target: f64) -> (Next, usize) {
        let (mut search, mut h) = (Search::new(largest), start);
        for evaluations in 1..100 {
            let slope = (n(h * 1.000_001) - n(h * 0.999_999)) / 2e-6;
            match search.next(h, n(h), slope, target, 1e-8) {
                Next::Try(next) => h = next,
                end => return (end, evaluations),
            }
        }
        (Next::Try(h), 100)
    }

    proptest! {
        #[test]
        fn a_power_law_density_is_solved_from_any_start(density in 1e-3..1e6f64, power in -2.0..2.0f64, start in 1e-4..1e4f64) {
            let wanted = target(100.0);
            let root = (wanted / density).powf(1.0 / (3.0 + power));
            let (end, evaluations) = solve(|h| density * h.powf(power), start, 1e9, wanted);
            let Next::Found(h) = end else { return Err(TestCaseError::fail(format!("{end:?}"))) };
            prop_assert!((h / root - 1.0).abs() < 1e-6, "{} against {}", h, root);
            prop_assert!(evaluations < 90);
        }
    }

    #[test]
    fn a_good_guess_needs_one_evaluation() {
        let wanted = target(100.0);
        let (end, evaluations) = solve(|_| 1000.0, (wanted / 1000.0).cbrt() * 1.00001, 10.0, wanted);
        assert!(matches!(end, Next::Found(_)));
        assert_eq!(evaluations, 1);
    }

    #[test]
    fn a_lonely_particle_ends_at_the_largest_length() {
        // only itself: n h^3 is constant and too small
        let (end, _) = solve(|h| 0.3 / (h * h * h), 0.01, 2.0, target(100.0));
        assert_eq!(end, Next::Beyond(2.0));
    }
}
