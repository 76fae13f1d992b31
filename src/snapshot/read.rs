//! Reading snapshots: ours, and SWIFT's and Gadget's as initial conditions.
//!
//! Every rank reads its rows with plain reads, not through MPI: a damaged file then fails on a rank as it would alone,
//! and no rank waits in a collective call for one that has given up.

use super::fault::{self, Reading};
use super::foreign::{self, Cosmology};
use super::hdf::{self, read_numbers, read_rows, read_string};
use super::layout::{FORMAT_VERSION, GROUP, OURS};
use super::{Header, Stated, names, seal};
use crate::comm::Communicator;
use crate::comm::shares::{repeated, share};
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use hdf5::types::TypeDescriptor;
use hdf5::{Dataset, File, Group};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Deflate, the densest filter in use, shrinks by at most this factor: a dataset that claims more is not believed.
const DENSEST: u64 = 1032;

const REMEDY: &str =
    "copy the file anew or take another; hilbrium reads HDF5 snapshots of its own, of SWIFT and of Gadget";
const CHANGED: &str = "copy the file anew or take another; if it was changed on purpose, rewrite it with h5repack, which drops the seal";

/// Read all of a snapshot: of ours with every field it has, of SWIFT or Gadget the gas particles (`PartType0`) with
/// the fields that we know, in physical units without factors of h. Ids are those of the file, or row numbers.
///
/// # Errors
/// [`Error::File`] if it cannot be read, [`Error::Content`] if it is damaged, of another kind, or holds values that
/// cannot be (masses that are not positive, anything not finite, an id twice).
pub fn read_snapshot(path: &Path) -> Result<(Header, Particles)> {
    read_snapshot_slice(path, &Communicator::solo())
}

/// [`read_snapshot`], but each rank gets an even share of the rows, in rank order. Collective.
///
/// # Errors
/// As [`read_snapshot`], on every rank if any fails.
pub fn read_snapshot_slice(path: &Path, comm: &Communicator) -> Result<(Header, Particles)> {
    seal::verify(path, comm, CHANGED)?;
    let read = Source::open(path).and_then(|source| {
        let particles = source.particles(share(source.count, comm.rank(), comm.size()))?;
        // the file is closed here: what follows is no reading
        Ok((source.header, source.stated_box, particles))
    });
    let (header, stated_box, particles) = comm.agree_on(read)?;
    comm.agree(match repeated(comm, &particles.id) {
        Some(id) => Err(content(path, format!("the id {id} occurs more than once"))),
        None => Ok(()),
    })?;
    let bx = simulation_box(comm, path, &header, stated_box, &particles);
    Ok((Header { bx: comm.agree_on(bx)?, ..header }, particles))
}

/// The number of particles that [`read_snapshot`] would give.
///
/// # Errors
/// As [`read_snapshot`], of the header.
pub fn particle_count(path: &Path) -> Result<u64> {
    seal::verify(path, &Communicator::solo(), CHANGED)?;
    Source::open(path).map(|source| source.count)
}

/// What a snapshot says beside its particles, which are not looked at; the box is that of the file, if it has one.
///
/// # Errors
/// As [`read_snapshot`], of the header.
pub fn read_header(path: &Path) -> Result<Header> {
    Source::open(path).map(|source| source.header)
}

