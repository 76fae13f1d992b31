use super::host::exchange::HostMemory;
use super::*;
use proptest::prelude::*;

const RANKS: [usize; 4] = [1, 2, 3, 5];

#[test]
fn everybody_has_its_rank() {
    for ranks in RANKS {
        let seen = run_local(ranks, |comm| (comm.rank(), comm.size(), comm.is_root()));
        let wanted: Vec<_> = (0..ranks).map(|rank| (rank, ranks, rank == 0)).collect();
        assert_eq!(seen, wanted);
    }
    assert_eq!((Communicator::solo().rank(), Communicator::solo().size()), (0, 1));
}

#[test]
fn reductions_are_in_rank_order() {
    // Long reductions are distributed, short ones are not; both must add in rank order.
    for (ranks, count) in RANKS.into_iter().flat_map(|ranks| [(ranks, 3), (ranks, SHARED_REDUCTION + 7)]) {
        let value = |rank: usize, k: usize| 0.1 / (1.0 + rank as f64 * 3.7 + k as f64 * 1e-3);
        let all = run_local(ranks, |comm| {
            let mine: Vec<f64> = (0..count).map(|k| value(comm.rank(), k)).collect();
            let (mut sum, mut least, mut most) = (mine.clone(), mine.clone(), mine.clone());
            comm.all_sum(&mut sum);
            comm.all_min(&mut least);
            comm.all_max(&mut most);
            let (mut sum_too, mut most_too) = (mine.clone(), mine);
            comm.all_sum_and_max(&mut sum_too, &mut most_too);
            assert_eq!((sum_too, most_too), (sum.clone(), most.clone()));
            (sum, least, most)
        });
        for (sum, least, most) in all {
            for k in 0..count {
                let expected = (1..ranks).fold(value(0, k), |sum, rank| sum + value(rank, k));
                assert_eq!(sum[k].to_bits(), expected.to_bits());
                assert_eq!((least[k], most[k]), (value(ranks - 1, k), value(0, k)));
            }
        }
    }
}

#[test]
fn integers_reduce_and_nothing_reduces_to_nothing() {
    for ranks in RANKS {
        let all = run_local(ranks, |comm| {
            let mut signed = [-(comm.rank() as i64), 1];
            let mut unsigned = [comm.rank() as u64];
            comm.all_sum(&mut signed);
            comm.all_max(&mut unsigned);
            comm.all_sum::<f64>(&mut []);
            (signed, unsigned)
        });
        let n = ranks as i64;
        for (signed, unsigned) in all {
            assert_eq!(signed, [-n * (n - 1) / 2, n]);
            assert_eq!(unsigned, [ranks as u64 - 1]);
        }
    }
}

