//! Checks `[sph]`, `[sph.viscosity]` and `[gravity]`.

use super::check::Deck;
use super::keys::MIN_NEIGHBORS;
use crate::plan::*;
use crate::sph::smoothing;

impl Deck<'_> {
    pub(super) fn sph(&mut self) -> Option<SphPlan> {
        self.section("sph")?;
        let isothermal = self.choice("sph", "equation_of_state") == "isothermal";
        let equation_of_state = if isothermal {
            self.without_effect("sph", "gamma", "equation_of_state = \"isothermal\"");
            self.without_effect("sph", "conductivity", "equation_of_state = \"isothermal\"");
            self.without_effect("sph", "conductivity_switch", "equation_of_state = \"isothermal\"");
            if self.place("sph", "sound_speed").is_none() {
                let place = self.place("sph", "equation_of_state");
                self.report(
                    place,
                    "an isothermal gas needs a `sound_speed`".into(),
                    "add `sound_speed = ...` in [sph]",
                );
            }
            EquationOfState::Isothermal { sound_speed: self.number("sph", "sound_speed") }
        } else {
            self.without_effect("sph", "sound_speed", "equation_of_state = \"ideal-gas\"");
            EquationOfState::IdealGas { gamma: self.number("sph", "gamma") }
        };
        let formulation = self.named("sph", "formulation", Formulation::named, Formulation::Standard);
        let (volume_estimate, volume_iterations) = match formulation {
            Formulation::Standard => {
                self.without_effect("sph", "volume_estimate", "formulation = \"standard\"");
                self.without_effect("sph", "volume_iterations", "formulation = \"standard\"");
                (VolumeEstimate::Energy, 0)
            }
            Formulation::VolumeElements => {
                let estimate =
                    self.named("sph", "volume_estimate", VolumeEstimate::named, VolumeEstimate::Energy);
                (estimate, self.integer("sph", "volume_iterations"))
            }
        };
        let viscosity = self.viscosity();
        let plan = SphPlan {
            formulation,
            volume_estimate,
            volume_iterations,
            kernel: self.named("sph", "kernel", Kernel::named, Kernel::CubicSpline),
            neighbors: self.number("sph", "neighbors"),
            neighbor_tolerance: self.number("sph", "neighbor_tolerance"),
            equation_of_state,
            viscosity,
            gradients: self.named("sph", "gradients", Gradients::named, Gradients::Integral),
            conductivity: if isothermal { 0.0 } else { self.number("sph", "conductivity") },
            conductivity_switch: !isothermal && self.flag("sph", "conductivity_switch"),
        };
        let alone = smoothing::self_contribution(plan.interpolation_kernel());
        // a value out of its range has been reported already
        if plan.neighbors >= MIN_NEIGHBORS && plan.neighbors <= alone {
            let place = self.place("sph", "neighbors").or_else(|| self.place("sph", "kernel"));
            let message = format!(
                "no smoothing length has {} neighbors: with kernel = \"{}\" a particle alone counts as \
                 {alone:.1}",
                plan.neighbors,
                plan.kernel.name()
            );
            self.report(
                place,
                message,
                format!("give neighbors above {alone:.1}; {:.0} and more are usual", 3.0 * alone),
            );
        }
        Some(plan)
    }

    fn viscosity(&mut self) -> ViscosityPlan {
        let section = "sph.viscosity";
        let switch = self.flag(section, "switch");
        let alpha_max = self.number(section, "alpha_max");
        let alpha_min = if switch { self.number(section, "alpha_min") } else { alpha_max };
        if !switch {
            self.without_effect(section, "alpha_min", "switch = false");
            self.without_effect(section, "limiter", "switch = false");
        }
        let limiter = switch && self.flag(section, "limiter");
        if alpha_min > alpha_max {
            let place = self.place(section, "alpha_min").or_else(|| self.place(section, "alpha_max"));
            let message = format!("alpha_min = {alpha_min} is larger than alpha_max = {alpha_max}");
            self.report(place, message, "give alpha_min <= alpha_max");
        }
        let beta = self.number(section, "beta");
        ViscosityPlan { alpha_min, alpha_max, beta, switch, limiter }
    }

    pub(super) fn gravity(&mut self) -> Option<GravityPlan> {
        self.section("gravity")?;
        let criterion =
            self.named("gravity", "criterion", OpeningCriterion::named, OpeningCriterion::Geometric);
        let force_error = self.number("gravity", "force_error");
        if criterion == OpeningCriterion::Geometric {
            self.without_effect("gravity", "force_error", "criterion = \"geometric\"");
        }
        Some(GravityPlan {
            constant: self.number("gravity", "constant"),
            opening_angle: self.number("gravity", "opening_angle"),
            force_error,
            criterion,
            order: self.named("gravity", "order", MultipoleOrder::named, MultipoleOrder::Quadrupole),
            softening: self.number("gravity", "softening"),
            softening_kernel: self.named(
                "gravity",
                "softening_kernel",
                SofteningKernel::named,
                SofteningKernel::Plummer,
            ),
            mesh: self.optional_integers("gravity", "mesh"),
            split: self.optional_number("gravity", "split"),
        })
    }
}
