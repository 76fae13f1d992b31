//! The report of a run that goes on: `report.html` in its directory, which rank 0 writes.

use crate::comm::Communicator;
use crate::plan::Plan;
use crate::report;
use crate::run_report::Refresh;
use crate::step::Simulation;
use crate::{Error, Result};

/// The page of a run, if its deck asks for it and this is rank 0.
pub struct Pages {
    refresh: Option<Refresh>,
    has_warned: bool,
}

impl Pages {
    /// The page of a plan.
    pub fn new(plan: &Plan, comm: &Communicator) -> Self {
        let every = plan.output.report.filter(|_| comm.is_root());
        let refresh = every.map(|every| Refresh::new(plan.output.directory.clone(), every));
        Pages { refresh, has_warned: false }
    }

    /// Writes the page if it is due.
    pub fn refresh(&mut self, simulation: &mut Simulation) {
        let step = simulation.step;
        let Some(refresh) = self.refresh.as_mut().filter(|refresh| refresh.is_due(step)) else { return };
        let written = refresh.write(step);
        self.warn(written.err());
        simulation.clock.lap("report");
    }

    /// Writes the page of a run that has ended and recorded it.
    pub fn end(&mut self) {
        let written = self.refresh.as_mut().map(Refresh::finish);
        self.warn(written.and_then(Result::err));
    }

    /// Writes the page of a failed run, without a warning: the error of the run is what the user must see.
    pub fn fail(&mut self) {
        let _ = self.refresh.as_mut().map(Refresh::finish);
    }

    /// Logs once that a page could not be written: the results of the run are not affected.
    fn warn(&mut self, error: Option<Error>) {
        if let Some(error) = error
            && !std::mem::replace(&mut self.has_warned, true)
        {
            report::line(&format!("warning: the report of the run is not up to date: {error}"));
        }
    }
}
