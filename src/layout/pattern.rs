//! Periodic point patterns from which low-noise starts are cut: cubic and hexagonal lattices and the relaxed
//! glass, each given by the points of one cuboid cell.

use super::glass::Tile;
use super::{Arrangement, LatticeKind};
use crate::space::Vec3d;

/// Points per edge of the glass cube that is repeated to fill a large ball.
const GLASS_EDGE: f64 = 16.0;

/// The points of one cuboid cell, repeated in all directions.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Edges of the cell.
    pub cell: Vec3d,
    /// The points in the cell, as fractions of its edges in `[0, 1)`.
    pub points: Vec<Vec3d>,
}

impl Pattern {
    /// A lattice whose cell has edge 1 in the first dimension.
    pub fn lattice(kind: LatticeKind) -> Self {
        let v = Vec3d::new;
        let points = match kind {
            LatticeKind::SimpleCubic => vec![v(0.5, 0.5, 0.5)],
            LatticeKind::BodyCentered => vec![v(0.25, 0.25, 0.25), v(0.75, 0.75, 0.75)],
            LatticeKind::FaceCentered => {
                vec![v(0.25, 0.25, 0.25), v(0.75, 0.75, 0.25), v(0.75, 0.25, 0.75), v(0.25, 0.75, 0.75)]
            }
            // Four sites of the first species, then four of the second.
            LatticeKind::RockSalt => vec![
                v(0.25, 0.25, 0.25),
                v(0.75, 0.75, 0.25),
                v(0.75, 0.25, 0.75),
                v(0.25, 0.75, 0.75),
                v(0.75, 0.25, 0.25),
                v(0.25, 0.75, 0.25),
                v(0.25, 0.25, 0.75),
                v(0.75, 0.75, 0.75),
            ],
            // Two triangular layers; the second is shifted by a third of the cell along y.
            LatticeKind::Hexagonal => vec![
                v(0.25, 1.0 / 12.0, 0.25),
                v(0.75, 7.0 / 12.0, 0.25),
                v(0.25, 5.0 / 12.0, 0.75),
                v(0.75, 11.0 / 12.0, 0.75),
            ],
        };
        Self { cell: kind.edges().into(), points }
    }

    /// The lattice of an arrangement; `None` for other arrangements.
    pub fn lattice_of(arrangement: Arrangement) -> Option<Self> {
        let kind = match arrangement {
            Arrangement::SimpleCubic => LatticeKind::SimpleCubic,
            Arrangement::BodyCentered => LatticeKind::BodyCentered,
            Arrangement::FaceCentered => LatticeKind::FaceCentered,
            Arrangement::Hexagonal => LatticeKind::Hexagonal,
            Arrangement::Glass | Arrangement::Random => return None,
        };
        Some(Self::lattice(kind))
    }

    /// A cube of glass, large enough for a ball of `count` points without repetition, up to 16^3 points.
    /// `noise` is the largest allowed one ([`Tile::noise`]).
    pub fn glass(count: u64, seed: u64, noise: Option<f64>) -> Self {
        let tile = Self::glass_tile(count, seed);
        let points = tile.points(noise).iter().map(|point| point.component_div(&tile.lengths)).collect();
        Self { cell: tile.lengths, points }
    }

    /// The tile of [`Self::glass`].
    pub fn glass_tile(count: u64, seed: u64) -> Tile {
        let edge = (2.0 * count as f64).cbrt().ceil().clamp(5.0, GLASS_EDGE);
        Tile { count: edge.powi(3) as usize, lengths: Vec3d::repeat(edge), seed }
    }

    /// Rescales the pattern to one point per unit volume.
    pub fn normalized(mut self) -> Self {
        self.cell /= (self.cell.product() / self.points.len() as f64).cbrt();
        self
    }

