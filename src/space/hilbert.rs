//! 63-bit Hilbert keys: 21 levels of a space-filling curve whose consecutive cells share a face.
//!
//! The curve is Hamilton's (Compact Hilbert Indices, Dalhousie CS-2006-07) in three dimensions. On each
//! level, the octant's bits, transformed by the entry corner `e` and direction `d` of the cell, are the Gray
//! code of the digit. Only 12 pairs `(e, d)` occur. Their transitions are tabulated at compile time, three
//! levels per lookup. The first k digits of a key identify the octree node of level k that holds the cell.

use super::{SimulationBox, Vec3d};
use crate::simd::aligned;
use fearless_simd::{Level, Simd, dispatch};
use rayon::prelude::*;

/// Levels of the curve: bits per dimension of a cell's coordinates.
pub const LEVELS: u32 = 21;

/// One past the last key.
pub const END: u64 = 1 << (3 * LEVELS);

/// Cells per dimension.
const CELLS: f64 = (1u32 << LEVELS) as f64;

/// Number of orientations of a cell that occur.
const STATES: usize = 12;

/// Entries per state: 512 paths of three octants (or three digits).
const PATHS: usize = 512;

/// Encodes the orientation `(entry corner, direction)`.
const fn orientation(entry: u32, direction: u32) -> u32 {
    entry * 3 + direction
}

const fn rotate_left(bits: u32, by: u32) -> u32 {
    let by = by % 3;
    ((bits << by) | (bits >> (3 - by))) & 7
}

const fn gray(digit: u32) -> u32 {
    digit ^ (digit >> 1)
}

/// Returns the octant of a digit in an orientation, and the orientation within that octant.
const fn descend(state: u32, digit: u32) -> (u32, u32) {
    let (entry, direction) = (state / 3, state % 3);
    let octant = rotate_left(gray(digit), direction + 1) ^ entry;
    let corner = if digit == 0 { 0 } else { gray(2 * ((digit - 1) / 2)) };
    let axis = match digit {
        0 => 0,
        _ if digit.is_multiple_of(2) => (digit - 1).trailing_ones() % 3,
        _ => digit.trailing_ones() % 3,
    };
    (octant, orientation(entry ^ rotate_left(corner, direction + 1), (direction + axis + 1) % 3))
}

/// Numbers the orientations reachable from `(0, 0)`; also returns them in that order.
const fn reachable() -> ([u32; 24], [u32; STATES]) {
    let (mut number, mut found, mut count, mut next) = ([u32::MAX; 24], [0; STATES], 1, 0);
    number[0] = 0;
    while next < count {
        let mut digit = 0;
        while digit < 8 {
            let (_, state) = descend(found[next], digit);
            if number[state as usize] == u32::MAX {
                number[state as usize] = count as u32;
                found[count] = state;
                count += 1;
            }
            digit += 1;
        }
        next += 1;
    }
    assert!(count == STATES, "the Hilbert curve has 12 orientations");
    (number, found)
}

/// Lookup tables of both directions. Entry: (next state) << 9 | (three digits or three octants).
struct Tables {
    digits: [u16; STATES * PATHS],
    octants: [u16; STATES * PATHS],
}

const fn tables() -> Tables {
    let (number, found) = reachable();
    let mut tables = Tables { digits: [0; STATES * PATHS], octants: [0; STATES * PATHS] };
    let mut state = 0;
    while state < STATES {
        let mut digits = 0;
        while digits < PATHS {
            let (first, inside) = descend(found[state], digits as u32 >> 6);
            let (second, inside) = descend(inside, digits as u32 >> 3 & 7);
            let (third, inside) = descend(inside, digits as u32 & 7);
            let path = (first << 6 | second << 3 | third) as usize;
            let next = (number[inside as usize] as u16) << 9;
            tables.digits[state << 9 | path] = next | digits as u16;
            tables.octants[state << 9 | digits] = next | path as u16;
            digits += 1;
        }
        state += 1;
    }
    tables
}

static TABLES: Tables = tables();

/// Spreads 21 bits to every third bit.
#[inline(always)]
const fn spread(cell: u64) -> u64 {
    let mut bits = cell & 0x1f_ffff;
    bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
    bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
    bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
    bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}

