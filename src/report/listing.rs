//! Listings of one name and value per line, for the summaries of files.

use crate::space::{Boundary, SimulationBox};
use std::fmt::{Display, Write};

/// Lines of one name and one value.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    text: String,
}

impl Listing {
    /// Adds a line; control characters of the value become blanks.
    pub fn line(&mut self, name: &str, value: impl Display) {
        let value: String =
            value.to_string().chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        // writing to a string cannot fail
        let _ = writeln!(self.text, "{name:<12}{value}");
    }

    /// Returns all lines.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// Formats a box: `[0, 1) periodic x [0, 2) open x [-1, 1) open`.
pub fn box_text(bx: &SimulationBox) -> String {
    let side = |d: usize| {
        let boundary = if bx.boundary[d] == Boundary::Periodic { "periodic" } else { "open" };
        format!("[{}, {}) {boundary}", bx.lower[d], bx.upper[d])
    };
    [side(0), side(1), side(2)].join(" x ")
}

/// Formats boundaries: `open`, or per dimension if they differ.
pub fn boundary_text(boundary: &[Boundary; 3]) -> String {
    let name = |boundary: Boundary| if boundary == Boundary::Periodic { "periodic" } else { "open" };
    let names = boundary.map(name);
    if names.iter().all(|name| *name == names[0]) {
        names[0].to_owned()
    } else {
        format!("{} in x, {} in y, {} in z", names[0], names[1], names[2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Vec3d;

    #[test]
    fn a_line_stays_a_line() {
        let mut listing = Listing::default();
        listing.line("title", "one\ntwo\u{1b}[2J");
        listing.line("step", 7);
        assert_eq!(listing.into_text(), "title       one two [2J\nstep        7\n");
    }

    #[test]
    fn boxes_are_told_by_their_sides() {
        let boundary = [Boundary::Periodic, Boundary::Open, Boundary::Open];
        let bx =
            SimulationBox { lower: Vec3d::new(0.0, 0.0, -1.0), upper: Vec3d::new(1.0, 2.5, 1.0), boundary };
        assert_eq!(box_text(&bx), "[0, 1) periodic x [0, 2.5) open x [-1, 1) open");
    }
}
