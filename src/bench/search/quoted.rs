//! The figures of Gross, Koester and Krueger, "Fast and Efficient Nearest Neighbor Search for Particle
//! Simulations", CGVC 2019, tables 1 to 3: milliseconds on a GeForce GTX 1080 Ti, medians of 100 executions.

use crate::device::search::Method;

/// Numbers of particles of the tables.
pub const PARTICLES: [u64; 5] = [1024, 8192, 65_536, 524_288, 4_194_304];

/// Radii of scenes 1 and 2; scene 3 has 0.3 in place of 0.2.
const RADII: [f64; 4] = [0.2, 0.5, 0.8, 1.0];

/// By scene, number of particles and radius: Hoetzlein's, Green's and the paper's own method. Not a number:
/// the row is garbled in print.
#[rustfmt::skip]
#[allow(clippy::approx_constant, reason = "3.14 ms is a time of the paper")]
const MILLISECONDS: [[[[f64; 3]; 4]; 5]; 3] = [
    [
        [[62.84, 3.64, 0.41], [4.2, 1.88, 0.48], [1.15, 1.89, 0.51], [0.73, 1.48, 0.51]],
        [[65.28, 3.88, 1.18], [4.4, 1.92, 1.18], [1.31, 1.94, 1.28], [0.77, 1.63, 1.29]],
        [[64.77, 5.2, 1.78], [4.7, 2.49, 1.92], [1.38, 1.81, 1.97], [0.76, 1.99, 1.99]],
        [[71.02, 13.82, 3.16], [7.61, 4.52, 3.52], [4.0, 3.29, 4.16], [3.47, 3.25, 4.39]],
        [[90.21, 41.12, 17.16], [29.13, 26.27, 24.47], [27.97, 29.55, 31.22], [27.13, 29.25, 35.29]],
    ],
    [
        [[0.18, 1.14, 0.52], [0.25, 0.96, 0.57], [0.24, 1.69, 0.62], [0.26, 1.09, 0.6]],
        [[0.23, 1.62, 1.1], [0.23, 1.0, 1.12], [0.24, 1.42, 1.5], [0.23, 1.05, 1.25]],
        [[0.51, 1.41, 1.76], [0.48, 1.55, 1.89], [0.52, 1.63, 1.94], [0.52, 1.42, 1.96]],
        [[7.45, 8.33, 3.14], [7.47, 8.35, 3.52], [7.48, 8.4, 4.18], [7.5, 8.4, 4.39]],
        [[419.9, 426.09, 17.28], [418.28, 426.14, 24.86], [418.28, 426.26, 31.53], [418.79, 426.23, 35.67]],
    ],
    [
        [[148.72, 6.24, 0.47], [32.19, 2.59, 0.52], [7.92, 1.29, 0.46], [4.13, 1.66, 0.49]],
        [[152.71, 6.37, 1.1], [33.43, f64::NAN, f64::NAN], [8.25, 1.74, 1.22], [4.27, 1.7, 1.23]],
        [[154.82, 8.07, 1.75], [33.98, 4.28, 1.83], [8.89, 2.98, 1.9], [4.72, 2.48, 1.91]],
        [[160.1, 18.52, 3.12], [38.11, 10.47, 3.2], [11.27, 5.51, 3.31], [7.07, 4.49, 3.49]],
        [[186.09, 55.21, 15.57], [58.6, 30.2, 18.03], [32.7, 26.22, 21.62], [29.0, 26.43, 23.87]],
    ],
];

/// A scene of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scene {
    /// Its number.
    pub number: u64,
    /// Edge of the cube.
    pub edge: f64,
    /// Whether the compared methods have the coarse cells of the paper's method, 18 per dimension, in place
    /// of cells of twice the radius.
    pub coarse: bool,
}

impl Scene {
    /// A scene by number, from 1 to 3.
    pub fn numbered(number: u64) -> Self {
        Self { number, edge: if number == 3 { 360.0 } else { 180.0 }, coarse: number == 2 }
    }

    /// The radii of the paper.
    pub fn radii(self) -> [f64; 4] {
        let [_, others @ ..] = RADII;
        [if self.number == 3 { 0.3 } else { RADII[0] }, others[0], others[1], others[2]]
    }

    /// The paper's time (ms) of a method, if it has the row.
    pub fn quoted(self, radius: f64, particles: u64, method: Method) -> Option<f64> {
        let scene = MILLISECONDS.get(usize::try_from(self.number).ok()?.checked_sub(1)?)?;
        let row = &scene[PARTICLES.iter().position(|&count| count == particles)?];
        let at = self.radii().iter().position(|&listed| (listed - radius).abs() < 1e-9)?;
        let column = match method {
            Method::CountingGrid => 0,
            Method::SortedGrid => 1,
            Method::TwoLevel => 2,
        };
        Some(row[at][column]).filter(|time| time.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_row_and_method() {
        let [one, two, three] = [1, 2, 3].map(Scene::numbered);
        assert_eq!(one.quoted(1.0, 4_194_304, Method::TwoLevel), Some(35.29));
        assert_eq!(one.quoted(0.2, 1024, Method::CountingGrid), Some(62.84));
        assert_eq!(two.quoted(0.8, 65_536, Method::SortedGrid), Some(1.63));
        assert_eq!(three.quoted(0.3, 4_194_304, Method::TwoLevel), Some(15.57));
        assert_eq!(three.quoted(0.2, 4_194_304, Method::TwoLevel), None);
        assert_eq!(three.quoted(0.5, 8192, Method::SortedGrid), None);
        assert_eq!(one.quoted(0.5, 1000, Method::SortedGrid), None);
    }
}
