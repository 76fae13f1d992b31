//! The rectangle that a map shows by default.

use std::path::Path;

use super::raster::directions;
use crate::particles::Field;
use crate::snapshot::{read_fields, read_header};
use crate::space::Boundary;
use crate::{Error, Result};

/// Lower and upper end of a rectangle, horizontal and vertical.
pub type Extent = [(f64, f64); 2];

/// The rectangle of a snapshot seen along a dimension: the box where it is periodic, else the extent of the
/// particles.
///
/// # Errors
/// As [`crate::snapshot::read_snapshot`]; [`Error::Content`] for a snapshot without particles.
pub fn extent_of(path: &Path, axis: usize) -> Result<Extent> {
    let header = read_header(path)?;
    if header.particle_count == 0 {
        return Err(no_particles(path));
    }
    let seen = directions(axis);
    let bx = header.bx;
    if seen.iter().all(|&d| bx.boundary[d] == Boundary::Periodic) {
        return Ok(seen.map(|d| (bx.lower[d], bx.upper[d])));
    }
    let (_, particles) = read_fields(path, |_, _| Ok(Vec::new()))?;
    let columns = particles.vector(Field::Position);
    Ok(with_area(seen.map(|d| match bx.boundary[d] {
        Boundary::Periodic => (bx.lower[d], bx.upper[d]),
        Boundary::Open => ends(columns[d]),
    })))
}

/// The smallest rectangle that holds all of these; `None` for none.
pub fn joined(extents: impl IntoIterator<Item = Extent>) -> Option<Extent> {
    let join = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    extents.into_iter().reduce(|a, b| [join(a[0], b[0]), join(a[1], b[1])])
}

/// The square of that width about a center, or about the center of a rectangle.
pub fn square(center: [f64; 2], width: f64) -> Extent {
    center.map(|at| (at - 0.5 * width, at + 0.5 * width))
}

/// The error for a snapshot without particles.
pub(super) fn no_particles(path: &Path) -> Error {
    Error::Content {
        path: path.to_owned(),
        what: "it has no particles".into(),
        remedy: "name a snapshot with particles in PartType0".into(),
    }
}

/// Least and greatest value.
pub(super) fn ends(column: &[f64]) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    column.iter().fold(none, |(least, greatest), &value| (value.min(least), value.max(greatest)))
}

/// Widens a side that has no width, as that of particles in a line or at a point.
fn with_area(extent: Extent) -> Extent {
    let widest = extent.iter().map(|side| side.1 - side.0).fold(0.0, f64::max);
    let magnitude = extent.iter().map(|side| side.0.abs()).fold(0.0, f64::max);
    let needed = if widest > 0.0 { 0.1 * widest } else { magnitude.max(1.0) };
    extent.map(|(lower, upper)| match upper - lower {
        width if width < 1e-3 * needed => (lower - 0.5 * needed, upper + 0.5 * needed),
        _ => (lower, upper),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_have_an_area_and_are_joined() {
        assert_eq!(with_area([(0.0, 2.0), (-1.0, 1.0)]), [(0.0, 2.0), (-1.0, 1.0)]);
        assert_eq!(with_area([(0.0, 2.0), (1.0, 1.0)]), [(0.0, 2.0), (0.9, 1.1)]);
        assert_eq!(with_area([(4.0, 4.0), (0.0, 0.0)]), [(2.0, 6.0), (-2.0, 2.0)]);
        assert_eq!(joined([]), None);
        let both = joined([[(0.0, 1.0), (0.0, 1.0)], [(0.5, 2.0), (-1.0, 0.5)]]);
        assert_eq!(both, Some([(0.0, 2.0), (-1.0, 1.0)]));
        assert_eq!(square([1.0, 2.0], 4.0), [(-1.0, 3.0), (0.0, 4.0)]);
    }
}
