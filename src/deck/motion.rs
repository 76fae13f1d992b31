//! Checks `[thermostat.*]`, `[motion.*]` and `[minimize]`, and what they require of other sections.

use super::check::Deck;
use super::mistake::Place;
use crate::plan::*;
use crate::units::Dimension;

const THERMOSTATS: [&str; 2] = ["thermostat.langevin", "thermostat.velocity-rescaling"];
/// Sections that are valid for molecules only.
const MOLECULAR: [&str; 4] = [THERMOSTATS[0], THERMOSTATS[1], "motion.remove_drift", "minimize"];
/// Largest product of friction and time step. Beyond it less than exp(-5) of a velocity survives a step, too
/// little to undo the step.
const MAX_FRICTION_PER_STEP: f64 = 5.0;

impl Deck<'_> {
    /// Checks the motion of molecules; `interaction` is the checked `[interaction]`, if there is one.
    pub(super) fn motion(&mut self, interaction: Option<&InteractionPlan>) -> MotionPlan {
        if interaction.is_none() && self.section("interaction").is_none() {
            for section in MOLECULAR {
                if let Some(place) = self.section(section) {
                    let message = format!("[{section}] is for molecules, and the deck has no [interaction]");
                    self.report(Some(place), message, "remove it, or add an [interaction.LAW]");
                }
            }
        }
        MotionPlan {
            thermostat: self.thermostat(),
            remove_drift: self.remove_drift(),
            minimize: self.minimize(interaction.map_or(1.0, |interaction| interaction.cutoff)),
        }
    }

    fn thermostat(&mut self) -> Option<ThermostatPlan> {
        let header = self.section("thermostat");
        let found: Vec<(&'static str, Place)> =
            THERMOSTATS.iter().filter_map(|&one| Some((one, self.section(one)?))).collect();
        match found.as_slice() {
            [(section, _)] => {
                let temperature = self.number(section, "temperature");
                let seed = self.integer(section, "seed");
                Some(if *section == THERMOSTATS[0] {
                    let friction = self.number(section, "friction");
                    ThermostatPlan::Langevin { temperature, friction, seed }
                } else {
                    let time_constant = self.number(section, "time_constant");
                    ThermostatPlan::VelocityRescaling { temperature, time_constant, seed }
                })
            }
            [] => {
                if header.is_some() {
                    let names = THERMOSTATS.map(|name| format!("[{name}]")).join(" or ");
                    self.report(header, "[thermostat] names no thermostat".into(), format!("add {names}"));
                }
                None
            }
            [(first, _), .., (_, place)] => {
                let message = "the deck has more than one thermostat".into();
                self.report(Some(place.clone()), message, format!("keep one; the other is [{first}]"));
                None
            }
        }
    }

    fn remove_drift(&mut self) -> Option<u64> {
        self.section("motion.remove_drift")?;
        Some(self.integer("motion.remove_drift", "every_steps"))
    }

    fn minimize(&mut self, cutoff: f64) -> Option<MinimizePlan> {
        let section = "minimize";
        self.section(section)?;
        Some(MinimizePlan {
            largest_force: self.number(section, "largest_force"),
            most_steps: self.integer(section, "most_steps"),
            largest_displacement: self
                .optional_number(section, "largest_displacement")
                .unwrap_or(cutoff / 25.0),
        })
    }

    /// Checks thermostat and minimization against the time step and the start.
    pub(super) fn check_motion(&mut self, plan: &Plan) {
        if plan.interaction.is_none() {
            return;
        }
        if let (Some(ThermostatPlan::Langevin { friction, .. }), Some(step)) =
            (plan.motion.thermostat, plan.time_step.fixed)
            && friction * step > MAX_FRICTION_PER_STEP
        {
            let message = format!(
                "friction = {} leaves nothing of a velocity in a time step of {}",
                self.format_quantity(friction, Dimension::Rate),
                self.format_quantity(step, Dimension::Time)
            );
            let most = self.format_quantity(MAX_FRICTION_PER_STEP / step, Dimension::Rate);
            let help = format!("give friction below {most}, or a shorter time_step.fixed");
            self.report(self.place(THERMOSTATS[0], "friction"), message, help);
        }
        if plan.motion.thermostat.is_some() && plan.particle_count() == Some(1) {
            let place = THERMOSTATS.iter().find_map(|&one| self.section(one));
            let message = "one particle has no motion about that of the whole".into();
            self.report(place, message, "remove the thermostat, or start with more particles");
        }
        // a deck that also advances gets this error from the check of the interaction
        if !self.advances(plan) && plan.motion.minimize.is_some() && plan.time_step.fixed.is_none() {
            let message = "a minimization begins with steps of the length `fixed` of [time_step]".into();
            let help = "add `fixed = ...` in [time_step], such as 0.002 in reduced units";
            self.report(self.section("minimize"), message, help);
        }
    }
}
