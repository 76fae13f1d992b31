//! Files to which frames are appended: their bytes, and where a restart cuts them.

use super::*;
use crate::comm::run_local;

const APPENDED: [TrajectoryFormat; 4] =
    [TrajectoryFormat::Xyz, TrajectoryFormat::Xtc, TrajectoryFormat::Dcd, TrajectoryFormat::LammpsDump];

/// Ends of the frames, and of what is in front of them, in a file of frames that begin alike.
fn ends(bytes: &[u8], count: usize, head: usize) -> Vec<usize> {
    let frame = (bytes.len() - head) / count;
    (0..=count).map(|k| head + k * frame).collect()
}

#[test]
fn any_beginning_of_a_file_is_cut_to_whole_frames() {
    for format in APPENDED {
        let folder = tempfile::tempdir().unwrap();
        let (content, particles) = (content(format), many(10));
        let (path, bytes) = written_of(&particles, folder.path(), &content, &[0, 3, 6]);
        let head = if format == TrajectoryFormat::Dcd { 276 } else { 0 };
        let ends = ends(&bytes, 3, head);
        assert_eq!(*ends.last().unwrap(), bytes.len(), "{format:?}");
        for length in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let resumed = resumed_of(&particles, folder.path(), &content, 5);
            assert!(resumed.is_ok(), "{format:?}, {length} bytes: {}", resumed.err().unwrap());
            let kept = std::fs::read(&path).unwrap();
            let end = ends[..3].iter().rev().find(|&&end| end <= length).copied().unwrap_or(head);
            assert_eq!(kept.len(), end, "{format:?}, {length} bytes");
            // numbers of frames and steps in the head of DCD are those of what is left
            let counted = if head == 0 { 0..0 } else { 8..24 };
            for (k, byte) in kept.iter().enumerate() {
                assert!(counted.contains(&k) || *byte == bytes[k], "{format:?}, {length} bytes: byte {k}");
            }
            if head > 0 {
                let frames = ends.iter().position(|&known| known == end).unwrap() as u8;
                assert_eq!(kept[8], frames, "{length} bytes");
            }
        }
    }
}

#[test]
fn a_resumed_file_has_the_bytes_of_one_written_at_once() {
    for format in APPENDED {
        let folder = tempfile::tempdir().unwrap();
        let (content, particles) = (content(format), many(12));
        let (path, bytes) = written_of(&particles, folder.path(), &content, &[0, 3, 6]);
        let comm = Communicator::solo();
        for from in [0, 3, 4, 6] {
            let mut trajectory = resumed_of(&particles, folder.path(), &content, from).unwrap();
            for step in [0, 3, 6].into_iter().filter(|&step| step >= from) {
                let moment = Moment { step, time: 0.5, bx: cube() };
                trajectory.append(&comm, &particles, &moment).unwrap();
            }
            assert!(std::fs::read(&path).unwrap() == bytes, "{format:?} from {from}");
        }
    }
}

#[test]
fn ranks_write_the_bytes_that_one_writes() {
    for format in APPENDED {
        let content = content(format);
        let files = [1usize, 2, 3].map(|ranks| {
            let folder = tempfile::tempdir().unwrap();
            run_local(ranks, |comm| {
                let all = many(40);
                let rows: Vec<usize> = (comm.rank()..40).step_by(comm.size()).collect();
                let mut own = Particles::new(all.fields(), rows.len());
                for (to, &from) in rows.iter().enumerate() {
                    own.id[to] = all.id[from];
                    own.set_vector(
                        Field::Position,
                        to,
                        all.vector(Field::Position).map(|column| column[from]).into(),
                    );
                    for field in [Field::Mass, Field::Charge] {
                        own.scalar_mut(field)[to] = all.scalar(field)[from];
                    }
                }
                let bx = cube();
                let mut file = Trajectory::create(folder.path(), &comm, &content, &bx, &own).unwrap();
                for step in [0, 3] {
                    file.append(&comm, &own, &Moment { step, time: 1.5, bx }).unwrap();
                }
            });
            let names = [Some(format.file_name()), format.topology_name()];
            names.into_iter().flatten().map(|name| std::fs::read(folder.path().join(name)).unwrap()).collect()
        });
        let [one, two, three]: [Vec<Vec<u8>>; 3] = files;
        assert!(one == two && one == three, "{format:?}");
        assert!(one.iter().all(|file| file.len() > 300));
    }
}

