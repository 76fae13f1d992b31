//! Molecular dynamics: the one interaction, and what it needs of the other sections.

use super::check::Deck;
use super::mistake::Place;
use super::plan::*;
use crate::space::Boundary;

const LAWS: [&str; 3] = ["interaction.lennard-jones", "interaction.mie", "interaction.yukawa"];

impl Deck<'_> {
    /// The one interaction; `None` without the section, or with more than one law, which is reported.
    pub(super) fn interaction(&mut self, _species: &[SpeciesPlan]) -> Option<InteractionPlan> {
        let header = self.section("interaction");
        let laws: Vec<(&str, Place)> =
            LAWS.iter().filter_map(|&law| Some((law, self.section(law)?))).collect();
        match laws.as_slice() {
            [(law, _)] => {
                let cutoff = self.number(law, "cutoff");
                Some(InteractionPlan { law: self.law(law, cutoff), cutoff })
            }
            [] if header.is_some() => {
                let names = LAWS.map(|law| format!("[{law}]")).join(", ");
                self.report(header, "[interaction] names no law".into(), format!("add one of {names}"));
                None
            }
            [] => None,
            [(first, _), .., (_, place)] => {
                let message = "the deck has more than one interaction".into();
                self.report(Some(place.clone()), message, format!("keep one; the other is [{first}]"));
                None
            }
        }
    }

    fn law(&mut self, law: &'static str, cutoff: f64) -> Interaction {
        match law {
            "interaction.lennard-jones" => {
                let truncation = self.named(law, "truncation", Truncation::named, Truncation::Plain);
                let switch_start = if truncation == Truncation::Switched {
                    self.switch_start(law, cutoff)
                } else {
                    self.without_effect(law, "switch_start", "truncation, which is not \"switched\"");
                    cutoff
                };
                let (epsilon, sigma) = (self.number(law, "epsilon"), self.number(law, "sigma"));
                Interaction::LennardJones { epsilon, sigma, truncation, switch_start }
            }
            "interaction.mie" => {
                let (repulsive, attractive) = (self.number(law, "repulsive"), self.number(law, "attractive"));
                if repulsive <= attractive {
                    let place = self.place(law, "repulsive").or_else(|| self.place(law, "attractive"));
                    let message = format!("repulsive = {repulsive} is not above attractive = {attractive}");
                    self.report(place, message, "give repulsive > attractive");
                }
                let (epsilon, sigma) = (self.number(law, "epsilon"), self.number(law, "sigma"));
                Interaction::Mie { epsilon, sigma, repulsive, attractive }
            }
            _ => Interaction::Yukawa {
                strength: self.number(law, "strength"),
                screening: self.number(law, "screening"),
            },
        }
    }

    fn switch_start(&mut self, law: &'static str, cutoff: f64) -> f64 {
        let Some(start) = self.optional_number(law, "switch_start") else {
            let place = self.place(law, "truncation");
            let message = "a switched force needs a `switch_start`".into();
            self.report(place, message, format!("add `switch_start = ...` below the cutoff in [{law}]"));
            return 0.5 * cutoff;
        };
        if start >= cutoff {
            let place = self.place(law, "switch_start");
            self.report(
                place,
                format!("`switch_start` is not below cutoff = {cutoff}"),
                "give switch_start < cutoff",
            );
        }
        start
    }

    /// The rules that join an interaction with the rest.
    pub(super) fn joined_interaction(&mut self, plan: &Plan) {
        let Some(interaction) = &plan.interaction else {
            if self.section("interaction").is_none() {
                for case in ["start.uniform-box", "start.lattice", "start.random", "start.file"] {
                    self.without_effect(case, "temperature", "the missing [interaction]");
                }
            }
            return;
        };
        let header = LAWS.iter().find_map(|&law| self.section(law));
        if plan.sph.is_some() {
            let place = header.clone();
            let message = "[interaction] and [sph] exclude each other".into();
            self.report(place, message, "remove one of them: particles are molecules or parcels of gas");
            return;
        }
        let advances = plan.run.steps != Some(0) && plan.run.end_time != Some(0.0);
        if advances && plan.time_step.fixed.is_none() {
            let place = header.clone();
            let message = "molecular dynamics needs a fixed time step".into();
            self.report(place, message, "add `fixed = ...` in [time_step], such as 0.002 in reduced units");
        }
        let Some([lower, upper]) = plan.space.corners else { return };
        let reach = interaction.cutoff * (1.0 + plan.neighbors.least_skin());
        for d in 0..3 {
            let length = upper[d] - lower[d];
            if plan.space.boundary[d] == Boundary::Periodic && 2.0 * reach >= length {
                let axis = ["x", "y", "z"][d];
                let place = header.clone();
                let message = format!(
                    "the box is too small in {axis}: its edge of {length} is not above twice the cutoff with its skin, {}",
                    2.0 * reach
                );
                self.report(
                    place,
                    message,
                    "use a larger box, a shorter cutoff, or less skin in [neighbors]",
                );
                return;
            }
        }
    }
}
