//! Snapshots and checkpoints within one process: round trips, damage, files of others.

use crate::common::snapshots::*;
use hilbrium::comm::{Communicator, run_local};
use hilbrium::particles::{Field, Particles, Role};
use hilbrium::snapshot::*;
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use hilbrium::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const COUNT: usize = 1234;

fn write(path: &Path, ranks: usize) {
    run_local(ranks, |comm| {
        write_snapshot(path, &comm, &particles(&comm, COUNT, FIELDS), &header(), FIELDS).unwrap();
    });
}

fn state() -> CheckpointState {
    CheckpointState {
        step: 77,
        time: 0.1 + 0.7,
        time_step: f64::from_bits(0x3f50_0000_0000_0001),
        bx: SimulationBox {
            lower: Vec3d::new(-0.1, -0.0, 1e-300),
            upper: Vec3d::new(0.3, 5.0, 1.0 / 3.0),
            boundary: [Boundary::Periodic, Boundary::Open, Boundary::Periodic],
        },
        title: "a \"title\" with \u{1f980}".into(),
        deck: "[run]\n".repeat(20_000),
        counters: serde_json::json!({"snapshots": 3, "converged": true}),
        numbers: BTreeMap::from([("energy".into(), -0.1 - 0.2), ("next".into(), f64::INFINITY)]),
        tables: BTreeMap::new(),
    }
}

/// This rank's part of two tables, one of rows and one that the root has alone.
fn tables(comm: &Communicator) -> BTreeMap<String, Table> {
    let root = if comm.is_root() { vec![u64::MAX, 0, 7] } else { Vec::new() };
    let share = 3 * comm.rank() * 40 / comm.size()..3 * (comm.rank() + 1) * 40 / comm.size();
    let share = share.start / 3 * 3..share.end / 3 * 3;
    BTreeMap::from([
        ("counts".into(), Table { width: 1, words: root }),
        ("places".into(), Table { width: 3, words: share.map(|k| (k as u64).rotate_right(3)).collect() }),
    ])
}

/// The owned rows of all ranks, joined.
fn joined(parts: &[Particles], fields: &[Field]) -> (Vec<u64>, Vec<Vec<u64>>) {
    let ids = parts.iter().flat_map(|part| part.id[part.owned()].to_vec()).collect();
    let mut columns = Vec::new();
    for &field in fields {
        for c in 0..field.components() {
            let bits = |part: &Particles| -> Vec<u64> {
                part.component(field, c)[part.owned()].iter().map(|value| value.to_bits()).collect()
            };
            columns.push(parts.iter().flat_map(bits).collect());
        }
    }
    (ids, columns)
}

#[test]
fn a_snapshot_keeps_its_bits_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("one.hdf5");
    write(&first, 1);
    let (ours, read) = read_snapshot(&first).unwrap();
    let stated = Stated { bx: true, boundary: true, units: true, ..Stated::default() };
    assert_eq!(ours, Header { particle_count: COUNT as u64, stated, ..header() });
    let whole = particles(&Communicator::solo(), COUNT, FIELDS);
    let rest: Vec<Field> = FIELDS.iter().copied().filter(|&field| field != Field::Position).collect();
    assert_eq!(joined(std::slice::from_ref(&read), &rest), joined(std::slice::from_ref(&whole), &rest));
    for c in 0..3 {
        let (was, is) =
            (&whole.component(Field::Position, c)[whole.owned()], read.component(Field::Position, c));
        assert!(was.iter().zip(is).all(|(was, is)| (was - is).abs() < 1e-15));
    }
    let bytes = std::fs::read(&first).unwrap();
    // Past the second: no clock's time may be in the bytes.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    for ranks in [2, 3] {
        let path = folder.path().join("many.hdf5");
        write(&path, ranks);
        let differ = std::fs::read(&path).unwrap().iter().zip(&bytes).position(|(a, b)| a != b);
        assert_eq!(differ, None, "{ranks} ranks");
        assert_eq!(bytes.len() as u64, std::fs::metadata(&path).unwrap().len());
        let parts = run_local(ranks, |comm| read_snapshot_slice(&path, &comm).unwrap());
        assert!(parts.iter().all(|(header, _)| *header == ours));
        let parts: Vec<Particles> = parts.into_iter().map(|(_, part)| part).collect();
        assert!(parts.iter().all(|part| part.len().abs_diff(COUNT / ranks) <= 1));
        assert_eq!(joined(&parts, FIELDS), joined(std::slice::from_ref(&read), FIELDS));
    }
    let sidecar = std::fs::read_to_string(folder.path().join("one.xdmf")).unwrap();
    assert!(sidecar.contains("one.hdf5:/PartType0/Coordinates") && sidecar.contains("Time"), "{sidecar}");
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        4,
        "two snapshots, two sidecars, nothing else"
    );
}

