//! Batches of steps: the host enqueues the steps between two lists and waits for all of them together, since
//! none of its decisions depends on what one of them finds.

use super::Verlet;
use super::step::Stepping;
use crate::clock::Clock;
use crate::motion::steps::{self, Verlet as _};
use crate::motion::thermostat::Thermostat;
use crate::{Error, Result};
use std::time::Instant;

/// Most steps of a batch, so that a run answers signals.
const MOST_STEPS: usize = 32;

/// Factor on the displacement of the last step as an estimate of those of the batch. A step beyond what the
/// list allows evaluates its forces twice.
const DISPLACEMENT_MARGIN: f64 = 1.02;

/// Performed steps.
#[derive(Debug)]
pub struct Performed {
    /// The heat added in each step to the particles of all ranks.
    pub heat: Vec<f64>,
    /// The error of the step after them. The particles are back at its start, unless the device has failed.
    pub error: Option<Error>,
}

impl Verlet {
    /// Performs steps of length `dt` from number `first` on, at least one and at most `most`. Collective.
    pub fn advance_batch(
        &mut self,
        thermostat: Option<&Thermostat>,
        remove_drift: bool,
        dt: f64,
        [first, most]: [u64; 2],
        clock: &mut Clock,
    ) -> Performed {
        let mut heat = Vec::new();
        let whole = remove_drift || matches!(thermostat, Some(Thermostat::VelocityRescaling(_)));
        let outcome = match if whole { None } else { self.length_of_batch(dt, most) } {
            None => self.advance(thermostat, remove_drift, dt, first, clock).map(|added| heat.push(added)),
            Some((count, allowed)) => {
                let numbers = first..first + count as u64;
                self.enqueue(thermostat, dt, numbers, allowed, clock)
                    .and_then(|()| self.complete(thermostat, dt, first, &mut heat, clock))
            }
        };
        Performed { heat, error: outcome.err() }
    }

    /// Seconds per step of a batch with the present list: of the sweep, and of the rest. `None` if steps are
    /// single.
    ///
    /// # Errors
    /// Those of the device.
    pub fn seconds_of_enqueued_forces(&mut self) -> Result<Option<[f64; 2]>> {
        const STEPS: u32 = 8;
        let single = self.pairs.is_none() || self.ewald.is_some() || self.has_fields();
        if single || self.exchange.comm().size() > 1 || !self.neighborhood.is_built() {
            return Ok(None);
        }
        let device = self.exchange.device().clone();
        let enqueue = |verlet: &mut Self| {
            verlet.motion.clear()?;
            verlet.enqueue_forces(0.0, f64::INFINITY, None)
        };
        // the shares of kernels, then the time of steps that are not waited for
        let kernels = device.time_kernels(|| enqueue(self))?;
        let of = |wanted: fn(&str) -> bool| -> f64 {
            kernels.iter().filter(|(name, _)| wanted(name)).map(|(_, (_, seconds))| seconds).sum()
        };
        let others = of(|name| ["pack", "finish", "accelerate"].contains(&name));
        let share = others / of(|_| true).max(f64::MIN_POSITIVE);
        let start = Instant::now();
        for _ in 0..STEPS {
            enqueue(self)?;
        }
        device.synchronize()?;
        let seconds = start.elapsed().as_secs_f64() / f64::from(STEPS);
        Ok(Some([seconds * (1.0 - share), seconds * share]))
    }

    /// Number of steps for which the list probably serves, and the displacement for which it certainly does;
    /// `None` if the host has to decide more than once in two steps.
    fn length_of_batch(&self, dt: f64, most: u64) -> Option<(usize, f64)> {
        let expected = self.speed_of_pairs_alone()? * dt * DISPLACEMENT_MARGIN;
        let allowed = self.neighborhood.remaining_displacement()?;
        let count = ((allowed / expected) as usize).min(MOST_STEPS).min(most as usize);
        (count > 1).then_some((count, allowed))
    }

    fn enqueue(
        &mut self,
        thermostat: Option<&Thermostat>,
        dt: f64,
        numbers: std::ops::Range<u64>,
        allowed: f64,
        clock: &mut Clock,
    ) -> Result<()> {
        self.motion.begin_batch((numbers.end - numbers.start) as usize, allowed)?;
        let fused = thermostat.is_none() && self.fuses();
        for (slot, step) in numbers.enumerate() {
            self.motion.enter(slot);
            if fused {
                self.enqueue_fused(dt)?;
                continue;
            }
            Stepping::new(self, thermostat, step, clock).kick_and_drift(dt)?;
            self.enqueue_forces(dt, f64::INFINITY, None)?;
        }
        Ok(())
    }

    /// Waits for the batch, and completes the step that could not be performed without the host, if any.
    fn complete(
        &mut self,
        thermostat: Option<&Thermostat>,
        dt: f64,
        first: u64,
        heat: &mut Vec<f64>,
        clock: &mut Clock,
    ) -> Result<()> {
        let found = self.motion.end_batch()?;
        clock.lap("steps between lists");
        for step in found {
            if step.is_complete() {
                self.record_displacement(step.first_half.displacement, dt);
                heat.push(step.first_half.heat);
            } else {
                let number = first + heat.len() as u64;
                let mut stepping = Stepping::new(self, thermostat, number, clock).after_first_half(step);
                heat.push(steps::verlet_step(&mut stepping, thermostat, false, dt, number)?);
            }
        }
        Ok(())
    }
}
