//! Storage of a dataset's rows: in the file, mapped from other datasets, or missing.
//!
//! HDF5 silently returns fill values for missing data: chunks never written, missing source files of a
//! virtual dataset, the missing end of an external file. These cases are detected before anything is read,
//! then noted or refused. Allocations are bounded by the bytes stored, not by the shapes a file claims.

use super::links::{self, OpenFile, Resolved};
use super::mapping::{MAX_MAPPINGS, mappings};
use super::refusal::{Checked, Refusal};
use crate::snapshot::hdf::{self, read_rows};
use hdf5::plist::DatasetCreate;
use hdf5::plist::dataset_create::{FillTime, Layout};
use hdf5::types::TypeDescriptor;
use hdf5::{Dataset, Group, H5Type, filters::Filter};
use hdf5_sys::h5z;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Maximum compression ratio of deflate, the densest filter in use; a dataset that claims more is refused.
const MAX_COMPRESSION: u64 = 1032;

/// Maximum nesting of virtual datasets.
const MAX_NESTING: u32 = 4;

/// How much of a dataset was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteStatus {
    All,
    /// Some chunks are missing: HDF5 returns fill values for them.
    Partly,
    Never,
}

/// A numeric dataset whose first dimension is rows.
pub(super) struct Table {
    /// The dataset's name in errors.
    pub label: String,
    pub dataset: Dataset,
    pub shape: Vec<usize>,
    pub kind: TypeDescriptor,
    pub written: WriteStatus,
    /// Whether the stored bytes can hold all rows.
    fits_storage: bool,
    /// The mapped segments of a virtual dataset, in row order.
    segments: Vec<Segment>,
    /// The external file that holds the dataset, kept open.
    _external: Option<OpenFile>,
}

/// A range of rows of a virtual dataset, and its source.
struct Segment {
    rows: Range<u64>,
    source: Table,
    first: u64,
}

impl Table {
    /// Opens the dataset `name` of a group; `None` if there is none.
    ///
    /// # Errors
    /// A dataset that is not numeric, whose storage is missing or damaged, or whose filter is not available.
    pub fn open(host: &OpenFile, group: &Group, name: &str, label: &str) -> Checked<Option<Self>> {
        match links::dataset(host, group, name, label)? {
            Some(found) => Self::of(host, found, label, MAX_NESTING).map(Some),
            None => Ok(None),
        }
    }

    fn of(host: &OpenFile, found: Resolved<Dataset>, label: &str, depth: u32) -> Checked<Self> {
        let Resolved { object: dataset, external } = found;
        let host = external.as_ref().unwrap_or(host);
        let kind = dataset.dtype().and_then(|kind| kind.to_descriptor()).map_err(|error| {
            Refusal::new(
                format!("{label} is of a type that cannot be read: {}", hdf::reason(&error)),
                "write it as integers or floats",
            )
        })?;
        let number = matches!(
            kind,
            TypeDescriptor::Integer(_) | TypeDescriptor::Unsigned(_) | TypeDescriptor::Float(_)
        );
        if !number {
            return Err(Refusal::new(
                format!("{label} holds no numbers but {kind}"),
                "write it as integers or floats",
            ));
        }
        let properties = dataset.dcpl().map_err(|error| unreadable(label, &error))?;
        let shape = dataset.shape();
        let mut table = Self {
            label: label.to_owned(),
            dataset,
            shape,
            kind,
            written: WriteStatus::All,
            fits_storage: true,
            segments: Vec::new(),
            _external: None,
        };
        if table.elements() > 0 {
            if properties.layout() == Layout::Virtual {
                table.segments = table.open_segments(host, &properties, depth)?;
            } else if !properties.external().is_empty() {
                table.check_external(host, &properties)?;
            } else {
                table.check_storage(host, &properties)?;
            }
        }
        table._external = external;
        Ok(table)
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.shape.first().map_or(0, |&rows| rows as u64)
    }

    /// Numbers per row.
    fn width(&self) -> usize {
        self.shape.iter().skip(1).fold(1, |width, length| width.saturating_mul(*length))
    }

    fn elements(&self) -> u64 {
        self.rows().saturating_mul(self.width() as u64)
    }

    /// Bytes of all rows in the file's type.
    pub fn logical_bytes(&self) -> u64 {
        self.elements().saturating_mul(self.kind.size() as u64)
    }

    /// Whether the dataset has filters, which unpack whole chunks.
    pub fn filtered(&self) -> bool {
        !self.dataset.filters().is_empty()
    }

