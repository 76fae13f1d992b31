//! Bytes between the devices of several ranks, on each way that can be had, against what the ranks know was sent.

use crate::common::processes::{PART, plays, test_name, under_mpirun};
use crate::common::skip;
use hilbrium::comm::{Communicator, run_local};
use hilbrium::device::exchange::{Exchange, Message, Way};
use hilbrium::device::{Buffer, Device};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Repeatable numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }
}

/// What no message holds.
const UNTOUCHED: u8 = 0xee;

/// How long each message from one rank to another is in that round; both ranks know. Some pairs have nothing to say.
fn lengths(round: u64, from: usize, to: usize) -> Vec<usize> {
    let mut numbers = Numbers(round * 10_000 + from as u64 * 100 + to as u64);
    let messages = if from == to { 0 } else { numbers.below(4) };
    let mut length = || match numbers.below(6) {
        0 => 0,
        1 => 1,
        2 => numbers.below(1 << round.min(20)) as usize,
        _ => numbers.below(3000) as usize,
    };
    (0..messages).map(|_| length()).collect()
}

/// What such a message holds; never what is [`UNTOUCHED`].
fn content(round: u64, [from, to, message]: [usize; 3], length: usize) -> Vec<u8> {
    let seed = [from, to, message].iter().fold(round, |seed, &part| seed * 1009 + part as u64);
    let mut numbers = Numbers(seed);
    (0..length).map(|_| numbers.below(u64::from(UNTOUCHED)) as u8).collect()
}

/// One rank's messages of a round, in memory of the device with gaps between them.
fn laid_out(
    ranks: usize,
    mut lengths: impl FnMut(usize) -> Vec<usize>,
) -> (Vec<(usize, usize, usize, usize)>, usize) {
    let (mut places, mut next) = (Vec::new(), 3);
    // messages of several ranks alternate: the order counts between two ranks alone
    let all: Vec<Vec<usize>> = (0..ranks).map(&mut lengths).collect();
    for message in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
        for (rank, lengths) in all.iter().enumerate() {
            if let Some(&length) = lengths.get(message) {
                places.push((rank, message, next, length));
                next += length + 5;
            }
        }
    }
    (places, next)
}

fn messages(places: &[(usize, usize, usize, usize)], buffer: &Buffer<u8>) -> Vec<Message> {
    places.iter().map(|&(rank, _, at, bytes)| Message { rank, address: buffer.at(at), bytes }).collect()
}

/// Rounds of exchanges; returns how many bytes came here.
fn exchanges(exchange: &Exchange) -> usize {
    let (device, comm) = (exchange.device(), exchange.comm());
    let (me, ranks) = (comm.rank(), comm.size());
    let before = comm.received().bytes;
    let mut came = 0;
    // longer and longer, then short ones again in memory that is kept
    for round in (0..24).chain([2]) {
        let (leaving, room) = laid_out(ranks, |to| lengths(round, me, to));
        let mut sent = vec![UNTOUCHED; room];
        for &(to, message, at, length) in &leaving {
            sent[at..at + length].copy_from_slice(&content(round, [me, to, message], length));
        }
        let (arriving, room) = laid_out(ranks, |from| lengths(round, from, me));
        let mut expected = vec![UNTOUCHED; room];
        for &(from, message, at, length) in &arriving {
            expected[at..at + length].copy_from_slice(&content(round, [from, me, message], length));
            came += length;
        }
        let mut from = Buffer::from_host(device, &sent).unwrap();
        let to = Buffer::from_host(device, &vec![UNTOUCHED; room]).unwrap();
        let (send, receive) = (messages(&leaving, &from), messages(&arriving, &to));
        if round % 2 == 0 {
            exchange.exchange(&send, &receive).unwrap();
        } else {
            // the device and the ranks do other things while messages are on their way
            let pending = exchange.begin(&send, &receive).unwrap();
            let mut other = Buffer::<u64>::zeros(device, 1000).unwrap();
            let mut sum = [round];
            comm.all_sum(&mut sum);
            other.upload_to(500, &sum).unwrap();
            assert_eq!(other.download().unwrap()[499..502], [0, round * ranks as u64, 0]);
            exchange.finish(pending).unwrap();
        }
        // in the order of operations: what was sent is gone when this comes
        from.fill_bytes(0).unwrap();
        assert!(to.download().unwrap() == expected, "round {round}, rank {me} of {ranks}");
    }
    assert!(comm.received().bytes - before >= came as u64, "what comes is counted");
    came
}

