//! The part of a Coulomb energy beside 1/r: a smooth function of the squared distance.

use super::device_text;
use super::radial::RadialValue;
use crate::simd::real::Real;
use std::f64::consts::PI;

/// Numbers of coefficients of the slope's polynomial, of a short and a long series.
const SINGLE: [usize; 2] = [13, 19];
const DOUBLE: [usize; 2] = [20, 31];
/// Most coefficients.
const MOST: usize = DOUBLE[1] + 1;

/// S(r^2) of the energy 1/r + S: linear (a reaction field), or a polynomial of higher degree (the smooth part of
/// an Ewald sum).
#[derive(Clone, Copy, Debug)]
pub struct SmoothPart<R> {
    /// S = constant + linear r^2, without a series.
    constant: R,
    linear: R,
    series: Option<&'static Series>,
}

/// A polynomial of x = scale r^2 - 1 in [-1, 1], coefficients from the highest power down.
#[derive(Debug, PartialEq)]
pub struct Series {
    scale: f64,
    long: bool,
    single: [Coefficients<f32>; 2],
    double: [Coefficients<f64>; 2],
    /// Largest errors of the slope relative to that of 1/r, single and double precision.
    errors: [f64; 2],
}

type Coefficients<T> = [T; MOST];

/// Largest splitting parameter times cutoff: beyond it the series are not accurate.
pub const MOST_SPLIT: f64 = 6.0;
/// The same, of a short series.
const SHORT_SPLIT: f64 = 3.5;

impl SmoothPart<f64> {
    /// S = constant + linear r^2.
    pub fn linear(constant: f64, linear: f64) -> Self {
        SmoothPart { constant, linear, series: None }
    }

    /// S = -erf(splitting r) / r, for distances up to the cutoff. The slope is fitted in Chebyshev polynomials,
    /// and the energy is its integral, so that forces and energies belong together.
    ///
    /// The series stays in memory until the program ends: laws are copied freely and have no lifetime.
    ///
    /// # Panics
    /// If `splitting * cutoff` is not in (0, [`MOST_SPLIT`]].
    pub fn screened(splitting: f64, cutoff: f64) -> Self {
        let reach = splitting * cutoff;
        assert!(reach > 0.0 && reach <= MOST_SPLIT, "a series for {reach}");
        let long = reach > SHORT_SPLIT;
        let half = 0.5 * cutoff * cutoff;
        // slope with respect to x
        let slope = |x: f64| half * screened_slope(splitting, half * (x + 1.0));
        let at_cutoff = -libm::erf(reach) / cutoff;
        let of = |count: usize| {
            let slopes = fit(&slope, count);
            let mut values = [0.0; MOST];
            for power in 0..count {
                values[MOST - 2 - power] = slopes[MOST - 1 - power] / (power + 1) as f64;
            }
            values[MOST - 1] = at_cutoff - values.iter().sum::<f64>();
            [values, slopes]
        };
        let (single, double) = (of(SINGLE[usize::from(long)]), of(DOUBLE[usize::from(long)]));
        let single = single.map(|coefficients| coefficients.map(|coefficient| coefficient as f32));
        let mut series = Series { scale: 1.0 / half, long, single, double, errors: [0.0; 2] };
        series.errors = series.measure_errors(splitting, half);
        let series = Box::leak(Box::new(series));
        SmoothPart { constant: 0.0, linear: 0.0, series: Some(series) }
    }

    /// Largest errors of the force of a pair relative to that of 1/r, single and double precision; zero
    /// without a series.
    pub fn errors(&self) -> [f64; 2] {
        self.series.map_or([0.0; 2], |series| series.errors)
    }

    /// Broadcasts the constants to lanes.
    #[inline(always)]
    pub fn lift<R: Real>(&self, token: R::Token) -> SmoothPart<R> {
        SmoothPart {
            constant: R::literal(token, self.constant),
            linear: R::literal(token, self.linear),
            series: self.series,
        }
    }