    /// Checks that every row is stored, so that the row count can be trusted.
    ///
    /// # Errors
    /// A dataset with rows that are not stored.
    pub fn check_stored(&self) -> Checked<()> {
        let label = &self.label;
        let unwritten = |what: &str| {
            let what = format!("{label} was created for {} rows, and {what} written", self.rows());
            Err(Refusal::new(what, format!("write {label}")))
        };
        for segment in &self.segments {
            segment.source.check_stored()?;
        }
        match self.written {
            WriteStatus::Never => unwritten("never"),
            WriteStatus::Partly => unwritten("only partly"),
            WriteStatus::All if !self.fits_storage => Err(Refusal::damaged(format!(
                "{label} claims {} bytes, but {} are stored in this file",
                self.logical_bytes(),
                self.dataset.storage_size()
            ))),
            WriteStatus::All => Ok(()),
        }
    }

    /// Reads rows `first..` into `values`, which are whole rows.
    ///
    /// # Errors
    /// Those of HDF5.
    pub fn read<T: H5Type>(&self, first: u64, values: &mut [T]) -> Checked<()> {
        if self.segments.is_empty() {
            return read_rows(&self.dataset, first, values).map_err(|error| unreadable(&self.label, &error));
        }
        let width = self.width().max(1);
        let end = first + (values.len() / width) as u64;
        for segment in
            self.segments.iter().filter(|segment| segment.rows.start < end && first < segment.rows.end)
        {
            let rows = segment.rows.start.max(first)..segment.rows.end.min(end);
            let part = (rows.start - first) as usize * width..(rows.end - first) as usize * width;
            segment.source.read(segment.first + rows.start - segment.rows.start, &mut values[part])?;
        }
        Ok(())
    }

    /// Checks how much of the dataset is stored, and that the file is large enough to hold it.
    fn check_storage(&mut self, host: &OpenFile, properties: &DatasetCreate) -> Checked<()> {
        let label = &self.label;
        for filter in properties.filters() {
            check_filter_available(&filter, label)?;
        }
        let (stored, logical_bytes) = (self.dataset.storage_size(), self.logical_bytes());
        let most = if self.filtered() { stored.saturating_mul(MAX_COMPRESSION) } else { stored };
        self.fits_storage = logical_bytes <= most;
        self.written = write_status(&self.dataset)
            .ok_or_else(|| Refusal::damaged(format!("{label}: its index of chunks cannot be read")))?;
        let whole = self.written == WriteStatus::All;
        if stored > host.bytes || (whole && !self.fits_storage && !self.filtered()) {
            let what = format!("{label} claims {logical_bytes} bytes, but {stored} are stored in this file");
            return Err(Refusal::damaged(what));
        }
        if !whole && properties.fill_time() == FillTime::Never {
            let how = if self.written == WriteStatus::Never { "never" } else { "only partly" };
            return Err(Refusal::new(
                format!("{label} was {how} written, and has no fill value either"),
                format!("write {label}, or delete it"),
            ));
        }
        Ok(())
    }

    /// Checks that the external raw files of a dataset exist and are long enough. HDF5 looks for them in the
    /// working directory, or in the directory named by an environment variable.
    fn check_external(&self, host: &OpenFile, properties: &DatasetCreate) -> Checked<()> {
        let prefix = std::env::var("HDF5_EXTFILE_PREFIX").ok().filter(|prefix| !prefix.is_empty());
        let folder = host.path.parent().map(Path::to_owned).unwrap_or_default();
        let prefix = prefix.map(|prefix| match prefix.strip_prefix("${ORIGIN}") {
            Some(rest) => folder.join(rest.trim_start_matches('/')),
            None => PathBuf::from(prefix),
        });
        let mut wanted = self.logical_bytes();
        for part in properties.external() {
            let path = prefix.as_ref().map_or(PathBuf::from(&part.name), |prefix| prefix.join(&part.name));
            let bytes = wanted.min(part.size as u64);
            let why = match std::fs::metadata(&path) {
                Err(cause) => format!("cannot be opened: {cause}"),
                Ok(kind) if !kind.is_file() => "is not a regular file".into(),
                Ok(kind) if kind.len() < (part.offset as u64).saturating_add(bytes) => {
                    format!("has {} bytes, of which {bytes} from byte {} are needed", kind.len(), part.offset)
                }
                Ok(_) => {
                    wanted -= bytes;
                    continue;
                }
            };
            let name = path.display();
            return Err(Refusal::new(
                format!("{} lies in another file, {name}, which {why}", self.label),
                format!(
                    "put {name} there (HDF5 looks from the working directory), or write the numbers into \
                     this file"
                ),
            ));
        }
        match wanted {
            0 => Ok(()),
            _ => Err(Refusal::damaged(format!(
                "the files that {} lies in have {wanted} bytes too few",
                self.label
            ))),
        }
    }

