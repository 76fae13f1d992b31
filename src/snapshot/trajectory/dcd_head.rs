//! Header of a DCD file of any program: either byte order, with or without fixed atoms and unit cell.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::{Error, Result};

/// Most bytes of a head: files with more than a few titles are not read.
pub(super) const MOST_BYTES: u64 = 1 << 16;
/// Bytes of the unit-cell record.
pub(super) const CELL_BYTES: u64 = 56;
/// Bytes of the first record.
const FIRST_RECORD: u32 = 84;
const TITLE_BYTES: usize = 80;

/// What the head says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Head {
    pub big_endian: bool,
    pub frames: u64,
    pub first_step: u64,
    /// Steps between frames.
    pub interval: u64,
    /// Time step in AKMA units; `None` for X-PLOR files, which have a double in its place.
    pub time_step: Option<f32>,
    /// Whether frames have a box.
    pub has_cell: bool,
    /// Whether frames have a fourth coordinate.
    pub four: bool,
    pub titles: Vec<String>,
    pub particles: u64,
    /// Fixed atoms: only the first frame has their coordinates.
    pub fixed: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Numbers in one byte order.
struct Numbers<'a> {
    bytes: &'a [u8],
    big_endian: bool,
    at: usize,
}

impl<'a> Numbers<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        let bytes: [u8; 4] = self.take(4)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// Contents of the next record.
    fn record(&mut self) -> Option<Numbers<'a>> {
        let length = self.word()?;
        let bytes = self.take(length as usize)?;
        (self.word()? == length).then_some(Numbers { bytes, big_endian: self.big_endian, at: 0 })
    }
}

impl Head {
    /// Whether bytes are the beginning of a DCD file.
    pub fn begins(bytes: &[u8]) -> bool {
        let markers = [FIRST_RECORD.to_le_bytes(), FIRST_RECORD.to_be_bytes()];
        bytes.get(4..8) == Some(b"CORD") && markers.iter().any(|marker| bytes.starts_with(marker))
    }

    /// Reads a head; `None` if it is damaged or longer than the bytes.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let big_endian = bytes.starts_with(&FIRST_RECORD.to_be_bytes());
        let mut file = Numbers { bytes, big_endian, at: 0 };
        let mut first = file.record().filter(|record| record.bytes.starts_with(b"CORD"))?;
        first.take(4)?;
        let mut numbers = [0u32; 20];
        for number in &mut numbers {
            *number = first.word()?;
        }
        let charmm = numbers[19] != 0;
        let mut titles = file.record()?;
        let count = titles.word()?;
        let mut head = Self {
            big_endian,
            frames: numbers[0].into(),
            first_step: numbers[1].into(),
            interval: numbers[2].into(),
            time_step: charmm.then(|| f32::from_bits(numbers[9])),
            has_cell: charmm && numbers[10] != 0,
            four: charmm && numbers[11] != 0,
            fixed: numbers[8].into(),
            ..Self::default()
        };
        for _ in 0..count {
            let text = String::from_utf8_lossy(titles.take(TITLE_BYTES)?);
            let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
            if !text.is_empty() {
                head.titles.push(text.to_owned());
            }
        }
        head.particles = file.record()?.word()?.into();
        if head.fixed > head.particles {
            return None;
        }
        if head.fixed > 0 {
            // indices of the free atoms
            file.at = file.at.checked_add(8 + 4 * (head.particles - head.fixed) as usize)?;
        }
        head.bytes = file.at as u64;
        Some(head)
    }

    fn bytes_of(&self, particles: u64) -> u64 {
        let cell = if self.has_cell { CELL_BYTES } else { 0 };
        cell + (3 + u64::from(self.four)) * (8 + 4 * particles)
    }

    /// Bytes of every frame but the first.
    pub fn frame_bytes(&self) -> u64 {
        self.bytes_of(self.particles - self.fixed)
    }

    /// Where a frame begins.
    pub fn frame_begin(&self, frame: u64) -> u64 {
        match frame.checked_sub(1) {
            Some(behind) => self.bytes + self.bytes_of(self.particles) + behind * self.frame_bytes(),
            None => self.bytes,
        }
    }

    /// The number of whole frames in a file of `length` bytes, and the bytes behind them.
    pub fn frames_within(&self, length: u64) -> (u64, u64) {
        match length.checked_sub(self.frame_begin(1)) {
            Some(more) => (1 + more / self.frame_bytes(), more % self.frame_bytes()),
            None => (0, length.saturating_sub(self.bytes)),
        }
    }

    /// The six numbers of the record of a box.
    pub fn cell(&self, record: &[u8]) -> Option<[f64; 6]> {
        let mut numbers = Numbers { bytes: record, big_endian: self.big_endian, at: 0 }.record()?;
        let mut cell = [0.0; 6];
        for value in &mut cell {
            let bytes: [u8; 8] = numbers.take(8)?.try_into().ok()?;
            *value = if self.big_endian { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) };
        }
        Some(cell)
    }
}

/// Reads the first bytes of a file, at most `most`, and its length.
pub(super) fn read(path: &Path, most: u64) -> Result<(Vec<u8>, u64)> {
    let read = || -> std::io::Result<(Vec<u8>, u64)> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok((bytes, length))
    };
    read().map_err(|cause| Error::file("read", path, &cause))
}

/// Reads `count` bytes from `begin` on, fewer at the end of the file.
pub(super) fn read_at(path: &Path, begin: u64, count: u64) -> Result<Vec<u8>> {
    let read = || -> std::io::Result<Vec<u8>> {
        let file = File::open(path)?;
        let mut bytes = vec![0; count as usize];
        let read = file.read_at(&mut bytes, begin)?;
        bytes.truncate(read);
        Ok(bytes)
    };
    read().map_err(|cause| Error::file("read", path, &cause))
}
