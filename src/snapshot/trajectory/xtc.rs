//! XTC: the compressed coordinates of GROMACS, in nanometres and picoseconds. All numbers are big-endian
//! (XDR).
//!
//! A frame is magic number, particles, step, time, box (three vectors), particles again, and the coordinates:
//! up to nine particles as single-precision numbers, more of them as integers, multiples of the resolution
//! (see `coordinates`). Compression runs along the particles of a frame, so rank 0 does it, with 12 bytes per
//! particle. Reduced units are written as they are.
//!
//! Layout of the files: reference manual of GROMACS 2024, "xtc"; xdrfile 1.1 (van der Spoel et al.).

mod coordinates;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::appended::{Frame, Layout, Sink, WholeFrames, gather};
use super::{foreign, narrow, unholdable};
use crate::particles::Field;
use crate::space::Boundary;
use crate::{Error, Result};

/// Magic number of files up to [`MOST_1995`] particles, and of larger ones, whose byte count has 64 bits.
const MAGIC_1995: u32 = 1995;
const MAGIC_2023: u32 = 2023;
/// Most particles whose compressed coordinates surely fit into 2^32 bytes.
const MOST_1995: u64 = 298_261_617;
/// Most particles whose coordinates are not compressed.
const MOST_UNCOMPRESSED: u64 = 9;
/// Bytes up to the coordinates, and from there to the compressed ones without their byte count.
const HEAD_BYTES: usize = 56;
const COORDINATE_HEAD_BYTES: usize = 32;
/// Largest coordinate over the resolution: differences of two of them fit into 31 bits.
const LIMIT: f64 = 1_073_741_822.0;

/// XTC.
pub(super) struct Xtc {
    /// Spacing of the coordinates.
    pub resolution: f64,
}

impl Xtc {
    /// The number that coordinates are multiplied by.
    fn precision(&self) -> f32 {
        (1.0 / self.resolution) as f32
    }

    /// Rounds this rank's coordinates to multiples of the resolution.
    fn rounded(&self, positions: &[f64], step: u64) -> Result<Vec<i32>> {
        let precision = f64::from(self.precision());
        let round = |&x: &f64| {
            let scaled = (x * precision).round();
            // also refuses NaN
            if scaled.abs() <= LIMIT { Ok(scaled as i32) } else { Err(x) }
        };
        positions.iter().map(round).collect::<Result<_, _>>().map_err(|x| {
            unholdable(
                step,
                format!("XTC cannot hold the coordinate {x} at a resolution of {}", self.resolution),
                "give a larger `resolution` in [output.trajectory], or another format",
            )
        })
    }

    fn head_of(&self, frame: &Frame) -> Result<Vec<u8>> {
        let moment = frame.moment;
        let step = narrow(moment.step, moment.step, "a step")?;
        let particles = narrow(frame.total, moment.step, "a number of particles")?;
        let magic = if frame.total > MOST_1995 { MAGIC_2023 } else { MAGIC_1995 };
        let mut head = Vec::with_capacity(HEAD_BYTES);
        head.extend(magic.to_be_bytes());
        head.extend(particles.to_be_bytes());
        head.extend(step.to_be_bytes());
        head.extend((moment.time as f32).to_be_bytes());
        let lengths = moment.bx.lengths();
        for k in 0..9 {
            let periodic = moment.bx.boundary[k / 3] == Boundary::Periodic;
            let length = if periodic && k % 4 == 0 { lengths[k / 3] } else { 0.0 };
            head.extend((length as f32).to_be_bytes());
        }
        head.extend(particles.to_be_bytes());
        Ok(head)
    }

