//! Checks `[external]`.

use super::check::Deck;
use crate::plan::*;

const POINT: &str = "external.point_mass";

impl Deck<'_> {
    /// Checks external accelerations; `gravity` is the checked `[gravity]`, if there is one.
    pub(super) fn external(&mut self, gravity: Option<&GravityPlan>) -> Option<ExternalPlan> {
        let header = self.section("external")?;
        let uniform = self.numbers("external", "uniform");
        let point_mass = self.point_mass(gravity);
        if uniform == [0.0; 3] && point_mass.is_none() {
            let help = "give `uniform = [ax, ay, az]`, or add [external.point_mass]";
            self.report(Some(header), "[external] has no acceleration".into(), help);
        }
        Some(ExternalPlan { uniform, point_mass })
    }

    fn point_mass(&mut self, gravity: Option<&GravityPlan>) -> Option<PointMassPlan> {
        self.section(POINT)?;
        let constant = match gravity {
            Some(gravity) => {
                self.without_effect(POINT, "constant", "`constant` of [gravity]");
                gravity.constant
            }
            None => self.optional_number(POINT, "constant").unwrap_or(1.0),
        };
        Some(PointMassPlan {
            mass: self.number(POINT, "mass"),
            constant,
            position: self.numbers(POINT, "position"),
            softening: self.number(POINT, "softening"),
            distance: self.named(POINT, "distance", Distance::named, Distance::Spherical),
        })
    }

    /// Checks external accelerations against boundary and motion.
    pub(super) fn check_external(&mut self, plan: &Plan) {
        let Some(external) = &plan.external else { return };
        if let Some(boundary) = plan.space.boundary
            && let Some((message, help)) = external.refusal(boundary)
        {
            self.report(self.place("space", "boundary"), message, help);
        }
        if plan.motion.remove_drift.is_some() {
            let message = "[external] moves the center of mass, and [motion.remove_drift] would stop it";
            self.report(
                self.section("motion.remove_drift"),
                message.into(),
                "remove one of the two sections",
            );
        }
    }
}
