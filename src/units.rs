//! Numbers with a unit, as written in decks: "15min", "1h 30min", "5/3".

/// What a number measures, which decides the units it may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A quantity in the code's own units, or a pure number: no unit may be written.
    Code,
    /// Time on the clock on the wall, in seconds.
    WallTime,
}

impl Dimension {
    /// The units that may be written, each with its size in the dimension's own unit.
    pub const fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Dimension::Code => &[],
            Dimension::WallTime => &[("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0)],
        }
    }
}

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum QuantityMistake {
    /// It does not start with a number, or something other than a unit follows.
    NotANumber,
    /// The unit does not exist in this dimension.
    UnknownUnit(String),
    /// The dimension has units and the text has none.
    NoUnit,
}

/// The value of a text such as "15min", "1h 30min", "2.5" or "5/3", in the dimension's own unit. The result may
/// be infinite or NaN where the text says so.
pub fn parse(text: &str, dimension: Dimension) -> Result<f64, QuantityMistake> {
    let mut rest = text.trim();
    let (mut total, mut parts) = (0.0, 0);
    while !rest.is_empty() {
        let (number, after) = leading_number(rest).ok_or(QuantityMistake::NotANumber)?;
        let after = after.trim_start();
        if let Some(denominator) = after.strip_prefix('/') {
            let (below, end) = leading_number(denominator.trim()).ok_or(QuantityMistake::NotANumber)?;
            return match (parts, end) {
                (0, "") => Ok(number / below),
                _ => Err(QuantityMistake::NotANumber),
            };
        }
        let end = after.find(|c: char| !(c.is_alphabetic() || c == '_')).unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        if unit.is_empty() {
            let only = parts == 0 && next.is_empty();
            return match (only, dimension.units().is_empty()) {
                (true, true) => Ok(number),
                (true, false) => Err(QuantityMistake::NoUnit),
                (false, _) => Err(QuantityMistake::NotANumber),
            };
        }
        let size = dimension.units().iter().find(|(name, _)| *name == unit).map(|(_, size)| size);
        total += number * size.ok_or_else(|| QuantityMistake::UnknownUnit(unit.into()))?;
        parts += 1;
        rest = next.trim_start();
    }
    if parts == 0 { Err(QuantityMistake::NotANumber) } else { Ok(total) }
}

/// The number a text starts with, and what follows it. The exponent's `e` must be followed by digits, so that a
/// unit may start with it.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let signed = |at: usize| at + usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut end = digits(signed(0));
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = signed(end + 1);
        if digits(exponent) > exponent {
            end = digits(exponent);
        }
    }
    text[..end].parse().ok().map(|number| (number, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wall_times_add_up() {
        for (text, seconds) in
            [("15min", 900.0), ("1h 30min", 5400.0), ("1h30min", 5400.0), ("2.5 d", 216000.0)]
        {
            assert_eq!(parse(text, Dimension::WallTime), Ok(seconds), "{text}");
        }
        assert_eq!(parse("15", Dimension::WallTime), Err(QuantityMistake::NoUnit));
        assert_eq!(parse("3 weeks", Dimension::WallTime), Err(QuantityMistake::UnknownUnit("weeks".into())));
        assert_eq!(parse("min", Dimension::WallTime), Err(QuantityMistake::NotANumber));
        assert_eq!(parse("", Dimension::WallTime), Err(QuantityMistake::NotANumber));
        assert_eq!(parse("1h 30", Dimension::WallTime), Err(QuantityMistake::NotANumber));
    }

    #[test]
    fn code_units_take_numbers_and_fractions_only() {
        assert_eq!(parse("5/3", Dimension::Code), Ok(5.0 / 3.0));
        assert_eq!(parse(" -2.5e-3 ", Dimension::Code), Ok(-2.5e-3));
        assert_eq!(parse("3 eV", Dimension::Code), Err(QuantityMistake::UnknownUnit("eV".into())));
        assert_eq!(
            parse("3.4 angstrom", Dimension::Code),
            Err(QuantityMistake::UnknownUnit("angstrom".into()))
        );
        assert_eq!(parse("5/3/2", Dimension::Code), Err(QuantityMistake::NotANumber));
        assert_eq!(parse("5/", Dimension::Code), Err(QuantityMistake::NotANumber));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = (parse(&text, Dimension::Code), parse(&text, Dimension::WallTime));
        }

        #[test]
        fn numbers_survive_being_written(number in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            prop_assert_eq!(parse(&format!("{number:e}"), Dimension::Code), Ok(number));
        }
    }
}
