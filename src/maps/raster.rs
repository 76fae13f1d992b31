//! The rectangle that a map shows, and the values on its pixels.

/// The rectangle of a map with its pixels, and the line of sight.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Dimension along the line of sight: 0, 1 or 2.
    pub axis: usize,
    /// Coordinate of the plane of a slice; `None` for a projection.
    pub plane: Option<f64>,
    /// Lower and upper end of the rectangle, horizontal and vertical.
    pub extent: [(f64, f64); 2],
    /// Number of pixels, horizontal and vertical.
    pub pixels: [usize; 2],
}

impl View {
    /// Dimensions of the horizontal and the vertical direction: the other two in the order x, y, z.
    pub fn directions(&self) -> [usize; 2] {
        directions(self.axis)
    }

    /// Edges of a pixel, horizontal and vertical.
    pub fn pixel(&self) -> [f64; 2] {
        [0, 1].map(|d| (self.extent[d].1 - self.extent[d].0) / self.pixels[d] as f64)
    }
}

/// The dimensions across a line of sight, in the order x, y, z.
pub(super) fn directions(axis: usize) -> [usize; 2] {
    match axis {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

/// Values at the centers of the pixels of a rectangle.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// Values row by row, the lowest row first; NaN where no particle contributes.
    pub values: Vec<f64>,
    /// Number of pixels, horizontal and vertical.
    pub pixels: [usize; 2],
    /// Lower and upper end of the rectangle, horizontal and vertical.
    pub extent: [(f64, f64); 2],
}

impl Raster {
    /// Sum of the values times the area of a pixel: the integral over the rectangle. Pixels without particles
    /// count as 0.
    pub fn integral(&self) -> f64 {
        let area: f64 =
            [0, 1].map(|d| (self.extent[d].1 - self.extent[d].0) / self.pixels[d] as f64).iter().product();
        area * self.values.iter().filter(|value| value.is_finite()).sum::<f64>()
    }

    /// The finite values in ascending order.
    pub(super) fn sorted(&self) -> Vec<f64> {
        let mut values: Vec<f64> = self.values.iter().copied().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values
    }
}
