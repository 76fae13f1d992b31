//! `bench gravity`: the tree's time and its error against direct summation.

use super::{Cell, Settings, Table};
use crate::far::accuracy::{Distribution, Experiment};
use crate::far::{Expansion, GravityPlan, SofteningKernel};

/// Particles whose force is summed directly.
const COMPARED: usize = 4000;

/// Point masses of both distributions, both expansions, both precisions, four opening angles.
pub(super) fn table(settings: &Settings) -> Table {
    let mut table = Table::new(&[
        "particles",
        "expansion",
        "opening angle",
        "precision",
        "error rms",
        "median",
        "99 %",
        "largest",
        "of energy",
        "pairs",
        "nodes",
        "us per particle",
        "1e9 per s",
    ]);
    for distribution in [Distribution::Plummer, Distribution::Evrard] {
        let softening = (SofteningKernel::Plummer, 0.0);
        let experiment = Experiment::new(distribution, settings.particles as usize, COMPARED, softening);
        for double in [false, true] {
            for expansion in [Expansion::Quadrupole, Expansion::Octupole] {
                for opening_angle in [0.3, 0.5, 0.7, 1.0] {
                    let plan = GravityPlan { opening_angle, expansion, ..GravityPlan::default() };
                    let found = experiment.measure(&plan, settings.repeats, double);
                    let [pairs, nodes] = found.interactions_per_particle();
                    let mut row = vec![
                        Cell::text(format!("{distribution:?}")),
                        Cell::text(format!("{expansion:?}").to_lowercase()),
                        Cell::Number(opening_angle, 1),
                        Cell::text(if double { "double" } else { "mixed" }),
                    ];
                    row.extend(found.error.map(Cell::Error));
                    row.extend([
                        Cell::Error(found.energy_error),
                        Cell::Number(pairs, 0),
                        Cell::Number(nodes, 0),
                        Cell::Number(found.seconds * 1e6 / settings.particles.max(1) as f64, 2),
                        Cell::Number(found.interactions_per_second() * 1e-9, 2),
                    ]);
                    table.rows.push(row);
                }
            }
        }
    }
    table
}
