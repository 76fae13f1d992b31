//! Descriptions of deck sections: [`Section`], [`Key`], [`Kind`], [`Interval`] and [`enum@Default`], with
//! constants and constructors for tables of keys, and `choice!` for enums with names in a deck.

use crate::units::Dimension;
use std::fmt;

/// Defines an enum whose members have a name in the deck.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])+ $member:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name { $($(#[$doc])+ #[serde(rename = $text)] $member),+ }

        impl $name {
            /// The names in a deck, in the order of the members.
            pub const NAMES: &[&str] = &[$($text),+];
            /// The members.
            pub const ALL: &[Self] = &[$(Self::$member),+];

            /// Returns the name in a deck.
            pub const fn name(self) -> &'static str { Self::NAMES[self as usize] }

            /// Returns the member with that name.
            pub fn named(name: &str) -> Option<Self> {
                Self::NAMES.iter().position(|&known| known == name).map(|k| Self::ALL[k])
            }
        }
    };
}

/// Any finite number.
pub const ANY: Interval =
    Interval { lower: f64::NEG_INFINITY, lower_allowed: false, upper: f64::INFINITY, upper_allowed: false };
/// Above 0.
pub const POSITIVE: Interval = Interval { lower: 0.0, ..ANY };
/// At least 0.
pub const NOT_NEGATIVE: Interval = Interval { lower_allowed: true, ..POSITIVE };
/// Above 0, at most 1.
pub const FRACTION: Interval = Interval { upper: 1.0, upper_allowed: true, ..POSITIVE };
/// Above 0, below 1.
pub const BELOW_ONE: Interval = Interval { upper: 1.0, ..POSITIVE };
/// Above 1.
pub const ABOVE_ONE: Interval = Interval { lower: 1.0, ..ANY };

/// Largest integer: many JSON and TOML tools lose digits beyond 2^53.
pub const EXACT: f64 = 9007199254740992.0;

/// From `lower` to `upper`, both included.
pub const fn between(lower: f64, upper: f64) -> Interval {
    Interval { lower, lower_allowed: true, upper, upper_allowed: true }
}

/// A number without a unit.
pub const fn number(interval: Interval) -> Kind {
    Kind::Number(interval, Dimension::Code)
}

/// A number, or a text with a unit of the dimension.
pub const fn quantity(interval: Interval, dimension: Dimension) -> Kind {
    Kind::Number(interval, dimension)
}

/// A key without synonyms.
pub const fn key(name: &'static str, kind: Kind, default: Default, meaning: &'static str) -> Key {
    Key { name, kind, default, meaning, synonyms: &[] }
}

/// A section without the `one_of` rule.
pub const fn section(path: &'static str, meaning: &'static str, keys: &'static [Key]) -> Section {
    Section { path, meaning, one_of: false, keys }
}

/// An interval of allowed numbers.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Whether the lower end is allowed.
    pub lower_allowed: bool,
    /// Upper end, which may be infinite.
    pub upper: f64,
    /// Whether the upper end is allowed.
    pub upper_allowed: bool,
}

impl Interval {
    /// Whether the number is allowed: NaN never, infinity only as an allowed upper end.
    pub fn contains(&self, number: f64) -> bool {
        if number == f64::INFINITY {
            return self.upper == number && self.upper_allowed;
        }
        let above = if self.lower_allowed { number >= self.lower } else { number > self.lower };
        let below = if self.upper_allowed { number <= self.upper } else { number < self.upper };
        above && below && number.is_finite()
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = (self.lower > f64::NEG_INFINITY, self.upper < f64::INFINITY);
        if ends.0 {
            write!(out, "{} {}", if self.lower_allowed { "at least" } else { "greater than" }, self.lower)?;
        }
        if ends == (true, true) {
            write!(out, " and ")?;
        }
        if ends.1 {
            write!(out, "{} {}", if self.upper_allowed { "at most" } else { "less than" }, self.upper)?;
        }
        if ends == (true, false) && self.upper_allowed {
            write!(out, ", or inf")?;
        }
        if ends == (false, false) { write!(out, "that is finite") } else { Ok(()) }
    }
}

