//! Pictures: a canvas of strokes, dots and text that is written as SVG and as PNG.
//!
//! Coordinates are pixels of the SVG, x to the right and y downward; the PNG has [`SCALE`] times as many in
//! each direction. The PNG's text is drawn with the strokes of a font of its own, so that pictures need no
//! font on the machine.

pub mod chart;
mod font;
mod raster;
mod vector;

use std::path::Path;

use crate::{Error, Result};

/// Pixels of the PNG per pixel of the SVG, in each direction.
pub const SCALE: f64 = 2.0;

/// A color: red, green, blue.
pub type Color = [u8; 3];

/// Black as print is: not quite.
pub const INK: Color = [34, 38, 46];
/// For grids and everything that must not compete with data.
pub const FAINT: Color = [222, 225, 230];
/// For labels that come second.
pub const GRAY: Color = [110, 116, 126];

/// Where text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The text is centered on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// What is drawn.
#[derive(Clone, Debug)]
enum Shape {
    /// A connected line; `dash` are the lengths of dash and gap.
    Line { points: Vec<(f64, f64)>, width: f64, color: Color, opacity: f64, dash: Option<(f64, f64)> },
    /// Equal filled circles.
    Dots { points: Vec<(f64, f64)>, radius: f64, color: Color, opacity: f64 },
    /// A line of text; the point is on its baseline. Vertical text reads upward.
    Text { at: (f64, f64), text: String, size: f64, color: Color, anchor: Anchor, vertical: bool },
}

/// A white canvas.
#[derive(Clone, Debug)]
pub struct Canvas {
    width: f64,
    height: f64,
    shapes: Vec<Shape>,
}

impl Canvas {
    /// An empty canvas of that many pixels.
    pub fn new(width: u32, height: u32) -> Self {
        Self { width: f64::from(width), height: f64::from(height), shapes: Vec::new() }
    }

    /// A connected line, optionally dashed (lengths of dash and gap).
    pub fn line(&mut self, points: Vec<(f64, f64)>, width: f64, color: Color, dash: Option<(f64, f64)>) {
        self.shapes.push(Shape::Line { points, width, color, opacity: 1.0, dash });
    }

    /// Equal filled circles.
    pub fn dots(&mut self, points: Vec<(f64, f64)>, radius: f64, color: Color, opacity: f64) {
        self.shapes.push(Shape::Dots { points, radius, color, opacity });
    }

    /// A line of text on a baseline.
    pub fn text(&mut self, at: (f64, f64), text: &str, size: f64, color: Color, anchor: Anchor) {
        self.shapes.push(Shape::Text { at, text: text.to_owned(), size, color, anchor, vertical: false });
    }

    /// A line of text that reads upward, its baseline's middle at the point.
    pub fn vertical_text(&mut self, at: (f64, f64), text: &str, size: f64, color: Color) {
        let anchor = Anchor::Middle;
        self.shapes.push(Shape::Text { at, text: text.to_owned(), size, color, anchor, vertical: true });
    }

    /// Write `stem.svg` and `stem.png` into `folder`, which is made if missing.
    ///
    /// # Errors
    /// The folder or a file cannot be written.
    pub fn write(&self, folder: &Path, stem: &str) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|cause| Error::file("create", folder, &cause))?;
        let path = folder.join(format!("{stem}.svg"));
        std::fs::write(&path, vector::svg(self)).map_err(|cause| Error::file("write", &path, &cause))?;
        raster::write_png(self, &folder.join(format!("{stem}.png")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut canvas = Canvas::new(40, 30);
        canvas.line(vec![(1.0, 1.0), (39.0, 29.0)], 1.0, INK, Some((3.0, 2.0)));
        canvas.dots(vec![(20.0, 15.0), (f64::NAN, 3.0)], 2.0, GRAY, 0.5);
        canvas.text((20.0, 20.0), "a < b & 10⁻²", 9.0, INK, Anchor::Middle);
        canvas.vertical_text((8.0, 15.0), "ρ", 9.0, INK);
        canvas.write(folder.path(), "picture").unwrap();
        let svg = std::fs::read_to_string(folder.path().join("picture.svg")).unwrap();
        assert!(svg.contains("a &lt; b &amp; 10⁻²") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
        let png = std::fs::read(folder.path().join("picture.png")).unwrap();
        assert_eq!(&png[..4], b"\x89PNG");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Canvas::new(10, 10).write(file.path(), "picture").unwrap_err();
        assert!(error.to_string().contains("help:"), "{error}");
    }
}
