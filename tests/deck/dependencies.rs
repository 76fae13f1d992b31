//! Dependencies between the top-level modules: every `use` of src/ is an arrow that the table of the
//! architecture page allows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Per module the modules that it uses.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The table of docs/src/architecture.md, in its order: a module uses modules of earlier rows only.
fn table(page: &str) -> Vec<(String, BTreeSet<String>)> {
    let section = page.split("\n## Dependencies between modules").nth(1).expect("the page has the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        let mut cells = row.split('|');
        let module = cells.next().unwrap_or_default().trim().trim_matches('`').to_string();
        let uses = cells.next().unwrap_or_default().split(',').map(|name| name.trim().trim_matches('`'));
        (module, uses.filter(|name| !name.is_empty()).map(str::to_string).collect())
    })
    .collect()
}

/// The modules of this crate that a source text refers to by `crate::`, unit tests and comments left out.
fn uses(text: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: String =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for after in code.split("crate::").skip(1) {
        for name in first_names(after) {
            if name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
                found.insert(name);
            }
        }
    }
    found
}

/// The first segments of the paths that follow `crate::`: one, or those of a braced list.
fn first_names(after: &str) -> Vec<String> {
    let name =
        |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(list) = after.strip_prefix('{') else { return vec![name(after)] };
    let (mut depth, mut names, mut item) = (0, Vec::new(), String::new());
    for letter in list.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(std::mem::take(&mut item)),
            _ => {}
        }
        item.push(letter);
    }
    names.push(item);
    names.iter().map(|item| name(item.trim_start_matches(','))).collect()
}

/// The arrows of all source files below a folder; a file or folder at the top is a module.
fn arrows(folder: &Path) -> Arrows {
    let mut arrows = Arrows::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // tables and the font
            if path.extension().is_none_or(|ending| ending != "rs") {
                continue;
            }
            let below = path.strip_prefix(folder).unwrap();
            let first = below.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
            let module = first.trim_end_matches(".rs").to_string();
            // whole files of tests, the list of modules, the program
            if path.file_name().is_some_and(|name| name == "tests.rs") || module == "lib" || module == "main"
            {
                continue;
            }
            let mut used = uses(&std::fs::read_to_string(&path).unwrap());
            used.remove(&module);
            arrows.entry(module).or_default().append(&mut used);
        }
    }
    arrows
}

/// What is wrong: arrows that the table does not allow, arrows against its order, permissions that nothing
/// uses.
fn violations(table: &[(String, BTreeSet<String>)], arrows: &Arrows) -> Vec<String> {
    let mut wrong = Vec::new();
    let row = |module: &str| table.iter().position(|(name, _)| name == module);
    for (module, used) in arrows {
        let Some(place) = row(module) else {
            wrong.push(format!("`{module}` has no row"));
            continue;
        };
        let allowed = &table[place].1;
        wrong.extend(
            used.difference(allowed).map(|other| format!("`{module}` uses `{other}`: not in its row")),
        );
        wrong.extend(
            allowed
                .difference(used)
                .map(|other| format!("`{module}` does not use `{other}`: not needed in its row")),
        );
    }
    for (place, (module, allowed)) in table.iter().enumerate() {
        if !arrows.contains_key(module) {
            wrong.push(format!("`{module}` is no module"));
        }
        let upward = allowed.iter().filter(|other| row(other).is_none_or(|other| other >= place));
        wrong.extend(upward.map(|other| format!("`{module}` may use `{other}`, which has no earlier row")));
    }
    wrong
}

fn page() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/architecture.md")).unwrap()
}

fn source() -> Arrows {
    arrows(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")))
}

#[test]
fn modules_use_what_the_architecture_page_allows() {
    let wrong = violations(&table(&page()), &source());
    assert!(
        wrong.is_empty(),
        "docs/src/architecture.md, dependencies between modules:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn a_planted_arrow_is_found() {
    let table = table(&page());
    let mut planted = source();
    planted.get_mut("simd").unwrap().insert("step".into());
    assert_eq!(violations(&table, &planted), ["`simd` uses `step`: not in its row"]);
    // allowed, but against the order
    let mut wider = table.clone();
    wider.iter_mut().find(|(name, _)| name == "simd").unwrap().1.insert("step".into());
    assert_eq!(violations(&wider, &planted), ["`simd` may use `step`, which has no earlier row"]);
    // allowed, but unused
    planted.get_mut("tree").unwrap().remove("space");
    assert!(
        violations(&wider, &planted).contains(&"`tree` does not use `space`: not needed in its row".into())
    );
}

#[test]
fn paths_are_read_from_lists_and_expressions() {
    let text = "use crate::{Error, comm::Communicator, space::{Boundary, hilbert}, units};\n\
                // crate::deck in a comment\nlet x = crate::tree::Leaves::new();\n\
                #[cfg(test)]\nmod tests {\n use crate::step::Simulation;\n}\n";
    let found: Vec<String> = uses(text).into_iter().collect();
    assert_eq!(found, ["comm", "space", "tree", "units"]);
}