/// Type and range of a key's value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// A list of texts, none empty.
    Texts,
    /// A path, not empty.
    Path,
    /// true or false.
    Flag,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// One of these names for all dimensions, or three of them.
    Choices(&'static [&'static str]),
    /// A whole number.
    Integer(Interval),
    /// A whole number for all dimensions, or three of them.
    Integers(Interval),
    /// A number, or a text with a unit of the dimension.
    Number(Interval, Dimension),
    /// A number for all dimensions of space, or three of them, each as for `Number`.
    Numbers(Interval, Dimension),
}

impl Kind {
    /// Describes the expected value for a message.
    pub fn expected(&self) -> String {
        match self {
            Kind::Text => "a text in quotes".into(),
            Kind::Texts => "a list of texts in quotes".into(),
            Kind::Path => "a path in quotes".into(),
            Kind::Flag => "true or false".into(),
            Kind::Choice(names) => format!("one of {}", quoted(names)),
            Kind::Choices(names) => format!("one of {}, or a list of three of them", quoted(names)),
            Kind::Integer(interval) => format!("a whole number {interval}"),
            Kind::Integers(interval) => format!("a whole number {interval}, or a list of three of them"),
            Kind::Number(_, Dimension::WallTime) => {
                "a time greater than 0 such as \"15min\", \"2h\", \"90s\", or a number of seconds".into()
            }
            Kind::Number(interval, _) => format!("a number {interval}"),
            Kind::Numbers(interval, _) => format!("a number {interval}, or a list of three of them"),
        }
    }
}

/// Joins the names with commas, each in quotes.
pub fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// Default of a key.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// No default: the key is required.
    Required,
    /// This value, written as in a deck.
    Value(&'static str),
    /// No value; the text describes the effect.
    Unset(&'static str),
}

/// A key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name, or [`CHOSEN`].
    pub name: &'static str,
    /// Type and range of its value.
    pub kind: Kind,
    /// Its default.
    pub default: Default,
    /// Description, one line.
    pub meaning: &'static str,
    /// Names of the setting in other programs, for suggestions only.
    pub synonyms: &'static [&'static str],
}

impl Key {
    /// Whether it is an output interval `every_*`.
    pub fn is_interval(&self) -> bool {
        self.name.starts_with("every_")
    }

    /// Returns the key with these synonyms.
    pub const fn also(mut self, synonyms: &'static [&'static str]) -> Self {
        self.synonyms = synonyms;
        self
    }
}

/// A section: a table of the deck.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Dotted path, "" for the deck itself; `*` stands for a name chosen by the user.
    pub path: &'static str,
    /// Description, one line.
    pub meaning: &'static str,
    /// Whether exactly one interval `every_*` must be set. One from a command line option replaces that of
    /// the deck.
    pub one_of: bool,
    /// Its keys, in the order in which they are printed.
    pub keys: &'static [Key],
}

/// Name of a key whose name the user chooses: an identifier.
pub const CHOSEN: &str = "*";

impl Section {
    /// Returns the key of that name, or the one whose name the user chooses.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.named_key(name).or_else(|| self.chosen_key())
    }

    /// Returns the key of that name.
    pub fn named_key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Returns the key whose name the user chooses, if the section has one.
    pub fn chosen_key(&self) -> Option<&'static Key> {
        self.named_key(CHOSEN)
    }

    /// Returns the name for messages: `[run]`, `[species.NAME]`, or "the deck".
    pub fn title(&self) -> String {
        section_title(self.path)
    }

    /// Whether its path contains names chosen by the user.
    pub fn has_wildcard(&self) -> bool {
        self.path.contains('*')
    }

    /// Whether it is the section at `path`, where `*` matches any name.
    pub fn is_at(&self, path: &str) -> bool {
        let mut names = path.split('.');
        self.path.split('.').all(|part| names.next().is_some_and(|name| part == "*" || part == name))
            && names.next().is_none()
    }
}

/// Returns the name of the section at `path` for messages.
pub fn section_title(path: &str) -> String {
    if path.is_empty() { "the deck".into() } else { format!("[{}]", path.replace('*', "NAME")) }
}
