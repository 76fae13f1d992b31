//! The function that spreads a particle onto mesh points: cardinal B-splines as polynomials.
//!
//! A window of order p is nonzero on p cells. Its weight of the k-th of a particle's p points is a
//! polynomial of degree p - 1 in the fraction of the particle's cell. All code that spreads or interpolates
//! takes the polynomials from here, so that other windows need another table only.

use std::f64::consts::TAU;
use std::ops::RangeInclusive;

/// The largest order.
pub const MOST_ORDER: usize = 8;

/// Orders of the B-splines.
pub const ORDERS: RangeInclusive<usize> = 4..=MOST_ORDER;

/// A separable window: p polynomials of degree p - 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    order: usize,
    /// Coefficient of `f^power` of the weight of each point, lowest point first.
    coefficients: [[f64; MOST_ORDER]; MOST_ORDER],
}

impl Window {
    /// The cardinal B-spline M_p (Essmann et al. 1995, J. Chem. Phys. 103, 8577, equation 4.1). The recursion
    /// M_n(x) = (x M_(n-1)(x) + (n - x) M_(n-1)(x - 1)) / (n - 1) is applied to the polynomials of its pieces.
    ///
    /// # Panics
    /// If the order is not in [`ORDERS`].
    pub fn b_spline(order: usize) -> Self {
        assert!(ORDERS.contains(&order), "B-splines of order {order}");
        // pieces[k][power]: M_n(f + k)
        let mut pieces = [[0.0; MOST_ORDER]; MOST_ORDER];
        pieces[0][0] = 1.0;
        for n in 2..=order {
            let mut next = [[0.0; MOST_ORDER]; MOST_ORDER];
            for k in 0..n {
                for power in 0..n - 1 {
                    let mut add = |factor: [f64; 2], of: [f64; MOST_ORDER]| {
                        next[k][power] += factor[0] * of[power] / (n - 1) as f64;
                        next[k][power + 1] += factor[1] * of[power] / (n - 1) as f64;
                    };
                    if k < n - 1 {
                        add([k as f64, 1.0], pieces[k]);
                    }
                    if k > 0 {
                        add([(n - k) as f64, -1.0], pieces[k - 1]);
                    }
                }
            }
            pieces = next;
        }
        let mut coefficients = [[0.0; MOST_ORDER]; MOST_ORDER];
        for (point, of_point) in coefficients.iter_mut().enumerate().take(order) {
            *of_point = pieces[order - 1 - point];
        }
        Window { order, coefficients }
    }

    /// The order p: number of points per dimension.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Coefficients by ascending power of the weight of each of the p points.
    pub fn coefficients(&self) -> &[[f64; MOST_ORDER]] {
        &self.coefficients[..self.order]
    }

    /// Coefficients of the derivatives of the weights with respect to the fraction.
    pub fn derivative_coefficients(&self) -> [[f64; MOST_ORDER]; MOST_ORDER] {
        self.coefficients.map(|weight| {
            let mut derivative = [0.0; MOST_ORDER];
            for power in 1..MOST_ORDER {
                derivative[power - 1] = power as f64 * weight[power];
            }
            derivative
        })
    }

    /// Weights of the p points, lowest first, and their derivatives with respect to the fraction.
    pub fn weights(&self, fraction: f64) -> ([f64; MOST_ORDER], [f64; MOST_ORDER]) {
        let mut found = ([0.0; MOST_ORDER], [0.0; MOST_ORDER]);
        for (point, coefficients) in self.coefficients().iter().enumerate() {
            let (mut value, mut slope) = (0.0, 0.0);
            for coefficient in coefficients[..self.order].iter().rev() {
                slope = slope * fraction + value;
                value = value * fraction + coefficient;
            }
            (found.0[point], found.1[point]) = (value, slope);
        }
        found
    }

    /// `|sum_k w(k) exp(2 pi i m k / points)|^2` of the wave numbers m, with w(k) the window at integers: the
    /// power by which spreading and interpolation together multiply a wave (Essmann et al. 1995, equation
    /// 4.8). Where it vanishes (odd orders at m = points / 2), the mean of its neighbors takes its place.
    pub fn response(&self, points: usize) -> Vec<f64> {
        let at = |m: usize| {
            let (mut real, mut imaginary) = (0.0, 0.0);
            for (k, coefficients) in self.coefficients().iter().enumerate() {
                let angle = TAU * ((m * k) % points) as f64 / points as f64;
                real += coefficients[0] * angle.cos();
                imaginary += coefficients[0] * angle.sin();
            }
            real * real + imaginary * imaginary
        };
        let mut response: Vec<f64> = (0..points).map(at).collect();
        for m in 0..points {
            if response[m] < 1e-10 {
                response[m] = 0.5 * (at((m + points - 1) % points) + at((m + 1) % points));
            }
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B-splines have a unit sum, and M_n' (x) = M_(n-1)(x) - M_(n-1)(x - 1).
    #[test]
    fn weights_sum_to_one_and_derivatives_are_differences() {
        for order in ORDERS {
            let window = Window::b_spline(order);
            for k in 0..=20 {
                let fraction = f64::from(k) / 20.0;
                let (weights, slopes) = window.weights(fraction);
                assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{order} {fraction}");
                assert!(weights.iter().all(|&weight| weight > -1e-16));
                if order > *ORDERS.start() {
                    let lower = Window::b_spline(order - 1).weights(fraction).0;
                    for point in 0..order {
                        // point j of order n is M_n(f + n - 1 - j); point j - 1 of order n - 1 the same argument
                        let here = if point > 0 { lower[point - 1] } else { 0.0 };
                        let before = if point < order - 1 { lower[point] } else { 0.0 };
                        assert!((slopes[point] - (here - before)).abs() < 1e-13, "{order} {point}");
                    }
                }
            }
        }
    }

    #[test]
    fn weights_of_order_four_are_those_of_the_cubic_spline() {
        let (weights, _) = Window::b_spline(4).weights(0.0);
        for (weight, expected) in weights.iter().zip([1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0, 0.0]) {
            assert!((weight - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn responses_are_one_at_zero_and_positive() {
        for order in ORDERS {
            for points in [order, 9, 16, 31] {
                let response = Window::b_spline(order).response(points);
                assert!((response[0] - 1.0).abs() < 1e-14 && response.iter().all(|&value| value > 1e-10));
                for m in 1..points {
                    assert!((response[m] / response[points - m] - 1.0).abs() < 1e-9, "{order} {points} {m}");
                }
            }
        }
    }
}