#[test]
fn coordinates_lie_in_the_box_also_where_particles_left_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.hdf5");
    let comm = Communicator::solo();
    let mut some = Particles::new(&[Field::Position, Field::Mass], 3);
    some.scalar_mut(Field::Mass).fill(1.0);
    some.set_vector(Field::Position, 0, Vec3d::new(-3.0, 1.0, 0.2));
    some.set_vector(Field::Position, 1, Vec3d::new(4.0, -1e-17, 0.2));
    let mut said = header();
    for boundary in [Boundary::Open, Boundary::Periodic] {
        said.bx = SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [boundary; 3] };
        write_snapshot(&path, &comm, &some, &said, &[]).unwrap();
        let file = hdf5::File::open(&path).unwrap();
        let stored: Vec<f64> = file.dataset("PartType0/Coordinates").unwrap().read_raw().unwrap();
        let edges: Vec<f64> = file.attr_of("Header", "BoxSize");
        assert!(
            stored.iter().enumerate().all(|(k, x)| *x >= 0.0 && *x < edges[k % 3]),
            "{stored:?} {edges:?}"
        );
        drop(file);
        let (read, back) = read_snapshot(&path).unwrap();
        assert_eq!(read.bx.boundary, [boundary; 3]);
        for row in 0..3 {
            let difference = back.vector_at(Field::Position, row) - some.vector_at(Field::Position, row);
            assert!(read.bx.shortest(difference).norm() < 1e-12, "{boundary:?} {row}");
        }
    }
    some.component_mut(Field::Position, 1)[2] = f64::NAN;
    let error = write_snapshot(&path, &comm, &some, &said, &[]).unwrap_err();
    assert!(error.to_string().contains("particle 2"), "{error}");
    let error = write_snapshot(&path, &comm, &some, &said, &[Field::Density]).unwrap_err();
    assert!(error.to_string().contains("density"), "{error}");
    assert!(read_snapshot(&path).is_ok(), "the file that was there is untouched");
}

trait AttributeOf {
    fn attr_of(&self, group: &str, name: &str) -> Vec<f64>;
}
impl AttributeOf for hdf5::File {
    fn attr_of(&self, group: &str, name: &str) -> Vec<f64> {
        self.group(group).unwrap().attr(name).unwrap().read_raw().unwrap()
    }
}

#[test]
fn no_particles_make_a_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.hdf5");
    run_local(2, |comm| {
        let none = Particles::new(FIELDS, 0);
        write_snapshot(&path, &comm, &none, &header(), FIELDS).unwrap();
        let (read, particles) = read_snapshot_slice(&path, &comm).unwrap();
        assert_eq!((read.bx, particles.len()), (header().bx, 0));
        write_checkpoint(folder.path(), &comm, &none, &state()).unwrap();
        read_checkpoint(&find_latest(folder.path(), &comm).unwrap(), &comm).unwrap();
    });
    info(&path).unwrap();
}

