//! Kernels and their launches.

use super::{Buffer, Device};
use crate::Result;
use std::ffi::c_void;

/// A compiled kernel of a device.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    pub(super) function: u64,
    pub(super) name: &'static str,
}

/// What can be given to a kernel: buffers as pointers, numbers as they are.
pub trait Argument {
    /// Where the argument's bytes are.
    fn pointer(&self) -> *const c_void;
}

impl<T> Argument for Buffer<T> {
    fn pointer(&self) -> *const c_void {
        std::ptr::from_ref(self.address()).cast()
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Argument for $number {
            fn pointer(&self) -> *const c_void {
                std::ptr::from_ref(self).cast()
            }
        })*
    };
}

numbers! { u8 i32 u32 i64 u64 f32 f64 }

impl<T: Argument> Argument for Option<&T> {
    /// Nothing is the null pointer.
    fn pointer(&self) -> *const c_void {
        static NULL: u64 = 0;
        self.map_or(std::ptr::from_ref(&NULL).cast(), Argument::pointer)
    }
}

impl Device {
    /// Starts a kernel on `blocks` of `threads`; without blocks nothing happens. Arguments must be those that the kernel
    /// declares: their kinds are not checked.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when it cannot be started, or when one before it turns out to have failed.
    pub fn launch(
        &self,
        kernel: &Kernel,
        blocks: usize,
        threads: u32,
        arguments: &[&dyn Argument],
    ) -> Result<()> {
        if blocks == 0 {
            return Ok(());
        }
        let count = u32::try_from(blocks).ok().filter(|&count| count <= i32::MAX as u32);
        let Some(count) = count else {
            return Err(crate::Error::device(
                format!("kernel {} would need {blocks} blocks", kernel.name),
                "use more ranks, each with a device of its own",
            ));
        };
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|argument| argument.pointer().cast_mut()).collect();
        self.started(kernel.name);
        let done = self.driver().launch(kernel.function, count, threads, &mut pointers);
        done.and_then(|()| if self.waits() { self.driver().synchronize() } else { Ok(()) })
            .map_err(|error| self.blame(error))
    }
}
