//! Format detection, compressed texts, byte-order marks, and unsupported kinds of files.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

fn compressed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_texts_are_the_same_texts() {
    for (name, text) in [("x.data", LAMMPS), ("x.gro", GRO), ("x.xyz", XYZ)] {
        let plain = parsed(name, text).unwrap();
        for name in [format!("{name}.gz"), name.to_owned(), "start".into(), "start.gz".into(), "X.GZ".into()]
        {
            assert_eq!(parsed(&name, compressed(text.as_bytes())).expect(&name), plain, "{name}");
        }
        // Gzip files may be concatenated.
        let (head, tail) = text.as_bytes().split_at(text.len() / 2);
        assert_eq!(
            parsed(&format!("{name}.gz"), [compressed(head), compressed(tail)].concat()).unwrap(),
            plain
        );
        // The name may be wrong.
        assert_eq!(parsed(&format!("{name}.gz"), text).unwrap(), plain);
    }
}

#[test]
fn damaged_compression_is_told() {
    let rows = "Ar 1 2 3\n".repeat(30_000);
    let whole = compressed(format!("30000\n\n{rows}").as_bytes());
    says(&refusal("x.xyz.gz", &whole[..whole.len() - 20]), &["end too early", "copy it anew"]);
    let mut wrong = whole.clone();
    let sum = wrong.len() - 6;
    wrong[sum] ^= 1;
    says(&refusal("x.xyz.gz", &wrong), &["damaged", "gzip --test"]);
}

/// A decompression bomb costs bounded memory and time.
#[test]
fn text_that_swells_without_bound_is_refused() {
    let blanks = [b"1\n\nAr 1 2 3\n".to_vec(), vec![b'\n'; 32 << 20]].concat();
    let bomb = compressed(&blanks);
    assert!(bomb.len() < 1 << 17);
    says(&refusal("x.xyz.gz", &bomb), &["200 times as long", "gunzip"]);
    // A count is refused if the compressed bytes cannot expand to it.
    says(&refusal("x.xyz.gz", compressed(b"900000000\n\nAr 1 2 3\n")), &["line 1", "more than"]);
}

