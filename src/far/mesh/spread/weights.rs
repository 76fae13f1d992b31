//! Weights of a vector of particles.

use super::locate::Located;
use super::scalar::{GROUP, SpreadScalar};
use crate::far::mesh::Window;
use crate::far::mesh::window::MOST_ORDER;
use crate::simd::Lanes;
use crate::simd::real::Real;
use crate::simd::records::QUAD;
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

/// Zeros before and after the weights of a particle: the largest offset in a tile is below.
pub const PADDING: usize = QUAD;

/// Weights of a particle with zeros around them.
const PADDED: usize = PADDING + MOST_ORDER + PADDING;

/// Weights of a group for spreading.
pub struct SpreadWeights<S> {
    /// Value times weight in x, per point and particle.
    pub x: [[S; GROUP]; MOST_ORDER],
    /// Weights in y per particle. The first one is at [`PADDING`], zeros are around them.
    pub y: [[S; PADDED]; GROUP],
    /// The same in z.
    pub z: [[S; PADDED]; GROUP],
}

impl<S: SpreadScalar> SpreadWeights<S> {
    /// No weights.
    pub fn new() -> Self {
        let padded = [[S::default(); PADDED]; GROUP];
        SpreadWeights { x: [[S::default(); GROUP]; MOST_ORDER], y: padded, z: padded }
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
        for lanes in (0..GROUP).step_by(S::LANES) {
            let [x, y, z] = &located.fraction;
            let x = polynomials.weights::<T, ORDER>(token, &x[begin + lanes..]);
            let y = polynomials.weights::<T, ORDER>(token, &y[begin + lanes..]);
            let z = polynomials.weights::<T, ORDER>(token, &z[begin + lanes..]);
            let value = S::Lanes::<T>::load(token, &rounded[lanes..][..S::LANES]);
            for k in 0..ORDER {
                (x[k] * value).store(&mut self.x[k][lanes..][..S::LANES]);
            }
            S::transpose(y, &mut self.y[lanes..].as_flattened_mut()[PADDING..], PADDED);
            S::transpose(z, &mut self.z[lanes..].as_flattened_mut()[PADDING..], PADDED);
        }
    }
}
