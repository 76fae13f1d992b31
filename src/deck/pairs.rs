//! Lennard-Jones parameters of pairs of species: by mixing rule, or explicit in `[pair.NAME.NAME]`.

use super::check::Deck;
use super::species::name_of;
use super::suggest::nearest;
use crate::laws::interaction::Potential;
use crate::pair::language::Table;
use crate::plan::*;

const LENNARD_JONES: &str = LennardJones::SECTION.path;
const EXPLICIT: &str = "pair.*.*";

impl Deck<'_> {
    /// Returns the parameters of all pairs for the law of section `law`.
    pub(super) fn pair_parameters(&mut self, law: &str, species: &[SpeciesPlan]) -> PairParameters {
        let rule = self.named(law, "mixing", Mixing::named, Mixing::LorentzBerthelot);
        let own = ["epsilon", "sigma"];
        let given = |kind: &SpeciesPlan| {
            own.iter().any(|name| self.place(&format!("species.{}", kind.name), name).is_some())
        };
        if !species.iter().any(given) {
            self.without_effect(law, "mixing", "the species, none of which has parameters of its own");
            self.without_pairs("the species, none of which has parameters of its own");
            return PairParameters::Uniform([self.number(law, "epsilon"), self.number(law, "sigma")]);
        }
        for name in own {
            self.without_effect(law, name, "the species, each of which has its own");
        }
        if species.len() < 2 {
            self.without_effect(law, "mixing", "the number of species, which is one");
        }
        let own: Vec<[f64; 2]> = species.iter().map(|kind| self.parameters_of(kind)).collect();
        let mut rows: Vec<Vec<[f64; 2]>> =
            own.iter().map(|&a| own.iter().map(|&b| rule.mixed(a, b)).collect()).collect();
        // the geometric mean of equal numbers may differ by rounding
        (0..own.len()).for_each(|a| rows[a][a] = own[a]);
        let explicit = self.explicit_pairs(species, &mut rows);
        if own.iter().all(|kind| *kind == own[0]) && !explicit {
            return PairParameters::Uniform(own[0]);
        }
        if !explicit && rule == Mixing::LorentzBerthelot {
            return PairParameters::Mixed(own);
        }
        if species.len() > Table::<f64>::KINDS {
            let place = match self.instances(EXPLICIT).first() {
                Some(pair) => self.section(pair),
                None => self.place(law, "mixing"),
            };
            let message = format!(
                "{} species are too many for pairs that are not mixed by the rule of Lorentz and Berthelot",
                species.len()
            );
            let help = format!(
                "use that rule without any [pair.NAME.NAME], or at most {} species",
                Table::<f64>::KINDS
            );
            self.report(place, message, help);
        }
        PairParameters::Table(rows)
    }

    /// Returns epsilon and sigma of a species; reports missing ones.
    fn parameters_of(&mut self, kind: &SpeciesPlan) -> [f64; 2] {
        let section = format!("species.{}", kind.name);
        kind.lennard_jones.unwrap_or_else(|| {
            for name in ["epsilon", "sigma"] {
                if self.place(&section, name).is_none() {
                    let message = format!("`{name}` is missing in [{section}]: [{LENNARD_JONES}] needs it");
                    self.report(
                        self.section(&section),
                        message,
                        format!("add `{name} = ...` below [{section}]"),
                    );
                }
            }
            [1.0; 2]
        })
    }

    /// Enters the parameters of all `[pair.NAME.NAME]` sections into `rows`. Returns whether there is one.
    fn explicit_pairs(&mut self, species: &[SpeciesPlan], rows: &mut [Vec<[f64; 2]>]) -> bool {
        let pairs = self.instances(EXPLICIT);
        let mut known: Vec<[usize; 2]> = Vec::new();
        for pair in &pairs {
            let Some([a, b]) = self.named_pair(pair, species) else { continue };
            if known.contains(&[a.min(b), a.max(b)]) {
                let message = format!("[{pair}] is given twice: the order of the names does not matter");
                self.report(self.section(pair), message, "keep one of the two");
                continue;
            }
            known.push([a.min(b), a.max(b)]);
            let given = ["epsilon", "sigma"].map(|name| self.optional_number(pair, name));
            if ["epsilon", "sigma"].iter().all(|name| self.place(pair, name).is_none()) {
                let message = format!("[{pair}] gives neither `epsilon` nor `sigma`");
                self.report(self.section(pair), message, "give one of them or both, or remove the section");
            }
            for (k, value) in given.into_iter().enumerate().filter_map(|(k, value)| Some((k, value?))) {
                rows[a][b][k] = value;
                rows[b][a][k] = value;
            }
        }
        !pairs.is_empty()
    }

    /// Returns the indices of the two species in a section's name; reports unknown and equal ones.
    fn named_pair(&mut self, pair: &str, species: &[SpeciesPlan]) -> Option<[usize; 2]> {
        let around = pair.strip_suffix(name_of(pair)).unwrap_or("").trim_end_matches('.');
        let names = [name_of(around), name_of(pair)];
        let mut found = [0; 2];
        for (place, name) in found.iter_mut().zip(names) {
            let Some(k) = species.iter().position(|kind| kind.name == name) else {
                let known = species.iter().map(|kind| kind.name.as_str());
                let help = match nearest(name, known.clone()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("the species are {}", known.take(20).collect::<Vec<_>>().join(", ")),
                };
                self.report(self.section(pair), format!("there is no species `{name}` for [{pair}]"), help);
                return None;
            };
            *place = k;
        }
        if found[0] == found[1] {
            let message = format!("[{pair}] is a pair of one species");
            let help = format!("give its epsilon and sigma in [species.{}]", names[0]);
            self.report(self.section(pair), message, help);
            return None;
        }
        Some(found)
    }

    /// Without Lennard-Jones: reports epsilon and sigma of species and pairs as having no effect.
    pub(super) fn without_parameters(&mut self) {
        let why = "the missing [interaction.lennard-jones]";
        for section in self.instances("species.*") {
            ["epsilon", "sigma"].iter().for_each(|name| self.without_effect(&section, name, why));
        }
        self.without_pairs(why);
    }

    fn without_pairs(&mut self, why: &str) {
        for pair in self.instances(EXPLICIT) {
            let message = format!("[{pair}] has no effect because of {why}");
            self.report(self.section(&pair), message, format!("remove it, or change {why}"));
        }
    }
}
