//! HDF5 files of other programs: what they state is read as they state it, or refused with the reason.

use crate::common::skip;
use hdf5::{File, Group, H5Type};
use hilbrium::comm::run_local;
use hilbrium::particles::{Field, Particles};
use hilbrium::snapshot::{Header, info, particle_count, read_header, read_snapshot, read_snapshot_slice};
use hilbrium::space::{Boundary, Vec3d};
use hilbrium::{Error, Result};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Particles along an edge, and the edge of the box.
const SIDE: usize = 8;
const COUNT: usize = SIDE * SIDE * SIDE;
const EDGE: f64 = 14.0;

/// A new file, which may be read while it is open here: the reader does not lock either.
fn created(path: &Path) -> File {
    let mut options = File::with_options();
    options.with_fapl(|access| access.file_locking(false));
    options.create(path).unwrap()
}

/// A file in the making.
struct Start {
    folder: TempDir,
    file: File,
}

impl Start {
    /// Gas on a lattice of 8^3 in [0, 14)^3, each particle of mass 3 and velocity (1, 1, 1), in single precision as Gadget writes
    /// it; the header has the counts and a box.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let start = Self { file: created(&folder.path().join("start.hdf5")), folder };
        start.file.create_group("Header").unwrap();
        start.file.create_group("PartType0").unwrap();
        start.set("Header", "NumPart_ThisFile", &[COUNT as f64, 0.0, 0.0, 0.0, 0.0, 0.0]);
        start.set("Header", "BoxSize", &[EDGE]);
        let step = EDGE / SIDE as f64;
        let cell = |row: usize, d: usize| [row / (SIDE * SIDE), row / SIDE % SIDE, row % SIDE][d];
        let place = |k: usize| ((cell(k / 3, k % 3) as f64 + 0.5) * step) as f32;
        start.write("Coordinates", &[COUNT, 3], &(0..3 * COUNT).map(place).collect::<Vec<_>>());
        start.write("Velocities", &[COUNT, 3], &[1.0f32; 3 * COUNT]);
        start.write("Masses", &[COUNT], &[3.0f32; COUNT]);
        start.write("InternalEnergy", &[COUNT], &[2.0f32; COUNT]);
        start.write("ParticleIDs", &[COUNT], &(1..=COUNT as u32).collect::<Vec<_>>());
        start
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("start.hdf5")
    }

    fn group(&self, name: &str) -> Group {
        self.file.group(name).unwrap_or_else(|_| self.file.create_group(name).unwrap())
    }

    fn gas(&self) -> Group {
        self.group("PartType0")
    }

    /// An attribute of a group or dataset: a scalar where it is one number.
    fn set(&self, place: &str, name: &str, values: &[f64]) -> &Self {
        let dataset = self.file.dataset(place).ok();
        let group = dataset.is_none().then(|| self.group(place));
        let location: &hdf5::Location = match (&dataset, &group) {
            (Some(dataset), _) => dataset,
            (_, Some(group)) => group,
            _ => unreachable!("one of both"),
        };
        let _ = location.delete_attr(name);
        match values {
            [value] => location.new_attr::<f64>().create(name).unwrap().write_scalar(value).unwrap(),
            _ => location
                .new_attr::<f64>()
                .shape([values.len()])
                .create(name)
                .unwrap()
                .write_raw(values)
                .unwrap(),
        }
        self
    }

    fn text(&self, place: &str, name: &str, value: &str) -> &Self {
        let group = self.group(place);
        let _ = group.delete_attr(name);
        let text: hdf5::types::VarLenUnicode = value.parse().unwrap();
        group.new_attr::<hdf5::types::VarLenUnicode>().create(name).unwrap().write_scalar(&text).unwrap();
        self
    }

    fn without(&self, place: &str, name: &str) -> &Self {
        self.group(place).delete_attr(name).unwrap();
        self
    }

    fn drop_dataset(&self, name: &str) -> &Self {
        self.gas().unlink(name).unwrap();
        self
    }

    /// A dataset of the gas, in place of the one there was.
    fn write<T: H5Type>(&self, name: &str, shape: &[usize], values: &[T]) -> &Self {
        let _ = self.gas().unlink(name);
        self.gas().new_dataset::<T>().shape(shape).create(name).unwrap().write_raw(values).unwrap();
        self
    }

    /// A dataset of the gas that is created and not written.
    fn unwritten(&self, name: &str, shape: &[usize]) -> &Self {
        let _ = self.gas().unlink(name);
        self.gas().new_dataset::<f64>().shape(shape).create(name).unwrap();
        self
    }

    /// A dataset of three numbers a row, of which only the first chunk is written, with fours.
    fn half_written(&self, name: &str, written: usize, rows: usize) -> &Self {
        let _ = self.gas().unlink(name);
        let extents = (hdf5::Extent::resizable(written), hdf5::Extent::fixed(3));
        let builder = self.gas().new_dataset::<f64>().shape(extents).chunk([written, 3]);
        let dataset = builder.create(name).unwrap();
        dataset.write_raw(&vec![4.0; 3 * written]).unwrap();
        dataset.resize((rows, 3)).unwrap();
        self
    }

    /// What is read, alone and on two ranks, where it must be the same.
    fn read(&self) -> Result<(Header, Particles)> {
        self.file.flush().unwrap();
        let path = self.path();
        let read = read_snapshot(&path);
        for part in run_local(2, |comm| read_snapshot_slice(&path, &comm)) {
            match (&read, part) {
                (Ok((header, _)), Ok((other, _))) => assert_eq!(*header, other),
                (Err(_), Err(_)) => {}
                (whole, part) => panic!("{:?} alone, {:?} on a rank", whole.is_ok(), part.map(|_| ())),
            }
        }
        read
    }

    fn header(&self) -> Header {
        self.read().unwrap_or_else(|error| panic!("{error}")).0
    }

    /// See that it is refused for this reason, and not called damaged.
    fn refused(&self, words: &str) {
        let error = self.read().expect_err(words);
        assert!(matches!(error, Error::Content { .. }), "{error}");
        let told = error.to_string();
        assert!(
            told.contains(words) && told.contains("help: ") && !told.contains("damaged"),
            "{words}: {told}"
        );
        assert!(!told.contains("copy the file"), "{told}");
    }

    fn info(&self) -> String {
        self.file.flush().unwrap();
        info(&self.path()).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn has_note(header: &Header, words: &str) {
    assert!(
        header.stated.notes.iter().any(|note| note.contains(words)),
        "{words}: {:?}",
        header.stated.notes
    );
}

fn near(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-6, "{a} is not {b}");
}

