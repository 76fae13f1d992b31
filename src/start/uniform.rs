//! The starts of uniform boxes: `[start.uniform-box]`, `[start.lattice]`, `[start.random]`.

use std::ops::Range;

use crate::layout::cuboid::{filled, pattern_position, random_position, uniform};
use crate::layout::pattern::Pattern;
use crate::layout::{Layout, normal, particle_rng};
use crate::plan::{LatticeStart, RandomStart, UniformBoxStart};
use crate::space::Vec3d;

/// Lower and upper corner of the plan's box, if any.
type Corners = Option<[[f64; 3]; 2]>;

/// Lays out the particles of a range of ids of `[start.uniform-box]`.
pub fn uniform_box(
    start: &UniformBoxStart,
    corners: Corners,
    noise: Option<f64>,
    share: Range<u64>,
) -> Layout {
    let cuboid = start.cuboid(corners);
    filled(&cuboid, &cuboid.quiet_filling(noise), start.density, start.internal_energy, share)
}

/// Lays out the particles of a range of ids of `[start.lattice]`.
pub fn lattice(start: &LatticeStart, corners: Corners, share: Range<u64>) -> Layout {
    let mut pattern = Pattern::lattice(start.kind);
    pattern.cell *= start.spacing;
    let lengths =
        pattern.cell.zip_map(&Vec3d::from(start.cells.map(|c| c as f64)), |edge, cells| edge * cells);
    let lower = lower_of(corners);
    let mut positions: Vec<Vec3d> =
        share.clone().map(|id| pattern_position(&pattern, start.cells, lower, id)).collect();
    if start.jitter > 0.0 {
        for (position, id) in positions.iter_mut().zip(share) {
            *position += normal(&mut particle_rng(start.seed, id)) * (start.jitter * start.spacing);
        }
    }
    let total = start.cells.iter().product::<u64>() * start.kind.particles_per_cell();
    uniform(positions, total, start.density * lengths.product(), lengths, start.internal_energy)
}

/// Lays out the particles of a range of ids of `[start.random]`.
pub fn random(start: &RandomStart, corners: Corners, share: Range<u64>) -> Layout {
    let (lower, lengths) = (lower_of(corners), Vec3d::from(start.lengths));
    let positions = share.map(|id| random_position(start.seed, lower, lengths, id)).collect();
    uniform(positions, start.particles, start.density * lengths.product(), lengths, start.internal_energy)
}

fn lower_of(corners: Corners) -> Vec3d {
    corners.map_or(Vec3d::zeros(), |[lower, _]| lower.into())
}
