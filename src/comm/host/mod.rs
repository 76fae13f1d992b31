//! Shared memory of the ranks of one host. It avoids the two extra copies of MPI messages and the call
//! overhead for small ones.
//!
//! Each rank owns one [`Segment`] for point-to-point messages ([`exchange`]) and one for all-gathers
//! ([`board`]). Only the owner grows a segment and writes data to it. Ranks synchronize by monotonic counters
//! in the segments.

pub(super) mod all_gather;
pub(super) mod exchange;

use memmap2::{MmapOptions, MmapRaw};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write as _};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

/// Directory of the memory-backed file system.
const FOLDER: &str = "/dev/shm";

/// Segments grow by multiples of this size (bytes).
const PAGE: usize = 4096;

/// Length of a segment name (bytes).
const NAME: usize = 64;

/// A value on a cache line pair of its own. Adjacent lines are prefetched together, hence 128 bytes avoid
/// false sharing between ranks.
#[repr(C, align(128))]
struct Line<T>(T);

/// Types that ranks may read while other ranks write them.
///
/// # Safety
/// The type consists of atomics, its alignment divides [`PAGE`], and every bit pattern is a valid value.
unsafe trait Atomics {}

// SAFETY: an atomic integer; every bit pattern is valid.
unsafe impl Atomics for AtomicU64 {}
// SAFETY: holds for the content; the alignment is 128 bytes.
unsafe impl<T: Atomics> Atomics for Line<T> {}

/// A memory-mapped file. The map covers the largest possible length. Ranks access only published ranges,
/// which lie within the current length of the file, so that no access faults.
struct Segment {
    file: File,
    map: MmapRaw,
    /// Current length of the file (bytes).
    length: usize,
}

/// Number of polls of a counter before a waiting rank yields its core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SpinLimit(usize);

impl SpinLimit {
    /// A microsecond or two: the awaited rank may need this core.
    const SHORT: SpinLimit = SpinLimit(64);
    /// Some tens of microseconds, for one core per rank. Progressing MPI and yielding take long compared with
    /// a poll, and delay the end of the wait.
    const LONG: SpinLimit = SpinLimit(1024);

    /// Returns the limit for ranks with these affinity masks, one bit per core: long if each rank can have a
    /// core of its own.
    fn of(cores: &[[u8; NAME]]) -> Self {
        let any = |byte: usize| cores.iter().fold(0, |any, of_rank| any | of_rank[byte]);
        let together: u32 = (0..NAME).map(|byte| any(byte).count_ones()).sum();
        if together as usize >= cores.len() { SpinLimit::LONG } else { SpinLimit::SHORT }
    }

    /// Waits until the condition holds: polls without yielding first, then calls `idle` and yields before
    /// each poll.
    fn wait_until(self, idle: &dyn Fn(), mut is_true: impl FnMut() -> bool) {
        let mut polls = 0;
        while !is_true() {
            if polls < self.0 {
                polls += 1;
                std::hint::spin_loop();
            } else {
                idle();
                std::thread::yield_now();
            }
        }
    }
}

/// Returns the affinity mask of this rank for the first cores of the host, one bit each; all zero if the
/// system does not report it.
fn cores() -> [u8; NAME] {
    let mut cores = [0; NAME];
    #[cfg(target_os = "linux")]
    {
        // SAFETY: all-zero bytes are a valid `cpu_set_t`.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer and the size belong to `set`.
        if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } == 0 {
            // SAFETY: the set holds at least the cores that are queried.
            let has = |core: usize| unsafe { libc::CPU_ISSET(core, &set) };
            (0..8 * NAME).filter(|&core| has(core)).for_each(|core| cores[core / 8] |= 1 << (core % 8));
        }
    }
    cores
}

/// A path that is unlinked on drop.
struct UnlinkOnDrop(PathBuf);

impl Drop for UnlinkOnDrop {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Index of this rank among the ranks of its host, and their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub own: usize,
    pub count: usize,
}

/// All-gather of fixed-size messages among the ranks of a host, indexed by place. Collective.
pub(super) type AllGather<'g> = dyn Fn(&[u8; NAME]) -> Vec<[u8; NAME]> + 'g;

