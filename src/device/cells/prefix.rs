//! Prefix sums in shared memory (kernels/cells/prefix.cuh), for tests and `bench cells`.

use super::super::arguments::Arguments;
use super::super::arguments::cells_prefix::{PrefixByWarpsArguments, PrefixInPlaceArguments};
use super::super::{Buffer, Unit};
use crate::Result;

/// How a block sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A tree in place: Algis et al. 2024 (hal-04621128), section 6.
    InPlace,
    /// Shuffles in warps, then the sums of warps.
    Warps,
}

/// Prefix sums of the numbers of many blocks.
#[derive(Clone, Copy, Debug)]
pub struct PrefixSums {
    /// Numbers of a block.
    pub count: usize,
    /// Threads of a block, whole warps.
    pub threads: u32,
    /// How often sums are taken, each of the last ones: 1 gives prefix sums.
    pub repeats: u32,
}

impl PrefixSums {
    /// Inclusive prefix sums, modulo 2^32, of each `count` numbers.
    ///
    /// # Errors
    /// Those of the device.
    pub fn run(&self, way: Way, numbers: &Buffer<u32>, sums: &mut Buffer<u32>) -> Result<()> {
        let (device, shared) = (numbers.device(), 4 * self.count);
        let blocks = numbers.len() / self.count;
        sums.resize(numbers.len())?;
        let (count, repeats) = (self.count as u32, self.repeats);
        match way {
            Way::InPlace => {
                let counted = Buffer::new(device, 0)?;
                let arguments = self.in_place(numbers, sums, &counted);
                let kernel = device.kernel(&Unit::new(PrefixInPlaceArguments::UNIT))?;
                device.launch_with_shared(&kernel, blocks, self.threads, shared, &arguments)
            }
            Way::Warps => {
                let arguments =
                    PrefixByWarpsArguments { numbers: numbers.into(), count, repeats, sums: sums.into() };
                let kernel = device.kernel(&Unit::new(PrefixByWarpsArguments::UNIT))?;
                device.launch_with_shared(&kernel, blocks, self.threads, shared, &arguments)
            }
        }
    }

    /// As [`PrefixSums::run`] in place for the numbers of one block. Returns the number of barriers, and of
    /// numbers that are updated.
    ///
    /// # Errors
    /// Those of the device.
    pub fn counted(&self, numbers: &Buffer<u32>, sums: &mut Buffer<u32>) -> Result<[u32; 2]> {
        assert_eq!(numbers.len(), self.count, "the numbers of one block");
        let device = numbers.device();
        sums.resize(numbers.len())?;
        let counted = Buffer::zeros(device, 2)?;
        let unit = Unit::new(PrefixInPlaceArguments::UNIT).with("HILBRIUM_COUNTED", 1);
        let arguments = self.in_place(numbers, sums, &counted);
        device.launch_with_shared(&device.kernel(&unit)?, 1, self.threads, 4 * self.count, &arguments)?;
        let mut found = [0; 2];
        counted.download_to(0, &mut found)?;
        Ok(found)
    }

    fn in_place(
        &self,
        numbers: &Buffer<u32>,
        sums: &Buffer<u32>,
        counted: &Buffer<u32>,
    ) -> PrefixInPlaceArguments {
        PrefixInPlaceArguments {
            numbers: numbers.into(),
            count: self.count as u32,
            repeats: self.repeats,
            sums: sums.into(),
            counted: counted.into(),
        }
    }
}
