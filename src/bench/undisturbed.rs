//! Robust estimate of the undisturbed time of a step on a shared machine.

/// Times of steps, classified by list work, which determines their length.
#[derive(Default)]
pub(super) struct Quiet {
    /// Batches of steps without list work, of which the last only pruned, and of which the last built a list.
    kinds: [Vec<Batch>; 3],
}

/// Steps that were timed together.
struct Batch {
    seconds: f64,
    steps: u64,
}

impl Quiet {
    /// Adds `steps` steps that took `seconds` s together, the last with `built` list builds and `pruned`
    /// prunings.
    pub fn add(&mut self, seconds: f64, steps: u64, built: u64, pruned: u64) {
        let kind = match (built, pruned) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => 2,
        };
        self.kinds[kind].push(Batch { seconds, steps });
    }

    /// Returns the mean time of a step (s), with each class represented by its first decile: disturbances by
    /// other processes only make steps longer.
    pub fn seconds(&self) -> f64 {
        let [plain, with_work @ ..] = &self.kinds;
        let steps = |batches: &[Batch]| batches.iter().map(|batch| batch.steps).sum::<u64>();
        let of_plain = first_decile(plain.iter().map(|batch| batch.seconds / batch.steps as f64));
        let mut seconds = of_plain * steps(plain) as f64;
        for batches in with_work {
            // the steps before the last are plain ones
            let others = |batch: &Batch| (batch.steps - 1) as f64 * of_plain;
            let last = first_decile(batches.iter().map(|batch| (batch.seconds - others(batch)).max(0.0)));
            seconds += last * batches.len() as f64 + batches.iter().map(others).sum::<f64>();
        }
        seconds / self.kinds.iter().map(|batches| steps(batches)).sum::<u64>().max(1) as f64
    }
}

/// The first decile; 0 of nothing.
fn first_decile(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 10).copied().unwrap_or(0.0)
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
            quiet.add(1.0 + disturbed, 1, 0, 0);
        }
        assert_eq!(quiet.seconds(), 1.0);
        (0..8).for_each(|_| quiet.add(3.0, 1, 0, 1));
        // Each built list is pruned as well.
        (0..2).for_each(|_| quiet.add(8.0, 1, 1, 1));
        assert_eq!(quiet.seconds(), (40.0 * 1.0 + 8.0 * 3.0 + 2.0 * 8.0) / 50.0);
        // four plain steps and a build, timed together
        quiet.add(4.0 + 8.0, 5, 1, 0);
        assert_eq!(quiet.seconds(), (44.0 * 1.0 + 8.0 * 3.0 + 3.0 * 8.0) / 55.0);
    }
}
