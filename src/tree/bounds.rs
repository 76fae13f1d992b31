//! Tight boxes and largest radii of octree nodes.

use super::octree::Octree;
use rayon::prelude::*;
use std::ops::Range;

/// Tight box and largest radius of the particles of each node. An empty node has an inverted box (`lower` at
/// +infinity, `upper` at -infinity) and radius 0.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Lower corners.
    pub lower: Vec<[f64; 3]>,
    /// Upper corners.
    pub upper: Vec<[f64; 3]>,
    /// Largest radii.
    pub radius: Vec<f64>,
}

/// Tight box and largest radius of some particles; also a message between ranks.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Extent {
    /// Lower corner.
    pub lower: [f64; 3],
    /// Upper corner.
    pub upper: [f64; 3],
    /// Largest radius.
    pub radius: f64,
}

impl Extent {
    /// Extent of no particles.
    pub const NOTHING: Extent =
        Extent { lower: [f64::INFINITY; 3], upper: [f64::NEG_INFINITY; 3], radius: 0.0 };

    /// Whether there are no particles.
    pub fn is_nothing(&self) -> bool {
        self.lower[0] > self.upper[0]
    }

    /// Union of two extents.
    #[inline]
    #[must_use]
    pub fn with(mut self, other: Extent) -> Self {
        for d in 0..3 {
            self.lower[d] = self.lower[d].min(other.lower[d]);
            self.upper[d] = self.upper[d].max(other.upper[d]);
        }
        self.radius = self.radius.max(other.radius);
        self
    }

    /// Extent of one particle.
    #[inline]
    pub fn of_row(position: [&[f64]; 3], radius: &[f64], row: usize) -> Self {
        let point = position.map(|column| column[row]);
        Extent { lower: point, upper: point, radius: radius[row] }
    }

    /// Extent of all particles in `rows`.
    pub fn of_all(position: [&[f64]; 3], radius: &[f64], rows: Range<usize>) -> Self {
        let [x, y, z] = position.map(|column| min_max(&column[rows.clone()]));
        let largest = min_max(&radius[rows])[1].max(0.0);
        Extent { lower: [x[0], y[0], z[0]], upper: [x[1], y[1], z[1]], radius: largest }
    }

    /// Extent of the particles in `rows` that are not ghosts.
    #[inline]
    pub fn of_rows(
        position: [&[f64]; 3],
        radius: &[f64],
        ghost: &(impl Fn(usize) -> bool + Sync + ?Sized),
        rows: Range<usize>,
    ) -> Self {
        rows.filter(|&row| !ghost(row))
            .fold(Self::NOTHING, |extent, row| extent.with(Self::of_row(position, radius, row)))
    }
}

/// Minimum and maximum of some numbers, in eight lanes that the compiler vectorizes.
fn min_max(values: &[f64]) -> [f64; 2] {
    let (mut least, mut greatest) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    let mut with = |k: usize, value: f64| {
        least[k] = if value < least[k] { value } else { least[k] };
        greatest[k] = if value > greatest[k] { value } else { greatest[k] };
    };
    let (eights, rest) = values.as_chunks::<8>();
    eights.iter().for_each(|eight| (0..8).for_each(|k| with(k, eight[k])));
    rest.iter().for_each(|&value| with(0, value));
    [least.into_iter().fold(f64::INFINITY, f64::min), greatest.into_iter().fold(f64::NEG_INFINITY, f64::max)]
}

impl Bounds {
    /// Computes the bounds of all nodes, bottom-up from the rows of the leaves; ghosts are skipped.
    pub fn new(
        tree: &Octree,
        position: [&[f64]; 3],
        radius: &[f64],
        ghost: &(impl Fn(usize) -> bool + Sync + ?Sized),
    ) -> Self {
        let mut extents = vec![Extent::NOTHING; tree.len()];
        for level in tree.upward() {
            let (begin, end) = (level.start, level.end);
            let (upper, deeper) = extents.split_at_mut(end);
            upper[level].par_iter_mut().with_min_len(64).enumerate().for_each(|(k, extent)| {
                let node = begin + k;
                *extent = if tree.is_leaf(node) {
                    Extent::of_rows(position, radius, ghost, tree.rows(node))
                } else {
                    let children = tree.children(node);
                    deeper[children.start - end..children.end - end]
                        .iter()
                        .fold(Extent::NOTHING, |sum, child| sum.with(*child))
                };
            });
        }
        Self {
            lower: extents.iter().map(|extent| extent.lower).collect(),
            upper: extents.iter().map(|extent| extent.upper).collect(),
            radius: extents.iter().map(|extent| extent.radius).collect(),
        }
    }

    /// Returns the bounds of a node.
    pub fn extent(&self, node: usize) -> Extent {
        Extent { lower: self.lower[node], upper: self.upper[node], radius: self.radius[node] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::hilbert::END;
    use crate::tree::Leaves;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bounds_are_those_of_the_rows(
            mut rows in prop::collection::vec((0..END, prop::array::uniform3(-5.0f64..5.0), 0.0f64..1.0, 0u8..4), 0..200),
        ) {
            rows.sort_by_key(|row| row.0);
            let keys: Vec<u64> = rows.iter().map(|row| row.0).collect();
            let columns: Vec<Vec<f64>> = (0..3).map(|d| rows.iter().map(|row| row.1[d]).collect()).collect();
            let position = [&columns[0][..], &columns[1], &columns[2]];
            let radius: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let ghost = |row: usize| rows[row].3 == 0;
            let mut leaves = Leaves::root();
            leaves.converge(&keys, 5);
            let tree = Octree::new(&leaves, &keys);
            let bounds = Bounds::new(&tree, position, &radius, &ghost);
            for node in 0..tree.len() {
                prop_assert_eq!(bounds.extent(node), Extent::of_rows(position, &radius, &ghost, tree.rows(node)));
                let all = Extent::of_rows(position, &radius, &|_| false, tree.rows(node));
                prop_assert_eq!(Extent::of_all(position, &radius, tree.rows(node)), all);
            }
        }
    }

    #[test]
    fn ghosts_alone_are_nothing() {
        let extent = Extent::of_rows([&[f64::INFINITY]; 3], &[9.0], &|_| true, 0..1);
        assert!(extent.is_nothing());
        assert_eq!(extent, Extent::NOTHING);
    }
}
