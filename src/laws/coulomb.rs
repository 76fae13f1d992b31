//! Coulomb interaction within a cutoff: plain, shifted, or with a reaction field.

use super::interaction::{LawVisitor, Laws, SectionReader};
use crate::pair::Together;
use crate::pair::language::*;
use crate::pair::smooth::MOST_SPLIT;
use crate::sections::{
    ANY, Default, Interval, Kind, POSITIVE, Section, between, key, number, quantity, section,
};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::fmt::Debug;

pub use coulomb::*;

/// V(r) = f q_i q_j (1 / r + S(r^2)) within the cutoff r_c, where S is smooth, and the self-energy f q^2 S(0) / 2
/// of each particle, which is that of a pair with itself.
///
/// With a cutoff, S = k r^2 - c. Plain: k = c = 0. Shifted: k = 0, c = 1 / r_c. Reaction field of a medium of
/// relative permittivity e (Tironi et al. 1995, J. Chem. Phys. 102, 5451): k = (e - 1) / ((2 e + 1) r_c^3),
/// c = 1 / r_c + k r_c^2. With the self-energy, which GROMACS has too, the shifts cancel for a neutral cutoff
/// sphere, and energies of crystals converge to the Madelung energy.
///
/// In an Ewald sum, S = -erf(a r) / r with the splitting parameter a, S(0) = -2 a / sqrt(pi), and the mesh adds
/// what S has removed, of all images (Essmann et al. 1995, J. Chem. Phys. 103, 8577).
#[pair(molecular)]
pub mod coulomb {
    /// The constant f = 1 / (4 pi epsilon_0) in the units of the run, S, and -S(0).
    struct Law {
        constant: Real,
        smooth: SmoothPart,
        own: Real,
    }
    struct Particle {
        charge: Real,
    }

    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let charges = law.constant * (i.charge * j.charge);
        let inverse = r2.reciprocal_root();
        let smooth = smooth_part(law.smooth, r2);
        let virial = charges * (inverse - 2.0 * (smooth.slope * r2));
        Sums {
            force: if planted(CoulombForce) {
                r * (0.5 * virial * (inverse * inverse))
            } else {
                r * (virial * (inverse * inverse))
            },
            energy: charges * (inverse + smooth.value),
            virial,
        }
    }

    /// Half of each pair's energy and virial, and the particle's own energy.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let own = law.constant * (i.charge * i.charge) * law.own;
        Output { force: sums.force, pair_energy: 0.5 * (sums.energy - own), virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// Truncated at the cutoff, with an energy jump.
    pub fn plain(constant: f64) -> Self {
        Law { constant, smooth: SmoothPart::linear(0.0, 0.0), own: 0.0 }
    }

    /// Truncated and shifted to zero energy at the cutoff: a reaction field with permittivity 1.
    pub fn shifted(constant: f64, cutoff: f64) -> Self {
        let own = 1.0 / cutoff;
        Law { constant, smooth: SmoothPart::linear(-own, 0.0), own }
    }

    /// Reaction field of a medium beyond the cutoff with this relative permittivity, possibly infinite.
    pub fn reaction_field(constant: f64, permittivity: f64, cutoff: f64) -> Self {
        let ratio =
            if permittivity.is_finite() { (permittivity - 1.0) / (2.0 * permittivity + 1.0) } else { 0.5 };
        let field = ratio / cutoff.powi(3);
        let own = 1.0 / cutoff + field * cutoff * cutoff;
        Law { constant, smooth: SmoothPart::linear(-own, field), own }
    }

    /// The short-range part of an Ewald sum with this splitting parameter.
    pub fn screened(constant: f64, splitting: f64, cutoff: f64) -> Self {
        Law { constant, smooth: SmoothPart::screened(splitting, cutoff), own: 2.0 * splitting / PI.sqrt() }
    }
}

choice! {
    /// Truncation of the Coulomb interaction at its cutoff.
    CoulombTruncation {
        /// Nothing: energy and force jump.
        Plain = "plain",
        /// The energy is shifted to zero; the force jumps.
        Shifted = "shifted",
        /// A homogeneous medium beyond the cutoff answers to the charges within.
        ReactionField = "reaction-field",
    }
}