impl Segment {
    /// Creates a segment whose first `first` bytes exist and are zero.
    fn create(path: &Path, first: usize, largest: usize) -> Result<Self> {
        let mut segment = Self::map(private().create_new(true).open(path)?, largest)?;
        segment.grow_to(first)?;
        Ok(segment)
    }

    fn map(file: File, largest: usize) -> Result<Self> {
        let map = MmapOptions::new().len(largest).map_raw(&file)?;
        Ok(Self { file, map, length: 0 })
    }

    /// Grows the file to at least `bytes` bytes. The new bytes are written, so that a lack of memory is
    /// reported here and not as a fault later. Half of the free memory is left to others, including MPI.
    ///
    /// # Errors
    /// `FileTooLarge` beyond the map, `StorageFull` beyond half of the free memory, or an error of the write.
    fn grow_to(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.map.len() {
            return Err(ErrorKind::FileTooLarge.into());
        }
        if bytes > self.length {
            let wanted = bytes.max(2 * self.length).next_multiple_of(PAGE).min(self.map.len());
            if (wanted - self.length) as u64 > free(&self.file)? / 2 {
                return Err(ErrorKind::StorageFull.into());
            }
            while self.length < wanted {
                self.length += self.file.write(&[0; PAGE][..PAGE.min(wanted - self.length)])?;
            }
        }
        Ok(())
    }

    /// Returns element `k` of the array that starts at byte `begin`, a multiple of [`PAGE`].
    fn at<A: Atomics>(&self, begin: usize, k: usize) -> &A {
        let place = begin + k * size_of::<A>();
        assert!(begin.is_multiple_of(PAGE) && place + size_of::<A>() <= self.map.len(), "within a segment");
        // SAFETY: within the map, as asserted, which starts at a page boundary. Within the file, whose
        // counters exist before other ranks learn its name. Every bit pattern is valid, and concurrent
        // changes are allowed.
        unsafe { &*self.map.as_ptr().wrapping_add(place).cast::<A>() }
    }

    fn bytes(&self, range: Range<usize>) -> *mut [u8] {
        assert!(range.start <= range.end && range.end <= self.map.len(), "values are within a segment");
        std::ptr::slice_from_raw_parts_mut(self.map.as_mut_ptr().wrapping_add(range.start), range.len())
    }
}

fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

/// Returns the free bytes of the file system that holds `file`.
fn free(file: &File) -> Result<u64> {
    // SAFETY: all-zero bytes are a valid `statvfs`.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the file is open, and the pointer is valid for writes.
    match unsafe { libc::fstatvfs(file.as_raw_fd(), &raw mut found) } {
        0 => Ok(found.f_bavail.saturating_mul(found.f_frsize)),
        _ => Err(Error::last_os_error()),
    }
}

/// Creates this rank's segment with `first` zero bytes and opens those of the other ranks of the host.
/// Returns them by place with the spin limit, or `None` on all ranks if it fails on one. Collective.
fn segments(
    place: Place,
    first: usize,
    largest: usize,
    all_gather: &AllGather,
) -> Option<(Vec<Segment>, SpinLimit)> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let name = format!("hilbrium-{}-{}-{since}", std::process::id(), place.own);
    let path = |name: &str| Path::new(FOLDER).join(name);
    let mut segment = Segment::create(&path(&name), first, largest).ok();
    let unlink = UnlinkOnDrop(path(&name));
    let mut bytes = [0; NAME];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    let names = all_gather(&bytes);
    let open = |(of, name): (usize, &[u8; NAME])| -> Option<Segment> {
        if of == place.own {
            return segment.take();
        }
        let name = std::str::from_utf8(name).ok()?.trim_end_matches('\0');
        Segment::map(private().open(path(name)).ok()?, largest).ok()
    };
    let segments: Option<Vec<Segment>> = names.iter().enumerate().map(open).collect();
    let there = all_gather(&[u8::from(segments.is_some()); NAME]);
    // All ranks have opened the file.
    drop(unlink);
    let spin_limit = SpinLimit::of(&all_gather(&cores()));
    segments.filter(|_| there.iter().all(|there| there[0] == 1)).map(|segments| (segments, spin_limit))
}

#[cfg(test)]
mod tests;
