//! A parameter per pair of kinds of particles, looked up on lanes.

use super::device_text;
use super::real::Real;
use std::marker::PhantomData;

/// A symmetric table of a quantity over pairs of kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table<R> {
    kinds: usize,
    /// The pairs (b, a), a <= b, in the order of b, then of a.
    entries: [f64; ENTRIES],
    lane: PhantomData<R>,
}

const ENTRIES: usize = Table::<f64>::KINDS * (Table::<f64>::KINDS + 1) / 2;

impl<R> Table<R> {
    /// Most kinds of particles: a lookup costs a comparison for each pair of them.
    pub const KINDS: usize = 8;
}

impl Table<f64> {
    /// The table of `value(a, b)` = `value(b, a)` for the kinds 0..`kinds`; `None` for none or more than [`Self::KINDS`].
    pub fn new(kinds: usize, mut value: impl FnMut(usize, usize) -> f64) -> Option<Self> {
        if !(1..=Self::KINDS).contains(&kinds) {
            return None;
        }
        let mut entries = [0.0; ENTRIES];
        let pairs = (0..kinds).flat_map(|b| (0..=b).map(move |a| (a, b)));
        entries.iter_mut().zip(pairs).for_each(|(entry, (a, b))| *entry = value(a, b));
        Some(Self { kinds, entries, lane: PhantomData })
    }

    /// The same table for lanes.
    #[inline(always)]
    pub fn lift<R: Real>(&self, _: R::Token) -> Table<R> {
        Table { kinds: self.kinds, entries: self.entries, lane: PhantomData }
    }

    /// The table as a C++ initializer.
    pub fn device_text(&self) -> String {
        let entries: Vec<String> = self.entries.iter().copied().map(device_text::real).collect();
        format!("Table{{{}, {{{}}}}}", self.kinds, device_text::list(&entries))
    }
}

/// The entry of a pair of kinds, which are whole numbers from 0 below the table's number of kinds.
///
/// Comparisons instead of a gather: lanes have no loads of their own on every processor, and few kinds are the rule (a
/// table of two has two comparisons).
#[inline(always)]
pub fn table_value<R: Real>(table: Table<R>, i: R, j: R) -> R {
    let of = |value| R::literal(i.token(), value);
    let place = i.max(j).mul_add(of(Table::<R>::KINDS as f64), i.min(j));
    let mut value = of(table.entries[0]);
    let mut entry = 1;
    for b in 1..table.kinds {
        for a in 0..=b {
            // places rise with the entries: what is not below this one is this one or a later one
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
