//! The bytes of a text file: decompressed if gzipped, without a UTF-8 byte-order mark.

use std::fs::File;
use std::io::{BufRead, BufReader, Chain, Cursor, Error as Failure, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::{Error, Result};

/// Magic bytes of gzip.
const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
/// Maximum compression ratio of deflate.
const MAX_DEFLATE_RATIO: u64 = 1032;
/// Maximum ratio of text read to compressed size. Coordinates compress by 2 to 40.
const MAX_EXPANSION: u64 = 200;
/// Text allowed whatever the compressed size, in bytes.
const FREE_EXPANSION: u64 = 16 << 20;
/// Number of bytes used to recognize the file kind.
pub(super) const HEAD: u64 = 4096;
/// Buffer capacity, in bytes.
const BUFFER: usize = 1 << 18;

/// An open text file.
pub(super) struct Source {
    pub input: Box<dyn BufRead>,
    /// Upper bound of the text's size in bytes.
    pub bytes: u64,
    pub compressed: bool,
}

impl Source {
    /// Opens a text file.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read; [`Error::Content`] if it is in UTF-16.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |cause: Failure| failure(path, false, &cause);
        let file = File::open(path).map_err(failed)?;
        let stored = file.metadata().map_err(failed)?.len();
        let (head, plain) = peek(file).map_err(failed)?;
        let compressed = head.starts_with(GZIP_MAGIC);
        let (mut input, bytes): (Box<dyn BufRead>, u64) = if compressed {
            let left = FREE_EXPANSION.saturating_add(stored.saturating_mul(MAX_EXPANSION));
            let inflated = Inflated { decoder: MultiGzDecoder::new(plain), left };
            let (_, inflated) = peek(inflated).map_err(|cause| failure(path, compressed, &cause))?;
            (Box::new(inflated), stored.saturating_mul(MAX_DEFLATE_RATIO))
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

/// A reader that first returns the bytes already taken from `R`.
type BulkMotion<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// Reads the first [`HEAD`] bytes, even if single reads return fewer. Also returns a reader of the whole,
/// whose first buffer holds them.
fn peek<R: Read>(mut from: R) -> std::io::Result<(Vec<u8>, BulkMotion<R>)> {
    let mut head = Vec::new();
    from.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head.clone(), BufReader::with_capacity(BUFFER, Cursor::new(head).chain(from))))
}

/// Converts a read error; damaged compression is an error of the content.
pub(super) fn failure(path: &Path, compressed: bool, cause: &Failure) -> Error {
    let content =
        |what: String, remedy: &str| Error::Content { path: path.to_owned(), what, remedy: remedy.into() };
    match cause.kind() {
        ErrorKind::QuotaExceeded if compressed => content(
            format!("its text is more than {MAX_EXPANSION} times as long as the compressed file"),
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

/// A decompressor with bounded output: a small file may expand to more text than fits in memory.
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
