//! Device memory.

use super::Device;
use crate::Result;
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::Range;

/// A typed array in device memory, freed when dropped.
#[derive(Debug)]
pub struct Buffer<T> {
    device: Device,
    address: u64,
    length: usize,
    capacity: usize,
    kind: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// An array of `length` elements, uninitialized.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn new(device: &Device, length: usize) -> Result<Self> {
        let address = if length == 0 { 0 } else { device.driver().allocate(length * size_of::<T>())? };
        Ok(Self { device: device.clone(), address, length, capacity: length, kind: PhantomData })
    }

    /// A copy of host data.
    pub fn from_host(device: &Device, values: &[T]) -> Result<Self> {
        let mut buffer = Self::new(device, values.len())?;
        buffer.upload(values)?;
        Ok(buffer)
    }

    /// An array of `length` elements with all bits zero.
    pub fn zeros(device: &Device, length: usize) -> Result<Self> {
        let mut buffer = Self::new(device, length)?;
        buffer.fill_bytes(0)?;
        Ok(buffer)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Changes the number of elements. Beyond the capacity it reallocates and all values are lost.
    pub fn resize(&mut self, length: usize) -> Result<()> {
        if length > self.capacity {
            self.release();
            *self = Self::new(&self.device.clone(), length)?;
        }
        self.length = length;
        Ok(())
    }

    /// Changes the number of elements and keeps the values of those that stay.
    pub fn grow(&mut self, length: usize) -> Result<()> {
        if length > self.capacity {
            // spare capacity avoids a reallocation at the next growth
            let mut longer = Self::new(&self.device, length + length / 8)?;
            longer.copy_from(0, self)?;
            *self = longer;
        }
        self.length = length;
        Ok(())
    }

    /// The device address of an element; one past the last is allowed.
    pub fn at(&self, index: usize) -> u64 {
        assert!(index <= self.length, "an index within the buffer");
        self.address + (index * size_of::<T>()) as u64
    }

    /// Copies host data to the first elements.
    pub fn upload(&mut self, values: &[T]) -> Result<()> {
        self.upload_to(0, values)
    }

    /// Copies host data to the elements from index `to` on.
    pub fn upload_to(&mut self, to: usize, values: &[T]) -> Result<()> {
        assert!(to + values.len() <= self.length, "room for what is uploaded");
        match values {
            [] => Ok(()),
            _ => self.device.driver().upload(self.at(to), bytemuck::cast_slice(values)),
        }
    }

    /// Copies all elements to the host.
    pub fn download(&self) -> Result<Vec<T>> {
        let mut values = vec![T::zeroed(); self.length];
        self.download_to(0, &mut values)?;
        Ok(values)
    }

    /// Copies elements from index `from` on to the host.
    pub fn download_to(&self, from: usize, values: &mut [T]) -> Result<()> {
        assert!(from + values.len() <= self.length, "no more than the buffer holds");
        match values {
            [] => Ok(()),
            _ => {
                self.device.note_wait();
                self.device.driver().download(self.at(from), bytemuck::cast_slice_mut(values))
            }
        }
    }

    /// Copies another buffer to the elements from index `to` on.
    pub fn copy_from(&mut self, to: usize, from: &Buffer<T>) -> Result<()> {
        self.copy_range(to, from, 0..from.length)
    }

    /// Copies a range of another buffer to the elements from index `to` on.
    pub fn copy_range(&mut self, to: usize, from: &Buffer<T>, range: Range<usize>) -> Result<()> {
        assert!(range.end <= from.length && to + range.len() <= self.length, "room for what is copied");
        match range.len() {
            0 => Ok(()),
            count => self.device.driver().copy(self.at(to), from.at(range.start), count * size_of::<T>()),
        }
    }

    /// Sets all bytes.
    pub fn fill_bytes(&mut self, byte: u8) -> Result<()> {
        self.fill_range(0..self.length, byte)
    }

    /// Sets all bytes of a range of elements.
    pub fn fill_range(&mut self, range: Range<usize>, byte: u8) -> Result<()> {
        assert!(range.end <= self.length, "no more than the buffer holds");
        match range.len() {
            0 => Ok(()),
            count => self.device.driver().fill(self.at(range.start), byte, count * size_of::<T>()),
        }
    }

    /// Allocated bytes.
    pub fn bytes(&self) -> usize {
        self.capacity * size_of::<T>()
    }
}

impl<T> Buffer<T> {
    fn release(&mut self) {
        if self.address != 0 {
            self.device.driver().free(self.address, self.capacity * size_of::<T>());
        }
        (self.address, self.capacity, self.length) = (0, 0, 0);
    }

    /// The device address of the first element.
    pub(super) fn address(&self) -> &u64 {
        &self.address
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.release();
    }
}
