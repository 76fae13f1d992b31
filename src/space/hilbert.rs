//! 63-bit Hilbert keys.
