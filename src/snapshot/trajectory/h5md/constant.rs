//! The constant columns of a trajectory.

use hdf5::types::VarLenUnicode;
use hdf5::{Dataset, File, Group, H5Type};

use super::super::Content;
use super::{ALL_PARTICLES, write_text};
use crate::particles::{Field, Particles};
use crate::snapshot::hdf::Outcome;
use crate::units::UnitSystem;

/// A constant column; field `None` stands for the ids.
pub(super) struct Constant {
    pub name: &'static str,
    pub field: Option<Field>,
}

/// The constant columns that the particles have.
pub(super) fn constants(particles: &Particles) -> Vec<Constant> {
    let mut constants = vec![Constant { name: "id", field: None }];
    let fields = [("species", Field::Species), ("mass", Field::Mass), ("charge", Field::Charge)];
    let there = fields.into_iter().filter(|(_, field)| particles.has(*field));
    constants.extend(there.map(|(name, field)| Constant { name, field: Some(field) }));
    constants
}

impl Constant {
    /// Bytes per value.
    pub fn bytes(&self) -> u64 {
        if self.field == Some(Field::Species) { 4 } else { 8 }
    }

    /// Encodes a value as stored in the file.
    pub fn bytes_of(&self, value: f64) -> Vec<u8> {
        if self.field == Some(Field::Species) {
            (value as i32).to_ne_bytes().to_vec()
        } else {
            value.to_ne_bytes().to_vec()
        }
    }

    /// Creates the dataset, allocated, and returns its file offset.
    pub fn create(&self, file: &File, total: usize, content: &Content) -> Outcome<u64> {
        let group = file.group(ALL_PARTICLES)?;
        let dataset = match self.field {
            None => contiguous::<i64>(&group, self.name, total)?,
            Some(Field::Species) => contiguous::<i32>(&group, self.name, total)?,
            Some(_) => contiguous::<f64>(&group, self.name, total)?,
        };
        let molecular = content.units.system == UnitSystem::Molecular;
        match self.field {
            Some(Field::Mass) if molecular => write_text(&dataset, "unit", "u")?,
            Some(Field::Charge) if molecular => write_text(&dataset, "unit", "e")?,
            Some(Field::Species) => {
                let names: Vec<VarLenUnicode> =
                    content.species.iter().filter_map(|name| name.parse().ok()).collect();
                dataset
                    .new_attr::<VarLenUnicode>()
                    .shape([names.len()])
                    .create("names")?
                    .write_raw(&names)?;
            }
            _ => {}
        }
        dataset.offset().ok_or_else(|| format!("{} has no room", self.name).into())
    }
}

fn contiguous<T: H5Type>(group: &Group, name: &str, total: usize) -> Outcome<Dataset> {
    use hdf5::plist::dataset_create::{AllocTime, FillTime};
    let plan = group.new_dataset::<T>().shape([total]).alloc_time(Some(AllocTime::Early));
    plan.fill_time(FillTime::Never).obj_track_times(false).create(name)
}
