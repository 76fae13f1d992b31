//! Parameters per pair of species, looked up in lanes.

use super::device_text;
use crate::simd::real::Real;
use std::marker::PhantomData;

/// Symmetric table of a quantity over pairs of species.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table<R> {
    kinds: usize,
    /// Entries (b, a) with a <= b, ordered by b, then a.
    entries: [f64; ENTRIES],
    lane: PhantomData<R>,
}

const ENTRIES: usize = Table::<f64>::KINDS * (Table::<f64>::KINDS + 1) / 2;

impl<R> Table<R> {
    /// Maximum number of species: a lookup costs a comparison per pair of them.
    pub const KINDS: usize = 8;
}

impl Table<f64> {
    /// Table of `value(a, b)` = `value(b, a)` for species 0 to `kinds` - 1; `None` if `kinds` is 0 or above
    /// [`Self::KINDS`].
    pub fn new(kinds: usize, mut value: impl FnMut(usize, usize) -> f64) -> Option<Self> {
        if !(1..=Self::KINDS).contains(&kinds) {
            return None;
        }
        let mut entries = [0.0; ENTRIES];
        let pairs = (0..kinds).flat_map(|b| (0..=b).map(move |a| (a, b)));
        entries.iter_mut().zip(pairs).for_each(|(entry, (a, b))| *entry = value(a, b));
        Some(Self { kinds, entries, lane: PhantomData })
    }

    /// Broadcasts the table to lanes.
    #[inline(always)]
    pub fn lift<R: Real>(&self, _: R::Token) -> Table<R> {
        Table { kinds: self.kinds, entries: self.entries, lane: PhantomData }
    }

    /// C++ initializer of the table.
    pub fn device_text(&self) -> String {
        let entries: Vec<String> = self.entries.iter().copied().map(device_text::real).collect();
        format!("Table{{{}, {{{}}}}}", self.kinds, device_text::list(&entries))
    }
}

/// Entry of a pair of species, integers from 0 below the table's number of species.
///
/// Comparisons instead of a gather: not every processor has gather instructions, and tables are small (one of
/// two species needs two comparisons).
#[inline(always)]
pub fn table_value<R: Real>(table: Table<R>, i: R, j: R) -> R {
    let of = |value| R::literal(i.token(), value);
    let place = i.max(j).mul_add(of(Table::<R>::KINDS as f64), i.min(j));
    let mut value = of(table.entries[0]);
    let mut entry = 1;
    for b in 1..table.kinds {
        for a in 0..=b {
            // Places ascend with the entries, so a place that is not below this one selects it or a later
            // one.
            let before = place.less(of((Table::<R>::KINDS * b + a) as f64));
            value = R::select(before, value, of(table.entries[entry]));
            entry += 1;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_find_every_pair() {
        for kinds in 1..=Table::<f64>::KINDS {
            let of = |a: usize, b: usize| (10 * a.max(b) + a.min(b)) as f64 + 0.5;
            let table = Table::new(kinds, of).unwrap();
            for (a, b) in (0..kinds).flat_map(|a| (0..kinds).map(move |b| (a, b))) {
                assert_eq!(table_value(table, a as f64, b as f64), of(a, b));
                assert_eq!(table_value(table.lift::<f32>(()), a as f32, b as f32), of(a, b) as f32);
            }
        }
        assert!(Table::new(0, |_, _| 1.0).is_none() && Table::new(9, |_, _| 1.0).is_none());
    }
}
