//! Boxes of uniform density: a glass, a lattice, or independent positions. Glass and lattices continue
//! seamlessly across periodic faces.

use std::ops::Range;

use super::pattern::Pattern;
use super::{InternalEnergy, Layout, glass, normal, particle_rng, random_point};
use crate::plan::{Arrangement, LatticeStart, RandomStart, UniformBoxStart};
use crate::space::Vec3d;

/// Points per edge of the glass tile that is repeated to fill a large box.
const TILE_EDGE: f64 = 16.0;
/// Minimum number of points per tile, even in a slender box.
const TILE_POINTS: u64 = 512;

/// Lower and upper corner of the plan's box, if any.
pub type Corners = Option<[[f64; 3]; 2]>;

/// Number of particles of a uniform box: exact for independent positions, within half a particle per tile for
/// a glass, rounded to whole cells for a lattice.
pub fn count(start: &UniformBoxStart) -> u64 {
    match start.arrangement {
        Arrangement::Random => start.particles,
        Arrangement::Glass => tiles(start).iter().product::<u64>() * tile_points(start),
        lattice => match Pattern::lattice_of(lattice) {
            Some(pattern) => {
                lattice_cells(start, &pattern).iter().product::<u64>() * pattern.points.len() as u64
            }
            None => unreachable!("every arrangement but glass and random is a lattice"),
        },
    }
}

/// `[start.uniform-box]`
pub fn uniform_box(start: &UniformBoxStart, corners: Corners, share: Range<u64>) -> Layout {
    filled(start, &Filling::new(start, corners), share)
}

/// Lays out the particles of a range of ids at the positions of `filling`.
pub fn filled(start: &UniformBoxStart, filling: &Filling, share: Range<u64>) -> Layout {
    let positions = share.map(|id| filling.position(id)).collect();
    let (total, lengths) = (count(start), Vec3d::from(start.lengths));
    uniform_layout(positions, total, start.density * lengths.product(), lengths, start.internal_energy)
}

/// The positions of the particles in a box.
pub struct Filling {
    lower: Vec3d,
    lengths: Vec3d,
    /// A pattern and its repetitions per dimension; `None` for independent positions.
    repeated: Option<(Pattern, [u64; 3])>,
    seed: u64,
}

impl Filling {
    /// The filling of `[start.uniform-box]`.
    pub fn new(start: &UniformBoxStart, corners: Corners) -> Self {
        let (lower, lengths) = extent(corners, start.lengths);
        let repeated = match start.arrangement {
            Arrangement::Random => None,
            Arrangement::Glass => {
                let tiles = tiles(start);
                let cell = cell_edges(lengths, tiles);
                let points = glass::relaxed(tile_points(start) as usize, cell, start.seed);
                let points = points.iter().map(|point| point.component_div(&cell)).collect();
                Some((Pattern { cell, points }, tiles))
            }
            // Strain the cell slightly so that a whole number of cells fills the box.
            lattice => Pattern::lattice_of(lattice).map(|mut pattern| {
                let cells = lattice_cells(start, &pattern);
                pattern.cell = cell_edges(lengths, cells);
                (pattern, cells)
            }),
        };
        Self { lower, lengths, repeated, seed: start.seed }
    }

    /// The center of the box.
    pub fn middle(&self) -> Vec3d {
        self.lower + self.lengths * 0.5
    }

    /// The position of the particle `id`.
    pub fn position(&self, id: u64) -> Vec3d {
        match &self.repeated {
            Some((pattern, cells)) => pattern_position(pattern, *cells, self.lower, id),
            None => random_position(self.seed, self.lower, self.lengths, id),
        }
    }
}

