//! Links of HDF5, also those into other files, followed by hand: an error names the file that is not there, and nothing but
//! a regular file is opened (to open a pipe is to wait for its writer).

use super::refusal::{Checked, Refusal};
use crate::snapshot::hdf;
use hdf5::{Dataset, File, Group};
use hdf5_sys::{h5l, h5p};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

/// Most links into other files that are followed one after another: they may form a ring.
const MOST_LINKS: u32 = 8;

/// Longest value of a link that is read.
const LONGEST: usize = 1 << 16;

/// An open file and where it lies.
pub(super) struct Place {
    pub path: PathBuf,
    pub file: File,
    /// Its length.
    pub bytes: u64,
}

impl Place {
    /// Open a regular file.
    ///
    /// # Errors
    /// In words, without the file's name.
    pub fn open(path: &Path) -> Result<Self, String> {
        let kind = std::fs::metadata(path).map_err(|cause| format!("cannot be opened: {cause}"))?;
        if !kind.is_file() {
            return Err("is not a regular file".into());
        }
        let file = hdf::open(path).map_err(|error| format!("cannot be opened: {}", hdf::reason(&error)))?;
        Ok(Self { path: path.to_owned(), file, bytes: kind.len() })
    }

    /// Open the file `name` that this one refers to, `label` being what lies in it: searched where HDF5 does, in the folders
    /// of an environment variable, beside this file, and from the working directory.
    ///
    /// # Errors
    /// Names the file.
    pub fn open_other(&self, name: &str, variable: &str, label: &str) -> Checked<Self> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let mut candidates: Vec<PathBuf> = std::env::var_os(variable)
            .map(|folders| std::env::split_paths(&folders).map(|folder| folder.join(name)).collect())
            .unwrap_or_default();
        // an absolute name stays what it is
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

/// Where a name in a group leads.
enum Target {
    Nothing,
    /// What the group says of its names cannot be read.
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
    let Ok(name) = CString::new(name) else { return Target::Nothing };
    // SAFETY: the group is open, the buffer is as long as the call is told, and the parts of a link's value end with zeros.
    hdf5::sync::sync(|| unsafe {
        let mut info = h5l::H5L_info1_t::default();
        match h5l::H5Lexists(group.id(), name.as_ptr(), h5p::H5P_DEFAULT) {
            0 => return Target::Nothing,
            1.. if h5l::H5Lget_info1(group.id(), name.as_ptr(), &mut info, h5p::H5P_DEFAULT) >= 0 => {}
            _ => return Target::Broken,
        }
        if info.type_ == h5l::H5L_type_t::H5L_TYPE_HARD {
            return Target::Hard;
        }
        let size = (*info.u.val_size()).min(LONGEST);
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

/// What a name leads to, and the file it lies in, if that is another one.
pub(super) struct Followed<T> {
    pub object: T,
    pub other: Option<Place>,
}

/// The group of a name; `None` if there is no such name.
///
/// # Errors
/// A link that leads nowhere, or to something else.
pub(super) fn group(place: &Place, from: &Group, name: &str) -> Checked<Option<Followed<Group>>> {
    follow(place, from, name, name, MOST_LINKS, |group, name| group.group(name))
}

/// The dataset `name` of a group, called `label` in errors; `None` if there is no such name.
///
/// # Errors
/// As [`group`].
pub(super) fn dataset(
    place: &Place,
    from: &Group,
    name: &str,
    label: &str,
) -> Checked<Option<Followed<Dataset>>> {
    follow(place, from, name, label, MOST_LINKS, |group, name| group.dataset(name))
}

/// The dataset at a path from the root of a file; `None` if there is none.
///
/// # Errors
/// As [`group`].
pub(super) fn dataset_at(place: &Place, path: &str, label: &str) -> Checked<Option<Followed<Dataset>>> {
    match parent_of(place, path) {
        Some((parent, name)) => dataset(place, &parent, name, label),
        None => Ok(None),
    }
}

/// The group that the last name of a path is in, and that name; `None` if there is no such group.
fn parent_of<'a>(place: &Place, path: &'a str) -> Option<(Group, &'a str)> {
    let path = path.trim_end_matches('/');
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = if parent.is_empty() { "/" } else { parent };
    place.file.group(parent).ok().map(|group| (group, name))
}

fn follow<T>(
    place: &Place,
    from: &Group,
    name: &str,
    label: &str,
    links: u32,
    open: fn(&Group, &str) -> hdf::Outcome<T>,
) -> Checked<Option<Followed<T>>> {
    match target(from, name) {
        Target::Nothing => Ok(None),
        Target::Broken => Err(Refusal::damaged(format!("it cannot be read whether it has {label}"))),
        Target::Hard => match open(from, name) {
            Ok(object) => Ok(Some(Followed { object, other: None })),
            Err(_) if from.group(name).is_ok() || from.dataset(name).is_ok() => Err(Refusal::new(
                format!(
                    "{label} is of another kind: a group where a dataset should be, or a dataset for a group"
                ),
                format!("write {label} anew"),
            )),
            Err(error) => Err(Refusal::damaged(format!("{label}: {}", hdf::reason(&error)))),
        },
        Target::Soft(to) => match open(from, name) {
            Ok(object) => Ok(Some(Followed { object, other: None })),
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
            let other = place.open_other(&file, "HDF5_EXT_PREFIX", label)?;
            let nothing = || {
                Refusal::new(
                    format!("{label} lies in another file, {file}, which has no {object}"),
                    format!("write {object} of {file}, or delete the link"),
                )
            };
            let (within, last) = parent_of(&other, &object).ok_or_else(nothing)?;
            let found = follow(&other, &within, last, label, links - 1, open)?.ok_or_else(nothing)?;
            Ok(Some(Followed { object: found.object, other: Some(found.other.unwrap_or(other)) }))
        }
    }
}
