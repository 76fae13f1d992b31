//! The seal: a checksum of the whole file, appended after HDF5's end of file.
//!
//! HDF5's own checksums cover most of its metadata and none of the data, and its parser is not hardened
//! against corrupt input. Our files are therefore verified before HDF5 opens them. HDF5 readers ignore bytes
//! after the end of file stated in the superblock. A program that extends the file overwrites the seal, and
//! `h5repack` drops it.
//!
//! Layout, little endian: 8 bytes magic, 8 bytes length of the content before the seal, 8 bytes digest, 8
//! bytes XXH3 of the preceding 24 bytes. The digest is the XXH3-64 of the XXH3-64 digests of the content's 4
//! MiB blocks: the ranks share the work, and the digest is independent of their number.

use crate::comm::Communicator;
use crate::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"HLBSEAL1";
const LENGTH: u64 = 32;
const BLOCK: u64 = 4 << 20;

/// The state of a file's seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seal {
    /// The content matches the seal.
    Intact,
    /// No seal: the file is of another program, was changed, or was truncated.
    Absent,
}

/// Appends the seal and syncs the file to disk. Collective.
pub(super) fn seal(path: &Path, comm: &Communicator) -> Result<()> {
    let failed = |cause: std::io::Error| Error::file("write", path, &cause);
    // Every rank syncs what it wrote: each node of a cluster has its own cache.
    let opened = File::options().read(true).write(true).open(path);
    let synced = opened.and_then(|file| file.sync_all().and_then(|()| Ok((file.metadata()?.len(), file))));
    let (length, mut file) = comm.agree_on(synced.map_err(failed))?;
    // Use the root's length: on a network file system another node may still see an older one.
    let mut length = vec![length];
    comm.broadcast(&mut length, 0);
    let length = length[0];
    let digest = digest(&mut file, length, comm).map_err(failed);
    let digest = comm.agree_on(digest)?;
    let appended = if comm.is_root() {
        let mut bytes = [MAGIC.as_slice(), &length.to_le_bytes(), &digest.to_le_bytes()].concat();
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        file.seek(SeekFrom::Start(length))
            .and_then(|_| file.write_all(&bytes))
            .and_then(|()| file.sync_all())
            .map_err(failed)
    } else {
        Ok(())
    };
    comm.agree(appended)
}

/// Verifies the content of a file against its seal. Collective.
///
/// # Errors
/// [`Error::File`] if the file cannot be read, [`Error::Damaged`] with `remedy` if it is damaged.
pub(super) fn verify(path: &Path, comm: &Communicator, remedy: &str) -> Result<Seal> {
    let damaged = |what: String| Error::Damaged { path: path.to_owned(), what, remedy: remedy.to_owned() };
    let opened = open(path).and_then(|mut file| {
        let end = if comm.is_root() { read_trailer(&mut file) } else { Ok((0, Vec::new())) };
        Ok((file, end.map_err(|cause| Error::file("read", path, &cause))?))
    });
    let (mut file, (total, mut trailer)) = comm.agree_on(opened)?;
    // Use the root's trailer, as in `seal`: ranks that decide for themselves may disagree and deadlock.
    let mut total = vec![total];
    comm.broadcast(&mut total, 0);
    comm.broadcast(&mut trailer, 0);
    let total = total[0];
    if !trailer.starts_with(MAGIC) {
        return Ok(Seal::Absent);
    }
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| trailer[at + k]));
    let length = number(8);
    if number(24) != xxh3_64(&trailer[..24]) || length != total - LENGTH {
        return Err(damaged("the seal at its end is not valid".into()));
    }
    let digest = digest(&mut file, length, comm).map_err(|cause| Error::file("read", path, &cause));
    if comm.agree_on(digest)? != number(16) {
        return Err(damaged("the checksum of its content is not the one in its seal".into()));
    }
    Ok(Seal::Intact)
}

/// Opens a regular file for reading.
pub(super) fn open(path: &Path) -> Result<File> {
    let failed = |cause: std::io::Error| Error::file("read", path, &cause);
    // Check before opening, because opening a pipe blocks until it has a writer.
    let kind = std::fs::metadata(path).map_err(failed)?;
    if kind.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    if !kind.is_file() {
        return Err(Error::File {
            action: "read",
            path: path.to_owned(),
            cause: "it is not a regular file".into(),
            remedy: "name an HDF5 file".into(),
        });
    }
    File::open(path).map_err(failed)
}

