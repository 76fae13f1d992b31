//! Linked cells: rows sorted into a grid of cells at least as wide as the largest radius, so that all
//! neighbors of a row are in its cell and the cells around it (Hockney and Eastwood 1981, chapter 8).

use super::cell_grid::Grid;
use super::near::check_rows;
use super::{ListBytes, ListRequest, SUPER_CLUSTER};
use crate::Result;
use crate::space::Vec3d;
use rayon::prelude::*;
use std::ops::Range;

/// Cell of a ghost, which is in none.
const NO_CELL: u32 = u32::MAX;

/// Rows per task.
const TASK_ROWS: usize = 8192;

/// Rows, owned and halos but no ghosts, sorted by cell. A sweep tests each owned row against all rows of its
/// own cell and the cells around it. Each pair is found from both sides.
#[derive(Clone, Debug)]
pub struct CellList {
    owned: Range<usize>,
    grid: Grid,
    /// First place of each cell; one more than cells.
    starts: Vec<u32>,
    /// Row of each place: ascending within a cell.
    rows: Vec<u32>,
    /// Cell of each row; [`NO_CELL`] for ghosts.
    cells: Vec<u32>,
    /// Place of each owned row.
    places: Vec<u32>,
    /// Per super-cluster with owned rows, the number of row pairs that a sweep tests.
    costs: Vec<u64>,
}

/// Consecutive places of cells around a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CellRun {
    /// The places.
    pub places: Range<usize>,
    /// Periods to add to the positions of the rows, which are near their cells, so that they are near the
    /// cell in the middle.
    pub shift: [f64; 3],
}

impl CellList {
    /// Builds the list, which is full: `symmetric` of the request is ignored. Halos must be those that both
    /// of two ranks need. It has the same bits for any number of threads.
    ///
    /// # Errors
    /// Those of [`super::ClusterList::build`].
    pub fn build(request: &ListRequest) -> Result<Self> {
        check_rows(request)?;
        let count = request.id.len();
        let radius = |row: usize| if request.ghost(row) { 0.0 } else { request.radius[row] };
        let rows = || (0..count).into_par_iter().with_min_len(TASK_ROWS);
        // The maximum ignores NaN.
        let reach = rows().map(radius).reduce(|| 0.0, f64::max);
        request.bx.check_reach(reach)?;
        let at = |row: usize| Vec3d::from(request.position.map(|column| column[row]));
        let own = |row: usize| (!request.ghost(row)).then(|| at(row));
        let grid = Grid::new(request.bx, extent(rows().filter_map(own)), reach, count);
        let cells: Vec<u32> = rows().map(|row| own(row).map_or(NO_CELL, |at| grid.cell(at) as u32)).collect();
        let (starts, sorted) = sort(&cells, grid.cells());
        let mut places = vec![0; request.owned.len()];
        for (place, &row) in sorted.iter().enumerate() {
            if request.owned.contains(&(row as usize)) {
                places[row as usize - request.owned.start] = place as u32;
            }
        }
        let owned = request.owned.clone();
        let mut list = Self { owned, grid, starts, rows: sorted, cells, places, costs: Vec::new() };
        list.costs = list.count_pairs();
        Ok(list)
    }

    /// Number of row pairs that a sweep tests, per super-cluster with owned rows.
    fn count_pairs(&self) -> Vec<u64> {
        let all = self.owned.start / SUPER_CLUSTER..self.owned.end.div_ceil(SUPER_CLUSTER);
        let count = |(runs, last): &mut (Vec<CellRun>, (u32, u64)), super_cluster: usize| {
            let rows = super_cluster * SUPER_CLUSTER..(super_cluster + 1) * SUPER_CLUSTER;
            let rows = rows.start.max(self.owned.start)..rows.end.min(self.owned.end);
            let mut pairs = 0;
            for cell in self.cells[rows].iter().copied().filter(|cell| *cell != NO_CELL) {
                // Consecutive rows are often in the same cell.
                if cell != last.0 {
                    self.runs(cell as usize, runs);
                    *last = (cell, runs.iter().map(|run| run.places.len() as u64).sum());
                }
                pairs += last.1;
            }
            pairs
        };
        let tasks = all.into_par_iter().with_min_len(16);
        tasks.map_init(|| (Vec::new(), (NO_CELL, 0)), count).collect()
    }