#[test]
fn threads_exchange_through_the_host() {
    for ranks in [2, 3, 5] {
        let came = run_local(ranks, |comm| {
            let device = Device::under_test().unwrap();
            let exchange = Exchange::by(Way::Staged, &device, &comm).unwrap();
            assert_eq!(exchange.way(), "pinned memory of the host");
            exchanges(&exchange)
        });
        assert!(came.len() == ranks && came.iter().all(|&bytes| bytes > 100_000), "{came:?}");
    }
}

#[test]
fn the_first_way_that_works_is_taken_by_all() {
    let ways = run_local(3, |comm| {
        let device = Device::under_test().unwrap();
        let exchange = Exchange::new(&device, &comm).unwrap();
        exchanges(&exchange);
        exchange.way().to_string()
    });
    assert!(ways.iter().all(|way| *way == ways[0]), "{ways:?}");
    println!("threads exchange through {}", ways[0]);
}

#[test]
fn one_rank_needs_no_way() {
    let device = Device::under_test().unwrap();
    let comm = Communicator::solo();
    for way in [Way::Nccl, Way::CudaAware, Way::Staged] {
        let exchange = Exchange::by(way, &device, &comm).unwrap();
        assert_eq!(exchange.way(), "one rank alone");
        exchange.exchange(&[], &[]).unwrap();
    }
}

#[test]
fn what_cannot_be_had_is_an_error_on_all_ranks() {
    // neither is the emulation a GPU, nor have these threads one each, nor are they processes
    let errors = run_local(3, |comm| {
        let device = Device::under_test().unwrap();
        [Way::Nccl, Way::CudaAware].map(|way| Exchange::by(way, &device, &comm).unwrap_err().to_string())
    });
    for [nccl, cuda_aware] in errors {
        assert!(nccl.contains("NCCL") && nccl.contains("HILBRIUM_EXCHANGE=staged"), "{nccl}");
        assert!(cuda_aware.contains("MPI"), "{cuda_aware}");
    }
}

#[test]
fn threads_share_a_host() {
    let of_host = run_local(3, |comm| comm.of_host());
    assert_eq!(of_host, [(0, 3), (1, 3), (2, 3)]);
}

const RANKS: usize = 3;

/// Runs the test `part` on `ranks` processes, with the way of exchange in their environment.
fn on_way(part: &str, ranks: usize, way: &str) -> Output {
    under_mpirun(module_path!(), part, ranks, &[("HILBRIUM_EXCHANGE", way)])
}

/// What a rank prints when its exchanges were right.
fn tell(exchange: &Exchange) {
    let (comm, came) = (exchange.comm(), exchanges(exchange));
    println!("rank {} of {} received {came} bytes through {}", comm.rank(), comm.size(), exchange.way());
}

/// Whether so many ranks told that on this way they received a lot.
fn assert_told(output: &Output, ranks: usize, way: &str) {
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    for rank in 0..ranks {
        let of_rank = format!("rank {rank} of {ranks} received ");
        let told = printed.lines().find_map(|line| line.split_once(&of_rank)).expect("every rank tells");
        let (bytes, through) = told.1.split_once(" bytes through ").expect("as it is told");
        assert!(bytes.parse::<usize>().unwrap() > 100_000 && through.starts_with(way), "{printed}");
    }
}

