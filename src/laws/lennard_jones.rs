//! Lennard-Jones interaction: the law of one species, the deck section, and the choice of the form.

use std::f64::consts::PI;

use super::coulomb::{Charges, WithCharges};
use super::interaction::{
    CUTOFF, EPSILON, Example, LawVisitor, Laws, Potential, SIGMA, SectionReader, switch_start,
};
use super::mixing::{Mixing, PairParameters};
use super::shared::twelve_six;
use super::{
    lennard_jones_coulomb, lennard_jones_mixed, lennard_jones_mixed_switched, lennard_jones_switched,
    lennard_jones_table,
};
use crate::faults::{Fault, planted};
use crate::pair::language::*;
use crate::sections::{Default, Kind, POSITIVE, Section, key, quantity, section};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

pub use lennard_jones::*;

/// V(r) = 4 epsilon [(sigma/r)^12 - (sigma/r)^6] - shift within the cutoff (Jones 1924), and the pair virial
/// r . F.
///
/// Each particle of a pair gets half of its energy and virial. The shift makes the energy continuous at the
/// cutoff, but not the force.
#[pair(molecular, uses(twelve_six))]
pub mod lennard_jones {
    /// Depth epsilon, sigma^2, and what the energy is lowered by.
    struct Law {
        epsilon: Real,
        sigma2: Real,
        shift: Real,
    }

    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        let inverse = r2.reciprocal();
        let s6 = twelve_six::sixth(law.sigma2, inverse);
        let depth = 4.0 * law.epsilon;
        let virial = s6 * twelve_six::virial(depth, s6);
        Sums { force: r * (virial * inverse), energy: s6 * twelve_six::energy(depth, s6) - law.shift, virial }
    }
}

impl Law<f64> {
    /// Truncated at the cutoff, with an energy jump.
    pub fn truncated(epsilon: f64, sigma: f64) -> Self {
        Law { epsilon, sigma2: sigma * sigma, shift: 0.0 }
    }

    /// Truncated and shifted to zero energy at the cutoff.
    pub fn shifted(epsilon: f64, sigma: f64, cutoff: f64) -> Self {
        let s6 = (sigma / cutoff).powi(6);
        let shift = if planted(Fault::ShiftMissing) { 0.0 } else { 4.0 * epsilon * s6 * (s6 - 1.0) };
        Law { shift, ..Self::truncated(epsilon, sigma) }
    }

    /// Tail correction of energy and virial of `particles` particles for a uniform `number_density` beyond
    /// the cutoff (Allen & Tildesley 2017, section 2.8); for the unshifted interaction.
    pub fn tail(&self, particles: f64, number_density: f64, cutoff: f64) -> [f64; 2] {
        let s3 = (self.sigma2.sqrt() / cutoff).powi(3);
        let scale = PI * particles * number_density * self.epsilon * self.sigma2.powf(1.5);
        let energy = 8.0 / 3.0 * scale * (s3.powi(3) / 3.0 - s3);
        let virial = 16.0 * scale * (2.0 / 3.0 * s3.powi(3) - s3);
        [energy, virial]
    }
}

choice! {
    /// Truncation of an interaction at its cutoff.
    Truncation {
        /// Nothing: energy and force jump.
        Plain = "plain",
        /// The energy is shifted to zero; the force jumps.
        Shifted = "shifted",
        /// The force goes to zero smoothly, and so does the energy.
        Switched = "switched",
        /// Cut and shifted at the minimum, so that only the repulsion is left (Weeks, Chandler & Andersen
        /// 1971).
        Repulsive = "weeks-chandler-andersen",
    }
}

/// `[interaction.lennard-jones]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LennardJones {
    /// Epsilon and sigma of all pairs.
    pub parameters: PairParameters,
    /// Cutoff distance, > 0.
    pub cutoff: f64,
    /// Truncation at the cutoff.
    pub truncation: Truncation,
    /// Distance at which the force switch begins, > 0 and below the cutoff; the cutoff without a switch.
    pub switch_start: f64,
    /// Whether observables include the tail correction; requires plain truncation and a periodic box.
    pub tail: bool,
}

