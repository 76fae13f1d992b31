//! Plan of the initial state.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

choice! {
    /// Layout of the particles of a sphere or box before they are mapped to the density profile.
    Arrangement {
        /// Relaxed by repulsion until the density noise is lowest.
        Glass = "glass",
        /// Simple cubic.
        SimpleCubic = "sc",
        /// Body-centered cubic.
        BodyCentered = "bcc",
        /// Face-centered cubic.
        FaceCentered = "fcc",
        /// Hexagonal close-packed.
        Hexagonal = "hcp",
        /// Independent uniform positions.
        Random = "random",
    }
}

choice! {
    /// A crystal lattice.
    LatticeKind {
        /// Simple cubic, 1 particle a cell.
        SimpleCubic = "sc",
        /// Body-centered cubic, 2 particles a cell.
        BodyCentered = "bcc",
        /// Face-centered cubic, 4 particles a cell.
        FaceCentered = "fcc",
        /// Hexagonal close-packed in an orthorhombic cell of edges 1, sqrt(3), sqrt(8/3); 4 particles a cell.
        Hexagonal = "hcp",
        /// Two face-centered lattices of one species each, shifted by half an edge; 8 particles a cell.
        RockSalt = "rock-salt",
    }
}

impl LatticeKind {
    /// Returns the number of particles per cell.
    pub const fn particles_per_cell(self) -> u64 {
        match self {
            Self::SimpleCubic => 1,
            Self::BodyCentered => 2,
            Self::FaceCentered | Self::Hexagonal => 4,
            Self::RockSalt => 8,
        }
    }

    /// Returns the edges of the cell in units of the spacing.
    pub fn edges(self) -> [f64; 3] {
        match self {
            Self::Hexagonal => [1.0, 3f64.sqrt(), (8.0f64 / 3.0).sqrt()],
            _ => [1.0; 3],
        }
    }
}

/// `[start.<case>]`: the case is the table's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartPlan {
    /// A cold gas sphere with density M / (2 pi R^2 r), at rest (Evrard 1988).
    Evrard(EvrardStart),
    /// A box of uniform density and internal energy.
    UniformBox(UniformBoxStart),
    /// Whole cells of a crystal lattice.
    Lattice(LatticeStart),
    /// Independent uniform positions in a box.
    Random(RandomStart),
    /// A Plummer sphere.
    Plummer(PlummerStart),
    /// A point explosion in a cube of cold gas (Sedov 1946, Taylor 1950).
    Sedov(SedovStart),
    /// Particles from a file.
    File(FileStart),
}

/// `[start.evrard]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvrardStart {
    /// Number of particles, >= 1; the layout may round it.
    pub particles: u64,
    /// Layout before it is mapped to the density profile.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Radius R, > 0.
    pub radius: f64,
    /// Total mass M, > 0.
    pub mass: f64,
    /// Specific internal energy u, > 0.
    pub internal_energy: f64,
}

/// `[start.uniform-box]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UniformBoxStart {
    /// Number of particles, >= 1; the layout may round it.
    pub particles: u64,
    /// Edge lengths, > 0; the plan's `space` has the same.
    pub lengths: [f64; 3],
    /// Mass density, > 0; sets the particle masses unless species do.
    pub density: f64,
    /// Specific internal energy, >= 0.
    pub internal_energy: f64,
    /// Temperature of the velocities, >= 0, 0: at rest.
    pub temperature: f64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// `[start.lattice]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatticeStart {
    /// The lattice.
    pub kind: LatticeKind,
    /// Cells per dimension, each >= 1.
    pub cells: [u64; 3],
    /// Edge of the (first dimension of the) cell, > 0.
    pub spacing: f64,
    /// Mass density, > 0; sets the particle masses unless species do.
    pub density: f64,
    /// Specific internal energy, >= 0.
    pub internal_energy: f64,
    /// Temperature of the velocities, >= 0, 0: at rest.
    pub temperature: f64,
    /// Standard deviation of a random displacement per dimension, in units of the spacing, 0 to 0.5.
    pub jitter: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// `[start.random]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomStart {
    /// Number of particles, >= 1.
    pub particles: u64,
    /// Edge lengths, > 0; the plan's `space` has the same.
    pub lengths: [f64; 3],
    /// Mass density, > 0; sets the particle masses unless species do.
    pub density: f64,
    /// Specific internal energy, >= 0.
    pub internal_energy: f64,
    /// Temperature of the velocities, >= 0, 0: at rest.
    pub temperature: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

