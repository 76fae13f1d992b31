//! Ordinary differential equations.

/// One step of length `step` of the classical Runge-Kutta method of fourth order for y' = f(x, y).
pub fn runge_kutta<const N: usize>(
    slope: impl Fn(f64, &[f64; N]) -> [f64; N],
    at: f64,
    values: &[f64; N],
    step: f64,
) -> [f64; N] {
    let moved = |by: f64, slope: &[f64; N]| std::array::from_fn(|k| values[k] + by * slope[k]);
    let first = slope(at, values);
    let second = slope(at + 0.5 * step, &moved(0.5 * step, &first));
    let third = slope(at + 0.5 * step, &moved(0.5 * step, &second));
    let fourth = slope(at + step, &moved(step, &third));
    std::array::from_fn(|k| values[k] + step / 6.0 * (first[k] + 2.0 * (second[k] + third[k]) + fourth[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y' = y cos x, y = exp(sin x).
    #[test]
    fn an_equation_is_integrated_to_fourth_order() {
        let error = |steps: u32| {
            let step = 3.0 / f64::from(steps);
            let slope = |x: f64, [y]: &[f64; 1]| [y * x.cos()];
            let mut values = [1.0];
            for k in 0..steps {
                values = runge_kutta(slope, f64::from(k) * step, &values, step);
            }
            (values[0] - 3f64.sin().exp()).abs()
        };
        let order = (error(40) / error(80)).log2();
        assert!((order - 4.0).abs() < 0.3 && error(80) < 1e-6, "{order}");
    }
}
