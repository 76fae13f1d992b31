//! Compression against a decoder that is written from the format, independently of the encoder.

use super::coordinates::{Code, compress};
use super::*;
use proptest::prelude::*;

/// Reads bits, the highest first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn bit(&mut self) -> u128 {
        let bit = self.bytes[self.at / 8] >> (7 - self.at % 8) & 1;
        self.at += 1;
        bit.into()
    }

    fn number(&mut self, length: u32) -> u128 {
        (0..length).fold(0, |number, _| number << 1 | self.bit())
    }

    /// A number of `length` bits, its lowest byte first, as three digits in the bases `sizes`.
    fn triple(&mut self, length: u32, sizes: [i128; 3]) -> [i64; 3] {
        let mut number = 0;
        for begin in (0..length).step_by(8) {
            number |= self.number((length - begin).min(8)) << begin;
        }
        let (number, rest) = (number as i128 / sizes[2], number as i128 % sizes[2]);
        [(number / sizes[1]) as i64, (number % sizes[1]) as i64, rest as i64]
    }
}

/// Largest whole number whose cube is at most 2^k. Three entries of the format's table are smaller.
fn width(k: usize) -> i128 {
    let smaller = [(37, 5060), (57, 524_287), (69, 8_388_607)];
    let known = smaller.iter().find(|(entry, _)| *entry == k).map(|(_, width)| *width);
    let root = (0..25).rev().fold(0i128, |root, bit| {
        let more = root | 1 << bit;
        if more.pow(3) <= 1 << k { more } else { root }
    });
    known.unwrap_or(root)
}

fn decode(code: &Code, count: usize) -> Vec<[i64; 3]> {
    let lowest = code.lowest.map(i64::from);
    let sizes = [0, 1, 2].map(|d| i128::from(i64::from(code.highest[d]) - lowest[d] + 1));
    let length = |size: i128| i128::BITS - size.leading_zeros();
    let mut bits = Bits { bytes: &code.bytes, at: 0 };
    let (mut entry, mut run) = (code.first_width, 0);
    let mut points: Vec<[i64; 3]> = Vec::new();
    while points.len() < count {
        let offset = if sizes.iter().any(|&size| size > 0xff_ffff) {
            sizes.map(|size| bits.number(length(size)) as i64)
        } else {
            bits.triple(length(sizes.iter().product()), sizes)
        };
        let mut previous = [0, 1, 2].map(|d| lowest[d] + offset[d]);
        let mut change = 0;
        if bits.bit() == 1 {
            let told = bits.number(5) as i64;
            (run, change) = (told / 3, told % 3 - 1);
        }
        let first = previous;
        for k in 0..run {
            let width = width(entry);
            let difference = bits.triple(entry as u32, [width; 3]);
            let point = [0, 1, 2].map(|d| previous[d] + difference[d] - (width / 2) as i64);
            points.push(point);
            if k == 0 {
                points.push(first);
            }
            previous = point;
        }
        if run == 0 {
            points.push(first);
        }
        entry = (entry as i64 + change) as usize;
    }
    assert!(code.bytes.len() * 8 - bits.at < 8, "{} bits are left", code.bytes.len() * 8 - bits.at);
    points
}

/// Points in clusters, so that runs begin and end, in boxes of all sizes.
fn points() -> impl Strategy<Value = Vec<[i32; 3]>> {
    let cluster = (0u32..32, 0u32..30, 1usize..14, any::<u64>());
    prop::collection::vec(cluster, 1..40).prop_map(|clusters| {
        let mut points = Vec::new();
        for (wide, narrow, count, seed) in clusters {
            let mut state = seed | 1;
            let mut next = |size: u32| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as i64 % (1 << size) - (1 << size) / 2
            };
            let center = [0; 3].map(|_| next(wide));
            for _ in 0..count {
                let point = center.map(|x| (x + next(narrow)).clamp(-1_073_741_822, 1_073_741_822) as i32);
                points.push(point);
            }
        }
        points
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn compressed_points_are_read_back(points in points()) {
        let expected: Vec<[i64; 3]> = points.iter().map(|point| point.map(i64::from)).collect();
        let code = compress(&mut points.clone());
        prop_assert_eq!(decode(&code, points.len()), expected);
    }

    #[test]
    fn coordinates_are_off_by_half_the_resolution_at_most(
        positions in prop::collection::vec(-1000.0..1000.0f64, 3..60), resolution in 1e-5..0.1f64,
    ) {
        let xtc = Xtc { resolution };
        let rounded = xtc.rounded(&positions, 0).unwrap();
        for (x, rounded) in positions.iter().zip(rounded) {
            let read = f64::from(rounded) / f64::from(xtc.precision());
            // the precision in the file is single
            prop_assert!((x - read).abs() <= 0.5 * resolution * (1.0 + 1e-6), "{} and {}", x, read);
        }
    }
}

/// Molecules of three particles take few bits: the differences within them.
#[test]
fn particles_that_lie_together_take_few_bits() {
    let water = |k: i32| {
        let center = [k * 7919 % 3000, k * 104_729 % 3000, k * 1_299_709 % 3000].map(i32::abs);
        [[0, 0, 0], [95, 30, 0], [-40, 80, 30]].map(|shift| [0, 1, 2].map(|d| center[d] + shift[d]))
    };
    let mut points: Vec<[i32; 3]> = (0..1000).flat_map(water).collect();
    let expected: Vec<[i64; 3]> = points.iter().map(|point| point.map(i64::from)).collect();
    let code = compress(&mut points);
    assert_eq!(decode(&code, 3000), expected);
    let each = code.bytes.len() as f64 / 3000.0;
    assert!(each < 4.0, "{each} bytes per particle");
}
