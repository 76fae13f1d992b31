//! What a run holds: the bytes that its process asks for, counted at every request, so that no noise of the system's
//! bookkeeping comes in.
//!
//! A program of its own, because the allocator that counts is the process's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod common;

use common::plan;
use hilbrium::comm::Communicator;
use hilbrium::plan::Plan;
use hilbrium::start;
use hilbrium::step::Estimate;
use hilbrium::step::Simulation;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, counting.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

impl Counting {
    fn add(bytes: usize) {
        let held = HELD.fetch_add(bytes, Relaxed) + bytes;
        MOST.fetch_max(held, Relaxed);
    }
}

// SAFETY: all is the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is the system's.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::add(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is the system's.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const EVRARD: &str = "title = \"memory\"\n[run]\nsteps = 1\n[start.evrard]\nparticles = COUNT\n[sph]\nneighbors = 100\n\
                      [gravity]\nsoftening = 0.005\n";

fn evrard(count: usize) -> Plan {
    plan(&EVRARD.replace("COUNT", &count.to_string()))
}

/// Bytes that are held after the first forces and after each of some steps, and the most meanwhile.
fn counted(plan: &Plan, steps: usize) -> Vec<[f64; 2]> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread pool");
    pool.install(|| {
        let comm = Communicator::solo();
        let before = HELD.load(Relaxed);
        let counted = || {
            let [held, most] = [&HELD, &MOST].map(|bytes| bytes.load(Relaxed));
            MOST.store(held, Relaxed);
            [held, most].map(|bytes| bytes as f64 - before as f64)
        };
        counted();
        let (space, particles) = start::particles(plan, &comm, &Simulation::fields(plan)).expect("a start");
        let mut simulation = Simulation::new(plan.clone(), &comm, space, particles);
        simulation.evaluate_forces(0.0).expect("first forces");
        simulation.choose_step(None).unwrap();
        let mut found = vec![counted()];
        for _ in 0..steps {
            simulation.advance(simulation.next_step).expect("a step");
            found.push(counted());
        }
        found
    })
}

/// A gas with gravity in a periodic box.
const PERIODIC: &str = "title = \"memory\"\n[run]\nsteps = 1\n[start.uniform-box]\nparticles = COUNT\n\
                     [space]\nboundary = \"periodic\"\n[sph]\nneighbors = 100\n[gravity]\nsoftening = 0.005\n";

/// The ions of inputs/salt-pme.toml, 8 per cell.
fn ions(edge: usize) -> Plan {
    let deck = include_str!("../inputs/salt-pme.toml");
    plan(&deck.replace("[50, 50, 25]", &format!("[{edge}, {edge}, {edge}]")))
}

/// One test alone: what another does at the same time would be counted too.
#[test]
fn a_run_holds_what_is_estimated_and_no_more_with_every_step() {
    a_gas_with_gravity_holds_what_is_estimated();
    meshes_are_in_the_estimate();
}

fn meshes_are_in_the_estimate() {
    for (name, count, plan) in [
        ("periodic gravity", 30_000, plan(&PERIODIC.replace("COUNT", "30000"))),
        ("Ewald sum", 8 * 16 * 16 * 16, ions(16)),
    ] {
        let most = counted(&plan, 3).into_iter().map(|step| step[1]).fold(0.0, f64::max) / count as f64;
        let estimate = Estimate::of(&plan).per_particle;
        println!("{name}: {most:.0} bytes a particle at most, {estimate:.0} estimated");
        assert!((estimate / most - 1.0).abs() < 0.25, "{name}: {estimate} estimated, {most} counted");
    }
}

fn a_gas_with_gravity_holds_what_is_estimated() {
    const COUNTS: [usize; 2] = [10_000, 30_000];
    let [few, many] = COUNTS.map(|count| counted(&evrard(count), 5));
    // what does not grow with the particles is in both
    let each =
        |step: usize, which: usize| (many[step][which] - few[step][which]) / (COUNTS[1] - COUNTS[0]) as f64;
    for step in 0..many.len() {
        let (between, most) = (each(step, 0), each(step, 1));
        println!("step {step}: {between:.1} bytes a particle after it, {most:.1} at most");
        assert!(between < 205.0, "{between} bytes a particle after step {step}: columns, list and domain");
        assert!(most < 350.0, "{most} bytes a particle in step {step}");
        let estimate = Estimate::of(&evrard(COUNTS[1])).per_particle;
        assert!((estimate / most - 1.0).abs() < 0.1, "{estimate} estimated, {most} counted in step {step}");
    }
    println!("{few:?} {many:?}");
    for found in [&few, &many] {
        // the peak of one step may be higher, when a vector doubles; of what grows all later steps have more
        let least = |which: usize| found[3..].iter().map(|step| step[which]).fold(f64::INFINITY, f64::min);
        assert!(least(0) < 1.005 * found[1][0] && least(1) < 1.01 * found[1][1], "{found:?}");
    }
}
