//! Unsupported file kinds: recognized by content or name, and refused with conversion instructions.

use std::path::Path;

use super::lammps::counts_atoms;
use crate::{Error, Result};

/// An unsupported kind of file.
struct FileKind {
    name: &'static str,
    /// File name extensions and whole names of the kind, in lower case.
    names: &'static [&'static str],
    /// Whether the first bytes are of this kind.
    begins: fn(&Head) -> bool,
    /// How to convert its atoms to a supported format.
    remedy: &'static str,
}

/// The first bytes of a file.
struct Head<'a> {
    bytes: &'a [u8],
    /// The same bytes as lines of text, at most 200.
    lines: Vec<&'a str>,
}

impl Head<'_> {
    /// Whether the bytes begin with one of these.
    fn magic(&self, magic: &[&[u8]]) -> bool {
        magic.iter().any(|magic| self.bytes.starts_with(magic))
    }

    fn line(&self, number: usize) -> &str {
        self.lines.get(number).map_or("", |line| line.trim())
    }

    /// Whether some line begins with one of these words. False if there is an atom count where a supported
    /// format has it: titles may contain any word.
    fn keyword(&self, words: &[&str]) -> bool {
        let whole = |line: &str| line.parse::<u64>().is_ok();
        if whole(self.line(0))
            || whole(self.line(1))
            || self.lines.iter().any(|line| counts_atoms(line).is_some())
        {
            return false;
        }
        self.lines.iter().any(|line| {
            let line = line.trim_start();
            words
                .iter()
                .any(|word| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
        })
    }

    /// Whether line `number` has exactly `fields` fields, all numbers.
    fn numbers(&self, number: usize, fields: usize) -> bool {
        let all: Vec<&str> = self.line(number).split_whitespace().collect();
        all.len() == fields && all.iter().all(|field| field.parse::<f64>().is_ok())
    }
}

const NONE: &[&str] = &[];
const WITH_TOPOLOGY: &str = "write one frame with its topology, in Python: \
     `MDAnalysis.Universe(\"TOPOLOGY\", \"FILE\").atoms.write(\"start.gro\")`";
const NO_POSITIONS: &str = "it has no positions: name the file of the coordinates that belong to it";