#[test]
fn a_checkpoint_keeps_every_bit_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let state_fields: Vec<Field> =
        FIELDS.iter().copied().filter(|field| field.role() == Role::State).collect();
    let strange = |comm: &Communicator| {
        let mut particles = particles(comm, COUNT, FIELDS);
        let start = particles.owned().start;
        for (row, bits) in
            [0x7ff8_dead_beef_0001, 0x8000_0000_0000_0000, 1, 0xfff0_0000_0000_0000].iter().enumerate()
        {
            if comm.is_root() {
                particles.component_mut(Field::Velocity, 1)[start + row] = f64::from_bits(*bits);
            }
        }
        particles
    };
    for writers in [1, 2, 3] {
        let written = run_local(writers, |comm| {
            let particles = strange(&comm);
            let state = CheckpointState { tables: tables(&comm), ..state() };
            write_checkpoint(folder.path(), &comm, &particles, &state).unwrap();
            particles
        });
        for readers in [1, 2, 3, 7] {
            let read = run_local(readers, |comm| {
                let path = find_latest(folder.path(), &comm).unwrap();
                let (read, particles) = read_checkpoint(&path, &comm).unwrap();
                let whole = |table: &Table| comm.all_gather(&table.words).concat();
                for (name, table) in &tables(&Communicator::solo()) {
                    assert_eq!(
                        (read.tables[name].width, &whole(&read.tables[name])),
                        (table.width, &table.words)
                    );
                }
                assert_eq!(CheckpointState { tables: BTreeMap::new(), ..read }, state());
                particles
            });
            assert_eq!(
                joined(&read, &state_fields),
                joined(&written, &state_fields),
                "{writers} to {readers}"
            );
            assert!(read.iter().all(|part| part.fields() == state_fields.as_slice()));
            if readers == writers {
                let counts = |parts: &[Particles]| parts.iter().map(|p| p.owned().len()).collect::<Vec<_>>();
                assert_eq!(counts(&read), counts(&written), "the same rows");
            }
        }
    }
}

#[test]
fn the_last_two_checkpoints_are_kept_and_later_ones_put_aside() {
    let folder = tempfile::tempdir().unwrap();
    let comm = Communicator::solo();
    let some = particles(&comm, 20, FIELDS);
    let names = || {
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    for step in [5, 1_000_000, 20, 30, 40] {
        let path =
            write_checkpoint(folder.path(), &comm, &some, &CheckpointState { step, ..state() }).unwrap();
        assert_eq!(find_latest(folder.path(), &comm).unwrap(), path);
    }
    assert_eq!(names(), ["checkpoint-000030.h5", "checkpoint-000040.h5", "checkpoint-1000000.h5.superseded"]);

    // A damaged newest one: the error names the other, and the search finds it.
    let newest = folder.path().join("checkpoint-000040.h5");
    let whole = std::fs::read(&newest).unwrap();
    std::fs::write(&newest, &whole[..whole.len() / 2]).unwrap();
    let error = read_checkpoint(&newest, &comm).unwrap_err().to_string();
    assert!(
        error.contains("checkpoint-000040.h5") && error.contains("use the previous checkpoint"),
        "{error}"
    );
    assert!(error.contains("checkpoint-000030.h5"), "{error}");
    assert!(find_latest(folder.path(), &comm).unwrap().ends_with("checkpoint-000030.h5"));
    // Who restarts from the folder gets that one, on every rank.
    let steps = run_local(2, |comm| read_checkpoint(folder.path(), &comm).unwrap().0.step);
    assert_eq!(steps, [30, 30]);
    std::fs::write(folder.path().join("checkpoint-000030.h5"), b"").unwrap();
    assert!(matches!(find_latest(folder.path(), &comm), Err(Error::Content { .. } | Error::Damaged { .. })));
    let empty = tempfile::tempdir().unwrap();
    assert!(find_latest(empty.path(), &comm).unwrap_err().to_string().contains("no checkpoint"));
    assert!(find_latest(&empty.path().join("absent"), &comm).is_err());
}

/// Every kind of damage to `path`, by a number: bits flipped all over, and cuts.
fn damages(whole: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut damages = Vec::new();
    for at in (0..whole.len()).step_by(whole.len() / 400).chain(whole.len() - 40..whole.len()) {
        let mut changed = whole.to_vec();
        changed[at] ^= 1 << (at % 8);
        damages.push((format!("bit of byte {at}"), changed));
    }
    for part in 0..60 {
        damages.push((format!("cut {part}"), whole[..whole.len() * part / 60].to_vec()));
    }
    damages.push(("one byte off".into(), whole[..whole.len() - 1].to_vec()));
    damages
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let comm = Communicator::solo();
    let small = CheckpointState { deck: String::new(), ..state() };
    let path = write_checkpoint(folder.path(), &comm, &particles(&comm, 50, FIELDS), &small).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for (what, damaged) in damages(&whole) {
        std::fs::write(&path, damaged).unwrap();
        let read = read_checkpoint(&path, &comm);
        assert!(
            matches!(read, Err(Error::Content { .. } | Error::Damaged { .. })),
            "{what}: {:?}",
            read.map(|_| ())
        );
        if what.ends_with('7') {
            let read = run_local(3, |comm| read_checkpoint(&path, &comm).map(|_| ()));
            assert!(read.iter().all(Result::is_err), "{what}: {read:?}");
        }
    }
}

#[test]
fn a_damaged_snapshot_is_refused_or_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.hdf5");
    let comm = Communicator::solo();
    write_snapshot(&path, &comm, &particles(&comm, 50, FIELDS), &header(), FIELDS).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let (was, particles) = read_snapshot(&path).unwrap();
    for (what, damaged) in damages(&whole) {
        std::fs::write(&path, &damaged).unwrap();
        match read_snapshot(&path) {
            // Only the seal's own mark is hit: what is before it is untouched.
            Ok((header, read)) => {
                assert!(
                    damaged.len() >= whole.len() - 32
                        && damaged[..whole.len() - 32] == whole[..whole.len() - 32],
                    "{what}"
                );
                assert_eq!(
                    (header, joined(&[read], FIELDS)),
                    (was.clone(), joined(std::slice::from_ref(&particles), FIELDS))
                );
            }
            Err(error) => assert!(
                matches!(error, Error::Damaged { .. }) || what.starts_with("cut 0"),
                "{what}: {error}"
            ),
        }
        assert_eq!(info(&path).is_ok(), read_snapshot(&path).is_ok(), "{what}");
    }
}

