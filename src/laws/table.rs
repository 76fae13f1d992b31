//! A pair energy that the deck gives as a table of energies and forces.

use super::coulomb::{Charges, WithCharges};
use super::interaction::{Example, Potential, SectionReader};
use super::potential_table::{self, Rows, TableMistake};
use super::radial::{self, CachedFit, MOST_SPECIES, RadialTruncation, SWITCH_START, TRUNCATION, pairs};
use crate::formula::Formula as Expression;
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

    /// Rows of a pair of species.
    fn rows_of(&self, [a, b]: [usize; 2]) -> Option<&Rows> {
        let (a, b) = (a.min(b), a.max(b));
        self.pairs.get(b * (b + 1) / 2 + a)
    }

    /// V and dV/dr of a pair of species, before truncation. Below the first row V is a straight line.
    fn rows_at(&self, pair: [usize; 2], r: f64) -> [f64; 2] {
        let Some(rows) = self.rows_of(pair) else { return [f64::NAN; 2] };
        let (Some(&first), Some(&last)) = (rows.distance.first(), rows.distance.last()) else {
            return [f64::NAN; 2];
        };
        let [value, slope] = rows.evaluate(r.clamp(first, last)).unwrap_or([f64::NAN; 2]);
        [value + slope * (r - first).min(0.0), slope]
    }

    /// V and dV/d(r^2), truncated; `switch` is the factor of a switch.
    fn at(&self, switch: &Expression, pair: [usize; 2], r2: f64) -> [f64; 2] {
        let r = r2.sqrt();
        let [value, slope] = self.rows_at(pair, r);
        let slope = slope / (2.0 * r);
        match self.truncation {
            RadialTruncation::Plain => [value, slope],
            RadialTruncation::Shifted => [value - self.rows_at(pair, self.cutoff)[0], slope],
            RadialTruncation::Switched => {
                let [factor, factor_slope] = switch.evaluate(&[r2], &mut Vec::new());
                [value * factor, slope * factor + value * factor_slope]
            }
        }
    }

    fn fitted(&self) -> (RadialEnergy<f64>, FitErrors) {
        let first =
            self.pairs.iter().filter_map(|rows| rows.distance.first()).copied().fold(f64::MAX, f64::min);
        let switch = Expression::one().switched(self.switch_start, self.cutoff);
        let function = RadialFunction {
            kinds: self.kinds(),
            breakpoint: self.switch_start,
            cutoff: self.cutoff,
            // half of the first distance has 2 factors of 2 of the square to spare
            smallest: 0.5 * first.min(self.cutoff),
            energy: &|pair, r2| self.at(&switch, pair, r2),
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
        let mut found = Vec::new();
        for [a, b] in pairs(species.len()) {
            let of_pair = [[a, b], [b, a]].map(|[a, b]| format!("{}-{}", species[a], species[b]));
            let mut sections = all.iter().filter(|rows| of_pair.contains(&rows.name));
            match (sections.next(), sections.next()) {
                (Some(rows), None) => found.push(rows.clone()),
                (Some(_), Some(_)) => {
                    let message = format!("the file has sections `{}` and `{}`", of_pair[0], of_pair[1]);
                    section.report(&["file"], message, "the pair is the same: keep one of them".into());
                    return Vec::new();
                }
                (None, _) => {
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
        found
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
            TRUNCATION,
            SWITCH_START,
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
        let mut found = match sections {
            Some(Ok(all)) => Self::sections(section, all),
            Some(Err(wrong)) => {
                report(section, &path, wrong);
                Vec::new()
            }
            None => Vec::new(),
        };
        if let Some(wrong) = found.iter().find_map(|rows| rows.check().err()) {
            report(section, &path, wrong);
        }
        found.iter_mut().for_each(|rows| rows.scale(length, energy));
        let last =
            found.iter().filter_map(|rows| rows.distance.last()).copied().fold(f64::INFINITY, f64::min);
        let last = if last.is_finite() { last } else { 1.0 };
        let (cutoff, truncation, switch_start) = radial::read_truncation(section, Some(last));
        if cutoff > last * (1.0 + ROUNDING) && !found.is_empty() {
            let [cutoff, last] = [cutoff, last].map(|r| section.format_quantity(r, Dimension::Length));
            let message = format!("cutoff = {cutoff} is beyond the table, which ends at {last}");
            section.report(&["cutoff"], message, "shorten the cutoff, or extend the table".into());
        }
        let first = found.iter().filter_map(|rows| rows.distance.first()).copied().fold(0.0, f64::max);
        if cutoff <= first {
            let [cutoff, first] = [cutoff, first].map(|r| section.format_quantity(r, Dimension::Length));
            let message = format!("cutoff = {cutoff} is below the table, which begins at {first}");
            section.report(&["cutoff"], message, "check the cutoff, and `length_unit`".into());
        }
        Table { pairs: found, cutoff, truncation, switch_start, fit: CachedFit::default() }
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
        let jump = |pair| self.rows_at(pair, self.cutoff)[0].abs();
        (self.truncation == RadialTruncation::Plain)
            .then(|| pairs(self.kinds()).map(jump).fold(0.0, f64::max))
    }

    fn reorder(&mut self, order: &[usize]) {
        if self.kinds() == 1 {
            return;
        }
        let of = |[a, b]: [usize; 2]| self.rows_of([order[a], order[b]]).cloned();
        self.pairs = pairs(order.len()).filter_map(of).collect();
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
