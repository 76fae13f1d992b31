//! The canvas as SVG.

use std::fmt::Write;

use super::{Anchor, Canvas, Color, Shape};

/// The SVG document.
pub(super) fn svg(canvas: &Canvas) -> String {
    let (width, height) = (canvas.width, canvas.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for shape in &canvas.shapes {
        // Writing to a String cannot fail.
        let _ = shape_svg(&mut text, shape);
    }
    text.push_str("</svg>\n");
    text
}

fn shape_svg(out: &mut String, shape: &Shape) -> std::fmt::Result {
    match shape {
        Shape::Line { points, width, color, opacity, dash } => {
            write!(out, "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"", hex(*color))?;
            write!(out, " stroke-linejoin=\"round\" opacity=\"{opacity}\"")?;
            if let Some((on, off)) = dash {
                write!(out, " stroke-dasharray=\"{on} {off}\"")?;
            }
            path(out, points, |k| if k == 0 { "M" } else { "L" }, "")
        }
        Shape::Dots { points, radius, color, opacity } => {
            // One path of zero-length strokes with round caps: a tenth of the size of circles.
            write!(out, "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"", hex(*color), 2.0 * radius)?;
            write!(out, " stroke-linecap=\"round\" opacity=\"{opacity}\"")?;
            path(out, points, |_| "M", "h0")
        }
        Shape::Text { at: (x, y), text, size, color, anchor, vertical } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{}\"", hex(*color))?;
            write!(out, " text-anchor=\"{anchor}\"")?;
            if *vertical {
                write!(out, " transform=\"rotate(-90 {x:.1} {y:.1})\"")?;
            }
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            writeln!(out, ">{escaped}</text>")
        }
    }
}

/// The path's data, without points that are not finite.
fn path(
    out: &mut String,
    points: &[(f64, f64)],
    verb: fn(usize) -> &'static str,
    tail: &str,
) -> std::fmt::Result {
    out.write_str(" d=\"")?;
    for (k, (x, y)) in points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()).enumerate() {
        write!(out, "{}{x:.1} {y:.1}{tail}", verb(k))?;
    }
    out.write_str("\"/>\n")
}

fn hex([red, green, blue]: Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
