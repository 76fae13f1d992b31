//! The files of other projects in `third-party` are those that its list has.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// Paths below `third-party`, with their SHA-256.
fn files(folder: &Path, below: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            found.extend(files(&entry.path(), &format!("{name}/")));
        } else if name != "README.md" {
            let digest = Sha256::digest(std::fs::read(entry.path()).unwrap());
            found.insert(name, digest.iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    found
}

#[test]
fn every_third_party_file_is_listed_with_its_hash() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("third-party");
    let list = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let rows = list.lines().filter(|line| line.starts_with("| `"));
    let listed: BTreeMap<String, String> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            assert!(cells.len() == 8 && cells.iter().skip(1).take(6).all(|cell| !cell.is_empty()), "{row}");
            (cells[1].to_owned(), cells[6].to_owned())
        })
        .collect();
    assert!(!listed.is_empty());
    assert_eq!(listed, files(&folder, ""));
    // every project's license is there
    for name in listed.keys() {
        let project = name.split('/').next().unwrap();
        assert!(listed.contains_key(&format!("{project}/LICENSE")), "{name}");
    }
}
