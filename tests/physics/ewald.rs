//! Smooth particle-mesh Ewald: Madelung constants, net charges, forces against converged Ewald sums, virial,
//! ranks, energy drift.

#[path = "ewald_reference.rs"]
mod reference;

use crate::common::{difference, evolved, plan, rows, started};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::far::ewald_reference::ewald;
use hilbrium::particles::Field;
use hilbrium::plan::Plan;
use hilbrium::step::Simulation;
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// Species of charges 1 and -1.
const SPECIES: &str =
    "[species.cation]\nmass = 1.0\ncharge = 1.0\n[species.anion]\nmass = 1.5\ncharge = -1.0\n";

/// A deck of ions whose charges alone act, with an Ewald sum of these settings. `start` has the section of the
/// start, and the species, if any.
fn deck(start: &str, coulomb: &str, precision: &str) -> Plan {
    plan(&format!(
        r#"
        [run]
        steps = 1
        precision = "{precision}"
        {start}
        [space]
        boundary = "periodic"
        [time_step]
        fixed = 0.002
        [interaction.coulomb]
        method = "pme"
        {coulomb}
        "#
    ))
}

fn lattice(kind: &str, cells: usize, spacing: f64) -> String {
    format!(
        "{SPECIES}[start.lattice]\nkind = \"{kind}\"\ncells = [{cells}, {cells}, {cells}]\nspacing = {spacing}\n"
    )
}

/// Ions in a periodic box.
struct Ions {
    lengths: [f64; 3],
    /// Position and charge.
    rows: Vec<[f64; 4]>,
}

impl Ions {
    /// As many cations as anions, uniformly distributed, all in a few clusters if `clustered`.
    fn random(count: usize, lengths: [f64; 3], clustered: bool) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let centers: Vec<[f64; 3]> =
            (0..5).map(|_| [0, 1, 2].map(|d| lengths[d] * random.random::<f64>())).collect();
        let rows = (0..count).map(|k| {
            let spread = if clustered { 0.1 } else { 1.0 };
            let [x, y, z] = [0, 1, 2].map(|d| {
                let near = if clustered { centers[k % 5][d] } else { 0.0 };
                (near + spread * lengths[d] * random.random::<f64>()).rem_euclid(lengths[d])
            });
            [x, y, z, if k % 2 == 0 { 1.0 } else { -1.0 }]
        });
        Ions { lengths, rows: rows.collect() }
    }

    /// Rock salt of these cells with the distance 1 between neighbors, disturbed by up to 0.2 in each dimension.
    fn salt(cells: [usize; 3]) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let points = cells.map(|cells| 2 * cells);
        let mut rows = Vec::new();
        for x in 0..points[0] {
            for y in 0..points[1] {
                for z in 0..points[2] {
                    let mut near = |at: usize| at as f64 + 0.5 + 0.4 * (random.random::<f64>() - 0.5);
                    let charge = if (x + y + z) % 2 == 0 { 1.0 } else { -1.0 };
                    rows.push([near(x), near(y), near(z), charge]);
                }
            }
        }
        Ions { lengths: points.map(|points| points as f64), rows }
    }

    /// The ions as a simulation with its first forces.
    fn simulation(&self, coulomb: &str, precision: &str, comm: &Communicator) -> Simulation {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [x, y, z] = self.lengths;
        let mut text = format!(
            "{}\nLattice=\"{x} 0 0 0 {y} 0 0 0 {z}\" Properties=pos:R:3:charge:R:1:mass:R:1 pbc=\"T T T\"\n",
            self.rows.len()
        );
        for [x, y, z, charge] in &self.rows {
            writeln!(text, "{x:?} {y:?} {z:?} {charge:?} 1.0").expect("a string grows");
        }
        let path = folder.path().join("ions.xyz");
        std::fs::write(&path, text).expect("a start can be written");
        started(&deck(&format!("[start.file]\npath = {path:?}\n"), coulomb, precision), comm)
    }

    /// Forces by a converged Ewald sum.
    fn exact(&self) -> Vec<[f64; 3]> {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let fields = ewald(&self.rows, &all, self.lengths);
        // masses attract each other
        let force = |([x, y, z, _], row): ([f64; 4], &[f64; 4])| [x, y, z].map(|a| -row[3] * a);
        fields.into_iter().zip(&self.rows).map(force).collect()
    }
}