/// Total mass, center of mass in x, kinetic energy.
fn sums(particles: &Particles) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for row in particles.owned() {
        let mass = particles.scalar(Field::Mass)[row];
        sums[0] += mass;
        sums[1] += mass * particles.component(Field::Position, 0)[row];
        sums[2] += 0.5 * mass * particles.vector_at(Field::Velocity, row).norm_squared();
    }
    [sums[0], sums[1] / sums[0], sums[2]]
}

#[test]
fn a_stated_box_is_returned_as_it_is_stated() {
    let start = Start::new();
    for (numbers, edges) in [(&[EDGE][..], [EDGE; 3]), (&[14.0, 15.0, 16.5][..], [14.0, 15.0, 16.5])] {
        start.set("Header", "BoxSize", numbers);
        // on the upper edge and beyond both
        let coordinates = start.gas().dataset("Coordinates").unwrap();
        let mut values: Vec<f32> = coordinates.read_raw().unwrap();
        (values[0], values[4], values[8]) = (14.0, -3.0, 99.0);
        coordinates.write_raw(&values).unwrap();
        let (header, particles) = start.read().unwrap();
        assert_eq!((header.bx.lower, header.bx.upper), (Vec3d::zeros(), Vec3d::from(edges)));
        assert_eq!(header.bx.boundary, [Boundary::Open; 3]);
        assert!(header.stated.bx && !header.stated.boundary && !header.stated.units);
        assert_eq!(particles.component(Field::Position, 0)[0], 14.0);
        assert_eq!(particles.component(Field::Position, 2)[2], 99.0);
        let told = start.info();
        assert!(
            told.contains("box         [0, 14) x [0, 1") && told.contains("boundary    not stated"),
            "{told}"
        );
    }
}

#[test]
fn a_box_that_cannot_be_is_refused() {
    let start = Start::new();
    for numbers in [&[-14.0][..], &[f64::NAN], &[f64::INFINITY], &[14.0, 0.0, 14.0], &[14.0, -1.0, 14.0]] {
        start.set("Header", "BoxSize", numbers).refused("an edge is not positive");
    }
    start.set("Header", "BoxSize", &[14.0, 14.0]).refused("not three-dimensional");
    start.set("Header", "BoxSize", &[14.0; 4]).refused("has 4 numbers");
    start.text("Header", "BoxSize", "14 kpc").refused("Header/BoxSize is the text \"14 kpc\"");
    start.set("Header", "BoxSize", &[14.0]).set("Config", "LONG_X_BITS", &[2.0]).refused("LONG_X_BITS");
}

