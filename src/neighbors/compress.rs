//! Nibble code of a sorted index list (Thaler and Keller, section II.B).
//!
//! The differences of adjacent indices (of the first one: to -1, so all are at least 1) are coded in blocks
//! of 32. A block is a sequence of nibbles, the high nibble of a byte first:
//! - a bit per difference, the first one highest, set if the difference is not 1, padded to whole nibbles;
//! - an info nibble per set bit: `v + 6` for a difference v of 2 to 9, else the number of nibbles of v minus
//!   one;
//! - the nibbles of v in the latter case, highest first.
//!
//! Blocks follow without a gap. The end of the list is padded to a whole byte.

use super::Malformed;

/// Maximum number of differences in a block.
pub const BLOCK: usize = 32;

/// Appends nibbles to bytes, high nibble first.
struct NibbleWriter<'a> {
    out: &'a mut Vec<u8>,
    half: bool,
}

impl NibbleWriter<'_> {
    #[inline(always)]
    fn push(&mut self, nibble: u32) {
        match self.out.last_mut() {
            Some(last) if self.half => *last |= nibble as u8,
            _ => self.out.push((nibble as u8) << 4),
        }
        self.half = !self.half;
    }

    /// Appends the lowest `count` nibbles of `value`, highest first.
    #[inline(always)]
    fn push_all(&mut self, value: u32, count: u32) {
        for nibble in (0..count).rev() {
            self.push(value >> (4 * nibble) & 15);
        }
    }
}

/// Number of significant nibbles, at least 1.
#[inline(always)]
fn nibbles_of(value: u32) -> u32 {
    (35 - value.leading_zeros()).max(4) / 4
}

/// Appends the code of strictly increasing indices below `u32::MAX`, in blocks of `width` (at most 32)
/// differences.
pub fn encode(indices: &[u32], width: usize, out: &mut Vec<u8>) {
    let mut next = 0;
    let differences = indices.iter().map(|&index| {
        debug_assert!(index >= next && index < u32::MAX, "indices increase and lie below 2^32 - 1");
        let difference = index - next + 1;
        next = index + 1;
        difference
    });
    encode_differences(differences, width, out);
}

/// Appends the code of positive differences.
pub fn encode_differences(differences: impl Iterator<Item = u32>, width: usize, out: &mut Vec<u8>) {
    assert!((1..=BLOCK).contains(&width), "blocks of 1 to 32 differences");
    let mut differences = differences.peekable();
    let mut writer = NibbleWriter { out, half: false };
    let mut block = [0u32; BLOCK];
    while differences.peek().is_some() {
        let mut length = 0;
        for (slot, difference) in block[..width].iter_mut().zip(&mut differences) {
            *slot = difference;
            length += 1;
        }
        let block = &block[..length];
        let mask = block.iter().enumerate().fold(0u32, |mask, (k, &v)| mask | u32::from(v != 1) << (31 - k));
        let nibbles = length.div_ceil(4) as u32;
        writer.push_all(mask >> (32 - 4 * nibbles), nibbles);
        for &v in block.iter().filter(|&&v| v != 1) {
            writer.push(if (2..=9).contains(&v) { v + 6 } else { nibbles_of(v) - 1 });
        }
        for &v in block.iter().filter(|&&v| v > 9) {
            writer.push_all(v, nibbles_of(v));
        }
    }
}

/// Reads nibbles at any position.
struct NibbleReader<'a> {
    bytes: &'a [u8],
}

impl NibbleReader<'_> {
    /// At least fifteen nibbles from `place` on, the first one highest; zeros beyond the end.
    #[inline(always)]
    fn from(&self, place: usize) -> u64 {
        let rest = self.bytes.get(place / 2..).unwrap_or_default();
        let word = match rest.first_chunk::<8>() {
            Some(chunk) => u64::from_be_bytes(*chunk),
            None => rest.iter().enumerate().fold(0, |word, (k, &b)| word | u64::from(b) << (56 - 8 * k)),
        };
        word << (4 * (place % 2))
    }

    /// The `count` (1 to 8) nibbles at `place`; `None` beyond the end.
    #[inline(always)]
    fn at(&self, place: usize, count: u32) -> Option<u32> {
        let there = place + count as usize <= 2 * self.bytes.len();
        there.then(|| (self.from(place) >> (64 - 4 * count)) as u32)
    }
}

