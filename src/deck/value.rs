//! Converts a TOML value to the type that its key expects, or explains why it does not fit.

use super::keys::{Interval, Kind, quoted};
use super::suggest::nearest;
use crate::units::{self, Dimension, QuantityMistake, UnitSystem};
use std::ops::Range;
use toml::Spanned;
use toml::de::DeValue;

/// A value, typed by the [`Kind`] of its key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// For [`Kind::Text`] and [`Kind::Path`].
    Text(String),
    /// For [`Kind::Texts`].
    Texts(Vec<String>),
    /// For [`Kind::Flag`].
    Flag(bool),
    /// For [`Kind::Choice`].
    Choice(&'static str),
    /// For [`Kind::Choices`].
    Choices([&'static str; 3]),
    /// For [`Kind::Integer`].
    Integer(u64),
    /// For [`Kind::Integers`].
    Integers([u64; 3]),
    /// For [`Kind::Number`].
    Number(f64),
    /// For [`Kind::Numbers`].
    Numbers([f64; 3]),
}

impl Value {
    /// Formats the value as TOML.
    pub fn to_toml(&self) -> String {
        let list = |texts: Vec<String>| {
            let same = texts.iter().all(|text| *text == texts[0]);
            if same { texts[0].clone() } else { format!("[{}]", texts.join(", ")) }
        };
        match self {
            Value::Text(text) => toml::Value::String(text.clone()).to_string(),
            Value::Texts(texts) => {
                let quoted = texts.iter().map(|text| toml::Value::String(text.clone()).to_string());
                format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
            }
            Value::Flag(flag) => flag.to_string(),
            Value::Choice(name) => format!("\"{name}\""),
            Value::Choices(names) => list(names.iter().map(|name| format!("\"{name}\"")).collect()),
            Value::Integer(integer) => integer.to_string(),
            Value::Integers(integers) => list(integers.iter().map(u64::to_string).collect()),
            Value::Number(number) => format!("{number:?}"),
            Value::Numbers(numbers) => list(numbers.iter().map(|number| format!("{number:?}")).collect()),
        }
    }
}

/// Why a value was rejected: message, help and position.
#[derive(Debug)]
pub struct ValueError {
    /// The problem, as the rest of a sentence that starts with the key's name.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// Byte range of the rejected part.
    pub span: Range<usize>,
}

/// Converts `written` to `kind`; strings with units are read in the unit `system`.
pub fn convert(kind: &Kind, written: &Spanned<DeValue<'_>>, system: UnitSystem) -> Result<Value, ValueError> {
    let wrong_type = || ValueError {
        message: format!("must be {}, not {}", kind.expected(), describe(written.get_ref())),
        help: type_help(kind, written.get_ref()),
        span: written.span(),
    };
    match kind {
        Kind::Texts => texts(written, &wrong_type).map(Value::Texts),
        Kind::Text | Kind::Path => {
            let text = written.get_ref().as_str().ok_or_else(wrong_type)?;
            if matches!(kind, Kind::Path) && (text.trim().is_empty() || text.contains('\0')) {
                return Err(ValueError {
                    message: "must not be empty".into(),
                    help: "name a file or folder".into(),
                    span: written.span(),
                });
            }
            Ok(Value::Text(text.into()))
        }
        Kind::Flag => written.get_ref().as_bool().map(Value::Flag).ok_or_else(wrong_type),
        Kind::Choice(names) => choice(names, written).ok_or_else(wrong_type)?.map(Value::Choice),
        Kind::Choices(names) => {
            per_dimension(written, wrong_type, |one| choice(names, one)).map(Value::Choices)
        }
        Kind::Integer(interval) => integer(interval, written).ok_or_else(wrong_type)?.map(Value::Integer),
        Kind::Integers(interval) => {
            per_dimension(written, wrong_type, |one| integer(interval, one)).map(Value::Integers)
        }
        Kind::Number(interval, dimension) => {
            number(interval, *dimension, system, written).ok_or_else(wrong_type)?.map(Value::Number)
        }
        Kind::Numbers(interval, dimension) => {
            per_dimension(written, wrong_type, |one| number(interval, *dimension, system, one))
                .map(Value::Numbers)
        }
    }
}

/// Converts a list of strings; rejects empty strings and control characters.
fn texts(
    written: &Spanned<DeValue<'_>>,
    wrong_type: &dyn Fn() -> ValueError,
) -> Result<Vec<String>, ValueError> {
    let list = written.get_ref().as_array().ok_or_else(wrong_type)?;
    let text = |item: &Spanned<DeValue<'_>>| {
        let text = item.get_ref().as_str().ok_or_else(wrong_type)?;
        if text.trim().is_empty() || text.chars().any(char::is_control) {
            return Err(ValueError {
                message: "has an empty text, or one with control letters".into(),
                help: "write the names as they stand in the file, in quotes".into(),
                span: item.span(),
            });
        }
        Ok(text.trim().to_owned())
    };
    list.iter().map(text).collect()
}

/// Converts one value for all three dimensions, or a list of three. `one` returns `None` for a wrong type.
fn per_dimension<T: Copy>(
    written: &Spanned<DeValue<'_>>,
    wrong_type: impl Fn() -> ValueError,
    one: impl Fn(&Spanned<DeValue<'_>>) -> Option<Result<T, ValueError>>,
) -> Result<[T; 3], ValueError> {
    let Some(list) = written.get_ref().as_array() else {
        return one(written).ok_or_else(wrong_type)?.map(|value| [value; 3]);
    };
    let values = list
        .iter()
        .take(4)
        .map(|item| one(item).ok_or_else(&wrong_type)?)
        .collect::<Result<Vec<T>, ValueError>>()?;
    match values.as_slice() {
        &[x, y, z] => Ok([x, y, z]),
        _ => Err(ValueError {
            message: format!("must have three components, not {}", list.len()),
            help: "write [x, y, z], or one value for all three".into(),
            span: written.span(),
        }),
    }
}

fn choice(
    names: &'static [&'static str],
    written: &Spanned<DeValue<'_>>,
) -> Option<Result<&'static str, ValueError>> {
    let text = written.get_ref().as_str()?;
    let found = names.iter().find(|name| **name == text).copied();
    Some(found.ok_or_else(|| {
        let meant = nearest(text, names.iter().copied());
        ValueError {
            message: format!("must be one of {}, not \"{text}\"", quoted(names)),
            help: match meant {
                Some(name) => format!("did you mean \"{name}\"?"),
                None => format!("write {}", quoted(names)),
            },
            span: written.span(),
        }
    }))
}