#[test]
fn a_file_without_box_has_none() {
    let start = Start::new();
    for numbers in [&[0.0][..], &[0.0; 3], &[]] {
        match numbers {
            [] => start.without("Header", "BoxSize"),
            _ => start.set("Header", "BoxSize", numbers),
        };
        let (header, particles) = start.read().unwrap();
        assert!(!header.stated.bx && header.bx.boundary == [Boundary::Open; 3]);
        let inside = |row: usize| {
            let place = particles.vector_at(Field::Position, row);
            (0..3).all(|d| header.bx.lower[d] <= place[d] && place[d] < header.bx.upper[d])
        };
        assert!(particles.owned().all(inside));
        let told = start.info();
        assert!(told.contains("box         none\n") && told.contains("boundary    not stated\n"), "{told}");
        assert!(!read_header(&start.path()).unwrap().stated.bx);
    }
    start.text("Parameters", "InitialConditions:periodic", "1").refused("periodic, but not how large");
    start.text("Parameters", "InitialConditions:periodic", "0");
    assert!(start.header().stated.boundary && start.info().contains("boundary    open\n"));
}

#[test]
fn boundaries_are_those_that_the_file_states() {
    let boundary = |start: &Start| {
        let header = start.header();
        (header.bx.boundary, header.stated.boundary)
    };
    let (open, periodic) = ([Boundary::Open; 3], [Boundary::Periodic; 3]);
    let start = Start::new();
    start.text("Parameters", "InitialConditions:periodic", "1");
    assert_eq!(boundary(&start), (periodic, true));
    assert!(start.info().contains("box         [0, 14) periodic"), "{}", start.info());
    start.set("RuntimePars", "PeriodicBoundariesOn", &[0.0]).refused("says that it is periodic");
    let start = Start::new();
    start.set("RuntimePars", "PeriodicBoundariesOn", &[0.0]);
    assert_eq!(boundary(&start), (open, true));
    let start = Start::new();
    // as h5py writes True
    start
        .group("RuntimePars")
        .new_attr::<bool>()
        .create("PeriodicBoundariesOn")
        .unwrap()
        .write_scalar(&true)
        .unwrap();
    assert_eq!(boundary(&start), (periodic, true));
    let start = Start::new();
    start.text("Config", "PERIODIC", "");
    assert_eq!(boundary(&start), (periodic, true));
    let start = Start::new();
    start.set("Header", "Periodic", &[1.0, 0.0, 1.0]);
    assert_eq!(boundary(&start), ([Boundary::Periodic, Boundary::Open, Boundary::Periodic], true));
    start.set("Header", "Periodic", &[2.0]).refused("Header/Periodic is [2");
}

/// The exponents of a and h at the datasets, as Gadget-4 and Arepo write them.
fn exponents(start: &Start, names: [&str; 2], h: [f64; 2]) {
    let [length, mass] = h;
    for (dataset, a, h) in [("Coordinates", 1.0, length), ("Velocities", 0.5, 0.0), ("Masses", 0.0, mass)] {
        let place = format!("PartType0/{dataset}");
        start.set(&place, names[0], &[a]).set(&place, names[1], &[h]);
    }
    start.set("PartType0/InternalEnergy", names[0], &[0.0]).set("PartType0/InternalEnergy", names[1], &[0.0]);
}

#[test]
fn gadget4_snapshots_become_physical() {
    let start = Start::new();
    start.set("Header", "Time", &[0.5]).set("Header", "Redshift", &[1.0]);
    start.set("Parameters", "Omega0", &[0.308]).set("Parameters", "HubbleParam", &[0.7]);
    start.set("Parameters", "ComovingIntegrationOn", &[1.0]);
    start.set("Parameters", "UnitLength_in_cm", &[3.085678e24]).set(
        "Parameters",
        "UnitMass_in_g",
        &[1.989e43],
    );
    start.set("Parameters", "UnitVelocity_in_cm_per_s", &[1e5]);
    exponents(&start, ["a_scaling", "h_scaling"], [-1.0, -1.0]);
    let (header, particles) = start.read().unwrap();
    near(header.bx.upper[0], 10.0);
    let [mass, center, kinetic] = sums(&particles);
    near(mass, 2194.2857142857);
    near(center, 5.0);
    near(kinetic, 1645.7142857143);
    has_note(&header, "converted from comoving to physical units with a = 0.5, h = 0.7");
    assert_eq!(header.units, [1.989e43, 3.085678e24, 3.085678e24 / 1e5]);
    assert!(header.stated.units && start.info().contains("note        converted"));

    // masses in the header's table have the same factor
    start.drop_dataset("Masses").set("Header", "MassTable", &[3.0, 0.0, 0.0]);
    near(sums(&start.read().unwrap().1)[0], 2194.2857142857);
    start.without("Parameters", "HubbleParam").refused("does not state h");
    start.set("Parameters", "HubbleParam", &[70.0]).refused("not above 0 and at most 2");
    start
        .set("Parameters", "HubbleParam", &[0.7])
        .set("Header", "Redshift", &[2.0])
        .refused("Header/Redshift is 2");
    start
        .set("Header", "Redshift", &[1.0])
        .set("Header", "ComovingIntegrationOn", &[0.0])
        .refused("that it is not");
    // a run that is not comoving has the exponents too
    start.set("Parameters", "ComovingIntegrationOn", &[0.0]);
    assert_eq!(start.header().bx.upper[0], EDGE);
    start.set("Parameters", "ComovingIntegrationOn", &[1.0]).without("Header", "ComovingIntegrationOn");
    start.gas().dataset("Coordinates").unwrap().delete_attr("h_scaling").unwrap();
    start.refused("exponent of only one");
}

