//! Updates the end of file in an HDF5 superblock before the library does.
//!
//! The library writes the superblock last. If the process is killed before that, the chunk index has entries
//! beyond the stated end of file, which no reader follows. The end is therefore updated as soon as the disk
//! space is allocated. An end that is too large is harmless, because the space before it is not used yet.
//!
//! Layout of versions 2 and 3, little endian (HDF5 File Format Specification 3.0, II.A): 8 bytes signature,
//! version, sizes of offsets and lengths, flags; then base, extension, end of file and root group, 8 bytes
//! each; last the checksum of all before, Jenkins's lookup3.

use std::fs::File;
use std::io::Result;
use std::os::unix::fs::FileExt;

const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";
const LENGTH: usize = 48;
/// Byte offsets of the end of file and of the checksum.
const END_OFFSET: usize = 28;
const CHECKSUM_OFFSET: usize = 44;

/// Sets the end of file in the superblock to at least `end` bytes, in one write. `file` is open for reading
/// and writing. A superblock of another version, or with a wrong checksum, is left unchanged.
pub(super) fn set_end_of_file(file: &File, end: u64) -> Result<()> {
    let mut block = [0; LENGTH];
    file.read_exact_at(&mut block, 0)?;
    if extend_end(&mut block, end) { file.write_all_at(&block, 0) } else { Ok(()) }
}

/// Increases the end of file in a superblock; returns whether it changed.
fn extend_end(block: &mut [u8; LENGTH], end: u64) -> bool {
    let known = block.starts_with(SIGNATURE) && matches!(block[8], 2 | 3) && block[9..11] == [8, 8];
    let base_is_zero = block[12..20] == [0; 8];
    if !known || !base_is_zero || block[CHECKSUM_OFFSET..] != lookup3(&block[..CHECKSUM_OFFSET]).to_le_bytes()
    {
        return false;
    }
    let stated = u64::from_le_bytes(std::array::from_fn(|k| block[END_OFFSET + k]));
    if stated >= end {
        return false;
    }
    block[END_OFFSET..END_OFFSET + 8].copy_from_slice(&end.to_le_bytes());
    let checksum = lookup3(&block[..CHECKSUM_OFFSET]);
    block[CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_le_bytes());
    true
}

/// Jenkins's hash lookup3 (`hashlittle`, 2006) with initial value zero, for at least one byte.
fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    let whole = bytes.len().saturating_sub(1) / 12;
    for (k, words) in bytes.chunks(12).enumerate() {
        // The last block is padded with zeros and mixed by the final steps below.
        let mut padded = [0; 12];
        padded[..words.len()].copy_from_slice(words);
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| padded[4 * at + byte]));
        a = a.wrapping_add(word(0));
        b = b.wrapping_add(word(1));
        c = c.wrapping_add(word(2));
        if k == whole {
            break;
        }
        for (first, second, third) in [(4, 6, 8), (16, 19, 4)] {
            a = a.wrapping_sub(c) ^ c.rotate_left(first);
            c = c.wrapping_add(b);
            b = b.wrapping_sub(a) ^ a.rotate_left(second);
            a = a.wrapping_add(c);
            c = c.wrapping_sub(b) ^ b.rotate_left(third);
            b = b.wrapping_add(a);
        }
    }
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test value published by the author of the hash.
    #[test]
    fn lookup3_has_the_value_of_its_author() {
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }

    #[test]
    fn a_further_end_is_stated_and_hdf5_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.h5");
        let file = crate::snapshot::collective::options().create(&path).unwrap();
        crate::snapshot::hdf::write_numbers(&file, "x", &[7i32]).unwrap();
        file.close().unwrap();
        let raw = File::options().read(true).write(true).open(&path).unwrap();
        let length = raw.metadata().unwrap().len();
        let read = || {
            let file = crate::snapshot::hdf::open(&path)?;
            file.attr("x")?.read_raw::<i32>()
        };
        let before = std::fs::read(&path).unwrap();
        set_end_of_file(&raw, length - 1).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before, "a nearer end changes nothing");
        set_end_of_file(&raw, length + 100).unwrap();
        assert!(read().is_err(), "the file is shorter than it says");
        raw.set_len(length + 100).unwrap();
        assert_eq!(read().unwrap(), [7]);
        let mut block: [u8; LENGTH] = std::fs::read(&path).unwrap()[..LENGTH].try_into().unwrap();
        assert!(extend_end(&mut block.clone(), length + 101));
        block[40] ^= 1;
        assert!(!extend_end(&mut block, length + 101), "what is damaged is left alone");
    }
}
