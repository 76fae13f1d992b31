//! Loops over the owned rows in pieces of a fixed size: threads share the pieces, and sums over them have the same bits
//! for any number of threads.

use std::ops::Range;

use fearless_simd::Simd;

use super::Instructions;
use super::lane::{Task, dispatch};
use crate::particles::{Field, Particles};
use crate::turns::{each, runs};

/// Rows of a piece: its columns fit the cache of a core.
pub const PIECE: usize = 2048;

/// Consecutive owned rows of some columns.
pub struct Piece<'a, const N: usize> {
    /// The first of the rows.
    pub first: usize,
    /// Their ids.
    pub id: &'a [u64],
    /// The columns, in the order in which they were asked for; all of one length.
    pub columns: [&'a mut [f64]; N],
}

/// What is done with every piece.
pub trait Work<const N: usize>: Sync {
    /// What a piece gives.
    type Output: Send + Sync;
    /// The columns that it needs.
    const WANTED: [(Field, usize); N];
    /// Do it; `#[inline(always)]`, as all that it calls, or it loses the processor's wider instructions.
    fn run<S: Simd>(&self, simd: S, piece: Piece<N>) -> Self::Output;
}

/// Do the work on all pieces of the owned rows, and return what they gave in the order of the rows.
pub fn by_pieces<const N: usize, W: Work<N>>(particles: &mut Particles, work: &W) -> Vec<W::Output> {
    each(pieces(particles, W::WANTED), |piece| dispatch(Instructions::Best, On { piece, work }))
}

/// [`by_pieces`] of what has nothing to gain from the processor's wider instructions.
pub fn over_pieces<const N: usize, O: Send + Sync>(
    particles: &mut Particles,
    wanted: [(Field, usize); N],
    work: impl Fn(Piece<N>) -> O + Send + Sync,
) -> Vec<O> {
    each(pieces(particles, wanted), work)
}

/// The pieces of the owned rows, in their order: for what needs more of a row than columns.
pub fn pieces<const N: usize>(particles: &mut Particles, wanted: [(Field, usize); N]) -> Vec<Piece<'_, N>> {
    let owned = particles.owned();
    let (ids, columns) = particles.ids_and_components_mut(wanted);
    let mut columns = columns.map(|column| column[owned.clone()].chunks_mut(PIECE));
    let piece = |(k, id)| Piece {
        first: owned.start + k * PIECE,
        id,
        columns: std::array::from_fn(|c| columns[c].next().unwrap_or_default()),
    };
    ids[owned.clone()].chunks(PIECE).enumerate().map(piece).collect()
}

/// Reduce what is found in the pieces of some rows, for who only reads them; the order of the pieces must not matter.
pub fn reduce_pieces<O: Send + Sync>(
    rows: Range<usize>,
    find: impl Fn(Range<usize>) -> O + Send + Sync,
    join: impl Fn(O, O) -> O + Send + Sync,
) -> Option<O> {
    each(runs(rows, PIECE), find).into_iter().reduce(join)
}

struct On<'a, const N: usize, W> {
    piece: Piece<'a, N>,
    work: &'a W,
}

impl<const N: usize, W: Work<N>> Task for On<'_, N, W> {
    type Output = W::Output;
    type Scalar = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> W::Output {
        self.work.run(simd, self.piece)
    }
}