#[test]
fn swift_snapshots_become_physical() {
    let start = Start::new();
    start.set("Cosmology", "Cosmological run", &[1.0]).set("Policy", "cosmological integration", &[1.0]);
    start.set("Cosmology", "h", &[0.7]).set("Header", "Scale-factor", &[0.5]).set(
        "Header",
        "Redshift",
        &[1.0],
    );
    // internal time, no scale factor
    start.set("Header", "Time", &[0.006]);
    exponents(&start, ["a-scale exponent", "h-scale exponent"], [0.0, 0.0]);
    let (header, particles) = start.read().unwrap();
    near(header.bx.upper[0], 7.0);
    let [mass, center, kinetic] = sums(&particles);
    near(mass, 1536.0);
    near(center, 3.5);
    near(kinetic, 0.5 * 2304.0);
    start.set("PartType0/Velocities", "Value stored as physical", &[1.0]);
    near(sums(&start.read().unwrap().1)[2], 2304.0);
    // what does not state its exponents is read in Gadget's units where these are known
    start.write("Pressure", &[COUNT], &[1.0f64; COUNT]);
    let (header, particles) = start.read().unwrap();
    has_note(&header, "PartType0/Pressure is left out");
    assert!(!particles.has(Field::Pressure));
    start.set("Policy", "cosmological integration", &[0.0]).refused("says that it is cosmological");
}

#[test]
fn gizmo_snapshots_become_physical() {
    let start = Start::new();
    start.set("Header", "Time", &[0.5]).set("Header", "Redshift", &[1.0]).set(
        "Header",
        "HubbleParam",
        &[0.7],
    );
    start.set("Header", "ComovingIntegrationOn", &[1.0]).set("Header", "Omega_Matter", &[0.3]);
    // GIZMO has divided these by h
    start.set("Header", "UnitLength_In_CGS", &[3e21 / 0.7]).set("Header", "UnitMass_In_CGS", &[2e43 / 0.7]);
    start.set("Header", "UnitVelocity_In_CGS", &[1e5]);
    let (header, particles) = start.read().unwrap();
    near(header.bx.upper[0], 10.0);
    near(sums(&particles)[2], 1645.7142857143);
    for (unit, expected) in header.units.iter().zip([2e43, 3e21, 3e16]) {
        near(*unit, expected);
    }
    start.set("Header", "ComovingIntegrationOn", &[0.0]);
    let header = start.header();
    near(header.units[1], 3e21 / 0.7);
    assert_eq!(header.bx.upper[0], EDGE);
}

#[test]
fn gadget2_files_are_cosmological_where_time_is_the_scale_factor() {
    let start = Start::new();
    start.set("Header", "Omega0", &[0.3]).set("Header", "HubbleParam", &[0.7]);
    start.set("Header", "Time", &[1.0 / 64.0]).set("Header", "Redshift", &[63.0 + 1e-8]);
    near(start.header().bx.upper[0], EDGE / 64.0 / 0.7);
    // isolated starts have the parameters too
    for time in [0.0, 2.5] {
        start.set("Header", "Time", &[time]).set("Header", "Redshift", &[0.0]);
        let (header, particles) = start.read().unwrap();
        assert_eq!((header.bx.upper[0], header.time), (EDGE, time));
        near(sums(&particles)[0], 1536.0);
        has_note(&header, "read as it stands, as an isolated system");
    }
    start.set("Header", "Redshift", &[3.0]).refused("whether it is cosmological is open");
    start.without("Header", "Redshift").refused("whether it is cosmological is open");
    start.set("Header", "Time", &[0.0]);
    assert_eq!(start.header().bx.upper[0], EDGE);
    start.set("Header", "Omega0", &[0.0]).set("Header", "Time", &[0.5]).set("Header", "Redshift", &[1.0]);
    start.refused("whether it is cosmological is open");
    start.set("Header", "ComovingIntegrationOn", &[0.0]);
    assert_eq!(start.header().bx.upper[0], EDGE);
}

