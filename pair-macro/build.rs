//! Looks for what the native dependencies need before their own build scripts do, which explain less. This
//! crate has no dependency that must be built first, so its script is among the first to run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["PATH", "HDF5_DIR", "LIBCLANG_PATH", "MPICC"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if env::var_os("CARGO_CFG_TARGET_OS").is_none_or(|system| system != "linux") {
        return;
    }
    if env::var_os("CARGO_FEATURE_STATIC_HDF5").is_some() {
        return check_static();
    }
    let parallel = env::var_os("CARGO_FEATURE_MPI").is_some();
    let machine = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let flavor = if parallel { "openmpi" } else { "serial" };
    let usual = format!("/usr/lib/{machine}-linux-gnu/hdf5/{flavor}");
    let hdf5 = has_hdf5(flavor);
    let needed: &[(&str, bool)] = if parallel {
        &[
            ("libopenmpi-dev openmpi-bin", has_program("mpicc") || env::var_os("MPICC").is_some()),
            ("libhdf5-openmpi-dev", hdf5 || has_header(Path::new(&usual))),
            ("libclang-dev", has_libclang()),
        ]
    } else {
        &[("libhdf5-dev", hdf5 || has_header(Path::new(&usual)))]
    };
    let missing: Vec<&str> = needed.iter().filter(|(_, there)| !there).map(|(package, _)| *package).collect();
    let packages = missing.join(" ");
    if !missing.is_empty() && parallel {
        println!(
            "cargo::error=hilbrium needs development files that are not installed: on Debian or Ubuntu run `apt-get \
             install {packages}` as root, or `make evrard`, which does so (one process without MPI: `HDF5_DIR=/usr/lib/\
             {machine}-linux-gnu/hdf5/serial cargo build --no-default-features` with libhdf5-dev)."
        );
    } else if !missing.is_empty() {
        println!(
            "cargo::error=hilbrium needs HDF5: on Debian or Ubuntu run `apt-get install {packages}` as root."
        );
    } else if !hdf5 {
        println!("cargo::error=HDF5 is not where HDF5_DIR says: set HDF5_DIR={usual} (`make` does so).");
    }
}

/// Checks what the compilation of HDF5 needs.
fn check_static() {
    if env::var_os("HDF5_DIR").is_some() {
        println!(
            "cargo::error=static-hdf5 compiles HDF5, and HDF5_DIR names an installed one: unset it, and start cargo outside of the repository, whose configuration sets it; or `make wheel`."
        );
    }
    if !has_program("cmake") {
        println!("cargo::error=static-hdf5 compiles HDF5 with cmake: `pip install cmake`, or `make wheel`.");
    }
}

fn has_program(name: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// Whether HDF5 is where its own build script will look: in `HDF5_DIR` if that is set, else where pkg-config
/// says.
fn has_hdf5(flavor: &str) -> bool {
    match env::var_os("HDF5_DIR").filter(|directory| !directory.is_empty()) {
        Some(directory) => has_header(Path::new(&directory)),
        None => ["hdf5".to_owned(), format!("hdf5-{flavor}")].iter().any(|package| {
            let known = Command::new("pkg-config").args(["--exists", package]).status();
            known.is_ok_and(|status| status.success())
        }),
    }
}

fn has_header(directory: &Path) -> bool {
    directory.join("include/hdf5.h").is_file()
}

/// Whether bindgen will find libclang, by the places it looks into.
fn has_libclang() -> bool {
    let contains = |folder: &Path| {
        std::fs::read_dir(folder).is_ok_and(|entries| {
            entries.flatten().any(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.starts_with("libclang") && name.contains(".so")
            })
        })
    };
    if env::var_os("LIBCLANG_PATH").is_some() || has_program("llvm-config") {
        return true;
    }
    let below = |parent: &str, inner: &str| -> Vec<PathBuf> {
        let folders = std::fs::read_dir(parent).into_iter().flatten().flatten();
        folders.map(|entry| entry.path().join(inner)).collect()
    };
    let places = [
        below("/usr/lib", ""),
        below("/usr/lib", "lib"),
        vec!["/usr/lib".into(), "/usr/lib64".into(), "/usr/local/lib".into()],
    ];
    places.iter().flatten().any(|place| contains(place))
}
