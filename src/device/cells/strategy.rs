//! The strategies of sweeps over cells: their names, the sub-boxes of their blocks, and their launches.

use super::super::pack::Shape;
use super::grid::Grid;

/// Threads of a block of the strategies with a block or a thread a cell or a particle: CELL_THREADS of
/// kernels/cells/sweep.cuh.
const CELL_THREADS: usize = 128;

/// Blocks per multiprocessor of the loop over particles.
const LOOP_BLOCKS: usize = 16;

/// A block a cell through shared memory pays from this mean number of particles of an occupied cell on, up to
/// this number of such cells (docs/src/cells.md: times on an H200).
const MANY_IN_CELL: usize = 50;
const FEW_CELLS: usize = 4096;

/// Particles that the buffer of a block a cell holds, as in the paper.
const CELL_BUFFER: usize = 512;

/// Rows of cells of a sub-box with those about it: MOST_ROWS of kernels/cells/sub_box.cu.
const MOST_ROWS: usize = 256;

/// Shared memory that kernels have beside particles (bytes): BoxRows of kernels/cells/sub_box.cu, rounded up.
const OWN_SHARED: usize = 6 * 1024;

/// Blocks of particles of a sub-box that one block evaluates before it is split.
const BATCHES: usize = 8;

/// Shared memory that every card has without opt-in (bytes).
pub(super) const USUAL_SHARED: usize = 48 * 1024;

/// How a law is evaluated over cells. The paper's names are those of Algis et al. 2024 (hal-04621128).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// One thread a particle (Par-Part-NoLoop).
    Particle,
    /// Fewer threads, which walk over the particles (Par-Part-Loop).
    ParticleLoop,
    /// One block a cell (Par-Cell).
    Cell,
    /// One block a cell, through shared memory (Par-Cell-SM).
    CellShared,
    /// A sub-box with the cells about it in shared memory (All-in-SM).
    SubBox,
    /// One row of cells at a time in shared memory (X-pencil).
    Pencil,
    /// As before, with targets of several rows that stay in registers (X-pencil-reg).
    PencilRegisters,
}

/// The launch of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// How blocks share the work.
    pub strategy: Strategy,
    /// Cells of a block's sub-box.
    pub shape: [usize; 3],
    /// Threads of a block.
    pub threads: usize,
    /// Particles that one block evaluates; a sub-box with more is split.
    pub slice: usize,
    /// Particles that shared memory holds; what exceeds it comes in rounds.
    pub capacity: usize,
}

/// What limits a launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Multiprocessors of the device.
    pub multiprocessors: usize,
    /// Bytes of shared memory of a block.
    pub shared: usize,
    /// Particles of the fullest cell, M_C of the paper.
    pub fullest: usize,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Strategy; 7] = [
        Strategy::Particle,
        Strategy::ParticleLoop,
        Strategy::Cell,
        Strategy::CellShared,
        Strategy::SubBox,
        Strategy::Pencil,
        Strategy::PencilRegisters,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Particle => "thread a particle",
            Strategy::ParticleLoop => "thread a particle, loop",
            Strategy::Cell => "block a cell",
            Strategy::CellShared => "block a cell, shared memory",
            Strategy::SubBox => "sub-box in shared memory",
            Strategy::Pencil => "pencil",
            Strategy::PencilRegisters => "pencil, targets in registers",
        }
    }

    /// The name in the paper.
    pub fn name_in_paper(self) -> &'static str {
        match self {
            Strategy::Particle => "Par-Part-NoLoop",
            Strategy::ParticleLoop => "Par-Part-Loop",
            Strategy::Cell => "Par-Cell",
            Strategy::CellShared => "Par-Cell-SM",
            Strategy::SubBox => "All-in-SM",
            Strategy::Pencil => "X-pencil",
            Strategy::PencilRegisters => "X-pencil-reg",
        }
    }

    /// The strategy of runs, for these numbers of particles and of occupied cells.
    pub(super) fn suited(particles: usize, occupied: usize) -> Self {
        let shares = particles >= MANY_IN_CELL * occupied.max(1) && occupied <= FEW_CELLS;
        if shares { Strategy::CellShared } else { Strategy::Particle }
    }

    /// Whether blocks take tasks.
    pub(super) fn has_tasks(self) -> bool {
        !matches!(self, Strategy::Particle | Strategy::ParticleLoop)
    }

    /// Blocks of the strategies without tasks.
    pub(super) fn blocks(self, particles: usize, multiprocessors: usize) -> usize {
        let all = particles.div_ceil(CELL_THREADS);
        if self == Strategy::ParticleLoop { all.min(LOOP_BLOCKS * multiprocessors) } else { all }
    }

    /// The launch on a grid.
    pub(super) fn launch(self, grid: &Grid, shape: &Shape, limits: &Limits) -> Launch {
        let cell =
            Launch { strategy: self, shape: [1; 3], threads: CELL_THREADS, slice: CELL_THREADS, capacity: 0 };
        let bytes = bytes_of_particle(shape);
        match self {
            Strategy::Particle | Strategy::ParticleLoop | Strategy::Cell => cell,
            Strategy::CellShared => {
                Launch { capacity: CELL_BUFFER.min(limits.shared / bytes).max(1), ..cell }
            }
            Strategy::SubBox => sub_box(grid, shape, limits),
            Strategy::Pencil => Launch { strategy: self, ..pencil(grid, shape, limits, 1) },
            Strategy::PencilRegisters => Launch { strategy: self, ..pencil(grid, shape, limits, 2) },
        }
    }
}

