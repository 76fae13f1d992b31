//! The page: the template with style, scripts and data put in.

use super::content::Content;

const TEMPLATE: &str = include_str!("page/page.html");

/// Parts of the template by the name of their mark, `{{name}}`. The data is not here.
const PARTS: &[(&str, &str)] = &[
    ("uplot.css", include_str!("../../third-party/uplot/uPlot.min.css")),
    ("style.css", include_str!("page/style.css")),
    ("uplot.license", include_str!("../../third-party/uplot/LICENSE")),
    ("uplot.js", include_str!("../../third-party/uplot/uPlot.iife.min.js")),
    ("tools.js", include_str!("page/tools.js")),
    ("charts.js", include_str!("page/charts.js")),
    ("rasters.js", include_str!("page/rasters.js")),
    ("camera.js", include_str!("page/camera.js")),
    ("stage.js", include_str!("page/stage.js")),
    ("particles.js", include_str!("page/particles.js")),
    ("summary.js", include_str!("page/summary.js")),
    ("page.js", include_str!("page/page.js")),
];

/// Builds the page.
pub fn page(content: &Content) -> String {
    let data = escaped(
        &serde_json::to_string(content).unwrap_or_else(|_| unreachable!("the content is plain data")),
    );
    let mut page = String::with_capacity(data.len() + (128 << 10));
    let mut pieces = TEMPLATE.split("{{");
    page.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        match PARTS.iter().find(|(known, _)| *known == name) {
            Some((_, part)) => page.push_str(part),
            None => page.push_str(&data),
        }
        page.push_str(rest);
    }
    page
}

/// Escapes JSON for a script element: without `<` no text of a deck can end the element, and U+2028 and
/// U+2029 are line ends for old scripts. All of these occur in strings only, where the escapes mean the same.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_data() {
        let json = serde_json::to_string("</script><b>\u{2028}<!--").unwrap();
        let text = escaped(&json);
        assert!(!text.contains('<') && !text.contains('\u{2028}'), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "</script><b>\u{2028}<!--");
    }

    #[test]
    fn every_mark_of_the_template_has_its_part() {
        let marks: Vec<&str> =
            TEMPLATE.split("{{").skip(1).map(|piece| piece.split_once("}}").unwrap().0).collect();
        let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(marks.iter().filter(|mark| **mark == "data").count(), 1);
        assert!(marks.iter().all(|mark| *mark == "data" || names.contains(mark)), "{marks:?}");
        assert!(names.iter().all(|name| marks.contains(name)), "{names:?}");
        for (name, part) in PARTS.iter().filter(|(name, _)| name.ends_with(".js")) {
            assert!(!part.contains("</script"), "{name} would end its element");
        }
    }
}