impl Potential for LennardJones {
    const SECTION: Section = section(
        "interaction.lennard-jones",
        "4 epsilon [(sigma/r)^12 - (sigma/r)^6] of all pairs, where the species have no epsilon and sigma of their own.",
        &[
            EPSILON,
            SIGMA,
            CUTOFF,
            key(
                "mixing",
                Kind::Choice(Mixing::NAMES),
                Default::Value("\"lorentz-berthelot\""),
                "Unlike species: sigma the arithmetic mean and epsilon the geometric one, or both geometric.",
            )
            .also(&["combination", "combining_rule", "comb_rule"]),
            key(
                "truncation",
                Kind::Choice(Truncation::NAMES),
                Default::Value("\"plain\""),
                "At the cutoff: plain, shifted to zero energy, with the force switched off from switch_start on, or cut and \
                 shifted at the minimum 2^(1/6) sigma, which then is the cutoff.",
            )
            .also(&["shift", "modifier"]),
            key(
                "switch_start",
                quantity(POSITIVE, Dimension::Length),
                Default::Unset("required by truncation = \"switched\""),
                "Distance from which the force is switched off.",
            )
            .also(&["r_switch", "rvdw_switch"]),
            key(
                "tail",
                Kind::Flag,
                Default::Value("false"),
                "Whether energy and pressure are corrected for what an even density beyond a plain cutoff adds.",
            )
            .also(&["tail_correction", "dispcorr", "dispersion_correction", "long_range"]),
        ],
    );
    const WITH_CHARGES: bool = true;
    type Law = Form;

    fn read(section: &mut dyn SectionReader) -> Self {
        let parameters = section.pair_parameters();
        let truncation = Truncation::named(section.choice("truncation")).unwrap_or(Truncation::Plain);
        let cutoff = match truncation {
            Truncation::Repulsive => minimum(section, &parameters),
            _ => section.number("cutoff"),
        };
        let switch_start = if truncation == Truncation::Switched {
            switch_start(section, cutoff)
        } else {
            section.without_effect("switch_start", "truncation, which is not \"switched\"");
            cutoff
        };
        let tail = section.flag("tail");
        if tail && truncation != Truncation::Plain {
            let message =
                format!("a tail belongs to a plain cutoff, not to truncation = \"{}\"", truncation.name());
            section.report(&["tail"], message, "write tail = false, or truncation = \"plain\"".into());
        }
        LennardJones { parameters, cutoff, truncation, switch_start, tail }
    }

    fn cutoff(&self) -> f64 {
        self.cutoff
    }

    fn law(&self, charges: Option<&Charges>) -> Form {
        let &LennardJones { cutoff, switch_start: start, truncation, .. } = self;
        match &self.parameters {
            PairParameters::Uniform([epsilon, sigma]) if self.mixed(charges).is_empty() => {
                uniform(*epsilon, *sigma, self, charges)
            }
            PairParameters::Uniform(_) | PairParameters::Mixed(_) => {
                let law = match truncation {
                    Truncation::Plain => lennard_jones_mixed::Law::truncated(),
                    Truncation::Shifted | Truncation::Repulsive => lennard_jones_mixed::Law::shifted(cutoff),
                    Truncation::Switched => {
                        let law = lennard_jones_mixed_switched::Law::new(start, cutoff);
                        return Form::MixedSwitched(WithCharges::new(law, cutoff, charges));
                    }
                };
                Form::Mixed(WithCharges::new(law, cutoff, charges))
            }
            PairParameters::Table(rows) => {
                let of = |value: fn([f64; 2]) -> f64| {
                    Table::new(rows.len(), |a, b| value(rows[a][b])).unwrap_or_else(|| {
                        unreachable!("the deck has refused a table of {} species", rows.len())
                    })
                };
                let (depth, sigma6) = (of(|[epsilon, _]| 4.0 * epsilon), of(|[_, sigma]| sigma.powi(6)));
                let law = match truncation {
                    Truncation::Plain => lennard_jones_table::Law::truncated(depth, sigma6, cutoff),
                    Truncation::Shifted | Truncation::Repulsive => {
                        lennard_jones_table::Law::shifted(depth, sigma6, cutoff)
                    }
                    Truncation::Switched => lennard_jones_table::Law::switched(depth, sigma6, start, cutoff),
                };
                Form::Table(Box::new(WithCharges::new(law, cutoff, charges)))
            }
        }
    }

    fn examples() -> Vec<Example<Self>> {
        let potential = |truncation| LennardJones {
            parameters: PairParameters::Uniform([1.3, 0.9]),
            cutoff: 2.5,
            truncation,
            switch_start: 1.2,
            tail: false,
        };
        vec![
            Example {
                potential: potential(Truncation::Plain),
                energies: &[[0.95, -1.04150521895595], [1.4, -0.341115776548188], [2.3, -0.0186007084119659]],
            },
            Example { potential: potential(Truncation::Switched), energies: &[] },
        ]
    }

    /// Maximum over all pairs of species.
    fn jump(&self) -> Option<f64> {
        let jump = |[epsilon, sigma]: [f64; 2]| {
            let power = (sigma / self.cutoff).powi(6);
            4.0 * epsilon * (power * power - power).abs()
        };
        let largest = || self.parameters.of_all_pairs().into_iter().map(jump).fold(0.0, f64::max);
        (self.truncation == Truncation::Plain).then(largest)
    }