#[test]
fn files_of_fewer_dimensions_are_refused() {
    let start = Start::new();
    start.set("Header", "Dimension", &[3.0]);
    start.header();
    start.set("Header", "Dimension", &[2.0]).refused("it is not three-dimensional: Header/Dimension is 2");
    start.without("Header", "Dimension").text("Config", "TWODIMS", "").refused("not three-dimensional");
    let start = Start::new();
    start.write("Coordinates", &[COUNT, 2], &[1.0; 2 * COUNT]).refused("not three-dimensional");
    start.write("Coordinates", &[COUNT], &[1.0; COUNT]).refused("not three-dimensional");
}

#[test]
fn values_that_cannot_be_are_refused_with_their_row() {
    let wrong = |name: &str, row: usize, value: f32, words: &str| {
        let start = Start::new();
        let dataset = start.gas().dataset(name).unwrap();
        let mut values: Vec<f32> = dataset.read_raw().unwrap();
        let width = values.len() / COUNT;
        values[width * row] = value;
        dataset.write_raw(&values).unwrap();
        start.refused(words);
    };
    wrong("InternalEnergy", 77, -2.0, "PartType0/InternalEnergy of row 77 is -2");
    wrong("Masses", 500, 0.0, "PartType0/Masses of row 500 is 0");
    wrong("Masses", 3, f32::NAN, "PartType0/Masses of row 3 is NaN");
    wrong("Velocities", 511, f32::INFINITY, "PartType0/Velocities of row 511 is inf");
    wrong("Coordinates", 9, f32::NAN, "PartType0/Coordinates of row 9 is NaN");
    let start = Start::new();
    let mut ids: Vec<f64> = (0..COUNT).map(|k| k as f64).collect();
    start.write("ParticleIDs", &[COUNT], &ids);
    assert_eq!(start.read().unwrap().1.id[511], 511);
    ids[7] = 7.5;
    start.write("ParticleIDs", &[COUNT], &ids).refused("PartType0/ParticleIDs of row 7 is 7.5");
    start.text("Header", "Time", "now").refused("Header/Time is the text");
}

#[test]
fn what_was_never_written_is_read_as_hdf5_reads_it() {
    let start = Start::new();
    start.unwritten("Velocities", &[COUNT, 3]);
    let _ = start.gas().unlink("InternalEnergy");
    start.gas().new_dataset::<f64>().shape([COUNT]).fill_value(2.5f64).create("InternalEnergy").unwrap();
    let (header, particles) = start.read().unwrap();
    assert!(particles.component(Field::Velocity, 1).iter().all(|velocity| *velocity == 0.0));
    assert!(particles.scalar(Field::InternalEnergy).iter().all(|energy| *energy == 2.5));
    has_note(&header, "PartType0/Velocities was created and never written: read as HDF5's fill value, 0");
    has_note(
        &header,
        "PartType0/InternalEnergy was created and never written: read as HDF5's fill value, 2.5",
    );
    // compressed ones have all their chunks
    start.drop_dataset("Masses");
    let packed =
        start.gas().new_dataset::<f64>().shape([COUNT]).chunk([100]).deflate(9).create("Masses").unwrap();
    packed.write_raw(&[3.0; COUNT]).unwrap();
    assert!(!start.header().stated.notes.iter().any(|note| note.contains("Masses")));
    // one of two chunks
    let _ = start.gas().unlink("Velocities");
    start.half_written("Velocities", COUNT / 2, COUNT);
    let (header, particles) = start.read().unwrap();
    assert_eq!(particles.component(Field::Velocity, 0)[..COUNT / 2], [4.0; COUNT / 2]);
    assert_eq!(particles.component(Field::Velocity, 0)[COUNT / 2..], [0.0; COUNT / 2]);
    has_note(&header, "PartType0/Velocities was written only partly");

    start.unwritten("Masses", &[COUNT]).refused("never written");
    start
        .write("Masses", &[COUNT], &[1.0; COUNT])
        .unwritten("ParticleIDs", &[COUNT])
        .refused("never written");
    start.drop_dataset("ParticleIDs").unwritten("Coordinates", &[COUNT, 3]).refused("never written");
    // rows that nothing stores take no memory
    let many = 1usize << 40;
    start.set("Header", "NumPart_ThisFile", &[many as f64]);
    start.unwritten("Coordinates", &[many, 3]).refused("never written");
    start.unwritten("Masses", &[many]).unwritten("InternalEnergy", &[many]).refused("never written");
    start.half_written("Coordinates", 64, many).refused("only partly written");

    let start = Start::new();
    start.drop_dataset("Velocities");
    let never = hdf5::plist::dataset_create::FillTime::Never;
    start.gas().new_dataset::<f64>().shape([COUNT, 3]).fill_time(never).create("Velocities").unwrap();
    start.refused("no fill value");
}

