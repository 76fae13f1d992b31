//! Compression of coordinates in XTC: integers of as few bits as the box needs, and small differences between
//! particles that follow each other in the file and lie close together.
//!
//! A point is written either in full, as offset from the lowest coordinates, or as difference from the point
//! in front of it, whose components are below half a *width*. Widths are the steps of a table: three
//! differences below entry k take k bits together. A full point has a flag: the run of differences that
//! follows it is as long as the last one (0), or new (1), then five bits have the length of the run times
//! three plus the change of the width behind it (-1, 0, 1) plus one. The first two points of a run are
//! exchanged, because the oxygen of water comes first and lies between its hydrogens.
//!
//! Format: xdrfile 1.1 (`xdr3dfcoord`; F. van Hoesel, D. van der Spoel).

/// Widths: entry k is the largest whole number whose cube is at most 2^k, but for three that are smaller (37,
/// 57, 69); entries of 0 are not used.
const WIDTHS: [u32; 73] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 101, 128, 161, 203, 256, 322, 406,
    512, 645, 812, 1024, 1290, 1625, 2048, 2580, 3250, 4096, 5060, 6501, 8192, 10321, 13003, 16384, 20642,
    26007, 32768, 41285, 52015, 65536, 82570, 104031, 131072, 165140, 208063, 262144, 330280, 416127, 524287,
    660561, 832255, 1048576, 1321122, 1664510, 2097152, 2642245, 3329021, 4194304, 5284491, 6658042, 8388607,
    10568983, 13316085, 16777216,
];
/// First and last entry that are used.
const FIRST: usize = 9;
const LAST: usize = WIDTHS.len() - 1;
/// Most entries that the width may grow in a frame.
const GROWTH: usize = 8;
/// Most differences in a run.
const LONGEST_RUN: usize = 8;
/// Largest number of values of a component that are packed together with those of the others.
const MOST_PACKED: u32 = 0xff_ffff;

/// Compressed coordinates.
pub(super) struct Code {
    pub lowest: [i32; 3],
    pub highest: [i32; 3],
    /// Entry of the table that the first difference has.
    pub first_width: usize,
    pub bytes: Vec<u8>,
}

/// How a full point is written.
enum FullPoints {
    /// Each component with so many bits.
    Separate([u32; 3]),
    /// All components as one number of so many bits, in a mixed base.
    Packed(u32),
}

/// Compresses at least one point; exchanges some of them. Coordinates are below 2^30 in magnitude.
pub(super) fn compress(points: &mut [[i32; 3]]) -> Code {
    let (mut lowest, mut highest) = ([i32::MAX; 3], [i32::MIN; 3]);
    for point in points.iter() {
        for d in 0..3 {
            (lowest[d], highest[d]) = (lowest[d].min(point[d]), highest[d].max(point[d]));
        }
    }
    let sizes = [0, 1, 2].map(|d| (highest[d] - lowest[d]) as u32 + 1);
    let full = if sizes.iter().any(|&size| size > MOST_PACKED) {
        FullPoints::Separate(sizes.map(|size| u32::BITS - size.leading_zeros()))
    } else {
        FullPoints::Packed(bit_length(sizes.iter().map(|&size| u128::from(size)).product()))
    };
    let first_width = width_for(points);
    let mut bits = BitWriter::default();
    let largest_width = LAST.min(first_width + GROWTH);
    let smallest_width = largest_width - GROWTH;
    let mut width = first_width;
    let (mut at, mut last_run) = (0, None);
    let mut previous = [0; 3];
    while at < points.len() {
        let reach = (WIDTHS[width] / 2) as i32;
        let mut change = if at > 0 && width < largest_width && {
            let grown = (WIDTHS[largest_width] / 2) as i32;
            within(points[at], previous, grown)
        } {
            1
        } else if at > 0 && width > smallest_width {
            -1
        } else {
            0
        };
        let follows = at + 1 < points.len() && within(points[at], points[at + 1], reach);
        if follows {
            points.swap(at, at + 1);
        } else if change < 0 {
            change = 0;
        }
        let offset = [0, 1, 2].map(|d| (points[at][d] - lowest[d]) as u32);
        match full {
            FullPoints::Separate(lengths) => (0..3).for_each(|d| bits.put(offset[d], lengths[d])),
            FullPoints::Packed(length) => bits.put_packed(offset, sizes, length),
        }
        previous = points[at];
        at += 1;
        let begin = at;
        let mut next_follows = follows;
        while next_follows {
            if change < 0 && squared_distance(points[at], previous) >= square_below(width) {
                change = 0;
            }
            previous = points[at];
            at += 1;
            next_follows =
                at - begin < LONGEST_RUN && at < points.len() && within(points[at], previous, reach);
        }
        let run = at - begin;
        if last_run == Some(run) && change == 0 {
            bits.put(0, 1);
        } else {
            bits.put(1, 1);
            bits.put((3 * run as i32 + change + 1) as u32, 5);
        }
        last_run = Some(run);
        for k in begin..at {
            let difference = [0, 1, 2].map(|d| (points[k][d] - points[k - 1][d] + reach) as u32);
            bits.put_packed(difference, [WIDTHS[width]; 3], width as u32);
        }
        width = width.saturating_add_signed(change as isize);
    }
    Code { lowest, highest, first_width, bytes: bits.finish() }
}

/// The entry of the smallest width that the closest pair of neighbors in the file needs.
fn width_for(points: &[[i32; 3]]) -> usize {
    let distance =
        |pair: &[[i32; 3]]| -> u64 { (0..3).map(|d| u64::from(pair[0][d].abs_diff(pair[1][d]))).sum() };
    let closest = points.windows(2).map(distance).min().unwrap_or(0);
    (FIRST..LAST).find(|&k| u64::from(WIDTHS[k]) >= closest).unwrap_or(LAST)
}

/// Whether all components of two points differ by less than `reach`.
fn within(one: [i32; 3], other: [i32; 3], reach: i32) -> bool {
    (0..3).all(|d| (one[d] - other[d]).abs() < reach)
}

fn squared_distance(one: [i32; 3], other: [i32; 3]) -> i64 {
    (0..3).map(|d| i64::from(one[d] - other[d]).pow(2)).sum()
}

/// Square of half the width below an entry.
fn square_below(width: usize) -> i64 {
    i64::from(WIDTHS[FIRST.max(width - 1)] / 2).pow(2)
}

/// Bits of a number without leading zeros.
fn bit_length(number: u128) -> u32 {
    u128::BITS - number.leading_zeros()
}

/// Writes bits, the highest first.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte, and their number.
    pending: u64,
    count: u32,
}

impl BitWriter {
    /// Writes the lowest `length` bits of a number, at most 32.
    fn put(&mut self, value: u32, length: u32) {
        self.pending = self.pending << length | u64::from(value);
        self.count += length;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.pending >> self.count) as u8);
        }
        self.pending &= (1 << self.count) - 1;
    }

    /// Writes three numbers below `sizes` as one of `length` bits, its lowest byte first.
    fn put_packed(&mut self, numbers: [u32; 3], sizes: [u32; 3], length: u32) {
        let [x, y, z] = numbers.map(u128::from);
        let packed = (x * u128::from(sizes[1]) + y) * u128::from(sizes[2]) + z;
        for begin in (0..length).step_by(8) {
            let bits = (length - begin).min(8);
            self.put((packed >> begin) as u32 & ((1 << bits) - 1), bits);
        }
    }

    /// Fills the last byte with zeros.
    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
        self.bytes
    }
}
