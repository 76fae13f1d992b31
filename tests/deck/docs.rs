//! The book and the README point only at what is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages of the book, and the README.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root().join("docs/src"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// The targets of `[text](target)`.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// What mdBook makes of a heading.
fn anchor(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
            _ => None,
        })
        .collect()
}

fn has_anchor(page: &Path, wanted: &str) -> bool {
    let text = std::fs::read_to_string(page).unwrap();
    text.lines()
        .filter(|line| line.starts_with('#'))
        .any(|line| anchor(line.trim_start_matches('#')) == wanted)
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (file, heading) =
                link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            if !target.exists() || heading.is_some_and(|heading| !has_anchor(&target, heading)) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn summary_lists_every_page_once() {
    let summary = std::fs::read_to_string(root().join("docs/src/SUMMARY.md")).unwrap();
    let listed = links(&summary);
    let once: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice");
    for page in pages().iter().filter(|page| page.starts_with(root().join("docs"))) {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(name == "SUMMARY.md" || once.contains(name), "{name} is not in SUMMARY.md");
    }
}

#[test]
fn files_named_in_the_text_exist() {
    let mut missing = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for name in text.split('`').skip(1).step_by(2) {
            let ours = ["src/", "inputs/", "tests/", "pair-macro/", "scripts/", "benches/"];
            if ours.iter().any(|folder| name.starts_with(folder)) && !name.contains(['*', '<', ' ']) {
                let path = name.split("::").next().unwrap();
                if !root().join(path).exists() {
                    missing.push(format!("{}: {name}", page.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "named but not there:\n{}", missing.join("\n"));
}

/// The tables of `docs/src/deck.md` come from the program's own table of keys. UPDATE_DOCS=1 writes them.
#[test]
fn deck_reference_is_the_programs() {
    let page = root().join("docs/src/deck.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let mark = "<!-- From here on written by `UPDATE_DOCS=1 cargo test --test deck docs`. -->\n";
    let (written, tables) = text.split_once(mark).expect("the page has lost its mark");
    let current = format!("\n{}\n", hilbrium::deck::reference().trim_end());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page, format!("{written}{mark}{current}")).unwrap();
    } else {
        assert!(
            tables == current,
            "docs/src/deck.md is stale: run UPDATE_DOCS=1 cargo test --test deck docs"
        );
    }
}