choice! {
    /// What acts between charges beyond the cutoff.
    CoulombMethod {
        /// Nothing, or a homogeneous medium.
        Cutoff = "cutoff",
        /// All charges and their periodic images: an Ewald sum whose long-range part is computed on a mesh
        /// (Essmann et al. 1995, J. Chem. Phys. 103, 8577).
        Mesh = "pme",
    }
}

/// Smallest and largest order of the mesh's splines.
pub const MESH_ORDERS: [usize; 2] = [4, 8];
/// Most mesh points per dimension.
pub const MOST_MESH_POINTS: usize = 4096;

/// `[interaction.coulomb]`
pub const SECTION: Section = section(
    "interaction.coulomb",
    "q q / r of the species' charges, by the constant of the units, within a cutoff; alone, or with lennard-jones, formula or table.",
    &[
        key(
            "cutoff",
            quantity(POSITIVE, Dimension::Length),
            Default::Unset("that of the other interaction"),
            "Distance beyond which no pair acts, or beyond which charges act through the mesh alone.",
        )
        .also(&["rc", "r_c", "r_cut", "rcoulomb", "radius"]),
        key(
            "method",
            Kind::Choice(CoulombMethod::NAMES),
            Default::Value("\"cutoff\""),
            "Charges within the cutoff alone, or all with their periodic images by smooth particle-mesh Ewald.",
        )
        .also(&["coulombtype", "kspace_style", "electrostatics", "nonbonded_method"]),
        key(
            "truncation",
            Kind::Choice(CoulombTruncation::NAMES),
            Default::Value("\"reaction-field\""),
            "At the cutoff: plain, shifted to zero energy, or with a medium beyond it that answers.",
        )
        .also(&["shift", "modifier"]),
        key(
            "permittivity",
            Kind::Number(
                Interval { lower: 1.0, lower_allowed: true, upper_allowed: true, ..ANY },
                Dimension::Code,
            ),
            Default::Unset("infinite: a conductor"),
            "Relative permittivity of the medium of a reaction field.",
        )
        .also(&["epsilon_rf", "dielectric", "epsilon"]),
        key(
            "tolerance",
            number(Interval { lower: 1e-9, lower_allowed: true, upper: 0.1, upper_allowed: true }),
            Default::Value("1e-4"),
            "Error of the forces of \"pme\", root mean square, relative to the force between two typical charges at \
             their mean distance.",
        )
        .also(&["ewald_rtol", "ewald_tolerance", "accuracy"]),
        key(
            "mesh",
            Kind::Integers(between(MESH_ORDERS[1] as f64, MOST_MESH_POINTS as f64)),
            Default::Unset("chosen by the tolerance"),
            "Mesh points per dimension of \"pme\".",
        )
        .also(&["fourier_nx", "grid", "fourierspacing", "nfft"]),
        key(
            "order",
            Kind::Integer(between(MESH_ORDERS[0] as f64, MESH_ORDERS[1] as f64)),
            Default::Unset("the fastest of those that meet the tolerance"),
            "Order of the B-splines of \"pme\": mesh points per dimension onto which a charge is spread.",
        )
        .also(&["pme_order", "pmeorder", "interpolation"]),
        key(
            "splitting",
            quantity(POSITIVE, Dimension::InverseLength),
            Default::Unset("chosen by tolerance and cutoff"),
            "Splitting parameter a of \"pme\": pairs act by erfc(a r) / r, the mesh by erf(a r) / r.",
        )
        .also(&["ewald_coefficient", "alpha", "beta", "gewald", "ewald_alpha"]),
    ],
);

/// `[interaction.coulomb]`: the interaction of charges, alone or combined with a
/// [`Potential`](super::interaction::Potential) that allows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coulomb {
    /// Cutoff distance, > 0.
    pub cutoff: f64,
    /// Truncation at the cutoff.
    pub truncation: CoulombTruncation,
    /// Relative permittivity of the reaction-field medium, >= 1; `None`: infinite, or no medium.
    pub permittivity: Option<f64>,
    /// The Ewald sum; `None`: charges beyond the cutoff do not act. With it `truncation` is without meaning.
    #[serde(default)]
    pub ewald: Option<EwaldPlan>,
}

/// Settings of smooth particle-mesh Ewald as a deck gives them; `None`: chosen by the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EwaldPlan {
    /// Error of the forces, root mean square, in units of the force between two typical charges at their mean
    /// distance.
    pub tolerance: f64,
    /// Mesh points per dimension.
    pub mesh: Option<[usize; 3]>,
    /// Order of the B-splines.
    pub order: Option<usize>,
    /// Splitting parameter, 1 / length.
    pub splitting: Option<f64>,
}

