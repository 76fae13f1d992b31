//! The lock of a run's folder: one run at a time writes there.
//!
//! Rank 0 holds `.hilbrium.lock` with the kernel's lock (`flock`), which ends with its process, whatever ends it. The
//! file's text says who holds it. Where the file system has no locks, the text alone decides: a process of this host that
//! is gone has left it, one of another host may still be there. The file goes when the run ends.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, Result};

/// The lock file of a folder.
pub const NAME: &str = ".hilbrium.lock";

/// Between two attempts to lock: `hilbrium stop` holds the lock for a moment when it looks whether a run does.
const PAUSE: Duration = Duration::from_millis(50);
const ATTEMPTS: u32 = 10;

/// The word that begins the line about a run's end.
const ENDED: &str = "ended ";

/// A folder held by this process, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    holder: Holder,
}

/// A folder that was locked, and what is to be said about it in the log.
#[derive(Debug)]
pub struct Taken {
    /// The lock.
    pub lock: Lock,
    /// About a run that is gone, and about a file system without locks.
    pub notes: Vec<String>,
}

/// Who holds a lock, as the file's lines say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    host: String,
    process: u32,
    /// When the process began, in ticks since the host did: another process may have its number later.
    began: u64,
    /// Date and time, for people.
    since: String,
}

impl Holder {
    fn this_process() -> Self {
        let process = std::process::id();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Holder { host: host.trim().to_owned(), process, began: began(process).unwrap_or(0), since: now() }
    }

    /// The holder that a lock file names; `None` where it names none, as one that has just been made.
    fn read(text: &str) -> Option<Self> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        Some(Holder {
            host: value("host")?.to_owned(),
            process: value("process")?.parse().ok()?,
            began: value("began")?.parse().ok()?,
            since: value("since")?.to_owned(),
        })
    }

    /// The lines of the lock file.
    pub fn text(&self) -> String {
        let Holder { host, process, began, since } = self;
        format!("host {host}\nprocess {process}\nbegan {began}\nsince {since}\n")
    }

    /// Whether this is a process of this host that is gone; of another host nothing is known.
    fn is_gone(&self) -> bool {
        self.host == Self::this_process().host && began(self.process) != Some(self.began)
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(formatter, "process {} on {}, since {}", self.process, self.host, self.since)
    }
}

/// When a process of this host began, in ticks since the host did; `None` where there is no such process.
fn began(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // the second field is the program's name in parentheses, which may hold anything
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    // a process that ended but was not waited for is gone
    fields.next().filter(|state| *state != "Z")?;
    fields.nth(18)?.parse().ok()
}

