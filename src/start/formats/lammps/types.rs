//! Atom types: masses and names.
//!
//! A species is named by the section Atom Type Labels, else by the comment after its mass, else by its type
//! number.

use std::collections::{BTreeMap, HashMap};

use super::super::lines::{Lines, excerpt};
use super::without_comment;
use crate::Result;

/// The types, numbered from 1.
#[derive(Default)]
pub(super) struct Types {
    pub count: u64,
    pub masses: BTreeMap<u64, f64>,
    /// The section Atom Type Labels, in both directions.
    labels: BTreeMap<u64, String>,
    by_label: HashMap<String, u64>,
    /// First words of the comments after masses.
    comments: BTreeMap<u64, String>,
    /// Comments after masses that are units.
    units: Vec<String>,
    /// Pair coefficients of each type, as written.
    coefficients: BTreeMap<u64, String>,
    /// Whether coefficients are per pair of types, so that types cannot be compared by them.
    pub paired: bool,
}

impl Types {
    /// `count` types without data.
    pub(super) fn new(count: u64) -> Self {
        Self { count, ..Self::default() }
    }

    /// Parses a line of the section Masses.
    pub(super) fn mass(&mut self, lines: &Lines, line: &str) -> Result<()> {
        let fields: Vec<&str> = without_comment(line).split_whitespace().collect();
        let &[kind, mass] = &fields[..] else {
            let what = format!("should be a type and its mass, one line for each of {} types", self.count);
            return Err(lines.error(what, "write `1 39.948` in the section Masses"));
        };
        let kind = self.kind(lines, kind)?;
        let mass = lines.parse_number(mass, "a mass")?;
        if mass <= 0.0 {
            return Err(lines.error(format!("has the mass {mass}"), "give every type a mass above 0"));
        }
        if self.masses.insert(kind, mass).is_some() {
            return Err(lines.error(format!("gives a second mass to type {kind}"), "keep one of them"));
        }
        let comment = line.split_once('#').and_then(|(_, comment)| comment.split_whitespace().next());
        match comment {
            Some(word) if is_unit(word) => self.units.push(word.to_owned()),
            // A numeric name would be mistaken for a type number.
            Some(word) if word.parse::<f64>().is_err() => {
                self.comments.insert(kind, word.to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    /// Parses a line of the section Atom Type Labels.
    pub(super) fn label(&mut self, lines: &Lines, line: &str) -> Result<()> {
        let [kind, label] = without_comment(line).split_whitespace().collect::<Vec<_>>()[..] else {
            let what = "should be a type and its label";
            return Err(lines.error(what, "write `1 Ar` in the section Atom Type Labels"));
        };
        let number: u64 = lines.parse_integer(kind, "an atom type")?;
        let kind = self.within(lines, number)?;
        if label.starts_with(|letter: char| letter.is_ascii_digit() || letter == '*') {
            let what = format!("has the label \"{}\", which begins like a number", excerpt(label));
            return Err(lines.error(what, "begin every label with a letter, as LAMMPS asks for"));
        }
        if let Some(before) = self.by_label.insert(label.to_owned(), kind) {
            let what = format!("gives the label \"{}\" to type {kind}; type {before} has it", excerpt(label));
            return Err(lines.error(what, "give every type a label of its own, as LAMMPS asks for"));
        }
        match self.labels.insert(kind, label.to_owned()) {
            None => Ok(()),
            Some(_) => Err(lines.error(format!("gives a second label to type {kind}"), "keep one of them")),
        }
    }

    /// Parses a line of the section Pair Coeffs.
    pub(super) fn coefficient(&mut self, line: &str) {
        let mut fields = without_comment(line).split_whitespace();
        let kind =
            fields.next().and_then(|kind| kind.parse().ok().or_else(|| self.by_label.get(kind).copied()));
        if let Some(kind) = kind {
            self.coefficients.insert(kind, fields.collect::<Vec<_>>().join(" "));
        }
    }

    /// A type by its number or label.
    pub(super) fn kind(&self, lines: &Lines, field: &str) -> Result<u64> {
        let labeled = || self.by_label.get(field).copied();
        let kind = match field.parse::<u64>().ok().or_else(labeled) {
            Some(kind) => kind,
            None => lines.parse_integer(field, "an atom type")?,
        };
        self.within(lines, kind)
    }

    fn within(&self, lines: &Lines, kind: u64) -> Result<u64> {
        if kind == 0 || kind > self.count {
            let what = format!("has the atom type {kind}, but there are {}", self.count);
            return Err(lines.error(what, "number the types from 1, and count them in `N atom types`"));
        }
        Ok(kind)
    }

    /// The names of the types that have one, and notes on names that are not used.
    pub(super) fn names(&self) -> (BTreeMap<u64, String>, Vec<String>) {
        let mut names = self.labels.clone();
        let mut notes = Vec::new();
        if let Some(unit) = self.units.first() {
            notes.push(format!("the comment \"{}\" behind masses is a unit, and no name", excerpt(unit)));
        }
        let mut members: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for (&kind, comment) in self.comments.iter().filter(|(kind, _)| !self.labels.contains_key(kind)) {
            members.entry(comment).or_default().push(kind);
        }
        for (comment, kinds) in members {
            let taken = self.by_label.contains_key(comment);
            if !taken && kinds.iter().all(|&kind| self.identical(kinds[0], kind)) {
                names.extend(kinds.iter().map(|&kind| (kind, comment.to_owned())));
                continue;
            }
            let numbers: Vec<String> = kinds.iter().take(20).map(u64::to_string).collect();
            notes.push(format!(
                "the comment \"{}\" behind masses stands for types that differ ({}{}): they are called by \
                 their numbers",
                excerpt(comment),
                numbers.join(", "),
                if kinds.len() > 20 { ", ..." } else { "" }
            ));
        }
        (names, notes)
    }

    /// Whether two types are identical in the file.
    fn identical(&self, one: u64, other: u64) -> bool {
        let alike =
            |kind: u64| (self.masses.get(&kind).map(|mass| mass.to_bits()), self.coefficients.get(&kind));
        one == other || (!self.paired && alike(one) == alike(other))
    }
}

/// Whether a word after a mass is a unit of mass, or labels it as a mass. "u" is a unit, "U" is uranium.
fn is_unit(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| "()[]{},;:".contains(letter));
    let units = [
        "amu",
        "a.m.u.",
        "a.m.u",
        "da",
        "dalton",
        "daltons",
        "g/mol",
        "g/mole",
        "gram/mol",
        "gram/mole",
        "grams/mol",
        "grams/mole",
        "kg/mol",
        "gram",
        "grams",
        "kg",
        "g*mol^-1",
        "mass",
        "masses",
    ];
    ["u", "g"].contains(&word) || units.contains(&word.to_lowercase().as_str())
}
