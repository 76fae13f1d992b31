//! A pair energy that the deck gives as a formula.

use super::coulomb::{Charges, WithCharges};
use super::interaction::{CUTOFF, Example, Potential, SectionReader};
use super::radial::{
    self, CachedFit, Irregularity, MOST_SPECIES, RadialTruncation, SWITCH_START, TRUNCATION, inspect, pairs,
};
use crate::formula::{DISTANCE, Formula as Expression};
use crate::pair::device_text;
use crate::pair::language::RadialEnergy;
use crate::pair::radial::{FitErrors, RadialFunction};
use crate::sections::{ANY, CHOSEN, Default, Kind, Section, key, quantity, section};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_64;

/// Names and values of parameters.
pub type Parameters = Vec<(String, f64)>;

/// `[interaction.formula.parameters]`
pub const PARAMETERS: Section = section(
    "interaction.formula.parameters",
    "Constants of the formula, common to all pairs, under names of your choice.",
    &[key(
        CHOSEN,
        quantity(ANY, Dimension::Any),
        Default::Unset("no constants"),
        "A constant that the formula reads by this name; in molecular units with its unit, such as \"2.5 kJ/mol nm^6\".",
    )],
);

/// `[species.NAME.parameters]`
pub const SPECIES_PARAMETERS: Section = section(
    "species.*.parameters",
    "Constants of a species for [interaction.formula], under names of your choice.",
    &[key(
        CHOSEN,
        quantity(ANY, Dimension::Any),
        Default::Unset("no constants"),
        "A constant x that the formula reads as x_i and x_j; every species has it.",
    )],
);

/// `[interaction.formula]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Formula {
    /// V(r), as [`crate::formula`] reads it.
    pub energy: String,
    /// Cutoff distance, > 0.
    pub cutoff: f64,
    /// Truncation at the cutoff.
    pub truncation: RadialTruncation,
    /// Distance at which the switch begins, > 0 and below the cutoff; the cutoff without a switch.
    pub switch_start: f64,
    /// Constants common to all pairs.
    pub parameters: Parameters,
    /// Constants of each species, the same names in all; empty without any.
    pub species: Vec<Parameters>,
    /// The fitted energies.
    #[serde(skip)]
    pub fit: CachedFit,
}

impl Formula {
    /// Names of the parameters that the formula may use: common ones, then NAME_i and NAME_j of the species.
    fn names(&self) -> Vec<String> {
        let common = self.parameters.iter().map(|(name, _)| name.clone());
        let of_species = self.species.first().into_iter().flatten();
        common
            .chain(of_species.flat_map(|(name, _)| ["i", "j"].map(|side| format!("{name}_{side}"))))
            .collect()
    }

    /// Number of species with parameters of their own, at least 1.
    fn kinds(&self) -> usize {
        self.species.len().max(1)
    }

    /// Values of the common constants, the first parameters of the expression.
    fn constants(&self) -> Vec<f64> {
        self.parameters.iter().map(|(_, value)| *value).collect()
    }

    /// The expression with the common constants in it, truncated. Parameters left are those of species. No
    /// number where the text is no formula, which the deck has refused.
    fn expression(&self) -> Expression {
        let plain =
            Expression::new(&self.energy, &self.names()).unwrap_or_else(|_| Expression::not_a_number());
        let bound = plain.bound(&self.constants());
        match self.truncation {
            RadialTruncation::Plain => bound,
            RadialTruncation::Shifted => bound.shifted(self.cutoff),
            RadialTruncation::Switched => bound.switched(self.switch_start, self.cutoff),
        }
    }

    /// Values of the parameters of a pair of species.
    fn values(&self, [a, b]: [usize; 2]) -> Vec<f64> {
        let of = |kind: usize| self.species.get(kind).into_iter().flatten().map(|(_, value)| *value);
        of(a).zip(of(b)).flat_map(|(i, j)| [i, j]).collect()
    }

    /// V and dV/d(r^2) of a pair of species.
    fn at(&self, expression: &Expression, pair: [usize; 2], r2: f64) -> [f64; 2] {
        let mut variables = vec![r2];
        variables.extend(self.values(pair));
        expression.evaluate(&variables, &mut Vec::new())
    }

    fn fitted(&self) -> (RadialEnergy<f64>, FitErrors) {
        let expression = self.expression();
        let function = RadialFunction {
            kinds: self.kinds(),
            breakpoint: self.switch_start,
            cutoff: self.cutoff,
            smallest: 0.0,
            energy: &|pair, r2| self.at(&expression, pair, r2),
        };
        // the name is the text's, so that several formulas can be in one unit
        let body = self.device_function(&expression, "");
        let name = format!("radial_{:016x}", xxh3_64(body.as_bytes()));
        let definition = self.device_function(&expression, &name);
        self.fit.get(&function, Some([name, definition]))
    }