    /// Opens the source datasets of a virtual dataset. They must be contiguous blocks of whole rows without
    /// gaps, and all exist.
    fn open_segments(
        &self,
        host: &OpenFile,
        properties: &DatasetCreate,
        depth: u32,
    ) -> Checked<Vec<Segment>> {
        let label = &self.label;
        let join = "join its parts into one dataset, for example with h5repack -l CONTI";
        let unsupported = |what: &str| Refusal::new(format!("{label} is a virtual dataset {what}"), join);
        if depth == 0 {
            return Err(unsupported("of virtual datasets, one within another without end"));
        }
        let parts = mappings(properties, self.shape.len()).map_err(|error| unreadable(label, &error))?;
        let Some(parts) = parts.filter(|parts| parts.len() <= MAX_MAPPINGS) else {
            return Err(unsupported("whose parts are no blocks of rows"));
        };
        let (mut segments, mut used) = (Vec::new(), HashMap::new());
        for part in parts {
            if part.file.contains('%') {
                return Err(unsupported("whose parts are named by a pattern"));
            }
            let whole = part.start[1..].iter().all(|start| *start == 0)
                && part.count[1..]
                    .iter()
                    .zip(&self.shape[1..])
                    .all(|(count, length)| *count == *length as u64);
            if !whole {
                return Err(unsupported("whose parts are no blocks of whole rows"));
            }
            let elsewhere = match part.file.as_str() {
                "." => None,
                name => Some(host.open_external(name, "HDF5_VDS_PREFIX", label)?),
            };
            let source_file = elsewhere.as_ref().unwrap_or(host);
            let Some(found) = links::dataset_at(source_file, &part.dataset, label)? else {
                let (file, dataset) = (&part.file, &part.dataset);
                return Err(Refusal::new(
                    format!("a part of {label} is {dataset} of {file}, which is not there"),
                    format!("write {dataset} to {file}"),
                ));
            };
            let object = found.object;
            let found = Resolved { object, external: found.external.or(elsewhere) };
            let source = Self::of(host, found, label, depth - 1)?;
            let (rows, first) = (part.start[0]..part.start[0] + part.count[0], part.from);
            if source.width() != self.width() || first.saturating_add(part.count[0]) > source.rows() {
                let (file, dataset) = (&part.file, &part.dataset);
                return Err(Refusal::new(
                    format!("a part of {label} is not in {dataset} of {file}, which has other rows"),
                    format!("bring the {file} that this file was written for"),
                ));
            }
            // A few rows mapped many times would bypass the bound on allocations.
            let used = used.entry((part.file, part.dataset)).or_insert(0u64);
            *used = used.saturating_add(part.count[0]);
            if *used > source.rows() {
                return Err(unsupported("which has the same rows of another one more than once"));
            }
            segments.push(Segment { rows, source, first });
        }
        segments.sort_by_key(|segment| segment.rows.start);
        let mut end = 0;
        for segment in &segments {
            if segment.rows.start != end {
                return Err(unsupported("with a gap or an overlap between its parts"));
            }
            end = segment.rows.end;
        }
        if end != self.rows() {
            return Err(unsupported("whose last rows are in none of its parts"));
        }
        Ok(segments)
    }
}

fn unreadable(label: &str, error: &hdf5::Error) -> Refusal {
    Refusal::damaged(format!("{label}: {}", hdf::reason(error)))
}

/// Checks that this HDF5 has a filter.
fn check_filter_available(filter: &Filter, label: &str) -> Checked<()> {
    let id = filter.id();
    // SAFETY: the call accepts any number.
    if hdf5::sync::sync(|| unsafe { h5z::H5Zfilter_avail(id) }) > 0 {
        return Ok(());
    }
    let name = match id {
        4 => "szip",
        32000 => "lzf",
        32001 => "blosc",
        32004 => "lz4",
        32008 => "bitshuffle",
        32013 => "zfp",
        32015 => "zstd",
        _ => "another",
    };
    Err(Refusal::new(
        format!("{label} is compressed by a filter that this HDF5 lacks: {name} (number {id})"),
        "write it with gzip or without compression: read and write it again in h5py, or run h5repack -f \
         GZIP=4 where that filter \
         is installed",
    ))
}

/// Determines how much of a dataset was written; `None` if its chunk index cannot be read. Counts chunks,
/// because HDF5 1.10 reports compressed datasets as partly written.
fn write_status(dataset: &Dataset) -> Option<WriteStatus> {
    let Some(chunk) = dataset.chunk() else {
        return Some(if dataset.storage_size() == 0 { WriteStatus::Never } else { WriteStatus::All });
    };
    let lengths = dataset.shape().into_iter().zip(chunk);
    let all =
        lengths.fold(1u64, |all, (length, chunk)| all.saturating_mul(length.div_ceil(chunk.max(1)) as u64));
    Some(match dataset.num_chunks()? as u64 {
        0 => WriteStatus::Never,
        some if some < all => WriteStatus::Partly,
        _ => WriteStatus::All,
    })
}