#[test]
fn datasets_in_other_files_are_read_where_these_are_there() {
    let start = Start::new();
    let raw = start.folder.path().join("masses.raw");
    let name = raw.to_str().unwrap();
    let _ = start.gas().unlink("Masses");
    start.gas().new_dataset::<f64>().shape([COUNT]).external(name, 8, 8 * COUNT).create("Masses").unwrap();
    start.refused("PartType0/Masses lies in another file, ");
    let bytes: Vec<u8> = (0..=COUNT).flat_map(|k| (k as f64 + 0.5).to_le_bytes()).collect();
    std::fs::write(&raw, &bytes).unwrap();
    let masses = start.read().unwrap().1;
    assert!(masses.scalar(Field::Mass).iter().enumerate().all(|(k, mass)| *mass == k as f64 + 1.5));
    // HDF5 would give zeros for what is not there
    std::fs::write(&raw, &bytes[..bytes.len() - 8]).unwrap();
    start.refused("of which 4096 from byte 8 are needed");
    std::fs::remove_file(&raw).unwrap();
    std::fs::create_dir(&raw).unwrap();
    start.refused("is not a regular file");

    // a link into another file
    let start = Start::new();
    let other = created(&start.folder.path().join("other.hdf5"));
    let group = other.create_group("a").unwrap();
    group.new_dataset::<f64>().shape([COUNT]).create("m").unwrap().write_raw(&[7.0; COUNT]).unwrap();
    other.close().unwrap();
    drop(group);
    start.drop_dataset("Masses").gas().link_external("other.hdf5", "/a/m", "Masses").unwrap();
    assert_eq!(start.read().unwrap().1.scalar(Field::Mass)[3], 7.0);
    std::fs::rename(start.folder.path().join("other.hdf5"), start.folder.path().join("gone.hdf5")).unwrap();
    start.refused("PartType0/Masses lies in another file, other.hdf5, which is not there");
    start.drop_dataset("Masses").gas().link_external("gone.hdf5", "/a/n", "Masses").unwrap();
    start.refused("which has no /a/n");
    start.drop_dataset("Masses").gas().link_external("start.hdf5", "/PartType0/Masses", "Masses").unwrap();
    start.refused("from file to file without end");
    // a link within the file
    start.drop_dataset("Masses").gas().link_soft("/PartType0/InternalEnergy", "Masses").unwrap();
    assert_eq!(start.read().unwrap().1.scalar(Field::Mass)[3], 2.0);
    start.drop_dataset("Masses").gas().link_soft("/nowhere", "Masses").unwrap();
    start.refused("PartType0/Masses is a link to /nowhere");
}

#[test]
fn a_pipe_behind_a_link_is_not_waited_for() {
    let start = Start::new();
    let pipe = std::ffi::CString::new(start.folder.path().join("pipe").to_str().unwrap()).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    start.drop_dataset("Masses").gas().link_external("pipe", "/m", "Masses").unwrap();
    start.refused("is not a regular file");
    start.drop_dataset("Masses");
    let name = pipe.to_str().unwrap();
    start.gas().new_dataset::<f64>().shape([COUNT]).external(name, 0, 8 * COUNT).create("Masses").unwrap();
    start.refused("is not a regular file");
}

/// A virtual dataset of velocities from two files of 300 and 212 rows, as SWIFT writes for a snapshot of several files.
fn virtual_velocities(start: &Start, names: [&str; 2], rows: [usize; 2]) {
    let _ = start.gas().unlink("Velocities");
    let mut builder = start.gas().new_dataset::<f64>().shape([COUNT, 3]);
    let mut first = 0;
    for (name, rows) in names.iter().zip(rows) {
        builder = builder.virtual_map(
            name,
            "/v",
            (rows, 3),
            (0..rows, 0..3),
            (COUNT, 3),
            (first..first + rows, 0..3),
        );
        first += rows;
    }
    builder.create("Velocities").unwrap();
}