/// Root mean square of the difference over that of the second.
fn relative(found: &[[f64; 3]], exact: &[[f64; 3]]) -> f64 {
    let square = |rows: &mut dyn Iterator<Item = [f64; 3]>| rows.flatten().map(|x| x * x).sum::<f64>();
    let apart = found.iter().zip(exact).map(|(a, b)| [0, 1, 2].map(|d| a[d] - b[d]));
    (square(&mut apart.into_iter()) / square(&mut exact.iter().copied())).sqrt()
}

/// The forces of all ranks in the order of ids.
fn forces(ions: &Ions, coulomb: &str, precision: &str, ranks: usize) -> Vec<[f64; 3]> {
    let parts =
        run_local(ranks, |comm| rows(&ions.simulation(coulomb, precision, &comm).particles, &[Field::Force]));
    let mut all: Vec<_> = parts.into_iter().flatten().collect();
    all.sort_by_key(|row| row.0);
    all.into_iter().map(|(_, force)| [force[0], force[1], force[2]]).collect()
}

#[test]
fn rock_salt_has_madelungs_energy_to_nine_digits() {
    const MADELUNG: f64 = 1.747_564_594_633_182_2;
    // nearest neighbors are at a distance of 1
    let start = lattice("rock-salt", 4, 2.0);
    let coulomb = "cutoff = 3.7\nmesh = 90\norder = 8\nsplitting = 1.5";
    let mut simulation = started(&deck(&start, coulomb, "double"), &Communicator::solo());
    let observed = simulation.observe(0.0);
    let energy = 2.0 * observed.potential / observed.particles as f64;
    println!("{:e}", energy / -MADELUNG - 1.0);
    assert!((energy / -MADELUNG - 1.0).abs() < 1e-9, "{energy}");
    // energies of 1/r: the virial is the energy
    let virial: f64 = rows(&simulation.particles, &[Field::Virial]).iter().map(|row| row.1[0]).sum();
    assert!((virial / observed.potential - 1.0).abs() < 1e-8, "{virial} {}", observed.potential);
    for row in simulation.particles.owned() {
        assert!(
            simulation.particles.vector_at(Field::Force, row).norm() < 1e-8,
            "a crystal is in equilibrium"
        );
    }
}

/// Charges with a net charge have a neutralizing background, with its energy and virial.
#[test]
fn net_charges_have_a_background() {
    let precise = "cutoff = 0.39\ntolerance = 1e-8";
    for (lengths, energy) in
        [([1.0; 3], reference::ONE_CHARGE_CUBE), ([1.0, 1.3, 0.8], reference::ONE_CHARGE_BRICK)]
    {
        let ion = Ions { lengths, rows: vec![[0.3, 0.7, 0.2, 1.0]] };
        let mut simulation = ion.simulation(precise, "double", &Communicator::solo());
        let observed = simulation.observe(0.0);
        println!("{lengths:?}: {:e}", observed.potential / energy - 1.0);
        assert!((observed.potential / energy - 1.0).abs() < 1e-6, "{}", observed.potential);
    }
    let mut charges = reference::CHARGES;
    for net_charge in [0.0, reference::NET_CHARGE] {
        charges[0] = reference::CHARGES[0] + net_charge;
        for system in reference::SYSTEMS.iter().filter(|system| system.net_charge == net_charge) {
            let row = |k: usize| {
                let [x, y, z] = [0, 1, 2].map(|d| system.lengths[d] * reference::FRACTIONS[k][d]);
                [x, y, z, charges[k]]
            };
            let ions = Ions { lengths: system.lengths, rows: (0..charges.len()).map(row).collect() };
            assert!(relative(&ions.exact(), system.forces) < 1e-11, "the two references agree");
            let coulomb = "cutoff = 1.59\ntolerance = 1e-6";
            let mut simulation = ions.simulation(coulomb, "double", &Communicator::solo());
            let energy = simulation.observe(0.0).potential;
            let virial: f64 = rows(&simulation.particles, &[Field::Virial]).iter().map(|row| row.1[0]).sum();
            let trace = system.virial[0] + system.virial[3] + system.virial[5];
            println!("{net_charge}: {:e} {:e}", energy / system.energy - 1.0, virial / trace - 1.0);
            assert!((energy / system.energy - 1.0).abs() < 1e-6, "{energy} {}", system.energy);
            assert!((virial / trace - 1.0).abs() < 1e-5, "{virial} {trace}");
        }
    }
}

