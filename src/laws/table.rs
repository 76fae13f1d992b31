//! A pair energy that the deck gives as a table of energies and forces.

use super::coulomb::{Charges, WithCharges};
use super::formula::MOST_SPECIES;
use super::interaction::{Example, Potential, SectionReader};
use super::potential_table::{self, Rows, TableMistake};
use super::radial::{self, CachedFit, RadialTruncation};
use crate::pair::language::RadialEnergy;
use crate::pair::radial::{FitErrors, RadialFunction};
use crate::sections::{Default, Kind, POSITIVE, Section, key, quantity, section};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

/// Allowed excess of the cutoff over the last distance, relative: a printed distance is rounded.
const ROUNDING: f64 = 1e-9;

/// `[interaction.table]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Rows of each pair of species (b, a), a <= b, ordered by b, then a, in code units; one for all pairs.
    pub pairs: Vec<Rows>,
    /// Cutoff distance, > 0.
    pub cutoff: f64,
    /// Truncation at the cutoff.
    pub truncation: RadialTruncation,
    /// Distance at which the switch begins, > 0 and below the cutoff; the cutoff without a switch.
    pub switch_start: f64,
    /// The fitted energies.
    #[serde(skip)]
    pub fit: CachedFit,
}

impl Table {
    /// Number of species that are told apart.
    fn kinds(&self) -> usize {
        // k (k + 1) / 2 pairs
        (0..).take_while(|k| k * (k + 1) / 2 < self.pairs.len()).count().max(1)
    }

    /// V and dV/dr of a pair of species, before truncation. Below the first row V is a straight line.
    fn rows_at(&self, [a, b]: [usize; 2], r: f64) -> [f64; 2] {
        let (a, b) = (a.min(b), a.max(b));
        let Some(rows) = self.pairs.get(b * (b + 1) / 2 + a) else { return [f64::NAN; 2] };
        let (Some(&first), Some(&last)) = (rows.distance.first(), rows.distance.last()) else {
            return [f64::NAN; 2];
        };
        let [value, slope] = rows.evaluate(r.clamp(first, last)).unwrap_or([f64::NAN; 2]);
        [value + slope * (r - first).min(0.0), slope]
    }

    /// V and dV/d(r^2), truncated.
    fn at(&self, pair: [usize; 2], r2: f64) -> [f64; 2] {
        let r = r2.sqrt();
        let [value, slope] = self.rows_at(pair, r);
        let [value, slope] = match self.truncation {
            RadialTruncation::Plain => [value, slope],
            RadialTruncation::Shifted => [value - self.rows_at(pair, self.cutoff)[0], slope],
            RadialTruncation::Switched => {
                let [factor, factor_slope] = radial::switch(self.switch_start, self.cutoff, r);
                [value * factor, slope * factor + value * factor_slope]
            }
        };
        [value, slope / (2.0 * r)]
    }

    fn fitted(&self) -> (RadialEnergy<f64>, FitErrors) {
        let first =
            self.pairs.iter().filter_map(|rows| rows.distance.first()).copied().fold(f64::MAX, f64::min);
        let function = RadialFunction {
            kinds: self.kinds(),
            breakpoint: self.switch_start,
            cutoff: self.cutoff,
            // half of the first distance has 2 factors of 2 of the square to spare
            smallest: 0.5 * first.min(self.cutoff),
            energy: &|pair, r2| self.at(pair, r2),
        };
        self.fit.get(&function, None)
    }

