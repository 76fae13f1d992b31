//! Checks `[species.NAME]`: kinds of molecules, their fractions and names.

use super::check::Deck;
use crate::plan::*;
use crate::units::UnitSystem;
use std::collections::BTreeMap;

/// Largest number of species: no force field has as many atom types in one system, so more are a mistake.
const MAX_SPECIES: usize = 1000;
/// Largest deviation of the sum of the fractions from 1 that counts as rounding.
const ROUNDING_TOLERANCE: f64 = 1e-6;

impl Deck<'_> {
    /// Returns every `[species.NAME]` in the order of the deck.
    pub(super) fn species(&mut self) -> Vec<SpeciesPlan> {
        let sections = self.instances("species.*");
        if sections.is_empty()
            && let Some(place) = self.section("species")
        {
            let help = "give each kind a section, [species.NAME], with its mass";
            self.report(Some(place), "[species] names no species".into(), help);
        }
        if sections.len() > MAX_SPECIES {
            let message = format!("the deck has {} species", sections.len());
            self.report(self.section("species"), message, format!("at most {MAX_SPECIES} species"));
            return Vec::new();
        }
        let mut species: Vec<SpeciesPlan> = sections
            .iter()
            .map(|section| SpeciesPlan {
                name: name_of(section).into(),
                names: self.optional_texts(section, "names").unwrap_or_default(),
                mass: self.number(section, "mass"),
                charge: self.number(section, "charge"),
                lennard_jones: self
                    .optional_number(section, "epsilon")
                    .zip(self.optional_number(section, "sigma"))
                    .map(<[f64; 2]>::from),
                fraction: self.optional_number(section, "fraction").unwrap_or(f64::NAN),
            })
            .collect();
        self.fractions(&sections, &mut species);
        self.distinct_names(&sections, &species);
        species
    }

    /// Reports a name in `names` that belongs to two species.
    fn distinct_names(&mut self, sections: &[String], species: &[SpeciesPlan]) {
        let mut owners: BTreeMap<&str, usize> =
            species.iter().enumerate().map(|(k, kind)| (kind.name.as_str(), k)).collect();
        for (k, (section, kind)) in sections.iter().zip(species).enumerate() {
            for name in &kind.names {
                let owner = *owners.entry(name).or_insert(k);
                if owner != k {
                    let message = format!("`names` has \"{name}\", which is a name of [{}]", sections[owner]);
                    let help = "give each name to one species";
                    self.report(self.place(section, "names"), message, help);
                }
            }
        }
    }

    /// Normalizes the fractions to the sum 1; without fractions all are equal. Reports fractions of some
    /// species only, and a sum that is not 1.
    fn fractions(&mut self, sections: &[String], species: &mut [SpeciesPlan]) {
        let count = species.len();
        let with_fraction =
            sections.iter().filter(|section| self.place(section, "fraction").is_some()).count();
        if with_fraction == 0 {
            species.iter_mut().for_each(|kind| kind.fraction = 1.0 / count as f64);
            return;
        }
        if let Some(lacking) = sections.iter().find(|section| self.place(section, "fraction").is_none()) {
            let message = format!("`fraction` is missing in [{lacking}]: other species have one");
            self.report(self.section(lacking), message, "give every species a fraction, or none");
            return;
        }
        let sum: f64 = species.iter().map(|kind| kind.fraction).sum();
        // a fraction that is not a number has been reported already
        if (sum - 1.0).abs() > ROUNDING_TOLERANCE {
            let place = sections.last().and_then(|section| self.place(section, "fraction"));
            self.report(place, format!("the fractions of the species add up to {sum}"), "make their sum 1");
        }
        species.iter_mut().for_each(|kind| kind.fraction /= sum);
    }

    /// Returns the mean mass of `particles` particles of a generated start.
    pub(super) fn mean_mass(species: &[SpeciesPlan], particles: f64) -> f64 {
        let counts = composition(species, particles as u64);
        let mass: f64 = counts.iter().zip(species).map(|(&count, kind)| count as f64 * kind.mass).sum();
        mass / particles.max(1.0)
    }

    /// Checks units and species against the start and the interaction.
    pub(super) fn check_species(&mut self, plan: &Plan) {
        if matches!(&plan.start, StartPlan::Lattice(lattice) if lattice.kind == LatticeKind::RockSalt) {
            if plan.species.len() != 2 {
                let message = format!("rock salt is of two species, and the deck has {}", plan.species.len());
                let place = self.place("start.lattice", "kind");
                self.report(place, message, "give two sections [species.NAME], or choose another lattice");
            }
            for section in self.instances("species.*") {
                self.without_effect(&section, "fraction", "kind = \"rock-salt\", which has equal parts");
            }
        }
        if plan.interaction.is_some() || self.section("interaction").is_some() {
            return;
        }
        if plan.units.system == UnitSystem::Molecular {
            let message = "molecular units are for molecules, and the deck has no [interaction]".into();
            let help = "remove [units]: gas and gravity have no units of their own";
            self.report(self.place("units", "system"), message, help);
        }
        if let Some(first) = self.instances("species.*").first() {
            let message = "species are kinds of molecules, and the deck has no [interaction]".into();
            self.report(self.section(first), message, "add an [interaction.LAW], or remove the species");
        }
    }
}

/// Returns the user's name at the end of a section path.
pub(super) fn name_of(section: &str) -> &str {
    section.rsplit('.').next().unwrap_or(section)
}
