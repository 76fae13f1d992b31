//! Lock of the output directory: one run at a time writes there.
//!
//! Rank 0 holds `.hilbrium.lock` with a kernel lock (`flock`), which ends with the process, however that
//! ends. The file's text names the holder. On a file system without locks the text alone decides: a holder on
//! this host whose process is gone is ignored, one on another host may still run. The file is removed when
//! the run ends.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, Result};

/// Name of the lock file.
pub const NAME: &str = ".hilbrium.lock";

/// Pause between attempts to lock: `hilbrium stop` holds the lock briefly to test whether a run does.
const PAUSE: Duration = Duration::from_millis(50);
const ATTEMPTS: u32 = 10;

/// First word of the line that records how a run ended.
const ENDED: &str = "ended ";

/// Lock of a directory by this process, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    holder: Holder,
}

/// An acquired lock and notes for the log.
#[derive(Debug)]
pub struct Acquired {
    /// The lock.
    pub lock: Lock,
    /// Notes on an earlier holder that is gone, and on a file system without locks.
    pub notes: Vec<String>,
}

/// The holder of a lock, as stored in the lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    host: String,
    process: u32,
    /// Start of the process in clock ticks since boot: process ids are reused.
    start: u64,
    /// Date and time of the lock, for the user.
    since: String,
}

impl Holder {
    fn this_process() -> Self {
        let process = std::process::id();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Holder {
            host: host.trim().to_owned(),
            process,
            start: process_start(process).unwrap_or(0),
            since: utc_now(),
        }
    }

    /// Parses the text of a lock file; `None` if it names no holder, as when it has just been created.
    fn read(text: &str) -> Option<Self> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        Some(Holder {
            host: value("host")?.to_owned(),
            process: value("process")?.parse().ok()?,
            start: value("began")?.parse().ok()?,
            since: value("since")?.to_owned(),
        })
    }

    /// Returns the text of the lock file.
    pub fn text(&self) -> String {
        let Holder { host, process, start, since } = self;
        format!("host {host}\nprocess {process}\nbegan {start}\nsince {since}\n")
    }

    /// Whether the holder is a process of this host that is gone; false for another host, of which nothing is
    /// known.
    fn is_gone(&self) -> bool {
        self.host == Self::this_process().host && process_start(self.process) != Some(self.start)
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(formatter, "process {} on {}, since {}", self.process, self.host, self.since)
    }
}

/// Returns the start of a process of this host in clock ticks since boot; `None` if there is no such process.
fn process_start(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // the second field is the program's name in parentheses, which may contain anything
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    // a zombie counts as gone
    fields.next().filter(|state| *state != "Z")?;
    fields.nth(18)?.parse().ok()
}

