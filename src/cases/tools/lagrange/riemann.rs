//! Approximate Riemann problem in which both waves are shocks (Colella 1982; Colella & Woodward 1984, eq.
//! 2.6). A weak rarefaction differs from a weak shock in third order only.

use crate::cases::tools::profile::State;

/// Newton iterations, from the larger of the acoustic and the strong-shock estimate.
const ITERATIONS: usize = 2;
/// Smallest pressure at a face, over the smaller of the two sides.
const LEAST: f64 = 1e-6;

/// Returns pressure and velocity of the contact between two states. Without branches, so that loops over
/// faces vectorize.
#[inline(always)]
pub(super) fn contact(left: State, right: State, gamma: f64) -> (f64, f64) {
    let closing = left.velocity - right.velocity;
    let impedance = |side: State| (gamma * side.pressure * side.density).sqrt();
    let (wl, wr) = (impedance(left), impedance(right));
    let acoustic = (wr * left.pressure + wl * right.pressure + wl * wr * closing) / (wl + wr);
    // two cold gases: the sum of both velocity jumps, (2 p / ((gamma + 1) density))^(1/2), is `closing`
    let (rl, rr) = (left.density.sqrt(), right.density.sqrt());
    let speed = closing.max(0.0) * rl * rr / (rl + rr);
    let strong = 0.5 * (gamma + 1.0) * speed * speed;
    let least = LEAST * left.pressure.min(right.pressure);
    let mut p = acoustic.max(strong).max(least);
    // mass flux through a shock with the pressure p behind it
    let (ahead, behind) = (0.5 * (gamma - 1.0), 0.5 * (gamma + 1.0));
    let flux = |side: State, p: f64| (side.density * (behind * p + ahead * side.pressure)).sqrt();
    for _ in 0..ITERATIONS {
        // jump of the velocity through a shock, and its derivative
        let jump = |side: State| {
            let flux = flux(side, p);
            let excess = p - side.pressure;
            let derivative = flux * flux - 0.5 * behind * side.density * excess;
            let inverse = 1.0 / flux;
            (excess * inverse, derivative * inverse * inverse * inverse)
        };
        let (jl, jr) = (jump(left), jump(right));
        p = (p - (jl.0 + jr.0 - closing) / (jl.1 + jr.1)).max(least);
    }
    let (wl, wr) = (flux(left, p), flux(right, p));
    let velocity = (wl * left.velocity + wr * right.velocity + left.pressure - right.pressure) / (wl + wr);
    (p, velocity)
}
