//! Parameters of laws as C++ text, compiled into device kernels.

/// C++ literal of a Real that reads back as the same double.
pub fn real(value: f64) -> String {
    match value {
        _ if value.is_nan() => "Real(0.0 / 0.0)".into(),
        f64::INFINITY => "Real(1.0 / 0.0)".into(),
        f64::NEG_INFINITY => "Real(-1.0 / 0.0)".into(),
        _ => format!("Real({value:?})"),
    }
}

/// Joins initializers by commas.
pub fn list(initializers: &[String]) -> String {
    initializers.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        for value in [0.1, -1.0 / 3.0, 1e-300, 5e17, 0.0] {
            let text = real(value);
            let digits = text.strip_prefix("Real(").and_then(|text| text.strip_suffix(')')).unwrap();
            assert_eq!(digits.parse::<f64>().unwrap().to_bits(), value.to_bits());
            assert!(digits.contains('.') || digits.contains('e'), "{digits} would be a whole number in C++");
        }
    }
}
