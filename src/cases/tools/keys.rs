//! Deck keys that several cases have.

use crate::sections::{Default, Key, Kind, POSITIVE, between, key, quantity};
use crate::units::Dimension;

/// Key of the total mass.
pub const MASS: Key =
    key("mass", quantity(POSITIVE, Dimension::Mass), Default::Value("1.0"), "Total mass.").also(&["m"]);

/// Key of the radius.
pub const RADIUS: Key =
    key("radius", quantity(POSITIVE, Dimension::Length), Default::Value("1.0"), "Radius.")
        .also(&["r", "scale"]);

/// Key of the number of particles along an edge of length 1; a case adds its default.
pub const fn side(default: &'static str, meaning: &'static str) -> Key {
    key("side", Kind::Integer(between(8.0, 1e4)), Default::Value(default), meaning).also(&[
        "n",
        "resolution",
        "particles",
    ])
}

/// Key of the thickness of a slab or bar.
pub const fn depth(default: &'static str) -> Key {
    key(
        "depth",
        Kind::Integer(between(4.0, 1e4)),
        Default::Value(default),
        "Thickness along the dimensions in which nothing varies, in distances of the particles.",
    )
    .also(&["thickness"])
}
