//! Checks `[measure.*]`: measurements during a run, and what they require of other sections.

use super::check::Deck;
use crate::plan::*;
use crate::space::Boundary;
use crate::units::Dimension;

const RADIAL: &str = "measure.radial-distribution";
const DISPLACEMENT: &str = "measure.mean-square-displacement";

impl Deck<'_> {
    /// Checks the measurements; `time_step` converts their step intervals to times.
    pub(super) fn measure(&mut self, time_step: &TimeStepPlan) -> MeasurePlan {
        let header = self.section("measure");
        if header.is_some() && self.section(RADIAL).is_none() && self.section(DISPLACEMENT).is_none() {
            let help = format!("add [{RADIAL}] or [{DISPLACEMENT}]");
            self.report(header, "[measure] names nothing to measure".into(), help);
        }
        MeasurePlan {
            radial_distribution: self.radial_distribution(),
            mean_square_displacement: self.mean_square_displacement(time_step),
        }
    }

    fn radial_distribution(&mut self) -> Option<RadialDistributionPlan> {
        self.section(RADIAL)?;
        Some(RadialDistributionPlan {
            distance: self.optional_number(RADIAL, "distance"),
            bins: self.integer(RADIAL, "bins") as usize,
            every_steps: self.integer(RADIAL, "every_steps"),
            from_time: self.number(RADIAL, "from_time"),
        })
    }

    fn mean_square_displacement(&mut self, time_step: &TimeStepPlan) -> Option<MeanSquareDisplacementPlan> {
        self.section(DISPLACEMENT)?;
        let window = self.number(DISPLACEMENT, "window");
        let origins = self.integer(DISPLACEMENT, "origins");
        let every_steps = self.integer(DISPLACEMENT, "every_steps");
        let from_time = self.number(DISPLACEMENT, "from_time");
        let fit_from = self.optional_number(DISPLACEMENT, "fit_from").unwrap_or(0.25 * window);
        let viscosity = self.optional_number(DISPLACEMENT, "viscosity");
        // a missing fixed step is reported with the interaction, which requires it
        let interval = time_step.fixed.map_or(window / 100.0, |step| step * every_steps as f64);
        let lags = (window / interval).round();
        let place = self.place(DISPLACEMENT, "window");
        if !(2.0..=1e5).contains(&lags) {
            let message = format!(
                "the `window` has {lags} measurements, {} apart in time",
                self.format_quantity(interval, Dimension::Time)
            );
            let help = "give a window of at least 2 and at most 100,000 intervals; 50 to 500 are usual";
            self.report(place, message, help);
        } else if origins as f64 > lags {
            let message = format!("{origins} `origins` are more than the {lags} measurements of the window");
            self.report(
                self.place(DISPLACEMENT, "origins").or(place),
                message,
                "use fewer origins, or measure more often",
            );
        } else if fit_from > (lags - 0.999) * interval {
            let message = format!(
                "`fit_from` leaves no line to fit before the window ends at {}",
                self.format_quantity(window, Dimension::Time)
            );
            self.report(self.place(DISPLACEMENT, "fit_from").or(place), message, "give fit_from < window");
        }
        Some(MeanSquareDisplacementPlan {
            lags: lags.clamp(2.0, 1e5) as u64,
            stride: (lags / origins as f64).round().clamp(1.0, 1e5) as u64,
            every_steps,
            from_time,
            fit_from,
            viscosity,
        })
    }

    /// Checks the measurements against interaction, box and boundary.
    pub(super) fn check_measure(&mut self, plan: &Plan) {
        if plan.interaction.is_none() && self.section("interaction").is_none() {
            for section in [RADIAL, DISPLACEMENT] {
                if let Some(place) = self.section(section) {
                    let message = format!("[{section}] is of molecules, and the deck has none");
                    self.report(Some(place), message, "add an [interaction.LAW], or remove the section");
                }
            }
            return;
        }
        let periodic = plan.space.boundary == Some([Boundary::Periodic; 3]);
        // a start file may define its own boundary
        let known = !matches!(plan.start, StartPlan::File(_));
        let edges = plan.space.corners.map(|[lower, upper]| [0, 1, 2].map(|d| upper[d] - lower[d]));
        if let Some(radial) = &plan.measure.radial_distribution {
            if known && !periodic {
                let message = "a radial distribution needs a density, and a box that is open has none".into();
                let help = "write boundary = \"periodic\" in [space], or remove the section";
                self.report(self.section(RADIAL), message, help);
            }
            let half = edges.map(|edges| 0.5 * edges.into_iter().fold(f64::INFINITY, f64::min));
            if let (Some(distance), Some(half)) = (radial.distance, half)
                && distance > half
            {
                let (place, half) =
                    (self.place(RADIAL, "distance"), self.format_quantity(half, Dimension::Length));
                let message = format!("`distance` is more than half the shortest edge of the box, {half}");
                self.report(
                    place,
                    message,
                    format!("give a distance of at most {half}, or use a larger box"),
                );
            }
        }
        let corrected =
            plan.measure.mean_square_displacement.as_ref().is_some_and(|it| it.viscosity.is_some());
        let cube = edges.is_none_or(|[x, y, z]| (x / y - 1.0).abs() < 1e-9 && (x / z - 1.0).abs() < 1e-9);
        if corrected && known && !(periodic && cube) {
            let message = "the correction by `viscosity` is that of a periodic cube".into();
            self.report(
                self.place(DISPLACEMENT, "viscosity"),
                message,
                "use a periodic box of equal edges, or remove the viscosity",
            );
        }
    }
}
