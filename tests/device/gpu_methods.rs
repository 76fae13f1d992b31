//! The methods of finding pairs of a run on a device against lists of clusters: molecules and a gas, on one
//! rank and on several, with positions that have left a periodic box, and with changes of the method between
//! steps.

use crate::common::{Row, difference, plan, rows};
use hilbrium::clock::Clock;
use hilbrium::comm::{Communicator, run_local};
use hilbrium::device::domain::{Arriving, Domain};
use hilbrium::device::exchange::Exchange;
use hilbrium::device::gas::{self, Gas};
use hilbrium::device::pair_sums::{LawSums, Neighbors, SumMemory};
use hilbrium::device::sweep::Pass;
use hilbrium::device::verlet::{self, Verlet};
use hilbrium::device::{Buffer, Device};
use hilbrium::laws::lennard_jones;
use hilbrium::neighborhood::{Method, NeighborSettings, Skins};
use hilbrium::pair::{Forces, Precision};
use hilbrium::particles::{Field, Particles};
use hilbrium::plan::Plan;
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use hilbrium::start;
use hilbrium::step::Simulation;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Clusters are what the others are compared with; half lists of them are the usual ones of molecules.
const OTHERS: [(Method, bool); 4] =
    [(Method::Clusters, false), (Method::Particles, false), (Method::Cells, false), (Method::Search, false)];

/// Rounding of sums of some hundred terms that are up to a hundred times their sum, and what the next steps
/// make of it.
const DOUBLE: f64 = 1e-11;
/// The same in single precision. Offsets of positions are rounded in frames of different sizes.
const MIXED: f64 = 2e-3;

fn bound(precision: Precision) -> f64 {
    if precision == Precision::Double { DOUBLE } else { MIXED }
}

fn settings(method: Method, symmetric: bool, skin: f64) -> NeighborSettings {
    NeighborSettings { method, symmetric, skins: Skins { outer: skin, inner: None } }
}

/// 4 atoms a cell, disturbed; those on the faces of a periodic box leave it soon.
fn liquid(boundary: &str, cells: [u32; 3], cutoff: f64) -> Plan {
    plan(&format!(
        "[run]\nsteps = 20\ndevice = \"cpu\"\n[start.lattice]\nkind = \"fcc\"\ncells = {cells:?}\n\
         spacing = 1.6795962\ndensity = 0.8442\ntemperature = 1.44\njitter = 0.02\n[space]\nboundary = \"{boundary}\"\n\
         [time_step]\nfixed = 0.004\n[interaction.lennard-jones]\ncutoff = {cutoff:?}\n"
    ))
}

/// Ions of two kinds, whose parameters are mixed by rule.
fn salt(boundary: &str) -> Plan {
    plan(&format!(
        "[run]\nsteps = 20\ndevice = \"cpu\"\n\
         [species.cation]\nmass = 1.0\ncharge = 1.0\nepsilon = 1.0\nsigma = 0.8\n\
         [species.anion]\nmass = 1.5\ncharge = -1.0\nepsilon = 0.7\nsigma = 1.1\n\
         [start.lattice]\nkind = \"rock-salt\"\ncells = [3, 3, 3]\nspacing = 2.0\ntemperature = 4.0\njitter = 0.01\n\
         [space]\nboundary = \"{boundary}\"\n[time_step]\nfixed = 0.004\n\
         [interaction.lennard-jones]\ncutoff = 2.5\n[interaction.coulomb]\ncutoff = 2.5\n"
    ))
}

const SKIN: f64 = 0.1;

/// The molecules of a plan on this rank's device.
fn molecules(comm: &Communicator, plan: &Plan, precision: Precision, neighbors: NeighborSettings) -> Verlet {
    let device = Device::under_test().unwrap();
    let (bx, particles) = start::particles(plan, comm, &Simulation::fields(plan)).unwrap();
    let simulation = Simulation::new(plan.clone(), comm, bx, particles.clone());
    let NeighborSettings { method, symmetric, skins } = neighbors;
    let settings =
        verlet::Settings { gravity: None, external: None, precision, skin: skins.outer, method, symmetric };
    let exchange = Exchange::new(&device, comm).unwrap();
    Verlet::new(&exchange, simulation.molecules.as_ref(), &bx, &particles, &settings).unwrap()
}

const SEEN: [Field; 4] = [Field::Velocity, Field::Acceleration, Field::PairEnergy, Field::Virial];

/// The owned particles of a rank.
fn own(columns: &hilbrium::device::columns::Columns, fields: &[Field]) -> Vec<Row> {
    let mut host = Particles::new(&[], 0);
    columns.download(&mut host, fields).unwrap();
    rows(&host, fields)
}

/// The particles with energies.
fn seen(verlet: &mut Verlet) -> Vec<Row> {
    verlet.energies().unwrap();
    own(&verlet.columns, &SEEN)
}

