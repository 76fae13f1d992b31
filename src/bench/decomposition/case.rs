//! The particles that are decomposed: cases with their decks.

use crate::deck::{self, plan::Plan};
use crate::{Error, Result};

/// What is decomposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Case {
    /// Gas of one density in a periodic box
    Uniform,
    /// The Evrard collapse at its start: gas with gravity
    Evrard,
    /// A Plummer sphere of stars: gravity alone
    Plummer,
    /// The Lennard-Jones liquid of inputs/lj-liquid.toml, whose number of atoms is the next 4 k^3
    Liquid,
}

impl Case {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Case::Uniform => "uniform",
            Case::Evrard => "evrard",
            Case::Plummer => "plummer",
            Case::Liquid => "liquid",
        }
    }

    /// The case with so many particles, with `section.key=value` options over its deck.
    ///
    /// # Errors
    /// [`Error::Deck`] for wrong options.
    pub fn plan(self, particles: u64, overrides: &[String]) -> Result<Plan> {
        let template = |name: &str| deck::template(name).unwrap_or_default();
        let (deck, own) = match self {
            Case::Uniform => {
                let particles = format!("start.uniform-box.particles={particles}");
                (template("uniform-box"), vec![particles, "sph.neighbors=100".to_owned()])
            }
            Case::Evrard => {
                let particles = format!("start.evrard.particles={particles}");
                (template("evrard"), vec![particles, "sph.neighbors=100".to_owned()])
            }
            Case::Plummer => (template("plummer"), vec![format!("start.plummer.particles={particles}")]),
            Case::Liquid => {
                let cells = (particles as f64 / 4.0).cbrt().ceil() as u64;
                let deck = include_str!("../../../inputs/lj-liquid.toml").to_owned();
                (deck, vec![format!("start.lattice.cells={cells}")])
            }
        };
        let all: Vec<String> = own.into_iter().chain(overrides.iter().cloned()).collect();
        let checked = deck::examine(&format!("the deck of {}", self.name()), &deck, &all);
        Ok(checked.map_err(|report| Error::Deck { report: report.to_string() })?.plan)
    }
}