    /// Encodes the coordinates of more than [`MOST_UNCOMPRESSED`] particles.
    fn compressed(&self, mut points: Vec<[i32; 3]>) -> Vec<u8> {
        let wide = points.len() as u64 > MOST_1995;
        let code = coordinates::compress(&mut points);
        let mut bytes = self.precision().to_be_bytes().to_vec();
        for value in code.lowest.iter().chain(&code.highest) {
            bytes.extend(value.to_be_bytes());
        }
        bytes.extend((code.first_width as u32).to_be_bytes());
        match wide {
            true => bytes.extend((code.bytes.len() as u64).to_be_bytes()),
            false => bytes.extend((code.bytes.len() as u32).to_be_bytes()),
        }
        bytes.extend(&code.bytes);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}

impl Layout for Xtc {
    fn write(&self, frame: &Frame, out: &mut Sink) -> Result<()> {
        let positions = frame.redistribution.column(frame.comm, frame.particles, Field::Position);
        let ready =
            self.head_of(frame).and_then(|head| Ok((head, self.rounded(&positions, frame.moment.step)?)));
        let (head, rounded) = frame.comm.agree_on(ready)?;
        out.push(&head);
        if frame.total <= MOST_UNCOMPRESSED {
            let bytes: Vec<u8> = positions.iter().flat_map(|&x| (x as f32).to_be_bytes()).collect();
            gather(frame.comm, &bytes, |bytes| out.push(bytes));
            return Ok(());
        }
        let mut all: Vec<i32> = Vec::new();
        let bytes: &[u8] = bytemuck::cast_slice(&rounded);
        gather(frame.comm, bytes, |bytes| {
            all.extend(bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned::<i32>));
        });
        if frame.comm.is_root() {
            let points = all.chunks_exact(3).map(|point| [point[0], point[1], point[2]]).collect();
            out.push(&self.compressed(points));
        }
        Ok(())
    }

    fn scan(&self, path: &Path, total: u64, step: u64) -> Result<WholeFrames> {
        let mut file = FrameHeads::open(path)?;
        let mut frames = WholeFrames::default();
        loop {
            let refuse = |what: String| {
                Err(foreign(path, format!("the frame that begins at byte {} {what}", frames.end)))
            };
            let head = match file.next() {
                Ok(Some(head)) => head,
                Ok(None) => break,
                Err(Unreadable::File(cause)) => return Err(Error::file("read", path, &cause)),
                Err(Unreadable::Content(what)) => return refuse(what),
            };
            if u64::from(head.particles) != total {
                return refuse(format!("has {} particles, this run has {total}", head.particles));
            }
            if head.precision.is_some_and(|precision| precision != self.precision()) {
                return refuse("has another resolution than the deck asks for".into());
            }
            match head.end {
                Some(end) if u64::from(head.step) <= step => frames.add(head.step.into(), end),
                _ => break,
            }
        }
        Ok(frames)
    }
}

/// What a frame says in front of its coordinates.
#[derive(Clone, Copy, Debug)]
struct FrameHead {
    particles: u32,
    step: u32,
    time: f32,
    vectors: [f32; 9],
    /// Factor of the coordinates, if they are compressed.
    precision: Option<f32>,
    /// Where the next frame begins; `None` if the file ends before.
    end: Option<u64>,
}

/// Why a frame cannot be read.
enum Unreadable {
    File(std::io::Error),
    Content(String),
}

impl From<std::io::Error> for Unreadable {
    fn from(cause: std::io::Error) -> Self {
        Self::File(cause)
    }
}

/// Reads the heads of frames, one after the other, and skips the coordinates.
struct FrameHeads {
    file: File,
    bytes: u64,
    at: u64,
}