#[test]
fn virtual_datasets_are_read_where_all_parts_are_there() {
    let start = Start::new();
    let part = |name: &str, rows: usize, value: f64| {
        let file = created(&start.folder.path().join(name));
        let dataset = file.new_dataset::<f64>().shape([rows, 3]).create("v").unwrap();
        dataset.write_raw(&vec![value; 3 * rows]).unwrap();
    };
    part("a.hdf5", 300, 1.0);
    virtual_velocities(&start, ["a.hdf5", "b.hdf5"], [300, 212]);
    start.refused("PartType0/Velocities lies in another file, b.hdf5, which is not there");
    part("b.hdf5", 212, 2.0);
    let velocities = start.read().unwrap().1;
    let column = velocities.component(Field::Velocity, 2);
    assert!(column[..300].iter().all(|v| *v == 1.0) && column[300..].iter().all(|v| *v == 2.0));
    part("b.hdf5", 100, 2.0);
    let error = start.read().unwrap_err().to_string();
    assert!(error.contains("a part of PartType0/Velocities is not in /v of b.hdf5"), "{error}");
    virtual_velocities(&start, ["a.hdf5", "b.hdf5"], [300, 100]);
    start.refused("last rows are in none of its parts");
    // the same rows twice would make many of few
    virtual_velocities(&start, ["a.hdf5", "a.hdf5"], [300, 212]);
    start.refused("more than once");
}

#[test]
fn units_are_those_that_the_file_states() {
    let swift = ["Unit mass in cgs (U_M)", "Unit length in cgs (U_L)", "Unit time in cgs (U_t)"];
    let start = Start::new();
    assert!(!start.header().stated.units && start.info().contains("units       not stated"));
    for (name, value) in swift.iter().zip([1.989e43, 3.0857e21, 3.0857e16]) {
        start.set("Units", name, &[value]);
    }
    let header = start.header();
    assert_eq!((header.units, header.stated.units), ([1.989e43, 3.0857e21, 3.0857e16], true));
    assert!(start.info().contains("units       1.989e43 g, 3.0857e21 cm, 3.0857e16 s"));
    for value in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        start.set("Units", swift[0], &[value]).refused("its unit Units/Unit mass in cgs (U_M) is");
    }
    start.without("Units", swift[0]).refused("without Unit mass in cgs (U_M)");
    start.set("Units", swift[0], &[1.989e43]);
    for (name, value) in
        [("UnitMass_in_g", 1.989e43), ("UnitLength_in_cm", 3.0857e21), ("UnitVelocity_in_cm_per_s", 1e5)]
    {
        start.set("Header", name, &[value]);
    }
    assert!(start.header().stated.units);
    start.set("Header", "UnitLength_in_cm", &[1.0]).refused("its units are");
}

#[test]
fn what_is_left_out_is_told() {
    let start = Start::new();
    start.set("Header", "NumPart_ThisFile", &[COUNT as f64, 7.0, 0.0, 0.0, 3.0, 0.0]);
    // a group that the header does not count
    let stars = start.file.create_group("PartType5").unwrap();
    stars.new_dataset::<f64>().shape([2, 3]).create("Coordinates").unwrap();
    start.write("MagneticField", &[COUNT, 3], &[0.0f32; 3 * COUNT]);
    let header = start.header();
    let expected =
        [("PartType1", 7), ("PartType4", 3), ("PartType5", 2)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(header.stated.left_out, expected);
    has_note(&header, "left out of PartType0, because hilbrium has no such fields: MagneticField");
    let told = start.info();
    assert!(
        told.contains("left out    7 particles of PartType1") && told.contains("note        left out"),
        "{told}"
    );
    assert_eq!(particle_count(&start.path()).unwrap(), COUNT as u64);

    // two names of one dataset, and two datasets
    start.gas().link_hard("/PartType0/Velocities", "/PartType0/Velocity").unwrap();
    start.write("Mass", &[COUNT], &[5.0; COUNT]);
    let header = start.header();
    has_note(&header, "PartType0/Mass is left out, because PartType0/Masses is read");
    assert!(!header.stated.notes.iter().any(|note| note.contains("Velocity")), "{:?}", header.stated.notes);
    start.drop_dataset("Mass");

    start.set("Header", "MassTable", &[3.0, 1.0]);
    assert!(!start.header().stated.notes.iter().any(|note| note.contains("MassTable")));
    start.set("Header", "MassTable", &[4.0, 1.0]);
    let (header, particles) = start.read().unwrap();
    near(sums(&particles)[0], 1536.0);
    has_note(&header, "masses are those of PartType0, not 4");

    start.set("Header", "Flag_Entropy_ICs", &[0.0; 6]);
    start.header();
    start.set("Header", "Flag_Entropy_ICs", &[1.0]).refused("entropies in place of internal energies");
    start.without("Header", "Flag_Entropy_ICs").set("Header", "NumFilesPerSnapshot", &[4.0]);
    start.refused("one of 4 files of a snapshot");
    start.set("Header", "NumFilesPerSnapshot", &[1.0]).set("Header", "NumPart_ThisFile", &[12.0]);
    start.refused("header counts 12");
}

#[test]
fn hdf5_of_other_kinds_is_named_for_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.hdf5");
    let named = |make: &dyn Fn(&File), words: &str| {
        let file = File::create(&path).unwrap();
        make(&file);
        file.close().unwrap();
        let told = read_snapshot(&path).unwrap_err().to_string();
        assert!(told.contains(words) && told.contains("help: ") && !told.contains("damaged"), "{told}");
    };
    let groups = |names: &'static [&'static str]| {
        move |file: &File| names.iter().for_each(|name| drop(file.create_group(name).unwrap()))
    };
    named(&groups(&["h5md", "particles"]), "it is a trajectory in H5MD, no snapshot");
    named(&groups(&["Header", "Group", "Subhalo"]), "a catalog of groups and subhalos (Subfind)");
    named(&groups(&["sim info", "unknown names"]), "an output of FLASH");
    named(&groups(&["Grid00000001", "Metadata"]), "an output of Enzo");
    named(
        &|file| file.new_attr::<i64>().create("_NCProperties").unwrap().write_scalar(&1).unwrap(),
        "a NetCDF file",
    );
    named(
        &groups(&["Header", "PartType1", "PartType4"]),
        "no gas particles (PartType0), only PartType1, PartType4",
    );
    named(&groups(&["PartType0"]), "it has no group Header");
    named(&groups(&["b", "a"]), "it has no group PartType0; it has a, b");
    named(&groups(&[]), "it is empty");
    // cut off: HDF5's mark, but not all bytes
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = read_snapshot(&path).unwrap_err();
    assert!(
        matches!(error, Error::Damaged { .. }) && error.to_string().contains("copy the file anew"),
        "{error}"
    );
    std::fs::write(&path, b"hello\n").unwrap();
    let error = read_snapshot(&path).unwrap_err().to_string();
    assert!(error.contains("it is no HDF5 file") && !error.contains("damaged"), "{error}");
}

