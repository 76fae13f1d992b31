//! The parts of a virtual dataset.

use crate::snapshot::hdf::{self, Owned};
use hdf5::plist::DatasetCreate;
use hdf5_sys::{h5i::hid_t, h5p, h5s};
use std::ffi::c_char;

/// Most parts of a virtual dataset.
pub(super) const MOST_PIECES: usize = 1 << 16;

/// A part of a virtual dataset: `count` of it from `start`, and the first row of it in the other dataset.
pub(super) struct Mapped {
    pub file: String,
    pub dataset: String,
    pub start: Vec<u64>,
    pub count: Vec<u64>,
    pub from: u64,
}

/// The parts of a virtual dataset of `rank` dimensions; `None` if one is no block, or not of whole rows of the other dataset.
pub(super) fn mapped(properties: &DatasetCreate, rank: usize) -> hdf::Outcome<Option<Vec<Mapped>>> {
    let id = properties.id();
    // SAFETY: the property list is open, spaces are closed by `Owned`, and the buffers are as long as the calls are told.
    hdf5::sync::sync(|| unsafe {
        let mut count = 0;
        hdf::succeeded(h5p::H5Pget_virtual_count(id, &mut count))?;
        if count > MOST_PIECES {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for index in 0..count {
            let space = Owned::new(h5p::H5Pget_virtual_vspace(id, index), h5s::H5Sclose)?;
            let source = Owned::new(h5p::H5Pget_virtual_srcspace(id, index), h5s::H5Sclose)?;
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
            parts.push(Mapped { file, dataset, start, count, from: from[0] });
        }
        Ok(Some(parts))
    })
}

/// Corner and lengths of what is selected of a space, if that is a block.
fn block(space: &Owned) -> Option<(Vec<u64>, Vec<u64>)> {
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