/// Gathers every third bit: the inverse of [`spread`].
#[inline(always)]
const fn gather(bits: u64) -> u32 {
    let mut cell = bits & 0x1249_2492_4924_9249;
    cell = (cell | cell >> 2) & 0x10c3_0c30_c30c_30c3;
    cell = (cell | cell >> 4) & 0x100f_00f0_0f00_f00f;
    cell = (cell | cell >> 8) & 0x001f_0000_ff00_00ff;
    cell = (cell | cell >> 16) & 0x001f_0000_0000_ffff;
    (cell | cell >> 32) as u32 & 0x1f_ffff
}

/// Interleaves the coordinates: three bits (an octant) per level, highest level first (the Morton code).
#[inline(always)]
const fn octants(cell: [u32; 3]) -> u64 {
    spread(cell[0] as u64) << 2 | spread(cell[1] as u64) << 1 | spread(cell[2] as u64)
}

/// Translates 63 bits by a table.
#[inline(always)]
fn translate(table: &[u16; STATES * PATHS], bits: u64) -> u64 {
    let (mut state, mut translated) = (0, 0);
    for level in (0..7).rev() {
        let entry = table[state | (bits >> (9 * level)) as usize & 511] as usize;
        state = entry & !511;
        translated = translated << 9 | (entry as u64 & 511);
    }
    translated
}

/// Returns the key of a cell; coordinates are below 2^21.
pub fn encode(cell: [u32; 3]) -> u64 {
    translate(&TABLES.digits, octants(cell))
}

/// Returns the cell of a key below [`END`].
pub fn decode(key: u64) -> [u32; 3] {
    let octants = translate(&TABLES.octants, key);
    [gather(octants >> 2), gather(octants >> 1), gather(octants)]
}

/// Returns the cell coordinate of a position component, clamped to the box.
#[inline(always)]
fn cell_of(coordinate: f64, lower: f64, scale: f64) -> u32 {
    let cell = (coordinate - lower) * scale;
    // Comparisons instead of `max` and `min`: NaN becomes 0, and each is one instruction.
    let cell = if cell > 0.0 { cell } else { 0.0 };
    let cell = if cell < CELLS - 1.0 { cell } else { CELLS - 1.0 };
    // A saturating conversion would not vectorize.
    // SAFETY: the value is a number from 0 to 2^21 - 1.
    unsafe { cell.to_int_unchecked::<i32>() as u32 }
}

fn scales(bx: &SimulationBox) -> Vec3d {
    bx.lengths().map(|length| CELLS / length)
}

/// Returns the key of a position. Positions outside the box are clamped to its faces.
pub fn key_of(position: &Vec3d, bx: &SimulationBox) -> u64 {
    let scale = scales(bx);
    encode([0, 1, 2].map(|d| cell_of(position[d], bx.lower[d], scale[d])))
}

/// Computes the keys of many positions: [`key_of`] for each row.
///
/// # Panics
/// If the columns differ in length.
pub fn keys(bx: &SimulationBox, position: [&[f64]; 3], keys: &mut [u64]) {
    const CHUNK: usize = 4096;
    assert!(
        position.iter().all(|column| column.len() == keys.len()),
        "position columns and keys differ in length"
    );
    let level = Level::new();
    keys.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, keys)| {
        let rows = chunk * CHUNK..chunk * CHUNK + keys.len();
        let columns = position.map(|column| &column[rows.clone()]);
        dispatch!(level, simd => aligned(
            #[inline(always)]
            || keys_of_chunk(simd, bx, columns, keys),
        ));
    });
}

/// [`keys`] of a chunk. Plain loops, which the compiler vectorizes for the caller's SIMD features.
#[inline(always)]
fn keys_of_chunk<S: Simd>(_: S, bx: &SimulationBox, [x, y, z]: [&[f64]; 3], keys: &mut [u64]) {
    let (scale, lower) = (scales(bx), bx.lower);
    for (((key, x), y), z) in keys.iter_mut().zip(x).zip(y).zip(z) {
        *key = octants([
            cell_of(*x, lower.x, scale.x),
            cell_of(*y, lower.y, scale.y),
            cell_of(*z, lower.z, scale.z),
        ]);
    }
    let (blocks, rest) = keys.as_chunks_mut();
    blocks.iter_mut().for_each(translate_four);
    for key in rest {
        *key = translate(&TABLES.digits, *key);
    }
}