    /// C++ initializer.
    pub fn device_text(&self) -> String {
        let [constant, linear] = [self.constant, self.linear].map(device_text::real);
        let Some(series) = self.series else {
            return format!("SmoothPart{{{constant}, {linear}, Real(0.0), 0, {{}}, {{}}}}");
        };
        let [values, slopes] = series.double.map(|c| device_text::list(&c.map(device_text::real)));
        let [single, double] = [SINGLE, DOUBLE].map(|counts| counts[usize::from(series.long)]);
        let scale = device_text::real(series.scale);
        // both precisions have coefficients of their own
        let [single_values, single_slopes] =
            series.single.map(|c| device_text::list(&c.map(|value| device_text::real(f64::from(value)))));
        format!(
            "sizeof(Real) == 4 \
             ? SmoothPart{{{constant}, {linear}, {scale}, {single}, {{{single_values}}}, {{{single_slopes}}}}} \
             : SmoothPart{{{constant}, {linear}, {scale}, {double}, {{{values}}}, {{{slopes}}}}}"
        )
    }
}

impl Series {
    /// Compares both precisions with the function at many distances.
    fn measure_errors(&self, splitting: f64, half: f64) -> [f64; 2] {
        let mut errors = [0f64; 2];
        let counts = [SINGLE, DOUBLE].map(|counts| counts[usize::from(self.long)]);
        for k in 1..=2000 {
            let square = 2.0 * half * f64::from(k) / 2000.0;
            let expected = screened_slope(splitting, square);
            let x = square / half - 1.0;
            let single = self.single[1][MOST - counts[0]..]
                .iter()
                .fold(0f32, |sum, &coefficient| sum.mul_add(x as f32, coefficient));
            let double = self.double[1][MOST - counts[1]..]
                .iter()
                .fold(0.0, |sum, &coefficient| sum * x + coefficient);
            for (error, found) in errors.iter_mut().zip([f64::from(single), double]) {
                // the slope of 1/r with respect to r^2
                let bare = 0.5 * square.powf(-1.5);
                *error = error.max((found / half - expected).abs() / bare);
            }
        }
        errors
    }
}

/// Derivative of -erf(a r) / r with respect to r^2.
fn screened_slope(splitting: f64, square: f64) -> f64 {
    let u = splitting * splitting * square;
    let scale = splitting.powi(3);
    if u < 0.5 {
        // -2 / sqrt(pi) sum (-u)^k / (k! (2 k + 1)), differentiated
        let (mut sum, mut power) = (0.0, 1.0);
        for k in 1..24 {
            power /= f64::from(k);
            sum -= power * f64::from(k) / f64::from(2 * k + 1);
            power *= -u;
        }
        return -scale * 2.0 / PI.sqrt() * sum;
    }
    let root = u.sqrt();
    -scale * ((-u).exp() / (PI.sqrt() * u) - libm::erf(root) / (2.0 * u * root))
}

/// Coefficients of the interpolating polynomial of `count` terms at Chebyshev nodes in [-1, 1], highest power
/// first, at the end of the array.
fn fit(function: &dyn Fn(f64) -> f64, count: usize) -> Coefficients<f64> {
    const NODES: usize = 64;
    let angle = |node: usize| PI * (node as f64 + 0.5) / NODES as f64;
    let values: Vec<f64> = (0..NODES).map(|node| function(angle(node).cos())).collect();
    // ascending powers of the sum, and of the Chebyshev polynomials T_(n-1) and T_n
    let mut sum = [0.0; MOST];
    let (mut before, mut this) = ([0.0; MOST], [0.0; MOST]);
    this[0] = 1.0;
    for n in 0..count {
        let projected: f64 =
            values.iter().enumerate().map(|(node, value)| value * (n as f64 * angle(node)).cos()).sum();
        let coefficient = projected * if n == 0 { 1.0 } else { 2.0 } / NODES as f64;
        for (total, power) in sum.iter_mut().zip(&this) {
            *total += coefficient * power;
        }
        let mut next = [0.0; MOST];
        for power in 0..MOST {
            let raised = if power > 0 { this[power - 1] } else { 0.0 };
            next[power] = if n == 0 { raised } else { 2.0 * raised - before[power] };
        }
        (before, this) = (this, next);
    }
    sum.reverse();
    sum
}

