//! The particles of gravity: sources and targets.

use super::super::Buffer;
use super::super::arguments::Input;
use super::super::arguments::gravity::GravitySources;
use super::super::hierarchy::{HierarchyLevel, levels_of};
use super::super::reduction::{Vector, bounds};
use crate::particles::SUPER_CLUSTER;
use std::ops::Range;

/// The columns that gravity reads. The identity [`u64::MAX`] marks a ghost, whose mass must be 0.
#[derive(Clone, Copy, Debug)]
pub struct MassColumns<'a> {
    /// Positions.
    pub position: Vector<'a>,
    /// Masses.
    pub mass: &'a Buffer<f64>,
    /// Identities.
    pub id: &'a Buffer<u64>,
}

/// Scales of length and mass, the same on all ranks. They keep single precision from overflow and underflow
/// in any units; nearby powers of two suffice, except for the mass in a periodic box, whose background has
/// it.
#[derive(Clone, Copy, Debug)]
pub struct UnitScales {
    /// The longest edge of the box of all ranks' particles.
    pub length: f64,
    /// The mass of all ranks' particles.
    pub mass: f64,
}

/// The own particles as arguments of kernels, with their hierarchy.
pub(super) struct Sources {
    /// Columns, number of rows and units.
    pub arguments: GravitySources,
    pub groups: usize,
    pub levels: Vec<HierarchyLevel>,
}

impl Sources {
    pub fn new(massive: &MassColumns, rows: &Range<usize>, scales: UnitScales) -> Self {
        let [first, end] = bounds(rows);
        Self {
            arguments: GravitySources {
                position: massive.position.map(|column| Input::at(column, rows.start)),
                mass: Input::at(massive.mass, rows.start),
                id: Input::at(massive.id, rows.start),
                rows: end - first,
                length_unit: unit_of(scales.length),
                mass_unit: unit_of(scales.mass),
            },
            groups: rows.len().div_ceil(SUPER_CLUSTER),
            levels: levels_of(rows.len()),
        }
    }

    /// Number of rows.
    pub fn count(&self) -> u32 {
        self.arguments.rows
    }

    /// The factor that brings lengths to order one.
    pub fn length_unit(&self) -> f64 {
        self.arguments.length_unit
    }
}

/// The hierarchy over own rows.
pub(super) struct Tree<'a> {
    pub sources: &'a Sources,
    pub nodes: &'a Buffer<u64>,
    pub moments: &'a Buffer<u64>,
}

/// The power of two that scales a size to between 1/2 and 1; 1 if the size is not positive and finite.
fn unit_of(size: f64) -> f64 {
    if size > 0.0 && size.is_finite() { (-size.log2().ceil()).exp2() } else { 1.0 }
}

/// Number of nodes of a hierarchy, including empty ones.
pub(super) fn nodes_of(levels: &[HierarchyLevel]) -> usize {
    levels.iter().map(|level| level.padded).sum()
}
