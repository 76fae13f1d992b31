//! Heat maps: values on the pixels of a rectangle as colors, with axes and a color bar, as PNG.
//!
//! Each value is a square of whole pixels of the PNG. Width and height of the PNG are even, as encoders of
//! films require.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Tick;
use super::draw::{FONT, FONT_FAMILY, Outcome};
use super::{Axis, ColorMap, GRAY, INK};
use crate::{Error, Result};

/// Sides of the rectangle below which a value has several pixels of the PNG.
const LEAST_SIDE: usize = 640;
/// Sizes of text and lengths, for a rectangle with sides of this number of pixels; they grow with it.
const DESIGN_SIDE: f64 = 800.0;
const TITLE: f64 = 29.0;
const LABEL: f64 = 26.0;
const TICK: f64 = 23.0;
const TICK_LENGTH: f64 = 8.0;
const GAP: f64 = 10.0;
const MARGIN: f64 = 22.0;
const BAR: f64 = 30.0;
/// Least size of a title that would be wider than the picture, relative to others.
const LEAST_TITLE: f64 = 0.7;

/// A heat map.
#[derive(Clone, Debug)]
pub struct Heatmap<'a> {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Values row by row, the lowest row first; NaN for none.
    pub values: &'a [f64],
    /// Number of values in a row, and of rows; both positive.
    pub pixels: [usize; 2],
    /// The color bar: range and scale of the colors, and what they mean.
    pub bar: Axis,
    /// The colors.
    pub colors: ColorMap,
}

impl Heatmap<'_> {
    /// Writes the PNG.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let written = self.png().map_err(std::io::Error::other).and_then(|png| std::fs::write(path, png));
        written.map_err(|cause| Error::file("write", path, &cause))
    }

    /// Returns the file of the PNG.
    ///
    /// # Errors
    /// The text cannot be drawn.
    pub fn png(&self) -> Outcome<Vec<u8>> {
        register_font(FONT_FAMILY, FontStyle::Normal, FONT).map_err(|_| "the font cannot be read")?;
        let layout = Layout::of(self)?;
        let (width, height) = layout.size;
        let mut image = Image { bytes: vec![255; 3 * width * height], width };
        self.draw_values(&layout, &mut image);
        self.draw_bar(&layout, &mut image);
        {
            let backend = BitMapBackend::with_buffer(&mut image.bytes, (width as u32, height as u32));
            let root = backend.into_drawing_area();
            self.draw_text(&layout, &root)?;
            root.present()?;
        }
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&image.bytes)?;
        Ok(file)
    }

    fn draw_values(&self, layout: &Layout, image: &mut Image) {
        let [columns, rows] = self.pixels;
        let zoom = layout.zoom;
        for (row, values) in self.values.chunks_exact(columns.max(1)).take(rows).enumerate() {
            let top = layout.top + (rows - 1 - row) * zoom;
            for (column, value) in values.iter().enumerate() {
                let color = self.colors.color(self.bar.fraction(*value));
                image.fill(layout.left + column * zoom, top, zoom, zoom, color);
            }
        }
    }

    /// Draws the color bar, with an arrow at an end beyond which there are values.
    fn draw_bar(&self, layout: &Layout, image: &mut Image) {
        let (left, width) = (layout.bar_left, layout.length(BAR));
        for row in 0..layout.height {
            let place = 1.0 - (row as f64 + 0.5) / layout.height as f64;
            image.fill(left, layout.top + row, width, 1, self.colors.color(place));
        }
        let places = self.values.iter().map(|value| self.bar.fraction(*value));
        let (above, below) = places.fold((false, false), |(above, below), place| {
            (above || place > 1.0 + 1e-9, below || place < -1e-9)
        });
        let arrow = width / 2;
        for row in 0..arrow {
            // rows from the tip
            let (start, length) = (left + arrow - row - 1, 2 * (row + 1));
            if above {
                image.fill(start, layout.top - arrow + row - 3, length, 1, self.colors.color(1.0));
            }
            if below {
                let tip = layout.top + layout.height + arrow + 2;
                image.fill(start, tip - row, length, 1, self.colors.color(0.0));
            }
        }
    }

    fn draw_text<B: DrawingBackend<ErrorType: 'static>>(
        &self,
        layout: &Layout,
        root: &DrawingArea<B, Shift>,
    ) -> Outcome<()> {
        let line = |from: (usize, usize), to: (usize, usize)| {
            let width = layout.length(2.0).max(1) as u32;
            let at = |(x, y): (usize, usize)| (x as i32, y as i32);
            root.draw(&PathElement::new(vec![at(from), at(to)], GRAY.stroke_width(width)))
        };
        let text = |text: &str, at: (usize, usize), size: f64, pos: Pos, turned: bool| {
            let font = (FONT_FAMILY, layout.font(size)).into_font();
            let font = if turned { font.transform(FontTransform::Rotate270) } else { font };
            root.draw_text(text, &font.color(&INK).pos(pos), (at.0 as i32, at.1 as i32))
        };
        let (left, top, width, height) = (layout.left, layout.top, layout.width, layout.height);
        let (right, bottom) = (left + width, top + height);
        let frame = |left: usize, right: usize| {
            let corners = [(left - 1, top - 1), (right, top - 1), (right, bottom), (left - 1, bottom)];
            (0..4).try_for_each(|k| line(corners[k], corners[(k + 1) % 4]))
        };
        frame(left, right)?;
        frame(layout.bar_left, layout.bar_left + layout.length(BAR))?;
        let (tick, gap) = (layout.length(TICK_LENGTH), layout.length(GAP));
        // text of a bitmap stands above the center of its line
        let lowered = layout.length(0.2 * TICK);
        let place = |axis: &Axis, mark: &Tick, length: usize| {
            (axis.fraction(mark.value).clamp(0.0, 1.0) * length as f64).round() as usize
        };
        let length = |mark: &Tick| if mark.label.is_empty() { tick / 2 } else { tick };
        for mark in self.x.ticks() {
            let x = left + place(&self.x, &mark, width);
            line((x, bottom), (x, bottom + length(&mark)))?;
            let below = bottom + tick + gap / 2;
            text(&mark.label, (x, below), TICK, Pos::new(HPos::Center, VPos::Top), false)?;
        }
        for mark in self.y.ticks() {
            let y = bottom - place(&self.y, &mark, height);
            line((left - length(&mark) - 1, y), (left - 1, y))?;
            let beside = (left - tick - gap / 2, y + lowered);
            text(&mark.label, beside, TICK, Pos::new(HPos::Right, VPos::Center), false)?;
        }
        let bar_right = layout.bar_left + layout.length(BAR);
        for mark in self.bar.ticks() {
            let y = bottom - place(&self.bar, &mark, height);
            line((bar_right, y), (bar_right + length(&mark), y))?;
            let beside = (bar_right + tick + gap / 2, y + lowered);
            text(&mark.label, beside, TICK, Pos::new(HPos::Left, VPos::Center), false)?;
        }
        let middle = (left + width / 2, top + height / 2);
        let center = |vertical| Pos::new(HPos::Center, vertical);
        text(&self.x.label, (middle.0, layout.x_label), LABEL, center(VPos::Top), false)?;
        text(&self.y.label, (layout.y_label, middle.1), LABEL, center(VPos::Top), true)?;
        text(&self.bar.label, (layout.bar_label, middle.1), LABEL, center(VPos::Top), true)?;
        let start = (left, layout.length(MARGIN));
        text(&self.title, start, TITLE * layout.title, Pos::new(HPos::Left, VPos::Top), false)?;
        Ok(())
    }
}

