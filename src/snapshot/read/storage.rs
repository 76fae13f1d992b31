//! How the rows of a dataset are stored: in the file, in pieces of others, or not at all.
//!
//! Where HDF5 finds nothing it gives fill values without a word: for chunks that were never written, for files of a virtual
//! dataset that are missing, for the end of an external file. Here each is found before anything is read, and told or refused.
//! Nothing is allocated by what a file claims, but by what it stores.

use super::links::{self, Followed, Place};
use super::mapping::{MOST_PIECES, mapped};
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

/// Deflate, the densest filter in use, shrinks by at most this factor: a dataset that claims more is not believed.
const DENSEST: u64 = 1032;

/// How deep virtual datasets may be made of others.
const DEEPEST: u32 = 4;

/// How much of a dataset was ever written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    All,
    /// Chunks are missing: HDF5 gives fill values for them.
    Partly,
    Never,
}

/// A dataset of numbers whose first dimension is the rows.
pub(super) struct Table {
    /// How it is called in errors.
    pub label: String,
    pub dataset: Dataset,
    pub shape: Vec<usize>,
    pub kind: TypeDescriptor,
    pub written: Written,
    /// Whether what is stored can hold all rows.
    backed: bool,
    /// What a virtual dataset is made of, in the order of its rows.
    pieces: Vec<Piece>,
    /// The other file that it lies in, kept open.
    _other: Option<Place>,
}

/// Rows of a virtual dataset, and where they are.
struct Piece {
    rows: Range<u64>,
    source: Table,
    first: u64,
}

impl Table {
    /// The dataset `name` of a group; `None` if there is none.
    ///
    /// # Errors
    /// One that holds no numbers, or whose storage is missing, damaged, or of a filter that is not here.
    pub fn open(place: &Place, group: &Group, name: &str, label: &str) -> Checked<Option<Self>> {
        match links::dataset(place, group, name, label)? {
            Some(found) => Self::of(place, found, label, DEEPEST).map(Some),
            None => Ok(None),
        }
    }

