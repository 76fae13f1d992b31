//! Arguments of kernels: one struct a kernel, passed by value, and its C++ twin.
//!
//! `kernel_arguments!` defines the `#[repr(C)]` structs of one unit and prints their twins with the
//! declarations of the unit's kernels. The printed text is a header of `kernels/arguments`, which the unit
//! includes; a test compares them. A wrong type, a missing member, or a kernel that takes another struct does
//! therefore not compile, on one of the two sides.

#[macro_use]
mod macros;

pub mod build;
pub mod cells;
pub mod cells_cell;
pub mod cells_particles;
pub mod cells_pencil;
pub mod cells_prefix;
pub mod cells_sort;
pub mod cells_sub_box;
pub mod cut;
pub mod drift_and_pack;
pub mod enter;
pub mod external;
pub mod finish;
pub mod finish_and_accelerate;
pub mod finite;
pub mod gather;
pub mod gravity;
pub mod groups;
pub mod hierarchy;
pub mod hilbert;
pub mod langevin;
pub mod leapfrog;
pub mod leaves;
pub mod mesh;
pub mod mesh_bins;
pub mod mesh_gather;
pub mod mesh_group;
pub mod mesh_hybrid;
pub mod mesh_influence;
pub mod mesh_interpolate;
pub mod mesh_occupied;
pub mod mesh_padded;
pub mod mesh_particles;
pub mod mesh_single;
pub mod mesh_slabs;
pub mod mesh_tiles;
pub mod moments;
pub mod needed;
pub mod net_force;
pub mod overflow;
pub mod pack;
pub mod packed;
pub mod particle_list;
pub mod particle_sweep;
pub mod scan;
pub mod search;
pub mod search_count;
pub mod search_counting_grid;
pub mod search_grid;
pub mod search_sorted_grid;
pub mod search_two_level;
pub mod skin;
pub mod smoothing;
pub mod sort;
pub mod state;
pub mod sweep;
pub mod targets;
pub mod time_step;
pub mod totals;
pub mod twin;
pub mod verlet;
pub mod viscosity;
pub mod walk;
pub mod whole;

pub use twin::{Input, Output};

use super::Buffer;
use crate::space::{Boundary, SimulationBox};
use std::ops::Range;

/// Largest number of input columns, and of output columns, of a law.
pub const MOST_COLUMNS: usize = 20;

/// Columns of a law as an argument: pointers of one kind, then `null`.
pub fn law_columns<P>(columns: &[&Buffer<f64>], null: P) -> [P; MOST_COLUMNS]
where
    P: Copy + for<'a> From<&'a Buffer<f64>>,
{
    assert!(columns.len() <= MOST_COLUMNS, "{} columns of a law", columns.len());
    std::array::from_fn(|k| columns.get(k).map_or(null, |&column| P::from(column)))
}

/// Arguments of a kernel.
pub trait Arguments: Copy {
    /// The unit that defines the kernel, a file below `kernels`.
    const UNIT: &'static str;
    /// The kernel's name.
    const KERNEL: &'static str;
}

kernel_arguments! {
    unit "shared";

    /// A range of rows.
    pub struct Rows {
        /// The first row.
        pub begin: u32,
        /// One past the last row.
        pub end: u32,
    }

    /// The simulation box.
    pub struct BoxParameters {
        /// Lower corner.
        pub lower: [f64; 3],
        /// Upper corner.
        pub upper: [f64; 3],
        /// Edges along periodic dimensions, 0 along open ones.
        pub period: [f64; 3],
        /// One over the period, 0 along open dimensions.
        pub frequency: [f64; 3],
        /// Bit d: dimension d is periodic.
        pub periodic: u32,
    }

    /// Columns of particles that move.
    pub struct MovingColumns {
        /// Positions.
        pub position: [Output<f64>; 3],
        /// Velocities.
        pub velocity: [Output<f64>; 3],
        /// Accelerations.
        pub acceleration: [Input<f64>; 3],
    }

    /// Outcome of a drift.
    pub struct DriftReport {
        /// Bits of the rows left unchanged because their displacement would be too large.
        pub left: Output<u32>,
        /// Number of such rows.
        pub refused: Output<u32>,
        /// Largest squared velocity, or displacement of the Langevin step.
        pub largest_square: Output<u64>,
        /// Displacement over the root of this square: the time step, or 1.
        pub scale: f64,
        /// Where the displacement that this step may have goes, or null; negative if the step is not
        /// performed.
        pub allowed: Output<f64>,
        /// Words of the previous step of a batch, or null: what it refused, its largest square, its first
        /// row that is not finite, and what it was allowed.
        pub previous: Input<u64>,
        /// What the first step of a batch is allowed.
        pub most: f64,
    }
}

impl From<&Range<usize>> for Rows {
    fn from(rows: &Range<usize>) -> Self {
        let [begin, end] = super::reduction::bounds(rows);
        Self { begin, end }
    }
}

impl From<&SimulationBox> for BoxParameters {
    fn from(bx: &SimulationBox) -> Self {
        let periodic = |d: usize| u32::from(bx.boundary[d] == Boundary::Periodic) << d;
        Self {
            lower: bx.lower.into(),
            upper: bx.upper.into(),
            period: bx.finite_periods().into(),
            frequency: bx.frequencies().into(),
            periodic: (0..3).map(periodic).sum(),
        }
    }
}

/// The headers of `kernels/arguments`: names and texts.
pub fn printed() -> Vec<(String, String)> {
    vec![
        print(),
        build::print(),
        cells::print(),
        cells_cell::print(),
        cells_particles::print(),
        cells_pencil::print(),
        cells_prefix::print(),
        cells_sort::print(),
        cells_sub_box::print(),
        cut::print(),
        drift_and_pack::print(),
        enter::print(),
        external::print(),
        finish::print(),
        finish_and_accelerate::print(),
        finite::print(),
        gather::print(),
        gravity::print(),
        groups::print(),
        hierarchy::print(),
        hilbert::print(),
        langevin::print(),
        leapfrog::print(),
        leaves::print(),
        mesh::print(),
        mesh_bins::print(),
        mesh_gather::print(),
        mesh_group::print(),
        mesh_hybrid::print(),
        mesh_influence::print(),
        mesh_interpolate::print(),
        mesh_occupied::print(),
        mesh_padded::print(),
        mesh_particles::print(),
        mesh_single::print(),
        mesh_slabs::print(),
        mesh_tiles::print(),
        moments::print(),
        needed::print(),
        net_force::print(),
        overflow::print(),
        pack::print(),
        packed::print(),
        particle_list::print(),
        particle_sweep::print(),
        scan::print(),
        search::print(),
        search_count::print(),
        search_counting_grid::print(),
        search_grid::print(),
        search_sorted_grid::print(),
        search_two_level::print(),
        skin::print(),
        smoothing::print(),
        sort::print(),
        state::print(),
        sweep::print(),
        targets::print(),
        time_step::print(),
        totals::print(),
        verlet::print(),
        viscosity::print(),
        walk::print(),
        whole::print(),
    ]
}