#[test]
#[cfg(feature = "mpi")]
fn processes_exchange_on_every_way() {
    let part = "processes_exchange_on_every_way";
    if plays(part) {
        let comm = Communicator::world().unwrap();
        assert_eq!((comm.size(), comm.of_host()), (RANKS, (comm.rank(), RANKS)));
        assert!(comm.all_gather::<u8>(&[]).iter().all(Vec::is_empty), "nothing is gathered, too");
        tell(&Exchange::new(&Device::emulated().unwrap(), &comm).unwrap());
        return;
    }
    for (named, way) in [("cuda-aware", "CUDA-aware MPI"), ("staged", "pinned memory of the host"), ("", "")]
    {
        assert_told(&on_way(part, RANKS, named), RANKS, way);
    }
}

/// How many GPUs there are to test on.
fn gpus() -> usize {
    let under_test = std::env::var("HILBRIUM_DEVICE_UNDER_TEST").is_ok_and(|device| device == "cuda");
    if under_test { hilbrium::device::cuda::count() as usize } else { 0 }
}

#[test]
#[cfg(feature = "mpi")]
fn processes_with_a_gpu_each_exchange_through_nccl_and_the_host() {
    let part = "processes_with_a_gpu_each_exchange_through_nccl_and_the_host";
    if plays(part) {
        let comm = Communicator::world().unwrap();
        let device = Device::cuda(comm.of_host().0 as u32).unwrap();
        tell(&Exchange::new(&device, &comm).unwrap());
        return;
    }
    let ranks = gpus();
    if ranks < 2 {
        return skip::skip(&format!("this needs two GPUs under test, and there are {ranks}"));
    }
    for (named, way) in [("nccl", "NCCL"), ("", "NCCL"), ("staged", "pinned memory of the host")] {
        assert_told(&on_way(part, ranks, named), ranks, way);
    }
}

#[test]
fn threads_with_a_gpu_each_exchange_through_nccl() {
    let part = "threads_with_a_gpu_each_exchange_through_nccl";
    let ranks = gpus();
    if ranks < 2 {
        return skip::skip(&format!("this needs two GPUs under test, and there are {ranks}"));
    }
    if plays(part) {
        run_local(ranks, |comm| {
            let device = Device::cuda(comm.rank() as u32).unwrap();
            tell(&Exchange::by(Way::Nccl, &device, &comm).unwrap());
        });
        return;
    }
    // a process of its own, whose environment forbids what threads cannot do
    let mut command = Command::new(std::env::current_exe().expect("the path of this test"));
    command
        .args([&test_name(module_path!(), part), "--exact", "--nocapture"])
        .env(PART, part)
        .env("NCCL_P2P_DIRECT_DISABLE", "1");
    assert_told(&command.output().expect("the test runs"), ranks, "NCCL");
}

#[test]
#[cfg(feature = "mpi")]
fn a_way_in_the_environment_that_cannot_be_had_is_an_error_of_all_processes() {
    let part = "a_way_in_the_environment_that_cannot_be_had_is_an_error_of_all_processes";
    if plays(part) {
        let comm = Communicator::world().unwrap();
        let device = Device::emulated().unwrap();
        let error = Exchange::new(&device, &comm).unwrap_err();
        assert!(matches!(error, hilbrium::Error::Usage { .. }));
        // all are still of one mind
        comm.barrier();
        println!("rank {} of {}: {error}", comm.rank(), comm.size());
        return;
    }
    let began = Instant::now();
    for (named, word) in [("nccl", "NCCL"), ("pigeon", "HILBRIUM_EXCHANGE=pigeon names no way")] {
        let output = on_way(part, RANKS, named);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
        for rank in 0..RANKS {
            let of_rank = format!("rank {rank} of {RANKS}: ");
            assert!(printed.lines().any(|line| line.contains(&of_rank) && line.contains(word)), "{printed}");
        }
    }
    assert!(began.elapsed() < Duration::from_secs(60));
}
