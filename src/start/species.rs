//! Maps the species names of a file to the deck's species.
//!
//! A name matches the species with this section name or with this entry in `names`. Without an exact match,
//! it matches the only species that differs in case, unless the file has both spellings. Type numbers are
//! names too ("1").

use std::collections::BTreeMap;
use std::path::Path;

use crate::particles::{Field, Particles};
use crate::plan::Plan;
use crate::{Error, Result};

/// Maximum number of names in a message.
const MAX_LISTED: usize = 8;

/// Why the names do not match the deck, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub what: String,
    pub remedy: String,
}

impl Mismatch {
    pub(super) fn of_file(self, path: &Path) -> Error {
        Error::Content { path: path.to_owned(), what: self.what, remedy: self.remedy }
    }
}

/// The deck's species index of each name; all 0 if the deck has no species and there is at most one name.
///
/// # Errors
/// Names that the deck lacks, or that would share a species although the deck does not say so.
pub(crate) fn indices(names: &[String], plan: &Plan) -> Result<Vec<usize>, Mismatch> {
    if plan.species.is_empty() {
        return if names.len() > 1 { Err(without_species(names)) } else { Ok(vec![0; names.len()]) };
    }
    let to_the_letter = |name: &str| {
        plan.species.iter().position(|kind| kind.name == name || kind.names.iter().any(|n| n == name))
    };
    let in_other_capitals = |name: &str| {
        let same = |other: &String| other.eq_ignore_ascii_case(name);
        let mut found = (0..plan.species.len())
            .filter(|&k| same(&plan.species[k].name) || plan.species[k].names.iter().any(same));
        found.next().filter(|_| found.next().is_none())
    };
    let exact: Vec<Option<usize>> = names.iter().map(|name| to_the_letter(name)).collect();
    let found: Vec<Option<usize>> =
        names.iter().zip(&exact).map(|(name, exact)| exact.or_else(|| in_other_capitals(name))).collect();
    let lacking: Vec<String> =
        names.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(name, _)| name.clone()).collect();
    if !lacking.is_empty() {
        return Err(unknown(&lacking, plan));
    }
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for (k, species) in found.iter().flatten().enumerate() {
        let other = *first.entry(*species).or_insert(k);
        if other != k && (exact[k].is_none() || exact[other].is_none()) {
            let section = &plan.species[*species].name;
            return Err(Mismatch {
                what: format!(
                    "its names \"{}\" and \"{}\" would both be the deck's {section}",
                    names[other], names[k]
                ),
                remedy: format!(
                    "write names = [\"{}\", \"{}\"] in [species.{section}] if they are one species, else \
                     give one of \
                     them a section of its own",
                    names[other], names[k]
                ),
            });
        }
    }
    Ok(found.into_iter().flatten().collect())
}

fn without_species(names: &[String]) -> Mismatch {
    Mismatch {
        what: format!("it has the species {}, and the deck knows one kind of particles", listed(names)),
        remedy: format!("give the deck a section for each:\n{}", sections_for(names)),
    }
}

fn unknown(lacking: &[String], plan: &Plan) -> Mismatch {
    let known: Vec<String> = plan.species.iter().map(|kind| kind.name.clone()).collect();
    let numbers = lacking.iter().all(|name| name.parse::<u64>().is_ok());
    let kind = if numbers { "the types without names" } else { "the species" };
    Mismatch {
        what: format!("it has {kind} {}, and the deck has {}", listed(lacking), listed(&known)),
        remedy: format!(
            "write names = [\"{}\"] below the species that it is, if the deck has it, or give the deck a \
             section for it:\n{}",
            lacking[0],
            sections_for(lacking)
        ),
    }
}

/// Proposes deck sections for names of a file, with `names` if a section cannot have the name itself.
fn sections_for(names: &[String]) -> String {
    let section = |name: &String| {
        let plain: String =
            name.chars().filter(|&c| c.is_ascii_alphanumeric() || "_+-".contains(c)).take(24).collect();
        let heading = if plain.is_empty() { "other" } else { &plain };
        let quoted = if heading.contains('+') { format!("\"{heading}\"") } else { heading.to_owned() };
        let names = if *name == plain { String::new() } else { format!("    names = [{name:?}]\n") };
        format!("    [species.{quoted}]\n{names}    mass = ...\n")
    };
    names.iter().take(MAX_LISTED).map(section).collect::<String>().trim_end().to_owned()
}

