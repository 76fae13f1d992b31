//! Kernels and their launches.

use super::arguments::Arguments;
use super::{Device, Unit};
use crate::Result;
use std::marker::PhantomData;

/// Threads a warp.
pub const WARP: usize = 32;

/// Threads a block of kernels without a block size of their own.
pub const THREADS: u32 = 256;

/// Bytes that the parameters of a kernel take at most.
const MOST_ARGUMENT_BYTES: usize = 4096;

/// A function of a loaded unit.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub(super) handle: u64,
    pub(super) name: &'static str,
}

/// A compiled kernel that takes these arguments.
pub struct Kernel<A> {
    function: Function,
    arguments: PhantomData<fn(A)>,
}

impl<A> Clone for Kernel<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Kernel<A> {}

impl<A> std::fmt::Debug for Kernel<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.function.fmt(f)
    }
}

impl Device {
    /// The kernel that takes these arguments, compiled with the macros of a unit and loaded at its first use.
    ///
    /// # Errors
    /// Those of [`Device::function`].
    pub fn kernel<A: Arguments>(&self, unit: &Unit) -> Result<Kernel<A>> {
        assert_eq!(unit.file, A::UNIT, "the unit of kernel {}", A::KERNEL);
        Ok(Kernel { function: self.function(unit, A::KERNEL)?, arguments: PhantomData })
    }

    /// Launches a kernel on `blocks` blocks of `threads` threads. Without blocks nothing happens.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the launch fails or an earlier kernel turns out to have failed.
    pub fn launch<A: Arguments>(
        &self,
        kernel: &Kernel<A>,
        blocks: usize,
        threads: u32,
        arguments: &A,
    ) -> Result<()> {
        self.launch_with_shared(kernel, blocks, threads, 0, arguments)
    }

    /// As [`Device::launch`], with `shared` bytes of dynamic shared memory a block, at most
    /// [`Device::shared_memory`] less the kernel's own.
    ///
    /// # Errors
    /// Those of [`Device::launch`].
    pub fn launch_with_shared<A: Arguments>(
        &self,
        kernel: &Kernel<A>,
        blocks: usize,
        threads: u32,
        shared: usize,
        arguments: &A,
    ) -> Result<()> {
        const { assert!(size_of::<A>() <= MOST_ARGUMENT_BYTES, "too many bytes of kernel parameters") };
        if blocks == 0 {
            return Ok(());
        }
        let Function { handle, name } = kernel.function;
        let count = u32::try_from(blocks).ok().filter(|&count| count <= i32::MAX as u32);
        let Some(count) = count else {
            return Err(crate::Error::device(
                format!("kernel {name} would need {blocks} blocks"),
                "use more ranks, each with a device of its own",
            ));
        };
        let mut pointers = [std::ptr::from_ref(arguments).cast_mut().cast()];
        self.note_launch(name);
        let done = self.launch_timed(name, || {
            self.driver().launch(handle, count, threads, shared as u32, &mut pointers)
        });
        done.and_then(|()| if self.waits() { self.driver().synchronize() } else { Ok(()) })
            .map_err(|error| self.blame(error))
    }

    /// Launches a kernel of a unit without macros.
    ///
    /// # Errors
    /// Those of [`Device::kernel`] and of [`Device::launch`].
    pub fn run<A: Arguments>(&self, blocks: usize, threads: u32, arguments: &A) -> Result<()> {
        self.launch(&self.kernel(&Unit::new(A::UNIT))?, blocks, threads, arguments)
    }
}