/// The particles of all ranks by id.
fn gathered(parts: Vec<Vec<Row>>) -> Vec<Row> {
    let mut all: Vec<Row> = parts.into_iter().flatten().collect();
    all.sort_by_key(|row| row.0);
    all
}

/// What is seen of molecules after the first forces and after the last step; the number of lists that were
/// built, and whether lists of particles did not suffice.
type Course = ([Vec<Row>; 2], u64, bool);

/// Steps of molecules. Their length is that of the plan.
fn course(
    plan: &Plan,
    precision: Precision,
    neighbors: NeighborSettings,
    ranks: usize,
    steps: u64,
) -> Course {
    let dt = plan.time_step.fixed.unwrap();
    let parts = run_local(ranks, |comm| {
        let mut verlet = molecules(&comm, plan, precision, neighbors);
        let mut clock = Clock::new();
        verlet.evaluate(&mut clock).unwrap();
        let first = seen(&mut verlet);
        for step in 1..=steps {
            verlet.advance(None, false, dt, step, &mut clock).unwrap();
        }
        assert!(verlet.neighbor_bytes() > 0);
        ([first, seen(&mut verlet)], verlet.builds(), verlet.fell_back())
    });
    let (builds, fell_back) = (parts[0].1, parts[0].2);
    assert!(parts.iter().all(|part| (part.1, part.2) == (builds, fell_back)), "ranks that agree");
    let mut firsts = Vec::new();
    let mut lasts = Vec::new();
    for ([first, last], ..) in parts {
        firsts.push(first);
        lasts.push(last);
    }
    ([gathered(firsts), gathered(lasts)], builds, fell_back)
}

/// All methods on these numbers of ranks against half lists of clusters on one rank. Returns whether lists of
/// particles did not suffice.
fn follow(plan: &Plan, precision: Precision, ranks: &[usize], steps: u64) -> bool {
    let usual = course(plan, precision, settings(Method::Clusters, true, SKIN), 1, steps);
    assert!((2..=steps).contains(&usual.1), "{} lists in {steps} steps", usual.1);
    let mut fell_back = false;
    for ((method, symmetric), &ranks) in
        OTHERS.into_iter().flat_map(|other| ranks.iter().map(move |ranks| (other, ranks)))
    {
        let found = course(plan, precision, settings(method, symmetric, SKIN), ranks, steps);
        for (found, usual) in found.0.iter().zip(&usual.0) {
            let apart = difference(usual, found);
            assert!(apart < bound(precision), "{}, {ranks} ranks: {apart:e} apart", method.name());
        }
        assert_eq!(found.1, usual.1, "lists, or halos and order, of {}", method.name());
        assert!(method == Method::Particles || !found.2);
        fell_back |= found.2;
    }
    fell_back
}

#[test]
fn molecules_in_open_space_are_those_of_clusters() {
    for precision in [Precision::Double, Precision::Mixed] {
        assert!(!follow(&liquid("open", [4, 3, 3], 2.5), precision, &[1], 20));
    }
}

/// The box is so small that several images of a cluster are in reach.
#[test]
fn molecules_in_a_small_periodic_box_are_those_of_clusters() {
    for precision in [Precision::Double, Precision::Mixed] {
        assert!(follow(&liquid("periodic", [4, 4, 4], 2.5), precision, &[1], 20));
    }
}

/// The box is so large that one image of a cluster is in reach.
#[test]
fn lists_of_particles_serve_in_a_periodic_box() {
    let plan = liquid("periodic", [10, 10, 10], 1.3);
    let usual = course(&plan, Precision::Double, settings(Method::Clusters, true, SKIN), 1, 4);
    let found = course(&plan, Precision::Double, settings(Method::Particles, false, SKIN), 1, 4);
    assert!(!found.2);
    assert!(found.1 < 5, "{} lists in 4 steps", found.1);
    for (found, usual) in found.0.iter().zip(&usual.0) {
        let apart = difference(usual, found);
        assert!(apart < DOUBLE, "{apart:e} apart");
    }
}

#[test]
fn molecules_on_several_ranks_are_those_of_clusters() {
    follow(&liquid("periodic", [6, 4, 4], 2.5), Precision::Double, &[2, 3], 12);
    follow(&salt("open"), Precision::Double, &[2], 12);
}

