//! Reads the interaction of molecules from a deck, and checks it against the other sections.

use super::check::Deck;
use super::cutoff_check::BoxMismatch;
use super::mistake::Place;
use crate::laws::coulomb;
use crate::laws::interaction::SectionReader;
use crate::plan::*;
use crate::space::{Boundary, SimulationBox};
use crate::units::Dimension;
use std::collections::BTreeSet;
use std::ops::Range;

const COULOMB: &str = coulomb::SECTION.path;

/// Sections of laws; a deck has at most one of them.
fn laws() -> impl Iterator<Item = &'static str> {
    Interaction::SECTIONS.iter().map(|section| section.path)
}

/// Section of a law in a deck.
struct LawSection<'d, 'r> {
    deck: &'d mut Deck<'r>,
    path: &'static str,
    species: &'d [SpeciesPlan],
}

impl SectionReader for LawSection<'_, '_> {
    fn path(&self) -> &'static str {
        self.path
    }

    fn text(&mut self, key: &str) -> String {
        self.deck.text(self.path, key)
    }

    fn chosen_numbers(&mut self, section: &str) -> Vec<(String, f64)> {
        self.deck.chosen_numbers(section)
    }

    fn species(&self) -> Vec<String> {
        self.species.iter().map(|kind| kind.name.clone()).collect()
    }

    fn species_parameters(&mut self) -> Vec<Vec<(String, f64)>> {
        self.deck.species_parameters(self.species)
    }

    fn optional_text(&mut self, key: &str) -> Option<String> {
        self.deck.optional_text(self.path, key)
    }

    fn file(&mut self, key: &str, most: u64) -> Option<String> {
        self.deck.file_of(self.path, key, most)
    }

    fn report_within(&mut self, key: &str, span: Range<usize>, message: String, help: String) {
        let place = self.deck.place_within(self.path, key, span);
        self.deck.report(place, message, help);
    }

    fn number(&mut self, key: &str) -> f64 {
        self.deck.number(self.path, key)
    }

    fn optional_number(&mut self, key: &str) -> Option<f64> {
        self.deck.optional_number(self.path, key)
    }

    fn optional_integer(&mut self, key: &str) -> Option<u64> {
        self.deck.optional_integer(self.path, key)
    }

    fn optional_integers(&mut self, key: &str) -> Option<[u64; 3]> {
        self.deck.optional_integers(self.path, key)
    }

    fn flag(&mut self, key: &str) -> bool {
        self.deck.flag(self.path, key)
    }

    fn choice(&mut self, key: &str) -> &'static str {
        self.deck.choice(self.path, key)
    }

    fn pair_parameters(&mut self) -> PairParameters {
        self.deck.pair_parameters(self.path, self.species)
    }

    fn report(&mut self, keys: &[&str], message: String, help: String) {
        let place = match keys {
            [] => self.deck.section(self.path),
            keys => keys.iter().find_map(|key| self.deck.place(self.path, key)),
        };
        self.deck.report(place, message, help);
    }

    fn without_effect(&mut self, key: &str, why: &str) {
        self.deck.without_effect(self.path, key, why);
    }

    fn format_quantity(&self, value: f64, dimension: Dimension) -> String {
        self.deck.format_quantity(value, dimension)
    }
}

