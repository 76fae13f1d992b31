//! Particles in bins and spreading by tiles (kernels/mesh/bins.cuh, bins.cu, tiles.cu).

use super::super::arguments::mesh::BinnedRecords;
use super::super::arguments::mesh_bins::{
    BinKeysArguments, CountBinsArguments, FindStartsArguments, PlaceRecordsArguments, PlaceSortedArguments,
    SplitTilesArguments,
};
use super::super::arguments::mesh_padded::SpreadPaddedArguments;
use super::super::arguments::mesh_tiles::SpreadTilesArguments;
use super::super::arguments::{Input, Output};
use super::super::launch::{THREADS, WARP};
use super::super::scan::Scan;
use super::super::sort::Sort;
use super::super::{Buffer, Device};
use super::{Mesh, MeshParticles};
use crate::Result;
use crate::pair::Precision;
use crate::space::hilbert::LEVELS;
use std::cmp::min;

/// Points per dimension of a tile.
pub(super) const TILE: usize = 8;
const POINTS_OF_TILE: usize = TILE * TILE * TILE;

/// Fewest candidates of a split tile's slices, fewest where slices run on all multiprocessors, and slices per
/// multiprocessor that suffice.
const FEWEST_CANDIDATES: usize = 32;
const ENOUGH_CANDIDATES: usize = 256;
const SLICES_PER_MULTIPROCESSOR: usize = 64;

/// Records of a warp of padded tiles, and warps per multiprocessor that suffice.
const FEWEST_RECORDS: usize = 64;
const MOST_RECORDS: usize = 1024;
const WARPS_PER_MULTIPROCESSOR: usize = 64;

/// The order of particles within a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Whatever counting them gives.
    Counted,
    /// That of the rows.
    Sorted,
}

/// Sorted particles, and the parts of tiles with many of them.
#[derive(Debug)]
pub(super) struct Bins {
    order: Order,
    scan: Scan,
    sort: Sort,
    /// Number of particles.
    count: usize,
    /// Counts of bins, then the number of parts.
    counts: Buffer<u32>,
    /// First record of each bin, then twice the number of records.
    starts: Buffer<u64>,
    /// Bins and ranks of rows, or keys of rows.
    bins: Buffer<u32>,
    ranks: Buffer<u32>,
    keys: Buffer<u64>,
    /// Fractions and cells, four numbers a particle.
    records: Buffer<u8>,
    rows: Buffer<u32>,
    /// Per tile: number of slices, first part, parts that have arrived.
    slices: Buffer<u32>,
    first_part: Buffer<u32>,
    arrived: Buffer<u32>,
    /// Per part: tile and sums.
    tile_of_part: Buffer<u32>,
    partial: Buffer<u8>,
}

/// Number of tiles, or of bins, along a dimension.
fn tiles_along(points: usize) -> usize {
    points.div_ceil(TILE)
}

/// The largest number of tiles whose candidates include one bin, of a dimension: bins of eight cells, or of
/// one if `fine`. Mirrors `range_of` of kernels/mesh/bins.cuh.
fn most_tiles_of_bin(points: usize, order: usize, fine: bool) -> usize {
    let mut tiles = vec![0; points];
    for first in (0..points).step_by(TILE) {
        let end = first + min(TILE, points - first) + order - 1;
        let mut cell = first;
        while cell < end {
            let start = cell % points;
            tiles[start] += 1;
            cell += if fine { 1 } else { min(TILE, points - start) };
        }
    }
    tiles.into_iter().max().unwrap_or(0)
}

/// Candidates above which a tile is split, where `slices` suffice. Half as many run at the same time.
fn limit(candidates: usize, slices: usize) -> usize {
    (2 * candidates / slices).min(ENOUGH_CANDIDATES).max(candidates / slices).max(FEWEST_CANDIDATES)
}

