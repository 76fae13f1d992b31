//! Plan of external accelerations.

use crate::space::Boundary;
use serde::{Deserialize, Serialize};

/// `[external]`: accelerations that do not come from the particles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExternalPlan {
    /// Acceleration of all particles; 0 along periodic dimensions.
    pub uniform: [f64; 3],
    /// A fixed point mass, if any.
    pub point_mass: Option<PointMassPlan>,
}

/// `[external.point_mass]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointMassPlan {
    /// Mass M, > 0.
    pub mass: f64,
    /// Gravitational constant G, > 0; that of `[gravity]`, if there is one.
    pub constant: f64,
    /// Position.
    pub position: [f64; 3],
    /// Softening length epsilon, >= 0: the potential is -G M / sqrt(r^2 + epsilon^2) (Plummer 1911).
    pub softening: f64,
    /// The distance r of a particle.
    pub distance: Distance,
}

choice! {
    /// Distance of a particle from an external point mass.
    Distance {
        /// From the point.
        Spherical = "spherical",
        /// From the axis through the point along z.
        Cylindrical = "cylindrical",
    }
}

impl ExternalPlan {
    /// Returns message and help if the accelerations do not fit the boundary: their potential would jump at a
    /// periodic face, and the energy would not be conserved.
    pub fn refusal(&self, boundary: [Boundary; 3]) -> Option<(String, String)> {
        let periodic = |d: &usize| boundary[*d] == Boundary::Periodic;
        let names = ["x", "y", "z"];
        if let Some(d) = (0..3).find(|d| periodic(d) && self.uniform[*d] != 0.0) {
            let message = format!(
                "a uniform acceleration along {} in a box that is periodic there: particles would gain energy \
                 without end each time they cross it",
                names[d]
            );
            let help =
                format!("write boundary = \"open\" for {}, or 0 for this component of uniform", names[d]);
            return Some((message, help));
        }
        let across = match self.point_mass?.distance {
            Distance::Spherical => 3,
            Distance::Cylindrical => 2,
        };
        let d = (0..across).find(periodic)?;
        let message =
            format!("a point mass in a box that is periodic along {}: its images have no force", names[d]);
        let help = match (d, across) {
            (2, 3) => "write boundary = \"open\" for z, or distance = \"cylindrical\" for a slab across z",
            _ => "write boundary = \"open\" in [space]",
        };
        Some((message, help.into()))
    }
}
