//! Prints the table of keys as the deck's Markdown reference for the book.

use super::keys::{CHOSEN, Default, Kind, SECTIONS, Section};
use crate::units::Dimension;

/// Returns every section with its keys as Markdown.
pub fn reference() -> String {
    SECTIONS.iter().map(describe).collect()
}

fn describe(section: &Section) -> String {
    let title =
        if section.path.is_empty() { "Above all sections".into() } else { format!("`{}`", section.title()) };
    let mut text = format!("## {title}\n\n{}\n\n", section.meaning);
    if section.keys.is_empty() {
        return text;
    }
    text.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for key in section.keys {
        let default = match key.default {
            Default::Required => "required".into(),
            Default::Value(value) => format!("`{value}`"),
            Default::Unset(meaning) => meaning.into(),
        };
        // a bar would end the table cell
        let meaning = key.meaning.replace('|', "\\|");
        let name = if key.name == CHOSEN { "NAME" } else { key.name };
        text.push_str(&format!("| `{name}` | {} | {default} | {meaning} |\n", values(&key.kind)));
    }
    text.push('\n');
    text
}

fn values(kind: &Kind) -> String {
    match kind {
        Kind::Choice(names) => {
            names.iter().map(|name| format!("`\"{name}\"`")).collect::<Vec<_>>().join(", ")
        }
        Kind::Number(_, dimension) | Kind::Numbers(_, dimension) if *dimension != Dimension::WallTime => {
            let name = dimension.name().map_or_else(String::new, |name| format!(" ({name})"));
            kind.expected() + &name
        }
        _ => kind.expected(),
    }
}