impl Bins {
    /// Without particles.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn new(device: &Device, order: Order) -> Result<Self> {
        let words = |device: &Device| Buffer::<u32>::new(device, 0);
        Ok(Self {
            order,
            scan: Scan::new(device)?,
            sort: Sort::new(device)?,
            count: 0,
            counts: words(device)?,
            starts: Buffer::new(device, 0)?,
            bins: words(device)?,
            ranks: words(device)?,
            keys: Buffer::new(device, 0)?,
            records: Buffer::new(device, 0)?,
            rows: words(device)?,
            slices: words(device)?,
            first_part: words(device)?,
            arrived: words(device)?,
            tile_of_part: words(device)?,
            partial: Buffer::new(device, 0)?,
        })
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        let words = [
            &self.counts,
            &self.bins,
            &self.ranks,
            &self.rows,
            &self.slices,
            &self.first_part,
            &self.arrived,
            &self.tile_of_part,
        ];
        let words: usize = words.iter().map(|buffer| buffer.bytes()).sum();
        words + self.starts.bytes() + self.keys.bytes() + self.records.bytes() + self.partial.bytes()
    }

    /// Number of particles.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The particles as an argument.
    pub(super) fn binned(&self) -> BinnedRecords {
        BinnedRecords {
            records: Input::cast(&self.records),
            rows: (&self.rows).into(),
            starts: (&self.starts).into(),
        }
    }

    /// Sorts particles into bins and, for [`Self::spread`], splits tiles with many candidates.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn construct(&mut self, mesh: &Mesh, particles: &MeshParticles, split: bool) -> Result<()> {
        let [x, y, z] = mesh.geometry.points;
        let bins = tiles_along(x) * tiles_along(y) * z;
        self.count = particles.rows.len();
        self.records.resize(self.count * 4 * mesh.real())?;
        self.rows.resize(self.count)?;
        self.counts.resize(bins + 1)?;
        self.counts.fill_bytes(0)?;
        match self.order {
            Order::Counted => self.count_rows(mesh, particles)?,
            Order::Sorted => self.sort_rows(mesh, particles, bins)?,
        }
        if split { self.split(mesh, bins) } else { Ok(()) }
    }

    fn count_rows(&mut self, mesh: &Mesh, particles: &MeshParticles) -> Result<()> {
        self.bins.resize(self.count)?;
        self.ranks.resize(self.count)?;
        let counting = CountBinsArguments {
            position: particles.inputs(),
            geometry: mesh.parameters(),
            rows: (&particles.rows).into(),
            counts: (&self.counts).into(),
            bins: (&self.bins).into(),
            ranks: (&self.ranks).into(),
        };
        mesh.over(self.count, THREADS, &counting)?;
        self.scan.sums(&self.counts, &mut self.starts)?;
        let placing = PlaceRecordsArguments {
            position: particles.inputs(),
            geometry: mesh.parameters(),
            rows: (&particles.rows).into(),
            bins: (&self.bins).into(),
            ranks: (&self.ranks).into(),
            starts: (&self.starts).into(),
            records: Output::cast(&self.records),
            rows_of_records: (&self.rows).into(),
        };
        mesh.over(self.count, THREADS, &placing)
    }

    fn sort_rows(&mut self, mesh: &Mesh, particles: &MeshParticles, bins: usize) -> Result<()> {
        self.keys.resize(self.count)?;
        self.starts.resize(bins + 1)?;
        // the sort inspects the upper ones of 3 LEVELS bits first
        let shift = 3 * LEVELS - (usize::BITS - bins.leading_zeros());
        let keys = BinKeysArguments {
            position: particles.inputs(),
            geometry: mesh.parameters(),
            rows: (&particles.rows).into(),
            keys: (&self.keys).into(),
            shift,
        };
        mesh.over(self.count, THREADS, &keys)?;
        self.sort.run(&mut self.keys, None)?;
        let placing = PlaceSortedArguments {
            position: particles.inputs(),
            geometry: mesh.parameters(),
            rows: (&particles.rows).into(),
            order: self.sort.rows().into(),
            records: Output::cast(&self.records),
            rows_of_records: (&self.rows).into(),
        };
        mesh.over(self.count, THREADS, &placing)?;
        let starts = FindStartsArguments {
            keys: (&self.keys).into(),
            count: self.count as u32,
            shift,
            bins: bins as u32,
            starts: (&self.starts).into(),
        };
        mesh.over(bins + 1, THREADS, &starts)
    }

    /// The largest number of candidates of all tiles together.
    fn most_candidates(&self, mesh: &Mesh) -> usize {
        let (points, order) = (mesh.geometry.points, mesh.window.order());
        let tiles = |d: usize| most_tiles_of_bin(points[d], order, d == 2);
        self.count * tiles(0) * tiles(1) * tiles(2)
    }

    fn split(&mut self, mesh: &Mesh, bins: usize) -> Result<()> {
        let candidates = self.most_candidates(mesh);
        let slices = mesh.device.multiprocessors() as usize * SLICES_PER_MULTIPROCESSOR;
        let limit = limit(candidates, slices);
        // a split tile of n candidates has ceil(n / limit) parts, which is less than 2 n / limit
        let parts = 2 * candidates / limit;
        let tiles = mesh.geometry.points.map(tiles_along).iter().product();
        self.slices.resize(tiles)?;
        self.first_part.resize(tiles)?;
        self.arrived.resize(tiles)?;
        self.tile_of_part.resize(parts)?;
        self.partial.resize(parts * POINTS_OF_TILE * mesh.real())?;
        let arguments = SplitTilesArguments {
            geometry: mesh.parameters(),
            starts: (&self.starts).into(),
            limit: limit as u32,
            tiles: tiles as u32,
            slices: (&self.slices).into(),
            first_part: (&self.first_part).into(),
            arrived: (&self.arrived).into(),
            tile_of_part: (&self.tile_of_part).into(),
            parts: Output::at(&self.counts, bins),
        };
        mesh.over(tiles * WARP, THREADS, &arguments)
    }

    /// Replaces the mesh by the sum over the particles.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn spread(&self, mesh: &Mesh, values: &Buffer<f64>, to: &mut Buffer<u8>) -> Result<()> {
        let tiles = self.slices.len();
        let arguments = SpreadTilesArguments {
            geometry: mesh.parameters(),
            binned: self.binned(),
            values: values.into(),
            tiles: tiles as u32,
            slices: (&self.slices).into(),
            first_part: (&self.first_part).into(),
            arrived: (&self.arrived).into(),
            tile_of_part: (&self.tile_of_part).into(),
            parts: Input::at(&self.counts, self.counts.len() - 1),
            partial: Output::cast(&self.partial),
            sums: Output::cast(to),
        };
        // SPREAD_WARPS of kernels/mesh/tiles.cu
        let warps = if mesh.precision == Precision::Double { 4 } else { 8 };
        mesh.over((tiles + self.tile_of_part.len()) * WARP, warps * WARP as u32, &arguments)
    }

    /// Replaces the mesh by the sum over the particles, through padded tiles.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn spread_padded(&self, mesh: &Mesh, values: &Buffer<f64>, to: &mut Buffer<u8>) -> Result<()> {
        to.fill_bytes(0)?;
        let warps = mesh.device.multiprocessors() as usize * WARPS_PER_MULTIPROCESSOR;
        let records = (self.count / warps).next_multiple_of(WARP).clamp(FEWEST_RECORDS, MOST_RECORDS);
        let arguments = SpreadPaddedArguments {
            geometry: mesh.parameters(),
            binned: self.binned(),
            count: self.count as u32,
            records_of_warp: records as u32,
            values: values.into(),
            sums: Output::cast(to),
        };
        mesh.over(self.count.div_ceil(records) * WARP, WARP as u32, &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_candidates_make_small_slices() {
        assert_eq!(limit(80_000, 8448), 32);
        assert_eq!(limit(800_000, 8448), 189);
        assert_eq!(limit(1_600_000, 8448), 256);
        assert_eq!(limit(8_000_000, 8448), 946);
    }

    #[test]
    fn a_bin_is_near_two_tiles_of_a_dimension() {
        for order in 4..=8 {
            assert_eq!(most_tiles_of_bin(64, order, false), 2);
            assert_eq!(most_tiles_of_bin(64, order, true), 2);
            // the tile of one point at the upper end does not end the reach of the one below
            assert_eq!(most_tiles_of_bin(17, order, false), 3);
            assert_eq!(most_tiles_of_bin(8, order, false), 2);
        }
    }
}