#[test]
fn a_damaged_file_without_a_seal_never_ends_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.hdf5");
    let comm = Communicator::solo();
    write_snapshot(&path, &comm, &particles(&comm, 50, FIELDS), &header(), FIELDS).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let bare = &whole[..whole.len() - 32];
    let mut refused = 0;
    for (_, damaged) in damages(bare) {
        std::fs::write(&path, damaged).unwrap();
        if let Err(error) = read_snapshot(&path) {
            assert!(matches!(error, Error::Content { .. } | Error::Damaged { .. }), "{error}");
            refused += 1;
        }
    }
    assert!(refused > 60, "{refused}");
}

/// A file as Gadget writes it: single precision, old names, masses from the table, other particle types.
fn gadget(path: &Path, rows: usize) -> hdf5::File {
    let file = hdf5::File::create(path).unwrap();
    let head = file.create_group("Header").unwrap();
    let number = |name: &str, values: &[f64]| {
        head.new_attr::<f64>().shape([values.len()]).create(name).unwrap().write_raw(values).unwrap();
    };
    head.new_attr::<u32>()
        .shape([6])
        .create("NumPart_ThisFile")
        .unwrap()
        .write_raw(&[rows as u32, 9, 0, 0, 0, 0])
        .unwrap();
    number("MassTable", &[0.25, 0.0, 0.0, 0.0, 0.0, 0.0]);
    head.new_attr::<f64>().create("Time").unwrap().write_scalar(&2.5).unwrap();
    head.new_attr::<f64>().create("BoxSize").unwrap().write_scalar(&10.0).unwrap();
    let group = file.create_group("PartType0").unwrap();
    let three: Vec<f32> = (0..3 * rows).map(|k| k as f32 * 0.125).collect();
    group.new_dataset::<f32>().shape([rows, 3]).create("Coordinates").unwrap().write_raw(&three).unwrap();
    group.new_dataset::<f32>().shape([rows, 3]).create("Velocities").unwrap().write_raw(&three).unwrap();
    let ids: Vec<u32> = (0..rows as u32).map(|k| 3 * k + 1).collect();
    group.new_dataset::<u32>().shape([rows]).create("ParticleIDs").unwrap().write_raw(&ids).unwrap();
    let one: Vec<f32> = vec![0.5; rows];
    for name in ["SmoothingLength", "InternalEnergy", "Density"] {
        group
            .new_dataset::<f32>()
            .shape([rows])
            .chunk([4])
            .deflate(4)
            .create(name)
            .unwrap()
            .write_raw(&one)
            .unwrap();
    }
    file
}

