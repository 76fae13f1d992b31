//! Files with wrong bytes, cut off, or with numbers that are none.

use crate::case::*;

#[test]
fn damaged_files_are_refused_by_every_command() {
    let case = Case::new(DECK);
    assert_eq!(status(&case.run(&["run.steps=2", "output.checkpoint.every_steps=2"])), 0);
    let commands = |file: &'static str| {
        let deck = |start: &str| {
            format!("[start.file]\npath = \"{start}\"\n[run]\nsteps = 1\n[sph]\nneighbors = 60\n")
        };
        std::fs::write(case.path("start.toml"), deck(file)).expect("a deck");
        match file.ends_with("hdf5") {
            true => vec![
                vec!["info", file],
                vec!["validate", file, "--against", "evrard"],
                vec!["run", "start.toml", "--set", "output.directory=again"],
            ],
            false => vec![vec!["info", file], vec!["run", "deck.toml", "--restart", file]],
        }
    };
    for (whole, damaged) in [("out/snapshot-0001.hdf5", "bad.hdf5"), ("out/checkpoint-000002.h5", "bad.h5")] {
        let bytes = std::fs::read(case.path(whole)).expect("a file");
        for arguments in commands(damaged) {
            // all cuts take from the content; the checksum behind it is 32 bytes
            for length in [0, 7, 100, bytes.len() / 2, bytes.len() - 33] {
                std::fs::write(case.path(damaged), &bytes[..length]).expect("a cut file");
                let output = case.command(&arguments).output().expect("the program starts");
                assert_eq!(status(&output), 1, "{arguments:?} cut to {length}: {}", told(&output));
                assert!(
                    told(&output).contains(damaged) && told(&output).contains("help:"),
                    "{}",
                    told(&output)
                );
            }
            for k in 0..8 {
                let mut flipped = bytes.clone();
                let at = (2 * k + 1) * bytes.len() / 16;
                flipped[at] ^= 0x40;
                std::fs::write(case.path(damaged), flipped).expect("a file with a wrong bit");
                let output = case.command(&arguments).output().expect("the program starts");
                assert_eq!(status(&output), 1, "{arguments:?} flipped at {at}: {}", told(&output));
                assert!(
                    told(&output).contains(damaged) && told(&output).contains("help:"),
                    "{}",
                    told(&output)
                );
            }
        }
    }
}

/// Found by fuzzing: files that HDF5 (1.10.8, at least) follows out of its own memory.
#[test]
fn a_file_on_which_hdf5_itself_fails_is_an_error_and_no_crash() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/hdf5");
    let case = Case::new(&format!("{FROM_FILE}[gravity]\nsoftening = 0.01\n"));
    let mut files = 0;
    for entry in std::fs::read_dir(&corpus).expect("a corpus") {
        files += 1;
        std::fs::copy(entry.expect("an entry").path(), case.path("start.hdf5")).expect("a copy");
        for arguments in [vec!["info", "start.hdf5"], vec!["run", "deck.toml"]] {
            let output = case.command(&arguments).output().expect("the program starts");
            assert_eq!(status(&output), 1, "{arguments:?}: {}", told(&output));
            let named = told(&output).contains("start.hdf5 is damaged") && told(&output).contains("help:");
            assert!(named, "{arguments:?}: {}", told(&output));
        }
    }
    assert!(files > 0);
}

/// HDF5 (1.10.8, at least) follows the free blocks of a heap from one to the next without looking whether it comes around.
#[test]
fn a_file_in_which_hdf5_goes_around_in_a_ring_does_not_fill_the_memory() {
    let case = Case::new(&format!("{FROM_FILE}[gravity]\nsoftening = 0.01\n"));
    let path = case.path("start.hdf5");
    let file = hdf5::File::create(&path).expect("a file");
    for name in ["Header", "PartType0"] {
        file.create_group(name).expect("a group");
    }
    file.close().expect("a whole file");
    let mut bytes = std::fs::read(&path).expect("a file");
    let number = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize
    };
    let heaps: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"HEAP\0\0\0\0")).collect();
    let mut rings = 0;
    for heap in heaps {
        // after the name: the length of its data, its first free block, and where the data are
        let [length, first, data] = [8, 16, 24].map(|field| number(&bytes, heap + field));
        if first < length {
            let next = data + first;
            bytes[next..next + 8].copy_from_slice(&(first as u64).to_le_bytes());
            rings += 1;
        }
    }
    assert!(rings > 0);
    std::fs::write(&path, bytes).expect("a damaged file");
    for arguments in [["info", "start.hdf5"], ["run", "deck.toml"]] {
        let output = case.command(&arguments).output().expect("the program starts");
        assert_eq!(status(&output), 1, "{arguments:?}: {}", told(&output));
        let named = told(&output).contains("start.hdf5 is damaged") && told(&output).contains("help:");
        // a library that looks says so itself
        let ours = told(&output).contains("MiB") || hdf5::library_version() >= (1, 12, 0);
        assert!(named && ours, "{arguments:?}: {}", told(&output));
    }
}

