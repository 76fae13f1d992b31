//! Weights of a vector of particles.

use super::locate::Located;
use super::scalar::{GROUP, SpreadScalar};
use crate::far::mesh::Window;
use crate::far::mesh::window::MOST_ORDER;
use crate::simd::Lanes;
use crate::simd::real::Real;
use fearless_simd::Simd;

/// The window's polynomials in the mesh's precision: coefficients by ascending power.
pub struct Polynomials<S>([[S; MOST_ORDER]; MOST_ORDER]);

impl<S: SpreadScalar> Polynomials<S> {
    /// Rounds the window's coefficients.
    pub fn of(window: &Window) -> Self {
        let mut polynomials = [[S::default(); MOST_ORDER]; MOST_ORDER];
        for (rounded, exact) in polynomials.iter_mut().zip(window.coefficients()) {
            *rounded = exact.map(S::from_f64);
        }
        Polynomials(polynomials)
    }

    /// Weights at the fractions of `LANES` particles; zero beyond the order.
    #[inline(always)]
    pub fn weights<T: Simd, const ORDER: usize>(
        &self,
        token: T,
        fractions: &[S],
    ) -> [S::Lanes<T>; MOST_ORDER] {
        let fraction = S::Lanes::<T>::load(token, &fractions[..S::LANES]);
        let mut weights = [S::Lanes::<T>::literal(token, 0.0); MOST_ORDER];
        for k in 0..ORDER {
            let mut weight = S::Lanes::<T>::broadcast(token, self.0[k][ORDER - 1]);
            for power in (0..ORDER - 1).rev() {
                weight = weight.mul_add(fraction, S::Lanes::<T>::broadcast(token, self.0[k][power]));
            }
            weights[k] = weight;
        }
        weights
    }

    /// The same, and the derivatives with respect to the fraction.
    #[inline(always)]
    pub fn weights_and_slopes<T: Simd, const ORDER: usize>(
        &self,
        token: T,
        fractions: &[S],
    ) -> [[S::Lanes<T>; MOST_ORDER]; 2] {
        let fraction = S::Lanes::<T>::load(token, &fractions[..S::LANES]);
        let zero = S::Lanes::<T>::literal(token, 0.0);
        let (mut weights, mut slopes) = ([zero; MOST_ORDER], [zero; MOST_ORDER]);
        for k in 0..ORDER {
            let mut slope = S::Lanes::<T>::broadcast(token, self.0[k][ORDER - 1]);
            let mut weight = slope.mul_add(fraction, S::Lanes::<T>::broadcast(token, self.0[k][ORDER - 2]));
            for power in (0..ORDER - 2).rev() {
                slope = slope.mul_add(fraction, weight);
                weight = weight.mul_add(fraction, S::Lanes::<T>::broadcast(token, self.0[k][power]));
            }
            (weights[k], slopes[k]) = (weight, slope);
        }
        [weights, slopes]
    }
}

/// Length of [`SpreadWeights::rows`]: two vectors of at most [`GROUP`] values per particle, and one more.
const ROWS: usize = (2 * GROUP + 1) * GROUP;

/// Weights of a group for spreading.
pub struct SpreadWeights<S> {
    /// Value times weights in x and y of row (i, j), per particle: at `[i * order + j][particle]`.
    pub factors: [[S; GROUP]; MOST_ORDER * MOST_ORDER],
    /// Weights in z. Those of a particle begin at `(2 * particle + 1) * LANES`, zeros around them, so that a
    /// vector loaded `shift` values before has them in lanes `shift` and following.
    pub rows: [S; ROWS],
}

impl<S: SpreadScalar> SpreadWeights<S> {
    /// No weights.
    pub fn new() -> Self {
        SpreadWeights {
            factors: [[S::default(); GROUP]; MOST_ORDER * MOST_ORDER],
            rows: [S::default(); ROWS],
        }
    }

    /// Computes the weights of a group. Particles beyond `values` have a value of zero.
    #[inline(always)]
    pub fn compute<T: Simd, const ORDER: usize>(
        &mut self,
        token: T,
        polynomials: &Polynomials<S>,
        located: &Located<S>,
        begin: usize,
        values: &[f64],
    ) {
        let mut rounded = [S::default(); GROUP];
        rounded.iter_mut().zip(values).for_each(|(rounded, value)| *rounded = S::from_f64(*value));
        for part in 0..GROUP / S::LANES {
            let lanes = part * S::LANES;
            let [x, y, z] = &located.fraction;
            let x = polynomials.weights::<T, ORDER>(token, &x[begin + lanes..]);
            let y = polynomials.weights::<T, ORDER>(token, &y[begin + lanes..]);
            let z = polynomials.weights::<T, ORDER>(token, &z[begin + lanes..]);
            let value = S::Lanes::<T>::load(token, &rounded[lanes..][..S::LANES]);
            for i in 0..ORDER {
                let factor = x[i] * value;
                for j in 0..ORDER {
                    (factor * y[j]).store(&mut self.factors[i * ORDER + j][lanes..][..S::LANES]);
                }
            }
            S::transpose(z, &mut self.rows[(2 * lanes + 1) * S::LANES..], 2 * S::LANES);
        }
    }
}
