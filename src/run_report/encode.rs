//! Arrays of numbers as base64, for the data of the page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

/// Bytes that are serialized as base64 text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Binary(pub Vec<u8>);

impl Binary {
    /// Unsigned 16-bit numbers, little-endian.
    pub fn of_u16(values: impl IntoIterator<Item = u16>) -> Self {
        Binary(values.into_iter().flat_map(u16::to_le_bytes).collect())
    }

    /// Single-precision numbers, little-endian.
    pub fn of_f32(values: impl IntoIterator<Item = f32>) -> Self {
        Binary(values.into_iter().flat_map(f32::to_le_bytes).collect())
    }
}

impl Serialize for Binary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

/// Maps a value between `lower` and `upper` to 0 to 65534; values outside go to the ends, values that are not
/// finite to 65535.
pub fn quantized(value: f64, lower: f64, upper: f64) -> u16 {
    if !value.is_finite() {
        return u16::MAX;
    }
    let fraction = if upper > lower { (value - lower) / (upper - lower) } else { 0.5 };
    (fraction.clamp(0.0, 1.0) * 65534.0).round() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_text_and_keep_their_place() {
        let text = |binary: &Binary| serde_json::to_string(binary).unwrap();
        assert_eq!(text(&Binary::of_u16([1, 256])), "\"AQAAAQ==\"");
        assert_eq!(text(&Binary::of_f32([1.0])), "\"AACAPw==\"");
        assert_eq!(quantized(-1.0, 0.0, 2.0), 0);
        assert_eq!(quantized(1.0, 0.0, 2.0), 32767);
        assert_eq!(quantized(3.0, 0.0, 2.0), 65534);
        assert_eq!(quantized(5.0, 5.0, 5.0), 32767);
        assert_eq!(quantized(f64::NAN, 0.0, 2.0), 65535);
    }
}
