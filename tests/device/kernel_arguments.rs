//! The printed C++ twins of kernel arguments are up to date.

use hilbrium::device::arguments;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn printed_arguments_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/arguments");
    let printed = arguments::printed();
    for (name, wanted) in &printed {
        let path = folder.join(name);
        if std::env::var_os("HILBRIUM_PRINT").is_some() {
            std::fs::write(&path, wanted).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == *wanted,
            "{} is stale: run HILBRIUM_PRINT=1 cargo test --test device kernel_arguments",
            path.display()
        );
    }
    let files: BTreeSet<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "layout.cuh")
        .collect();
    let names: BTreeSet<String> = printed.into_iter().map(|(name, _)| name).collect();
    assert_eq!(files, names, "headers in kernels/arguments");
}
