//! Resolves HDF5 links, including links to other files, without HDF5's own traversal. Errors name the missing
//! file, and only regular files are opened (opening a pipe blocks until it has a writer).

use super::refusal::{Checked, Refusal};
use crate::snapshot::hdf;
use hdf5::{Dataset, File, Group};
use hdf5_sys::{h5l, h5p};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

/// Maximum number of consecutive external links: they may form a cycle.
const MAX_EXTERNAL_LINKS: u32 = 8;

/// Longest link value read, in bytes.
const MAX_LINK_BYTES: usize = 1 << 16;

/// An open file with its path.
pub(super) struct OpenFile {
    pub path: PathBuf,
    pub file: File,
    /// File size.
    pub bytes: u64,
}

impl OpenFile {
    /// Opens a regular file.
    ///
    /// # Errors
    /// A text without the file's name.
    pub fn open(path: &Path) -> Result<Self, String> {
        let kind = std::fs::metadata(path).map_err(|cause| format!("cannot be opened: {cause}"))?;
        if !kind.is_file() {
            return Err("is not a regular file".into());
        }
        let file = hdf::open(path).map_err(|error| format!("cannot be opened: {}", hdf::reason(&error)))?;
        Ok(Self { path: path.to_owned(), file, bytes: kind.len() })
    }

    /// Opens the external file `name`, which contains `label`. Search order, similar to HDF5's: the
    /// directories in the environment variable `variable`, the directory of this file, the working directory.
    ///
    /// # Errors
    /// A refusal that names the file.
    pub fn open_external(&self, name: &str, variable: &str, label: &str) -> Checked<Self> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let mut candidates: Vec<PathBuf> = std::env::var_os(variable)
            .map(|folders| std::env::split_paths(&folders).map(|folder| folder.join(name)).collect())
            .unwrap_or_default();
        // Joining an absolute path returns it unchanged.
        candidates.extend([folder.join(name), PathBuf::from(name)]);
        candidates.extend(Path::new(name).file_name().map(|name| folder.join(name)));
        let path = candidates.iter().find(|path| path.exists());
        let opened = path.map_or(Err("is not there".into()), |path| Self::open(path));
        opened.map_err(|why| {
            Refusal::new(
                format!("{label} lies in another file, {name}, which {why}"),
                format!("put {name} into the folder of this file, or copy what lies in it into this file"),
            )
        })
    }
}

/// The target of a link.
enum Target {
    Missing,
    /// The group's link table cannot be read.
    Broken,
    Hard,
    Soft(String),
    External {
        file: String,
        object: String,
    },
}

#[allow(deprecated, reason = "HDF5 1.10 lacks H5Lget_info2, which 1.12 has in its place")]
fn target(group: &Group, name: &str) -> Target {
    let Ok(name) = CString::new(name) else { return Target::Missing };
    // SAFETY: the group is open, the buffer has the size passed to the call, and the parts of a link's value
    // are zero-terminated.
    hdf5::sync::sync(|| unsafe {
        let mut info = h5l::H5L_info1_t::default();
        match h5l::H5Lexists(group.id(), name.as_ptr(), h5p::H5P_DEFAULT) {
            0 => return Target::Missing,
            1.. if h5l::H5Lget_info1(group.id(), name.as_ptr(), &mut info, h5p::H5P_DEFAULT) >= 0 => {}
            _ => return Target::Broken,
        }
        if info.type_ == h5l::H5L_type_t::H5L_TYPE_HARD {
            return Target::Hard;
        }
        let size = (*info.u.val_size()).min(MAX_LINK_BYTES);
        let mut value = vec![0u8; size + 1];
        let buffer = value.as_mut_ptr().cast::<c_void>();
        if h5l::H5Lget_val(group.id(), name.as_ptr(), buffer, size, h5p::H5P_DEFAULT) < 0 {
            return Target::Broken;
        }
        if info.type_ == h5l::H5L_type_t::H5L_TYPE_SOFT {
            return Target::Soft(CStr::from_ptr(value.as_ptr().cast()).to_string_lossy().into_owned());
        }
        let (mut file, mut object): (*const c_char, *const c_char) = (ptr::null(), ptr::null());
        if h5l::H5Lunpack_elink_val(buffer, size, ptr::null_mut(), &mut file, &mut object) < 0 {
            return Target::Broken;
        }
        let text = |part: *const c_char| CStr::from_ptr(part).to_string_lossy().into_owned();
        Target::External { file: text(file), object: text(object) }
    })
}