/// An open snapshot whose header has been read.
pub(super) struct Source {
    path: PathBuf,
    bytes: u64,
    file: File,
    group: Group,
    cosmology: Option<Cosmology>,
    /// All that is known before the particles are; the box is provisional.
    pub(super) header: Header,
    /// The box, where the file has one.
    stated_box: Option<SimulationBox>,
    count: u64,
    /// Dropped last.
    _reading: Reading,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let damaged = |what: String| content(path, what);
        let bytes = seal::open(path)?.metadata().map_err(|cause| Error::file("read", path, &cause))?.len();
        let reading = Reading::of(path);
        let file = hdf::open(path).map_err(|error| damaged(hdf::reason(&error)))?;
        if let Ok(ours) = file.group(OURS) {
            refuse_other_kinds(path, &ours, "snapshot")?;
        }
        let group =
            file.group(GROUP).map_err(|_| damaged(format!("it has no group {GROUP} of gas particles")))?;
        let head = file.group("Header").map_err(|_| damaged("it has no group Header".into()))?;
        let number = |name: &str| read_numbers::<f64>(&head, name).and_then(|values| values.first().copied());
        if number("NumFilesPerSnapshot").is_some_and(|files| files > 1.0) {
            return Err(Error::Content {
                path: path.to_owned(),
                what: "it is one of several files of a snapshot".into(),
                remedy: "join the files into one first".into(),
            });
        }
        let counts = read_numbers::<i64>(&head, "NumPart_ThisFile").unwrap_or_default();
        if counts.iter().any(|&count| count < 0) {
            return Err(damaged("Header/NumPart_ThisFile is negative".into()));
        }
        let coordinates = dataset(path, &group, "Coordinates")?;
        let count = coordinates.shape().first().map_or(0, |&rows| rows as u64);
        if counts.first().is_some_and(|&stated| stated as u64 != count) {
            return Err(damaged(format!(
                "its header counts {} particles, but {count} have coordinates",
                counts[0]
            )));
        }
        let time = number("Time").unwrap_or(0.0);
        if !time.is_finite() {
            return Err(damaged(format!("Header/Time is {time}")));
        }
        let scheme = file.group("HydroScheme").ok();
        let index = scheme.and_then(|scheme| read_numbers::<f64>(&scheme, "Adiabatic index"));
        let cosmology = Cosmology::of(&file, &head).map_err(damaged)?;
        let stated_box = stated_box(&file, &head, |edge| match cosmology {
            Some(cosmology) => edge * cosmology.factor(&coordinates, Field::Position),
            None => edge,
        });
        let unit_box =
            SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Open; 3] };
        let deck = file.group(OURS).ok().and_then(|ours| read_string(&ours, "Deck")).unwrap_or_default();
        let header = Header {
            time,
            step: number("Step").map_or(0, |step| step.max(0.0) as u64),
            title: read_string(&head, "RunName").unwrap_or_default(),
            bx: stated_box.unwrap_or(unit_box),
            particle_count: count,
            ignored_particles: counts
                .iter()
                .skip(1)
                .fold(0u64, |sum, &count| sum.saturating_add(count as u64)),
            adiabatic_index: index.and_then(|index| index.first().copied()).filter(|index| *index >= 1.0),
            units: foreign::units(&file, &head),
            species: names::read(&group, &deck),
            deck,
            stated: Stated {
                bx: stated_box.is_some(),
                boundary: stated_box.is_some(),
                units: file.link_exists("Units"),
                ..Stated::default()
            },
        };
        Ok(Self {
            path: path.to_owned(),
            bytes,
            file,
            group,
            cosmology,
            header,
            stated_box,
            count,
            _reading: reading,
        })
    }

    /// The fields that the file has.
    pub(super) fn fields(&self) -> Vec<Field> {
        Field::ALL.iter().copied().filter(|&field| self.dataset_of(field).is_some()).collect()
    }

    fn dataset_of(&self, field: Field) -> Option<&'static str> {
        foreign::dataset_names(field).into_iter().find(|name| self.group.link_exists(name))
    }

    /// The checked particles of a range of rows.
    fn particles(&self, range: Range<u64>) -> Result<Particles> {
        let mut fields = self.fields();
        fields.extend([Field::Position, Field::Mass]);
        // Coordinates come first and are bounded by the file's size, which bounds all that follows.
        let mut columns = Vec::new();
        for &field in fields.iter().filter(|&&field| self.dataset_of(field).is_some() || field == Field::Mass)
        {
            columns.push((field, self.values(field, range.clone())?));
        }
        let ids = self.ids(range)?;
        let mut particles = Particles::new(&fields, ids.len());
        particles.id = ids;
        for (field, values) in columns {
            let width = field.components();
            for c in 0..width {
                let column = particles.component_mut(field, c);
                column
                    .iter_mut()
                    .zip(values.iter().skip(c).step_by(width))
                    .for_each(|(to, from)| *to = *from);
            }
        }
        Ok(particles)
    }

    /// The values of a field in our convention, whole rows one after another.
    pub(super) fn values(&self, field: Field, range: Range<u64>) -> Result<Vec<f64>> {
        let width = field.components();
        let Some(name) = self.dataset_of(field) else { return self.table_mass(range) };
        let dataset = dataset(&self.path, &self.group, name)?;
        let elements = self.checked(&dataset, name, width, &range)?;
        let mut values: Vec<f64> = zeros(elements, &self.path)?;
        read_rows(&dataset, range.start, &mut values).map_err(|error| self.unreadable(name, &error))?;
        let mut factor = self.cosmology.map_or(1.0, |cosmology| cosmology.factor(&dataset, field));
        if field == Field::SmoothingLength {
            factor *= 0.5 * foreign::support_over_smoothing_length(&self.file);
        }
        let lower =
            self.stated_box.filter(|_| field == Field::Position).map_or(Vec3d::zeros(), |bx| bx.lower);
        for (k, value) in values.iter_mut().enumerate() {
            if factor != 1.0 {
                *value *= factor;
            }
            if field == Field::Position {
                *value += lower[k % 3];
            }
            let possible = match field {
                Field::Mass => *value > 0.0 && value.is_finite(),
                Field::SmoothingLength | Field::Density => *value >= 0.0 && value.is_finite(),
                _ => value.is_finite(),
            };
            if !possible {
                let row = range.start + (k / width) as u64;
                return Err(content(&self.path, format!("{GROUP}/{name} of row {row} is {value}")));
            }
        }
        Ok(values)
    }

    /// Equal masses from the header, where there is no dataset of masses.
    fn table_mass(&self, range: Range<u64>) -> Result<Vec<f64>> {
        let head = self.file.group("Header").ok();
        let table = head.and_then(|head| read_numbers::<f64>(&head, "MassTable")).unwrap_or_default();
        let mass = table.first().copied().unwrap_or(0.0);
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(content(
                &self.path,
                "it has no masses, neither as a dataset nor in its header".into(),
            ));
        }
        let factor = self.cosmology.map_or(1.0, |cosmology| cosmology.factor(&self.group, Field::Mass));
        // As many rows as the ids and coordinates that were read before.
        let mut masses = zeros((range.end - range.start) as usize, &self.path)?;
        masses.fill(mass * factor);
        Ok(masses)
    }

    fn ids(&self, range: Range<u64>) -> Result<Vec<u64>> {
        let name = "ParticleIDs";
        if !self.group.link_exists(name) {
            return Ok(range.collect());
        }
        let dataset = dataset(&self.path, &self.group, name)?;
        let mut ids: Vec<i64> = zeros(self.checked(&dataset, name, 1, &range)?, &self.path)?;
        read_rows(&dataset, range.start, &mut ids).map_err(|error| self.unreadable(name, &error))?;
        // The library clips larger unsigned values to the largest signed one.
        match ids.iter().find(|&&id| id < 0 || id == i64::MAX) {
            Some(id) => {
                Err(content(&self.path, format!("{GROUP}/{name} holds {id}, no id from 0 to 2^63 - 2")))
            }
            None => Ok(ids.into_iter().map(|id| id as u64).collect()),
        }
    }

    /// See that a dataset has the shape it should have and stores what it claims, before anything is allocated.
    fn checked(&self, dataset: &Dataset, name: &str, width: usize, range: &Range<u64>) -> Result<usize> {
        let shape = dataset.shape();
        let expected = [self.count as usize, width];
        if shape != expected && !(width == 1 && shape == expected[..1]) {
            return Err(content(
                &self.path,
                format!("{GROUP}/{name} has shape {shape:?} instead of {expected:?}"),
            ));
        }
        let kind = dataset.dtype().and_then(|kind| kind.to_descriptor());
        let kind = kind.map_err(|error| self.unreadable(name, &error))?;
        if !matches!(
            kind,
            TypeDescriptor::Integer(_) | TypeDescriptor::Unsigned(_) | TypeDescriptor::Float(_)
        ) {
            return Err(content(&self.path, format!("{GROUP}/{name} holds no numbers but {kind}")));
        }
        let claimed = self.count.saturating_mul(width as u64).saturating_mul(kind.size() as u64);
        let stored = dataset.storage_size();
        let most = if dataset.filters().is_empty() { stored } else { stored.saturating_mul(DENSEST) };
        if claimed > most || stored > self.bytes {
            let what = format!("{GROUP}/{name} claims {claimed} bytes, but {stored} are stored in this file");
            return Err(content(&self.path, what));
        }
        if !dataset.filters().is_empty() {
            // all of it may be in one chunk, which is unpacked as a whole
            fault::expect(claimed as usize);
        }
        Ok((range.end - range.start) as usize * width)
    }

    fn unreadable(&self, name: &str, error: &hdf5::Error) -> Error {
        content(&self.path, format!("{GROUP}/{name}: {}", hdf::reason(error)))
    }
}