    /// Number of row pairs that a sweep over a super-cluster tests.
    pub(crate) fn cost(&self, super_cluster: usize) -> u64 {
        self.costs[super_cluster - self.owned.start / SUPER_CLUSTER]
    }

    /// Replaces `runs` by the runs of places of the cells around a cell, itself included, in order. No cell
    /// is met twice, and empty runs are left out.
    pub(crate) fn runs(&self, cell: usize, runs: &mut Vec<CellRun>) {
        runs.clear();
        let [x, y, z] = self.grid.coordinates(cell);
        for (z, shift_z) in self.grid.near(2, z) {
            for (y, shift_y) in self.grid.near(1, y) {
                for (x, shift_x) in self.grid.near(0, x) {
                    let cell = self.grid.number([x, y, z]);
                    let (places, shift) = (self.places_of(cell), [shift_x, shift_y, shift_z]);
                    if places.is_empty() {
                        continue;
                    }
                    match runs.last_mut() {
                        Some(last) if last.places.end == places.start && last.shift == shift => {
                            last.places.end = places.end;
                        }
                        _ => runs.push(CellRun { places, shift }),
                    }
                }
            }
        }
    }

    /// Places of a cell's rows.
    #[inline(always)]
    pub(crate) fn places_of(&self, cell: usize) -> Range<usize> {
        self.starts[cell] as usize..self.starts[cell + 1] as usize
    }

    /// Cell of a row; `None` for ghosts.
    #[inline(always)]
    pub(crate) fn cell_of(&self, row: usize) -> Option<usize> {
        Some(self.cells[row]).filter(|cell| *cell != NO_CELL).map(|cell| cell as usize)
    }

    /// Center of a cell, in units of the simulation.
    pub(crate) fn center(&self, cell: usize) -> Vec3d {
        self.grid.center(cell)
    }

    /// Whether pairs of two cells may have different images: fewer than three cells along a period.
    pub(crate) fn needs_images(&self) -> bool {
        self.grid.needs_images()
    }

    /// Place of an owned row that is no ghost.
    #[inline(always)]
    pub(crate) fn place(&self, row: usize) -> usize {
        self.places[row - self.owned.start] as usize
    }

    /// Rows by place.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Number of cells along each dimension.
    pub fn counts(&self) -> [usize; 3] {
        self.grid.counts()
    }

    /// Rows that an owned row is tested against: those of its cell and the cells around it, without itself.
    pub fn candidates(&self, row: usize) -> Vec<u32> {
        let mut runs = Vec::new();
        if let Some(cell) = self.cell_of(row) {
            self.runs(cell, &mut runs);
        }
        let rows = runs.into_iter().flat_map(|run| self.rows[run.places].iter().copied());
        rows.filter(|&other| other as usize != row).collect()
    }

    /// Whether pairs of owned rows appear once: never.
    pub fn symmetric(&self) -> bool {
        false
    }

    /// Rows whose neighbors are in the cells.
    pub fn owned(&self) -> Range<usize> {
        self.owned.clone()
    }

    /// Memory of the list.
    pub fn bytes(&self) -> ListBytes {
        let offsets = [&self.starts, &self.cells, &self.places].map(|column| size_of_val(&column[..]));
        ListBytes {
            indices: size_of_val(&self.rows[..]) as u64,
            offsets: (offsets.iter().sum::<usize>() + size_of_val(&self.costs[..])) as u64,
        }
    }
}

/// Lower and upper corner of the finite coordinates of some positions.
fn extent(positions: impl ParallelIterator<Item = Vec3d>) -> (Vec3d, Vec3d) {
    let none = || (Vec3d::repeat(f64::INFINITY), Vec3d::repeat(f64::NEG_INFINITY));
    let joined = |a: (Vec3d, Vec3d), b: (Vec3d, Vec3d)| (a.0.inf(&b.0), a.1.sup(&b.1));
    let finite = |at: Vec3d, other: f64| at.map(|x| if x.is_finite() { x } else { other });
    positions.map(|at| (finite(at, f64::INFINITY), finite(at, f64::NEG_INFINITY))).reduce(none, joined)
}

