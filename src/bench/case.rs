//! Benchmark cases and their decks.

use crate::comm::Communicator;
use crate::deck;
use crate::plan::{Device, Plan};
use crate::step::Simulation;
use crate::{Error, Result};

/// A benchmark case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Case {
    /// Gas of one density in a periodic box
    Uniform,
    /// Evrard collapse, initial state: volume elements and gravity
    Evrard,
    /// Sedov explosion, initial state: volume elements in a periodic cube
    Sedov,
    /// Plummer sphere of stars: gravity alone
    Plummer,
    /// The Lennard-Jones liquid of inputs/lj-liquid.toml; rounds the number of atoms up to 4 k^3
    Liquid,
    /// The ions of inputs/ions.toml, Lennard-Jones and Coulomb; rounds the number of ions up to 32 k^3
    Ions,
    /// The ions of inputs/salt-pme.toml, with an Ewald sum; rounds the number of ions up to 32 k^3
    Salt,
}

impl Case {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Case::Uniform => "uniform",
            Case::Evrard => "evrard",
            Case::Sedov => "sedov",
            Case::Plummer => "plummer",
            Case::Liquid => "liquid",
            Case::Ions => "ions",
            Case::Salt => "salt",
        }
    }

    /// Returns the plan of the case with `particles` particles and `section.key=value` overrides of its deck.
    ///
    /// # Errors
    /// [`Error::Deck`] for wrong overrides.
    pub fn plan(self, particles: u64, overrides: &[String]) -> Result<Plan> {
        let template = |name: &str| deck::template(name).unwrap_or_default();
        // the setting of SPH-EXA, with which figures are compared; --set takes any other
        let sph_exa = ["sph.kernel=sinc-6", "sph.neighbors=100"].map(str::to_owned);
        let of_gas = |particles: String| [particles].into_iter().chain(sph_exa).collect();
        let (deck, mut all) = match self {
            Case::Uniform => {
                (template("uniform-box"), of_gas(format!("start.uniform-box.particles={particles}")))
            }
            Case::Evrard => (template("evrard"), of_gas(format!("start.evrard.particles={particles}"))),
            Case::Sedov => {
                let particles = format!("start.sedov.particles={particles}");
                (include_str!("../../inputs/sedov.toml").to_owned(), of_gas(particles))
            }
            Case::Plummer => (template("plummer"), vec![format!("start.plummer.particles={particles}")]),
            Case::Liquid => {
                let cells = format!("start.lattice.cells={}", cells(particles, 4));
                (include_str!("../../inputs/lj-liquid.toml").to_owned(), vec![cells])
            }
            Case::Ions | Case::Salt => {
                let edge = cells(particles, 32);
                let cells = format!("start.lattice.cells=[{0}, {0}, {edge}]", 2 * edge);
                let deck = match self {
                    Case::Salt => include_str!("../../inputs/salt-pme.toml"),
                    _ => include_str!("../../inputs/ions.toml"),
                };
                (deck.to_owned(), vec![cells])
            }
        };
        all.extend(overrides.iter().cloned());
        let checked = deck::examine(&format!("the deck of {}", self.name()), &deck, &all);
        Ok(checked.map_err(|report| Error::Deck { report: report.to_string() })?.plan)
    }
}

/// Passes on a plan for a CPU-only benchmark.
///
/// # Errors
/// [`Error::Usage`] if the plan selects a GPU.
pub fn on_processors(plan: Plan) -> Result<Plan> {
    match plan.run.device {
        Device::Cuda => Err(Error::usage(
            "this benchmark measures processors, and the option `run.device` asks for a GPU",
            "leave it out; `hilbrium bench step` and `hilbrium bench sweep --device cuda` measure GPUs",
        )),
        Device::Cpu | Device::Auto => Ok(plan),
    }
}

/// Creates the simulation of a plan, before its first forces. Collective.
///
/// # Errors
/// Errors of the start.
pub fn simulation(plan: Plan, comm: &Communicator) -> Result<Simulation> {
    let (space, particles) = crate::start::particles(&plan, comm, &Simulation::fields(&plan))?;
    Ok(Simulation::new(plan, comm, space, particles))
}

/// Returns the edge of the smallest cube of cells that holds `particles` particles with `each` particles per
/// cell.
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
