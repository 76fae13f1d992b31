//! Pictures of a field on a grid: slices and projections.

use serde::Serialize;

use super::encode::Binary;

/// A field on a regular grid, for the panel of slices and projections. The page shows it with axes and a
/// color bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// Heading: "Density in the plane z = 0".
    pub title: String,
    /// Cell values, `width * height` of them, row by row from the lower end of the vertical axis. Values that
    /// are not finite are left blank. A page should have rasters of at most 512 x 512 cells: each takes 5.3
    /// bytes.
    pub values: Vec<f32>,
    /// Cells along the horizontal axis.
    pub width: usize,
    /// Cells along the vertical axis.
    pub height: usize,
    /// Ends of the horizontal and of the vertical axis: `[x_lower, x_upper, y_lower, y_upper]`.
    pub extent: [f64; 4],
    /// Names of the horizontal and of the vertical axis, with units: "x (nm)".
    pub axes: [String; 2],
    /// The quantity: "density".
    pub label: String,
    /// Its unit; empty or "1" without one.
    pub unit: String,
    /// Colors.
    pub color_map: ColorMap,
    /// Whether colors follow the logarithm; values that are not positive are then left blank.
    pub logarithmic: bool,
    /// Values of the first and the last color, which values beyond have too; `None` for the ends of the
    /// values.
    pub range: Option<[f64; 2]>,
}

/// Color maps of the page; both have monotonic lightness and can be told apart with any color vision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColorMap {
    /// Blue, green, yellow.
    Viridis,
    /// Black, red, yellow.
    Inferno,
}

/// A raster as the page reads it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RasterData<'a> {
    title: &'a str,
    width: usize,
    height: usize,
    extent: [f64; 4],
    axes: &'a [String; 2],
    label: &'a str,
    unit: &'a str,
    color_map: ColorMap,
    logarithmic: bool,
    range: Option<[f64; 2]>,
    values: Binary,
}

impl Raster {
    /// Whether sizes agree: the page can show it.
    pub fn is_valid(&self) -> bool {
        let [x0, x1, y0, y1] = self.extent;
        let cells = self.width.checked_mul(self.height);
        cells.is_some_and(|cells| cells > 0 && cells == self.values.len())
            && self.extent.iter().all(|end| end.is_finite())
            && x0 < x1
            && y0 < y1
    }

    pub(super) fn data(&self) -> RasterData<'_> {
        RasterData {
            title: &self.title,
            width: self.width,
            height: self.height,
            extent: self.extent,
            axes: &self.axes,
            label: &self.label,
            unit: &self.unit,
            color_map: self.color_map,
            logarithmic: self.logarithmic,
            range: self.range,
            values: Binary::of_f32(self.values.iter().copied()),
        }
    }
}