/// Coefficient k of the last `N` of the value's or the slope's polynomial.
#[inline(always)]
fn coefficient<R: Real, const N: usize>(series: &Series, token: R::Token, which: usize, k: usize) -> R {
    let at = MOST - N + k;
    // the compiler removes the conversion of the single coefficient to double and back
    R::literal(token, if R::SINGLE { f64::from(series.single[which][at]) } else { series.double[which][at] })
}

/// Evaluates the last `N` coefficients of both polynomials.
#[inline(always)]
fn evaluate<R: Real, const N: usize>(series: &Series, square: R) -> [R; 2] {
    let token = square.token();
    let x = square.mul_add(R::literal(token, series.scale), R::literal(token, -1.0));
    let (mut value, mut slope) =
        (coefficient::<R, N>(series, token, 0, 0), coefficient::<R, N>(series, token, 1, 0));
    for k in 1..N {
        value = value.mul_add(x, coefficient::<R, N>(series, token, 0, k));
        slope = slope.mul_add(x, coefficient::<R, N>(series, token, 1, k));
    }
    [value, slope * R::literal(token, series.scale)]
}

/// S(r^2) and its derivative with respect to r^2.
#[inline(always)]
pub fn smooth_part<R: Real>(part: SmoothPart<R>, r2: R) -> RadialValue<R> {
    let Some(series) = part.series else {
        return RadialValue { value: r2.mul_add(part.linear, part.constant), slope: part.linear };
    };
    // the polynomial of the energy has one term more
    let [value, slope] = match (R::SINGLE, series.long) {
        (true, false) => evaluate::<R, { SINGLE[0] + 1 }>(series, r2),
        (true, true) => evaluate::<R, { SINGLE[1] + 1 }>(series, r2),
        (false, false) => evaluate::<R, { DOUBLE[0] + 1 }>(series, r2),
        (false, true) => evaluate::<R, { DOUBLE[1] + 1 }>(series, r2),
    };
    RadialValue { value, slope }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(splitting: f64, r: f64) -> f64 {
        if r > 0.0 { -libm::erf(splitting * r) / r } else { -2.0 * splitting / PI.sqrt() }
    }

    #[test]
    fn the_series_is_the_screening_function() {
        let cutoff = 1.3;
        for (reach, single, double) in [
            (1.0, 3e-7, 1e-12),
            (2.0, 5e-7, 1e-12),
            (3.0, 2e-6, 1e-11),
            (3.5, 2e-5, 3e-10),
            (4.5, 3e-6, 1e-11),
            (6.0, 3e-3, 3e-9),
        ] {
            let splitting = reach / cutoff;
            let part = SmoothPart::screened(splitting, cutoff);
            let errors = part.errors();
            assert!(errors[0] < single && errors[1] < double, "{reach}: {errors:?}");
            for k in 0..=1000 {
                let r = cutoff * f64::from(k) / 1000.0;
                let found = smooth_part(part, r * r);
                let value = exact(splitting, r);
                assert!(
                    (found.value - value).abs() < 10.0 * double * splitting,
                    "{reach} {r}: {found:?} {value}"
                );
                let lifted = smooth_part(part.lift::<f32>(()), (r * r) as f32);
                let error = (f64::from(lifted.slope) - found.slope).abs() * 2.0 * r.powi(3);
                assert!(error < 3.0 * single, "{reach} {r} {error}");
            }
        }
    }

    /// The energy's derivative is the slope, exactly as polynomials.
    #[test]
    fn slopes_are_derivatives() {
        let part = SmoothPart::screened(3.1, 1.0);
        for k in 1..100 {
            let square = f64::from(k) / 100.0;
            let step = 1e-5;
            let change = smooth_part(part, square + step).value - smooth_part(part, square - step).value;
            let slope = smooth_part(part, square).slope;
            assert!((change / (2.0 * step) / slope - 1.0).abs() < 1e-7, "{square}");
        }
    }
}
