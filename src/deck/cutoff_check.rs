//! Checks that the interaction's cutoff fits the box.

use crate::laws::coulomb;
use crate::plan::{CoulombTruncation, Interaction, InteractionPlan, Plan, Precision};
use crate::space::{Boundary, SimulationBox};
use crate::units::Dimension;

/// Widest box of mixed precision, in cutoffs. Single-precision offsets start at the center of a
/// super-cluster, which may be as wide as the box if there are few particles. Their rounding error is 2^-25
/// of the box edge, here a thousandth of the cutoff. From 2^24 cutoffs on, two particles within the cutoff
/// may have equal offsets, and a force that is not a number.
pub const MAX_BOX_IN_CUTOFFS: f64 = 32768.0;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Why a cutoff does not fit a box, and the remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxMismatch {
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl Plan {
    /// Returns why pairs of molecules cannot be computed in the box `bx`; `None` if they can.
    pub fn check_box(&self, bx: &SimulationBox) -> Option<BoxMismatch> {
        let interaction = self.interaction.as_ref()?;
        open_mesh_misfit(interaction, bx)
            .or_else(|| self.minimum_image_misfit(interaction, bx))
            .or_else(|| self.mixed_precision_misfit(interaction, bx))
    }

    /// Checks the minimum image convention: a pair within cutoff and skin must have a single image. A box of
    /// exactly twice that distance is allowed, since no pair acts at the cutoff itself.
    fn minimum_image_misfit(&self, interaction: &InteractionPlan, bx: &SimulationBox) -> Option<BoxMismatch> {
        let (skin, lengths) = (self.neighbors.min_skin(), bx.lengths());
        let reach = interaction.cutoff * (1.0 + skin);
        let d = (0..3).find(|&d| bx.boundary[d] == Boundary::Periodic && 2.0 * reach > lengths[d])?;
        let length = |value| self.units.format_quantity(value, Dimension::Length);
        let key = cutoff_key(interaction);
        let with_skin = match skin > 0.0 {
            true => format!(", {} with neighbors.skin = {skin},", length(reach)),
            false => String::new(),
        };
        Some(BoxMismatch {
            message: format!(
                "the box is too small in {}: the cutoff of {} ({key}){with_skin} is not below half of the box's {}",
                AXES[d],
                length(interaction.cutoff),
                length(lengths[d])
            ),
            help: format!(
                "use a larger box, {key} below {}, or less skin in [neighbors]",
                length(0.5 * lengths[d] / (1.0 + skin))
            ),
        })
    }

    /// Checks that single-precision offsets resolve distances within the cutoff.
    fn mixed_precision_misfit(
        &self,
        interaction: &InteractionPlan,
        bx: &SimulationBox,
    ) -> Option<BoxMismatch> {
        let (edge, cutoff) = (bx.lengths().max(), interaction.cutoff);
        let length = |value| self.units.format_quantity(value, Dimension::Length);
        (self.run.precision == Precision::Mixed && edge > MAX_BOX_IN_CUTOFFS * cutoff).then(|| BoxMismatch {
            message: format!(
                "the box is too wide for mixed precision: its edge of {} is more than {MAX_BOX_IN_CUTOFFS} cutoffs of {} ({})",
                length(edge),
                length(cutoff),
                cutoff_key(interaction)
            ),
            help: "write precision = \"double\" in [run], or use a smaller box".into(),
        })
    }
}

impl InteractionPlan {
    /// Returns each cutoff at which the pair energy jumps, with the largest jump: infinite for charges, which
    /// have both signs and any distribution. Without such cutoffs the energy is conserved up to the
    /// integration error.
    pub fn energies_at_cutoff(&self) -> Vec<[f64; 2]> {
        let law = self.law.as_ref().and_then(|law| Some([law.cutoff(), law.jump()?]));
        let charges = self.coulomb.as_ref().filter(|plan| plan.truncation == CoulombTruncation::Plain);
        law.into_iter().chain(charges.map(|plan| [plan.cutoff, f64::INFINITY])).collect()
    }
}

/// Checks that an Ewald sum has a periodic box.
fn open_mesh_misfit(interaction: &InteractionPlan, bx: &SimulationBox) -> Option<BoxMismatch> {
    interaction.coulomb.as_ref()?.ewald?;
    let d = (0..3).find(|&d| bx.boundary[d] != Boundary::Periodic)?;
    Some(BoxMismatch {
        message: format!(
            "method = \"pme\" sums over periodic images, and the box is open in {}: its mesh covers a periodic box",
            AXES[d]
        ),
        help: format!(
            "write boundary = \"periodic\" in [space], or method = \"cutoff\" in [{}]",
            coulomb::SECTION.path
        ),
    })
}

/// Returns the deck key of the longest cutoff.
fn cutoff_key(interaction: &InteractionPlan) -> String {
    let own = |law: &&Interaction| law.cutoff() == interaction.cutoff;
    let section = interaction.law.as_ref().filter(own).map_or(&coulomb::SECTION, Interaction::section);
    format!("{}.cutoff", section.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::examine;
    use crate::space::Vec3d;

    fn plan(more: &[&str]) -> Plan {
        let deck = "run.steps = 1\nunits.system = \"molecular\"\nspecies.Ar.mass = 40\ntime_step.fixed = 0.002\n\
                    start.random = { particles = 10, lengths = 50.0 }\nspace.boundary = \"periodic\"\n\
                    interaction.lennard-jones = { epsilon = 1.0, sigma = 0.34, cutoff = 10.0 }\n";
        let more: Vec<String> = more.iter().map(|option| option.to_string()).collect();
        examine("deck", deck, &more).unwrap_or_else(|report| panic!("{report}")).plan
    }

    fn cube(edge: f64) -> SimulationBox {
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(edge), boundary: [Boundary::Periodic; 3] }
    }

    #[test]
    fn a_cutoff_beyond_half_the_box_is_told_with_units_and_key() {
        let found = plan(&[]).check_box(&cube(4.2)).unwrap();
        assert_eq!(
            found.message,
            "the box is too small in x: the cutoff of 10 nm (interaction.lennard-jones.cutoff) is not below half of the \
             box's 4.2 nm"
        );
        assert!(found.help.contains("interaction.lennard-jones.cutoff below 2.1 nm"), "{}", found.help);
        let found = plan(&["neighbors.skin=0.1"]).check_box(&cube(21.0)).unwrap();
        assert!(found.message.contains("11 nm with neighbors.skin = 0.1"), "{}", found.message);
        assert_eq!(plan(&[]).check_box(&cube(21.0)), None);
    }

    #[test]
    fn the_energy_jumps_at_plain_cutoffs_alone() {
        let reduced = ["units.system=reduced", "interaction.lennard-jones={cutoff=2.5,sigma=1.0}"];
        let jumps = |more: &[&str]| {
            let plan = plan(&[&reduced[..], more].concat());
            plan.interaction.unwrap().energies_at_cutoff()
        };
        let [[cutoff, jump]] = jumps(&[])[..] else { panic!("one cutoff") };
        assert!(cutoff == 2.5 && (jump - 0.016316891136).abs() < 1e-12, "{jump}");
        assert_eq!(jumps(&["interaction.lennard-jones.truncation=shifted"]), Vec::<[f64; 2]>::new());
    }

    #[test]
    fn mixed_precision_ends_where_offsets_are_too_coarse() {
        let edge = 1.001 * MAX_BOX_IN_CUTOFFS * 10.0;
        let found = plan(&[]).check_box(&cube(edge)).unwrap();
        assert!(
            found.message.contains("mixed precision") && found.message.contains("10 nm"),
            "{}",
            found.message
        );
        assert!(found.help.contains("precision = \"double\""), "{}", found.help);
        assert_eq!(plan(&["run.precision=double"]).check_box(&cube(edge)), None);
        assert_eq!(plan(&[]).check_box(&cube(0.99 * edge)), None);
        // half the box from a center, rounded to single precision
        let offset = 0.5 * MAX_BOX_IN_CUTOFFS;
        assert!(f64::from((offset - 0.3) as f32) - (offset - 0.3) < 1e-3);
    }
}