/// Places of the parts of a picture, in pixels of the PNG.
struct Layout {
    size: (usize, usize),
    /// Pixels of the PNG per value, in each direction.
    zoom: usize,
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    bar_left: usize,
    /// Upper edge of the label, or left edge of turned labels.
    x_label: usize,
    y_label: usize,
    bar_label: usize,
    /// Size of the text of the title, relative to [`TITLE`].
    title: f64,
    /// Pixels per unit of lengths and text.
    scale: f64,
}

impl Layout {
    fn of(map: &Heatmap) -> Outcome<Self> {
        let [columns, rows] = map.pixels;
        let zoom = LEAST_SIDE.div_ceil(columns.max(rows).max(1)).max(1);
        let (width, height) = (columns * zoom, rows * zoom);
        let scale = (width.max(height) as f64 / DESIGN_SIDE).max(0.75);
        let mut layout = Self {
            size: (0, 0),
            zoom,
            left: 0,
            top: 0,
            width,
            height,
            bar_left: 0,
            x_label: 0,
            y_label: 0,
            bar_label: 0,
            title: 1.0,
            scale,
        };
        let text_width = |text: &str, size: f64| {
            let (width, _) = (FONT_FAMILY, layout.font(size)).into_font().box_size(text)?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(width as usize)
        };
        let widest = |axis: &Axis| {
            let widths =
                axis.ticks().iter().map(|tick| text_width(&tick.label, TICK)).collect::<Outcome<Vec<_>>>();
            widths.map(|widths| widths.into_iter().max().unwrap_or(0))
        };
        let (y_ticks, bar_ticks) = (widest(&map.y)?, widest(&map.bar)?);
        let title = text_width(&map.title, TITLE)?;
        let [margin, gap, tick] = [MARGIN, GAP, TICK_LENGTH].map(|length| layout.length(length));
        let [label, number, heading] = [LABEL, TICK, TITLE].map(|size| layout.length(1.15 * size));
        let beside = tick + gap / 2;
        layout.y_label = margin;
        layout.left = margin + label + gap + y_ticks + beside;
        layout.top = margin + heading + 2 * gap;
        layout.bar_left = layout.left + width + 2 * margin;
        layout.bar_label = layout.bar_left + layout.length(BAR) + beside + bar_ticks + gap;
        layout.x_label = layout.top + height + tick + gap / 2 + number + gap;
        let mut right = layout.bar_label + label + margin;
        let room = right - margin - layout.left;
        layout.title = (room as f64 / title.max(1) as f64).clamp(LEAST_TITLE, 1.0);
        right = right.max(layout.left + (layout.title * title as f64) as usize + margin);
        let bottom = layout.x_label + label + margin;
        layout.size = (right.next_multiple_of(2), bottom.next_multiple_of(2));
        Ok(layout)
    }