/// Decodes `count` indices, passes them to `take` in order, and returns the number of bytes read.
///
/// # Errors
/// If the bytes are not an output of [`encode`]. The work is bounded by the bytes: an index takes at least
/// one bit.
#[inline(always)]
pub fn decode(
    bytes: &[u8],
    count: usize,
    width: usize,
    mut take: impl FnMut(u32),
) -> Result<usize, Malformed> {
    assert!((1..=BLOCK).contains(&width), "blocks of 1 to 32 differences");
    let reader = NibbleReader { bytes };
    let (mut place, mut next, mut left) = (0, 0u64, count);
    while left > 0 {
        let length = left.min(width);
        let nibbles = length.div_ceil(4);
        let mask = reader.at(place, nibbles as u32).ok_or(Malformed::Truncated)?;
        let mask = mask << (32 - 4 * nibbles as u32);
        if u64::from(mask) << length & 0xffff_ffff != 0 {
            return Err(Malformed::Padding);
        }
        let mut info_at = place + nibbles;
        place = info_at + mask.count_ones() as usize;
        if place > 2 * bytes.len() {
            return Err(Malformed::Truncated);
        }
        for begin in (0..length).step_by(8) {
            let mut infos = reader.from(info_at);
            for k in begin..length.min(begin + 8) {
                // Branch-free on the bit, which is unpredictable.
                let bit = mask >> (31 - k) & 1;
                let info = (infos >> 60) as u32;
                infos <<= 4 * bit;
                info_at += bit as usize;
                let mut difference = if bit == 1 { info.wrapping_sub(6) } else { 1 };
                if bit & u32::from(info < 8) == 1 {
                    difference = reader.at(place, info + 1).ok_or(Malformed::Truncated)?;
                    place += info as usize + 1;
                    if difference < 10 || nibbles_of(difference) != info + 1 {
                        return Err(Malformed::Padding);
                    }
                }
                next += u64::from(difference);
                if next > u64::from(u32::MAX) {
                    return Err(Malformed::Order);
                }
                take((next - 1) as u32);
            }
        }
        left -= length;
    }
    if place % 2 == 1 && reader.at(place, 1) != Some(0) {
        return Err(Malformed::Padding);
    }
    Ok(place.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nibbles(differences: &[u32], width: usize) -> String {
        let mut out = Vec::new();
        encode_differences(differences.iter().copied(), width, &mut out);
        out.iter().map(|byte| format!("{byte:02X}")).collect()
    }

    /// Table I: bit mask (six bits, padded to two nibbles), info nibbles, data nibbles.
    #[test]
    fn table_one_of_the_paper() {
        let code = |mask: u32, rest: &str| {
            let nibbles = format!("{:02X}{rest}", mask << 2);
            if nibbles.len() % 2 == 1 { nibbles + "0" } else { nibbles }
        };
        assert_eq!(nibbles(&[1, 1, 1, 1, 1, 1], 6), code(0b000000, ""));
        assert_eq!(nibbles(&[1, 2, 9, 7, 1, 1], 6), code(0b011100, "8FD"));
        assert_eq!(nibbles(&[234, 1, 1, 56789, 1, 1], 6), code(0b100100, "13EADDD5"));
    }

    /// Table II: 1 bit for 1, 5 for 2 to 9, 9 for 10 to 15, 9 + 4n for [16^n, 16^(n+1)).
    #[test]
    fn table_two_of_the_paper() {
        let bits = |v: u32| {
            let mut out = Vec::new();
            encode_differences(std::iter::repeat_n(v, 64), BLOCK, &mut out);
            out.len() * 8 / 64
        };
        assert_eq!(bits(1), 1);
        assert!((2..=9).all(|v| bits(v) == 5));
        assert!((10..=15).all(|v| bits(v) == 9));
        for n in 1..8 {
            let (first, last) = (1u32 << (4 * n), ((1u64 << (4 * n + 4)) - 1) as u32);
            assert!([first, first + 1, last].into_iter().all(|v| bits(v) == 9 + 4 * n as usize));
        }
    }

    fn sorted_indices() -> impl Strategy<Value = Vec<u32>> {
        let difference =
            prop_oneof![4 => Just(1u32), 3 => 2u32..10, 2 => 10u32..300, 1 => 300u32..20_000_000];
        prop::collection::vec(difference, 0..150).prop_map(|differences| {
            let mut at = 0u64;
            let sums = differences.into_iter().map(|d| {
                at += u64::from(d);
                at - 1
            });
            sums.take_while(|&index| index < u64::from(u32::MAX)).map(|index| index as u32).collect()
        })
    }

    proptest! {
        #[test]
        fn codes_round_trip(indices in sorted_indices(), width in 1usize..=32) {
            let mut out = vec![7];
            encode(&indices, width, &mut out);
            let mut back = Vec::new();
            let read = decode(&out[1..], indices.len(), width, |index| back.push(index));
            prop_assert_eq!(read, Ok(out.len() - 1));
            prop_assert_eq!(back, indices);
        }

        #[test]
        fn any_bytes_decode_to_an_error_or_to_their_own_code(
            bytes in prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..60),
            count in prop_oneof![0usize..300, Just(usize::MAX)],
            width in 1usize..=32,
        ) {
            let mut indices = Vec::new();
            let read = decode(&bytes, count, width, |index| indices.push(index));
            prop_assert!(indices.len() <= 8 * bytes.len());
            if let Ok(read) = read {
                let mut again = Vec::new();
                encode(&indices, width, &mut again);
                prop_assert_eq!(&bytes[..read], &again[..]);
            }
        }

        #[test]
        fn a_truncated_code_is_refused(indices in sorted_indices(), cut in any::<prop::sample::Index>()) {
            let mut out = Vec::new();
            encode(&indices, BLOCK, &mut out);
            prop_assume!(!out.is_empty());
            let kept = &out[..cut.index(out.len())];
            prop_assert_eq!(decode(kept, indices.len(), BLOCK, |_| ()), Err(Malformed::Truncated));
        }
    }

    #[test]
    fn the_largest_index_fits() {
        let mut out = Vec::new();
        encode(&[u32::MAX - 1], BLOCK, &mut out);
        let mut back = Vec::new();
        assert_eq!(decode(&out, 1, BLOCK, |index| back.push(index)), Ok(out.len()));
        assert_eq!(back, [u32::MAX - 1]);
    }
}
