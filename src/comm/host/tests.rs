use super::all_gather::{Board, MAX_BYTES};
use super::exchange::HostMemory;
use super::*;
use crate::comm::{Communicator, run_local};
use std::time::Duration;

/// Runs `work` on threads as the ranks of one host.
fn on_one_host<R: Send>(ranks: usize, work: impl Fn(Place, &Communicator, &AllGather) -> R + Sync) -> Vec<R> {
    run_local(ranks, |comm| {
        let gather = |mine: &[u8; NAME]| {
            comm.all_gather(mine).iter().map(|bytes| bytes[..].try_into().unwrap()).collect()
        };
        work(Place { own: comm.rank(), count: comm.size() }, &comm, &gather)
    })
}

#[test]
fn ranks_spin_longer_if_each_can_have_a_core() {
    let cores = |cores: &[usize]| {
        let mut bits = [0u8; NAME];
        cores.iter().for_each(|core| bits[core / 8] |= 1 << (core % 8));
        bits
    };
    for (ranks, expected) in [
        (vec![cores(&[0, 1]); 2], SpinLimit::LONG),
        (vec![cores(&[3]), cores(&[511])], SpinLimit::LONG),
        (vec![cores(&[3]), cores(&[3])], SpinLimit::SHORT),
        (vec![cores(&[0, 1]); 4], SpinLimit::SHORT),
        (vec![cores(&[]); 2], SpinLimit::SHORT),
    ] {
        assert_eq!(SpinLimit::of(&ranks), expected, "{ranks:?}");
    }
    assert!(!cfg!(target_os = "linux") || super::cores().iter().any(|byte| *byte > 0), "this runs somewhere");
    let mut polls = 0;
    SpinLimit::SHORT.wait_until(&|| panic!("it was true before"), || {
        polls += 1;
        polls > 60
    });
}

#[test]
fn everybody_reads_what_all_have_written_on_the_board() {
    const TURNS: usize = 2000;
    for ranks in [2, 3, 5] {
        let length = |turn: usize, rank: usize| (turn * 37 + rank * 11) % (MAX_BYTES + 1);
        let byte = |turn: usize, rank: usize| (turn * 5 + rank) as u8;
        let right = on_one_host(ranks, |place, _, gather| {
            let mut board = Board::new(place, gather).unwrap();
            let mut right = 0;
            for turn in 0..TURNS {
                if turn % 500 == place.own {
                    std::thread::sleep(Duration::from_millis(3));
                }
                let mut all: Vec<Vec<u8>> = (0..ranks).map(|rank| vec![0; length(turn, rank)]).collect();
                let mut parts: Vec<&mut [u8]> = all.iter_mut().map(Vec::as_mut_slice).collect();
                board.all_gather(&vec![byte(turn, place.own); length(turn, place.own)], &mut parts, &|| ());
                right += usize::from(
                    all.iter().enumerate().all(|(rank, all)| all.iter().all(|&b| b == byte(turn, rank))),
                );
            }
            right
        });
        assert_eq!(right, vec![TURNS; ranks]);
    }
}

#[test]
fn values_stay_until_they_are_let_go() {
    let seen = on_one_host(2, |place, comm, gather| {
        let mut memory = HostMemory::new(place, vec![0, 1], 1 << 20, gather).unwrap();
        let other = 1 - place.own;
        let (mut to, mut values) = ([0; 2], Vec::new());
        to[other] = 100;
        for round in 0..200u8 {
            let refused = memory.write(&to, |_, bytes| bytes.fill(round), &std::thread::yield_now);
            assert!(!refused);
            let here = memory.wait(&to, &std::thread::yield_now);
            if usize::from(round) % 50 == place.own {
                // Let the other rank get ahead, if the protocol allows it.
                std::thread::sleep(Duration::from_millis(3));
            }
            values.push(here.of(other).unwrap().to_vec());
            assert!(!here.refused(other) && here.of(place.own).is_none());
        }
        comm.barrier();
        values
    });
    for values in seen {
        assert!(values.into_iter().enumerate().all(|(round, values)| values == [round as u8; 100]));
    }
}