/// A method, half or full lists, and a skin for three steps each.
#[test]
fn the_method_may_change_between_steps() {
    let plan = salt("periodic");
    let changes = [
        settings(Method::Search, true, 0.05),
        settings(Method::Particles, true, SKIN),
        settings(Method::Clusters, false, SKIN),
        settings(Method::Cells, false, 0.15),
        settings(Method::Clusters, true, 0.05),
        settings(Method::Clusters, true, 0.2),
    ];
    let steps = 3 * (1 + changes.len() as u64);
    let usual = course(&plan, Precision::Double, settings(Method::Clusters, true, SKIN), 1, steps);
    for ranks in [1, 2] {
        let parts = run_local(ranks, |comm| {
            let begin = settings(Method::Clusters, true, SKIN);
            let mut verlet = molecules(&comm, &plan, Precision::Double, begin);
            let mut clock = Clock::new();
            verlet.evaluate(&mut clock).unwrap();
            assert_eq!(verlet.neighbors(), begin);
            for step in 1..=steps {
                if step > 1 && step % 3 == 1 {
                    let (next, builds) = (changes[step as usize / 3 - 1], verlet.builds());
                    let before = seen(&mut verlet);
                    verlet.set_neighbors(&next).unwrap();
                    assert_eq!(verlet.neighbors(), next);
                    // energies at the same positions, before the next forces
                    let gather = |rows: Vec<Row>| {
                        let width = rows.first().map_or(0, |row| row.1.len());
                        let flat: Vec<f64> =
                            rows.iter().flat_map(|row| [&[row.0 as f64], &row.1[..]].concat()).collect();
                        assert!(width > 0, "particles on every rank");
                        let all = comm.all_gather(&flat).concat();
                        let parts = all.chunks_exact(1 + width);
                        gathered(vec![parts.map(|row| (row[0] as u64, row[1..].to_vec())).collect()])
                    };
                    let apart = difference(&gather(before), &gather(seen(&mut verlet)));
                    assert!(apart < DOUBLE, "{next:?}: energies {apart:e} apart");
                    assert_eq!(verlet.builds(), builds + 1);
                }
                verlet.advance(None, false, 0.004, step, &mut clock).unwrap();
            }
            seen(&mut verlet)
        });
        let apart = difference(&usual.0[1], &gathered(parts));
        assert!(apart < DOUBLE, "{apart:e} apart on {ranks} ranks");
    }
}

/// A quarter of the particles are whole periods away from the box, exactly: the bits of sums by cells stay,
/// and those of the search but for the order of additions.
#[test]
fn positions_beyond_a_periodic_box_have_the_same_neighbors() {
    const COUNT: usize = 300;
    let device = Device::under_test().unwrap();
    let exchange = Exchange::new(&device, &Communicator::solo()).unwrap();
    let domain = Domain::new(&exchange).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let lower = Vec3d::new(-1.0, 2.0, 0.0);
    // multiples of 2^-20, with which periods add without rounding
    let inside: Vec<Vec3d> = (0..COUNT)
        .map(|k| {
            let site = Vec3d::new((k % 8) as f64, (k / 8 % 8) as f64, (k / 64) as f64 * 1.5);
            lower + site.map(|x| ((x + random.random_range(0.0..0.2)) * 1048576.0).floor() / 1048576.0)
        })
        .collect();
    let beyond: Vec<Vec3d> = inside
        .iter()
        .enumerate()
        .map(|(k, place)| match k % 4 {
            1 => place + Vec3d::from_fn(|_, _| 8.0 * f64::from(random.random_range(-2i32..3))),
            _ => *place,
        })
        .collect();
    let boundary = [Boundary::Periodic; 3];
    let bx = SimulationBox { lower, upper: lower + Vec3d::repeat(8.0), boundary };
    let forces = |sums: &mut LawSums, places: &[Vec3d], cutoff: f64| -> Vec<f64> {
        let position = [0, 1, 2].map(|d| {
            let column: Vec<f64> = places.iter().map(|place| place[d]).collect();
            Buffer::from_host(&device, &column).unwrap()
        });
        let outputs = [0; 3].map(|_| Buffer::zeros(&device, COUNT).unwrap());
        let pass = Pass {
            rows: COUNT,
            owned: &(0..COUNT),
            position: position.each_ref(),
            id: None,
            radius: None,
            cutoff,
            bx: &bx,
            active: None,
        };
        let mut memory = SumMemory::new(&device).unwrap();
        let halos = (&domain, Arriving::default());
        sums.run(&mut memory, &pass, Neighbors::Within(cutoff), [&[], &outputs.each_ref()], halos).unwrap();
        outputs.iter().flat_map(|output| output.download().unwrap()).collect()
    };
    let law = Forces(lennard_jones::Law::truncated(1.0, 0.9));
    // many cells, and two of them along an edge
    for (cutoff, precision) in [(1.9, Precision::Double), (1.3, Precision::Mixed), (3.9, Precision::Double)] {
        for method in [Method::Cells, Method::Search] {
            let mut sums = LawSums::new(&device, &law, precision, method, false).unwrap();
            let (expected, found) = (forces(&mut sums, &inside, cutoff), forces(&mut sums, &beyond, cutoff));
            if method == Method::Cells {
                assert_eq!(expected, found);
            }
            let scale =
                (expected.iter().map(|force| force * force).sum::<f64>() / expected.len() as f64).sqrt();
            let apart = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let bound = if precision == Precision::Double { 1e-12 } else { 1e-4 };
            assert!(scale > 0.1 && apart < bound * scale, "{}: {apart:e} of {scale:e}", method.name());
        }
    }
}

