//! The box and its boundaries: determined here once, from the deck, the start file and the particles.
//!
//! | | first choice | second choice | otherwise |
//! |---|---|---|---|
//! | boundary | the deck's | the file's, stated or by the convention of its format | open |
//! | edges | the deck's | the file's | fitted around the particles, if no dimension is periodic |
//!
//! Particles on or beyond a periodic face are wrapped into the box. If particles lie beyond an open face, the
//! open dimensions are fitted anew; periodic ones keep their edges.

use std::path::Path;

use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::plan::Plan;
use crate::report::{boundary_text, box_text};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};

/// Box data from a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileBox<'a> {
    /// The file.
    pub path: &'a Path,
    /// Lower and upper corner, in the deck's units; `None` if the file has no box.
    pub corners: Option<[Vec3d; 2]>,
    /// The boundary stated by the file, or implied by the convention of its format; `None` if neither.
    pub boundary: Option<[Boundary; 3]>,
    /// Whether the file itself states the boundary.
    pub states_boundary: bool,
}

/// The box of a start, and notes for the user.
pub(super) struct Enclosure {
    pub bx: SimulationBox,
    pub notes: Vec<String>,
}

/// Determines the box of a start and moves every particle inside. Collective.
///
/// Precondition: positions are finite and in the deck's units. Postcondition: every position is inside the
/// box.
///
/// # Errors
/// On all ranks: [`Error::Content`] if a dimension is periodic and neither deck nor file has a box;
/// [`Error::Usage`] if the plan's gravity or tail correction is incompatible with the boundary.
pub(super) fn enclose(
    plan: &Plan,
    file: Option<&FileBox>,
    comm: &Communicator,
    particles: &mut Particles,
) -> Result<Enclosure> {
    let stated = file.and_then(|file| file.boundary);
    let boundary = plan.space.boundary.or(stated).unwrap_or([Boundary::Open; 3]);
    let deck_corners = plan.space.corners.map(|corners| corners.map(Vec3d::from));
    let corners = deck_corners.or(file.and_then(|file| file.corners));
    let bx = match corners {
        Some([lower, upper]) => {
            let bx = SimulationBox { lower, upper, boundary };
            wrap(&bx, particles);
            expanded(bx, comm, particles)
        }
        None if boundary.contains(&Boundary::Periodic) => return Err(no_box(plan, file)),
        None => fitted(boundary, comm, particles),
    };
    check_physics(plan, &bx, file)?;
    Ok(Enclosure { bx, notes: notes(plan, &bx, file) })
}

/// The error for a periodic dimension without edges. For generated starts the deck check has already refused
/// it.
fn no_box(plan: &Plan, file: Option<&FileBox>) -> Error {
    let path = file.map_or_else(Default::default, |file| file.path.to_owned());
    let (what, remedy) = match plan.space.boundary {
        Some(_) => (
            "it has no box, and the deck's boundary is periodic",
            "give lower and upper in [space], or the box in the file",
        ),
        None => (
            "it says that it is periodic, and has no box",
            "give lower and upper in [space], or the box in the file; or write boundary = \"open\" in \
             [space]",
        ),
    };
    Error::Content { path, what: what.into(), remedy: remedy.into() }
}

/// Checks that the plan's physics supports the boundary, which may come from the file.
fn check_physics(plan: &Plan, bx: &SimulationBox, file: Option<&FileBox>) -> Result<()> {
    let whose = || match file {
        Some(file) if plan.space.boundary.is_none() => format!("the boundary of {}", file.path.display()),
        _ => "the boundary".into(),
    };
    if plan.gravity.is_some() && bx.any_periodic() && bx.boundary != [Boundary::Periodic; 3] {
        return Err(Error::usage(
            format!(
                "gravity needs a box that is periodic in all dimensions or in none, and {} is {}",
                whose(),
                boundary_text(&bx.boundary)
            ),
            "write boundary = \"periodic\" or boundary = \"open\" in [space], or remove [gravity] from the deck",
        ));
    }
    if let Some((what, remedy)) = plan.external.and_then(|external| external.refusal(bx.boundary)) {
        return Err(Error::usage(format!("{what} ({} is {})", whose(), boundary_text(&bx.boundary)), remedy));
    }
    if plan.tail_corrected() && bx.boundary != [Boundary::Periodic; 3] {
        return Err(Error::usage(
            format!(
                "a tail correction needs an even density beyond the cutoff, and {} is {}",
                whose(),
                boundary_text(&bx.boundary)
            ),
            "write boundary = \"periodic\" in [space], or tail = false in [interaction.lennard-jones]",
        ));
    }
    Ok(())
}

