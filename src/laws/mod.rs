//! Laws: one file each. They know no device, rank or file.
