//! A sample of the particles of a run over its snapshots, by id: the same particles in each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::raster::Raster;
use crate::particles::{Field, Particles};
use crate::snapshot::{self, Header};
use crate::{Error, Result};

/// Most particles of a sample.
pub const MOST_PARTICLES: u64 = 30_000;

/// Most snapshots of a view.
pub const MOST_FRAMES: usize = 40;

/// Most particles of all snapshots of a view together: bounds the size of the page.
const MOST_POINTS: u64 = 300_000;

/// Rows of a snapshot that are held at a time.
const ROWS: u64 = 1 << 20;

/// Scalar quantities that a view may color by, beside the speed.
const SCALARS: [Field; 6] = [
    Field::Density,
    Field::InternalEnergy,
    Field::Pressure,
    Field::Potential,
    Field::PairEnergy,
    Field::Species,
];

/// Particles of the sample in one snapshot, sorted by id.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Header of the snapshot.
    pub header: Header,
    /// Ids.
    pub ids: Vec<u64>,
    /// Positions.
    pub positions: Vec<[f64; 3]>,
    /// Speeds; empty without velocities.
    pub speeds: Vec<f32>,
    /// Scalar quantities that the snapshot has.
    pub scalars: Vec<(Field, Vec<f32>)>,
}

/// What was read of snapshots before, by path and by size and time of the file.
#[derive(Debug, Default)]
pub struct Samples {
    frames: BTreeMap<PathBuf, (Stamp, Frame)>,
    /// Maps of the last snapshot.
    pub(super) maps: Option<Maps>,
}

/// Size and time of a file: it is read again if they have changed.
pub(super) type Stamp = (u64, SystemTime);

/// Maps of a snapshot.
#[derive(Debug)]
pub(super) struct Maps {
    pub path: PathBuf,
    pub stamp: Stamp,
    /// Particles of the snapshot.
    pub count: u64,
    /// Empty if there are too many particles.
    pub rasters: Vec<Raster>,
}

/// Reads size and time of a file.
pub(super) fn stamp_of(path: &Path) -> Result<Stamp> {
    let failed = |cause: std::io::Error| Error::file("read", path, &cause);
    let data = std::fs::metadata(path).map_err(failed)?;
    Ok((data.len(), data.modified().map_err(failed)?))
}

/// Snapshots of a view: samples in order, and failures.
#[derive(Debug, Default)]
pub struct Sampled {
    /// Number of the snapshot and its sample.
    pub frames: Vec<(u64, Frame)>,
    /// Files that could not be read.
    pub failures: Vec<(PathBuf, Error)>,
}

impl Samples {
    /// Reads samples of at most `MOST_FRAMES` of the snapshots, evenly spaced, with the last. Only files that
    /// have changed since the last call are read.
    pub fn read(&mut self, snapshots: &[(u64, PathBuf)]) -> Sampled {
        let chosen = spread(snapshots.len());
        let most = MOST_PARTICLES.min(MOST_POINTS / (chosen.len() as u64).max(1));
        let mut before = std::mem::take(&mut self.frames);
        let mut sampled = Sampled::default();
        for (number, path) in chosen.iter().map(|&place| &snapshots[place]) {
            match frame_of(path, most, before.remove(path)) {
                Ok((stamp, frame)) => {
                    sampled.frames.push((*number, frame.clone()));
                    self.frames.insert(path.clone(), (stamp, frame));
                }
                Err(error) => sampled.failures.push((path.clone(), error)),
            }
        }
        keep_common(&mut sampled.frames);
        sampled
    }
}

/// Places of at most [`MOST_FRAMES`] of `count` snapshots: every n-th, n a power of two, and the last. More
/// snapshots of the same run then repeat most choices.
fn spread(count: usize) -> Vec<usize> {
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let mut stride = 1;
    while last / stride + 2 > MOST_FRAMES {
        stride *= 2;
    }
    let mut chosen: Vec<usize> = (0..count).step_by(stride).collect();
    if chosen.last() != Some(&last) {
        chosen.push(last);
    }
    chosen
}

/// Returns the sample of a file: the former one without the particles beyond `most`, if the file is the same.
fn frame_of(path: &Path, most: u64, before: Option<(Stamp, Frame)>) -> Result<(Stamp, Frame)> {
    let stamp = stamp_of(path)?;
    match before {
        Some((then, mut frame)) if then == stamp => {
            let limit = limit(frame.header.particle_count, most);
            frame.retain(|id| chance(id) <= limit);
            Ok((stamp, frame))
        }
        _ => Ok((stamp, read(path, most)?)),
    }
}

/// Reads the sample of a snapshot, of about `most` particles.
fn read(path: &Path, most: u64) -> Result<Frame> {
    let mut frame: Option<Frame> = None;
    let header = snapshot::read_snapshot_blocks(path, ROWS, |header, particles| {
        let limit = limit(header.particle_count, most);
        frame.get_or_insert_with(|| Frame::new(header.clone(), particles)).add(particles, limit);
    })?;
    let mut frame = frame.unwrap_or_else(|| Frame::new(header, &Particles::new(&[Field::Position], 0)));
    frame.sort();
    Ok(frame)
}

/// Largest [`chance`] of a sample of about `most` of `count` particles.
fn limit(count: u64, most: u64) -> u64 {
    if count <= most {
        u64::MAX
    } else {
        (u128::from(u64::MAX) * u128::from(most) / u128::from(count)) as u64
    }
}