    /// Uniform particles with charges use the mixed law too, unless `lennard_jones_coulomb` applies (one
    /// cutoff, no switch). This keeps the number of combined laws to compile small.
    fn mixed(&self, charges: Option<&Charges>) -> Vec<[f64; 2]> {
        let own = |[epsilon, sigma]: &[f64; 2]| [0.5 * sigma, epsilon.sqrt()];
        let apart =
            |charges: &Charges| charges.cutoff != self.cutoff || self.truncation == Truncation::Switched;
        match &self.parameters {
            PairParameters::Mixed(species) => species.iter().map(own).collect(),
            PairParameters::Uniform(all) if charges.is_some_and(apart) => vec![own(all)],
            PairParameters::Uniform(_) | PairParameters::Table(_) => Vec::new(),
        }
    }

    fn reorder(&mut self, order: &[usize]) {
        self.parameters = self.parameters.reordered(order);
    }

    fn tail_corrected(&self) -> bool {
        self.tail
    }

    /// Sum over pairs of species (Allen & Tildesley 2017, section 2.8). A particle counts as its own neighbor
    /// (N^2 instead of N (N - 1)), as is usual.
    fn tail(&self, counts: &[u64]) -> [f64; 2] {
        let (mut energy, mut virial) = (0.0, 0.0);
        for (a, &count_a) in counts.iter().enumerate() {
            for (b, &count_b) in counts.iter().enumerate() {
                let [epsilon, sigma] = self.parameters.of(a, b);
                let [u, w] = Law::truncated(epsilon, sigma).tail(count_a as f64, count_b as f64, self.cutoff);
                energy += u;
                virial += w;
            }
        }
        [energy, virial]
    }
}

/// Returns the distance of the energy minimum, the cutoff of the Weeks-Chandler-Andersen potential.
fn minimum(section: &mut dyn SectionReader, parameters: &PairParameters) -> f64 {
    section.without_effect("cutoff", "truncation = \"weeks-chandler-andersen\", which cuts at 2^(1/6) sigma");
    let PairParameters::Uniform([_, sigma]) = parameters else {
        let message = "the minimum is a cutoff for each pair, and these species have several".into();
        let help = "give all species the same epsilon and sigma, or write truncation = \"shifted\"".into();
        section.report(&["truncation"], message, help);
        return 1.0;
    };
    2f64.powf(1.0 / 6.0) * sigma
}

/// Law of a Lennard-Jones interaction: one variant for each combination of parameters and truncation.
#[derive(Clone, Debug)]
pub enum Form {
    /// Uniform parameters.
    Uniform(Law<f64>),
    /// Uniform parameters, with a force switch.
    Switched(lennard_jones_switched::Law<f64>),
    /// Uniform parameters with charges, within one cutoff.
    Charged(lennard_jones_coulomb::Law<f64>),
    /// Lorentz-Berthelot mixing.
    Mixed(WithCharges<lennard_jones_mixed::Law<f64>>),
    /// Lorentz-Berthelot mixing, with a force switch.
    MixedSwitched(WithCharges<lennard_jones_mixed_switched::Law<f64>>),
    /// Parameters looked up per pair of species.
    Table(Box<WithCharges<lennard_jones_table::Law<f64>>>),
}

/// Returns the law of uniform parameters.
fn uniform(epsilon: f64, sigma: f64, potential: &LennardJones, charges: Option<&Charges>) -> Form {
    let law = match potential.truncation {
        Truncation::Plain => Law::truncated(epsilon, sigma),
        Truncation::Shifted | Truncation::Repulsive => Law::shifted(epsilon, sigma, potential.cutoff),
        Truncation::Switched => {
            let LennardJones { switch_start: start, cutoff, .. } = *potential;
            return Form::Switched(lennard_jones_switched::Law::new(epsilon, sigma, start, cutoff));
        }
    };
    match charges {
        Some(charges) => Form::Charged(lennard_jones_coulomb::Law::new(law, charges.law)),
        None => Form::Uniform(law),
    }
}

impl Laws for Form {
    fn visit<V: LawVisitor>(&self, visitor: &mut V) {
        match self {
            Form::Uniform(law) => visitor.visit(law),
            Form::Switched(law) => visitor.visit(law),
            Form::Charged(law) => visitor.visit(law),
            Form::Mixed(law) => law.visit(visitor),
            Form::MixedSwitched(law) => law.visit(visitor),
            Form::Table(law) => law.visit(visitor),
        }
    }
}