    /// The C++ function of this name, with tables of the species' parameters.
    fn device_function(&self, expression: &Expression, name: &str) -> String {
        let (mut tables, mut parameters) = (String::new(), Vec::new());
        for (k, (parameter, _)) in self.species.first().into_iter().flatten().enumerate() {
            let values =
                self.species.iter().filter_map(|own| own.get(k)).map(|(_, value)| device_text::real(*value));
            let list = device_text::list(&values.collect::<Vec<_>>());
            let _ = writeln!(tables, "__device__ const Real {name}_{parameter}[] = {{{list}}};");
            parameters.extend(["i", "j"].map(|side| format!("{name}_{parameter}[int({side})]")));
        }
        let (body, [value, slope]) = expression.printed("r2", &parameters, device_text::real);
        format!(
            "{tables}__device__ inline RadialValue {name}(Real i, Real j, Real r2) {{\n{body}    return \
             RadialValue{{{value}, {slope}}};\n}}\n"
        )
    }

    /// Reports what is wrong with the formula; `names` of the species are for messages.
    fn check(&self, section: &mut dyn SectionReader, names: &[String]) {
        let expression = match Expression::new(&self.energy, &self.names()) {
            Ok(expression) => expression,
            Err(wrong) => {
                section.report_within("energy", wrong.span, wrong.message, wrong.help);
                return;
            }
        };
        self.check_use(&expression, section);
        let bound = expression.bound(&self.constants());
        for [a, b] in pairs(self.kinds()) {
            let of_pair = match (names.get(a), names.get(b)) {
                (Some(a), Some(b)) => format!(" of {a} and {b}"),
                _ => String::new(),
            };
            if let Some((message, help)) = self.irregularity(&bound, [a, b], &of_pair, section) {
                return section.report(&["energy"], message, help);
            }
        }
    }

    /// Reports parameters that the formula does not use: a misspelled name would be one.
    fn check_use(&self, expression: &Expression, section: &mut dyn SectionReader) {
        let count = self.parameters.len();
        for (k, (name, _)) in self.parameters.iter().enumerate() {
            if !expression.uses(k) {
                let message = format!("the formula does not use the parameter `{name}`");
                section.report(&["energy"], message, format!("use {name}, or remove it"));
            }
        }
        for (k, (name, _)) in self.species.first().into_iter().flatten().enumerate() {
            if !expression.uses(count + 2 * k) && !expression.uses(count + 2 * k + 1) {
                let message = format!("the formula uses neither `{name}_i` nor `{name}_j` of the species");
                section.report(
                    &["energy"],
                    message,
                    format!("use them, or remove `{name}` from the species"),
                );
            }
        }
    }

    /// What is wrong with the energy of a pair of species, and the remedy.
    fn irregularity(
        &self,
        expression: &Expression,
        pair: [usize; 2],
        of_pair: &str,
        section: &dyn SectionReader,
    ) -> Option<(String, String)> {
        let energy = |r: f64| {
            let [value, slope] = self.at(expression, pair, r * r);
            [value, 2.0 * r * slope]
        };
        let length = |r: f64| section.format_quantity(r, Dimension::Length);
        if let Err(found) = inspect(&energy, self.cutoff) {
            return Some(match found {
                Irregularity::NotANumber(r) => (
                    format!("the energy{of_pair} is not a number at {DISTANCE} = {}", length(r)),
                    "roots and logarithms need positive arguments for all distances within the cutoff".into(),
                ),
                Irregularity::Singular(r) => (
                    format!("the energy{of_pair} is infinite at {DISTANCE} = {}", length(r)),
                    "only at r = 0 may it be infinite; change the formula, or its parameters".into(),
                ),
                Irregularity::Jump(r) => (
                    format!("the energy{of_pair} jumps at {DISTANCE} = {}", length(r)),
                    "make it continuous, or let it end there: `cutoff`".into(),
                ),
            });
        }
        let [a, b] = pair;
        let distances = (1..=20).map(|k| self.cutoff * f64::from(k) / 20.0);
        let size = |r: f64| energy(r)[0].abs() + (r * energy(r)[1]).abs();
        let largest = distances.clone().skip(5).map(size).filter(|size| size.is_finite()).fold(0.0, f64::max);
        for r in distances {
            let [one, other] = [[a, b], [b, a]].map(|pair| self.at(expression, pair, r * r)[0]);
            if one.is_finite() && (one - other).abs() > 1e-9 * (one.abs() + other.abs()).max(largest) {
                let message = format!(
                    "the energy{of_pair} depends on their order: {one} and {other} at {DISTANCE} = {}",
                    length(r)
                );
                return Some((message, "write it so that exchanging _i and _j changes nothing".into()));
            }
        }
        None
    }
}