#[test]
fn nothing_is_written_where_the_last_values_were_if_there_is_room_elsewhere() {
    for (largest, elsewhere) in [(1 << 20, true), (4 * PAGE, false)] {
        let written = on_one_host(2, |place, comm, gather| {
            let mut memory = HostMemory::new(place, vec![0, 1], largest, gather).unwrap();
            let other = 1 - place.own;
            let mut written = Vec::new();
            for round in 0..20 {
                // Message lengths vary.
                let mut to = [0; 2];
                to[other] = 2 * PAGE + round % 3 * 1000;
                let refused = memory.write(
                    &to,
                    |_, bytes| {
                        bytes.fill(round as u8);
                        written.push(bytes.as_ptr() as usize);
                    },
                    &std::thread::yield_now,
                );
                assert!(!refused);
                let here = memory.wait(&to, &std::thread::yield_now);
                assert!(here.of(other).unwrap().iter().all(|&byte| byte == round as u8));
            }
            comm.barrier();
            written
        });
        for written in written {
            assert!(written.windows(2).all(|two| (two[0] != two[1]) == elsewhere));
        }
    }
}

#[test]
fn what_has_no_room_is_refused_on_both_sides_and_what_follows_is_not() {
    let fits = PAGE;
    on_one_host(3, |place, comm, gather| {
        let mut memory = HostMemory::new(place, vec![0, 1, 2], 4 * PAGE, gather).unwrap();
        for round in 0..20 {
            // In every other round, the messages of rank 0 exceed its segment.
            let bytes = |from: usize| if from == 0 && round % 2 == 1 { 4 * PAGE } else { fits };
            let counts = |of: &dyn Fn(usize) -> usize| -> Vec<usize> {
                (0..3).map(|rank| if rank == place.own { 0 } else { of(rank) }).collect()
            };
            let (to, from) = (counts(&|_| bytes(place.own)), counts(&bytes));
            let refused = memory.write(&to, |rank, bytes| bytes.fill(rank as u8), &std::thread::yield_now);
            assert_eq!(refused, bytes(place.own) > fits);
            let here = memory.wait(&from, &std::thread::yield_now);
            for rank in (0..3).filter(|&rank| rank != place.own) {
                assert_eq!(here.refused(rank), bytes(rank) > fits);
                let wanted = (bytes(rank) == fits).then(|| vec![place.own as u8; fits]);
                assert_eq!(here.of(rank).map(<[u8]>::to_vec), wanted);
            }
        }
        comm.barrier();
    });
}

#[test]
fn all_share_or_nobody_does_and_no_name_stays() {
    let shared = on_one_host(3, |place, _, gather| {
        let small = if place.own == 1 { 1 } else { 1 << 20 };
        let one_without = HostMemory::new(place, vec![0, 1, 2], small, gather).is_some();
        let all = HostMemory::new(place, vec![0, 1, 2], 1 << 20, gather);
        (
            one_without,
            all.is_some_and(|all| all.is_shared_with((place.own + 1) % 3) && !all.is_shared_with(place.own)),
        )
    });
    assert_eq!(shared, [(false, true); 3]);
    // Other tests of this process may be creating segments.
    let own = format!("hilbrium-{}-", std::process::id());
    let named = || {
        let files = std::fs::read_dir(FOLDER).unwrap();
        files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with(&own)).count()
    };
    let waited = (0..1000).find(|_| {
        std::thread::sleep(Duration::from_millis(2));
        named() == 0
    });
    assert!(waited.is_some(), "{} names stay", named());
}

#[test]
fn a_segment_leaves_half_of_what_is_free() {
    let name = UnlinkOnDrop(Path::new(FOLDER).join(format!("hilbrium-test-{}", std::process::id())));
    let mut segment = Segment::create(&name.0, PAGE, 1 << 46).unwrap();
    let room = free(&segment.file).unwrap();
    assert!(room > 0);
    let refused = segment.grow_to(PAGE + room as usize / 2 + (1 << 20)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::StorageFull);
    assert_eq!((segment.length, segment.file.metadata().unwrap().len()), (PAGE, PAGE as u64));
    segment.grow_to(2 * PAGE).unwrap();
    assert_eq!(segment.file.metadata().unwrap().len(), 2 * PAGE as u64);
    assert_eq!(segment.grow_to(usize::MAX).unwrap_err().kind(), ErrorKind::FileTooLarge);
}
