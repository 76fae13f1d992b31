//! Trajectory files to which rank 0 appends frames: every format but H5MD. A format says how a frame is laid
//! out and how whole frames are found; this file has what is the same for all: gathering rows in bounded
//! messages, appending, cutting at a restart.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Moment;
use super::order::{Order, Redistribution};
use crate::comm::Communicator;
use crate::particles::Particles;
use crate::{Error, Result};

/// Bytes per message to rank 0.
const MESSAGE_BYTES: usize = 16 << 20;
/// Output buffer in bytes. A frame that fits is written at once, so that a killed run leaves whole frames.
const BUFFER_BYTES: usize = 64 << 20;

/// The whole frames in front of a byte of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WholeFrames {
    /// End of the last one, in bytes.
    pub end: u64,
    /// Their number.
    pub count: u64,
    /// Step of the first.
    pub first_step: u64,
    /// Step of the last, if there is one.
    pub last_step: Option<u64>,
}

impl WholeFrames {
    /// Adds a frame of `step` that ends at byte `end`.
    pub fn add(&mut self, step: u64, end: u64) {
        self.first_step = if self.count == 0 { step } else { self.first_step };
        (self.end, self.count, self.last_step) = (end, self.count + 1, Some(step));
    }
}

/// What a frame is made of.
pub(super) struct Frame<'a> {
    pub comm: &'a Communicator,
    pub particles: &'a Particles,
    pub redistribution: Redistribution,
    pub moment: &'a Moment,
    /// Particles of all ranks.
    pub total: u64,
    /// The frames in front of it; known to rank 0 only.
    pub before: WholeFrames,
}

/// Layout of a format. Methods without a communicator are called on rank 0 only.
pub(super) trait Layout {
    /// Bytes in front of the first frame.
    fn head(&self, _total: u64) -> Vec<u8> {
        Vec::new()
    }

    /// Writes a frame, on rank 0. Collective.
    ///
    /// # Errors
    /// If the format cannot hold the values, on some ranks: after all messages, or agreed on before them.
    fn write(&self, frame: &Frame, out: &mut Sink) -> Result<()>;

    /// Bytes of the head that state the number of frames, and their place in the file; written after a frame.
    ///
    /// # Errors
    /// If the format cannot hold the numbers.
    fn count_of_frames(&self, _frames: &WholeFrames) -> Result<Option<(u64, Vec<u8>)>> {
        Ok(None)
    }

    /// Finds the whole frames of steps up to `step`.
    ///
    /// # Errors
    /// [`Error::Content`] if the file is not in our format, or has another number of particles or other
    /// content than the deck asks for.
    fn scan(&self, path: &Path, total: u64, step: u64) -> Result<WholeFrames>;
}

/// An open trajectory; only rank 0 has the file.
pub struct Appended {
    path: PathBuf,
    file: Option<File>,
    order: Order,
    layout: Box<dyn Layout>,
    frames: WholeFrames,
}

impl Appended {
    pub(super) fn create(
        path: &Path,
        comm: &Communicator,
        layout: Box<dyn Layout>,
        particles: &Particles,
    ) -> Result<Self> {
        let mut new = Self::without_file(path, comm, layout, particles);
        let created = comm.is_root().then(|| {
            let file = File::create(path).map_err(|cause| Error::file("create", path, &cause))?;
            new.write_head(&file)?;
            Ok(file)
        });
        new.file = comm.agree_on(created.transpose())?;
        Ok(new)
    }

    pub(super) fn resume(
        path: &Path,
        comm: &Communicator,
        layout: Box<dyn Layout>,
        particles: &Particles,
        step: u64,
    ) -> Result<Self> {
        let mut resumed = Self::without_file(path, comm, layout, particles);
        let cut = comm.is_root().then(|| resumed.cut(step)).transpose();
        resumed.file = comm.agree_on(cut)?;
        Ok(resumed)
    }

    fn without_file(
        path: &Path,
        comm: &Communicator,
        layout: Box<dyn Layout>,
        particles: &Particles,
    ) -> Self {
        Self {
            path: path.to_owned(),
            file: None,
            order: Order::new(comm, &particles.id[particles.owned()]),
            layout,
            frames: WholeFrames::default(),
        }
    }

    fn write_head(&mut self, file: &File) -> Result<()> {
        let head = self.layout.head(self.order.total());
        file.write_all_at(&head, 0).map_err(|cause| Error::file("write", &self.path, &cause))?;
        self.frames = WholeFrames { end: head.len() as u64, ..WholeFrames::default() };
        Ok(())
    }

