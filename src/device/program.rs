//! Kernel sources and the cache of compiled kernels on disk.
//!
//! Sources are embedded in the program. A unit is compiled at its first use and cached under a hash of its
//! text, all headers, its macros, the architecture, the compiler and the driver.

use super::driver::{Driver, SourceUnit};
use crate::{Error, Result};
use include_dir::{Dir, include_dir};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_128;

static KERNELS: Dir = include_dir!("$CARGO_MANIFEST_DIR/kernels");

/// A source file of kernels with its macros.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// The file below the folder of kernels, "pair/sweep.cu".
    pub file: &'static str,
    /// Macros and their values.
    pub definitions: Vec<(String, String)>,
    /// Headers of its own, beside those below the folder of kernels: names as they are included, and texts.
    pub headers: Vec<(String, String)>,
}

impl Unit {
    /// A unit without macros.
    pub fn new(file: &'static str) -> Self {
        Self { file, definitions: Vec::new(), headers: Vec::new() }
    }

    /// Adds a macro.
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.definitions.push((name.into(), value.to_string()));
        self
    }

    /// Adds a header that the macro `name` includes, unless the text is empty.
    pub fn with_header(mut self, name: &str, text: String) -> Self {
        if text.is_empty() {
            return self;
        }
        let file = format!("../laws/{}.cuh", name.to_lowercase());
        self.headers.push((file.clone(), text));
        self.with(name, format!("\"{file}\""))
    }
}

/// All sources: paths below the folder of kernels, and texts.
fn sources() -> &'static [(String, String)] {
    static SOURCES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    SOURCES.get_or_init(|| match std::env::var_os("HILBRIUM_KERNELS") {
        // kernels can be edited without rebuilding the program
        Some(folder) => files_below(Path::new(&folder), ""),
        None => embedded(&KERNELS),
    })
}

fn embedded(folder: &Dir) -> Vec<(String, String)> {
    let own = folder.files().filter_map(|file| {
        Some((file.path().to_string_lossy().into_owned(), file.contents_utf8()?.to_string()))
    });
    own.chain(folder.dirs().flat_map(embedded)).collect()
}

fn files_below(folder: &Path, prefix: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(files_below(&entry.path(), &format!("{name}/")));
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            found.push((name, text));
        }
    }
    found.sort();
    found
}

/// The text of a source file.
pub fn source(file: &str) -> Option<&'static str> {
    sources().iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str())
}

/// All headers, by the names that sources include: `../folder/file`.
pub fn headers() -> Vec<(String, String)> {
    let header = |(name, text): &(String, String)| {
        let wanted = name.ends_with(".cuh") || name.ends_with(".h");
        wanted.then(|| (format!("../{name}"), text.clone()))
    };
    sources().iter().filter_map(header).collect()
}

/// The cached file of a compiled unit; compiles it if it is missing.
///
/// # Errors
/// [`Error::Device`] when it does not compile, [`Error::File`] when it cannot be written.
pub fn compiled(driver: &dyn Driver, unit: &Unit) -> Result<PathBuf> {
    let text = source(unit.file).unwrap_or_else(|| unreachable!("no kernels in {}", unit.file));
    let mut headers = headers();
    headers.extend(unit.headers.iter().cloned());
    let target = driver.target();
    let folder = cache_folder();
    let file = folder.join(format!("{:032x}.{}", key(unit, text, &headers, &target), target.extension));
    if file.exists() {
        return Ok(file);
    }
    std::fs::create_dir_all(&folder).map_err(|cause| Error::file("create", &folder, &cause))?;
    // process ids are not unique across hosts
    let number: u64 = rand::random();
    let scratch = folder.join(format!("{}-{number:016x}.{}", std::process::id(), target.extension));
    let source = SourceUnit { file: unit.file, text, headers: &headers, definitions: &unit.definitions };
    driver.compile(&source, &scratch)?;
    // if several processes compile the unit, the last rename wins
    std::fs::rename(&scratch, &file).map_err(|cause| Error::file("rename", &scratch, &cause))?;
    Ok(file)
}

fn key(unit: &Unit, text: &str, headers: &[(String, String)], target: &super::driver::Target) -> u128 {
    let mut all = format!("{target:?}\n{unit:?}\n{text}");
    for (name, text) in headers {
        all += &format!("\n{name}\n{text}");
    }
    xxh3_128(all.as_bytes())
}

/// The cache folder, created if it is missing, after a file was written there.
///
/// # Errors
/// [`Error::File`] when it cannot be written.
pub(super) fn writable_cache_folder() -> Result<PathBuf> {
    let folder = cache_folder();
    let scratch = folder.join(format!("{}-{:016x}.trial", std::process::id(), rand::random::<u64>()));
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&scratch, [0]))
        .and_then(|()| std::fs::remove_file(&scratch))
        .map_err(|cause| Error::file("write", &folder, &cause))?;
    Ok(folder)
}

/// The cache folder: HILBRIUM_KERNEL_CACHE, else a folder of the user's cache.
fn cache_folder() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    from("HILBRIUM_KERNEL_CACHE")
        .or_else(|| from("XDG_CACHE_HOME").map(|folder| folder.join("hilbrium/kernels")))
        .or_else(|| from("HOME").map(|folder| folder.join(".cache/hilbrium/kernels")))
        .unwrap_or_else(|| std::env::temp_dir().join("hilbrium-kernels"))
}