    fn of(place: &Place, found: Followed<Dataset>, label: &str, depth: u32) -> Checked<Self> {
        let Followed { object: dataset, other } = found;
        let place = other.as_ref().unwrap_or(place);
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
            written: Written::All,
            backed: true,
            pieces: Vec::new(),
            _other: None,
        };
        if table.elements() > 0 {
            if properties.layout() == Layout::Virtual {
                table.pieces = table.find_pieces(place, &properties, depth)?;
            } else if !properties.external().is_empty() {
                table.check_external(place, &properties)?;
            } else {
                table.check_storage(place, &properties)?;
            }
        }
        table._other = other;
        Ok(table)
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.shape.first().map_or(0, |&rows| rows as u64)
    }

    /// Numbers of a row.
    fn width(&self) -> usize {
        self.shape.iter().skip(1).fold(1, |width, length| width.saturating_mul(*length))
    }

    fn elements(&self) -> u64 {
        self.rows().saturating_mul(self.width() as u64)
    }

    /// Bytes that all rows take as the file has them.
    pub fn claimed(&self) -> u64 {
        self.elements().saturating_mul(self.kind.size() as u64)
    }

    /// Whether filters may unpack a chunk of it as a whole.
    pub fn filtered(&self) -> bool {
        !self.dataset.filters().is_empty()
    }

    /// See that every row is stored, so that their number can be believed.
    ///
    /// # Errors
    /// One of which some rows are not.
    pub fn see_that_it_is_stored(&self) -> Checked<()> {
        let label = &self.label;
        let unwritten = |what: &str| {
            let what = format!("{label} was created for {} rows, and {what} written", self.rows());
            Err(Refusal::new(what, format!("write {label}")))
        };
        for piece in &self.pieces {
            piece.source.see_that_it_is_stored()?;
        }
        match self.written {
            Written::Never => unwritten("never"),
            Written::Partly => unwritten("only partly"),
            Written::All if !self.backed => Err(Refusal::damaged(format!(
                "{label} claims {} bytes, but {} are stored in this file",
                self.claimed(),
                self.dataset.storage_size()
            ))),
            Written::All => Ok(()),
        }
    }

    /// Read rows `first..` into `values`, which are whole rows.
    ///
    /// # Errors
    /// Those of HDF5.
    pub fn read<T: H5Type>(&self, first: u64, values: &mut [T]) -> Checked<()> {
        if self.pieces.is_empty() {
            return read_rows(&self.dataset, first, values).map_err(|error| unreadable(&self.label, &error));
        }
        let width = self.width().max(1);
        let end = first + (values.len() / width) as u64;
        for piece in self.pieces.iter().filter(|piece| piece.rows.start < end && first < piece.rows.end) {
            let rows = piece.rows.start.max(first)..piece.rows.end.min(end);
            let part = (rows.start - first) as usize * width..(rows.end - first) as usize * width;
            piece.source.read(piece.first + rows.start - piece.rows.start, &mut values[part])?;
        }
        Ok(())
    }

    /// How much of it the file stores, which is no more than the file has.
    fn check_storage(&mut self, place: &Place, properties: &DatasetCreate) -> Checked<()> {
        let label = &self.label;
        for filter in properties.filters() {
            see_that_filter_is_here(&filter, label)?;
        }
        let (stored, claimed) = (self.dataset.storage_size(), self.claimed());
        let most = if self.filtered() { stored.saturating_mul(DENSEST) } else { stored };
        self.backed = claimed <= most;
        self.written = written(&self.dataset)
            .ok_or_else(|| Refusal::damaged(format!("{label}: its index of chunks cannot be read")))?;
        let whole = self.written == Written::All;
        if stored > place.bytes || (whole && !self.backed && !self.filtered()) {
            let what = format!("{label} claims {claimed} bytes, but {stored} are stored in this file");
            return Err(Refusal::damaged(what));
        }
        if !whole && properties.fill_time() == FillTime::Never {
            let how = if self.written == Written::Never { "never" } else { "only partly" };
            return Err(Refusal::new(
                format!("{label} was {how} written, and has no fill value either"),
                format!("write {label}, or delete it"),
            ));
        }
        Ok(())
    }

    /// See that the files which hold a dataset outside of HDF5 are there and long enough; HDF5 looks for them from the working
    /// directory, or in the folder that an environment variable names.
    fn check_external(&self, place: &Place, properties: &DatasetCreate) -> Checked<()> {
        let prefix = std::env::var("HDF5_EXTFILE_PREFIX").ok().filter(|prefix| !prefix.is_empty());
        let folder = place.path.parent().map(Path::to_owned).unwrap_or_default();
        let prefix = prefix.map(|prefix| match prefix.strip_prefix("${ORIGIN}") {
            Some(rest) => folder.join(rest.trim_start_matches('/')),
            None => PathBuf::from(prefix),
        });
        let mut wanted = self.claimed();
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
                    "put {name} there (HDF5 looks from the working directory), or write the numbers into this file"
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

    /// The pieces of a virtual dataset, which must be blocks of whole rows that follow one another, and all be there.
    fn find_pieces(&self, place: &Place, properties: &DatasetCreate, depth: u32) -> Checked<Vec<Piece>> {
        let label = &self.label;
        let join = "join its parts into one dataset, for example with h5repack -l CONTI";
        let other = |what: &str| Refusal::new(format!("{label} is a virtual dataset {what}"), join);
        if depth == 0 {
            return Err(other("of virtual datasets, one within another without end"));
        }
        let parts = mapped(properties, self.shape.len()).map_err(|error| unreadable(label, &error))?;
        let Some(parts) = parts.filter(|parts| parts.len() <= MOST_PIECES) else {
            return Err(other("whose parts are no blocks of rows"));
        };
        let (mut pieces, mut used) = (Vec::new(), HashMap::new());
        for part in parts {
            if part.file.contains('%') {
                return Err(other("whose parts are named by a pattern"));
            }
            let whole = part.start[1..].iter().all(|start| *start == 0)
                && part.count[1..]
                    .iter()
                    .zip(&self.shape[1..])
                    .all(|(count, length)| *count == *length as u64);
            if !whole {
                return Err(other("whose parts are no blocks of whole rows"));
            }
            let elsewhere = match part.file.as_str() {
                "." => None,
                name => Some(place.open_other(name, "HDF5_VDS_PREFIX", label)?),
            };
            let home = elsewhere.as_ref().unwrap_or(place);
            let Some(found) = links::dataset_at(home, &part.dataset, label)? else {
                let (file, dataset) = (&part.file, &part.dataset);
                return Err(Refusal::new(
                    format!("a part of {label} is {dataset} of {file}, which is not there"),
                    format!("write {dataset} to {file}"),
                ));
            };
            let object = found.object;
            let found = Followed { object, other: found.other.or(elsewhere) };
            let source = Self::of(place, found, label, depth - 1)?;
            let (rows, first) = (part.start[0]..part.start[0] + part.count[0], part.from);
            if source.width() != self.width() || first.saturating_add(part.count[0]) > source.rows() {
                let (file, dataset) = (&part.file, &part.dataset);
                return Err(Refusal::new(
                    format!("a part of {label} is not in {dataset} of {file}, which has other rows"),
                    format!("bring the {file} that this file was written for"),
                ));
            }
            // few rows that are used again and again would be many
            let used = used.entry((part.file, part.dataset)).or_insert(0u64);
            *used = used.saturating_add(part.count[0]);
            if *used > source.rows() {
                return Err(other("which has the same rows of another one more than once"));
            }
            pieces.push(Piece { rows, source, first });
        }
        pieces.sort_by_key(|piece| piece.rows.start);
        let mut end = 0;
        for piece in &pieces {
            if piece.rows.start != end {
                return Err(other("with a gap or an overlap between its parts"));
            }
            end = piece.rows.end;
        }
        if end != self.rows() {
            return Err(other("whose last rows are in none of its parts"));
        }
        Ok(pieces)
    }
}

fn unreadable(label: &str, error: &hdf5::Error) -> Refusal {
    Refusal::damaged(format!("{label}: {}", hdf::reason(error)))
}

/// See that this HDF5 can unpack what a filter packed.
fn see_that_filter_is_here(filter: &Filter, label: &str) -> Checked<()> {
    let id = filter.id();
    // SAFETY: the call takes any number.
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
        "write it with gzip or without compression: read and write it again in h5py, or run h5repack -f GZIP=4 where that filter \
         is installed",
    ))
}

/// How much of a dataset was written; `None` where its index of chunks cannot be read. Chunks are counted: HDF5 1.10's own status takes compressed ones for partly written.
fn written(dataset: &Dataset) -> Option<Written> {
    let Some(chunk) = dataset.chunk() else {
        return Some(if dataset.storage_size() == 0 { Written::Never } else { Written::All });
    };
    let lengths = dataset.shape().into_iter().zip(chunk);
    let all =
        lengths.fold(1u64, |all, (length, chunk)| all.saturating_mul(length.div_ceil(chunk.max(1)) as u64));
    Some(match dataset.num_chunks()? as u64 {
        0 => Written::Never,
        some if some < all => Written::Partly,
        _ => Written::All,
    })
}
