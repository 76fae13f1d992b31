//! The drawing of pictures with `plotters`.

use std::error::Error;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::register_font;

use super::{Axis, GRAY, INK, Mark, Panel, Picture, SCALE, Series};

/// For grids.
const FAINT: RGBColor = RGBColor(222, 225, 230);
/// For the grid between labelled values.
const FAINTEST: RGBColor = RGBColor(241, 242, 244);
/// Height of the strip of the title.
const TITLE_STRIP: u32 = 44;
/// Space at the left and below a panel, and beside a vertical axis for its label and ticks.
const MARGIN: f64 = 8.0;
const LABEL_ROOM: f64 = 34.0;
/// Sizes of text.
const TITLE: f64 = 16.0;
const LABEL: f64 = 13.0;
const TICK: f64 = 11.5;
/// Units of the SVG's coordinates per pixel: `plotters` rounds coordinates to whole numbers.
const SVG_SCALE: u32 = 10;
/// Pixels that are drawn per pixel of the PNG, in each direction; their mean has smooth edges.
const OVERSAMPLING: u32 = 2;
pub(super) const FONT_FAMILY: &str = "sans-serif";
pub(super) static FONT: &[u8] = include_bytes!("DejaVuSans-subset.ttf");

pub(super) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

impl Picture {
    fn pixels(&self) -> (u32, u32) {
        let (columns, rows) = self.grid();
        (self.size.0 * columns as u32, self.size.1 * rows as u32 + TITLE_STRIP)
    }

    fn grid(&self) -> (usize, usize) {
        let columns = self.columns.max(1);
        (columns, self.panels.len().div_ceil(columns))
    }

    /// Returns the SVG document.
    pub(super) fn svg(&self) -> Outcome<String> {
        let (width, height) = self.pixels();
        let fine = (width * SVG_SCALE, height * SVG_SCALE);
        let mut text = String::new();
        self.draw(SVGBackend::with_string(&mut text, fine), Pen { scale: SVG_SCALE.into(), bitmap: false })?;
        let size = |(width, height)| format!("<svg width=\"{width}\" height=\"{height}\"");
        // without the default of SVG, which is a third of each dot
        let text = text.replace(" stroke=\"none\" stroke-width=\"1\"", "");
        Ok(text.replacen(&size(fine), &size((width, height)), 1))
    }

    /// Returns the file of the PNG.
    pub(super) fn png(&self) -> Outcome<Vec<u8>> {
        let (width, height) = self.pixels();
        let (width, height) = (width * SCALE, height * SCALE);
        let fine = (width * OVERSAMPLING, height * OVERSAMPLING);
        let mut pixels = vec![0; 3 * fine.0 as usize * fine.1 as usize];
        let pen = Pen { scale: f64::from(SCALE * OVERSAMPLING), bitmap: true };
        self.draw(BitMapBackend::with_buffer(&mut pixels, fine), pen)?;
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&mean_of_blocks(&pixels, fine.0 as usize))?;
        Ok(file)
    }

    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, backend: B, pen: Pen) -> Outcome<()> {
        register_font(FONT_FAMILY, FontStyle::Normal, FONT).map_err(|_| "the font cannot be read")?;
        let root = backend.into_drawing_area();
        root.fill(&WHITE)?;
        let (title, rest) = root.split_vertically(pen.length(TITLE_STRIP.into()));
        let (columns, rows) = self.grid();
        let areas = rest.split_evenly((rows, columns));
        // equal for all panels, so that they stand below each other
        let ticks = self.panels.iter().flat_map(|panel| panel.y.ticks());
        let widths =
            ticks.map(|tick| rest.estimate_text_size(&tick.label, &pen.text(TICK)).map(|size| size.0));
        let widest = widths.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(0);
        let start = (pen.length(MARGIN + LABEL_ROOM) + widest as i32, pen.length(14.0) + pen.raise(TITLE));
        title.draw_text(&self.title, &pen.text(TITLE), start)?;
        for (panel, area) in self.panels.iter().zip(&areas) {
            panel.draw(area, widest, pen)?;
        }
        Ok(root.present()?)
    }
}

/// Units of a backend.
#[derive(Clone, Copy)]
struct Pen {
    /// Its units per pixel.
    scale: f64,
    /// Whether it is a bitmap, where text stands above the center of its line.
    bitmap: bool,
}

impl Pen {
    fn length(&self, pixels: f64) -> i32 {
        (pixels * self.scale).round() as i32
    }

    fn line(&self, color: RGBColor, width: f64) -> ShapeStyle {
        color.stroke_width(self.length(width).max(1) as u32)
    }

    /// How far above the center of its line text of that size stands.
    fn raise(&self, size: f64) -> i32 {
        if self.bitmap { self.length(0.2 * size) } else { 0 }
    }