fn integer(interval: &Interval, written: &Spanned<DeValue<'_>>) -> Option<Result<u64, ValueError>> {
    let out_of_range = |shown: &str| ValueError {
        message: format!("must be {interval}, not {shown}"),
        help: format!("give a whole number {interval}"),
        span: written.span(),
    };
    Some(match written.get_ref() {
        DeValue::Integer(digits) => match i128::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(value) if interval.contains(value as f64) => {
                u64::try_from(value).map_err(|_| out_of_range(&shortened(digits.as_str())))
            }
            _ => Err(out_of_range(&shortened(digits.as_str()))),
        },
        // TOML reads 1e5 as a float, but it is a common notation for a count
        DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
            Ok(value) if value.fract() == 0.0 && interval.contains(value) => Ok(value as u64),
            Ok(value) if value.is_finite() && value.fract() != 0.0 => return None,
            _ => Err(out_of_range(&shortened(digits.as_str()))),
        },
        _ => return None,
    })
}

fn number(
    interval: &Interval,
    dimension: Dimension,
    system: UnitSystem,
    written: &Spanned<DeValue<'_>>,
) -> Option<Result<f64, ValueError>> {
    let wrong = |message: String, help: String| ValueError { message, help, span: written.span() };
    let (value, shown) = match written.get_ref() {
        DeValue::Integer(digits) => {
            let value =
                i128::from_str_radix(digits.as_str(), digits.radix()).map_or(f64::INFINITY, |v| v as f64);
            (value, digits.to_string())
        }
        DeValue::Float(digits) => (digits.as_str().parse().unwrap_or(f64::NAN), digits.as_str().into()),
        DeValue::String(text) => match units::parse(text, dimension, system) {
            Ok(value) => (value, text.to_string()),
            Err(QuantityMistake::NotANumber) => return None,
            Err(QuantityMistake::NoUnit) => {
                let units: Vec<&str> = dimension.units(system).iter().map(|unit| unit.0).collect();
                return Some(Err(wrong(
                    format!("has no unit in \"{}\"", shortened(text)),
                    format!("add one of the units {}, or leave out the quotes", units.join(", ")),
                )));
            }
            Err(QuantityMistake::UnknownUnit(unit)) => {
                return Some(Err(wrong(
                    format!("has the unknown unit `{}`", shortened(&unit)),
                    unit_help(dimension, system),
                )));
            }
        },
        _ => return None,
    };
    if interval.contains(value) {
        return Some(Ok(value));
    }
    let problem = format!("must be {interval}, not {}", shortened(&shown));
    Some(Err(wrong(problem, format!("give a number {interval}"))))
}

fn unit_help(dimension: Dimension, system: UnitSystem) -> String {
    let units: Vec<&str> = dimension.units(system).iter().map(|unit| unit.0).collect();
    if !units.is_empty() {
        format!("the units here are {}", units.join(", "))
    } else if dimension == Dimension::Code {
        "this is a pure number: give the number alone".into()
    } else {
        "this case computes in its own units, where no unit is written: give the number alone (molecules may have \
         `system = \"molecular\"` in [units])"
            .into()
    }
}

fn type_help(kind: &Kind, written: &DeValue<'_>) -> String {
    let numeric = matches!(kind, Kind::Integer(_) | Kind::Integers(_) | Kind::Number(..) | Kind::Numbers(..));
    match written {
        DeValue::String(text) if numeric && text.trim().parse::<f64>().is_ok() => {
            "leave out the quotes".into()
        }
        DeValue::String(text) if matches!(kind, Kind::Flag) => match text.trim() {
            "true" | "yes" | "on" => "write true without quotes".into(),
            _ => "write true or false without quotes".into(),
        },
        DeValue::Table(_) => "this key takes a single value: write key = value".into(),
        _ => format!("write {}", kind.expected()),
    }
}

fn describe(written: &DeValue<'_>) -> String {
    match written {
        DeValue::String(text) => format!("the text \"{}\"", shortened(text)),
        DeValue::Integer(digits) => shortened(&digits.to_string()),
        DeValue::Float(digits) => shortened(digits.as_str()),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date or time".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

/// Cuts a text to at most 60 characters for a message.
pub fn shortened(text: &str) -> String {
    if text.chars().nth(60).is_none() {
        return text.into();
    }
    text.chars().take(57).chain("...".chars()).collect()
}
