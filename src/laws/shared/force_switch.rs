//! Force switch: inverse powers of the distance whose force goes to zero smoothly at the cutoff.

use crate::pair::language::*;

pub use force_switch::*;

/// 1 / r^12 and 1 / r^6 with a force that goes to zero with continuous slope between a radius r_1 and the
/// cutoff (van der Spoel & van Maaren 2006, J. Chem. Theory Comput. 2, 1). The force of each power a = 6, 12
/// is a / r^(a + 1) + A_a x^2 + B_a x^3 with x = max(r - r_1, 0). The energy is its integral, shifted to zero
/// at the cutoff.
#[shared]
pub mod force_switch {
    /// r_1, and per power A, B, and the shift C of the energy.
    struct Switch {
        start: Real,
        a12: Real,
        b12: Real,
        c12: Real,
        a6: Real,
        b6: Real,
        c6: Real,
    }
    /// r times the force, and the energy, of each power.
    struct Powers {
        force12: Real,
        force6: Real,
        energy12: Real,
        energy6: Real,
    }

    /// The switched powers at a distance; r6 is 1 / r^6.
    fn switched(to: Switch, distance: Real, r6: Real) -> Powers {
        let x = (distance - to.start).max(0.0);
        let x2 = x * x;
        let x3 = x2 * x;
        Powers {
            force12: 12.0 * r6 * r6 + (to.a12 * x2 + to.b12 * x3) * distance,
            force6: 6.0 * r6 + (to.a6 * x2 + to.b6 * x3) * distance,
            energy12: r6 * r6 - (to.a12 * (1.0 / 3.0) + to.b12 * 0.25 * x) * x3 - to.c12,
            energy6: r6 - (to.a6 * (1.0 / 3.0) + to.b6 * 0.25 * x) * x3 - to.c6,
        }
    }
}

impl Switch<f64> {
    /// Switches the force off from `start` to `cutoff`.
    pub fn new(start: f64, cutoff: f64) -> Self {
        let width = cutoff - start;
        let coefficients = |power: f64| {
            let scale = power / (cutoff.powf(power + 2.0) * width.powi(2));
            let a = -scale * ((power + 4.0) * cutoff - (power + 1.0) * start);
            let b = scale * ((power + 3.0) * cutoff - (power + 1.0) * start) / width;
            let c = cutoff.powf(-power) - a / 3.0 * width.powi(3) - b / 4.0 * width.powi(4);
            [a, b, c]
        };
        let ([a12, b12, c12], [a6, b6, c6]) = (coefficients(12.0), coefficients(6.0));
        Switch { start, a12, b12, c12, a6, b6, c6 }
    }

    /// No switch: truncates at the cutoff, with an energy jump.
    pub fn truncated(cutoff: f64) -> Self {
        Switch { start: cutoff, a12: 0.0, b12: 0.0, c12: 0.0, a6: 0.0, b6: 0.0, c6: 0.0 }
    }

    /// No switch: shifts the energy to zero at the cutoff.
    pub fn shifted(cutoff: f64) -> Self {
        Switch { c12: cutoff.powi(-12), c6: cutoff.powi(-6), ..Self::truncated(cutoff) }
    }
}