    /// Text of that size in pixels of its em; `plotters` divides by about 1.2.
    fn text(&self, size: f64) -> TextStyle<'static> {
        (FONT_FAMILY, 1.2 * size * self.scale).into_font().color(&INK)
    }

    /// The mark in a legend at the middle of a line of text.
    fn sample<B: DrawingBackend>(
        &self,
        mark: Mark,
        (x, y): (i32, i32),
        color: RGBColor,
    ) -> DynElement<'static, B, (i32, i32)> {
        let y = y - self.raise(0.7 * TICK);
        match mark {
            Mark::Line(..) => self.shape(mark, vec![(x, y), (x + self.length(26.0), y)], color),
            Mark::Dots(radius, _) => {
                self.shape(Mark::Dots(radius + 1.0, 0.8), vec![(x + self.length(13.0), y)], color)
            }
            Mark::Markers(_) => self.shape(mark, vec![(x + self.length(13.0), y)], color),
            Mark::Area(_) => {
                let (right, half) = (x + self.length(26.0), self.length(4.0));
                let corners = vec![(x, y - half), (right, y - half), (right, y + half), (x, y + half)];
                self.shape(mark, corners, color)
            }
        }
    }

    /// A series of that mark along `points`: a line, an area, or one dot.
    fn shape<B: DrawingBackend, P: Clone + 'static>(
        &self,
        mark: Mark,
        points: Vec<P>,
        color: RGBColor,
    ) -> DynElement<'static, B, P> {
        match (mark, points.first()) {
            (Mark::Line(width, None), _) => PathElement::new(points, self.line(color, width)).into_dyn(),
            (Mark::Line(width, Some((dash, gap))), _) => {
                let (dash, gap) = (self.length(dash), self.length(gap));
                DashedPathElement::new(points, dash, gap, self.line(color, width)).into_dyn()
            }
            (Mark::Dots(radius, opacity), Some(point)) => {
                Circle::new(point.clone(), self.length(radius), color.mix(opacity).filled()).into_dyn()
            }
            (Mark::Markers(radius), Some(point)) => {
                Circle::new(point.clone(), self.length(radius), color.filled()).into_dyn()
            }
            (Mark::Area(opacity), Some(_)) => Polygon::new(points, color.mix(opacity).filled()).into_dyn(),
            (_, None) => PathElement::new(points, color).into_dyn(),
        }
    }
}

impl Panel {
    /// Draws the panel; its widest label on a vertical axis has that many units.
    fn draw<B: DrawingBackend<ErrorType: 'static>>(
        &self,
        area: &DrawingArea<B, Shift>,
        widest: u32,
        pen: Pen,
    ) -> Outcome<()> {
        let mut chart = ChartBuilder::on(area)
            .margin_top(pen.length(14.0))
            .margin_right(pen.length(20.0))
            .margin_bottom(pen.length(MARGIN))
            .margin_left(pen.length(MARGIN))
            .x_label_area_size(pen.length(40.0))
            .y_label_area_size(widest as i32 + pen.length(LABEL_ROOM))
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        chart
            .configure_mesh()
            .bold_line_style(pen.line(FAINT, 0.8))
            .light_line_style(pen.line(FAINTEST, 0.8))
            .axis_style(pen.line(GRAY, 1.0))
            .set_all_tick_mark_size(pen.length(4.0))
            .label_style(pen.text(TICK))
            .axis_desc_style(pen.text(LABEL))
            .y_label_offset(pen.raise(TICK))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .draw()?;
        for series in &self.series {
            self.draw_series(&mut chart, series, pen)?;
        }
        let ((left, right), (bottom, top)) = (self.x.range, self.y.range);
        let frame = [(left, bottom), (left, top), (right, top), (right, bottom), (left, bottom)];
        chart.plotting_area().draw(&PathElement::new(frame, pen.line(GRAY, 1.0)))?;
        if self.series.iter().any(|series| !series.name.is_empty()) {
            chart
                .configure_series_labels()
                .position(self.emptiest_corner())
                .margin(pen.length(8.0))
                .legend_area_size(pen.length(32.0))
                .label_font(pen.text(TICK))
                .background_style(WHITE.mix(0.7))
                .draw()?;
        }
        Ok(())
    }

    fn draw_series<'a, B: DrawingBackend<ErrorType: 'static> + 'a>(
        &self,
        chart: &mut ChartContext<'a, B, Cartesian2d<Axis, Axis>>,
        series: &Series,
        pen: Pen,
    ) -> Outcome<()> {
        let inside = |&(x, y): &(f64, f64)| self.x.contains(x) && self.y.contains(y);
        let runs = || series.points.split(|point| !inside(point));
        let dots = |radius, opacity, color| {
            let points = series.points.iter().copied().filter(inside);
            points.map(move |point| pen.shape(Mark::Dots(radius, opacity), vec![point], color))
        };
        let (mark, color) = (series.mark, series.color);
        let drawn = match mark {
            Mark::Dots(radius, opacity) => chart.draw_series(dots(radius, opacity, color))?,
            Mark::Markers(radius) => {
                chart.draw_series(dots(radius + 1.0, 1.0, WHITE))?;
                chart.draw_series(dots(radius, 1.0, color))?
            }
            Mark::Area(_) => {
                let within = |at: f64, (low, high): (f64, f64)| at.max(low).min(high);
                let points = series.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
                let points = points.map(|&(x, y)| (within(x, self.x.range), within(y, self.y.range)));
                chart.draw_series(std::iter::once(pen.shape(mark, points.collect(), color)))?
            }
            Mark::Line(width, None) if pen.bitmap => {
                // a bitmap's line of several points would have holes where it turns sharply
                chart.draw_series(dots(0.5 * width, 1.0, color))?;
                let pieces = runs().flat_map(|run| run.windows(2));
                chart.draw_series(pieces.map(|ends| pen.shape(mark, ends.to_vec(), color)))?
            }
            Mark::Line(..) => {
                let lines = runs().filter(|run| run.len() > 1);
                chart.draw_series(lines.map(|run| pen.shape(mark, run.to_vec(), color)))?
            }
        };
        if !series.name.is_empty() {
            drawn.label(&series.name).legend(move |at| pen.sample(mark, at, color));
        }
        Ok(())
    }

    /// Returns the corner in which the fewest points of all series lie.
    fn emptiest_corner(&self) -> SeriesLabelPosition {
        use SeriesLabelPosition::{LowerLeft, LowerRight, UpperLeft, UpperRight};
        let points = || self.series.iter().flat_map(|series| &series.points);
        let shares: Vec<_> = points().map(|&(x, y)| (self.x.fraction(x), self.y.fraction(y))).collect();
        let near =
            |at: f64, right: bool| if right { (0.6..=1.0).contains(&at) } else { (0.0..0.4).contains(&at) };
        let count = |right, upper| shares.iter().filter(|&&(x, y)| near(x, right) && near(y, upper)).count();
        let corners = [
            (count(true, true), UpperRight),
            (count(false, true), UpperLeft),
            (count(false, false), LowerLeft),
            (count(true, false), LowerRight),
        ];
        corners.into_iter().min_by_key(|corner| corner.0).map_or(UpperRight, |corner| corner.1)
    }
}