/// `[start.lattice]`
pub fn lattice(start: &LatticeStart, corners: Corners, share: Range<u64>) -> Layout {
    let mut pattern = Pattern::lattice(start.kind);
    pattern.cell *= start.spacing;
    let lengths =
        pattern.cell.zip_map(&Vec3d::from(start.cells.map(|c| c as f64)), |edge, cells| edge * cells);
    let lower = extent(corners, lengths.into()).0;
    let mut positions: Vec<Vec3d> =
        share.clone().map(|id| pattern_position(&pattern, start.cells, lower, id)).collect();
    if start.jitter > 0.0 {
        for (position, id) in positions.iter_mut().zip(share) {
            *position += normal(&mut particle_rng(start.seed, id)) * (start.jitter * start.spacing);
        }
    }
    let total = start.cells.iter().product::<u64>() * start.kind.particles_per_cell();
    uniform_layout(positions, total, start.density * lengths.product(), lengths, start.internal_energy)
}

/// `[start.random]`
pub fn random(start: &RandomStart, corners: Corners, share: Range<u64>) -> Layout {
    let (lower, lengths) = extent(corners, start.lengths);
    let positions = share.map(|id| random_position(start.seed, lower, lengths, id)).collect();
    uniform_layout(
        positions,
        start.particles,
        start.density * lengths.product(),
        lengths,
        start.internal_energy,
    )
}

fn extent(corners: Corners, lengths: [f64; 3]) -> (Vec3d, Vec3d) {
    (corners.map_or(Vec3d::zeros(), |[lower, _]| lower.into()), lengths.into())
}

fn uniform_layout(
    positions: Vec<Vec3d>,
    total: u64,
    mass: f64,
    lengths: Vec3d,
    internal_energy: f64,
) -> Layout {
    let total = total.max(1) as f64;
    let volume = lengths.product() / total;
    Layout {
        positions,
        velocities: None,
        mass: mass / total,
        internal_energy: InternalEnergy::Uniform(internal_energy),
        volume_of: Box::new(move |_, neighbors| neighbors * volume),
    }
}

fn random_position(seed: u64, lower: Vec3d, lengths: Vec3d, id: u64) -> Vec3d {
    random_point(&mut particle_rng(seed, id), lower, lengths)
}

/// The position of the particle `id` in a pattern repeated `cells` times from `lower`, cell by cell.
fn pattern_position(pattern: &Pattern, cells: [u64; 3], lower: Vec3d, id: u64) -> Vec3d {
    let per_cell = pattern.points.len() as u64;
    let cell = id / per_cell;
    let corner = [cell / (cells[1] * cells[2]), cell / cells[2] % cells[1], cell % cells[2]];
    let corner = Vec3d::from(corner.map(|c| c as f64));
    lower + (corner + pattern.points[(id % per_cell) as usize]).component_mul(&pattern.cell)
}

fn cell_edges(lengths: Vec3d, cells: [u64; 3]) -> Vec3d {
    lengths.component_div(&Vec3d::from(cells.map(|c| c as f64)))
}

/// Glass tiles per dimension.
fn tiles(start: &UniformBoxStart) -> [u64; 3] {
    let spacing = (start.lengths.iter().product::<f64>() / start.particles.max(1) as f64).cbrt();
    let mut most = (start.particles / TILE_POINTS).max(1);
    start.lengths.map(|length| {
        let tiles = ((length / (TILE_EDGE * spacing)).ceil() as u64).clamp(1, most);
        most /= tiles;
        tiles
    })
}

fn tile_points(start: &UniformBoxStart) -> u64 {
    let tiles = tiles(start).iter().product::<u64>();
    (start.particles + tiles / 2) / tiles
}

/// Lattice cells per dimension.
fn lattice_cells(start: &UniformBoxStart, pattern: &Pattern) -> [u64; 3] {
    let cells = start.particles as f64 / pattern.points.len() as f64;
    let scale = (start.lengths.iter().product::<f64>() / (pattern.cell.product() * cells.max(1.0))).cbrt();
    let mut most = (2 * start.particles).max(1);
    [0, 1, 2].map(|d| {
        let along = ((start.lengths[d] / (pattern.cell[d] * scale)).round() as u64).clamp(1, most);
        most = (most / along).max(1);
        along
    })
}