/// [`translate`] for four keys at once, to overlap the latency of their lookups. More would spill registers.
#[inline(always)]
fn translate_four(keys: &mut [u64; 4]) {
    let (mut state, mut translated) = ([0; 4], [0; 4]);
    for level in (0..7).rev() {
        for k in 0..4 {
            let entry = TABLES.digits[state[k] | (keys[k] >> (9 * level)) as usize & 511] as usize;
            state[k] = entry & !511;
            translated[k] = translated[k] << 9 | (entry as u64 & 511);
        }
    }
    *keys = translated;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Boundary;
    use proptest::prelude::*;

    fn unit_box() -> SimulationBox {
        SimulationBox {
            lower: Vec3d::new(-1.0, 0.0, 2.0),
            upper: Vec3d::new(1.0, 5.0, 2.5),
            boundary: [Boundary::Open; 3],
        }
    }

    /// Mostly near the box, sometimes infinite, NaN or huge.
    fn coordinate() -> impl Strategy<Value = f64> {
        let nowhere = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, -0.0];
        prop_oneof![20 => -3.0f64..6.0, 1 => prop::sample::select(nowhere.to_vec())]
    }

    fn distance(a: [u32; 3], b: [u32; 3]) -> u32 {
        (0..3).map(|d| a[d].abs_diff(b[d])).sum()
    }

    proptest! {
        #[test]
        fn cells_and_keys_are_a_bijection(cell in prop::array::uniform3(0u32..1 << LEVELS), key in 0..END) {
            prop_assert!(encode(cell) < END);
            prop_assert_eq!(decode(encode(cell)), cell);
            prop_assert_eq!(encode(decode(key)), key);
        }

        #[test]
        fn consecutive_keys_share_a_face(key in 0..END - 1) {
            prop_assert_eq!(distance(decode(key), decode(key + 1)), 1);
        }

        #[test]
        fn equal_prefixes_are_equal_octree_nodes(key in 0..END, other in 0..END, level in 0..=LEVELS) {
            let below = LEVELS - level;
            let (first, size) = (key >> (3 * below) << (3 * below), 1u64 << (3 * below));
            let inside = first + other % size;
            let (a, b) = (decode(key), decode(inside));
            for d in 0..3 {
                prop_assert_eq!(a[d] >> below, b[d] >> below);
            }
        }

        #[test]
        fn bulk_keys_are_single_keys(points in prop::collection::vec(prop::array::uniform3(coordinate()), 0..50)) {
            let columns: Vec<Vec<f64>> = (0..3).map(|d| points.iter().map(|p| p[d]).collect()).collect();
            let mut bulk = vec![0; points.len()];
            keys(&unit_box(), [&columns[0], &columns[1], &columns[2]], &mut bulk);
            for (point, key) in points.iter().zip(bulk) {
                prop_assert_eq!(key_of(&Vec3d::from(*point), &unit_box()), key);
            }
        }
    }

    #[test]
    fn the_first_three_levels_visit_every_cell_once() {
        let shift = 3 * (LEVELS - 3);
        let cells: Vec<_> = (0..512u64).map(|k| decode(k << shift).map(|c| c >> (LEVELS - 3))).collect();
        assert!(cells.windows(2).all(|pair| distance(pair[0], pair[1]) == 1));
        let mut sorted = cells;
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 512);
    }

    #[test]
    fn outside_and_infinite_positions_are_clamped() {
        let bx = unit_box();
        let key = key_of(&Vec3d::new(f64::INFINITY, f64::NEG_INFINITY, f64::NAN), &bx);
        assert_eq!(decode(key), [(1 << LEVELS) - 1, 0, 0]);
        assert_eq!(decode(key_of(&bx.upper, &bx)), [(1 << LEVELS) - 1; 3]);
        assert_eq!(decode(key_of(&bx.lower, &bx)), [0; 3]);
    }
}
