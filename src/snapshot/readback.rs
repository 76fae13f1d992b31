//! Read-back check of the rows that ranks wrote concurrently.
//!
//! Ranks of several hosts write to the same pages of a file, and some network file systems do not keep these
//! writes apart: the file then has holes or stale bytes although every write succeeded. Every rank therefore
//! reads its rows back before the file is sealed.

use super::hdf::{self, Outcome, read_rows};
use hdf5::{File, H5Type};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// The digest of a range of rows of a dataset.
pub(super) struct RowDigest {
    dataset: String,
    first: u64,
    elements: usize,
    digest: u64,
    read: fn(&File, &RowDigest) -> Outcome<u64>,
}

impl RowDigest {
    /// Computes the digest of `values`, which are about to be written to rows `first..`.
    pub(super) fn new<T: H5Type + bytemuck::Pod + Default>(dataset: &str, first: u64, values: &[T]) -> Self {
        Self {
            dataset: dataset.to_owned(),
            first,
            elements: values.len(),
            digest: xxh3_64(bytemuck::cast_slice(values)),
            read: digest_of::<T>,
        }
    }

    /// Checks that a closed file holds the rows of all digests.
    pub(super) fn check(written: &[Self], path: &Path) -> Outcome<()> {
        if written.is_empty() {
            return Ok(());
        }
        let file = hdf::open(path)?;
        for part in written {
            if (part.read)(&file, part)? != part.digest {
                return Err(format!("{} does not read back as it was written", part.dataset).into());
            }
        }
        Ok(())
    }
}

fn digest_of<T: H5Type + bytemuck::Pod + Default>(file: &File, part: &RowDigest) -> Outcome<u64> {
    let mut values = vec![T::default(); part.elements];
    read_rows(&file.dataset(&part.dataset)?, part.first, &mut values)?;
    Ok(xxh3_64(bytemuck::cast_slice(&values)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.h5");
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let written = [RowDigest::new("g/x", 20, &values[20..60])];
        for hole in [false, true] {
            let mut stored = values.clone();
            stored[41] = if hole { 0.0 } else { stored[41] };
            let file = hdf::unlocked().create(&path).unwrap();
            let group = file.create_group("g").unwrap();
            group.new_dataset::<f64>().shape([100]).create("x").unwrap().write_raw(&stored).unwrap();
            file.close().unwrap();
            let checked = RowDigest::check(&written, &path);
            assert_eq!(checked.is_err(), hole, "{checked:?}");
        }
    }
}