/// Describes the box with its origin in one line, then the file data that the deck overrides.
fn notes(plan: &Plan, bx: &SimulationBox, file: Option<&FileBox>) -> Vec<String> {
    let mut notes = Vec::new();
    let edges = match file {
        _ if plan.space.corners.is_some() => "edges of the deck",
        Some(file) if file.corners.is_some() => "edges of the file",
        _ => "fitted around the particles",
    };
    let boundary = match file {
        _ if plan.space.boundary.is_some() => "boundary of the deck",
        Some(file) if file.states_boundary => "boundary of the file",
        Some(file) if file.boundary.is_some() => "boundary by the convention of the file's format",
        Some(_) => "neither deck nor file says the boundary, so it is open",
        None => "boundary open by default",
    };
    notes.push(format!("box: {} ({edges}; {boundary})", box_text(bx)));
    let Some(file) = file else { return notes };
    let path = file.path.display();
    if let (Some(ours), Some(theirs)) = (plan.space.boundary, file.boundary.filter(|_| file.states_boundary))
        && ours != theirs
    {
        let theirs = boundary_text(&theirs);
        notes.push(format!("{path}: its boundary ({theirs}) is replaced by `boundary` of [space]"));
    }
    if let (Some(ours), Some([lower, upper])) = (plan.space.corners, file.corners)
        && ours.map(Vec3d::from) != [lower, upper]
    {
        let theirs = box_text(&SimulationBox { lower, upper, boundary: bx.boundary });
        notes.push(format!("{path}: its box {theirs} is replaced by `lower` and `upper` of [space]"));
    }
    notes
}

/// Moves every particle to its image inside the box, and updates the image counts if there is a column for
/// them.
fn wrap(bx: &SimulationBox, particles: &mut Particles) {
    for row in 0..particles.len() {
        let before = particles.vector_at(Field::Position, row);
        let position = bx.wrap(before);
        particles.set_vector(Field::Position, row, position);
        if particles.has(Field::Image) {
            let crossed = (before - position).component_div(&bx.lengths()).map(f64::round);
            particles.set_vector(Field::Image, row, particles.vector_at(Field::Image, row) + crossed);
        }
    }
}

/// Fits the open dimensions of the box anew if a particle lies outside of them.
fn expanded(bx: SimulationBox, comm: &Communicator, particles: &Particles) -> SimulationBox {
    let Some((lower, upper)) = extent(comm, particles) else { return bx };
    let outside =
        |d: usize| bx.boundary[d] == Boundary::Open && (lower[d] < bx.lower[d] || upper[d] >= bx.upper[d]);
    if (0..3).any(outside) { bx.fitted((lower, upper)) } else { bx }
}

/// Fits an open box around the particles; a unit box about the origin if there are none.
fn fitted(boundary: [Boundary; 3], comm: &Communicator, particles: &Particles) -> SimulationBox {
    let unit = SimulationBox { lower: Vec3d::repeat(-0.5), upper: Vec3d::repeat(0.5), boundary };
    extent(comm, particles).map_or(unit, |extent| unit.fitted(extent))
}

/// Minimum and maximum coordinates of the particles of all ranks; `None` if there are no particles.
/// Collective.
pub(super) fn extent(comm: &Communicator, particles: &Particles) -> Option<(Vec3d, Vec3d)> {
    let positions = particles.vector(Field::Position);
    let mut lower = positions.map(|x| x.iter().copied().fold(f64::INFINITY, f64::min));
    let mut upper = positions.map(|x| x.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    comm.all_min(&mut lower);
    comm.all_max(&mut upper);
    (lower[0] <= upper[0]).then(|| (lower.into(), upper.into()))
}