#[test]
fn numbers_in_a_file_that_are_no_place_are_told_of() {
    for wrong in [f64::NAN, f64::INFINITY] {
        let case = Case::new(&format!("{FROM_FILE}[gravity]\nsoftening = 0.01\n"));
        let path = case.path("start.hdf5");
        snapshot(&path, &[[0.25; 3]; 30]);
        // as another program writes it: without our checksum
        let file = std::fs::File::options().write(true).open(&path).expect("a file");
        file.set_len(file.metadata().expect("a length").len() - 32).expect("a shorter file");
        let file = hdf5::File::open_rw(&path).expect("a file of HDF5");
        let coordinates = file.dataset("PartType0/Coordinates").expect("positions");
        let mut values: Vec<f64> = coordinates.read_raw().expect("numbers");
        values[3 * 7 + 1] = wrong;
        coordinates.write_raw(&values).expect("numbers");
        // what is still open is not in the file yet
        drop(coordinates);
        file.close().expect("a whole file");
        let output = case.run(&[]);
        assert_eq!(status(&output), 1, "{}", told(&output));
        assert!(
            told(&output).contains("start.hdf5") || told(&output).contains("particle 8"),
            "{}",
            told(&output)
        );
    }
}

/// As a machine leaves it that goes down while the newest checkpoint is on its way to the disk.
#[test]
fn a_checkpoint_cut_at_every_page_is_refused_and_the_one_before_restored() {
    use hilbrium::comm::{Communicator, run_local};
    use hilbrium::snapshot::{find_latest, read_checkpoint};
    let case = Case::new(&DECK.replace("particles = 1500", "particles = 4000"));
    assert_eq!(status(&case.run(&["run.steps=2", "output.checkpoint.every_steps=1"])), 0);
    let solo = Communicator::solo();
    let out = case.path("out");
    let (before, newest) = (out.join("checkpoint-000001.h5"), out.join("checkpoint-000002.h5"));
    let rows = |particles: &hilbrium::particles::Particles| -> Vec<Vec<u64>> {
        let fields = particles.fields().to_vec();
        let columns = fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c)));
        columns
            .map(|(field, c)| particles.component(field, c).iter().map(|x| x.to_bits()).collect())
            .collect()
    };
    let (_, kept) = read_checkpoint(&before, &solo).expect("whole");
    let kept = (kept.id.clone(), rows(&kept));
    let whole = std::fs::read(&newest).expect("a file");
    const PAGE: usize = 4096;
    assert!(whole.len() > 50 * PAGE, "{} bytes", whole.len());
    let within = [
        1,
        7,
        511,
        512,
        4095,
        4097,
        whole.len() / 3,
        whole.len() - 33,
        whole.len() - 32,
        whole.len() - 31,
        whole.len() - 1,
    ];
    for length in (0..whole.len()).step_by(PAGE).chain(within) {
        std::fs::write(&newest, &whole[..length]).expect("a cut file");
        let refused = read_checkpoint(&newest, &solo).expect_err("it is cut").to_string();
        assert!(
            refused.contains("use the previous checkpoint") && refused.contains("000001.h5"),
            "{refused}"
        );
        assert_eq!(find_latest(&out, &solo).expect("the one before"), before, "cut to {length}");
        // the rest of a page that was never written is zeros
        std::fs::write(&newest, [&whole[..length], &vec![0; whole.len() - length]].concat()).expect("a file");
        assert_eq!(find_latest(&out, &solo).expect("the one before"), before, "zeros from {length}");
    }
    for ranks in [1, 3] {
        let restored = run_local(ranks, |comm| read_checkpoint(&out, &comm).expect("the one before"));
        assert!(restored.iter().all(|(state, _)| state.step == 1));
        if ranks == 1 {
            assert!((restored[0].1.id.clone(), rows(&restored[0].1)) == kept, "other bits");
        }
    }
    // the program itself takes the same way
    let output = case.command(&["run", "deck.toml", "--set", "run.steps=3", "--restart", "out"]).output();
    let output = output.expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("checkpoint-000001.h5"));
}