impl Deck<'_> {
    /// Reads the interaction; `None` without the section, or after reporting laws that exclude each other.
    pub(super) fn interaction(&mut self, species: &[SpeciesPlan]) -> Option<InteractionPlan> {
        let header = self.section("interaction");
        let found: Vec<(&'static str, Place)> =
            laws().filter_map(|law| Some((law, self.section(law)?))).collect();
        let charges = self.section(COULOMB);
        let law = match (found.as_slice(), &charges) {
            (&[(path, _)], _) => Interaction::read(path, &mut LawSection { deck: self, path, species }),
            ([], Some(_)) => None,
            ([], None) if header.is_some() => {
                let names = laws().chain([COULOMB]).map(|law| format!("[{law}]")).collect::<Vec<_>>();
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
        if let (Some(place), &[(other, _)]) = (&charges, found.as_slice()) {
            self.alone_or_with_charges(place, other);
        }
        if !matches!(law, Some(Interaction::LennardJones(_))) {
            self.without_parameters();
        }
        if !matches!(law, Some(Interaction::Formula(_))) {
            self.without_formula();
        }
        let other = law.as_ref().map(Interaction::cutoff);
        let coulomb =
            charges.map(|_| Coulomb::read(&mut LawSection { deck: self, path: COULOMB, species }, other));
        let cutoff = other.into_iter().chain(coulomb.as_ref().map(|plan| plan.cutoff)).fold(0.0, f64::max);
        Some(InteractionPlan { law, coulomb, cutoff })
    }

    /// Reports charges combined with a law that does not allow them.
    fn alone_or_with_charges(&mut self, place: &Place, law: &str) {
        let joined = laws().zip(Interaction::WITH_CHARGES).filter(|(_, with)| **with).map(|(law, _)| law);
        let joined: Vec<&str> = joined.collect();
        if !joined.contains(&law) {
            let names = joined.iter().map(|law| format!("[{law}]")).collect::<Vec<_>>().join(", ");
            let message = format!("[{COULOMB}] goes with {names} or alone, not with [{law}]");
            self.report(Some(place.clone()), message, "remove one of them");
        }
    }

    /// Returns the parameters of each species for a formula; reports species that lack a name that others
    /// have.
    fn species_parameters(&mut self, species: &[SpeciesPlan]) -> Vec<Vec<(String, f64)>> {
        let section = |kind: &SpeciesPlan| format!("species.{}.parameters", kind.name);
        let own: Vec<Vec<(String, f64)>> =
            species.iter().map(|kind| self.chosen_numbers(&section(kind))).collect();
        let names: BTreeSet<String> = own.iter().flatten().map(|(name, _)| name.clone()).collect();
        for (kind, parameters) in species.iter().zip(&own) {
            let lacking = names.iter().find(|name| parameters.iter().all(|(own, _)| own != *name));
            if let Some(name) = lacking
                && self.place(&section(kind), name).is_none()
            {
                let path = section(kind);
                let place = self.section(&path).or_else(|| self.section(&format!("species.{}", kind.name)));
                let message = format!("`{name}` is missing in [{path}]: other species have it");
                self.report(place, message, format!("add `{name} = ...` below [{path}]"));
            }
        }
        if names.is_empty() { Vec::new() } else { own }
    }

    /// Without a formula: reports its parameters as having no effect.
    fn without_formula(&mut self) {
        for section in self.instances("species.*.parameters") {
            let message = format!("[{section}] has no effect because of the missing [interaction.formula]");
            self.report(self.section(&section), message, "remove it, or add the formula");
        }
    }

    /// Checks the interaction against the rest of the plan.
    pub(super) fn check_interaction(&mut self, plan: &Plan) {
        let Some(interaction) = &plan.interaction else {
            if self.section("interaction").is_none() {
                for case in ["start.uniform-box", "start.lattice", "start.random", "start.file"] {
                    self.without_effect(case, "temperature", "the missing [interaction]");
                }
            }
            return;
        };
        let header = laws().chain([COULOMB]).find_map(|law| self.section(law));
        if plan.sph.is_some() {
            let message = "[interaction] and [sph] exclude each other".into();
            self.report(header, message, "remove one of them: particles are molecules or parcels of gas");
            return;
        }
        if self.advances(plan) && plan.time_step.fixed.is_none() {
            let message = "molecular dynamics needs a fixed time step".into();
            let help = "add `fixed = ...` in [time_step], such as 0.002 in reduced units";
            self.report(header.clone(), message, help);
        }
        self.charged(plan, interaction);
        self.periodic_tail(plan, interaction);
        self.roomy_box(plan, header);
    }

    /// Reports charges without their interaction, and the interaction without charges.
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

    /// Reports a tail correction in an open box: it assumes a uniform density beyond the cutoff.
    fn periodic_tail(&mut self, plan: &Plan, interaction: &InteractionPlan) {
        let Some(law) = interaction.law.as_ref().filter(|law| law.tail_corrected()) else { return };
        // the box of a start file is not known before it is read
        let known = !matches!(plan.start, StartPlan::File(_));
        if known && plan.space.boundary != Some([Boundary::Periodic; 3]) {
            let message = "a tail needs an even density beyond the cutoff, and the box is open".into();
            let help = "write boundary = \"periodic\" in [space], or tail = false";
            self.report(self.place(law.section().path, "tail"), message, help);
        }
    }

    /// Reports a box too small for the minimum image convention, or too large for the resolution of mixed
    /// precision.
    fn roomy_box(&mut self, plan: &Plan, header: Option<Place>) {
        let Some([lower, upper]) = plan.space.corners else { return };
        let boundary = plan.space.boundary_or_open();
        let bx = SimulationBox { lower: lower.into(), upper: upper.into(), boundary };
        if let Some(BoxMismatch { message, help }) = plan.check_box(&bx) {
            self.report(header, message, help);
        }
    }
}
