//! A cell grid of points for work before a domain exists: glass relaxation and first smoothing lengths. The
//! time step never uses it.

use crate::space::Vec3d;

/// Points sorted into cells, in an open region or a periodic cuboid.
pub struct CellGrid {
    lower: Vec3d,
    edge: Vec3d,
    count: [usize; 3],
    period: Option<Vec3d>,
    first: Vec<u32>,
    rows: Vec<u32>,
}

impl CellGrid {
    /// Sorts `points` into cells with edges of at least `edge`. With a `period`, the points lie in the
    /// periodic cuboid from zero to `period`. The number of cells is bounded by about 8 per point, however
    /// far apart the points are.
    pub fn new(points: &[Vec3d], edge: f64, period: Option<Vec3d>) -> Self {
        let (lower, upper) = match period {
            Some(period) => (Vec3d::zeros(), period),
            None => points.iter().fold(
                (Vec3d::repeat(f64::INFINITY), Vec3d::repeat(f64::NEG_INFINITY)),
                |(low, high), point| (low.inf(point), high.sup(point)),
            ),
        };
        let most = ((points.len() as f64).cbrt() * 2.0).ceil().max(1.0);
        let count = [0, 1, 2].map(|d| {
            let cells = ((upper[d] - lower[d]) / edge).floor();
            if cells.is_finite() { cells.clamp(1.0, most) as usize } else { 1 }
        });
        let edges = Vec3d::from_fn(|d, _| ((upper[d] - lower[d]) / count[d] as f64).max(f64::MIN_POSITIVE));
        let mut grid = Self {
            lower,
            edge: edges,
            count,
            period,
            first: vec![0; count.iter().product::<usize>() + 1],
            rows: vec![],
        };
        let cell_of: Vec<usize> = points.iter().map(|point| grid.cell(grid.place(point))).collect();
        for &cell in &cell_of {
            grid.first[cell + 1] += 1;
        }
        for cell in 1..grid.first.len() {
            grid.first[cell] += grid.first[cell - 1];
        }
        let mut next = grid.first.clone();
        grid.rows = vec![0; points.len()];
        for (row, &cell) in cell_of.iter().enumerate() {
            grid.rows[next[cell] as usize] = row as u32;
            next[cell] += 1;
        }
        grid
    }

    fn place(&self, point: &Vec3d) -> [usize; 3] {
        [0, 1, 2]
            .map(|d| (((point[d] - self.lower[d]) / self.edge[d]).max(0.0) as usize).min(self.count[d] - 1))
    }

    fn cell(&self, place: [usize; 3]) -> usize {
        (place[0] * self.count[1] + place[1]) * self.count[2] + place[2]
    }

    /// Calls `visit(row, separation, squared distance)` for every point within `radius` of `center`,
    /// including a point at `center` itself. `separation` is `center` minus the nearest image of the point.
    ///
    /// In a periodic cuboid `radius` must not exceed half the shortest period.
    pub fn for_each(
        &self,
        points: &[Vec3d],
        center: &Vec3d,
        radius: f64,
        mut visit: impl FnMut(usize, Vec3d, f64),
    ) {
        let cell_range = [0, 1, 2].map(|d| {
            let low = ((center[d] - radius - self.lower[d]) / self.edge[d]).floor();
            let high = ((center[d] + radius - self.lower[d]) / self.edge[d]).floor();
            let last = self.count[d] as f64 - 1.0;
            match self.period {
                // Visit each cell once, even if the sphere wraps around the cuboid.
                Some(_) if high - low > last => (0, self.count[d] as i64 - 1),
                Some(_) => (low as i64, high as i64),
                None => (low.clamp(0.0, last) as i64, high.clamp(0.0, last) as i64),
            }
        });
        let wrap = |cell: i64, d: usize| cell.rem_euclid(self.count[d] as i64) as usize;
        // A cell beyond the cuboid is an image of one inside, and so are its points. If the sphere wraps
        // around the cuboid, each cell is visited once, and each point needs its own nearest image.
        let wraps_around =
            [0, 1, 2].iter().any(|&d| cell_range[d].1 - cell_range[d].0 + 1 == self.count[d] as i64);
        let image = |cell: i64, d: usize| match self.period {
            Some(period) => cell.div_euclid(self.count[d] as i64) as f64 * period[d],
            None => 0.0,
        };
        for x in cell_range[0].0..=cell_range[0].1 {
            for y in cell_range[1].0..=cell_range[1].1 {
                for z in cell_range[2].0..=cell_range[2].1 {
                    let cell = self.cell([wrap(x, 0), wrap(y, 1), wrap(z, 2)]);
                    let shift = Vec3d::new(image(x, 0), image(y, 1), image(z, 2));
                    for &row in &self.rows[self.first[cell] as usize..self.first[cell + 1] as usize] {
                        let mut separation = center - points[row as usize];
                        match self.period {
                            Some(period) if wraps_around => {
                                separation -=
                                    separation.component_div(&period).map(f64::round).component_mul(&period);
                            }
                            _ => separation -= shift,
                        }
                        let squared = separation.norm_squared();
                        if squared < radius * radius {
                            visit(row as usize, separation, squared);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn finds_exactly_the_points_within(
            points in prop::collection::vec(prop::array::uniform3(0.0f64..1.0), 1..60),
            edge in 0.05f64..2.0, radius in 0.0f64..0.5, periodic: bool,
        ) {
            let points: Vec<Vec3d> = points.into_iter().map(Vec3d::from).collect();
            let period = periodic.then(|| Vec3d::repeat(1.0));
            let grid = CellGrid::new(&points, edge, period);
            for center in &points {
                let mut found = Vec::new();
                grid.for_each(&points, center, radius, |row, s, squared| found.push((row, s, squared)));
                found.sort_unstable_by_key(|found| found.0);
                let expected: Vec<(usize, Vec3d, f64)> = (0..points.len())
                    .map(|row| {
                        let mut s = center - points[row];
                        if periodic {
                            s -= s.map(f64::round);
                        }
                        (row, s, s.norm_squared())
                    })
                    .filter(|(_, _, squared)| *squared < radius * radius)
                    .collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
