//! Cases and rows of the table of `bench spread`, and the floors of their times.

use super::super::{Cell, Column};
use super::contender::Contender;
use super::cube;
use crate::far::mesh::MeshGeometry;
use crate::pair::Precision;

pub const COLUMNS: &[Column] = &[
    ("points", "points_per_dimension"),
    ("particles", "particles"),
    ("precision", "precision"),
    ("additions per point", "additions_per_point"),
    ("method", "method"),
    ("construct ms", "construct_milliseconds"),
    ("spread ms", "spread_milliseconds"),
    ("interpolate ms", "interpolate_milliseconds"),
    ("1e9 additions per s, once", "billion_additions_per_second_once"),
    ("20 times", "billion_additions_per_second_of_twenty"),
    ("many", "billion_additions_per_second_of_many"),
    ("floor ms", "floor_milliseconds"),
    ("% of floor, once", "percent_of_floor_once"),
    ("many", "percent_of_floor_of_many"),
    ("interpolated 1e9 points per s", "billion_points_per_second_interpolated"),
    ("% of its floor", "percent_of_floor_of_interpolation"),
    ("bytes per particle", "bytes_per_particle"),
];

/// A mesh and particles.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Mesh points per dimension.
    pub points: usize,
    pub particles: usize,
    /// Order of the window.
    pub order: usize,
    pub precision: Precision,
}

/// Times of a method (s), and its memory.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub construct: f64,
    pub spread: f64,
    /// `None` where the method has none of its own.
    pub interpolate: Option<f64>,
    /// Bytes of what is constructed, where that is known.
    pub bytes: Option<usize>,
}

/// Least times of a case (s).
#[derive(Clone, Copy, Debug)]
pub struct Floors {
    pub spread: f64,
    pub interpolate: f64,
}

impl Case {
    /// The mesh.
    pub fn geometry(&self) -> MeshGeometry {
        MeshGeometry::new([self.points; 3], &cube())
    }

    /// Additions of a spreading, and points of an interpolation.
    pub fn additions(&self) -> f64 {
        self.particles as f64 * (self.order as f64).powi(3)
    }

    /// Bytes of the mesh.
    pub fn mesh_bytes(&self) -> f64 {
        let real = if self.precision == Precision::Double { size_of::<f64>() } else { size_of::<f32>() };
        (self.geometry().len() * real) as f64
    }

    /// Bytes that a spreading moves at least: position and value of each particle, and the mesh.
    pub fn spread_bytes(&self) -> f64 {
        32.0 * self.particles as f64 + self.mesh_bytes()
    }

    /// The least times at this rate of fused multiply-adds per second and these rates of memory for
    /// spreading and interpolation (bytes per second). `interpolated_bytes` are those of a particle.
    ///
    /// Interpolation of a gradient has two fused multiply-adds per point: the first sum over a dimension is
    /// needed with weights and with their derivatives.
    pub fn floors(&self, fused: f64, copied: [f64; 2], interpolated_bytes: f64) -> Floors {
        let interpolate_bytes = interpolated_bytes * self.particles as f64 + self.mesh_bytes();
        Floors {
            spread: f64::max(self.additions() / fused, self.spread_bytes() / copied[0]),
            interpolate: f64::max(2.0 * self.additions() / fused, interpolate_bytes / copied[1]),
        }
    }

    /// The row of a method, without times if its memory did not suffice.
    pub fn row(&self, contender: Contender, measured: Option<(Times, Floors)>) -> Vec<Cell> {
        let additions = self.additions();
        let mut row = vec![
            Cell::count(self.points),
            Cell::count(self.particles),
            Cell::text(if self.precision == Precision::Double { "double" } else { "mixed" }),
            Cell::Number(additions / self.geometry().len() as f64, 2),
            Cell::text(contender.name()),
        ];
        if let Some((times, floors)) = measured {
            let Times { construct, spread, interpolate, bytes } = times;
            let milliseconds = |seconds: f64| Cell::Number(1e3 * seconds, 4);
            let rate = |seconds: f64| Cell::Number(1e-9 * additions / seconds, 2);
            let share = |floor: f64, seconds: f64| Cell::Number(100.0 * floor / seconds, 1);
            row.extend([
                milliseconds(construct),
                milliseconds(spread),
                interpolate.map_or(Cell::Nothing, milliseconds),
                rate(construct + spread),
                rate(construct / 20.0 + spread),
                rate(spread),
                milliseconds(floors.spread),
                share(floors.spread, construct + spread),
                share(floors.spread, spread),
                interpolate.map_or(Cell::Nothing, rate),
                interpolate.map_or(Cell::Nothing, |seconds| share(floors.interpolate, seconds)),
                bytes.map_or(Cell::Nothing, |bytes| Cell::Number(bytes as f64 / self.particles as f64, 1)),
            ]);
        }
        row.resize(COLUMNS.len(), Cell::Nothing);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_are_those_of_instructions_or_of_memory() {
        let case = Case { points: 32, particles: 1000, order: 6, precision: Precision::Mixed };
        let slow = case.floors(216e3, [1e30; 2], 80.0);
        assert!((slow.spread - 1.0).abs() < 1e-12 && (slow.interpolate - 2.0).abs() < 1e-12);
        let bytes = f64::from(4 * 32 * 32 * 32);
        let moved = case.floors(1e30, [32e3 + bytes, 160e3 + 2.0 * bytes], 80.0);
        assert!((moved.spread - 1.0).abs() < 1e-12 && (moved.interpolate - 0.5).abs() < 1e-12);
        let double = Case { precision: Precision::Double, ..case };
        assert_eq!(double.mesh_bytes(), 2.0 * bytes);
    }

    #[test]
    fn rows_without_times_have_all_columns() {
        let case = Case { points: 32, particles: 1000, order: 6, precision: Precision::Mixed };
        let row = case.row(Contender::Processors, None);
        assert_eq!(row.len(), COLUMNS.len());
        assert!(row[5..].iter().all(|cell| *cell == Cell::Nothing));
    }
}
