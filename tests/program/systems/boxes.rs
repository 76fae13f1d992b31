//! Box and boundary: what the deck says holds, else what the file says; no box is invented where space is periodic.

use super::case::*;

const DATA: &str = "two atoms\n\n2 atoms\n1 atom types\n\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\nAtoms # atomic\n\n\
                    1 1 1.0 1.0 0.1\n2 1 1.0 1.0 9.0\n";
const GRO: &str = "two\n 2\n    1AR      AR    1   1.000   1.000   0.100\n    2AR      AR    2   1.000   1.000   9.000\n  10.0  10.0  10.0\n";

fn xyz(comment: &str) -> String {
    format!("2\n{comment} Properties=species:S:1:pos:R:3\nAr 1 1 0.1\nAr 1 1 9.0\n")
}

const LATTICE: &str = "Lattice=\"10 0 0 0 10 0 0 0 10\"";

/// Two atoms across the edge in z, in every text format: they meet only where z is periodic.
#[test]
fn the_boundary_of_the_deck_holds_in_every_text_format() {
    let case = Case::new("");
    case.write("a.data", DATA).write("a.gro", GRO).write("a.xyz", &xyz(LATTICE));
    case.write("open.xyz", &xyz(&format!("{LATTICE} pbc=\"F F F\"")));
    let slab = "[space]\nboundary = [\"periodic\", \"periodic\", \"open\"]\n";
    let all = "[space]\nboundary = \"periodic\"\n";
    let meet = pair_energy(1.1);
    for (file, more, energy, words) in [
        ("a.data", slab, 0.0, "open (edges of the file; boundary of the deck)"),
        ("a.gro", slab, 0.0, "boundary of the deck"),
        ("a.xyz", slab, 0.0, "boundary of the deck"),
        ("a.data", "", meet, "boundary by the convention"),
        ("a.gro", "", meet, "boundary by the convention"),
        ("a.xyz", "", meet, "periodic"),
        ("open.xyz", "", 0.0, "boundary of the file"),
        ("open.xyz", all, meet, "its boundary (open) is replaced by `boundary` of [space]"),
    ] {
        case.write("deck.toml", &molecules(file, more));
        let log = case.run(&[]);
        assert!(log.contains(words), "{file} {more}: {log}");
        close(case.last("out", "potential_energy"), energy, 12);
        let checked = case.deck("check", &[]).done();
        let line = |text: &str| text.lines().find(|line| line.contains("box: ")).unwrap().to_owned();
        assert_eq!(line(&checked), format!("# {}", line(&log)), "check and run show one box");
    }
}

#[test]
fn a_particle_on_the_upper_periodic_face_is_wrapped() {
    let case = Case::new(&gas("edge.hdf5", "[space]\nboundary = \"periodic\"\n"));
    let moved = |to: f64| {
        move |file: &hdf5::File| {
            let places = file.dataset("PartType0/Coordinates").unwrap();
            let mut all = places.read_raw::<f64>().unwrap();
            all[7 * 3] = to;
            places.write_raw(&all).unwrap();
        }
    };
    gas_file(&case.path("edge.hdf5"), moved(14.0));
    let log = case.run(&[]);
    assert!(log.contains("box: [0, 14) periodic x [0, 14) periodic x [0, 14) periodic"), "{log}");
    let density = case.last("out", "maximum_density");
    gas_file(&case.path("inside.hdf5"), moved(0.0));
    case.run(&["start.file.path=inside.hdf5", "output.directory=inside"]);
    close(density, case.last("inside", "maximum_density"), 14);
    let (header, particles) =
        hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0000.hdf5")).unwrap();
    assert_eq!(header.bx.upper, hilbrium::space::Vec3d::repeat(14.0));
    let row = (0..512).find(|&row| particles.id[row] == 8).unwrap();
    assert_eq!(particles.vector_at(hilbrium::particles::Field::Position, row)[0], 0.0);
}