/// Formats names in quotes for messages; truncates long lists.
pub(super) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("\"{name}\"")).collect();
    shown.join(", ") + if names.len() > MAX_LISTED { ", ..." } else { "" }
}

/// Replaces the species numbers of a file or checkpoint, whose names are `names[number]`, by the deck's. Sets
/// mass and charge to those of the deck's species.
///
/// # Errors
/// [`Mismatch`] of the names; a number without a name.
pub(crate) fn assign(particles: &mut Particles, names: &[String], plan: &Plan) -> Result<(), Mismatch> {
    if plan.species.is_empty() && names.len() < 2 {
        return Ok(());
    }
    // Without names, all particles are of the deck's only species.
    let indices = if names.is_empty() && plan.species.len() == 1 { vec![0] } else { indices(names, plan)? };
    for row in 0..particles.len() {
        let number = if particles.has(Field::Species) { particles.scalar(Field::Species)[row] } else { 0.0 };
        let known = (0.0..indices.len() as f64).contains(&number) && number.fract() == 0.0;
        if !known {
            return Err(Mismatch {
                what: format!(
                    "particle {} is of species {number}, and {} are named",
                    particles.id[row],
                    indices.len()
                ),
                remedy: "number the species from 0 in the order of their names".into(),
            });
        }
        let index = indices[number as usize];
        if particles.has(Field::Species) {
            particles.scalar_mut(Field::Species)[row] = index as f64;
        }
        let Some(kind) = plan.species.get(index) else { continue };
        particles.scalar_mut(Field::Mass)[row] = kind.mass;
        if particles.has(Field::Charge) {
            particles.scalar_mut(Field::Charge)[row] = kind.charge;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck;

    fn plan(species: &str) -> Plan {
        let text = format!(
            "[run]\nsteps = 0\n{species}[start.random]\nparticles = 8\nlengths = 10.0\n[space]\nboundary = \
             \"periodic\"\n\
             [interaction.lennard-jones]\n[time_step]\nfixed = 0.001\n"
        );
        deck::examine("deck.toml", &text, &[]).unwrap_or_else(|report| panic!("{report}")).plan
    }

    fn of(names: &[&str], plan: &Plan) -> Result<Vec<usize>, Mismatch> {
        indices(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), plan)
    }

    #[test]
    fn names_mean_species_whatever_their_order() {
        let salt = plan("[species.Na]\nmass = 1\n[species.Cl]\nmass = 2\nnames = [\"CL-\", \"2\"]\n");
        assert_eq!(of(&["Cl", "Na"], &salt), Ok(vec![1, 0]));
        assert_eq!(of(&["NA", "CL-", "2"], &salt), Ok(vec![0, 1, 1]));
        assert_eq!(of(&["cl"], &salt), Ok(vec![1]));
        // A number is a name like any other, not an index into the deck.
        assert!(of(&["1"], &salt).unwrap_err().what.contains("types without names \"1\""));
    }

    #[test]
    fn two_names_share_a_species_only_where_the_deck_says_so() {
        let one = plan("[species.Ca]\nmass = 40\n");
        let error = of(&["CA", "Ca"], &one).unwrap_err();
        assert!(error.what.contains("\"CA\" and \"Ca\""), "{error:?}");
        assert!(error.remedy.contains("names = [\"CA\", \"Ca\"] in [species.Ca]"), "{error:?}");
        let said = plan("[species.Ca]\nmass = 40\nnames = [\"CA\", \"Ca\"]\n");
        assert_eq!(of(&["CA", "Ca"], &said), Ok(vec![0, 0]));
    }

    /// The sections proposed by an error form a deck that has the names.
    #[test]
    fn the_remedy_for_unknown_names_works() {
        let names = ["C1'", "O5*", "Na+", "C.3", "'"];
        let error = of(&names, &plan("")).unwrap_err();
        let (_, sections) = error.remedy.split_once('\n').unwrap();
        let mended = plan(&format!("{}\n", sections.replace("...", "1.0")));
        assert_eq!(of(&names, &mended), Ok(vec![0, 1, 2, 3, 4]));
    }
}
