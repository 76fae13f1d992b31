//! An open snapshot: its header, and its values in our units and conventions.

use super::columns::{self, Column};
use super::cosmology::Cosmology;
use super::groups::{GROUPS, Groups};
use super::links::{self, OpenFile, Resolved};
use super::refusal::{Checked, Refusal};
use super::storage::{Table, WriteStatus};
use super::{check_kind, counts, kinds, space, units, zeros};
use crate::Result;
use crate::particles::{Field, Particles};
use crate::snapshot::crash_guard::{self, ReadGuard};
use crate::snapshot::hdf::read_string;
use crate::snapshot::layout::{PARTICLE_GROUP, PROGRAM_GROUP};
use crate::snapshot::{Header, Stated, names, seal};
use crate::space::{Boundary, SimulationBox, Vec3d};
use hdf5::Group;
use hdf5::types::TypeDescriptor;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// HDF5's signature, at byte 0 or at 512 times a power of two.
const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// An open snapshot with its header read.
pub(in crate::snapshot) struct Source {
    path: PathBuf,
    /// All that is known before the particles are read; provisional box if the file states none.
    pub(in crate::snapshot) header: Header,
    columns: Vec<Column>,
    ids: Option<Table>,
    /// Mass of every particle according to the header.
    table_mass: Option<f64>,
    _group: Resolved<Group>,
    _host: OpenFile,
    /// Must be dropped last.
    _reading: ReadGuard,
}

impl Source {
    pub(in crate::snapshot) fn open(path: &Path) -> Result<Self> {
        let mut plain = seal::open(path)?;
        let reading = ReadGuard::new(path);
        let host = OpenFile::open(path).map_err(|why| {
            let refusal = match is_hdf5(&mut plain) {
                true => Refusal::damaged(format!("it {why}")),
                false => Refusal::new(
                    "it is no HDF5 file",
                    "name an HDF5 snapshot; text formats are told by their names (.data, .gro, .xyz), or by \
                     start.file.format",
                ),
            };
            refusal.at(path)
        })?;
        if let Ok(ours) = host.file.group(PROGRAM_GROUP) {
            check_kind(path, &ours, "snapshot")?;
        }
        Self::of(path, host, reading).map_err(|refusal| refusal.at(path))
    }

    fn of(path: &Path, host: OpenFile, reading: ReadGuard) -> Checked<Self> {
        let root = host.file.as_group().map_err(|_| Refusal::damaged("it has no root group"))?;
        let missing = |name: &str| kinds::no_snapshot(&host.file, name);
        let group = links::group(&host, &root, PARTICLE_GROUP)?.ok_or_else(|| missing(PARTICLE_GROUP))?;
        // Kept open: the groups may lie in other files.
        let mut opened = Vec::new();
        for name in GROUPS {
            match links::group(&host, &root, name) {
                Ok(found) => opened.extend(found.map(|found| (name, found))),
                Err(_) if name != "Header" && root.dataset(name).is_ok() => {}
                Err(refusal) => return Err(refusal),
            }
        }
        let groups = Groups::new(opened.iter().map(|(name, found)| (*name, found.object.clone())).collect());
        let head = groups.get("Header").ok_or_else(|| missing("Header"))?;
        space::check_three_dimensional(&groups)?;
        let counts = counts::stated(&groups)?;

        let mut notes = Vec::new();
        let within = group.external.as_ref().unwrap_or(&host);
        let coordinates = columns::coordinates(within, &group.object, &counts)?;
        let count = coordinates.rows();
        let cosmology = Cosmology::of(&groups, &mut notes)?;
        if let Some(Cosmology { a, h }) = cosmology {
            let h = h.map_or(String::new(), |h| format!(", h = {h}"));
            notes.push(format!("converted from comoving to physical units with a = {a}{h}"));
        }
        let length = match cosmology {
            Some(cosmology) => {
                cosmology.factor(&coordinates.dataset, &coordinates.label, Field::Position)?.unwrap_or(1.0)
            }
            None => 1.0,
        };
        let (bx, stated) = stated_space(&groups, length)?;
        let table_mass = match groups
            .numbers("Header", "MassTable")?
            .and_then(|masses| masses.first().copied())
        {
            Some(mass) if mass > 0.0 && mass.is_finite() => Some(match cosmology {
                Some(cosmology) => mass * cosmology.table_factor(&coordinates.dataset, &coordinates.label)?,
                None => mass,
            }),
            _ => None,
        };
        let columns = columns::open(within, &group.object, coordinates, &groups, cosmology, &mut notes)?;
        let ids = columns::ids(within, &group.object, count)?;
        columns::note_unknown(&group.object, &columns, &mut notes);

        let units = units::units(&groups, cosmology)?;
        let left_out = counts::left_out(&host, &counts);
        let index = groups.number("HydroScheme", "Adiabatic index")?;
        let deck = host
            .file
            .group(PROGRAM_GROUP)
            .ok()
            .and_then(|ours| read_string(&ours, "Deck"))
            .unwrap_or_default();
        let header = Header {
            time: finite_time(&groups)?,
            step: groups.number("Header", "Step")?.map_or(0, |step| step.max(0.0) as u64),
            title: read_string(head, "RunName").unwrap_or_default(),
            bx,
            particle_count: count,
            adiabatic_index: index.filter(|index| *index >= 1.0),
            units: units.unwrap_or([1.0; 3]),
            species: names::read(&group.object, &deck),
            deck,
            stated: Stated { units: units.is_some(), left_out, notes, ..stated },
        };
        drop((groups, opened));
        Ok(Self {
            path: path.to_owned(),
            header,
            columns,
            ids,
            table_mass,
            _group: group,
            _host: host,
            _reading: reading,
        })
    }