#[test]
fn gather_and_broadcast() {
    for ranks in RANKS {
        let all = run_local(ranks, |comm| {
            let mut sent = vec![comm.rank() as u32; 4 - comm.rank().min(4)];
            let gathered = comm.all_gather(&vec![comm.rank() as u16; comm.rank()]);
            comm.broadcast(&mut sent, comm.size() - 1);
            (gathered, sent)
        });
        for (gathered, sent) in all {
            assert_eq!(gathered, (0..ranks).map(|rank| vec![rank as u16; rank]).collect::<Vec<_>>());
            assert_eq!(sent, vec![ranks as u32 - 1; 5 - ranks]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn all_to_all_is_a_transposition(ranks in 1usize..6, lengths in prop::collection::vec(0usize..40, 36)) {
        let length = |from: usize, to: usize| lengths[from * 6 + to];
        let message = |from: usize, to: usize| -> Vec<u64> {
            (0..length(from, to)).map(|k| (from * 1_000_000 + to * 1_000 + k) as u64).collect()
        };
        let received = run_local(ranks, |comm| {
            let to: Vec<Vec<u64>> = (0..ranks).map(|to| message(comm.rank(), to)).collect();
            let counts: Vec<usize> = (0..ranks).map(|from| length(from, comm.rank())).collect();
            (comm.all_to_all(&to), comm.exchange(&to, &counts), in_place(&comm, &to, &counts))
        });
        for (rank, (counted, known, in_place)) in received.into_iter().enumerate() {
            let wanted: Vec<Vec<u64>> = (0..ranks).map(|from| message(from, rank)).collect();
            prop_assert_eq!(&counted, &wanted);
            prop_assert_eq!(&known, &wanted);
            let others = wanted.into_iter().enumerate().map(|(from, values)| if from == rank { Vec::new() } else { values });
            prop_assert_eq!(in_place, others.collect::<Vec<_>>());
        }
    }
}

/// Exchanges in place and returns the messages of the other ranks; checks that the work ran once.
fn in_place(comm: &Communicator, to: &[Vec<u64>], counts: &[usize]) -> Vec<Vec<u64>> {
    let other = |rank: usize| rank != comm.rank();
    let lengths: Vec<usize> = to.iter().map(Vec::len).collect();
    let (mut written, mut came, mut worked) = (vec![0; comm.size()], Vec::new(), 0);
    let write = |rank: usize, values: &mut [u64]| {
        written[rank] += 1;
        values.copy_from_slice(&to[rank]);
    };
    comm.exchange_in_place(
        (&masked_counts(&lengths, other), write),
        (&masked_counts(counts, other), |values| {
            came = values.iter().map(|values| values.to_vec()).collect()
        }),
        || worked += 1,
    );
    assert_eq!(worked, 1);
    let wanted = |rank: usize| usize::from(other(rank) && lengths[rank] > 0);
    assert_eq!(written, (0..comm.size()).map(wanted).collect::<Vec<_>>());
    came
}

/// Runs `work` on ranks on these hosts. Ranks of a host share segments of at most `largest` bytes.
fn on_hosts<R: Send>(hosts: &[usize], largest: usize, work: impl Fn(Communicator) -> R + Sync) -> Vec<R> {
    run_local(hosts.len(), |comm| {
        let Ranks::Local(member) = &comm.ranks else { unreachable!("ranks are threads") };
        let on_host = |rank: &usize| hosts[*rank] == hosts[comm.rank()];
        let ranks: Vec<usize> = (0..comm.size()).filter(on_host).collect();
        let own = ranks.iter().position(|&rank| rank == comm.rank()).unwrap();
        let all_gather = |mine: &[u8; _]| {
            let all = comm.all_gather(mine);
            ranks.iter().map(|&rank| all[rank][..].try_into().unwrap()).collect()
        };
        let place = host::Place { own, count: ranks.len() };
        let memory = HostMemory::new(place, ranks.clone(), largest, &all_gather);
        work(Communicator::new(Ranks::Local(Arc::new(member.sharing(memory)))))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn ranks_of_hosts_exchange_in_place(
        hosts in prop::collection::vec(0usize..3, 1..6),
        lengths in prop::collection::vec((0usize..2000, any::<bool>()), 5 * 36),
        pages in 1usize..12,
    ) {
        // Some segments are too small for the slots, some for all values, and some grow.
        let rounds = lengths.as_chunks::<36>().0;
        let length = |round: usize, from: usize, to: usize| {
            let (length, any) = rounds[round][from * 6 + to];
            if any { length } else { 0 }
        };
        let message = |round: usize, from: usize, to: usize| -> Vec<u64> {
            (0..length(round, from, to)).map(|k| ((round * 10 + from) * 10 + to) as u64 * 10_000 + k as u64).collect()
        };
        let ranks = hosts.len();
        let all = on_hosts(&hosts, pages * 4096 - 4000, |comm| {
            let mut came = Vec::new();
            for round in 0..rounds.len() {
                let to: Vec<Vec<u64>> = (0..ranks).map(|to| message(round, comm.rank(), to)).collect();
                let counts: Vec<usize> = (0..ranks).map(|from| length(round, from, comm.rank())).collect();
                came.push(in_place(&comm, &to, &counts));
            }
            (came, comm.received())
        });
        for (rank, (came, received)) in all.into_iter().enumerate() {
            let (mut messages, mut bytes) = (0, 0);
            for (round, came) in came.into_iter().enumerate() {
                for (from, values) in came.into_iter().enumerate() {
                    let wanted = if from == rank { Vec::new() } else { message(round, from, rank) };
                    messages += u64::from(!wanted.is_empty());
                    bytes += size_of_val(&wanted[..]) as u64;
                    prop_assert_eq!(values, wanted);
                }
            }
            prop_assert_eq!((received.messages, received.bytes), (messages, bytes));
        }
    }
}

#[test]
fn one_error_fails_all() {
    for ranks in RANKS {
        let all = run_local(ranks, |comm| {
            let bad = comm.rank() == comm.size() - 1;
            let first = comm.agree(Ok(()));
            let second = comm.agree(if bad { Err(Error::usage("bad", "be good")) } else { Ok(()) });
            (first.is_ok(), second.map_err(|error| matches!(error, Error::Elsewhere)))
        });
        for (rank, (first, second)) in all.into_iter().enumerate() {
            assert!(first);
            assert_eq!(second, Err(rank + 1 != ranks));
        }
    }
}

#[test]
fn what_the_root_does_alone_fails_all() {
    for ranks in RANKS {
        let all = run_local(ranks, |comm| {
            let mut done = 0;
            let fine = comm.on_root(|| {
                done += 1;
                Ok(())
            });
            let failed = comm.on_root(|| Err(Error::usage("bad", "be good")));
            (fine.is_ok(), done, failed.map_err(|error| matches!(error, Error::Elsewhere)))
        });
        for (rank, seen) in all.into_iter().enumerate() {
            assert_eq!(seen, (true, u32::from(rank == 0), Err(rank != 0)));
        }
    }
}

#[test]
fn a_panic_ends_the_other_ranks() {
    let outcome = std::panic::catch_unwind(|| {
        run_local(3, |comm| {
            comm.barrier();
            assert!(comm.rank() != 1, "rank 1 stumbles");
            comm.barrier();
        })
    });
    let panic = outcome.unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"rank 1 stumbles"));
}

#[test]
fn a_rank_that_leaves_early_ends_the_others() {
    let outcome = std::panic::catch_unwind(|| {
        run_local(3, |comm| {
            if comm.rank() != 2 {
                comm.barrier();
            }
        })
    });
    assert!(outcome.is_err());
}