    /// Calls `visit` for the points within `radius` of `center`, relative to it. The order depends only on
    /// pattern and center.
    pub fn for_each_in_ball(&self, center: &Vec3d, radius: f64, mut visit: impl FnMut(Vec3d)) {
        let low = (center - Vec3d::repeat(radius)).component_div(&self.cell).map(f64::floor);
        let high = (center + Vec3d::repeat(radius)).component_div(&self.cell).map(f64::floor);
        let range = |d: usize| low[d] as i64..=high[d] as i64;
        for x in range(0) {
            for y in range(1) {
                for z in range(2) {
                    let corner = Vec3d::new(x as f64, y as f64, z as f64);
                    for point in &self.points {
                        let offset = (corner + point).component_mul(&self.cell) - center;
                        if offset.norm_squared() < radius * radius {
                            visit(offset);
                        }
                    }
                }
            }
        }
    }

    /// The radius about `center` that contains exactly `count` points of the normalized pattern, halfway
    /// between the last point inside and the first outside. Stores only the points of a thin shell.
    ///
    /// `center` must be in general position: no two points are equally far from it.
    pub fn radius_of(&self, center: &Vec3d, count: u64) -> f64 {
        if count == 0 {
            return 0.0;
        }
        let expected = (count as f64 * 3.0 / (4.0 * std::f64::consts::PI)).cbrt();
        // Two spacings cover the fluctuation of the count; only the smallest counts repeat the loop.
        let mut margin = 2.0;
        loop {
            let inner = (expected - margin).max(0.0);
            let mut below = 0u64;
            let mut shell = Vec::new();
            self.for_each_in_ball(center, expected + margin, |offset| {
                let distance = offset.norm();
                if distance < inner {
                    below += 1;
                } else {
                    shell.push(distance);
                }
            });
            shell.sort_unstable_by(f64::total_cmp);
            if below < count && count < below + shell.len() as u64 {
                let last = (count - below - 1) as usize;
                return 0.5 * (shell[last] + shell[last + 1]);
            }
            margin *= 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::cells::CellGrid;

    #[test]
    fn lattices_have_their_neighbors() {
        // Number of nearest neighbors, and their distance in units of the first edge.
        for (kind, neighbors, distance) in [
            (LatticeKind::SimpleCubic, 6, 1.0),
            (LatticeKind::BodyCentered, 8, 0.75f64.sqrt()),
            (LatticeKind::FaceCentered, 12, 0.5f64.sqrt()),
            (LatticeKind::Hexagonal, 12, 1.0),
            (LatticeKind::RockSalt, 6, 0.5),
        ] {
            let pattern = Pattern::lattice(kind);
            assert_eq!(pattern.points.len() as u64, kind.particles_per_cell());
            let period = pattern.cell * 4.0;
            let points: Vec<Vec3d> = (0..64)
                .flat_map(|k| {
                    let corner = Vec3d::new((k / 16) as f64, (k / 4 % 4) as f64, (k % 4) as f64);
                    pattern
                        .points
                        .iter()
                        .map(move |point| (corner + point).component_mul(&pattern.cell))
                        .collect::<Vec<_>>()
                })
                .collect();
            let grid = CellGrid::new(&points, 1.0, Some(period));
            for point in &points {
                let mut near = 0;
                grid.for_each(&points, point, distance * 1.001, |_, _, squared| {
                    near += 1;
                    assert!(squared == 0.0 || squared.sqrt() > distance * 0.999);
                });
                assert_eq!(near, neighbors + 1, "{kind:?}");
            }
        }
    }

    #[test]
    fn balls_have_exactly_the_count() {
        let center = Vec3d::new(0.137, 0.3719, 0.2391);
        for pattern in [Pattern::glass(500, 0, None), Pattern::lattice(LatticeKind::Hexagonal)] {
            let pattern = pattern.normalized();
            for count in [0, 1, 2, 3, 17, 500, 4321] {
                let mut inside = 0;
                pattern.for_each_in_ball(&center, pattern.radius_of(&center, count), |_| inside += 1);
                assert_eq!(inside, count);
            }
        }
    }
}
