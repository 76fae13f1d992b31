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
    // Long and short reductions take different ways; both must add as a loop over the ranks does.
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
            let mut worked = 0;
            let during = comm.exchange_while(&to, &counts, || worked += 1);
            comm.attended(|| worked += 1);
            (comm.all_to_all(&to), comm.exchange(&to, &counts), during, worked)
        });
        for (rank, (counted, known, during, worked)) in received.into_iter().enumerate() {
            let wanted: Vec<Vec<u64>> = (0..ranks).map(|from| message(from, rank)).collect();
            prop_assert_eq!(&counted, &wanted);
            prop_assert_eq!(&known, &wanted);
            prop_assert_eq!(&during, &wanted);
            prop_assert_eq!(worked, 2);
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
