//! Pair energies that no law spells out: formulas and tables of a deck.
//!
//! Processors evaluate them as piecewise polynomials of the squared distance, fitted at the start of a run. A
//! device evaluates C++ that is compiled with its kernels.

mod fit;

pub use fit::{FitErrors, RadialFunction};

use super::device_text;
use crate::simd::piecewise::{Intervals, Piecewise};
use crate::simd::real::Real;
use fit::fitted_polynomials;
use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_64;

/// Energy of a pair as a function of its distance, for each pair of species.
#[derive(Clone, Copy, Debug)]
pub struct RadialEnergy<R> {
    fitted: &'static Fitted,
    /// 1 / breakpoint^2.
    scale: R,
}

/// V and dV/d(r^2).
#[derive(Clone, Copy, Debug)]
pub struct RadialValue<R> {
    /// Energy.
    pub value: R,
    /// Derivative with respect to the squared distance.
    pub slope: R,
}

/// The polynomials of a [`RadialEnergy`] and its C++.
#[derive(Debug)]
struct Fitted {
    polynomials: Piecewise,
    kinds: usize,
    /// Name of the C++ function, and its definition.
    device: [String; 2],
}

impl RadialEnergy<f64> {
    /// Fits polynomials. `device` is the C++ name of a function of both species and the squared distance that
    /// returns `RadialValue`, and its definition; `None`: devices evaluate the polynomials too.
    ///
    /// The polynomials stay in memory until the program ends: laws are copied freely and have no lifetime.
    pub fn fit(function: &RadialFunction<'_>, device: Option<[String; 2]>) -> (Self, FitErrors) {
        let (polynomials, errors) = fitted_polynomials(function);
        let scale = function.breakpoint.powi(-2);
        let device = device.unwrap_or_else(|| printed(&polynomials, function.kinds, scale));
        let fitted = Box::leak(Box::new(Fitted { polynomials, kinds: function.kinds, device }));
        (Self { fitted, scale }, errors)
    }

    /// Broadcasts the constants to lanes.
    #[inline(always)]
    pub fn lift<R: Real>(&self, token: R::Token) -> RadialEnergy<R> {
        RadialEnergy { fitted: self.fitted, scale: R::literal(token, self.scale) }
    }

    /// C++ initializer.
    pub fn device_text(&self) -> String {
        format!("RadialEnergy{{{}}}", self.fitted.device[0])
    }

    /// C++ definitions that the initializer needs.
    pub fn device_definitions(&self) -> &'static str {
        &self.fitted.device[1]
    }
}

/// C++ name and definition of a function that evaluates the polynomials of double precision.
fn printed(polynomials: &Piecewise, kinds: usize, scale: f64) -> [String; 2] {
    let Intervals { first_exponent, octaves, bits } = polynomials.double;
    let mut rows = String::new();
    for row in &polynomials.double_rows {
        let _ = writeln!(rows, "    {},", device_text::list(&row.map(device_text::real)));
    }
    let name =
        format!("radial_{:016x}", xxh3_64(format!("{first_exponent} {octaves} {scale} {rows}").as_bytes()));
    let number = if kinds > 1 { "pair_number(i, j)" } else { "0" };
    let definition = format!(
        "__device__ const Real {name}_rows[] = {{\n{rows}}};\n\
         __device__ inline RadialValue {name}(Real i, Real j, Real r2) {{\n    \
         return piecewise({name}_rows, {{{first_exponent}, {octaves}, {bits}}}, {number}, {scale:?}, r2);\n}}\n"
    );
    [name, definition]
}

/// V and dV/d(r^2) of species i and j, integers from 0.
#[inline(always)]
pub fn radial_energy<R: Real>(energy: RadialEnergy<R>, i: R, j: R, r2: R) -> RadialValue<R> {
    // no closure: code that is not certainly inlined loses the target features of its caller
    let number = if energy.fitted.kinds > 1 {
        let (low, high) = (i.min(j), i.max(j));
        let one = R::literal(r2.token(), 1.0);
        Some(R::literal(r2.token(), 0.5) * high * (high + one) + low)
    } else {
        None
    };
    let [value, slope] = (r2 * energy.scale).piecewise(number, &energy.fitted.polynomials);
    RadialValue { value, slope: slope * energy.scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lennard_jones(r2: f64, sigma: f64) -> [f64; 2] {
        let s6 = (sigma * sigma / r2).powi(3);
        [4.0 * s6 * (s6 - 1.0), -12.0 * s6 * (2.0 * s6 - 1.0) / r2]
    }

    fn fit(kinds: usize, energy: &dyn Fn([usize; 2], f64) -> [f64; 2]) -> (RadialEnergy<f64>, FitErrors) {
        let function = RadialFunction { kinds, breakpoint: 2.5, cutoff: 2.5, smallest: 0.0, energy };
        RadialEnergy::fit(&function, None)
    }

    #[test]
    fn energies_and_slopes_are_those_of_the_function() {
        let sigma = |[a, b]: [usize; 2]| 1.0 + 0.1 * (a + 2 * b) as f64;
        let (energy, errors) = fit(3, &|species, r2| lennard_jones(r2, sigma(species)));
        assert!(errors.double < 1e-12 && errors.single < 1e-6, "{errors:?}");
        for k in 0..500 {
            let r = 0.6 + 0.0038 * f64::from(k);
            for (a, b) in [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)] {
                let [value, slope] = lennard_jones(r * r, sigma([a, b]));
                let scale = value.abs() + (r * r * slope).abs();
                for (i, j) in [(a, b), (b, a)] {
                    let found = radial_energy(energy, i as f64, j as f64, r * r);
                    let error = (found.value - value).abs() + r * r * (found.slope - slope).abs();
                    assert!(error < 1e-12 * scale, "{a} {b} {r}: {found:?} {value} {slope}");
                    let lifted = energy.lift::<f32>(());
                    let found = radial_energy(lifted, i as f32, j as f32, (r * r) as f32);
                    assert!((f64::from(found.value) - value).abs() < 3e-6 * scale, "{r}: {found:?} {value}");
                }
            }
        }
    }

    #[test]
    fn the_core_is_continued_linearly() {
        let (energy, _) = fit(1, &|_, r2| lennard_jones(r2, 1.0));
        let at = |r2: f64| radial_energy(energy, 0.0, 0.0, r2).value;
        for k in 0..2000 {
            let r2 = 2e-3 * 1.003f64.powi(k);
            assert!(at(r2).is_finite() && at(r2 * 1.001) < at(r2), "{r2}");
        }
        assert!(
            at(0.0).is_finite() && radial_energy(energy.lift::<f32>(()), 0.0, 0.0, 0.0).slope.is_finite()
        );
    }
}
