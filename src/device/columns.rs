//! Particles on a device: columns of doubles, identities and keys, as in [`crate::particles`]. Owned rows
//! come first, halo rows after them.

use super::reduction::Vector;
use super::{Buffer, Device};
use crate::Result;
use crate::particles::{Field, Particles};
use std::collections::BTreeMap;
use std::ops::Range;

/// Particle columns in device memory.
#[derive(Debug)]
pub struct Columns {
    device: Device,
    rows: usize,
    /// Number of owned rows, which come first.
    owned: usize,
    /// Identities; `u64::MAX` marks ghosts.
    pub id: Buffer<u64>,
    /// Hilbert keys.
    pub key: Buffer<u64>,
    fields: BTreeMap<Field, Vec<Buffer<f64>>>,
}

impl Columns {
    /// Copies these fields of the owned particles to a device.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn upload(device: &Device, particles: &Particles, fields: &[Field]) -> Result<Self> {
        let owned = particles.owned();
        let mut columns = Self {
            device: device.clone(),
            rows: owned.len(),
            owned: owned.len(),
            id: Buffer::from_host(device, &particles.id[owned.clone()])?,
            key: Buffer::from_host(device, &particles.key[owned.clone()])?,
            fields: BTreeMap::new(),
        };
        for &field in fields {
            let column = |c| match particles.has(field) {
                true => Buffer::from_host(device, &particles.component(field, c)[owned.clone()]),
                false => Buffer::zeros(device, owned.len()),
            };
            let buffers = (0..field.components()).map(column).collect::<Result<_>>()?;
            columns.fields.insert(field, buffers);
        }
        Ok(columns)
    }

    /// Replaces the host's particles by the device's owned rows, in its order: identities, keys and these
    /// fields. Halo rows and padding are dropped.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn download(&self, particles: &mut Particles, fields: &[Field]) -> Result<()> {
        if particles.len() != self.owned {
            let own = particles.fields().to_vec();
            *particles = Particles::new(&own, self.owned);
        }
        particles.set_owned(0..self.owned);
        self.id.download_to(0, &mut particles.id)?;
        self.key.download_to(0, &mut particles.key)?;
        for field in fields.iter().filter(|field| self.has(**field)) {
            particles.add(&[*field]);
            for (c, column) in self.fields[field].iter().enumerate() {
                column.download_to(0, particles.component_mut(*field, c))?;
            }
        }
        Ok(())
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Number of rows, including halos.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The owned rows, which come first.
    pub fn owned(&self) -> Range<usize> {
        0..self.owned
    }

    /// Resizes all columns to `rows` rows, the first `owned` of them owned. Remaining rows keep their values.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn resize(&mut self, rows: usize, owned: usize) -> Result<()> {
        assert!(owned <= rows, "no more owned rows than rows");
        self.id.grow(rows)?;
        self.key.grow(rows)?;
        self.all_mut().try_for_each(|column| column.grow(rows))?;
        (self.rows, self.owned) = (rows, owned);
        Ok(())
    }

    /// The fields present.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        self.fields.keys().copied()
    }

    /// The present fields that halo rows are received with.
    pub fn fields_of_halos(&self) -> Vec<Field> {
        Field::halo_fields(&self.fields().collect::<Vec<_>>())
    }

    /// Whether the field is present.
    pub fn has(&self, field: Field) -> bool {
        self.fields.contains_key(&field)
    }

    /// One component of a field.
    pub fn component(&self, field: Field, component: usize) -> &Buffer<f64> {
        match self.fields.get(&field) {
            Some(columns) => &columns[component],
            None => unreachable!("no column {} on the device", field.name()),
        }
    }

    /// A scalar field.
    pub fn scalar(&self, field: Field) -> &Buffer<f64> {
        self.component(field, 0)
    }

    /// The columns of a vector field.
    pub fn vector(&self, field: Field) -> Vector<'_> {
        [0, 1, 2].map(|c| self.component(field, c))
    }

    /// The columns of several fields, in order.
    pub fn all(&self, fields: &[Field]) -> Vec<&Buffer<f64>> {
        let components = |&field: &Field| (0..field.components()).map(move |c| (field, c));
        fields.iter().flat_map(components).map(|(field, c)| self.component(field, c)).collect()
    }

    /// All columns, mutable.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Buffer<f64>> {
        self.fields.values_mut().flatten()
    }

    /// The columns of a vector field, mutable.
    pub fn vector_mut(&mut self, field: Field) -> impl Iterator<Item = &mut Buffer<f64>> {
        self.fields.get_mut(&field).into_iter().flatten()
    }

    /// Adds fields; new ones are zero.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn add(&mut self, fields: &[Field]) -> Result<()> {
        for &field in fields.iter().filter(|&&field| !self.fields.contains_key(&field)).collect::<Vec<_>>() {
            let columns = (0..field.components()).map(|_| Buffer::zeros(&self.device, self.rows));
            let columns = columns.collect::<Result<_>>()?;
            self.fields.insert(field, columns);
        }
        Ok(())
    }

    /// Removes fields and frees their memory.
    pub fn remove(&mut self, fields: &[Field]) {
        fields.iter().for_each(|field| drop(self.fields.remove(field)));
    }

    /// Takes the key column, resized to all rows. The caller puts it back.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn take_keys(&mut self) -> Result<Buffer<u64>> {
        let mut key = std::mem::replace(&mut self.key, Buffer::new(&self.device, 0)?);
        key.resize(self.rows)?;
        Ok(key)
    }

    /// Takes the columns of a field out.
    pub fn take(&mut self, field: Field) -> Option<Vec<Buffer<f64>>> {
        self.fields.remove(&field)
    }

    /// Inserts a field with these columns, one a component.
    pub fn put(&mut self, field: Field, columns: Vec<Buffer<f64>>) {
        let whole = columns.iter().all(|column| column.len() == self.rows);
        assert!(whole && columns.len() == field.components(), "no columns of {}", field.name());
        self.fields.insert(field, columns);
    }

    /// Allocated bytes.
    pub fn bytes(&self) -> usize {
        let columns: usize = self.fields.values().flatten().map(Buffer::bytes).sum();
        columns + self.id.bytes() + self.key.bytes()
    }
}