/// The file's length and its last bytes, as many as a seal has; no bytes if the file is shorter.
fn read_trailer(file: &mut File) -> std::io::Result<(u64, Vec<u8>)> {
    let total = file.metadata()?.len();
    if total < LENGTH {
        return Ok((total, Vec::new()));
    }
    let mut bytes = vec![0; LENGTH as usize];
    file.seek(SeekFrom::Start(total - LENGTH))?;
    file.read_exact(&mut bytes)?;
    Ok((total, bytes))
}

/// Digest of the first `length` bytes; this rank reads its share of the blocks. Collective, also on failure.
fn digest(file: &mut File, length: u64, comm: &Communicator) -> std::io::Result<u64> {
    let blocks = length.div_ceil(BLOCK);
    let (rank, size) = (comm.rank() as u64, comm.size() as u64);
    let mut mine = Vec::new();
    let mut buffer = Vec::new();
    let mut read = || -> std::io::Result<()> {
        for block in blocks * rank / size..blocks * (rank + 1) / size {
            buffer.resize((length - block * BLOCK).min(BLOCK) as usize, 0);
            file.seek(SeekFrom::Start(block * BLOCK))?;
            file.read_exact(&mut buffer)?;
            mine.push(xxh3_64(&buffer));
        }
        Ok(())
    };
    let outcome = read();
    let digests = comm.all_gather(&mine).concat();
    outcome.map(|()| xxh3_64(bytemuck::cast_slice(&digests)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;

    #[test]
    fn any_number_of_ranks_finds_the_same_seal_and_every_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let content: Vec<u8> = (0..3 * BLOCK + 17).map(|k| (k * k % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        assert_eq!(verify(&path, &Communicator::solo(), "").unwrap(), Seal::Absent);
        run_local(3, |comm| seal(&path, &comm).unwrap());
        let sealed = std::fs::read(&path).unwrap();
        assert_eq!(sealed[..content.len()], content);
        for ranks in [1, 2, 5] {
            run_local(ranks, |comm| assert_eq!(verify(&path, &comm, "").unwrap(), Seal::Intact));
        }
        for at in [
            0,
            1000,
            BLOCK as usize,
            content.len() - 1,
            content.len() + 9,
            content.len() + 20,
            sealed.len() - 1,
        ] {
            let mut changed = sealed.clone();
            changed[at] ^= 4;
            std::fs::write(&path, &changed).unwrap();
            let found = run_local(2, |comm| verify(&path, &comm, "take another"));
            assert!(found.iter().all(|r| matches!(r, Err(Error::Damaged { .. }))), "byte {at}: {found:?}");
        }
        std::fs::write(&path, &sealed[..sealed.len() - 1]).unwrap();
        assert_eq!(verify(&path, &Communicator::solo(), "").unwrap(), Seal::Absent);
        let folder = verify(folder.path(), &Communicator::solo(), "").unwrap_err();
        assert!(folder.to_string().contains("directory"), "{folder}");
    }

    /// Simulates a network file system on which the ranks see different file lengths.
    #[test]
    fn ranks_that_see_different_ends_agree() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, bare, short] = ["whole", "bare", "short"].map(|name| folder.path().join(name));
        std::fs::write(&whole, vec![7; 2 * BLOCK as usize]).unwrap();
        seal(&whole, &Communicator::solo()).unwrap();
        let sealed = std::fs::read(&whole).unwrap();
        std::fs::write(&bare, &sealed[..sealed.len() - 5]).unwrap();
        std::fs::write(&short, &sealed[..1000]).unwrap();
        let seen = |views: [&Path; 2]| run_local(2, |comm| verify(views[comm.rank()], &comm, "").ok());
        assert_eq!(seen([&whole, &bare]), [Some(Seal::Intact); 2], "the content is all there");
        assert_eq!(seen([&bare, &whole]), [Some(Seal::Absent); 2]);
        assert_eq!(seen([&whole, &short]), [None; 2]);
    }
}