/// Head and first frame of a DCD file, number by number.
#[test]
fn a_dcd_file_has_the_records_of_charmm() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = content(TrajectoryFormat::Dcd);
    content.units = Units::new(UnitSystem::Molecular);
    let (_, bytes) = written_of(&many(12), folder.path(), &content, &[3, 6, 9]);
    let word = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let real = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((word(0), &bytes[4..8], word(88)), (84, &b"CORD"[..], 84));
    let numbers: Vec<i32> = (0..20).filter(|&k| k != 9).map(|k| word(8 + 4 * k)).collect();
    assert_eq!(numbers, [3, 3, 3, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 24]);
    // 2 fs in units of 48.88821 fs
    assert!((real(44) - 0.04090966).abs() < 1e-7, "{}", real(44));
    assert_eq!((word(92), word(96), word(260)), (164, 2, 164));
    assert!(bytes[100..].starts_with(b"Written by hilbrium "));
    assert_eq!((word(264), word(268), word(272)), (4, 12, 4));
    let frame = 276;
    assert_eq!((word(frame), word(frame + 52)), (48, 48));
    let cell: Vec<f64> = (0..6)
        .map(|k| f64::from_le_bytes(bytes[frame + 4 + 8 * k..frame + 12 + 8 * k].try_into().unwrap()))
        .collect();
    assert_eq!(cell, [10.0, 0.0, 10.0, 0.0, 0.0, 10.0]);
    for (d, step) in [0.61, 0.37, 0.83].into_iter().enumerate() {
        let begin = frame + 56 + d * 56;
        assert_eq!((word(begin), word(begin + 52)), (48, 48));
        for id in 0..12 {
            let x = (id as f64 * step).fract() * 10.0;
            assert_eq!(real(begin + 4 + 4 * id), x as f32, "coordinate {d} of {id}");
        }
    }
    assert_eq!(bytes.len(), 276 + 3 * (56 + 3 * 56));
}

#[test]
fn a_dump_has_the_lines_of_lammps() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = content(TrajectoryFormat::LammpsDump);
    content.units = Units::new(UnitSystem::Molecular);
    let mut particles = many(2);
    particles.set_vector(Field::Velocity, 0, [1.0, 2.0, -0.5].into());
    let (_, bytes) = written_of(&particles, folder.path(), &content, &[3]);
    let id = particles.id[0];
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..9],
        [
            "ITEM: TIMESTEP",
            "3",
            "ITEM: NUMBER OF ATOMS",
            "2",
            "ITEM: BOX BOUNDS pp pp pp",
            "0 10",
            "0 10",
            "0 10",
            "ITEM: ATOMS id type element q x y z vx vy vz"
        ]
    );
    assert_eq!(id, 1);
    assert_eq!(lines[9..], ["0 1 Ar 0.5 0 0 0 0 0 0", "1 1 Ar -0.5 6.1 3.7 8.3 10 20 -5"]);
}

#[test]
fn a_topology_has_names_masses_and_charges() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = content(TrajectoryFormat::Xtc);
    content.species = vec!["Ar".into(), "a long name".into()];
    let mut particles = many(3);
    let row = particles.id.iter().position(|&id| id == 2).unwrap();
    particles.scalar_mut(Field::Species)[row] = 1.0;
    written_of(&particles, folder.path(), &content, &[0]);
    let text = std::fs::read_to_string(folder.path().join("trajectory.psf")).unwrap();
    let atoms: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.contains("!NATOM"))
        .skip(1)
        .take(3)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(atoms[0], ["1", "ALL", "0", "Ar", "Ar", "Ar", "0.5", "39.948", "0"]);
    assert_eq!(atoms[1], ["2", "ALL", "1", "Ar", "Ar", "Ar", "-0.5", "40.948", "0"]);
    assert_eq!(atoms[2], ["3", "ALL", "2", "#2", "#2", "#2", "0.5", "41.948", "0"]);
    assert!(text.starts_with("PSF NAMD\n\n") && text.contains("#2 stands for the species a long name"));
}

