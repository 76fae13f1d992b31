//! Molecular dynamics: the interaction, and what it needs of the other sections.

use super::check::Deck;
use super::mistake::Place;
use super::reach::Misfit;
use crate::plan::*;
use crate::space::{Boundary, SimulationBox};
use crate::units::Dimension;

const LENNARD_JONES: &str = "interaction.lennard-jones";
const COULOMB: &str = "interaction.coulomb";
const LAWS: [&str; 3] = [LENNARD_JONES, "interaction.mie", "interaction.yukawa"];

impl Deck<'_> {
    /// The interaction; `None` without the section, or with laws that do not go together, which is reported.
    pub(super) fn interaction(&mut self, species: &[SpeciesPlan]) -> Option<InteractionPlan> {
        let header = self.section("interaction");
        let laws: Vec<(&str, Place)> =
            LAWS.iter().filter_map(|&law| Some((law, self.section(law)?))).collect();
        let charges = self.section(COULOMB);
        let law = match (laws.as_slice(), &charges) {
            ([(law, _)], _) => Some(self.law(law, species)),
            ([], Some(_)) => None,
            ([], None) if header.is_some() => {
                let names = LAWS.iter().chain([&COULOMB]).map(|law| format!("[{law}]")).collect::<Vec<_>>();
                let help = format!("add one of {}", names.join(", "));
                self.report(header, "[interaction] names no law".into(), help);
                return None;
            }
            ([], None) => return None,
            ([(first, _), .., (_, place)], _) => {
                let message = "the deck has more than one interaction".into();
                self.report(Some(place.clone()), message, format!("keep one; the other is [{first}]"));
                return None;
            }
        };
        if let (Some(place), [(other, _)]) = (&charges, laws.as_slice())
            && *other != LENNARD_JONES
        {
            let message = format!("[{COULOMB}] goes with [{LENNARD_JONES}] or alone, not with [{other}]");
            self.report(Some(place.clone()), message, "remove one of them");
        }
        if !matches!(law, Some(Interaction::LennardJones(_))) {
            self.without_parameters();
        }
        let other = law.as_ref().map(Interaction::cutoff);
        let coulomb = charges.map(|_| self.coulomb(other));
        let cutoff = other.into_iter().chain(coulomb.as_ref().map(|plan| plan.cutoff)).fold(0.0, f64::max);
        Some(InteractionPlan { law, coulomb, cutoff })
    }

    fn law(&mut self, law: &'static str, species: &[SpeciesPlan]) -> Interaction {
        match law {
            LENNARD_JONES => Interaction::LennardJones(self.lennard_jones(species)),
            "interaction.mie" => {
                let (repulsive, attractive) = (self.number(law, "repulsive"), self.number(law, "attractive"));
                if repulsive <= attractive {
                    let place = self.place(law, "repulsive").or_else(|| self.place(law, "attractive"));
                    let message = format!("repulsive = {repulsive} is not above attractive = {attractive}");
                    self.report(place, message, "give repulsive > attractive");
                }
                let (epsilon, sigma) = (self.number(law, "epsilon"), self.number(law, "sigma"));
                Interaction::Mie { epsilon, sigma, repulsive, attractive, cutoff: self.number(law, "cutoff") }
            }
            _ => Interaction::Yukawa {
                strength: self.number(law, "strength"),
                screening: self.number(law, "screening"),
                cutoff: self.number(law, "cutoff"),
            },
        }
    }

    fn lennard_jones(&mut self, species: &[SpeciesPlan]) -> LennardJonesPlan {
        let law = LENNARD_JONES;
        let parameters = self.pair_parameters(species);
        let truncation = self.named(law, "truncation", Truncation::named, Truncation::Plain);
        let cutoff = match truncation {
            Truncation::Repulsive => self.minimum(&parameters),
            _ => self.number(law, "cutoff"),
        };
        let switch_start = if truncation == Truncation::Switched {
            self.switch_start(law, cutoff)
        } else {
            self.without_effect(law, "switch_start", "truncation, which is not \"switched\"");
            cutoff
        };
        let tail = self.flag(law, "tail");
        if tail && truncation != Truncation::Plain {
            let message =
                format!("a tail belongs to a plain cutoff, not to truncation = \"{}\"", truncation.name());
            self.report(self.place(law, "tail"), message, "write tail = false, or truncation = \"plain\"");
        }
        LennardJonesPlan { parameters, cutoff, truncation, switch_start, tail }
    }

    /// The distance of the energy's minimum, where only the repulsion is left.
    fn minimum(&mut self, parameters: &PairParameters) -> f64 {
        let law = LENNARD_JONES;
        self.without_effect(
            law,
            "cutoff",
            "truncation = \"weeks-chandler-andersen\", which cuts at 2^(1/6) sigma",
        );
        let PairParameters::Uniform([_, sigma]) = parameters else {
            let message = "the minimum is a cutoff for each pair, and these species have several".into();
            let help = "give all species the same epsilon and sigma, or write truncation = \"shifted\"";
            self.report(self.place(law, "truncation"), message, help);
            return 1.0;
        };
        2f64.powf(1.0 / 6.0) * sigma
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
                format!("`switch_start` is not below cutoff = {}", self.told(cutoff, Dimension::Length)),
                "give switch_start < cutoff",
            );
        }
        start
    }

    /// `[interaction.coulomb]`; without a cutoff it has that of the other law.
    fn coulomb(&mut self, other: Option<f64>) -> CoulombPlan {
        let cutoff = self.optional_number(COULOMB, "cutoff").or(other).unwrap_or_else(|| {
            let help = "give `cutoff = ...` below it";
            self.report(self.section(COULOMB), format!("`cutoff` is missing in [{COULOMB}]"), help);
            1.0
        });
        let truncation =
            self.named(COULOMB, "truncation", CoulombTruncation::named, CoulombTruncation::ReactionField);
        let permittivity = self.optional_number(COULOMB, "permittivity").filter(|value| value.is_finite());
        if truncation != CoulombTruncation::ReactionField {
            let why = "truncation, which is not \"reaction-field\"";
            self.without_effect(COULOMB, "permittivity", why);
            return CoulombPlan { cutoff, truncation, permittivity: None };
        }
        CoulombPlan { cutoff, truncation, permittivity }
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
        let header = LAWS.iter().chain([&COULOMB]).find_map(|&law| self.section(law));
        if plan.sph.is_some() {
            let message = "[interaction] and [sph] exclude each other".into();
            self.report(header, message, "remove one of them: particles are molecules or parcels of gas");
            return;
        }
        let advances = plan.run.steps != Some(0) && plan.run.end_time != Some(0.0);
        if advances && plan.time_step.fixed.is_none() {
            let message = "molecular dynamics needs a fixed time step".into();
            let help = "add `fixed = ...` in [time_step], such as 0.002 in reduced units";
            self.report(header.clone(), message, help);
        }
        self.charged(plan, interaction);
        self.periodic_tail(plan, interaction);
        self.roomy_box(plan, header);
    }

    /// Charges and their interaction come together.
    fn charged(&mut self, plan: &Plan, interaction: &InteractionPlan) {
        if interaction.coulomb.is_none() {
            for section in self.instances("species.*") {
                self.without_effect(&section, "charge", "the missing [interaction.coulomb]");
            }
            return;
        }
        let own = plan.species.iter().any(|kind| kind.charge != 0.0);
        if !own && !matches!(plan.start, StartPlan::File(_)) {
            let message = format!("[{COULOMB}] has nothing to act on: no species has a charge");
            self.report(
                self.section(COULOMB),
                message,
                "give the species charges: `charge = ...` in [species.NAME]",
            );
        }
    }

    /// What is beyond the cutoff is even only where the box goes on.
    fn periodic_tail(&mut self, plan: &Plan, interaction: &InteractionPlan) {
        let tail = matches!(&interaction.law, Some(Interaction::LennardJones(law)) if law.tail);
        // the box of a file is known when it has been read
        let known = !matches!(plan.start, StartPlan::File(_));
        if tail && known && plan.space.boundary != Some([Boundary::Periodic; 3]) {
            let message = "a tail needs an even density beyond the cutoff, and the box is open".into();
            let help = "write boundary = \"periodic\" in [space], or tail = false";
            self.report(self.place(LENNARD_JONES, "tail"), message, help);
        }
    }

    /// Pairs have one image within the cutoff only where the box is wide enough, and mixed precision tells them apart only
    /// where it is not too wide.
    fn roomy_box(&mut self, plan: &Plan, header: Option<Place>) {
        let Some([lower, upper]) = plan.space.corners else { return };
        let boundary = plan.space.boundary_or_open();
        let bx = SimulationBox { lower: lower.into(), upper: upper.into(), boundary };
        if let Some(Misfit { message, help }) = plan.misfit(&bx) {
            self.report(header, message, help);
        }
    }
}
