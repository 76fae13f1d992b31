//! Multipole moments of octree nodes about their center of mass, up to the octupole.
#![allow(clippy::needless_range_loop, reason = "an index names the component of several vectors at once")]

/// Mass moments of a set of particles about its center of mass, and bounds of the set.
///
/// The moments are raw (not traceless), because the expansion of a Plummer-softened potential needs the
/// traces: `second[ab] = sum m y_a y_b`, `third[abc] = sum m y_a y_b y_c`, with y the position relative to
/// `center`. The dipole about the center of mass is zero. All sums are in double precision.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Moments {
    /// Number of particles (an integer).
    pub count: f64,
    /// Total mass.
    pub mass: f64,
    /// Center of mass, or center of the box if the mass is zero.
    pub center: [f64; 3],
    /// Second moments: xx xy xz yy yz zz.
    pub second: [f64; 6],
    /// Third moments: xxx xxy xxz xyy xyz xzz yyy yyz yzz zzz.
    pub third: [f64; 10],
    /// Upper bound of the particles' distances from `center`.
    pub radius: f64,
    /// Lower corner of the tight box of the particles.
    pub lower: [f64; 3],
    /// Upper corner of the tight box of the particles.
    pub upper: [f64; 3],
}

/// Component pairs of a symmetric second-rank tensor, in storage order.
pub const PAIRS: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];
/// Component triples of a symmetric third-rank tensor, in storage order.
pub const TRIPLES: [[usize; 3]; 10] = [
    [0, 0, 0],
    [0, 0, 1],
    [0, 0, 2],
    [0, 1, 1],
    [0, 1, 2],
    [0, 2, 2],
    [1, 1, 1],
    [1, 1, 2],
    [1, 2, 2],
    [2, 2, 2],
];

/// Storage index of component (a, b) of a symmetric second-rank tensor.
const INDEX: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];

/// Factor that rounds radii up, so that they are bounds in floating point too.
const ROUND_UP: f64 = 1.0 + 1e-12;

impl Moments {
    /// Computes the moments of particles `[x, y, z, mass]`. All zero if there are none.
    pub fn of_particles(particles: &[[f64; 4]]) -> Self {
        let Some(first) = particles.first() else { return Self::default() };
        let mut moments = Moments { count: particles.len() as f64, ..Default::default() };
        // Sums are relative to the first particle: this avoids cancellation far from the origin.
        let origin = [first[0], first[1], first[2]];
        let mut weighted = [0.0; 3];
        moments.lower = origin;
        moments.upper = origin;
        for particle in particles {
            moments.mass += particle[3];
            for d in 0..3 {
                weighted[d] += particle[3] * (particle[d] - origin[d]);
                moments.lower[d] = moments.lower[d].min(particle[d]);
                moments.upper[d] = moments.upper[d].max(particle[d]);
            }
        }
        moments.center = moments.centroid(origin, weighted);
        for particle in particles {
            let y = [0, 1, 2].map(|d| particle[d] - moments.center[d]);
            moments.radius = moments.radius.max(dot(y, y));
            moments.add_point(y, particle[3]);
        }
        moments.radius = moments.radius.sqrt() * ROUND_UP;
        moments
    }