impl Potential for Formula {
    const SECTION: Section = section(
        "interaction.formula",
        "A pair energy V(r) of your own: an expression of r, parameters, numbers and pi with + - * / ^, functions, \
         and definitions after semicolons.",
        &[
            key(
                "energy",
                Kind::Text,
                Default::Required,
                "V(r), such as \"4*epsilon*(x^12 - x^6); x = sigma/r\"; sqrt exp ln sin cos tanh erf erfc abs step min max.",
            )
            .also(&["potential", "formula", "expression", "v"]),
            CUTOFF,
            TRUNCATION,
            SWITCH_START,
        ],
    );
    const WITH_CHARGES: bool = true;
    const NEEDS_SPECIES: bool = true;
    type Law = WithCharges<radial::Law<f64>>;

    fn read(section: &mut dyn SectionReader) -> Self {
        let (cutoff, truncation, switch_start) = radial::read_truncation(section, None);
        let (names, species) = (section.species(), section.species_parameters());
        // None has been reported as missing
        let energy = section.optional_text("energy");
        let given = energy.is_some();
        let potential = Formula {
            energy: energy.unwrap_or_default(),
            cutoff,
            truncation,
            switch_start,
            parameters: section.chosen_numbers(PARAMETERS.path),
            species,
            fit: CachedFit::default(),
        };
        if names.len() > MOST_SPECIES {
            let message = format!("{} species are too many for a formula", names.len());
            section.report(&["energy"], message, format!("at most {MOST_SPECIES} species"));
        } else if given && !potential.clashes(section) {
            potential.check(section, &names);
        }
        potential
    }

    fn cutoff(&self) -> f64 {
        self.cutoff
    }

    fn law(&self, charges: Option<&Charges>) -> Self::Law {
        CachedFit::law(self.fitted(), self.cutoff, charges)
    }

    fn examples() -> Vec<Example<Self>> {
        let parameters =
            |list: &[(&str, f64)]| list.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        let plain = Formula {
            energy: "4*epsilon*((sigma/r)^12 - (sigma/r)^6)".into(),
            cutoff: 2.5,
            truncation: RadialTruncation::Plain,
            switch_start: 2.5,
            parameters: parameters(&[("epsilon", 1.3), ("sigma", 0.9)]),
            species: Vec::new(),
            fit: CachedFit::default(),
        };
        let morse = Formula {
            energy: "depth_i*depth_j*((1 - x)^2 - 1); x = exp(-a*(r - 1))".into(),
            truncation: RadialTruncation::Switched,
            switch_start: 1.8,
            parameters: parameters(&[("a", 4.0)]),
            species: [1.1, 0.7, 1.4].map(|depth| parameters(&[("depth", depth)])).into(),
            fit: CachedFit::default(),
            ..plain.clone()
        };
        vec![
            Example {
                potential: plain,
                energies: &[[0.95, -1.04150521895595], [1.4, -0.341115776548188], [2.3, -0.0186007084119659]],
            },
            Example { potential: morse, energies: &[] },
        ]
    }

    /// Maximum over all pairs of species.
    fn jump(&self) -> Option<f64> {
        let expression = self.expression();
        let jump = |pair| self.at(&expression, pair, self.cutoff * self.cutoff)[0].abs();
        (self.truncation == RadialTruncation::Plain)
            .then(|| pairs(self.kinds()).map(jump).fold(0.0, f64::max))
    }

    fn reorder(&mut self, order: &[usize]) {
        if !self.species.is_empty() {
            self.species = order.iter().filter_map(|&k| self.species.get(k).cloned()).collect();
            self.fit = CachedFit::default();
        }
    }

    fn notes(&self) -> Vec<String> {
        let FitErrors { double, single, distance } = self.fitted().1;
        vec![format!(
            "formula: processors evaluate piecewise polynomials of r^2; largest deviation of V and r dV/dr from \
             the formula {double:.1e} of them in double, {single:.1e} in single precision (near r = {distance:.4})"
        )]
    }
}

impl Formula {
    /// Reports names of parameters that have another meaning.
    fn clashes(&self, section: &mut dyn SectionReader) -> bool {
        let names = self.names();
        let mut found = false;
        for (k, name) in names.iter().enumerate() {
            let taken = name == DISTANCE || name == "pi" || crate::formula::is_function(name);
            if taken || names.iter().skip(k + 1).any(|other| other == name) {
                let message = format!("the parameter `{name}` has another meaning in the formula");
                section.report(&["energy"], message, "choose another name".into());
                found = true;
            }
        }
        found
    }
}
