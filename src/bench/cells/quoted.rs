//! Times that Algis, Bramas, Darles and Aveneau 2024 (hal-04621128) give in table 1.

use crate::device::cells::Strategy;

/// Seconds of a call on their cards, T600, A100 40 GB and MI210.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quoted {
    /// Cells of an edge.
    edge: u64,
    /// Mean number of particles of a cell.
    per_cell: u64,
    /// Par-Part-NoLoop.
    particle: [f64; 3],
    /// X-pencil.
    pencil: [f64; 3],
}

const fn row(edge: u64, per_cell: u64, particle: [f64; 3], pencil: [f64; 3]) -> Quoted {
    Quoted { edge, per_cell, particle, pencil }
}

/// Table 1.
const TABLE: [Quoted; 15] = [
    row(2, 1, [7.9e-6, 1.0e-5, 8.6e-6], [8.3e-6, 1.1e-5, 6.9e-6]),
    row(4, 1, [1.4e-5, 2.0e-5, 2.9e-5], [9.1e-6, 1.2e-5, 1.9e-5]),
    row(8, 1, [2.0e-5, 2.8e-5, 4.3e-5], [1.2e-5, 1.9e-5, 4.1e-5]),
    row(16, 1, [3.2e-5, 3.7e-5, 1.4e-4], [3.4e-5, 2.0e-5, 9.8e-5]),
    row(32, 1, [1.1e-4, 4.2e-5, 6.3e-4], [2.3e-4, 3.8e-5, 2.3e-4]),
    row(2, 10, [3.0e-5, 3.4e-5, 3.2e-5], [2.6e-5, 1.8e-5, 4.2e-5]),
    row(4, 10, [5.1e-5, 7.2e-5, 1.4e-4], [3.5e-5, 4.6e-5, 7.8e-5]),
    row(8, 10, [7.3e-5, 9.1e-5, 4.6e-4], [5.7e-5, 5.6e-5, 4.6e-4]),
    row(16, 10, [3.7e-4, 1.0e-4, 2.2e-3], [4.3e-4, 8.1e-5, 1.8e-4]),
    row(32, 10, [3.0e-3, 4.2e-4, 9.2e-4], [3.8e-3, 4.0e-4, 1.2e-3]),
    row(2, 100, [2.6e-4, 1.6e-4, 4.2e-4], [8.4e-5, 1.2e-4, 2.7e-4]),
    row(4, 100, [4.4e-4, 5.2e-4, 3.9e-3], [3.5e-4, 3.7e-4, 2.1e-3]),
    row(8, 100, [2.6e-3, 6.1e-4, 7.8e-3], [3.0e-3, 6.1e-4, 5.3e-3]),
    row(16, 100, [2.2e-2, 3.2e-3, 1.2e-2], [2.7e-2, 3.2e-3, 8.0e-3]),
    row(32, 100, [1.9e-1, 2.5e-2, 5.1e-2], [2.2e-1, 2.5e-2, 5.3e-2]),
];

/// The seconds of a strategy on T600, A100 and MI210, where the table has them.
pub fn seconds(edge: u64, per_cell: u64, strategy: Strategy) -> Option<[f64; 3]> {
    let row = TABLE.iter().find(|row| row.edge == edge && row.per_cell == per_cell)?;
    match strategy {
        Strategy::Particle => Some(row.particle),
        Strategy::Pencil => Some(row.pencil),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_two_strategies() {
        assert_eq!(seconds(16, 10, Strategy::Pencil), Some([4.3e-4, 8.1e-5, 1.8e-4]));
        assert_eq!(seconds(2, 100, Strategy::Particle), Some([2.6e-4, 1.6e-4, 4.2e-4]));
        assert_eq!(seconds(2, 100, Strategy::Cell), None);
        assert_eq!(seconds(64, 1, Strategy::Pencil), None);
    }
}