/// Bytes of a particle in shared memory.
pub(super) fn bytes_of_particle(shape: &Shape) -> usize {
    4 * shape.real * (1 + shape.groups)
}

/// Largest block of pencils: PENCIL_THREADS of kernels/cells/pencil.cu.
fn pencil_threads(shape: &Shape) -> usize {
    match (shape.real, shape.groups) {
        (4, 0) => 1024,
        (4, 1..=2) => 512,
        _ => 256,
    }
}

/// Largest block of sub-boxes: SUB_BOX_THREADS of kernels/cells/sub_box.cu.
fn sub_box_threads(shape: &Shape) -> usize {
    if shape.real == 4 && shape.groups <= 2 { 512 } else { 256 }
}

/// Threads for `particles`, in whole warps.
fn threads(particles: usize, most: usize) -> usize {
    particles.next_multiple_of(32).clamp(32, most)
}

/// The largest sub-box with ghost cells of at most `most` cells: for the largest cube p^3 within it the
/// largest one of p^3, (p+1) p^2, (p+1)^2 p and (p+2) p^2 (section 5.1 of the paper). Below 27 cells none
/// fits: one cell with its neighbors is taken all the same, in rounds.
fn box_with_ghosts(most: usize) -> [usize; 3] {
    let mut p = 3;
    while (p + 1) * (p + 1) * (p + 1) <= most {
        p += 1;
    }
    let candidates = [[p, p, p], [p + 1, p, p], [p + 1, p + 1, p], [p + 2, p, p]];
    let fits = |sizes: &&[usize; 3]| sizes.iter().product::<usize>() <= most;
    let largest = candidates.iter().filter(fits).max_by_key(|sizes| sizes.iter().product::<usize>());
    *largest.unwrap_or(&[3; 3])
}

/// All-in-SM: the largest sub-box of which M_C particles a cell fit into shared memory, smaller while there
/// are fewer of them than multiprocessors.
fn sub_box(grid: &Grid, shape: &Shape, limits: &Limits) -> Launch {
    let bytes = bytes_of_particle(shape);
    let room = limits.shared.saturating_sub(OWN_SHARED).max(bytes) / bytes;
    let fullest = limits.fullest.max(1);
    let mut inner = box_with_ghosts(room / fullest).map(|cells| cells - 2);
    while (inner[1] + 2) * (inner[2] + 2) > MOST_ROWS {
        let longer = if inner[1] >= inner[2] { 1 } else { 2 };
        inner[longer] -= 1;
    }
    inner = [0, 1, 2].map(|d| inner[d].min(grid.counts[d]));
    while grid.boxes(inner) < limits.multiprocessors && inner != [1; 3] {
        let longest = (0..3).max_by_key(|&d| (inner[d], d)).unwrap_or(0);
        inner[longest] -= 1;
    }
    let cells: usize = inner.iter().map(|cells| cells + 2).product();
    let particles = fullest.saturating_mul(cells);
    let threads = threads(particles, sub_box_threads(shape));
    Launch {
        strategy: Strategy::SubBox,
        shape: inner,
        threads,
        slice: BATCHES * threads,
        capacity: particles.min(room),
    }
}