/// Date and time in UTC.
fn now() -> String {
    // SAFETY: all bytes zero are a value of it.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values of this frame, the first of which is the result of a call that cannot fail.
    unsafe { libc::gmtime_r(&libc::time(std::ptr::null_mut()), &raw mut parts) };
    let (year, month) = (1900 + parts.tm_year, 1 + parts.tm_mon);
    let (day, hour, minute, second) = (parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Lock a folder, which is there, for this process.
///
/// # Errors
/// [`Error::Usage`] where another run holds it, with who that is; [`Error::File`].
pub fn take(directory: &Path) -> Result<Taken> {
    let path = directory.join(NAME);
    let failed = |action| {
        let path = path.clone();
        move |cause: std::io::Error| Error::file(action, &path, &cause)
    };
    for attempt in 1.. {
        let (file, made) = open(&path).map_err(failed("create"))?;
        let lock = Lock { path: path.clone(), file, holder: Holder::this_process() };
        match lock.file.try_lock() {
            Ok(()) if lock.is_at_its_path() => return lock.held(Vec::new()),
            // its run has ended and removed it meanwhile
            Ok(()) => lock.forget(),
            Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => {
                lock.forget();
                std::thread::sleep(PAUSE);
            }
            Err(TryLockError::WouldBlock) => {
                let holder = lock.read_holder();
                lock.forget();
                return Err(refused(directory, holder.as_ref(), None));
            }
            Err(TryLockError::Error(cause)) if lacks_locks(&cause) => {
                return lock.by_text(directory, made, &cause);
            }
            Err(TryLockError::Error(cause)) => {
                lock.forget();
                return Err(failed("lock")(cause));
            }
        }
    }
    unreachable!("the attempts end")
}

/// The file, and whether this call made it.
fn open(path: &Path) -> std::io::Result<(File, bool)> {
    let mut options = File::options();
    options.read(true).write(true);
    match options.create_new(true).open(path) {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
            options.create_new(false).create(true).truncate(false).open(path).map(|file| (file, false))
        }
        made => made.map(|file| (file, true)),
    }
}

/// Whether a file system says that it has no locks.
fn lacks_locks(cause: &std::io::Error) -> bool {
    matches!(cause.raw_os_error(), Some(libc::ENOLCK | libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL))
}

fn refused(directory: &Path, holder: Option<&Holder>, without_locks: Option<&Path>) -> Error {
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
    /// Who holds it: this process.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Leave word about how the run ends to who waits for that, before the lock goes.
    pub fn say_end(&mut self, how: &str) {
        // who waits can do without
        let _ = self.file.seek(SeekFrom::End(0)).and_then(|_| writeln!(self.file, "{ENDED}{how}"));
    }

    /// This process holds it from now on: the file says so.
    fn held(mut self, mut notes: Vec<String>) -> Result<Taken> {
        if let Some(before) = self.read_holder() {
            notes.push(format!("the run that held the folder is gone ({before}): this one takes its place"));
        }
        let text = self.holder.text();
        let written = self.file.set_len(0).and_then(|()| self.file.rewind());
        let written = written.and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|cause| Error::file("write", &self.path, &cause))?;
        Ok(Taken { lock: self, notes })
    }

    /// On a file system without locks: by what the file says.
    fn by_text(self, directory: &Path, made: bool, cause: &std::io::Error) -> Result<Taken> {
        let note = format!(
            "file locks do not work in {} ({cause}): its lock file alone says that this run writes there",
            directory.display()
        );
        if made {
            return self.held(vec![note]);
        }
        // who has just made it is about to say who it is
        let mut holder = self.read_holder();
        for _ in 1..ATTEMPTS {
            if holder.is_none() {
                std::thread::sleep(PAUSE);
                holder = self.read_holder();
            }
        }
        if holder.as_ref().is_some_and(Holder::is_gone) {
            return self.held(vec![note]);
        }
        let error = refused(directory, holder.as_ref(), Some(&self.path));
        self.forget();
        Err(error)
    }

    fn read_holder(&self) -> Option<Holder> {
        Holder::read(&text_of(&self.file))
    }

    fn is_at_its_path(&self) -> bool {
        is_at(&self.file, &self.path)
    }

    /// Let go of a file that is another's: it stays.
    fn forget(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // while it is still locked: who opened it before finds that it is no longer at its path
        if !self.path.as_os_str().is_empty() && self.is_at_its_path() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn text_of(mut file: &File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    if read.is_ok() { text } else { String::new() }
}

fn is_at(file: &File, path: &Path) -> bool {
    let both = file.metadata().and_then(|file| Ok((file, std::fs::metadata(path)?)));
    both.is_ok_and(|(file, there)| (file.dev(), file.ino()) == (there.dev(), there.ino()))
}

/// A run of another process that holds a folder.
#[derive(Debug)]
pub struct Other {
    path: PathBuf,
    file: File,
    /// Who it is.
    pub holder: Holder,
}

/// The run that holds a folder, if one does.
///
/// # Errors
/// [`Error::File`] where the lock file cannot be read.
pub fn find(directory: &Path) -> Result<Option<Other>> {
    let path = directory.join(NAME);
    let file = match File::options().read(true).write(true).open(&path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound && directory.is_dir() => return Ok(None),
        opened => opened.map_err(|cause| Error::file("read", &path, &cause))?,
    };
    for _ in 0..ATTEMPTS {
        if let Some(holder) = Holder::read(&text_of(&file)) {
            let other = Other { path, file, holder };
            return Ok(Some(other).filter(Other::goes_on));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(None)
}

impl Other {
    /// Whether that run still holds the folder.
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
                !self.holder.is_gone() && Holder::read(&text_of(&self.file)).as_ref() == Some(&self.holder)
            }
        }
    }

    /// How it ended, by its own word; `None` where it left none, as a run that was killed.
    pub fn end(&self) -> Option<String> {
        text_of(&self.file).lines().find_map(|line| line.strip_prefix(ENDED).map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_once_and_free_when_the_lock_goes() {
        let folder = tempfile::tempdir().unwrap();
        let Taken { mut lock, notes } = take(folder.path()).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        let error = take(folder.path()).unwrap_err();
        let this = format!("process {} on", std::process::id());
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains(&this), "{error}");
        let other = find(folder.path()).unwrap().unwrap();
        assert_eq!(&other.holder, lock.holder());
        lock.say_end("as told");
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
            let Taken { notes, .. } = take(folder.path()).unwrap();
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
            let (file, made) = open(&path).unwrap();
            assert!(!made);
            Lock { path: path.clone(), file, holder: this.clone() }.by_text(folder.path(), made, &cause)
        };
        let elsewhere = Holder { host: "elsewhere".into(), ..this.clone() };
        for holder in [&this, &elsewhere] {
            let error = attempt(holder).unwrap_err();
            assert!(error.to_string().contains(&format!("remove {}", path.display())), "{error}");
            assert!(path.exists());
        }
        let earlier = Holder { began: this.began.wrapping_sub(1), ..this.clone() };
        let notes = attempt(&earlier).unwrap().notes;
        assert!(notes[0].contains("do not work") && notes[1].contains("is gone"), "{notes:?}");
        assert!(!path.exists());
    }
}
