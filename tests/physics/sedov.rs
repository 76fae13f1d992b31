//! The Sedov explosion: what it conserves, that it is as symmetric as its lattice, and where its shock is.

use crate::common::{plan, rows, started};
use hilbrium::comm::Communicator;
use hilbrium::observe::observe;
use hilbrium::particles::Field;
use hilbrium::step::Simulation;

/// Radius of the shock for gamma = 5/3 over (E t^2 / rho)^(1/5) (Sedov 1959, Similarity and Dimensional Methods in Mechanics).
const SHOCK: f64 = 1.15167;

/// A unit cube of unit density with unit energy, on its way to a time that no test reaches.
fn simulation(particles: u64, start: &str, settings: &str, comm: &Communicator) -> Simulation {
    let deck = format!(
        "[run]\nend_time = 1.0\nprecision = \"double\"\n[start.sedov]\nparticles = {particles}\n{start}\n\
         [space]\nboundary = \"periodic\"\n[sph]\nneighbors = 60\n{settings}\n"
    );
    started(&plan(&deck), comm)
}

fn energy(simulation: &Simulation, comm: &Communicator) -> f64 {
    let (bx, units) = (&simulation.domain.bx, &simulation.plan.units);
    observe(comm, bx, &simulation.particles, units, 0, 0.0, 0.0).total_energy()
}

/// Where the density is greatest: the top of the parabola through the means over shells.
fn shock_radius(simulation: &Simulation) -> f64 {
    const SHELLS: usize = 30;
    let particles = &simulation.particles;
    let (mut sums, mut counts) = ([0.0; SHELLS], [0.0; SHELLS]);
    for row in particles.owned() {
        let shell = (particles.vector_at(Field::Position, row).norm() * 2.0 * SHELLS as f64) as usize;
        if shell < SHELLS {
            sums[shell] += particles.scalar(Field::Density)[row];
            counts[shell] += 1.0;
        }
    }
    let mean = |shell: usize| sums[shell] / f64::max(counts[shell], 1.0);
    let peak = (1..SHELLS - 1).max_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap();
    let (before, top, after) = (mean(peak - 1), mean(peak), mean(peak + 1));
    let aside = 0.5 * (before - after) / (before - 2.0 * top + after);
    (peak as f64 + 0.5 + aside) / (2 * SHELLS) as f64
}

#[test]
fn the_shock_is_where_theory_has_it_and_the_energy_stays() {
    let comm = Communicator::solo();
    for formulation in ["standard", "volume-elements"] {
        let mut run = simulation(8000, "", &format!("formulation = \"{formulation}\""), &comm);
        let before = energy(&run, &comm);
        assert!((before - 1.0).abs() < 1e-6, "{before}");
        // in the gas at rest 60 neighbors are within 2h
        let length = 0.5 * (60.0 * 3.0 / (4.0 * std::f64::consts::PI * 8000.0)).cbrt();
        for time in [0.03, 0.06] {
            while run.time < time {
                run.advance(run.next_step.min(time - run.time)).unwrap();
            }
            let (found, exact) = (shock_radius(&run), SHOCK * (time * time).powf(0.2));
            let change = energy(&run, &comm) / before - 1.0;
            println!(
                "{formulation} t = {time}, step {}: shock {found:.4}, exact {exact:.4}, h {length:.4}, energy {change:e}",
                run.step
            );
            assert!((found - exact).abs() < 0.25 * length, "{formulation} {time}: {found}, not {exact}");
            assert!(change.abs() < 5e-4, "{formulation} {time}: energy {change:e}");
        }
    }
}

#[test]
fn a_lattice_stays_as_symmetric_as_it_is() {
    const EDGE: u64 = 12;
    let comm = Communicator::solo();
    let mut run = simulation(EDGE.pow(3), "arrangement = \"sc\"", "", &comm);
    for _ in 0..15 {
        run.advance(run.next_step).unwrap();
    }
    let fields = [Field::Velocity, Field::InternalEnergy, Field::Density];
    let found = rows(&run.particles, &fields);
    assert_eq!(found.len() as u64, EDGE.pow(3));
    let fastest = found.iter().map(|(_, values)| values[0].abs()).fold(0.0, f64::max);
    let hottest = found.iter().map(|(_, values)| values[3]).fold(0.0, f64::max);
    assert!(fastest > 0.1, "it moves: {fastest}");
    for (id, values) in &found {
        let cell = [id / EDGE / EDGE, id / EDGE % EDGE, id % EDGE];
        // the mirror image in x, and the one in which x and z are exchanged
        let at = |cell: [u64; 3]| &found[((cell[0] * EDGE + cell[1]) * EDGE + cell[2]) as usize].1;
        let mirrored = at([EDGE - 1 - cell[0], cell[1], cell[2]]);
        let turned = at([cell[2], cell[1], cell[0]]);
        for (image, velocity) in
            [(mirrored, [-values[0], values[1], values[2]]), (turned, [values[2], values[1], values[0]])]
        {
            for d in 0..3 {
                assert!((image[d] - velocity[d]).abs() < 1e-8 * fastest, "{id}: {image:?} {values:?}");
            }
            assert!((image[3] - values[3]).abs() < 1e-8 * hottest, "{id}: {image:?} {values:?}");
            assert!((image[4] / values[4] - 1.0).abs() < 1e-8, "{id}: {image:?} {values:?}");
        }
    }
}
