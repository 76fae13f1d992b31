//! Particles enter the box: refused when they are nowhere, wrapped where space repeats, the open faces moved to hold
//! them.

use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use rayon::prelude::*;

/// Coordinates beyond this are refused: squares of distances must stay finite.
const FARTHEST: f64 = 1e150;

/// Rows a task.
const CHUNK: usize = 16 * 1024;

/// Wrap the owned particles and fit the box's open dimensions to those of all ranks.
///
/// # Errors
/// [`crate::Error::State`] when a position is not finite, on the rank that owns the particle.
pub(super) fn enter(
    comm: &Communicator,
    bx: &SimulationBox,
    particles: &mut Particles,
) -> Result<SimulationBox> {
    comm.agree(check(particles))?;
    let mut extent = [f64::INFINITY; 6];
    for d in 0..3 {
        let owned = particles.owned();
        let column = &mut particles.component_mut(Field::Position, d)[owned];
        let (lower, upper) = wrap(column, bx, d);
        (extent[d], extent[3 + d]) = (lower, -upper);
    }
    comm.all_min(&mut extent);
    if extent[0] == f64::INFINITY {
        return Ok(*bx); // no particles at all
    }
    let [lower, upper] = [Vec3d::from_fn(|d, _| extent[d]), Vec3d::from_fn(|d, _| -extent[3 + d])];
    Ok(bx.fitted((lower, upper)))
}

/// Every owned position is a number, and rows can be counted in 32 bits.
fn check(particles: &Particles) -> Result<()> {
    let owned = particles.owned();
    for (component, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let column = &particles.component(Field::Position, component)[owned.clone()];
        let nowhere = |value: &f64| !value.is_finite() || value.abs() > FARTHEST;
        if let Some(row) = column.par_iter().with_min_len(CHUNK).position_first(nowhere) {
            return Err(Error::State {
                step: 0,
                what: format!(
                    "particle {} has {axis} = {}, which is no place",
                    particles.id[owned.start + row],
                    column[row]
                ),
                remedy:
                    "look for a time step that is too long, overlapping particles, or wrong initial positions"
                        .into(),
            });
        }
    }
    if u32::try_from(particles.len()).is_err() {
        return Err(Error::State {
            step: 0,
            what: format!("a rank holds {} particles, more than 32 bits can number", owned.len()),
            remedy: "use more ranks".into(),
        });
    }
    Ok(())
}

/// Wrap a column of coordinates in place and return its least and greatest value.
fn wrap(column: &mut [f64], bx: &SimulationBox, d: usize) -> (f64, f64) {
    let (lower, upper) = (bx.lower[d], bx.upper[d]);
    let periodic = bx.boundary[d] == Boundary::Periodic;
    column
        .par_chunks_mut(CHUNK)
        .map(|chunk| {
            let mut extent = (f64::INFINITY, f64::NEG_INFINITY);
            for x in chunk {
                if periodic && !(lower <= *x && *x < upper) {
                    *x = bx.wrap(Vec3d::repeat(*x))[d];
                }
                extent = (extent.0.min(*x), extent.1.max(*x));
            }
            extent
        })
        .reduce(|| (f64::INFINITY, f64::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)))
}
