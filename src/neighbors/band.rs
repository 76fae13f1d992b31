//! Index code of Band, Gissler and Teschner (Compressed Neighbour Lists for SPH, Computer Graphics Forum 39,
//! 2020), for comparison with the nibble code.
//!
//! Two bits select the form of each difference of adjacent indices (of the first one: to -1): 1, 2, up to 256
//! (one byte with the difference minus one), or more (four bytes, little endian, minus one). The two-bit
//! forms of all differences come first, four per byte from the lowest bits, then the bytes.

use super::Malformed;

/// Appends the code of strictly increasing indices below `u32::MAX`.
pub fn encode(indices: &[u32], out: &mut Vec<u8>) {
    let kinds = out.len();
    out.resize(kinds + indices.len().div_ceil(4), 0);
    let mut next = 0;
    for (k, &index) in indices.iter().enumerate() {
        // Difference minus one.
        let excess = index - next;
        next = index + 1;
        let kind = match excess {
            0 => 0,
            1 => 1,
            2..=255 => {
                out.push(excess as u8);
                2
            }
            _ => {
                out.extend(excess.to_le_bytes());
                3
            }
        };
        out[kinds + k / 4] |= kind << (2 * (k % 4));
    }
}

/// Decodes `count` indices, passes them to `take` in order, and returns the number of bytes read.
///
/// # Errors
/// If the bytes are not an output of [`encode`].
pub fn decode(bytes: &[u8], count: usize, mut take: impl FnMut(u32)) -> Result<usize, Malformed> {
    let kinds = bytes.get(..count.div_ceil(4)).ok_or(Malformed::Truncated)?;
    let (mut place, mut next) = (kinds.len(), 0u32);
    for k in 0..count {
        let excess = match kinds[k / 4] >> (2 * (k % 4)) & 3 {
            kind @ (0 | 1) => u32::from(kind),
            2 => {
                let excess = u32::from(*bytes.get(place).ok_or(Malformed::Truncated)?);
                place += 1;
                if excess < 2 {
                    return Err(Malformed::Padding);
                }
                excess
            }
            _ => {
                let rest = bytes.get(place..).and_then(|rest| rest.first_chunk::<4>());
                let excess = u32::from_le_bytes(*rest.ok_or(Malformed::Truncated)?);
                place += 4;
                if excess < 256 {
                    return Err(Malformed::Padding);
                }
                excess
            }
        };
        let index = next.checked_add(excess).ok_or(Malformed::Order)?;
        next = index.checked_add(1).ok_or(Malformed::Order)?;
        take(index);
    }
    if !count.is_multiple_of(4) && kinds[count / 4] >> (2 * (count % 4)) != 0 {
        return Err(Malformed::Padding);
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Table II of Thaler and Keller: 2 bits for 1 and 2, 10 for 3 to 256, 34 beyond.
    #[test]
    fn bits_of_differences() {
        let bits = |difference: u32| {
            let indices: Vec<u32> = (1..=8).map(|k| k * difference - 1).collect();
            let mut out = Vec::new();
            encode(&indices, &mut out);
            out.len()
        };
        assert_eq!([1, 2, 3, 256, 257, 1 << 28].map(bits), [2, 2, 10, 10, 34, 34]);
    }

    proptest! {
        #[test]
        fn codes_round_trip(mut indices in prop::collection::vec(prop_oneof![0..u32::MAX, 0..500u32], 0..200)) {
            indices.sort();
            indices.dedup();
            let mut out = Vec::new();
            encode(&indices, &mut out);
            let mut back = Vec::new();
            prop_assert_eq!(decode(&out, indices.len(), |index| back.push(index)), Ok(out.len()));
            prop_assert_eq!(back, indices);
        }

        #[test]
        fn any_bytes_decode_to_an_error_or_to_their_own_code(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            count in prop_oneof![0usize..100, Just(usize::MAX)],
        ) {
            let mut indices = Vec::new();
            if let Ok(read) = decode(&bytes, count, |index| indices.push(index)) {
                let mut again = Vec::new();
                encode(&indices, &mut again);
                prop_assert_eq!(&bytes[..read], &again[..]);
            }
        }
    }
}
