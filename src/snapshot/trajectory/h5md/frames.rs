//! Reads the frames of a trajectory back.

use std::path::{Path, PathBuf};

use hdf5::{Dataset, Group, Location};

use super::{ALL_PARTICLES, row_count};
use crate::particles::Field;
use crate::snapshot::crash_guard::ReadGuard;
use crate::snapshot::hdf::{self, Outcome, read_rows, read_string};
use crate::snapshot::layout::PROGRAM_GROUP;
use crate::snapshot::names::read_strings;
use crate::snapshot::read::{check_format_version, zeros};
use crate::space::Boundary;
use crate::{Error, Result};

/// Fields that change from frame to frame.
const VARYING: [Field; 4] = [Field::Position, Field::Velocity, Field::Force, Field::Image];

/// Fields that all frames share.
const CONSTANT: [Field; 3] = [Field::Species, Field::Mass, Field::Charge];

/// An H5MD trajectory of this program: what all frames share, and when they are. The file is closed between
/// reads, so a run may append meanwhile.
#[derive(Clone, Debug)]
pub struct Frames {
    path: PathBuf,
    /// Title of the run.
    pub title: String,
    /// Step of each frame.
    pub steps: Vec<u64>,
    /// Time of each frame.
    pub times: Vec<f64>,
    /// Edges of the box of each frame, three after three.
    pub edges: Vec<f64>,
    /// Boundary per dimension.
    pub boundary: [Boundary; 3],
    /// Ids of the particles, ascending: the order of all values.
    pub ids: Vec<u64>,
    /// Names of the species, indexed by the values of the species field.
    pub species: Vec<String>,
    /// Fields that frames have, and those that all frames share.
    pub fields: Vec<Field>,
    /// Unit of each of these fields as the file states it; empty if it states none.
    pub units: Vec<String>,
}

impl Frames {
    /// Opens a trajectory.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read, [`Error::Content`] if it is no H5MD of this program.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = std::fs::metadata(path).map_err(|cause| Error::file("read", path, &cause))?.len();
        let _reading = ReadGuard::new(path);
        let wrong = |error: hdf5::Error| unreadable(path, &error);
        let file = hdf::open(path).map_err(wrong)?;
        let ours = file.group(PROGRAM_GROUP).ok();
        let ours = ours.filter(|ours| read_string(ours, "Kind").as_deref() == Some("trajectory"));
        let ours = ours.ok_or_else(|| content(path, "it is no H5MD trajectory of hilbrium".into()))?;
        check_format_version(path, &ours)?;
        let group = file.group(ALL_PARTICLES).map_err(wrong)?;
        let small = |name: &str| group.dataset(&format!("box/edges/{name}")).map_err(wrong);
        let (step, time, edges) = (small("step")?, small("time")?, small("value")?);
        // the position is published last
        let position = group.dataset("position/value").map_err(wrong)?;
        let count = [&step, &time, &edges].into_iter().map(row_count).fold(row_count(&position), u64::min);
        let ids = group.dataset("id").map_err(wrong)?;
        let particles = row_count(&ids);
        for (name, dataset, row) in [
            ("box/edges/step", &step, &[][..]),
            ("box/edges/time", &time, &[]),
            ("box/edges/value", &edges, &[3]),
            ("position/value", &position, &[particles as usize, 3]),
            ("id", &ids, &[]),
        ] {
            let shape = dataset.shape();
            if shape.get(1..) != Some(row) {
                return Err(content(path, format!("its {name} has the shape {shape:?}")));
            }
        }
        if count.max(particles).saturating_mul(8) > bytes {
            let what = format!("it claims {count} frames of {particles} particles in {bytes} bytes");
            return Err(content(path, what));
        }
        let mut steps: Vec<i64> = zeros(count as usize, path)?;
        let mut times: Vec<f64> = zeros(count as usize, path)?;
        let mut all_edges: Vec<f64> = zeros(3 * count as usize, path)?;
        let mut numbers: Vec<i64> = zeros(particles as usize, path)?;
        read_rows(&step, 0, &mut steps).map_err(wrong)?;
        read_rows(&time, 0, &mut times).map_err(wrong)?;
        read_rows(&edges, 0, &mut all_edges).map_err(wrong)?;
        read_rows(&ids, 0, &mut numbers).map_err(wrong)?;
        let names = |from: &Location, name: &str| from.attr(name).ok().and_then(|names| read_strings(&names));
        let space = group.group("box").map_err(wrong)?;
        let boundary = names(&space, "boundary");
        let boundary = boundary.ok_or_else(|| content(path, "its box has no readable boundary".into()))?;
        let periodic = |d: usize| boundary.get(d).is_some_and(|name| name == "periodic");
        let boundary = [0, 1, 2].map(|d| if periodic(d) { Boundary::Periodic } else { Boundary::Open });
        let species = group.dataset("species").ok().and_then(|species| names(&species, "names"));
        let (mut fields, mut units) = (Vec::new(), Vec::new());
        for field in VARYING.into_iter().chain(CONSTANT) {
            if let Ok(dataset) = dataset_of(&group, field) {
                fields.push(field);
                units.push(read_string(&dataset, "unit").unwrap_or_default());
            }
        }
        Ok(Frames {
            path: path.to_owned(),
            title: read_string(&ours, "Title").unwrap_or_default(),
            steps: steps.into_iter().map(|step| step as u64).collect(),
            times,
            edges: all_edges,
            boundary,
            ids: numbers.into_iter().map(|id| id as u64).collect(),
            species: species.unwrap_or_default(),
            fields,
            units,
        })
    }

    /// Whether a field changes from frame to frame.
    pub fn varies(field: Field) -> bool {
        VARYING.contains(&field)
    }

    /// Reads a field of a frame, particle by particle, components adjacent; constant ones are the same in all
    /// frames. `None` if the trajectory does not have it.
    ///
    /// # Errors
    /// [`Error::Usage`] beyond the last frame; those of [`Self::open`].
    pub fn read(&self, field: Field, frame: u64) -> Result<Option<Vec<f64>>> {
        if !self.fields.contains(&field) {
            return Ok(None);
        }
        if frame >= self.steps.len() as u64 {
            return Err(Error::usage(
                format!("{} has {} frames and none of index {frame}", self.path.display(), self.steps.len()),
                "count frames from 0",
            ));
        }
        let _reading = ReadGuard::new(&self.path);
        let wrong = |error: hdf5::Error| unreadable(&self.path, &error);
        let file = hdf::open(&self.path).map_err(wrong)?;
        let dataset = dataset_of(&file.group(ALL_PARTICLES).map_err(wrong)?, field).map_err(wrong)?;
        let (varies, count) = (Self::varies(field), self.ids.len());
        let expected: &[usize] = if varies { &[count, field.components()] } else { &[count] };
        if dataset.shape().get(usize::from(varies)..) != Some(expected) {
            let what = format!("its {} are {:?} values", field.name(), dataset.shape());
            return Err(content(&self.path, what));
        }
        let mut values: Vec<f64> = zeros(count * if varies { field.components() } else { 1 }, &self.path)?;
        read_rows(&dataset, if varies { frame } else { 0 }, &mut values).map_err(wrong)?;
        Ok(Some(values))
    }
}