choice! {
    /// The velocities of a Plummer sphere.
    Velocities {
        /// Drawn from the isotropic equilibrium distribution (Aarseth, Henon & Wielen 1974).
        Equilibrium = "equilibrium",
        /// All zero.
        Rest = "rest",
    }
}

/// `[start.plummer]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlummerStart {
    /// Number of particles, >= 1.
    pub particles: u64,
    /// Plummer radius, > 0.
    pub radius: f64,
    /// Total mass, > 0.
    pub mass: f64,
    /// The velocities.
    pub velocities: Velocities,
    /// Specific internal energy, >= 0 (only used with `[sph]`).
    pub internal_energy: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// `[start.sedov]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SedovStart {
    /// Number of particles, >= 1; the layout may round it.
    pub particles: u64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Edge of the cube about the origin, > 0.
    pub edge: f64,
    /// Mass density, > 0.
    pub density: f64,
    /// Energy of the explosion, > 0.
    pub energy: f64,
    /// Distance at which its energy density has fallen to 1/e of that at the center, > 0.
    pub width: f64,
    /// Specific internal energy of the gas before the explosion, >= 0.
    pub internal_energy: f64,
}

impl SedovStart {
    /// Returns the uniform gas before the explosion.
    pub fn gas(&self) -> UniformBoxStart {
        UniformBoxStart {
            particles: self.particles,
            lengths: [self.edge; 3],
            density: self.density,
            internal_energy: self.internal_energy,
            temperature: 0.0,
            arrangement: self.arrangement,
            seed: self.seed,
        }
    }
}

choice! {
    /// The format of a start file.
    FileFormat {
        /// HDF5 in SWIFT's or Gadget's layout.
        Hdf5 = "hdf5",
        /// LAMMPS data, as `write_data` writes it.
        LammpsData = "lammps-data",
        /// GROMACS `.gro`.
        Gromacs = "gromacs",
        /// Extended XYZ.
        ExtendedXyz = "extended-xyz",
    }
}

choice! {
    /// The units of a start file: of lengths, velocities, masses, charges.
    FileUnits {
        /// The reduced units of a deck without physical units.
        Lj = "lj",
        /// LAMMPS's real: angstrom, angstrom/fs, g/mol, e.
        Real = "real",
        /// LAMMPS's metal: angstrom, angstrom/ps, g/mol, e.
        Metal = "metal",
        /// GROMACS's: nm, nm/ps, u, e.
        Gromacs = "gromacs",
        /// ASE's: angstrom, sqrt(eV/u), u, e.
        Ase = "ase",
    }
}

choice! {
    /// The columns of the section Atoms in LAMMPS data.
    AtomStyle {
        /// id type x y z.
        Atomic = "atomic",
        /// id type q x y z.
        Charge = "charge",
        /// id molecule type x y z.
        Molecular = "molecular",
        /// id molecule type q x y z.
        Full = "full",
    }
}

/// `[start.file]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileStart {
    /// Path of the file, relative to the working directory.
    pub path: PathBuf,
    /// Format; `None`: detected from name and content.
    pub format: Option<FileFormat>,
    /// Units; `None`: those that the file states, else the convention of its format.
    pub units: Option<FileUnits>,
    /// Atom style of LAMMPS data that does not state it.
    pub atom_style: Option<AtomStyle>,
    /// Temperature of newly drawn velocities, >= 0; `None`: the velocities of the file, zero if it has none.
    pub temperature: Option<f64>,
    /// Seed of new velocities.
    pub seed: u64,
}

impl FileStart {
    /// Returns the start from a file with all other settings at their defaults.
    pub fn new(path: PathBuf) -> Self {
        Self { path, format: None, units: None, atom_style: None, temperature: None, seed: 1 }
    }
}
