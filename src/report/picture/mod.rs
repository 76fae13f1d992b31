//! Pictures: panels with axes, series and a legend below a title, written as SVG and as PNG.
//!
//! `plotters` draws them. Lengths are pixels of the SVG; the PNG has [`SCALE`] times as many in each
//! direction. The font is part of the program: no picture needs a font of the machine.

mod axis;
mod colors;
mod draw;
mod heatmap;

pub use axis::{Axis, Scale, axis_label, superscripts};
pub use colors::{ColorMap, NO_DATA};
pub use heatmap::Heatmap;

use std::path::Path;

use plotters::style::RGBColor;

use crate::{Error, Result};

/// Pixels of the PNG per pixel of the SVG, in each direction.
pub const SCALE: u32 = 2;

/// Colors that people with any color vision can tell apart (Okabe & Ito 2008).
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Vermilion.
pub const RED: RGBColor = RGBColor(213, 94, 0);
/// Bluish green.
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
/// Reddish purple.
pub const PURPLE: RGBColor = RGBColor(204, 121, 167);
/// Orange.
pub const ORANGE: RGBColor = RGBColor(230, 159, 0);
/// For text, and for lines that others are compared with.
pub const INK: RGBColor = RGBColor(34, 38, 46);
/// For frames and for lines that come second.
pub const GRAY: RGBColor = RGBColor(110, 116, 126);

/// How a series is drawn; lengths are in pixels.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// A line of that width, optionally dashed (lengths of dash and gap).
    Line(f64, Option<(f64, f64)>),
    /// Dots of that radius and opacity.
    Dots(f64, f64),
    /// Dots of that radius with a white rim.
    Markers(f64),
    /// The area of that opacity inside the points.
    Area(f64),
}

/// Points and how to draw them. Points outside the panel are left out; those of an area are moved to its
/// edge.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend; empty for none.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// The drawing.
    pub mark: Mark,
    /// The color.
    pub color: RGBColor,
}

/// One chart. Its legend stands in the corner with the fewest points.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, drawn in this order.
    pub series: Vec<Series>,
}

/// Panels in rows, below a title.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The title.
    pub title: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels of a row.
    pub columns: usize,
    /// Width and height of a panel.
    pub size: (u32, u32),
}

impl Picture {
    /// Writes `stem.svg` and `stem.png` into `folder`, which is made if missing.
    ///
    /// # Errors
    /// The folder or a file cannot be written.
    pub fn write(&self, folder: &Path, stem: &str) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|cause| Error::file("create", folder, &cause))?;
        for (ending, drawn) in [("svg", self.svg().map(String::into_bytes)), ("png", self.png())] {
            let path = folder.join(format!("{stem}.{ending}"));
            let written = drawn.map_err(std::io::Error::other).and_then(|drawn| std::fs::write(&path, drawn));
            written.map_err(|cause| Error::file("write", &path, &cause))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        let axis = |label: &str, scale| Axis { label: label.into(), range: (0.1, 50.0), scale };
        let points = vec![(0.1, 0.2), (3.0, f64::NAN), (20.0, 40.0), (60.0, 30.0)];
        let series = |mark| Series { name: "one".into(), points: points.clone(), mark, color: BLUE };
        let marks =
            [Mark::Area(0.3), Mark::Line(1.0, None), Mark::Line(1.5, Some((3.0, 2.0))), Mark::Dots(1.0, 0.5)];
        let panel = Panel {
            x: axis("a < b & 10⁻²", Scale::Logarithmic),
            y: axis("ρ", Scale::Linear),
            series: marks.into_iter().chain([Mark::Markers(2.0)]).map(series).collect(),
        };
        Picture { title: "title".into(), panels: vec![panel; 3], columns: 2, size: (200, 150) }
    }

    #[test]
    fn both_forms_are_written() {
        let folder = tempfile::tempdir().unwrap();
        picture().write(folder.path(), "picture").unwrap();
        let svg = std::fs::read_to_string(folder.path().join("picture.svg")).unwrap();
        assert!(svg.contains("a &lt; b &amp; 10⁻²") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
        assert!(svg.starts_with("<svg width=\"400\" height=\"344\""), "{}", &svg[..80]);
        let png = std::fs::read(folder.path().join("picture.png")).unwrap();
        assert_eq!(&png[..4], b"\x89PNG");
        // width and height of the header
        assert_eq!((&png[16..20], &png[20..24]), (&800u32.to_be_bytes()[..], &688u32.to_be_bytes()[..]));
    }

    #[test]
    fn broken_ranges_are_drawn_without_ticks() {
        let folder = tempfile::tempdir().unwrap();
        for range in [(0.0, f64::NAN), (f64::NEG_INFINITY, 1.0), (2.0, 2.0), (-1e308, 1e308)] {
            let mut picture = picture();
            (picture.panels[0].x.range, picture.panels[1].y.range) = (range, range);
            picture.write(folder.path(), "broken").unwrap();
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = picture().write(file.path(), "picture").unwrap_err();
        assert!(error.to_string().contains("help:"), "{error}");
    }
}
