//! Free list of small device buffers, by size class.
//!
//! The driver takes about a microsecond to allocate a buffer and another one to free it; a step of a small
//! system takes tens of them.

use std::collections::HashMap;

/// Smallest size class, and largest one that is kept (bytes).
const SMALLEST: usize = 256;
const LARGEST: usize = 1 << 20;

/// Largest total size of the buffers in the list (bytes).
const CAPACITY: usize = 1 << 26;

/// Freed buffers for reuse. Buffers of one stream only: what uses a buffer next is then ordered after what
/// used it last.
#[derive(Debug, Default)]
pub(super) struct FreeList {
    by_size: HashMap<usize, Vec<u64>>,
    bytes: usize,
}

impl FreeList {
    /// The size to allocate for a request: that of its size class, at most an eighth more than asked for, or
    /// 256 bytes; large buffers as asked for.
    pub(super) fn size(bytes: usize) -> usize {
        let class = bytes.next_multiple_of((bytes.next_power_of_two() / 16).max(SMALLEST));
        if class <= LARGEST { class } else { bytes }
    }

    /// Takes a buffer of the size class of a request from the list.
    pub(super) fn take(&mut self, bytes: usize) -> Option<u64> {
        let size = Self::size(bytes);
        let address = self.by_size.get_mut(&size).and_then(Vec::pop)?;
        self.bytes -= size;
        Some(address)
    }

    /// Adds a buffer. Returns false for one that is large, or if the list is full: it is to be freed.
    pub(super) fn add(&mut self, address: u64, bytes: usize) -> bool {
        let size = Self::size(bytes);
        let kept = size <= LARGEST && self.bytes + size <= CAPACITY;
        if kept {
            self.by_size.entry(size).or_default().push(address);
            self.bytes += size;
        }
        kept
    }

    /// Empties the list and returns its buffers.
    pub(super) fn drain(&mut self) -> Vec<u64> {
        self.bytes = 0;
        std::mem::take(&mut self.by_size).into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_by_an_eighth_at_most() {
        assert_eq!([1, 256, 257, 5000].map(FreeList::size), [256, 256, 512, 5120]);
        assert_eq!([LARGEST, LARGEST + 1].map(FreeList::size), [LARGEST, LARGEST + 1]);
        for bytes in (1..LARGEST).step_by(997) {
            let size = FreeList::size(bytes);
            assert!(size >= bytes && size <= (bytes + bytes / 8).max(bytes + SMALLEST), "{bytes}: {size}");
            assert_eq!(FreeList::size(size), size);
        }
    }

    #[test]
    fn freed_buffers_serve_requests_of_their_class_once() {
        let mut list = FreeList::default();
        assert!(list.add(7, 1000) && list.add(8, 1024));
        assert_eq!(list.take(2000), None);
        assert_eq!([list.take(900), list.take(1024), list.take(1024)], [Some(8), Some(7), None]);
        assert!(!list.add(9, LARGEST + 1), "large buffers are freed");
        let kept = (0..100).filter(|&address| list.add(address, LARGEST)).count();
        assert_eq!(kept, CAPACITY / LARGEST);
        assert_eq!(list.drain().len(), kept);
        assert_eq!(list.take(LARGEST), None);
        assert!(list.add(1, LARGEST), "an empty list has its capacity");
    }
}