/// Returns the mean of each block of [`OVERSAMPLING`] by as many pixels, of an image that is `width` wide.
fn mean_of_blocks(pixels: &[u8], width: usize) -> Vec<u8> {
    let block = OVERSAMPLING as usize;
    let mut means = Vec::with_capacity(pixels.len() / (block * block));
    for rows in pixels.chunks_exact(3 * width * block) {
        for cell in 0..3 * width / block {
            let first = cell / 3 * 3 * block + cell % 3;
            let values = (0..block * block).map(|k| rows[first + k / block * 3 * width + k % block * 3]);
            let sum: usize = values.map(usize::from).sum();
            means.push(((sum + block * block / 2) / (block * block)) as u8);
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_averaged_by_channel() {
        let row = [[10, 0, 255], [20, 0, 255], [0, 1, 2], [0, 3, 4]].concat();
        assert_eq!(mean_of_blocks(&row.repeat(2), 4), [15, 0, 255, 0, 2, 3]);
    }

    #[test]
    fn the_legend_stands_in_the_emptiest_corner() {
        let axis = Axis { label: String::new(), range: (0.0, 1.0), scale: super::super::Scale::Linear };
        let corner = |points: &[(f64, f64)]| {
            let (points, mark) = (points.to_vec(), Mark::Line(1.0, None));
            let series = vec![Series { name: "one".into(), points, mark, color: INK }];
            Panel { x: axis.clone(), y: axis.clone(), series }.emptiest_corner()
        };
        assert_eq!(corner(&[]), SeriesLabelPosition::UpperRight);
        assert_eq!(corner(&[(0.9, 0.9), (f64::NAN, 0.9)]), SeriesLabelPosition::UpperLeft);
        assert_eq!(corner(&[(0.9, 0.9), (0.1, 0.9), (0.1, 0.1)]), SeriesLabelPosition::LowerRight);
    }

    #[test]
    fn the_font_has_the_signs_of_pictures() {
        let text = "aZ09µρΔ²⁻⁹·−×₀å";
        register_font(FONT_FAMILY, FontStyle::Normal, FONT).ok().unwrap();
        let width = |text: &str| (FONT_FAMILY, 100.0).into_font().box_size(text).unwrap().0;
        let missing = width("\u{10ffff}");
        assert!(text.chars().all(|sign| width(&sign.to_string()) != missing));
    }
}
