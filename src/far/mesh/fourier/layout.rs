//! Layout of the waves of a plane in vectors.

use super::FourierScalar;

/// Waves of a plane of constant x (or kx): `rows` values of ky and a range of kz.
///
/// Units of two vectors (real parts, imaginary parts) have the waves of one ky and `LANES` consecutive kz:
/// all rows of the first `LANES` kz, then all rows of the next ones. For each of the remaining kz, fewer than
/// `LANES`, units have the waves of `LANES` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Number of ky.
    pub rows: usize,
    /// Number of whole blocks of `LANES` kz.
    pub blocks: usize,
    /// Number of remaining kz.
    pub tail: usize,
    /// Number of groups of `LANES` rows, the last one padded.
    pub groups: usize,
    lanes: usize,
}

impl Layout {
    pub fn new<T: FourierScalar>(rows: usize, waves: usize) -> Self {
        let lanes = T::LANES;
        Layout { rows, blocks: waves / lanes, tail: waves % lanes, groups: rows.div_ceil(lanes), lanes }
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.rows * self.blocks + self.tail * self.groups
    }

    /// Number of vectors.
    pub fn vectors(&self) -> usize {
        2 * self.units()
    }

    /// Number of vectors of the whole blocks.
    pub fn full_vectors(&self) -> usize {
        2 * self.rows * self.blocks
    }

    /// Numbers of the row and of the kz of a lane; `None` in the padding.
    pub fn wave(&self, unit: usize, lane: usize) -> Option<[usize; 2]> {
        match unit.checked_sub(self.rows * self.blocks) {
            None => Some([unit % self.rows, unit / self.rows * self.lanes + lane]),
            Some(unit) => {
                let row = unit % self.groups * self.lanes + lane;
                (row < self.rows).then_some([row, self.blocks * self.lanes + unit / self.groups])
            }
        }
    }
}