/// A collapse with unequal smoothing lengths, in open space.
fn collapse(formulation: &str) -> Plan {
    plan(&format!(
        "[run]\nsteps = 20\ndevice = \"cpu\"\n[start.evrard]\nparticles = 200\n\
         [sph]\nformulation = \"{formulation}\"\nneighbors = 40\n"
    ))
}

/// A disturbed lattice in a periodic box.
fn gas_in_box() -> Plan {
    plan(
        "[run]\nsteps = 20\ndevice = \"cpu\"\n[space]\nboundary = \"periodic\"\n\
         [start.lattice]\nkind = \"bcc\"\ncells = [6, 6, 6]\nspacing = 0.1\ndensity = 1.0\ninternal_energy = 1.0\n\
         jitter = 0.15\n[sph]\nneighbors = 30\n",
    )
}

const OF_GAS: [Field; 8] = [
    Field::Velocity,
    Field::SmoothingLength,
    Field::Density,
    Field::InternalEnergy,
    Field::Viscosity,
    Field::VelocityDivergence,
    Field::Acceleration,
    Field::InternalEnergyRate,
];

/// Steps of a gas, with a change of the settings after each of them if there are several.
fn course_of_gas(
    plan: &Plan,
    settings: &[NeighborSettings],
    dt: f64,
    ranks: usize,
    steps: usize,
) -> Vec<Row> {
    let parts = run_local(ranks, |comm| {
        let device = Device::under_test().unwrap();
        let (bx, mut particles) = start::particles(plan, &comm, &Simulation::fields(plan)).unwrap();
        // unequal masses, which follow the identity
        for row in 0..particles.len() {
            let id = particles.id[row] as f64;
            particles.scalar_mut(Field::Mass)[row] *= 1.0 + 0.3 * (1.7 * id).sin();
        }
        let first = settings[0];
        let of_gas = gas::Settings {
            sph: plan.sph.clone().unwrap(),
            gravity: None,
            external: None,
            precision: Precision::Double,
            skin: first.skins.outer,
            method: first.method,
        };
        let exchange = Exchange::new(&device, &comm).unwrap();
        let mut gas = Gas::new(&exchange, &of_gas, &bx, &particles).unwrap();
        let mut clock = Clock::new();
        gas.evaluate(0.0, &mut clock).unwrap();
        for step in 0..steps {
            let next = settings[step % settings.len()];
            if settings.len() > 1 {
                gas.set_neighbors(&next).unwrap();
            }
            assert_eq!((gas.neighbors().method, gas.neighbors().symmetric), (next.method, false));
            gas.advance(dt, &mut clock).unwrap();
            assert!(gas.neighbor_bytes() > 0);
        }
        own(&gas.columns, &OF_GAS)
    });
    gathered(parts)
}

/// Searches for smoothing lengths end within their tolerance wherever rounding makes them end, and the rates
/// amplify it.
const GAS: f64 = 1e-9;

#[test]
fn a_gas_is_that_of_clusters() {
    for (plan, skin, dt, ranks, steps) in [
        (collapse("volume-elements"), 0.0, 2e-3, 1, 2),
        (collapse("standard"), 0.1, 2e-3, 1, 1),
        (gas_in_box(), 0.3, 1e-3, 1, 2),
        (collapse("volume-elements"), 0.1, 2e-3, 2, 1),
        (gas_in_box(), 0.3, 1e-3, 2, 2),
    ] {
        let usual = course_of_gas(&plan, &[settings(Method::Clusters, true, skin)], dt, 1, steps);
        for method in Method::ALL.into_iter().filter(|&method| method != Method::Clusters) {
            let found = course_of_gas(&plan, &[settings(method, true, skin)], dt, ranks, steps);
            let apart = difference(&usual, &found);
            assert!(apart < GAS, "{}, skin {skin}, {ranks} ranks: {apart:e} apart", method.name());
        }
    }
}

#[test]
fn the_method_of_a_gas_may_change_between_steps() {
    let changes = [Method::Search, Method::Clusters, Method::Cells, Method::Particles];
    let changes = changes.map(|method| settings(method, true, 0.2));
    let plan = gas_in_box();
    let usual = course_of_gas(&plan, &[settings(Method::Clusters, true, 0.1)], 1e-3, 1, 4);
    let apart = difference(&usual, &course_of_gas(&plan, &changes, 1e-3, 2, 4));
    assert!(apart < GAS, "{apart:e} apart");
}
