//! Switch of the artificial viscosity: large ahead of shocks, small elsewhere.
//!
//! Cullen & Dehnen 2010 in the form of Read & Hayfield 2012: the gradient of the velocity divergence detects
//! a flow that is about to converge.

use crate::faults::{Fault, planted};
use crate::particles::blocks::map_blocks;
use crate::particles::{Field, Particles};

/// Constants of the switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViscositySwitch {
    /// Minimum of alpha (0.05).
    pub minimum: f64,
    /// Maximum of alpha (1).
    pub maximum: f64,
    /// Decay rate of alpha in units of c / h (0.2).
    pub decay: f64,
    /// Whether the target is multiplied by the limiter |div| / (|div| + |curl| + 1e-4 c / h), which
    /// suppresses viscosity in shear flows (Balsara 1995).
    pub limiter: bool,
}

impl Default for ViscositySwitch {
    fn default() -> Self {
        Self { minimum: 0.05, maximum: 1.0, decay: 0.2, limiter: false }
    }
}

/// Inputs of the switch for one particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Smoothing length h.
    pub smoothing_length: f64,
    /// Sound speed c.
    pub sound_speed: f64,
    /// div v.
    pub divergence: f64,
    /// |curl v|.
    pub curl: f64,
    /// |grad div v|.
    pub divergence_gradient: f64,
}

impl ViscositySwitch {
    /// Returns alpha_loc = alpha_max g / (g + h |div v| + 0.05 c) with g = h^2 |grad div v| if div v < 0,
    /// and 0 otherwise; times the limiter if it is on.
    pub fn target(&self, flow: &Flow) -> f64 {
        if flow.divergence >= 0.0 {
            return 0.0;
        }
        let h = flow.smoothing_length;
        let change = h * h * flow.divergence_gradient;
        let sum = change + h * flow.divergence.abs() + 0.05 * flow.sound_speed;
        let target = self.maximum * change / sum;
        if !self.limiter {
            return target;
        }
        let divergence = flow.divergence.abs();
        target * divergence / (divergence + flow.curl + 1e-4 * flow.sound_speed / h)
    }

    /// Returns alpha after a time `dt`. It rises to the target at once, decays to it exponentially, and stays
    /// above the minimum. The relaxation d alpha / dt = (target - alpha) / tau is solved exactly, so any step
    /// length is stable.
    pub fn update(&self, alpha: f64, flow: &Flow, dt: f64) -> f64 {
        if planted(Fault::ViscosityOff) {
            return 0.0;
        }
        if planted(Fault::ViscositySwitchStuck) {
            return self.maximum;
        }
        let floor = self.target(flow).max(self.minimum);
        if floor >= alpha {
            return floor;
        }
        let rate = self.decay * flow.sound_speed / flow.smoothing_length;
        floor + (alpha - floor) * (-dt * rate).exp()
    }

    /// Updates the owned rows after a step of length `dt`. Reads smoothing length, sound speed, velocity
    /// divergence and curl, and the gradient of the divergence.
    pub fn update_all(&self, particles: &mut Particles, dt: f64) {
        let wanted = [
            (Field::SmoothingLength, 0),
            (Field::SoundSpeed, 0),
            (Field::VelocityDivergence, 0),
            (Field::VelocityCurl, 0),
            (Field::DivergenceGradient, 0),
            (Field::DivergenceGradient, 1),
            (Field::DivergenceGradient, 2),
            (Field::Viscosity, 0),
        ];
        map_blocks(particles, wanted, |piece| {
            let [length, sound, divergence, curl, x, y, z, alpha] = piece.columns;
            for (k, alpha) in alpha.iter_mut().enumerate() {
                let flow = Flow {
                    smoothing_length: length[k],
                    sound_speed: sound[k],
                    divergence: divergence[k],
                    curl: curl[k],
                    divergence_gradient: (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt(),
                };
                *alpha = self.update(*alpha, &flow, dt);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STILL: Flow = Flow {
        smoothing_length: 0.1,
        sound_speed: 2.0,
        divergence: 0.0,
        curl: 0.0,
        divergence_gradient: 0.0,
    };

    #[test]
    fn rises_at_once_before_a_shock() {
        let switch = ViscositySwitch::default();
        let flow = Flow { divergence: -1.0, divergence_gradient: 1e4, ..STILL };
        let alpha = switch.update(0.05, &flow, 1e-9);
        assert!((alpha - 100.0 / (100.0 + 0.1 + 0.1)).abs() < 1e-12, "{alpha}");
        // no viscosity in an expanding flow with the same gradient
        assert_eq!(switch.target(&Flow { divergence: 1.0, ..flow }), 0.0);
    }

    #[test]
    fn decays_to_the_minimum() {
        let switch = ViscositySwitch::default();
        // tau = 0.1 / (0.2 * 2) = 0.25.
        let alpha = switch.update(1.0, &STILL, 0.25);
        assert!((alpha - (0.05 + 0.95 * (-1.0f64).exp())).abs() < 1e-12, "{alpha}");
        assert!((switch.update(1.0, &STILL, 1e3) - 0.05).abs() < 1e-12);
        // two half steps equal one full step
        let twice = switch.update(switch.update(1.0, &STILL, 0.125), &STILL, 0.125);
        assert!((twice - alpha).abs() < 1e-14);
    }

    #[test]
    fn limiter_spares_shear() {
        let shear = Flow { divergence: -0.1, curl: 100.0, divergence_gradient: 1e4, ..STILL };
        let plain = ViscositySwitch::default().target(&shear);
        let limited = ViscositySwitch { limiter: true, ..Default::default() }.target(&shear);
        assert!(limited < 2e-3 * plain, "{limited} {plain}");
    }
}
