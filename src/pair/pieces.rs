//! Loops over the owned rows in pieces of a fixed size: threads share the pieces, and sums over them have the same bits
//! for any number of threads.

use fearless_simd::Simd;
use rayon::prelude::*;

use super::Instructions;
use super::lane::{Task, dispatch};
use crate::particles::{Field, Particles};

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
    type Output: Send;
    /// The columns that it needs.
    const WANTED: [(Field, usize); N];
    /// Do it; `#[inline(always)]`, as all that it calls, or it loses the processor's wider instructions.
    fn run<S: Simd>(&self, simd: S, piece: Piece<N>) -> Self::Output;
}

/// Do the work on all pieces of the owned rows, and return what they gave in the order of the rows.
pub fn by_pieces<const N: usize, W: Work<N>>(particles: &mut Particles, work: &W) -> Vec<W::Output> {
    let owned = particles.owned();
    let (ids, columns) = particles.ids_and_components_mut(W::WANTED);
    let mut columns = columns.map(|column| column[owned.clone()].chunks_mut(PIECE));
    let pieces: Vec<Piece<N>> = ids[owned.clone()]
        .chunks(PIECE)
        .enumerate()
        .map(|(k, id)| Piece {
            first: owned.start + k * PIECE,
            id,
            columns: std::array::from_fn(|c| columns[c].next().unwrap_or_default()),
        })
        .collect();
    let run = |piece| dispatch(Instructions::Best, On { piece, work });
    match pieces.len() {
        // not worth waking a thread
        0 | 1 => pieces.into_iter().map(run).collect(),
        _ => pieces.into_par_iter().map(run).collect(),
    }
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
