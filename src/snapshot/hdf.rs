//! Additions to the safe HDF5 interface: fixed-length strings, transfers of row ranges, one-line errors.
//!
//! Every call takes HDF5's global lock, so ranks that are threads may read at the same time.

use hdf5::{Dataset, Datatype, File, Group, H5Type, Location};
use hdf5_sys::{h5a, h5d, h5f, h5i::hid_t, h5p, h5s, h5t};
use std::ffi::{CString, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::ptr;

/// The result of an HDF5 call.
pub(super) type Outcome<T> = hdf5::Result<T>;

/// Longest string attribute that is read, in bytes.
const LONGEST_STRING: usize = 1 << 20;

/// Formats an error in one line: the outermost description and the innermost cause, the system's own if there
/// is one.
pub(super) fn reason(error: &hdf5::Error) -> String {
    let Some(stack) = error.stack().filter(|stack| !stack.is_empty()) else { return error.to_string() };
    let outer = stack.top().map_or("HDF5 failed", |frame| frame.desc());
    let system = stack.iter().rev().find_map(|frame| {
        let (_, after) = frame.desc().split_once("error message = '")?;
        after.split('\'').next()
    });
    match system.or(stack.last().map(|frame| frame.desc())) {
        Some(inner) if inner != outer => format!("{outer}: {inner}"),
        _ => outer.to_owned(),
    }
}

/// The library's last error.
fn last_error() -> hdf5::Error {
    hdf5::Error::query().unwrap_or_else(|_| "HDF5 failed without saying why".into())
}

/// An HDF5 identifier that is closed on drop.
pub(super) struct OwnedId(hid_t, unsafe extern "C" fn(hid_t) -> i32);

impl OwnedId {
    pub(super) fn new(id: hid_t, close: unsafe extern "C" fn(hid_t) -> i32) -> Outcome<Self> {
        if id < 0 { Err(last_error()) } else { Ok(Self(id, close)) }
    }

    pub(super) fn id(&self) -> hid_t {
        self.0
    }
}

impl Drop for OwnedId {
    fn drop(&mut self) {
        // SAFETY: the identifier is open and owned, and `close` is the function for its type; callers hold
        // the lock.
        unsafe { (self.1)(self.0) };
    }
}

/// Converts the status of an HDF5 call to a result.
pub(super) fn check_status(status: i32) -> Outcome<()> {
    if status < 0 { Err(last_error()) } else { Ok(()) }
}

/// Options for opening any file: no file locking. A reader of a file must not stop the run, a process being
/// started holds a lock for a moment after the file is closed, and some cluster file systems have no locks.
pub(super) fn unlocked() -> hdf5::FileBuilder {
    let mut options = File::with_options();
    options.with_fapl(|access| access.file_locking(false));
    options
}

/// Opens a file for reading.
pub(super) fn open(path: &Path) -> Outcome<File> {
    unlocked().open(path)
}

/// Initializes the library. Must run before MPI starts: otherwise MPI finalizes HDF5 when it is itself
/// finalized, and HDF5 crashes then if a file could not be closed.
pub(super) fn start() {
    hdf5::sync::sync(|| ());
}

/// Closes a file and checks that all data are written.
pub(super) fn close(file: File) -> Outcome<()> {
    // Flush first: HDF5 survives a failed flush, but not a failed close.
    match file.flush() {
        Ok(()) => file.close(),
        Err(error) => {
            abandon(file);
            Err(error)
        }
    }
}

/// Closes a file of this process that can no longer be written. Data still buffered by the library go to a
/// memory file.
pub(super) fn abandon(file: File) {
    let mut handle: *mut c_void = ptr::null_mut();
    // SAFETY: the file is open. It has the default driver, as all files opened by a single process, and that
    // driver's handle is a descriptor.
    let descriptor = hdf5::sync::sync(|| unsafe {
        let status = h5f::H5Fget_vfd_handle(file.id(), h5p::H5P_DEFAULT, &mut handle);
        (status >= 0 && !handle.is_null()).then(|| *handle.cast::<i32>())
    });
    if let (Some(descriptor), Some(discard)) = (descriptor, discard_file()) {
        // SAFETY: both descriptors are open.
        unsafe { libc::dup2(discard.as_raw_fd(), descriptor) };
    }
    let _ = file.close();
}

/// Opens a file that accepts all writes and is discarded.
fn discard_file() -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    // SAFETY: the name is a C string; a valid returned descriptor is owned by us.
    unsafe {
        let descriptor = libc::memfd_create(c"abandoned".as_ptr(), libc::MFD_CLOEXEC);
        (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor))
    }
    #[cfg(not(target_os = "linux"))]
    std::fs::File::options().read(true).write(true).open("/dev/null").ok().map(OwnedFd::from)
}