#[test]
fn gadget_files_are_read_in_our_conventions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.hdf5");
    gadget(&path, 8).close().unwrap();
    let (header, read) = read_snapshot(&path).unwrap();
    assert_eq!((header.time, header.particle_count), (2.5, 8));
    assert_eq!(header.stated.left_out.iter().map(|(_, count)| count).sum::<u64>(), 9);
    assert_eq!(header.bx.upper, Vec3d::repeat(10.0));
    assert_eq!(read.id, (0..8).map(|k| 3 * k + 1).collect::<Vec<u64>>());
    assert_eq!(read.scalar(Field::Mass), [0.25; 8]);
    assert_eq!(read.scalar(Field::SmoothingLength), [0.25; 8], "Gadget stores the support radius 2h");
    assert_eq!(read.component(Field::Velocity, 2)[1], 5.0 * 0.125);
    let text = info(&path).unwrap();
    assert!(text.contains("another program") && text.contains("9 particles of PartType1"), "{text}");

    // Comoving units: a = 0.5, h = 0.7.
    let file = gadget(&path, 8);
    let head = file.group("Header").unwrap();
    for (name, value) in [("Omega0", 0.3), ("HubbleParam", 0.7), ("Redshift", 1.0)] {
        head.new_attr::<f64>().create(name).unwrap().write_scalar(&value).unwrap();
    }
    head.attr("Time").unwrap().write_scalar(&0.5).unwrap();
    drop(head);
    file.close().unwrap();
    let (header, read) = read_snapshot(&path).unwrap();
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
    near(header.bx.upper[0], 10.0 * 0.5 / 0.7);
    near(read.component(Field::Position, 1)[0], 0.125 * 0.5 / 0.7);
    near(read.component(Field::Velocity, 1)[0], 0.125 * 0.5f64.sqrt());
    near(read.scalar(Field::Mass)[0], 0.25 / 0.7);
    near(read.scalar(Field::Density)[0], 0.5 * 0.7 * 0.7 * 8.0);
}

#[test]
fn impossible_files_of_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.hdf5");
    let refused = |change: &dyn Fn(&hdf5::File), words: &str| {
        let file = gadget(&path, 8);
        change(&file);
        file.close().unwrap();
        for outcome in run_local(2, |comm| read_snapshot_slice(&path, &comm).map(|_| ())) {
            match outcome {
                Err(Error::Content { what, .. }) => assert!(what.contains(words), "{what}"),
                Err(Error::Elsewhere) => {}
                other => panic!("{words}: {other:?}"),
            }
        }
    };
    let again = |file: &hdf5::File, name: &str, shape: &[usize]| {
        file.group("PartType0").unwrap().unlink(name).unwrap();
        file.group("PartType0").unwrap().new_dataset::<f64>().shape(shape).create(name).unwrap()
    };
    refused(&|file| drop(again(file, "Velocities", &[8, 2])), "shape [8, 2]");
    refused(&|file| drop(again(file, "Coordinates", &[8, 3])), "never written");
    refused(&|file| drop(again(file, "Coordinates", &[1 << 50, 3])), "header counts 8");
    refused(&|file| again(file, "Density", &[8]).write_raw(&[f64::NAN; 8]).unwrap(), "is NaN");
    refused(&|file| again(file, "InternalEnergy", &[8]).write_raw(&[f64::INFINITY; 8]).unwrap(), "inf");
    refused(&|file| file.group("PartType0").unwrap().unlink("Coordinates").unwrap(), "Coordinates");
    refused(&|file| file.unlink("PartType0").unwrap(), "no group PartType0");
    refused(
        &|file| file.group("Header").unwrap().attr("MassTable").unwrap().write_raw(&[-1.0; 6]).unwrap(),
        "no masses",
    );
    refused(
        &|file| file.group("Header").unwrap().attr("Time").unwrap().write_scalar(&f64::NAN).unwrap(),
        "Time",
    );
    refused(
        &|file| file.dataset("PartType0/ParticleIDs").unwrap().write_raw(&[4u32; 8]).unwrap(),
        "the id 4 occurs more than once",
    );
    refused(
        &|file| {
            let group = file.group("PartType0").unwrap();
            group.unlink("ParticleIDs").unwrap();
            group
                .new_dataset::<u64>()
                .shape([8])
                .create("ParticleIDs")
                .unwrap()
                .write_raw(&[u64::MAX; 8])
                .unwrap();
        },
        "no id from 0",
    );
    refused(
        &|file| {
            let group = file.group("PartType0").unwrap();
            group.unlink("Density").unwrap();
            let name = "Density";
            let text: hdf5::types::FixedAscii<4> = hdf5::types::FixedAscii::from_ascii(b"abcd").unwrap();
            group
                .new_dataset::<hdf5::types::FixedAscii<4>>()
                .shape([8])
                .create(name)
                .unwrap()
                .write_raw(&[text; 8])
                .unwrap();
        },
        "no numbers",
    );
}

