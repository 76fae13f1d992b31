//! Maps of particles: a quantity of a snapshot in a plane, or along the line of sight, on a raster of pixels.
//!
//! [`Map::of_snapshot`] reads the columns that a [`Request`] needs and returns a [`Map`]: the [`Raster`] of
//! values with title and labels. [`Spread`] of one or more maps chooses the [`Colors`]: scale and range of
//! the color bar. [`Map::heatmap`] is the picture. [`interpolate`] alone works on columns of any origin:
//!
//! ```no_run
//! # use hilbrium::maps::{Map, Request, Spread, extent_of};
//! # use hilbrium::report::picture::ColorMap;
//! # fn main() -> hilbrium::Result<()> {
//! # let path = std::path::Path::new("snapshot-0008.hdf5");
//! let request = Request::new(2, Some(0.0), extent_of(path, 2)?);
//! let map = Map::of_snapshot(path, &request)?;
//! let colors = Spread::of(&map).colors(None, None)?;
//! map.heatmap(&colors, ColorMap::Viridis).write(std::path::Path::new("density.png"))
//! # }
//! ```

mod band;
mod extent;
mod interpolate;
mod labels;
mod profile;
mod quantity;
mod raster;
mod snapshot;
mod spread;
#[cfg(test)]
mod tests;

pub use extent::{Extent, extent_of, joined, square};
pub use interpolate::{Samples, interpolate};
pub use labels::unit_system;
pub use quantity::{Content, Quantity};
pub use raster::{Raster, View};
pub use snapshot::{Map, Request};
pub use spread::{Colors, Spread};

/// Names of the dimensions.
pub const AXES: [&str; 3] = ["x", "y", "z"];