/// Creates a group without HDF5's default timestamps, so the same particles produce the same bytes.
pub(super) fn create_group(file: &File, name: &str) -> Outcome<Group> {
    file.create_group_builder().obj_track_times(false).create(name)
}

/// Writes a fixed-length string attribute, the form that yt and swiftsimio decode.
pub(super) fn write_string(to: &Location, name: &str, value: &str) -> Outcome<()> {
    let name = CString::new(name).map_err(|_| "a zero byte in an attribute's name")?;
    let mut bytes = value.as_bytes().to_vec();
    bytes.resize(bytes.len().max(1), 0);
    // SAFETY: all identifiers are checked and closed by `OwnedId`; `bytes` is as long as the type's size.
    hdf5::sync::sync(|| unsafe {
        let kind = OwnedId::new(h5t::H5Tcopy(*h5t::H5T_C_S1), h5t::H5Tclose)?;
        check_status(h5t::H5Tset_size(kind.0, bytes.len()))?;
        check_status(h5t::H5Tset_strpad(kind.0, h5t::H5T_str_t::H5T_STR_NULLPAD))?;
        if !value.is_ascii() {
            check_status(h5t::H5Tset_cset(kind.0, h5t::H5T_cset_t::H5T_CSET_UTF8))?;
        }
        let space = OwnedId::new(h5s::H5Screate(h5s::H5S_class_t::H5S_SCALAR), h5s::H5Sclose)?;
        let (default, id) = (h5p::H5P_DEFAULT, to.id());
        let attribute = OwnedId::new(
            h5a::H5Acreate2(id, name.as_ptr(), kind.0, space.0, default, default),
            h5a::H5Aclose,
        )?;
        check_status(h5a::H5Awrite(attribute.0, kind.0, bytes.as_ptr().cast()))
    })
}

/// Reads a string attribute of fixed or variable length. `None` if it is absent, of another type, or not
/// UTF-8.
pub(super) fn read_string(from: &Location, name: &str) -> Option<String> {
    let attribute = from.attr(name).ok()?;
    // SAFETY: memory uses the file's own type; the buffer has that type's size, one element.
    let fixed = hdf5::sync::sync(|| unsafe {
        let kind = OwnedId::new(h5a::H5Aget_type(attribute.id()), h5t::H5Tclose).ok()?;
        let size = h5t::H5Tget_size(kind.0);
        let text = h5t::H5Tget_class(kind.0) == h5t::H5T_class_t::H5T_STRING;
        if !text || h5t::H5Tis_variable_str(kind.0) != 0 || attribute.size() != 1 || size > LONGEST_STRING {
            return None;
        }
        let mut bytes = vec![0u8; size];
        check_status(h5a::H5Aread(attribute.id(), kind.0, bytes.as_mut_ptr().cast())).ok()?;
        Some(bytes)
    });
    let text = match fixed {
        Some(bytes) => checked_text(bytes.split(|&byte| byte == 0).next()?)?,
        None if attribute.size() != 1 => return None,
        None => match attribute.read_raw::<hdf5::types::VarLenUnicode>() {
            Ok(values) => checked_text(values.first()?.as_bytes())?,
            Err(_) => {
                checked_text(attribute.read_raw::<hdf5::types::VarLenAscii>().ok()?.first()?.as_bytes())?
            }
        },
    };
    Some(text.trim_end_matches(' ').to_owned())
}

/// The text of a string in a file; `None` if it is not UTF-8. HDF5 does not check this, nor does `as_str` of
/// its strings.
pub(super) fn checked_text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

/// Writes a numeric attribute as a one-dimensional array, as SWIFT does even for one number.
pub(super) fn write_numbers<T: H5Type>(to: &Location, name: &str, values: &[T]) -> Outcome<()> {
    to.new_attr::<T>().shape([values.len()]).create(name)?.write_raw(values)
}

/// Reads a numeric attribute, scalar or array of at most 64 elements. `None` if it is absent or not numeric.
pub(super) fn read_numbers<T: H5Type>(from: &Location, name: &str) -> Option<Vec<T>> {
    let attribute = from.attr(name).ok()?;
    // SAFETY: the attribute is open.
    let numbers = holds_numbers(|| unsafe { h5a::H5Aget_type(attribute.id()) });
    if !numbers.ok()? || attribute.size() > 64 {
        return None;
    }
    attribute.read_raw::<T>().ok()
}

