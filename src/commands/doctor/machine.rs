//! Checks of the machine: processors, memory, limits of the process, shared memory of ranks.

use super::Check;
use crate::memory::{available, bytes};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Free shared memory (bytes) that halo exchanges of a few million particles need.
const SHARED_MEMORY: u64 = 1 << 30;
/// Locked memory (bytes) that InfiniBand and similar networks need at least.
const LOCKED_MEMORY: u64 = 64 << 20;
/// Open files that a run with many ranks needs.
const OPEN_FILES: u64 = 1024;

pub(super) fn checks() -> Vec<Check> {
    vec![processors(), memory(), locked_memory(), file_size(), open_files(), shared_memory()]
}

fn processors() -> Check {
    let offered = std::thread::available_parallelism().map_or(1, |offered| offered.get());
    let widest = crate::simd::widest();
    let quota = std::fs::read_to_string("/sys/fs/cgroup/cpu.max").ok().and_then(|text| cpu_quota(&text));
    let found = format!("{offered} for this process, instructions {widest}");
    match quota {
        Some(quota) if quota < offered as f64 => Check::limited(
            "processors",
            format!("{found}; the control group allows {quota:.1} of them"),
            format!(
                "set run.threads to {} per rank, or raise the quota of the container",
                quota.max(1.0) as u64
            ),
        ),
        _ => Check::good("processors", found),
    }
}

/// Parses `cpu.max` of a version 2 control group: processors that it allows. `None` without a limit.
fn cpu_quota(text: &str) -> Option<f64> {
    let mut fields = text.split_whitespace().map(|field| field.parse::<f64>());
    let (quota, period) = (fields.next()?.ok()?, fields.next()?.ok()?);
    (period > 0.0).then_some(quota / period)
}

fn memory() -> Check {
    let free = available();
    Check::good("memory", format!("{} free; `hilbrium check DECK.toml` says what a run needs", bytes(free)))
}

/// The type of `RLIMIT_MEMLOCK` and its like.
#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

/// The soft limit of a resource of this process; `None` without a limit.
fn limit(resource: Resource) -> Option<u64> {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes to a live value.
    let status = unsafe { libc::getrlimit(resource, &raw mut limits) };
    (status == 0 && limits.rlim_cur != libc::RLIM_INFINITY).then_some(limits.rlim_cur)
}

fn locked_memory() -> Check {
    match limit(libc::RLIMIT_MEMLOCK) {
        None => Check::good("locked memory", "no limit"),
        Some(limit) if limit >= LOCKED_MEMORY => Check::good("locked memory", bytes(limit as f64)),
        Some(limit) => Check::limited(
            "locked memory",
            format!("at most {}", bytes(limit as f64)),
            "only InfiniBand and similar networks need more: `ulimit -l unlimited`, or memlock in \
             /etc/security/limits.conf, or the same setting of your batch system",
        ),
    }
}

fn file_size() -> Check {
    match limit(libc::RLIMIT_FSIZE) {
        None => Check::good("file size", "no limit"),
        Some(limit) => Check::limited(
            "file size",
            format!("files may have at most {}", bytes(limit as f64)),
            "a run stops with an error where a file would be larger: `ulimit -f unlimited`",
        ),
    }
}

fn open_files() -> Check {
    match limit(libc::RLIMIT_NOFILE) {
        None => Check::good("open files", "no limit"),
        Some(limit) if limit >= OPEN_FILES => Check::good("open files", limit.to_string()),
        Some(limit) => Check::limited(
            "open files",
            format!("at most {limit}"),
            format!("many ranks on a host need more: `ulimit -n {OPEN_FILES}`"),
        ),
    }
}

/// Free bytes of the file system of a path.
pub(super) fn free_space(path: &Path) -> std::io::Result<u64> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: all bytes zero are a valid `statvfs`.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the name is a C string and the other argument a live value.
    match unsafe { libc::statvfs(name.as_ptr(), &raw mut found) } {
        0 => Ok((found.f_bavail as u64).saturating_mul(found.f_frsize as u64)),
        _ => Err(std::io::Error::last_os_error()),
    }
}

fn shared_memory() -> Check {
    const SUBJECT: &str = "shared memory";
    const REMEDY: &str = "ranks of one host exchange messages through it: give the container more \
                          (docker run --shm-size=4g, apptainer --bind /dev/shm)";
    match free_space(Path::new("/dev/shm")) {
        Ok(free) if free >= SHARED_MEMORY => Check::good(SUBJECT, format!("{} free", bytes(free as f64))),
        Ok(free) => Check::limited(SUBJECT, format!("{} free in /dev/shm", bytes(free as f64)), REMEDY),
        Err(cause) => Check::limited(SUBJECT, format!("/dev/shm: {cause}"), REMEDY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_a_number_of_processors() {
        assert_eq!(cpu_quota("150000 100000\n"), Some(1.5));
        assert_eq!(cpu_quota("max 100000\n"), None);
        assert_eq!(cpu_quota(""), None);
    }

    #[test]
    fn free_space_is_of_a_folder_that_exists() {
        assert!(free_space(&std::env::temp_dir()).unwrap() > 0);
        assert!(free_space(Path::new("/no/such/folder")).is_err());
    }
}