/// Returns date and time in UTC.
fn utc_now() -> String {
    // SAFETY: all bytes zero are a valid `tm`.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live values of this frame; the first is the result of a call that cannot
    // fail.
    unsafe { libc::gmtime_r(&libc::time(std::ptr::null_mut()), &raw mut parts) };
    let (year, month) = (1900 + parts.tm_year, 1 + parts.tm_mon);
    let (day, hour, minute, second) = (parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Locks an existing directory for this process.
///
/// # Errors
/// [`Error::Usage`] with the holder, if another run holds it; [`Error::File`].
pub fn take(directory: &Path) -> Result<Acquired> {
    let path = directory.join(NAME);
    let failed = |action| {
        let path = path.clone();
        move |cause: std::io::Error| Error::file(action, &path, &cause)
    };
    for attempt in 1.. {
        let (file, created) = open(&path).map_err(failed("create"))?;
        let lock = Lock { path: path.clone(), file, holder: Holder::this_process() };
        match lock.file.try_lock() {
            Ok(()) if lock.is_at_its_path() => return lock.acquire(Vec::new()),
            // the run of this file has ended and removed it meanwhile
            Ok(()) => lock.abandon(),
            Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => {
                lock.abandon();
                std::thread::sleep(PAUSE);
            }
            Err(TryLockError::WouldBlock) => {
                let holder = lock.read_holder();
                lock.abandon();
                return Err(refusal(directory, holder.as_ref(), None));
            }
            Err(TryLockError::Error(cause)) if lacks_locks(&cause) => {
                return lock.acquire_by_text(directory, created, &cause);
            }
            Err(TryLockError::Error(cause)) => {
                lock.abandon();
                return Err(failed("lock")(cause));
            }
        }
    }
    unreachable!("the attempts end")
}

/// Opens the lock file; also returns whether this call created it.
fn open(path: &Path) -> std::io::Result<(File, bool)> {
    let mut options = File::options();
    options.read(true).write(true);
    match options.create_new(true).open(path) {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
            options.create_new(false).create(true).truncate(false).open(path).map(|file| (file, false))
        }
        created => created.map(|file| (file, true)),
    }
}

/// Whether the error means that the file system has no locks.
fn lacks_locks(cause: &std::io::Error) -> bool {
    matches!(cause.raw_os_error(), Some(libc::ENOLCK | libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL))
}

/// Locks a new file in a directory, and removes it: whether the file system has kernel locks.
///
/// # Errors
/// That of the system, if the file cannot be created or locked.
pub fn test(directory: &Path) -> std::io::Result<()> {
    let path = directory.join(format!("{NAME}-{}", std::process::id()));
    let locked = File::create_new(&path)?.try_lock().map_err(std::io::Error::from);
    locked.and(std::fs::remove_file(&path))
}

fn refusal(directory: &Path, holder: Option<&Holder>, without_locks: Option<&Path>) -> Error {
    let who = holder.map_or("a process that has not said yet who it is".into(), Holder::to_string);
    let folder = directory.display();
    let gone = without_locks.map_or_else(String::new, |path| {
        format!("; file locks do not work there: if that run is gone, remove {}", path.display())
    });
    Error::usage(
        format!("another run writes into {folder}: {who}"),
        format!(
            "wait until it ends, stop it by `hilbrium stop {folder}`, or choose another folder with \
             --set output.directory=...{gone}"
        ),
    )
}

impl Lock {
    /// Returns the holder: this process.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Records how the run ended, for a waiting `hilbrium stop`, before the lock is released.
    pub fn record_end(&mut self, how: &str) {
        // best effort: the waiting process can do without
        let _ = self.file.seek(SeekFrom::End(0)).and_then(|_| writeln!(self.file, "{ENDED}{how}"));
    }

    /// Takes the lock: writes this process into the file.
    fn acquire(mut self, mut notes: Vec<String>) -> Result<Acquired> {
        if let Some(before) = self.read_holder() {
            notes.push(format!("the run that held the folder is gone ({before}): this one takes its place"));
        }
        let text = self.holder.text();
        let written = self.file.set_len(0).and_then(|()| self.file.rewind());
        let written = written.and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|cause| Error::file("write", &self.path, &cause))?;
        Ok(Acquired { lock: self, notes })
    }

    /// Takes the lock by the text of the file, on a file system without locks.
    fn acquire_by_text(self, directory: &Path, created: bool, cause: &std::io::Error) -> Result<Acquired> {
        let note = format!(
            "file locks do not work in {} ({cause}): its lock file alone says that this run writes there",
            directory.display()
        );
        if created {
            return self.acquire(vec![note]);
        }
        // a process that has just created the file is about to write its text
        let mut holder = self.read_holder();
        for _ in 1..ATTEMPTS {
            if holder.is_none() {
                std::thread::sleep(PAUSE);
                holder = self.read_holder();
            }
        }
        if holder.as_ref().is_some_and(Holder::is_gone) {
            return self.acquire(vec![note]);
        }
        let error = refusal(directory, holder.as_ref(), Some(&self.path));
        self.abandon();
        Err(error)
    }

    fn read_holder(&self) -> Option<Holder> {
        Holder::read(&read_text(&self.file))
    }

    fn is_at_its_path(&self) -> bool {
        is_at(&self.file, &self.path)
    }

    /// Gives up without removing the file, which belongs to another process.
    fn abandon(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // the file is still locked: whoever opened it before finds that it is no longer at its path
        if !self.path.as_os_str().is_empty() && self.is_at_its_path() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn read_text(mut file: &File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    if read.is_ok() { text } else { String::new() }
}

fn is_at(file: &File, path: &Path) -> bool {
    let both = file.metadata().and_then(|file| Ok((file, std::fs::metadata(path)?)));
    both.is_ok_and(|(file, there)| (file.dev(), file.ino()) == (there.dev(), there.ino()))
}

/// A run of another process that holds a directory.
#[derive(Debug)]
pub struct Other {
    path: PathBuf,
    file: File,
    /// The holder of the lock.
    pub holder: Holder,
}

/// Returns the run that holds a directory, if there is one.
///
/// # Errors
/// [`Error::File`] if the lock file cannot be read.
pub fn find(directory: &Path) -> Result<Option<Other>> {
    let path = directory.join(NAME);
    let file = match File::options().read(true).write(true).open(&path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound && directory.is_dir() => return Ok(None),
        opened => opened.map_err(|cause| Error::file("read", &path, &cause))?,
    };
    for _ in 0..ATTEMPTS {
        if let Some(holder) = Holder::read(&read_text(&file)) {
            let other = Other { path, file, holder };
            return Ok(Some(other).filter(Other::goes_on));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(None)
}

impl Other {
    /// Whether that run still holds the directory.
    pub fn goes_on(&self) -> bool {
        if !is_at(&self.file, &self.path) {
            return false;
        }
        match self.file.try_lock() {
            Ok(()) => {
                let _ = self.file.unlock();
                false
            }
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(_)) => {
                !self.holder.is_gone() && Holder::read(&read_text(&self.file)).as_ref() == Some(&self.holder)
            }
        }
    }

    /// Returns how the run ended, as it recorded; `None` if it recorded nothing, as when it was killed.
    pub fn end(&self) -> Option<String> {
        read_text(&self.file).lines().find_map(|line| line.strip_prefix(ENDED).map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_once_and_free_when_the_lock_goes() {
        let folder = tempfile::tempdir().unwrap();
        let Acquired { mut lock, notes } = take(folder.path()).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        let error = take(folder.path()).unwrap_err();
        let this = format!("process {} on", std::process::id());
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains(&this), "{error}");
        let other = find(folder.path()).unwrap().unwrap();
        assert_eq!(&other.holder, lock.holder());
        lock.record_end("as told");
        drop(lock);
        assert!(!other.goes_on());
        assert_eq!(other.end().as_deref(), Some("as told"));
        assert!(find(folder.path()).unwrap().is_none());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(take(folder.path()).unwrap());
    }

    #[test]
    fn a_lock_that_nobody_holds_is_taken_and_told_of() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "host elsewhere\nprocess 7\nbegan 3\nsince long ago\n"] {
            std::fs::write(folder.path().join(NAME), text).unwrap();
            assert!(find(folder.path()).unwrap().is_none());
            let Acquired { notes, .. } = take(folder.path()).unwrap();
            assert_eq!(notes.len(), usize::from(!text.is_empty()), "{notes:?}");
        }
    }

    /// A lock file by itself, as on a file system without locks.
    #[test]
    fn without_locks_the_text_of_the_file_decides() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let this = Holder::this_process();
        let cause = std::io::Error::from_raw_os_error(libc::ENOLCK);
        assert!(lacks_locks(&cause));
        let attempt = |holder: &Holder| {
            std::fs::write(&path, holder.text()).unwrap();
            let (file, created) = open(&path).unwrap();
            assert!(!created);
            Lock { path: path.clone(), file, holder: this.clone() }.acquire_by_text(
                folder.path(),
                created,
                &cause,
            )
        };
        let elsewhere = Holder { host: "elsewhere".into(), ..this.clone() };
        for holder in [&this, &elsewhere] {
            let error = attempt(holder).unwrap_err();
            assert!(error.to_string().contains(&format!("remove {}", path.display())), "{error}");
            assert!(path.exists());
        }
        let earlier = Holder { start: this.start.wrapping_sub(1), ..this.clone() };
        let notes = attempt(&earlier).unwrap().notes;
        assert!(notes[0].contains("do not work") && notes[1].contains("is gone"), "{notes:?}");
        assert!(!path.exists());
    }
}
