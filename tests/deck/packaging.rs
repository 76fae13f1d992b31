//! Recipes of packages and containers agree with the crate: version, system packages, Rust.

use std::path::Path;

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

#[test]
fn recipes_have_the_version_of_the_crate() {
    let version = env!("CARGO_PKG_VERSION");
    for (name, line) in [
        ("CITATION.cff", format!("version: {version}\n")),
        ("packaging/spack/package.py", format!("version(\"{version}\")")),
        ("packaging/conda/meta.yaml", format!("version: \"{version}\"\n")),
        ("packaging/python/Cargo.toml", format!("version = \"{version}\"\n")),
    ] {
        assert!(text(name).contains(&line), "{name}: no `{}`", line.trim());
    }
}

/// The packages that scripts/packages installs are those that README, page and containers name.
#[test]
fn recipes_install_the_packages_that_the_build_needs() {
    let script = text("scripts/packages");
    let needed: Vec<&str> = script
        .lines()
        .filter_map(|line| line.split_once("missing+=("))
        .filter_map(|(_, rest)| rest.split(')').next())
        .filter(|name| !name.starts_with('"'))
        .collect();
    assert_eq!(needed.len(), 6, "{needed:?}");
    for name in ["README.md", "docs/src/installation.md", "packaging/Dockerfile", "packaging/hilbrium.def"] {
        let recipe = text(name);
        for package in &needed {
            assert!(recipe.contains(&format!(" {package}")), "{name} does not install {package}");
        }
    }
}

#[test]
fn recipes_ask_for_the_rust_of_the_crate() {
    let least = env!("CARGO_PKG_RUST_VERSION");
    for (name, line) in [
        ("README.md", format!("Rust {least}")),
        ("docs/src/installation.md", format!("Rust {least}")),
        ("scripts/packages", format!("Rust {least}")),
        ("packaging/Dockerfile", format!("older than {least}")),
        ("packaging/hilbrium.def", format!("older than {least}")),
        ("packaging/spack/package.py", format!("rust@{least}:")),
        ("packaging/conda/meta.yaml", format!("rust >={least}")),
        ("packaging/python/Cargo.toml", format!("rust-version = \"{least}\"")),
    ] {
        assert!(text(name).contains(&line), "{name}: no `{line}`");
    }
}