/// Whether the type opened by `open_type` is a number whose bit fields lie within its bytes. HDF5's
/// conversions assume this without a check.
fn holds_numbers(open_type: impl FnOnce() -> hid_t) -> Outcome<bool> {
    // SAFETY: the type is open and closed by `OwnedId`; the pointers are to the variables that the call
    // fills.
    hdf5::sync::sync(|| unsafe {
        let kind = OwnedId::new(open_type(), h5t::H5Tclose)?;
        let bits = h5t::H5Tget_size(kind.0).saturating_mul(8);
        let offset = h5t::H5Tget_offset(kind.0);
        let precision = h5t::H5Tget_precision(kind.0);
        let inside = offset >= 0 && (offset as usize).saturating_add(precision) <= bits;
        Ok(match h5t::H5Tget_class(kind.0) {
            h5t::H5T_class_t::H5T_INTEGER => inside && precision > 0,
            h5t::H5T_class_t::H5T_FLOAT => {
                let [mut sign, mut exponent, mut mantissa] = [0usize; 3];
                let [mut exponent_size, mut mantissa_size] = [0usize; 2];
                let status = h5t::H5Tget_fields(
                    kind.0,
                    &mut sign,
                    &mut exponent,
                    &mut exponent_size,
                    &mut mantissa,
                    &mut mantissa_size,
                );
                status >= 0
                    && inside
                    && sign < bits
                    && exponent.saturating_add(exponent_size) <= bits
                    && mantissa.saturating_add(mantissa_size) <= bits
            }
            _ => false,
        })
    })
}

/// Writes rows `first..` of a dataset whose first dimension is rows; `values` are whole rows.
pub(super) fn write_rows<T: H5Type>(to: &Dataset, first: u64, values: &[T]) -> Outcome<()> {
    let kind = Datatype::from_type::<T>()?;
    // SAFETY: `transfer_rows` checks that memory and file selections hold `values.len()` elements of this
    // type.
    transfer_rows(to, first, values.len(), |memory, file| unsafe {
        h5d::H5Dwrite(to.id(), kind.id(), memory, file, h5p::H5P_DEFAULT, values.as_ptr().cast())
    })
}

/// Reads rows `first..` into `values`, which are whole rows. HDF5 converts between numeric types.
pub(super) fn read_rows<T: H5Type>(from: &Dataset, first: u64, values: &mut [T]) -> Outcome<()> {
    let kind = Datatype::from_type::<T>()?;
    // SAFETY: the dataset is open.
    if !holds_numbers(|| unsafe { h5d::H5Dget_type(from.id()) })? {
        return Err("it does not hold numbers".into());
    }
    let buffer: *mut c_void = values.as_mut_ptr().cast();
    // SAFETY: as in `write_rows`.
    transfer_rows(from, first, values.len(), |memory, file| unsafe {
        h5d::H5Dread(from.id(), kind.id(), memory, file, h5p::H5P_DEFAULT, buffer)
    })
}

/// Selects the rows in file and memory and calls `work(memory space, file space)`.
fn transfer_rows(
    dataset: &Dataset,
    first: u64,
    elements: usize,
    work: impl FnOnce(hid_t, hid_t) -> i32,
) -> Outcome<()> {
    let mut count: Vec<u64> = dataset.shape().iter().map(|&length| length as u64).collect();
    let width = count.iter().skip(1).try_fold(1u64, |width, &length| width.checked_mul(length));
    let width = width.ok_or("the extents of the dataset are too large")?;
    let rows = (elements as u64).checked_div(width).unwrap_or(0);
    if count.is_empty() || rows * width != elements as u64 || first.saturating_add(rows) > count[0] {
        return Err("the rows do not fit the dataset".into());
    }
    count[0] = rows;
    let mut start = vec![0u64; count.len()];
    start[0] = first;
    // SAFETY: all identifiers are checked and closed by `OwnedId`; `start` and `count` have the dataset's
    // rank.
    hdf5::sync::sync(|| unsafe {
        let file = OwnedId::new(h5d::H5Dget_space(dataset.id()), h5s::H5Sclose)?;
        let memory =
            OwnedId::new(h5s::H5Screate_simple(1, [elements as u64].as_ptr(), ptr::null()), h5s::H5Sclose)?;
        if elements == 0 {
            check_status(h5s::H5Sselect_none(file.0))?;
            check_status(h5s::H5Sselect_none(memory.0))?;
        } else {
            let select = h5s::H5S_seloper_t::H5S_SELECT_SET;
            let (start, count) = (start.as_ptr(), count.as_ptr());
            check_status(h5s::H5Sselect_hyperslab(file.0, select, start, ptr::null(), count, ptr::null()))?;
        }
        check_status(work(memory.0, file.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_others_have_locked_is_read_and_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.h5");
        unlocked().create(&path).unwrap().close().unwrap();
        let other = std::fs::File::open(&path).unwrap();
        other.lock().unwrap();
        if std::env::var_os("HDF5_USE_FILE_LOCKING").is_none() {
            assert!(File::open(&path).is_err(), "a lock keeps out who asks for one");
        }
        open(&path).unwrap().close().unwrap();
        unlocked().open_rw(&path).unwrap().create_group("g").unwrap();
        assert!(open(&path).unwrap().link_exists("g"));
    }
}
