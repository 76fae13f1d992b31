//! The canvas as PNG. Everything is made of capsules (segments with round caps), whose coverage of a pixel
//! follows from the distance of its centre: smooth edges without oversampling.

use std::path::Path;

use plotters::backend::{BitMapBackend, DrawingBackend};

use super::{Anchor, Canvas, Color, SCALE, Shape, font};
use crate::{Error, Result};

/// An image of three bytes a pixel, and the coverage of the shape that is being drawn.
struct Raster {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
    coverage: Vec<f32>,
}

/// Draw the canvas and write it to `path`.
pub(super) fn write_png(canvas: &Canvas, path: &Path) -> Result<()> {
    let raster = draw(canvas);
    let size = (raster.width as u32, raster.height as u32);
    let mut file = BitMapBackend::new(path, size);
    file.blit_bitmap((0, 0), size, &raster.pixels).and_then(|()| file.present()).map_err(|cause| {
        Error::File {
            action: "write",
            path: path.to_owned(),
            cause: cause.to_string(),
            remedy: "check that the folder may be written to and that the disk has space".into(),
        }
    })
}

fn draw(canvas: &Canvas) -> Raster {
    let (width, height) = ((canvas.width * SCALE) as usize, (canvas.height * SCALE) as usize);
    let mut raster =
        Raster { width, height, pixels: vec![255; 3 * width * height], coverage: vec![0.0; width * height] };
    for shape in &canvas.shapes {
        match shape {
            Shape::Line { points, width, color, opacity, dash } => {
                for piece in dash.map_or_else(|| vec![points.clone()], |dash| dashes(points, dash)) {
                    raster.stroke(
                        piece.windows(2).map(|ends| (ends[0], ends[1])),
                        0.5 * width,
                        *color,
                        *opacity,
                    );
                }
            }
            Shape::Dots { points, radius, color, opacity } => {
                // Each dot by itself, so that crowded ones add up.
                for &point in points {
                    raster.stroke(std::iter::once((point, point)), *radius, *color, *opacity);
                }
            }
            Shape::Text { at, text, size, color, anchor, vertical } => {
                let shift = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => -0.5 * font::width(text, *size),
                    Anchor::End => -font::width(text, *size),
                };
                let place = |(x, y): (f64, f64)| {
                    if *vertical { (at.0 - y, at.1 - x - shift) } else { (at.0 + x + shift, at.1 - y) }
                };
                let segments = font::segments(text, *size).into_iter().map(|(a, b)| (place(a), place(b)));
                raster.stroke(segments, 0.042 * size, *color, 1.0);
            }
        }
    }
    raster
}

impl Raster {
    /// Blend the union of the capsules of that radius (canvas pixels) about `segments`.
    fn stroke(
        &mut self,
        segments: impl Iterator<Item = ((f64, f64), (f64, f64))>,
        radius: f64,
        color: Color,
        opacity: f64,
    ) {
        let radius = radius * SCALE;
        let mut touched = (self.width, self.height, 0, 0);
        for ((x0, y0), (x1, y1)) in segments {
            let [x0, y0, x1, y1] = [x0, y0, x1, y1].map(|value| value * SCALE);
            if ![x0, y0, x1, y1].iter().all(|value| value.is_finite()) {
                continue;
            }
            let reach = radius + 1.0;
            let columns = clip(x0.min(x1) - reach, x0.max(x1) + reach, self.width);
            let rows = clip(y0.min(y1) - reach, y0.max(y1) + reach, self.height);
            touched.0 = touched.0.min(columns.start);
            touched.1 = touched.1.min(rows.start);
            touched.2 = touched.2.max(columns.end);
            touched.3 = touched.3.max(rows.end);
            let (dx, dy) = (x1 - x0, y1 - y0);
            let length2 = (dx * dx + dy * dy).max(1e-12);
            for row in rows {
                for column in columns.clone() {
                    let (px, py) = (column as f64 + 0.5 - x0, row as f64 + 0.5 - y0);
                    let along = ((px * dx + py * dy) / length2).clamp(0.0, 1.0);
                    let distance = (px - along * dx).hypot(py - along * dy);
                    let covered = (radius + 0.5 - distance).clamp(0.0, 1.0) as f32;
                    let cell = &mut self.coverage[row * self.width + column];
                    *cell = cell.max(covered);
                }
            }
        }
        for row in touched.1..touched.3 {
            for column in touched.0..touched.2 {
                let cell = row * self.width + column;
                let alpha = f64::from(std::mem::take(&mut self.coverage[cell])) * opacity;
                for (channel, &wanted) in color.iter().enumerate() {
                    let value = &mut self.pixels[3 * cell + channel];
                    *value = (f64::from(*value) * (1.0 - alpha) + f64::from(wanted) * alpha).round() as u8;
                }
            }
        }
    }
}

/// The whole pixels of `0..size` between two coordinates.
fn clip(from: f64, to: f64, size: usize) -> std::ops::Range<usize> {
    (from.max(0.0) as usize).min(size)..(to.ceil().max(0.0) as usize).min(size)
}

/// Cut a line into its dashes.
fn dashes(points: &[(f64, f64)], (on, off): (f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
    let (mut inked, mut left) = (true, on);
    for ends in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
        let length = (x1 - x0).hypot(y1 - y0);
        if !length.is_finite() {
            continue;
        }
        let mut at = 0.0;
        while length - at > left {
            at += left;
            let point = (x0 + (x1 - x0) * at / length, y0 + (y1 - y0) * at / length);
            if inked {
                piece.push(point);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece.push(point);
            }
            inked = !inked;
            left = if inked { on } else { off };
        }
        left -= length - at;
        if inked {
            piece.push((x1, y1));
        }
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stroke_covers_its_area() {
        let mut canvas = Canvas::new(50, 50);
        canvas.line(vec![(10.0, 25.0), (40.0, 25.0)], 4.0, [0, 0, 0], None);
        let dark: f64 =
            draw(&canvas).pixels.iter().map(|&value| f64::from(255 - value) / 255.0).sum::<f64>() / 3.0;
        // A rectangle of 30 by 4 and the two half circles at its ends, at four pixels of the PNG each.
        let wanted = (120.0 + std::f64::consts::PI * 4.0) * SCALE * SCALE;
        assert!((dark / wanted - 1.0).abs() < 0.02, "{dark} against {wanted}");
    }

    #[test]
    fn dashes_have_their_length() {
        let pieces = dashes(&[(0.0, 0.0), (7.0, 0.0), (20.0, 0.0)], (4.0, 2.0));
        let ends: Vec<_> = pieces.iter().map(|piece| (piece[0].0, piece[piece.len() - 1].0)).collect();
        assert_eq!(ends, [(0.0, 4.0), (6.0, 10.0), (12.0, 16.0), (18.0, 20.0)]);
    }
}
