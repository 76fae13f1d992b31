//! Memory that the ranks of a host share: values are copied from and to their columns, where messages are copied twice more, and
//! nobody calls a library for a few bytes.
//!
//! Each rank has a [`Segment`] for what it tells others ([`exchange`]), and one for what all tell each other ([`board`]). Its
//! owner alone makes it larger and writes values; what ranks wait for are counts in it that only grow.

pub(super) mod board;
pub(super) mod exchange;

use memmap2::{MmapOptions, MmapRaw};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write as _};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where files are memory.
const FOLDER: &str = "/dev/shm";

/// Segments grow by multiples of so many bytes.
const PAGE: usize = 4096;

/// Bytes of a name.
const NAME: usize = 64;

/// Two lines of a cache, which are fetched in pairs: what one rank writes is not beside what another does.
#[repr(C, align(128))]
struct Line<T>(T);

/// What ranks may look at while others write it.
///
/// # Safety
/// It is made of atomics, its alignment divides [`PAGE`], and any bytes are a value of it.
unsafe trait Atomics {}

// SAFETY: these are.
unsafe impl Atomics for AtomicU64 {}
// SAFETY: as what it holds; aligned to 128 bytes.
unsafe impl<T: Atomics> Atomics for Line<T> {}

/// A file in memory. It is mapped as long as it may become; what its owner says is there lies within its length, so that no access
/// fails.
struct Segment {
    file: File,
    map: MmapRaw,
    /// Bytes that its owner has made.
    length: usize,
}

/// How often a rank looks at a count before it leaves its core to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Looks(usize);

impl Looks {
    /// For a microsecond or two: the core may be needed by the rank that is waited for.
    const FEW: Looks = Looks(64);
    /// For some tens of microseconds. To ask MPI and the system takes long beside a look, and meanwhile nobody sees that the wait is over.
    const MANY: Looks = Looks(1024);

    /// Of ranks with these cores, a bit for each: many where all of them can run at once.
    fn of(cores: &[[u8; NAME]]) -> Self {
        let any = |byte: usize| cores.iter().fold(0, |any, of_rank| any | of_rank[byte]);
        let together: u32 = (0..NAME).map(|byte| any(byte).count_ones()).sum();
        if together as usize >= cores.len() { Looks::MANY } else { Looks::FEW }
    }

    /// Look until it is true: first at once again, then after others had the core; `idle` is called then.
    fn until(self, idle: &dyn Fn(), mut is_true: impl FnMut() -> bool) {
        let mut looks = 0;
        while !is_true() {
            if looks < self.0 {
                looks += 1;
                std::hint::spin_loop();
            } else {
                idle();
                std::thread::yield_now();
            }
        }
    }
}

/// The cores that this rank may run on, of the first ones of its host, a bit for each; none where the system does not tell.
fn cores() -> [u8; NAME] {
    let mut cores = [0; NAME];
    #[cfg(target_os = "linux")]
    {
        // SAFETY: all bytes zero are a value of it.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the place for the answer is there, as large as said.
        if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } == 0 {
            // SAFETY: the set has more cores than are asked for.
            let has = |core: usize| unsafe { libc::CPU_ISSET(core, &set) };
            (0..8 * NAME).filter(|&core| has(core)).for_each(|core| cores[core / 8] |= 1 << (core % 8));
        }
    }
    cores
}

/// A name in the file system, until it is dropped.
struct Named(PathBuf);

impl Drop for Named {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Which of the ranks of a host this one is, and how many they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub own: usize,
    pub count: usize,
}

/// Gathers bytes of the ranks of a host, by their place. Collective.
pub(super) type AllGather<'g> = dyn Fn(&[u8; NAME]) -> Vec<[u8; NAME]> + 'g;

impl Segment {
    /// A new one, of which the first bytes are there, all of them zero.
    fn create(path: &Path, first: usize, largest: usize) -> Result<Self> {
        let mut segment = Self::map(private().create_new(true).open(path)?, largest)?;
        segment.reach(first)?;
        Ok(segment)
    }

    fn map(file: File, largest: usize) -> Result<Self> {
        let map = MmapOptions::new().len(largest).map_raw(&file)?;
        Ok(Self { file, map, length: 0 })
    }

    /// Afterwards the file has at least so many bytes. They are written, so that a host without memory for them says so here; half of
    /// what is free is left to others, MPI among them.
    fn reach(&mut self, bytes: usize) -> Result<()> {
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

    /// The value number k of those from a byte on, a multiple of [`PAGE`].
    fn at<A: Atomics>(&self, begin: usize, k: usize) -> &A {
        let place = begin + k * size_of::<A>();
        assert!(begin.is_multiple_of(PAGE) && place + size_of::<A>() <= self.map.len(), "within a segment");
        // SAFETY: within the map, as asserted, which begins with a page; within the file, which has the counts of all ranks when others
        // learn its name. Any bytes are such a value, and others may change it.
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

/// Bytes that are free where a file is.
fn free(file: &File) -> Result<u64> {
    // SAFETY: all bytes zero are a value of it.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the file is open, and the place for the answer is there.
    match unsafe { libc::fstatvfs(file.as_raw_fd(), &raw mut found) } {
        0 => Ok(found.f_bavail.saturating_mul(found.f_frsize)),
        _ => Err(Error::last_os_error()),
    }
}

/// The segments of all ranks of a host, by place, or of none, of which the first bytes are there, all of them zero; and how often to look at
/// what is in them. Collective.
fn segments(
    place: Place,
    first: usize,
    largest: usize,
    all_gather: &AllGather,
) -> Option<(Vec<Segment>, Looks)> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let name = format!("hilbrium-{}-{}-{since}", std::process::id(), place.own);
    let path = |name: &str| Path::new(FOLDER).join(name);
    let mut segment = Segment::create(&path(&name), first, largest).ok();
    let named = Named(path(&name));
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
    // all have opened what it names
    drop(named);
    let looks = Looks::of(&all_gather(&cores()));
    segments.filter(|_| there.iter().all(|there| there[0] == 1)).map(|segments| (segments, looks))
}

#[cfg(test)]
mod tests;
