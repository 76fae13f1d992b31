//! The compiled part of the Python package `hilbrium`: sessions, snapshots, trajectories, tables. Values pass
//! as numpy arrays of doubles. The Python part gives them names in the field's words.

mod error;
mod files;
mod session;

use pyo3::prelude::*;

/// Compiled part of the package `hilbrium`; use that package.
#[pymodule]
fn _hilbrium(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // the log of runs would mix with what Python prints
    hilbrium::report::start(false);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("hdf5_version", hilbrium::snapshot::library().0)?;
    module.add_class::<session::Session>()?;
    module.add_class::<files::Trajectory>()?;
    module.add_function(wrap_pyfunction!(session::check_deck, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_snapshot, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_table, module)?)?;
    module.add_function(wrap_pyfunction!(files::components, module)?)?;
    Ok(())
}
