//! Memory: the most that the ranks have had, and what a run will need.

mod available;
mod estimate;

pub use available::available;
pub use estimate::Estimate;

use crate::comm::Communicator;
use crate::report;

/// The most memory that this process has had resident at once, in bytes; 0 where the system does not tell.
pub fn peak() -> u64 {
    of_status("VmHWM:")
}

/// The memory that this process holds now, resident or swapped out, in bytes; 0 where the system does not tell.
pub fn held() -> u64 {
    of_status("VmRSS:") + of_status("VmSwap:")
}

/// A number of bytes that the system tells of this process.
fn of_status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// Least, mean and largest of a quantity over the ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Of the rank with the least.
    pub least: f64,
    /// Over all ranks.
    pub mean: f64,
    /// Of the rank with the most.
    pub largest: f64,
}

impl Spread {
    /// Of what each rank brings. Collective.
    pub fn over_ranks(comm: &Communicator, own: f64) -> Self {
        let (mut least, mut sum, mut largest) = ([own], [own], [own]);
        comm.all_min(&mut least);
        comm.all_sum(&mut sum);
        comm.all_max(&mut largest);
        Spread { least: least[0], mean: sum[0] / comm.size() as f64, largest: largest[0] }
    }

    fn told(&self, ranks: usize, number: impl Fn(f64) -> String) -> String {
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

/// The peak memory of the ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Bytes.
    pub bytes: Spread,
    /// Bytes over the number of particles that the rank owns now; of ranks without particles as if they had one.
    pub per_particle: Spread,
    ranks: usize,
}

impl Peak {
    /// The peak so far of ranks that own so many particles now. Collective.
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
            return write!(f, "peak memory: the system does not tell");
        }
        let bytes = self.bytes.told(self.ranks, bytes);
        let each = self.per_particle.told(self.ranks, |bytes| format!("{bytes:.0}"));
        write!(f, "peak memory: {bytes}; bytes a particle: {each}")
    }
}

/// A number of bytes for people: `412 MB`.
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
