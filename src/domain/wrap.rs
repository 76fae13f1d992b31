//! Preparation of positions: rejects invalid ones, wraps periodic coordinates, and fits open faces to the
//! particles.

use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use rayon::prelude::*;

/// Largest accepted coordinate (length unit): squared distances must stay finite.
const MAX_DISPLACEMENT: f64 = 1e150;

/// Rows per task.
const CHUNK: usize = 16 * 1024;

/// Wraps the owned particles and fits the open dimensions of the box to the particles of all ranks.
/// Collective.
///
/// # Errors
/// [`crate::Error::State`] when a position is not finite, on the rank that owns the particle.
pub(super) fn enter(
    comm: &Communicator,
    bx: &SimulationBox,
    particles: &mut Particles,
) -> Result<SimulationBox> {
    let owned = particles.owned();
    let spans = particles.vector(Field::Position).map(|column| Span::of(&column[owned.clone()]));
    comm.agree(check(particles, &spans))?;
    let mut all = [0.0; 6];
    for (d, span) in spans.iter().enumerate() {
        if bx.boundary[d] == Boundary::Periodic && !(bx.lower[d] <= span.lower && span.upper < bx.upper[d]) {
            if particles.has(Field::Image) {
                let [position, image] = particles.components_mut([(Field::Position, d), (Field::Image, d)]);
                wrap_counted(&mut position[owned.clone()], &mut image[owned.clone()], bx, d);
            } else {
                wrap(&mut particles.component_mut(Field::Position, d)[owned.clone()], bx, d);
            }
        }
        (all[d], all[3 + d]) = (span.lower, -span.upper);
    }
    comm.all_min(&mut all);
    if all[0] == f64::INFINITY {
        return Ok(*bx); // no particles at all
    }
    Ok(bx.fitted((Vec3d::from_fn(|d, _| all[d]), Vec3d::from_fn(|d, _| -all[3 + d]))))
}

/// Minimum and maximum coordinate, and whether all are finite and not too large.
#[derive(Clone, Copy)]
struct Span {
    lower: f64,
    upper: f64,
    finite: bool,
}

impl Span {
    const EMPTY: Span = Span { lower: f64::INFINITY, upper: f64::NEG_INFINITY, finite: true };

    fn of(column: &[f64]) -> Self {
        column.par_chunks(CHUNK).map(Self::of_chunk).reduce(|| Self::EMPTY, Self::include)
    }

    /// Processes eight values at a time, which vectorizes; the order does not affect the result.
    fn of_chunk(chunk: &[f64]) -> Self {
        let mut lanes = [Self::EMPTY; 8];
        let (eights, rest) = chunk.as_chunks::<8>();
        for eight in eights {
            for (lane, &x) in lanes.iter_mut().zip(eight) {
                lane.add(x);
            }
        }
        rest.iter().for_each(|&x| lanes[0].add(x));
        lanes.into_iter().fold(Self::EMPTY, Self::include)
    }

    #[inline(always)]
    fn add(&mut self, x: f64) {
        self.lower = if x < self.lower { x } else { self.lower };
        self.upper = if x > self.upper { x } else { self.upper };
        self.finite &= x.abs() <= MAX_DISPLACEMENT;
    }

    fn include(self, other: Self) -> Self {
        Self {
            lower: self.lower.min(other.lower),
            upper: self.upper.max(other.upper),
            finite: self.finite & other.finite,
        }
    }
}

/// Checks that all owned positions are valid and that 32 bits can number the rows.
fn check(particles: &Particles, spans: &[Span; 3]) -> Result<()> {
    let owned = particles.owned();
    for (component, axis) in ["x", "y", "z"].into_iter().enumerate() {
        if spans[component].finite {
            continue;
        }
        let column = particles.component(Field::Position, component);
        let nowhere = |&row: &usize| !column[row].is_finite() || column[row].abs() > MAX_DISPLACEMENT;
        let row = owned.clone().find(nowhere).unwrap_or(owned.start);
        return Err(Error::State {
            step: 0,
            what: format!("particle {} has {axis} = {}, which is no place", particles.id[row], column[row]),
            remedy:
                "look for a time step that is too long, overlapping particles, or wrong initial positions"
                    .into(),
        });
    }
    countable(particles.len())
}

/// Checks that 32 bits can number the rows of a rank, halos included.
fn countable(rows: usize) -> Result<()> {
    if u32::try_from(rows).is_err() {
        return Err(Error::State {
            step: 0,
            what: format!("a rank holds {rows} particles, halos included, more than 32 bits can number"),
            remedy: "use more ranks".into(),
        });
    }
    Ok(())
}

/// Wraps a column of coordinates in place.
fn wrap(column: &mut [f64], bx: &SimulationBox, d: usize) {
    column.par_chunks_mut(CHUNK).flatten_iter().for_each(|x| {
        if !(bx.lower[d]..bx.upper[d]).contains(x) {
            *x = bx.wrap(Vec3d::repeat(*x))[d];
        }
    });
}

/// [`wrap`] that also counts the crossed periods.
fn wrap_counted(column: &mut [f64], image: &mut [f64], bx: &SimulationBox, d: usize) {
    let period = bx.lengths()[d];
    let both = column.par_chunks_mut(CHUNK).zip(image.par_chunks_mut(CHUNK));
    both.flat_map_iter(|(column, image)| column.iter_mut().zip(image)).for_each(|(x, image)| {
        if !(bx.lower[d]..bx.upper[d]).contains(x) {
            let inside = bx.wrap(Vec3d::repeat(*x))[d];
            *image += ((*x - inside) / period).round();
            *x = inside;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_rows_that_are_too_many_are_told() {
        assert!(countable(0xffff_ffff).is_ok());
        let error = countable(0x1_0000_0000).unwrap_err().to_string();
        assert!(error.contains("holds 4294967296 particles"), "{error}");
    }

    proptest! {
        #[test]
        fn images_and_positions_make_a_path_without_jumps(
            steps in prop::collection::vec(prop::array::uniform3(-2.5f64..2.5), 1..40)
        ) {
            let comm = Communicator::solo();
            let boundary = [Boundary::Periodic, Boundary::Open, Boundary::Periodic];
            let mut bx =
                SimulationBox { lower: Vec3d::new(-0.25, -1.0, 3.0), upper: Vec3d::new(0.75, 1.0, 5.0), boundary };
            let mut particles = Particles::new(&[Field::Position, Field::Image], 1);
            let mut path = Vec3d::new(0.0, 0.0, 4.0);
            particles.set_vector(Field::Position, 0, path);
            for step in steps {
                path += Vec3d::from(step);
                let moved = particles.vector_at(Field::Position, 0) + Vec3d::from(step);
                particles.set_vector(Field::Position, 0, moved);
                bx = enter(&comm, &bx, &mut particles).unwrap();
                let (position, image) =
                    (particles.vector_at(Field::Position, 0), particles.vector_at(Field::Image, 0));
                let periods = Vec3d::new(1.0, 0.0, 2.0);
                prop_assert!((position + image.component_mul(&periods) - path).norm() < 1e-12);
                prop_assert!(image.iter().all(|count| count.fract() == 0.0) && image[1] == 0.0);
                prop_assert!((0..3).all(|d| bx.lower[d] <= position[d] && position[d] < bx.upper[d]));
            }
        }
    }
}