/// Sorts rows by cell, stable. Returns the first place of each of `count` cells and the end, and the rows.
fn sort(cells: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; count + 1];
    for &cell in cells.iter().filter(|cell| **cell != NO_CELL) {
        starts[cell as usize + 1] += 1;
    }
    let mut end = 0;
    for start in &mut starts {
        end += *start;
        *start = end;
    }
    let mut next = starts.clone();
    let mut rows = vec![0; end as usize];
    for (row, &cell) in cells.iter().enumerate().filter(|(_, cell)| **cell != NO_CELL) {
        let place = &mut next[cell as usize];
        rows[*place as usize] = row as u32;
        *place += 1;
    }
    (starts, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::Coding;
    use crate::space::{Boundary, SimulationBox};
    use proptest::prelude::*;

    /// Rows in a box: every seventh is a ghost.
    struct Scene {
        bx: SimulationBox,
        position: [Vec<f64>; 3],
        radius: Vec<f64>,
        id: Vec<u64>,
        keys: Vec<u64>,
    }

    impl Scene {
        fn new(boundary: [Boundary; 3], places: &[[f64; 3]], reach: f64) -> Self {
            let (lower, upper) = (Vec3d::new(-0.5, 3.0, 0.0), Vec3d::new(0.5, 4.0, 1.0));
            let bx = SimulationBox { lower, upper, boundary };
            let ghost = |row: usize| row % 7 == 6;
            let column = |d: usize| {
                let at = |(row, at): (usize, &[f64; 3])| match ghost(row) {
                    true => f64::INFINITY,
                    false => bx.lower[d] + at[d],
                };
                places.iter().enumerate().map(at).collect()
            };
            let rows = places.len();
            // The largest radius is that of the first row.
            let radius = (0..rows).map(|row| if row == 0 { reach } else { 0.7 * reach }).collect();
            let id = (0..rows).map(|row| if ghost(row) { u64::MAX } else { row as u64 }).collect();
            Scene { bx, position: [0, 1, 2].map(column), radius, id, keys: vec![0; rows] }
        }

        fn build(&self, owned: Range<usize>) -> CellList {
            let request = ListRequest {
                bx: &self.bx,
                position: [0, 1, 2].map(|d| &self.position[d][..]),
                radius: &self.radius,
                id: &self.id,
                keys: &self.keys,
                owned,
                symmetric: false,
                first_with_lower_halos: None,
                coding: Coding::Plain,
            };
            CellList::build(&request).unwrap()
        }

        fn separation(&self, i: usize, j: usize) -> Vec3d {
            let at = |row: usize| Vec3d::from([0, 1, 2].map(|d| self.position[d][row]));
            self.bx.shortest(at(i) - at(j))
        }
    }

    fn boundary() -> impl Strategy<Value = Boundary> {
        prop_oneof![Just(Boundary::Open), Just(Boundary::Periodic)]
    }

    proptest! {
        #[test]
        fn pairs_in_range_are_met_once_from_each_side(
            places in prop::collection::vec([0.0..1.0f64, 0.0..1.0, 0.0..1.0], 1..150),
            boundary in [boundary(), boundary(), boundary()],
            // An edge of 1, 2, 3 and more cells.
            fraction in prop_oneof![Just(0.5), 0.34..0.499f64, 0.26..0.33f64, 0.07..0.25f64],
            halos in 0..2usize,
        ) {
            let scene = Scene::new(boundary, &places, fraction);
            let owned = (64 * halos).min(places.len() / 64 * 64)..places.len();
            let list = scene.build(owned.clone());
            for (count, boundary) in list.counts().into_iter().zip(boundary) {
                let fit = (1.0 / (fraction * (1.0 + 1e-9))) as usize;
                let fits = count == fit || boundary == Boundary::Open && count < fit;
                prop_assert!(fits, "{} cells instead of {}", count, fit);
            }
            let mut tested = 0;
            for i in owned {
                let met = list.candidates(i);
                tested += met.len() as u64;
                let mut distinct = met.clone();
                distinct.sort_unstable();
                distinct.dedup();
                prop_assert_eq!(distinct.len(), met.len());
                if scene.id[i] == u64::MAX {
                    prop_assert!(met.is_empty());
                    continue;
                }
                tested += 1;
                for j in (0..places.len()).filter(|&j| j != i && scene.id[j] != u64::MAX) {
                    let reach = scene.radius[i].max(scene.radius[j]);
                    if scene.separation(i, j).norm() < reach {
                        prop_assert!(met.contains(&(j as u32)), "{} and {}", i, j);
                    }
                }
                prop_assert!(met.iter().all(|&j| scene.id[j as usize] != u64::MAX));
            }
            prop_assert_eq!(tested, list.costs.iter().sum::<u64>());
        }

        #[test]
        fn shifts_lead_to_the_images_in_range(
            places in prop::collection::vec([0.0..1.0f64, 0.0..1.0, 0.0..1.0], 1..150),
            moves in prop::collection::vec([-0.5..0.5f64, -0.5..0.5, -0.5..0.5], 150),
            reach in 0.05..0.33f64,
        ) {
            let mut scene = Scene::new([Boundary::Periodic; 3], &places, reach);
            let list = scene.build(0..places.len());
            prop_assume!(!list.needs_images());
            // Rows move by less than half the skin, and are wrapped or not.
            let skin = 0.3 * reach;
            for (row, by) in moves.iter().enumerate().take(places.len()) {
                for (d, by) in by.iter().enumerate() {
                    let moved = scene.position[d][row] + by * skin / 3f64.sqrt();
                    let wrapped = scene.bx.lower[d] + (moved - scene.bx.lower[d]).rem_euclid(1.0);
                    scene.position[d][row] = if row % 2 == 0 { wrapped } else { moved };
                }
            }
            let near = |row: usize, cell: usize| {
                let center = list.center(cell);
                let at = Vec3d::from([0, 1, 2].map(|d| scene.position[d][row]));
                center + scene.bx.shortest(at - center)
            };
            let mut runs = Vec::new();
            for i in (0..places.len()).filter(|i| scene.id[*i] != u64::MAX) {
                let cell = list.cell_of(i).unwrap();
                list.runs(cell, &mut runs);
                let mut found = 0;
                for run in &runs {
                    for &j in &list.rows()[run.places.clone()] {
                        let j = j as usize;
                        let r = near(i, cell) - near(j, list.cell_of(j).unwrap()) - Vec3d::from(run.shift);
                        if r.norm() < 0.7 * reach {
                            found += 1;
                            prop_assert!((r - scene.separation(i, j)).norm() < 1e-12);
                        }
                    }
                }
                let others = (0..places.len()).filter(|&j| scene.id[j] != u64::MAX);
                let expected = others.filter(|&j| scene.separation(i, j).norm() < 0.7 * reach).count();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn far_rows_and_narrow_ranges_do_not_need_many_cells() {
        let mut places = vec![[0.5; 3]; 100];
        places[3] = [1e30, -1e12, 0.0];
        places[4] = [f64::NAN, 0.0, f64::NEG_INFINITY];
        for reach in [1e-300, 0.0, 1e-6] {
            let list = Scene::new([Boundary::Open; 3], &places, reach).build(0..100);
            assert!(list.counts().iter().product::<usize>() <= 4096);
            assert_eq!(list.candidates(0).len(), 83, "all at one point, but for ghosts, 3, 4 and itself");
        }
    }

    #[test]
    fn empty_and_single_rows_have_no_pairs() {
        for rows in [0, 1] {
            let list = Scene::new([Boundary::Periodic; 3], &vec![[0.1; 3]; rows], 0.1).build(0..rows);
            assert_eq!(list.owned(), 0..rows);
            assert!((0..rows).all(|row| list.candidates(row).is_empty()));
        }
    }

    #[test]
    fn a_period_of_less_than_two_radii_is_refused() {
        let scene = Scene::new([Boundary::Periodic; 3], &[[0.1; 3]], 0.5000001);
        let request = ListRequest {
            bx: &scene.bx,
            position: [0, 1, 2].map(|d| &scene.position[d][..]),
            radius: &scene.radius,
            id: &scene.id,
            keys: &scene.keys,
            owned: 0..1,
            symmetric: false,
            first_with_lower_halos: None,
            coding: Coding::Plain,
        };
        assert!(CellList::build(&request).unwrap_err().to_string().contains("twice"));
    }
}
