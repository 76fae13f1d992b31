//! The box and boundaries that a file states, and a check for three dimensions.

use super::groups::Groups;
use super::refusal::{Checked, Refusal};
use crate::space::{Boundary, SimulationBox, Vec3d};

/// Flags of periodic boundaries: SWIFT's parameter, EAGLE's.
const PERIODIC: [(&str, &str); 3] = [
    ("Parameters", "InitialConditions:periodic"),
    ("RuntimePars", "PeriodicBoundariesOn"),
    ("Parameters", "PeriodicBoundariesOn"),
];

/// Options of Gadget-4's and Arepo's Config.sh that stretch the box.
const STRETCHED: [&str; 6] = ["LONG_X_BITS", "LONG_Y_BITS", "LONG_Z_BITS", "LONG_X", "LONG_Y", "LONG_Z"];

/// Expands one number to all three edges, or takes three.
fn expand_to_three(numbers: &[f64]) -> Option<[f64; 3]> {
    match *numbers {
        [edge] => Some([edge; 3]),
        [x, y, z] => Some([x, y, z]),
        _ => None,
    }
}

/// The refusal of data that are not three-dimensional; `what` is the evidence.
pub(super) fn not_three_dimensional(what: &str) -> Refusal {
    Refusal::new(
        format!("it is not three-dimensional: {what}"),
        "hilbrium runs in three dimensions only: repeat the particles along the missing ones, and write \
         Dimension 3, three \
         coordinates, and a box with three edges",
    )
}

/// Checks that a file does not declare fewer than three dimensions.
///
/// # Errors
/// A file that does.
pub(super) fn check_three_dimensional(groups: &Groups) -> Checked<()> {
    match groups.number("Header", "Dimension")? {
        Some(dimension) if dimension != 3.0 => {
            return Err(not_three_dimensional(&format!("Header/Dimension is {dimension}")));
        }
        _ => {}
    }
    match ["TWODIMS", "ONEDIMS"].iter().find(|name| groups.has("Config", name)) {
        Some(name) => Err(not_three_dimensional(&format!("Config has {name}"))),
        None => Ok(()),
    }
}

/// The stated box, with edges and lower corner multiplied by `factor` to make them physical; `None` if the
/// file states none, or zeros. Boundaries are set to open.
///
/// # Errors
/// An invalid box.
pub(super) fn stated_box(groups: &Groups, factor: f64) -> Checked<Option<SimulationBox>> {
    const REMEDY: &str =
        "write one positive number or three to Header/BoxSize, or delete it: the file then has no box";
    let Some(numbers) = groups.numbers("Header", "BoxSize")? else { return Ok(None) };
    let Some(edges) = expand_to_three(&numbers) else {
        let what = format!("Header/BoxSize has {} numbers, {numbers:?}", numbers.len());
        let solid = groups.number("Header", "Dimension")?.is_some();
        return Err(if numbers.len() == 2 && !solid {
            not_three_dimensional(&what)
        } else {
            Refusal::new(what, REMEDY)
        });
    };
    if edges == [0.0; 3] {
        return Ok(None);
    }
    if edges.iter().any(|edge| !(*edge > 0.0 && edge.is_finite())) {
        return Err(Refusal::new(format!("Header/BoxSize is {numbers:?}: an edge is not positive"), REMEDY));
    }
    if let Some(option) = STRETCHED.iter().find(|name| groups.has("Config", name)) {
        return Err(Refusal::new(
            format!("its box is stretched by the option {option}, so that Header/BoxSize is not its edges"),
            format!("write the three edges to Header/BoxSize, and delete {option} from Config"),
        ));
    }
    let lower = match groups.numbers("Header", "BoxLower")? {
        Some(numbers) => expand_to_three(&numbers).filter(|lower| lower.iter().all(|x| x.is_finite())).ok_or_else(|| {
            Refusal::new(
                format!("Header/BoxLower is {numbers:?}"),
                "write one finite number or three to Header/BoxLower, or delete it: the box then begins at \
                 zero",
            )
        })?,
        None => [0.0; 3],
    };
    let (lower, edges) = (Vec3d::from(lower) * factor, Vec3d::from(edges) * factor);
    let upper = lower + edges;
    if !(0..3).all(|d| lower[d] < upper[d] && upper[d].is_finite()) {
        return Err(Refusal::new(
            format!("its box of the edges {edges:?} from {lower:?} has no room in double precision"),
            REMEDY,
        ));
    }
    Ok(Some(SimulationBox { lower, upper, boundary: [Boundary::Open; 3] }))
}

/// The stated boundaries.
///
/// # Errors
/// Contradictory statements.
pub(super) fn stated_boundary(groups: &Groups) -> Checked<Option<[Boundary; 3]>> {
    let boundary = |periodic: bool| if periodic { Boundary::Periodic } else { Boundary::Open };
    if let Some(numbers) = groups.numbers("Header", "Periodic")? {
        // Our own attribute. Our files also have the flags of the other programs, which are less precise.
        return match expand_to_three(&numbers)
            .filter(|flags| flags.iter().all(|flag| *flag == 0.0 || *flag == 1.0))
        {
            Some(flags) => Ok(Some(flags.map(|flag| boundary(flag != 0.0)))),
            None => Err(Refusal::new(
                format!("Header/Periodic is {numbers:?}"),
                "write 0 or 1 to Header/Periodic, once or for each dimension, or delete it",
            )),
        };
    }
    let mut stated: Vec<(String, bool)> = Vec::new();
    for (group, name) in PERIODIC {
        if let Some(number) = groups.number(group, name)? {
            stated.push((format!("{group}/{name}"), number != 0.0));
        }
    }
    if groups.has("Config", "PERIODIC") {
        stated.push(("Config/PERIODIC".into(), true));
    }
    let of = |wanted: bool| stated.iter().find(|(_, periodic)| *periodic == wanted).map(|(name, _)| name);
    match (of(true), of(false)) {
        (Some(on), Some(off)) => Err(Refusal::new(
            format!("{on} says that it is periodic, {off} that it is not"),
            format!("delete the wrong one of the two: {on}, {off}"),
        )),
        (None, None) => Ok(None),
        (on, _) => Ok(Some([boundary(on.is_some()); 3])),
    }
}