/// The dataset of a field.
fn dataset_of(group: &Group, field: Field) -> Outcome<Dataset> {
    let name = field.name();
    if Frames::varies(field) { group.dataset(&format!("{name}/value")) } else { group.dataset(name) }
}

fn unreadable(path: &Path, error: &hdf5::Error) -> Error {
    content(path, hdf::reason(error))
}

fn content(path: &Path, what: String) -> Error {
    Error::Content {
        path: path.to_owned(),
        what,
        remedy:
            "read trajectories of other programs with MDAnalysis or h5py; copy the file anew if it is one \
                 of hilbrium"
                .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::layout::FORMAT_VERSION;
    use hdf5::types::FixedAscii;

    /// A file of 2 frames of 3 particles, whose datasets of these names have other shapes, with a boundary of
    /// these names.
    fn file(others: &[(&str, &[usize])], boundary: &[&[u8]]) -> Result<Frames> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trajectory.h5md");
        let file = hdf::unlocked().create(&path).unwrap();
        let ours = file.create_group(PROGRAM_GROUP).unwrap();
        hdf::write_string(&ours, "Kind", "trajectory").unwrap();
        hdf::write_numbers(&ours, "Format version", &[FORMAT_VERSION]).unwrap();
        let group = file.create_group(ALL_PARTICLES).unwrap();
        group.create_group("box/edges").unwrap();
        group.create_group("position").unwrap();
        for (name, shape) in [
            ("box/edges/step", &[2][..]),
            ("box/edges/time", &[2]),
            ("box/edges/value", &[2, 3]),
            ("position/value", &[2, 3, 3]),
            ("id", &[3]),
        ] {
            let shape = others.iter().find(|(other, _)| *other == name).map_or(shape, |(_, shape)| shape);
            let dataset = group.new_dataset::<f64>().shape(shape).create(name).unwrap();
            dataset.write_raw(&vec![1.0; shape.iter().product()]).unwrap();
        }
        // SAFETY: the values are written as bytes, and never taken as text.
        let names: Vec<FixedAscii<16>> =
            boundary.iter().map(|name| unsafe { FixedAscii::from_ascii_unchecked(name) }).collect();
        let space = group.group("box").unwrap();
        let attribute = space.new_attr::<FixedAscii<16>>().shape([names.len()]).create("boundary").unwrap();
        attribute.write_raw(&names).unwrap();
        file.close().unwrap();
        Frames::open(&path)
    }

    #[test]
    fn shapes_of_another_rank_or_width_are_refused() {
        let frames = file(&[], &[b"periodic", b"none", b"none"]).unwrap();
        assert_eq!((frames.steps.len(), frames.ids.len(), frames.edges.len()), (2, 3, 6));
        assert_eq!(frames.boundary, [Boundary::Periodic, Boundary::Open, Boundary::Open]);
        for (name, shape) in [
            ("box/edges/step", &[2, 1][..]),
            ("box/edges/time", &[2, 2]),
            ("box/edges/value", &[2]),
            ("box/edges/value", &[2, 4]),
            ("position/value", &[2, 4, 3]),
            ("position/value", &[2, 9]),
            ("id", &[3, 1]),
        ] {
            let error = file(&[(name, shape)], &[b"periodic"]).unwrap_err().to_string();
            assert!(error.contains(&format!("its {name} has the shape {shape:?}")), "{error}");
        }
    }

    #[test]
    fn names_that_are_not_text_or_too_many_are_refused() {
        for boundary in [&[&b"\xff\xfe"[..]][..], &[&b"none"[..]; 1001]] {
            let error = file(&[], boundary).unwrap_err().to_string();
            assert!(error.contains("no readable boundary"), "{error}");
        }
    }
}