    /// The fields in the file.
    pub(in crate::snapshot) fn fields(&self) -> Vec<Field> {
        self.columns.iter().map(|column| column.field).collect()
    }

    /// The header's mass of every particle, if the file has a mass dataset too.
    pub(super) fn table_mass(&self) -> Option<f64> {
        self.table_mass.filter(|_| self.columns.iter().any(|column| column.field == Field::Mass))
    }

    /// Reads and checks the particles of a range of rows.
    pub(super) fn particles(&self, range: Range<u64>) -> Result<Particles> {
        let mut fields = self.fields();
        fields.extend([Field::Position, Field::Mass]);
        let ids = self.ids(range.clone())?;
        self.particles_of(fields, ids, range)
    }

    /// Reads and checks these fields of a range of rows with these ids.
    pub(super) fn particles_of(
        &self,
        mut fields: Vec<Field>,
        ids: Vec<u64>,
        range: Range<u64>,
    ) -> Result<Particles> {
        fields.sort();
        fields.dedup();
        // The number of rows is that of the coordinates, which are stored in full. This bounds all following
        // allocations.
        let mut particles = Particles::new(&fields, ids.len());
        particles.id = ids;
        for &field in &fields {
            let values = self.values(field, range.clone())?;
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

    /// Reads a field in our units and conventions, row-major.
    pub(in crate::snapshot) fn values(&self, field: Field, range: Range<u64>) -> Result<Vec<f64>> {
        let width = field.components();
        let rows = (range.end - range.start) as usize;
        let Some(column) = self.columns.iter().find(|column| column.field == field) else {
            let mut values = zeros(rows, &self.path)?;
            values.fill(self.table_mass.ok_or_else(|| {
                let what = "it has no masses, neither as PartType0/Masses nor in Header/MassTable";
                Refusal::new(
                    what,
                    "write PartType0/Masses, or the mass of all gas particles as the first of \
                     Header/MassTable",
                )
                .at(&self.path)
            })?);
            return Ok(values);
        };
        let table = &column.table;
        expect_unpacked(table);
        let mut values: Vec<f64> = zeros(rows * width, &self.path)?;
        table.read(range.start, &mut values).map_err(|refusal| refusal.at(&self.path))?;
        let stated = field == Field::Position && self.header.stated.bx;
        let lower = if stated { self.header.bx.lower } else { Vec3d::zeros() };
        for (k, value) in values.iter_mut().enumerate() {
            let there = *value;
            if column.factor != 1.0 {
                *value *= column.factor;
            }
            if field == Field::Position {
                *value += lower[k % 3];
            }
            let valid = match field {
                Field::Mass => *value > 0.0 && value.is_finite(),
                Field::SmoothingLength | Field::Density | Field::InternalEnergy => {
                    *value >= 0.0 && value.is_finite()
                }
                _ => value.is_finite(),
            };
            if !valid {
                let row = range.start + (k / width) as u64;
                return Err(invalid_value(table, row, there, field).at(&self.path));
            }
        }
        Ok(values)
    }

    /// Row numbers in place of ids.
    pub(super) fn row_numbers(&self, range: Range<u64>) -> Result<Vec<u64>> {
        // The number of rows is that of the coordinates; allocation may fail with an error.
        let mut ids = zeros((range.end - range.start) as usize, &self.path)?;
        ids.iter_mut().zip(range).for_each(|(id, row)| *id = row);
        Ok(ids)
    }

    fn ids(&self, range: Range<u64>) -> Result<Vec<u64>> {
        let Some(table) = &self.ids else { return self.row_numbers(range) };
        expect_unpacked(table);
        let rows = (range.end - range.start) as usize;
        let at = |refusal: Refusal| refusal.at(&self.path);
        let wrong = |row: usize, id: String| {
            let what = format!(
                "{} of row {} is {id}, no id from 0 to 2^63 - 2",
                table.label,
                range.start + row as u64
            );
            at(Refusal::new(
                what,
                "give each particle such an id of its own, or delete the dataset: row numbers then serve as \
                 ids",
            ))
        };
        if matches!(table.kind, TypeDescriptor::Float(_)) {
            let mut ids: Vec<f64> = zeros(rows, &self.path)?;
            table.read(range.start, &mut ids).map_err(at)?;
            let whole = |id: f64| (0.0..9.0e15).contains(&id) && id.fract() == 0.0;
            return match ids.iter().position(|&id| !whole(id)) {
                Some(row) => Err(wrong(row, ids[row].to_string())),
                None => Ok(ids.into_iter().map(|id| id as u64).collect()),
            };
        }
        let mut ids: Vec<i64> = zeros(rows, &self.path)?;
        table.read(range.start, &mut ids).map_err(at)?;
        // HDF5 clamps unsigned values above `i64::MAX` to `i64::MAX`.
        match ids.iter().position(|&id| id < 0 || id == i64::MAX) {
            Some(row) => Err(wrong(row, ids[row].to_string())),
            None => Ok(ids.into_iter().map(|id| id as u64).collect()),
        }
    }
}

/// Whether a file has the HDF5 signature; I/O errors are reported elsewhere.
pub(in crate::snapshot) fn is_hdf5(file: &mut std::fs::File) -> bool {
    let mut at = 0;
    loop {
        let mut bytes = [0; 8];
        if file.seek(SeekFrom::Start(at)).is_err() || file.read_exact(&mut bytes).is_err() {
            return false;
        }
        if bytes == *SIGNATURE {
            return true;
        }
        at = if at == 0 { 512 } else { 2 * at };
    }
}

/// HDF5 unpacks whole chunks, and a dataset may be a single chunk.
fn expect_unpacked(table: &Table) {
    if table.filtered() {
        crash_guard::expect_allocation(table.logical_bytes() as usize);
    }
}

/// The refusal of an invalid value.
fn invalid_value(table: &Table, row: u64, value: f64, field: Field) -> Refusal {
    let label = &table.label;
    let (why, remedy) = match (field, table.written) {
        (_, WriteStatus::Never) => {
            (", as HDF5 gives it for a dataset that was never written", format!("write {label}"))
        }
        (Field::Mass, _) => {
            (", and masses are positive", format!("correct the row in {label}, or take the particle out"))
        }
        (Field::InternalEnergy | Field::SmoothingLength | Field::Density, _) if value < 0.0 => {
            (", and cannot be negative", format!("correct the row in {label}, or take the particle out"))
        }
        _ => ("", format!("correct the row in {label}, or take the particle out")),
    };
    Refusal::new(format!("{label} of row {row} is {value}{why}"), remedy)
}

/// The box and boundaries that the file states; a provisional open box if it states none.
fn stated_space(groups: &Groups, length: f64) -> Checked<(SimulationBox, Stated)> {
    let (bx, boundary) = (space::stated_box(groups, length)?, space::stated_boundary(groups)?);
    let stated = Stated { bx: bx.is_some(), boundary: boundary.is_some(), ..Stated::default() };
    let unit =
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Open; 3] };
    match (bx, boundary) {
        (None, Some(boundary)) if boundary != [Boundary::Open; 3] => Err(Refusal::new(
            "it says that space is periodic, but not how large it is: Header/BoxSize is missing or zero",
            "write Header/BoxSize",
        )),
        (bx, boundary) => {
            let bx = bx.unwrap_or(unit);
            Ok((SimulationBox { boundary: boundary.unwrap_or(bx.boundary), ..bx }, stated))
        }
    }
}

fn finite_time(groups: &Groups) -> Checked<f64> {
    match groups.number("Header", "Time")? {
        Some(time) if !time.is_finite() => Err(Refusal::new(
            format!("Header/Time is {time}"),
            "write the time as a finite number, or delete it",
        )),
        time => Ok(time.unwrap_or(0.0)),
    }
}