    /// Reads the sections of the file: one for all pairs, or one for each pair of the species.
    fn sections(section: &mut dyn SectionReader, all: Vec<Rows>) -> Vec<Rows> {
        let species = section.species();
        let wanted = section.optional_text("section");
        let names = || all.iter().map(|rows| format!("`{}`", rows.name)).collect::<Vec<_>>().join(", ");
        if let Some(name) = wanted {
            let found = all.iter().find(|rows| rows.name == name).cloned();
            if found.is_none() {
                let message = format!("the file has no section `{name}`");
                section.report(&["section"], message, format!("its sections are {}", names()));
            }
            return found.into_iter().collect();
        }
        if let [only] = all.as_slice()
            && species.len() < 2
        {
            return vec![only.clone()];
        }
        if species.is_empty() {
            let message = format!("the file has {} sections", all.len());
            section.report(&["file"], message, format!("choose one by `section = ...`: {}", names()));
            return Vec::new();
        }
        if species.len() > MOST_SPECIES {
            let message = format!("{} species are too many for a table", species.len());
            section.report(&["file"], message, format!("at most {MOST_SPECIES} species"));
            return Vec::new();
        }
        let mut pairs = Vec::new();
        for (b, second) in species.iter().enumerate() {
            for first in species.iter().take(b + 1) {
                let of_pair = [(first, second), (second, first)].map(|(one, other)| format!("{one}-{other}"));
                match all.iter().find(|rows| of_pair.contains(&rows.name)) {
                    Some(rows) => pairs.push(rows.clone()),
                    None => {
                        let message = format!("the file has no section `{}`", of_pair[0]);
                        let help = format!(
                            "name a section for each pair of species so, or choose one for all pairs by `section = \
                             ...`; the file has {}",
                            names()
                        );
                        section.report(&["file"], message, help);
                        return Vec::new();
                    }
                }
            }
        }
        pairs
    }
}

/// Reports a mistake in the file.
fn report(section: &mut dyn SectionReader, path: &str, wrong: TableMistake) {
    let place = if wrong.line > 0 { format!("{path}, line {}", wrong.line) } else { path.to_string() };
    section.report(&["file"], format!("{place}: {}", wrong.message), wrong.help);
}

impl Potential for Table {
    const SECTION: Section = section(
        "interaction.table",
        "A pair energy V(r) from a file of distances, energies and forces -dV/dr: of LAMMPS (pair_write), GROMACS \
         (.xvg), or three columns.",
        &[
            key("file", Kind::Path, Default::Required, "The file, of numbers in the deck's units.")
                .also(&["path", "filename", "name"]),
            key(
                "section",
                Kind::Text,
                Default::Unset("the only one; with several species those named A-B after each pair"),
                "Name of the section of a LAMMPS file for all pairs.",
            )
            .also(&["keyword"]),
            key(
                "length_unit",
                quantity(POSITIVE, Dimension::Length),
                Default::Value("1.0"),
                "Unit of the file's distances, such as \"1 angstrom\".",
            ),
            key(
                "energy_unit",
                quantity(POSITIVE, Dimension::Energy),
                Default::Value("1.0"),
                "Unit of the file's energies, such as \"1 kcal/mol\".",
            ),
            key(
                "cutoff",
                quantity(POSITIVE, Dimension::Length),
                Default::Unset("the last distance of the table"),
                "Distance beyond which no pair acts.",
            )
            .also(&["rc", "r_c", "r_cut", "radius"]),
            key(
                "truncation",
                Kind::Choice(RadialTruncation::NAMES),
                Default::Value("\"plain\""),
                "At the cutoff: plain, shifted to zero energy, or with the energy switched off from switch_start on.",
            )
            .also(&["shift", "modifier"]),
            key(
                "switch_start",
                quantity(POSITIVE, Dimension::Length),
                Default::Unset("required by truncation = \"switched\""),
                "Distance from which the energy is switched off.",
            )
            .also(&["r_switch", "rvdw_switch"]),
        ],
    );
    const WITH_CHARGES: bool = true;
    const NEEDS_SPECIES: bool = true;
    type Law = WithCharges<radial::Law<f64>>;