/// Tested in this order.
const KINDS: &[FileKind] = &[
    FileKind {
        name: "a LAMMPS dump, not a data file",
        names: &["lammpstrj", "dump"],
        begins: |head| {
            head.lines.iter().take(2).any(|line| line.trim_start().starts_with("ITEM: "))
                && head.lines.iter().any(|line| line.starts_with("ITEM: NUMBER OF ATOMS"))
        },
        remedy: "let LAMMPS write the atoms by `write_data start.data`, or convert the last frame by \
                 `ase convert -i lammps-dump-text -n -1 FILE start.xyz`, which calls types without `element` \
                 H, He, ... by their numbers",
    },
    FileKind {
        name: "a binary restart file of LAMMPS",
        names: &["restart"],
        begins: |head| head.magic(&[b"LammpS RestartT"]),
        remedy: "convert it by `lmp -restart2data FILE start.data`",
    },
    FileKind {
        name: "a script of LAMMPS",
        names: NONE,
        begins: |head| head.keyword(&["pair_style ", "read_data ", "atom_style ", "create_box "]),
        remedy: "let the script write the atoms by `write_data start.data`, and name that file",
    },
    FileKind {
        name: "a trajectory of GROMACS (XTC)",
        names: &["xtc"],
        begins: |head| head.magic(&[b"\0\0\x07\xcb", b"\0\0\x07\xe7"]),
        remedy: "write one frame by `gmx trjconv -f FILE -s TOPOLOGY.tpr -dump TIME -o start.gro`",
    },
    FileKind {
        name: "a trajectory of GROMACS (TRR)",
        names: &["trr"],
        begins: |head| head.magic(&[b"\0\0\x07\xc9"]),
        remedy: "write one frame by `gmx trjconv -f FILE -s TOPOLOGY.tpr -dump TIME -o start.gro`",
    },
    FileKind {
        name: "a checkpoint of GROMACS",
        names: &["cpt"],
        begins: |head| head.magic(&[b"\0\x02\x9f\x29"]),
        remedy: "write its state by `gmx trjconv -f FILE -s TOPOLOGY.tpr -o start.gro`",
    },
    FileKind {
        name: "a run input file of GROMACS (TPR)",
        names: &["tpr"],
        begins: |head| {
            head.magic(&[b"\0\0"]) && head.bytes.windows(8).take(9).any(|part| part == b"VERSION ")
        },
        remedy: "write its atoms by `gmx editconf -f FILE -o start.gro`",
    },
    FileKind {
        name: "a GROMOS96 file",
        names: &["g96"],
        begins: |head| head.line(0) == "TITLE" && head.lines.iter().any(|line| line.trim() == "END"),
        remedy: "convert it by `gmx editconf -f FILE -o start.gro`",
    },
    FileKind {
        name: "a topology of GROMACS",
        names: &["top", "itp", "ndx", "mdp"],
        begins: |head| head.keyword(&["[ defaults ]", "[ moleculetype ]", "[ atomtypes ]", "[ system ]"]),
        remedy: NO_POSITIONS,
    },
    FileKind {
        name: "a DCD trajectory",
        names: &["dcd"],
        begins: |head| head.bytes.len() > 12 && head.bytes[4..12].windows(4).any(|part| part == b"CORD"),
        remedy: WITH_TOPOLOGY,
    },
    FileKind {
        name: "a NetCDF file, as AMBER's trajectories are",
        names: &["nc", "ncdf", "ncrst"],
        begins: |head| head.magic(&[b"CDF\x01", b"CDF\x02", b"CDF\x05"]),
        remedy: WITH_TOPOLOGY,
    },
    FileKind {
        name: "a GSD file of HOOMD-blue",
        names: &["gsd"],
        begins: |head| head.magic(&[b"\xdf\x65\xdf\x65\xdf\x65\xdf\x65"]),
        remedy: "open it in OVITO, and export one frame as \"XYZ\" or \"LAMMPS Data File\"",
    },
    FileKind {
        name: "a trajectory of ASE",
        names: &["traj"],
        begins: |head| head.magic(&[b"- of Ulm"]),
        remedy: "write the last frame by `ase convert -i traj -n -1 FILE start.xyz`",
    },
    FileKind {
        name: "a database, perhaps of ASE",
        names: &["db", "sqlite"],
        begins: |head| head.magic(&[b"SQLite format 3\0"]),
        remedy: "write the last row by `ase convert -i db -n -1 FILE start.xyz`",
    },
    FileKind {
        name: "a JSON file",
        names: &["json"],
        begins: |head| head.line(0).starts_with('{') && head.keyword(&["{"]),
        remedy: "if ASE wrote it, convert it by `ase convert -i json -n -1 FILE start.xyz`",
    },
    FileKind {
        name: "a MOL2 file",
        names: &["mol2"],
        begins: |head| head.keyword(&["@<TRIPOS>"]),
        remedy: "convert it by `obabel -imol2 FILE -oxyz -O start.xyz`",
    },
    FileKind {
        name: "a molecule in MDL's format (MOL, SDF)",
        names: &["sdf", "mol"],
        begins: |head| head.line(3).ends_with("V2000") || head.line(3).ends_with("V3000"),
        remedy: "convert it by `ase convert -i sdf FILE start.xyz`",
    },
    FileKind {
        name: "a PDB file",
        names: &["pdb", "ent", "pqr"],
        begins: |head| head.keyword(&["ATOM  ", "HETATM", "CRYST1 "]),
        remedy: "convert it by `gmx editconf -f FILE -o start.gro`, or \
                 `ase convert -i proteindatabank -n 0 FILE start.xyz`",
    },
    FileKind {
        name: "an mmCIF file",
        names: &["mmcif"],
        begins: |head| {
            head.keyword(&["data_"]) && head.keyword(&["_entry.", "_atom_site.", "_cell.", "_entity."])
        },
        remedy: "convert it by `gemmi convert FILE start.pdb`, and that by \
                 `gmx editconf -f start.pdb -o start.gro`",
    },
    FileKind {
        name: "a CIF file",
        names: &["cif"],
        begins: |head| {
            head.keyword(&["data_"]) && head.keyword(&["_cell", "_symmetry", "_atom", "loop_", "_audit"])
        },
        remedy: "convert it by `ase convert -i cif FILE start.xyz`",
    },
    FileKind {
        name: "a POSCAR or CONTCAR of VASP",
        names: &["poscar", "contcar", "vasp"],
        begins: |head| head.numbers(1, 1) && (2..5).all(|line| head.numbers(line, 3)),
        remedy: "convert it by `ase convert -i vasp FILE start.xyz`",
    },
    FileKind {
        name: "an XSF file",
        names: &["xsf", "axsf"],
        begins: |head| head.keyword(&["CRYSTAL", "PRIMVEC", "PRIMCOORD"]) && head.keyword(&["PRIMVEC"]),
        remedy: "convert it by `ase convert -i xsf FILE start.xyz`",
    },
    FileKind {
        name: "a configuration of DL_POLY",
        names: &["config", "revcon"],
        begins: |head| head.numbers(1, 3) && (2..5).all(|line| head.numbers(line, 3)) && !head.numbers(5, 3),
        remedy: "convert it by `ase convert -i dlp4 FILE start.xyz`",
    },
    FileKind {
        name: "a Gaussian cube file",
        names: &["cube", "cub"],
        begins: |head| {
            let free = [0, 1].iter().all(|&line| head.line(line).parse::<u64>().is_err());
            free && (2..6).all(|line| head.numbers(line, 4))
        },
        remedy: "convert it by `ase convert -i cube FILE start.xyz`",
    },
    FileKind {
        name: "a cell of CASTEP",
        names: &["cell"],
        begins: |head| head.keyword(&["%BLOCK LATTICE", "%BLOCK POSITIONS"]),
        remedy: "convert it by `ase convert -i castep-cell FILE start.xyz`",
    },
    FileKind {
        name: "a geometry of FHI-aims",
        names: &["geometry.in"],
        begins: |head| head.keyword(&["lattice_vector "]) && head.keyword(&["atom ", "atom_frac "]),
        remedy: "convert it by `ase convert -i aims FILE start.xyz`",
    },
    FileKind {
        name: "a topology of AMBER or CHARMM",
        names: &["prmtop", "parm7", "psf"],
        begins: |head| {
            (head.line(0).starts_with("%VERSION") || head.line(0).starts_with("PSF"))
                && head.keyword(&["%VERSION", "PSF"])
        },
        remedy: NO_POSITIONS,
    },
    FileKind {
        name: "coordinates of AMBER",
        names: &["rst7", "inpcrd", "mdcrd"],
        begins: |head| {
            head.line(0).parse::<u64>().is_err()
                && head.line(1).split_whitespace().next().is_some_and(|count| count.parse::<u64>().is_ok())
                && head.line(2).len() > 60
                && head.numbers(2, 6)
        },
        remedy: WITH_TOPOLOGY,
    },
    FileKind {
        name: "compressed by bzip2",
        names: &["bz2"],
        begins: |head| head.magic(&[b"BZh"]) && head.bytes.get(4..10) == Some(b"1AY&SY"),
        remedy: "decompress it by `bunzip2 FILE`, and name the text",
    },
    FileKind {
        name: "compressed by xz",
        names: &["xz"],
        begins: |head| head.magic(&[b"\xfd7zXZ\0"]),
        remedy: "decompress it by `unxz FILE`, and name the text",
    },
    FileKind {
        name: "compressed by zstd",
        names: &["zst"],
        begins: |head| head.magic(&[b"\x28\xb5\x2f\xfd"]),
        remedy: "decompress it by `unzstd FILE`, and name the text",
    },
    FileKind {
        name: "a ZIP archive",
        names: &["zip", "npz"],
        begins: |head| head.magic(&[b"PK\x03\x04"]),
        remedy: "unpack it by `unzip FILE`, and name the file with the atoms",
    },
];

/// Refuses a file whose first bytes are of an unsupported kind.
///
/// # Errors
/// [`Error::Content`] with how to convert it.
pub(super) fn by_content(path: &Path, bytes: &[u8]) -> Result<()> {
    // The last character may be cut off.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(cause) => std::str::from_utf8(&bytes[..cause.valid_up_to()]).unwrap_or_default(),
    };
    let head = Head { bytes, lines: text.lines().take(200).collect() };
    KINDS.iter().find(|kind| (kind.begins)(&head)).map_or(Ok(()), |kind| Err(refused(path, kind)))
}

/// Refuses a file with a name typical of an unsupported kind.
///
/// # Errors
/// [`Error::Content`] with how to convert it.
pub(super) fn by_name(path: &Path, name: &str) -> Result<()> {
    let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
    let kind = KINDS.iter().find(|kind| kind.names.iter().any(|&known| known == ending || known == name));
    kind.map_or(Ok(()), |kind| Err(refused(path, kind)))
}

fn refused(path: &Path, kind: &FileKind) -> Error {
    Error::Content {
        path: path.to_owned(),
        what: format!("it is {}", kind.name),
        remedy: kind.remedy.replace("FILE", &path.display().to_string()),
    }
}
