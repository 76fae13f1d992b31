//! The bytes of a text file: decompressed where gzip wrote it, without a UTF-8 byte-order mark.

use std::fs::File;
use std::io::{BufRead, BufReader, Chain, Cursor, Error as Failure, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::{Error, Result};

/// The first bytes of gzip's files.
const GZIP: &[u8] = b"\x1f\x8b";
/// Deflate cannot shrink a file by more than this.
const MOST_DEFLATED: u64 = 1032;
/// Text that is read from a compressed file, per byte of it. Coordinates shrink by 2 to 40.
const MOST_INFLATED: u64 = 200;
/// Text that is read whatever the size of the compressed file.
const FREE_INFLATED: u64 = 16 << 20;
/// Bytes by which kinds of files are told.
pub(super) const HEAD: u64 = 4096;
/// Capacity of the buffers, in bytes.
const BUFFER: usize = 1 << 18;

/// An open text file.
pub(super) struct Source {
    pub input: Box<dyn BufRead>,
    /// Upper bound of the bytes of text.
    pub bytes: u64,
    pub compressed: bool,
}

impl Source {
    /// # Errors
    /// [`Error::File`] if it cannot be read; [`Error::Content`] if it is in UTF-16.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |cause: Failure| failure(path, false, &cause);
        let file = File::open(path).map_err(failed)?;
        let stored = file.metadata().map_err(failed)?.len();
        let (head, plain) = peeked(file).map_err(failed)?;
        let compressed = head.starts_with(GZIP);
        let (mut input, bytes): (Box<dyn BufRead>, u64) = if compressed {
            let left = FREE_INFLATED.saturating_add(stored.saturating_mul(MOST_INFLATED));
            let inflated = Inflated { decoder: MultiGzDecoder::new(plain), left };
            let (_, inflated) = peeked(inflated).map_err(|cause| failure(path, compressed, &cause))?;
            (Box::new(inflated), stored.saturating_mul(MOST_DEFLATED))
        } else {
            (Box::new(plain), stored)
        };
        let head = input.fill_buf().map_err(failed)?;
        if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            return Err(Error::Content {
                path: path.to_owned(),
                what: "it is a text in UTF-16".into(),
                remedy: "save it as UTF-8, for example with `iconv -f UTF-16 -t UTF-8 FILE > NEW`".into(),
            });
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            input.consume(3);
        }
        Ok(Self { input, bytes, compressed })
    }
}

/// A reader of bytes that were taken from it, and of the rest.
type Whole<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// The first [`HEAD`] bytes, however few of them a read gives, and a reader of all whose first buffer they are.
fn peeked<R: Read>(mut from: R) -> std::io::Result<(Vec<u8>, Whole<R>)> {
    let mut head = Vec::new();
    from.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head.clone(), BufReader::with_capacity(BUFFER, Cursor::new(head).chain(from))))
}

/// The error of a read that failed; damaged compression is the content's fault.
pub(super) fn failure(path: &Path, compressed: bool, cause: &Failure) -> Error {
    let content =
        |what: String, remedy: &str| Error::Content { path: path.to_owned(), what, remedy: remedy.into() };
    match cause.kind() {
        ErrorKind::QuotaExceeded if compressed => content(
            format!("its text is more than {MOST_INFLATED} times as long as the compressed file"),
            "decompress it with `gunzip`, and name the text if it is right",
        ),
        ErrorKind::UnexpectedEof if compressed => {
            content("its compressed data end too early".into(), "the file was cut off: copy it anew")
        }
        ErrorKind::InvalidInput | ErrorKind::InvalidData if compressed => content(
            format!("its compressed data are damaged ({cause})"),
            "copy the file anew; `gzip --test FILE` tests it",
        ),
        _ => Error::file("read", path, cause),
    }
}

/// Decompressed text of bounded length: a small file may stand for more text than any memory holds.
struct Inflated<R> {
    decoder: MultiGzDecoder<R>,
    left: u64,
}

impl<R: BufRead> Read for Inflated<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or(ErrorKind::QuotaExceeded)?;
        Ok(read)
    }
}