/// The box that the file states, its edges and lower corner made physical; `None` if there is none that could be.
fn stated_box(file: &File, head: &Group, physical: impl Fn(f64) -> f64) -> Option<SimulationBox> {
    let three = |values: Vec<f64>| match values[..] {
        [edge] => Some([edge; 3]),
        [x, y, z] => Some([x, y, z]),
        _ => None,
    };
    let edges = three(read_numbers::<f64>(head, "BoxSize")?)?.map(&physical);
    let lower = read_numbers::<f64>(head, "BoxLower").and_then(three).unwrap_or_default();
    let (lower, edges) = (Vec3d::from(lower), Vec3d::from(edges));
    let upper = lower + edges;
    if !(0..3).all(|d| lower[d].is_finite() && upper[d].is_finite() && lower[d] < upper[d]) {
        return None;
    }
    let one = |group: &str, name: &str| {
        let group = file.group(group).ok()?;
        let number = read_string(&group, name).and_then(|text| text.parse::<f64>().ok());
        number.or_else(|| read_numbers::<f64>(&group, name)?.first().copied())
    };
    let everywhere =
        one("Parameters", "InitialConditions:periodic").or(one("RuntimePars", "PeriodicBoundariesOn"));
    let periodic = match read_numbers::<i32>(head, "Periodic").as_deref() {
        Some(&[x, y, z]) => [x != 0, y != 0, z != 0],
        _ => [everywhere.is_some_and(|number| number != 0.0); 3],
    };
    let boundary = periodic.map(|periodic| if periodic { Boundary::Periodic } else { Boundary::Open });
    Some(SimulationBox { lower, upper, boundary })
}