#[test]
fn what_belongs_to_another_run_is_refused_and_left_alone() {
    for format in APPENDED {
        let folder = tempfile::tempdir().unwrap();
        let deck = content(format);
        let (path, bytes) = written_of(&many(12), folder.path(), &deck, &[0, 3]);
        let mut others = vec![("this run", many(13), deck.clone())];
        if format == TrajectoryFormat::Xtc {
            let mut coarse = deck.clone();
            coarse.plan.resolution = 0.01;
            others.push(("resolution", many(12), coarse));
        }
        if format == TrajectoryFormat::Dcd {
            let (mut often, mut short) = (deck.clone(), deck.clone());
            often.plan.every = Every::EverySteps(1);
            short.time_step = Some(0.001);
            others.extend([("steps apart", many(12), often), ("time step", many(12), short)]);
        }
        if format == TrajectoryFormat::LammpsDump {
            let mut fewer = deck.clone();
            fewer.plan.velocities = false;
            others.push(("other than the deck asks for", many(12), fewer));
        }
        for (said, particles, deck) in others {
            let error = resumed_of(&particles, folder.path(), &deck, 9).err().unwrap().to_string();
            assert!(error.contains(said) && error.contains("move the file away"), "{format:?}: {error}");
            assert!(std::fs::read(&path).unwrap() == bytes);
        }
        for text in ["another program's text, which is longer than any head of a frame", "12"] {
            let text = text.repeat(20);
            std::fs::write(&path, &text).unwrap();
            let error = resumed_of(&many(12), folder.path(), &deck, 9).err().unwrap().to_string();
            assert!(error.contains("move the file away"), "{format:?}: {error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused_and_earlier_frames_are_kept() {
    let comm = Communicator::solo();
    for (format, step, x, said) in [
        (TrajectoryFormat::Xtc, 6, 2e6, "cannot hold the coordinate 2000000"),
        (TrajectoryFormat::Xtc, 6, f64::NAN, "cannot hold the coordinate NaN"),
        (TrajectoryFormat::Xtc, 1 << 31, 0.5, "up to 2147483647"),
        (TrajectoryFormat::Dcd, 8, 0.5, "the next is of step 6, not 8"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (content, mut particles) = (content(format), many(12));
        let mut file = Trajectory::create(folder.path(), &comm, &content, &cube(), &particles).unwrap();
        let path = folder.path().join(format.file_name());
        file.append(&comm, &particles, &Moment { step: 3, time: 0.5, bx: cube() }).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        particles.set_vector(Field::Position, 5, [x, 0.5, 0.5].into());
        let error = file.append(&comm, &particles, &Moment { step, time: 0.5, bx: cube() }).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(said) && error.contains("help: "), "{error}");
        assert!(std::fs::read(&path).unwrap() == bytes, "{said}");
    }
    let mut bx = cube();
    bx.boundary[1] = Boundary::Open;
    for format in APPENDED {
        let created =
            Trajectory::create(tempfile::tempdir().unwrap().path(), &comm, &content(format), &bx, &many(12));
        let refused = created.err().map(|error| error.to_string());
        let expected = format.topology_name().is_some();
        assert_eq!(refused.is_some_and(|error| error.contains("open in some dimensions")), expected);
    }
}

#[test]
fn files_are_described() {
    for (format, parts) in [
        (TrajectoryFormat::Xtc, ["XTC", "0 to 6", "1 x 1 x 1", "1000 per unit"]),
        (TrajectoryFormat::Dcd, ["little-endian", "0 to 6, every 3", "1 x 1 x 1", "or 0.000000 to 0.012000"]),
        (
            TrajectoryFormat::LammpsDump,
            ["LAMMPS dump", "0 to 6", "0 1 x 0 1 x 0 1", "id type element q x y z"],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (path, bytes) = written_of(&many(12), folder.path(), &content(format), &[0, 3, 6]);
        let told = info(&path).unwrap().unwrap();
        for part in ["particles   12\n", "frames      3\n"].into_iter().chain(parts) {
            assert!(told.contains(part), "{part} in:\n{told}");
        }
        let head = if format == TrajectoryFormat::Dcd { 276 } else { 0 };
        let ends = ends(&bytes, 3, head);
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let whole = ends[1..].iter().filter(|&&end| end <= length).count();
            match info(&path) {
                Ok(Some(told)) => {
                    assert!(told.contains(&format!("frames      {whole}\n")), "{format:?}, {length}: {told}");
                }
                // the file ends within its first words, or within the header of DCD
                _ => assert!(length < head.max(16), "{format:?}, {length} bytes"),
            }
        }
    }
}

/// Header and first coordinates of an XTC frame, word by word.
#[test]
fn an_xtc_frame_has_the_words_of_gromacs() {
    let folder = tempfile::tempdir().unwrap();
    for count in [9usize, 10] {
        let (_, bytes) = written_of(&many(count), folder.path(), &content(TrajectoryFormat::Xtc), &[3]);
        let word = |k: usize| u32::from_be_bytes(bytes[4 * k..4 * k + 4].try_into().unwrap());
        let real = |k: usize| f32::from_bits(word(k));
        assert_eq!([0, 1, 2, 13].map(word), [1995, count as u32, 3, count as u32]);
        assert_eq!(real(3), 0.5, "time");
        assert_eq!((4..13).map(real).collect::<Vec<_>>(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        if count == 9 {
            // up to nine positions are not compressed
            assert_eq!(bytes.len(), 56 + 12 * 9);
        } else {
            assert_eq!(real(14), 1000.0, "precision");
            assert_eq!(bytes.len(), 92 + (word(22) as usize).next_multiple_of(4), "bytes of the bit stream");
        }
    }
}