    /// Cuts the file after its last whole frame of a step up to `step`, and opens it for writing.
    fn cut(&mut self, step: u64) -> Result<File> {
        self.frames = self.layout.scan(&self.path, self.order.total(), step)?;
        let failed = |cause: std::io::Error| Error::file("write", &self.path, &cause);
        let file = OpenOptions::new().write(true).open(&self.path).map_err(failed)?;
        // readers that trust the number never look for frames that are cut
        if self.frames.end > 0
            && let Some((at, bytes)) = self.layout.count_of_frames(&self.frames)?
        {
            file.write_all_at(&bytes, at).map_err(failed)?;
        }
        file.set_len(self.frames.end).map_err(failed)?;
        if self.frames.end == 0 {
            self.write_head(&file)?;
        }
        Ok(file)
    }

    pub(super) fn append(
        &mut self,
        comm: &Communicator,
        particles: &Particles,
        moment: &Moment,
    ) -> Result<()> {
        let mut last = vec![self.frames.last_step.unwrap_or(u64::MAX)];
        comm.broadcast(&mut last, 0);
        if last[0] == moment.step {
            return Ok(());
        }
        let frame = Frame {
            comm,
            particles,
            redistribution: self.order.redistribution(comm, particles),
            moment,
            total: self.order.total(),
            before: self.frames,
        };
        let mut out = Sink::new(self.file.as_ref(), self.frames.end);
        let written = comm.agree(self.layout.write(&frame, &mut out));
        let ended = out.finish().map_err(|cause| Error::file("write", &self.path, &cause));
        let published = self.publish(written.and(ended), moment.step);
        comm.agree(published)
    }

    /// Counts the frame that ends at a byte, on rank 0. What an error leaves is cut off.
    fn publish(&mut self, ended: Result<u64>, step: u64) -> Result<()> {
        let Some(file) = &self.file else { return ended.map(drop) };
        let mut frames = self.frames;
        let failed = |cause: std::io::Error| Error::file("write", &self.path, &cause);
        let counted = ended.and_then(|end| {
            frames.add(step, end);
            match self.layout.count_of_frames(&frames)? {
                Some((at, bytes)) => file.write_all_at(&bytes, at).map_err(failed),
                None => Ok(()),
            }
        });
        match counted {
            Ok(()) => self.frames = frames,
            // the error is reported; a restart cuts the file if this fails
            Err(_) => drop(file.set_len(self.frames.end)),
        }
        counted
    }
}

/// Where rank 0 writes the bytes of a frame; other ranks drop them.
pub(super) struct Sink<'a> {
    file: Option<&'a File>,
    buffer: Vec<u8>,
    at: u64,
    failed: Option<std::io::Error>,
}

impl<'a> Sink<'a> {
    /// Writes to a file, if there is one, from a byte on.
    pub fn new(file: Option<&'a File>, at: u64) -> Self {
        Self { file, buffer: Vec::new(), at, failed: None }
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.file.is_some() {
            self.buffer.extend_from_slice(bytes);
            if self.buffer.len() > BUFFER_BYTES {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        if let (Some(file), None) = (self.file, &self.failed) {
            self.failed = file.write_all_at(&self.buffer, self.at).err();
            self.at += self.buffer.len() as u64;
        }
        self.buffer.clear();
    }

    /// Writes what is buffered; returns the end of the bytes in the file.
    pub fn finish(mut self) -> std::io::Result<u64> {
        self.flush();
        self.failed.map_or(Ok(self.at), Err)
    }
}

/// Sends the rows of all ranks to rank 0, in the order of the ranks, in bounded messages; rank 0 passes them
/// to `take`. Collective.
pub(super) fn gather(comm: &Communicator, rows: &[u8], mut take: impl FnMut(&[u8])) {
    for rank in 0..comm.size() {
        let mut messages = vec![rows.len().div_ceil(MESSAGE_BYTES) as u64];
        comm.broadcast(&mut messages, rank);
        for message in 0..messages[0] as usize {
            let mut to = vec![Vec::new(); comm.size()];
            if comm.rank() == rank {
                let end = rows.len().min((message + 1) * MESSAGE_BYTES);
                to[0] = rows[message * MESSAGE_BYTES..end].to_vec();
            }
            comm.all_to_all(&to).iter().for_each(|bytes| take(bytes));
        }
    }
}