/// The file's box, or one fitted to the particles where it has none or they lie outside an open one.
fn simulation_box(
    comm: &Communicator,
    path: &Path,
    header: &Header,
    stated_box: Option<SimulationBox>,
    particles: &Particles,
) -> Result<SimulationBox> {
    let (mut lower, mut upper) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for (d, column) in particles.vector(Field::Position).iter().enumerate() {
        lower[d] = column.iter().copied().fold(lower[d], f64::min);
        upper[d] = column.iter().copied().fold(upper[d], f64::max);
    }
    comm.all_min(&mut lower);
    comm.all_max(&mut upper);
    let bx = header.bx;
    let inside = |d: usize| {
        bx.boundary[d] == Boundary::Periodic || (bx.lower[d] <= lower[d] && upper[d] < bx.upper[d])
    };
    if header.particle_count == 0 || (stated_box.is_some() && (0..3).all(inside)) {
        return Ok(bx);
    }
    let fitted = bx.fitted((Vec3d::from(lower), Vec3d::from(upper)));
    if (0..3).all(|d| fitted.lengths()[d] > 0.0 && fitted.lengths()[d].is_finite()) {
        return Ok(fitted);
    }
    Err(content(path, format!("no box holds its coordinates, from {lower:?} to {upper:?}")))
}

/// An error if one of our files is of another kind than `wanted`, or of a format that this program does not know.
pub(super) fn refuse_other_kinds(path: &Path, ours: &Group, wanted: &str) -> Result<()> {
    let kind = read_string(ours, "Kind").unwrap_or_default();
    if kind == wanted {
        return refuse_other_versions(path, ours);
    }
    let remedy = match kind.as_str() {
        "checkpoint" => "continue a checkpoint with --restart",
        "snapshot" => "a snapshot is read by start.file, not by --restart",
        _ => REMEDY,
    };
    let what = format!("it is a {kind}, not a {wanted}");
    Err(Error::Content { path: path.to_owned(), what, remedy: remedy.into() })
}

/// An error if one of our files is of a format that this program does not know.
pub(super) fn refuse_other_versions(path: &Path, ours: &Group) -> Result<()> {
    let version = read_numbers::<i64>(ours, "Format version").and_then(|v| v.first().copied()).unwrap_or(0);
    if (1..=FORMAT_VERSION).contains(&version) {
        return Ok(());
    }
    Err(Error::Content {
        path: path.to_owned(),
        what: format!("its format version is {version}, this program knows 1 to {FORMAT_VERSION}"),
        remedy: "use the hilbrium that wrote it, or a later one".into(),
    })
}

/// Room for `count` values, or an error instead of an abort.
pub(super) fn zeros<T: Clone + Default>(count: usize, path: &Path) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|cause| Error::File {
        action: "read",
        path: path.to_owned(),
        cause: format!("{count} values do not fit into memory: {cause}"),
        remedy: "use a machine with more memory, or more ranks".into(),
    })?;
    fault::expect(count * size_of::<T>());
    values.resize(count, T::default());
    Ok(values)
}

fn dataset(path: &Path, group: &Group, name: &str) -> Result<Dataset> {
    group.dataset(name).map_err(|error| content(path, format!("{GROUP}/{name}: {}", hdf::reason(&error))))
}

fn content(path: &Path, what: String) -> Error {
    Error::Content { path: path.to_owned(), what, remedy: REMEDY.into() }
}
