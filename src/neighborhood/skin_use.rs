//! The used part of a list's skins, and the decision that follows from it: reuse, prune or rebuild.
//! Processors and devices share it; each measures displacements in its own memory.

use super::Skins;
use crate::Result;
use crate::faults::{Fault, planted};

/// Work needed before the list covers all pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// Prune the inner list from the outer one.
    Prune,
    /// Build the outer list.
    Build,
}

/// Used skins (outer, inner) of all ranks.
///
/// A skin `s` around the interaction range `r` is used up when `2 (u + g) / r = s` for a particle that has
/// moved by `u` since the build and whose range has grown by `g` (see [`super::skin::Skin`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SkinUse {
    /// Upper bounds at the last decision; `None` without a valid list.
    used: Option<[f64; 2]>,
    /// Upper bound of the use since then, if known.
    since: Option<f64>,
}

impl SkinUse {
    /// Forces a build. Call it on all ranks.
    pub fn invalidate(&mut self) {
        *self = SkinUse::default();
    }

    /// The outer list was built at the current positions.
    pub fn built(&mut self) {
        *self = SkinUse { used: Some([0.0; 2]), since: None };
    }

    /// The inner list was pruned at the current positions.
    pub fn pruned(&mut self) {
        self.used = self.used.map(|[outer, _]| [outer, 0.0]);
    }

    /// Records that no particle of any rank has used more of its skin than this in a step: `2 u / r`. Call it
    /// after every step with the same value on all ranks, or never.
    pub fn record(&mut self, used: f64) {
        self.since = Some(self.since.unwrap_or(0.0) + used);
    }

    /// Whether the recorded bounds prove that the list serves after a further use of the skins.
    pub fn serves_after(&self, skins: Skins, further: f64) -> bool {
        self.bound(further).is_some_and(|used| decide(skins, used) == Due::Nothing)
    }

    /// What the recorded bounds leave of the outer skin; `None` without a valid list, or with an inner one.
    pub fn remaining(&self, skins: Skins) -> Option<f64> {
        let [used, _] = self.bound(0.0).filter(|_| skins.inner.is_none())?;
        Some(skins.outer - used).filter(|left| *left > 0.0)
    }

    /// Decides what the list needs. While the recorded bounds prove the list valid, `measure` is not called.
    /// It returns the used skins by the positions, maximum over all ranks. Collective: the same on all ranks.
    ///
    /// # Errors
    /// Those of `measure`.
    pub fn due(&mut self, skins: Skins, measure: impl FnOnce() -> Result<[f64; 2]>) -> Result<Due> {
        let (serves, bound, recorded) = (self.serves_after(skins, 0.0), self.bound(0.0), self.since.take());
        // a list without a skin is valid for one step; nothing is known of an invalid one
        if skins.outer == 0.0 || self.used.is_none() {
            return Ok(Due::Build);
        }
        if recorded.is_some() && serves {
            self.used = bound;
            return Ok(Due::Nothing);
        }
        let used = measure()?;
        self.used = Some(used);
        Ok(decide(skins, used))
    }

    fn bound(&self, further: f64) -> Option<[f64; 2]> {
        self.used.map(|used| used.map(|used| used + self.since.unwrap_or(0.0) + further))
    }
}

/// Decision for used skins.
fn decide(skins: Skins, [outer, inner]: [f64; 2]) -> Due {
    match skins.inner {
        _ if outer.is_infinite() => Due::Build,
        _ if planted(Fault::ListStale) => Due::Nothing,
        Some(own) if inner <= own => Due::Nothing,
        // pairs of the new inner list must be in the outer one
        Some(own) if outer + own <= skins.outer => Due::Prune,
        None if outer <= skins.outer => Due::Nothing,
        _ => Due::Build,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKINS: Skins = Skins { outer: 0.3, inner: Some(0.1) };
    const OUTER_ONLY: Skins = Skins { outer: 0.3, inner: None };

    fn unread() -> Result<[f64; 2]> {
        panic!("the bound suffices")
    }

    #[test]
    fn positions_are_read_only_when_the_bound_exceeds_the_skin() {
        let mut used = SkinUse::default();
        assert_eq!(used.due(OUTER_ONLY, unread).unwrap(), Due::Build, "no list yet");
        used.built();
        for _ in 0..3 {
            used.record(0.09);
            assert_eq!(used.due(OUTER_ONLY, unread).unwrap(), Due::Nothing);
        }
        assert!(used.serves_after(OUTER_ONLY, 0.02) && !used.serves_after(OUTER_ONLY, 0.04));
        used.record(0.01);
        assert!(!used.serves_after(OUTER_ONLY, 0.025), "recorded steps count");
        // the sum of maxima exceeds the skin, the largest displacement does not
        used.record(0.09);
        assert_eq!(used.due(OUTER_ONLY, || Ok([0.2, 0.0])).unwrap(), Due::Nothing);
        used.record(0.09);
        assert_eq!(used.due(OUTER_ONLY, unread).unwrap(), Due::Nothing);
        assert_eq!(used.due(OUTER_ONLY, || Ok([0.31, 0.0])).unwrap(), Due::Build, "nothing recorded");
        used.built();
        used.record(0.09);
        used.record(0.09);
        let left = used.remaining(OUTER_ONLY).unwrap();
        assert!((left - 0.12).abs() < 1e-12 && used.serves_after(OUTER_ONLY, left * (1.0 - 1e-12)));
        assert_eq!(used.remaining(SKINS), None, "an inner list is pruned earlier");
        used.record(0.2);
        assert_eq!(used.remaining(OUTER_ONLY), None);
        used.invalidate();
        assert_eq!(used.remaining(OUTER_ONLY), None);
        used.record(0.0);
        assert_eq!(used.due(OUTER_ONLY, unread).unwrap(), Due::Build);
    }

    #[test]
    fn an_inner_list_is_pruned_while_the_outer_one_covers_it() {
        let mut used = SkinUse::default();
        used.built();
        used.record(0.1);
        assert_eq!(used.due(SKINS, unread).unwrap(), Due::Nothing);
        used.record(0.1);
        assert_eq!(used.due(SKINS, || Ok([0.15, 0.15])).unwrap(), Due::Prune);
        used.pruned();
        used.record(0.1);
        assert_eq!(used.due(SKINS, unread).unwrap(), Due::Nothing);
        used.record(0.1);
        assert_eq!(used.due(SKINS, || Ok([0.25, 0.11])).unwrap(), Due::Build);
    }

    #[test]
    fn a_list_without_a_skin_serves_once_and_moved_rows_need_a_new_one() {
        let mut used = SkinUse::default();
        used.built();
        used.record(0.0);
        assert_eq!(used.due(Skins { outer: 0.0, inner: None }, unread).unwrap(), Due::Build);
        assert_eq!(used.due(SKINS, || Ok([f64::INFINITY, 0.0])).unwrap(), Due::Build);
    }
}
