//! The cases that are measured, with their decks.

use crate::comm::Communicator;
use crate::deck::{
    self,
    plan::{Device, Plan},
};
use crate::step::Simulation;
use crate::{Error, Result};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Case {
    /// Gas of one density in a periodic box
    Uniform,
    /// The Evrard collapse at its start: volume elements and gravity
    Evrard,
    /// The Sedov explosion at its start: volume elements in a periodic cube
    Sedov,
    /// A Plummer sphere of stars: gravity alone
    Plummer,
    /// The Lennard-Jones liquid of inputs/lj-liquid.toml, whose number of atoms is the next 4 k^3
    Liquid,
    /// The ions of inputs/ions.toml, Lennard-Jones and Coulomb, whose number is the next 32 k^3
    Ions,
}

impl Case {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Case::Uniform => "uniform",
            Case::Evrard => "evrard",
            Case::Sedov => "sedov",
            Case::Plummer => "plummer",
            Case::Liquid => "liquid",
            Case::Ions => "ions",
        }
    }

    /// The case with so many particles, with `section.key=value` options over its deck.
    ///
    /// # Errors
    /// [`Error::Deck`] for wrong options.
    pub fn plan(self, particles: u64, overrides: &[String]) -> Result<Plan> {
        let template = |name: &str| deck::template(name).unwrap_or_default();
        let neighbors = "sph.neighbors=100".to_owned();
        let (deck, mut all) = match self {
            Case::Uniform => {
                (template("uniform-box"), vec![format!("start.uniform-box.particles={particles}"), neighbors])
            }
            Case::Evrard => {
                (template("evrard"), vec![format!("start.evrard.particles={particles}"), neighbors])
            }
            Case::Sedov => {
                let particles = format!("start.sedov.particles={particles}");
                (include_str!("../../inputs/sedov.toml").to_owned(), vec![particles])
            }
            Case::Plummer => (template("plummer"), vec![format!("start.plummer.particles={particles}")]),
            Case::Liquid => {
                let cells = format!("start.lattice.cells={}", cells(particles, 4));
                (include_str!("../../inputs/lj-liquid.toml").to_owned(), vec![cells])
            }
            Case::Ions => {
                let edge = cells(particles, 32);
                let cells = format!("start.lattice.cells=[{0}, {0}, {edge}]", 2 * edge);
                (include_str!("../../inputs/ions.toml").to_owned(), vec![cells])
            }
        };
        all.extend(overrides.iter().cloned());
        let checked = deck::examine(&format!("the deck of {}", self.name()), &deck, &all);
        Ok(checked.map_err(|report| Error::Deck { report: report.to_string() })?.plan)
    }
}

/// A plan of what is measured on processors alone.
///
/// # Errors
/// [`Error::Usage`] where it asks for a device.
pub fn on_processors(plan: Plan) -> Result<Plan> {
    match plan.run.device {
        Device::Cuda => Err(Error::usage(
            "this benchmark measures processors, and the option `run.device` asks for a GPU",
            "leave it out; `hilbrium bench step` and `hilbrium bench sweep --device cuda` measure GPUs",
        )),
        Device::Cpu | Device::Auto => Ok(plan),
    }
}

/// A plan's simulation before its first forces; collective.
///
/// # Errors
/// Those of the start.
pub fn simulation(plan: Plan, comm: &Communicator) -> Result<Simulation> {
    let (space, particles) = crate::start::particles(&plan, comm, &Simulation::fields(&plan))?;
    Ok(Simulation::new(plan, comm, space, particles))
}

/// The edge of the smallest cube of cells that hold so many particles, with so many each.
pub fn cells(particles: u64, each: u64) -> u64 {
    let edge = (particles as f64 / each as f64).cbrt().round().max(1.0) as u64;
    if each * edge.pow(3) < particles { edge + 1 } else { edge }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubes_hold_their_particles() {
        for edge in 1..200u64 {
            assert_eq!(cells(4 * edge.pow(3), 4), edge);
            assert_eq!(cells(4 * edge.pow(3) + 1, 4), edge + 1);
            assert_eq!(cells(32 * edge.pow(3) - 31, 32), edge);
        }
    }
}
