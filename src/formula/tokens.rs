//! Tokens of a formula, and mistakes in it.

use std::ops::Range;

/// Longest formula in bytes.
const MAX_BYTES: usize = 20_000;

/// A mistake in a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaMistake {
    /// Byte range in the formula's text.
    pub span: Range<usize>,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A number.
    Number(f64),
    /// A name of letters, digits and `_`.
    Name(String),
    /// An operator, a parenthesis, or a separator.
    Sign(char),
}

/// A token and its byte range.
pub type Spanned = (Token, Range<usize>);

/// Returns a mistake.
pub fn mistake<T>(
    span: Range<usize>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Result<T, FormulaMistake> {
    Err(FormulaMistake { span, message: message.into(), help: help.into() })
}

/// Splits a text into tokens.
pub fn tokens(text: &str) -> Result<Vec<Spanned>, FormulaMistake> {
    if text.len() > MAX_BYTES {
        return mistake(
            0..0,
            format!("the formula has {} bytes", text.len()),
            format!("at most {MAX_BYTES}"),
        );
    }
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, letter)) = rest.next() {
        let mut end = start + letter.len_utf8();
        if letter.is_whitespace() {
            continue;
        }
        if letter.is_ascii_digit() || letter == '.' {
            let mut previous = letter;
            while let Some(&(at, next)) = rest.peek() {
                let exponent_sign = matches!(next, '+' | '-') && matches!(previous, 'e' | 'E');
                if !(next.is_ascii_alphanumeric() || next == '.' || exponent_sign) {
                    break;
                }
                previous = next;
                end = at + next.len_utf8();
                rest.next();
            }
            let digits = text.get(start..end).unwrap_or_default();
            match digits.parse::<f64>() {
                Ok(value) if value.is_finite() => found.push((Token::Number(value), start..end)),
                _ => {
                    let message = format!("`{digits}` is not a number");
                    let help = "write numbers like 2, 0.5 or 1.5e-3, and products with *";
                    return mistake(start..end, message, help);
                }
            }
        } else if letter.is_alphabetic() || letter == '_' {
            while let Some(&(at, next)) = rest.peek() {
                if !(next.is_alphanumeric() || next == '_') {
                    break;
                }
                end = at + next.len_utf8();
                rest.next();
            }
            found.push((Token::Name(text.get(start..end).unwrap_or_default().into()), start..end));
        } else if letter == '*' && rest.peek().is_some_and(|(_, next)| *next == '*') {
            return mistake(start..start + 2, "`**` is not an operator of formulas", "write powers with ^");
        } else if "+-*/^(),;=".contains(letter) {
            found.push((Token::Sign(letter), start..end));
        } else {
            let help = "a formula has numbers, names, + - * / ^ ( ) and functions";
            return mistake(start..end, format!("`{letter}` has no meaning in a formula"), help);
        }
    }
    Ok(found)
}
