//! Softened point masses: consistent potential and force.

/// Shape of a softened point mass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SofteningKernel {
    /// Plummer sphere: potential -G m / sqrt(r^2 + eps^2). Softer than Newtonian at every distance.
    #[default]
    Plummer,
    /// Mass spread by the cubic spline with support h = 2.8 eps (Monaghan & Lattanzio 1985; potential as in
    /// Springel, Yoshida & White 2001, appendix). Exactly Newtonian beyond h; central potential -G m / eps.
    Spline,
}

/// Support of the spline in units of the softening length. The central potential then equals Plummer's.
pub const SPLINE_SUPPORT: f64 = 2.8;

impl SofteningKernel {
    /// Distance beyond which the multipole expansion is valid: the spline's support. For Plummer 0, because
    /// its expansion is softened too.
    pub fn range(self, softening: f64) -> f64 {
        match self {
            SofteningKernel::Plummer => 0.0,
            SofteningKernel::Spline => SPLINE_SUPPORT * softening,
        }
    }

    /// Minus the potential of a unit mass at distance 0, with G = 1: the self-potential, to be subtracted.
    /// Zero for unsoftened masses, where coincident particles are skipped.
    pub fn central(self, softening: f64) -> f64 {
        if softening > 0.0 { 1.0 / softening } else { 0.0 }
    }

    /// Returns `(phi, f)` of a unit mass with G = 1: the potential is -phi, the acceleration f times the
    /// vector to the source. Zero for coincident unsoftened masses.
    pub fn evaluate(self, distance: f64, softening: f64) -> (f64, f64) {
        let newton = |r: f64| if r > 0.0 { (1.0 / r, 1.0 / (r * r * r)) } else { (0.0, 0.0) };
        match self {
            SofteningKernel::Plummer => newton((distance * distance + softening * softening).sqrt()),
            SofteningKernel::Spline => {
                let support = SPLINE_SUPPORT * softening;
                if distance >= support {
                    return newton(distance);
                }
                let u = distance / support;
                let (phi, force) = if u < 0.5 {
                    (INNER_POTENTIAL.at(u), INNER_FORCE.at(u))
                } else {
                    let inverse = 1.0 / u;
                    (
                        OUTER_POTENTIAL.at(u) + OUTER_POLE_POTENTIAL * inverse,
                        OUTER_FORCE.at(u) + OUTER_POLE_FORCE * inverse * inverse * inverse,
                    )
                };
                (phi / support, force / (support * support * support))
            }
        }
    }
}

/// A polynomial with coefficients in ascending order.
pub(crate) struct Polynomial<const N: usize>(pub [f64; N]);

impl<const N: usize> Polynomial<N> {
    fn at(&self, u: f64) -> f64 {
        self.0.iter().rev().fold(0.0, |sum, coefficient| sum * u + coefficient)
    }
}

// With u = r/h: minus the potential times h / (G m), and the force over the separation times h^3 / (G m).
// Integrals of the cubic spline W = 8/(pi h^3) (1 - 6u^2 + 6u^3 for u < 1/2, 2 (1-u)^3 above).
pub(crate) const INNER_POTENTIAL: Polynomial<6> =
    Polynomial([14.0 / 5.0, 0.0, -16.0 / 3.0, 0.0, 48.0 / 5.0, -32.0 / 5.0]);
pub(crate) const OUTER_POTENTIAL: Polynomial<6> =
    Polynomial([16.0 / 5.0, 0.0, -32.0 / 3.0, 16.0, -48.0 / 5.0, 32.0 / 15.0]);
pub(crate) const OUTER_POLE_POTENTIAL: f64 = -1.0 / 15.0;
pub(crate) const INNER_FORCE: Polynomial<4> = Polynomial([32.0 / 3.0, 0.0, -192.0 / 5.0, 32.0]);
pub(crate) const OUTER_FORCE: Polynomial<4> = Polynomial([64.0 / 3.0, -48.0, 192.0 / 5.0, -32.0 / 3.0]);
pub(crate) const OUTER_POLE_FORCE: f64 = -1.0 / 15.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// The force is minus the derivative of the potential, both are continuous, and the spline contains the
    /// total mass.
    #[test]
    fn force_is_the_potentials_derivative() {
        let softening = 0.3;
        for kernel in [SofteningKernel::Plummer, SofteningKernel::Spline] {
            for k in 1..400 {
                let (r, step) = (f64::from(k) * 0.0031, 1e-5);
                let slope = (kernel.evaluate(r + step, softening).0 - kernel.evaluate(r - step, softening).0)
                    / (2.0 * step);
                let force = kernel.evaluate(r, softening).1 * r;
                assert!((slope + force).abs() < 1e-7, "{kernel:?} {r} {slope} {force}");
            }
            assert!((kernel.evaluate(0.0, softening).0 - kernel.central(softening)).abs() < 1e-14);
        }
        let support = SPLINE_SUPPORT * softening;
        let (phi, force) = SofteningKernel::Spline.evaluate(support * (1.0 - 1e-12), softening);
        assert!((phi * support - 1.0).abs() < 1e-11 && (force * support.powi(3) - 1.0).abs() < 1e-11);
    }
}