/// Without a box a periodic run is refused, and each remedy that the error names helps.
#[test]
fn a_periodic_run_needs_a_box_of_deck_or_file() {
    let case = Case::new("");
    gas_file(&case.path("none.hdf5"), |file| file.group("Header").unwrap().delete_attr("BoxSize").unwrap());
    gas_file(&case.path("zero.hdf5"), |file| attribute(file, "Header", "BoxSize", &[0.0]));
    case.write("none.xyz", &xyz(""));
    let periodic = "[space]\nboundary = \"periodic\"\n";
    let corners = "lower = [0.0, 0.0, 0.0]\nupper = [14.0, 14.0, 14.0]\n";
    for (file, deck) in
        [("none.hdf5", gas as fn(&str, &str) -> String), ("zero.hdf5", gas), ("none.xyz", molecules)]
    {
        case.write("deck.toml", &deck(file, periodic));
        for command in ["run", "check"] {
            case.deck(command, &[]).refused(1, &[file, "it has no box", "lower and upper in [space]"]);
        }
        case.write("deck.toml", &deck(file, &format!("{periodic}{corners}")));
        assert!(case.run(&[]).contains("edges of the deck"));
        case.write("deck.toml", &deck(file, ""));
        assert!(case.run(&[]).contains("fitted around the particles"));
    }
}

/// A change of a file, and what it is.
type Change = (&'static str, Box<dyn Fn(&hdf5::File)>);

#[test]
fn box_sizes_that_are_none_are_refused_whatever_the_boundary() {
    let case = Case::new(&gas("bad.hdf5", ""));
    let wrong: [Change; 4] = [
        ("negative", Box::new(|file| attribute(file, "Header", "BoxSize", &[-14.0]))),
        ("not a number", Box::new(|file| attribute(file, "Header", "BoxSize", &[f64::NAN]))),
        ("two numbers", Box::new(|file| attribute(file, "Header", "BoxSize", &[14.0, 14.0]))),
        (
            "a text",
            Box::new(|file| {
                let text: hdf5::types::VarLenUnicode = "14".parse().unwrap();
                attribute(file, "Header", "BoxSize", &[text]);
            }),
        ),
    ];
    for (what, change) in wrong {
        gas_file(&case.path("bad.hdf5"), |file| change(file));
        let told = case.deck("run", &[]);
        assert!(told.error.contains("BoxSize"), "{what}: {}{}", told.output, told.error);
        told.refused(1, &["bad.hdf5"]);
    }
}

/// A file that says that it is periodic, under a deck with gravity: its images act, unless the deck opens the box.
#[test]
fn gravity_in_a_periodic_file_has_images() {
    let case = Case::new(&gas("swift.hdf5", "[gravity]\nsoftening = 0.1\n"));
    gas_file(&case.path("swift.hdf5"), |file| {
        let one: hdf5::types::VarLenUnicode = "1".parse().unwrap();
        attribute(file, "Parameters", "InitialConditions:periodic", &[one]);
    });
    case.run(&[]);
    let log = case.run(&["space.boundary=open"]);
    assert!(log.contains("its boundary (periodic) is replaced"), "{log}");
}

/// Particles beyond an open face widen the open box; a periodic dimension keeps its edge.
#[test]
fn only_open_dimensions_are_widened() {
    let case = Case::new(&molecules(
        "a.xyz",
        "[space]\nboundary = [\"periodic\", \"open\", \"open\"]\nlower = [0, 0, 0]\nupper = [10, 5, 5]\n",
    ));
    case.write("a.xyz", "2\nProperties=species:S:1:pos:R:3\nAr 12.5 1 1\nAr 1 1 9\n");
    let log = case.run(&[]);
    assert!(log.contains("box: [0, 10) periodic x "), "{log}");
    let (header, particles) =
        hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0000.hdf5")).unwrap();
    let places: Vec<_> =
        (0..2).map(|row| particles.vector_at(hilbrium::particles::Field::Position, row)).collect();
    assert!(places.iter().any(|place| (place[0] - 2.5).abs() < 1e-12), "{places:?}");
    assert!(places.iter().all(|place| (0..3).all(|d| place[d] < header.bx.upper[d])), "{places:?}");
}

/// A file in two dimensions that does not say so: all its particles are in a plane.
#[test]
fn gas_in_a_plane_is_refused_whatever_the_file_says() {
    let case = Case::new(&gas("plane.hdf5", ""));
    gas_file(&case.path("plane.hdf5"), |file| {
        let places = file.dataset("PartType0/Coordinates").unwrap();
        let mut all = places.read_raw::<f64>().unwrap();
        all.iter_mut().skip(2).step_by(3).for_each(|z| *z = 0.0);
        places.write_raw(&all).unwrap();
    });
    for command in ["run", "check"] {
        case.deck(command, &[]).refused(1, &["all particles have z = 0", "not three-dimensional"]);
    }
}
