//! The mappings of a virtual dataset to its source datasets.

use crate::snapshot::hdf::{self, OwnedId};
use hdf5::plist::DatasetCreate;
use hdf5_sys::{h5i::hid_t, h5p, h5s};
use std::ffi::c_char;

/// Maximum number of mappings of a virtual dataset.
pub(super) const MAX_MAPPINGS: usize = 1 << 16;

/// One mapping of a virtual dataset: the block of `count` elements from `start`, and its first row in the
/// source dataset.
pub(super) struct Mapping {
    pub file: String,
    pub dataset: String,
    pub start: Vec<u64>,
    pub count: Vec<u64>,
    pub from: u64,
}

/// Reads the mappings of a virtual dataset of `rank` dimensions. `None` if one is not a block, or not whole
/// rows of the source dataset.
pub(super) fn mappings(properties: &DatasetCreate, rank: usize) -> hdf::Outcome<Option<Vec<Mapping>>> {
    let id = properties.id();
    // SAFETY: the property list is open, spaces are closed by `OwnedId`, and the buffers have the sizes
    // passed to the calls.
    hdf5::sync::sync(|| unsafe {
        let mut count = 0;
        hdf::check_status(h5p::H5Pget_virtual_count(id, &mut count))?;
        if count > MAX_MAPPINGS {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for index in 0..count {
            let space = OwnedId::new(h5p::H5Pget_virtual_vspace(id, index), h5s::H5Sclose)?;
            let source = OwnedId::new(h5p::H5Pget_virtual_srcspace(id, index), h5s::H5Sclose)?;
            let (Some((start, count)), Some((from, there))) = (block(&space), block(&source)) else {
                return Ok(None);
            };
            let whole_rows = from.iter().skip(1).all(|start| *start == 0) && !there.is_empty();
            if start.len() != rank || rank == 0 || !whole_rows || there[0] != count[0] {
                return Ok(None);
            }
            let text = |read: unsafe extern "C" fn(hid_t, usize, *mut c_char, usize) -> isize| {
                let mut bytes = vec![0u8; 4096];
                let length = read(id, index, bytes.as_mut_ptr().cast(), bytes.len());
                bytes.truncate(usize::try_from(length).unwrap_or(0));
                String::from_utf8_lossy(&bytes).into_owned()
            };
            let (file, dataset) = (text(h5p::H5Pget_virtual_filename), text(h5p::H5Pget_virtual_dsetname));
            parts.push(Mapping { file, dataset, start, count, from: from[0] });
        }
        Ok(Some(parts))
    })
}

/// Corner and lengths of the selection of a dataspace, if it is one block.
fn block(space: &OwnedId) -> Option<(Vec<u64>, Vec<u64>)> {
    // SAFETY: the space is open, and the corners have its rank.
    unsafe {
        let rank = usize::try_from(h5s::H5Sget_simple_extent_ndims(space.id())).ok()?;
        let (mut start, mut end) = (vec![0u64; rank], vec![0u64; rank]);
        if h5s::H5Sget_select_bounds(space.id(), start.as_mut_ptr(), end.as_mut_ptr()) < 0 {
            return None;
        }
        let count: Vec<u64> =
            start.iter().zip(&end).map(|(start, end)| (end - start).saturating_add(1)).collect();
        let points = count.iter().fold(1u64, |points, length| points.saturating_mul(*length));
        (u64::try_from(h5s::H5Sget_select_npoints(space.id())).ok()? == points).then_some((start, count))
    }
}
