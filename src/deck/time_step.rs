//! Checks `[time_step]`: criteria and bounds of the time step.

use super::check::Deck;
use super::keys;
use crate::plan::*;
use crate::units::Dimension;

/// Default of `time_step.smallest`, as a fraction of the end time: a run with smaller steps would not finish.
const SMALLEST_FRACTION: f64 = 1e-10;

/// Default of `time_step.acceleration` with gas, whose other criteria limit the step too, and without gas: a
/// cold collapse of 20,000 particles then conserves its energy to 0.5 %.
const ACCELERATION_WITH_GAS: f64 = 0.2;
const ACCELERATION_WITHOUT_GAS: f64 = 0.07;

impl Deck<'_> {
    pub(super) fn time_step(&mut self, end_time: Option<f64>, gas: bool) -> TimeStepPlan {
        let section = "time_step";
        let default_smallest = SMALLEST_FRACTION * end_time.unwrap_or(0.0);
        let plan = TimeStepPlan {
            courant: self.number(section, "courant"),
            acceleration: self.optional_number(section, "acceleration").unwrap_or(if gas {
                ACCELERATION_WITH_GAS
            } else {
                ACCELERATION_WITHOUT_GAS
            }),
            energy: self.number(section, "energy"),
            expansion: self.number(section, "expansion"),
            growth: self.number(section, "growth"),
            largest: self.optional_number(section, "largest"),
            smallest: self.optional_number(section, "smallest").unwrap_or(default_smallest),
            first: self.optional_number(section, "first"),
            fixed: self.optional_number(section, "fixed"),
        };
        if self.place(section, "fixed").is_some() {
            for key in keys::section_at(section).map_or(&[][..], |section| section.keys) {
                if key.name != "fixed" {
                    self.without_effect(section, key.name, "`fixed` in [time_step]");
                }
            }
            return plan;
        }
        let written = self.place(section, "smallest").is_some();
        for (name, value) in
            [("largest", plan.largest), ("first", plan.first)].into_iter().filter(|_| written)
        {
            if value.is_some_and(|value| value < plan.smallest) {
                let place = self.place(section, name);
                let message = format!(
                    "`{name}` is less than smallest = {}",
                    self.format_quantity(plan.smallest, Dimension::Time)
                );
                self.report(place, message, format!("give {name} >= smallest"));
            }
        }
        if let (Some(first), Some(largest)) = (plan.first, plan.largest)
            && first > largest
        {
            let message =
                format!("`first` is more than largest = {}", self.format_quantity(largest, Dimension::Time));
            self.report(self.place(section, "first"), message, "give first <= largest");
        }
        plan
    }
}