/// An object, and the file it lies in if that is another one.
pub(super) struct Resolved<T> {
    pub object: T,
    pub external: Option<OpenFile>,
}

/// Opens a group; `None` if the name does not exist.
///
/// # Errors
/// A dangling link, or an object of another type.
pub(super) fn group(host: &OpenFile, from: &Group, name: &str) -> Checked<Option<Resolved<Group>>> {
    resolve(host, from, name, name, MAX_EXTERNAL_LINKS, |group, name| group.group(name))
}

/// Opens the dataset `name` of a group, called `label` in errors; `None` if the name does not exist.
///
/// # Errors
/// As [`group`].
pub(super) fn dataset(
    host: &OpenFile,
    from: &Group,
    name: &str,
    label: &str,
) -> Checked<Option<Resolved<Dataset>>> {
    resolve(host, from, name, label, MAX_EXTERNAL_LINKS, |group, name| group.dataset(name))
}

/// Opens the dataset at a path from the file's root; `None` if there is none.
///
/// # Errors
/// As [`group`].
pub(super) fn dataset_at(host: &OpenFile, path: &str, label: &str) -> Checked<Option<Resolved<Dataset>>> {
    match parent_of(host, path) {
        Some((parent, name)) => dataset(host, &parent, name, label),
        None => Ok(None),
    }
}

/// Splits a path into the group that holds its last component, and that component; `None` if the group does
/// not exist.
fn parent_of<'a>(host: &OpenFile, path: &'a str) -> Option<(Group, &'a str)> {
    let path = path.trim_end_matches('/');
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = if parent.is_empty() { "/" } else { parent };
    host.file.group(parent).ok().map(|group| (group, name))
}

fn resolve<T>(
    host: &OpenFile,
    from: &Group,
    name: &str,
    label: &str,
    links: u32,
    open: fn(&Group, &str) -> hdf::Outcome<T>,
) -> Checked<Option<Resolved<T>>> {
    match target(from, name) {
        Target::Missing => Ok(None),
        Target::Broken => Err(Refusal::damaged(format!("it cannot be read whether it has {label}"))),
        Target::Hard => match open(from, name) {
            Ok(object) => Ok(Some(Resolved { object, external: None })),
            Err(_) if from.group(name).is_ok() || from.dataset(name).is_ok() => Err(Refusal::new(
                format!(
                    "{label} is of another kind: a group where a dataset should be, or a dataset for a group"
                ),
                format!("write {label} anew"),
            )),
            Err(error) => Err(Refusal::damaged(format!("{label}: {}", hdf::reason(&error)))),
        },
        Target::Soft(to) => match open(from, name) {
            Ok(object) => Ok(Some(Resolved { object, external: None })),
            Err(_) => Err(Refusal::new(
                format!("{label} is a link to {to}, which is not there or of another kind"),
                format!("write {to}, or delete the link"),
            )),
        },
        Target::External { file, object } => {
            if links == 0 {
                return Err(Refusal::new(
                    format!("{label} leads from file to file without end"),
                    "delete the link",
                ));
            }
            let external = host.open_external(&file, "HDF5_EXT_PREFIX", label)?;
            let nothing = || {
                Refusal::new(
                    format!("{label} lies in another file, {file}, which has no {object}"),
                    format!("write {object} of {file}, or delete the link"),
                )
            };
            let (within, last) = parent_of(&external, &object).ok_or_else(nothing)?;
            let found = resolve(&external, &within, last, label, links - 1, open)?.ok_or_else(nothing)?;
            Ok(Some(Resolved { object: found.object, external: Some(found.external.unwrap_or(external)) }))
        }
    }
}