/// A number that depends on the id alone and is spread evenly (finalizer of SplitMix64, Steele et al. 2014).
fn chance(id: u64) -> u64 {
    let mut z = id.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Removes the particles that are not in every frame.
fn keep_common(frames: &mut [(u64, Frame)]) {
    let Some((_, first)) = frames.first() else { return };
    let mut common = first.ids.clone();
    for (_, frame) in frames.iter() {
        common.retain(|id| frame.ids.binary_search(id).is_ok());
    }
    for (_, frame) in frames.iter_mut().filter(|(_, frame)| frame.ids.len() > common.len()) {
        frame.retain(|id| common.binary_search(&id).is_ok());
    }
}

impl Frame {
    fn new(header: Header, particles: &Particles) -> Self {
        let scalars = SCALARS.into_iter().filter(|&field| particles.has(field));
        Frame {
            header,
            ids: Vec::new(),
            positions: Vec::new(),
            speeds: Vec::new(),
            scalars: scalars.map(|field| (field, Vec::new())).collect(),
        }
    }

    fn add(&mut self, particles: &Particles, limit: u64) {
        let rows: Vec<usize> = particles.owned().filter(|&row| chance(particles.id[row]) <= limit).collect();
        self.ids.extend(rows.iter().map(|&row| particles.id[row]));
        self.positions.extend(rows.iter().map(|&row| {
            let at = particles.vector_at(Field::Position, row);
            [at[0], at[1], at[2]]
        }));
        if particles.has(Field::Velocity) {
            let speed = |&row: &usize| particles.vector_at(Field::Velocity, row).norm() as f32;
            self.speeds.extend(rows.iter().map(speed));
        }
        for (field, values) in &mut self.scalars {
            let column = particles.scalar(*field);
            values.extend(rows.iter().map(|&row| column[row] as f32));
        }
    }

    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.ids.len()).collect();
        order.sort_by_key(|&row| self.ids[row]);
        self.select(&order);
    }

    fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        let rows: Vec<usize> = (0..self.ids.len()).filter(|&row| keep(self.ids[row])).collect();
        if rows.len() < self.ids.len() {
            self.select(&rows);
        }
    }

    fn select(&mut self, rows: &[usize]) {
        fn of<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| values[row]).collect()
        }
        self.ids = of(&self.ids, rows);
        self.positions = of(&self.positions, rows);
        if !self.speeds.is_empty() {
            self.speeds = of(&self.speeds, rows);
        }
        self.scalars.iter_mut().for_each(|(_, values)| *values = of(values, rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Communicator;
    use crate::snapshot::write_snapshot;
    use crate::space::{Boundary, SimulationBox, Vec3d};

    #[test]
    fn frames_are_spread_evenly_with_the_first_and_the_last() {
        assert!(spread(0).is_empty());
        assert_eq!(spread(3), [0, 1, 2]);
        for count in 1..500 {
            let chosen = spread(count);
            assert!(chosen.len() <= MOST_FRAMES && chosen.len() >= count.min(MOST_FRAMES / 2), "{count}");
            assert_eq!((chosen[0], chosen[chosen.len() - 1]), (0, count - 1));
        }
        assert_eq!(spread(200)[..3], [0, 8, 16]);
    }

    /// A snapshot of particles whose x is their id, in the order of `ids`.
    fn write(path: &Path, ids: &[u64], time: f64) {
        let mut particles = Particles::new(&[Field::Position, Field::Velocity, Field::Mass], ids.len());
        particles.id.copy_from_slice(ids);
        particles.scalar_mut(Field::Mass).fill(1.0);
        for (row, &id) in ids.iter().enumerate() {
            particles.set_vector(Field::Position, row, Vec3d::new(id as f64, time, 0.0));
            particles.set_vector(Field::Velocity, row, Vec3d::new(3.0, 4.0, 0.0));
        }
        let upper = Vec3d::repeat(1e6);
        let mut header =
            Header::new(SimulationBox { lower: Vec3d::zeros(), upper, boundary: [Boundary::Open; 3] });
        header.time = time;
        write_snapshot(path, &Communicator::solo(), &particles, &header, &[Field::Velocity]).unwrap();
    }

    #[test]
    fn the_same_particles_are_chosen_in_every_snapshot() {
        let folder = tempfile::tempdir().unwrap();
        let path = |k: u64| folder.path().join(format!("snapshot-{k:04}.hdf5"));
        let count = 2 * MOST_PARTICLES;
        let ids: Vec<u64> = (1..=count).collect();
        let backwards: Vec<u64> = ids.iter().rev().copied().collect();
        write(&path(0), &ids, 0.0);
        write(&path(1), &backwards, 0.5);
        std::fs::write(path(2), "damaged").unwrap();
        let files: Vec<(u64, PathBuf)> = (0..3).map(|k| (k, path(k))).collect();
        let mut samples = Samples::default();
        let sampled = samples.read(&files);
        assert_eq!(sampled.failures.len(), 1);
        assert!(sampled.failures[0].0.ends_with("snapshot-0002.hdf5"));
        let [(0, first), (1, second)] = &sampled.frames[..] else { panic!("two frames were expected") };
        assert_eq!(first.ids, second.ids);
        let chosen = first.ids.len() as f64;
        assert!((chosen / MOST_PARTICLES as f64 - 1.0).abs() < 0.02, "{chosen}");
        for (frame, time) in [(first, 0.0), (second, 0.5)] {
            assert!(frame.ids.iter().zip(&frame.positions).all(|(&id, at)| *at == [id as f64, time, 0.0]));
            assert!(frame.speeds.iter().all(|&speed| speed == 5.0) && frame.header.time == time);
        }
        // with more snapshots fewer particles of each: some of those before, without reading the file again
        let more: Vec<(u64, PathBuf)> = (0..20).map(|k| (k, path(k % 2))).collect();
        let fewer = samples.read(&more[..12]).frames.remove(0).1;
        assert!(fewer.ids.len() < first.ids.len() && fewer.ids.iter().all(|id| first.ids.contains(id)));
    }
}
