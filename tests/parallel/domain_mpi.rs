//! Ranks as processes: this test starts itself under mpirun and compares with threads as ranks.

use crate::common::domain_cases::{Cloud, Kind, View, boxes, settings, sync};
use crate::common::processes::{PART, plays, test_name, under_mpirun};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::particles::Field;
use std::process::Command;
use std::time::{Duration, Instant};

const RANKS: usize = 3;

/// The bits of an arrangement, and what collective calls return.
fn bits(comm: &Communicator) -> Vec<u64> {
    let cloud = Cloud::new(Kind::Plummer, boxes()[2], 2000);
    let (domain, mut particles) = sync(comm, &cloud, settings());
    for row in particles.owned() {
        particles.scalar_mut(Field::Pressure)[row] = particles.id[row] as f64;
    }
    domain.exchange_halos(&mut particles, &[Field::Pressure]);
    let mut bits = View::new(&domain, &particles).bits();

    for count in [5, 5000] {
        let mut sum: Vec<f64> =
            (0..count).map(|k| 0.1 / (1.0 + k as f64 + 7.3 * comm.rank() as f64)).collect();
        comm.all_sum(&mut sum);
        bits.extend(sum.iter().map(|value| value.to_bits()));
    }
    let mut sent = vec![comm.rank() as u64; comm.rank() + 1];
    comm.broadcast(&mut sent, comm.size() - 1);
    bits.extend(sent);
    bits.push(comm.size() as u64);
    bits.extend(comm.all_gather(&vec![7u16; comm.rank()]).iter().map(|part| part.len() as u64));
    bits
}

#[test]
fn processes_give_the_bits_of_threads() {
    let part = "processes_give_the_bits_of_threads";
    if plays(part) {
        let comm = Communicator::world().unwrap();
        assert_eq!(comm.size(), RANKS);
        assert!(comm.raw_mpi().is_some());
        assert_eq!(Communicator::world().unwrap().rank(), comm.rank(), "the second call is the same world");
        let expected = run_local(RANKS, |threads| bits(&threads));
        assert!(bits(&comm) == expected[comm.rank()]);
        println!("rank {} of {} agrees", comm.rank(), comm.size());
        return;
    }
    let output = under_mpirun(module_path!(), part, RANKS, &[]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    for rank in 0..RANKS {
        assert!(printed.contains(&format!("rank {rank} of {RANKS} agrees")), "{printed}");
    }
}

#[test]
fn a_panic_ends_all_processes() {
    let part = "a_panic_ends_all_processes";
    if plays(part) {
        let comm = Communicator::world().unwrap();
        comm.barrier();
        assert!(comm.rank() != 1, "rank 1 stumbles");
        comm.barrier();
        unreachable!("rank 1 never comes");
    }
    let began = Instant::now();
    let output = under_mpirun(module_path!(), part, RANKS, &[]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("rank 1 stumbles"), "{printed}");
    assert!(!printed.contains("never comes"));
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn the_world_without_mpirun_is_one_rank() {
    let part = "the_world_without_mpirun_is_one_rank";
    if plays(part) {
        let comm = Communicator::world().unwrap();
        assert_eq!((comm.rank(), comm.size()), (0, 1));
        assert!(bits(&comm) == bits(&Communicator::solo()));
        drop(comm);
        assert!(Communicator::world().is_err(), "MPI does not start twice");
        return;
    }
    // A process of its own, because MPI starts once a process.
    let myself = std::env::current_exe().expect("the path of this test");
    let name = test_name(module_path!(), part);
    let output =
        Command::new(myself).args([&name, "--exact"]).env(PART, part).output().expect("the test runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}
