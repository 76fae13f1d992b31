//! Robust estimate of the undisturbed time of a step on a shared machine.

/// Times of steps, classified by list work, which determines their length.
#[derive(Default)]
pub(super) struct Quiet {
    /// Times (s) of steps with no list work, with pruning only, and with a list build.
    kinds: [Vec<f64>; 3],
}

impl Quiet {
    /// Adds a step of `seconds` s with `built` list builds and `pruned` prunings.
    pub fn add(&mut self, seconds: f64, built: u64, pruned: u64) {
        let kind = match (built, pruned) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => 2,
        };
        self.kinds[kind].push(seconds);
    }

    /// Returns the mean time of a step (s), with each class represented by its first decile: disturbances by
    /// other processes only make steps longer.
    pub fn seconds(&self) -> f64 {
        let of_kind = |seconds: &Vec<f64>| {
            let mut sorted = seconds.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let tenth = sorted.get(sorted.len().saturating_sub(1) / 10);
            tenth.map_or(0.0, |tenth| tenth * sorted.len() as f64)
        };
        let steps: usize = self.kinds.iter().map(Vec::len).sum();
        self.kinds.iter().map(of_kind).sum::<f64>() / steps.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_count_by_how_many_there_are_and_what_disturbs_some_counts_for_nothing() {
        let mut quiet = Quiet::default();
        assert_eq!(quiet.seconds(), 0.0);
        for step in 0..40 {
            let disturbed = if step % 3 == 0 { 10.0 } else { 0.0 };
            quiet.add(1.0 + disturbed, 0, 0);
        }
        assert_eq!(quiet.seconds(), 1.0);
        (0..8).for_each(|_| quiet.add(3.0, 0, 1));
        // Each built list is pruned as well.
        (0..2).for_each(|_| quiet.add(8.0, 1, 1));
        assert_eq!(quiet.seconds(), (40.0 * 1.0 + 8.0 * 3.0 + 2.0 * 8.0) / 50.0);
    }
}