#[test]
fn generated_files_are_read_as_h5py_reads_them() {
    const FILES: usize = 300;
    let Some(python) = skip::python("to compare with h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/make_hdf5_starts.py");
    let made = std::process::Command::new(python)
        .arg(script)
        .arg(folder.path())
        .arg(FILES.to_string())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = std::fs::read_to_string(folder.path().join("expected.json")).unwrap();
    let expected: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let mut refused = 0;
    for (k, expected) in expected.iter().enumerate() {
        let path = folder.path().join(format!("{k}.hdf5"));
        let read = read_snapshot(&path);
        if let Some(reason) = expected["refused"].as_str() {
            let told = read.expect_err("it cannot be read").to_string();
            // of two reasons either
            let known = [reason, "lacks: lzf", "not three-dimensional", "an edge is not positive"];
            assert!(known.iter().any(|reason| told.contains(reason)), "{k}: {told}");
            refused += 1;
            continue;
        }
        let (header, particles) = read.unwrap_or_else(|error| panic!("{k}: {error}"));
        same_as_expected(&path, expected, &header, &particles);
    }
    eprintln!("{} files read, {refused} refused", FILES - refused);
    assert!((20..FILES - 100).contains(&refused), "{refused}");
}

/// Compares what was read with what h5py makes of a file.
fn same_as_expected(path: &Path, expected: &serde_json::Value, header: &Header, particles: &Particles) {
    let numbers = |name: &str| -> Option<Vec<f64>> {
        Some(expected[name].as_array()?.iter().map(|number| number.as_f64().unwrap()).collect())
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
    assert_eq!(header.stated.bx, numbers("box").is_some(), "{path:?}");
    if let Some(edges) = numbers("box") {
        assert!((0..3).all(|d| header.bx.lower[d] == 0.0 && close(header.bx.upper[d], edges[d])), "{path:?}");
    }
    let ids: Vec<f64> = particles.id.iter().map(|id| *id as f64).collect();
    assert_eq!(Some(ids), numbers("ids"), "{path:?}");
    for (name, field) in [
        ("Coordinates", Field::Position),
        ("Velocities", Field::Velocity),
        ("Masses", Field::Mass),
        ("InternalEnergy", Field::InternalEnergy),
    ] {
        let Some(values) = numbers(name) else {
            assert!(!particles.has(field), "{path:?} {name}");
            continue;
        };
        let width = field.components();
        assert_eq!(values.len(), width * particles.len());
        for (k, value) in values.iter().enumerate() {
            let read = particles.component(field, k % width)[k / width];
            assert!(close(read, *value), "{path:?} {name} of row {}: {read} is not {value}", k / width);
        }
    }
}
