//! Test cases: initial states with their exact or reference solutions, one file each.
//!
//! The file of a case has its deck section, its particles, its solution, and the checks and pictures of
//! `hilbrium validate SNAPSHOT --against CASE`. [`case::Case`] is the interface, `tools` has what cases
//! share.

pub mod case;
pub mod tools;

use crate::layout::Layout;
use crate::layout::glass::Tile;
use crate::particles::Field;
use crate::sections::Section;
use case::cases;
pub use case::{Case, CaseReader, PointMass, Softening, Surroundings, Template};
use std::ops::Range;
pub use tools::history::History;
pub use tools::subject::{Findings, Subject};
pub use tools::verdict::{Check, Outcome, Verdict};

// The cases ([start.NAME]), in the order of a printed deck. The macro declares their modules, so `cargo fmt`
// does not find them: format them with rustfmt --edition 2024 src/cases/*.rs
cases! {
    evrard,
    plummer,
    sedov,
    gas_at_rest,
    sod,
    sound_wave,
    gresho,
    noh,
    isobaric_cube,
    unequal_masses,
    yee,
    kelvin_helmholtz,
    two_body,
    cold_collapse,
    polytrope,
    keplerian_ring,
    isothermal_collapse,
    blast_waves,
    jeans,
    zeldovich,
    plummer_pair,
}

impl AnyCase {
    /// Names for `--against` and `hilbrium new`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::SECTIONS.iter().map(|section| name_of(section.path))
    }

    /// The name of the case.
    pub fn name(&self) -> &'static str {
        name_of(self.section().path)
    }
}

/// The name of the case of a section `start.NAME`.
fn name_of(path: &'static str) -> &'static str {
    path.strip_prefix("start.").unwrap_or(path)
}
