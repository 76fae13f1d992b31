//! Chemical symbols and atomic numbers.

use mendeleev::Element;

/// The symbol of the element with an atomic number: 1 is "H". `None` for 0 and beyond the periodic table.
pub fn atomic_symbol(number: u64) -> Option<&'static str> {
    let row = usize::try_from(number.checked_sub(1)?).ok()?;
    Element::list().get(row).map(Element::symbol)
}

/// The atomic number of an element symbol in the usual case: "He" is 2. `None` for other words.
pub fn atomic_number(symbol: &str) -> Option<u64> {
    Element::list().iter().position(|element| element.symbol() == symbol).map(|row| row as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_symbols_agree() {
        for (number, symbol) in [(1, "H"), (2, "He"), (8, "O"), (18, "Ar"), (92, "U"), (118, "Og")] {
            assert_eq!((atomic_symbol(number), atomic_number(symbol)), (Some(symbol), Some(number)));
        }
        assert_eq!((atomic_symbol(0), atomic_symbol(119), atomic_symbol(u64::MAX)), (None, None, None));
        assert_eq!((atomic_number("X"), atomic_number("HE")), (None, None));
    }
}