impl Coulomb {
    /// Reads the constants from the section. The cutoff defaults to that of the other interaction.
    pub fn read(section: &mut dyn SectionReader, other: Option<f64>) -> Self {
        let cutoff = section.optional_number("cutoff").or(other).unwrap_or_else(|| {
            let message = format!("`cutoff` is missing in [{}]", SECTION.path);
            section.report(&[], message, "give `cutoff = ...` below it".into());
            1.0
        });
        if CoulombMethod::named(section.choice("method")) == Some(CoulombMethod::Mesh) {
            return Self::read_ewald(section, cutoff);
        }
        for key in ["tolerance", "mesh", "order", "splitting"] {
            section.without_effect(key, "method, which is not \"pme\"");
        }
        let truncation = CoulombTruncation::named(section.choice("truncation"))
            .unwrap_or(CoulombTruncation::ReactionField);
        let permittivity = section.optional_number("permittivity").filter(|value| value.is_finite());
        if truncation != CoulombTruncation::ReactionField {
            section.without_effect("permittivity", "truncation, which is not \"reaction-field\"");
            return Coulomb { cutoff, truncation, permittivity: None, ewald: None };
        }
        Coulomb { cutoff, truncation, permittivity, ewald: None }
    }

    fn read_ewald(section: &mut dyn SectionReader, cutoff: f64) -> Self {
        for key in ["truncation", "permittivity"] {
            section.without_effect(key, "method = \"pme\"");
        }
        let ewald = EwaldPlan {
            tolerance: section.number("tolerance"),
            mesh: section.optional_integers("mesh").map(|points| points.map(|points| points as usize)),
            order: section.optional_integer("order").map(|order| order as usize),
            splitting: section.optional_number("splitting"),
        };
        if let Some(splitting) = ewald.splitting
            && splitting * cutoff > MOST_SPLIT
        {
            let message =
                format!("`splitting` times the cutoff is {:.3}, more than {MOST_SPLIT}", splitting * cutoff);
            let help = "write a smaller splitting, or leave it out: the tolerance chooses it".into();
            section.report(&["splitting"], message, help);
        }
        Coulomb { cutoff, truncation: CoulombTruncation::Shifted, permittivity: None, ewald: Some(ewald) }
    }

    /// Returns the law and its cutoff; `constant` is 1 / (4 pi epsilon_0) in the units of the run, `splitting`
    /// the splitting parameter of an Ewald sum.
    pub fn charges(&self, constant: f64, splitting: Option<f64>) -> Charges {
        if let Some(splitting) = splitting {
            return Charges { law: Law::screened(constant, splitting, self.cutoff), cutoff: self.cutoff };
        }
        let law = match self.truncation {
            CoulombTruncation::Plain => Law::plain(constant),
            CoulombTruncation::Shifted => Law::shifted(constant, self.cutoff),
            CoulombTruncation::ReactionField => {
                Law::reaction_field(constant, self.permittivity.unwrap_or(f64::INFINITY), self.cutoff)
            }
        };
        Charges { law, cutoff: self.cutoff }
    }
}

/// The law of charges and its cutoff.
#[derive(Clone, Copy, Debug)]
pub struct Charges {
    /// Law.
    pub law: Law<f64>,
    /// Cutoff distance.
    pub cutoff: f64,
}

/// A law alone, or combined with the law of charges in one pass.
#[derive(Clone, Debug)]
pub struct WithCharges<L> {
    law: L,
    cutoff: f64,
    charges: Option<Charges>,
}

impl<L> WithCharges<L> {
    /// Combines a law within its cutoff with `charges`, if any.
    pub fn new(law: L, cutoff: f64, charges: Option<&Charges>) -> Self {
        WithCharges { law, cutoff, charges: charges.copied() }
    }
}

impl<L: PairLaw + Debug> Laws for WithCharges<L> {
    fn visit<V: LawVisitor>(&self, visitor: &mut V) {
        match &self.charges {
            Some(charges) => {
                visitor.visit(&Together::new(self.law, charges.law, [self.cutoff, charges.cutoff]));
            }
            None => visitor.visit(&self.law),
        }
    }
}