/// Forces meet twice the tolerance, in units of their root mean square, against converged Ewald sums.
#[test]
fn forces_meet_the_tolerance() {
    let systems = [
        ("random", Ions::random(600, [9.0, 9.0, 9.0], false)),
        ("random brick", Ions::random(600, [8.0, 12.0, 7.6], false)),
        ("salt", Ions::salt([4, 4, 4])),
        ("salt brick", Ions::salt([4, 5, 6])),
        ("clustered", Ions::random(600, [9.0, 9.0, 9.0], true)),
    ];
    for (name, ions) in &systems {
        let exact = ions.exact();
        for (precision, finest) in [("double", 6), ("mixed", 5)] {
            for digits in 3..=finest {
                let tolerance = 10f64.powi(-digits);
                let coulomb = format!("cutoff = 3.4\ntolerance = {tolerance:e}");
                let error = relative(&forces(ions, &coulomb, precision, 1), &exact);
                println!("{name}, {precision}, {tolerance:e}: {error:.2e}");
                assert!(error < 2.0 * tolerance, "{name}, {precision}, {tolerance:e}: {error:e}");
            }
        }
    }
}

#[test]
fn ranks_have_the_serial_forces() {
    let ions = Ions::random(600, [8.0, 12.0, 7.6], false);
    let coulomb = "cutoff = 3.4\ntolerance = 1e-5";
    let serial = forces(&ions, coulomb, "double", 1);
    for ranks in [2, 3, 5] {
        let apart = relative(&forces(&ions, coulomb, "double", ranks), &serial);
        println!("{ranks}: {apart:e}");
        assert!(apart < 1e-12, "{ranks} ranks: {apart:e}");
    }
    // and they move alike, with energies and virials
    const FIELDS: &[Field] = &[Field::Velocity, Field::Force, Field::PairEnergy, Field::Virial];
    let start = format!("{}temperature = 0.05\n", lattice("rock-salt", 3, 2.0));
    let plan = deck(&start, "cutoff = 2.4\ntolerance = 1e-3", "double");
    let alone = evolved(&plan, 1, 1, 5, FIELDS);
    for (ranks, threads) in [(1, 3), (3, 2)] {
        let apart = difference(&alone, &evolved(&plan, ranks, threads, 5, FIELDS));
        assert!(apart < 1e-9, "{ranks} ranks, {threads} threads: {apart:e}");
    }
}

/// Forces are minus the derivative of the energy, whatever the mesh: also of a coarse one.
#[test]
fn forces_are_the_energys_derivative() {
    let coulomb = "cutoff = 3.0\nmesh = [9, 10, 12]\norder = 5\nsplitting = 0.9";
    let energy = |ions: &Ions| {
        let mut simulation = ions.simulation(coulomb, "double", &Communicator::solo());
        simulation.observe(0.0).potential
    };
    let mut ions = Ions::random(40, [7.0, 8.0, 9.0], false);
    let found = forces(&ions, coulomb, "double", 1);
    for (row, d) in [(0, 0), (7, 1), (33, 2)] {
        let step = 1e-5;
        let at = ions.rows[row][d];
        let [upper, lower] = [at + step, at - step].map(|moved| {
            ions.rows[row][d] = moved;
            energy(&ions)
        });
        ions.rows[row][d] = at;
        let slope = (upper - lower) / (2.0 * step);
        // the pairs at the cutoff jump, by erfc(2.7) / 3
        assert!((found[row][d] + slope).abs() < 1e-5 * found[row][d].abs().max(1.0), "{row} {d}: {slope}");
    }
}