#[test]
fn marks_of_the_byte_order_are_passed_over_or_told() {
    for (name, text) in [("x.data", LAMMPS), ("x.gro", GRO), ("x.xyz", XYZ)] {
        let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        assert_eq!(parsed(name, &marked).unwrap(), parsed(name, text).unwrap());
        assert_eq!(parsed("start", &marked).unwrap(), parsed(name, text).unwrap());
        let windows = text.replace('\n', "\r\n");
        assert_eq!(parsed(name, windows).unwrap(), parsed(name, text).unwrap());
        let wide: Vec<u8> =
            [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        says(&refusal(name, wide), &["UTF-16", "iconv"]);
    }
}

#[test]
fn kinds_that_are_not_read_are_told_with_their_conversion() {
    let vectors = "10.0 0.0 0.0\n0.0 10.0 0.0\n0.0 0.0 10.0\n";
    let text = |text: &str| text.as_bytes().to_vec();
    let kinds: Vec<(Vec<u8>, &str, &str)> = vec![
        (
            text("ITEM: TIMESTEP\n500\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n"),
            "LAMMPS dump",
            "write_data",
        ),
        (
            text("ITEM: UNITS\nlj\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\n"),
            "LAMMPS dump",
            "lammps-dump-text",
        ),
        (text("LammpS RestartT\0..."), "restart", "-restart2data"),
        (text("units lj\natom_style atomic\nread_data start.data\n"), "script", "write_data"),
        (b"\0\0\x07\xcb\0\0\0\x02".to_vec(), "XTC", "trjconv"),
        (b"\0\0\x07\xc9\0\0\0\x0d".to_vec(), "TRR", "trjconv"),
        (b"\0\x02\x9f\x29\0\0".to_vec(), "checkpoint", "trjconv"),
        (b"\0\0\0\x0d\0\0\0\x0cVERSION 2023\0".to_vec(), "TPR", "editconf"),
        (b"T\0\0\0CORD\0\0\0\0\0".to_vec(), "DCD", "MDAnalysis"),
        (b"CDF\x02\0\0".to_vec(), "NetCDF", "MDAnalysis"),
        (b"\xdf\x65\xdf\x65\xdf\x65\xdf\x65\0".to_vec(), "GSD", "OVITO"),
        (text("- of UlmASE-Trajectory"), "ASE", "-i traj"),
        (text("SQLite format 3\0"), "database", "-i db"),
        (text("{\"1\": {\n \"cell\": 1}}"), "JSON", "-i json"),
        (text("TITLE\nargon\nEND\nPOSITION\n"), "GROMOS96", "editconf"),
        (text("; a topology\n[ defaults ]\n1 2\n"), "topology", "coordinates"),
        (text("@<TRIPOS>MOLECULE\nethane\n"), "MOL2", "obabel"),
        (text("ethane\n\n\n  8  7  0  0  0  0            999 V2000\n"), "MOL", "-i sdf"),
        (text("REMARK a box\nCRYST1   10.000   10.000\nATOM      1  AR  MOL     1\n"), "PDB", "editconf"),
        (text("data_1ABC\n#\n_entry.id 1ABC\n"), "mmCIF", "gemmi"),
        (text("data_argon\n_cell_length_a 5.26\n"), "CIF", "-i cif"),
        (text(&format!("Ar\n1.0\n{vectors}Ar\n4\nDirect\n0 0 0\n")), "POSCAR", "-i vasp"),
        (text(&format!("Ar\n1\n{vectors}Ar\n4\nDirect\n0 0 0\n")), "POSCAR", "-i vasp"),
        (text(&format!("CRYSTAL\nPRIMVEC\n{vectors}PRIMCOORD\n")), "XSF", "-i xsf"),
        (text(&format!("argon\n 0 3 4\n{vectors}Ar 1\n0 0 0\n")), "DL_POLY", "-i dlp4"),
        (text("cube\nof argon\n 1 0 0 0\n 2 5. 0 0\n 2 0 5. 0\n 2 0 0 5.\n"), "cube", "-i cube"),
        (text("# a cell\n%BLOCK LATTICE_CART\n"), "CASTEP", "castep-cell"),
        (text("lattice_vector 5 0 0\natom 0 0 0 Ar\n"), "FHI-aims", "-i aims"),
        (text("PSF EXT\n\n 1 !NTITLE\n"), "topology", "coordinates"),
        (text("%VERSION  VERSION_STAMP = V0001.000\n"), "topology", "coordinates"),
        (text(&format!("argon\n    2\n{}\n", "   1.0000000".repeat(6))), "AMBER", "MDAnalysis"),
        (text("BZh91AY&SY..."), "bzip2", "bunzip2"),
        (b"\xfd7zXZ\0\0\x04".to_vec(), "xz", "unxz"),
        (b"\x28\xb5\x2f\xfd\x04".to_vec(), "zstd", "unzstd"),
        (text("PK\x03\x04"), "ZIP", "unzip"),
    ];
    for (bytes, kind, remedy) in &kinds {
        // For any name, and for any `format` of the deck.
        for name in ["start", "start.gro", "start.xyz", "start.data", "start.txt"] {
            says(&refusal(name, bytes), &["it is ", kind, remedy]);
        }
        let (_folder, path) = written("start", bytes);
        let error =
            read(&path, FileFormat::Gromacs, Hints::default(), |count| 0..count).unwrap_err().to_string();
        says(&error, &[kind, remedy]);
    }
    says(&refusal("start.hdf5.gz", compressed(b"\x89HDF\r\n\x1a\n....")), &["HDF5", "gunzip"]);
    // By name, if the content is not conclusive.
    for (name, kind) in
        [("x.pdb", "PDB"), ("CONTCAR", "VASP"), ("x.lammpstrj", "dump"), ("x.mol2.gz", "MOL2")]
    {
        says(&refusal(name, "nothing\nto see\n"), &[kind]);
    }
}

/// Titles are free: a supported file is not mistaken for an unsupported kind.
#[test]
fn titles_that_look_like_other_kinds_are_titles() {
    for title in
        ["ITEM: TIMESTEP", "ATOM  1", "CRYST1 box", "PSF", "{a: 1}", "TITLE", "data_ and _cell", "[ system ]"]
    {
        assert_eq!(parsed("x.gro", GRO.replace("Argon, t= 0.0", title)).unwrap().title, title);
        assert!(parsed("start", GRO.replace("Argon, t= 0.0", title)).is_ok(), "{title}");
        let data = LAMMPS.replacen("LAMMPS data file via write_data", title, 1);
        assert_eq!(parsed("start", data).unwrap().count, 3);
        let plain = format!("1\n{title}\nAr 1 2 3\n");
        assert_eq!(parsed("start", plain).unwrap().count, 1, "{title}");
    }
}
