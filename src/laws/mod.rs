//! Laws: one file each. They know no device, rank or file.

pub mod density;
pub mod number_density;
