//! Notes and checks before the first step of a run.

use super::Simulation;
use super::fixed::whole_steps;
use crate::Result;
use crate::neighbors::SUPER_CLUSTER;
use crate::plan::{Every, Plan, StartPlan};
use crate::space::Boundary;
use crate::sph::{instability, smoothing};
use crate::units::Dimension;

impl Simulation {
    /// Returns notes for the user about likely mistakes in the run. Collective.
    pub fn notes(&self) -> Vec<String> {
        let volume = self.domain.bx.lengths().product();
        let interaction = self.molecules.as_ref().map(|molecules| molecules.notes(&self.plan.units, volume));
        let comm = &self.domain.comm;
        let (mut particles, mut threads) =
            ([self.particles.owned().len() as u64], [rayon::current_num_threads() as u64]);
        comm.all_sum(&mut particles);
        comm.all_max(&mut threads);
        let mut notes = interaction.unwrap_or_default();
        notes.extend(free_gas(&self.plan));
        notes.extend(self.plan.sph.as_ref().and_then(instability::warning));
        notes.extend(between_steps(&self.plan));
        notes.extend(idle(particles[0], comm.size() as u64, threads[0]));
        notes
    }

    /// Checks that a gas has enough particles for the requested number of neighbors. Collective.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0, the same on all ranks.
    pub fn check_particle_count(&self) -> Result<()> {
        let Some(sph) = &self.plan.sph else { return Ok(()) };
        let mut particles = [self.particles.owned().len() as u64];
        self.domain.comm.all_sum(&mut particles);
        let bx = &self.domain.bx;
        let largest = self.neighborhood.largest_smoothing_length(bx);
        smoothing::check_count(bx, particles[0], largest, sph.interpolation_kernel(), sph.neighbors)
    }
}

/// Note on a gas that fills an open box without gravity: it expands.
fn free_gas(plan: &Plan) -> Option<String> {
    let fills = matches!(plan.start, StartPlan::UniformBox(_) | StartPlan::Random(_) | StartPlan::Lattice(_));
    let free = plan.space.boundary_or_open() == [Boundary::Open; 3]
        && plan.gravity.is_none()
        && plan.external.is_none();
    (fills && free && plan.sph.is_some()).then(|| {
        "the box is open: its gas expands into empty space; boundary = \"periodic\" in [space] holds it"
            .to_owned()
    })
}

/// Notes on an end time and output times that are not multiples of a fixed step.
fn between_steps(plan: &Plan) -> Vec<String> {
    let Some(fixed) = plan.time_step.fixed else { return Vec::new() };
    let time = |value| plan.units.format_quantity(value, Dimension::Time);
    let mut notes = Vec::new();
    if let Some(end) = plan.run.end_time
        && whole_steps(end, fixed).is_none()
    {
        let steps = (end / fixed).ceil();
        notes.push(format!(
            "run.end_time = {} is no whole number of steps of time_step.fixed = {}: the run ends after step {steps}, at {}",
            time(end),
            time(fixed),
            time(steps * fixed)
        ));
    }
    let output = &plan.output;
    let schedules = [
        ("snapshots", output.snapshots),
        ("observables", Some(output.observables)),
        ("trajectory", output.trajectory.as_ref().map(|trajectory| trajectory.every)),
    ];
    for (name, every) in schedules {
        if let Some(Every::EveryTime(period)) = every
            && whole_steps(period, fixed).is_none_or(|steps| steps == 0)
        {
            notes.push(format!(
                "output.{name}.every_time = {} is no whole number of steps of time_step.fixed = {}: each is written at the \
                 step nearest to its time",
                time(period),
                time(fixed)
            ));
        }
    }
    notes
}

/// Note on ranks or threads without work: the unit of work is a super-cluster.
fn idle(particles: u64, ranks: u64, threads: u64) -> Option<String> {
    let each = SUPER_CLUSTER as u64;
    let useful = particles.div_ceil(each).max(1);
    let few = format!("for {particles} particles");
    let why = format!("work is shared in groups of {each} particles, and what has none only waits");
    if ranks > 1 && useful < ranks {
        return Some(format!("{ranks} ranks {few}: {why}; use fewer ranks, at most {useful}"));
    }
    let share = useful.div_ceil(ranks);
    (threads > 1 && share < threads).then(|| {
        let each = if ranks > 1 { " a rank" } else { "" };
        format!("{threads} threads{each} {few}: {why}; set run.threads to at most {share}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::examine;

    fn plan(deck: &str) -> Plan {
        examine("deck", deck, &[]).unwrap().plan
    }

    #[test]
    fn ranks_and_threads_without_work_are_told() {
        let told = idle(20, 7, 1).unwrap();
        assert!(
            told.starts_with("7 ranks for 20 particles") && told.contains("use fewer ranks, at most 1"),
            "{told}"
        );
        let told = idle(864, 1, 64).unwrap();
        assert!(told.starts_with("64 threads for 864 particles") && told.ends_with("at most 14"), "{told}");
        assert!(idle(864, 2, 8).unwrap().contains("8 threads a rank"));
        assert_eq!([idle(1000, 1, 2), idle(20, 1, 1), idle(32_000, 8, 8)], [None, None, None]);
    }

    #[test]
    fn ends_and_outputs_between_steps_are_told() {
        let deck = |end: &str, every: &str| {
            plan(&format!(
                "run = {{ end_time = {end} }}\nunits.system = \"molecular\"\nspecies.Ar.mass = 40\n\
                 start.lattice = {{ kind = \"fcc\", cells = [5, 5, 5], spacing = 0.55 }}\nspace.boundary = \"periodic\"\n\
                 interaction.lennard-jones = {{ epsilon = 1.0, sigma = 0.34, cutoff = 0.85 }}\ntime_step.fixed = \"4 fs\"\n\
                 output.snapshots.every_time = {every}\n"
            ))
        };
        assert_eq!(between_steps(&deck("\"40 ps\"", "\"20 fs\"")), Vec::<String>::new());
        let told = between_steps(&deck("\"41 fs\"", "\"10 fs\""));
        assert!(
            told[0].starts_with(
                "run.end_time = 0.041 ps is no whole number of steps of time_step.fixed = 0.004 ps"
            ),
            "{told:?}"
        );
        assert!(told[0].ends_with("after step 11, at 0.044 ps"), "{told:?}");
        assert!(told[1].starts_with("output.snapshots.every_time = 0.01 ps") && told.len() == 2, "{told:?}");
    }

    #[test]
    fn a_gas_in_an_open_box_is_told_of() {
        let deck = "run.steps = 1\nstart.random.particles = 1000\n[sph]\nneighbors = 50\n";
        assert!(free_gas(&plan(deck)).unwrap().contains("boundary = \"periodic\""));
        assert_eq!(free_gas(&plan(&format!("{deck}[gravity]\n"))), None);
        assert_eq!(free_gas(&plan(&format!("{deck}[space]\nboundary = \"periodic\"\n"))), None);
    }
}
