//! Boxes of one density: a glass, a lattice, or independent positions. Glass and lattices continue without a seam
//! across periodic faces.

use std::ops::Range;

use super::pattern::Pattern;
use super::{InternalEnergy, Layout, glass, normal, random_of, random_point};
use crate::deck::plan::{Arrangement, LatticeStart, RandomStart, UniformBoxStart};
use crate::space::Vec3d;

/// Points along an edge of the glass tile that is repeated to fill a large box.
const TILE_EDGE: f64 = 16.0;
/// A tile is not made of fewer, however slender the box.
const TILE_POINTS: u64 = 512;

/// Lower and upper corner of the plan's box, if it has one.
pub type Corners = Option<[[f64; 3]; 2]>;

/// Number of particles of a uniform box: exact for independent positions, within one a tile for a glass, rounded to
/// whole cells for a lattice.
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

/// The particles of a range of ids, laid out as `filling` has it.
pub fn filled(start: &UniformBoxStart, filling: &Filling, share: Range<u64>) -> Layout {
    let positions = share.map(|id| filling.position(id)).collect();
    let (total, lengths) = (count(start), Vec3d::from(start.lengths));
    even(positions, total, start.density * lengths.product(), lengths, start.internal_energy)
}

/// How the particles of a box are laid out.
pub struct Filling {
    lower: Vec3d,
    lengths: Vec3d,
    /// A pattern and how often it is repeated per dimension; `None` for independent positions.
    repeated: Option<(Pattern, [u64; 3])>,
    seed: u64,
}

impl Filling {
    /// That of `[start.uniform-box]`.
    pub fn new(start: &UniformBoxStart, corners: Corners) -> Self {
        let (lower, lengths) = extent(corners, start.lengths);
        let repeated = match start.arrangement {
            Arrangement::Random => None,
            Arrangement::Glass => {
                let tiles = tiles(start);
                let cell = cells_to_edges(lengths, tiles);
                let points = glass::relaxed(tile_points(start) as usize, cell, start.seed);
                let points = points.iter().map(|point| point.component_div(&cell)).collect();
                Some((Pattern { cell, points }, tiles))
            }
            // The cell is strained a little so that a whole number of them fills the box.
            lattice => Pattern::lattice_of(lattice).map(|mut pattern| {
                let cells = lattice_cells(start, &pattern);
                pattern.cell = cells_to_edges(lengths, cells);
                (pattern, cells)
            }),
        };
        Self { lower, lengths, repeated, seed: start.seed }
    }

    /// The middle of the box.
    pub fn middle(&self) -> Vec3d {
        self.lower + self.lengths * 0.5
    }

    /// Where the particle of an id is.
    pub fn position(&self, id: u64) -> Vec3d {
        match &self.repeated {
            Some((pattern, cells)) => place(pattern, *cells, self.lower, id),
            None => independent(self.seed, self.lower, self.lengths, id),
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
    let mut positions: Vec<Vec3d> = share.clone().map(|id| place(&pattern, start.cells, lower, id)).collect();
    if start.jitter > 0.0 {
        for (position, id) in positions.iter_mut().zip(share) {
            *position += normal(&mut random_of(start.seed, id)) * (start.jitter * start.spacing);
        }
    }
    let total = start.cells.iter().product::<u64>() * start.kind.particles_per_cell();
    even(positions, total, start.density * lengths.product(), lengths, start.internal_energy)
}

/// `[start.random]`
pub fn random(start: &RandomStart, corners: Corners, share: Range<u64>) -> Layout {
    let (lower, lengths) = extent(corners, start.lengths);
    let positions = share.map(|id| independent(start.seed, lower, lengths, id)).collect();
    even(positions, start.particles, start.density * lengths.product(), lengths, start.internal_energy)
}

fn extent(corners: Corners, lengths: [f64; 3]) -> (Vec3d, Vec3d) {
    (corners.map_or(Vec3d::zeros(), |[lower, _]| lower.into()), lengths.into())
}

fn even(positions: Vec<Vec3d>, total: u64, mass: f64, lengths: Vec3d, internal_energy: f64) -> Layout {
    let total = total.max(1) as f64;
    let volume = lengths.product() / total;
    Layout {
        positions,
        velocities: None,
        mass: mass / total,
        internal_energy: InternalEnergy::Even(internal_energy),
        volume_of: Box::new(move |_, neighbors| neighbors * volume),
    }
}

fn independent(seed: u64, lower: Vec3d, lengths: Vec3d, id: u64) -> Vec3d {
    random_point(&mut random_of(seed, id), lower, lengths)
}

/// Where the particle of an id is in a pattern repeated `cells` times from `lower` on, cell by cell.
fn place(pattern: &Pattern, cells: [u64; 3], lower: Vec3d, id: u64) -> Vec3d {
    let per_cell = pattern.points.len() as u64;
    let cell = id / per_cell;
    let corner = [cell / (cells[1] * cells[2]), cell / cells[2] % cells[1], cell % cells[2]];
    let corner = Vec3d::from(corner.map(|c| c as f64));
    lower + (corner + pattern.points[(id % per_cell) as usize]).component_mul(&pattern.cell)
}

fn cells_to_edges(lengths: Vec3d, cells: [u64; 3]) -> Vec3d {
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
