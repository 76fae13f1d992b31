//! The commands of the program, one file each.