    fn length(&self, length: f64) -> usize {
        (length * self.scale).round() as usize
    }

    /// Size of a font with that em; `plotters` divides by about 1.2.
    fn font(&self, size: f64) -> f64 {
        1.2 * size * self.scale
    }
}

/// Pixels in rows from the top, three bytes each.
struct Image {
    bytes: Vec<u8>,
    width: usize,
}

impl Image {
    fn fill(&mut self, left: usize, top: usize, width: usize, height: usize, color: RGBColor) {
        for row in top..top + height {
            let first = 3 * (row * self.width + left);
            let pixels = self.bytes[first..first + 3 * width].chunks_exact_mut(3);
            pixels.for_each(|pixel| pixel.copy_from_slice(&[color.0, color.1, color.2]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::picture::Scale;

    fn map(values: &[f64], pixels: [usize; 2]) -> Heatmap<'_> {
        let axis = |label: &str, range, scale| Axis { label: label.into(), range, scale };
        Heatmap {
            title: "Density in the plane z = 0 at t = 0.8".into(),
            x: axis("x (code units)", (0.0, 1.0), Scale::Linear),
            y: axis("y (code units)", (0.0, 1.0), Scale::Linear),
            values,
            pixels,
            bar: axis("density (code units)", (1.0, 100.0), Scale::Logarithmic),
            colors: ColorMap::Viridis,
        }
    }

    /// Colors of the PNG, and its width.
    fn decoded(png: &[u8]) -> (Vec<[u8; 3]>, usize) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        (bytes.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(), info.width as usize)
    }

    #[test]
    fn each_value_is_a_square_of_its_color() {
        let values = [1.0, 10.0, f64::NAN, 1000.0];
        let map = map(&values, [2, 2]);
        let layout = Layout::of(&map).unwrap();
        let (pixels, width) = decoded(&map.png().unwrap());
        assert_eq!((width, pixels.len() / width), layout.size);
        assert!(width % 2 == 0 && pixels.len() / width % 2 == 0);
        let half = layout.zoom / 2;
        let at = |column: usize, row: usize| {
            pixels
                [(layout.top + row * layout.zoom + half) * width + layout.left + column * layout.zoom + half]
        };
        // the lowest row of values is the last of the picture
        let color = |value: f64| {
            let color = map.colors.color(map.bar.fraction(value));
            [color.0, color.1, color.2]
        };
        assert_eq!([at(0, 1), at(1, 1)], [color(1.0), color(10.0)]);
        assert_eq!([at(0, 0), at(1, 0)], [color(f64::NAN), color(100.0)]);
        // values above the range have an arrow
        let arrow = (layout.top - 5) * width + layout.bar_left + layout.length(BAR) / 2;
        assert_eq!(pixels[arrow], color(100.0));
    }

    #[test]
    fn narrow_maps_have_room_for_their_title() {
        let values = vec![1.0; 800];
        for pixels in [[1, 800], [800, 1], [40, 20]] {
            let map = map(&values, pixels);
            let layout = Layout::of(&map).unwrap();
            let (pixels, width) = decoded(&map.png().unwrap());
            // nothing is drawn at the edges
            let white = |k: usize| pixels[k * width] == [255; 3] && pixels[(k + 1) * width - 1] == [255; 3];
            assert!((0..layout.size.1).all(white) && layout.title >= LEAST_TITLE);
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error() {
        let error = map(&[1.0], [1, 1]).write(Path::new("/nowhere/map.png")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/map.png"), "{error}");
    }
}
