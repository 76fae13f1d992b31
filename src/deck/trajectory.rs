//! Checks `[output.trajectory]`: what a format cannot hold is refused.

use super::check::Deck;
use crate::plan::*;

const SECTION: &str = "output.trajectory";

impl Deck<'_> {
    pub(super) fn trajectory(&mut self, time_step: &TimeStepPlan) -> Option<TrajectoryPlan> {
        self.section(SECTION)?;
        let every = self.every(SECTION).unwrap_or(Every::EverySteps(1));
        let format = self.named(SECTION, "format", TrajectoryFormat::named, TrajectoryFormat::H5md);
        let why = format!("format = \"{}\"", format.name());
        let coordinates_only = format.topology_name().is_some();
        let images = if matches!(format, TrajectoryFormat::H5md | TrajectoryFormat::LammpsDump) {
            self.flag(SECTION, "images")
        } else {
            self.without_effect(SECTION, "images", &why);
            false
        };
        let double = if coordinates_only {
            self.without_effect(SECTION, "precision", &why);
            false
        } else {
            self.named(SECTION, "precision", Digits::named, Digits::Single) == Digits::Double
        };
        let resolution = self.number(SECTION, "resolution");
        if format != TrajectoryFormat::Xtc {
            self.without_effect(SECTION, "resolution", &why);
        }
        let velocities = self.flag(SECTION, "velocities");
        let forces = if self.section("interaction").is_some() {
            self.flag(SECTION, "forces")
        } else {
            self.without_effect(SECTION, "forces", "the missing [interaction]");
            false
        };
        for (name, asked) in [("velocities", velocities), ("forces", forces)] {
            if asked && coordinates_only {
                let message = format!("{why} holds coordinates only, no {name}");
                let help = "remove it, or write format = \"h5md\", \"xyz\" or \"lammps-dump\"";
                self.report(self.place(SECTION, name), message, help);
            }
        }
        if format == TrajectoryFormat::Dcd {
            self.check_equal_intervals(every, time_step);
        }
        Some(TrajectoryPlan { every, format, velocities, forces, images, double, resolution })
    }

    /// Checks that the frames of a DCD file, whose header has one interval for all, are equally spaced.
    fn check_equal_intervals(&mut self, every: Every, time_step: &TimeStepPlan) {
        let help = "or write another format: the others state the step of each frame";
        if matches!(every, Every::EveryTime(_)) {
            let message = "format = \"dcd\" has one interval in steps for all frames".to_owned();
            self.report(self.place(SECTION, "every_time"), message, format!("give `every_steps`, {help}"));
        } else if time_step.fixed.is_none() {
            let message = "format = \"dcd\" has one length for all time steps".to_owned();
            self.report(
                self.place(SECTION, "format"),
                message,
                format!("give `fixed` in [time_step], {help}"),
            );
        }
    }
}
