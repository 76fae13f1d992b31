//! Plan of the initial state.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use crate::cases::AnyCase;
use crate::cases::{PointMass, Softening, Surroundings};
use crate::layout::cuboid::Cuboid;
use crate::layout::glass::Tile;
pub use crate::layout::{Arrangement, LatticeKind};

use super::{Distance, EquationOfState, Plan, SofteningKernel};

/// `[start.<case>]`: the case is the table's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartPlan {
    /// A box of uniform density and internal energy.
    UniformBox(UniformBoxStart),
    /// Whole cells of a crystal lattice.
    Lattice(LatticeStart),
    /// Independent uniform positions in a box.
    Random(RandomStart),
    /// A ball with a radial profile from a file.
    RadialTable(RadialTableStart),
    /// A case of `crate::cases`, with its exact or reference solution.
    Case(AnyCase),
    /// Particles from a file.
    File(FileStart),
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

/// `[start.radial-table]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadialTableStart {
    /// Path of the file, relative to the working directory.
    pub path: PathBuf,
    /// Number of particles, >= 1.
    pub particles: u64,
    /// Layout before it is mapped to the density profile.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Specific internal energy of a table without this column, >= 0.
    pub internal_energy: f64,
}

impl UniformBoxStart {
    /// Returns the cuboid to fill; `corners` are those of the plan's box.
    pub fn cuboid(&self, corners: Option<[[f64; 3]; 2]>) -> Cuboid {
        Cuboid {
            particles: self.particles,
            lower: corners.map_or([0.0; 3], |[lower, _]| lower),
            lengths: self.lengths,
            arrangement: self.arrangement,
            cells: None,
            seed: self.seed,
        }
    }
}

impl Plan {
    /// Returns the settings outside of `[start.*]` that a case depends on.
    pub fn surroundings(&self) -> Surroundings {
        let equation = self.sph.as_ref().map(|sph| sph.equation_of_state);
        Surroundings {
            gas: self.sph.is_some(),
            gamma: match equation {
                Some(EquationOfState::IdealGas { gamma }) => Some(gamma),
                _ => None,
            },
            sound_speed: match equation {
                Some(EquationOfState::Isothermal { sound_speed }) => Some(sound_speed),
                _ => None,
            },
            gravity: self.gravity.as_ref().map(|gravity| gravity.constant),
            softening: self.gravity.as_ref().map(|gravity| Softening {
                length: gravity.softening,
                spline: gravity.softening_kernel == SofteningKernel::Spline,
            }),
            point_mass: self.external.and_then(|external| external.point_mass).map(|point| PointMass {
                strength: point.constant * point.mass,
                position: point.position,
                softening: point.softening,
                cylindrical: point.distance == Distance::Cylindrical,
            }),
            fixed_step: self.time_step.fixed,
            corners: self.space.corners,
            boundary: self.space.boundary_or_open(),
            noise: self.noise,
        }
    }
}

impl StartPlan {
    /// Returns the tiles of glass that the start takes.
    pub fn tiles(&self) -> Vec<Tile> {
        match self {
            Self::UniformBox(start) => start.cuboid(None).tile().into_iter().collect(),
            Self::Case(case) => case.tiles(),
            Self::Lattice(_) | Self::Random(_) | Self::RadialTable(_) | Self::File(_) => Vec::new(),
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

/// Name of the particles that a caller gives instead of a file, in messages.
pub const GIVEN_PARTICLES: &str = "the given particles";

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
