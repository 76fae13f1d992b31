//! Checks of libraries: MPI and its launcher, HDF5, CUDA.

use super::super::launch;
use super::Check;
use crate::device::survey;
use crate::{comm, snapshot};

pub(super) fn checks() -> Vec<Check> {
    let mut checks = vec![Check::good("hilbrium", env!("CARGO_PKG_VERSION"))];
    checks.extend(mpi());
    checks.push(hdf5());
    checks.extend(gpus());
    checks
}

fn mpi() -> Vec<Check> {
    const LAUNCHER: &str = "mpirun";
    let Some(library) = comm::library_version() else {
        return vec![Check::limited(
            "MPI",
            "this build has none: runs are one process with threads",
            "build with the default features to run on several hosts or GPUs",
        )];
    };
    let checks = vec![Check::good("MPI", library.clone())];
    let launcher = match launch::try_two_ranks() {
        Err(error) => Check::limited_by(LAUNCHER, &error, "runs of one rank work"),
        Ok(launcher) => match (version(&library), version(&launcher)) {
            (Some(of_library), Some(of_launcher)) if major(&of_library) != major(&of_launcher) => Check::bad(
                LAUNCHER,
                format!("{launcher}, but the program is linked with {of_library}"),
                "put the mpirun of the MPI library that the program was built with first in PATH",
            ),
            _ => Check::good(LAUNCHER, format!("{launcher}; it starts two processes")),
        },
    };
    [checks, vec![launcher]].concat()
}

/// The first number with dots in a text: `4.1.4` of `Open MPI v4.1.4, package: ...`.
fn version(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',').map(|word| word.trim_start_matches('v'));
    let number = |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    words.into_iter().find(number).map(str::to_owned)
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or(version)
}

fn hdf5() -> Check {
    let (version, parallel) = snapshot::library();
    let kind = if parallel { "with MPI" } else { "serial" };
    Check::good("HDF5", format!("{version}, {kind}; file locks are not used"))
}

fn gpus() -> Vec<Check> {
    const SUBJECT: &str = "GPUs";
    let survey = survey::survey();
    if survey.gpus.is_empty() {
        return vec![match survey.driver {
            None => Check::good(SUBJECT, "no CUDA driver (libcuda.so.1): runs use processors"),
            Some(driver) => Check::limited(
                SUBJECT,
                format!("CUDA's driver {driver}, but it finds no GPU"),
                "in a container, pass the GPUs on (docker run --gpus all, apptainer --nv); in a batch job, \
                 request one",
            ),
        }];
    }
    let driver = survey.driver.unwrap_or_default();
    let mut checks: Vec<Check> = survey
        .gpus
        .iter()
        .map(|gpu| Check::good(SUBJECT, format!("{gpu}, driver for CUDA {driver}")))
        .collect();
    checks.push(match survey.nvrtc {
        Ok(version) => Check::good("NVRTC", version),
        Err(error) => Check::limited_by("NVRTC", &error, "no kernel can be compiled, runs use processors"),
    });
    checks.push(match survey.kernel_cache {
        Ok(folder) => Check::good("kernel cache", folder.display().to_string()),
        Err(error) => Check::limited(
            "kernel cache",
            error.to_string().lines().next().unwrap_or_default(),
            "set HILBRIUM_KERNEL_CACHE to a writable folder: runs on GPUs fail without one",
        ),
    });
    checks.push(match survey.cufft {
        true => Check::good("cuFFT", "found"),
        false => Check::limited(
            "cuFFT",
            "not found",
            "Fourier transforms of meshes run on processors: install libcufft of the CUDA toolkit",
        ),
    });
    checks.push(match survey.nccl {
        Ok(version) => Check::good("NCCL", version),
        Err(_) if survey.gpus.len() == 1 => Check::good("NCCL", "not found, and not needed for one GPU"),
        Err(error) => Check::limited_by("NCCL", &error, "halos of GPUs go through host memory"),
    });
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_libraries_and_launchers_print() {
        assert_eq!(version("Open MPI v4.1.4, package: Debian, ident: 4.1.4").as_deref(), Some("4.1.4"));
        assert_eq!(version("mpirun (Open MPI) 5.0.7").as_deref(), Some("5.0.7"));
        assert_eq!(version("no number"), None);
        assert_eq!(major("5.0.7"), "5");
    }
}
