//! Report of a run: one HTML page with everything that its output directory says about it.
//!
//! [`write()`] reads the directory and writes a page that opens from the disk without a network: style,
//! scripts and data are in the file. What cannot be read is listed on the page, the rest is shown. The
//! scripts of the page are in `src/run_report/page`, the charts are drawn by uPlot (`third-party/uplot`).

mod content;
mod encode;
mod fields;
mod figures;
mod folder;
mod html;
mod particle_view;
mod profiles;
mod raster;
mod refresh;
mod sample;
mod thinned;

pub use content::{Problem, Verdict};
pub use raster::{ColorMap, Raster};
pub use refresh::Refresh;
pub use sample::Samples;

use std::path::{Path, PathBuf};

use crate::{Error, Result, inputs};

/// Name of the page in the output directory.
pub const FILE_NAME: &str = "report.html";

/// What the caller knows about a run beside its files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances<'a> {
    /// Whether a run holds the lock of the directory; `None` if that cannot be told.
    pub held: Option<bool>,
    /// Seconds after which an open page loads itself again while the run goes on.
    pub reload: Option<f64>,
    /// Longest expected time (s) until the run writes the page again.
    pub interval: Option<f64>,
    /// Most particles of a snapshot that is compared with the solution of its case: all of them must fit into
    /// the memory.
    pub most_judged: u64,
    /// Most particles of a last snapshot whose density is mapped: their positions, masses and smoothing
    /// lengths must fit into the memory. None is mapped if 0.
    pub most_mapped: u64,
    /// Pictures of fields on grids beside the density of the last snapshot.
    pub rasters: &'a [Raster],
}

/// Change of the conserved energy over time.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyDrift {
    /// What the change is, with its unit if it is absolute.
    pub label: String,
    /// Times and changes.
    pub points: Vec<(f64, f64)>,
}

/// Reads the drift of the energy from the record of observables in a directory; `None` without a record of
/// energies.
pub fn energy_drift(directory: &Path) -> Option<EnergyDrift> {
    let path = folder::Folder::read(directory).ok()?.observables?;
    let table = thinned::Thinned::read(&path, "time").ok()?;
    let figure = figures::drift(&table, &figures::Axis::linear("time", ""))?;
    let label = [figure.y.label, figure.y.unit].join(" ").trim_end().to_owned();
    let series = figure.series.into_iter().next()?;
    Some(EnergyDrift { label, points: series.x.into_iter().zip(series.y).collect() })
}

/// Path of the page in a directory.
pub fn path_in(directory: &Path) -> PathBuf {
    directory.join(FILE_NAME)
}

/// Writes the page of the run in `directory` to `output`, atomically. `samples` keeps the particles of
/// snapshots that were read before. Returns what could not be read.
///
/// # Errors
/// [`Error::Usage`] if the directory has no file of a run, or `output` is one of them; [`Error::File`].
pub fn write(
    directory: &Path,
    output: &Path,
    circumstances: &Circumstances,
    samples: &mut Samples,
) -> Result<Vec<Problem>> {
    let folder = folder::Folder::read(directory)?;
    let others: Vec<&Path> = folder.inputs().collect();
    inputs::keep(&others, [output], "name another file with --output")?;
    let (maps, failure) =
        match fields::of_last_snapshot(&folder, circumstances.most_mapped, &mut samples.maps) {
            Ok(maps) => (maps, None),
            Err(error) => (Vec::new(), Some(error)),
        };
    let rasters: Vec<Raster> = maps.into_iter().chain(circumstances.rasters.iter().cloned()).collect();
    let circumstances = Circumstances { rasters: &rasters, ..*circumstances };
    let mut content = content::gather(&folder, &circumstances, samples);
    content.add_problem(failure, &folder);
    let page = html::page(&content);
    let mut name = output.as_os_str().to_owned();
    name.push(".part");
    let temporary = Path::new(&name);
    let written =
        std::fs::write(temporary, page).map_err(|cause| Error::file("write", output, &cause)).and_then(
            |()| std::fs::rename(temporary, output).map_err(|cause| Error::file("replace", output, &cause)),
        );
    if written.is_err() {
        let _ = std::fs::remove_file(temporary);
    }
    written.map(|()| content.problems)
}
