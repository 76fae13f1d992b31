//! Input of a sweep over cells: positions and packed values in the order of the cells, so that those of
//! neighboring cells are contiguous.

use super::pack::{GEOMETRY, PackedInput};
use crate::neighbors::CellList;
use crate::parallel::{map_items, zeros};
use crate::simd::Scalar;
use crate::space::rounded;

/// Places per task.
const TASK_PLACES: usize = 1024;

/// Column of the squared radius, the first one of [`CellInput`].
const RADIUS: usize = GEOMETRY - 1;

/// Columns by place of a [`CellList`].
pub struct CellInput<T> {
    /// Positions, at the images nearest to their cells.
    position: [Vec<f64>; 3],
    /// Squared radii, then the prepared inputs of the law.
    columns: Vec<Vec<T>>,
}

/// Places of a task, from `first` on.
struct Part<'a, T> {
    first: usize,
    position: [&'a mut [f64]; 3],
    columns: Vec<&'a mut [T]>,
}

impl<T: Scalar> CellInput<T> {
    /// Sorts the positions of the rows and their packed columns with `inputs` prepared inputs.
    pub fn new(list: &CellList, packed: &PackedInput<T>, position: [&[f64]; 3], inputs: usize) -> Self {
        let count = list.rows().len();
        let mut sorted = CellInput {
            position: [(); 3].map(|()| zeros(count)),
            columns: (0..=inputs).map(|_| zeros(count)).collect(),
        };
        map_items(sorted.parts(), |part| part.fill(list, packed, position));
        sorted
    }

    fn parts(&mut self) -> Vec<Part<'_, T>> {
        let mut position = self.position.each_mut().map(|column| column.chunks_mut(TASK_PLACES));
        let mut columns: Vec<_> =
            self.columns.iter_mut().map(|column| column.chunks_mut(TASK_PLACES)).collect();
        let mut parts = Vec::new();
        while let [Some(x), Some(y), Some(z)] = position.each_mut().map(Iterator::next) {
            let columns = columns.iter_mut().filter_map(Iterator::next).collect();
            parts.push(Part { first: parts.len() * TASK_PLACES, position: [x, y, z], columns });
        }
        parts
    }

    /// Positions by place.
    #[inline(always)]
    pub fn position(&self) -> [&[f64]; 3] {
        [&self.position[0], &self.position[1], &self.position[2]]
    }

    /// Column by place: the squared radii, then the prepared inputs.
    #[inline(always)]
    pub fn column(&self, column: usize) -> &[T] {
        &self.columns[column]
    }
}

impl<T: Scalar> Part<'_, T> {
    fn fill(self, list: &CellList, packed: &PackedInput<T>, from: [&[f64]; 3]) {
        let Part { first, mut position, columns } = self;
        let rows = &list.rows()[first..first + position[0].len()];
        let (mut last, mut center) = (usize::MAX, [0.0; 3]);
        for (place, &row) in rows.iter().enumerate() {
            let row = row as usize;
            match list.cell_of(row) {
                Some(cell) if cell != last => (last, center) = (cell, list.center(cell).into()),
                _ => {}
            }
            for (d, position) in position.iter_mut().enumerate() {
                let x = from[d][row];
                position[place] = x - packed.periods[d] * rounded((x - center[d]) * packed.frequency[d]);
            }
        }
        for (c, column) in columns.into_iter().enumerate() {
            column
                .iter_mut()
                .zip(rows)
                .for_each(|(value, &row)| *value = packed.value(row as usize, RADIUS + c));
        }
    }
}