impl FrameHeads {
    fn open(path: &Path) -> Result<Self> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (bytes, file) = opened.map_err(|cause| Error::file("read", path, &cause))?;
        Ok(Self { file, bytes, at: 0 })
    }

    /// Reads the next head; `None` if the file ends in front of it or within it.
    fn next(&mut self) -> Result<Option<FrameHead>, Unreadable> {
        self.file.seek(SeekFrom::Start(self.at))?;
        let most = HEAD_BYTES + COORDINATE_HEAD_BYTES + 8;
        let mut head = Vec::with_capacity(most);
        (&mut self.file).take(most as u64).read_to_end(&mut head)?;
        let word = |k: usize| -> Option<[u8; 4]> { head.get(4 * k..4 * k + 4)?.try_into().ok() };
        let number = |k: usize| word(k).map(u32::from_be_bytes);
        let real = |k: usize| word(k).map(f32::from_be_bytes);
        let magic = match number(0) {
            Some(magic @ (MAGIC_1995 | MAGIC_2023)) => magic,
            Some(_) => return Err(Unreadable::Content("does not begin with a magic number of XTC".into())),
            None if MAGIC_1995.to_be_bytes().starts_with(&head) => return Ok(None),
            None => return Err(Unreadable::Content("does not begin with a magic number of XTC".into())),
        };
        let mut vectors = [0.0; 9];
        for (k, value) in vectors.iter_mut().enumerate() {
            let Some(found) = real(4 + k) else { return Ok(None) };
            *value = found;
        }
        let (Some(particles), Some(step), Some(time), Some(again)) =
            (number(1), number(2), real(3), number(13))
        else {
            return Ok(None);
        };
        if particles != again {
            let what = format!("states {particles} particles, then {again}");
            return Err(Unreadable::Content(what));
        }
        let compressed = u64::from(particles) > MOST_UNCOMPRESSED;
        let length = match (compressed, magic) {
            (false, _) => Some(12 * u64::from(particles)),
            (true, MAGIC_1995) => number(22).map(|bytes| 36 + u64::from(bytes).next_multiple_of(4)),
            (true, _) => number(22).zip(number(23)).and_then(|(high, low)| {
                (u64::from(high) << 32 | u64::from(low)).checked_next_multiple_of(4)?.checked_add(40)
            }),
        };
        let end = length.and_then(|length| self.at.checked_add(HEAD_BYTES as u64)?.checked_add(length));
        let end = end.filter(|&end| end <= self.bytes);
        self.at = end.unwrap_or(self.bytes);
        let precision = if compressed { real(14) } else { None };
        Ok(Some(FrameHead { particles, step, time, vectors, precision, end }))
    }
}

/// Describes a file as pairs of name and value.
pub(super) fn describe(path: &Path) -> Result<Vec<(&'static str, String)>> {
    let mut file = FrameHeads::open(path)?;
    let (mut frames, mut ends) = (0u64, None::<(FrameHead, FrameHead)>);
    let mut begin = 0;
    let incomplete = loop {
        match file.next() {
            Ok(Some(head)) if head.end.is_some() => {
                (frames, begin) = (frames + 1, file.at);
                ends = Some((ends.map_or(head, |(first, _)| first), head));
            }
            Ok(_) => break file.bytes - begin,
            Err(Unreadable::File(cause)) => return Err(Error::file("read", path, &cause)),
            Err(Unreadable::Content(what)) => {
                let what = format!("the frame that begins at byte {begin} {what}");
                return Err(super::describe::damaged(path, what));
            }
        }
    };
    let mut summary = vec![("kind", "trajectory, XTC".to_owned())];
    if let Some((first, last)) = ends {
        summary.push(("particles", last.particles.to_string()));
        summary.push(("frames", frames.to_string()));
        summary.push(("steps", format!("{} to {}", first.step as i32, last.step as i32)));
        summary.push(("times", format!("{} to {} [ps, or reduced]", first.time, last.time)));
        let v = last.vectors;
        let text = match (v.iter().all(|&x| x == 0.0), [1, 2, 3, 5, 6, 7].iter().all(|&k| v[k] == 0.0)) {
            (true, _) => "none".to_owned(),
            (false, true) => format!("{} x {} x {} in the last frame [nm, or reduced]", v[0], v[4], v[8]),
            (false, false) => format!("the vectors {v:?} in the last frame [nm, or reduced]"),
        };
        summary.push(("box", text));
        let precision = last.precision.map_or("not compressed".to_owned(), |p| format!("{} per unit", p));
        summary.push(("coordinates", precision));
    } else {
        summary.push(("frames", "0".into()));
    }
    summary.extend(super::describe::incomplete(incomplete));
    Ok(summary)
}

#[cfg(test)]
mod tests;