    /// Computes the moments of a union of disjoint sets: one step of the upward pass.
    pub fn merged(children: &[Moments]) -> Self {
        let Some(first) = children.iter().find(|child| child.count > 0.0) else { return Self::default() };
        let mut moments = Moments { lower: first.lower, upper: first.upper, ..Default::default() };
        let mut weighted = [0.0; 3];
        let nonempty = || children.iter().filter(|child| child.count > 0.0);
        for child in nonempty() {
            moments.count += child.count;
            moments.mass += child.mass;
            for d in 0..3 {
                weighted[d] += child.mass * (child.center[d] - first.center[d]);
                moments.lower[d] = moments.lower[d].min(child.lower[d]);
                moments.upper[d] = moments.upper[d].max(child.upper[d]);
            }
        }
        moments.center = moments.centroid(first.center, weighted);
        let mut sphere_bound: f64 = 0.0;
        for child in nonempty() {
            let shift = [0, 1, 2].map(|d| child.center[d] - moments.center[d]);
            sphere_bound = sphere_bound.max(dot(shift, shift).sqrt() + child.radius);
            for k in 0..6 {
                moments.second[k] += child.second[k];
            }
            for (k, [a, b, c]) in TRIPLES.into_iter().enumerate() {
                moments.third[k] += child.third[k]
                    + child.second[INDEX[a][b]] * shift[c]
                    + child.second[INDEX[a][c]] * shift[b]
                    + child.second[INDEX[b][c]] * shift[a];
            }
            moments.add_point(shift, child.mass);
        }
        // Two bounds on the farthest particle: the children's spheres, and the farthest corner of the tight
        // box.
        let corner = [0, 1, 2].map(|d| {
            (moments.upper[d] - moments.center[d]).abs().max((moments.center[d] - moments.lower[d]).abs())
        });
        moments.radius = sphere_bound.min(dot(corner, corner).sqrt()) * ROUND_UP;
        moments
    }

    /// Returns the center of mass from the mass-weighted sum of positions relative to `origin`.
    fn centroid(&self, origin: [f64; 3], weighted: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|d| {
            if self.mass > 0.0 {
                // clamp: rounding must not move the center out of the box, e.g. if all particles coincide
                (origin[d] + weighted[d] / self.mass).clamp(self.lower[d], self.upper[d])
            } else {
                0.5 * (self.lower[d] + self.upper[d])
            }
        })
    }

    /// Adds a point mass at `y` relative to the center to the second and third moments.
    #[inline]
    fn add_point(&mut self, y: [f64; 3], mass: f64) {
        for (k, [a, b]) in PAIRS.into_iter().enumerate() {
            self.second[k] += mass * y[a] * y[b];
        }
        for (k, [a, b, c]) in TRIPLES.into_iter().enumerate() {
            self.third[k] += mass * y[a] * y[b] * y[c];
        }
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn particle() -> impl Strategy<Value = [f64; 4]> {
        [-1.0..1.0, -1.0..1.0, 3.0..4.0, 0.1..2.0f64]
    }

    proptest! {
        #[test]
        fn merged_parts_are_the_whole(parts in prop::collection::vec(prop::collection::vec(particle(), 0..9), 1..9)) {
            let whole = Moments::of_particles(&parts.concat());
            let pieces: Vec<Moments> = parts.iter().map(|part| Moments::of_particles(part)).collect();
            let merged = Moments::merged(&pieces);
            prop_assert_eq!(whole.count, merged.count);
            prop_assert_eq!((whole.lower, whole.upper), (merged.lower, merged.upper));
            prop_assert!((whole.mass - merged.mass).abs() < 1e-12);
            for d in 0..3 { prop_assert!((whole.center[d] - merged.center[d]).abs() < 1e-13); }
            for k in 0..6 { prop_assert!((whole.second[k] - merged.second[k]).abs() < 1e-11); }
            for k in 0..10 { prop_assert!((whole.third[k] - merged.third[k]).abs() < 1e-10); }
            prop_assert!(merged.radius >= whole.radius - 1e-12);
            for p in parts.concat() {
                let y = [0, 1, 2].map(|d| p[d] - merged.center[d]);
                prop_assert!(dot(y, y).sqrt() <= merged.radius);
            }
        }
    }

    #[test]
    fn nothing_one_point_and_massless() {
        assert_eq!(Moments::of_particles(&[]), Moments::default());
        let point = Moments::of_particles(&[[0.3, 0.1, 0.7, 0.1]; 30]);
        assert_eq!((point.center, point.radius), ([0.3, 0.1, 0.7], 0.0));
        let massless = Moments::of_particles(&[[0.0; 4], [2.0, 0.0, 0.0, 0.0]]);
        assert_eq!(massless.center, [1.0, 0.0, 0.0]);
        assert!(massless.radius >= 1.0 && massless.mass == 0.0);
    }
}