#[test]
fn wrong_paths_have_a_remedy_on_every_rank() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"text, and nothing but text").unwrap();
    let reading: Vec<(PathBuf, &str)> = vec![
        (folder.path().join("absent.hdf5"), "No such file"),
        (folder.path().to_owned(), "directory"),
        ("/dev/zero".into(), "not a regular file"),
        (file.clone(), "cannot be used"),
    ];
    for (path, words) in reading {
        for outcome in run_local(2, |comm| {
            let snapshot = read_snapshot_slice(&path, &comm).map(|_| ()).unwrap_err();
            let checkpoint = read_checkpoint(&path, &comm).map(|_| ()).unwrap_err();
            [snapshot, checkpoint, info(&path).unwrap_err()].map(|error| error.to_string())
        }) {
            assert!(
                outcome.iter().all(|text| text.contains(words) && text.contains("help: ")),
                "{outcome:?}"
            );
        }
    }
    let comm = Communicator::solo();
    let checkpoint = write_checkpoint(folder.path(), &comm, &particles(&comm, 9, FIELDS), &state()).unwrap();
    let error = read_snapshot(&checkpoint).unwrap_err().to_string();
    assert!(error.contains("it is a checkpoint") && error.contains("--restart"), "{error}");
    let snapshot = folder.path().join("s.hdf5");
    write(&snapshot, 1);
    let error = read_checkpoint(&snapshot, &comm).unwrap_err().to_string();
    assert!(error.contains("it is a snapshot"), "{error}");

    // A folder that cannot be made, a target that is a folder, a file system that takes no files.
    for target in [file.join("below/s.hdf5"), folder.path().to_owned(), "/proc/hilbrium/s.hdf5".into()] {
        let outcomes = run_local(3, |comm| {
            write_snapshot(&target, &comm, &particles(&comm, 9, FIELDS), &header(), FIELDS).unwrap_err()
        });
        assert!(matches!(outcomes[0], Error::File { .. }), "{}", outcomes[0]);
        assert!(outcomes[1..].iter().all(|error| matches!(error, Error::Elsewhere)));
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"text, and nothing but text");
}

#[test]
fn info_says_what_a_file_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.hdf5");
    write(&path, 2);
    let text = info(&path).unwrap();
    for words in
        ["snapshot of hilbrium", "verified", "Evrard – Kollaps", "1234", "density", "length^2 time^-2"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    let comm = Communicator::solo();
    let mut some = particles(&comm, 10, FIELDS);
    some.component_mut(Field::Velocity, 0)[70] = f64::NAN;
    let path = write_checkpoint(folder.path(), &comm, &some, &state()).unwrap();
    let text = info(&path).unwrap();
    for words in ["checkpoint of 1 ranks", "step        77", "1 NOT FINITE", "periodic", "viscosity"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
