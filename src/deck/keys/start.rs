//! Keys of `[start.*]`.

use super::*;
use crate::cases::case::{ARRANGEMENT, NOISE, PARTICLES, SEED};

const LENGTHS: Key = key(
    "lengths",
    Kind::Numbers(POSITIVE, Dimension::Length),
    Default::Value("1.0"),
    "Edge lengths of the box, whose lower corner is the origin.",
)
.also(&["size", "box", "edges", "box_size"]);

const DENSITY: Key = key(
    "density",
    quantity(POSITIVE, Dimension::Density),
    Default::Value("1.0"),
    "Mass density. With species, which have masses, it replaces the spacing or the lengths, or is left out.",
)
.also(&["rho"]);

const BOX_ENERGY: Key =
    key("internal_energy", number(NOT_NEGATIVE), Default::Value("1.0"), "Specific internal energy.")
        .also(&["u"]);

const TEMPERATURE: Key = key(
    "temperature",
    quantity(NOT_NEGATIVE, Dimension::Temperature),
    Default::Value("0.0"),
    "Temperature of the initial velocities with [interaction]; 0: at rest.",
)
.also(&["t", "temp"]);

/// Sections in the order in which a deck is printed.
pub(super) const SECTIONS: &[Section] = &[
    section("start", "The initial state: exactly one case, [start.CASE].", &[]),
    section(
        "start.uniform-box",
        "A box of uniform density and internal energy.",
        &[PARTICLES, LENGTHS, DENSITY, BOX_ENERGY, TEMPERATURE, ARRANGEMENT, NOISE, SEED],
    ),
    section(
        "start.lattice",
        "A crystal lattice of whole unit cells.",
        &[
            key("kind", Kind::Choice(LatticeKind::NAMES), Default::Value("\"sc\""), "Lattice type.")
                .also(&["type", "lattice"]),
            key(
                "cells",
                Kind::Integers(between(1.0, 1e6)),
                Default::Required,
                "Number of unit cells per dimension.",
            )
            .also(&["n", "particles"]),
            key(
                "spacing",
                quantity(POSITIVE, Dimension::Length),
                Default::Value("1.0"),
                "Edge of the unit cell (for hcp the shortest).",
            )
            .also(&["a", "lattice_constant"]),
            DENSITY,
            BOX_ENERGY,
            TEMPERATURE,
            key(
                "jitter",
                number(between(0.0, 0.5)),
                Default::Value("0.0"),
                "Standard deviation of random displacements, in units of the spacing.",
            )
            .also(&["noise"]),
            SEED,
        ],
    ),
    section(
        "start.random",
        "Independent uniform positions in a box.",
        &[PARTICLES, LENGTHS, DENSITY, BOX_ENERGY, TEMPERATURE, SEED],
    ),
    section(
        "start.radial-table",
        "A ball of equal masses whose density over the radius is a table, at rest or with radial velocities.",
        &[
            key(
                "path",
                Kind::Path,
                Default::Required,
                "Path of a text file, relative to the working directory: rows of r, rho, and optionally u and v_r, \
                 r ascending.",
            )
            .also(&["name", "filename", "file"]),
            PARTICLES,
            ARRANGEMENT,
            SEED,
            key(
                "internal_energy",
                number(NOT_NEGATIVE),
                Default::Value("1.0"),
                "Specific internal energy of a table without this column.",
            )
            .also(&["u"]),
        ],
    ),
    section(
        "start.file",
        "Particles from a file: HDF5 of SWIFT's or Gadget's layout, LAMMPS data, GROMACS .gro, extended XYZ.",
        &[
            key(
                "path",
                Kind::Path,
                Default::Required,
                "Path of the file, relative to the working directory.",
            )
            .also(&["name", "filename", "file"]),
            key(
                "format",
                Kind::Choice(FileFormat::NAMES),
                Default::Unset("by the file's name and content"),
                "The format of the file.",
            ),
            key(
                "units",
                Kind::Choice(FileUnits::NAMES),
                Default::Unset("as stated in the file, else the convention of its format"),
                "The units of a text file: lj (reduced), LAMMPS's real or metal, GROMACS's, ASE's.",
            ),
            key(
                "atom_style",
                Kind::Choice(AtomStyle::NAMES),
                Default::Unset("as stated after `Atoms` in the file"),
                "Atom style of LAMMPS data: its columns.",
            ),
            key(
                "temperature",
                quantity(NOT_NEGATIVE, Dimension::Temperature),
                Default::Unset("the velocities of the file, else at rest"),
                "Temperature of newly drawn velocities with [interaction].",
            )
            .also(&["t", "temp"]),
            SEED,
        ],
    ),
];
