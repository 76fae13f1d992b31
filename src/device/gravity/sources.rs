//! The particles that gravity acts on and that it comes from.

use super::super::Buffer;
use super::super::arguments::Input;
use super::super::arguments::gravity::GravitySources;
use super::super::hierarchy::{HierarchyLevel, levels_of};
use super::super::reduction::{Vector, bounds};
use crate::particles::SUPER_CLUSTER;
use std::ops::Range;

/// The columns that gravity reads: lengths, masses, and identities, of which [`u64::MAX`] marks a row that is none. The mass
/// of such a row must be 0.
#[derive(Clone, Copy, Debug)]
pub struct Massive<'a> {
    /// Positions.
    pub position: Vector<'a>,
    /// Masses.
    pub mass: &'a Buffer<f64>,
    /// Identities.
    pub id: &'a Buffer<u64>,
}

/// About how large and heavy the whole is, on all ranks the same: any power of two near does. Single precision then neither
/// overflows nor underflows, whatever the run's units are.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The longest edge of the box of all ranks' particles.
    pub length: f64,
    /// The mass of all ranks' particles.
    pub mass: f64,
}

/// The own particles as kernels take them.
pub(super) struct Sources {
    /// Columns, number of rows and units.
    pub arguments: GravitySources,
    pub groups: usize,
    pub levels: Vec<HierarchyLevel>,
}

impl Sources {
    pub fn new(massive: &Massive, rows: &Range<usize>, extent: Extent) -> Self {
        let [first, end] = bounds(rows);
        Self {
            arguments: GravitySources {
                position: massive.position.map(|column| Input::at(column, rows.start)),
                mass: Input::at(massive.mass, rows.start),
                id: Input::at(massive.id, rows.start),
                rows: end - first,
                length_unit: unit_of(extent.length),
                mass_unit: unit_of(extent.mass),
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

/// The power of two that brings a size to between 1/2 and 1; 1 for what has none.
fn unit_of(size: f64) -> f64 {
    if size > 0.0 && size.is_finite() { (-size.log2().ceil()).exp2() } else { 1.0 }
}

/// How many nodes a hierarchy has, the empty ones included.
pub(super) fn nodes_of(levels: &[HierarchyLevel]) -> usize {
    levels.iter().map(|level| level.padded).sum()
}