    fn read(section: &mut dyn SectionReader) -> Self {
        let [length, energy] = ["length_unit", "energy_unit"].map(|key| section.number(key));
        let path = section.text("file");
        let sections =
            section.file("file", potential_table::MAX_BYTES).map(|text| potential_table::read(&text));
        let mut pairs = match sections {
            Some(Ok(all)) => Self::sections(section, all),
            Some(Err(wrong)) => {
                report(section, &path, wrong);
                Vec::new()
            }
            None => Vec::new(),
        };
        if let Some(wrong) = pairs.iter().find_map(|rows| rows.check().err()) {
            report(section, &path, wrong);
        }
        pairs.iter_mut().for_each(|rows| rows.scale(length, energy));
        let last =
            pairs.iter().filter_map(|rows| rows.distance.last()).copied().fold(f64::INFINITY, f64::min);
        let last = if last.is_finite() { last } else { 1.0 };
        let (cutoff, truncation, switch_start) = radial::read_truncation(section, Some(last));
        if cutoff > last * (1.0 + ROUNDING) && !pairs.is_empty() {
            let [cutoff, last] = [cutoff, last].map(|r| section.format_quantity(r, Dimension::Length));
            let message = format!("cutoff = {cutoff} is beyond the table, which ends at {last}");
            section.report(&["cutoff"], message, "shorten the cutoff, or extend the table".into());
        }
        let first = pairs.iter().filter_map(|rows| rows.distance.first()).copied().fold(0.0, f64::max);
        if cutoff <= first {
            let [cutoff, first] = [cutoff, first].map(|r| section.format_quantity(r, Dimension::Length));
            let message = format!("cutoff = {cutoff} is below the table, which begins at {first}");
            section.report(&["cutoff"], message, "check the cutoff, and `length_unit`".into());
        }
        Table { pairs, cutoff, truncation, switch_start, fit: CachedFit::default() }
    }

    fn cutoff(&self) -> f64 {
        self.cutoff
    }

    fn law(&self, charges: Option<&Charges>) -> Self::Law {
        CachedFit::law(self.fitted(), self.cutoff, charges)
    }

    fn examples() -> Vec<Example<Self>> {
        let rows = |epsilon: f64| {
            let mut text = String::new();
            for k in 0..=2000 {
                let r = 0.75 + 0.001 * f64::from(k);
                let s6 = r.powi(-6);
                text += &format!(
                    "{r:e} {:e} {:e}\n",
                    4.0 * epsilon * s6 * (s6 - 1.0),
                    24.0 * epsilon * s6 * (2.0 * s6 - 1.0) / r
                );
            }
            potential_table::read(&text).unwrap_or_default().into_iter().next()
        };
        // the energies are those of the second pair, species 0 and 1
        let pairs = [1.0, 0.8, 1.3, 0.6, 0.9, 1.1].into_iter().filter_map(rows).collect();
        let potential = Table {
            pairs,
            cutoff: 2.5,
            truncation: RadialTruncation::Switched,
            switch_start: 1.9,
            fit: CachedFit::default(),
        };
        vec![Example { potential, energies: &[[1.1, -0.7866979594989459], [1.5, -0.2562692754228597]] }]
    }

    /// Maximum over all pairs of species.
    fn jump(&self) -> Option<f64> {
        let pairs = (0..self.kinds()).flat_map(|b| (0..=b).map(move |a| [a, b]));
        let jump = |pair| self.rows_at(pair, self.cutoff)[0].abs();
        (self.truncation == RadialTruncation::Plain).then(|| pairs.map(jump).fold(0.0, f64::max))
    }

    fn reorder(&mut self, order: &[usize]) {
        if self.kinds() == 1 {
            return;
        }
        let of = |a: usize, b: usize| {
            let (a, b) = (a.min(b), a.max(b));
            self.pairs.get(b * (b + 1) / 2 + a).cloned()
        };
        let pairs = (0..order.len()).flat_map(|b| (0..=b).map(move |a| (a, b)));
        self.pairs = pairs.filter_map(|(a, b)| of(order[a], order[b])).collect();
        self.fit = CachedFit::default();
    }

    fn notes(&self) -> Vec<String> {
        let FitErrors { double, single, distance } = self.fitted().1;
        let first = self.pairs.iter().filter_map(|rows| rows.distance.first()).copied().fold(0.0, f64::max);
        vec![format!(
            "table: piecewise polynomials of r^2 deviate from its cubic interpolation by at most {double:.1e} of V and r \
             dV/dr in double, {single:.1e} in single precision (near r = {distance:.4}); closer than its first row \
             at {first:.4} the energy is a straight line"
        )]
    }
}