/// X-pencil: as many cells along x as fit into shared memory and as there are threads for M_C particles of
/// each, fewer while there are fewer pencils than multiprocessors. With `across` rows of cells in y and in z,
/// if their particles have a thread each (X-pencil-reg).
fn pencil(grid: &Grid, shape: &Shape, limits: &Limits, across: usize) -> Launch {
    let bytes = bytes_of_particle(shape);
    let room = limits.shared.max(bytes) / bytes;
    let fullest = limits.fullest.max(1);
    let most = pencil_threads(shape);
    // one row of targets, where several do not have a thread a particle
    let across = if across * across * fullest <= most { across } else { 1 };
    let rows = [across.min(grid.counts[1]), across.min(grid.counts[2])];
    let of_threads = most / (fullest * rows[0] * rows[1]);
    let mut length = (room / fullest).saturating_sub(2).min(of_threads).clamp(1, grid.counts[0]);
    while grid.boxes([length, rows[0], rows[1]]) < limits.multiprocessors && length > 1 {
        length -= 1;
    }
    let ghosts = if rows == [1, 1] { 2 } else { 0 };
    let targets = fullest.saturating_mul((length + ghosts) * rows[0] * rows[1]);
    let threads = threads(targets, most);
    let capacity = fullest.saturating_mul(length + 2).min(room);
    Launch {
        strategy: Strategy::Pencil,
        shape: [length, rows[0], rows[1]],
        threads,
        slice: threads,
        capacity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Boundary, SimulationBox, Vec3d};

    fn grid(edge: usize) -> Grid {
        let bx = SimulationBox {
            lower: Vec3d::zeros(),
            upper: Vec3d::repeat(edge as f64),
            boundary: [Boundary::Open; 3],
        };
        Grid::new(&bx, 0.999, 1 << 30)
    }

    fn shape(real: usize, groups: usize) -> Shape {
        Shape { real, symmetric: false, stride: 1, groups, own_radius: false }
    }

    #[test]
    fn sub_boxes_are_those_of_the_paper() {
        // "a 4x4x6 sub-box" of at most 96 cells
        assert_eq!(box_with_ghosts(96), [6, 4, 4]);
        assert_eq!(box_with_ghosts(27), [3, 3, 3]);
        assert_eq!(box_with_ghosts(26), [3, 3, 3]);
        assert_eq!(box_with_ghosts(36), [4, 3, 3]);
        assert_eq!(box_with_ghosts(48), [4, 4, 3]);
        assert_eq!(box_with_ghosts(45), [5, 3, 3]);
    }

    #[test]
    fn full_cells_share_memory_unless_there_are_many() {
        assert_eq!(Strategy::suited(0, 0), Strategy::Particle);
        assert_eq!(Strategy::suited(13_000, 1000), Strategy::Particle);
        assert_eq!(Strategy::suited(50_000, 1000), Strategy::CellShared);
        assert_eq!(Strategy::suited(5_000_000, 50_000), Strategy::Particle);
    }

    #[test]
    fn launches_stay_within_their_limits() {
        for (real, groups) in [(4, 0), (4, 1), (4, 6), (8, 0), (8, 6)] {
            let shape = shape(real, groups);
            for fullest in [1, 3, 25, 140, 1000, 1_000_000] {
                for shared in [USUAL_SHARED, 227 * 1024] {
                    let limits = Limits { multiprocessors: 132, shared, fullest };
                    for (strategy, grid) in
                        Strategy::ALL.into_iter().flat_map(|each| [2, 7, 32].map(|edge| (each, grid(edge))))
                    {
                        let launch = strategy.launch(&grid, &shape, &limits);
                        let bytes = launch.capacity * bytes_of_particle(&shape);
                        assert!(bytes <= shared, "{strategy:?} {launch:?}");
                        assert!(launch.threads.is_multiple_of(32) && launch.threads <= 1024);
                        assert!(launch.slice >= launch.threads, "{strategy:?} {launch:?}");
                        assert!((0..3).all(|d| (1..=grid.counts[d]).contains(&launch.shape[d])));
                        assert!((launch.shape[1] + 2) * (launch.shape[2] + 2) <= MOST_ROWS);
                        let is_shared =
                            !matches!(strategy, Strategy::Particle | Strategy::ParticleLoop | Strategy::Cell);
                        assert_eq!(launch.capacity > 0, is_shared);
                    }
                }
            }
        }
    }

    #[test]
    fn small_grids_have_a_block_for_each_multiprocessor() {
        let limits = Limits { multiprocessors: 40, shared: USUAL_SHARED, fullest: 4 };
        for strategy in [Strategy::SubBox, Strategy::Pencil] {
            let grid = grid(8);
            let launch = strategy.launch(&grid, &shape(4, 0), &limits);
            assert!(grid.boxes(launch.shape) >= 40, "{strategy:?} {launch:?}");
            assert!(launch.shape[0] > 1, "{strategy:?} {launch:?}");
        }
    }
}
