//! Memory use: the peak of the ranks so far, and an estimate for a run.

mod available;

pub use available::available;

use crate::comm::Communicator;
use crate::report;

/// Returns the peak resident memory of this process (bytes); 0 if the system does not report it.
pub fn peak() -> u64 {
    of_status("VmHWM:")
}

/// Returns the current memory of this process, resident or swapped out (bytes); 0 if the system does not
/// report it.
pub fn held() -> u64 {
    of_status("VmRSS:") + of_status("VmSwap:")
}

/// Returns an entry of `/proc/self/status` (bytes).
fn of_status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// Minimum, mean and maximum of a quantity over the ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Minimum.
    pub least: f64,
    /// Mean over all ranks.
    pub mean: f64,
    /// Maximum.
    pub largest: f64,
}

impl Spread {
    /// Reduces a value of each rank. Collective.
    pub fn over_ranks(comm: &Communicator, own: f64) -> Self {
        let (mut least, mut sum, mut largest) = ([own], [own], [own]);
        comm.all_min(&mut least);
        comm.all_sum(&mut sum);
        comm.all_max(&mut largest);
        Spread { least: least[0], mean: sum[0] / comm.size() as f64, largest: largest[0] }
    }

    fn format_quantity(&self, ranks: usize, number: impl Fn(f64) -> String) -> String {
        match ranks {
            1 => number(self.mean),
            _ => format!(
                "{} least, {} mean, {} largest of a rank",
                number(self.least),
                number(self.mean),
                number(self.largest)
            ),
        }
    }
}

/// Peak memory of the ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Bytes.
    pub bytes: Spread,
    /// Bytes per particle that the rank owns now; a rank without particles counts as having one.
    pub per_particle: Spread,
    ranks: usize,
}

impl Peak {
    /// Returns the peak so far; this rank owns `owned` particles now. Collective.
    pub fn over_ranks(comm: &Communicator, owned: usize) -> Self {
        let bytes = peak() as f64;
        Peak {
            bytes: Spread::over_ranks(comm, bytes),
            per_particle: Spread::over_ranks(comm, bytes / owned.max(1) as f64),
            ranks: comm.size(),
        }
    }
}

impl std::fmt::Display for Peak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.bytes.largest == 0.0 {
            return write!(f, "peak memory: not reported by the system");
        }
        let bytes = self.bytes.format_quantity(self.ranks, bytes);
        let each = self.per_particle.format_quantity(self.ranks, |bytes| format!("{bytes:.0}"));
        write!(f, "peak memory: {bytes}; bytes a particle: {each}")
    }
}

/// Formats a number of bytes: `412 MB`.
pub fn bytes(bytes: f64) -> String {
    let text = report::quantity(bytes);
    match text.char_indices().next_back() {
        Some((at, suffix @ ('k' | 'M' | 'G'))) => format!("{} {suffix}B", &text[..at]),
        _ => format!("{text} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;

    #[test]
    fn a_rank_tells_one_number_and_ranks_tell_three() {
        let spreads = run_local(3, |comm| Spread::over_ranks(&comm, 2e6 * (1.0 + comm.rank() as f64)));
        assert_eq!(spreads[1], Spread { least: 2e6, mean: 4e6, largest: 6e6 });
        let each = Spread { least: 380.0, mean: 400.4, largest: 420.0 };
        let mut peak = Peak { bytes: spreads[1], per_particle: each, ranks: 3 };
        assert_eq!(
            peak.to_string(),
            "peak memory: 2.00 MB least, 4.00 MB mean, 6.00 MB largest of a rank; bytes a particle: 380 least, 400 mean, \
             420 largest of a rank"
        );
        peak.ranks = 1;
        assert_eq!(peak.to_string(), "peak memory: 4.00 MB; bytes a particle: 400");
        assert_eq!(bytes(950.0), "950 B");
        assert_eq!(bytes(41_200.0), "41.2 kB");
    }

    #[test]
    fn this_process_has_memory() {
        if cfg!(target_os = "linux") {
            let block = vec![1u8; 64 << 20];
            assert!(peak() > std::hint::black_box(&block).len() as u64);
        }
    }
}
