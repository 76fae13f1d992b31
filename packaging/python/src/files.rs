//! Snapshots, trajectories and tables as arrays.

use std::path::PathBuf;

use hilbrium::observe::Columns;
use hilbrium::particles::{Field, Particles};
use hilbrium::snapshot::{self, Header, trajectory::Frames};
use hilbrium::space::Boundary;
use hilbrium::units::{UnitSystem, Units};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::detached;

/// The field of this name.
pub fn field_named(name: &str) -> PyResult<Field> {
    Field::named(name).ok_or_else(|| PyKeyError::new_err(format!("no field is called {name}")))
}

/// An array of rows of `width` values; of one dimension if `width` is 1.
pub fn matrix(py: Python<'_>, values: Vec<f64>, width: usize) -> PyResult<Bound<'_, PyAny>> {
    let count = values.len() / width.max(1);
    let array = PyArray1::from_vec(py, values);
    if width == 1 { Ok(array.into_any()) } else { Ok(array.reshape([count, width])?.into_any()) }
}

/// Number of components of a field.
#[pyfunction]
pub fn components(name: &str) -> PyResult<usize> {
    field_named(name).map(Field::components)
}

/// Values of a field in the order of the rows.
fn rows(particles: &Particles, field: Field) -> Vec<f64> {
    let width = field.components();
    let mut values = Vec::with_capacity(width * particles.len());
    for row in particles.owned() {
        values.extend((0..width).map(|component| particles.component(field, component)[row]));
    }
    values
}

/// Reads a snapshot: a dictionary of what its header states, `ids`, and `fields` and `units` by field name.
#[pyfunction]
pub fn read_snapshot(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let (header, particles) = detached(py, || snapshot::read_snapshot(&path))?;
    let (all, fields, units) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
    let known = units_of(&header);
    for &field in particles.fields() {
        fields.set_item(field.name(), matrix(py, rows(&particles, field), field.components())?)?;
        let unit = if field == Field::Charge {
            known.charge_name().to_owned()
        } else {
            known.name(field.dimensions())
        };
        units.set_item(field.name(), unit)?;
    }
    let Header { bx, stated, .. } = &header;
    let boundary = bx.boundary.map(|boundary| boundary == Boundary::Periodic);
    all.set_item("time", header.time)?;
    all.set_item("step", header.step)?;
    all.set_item("title", &header.title)?;
    all.set_item("box", (<[f64; 3]>::from(bx.lower), <[f64; 3]>::from(bx.upper), boundary))?;
    all.set_item("box_stated", stated.bx)?;
    all.set_item("adiabatic_index", header.adiabatic_index)?;
    all.set_item("units_cgs", header.units)?;
    all.set_item("units_stated", stated.units)?;
    all.set_item("deck", &header.deck)?;
    all.set_item("species", &header.species)?;
    all.set_item("left_out", &stated.left_out)?;
    all.set_item("notes", &stated.notes)?;
    all.set_item("ids", PyArray1::from_slice(py, &particles.id[particles.owned()]))?;
    all.set_item("fields", fields)?;
    all.set_item("units", units)?;
    Ok(all)
}

/// The units of a snapshot: molecular ones if it states these, else code units, whose sizes it may state.
fn units_of(header: &Header) -> Units {
    let molecular = Units::new(UnitSystem::Molecular);
    let same = |(one, other): (&f64, &f64)| (one / other - 1.0).abs() < 1e-4;
    if header.stated.units && header.units.iter().zip(&molecular.cgs).all(same) {
        molecular
    } else {
        Units::new(UnitSystem::Reduced)
    }
}

/// Reads a table of numbers: names, units without brackets, columns.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn read_table(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(Vec<String>, Vec<String>, Vec<Bound<'_, PyArray1<f64>>>)> {
    let Columns { names, units, values } = detached(py, || Columns::read(&path, |_| true))?;
    Ok((names, units, values.into_iter().map(|column| PyArray1::from_vec(py, column)).collect()))
}

/// An H5MD trajectory.
#[pyclass(frozen)]
pub struct Trajectory(Frames);

#[pymethods]
impl Trajectory {
    #[new]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        detached(py, || Frames::open(&path)).map(Trajectory)
    }

    /// Title of the run.
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    /// Step of each frame.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.0.steps)
    }

    /// Time of each frame.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.0.times)
    }

    /// Edges of the box of each frame.
    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix(py, self.0.edges.clone(), 3)
    }

    /// Whether each dimension is periodic.
    #[getter]
    fn periodic(&self) -> [bool; 3] {
        self.0.boundary.map(|boundary| boundary == Boundary::Periodic)
    }

    /// Ids of the particles, ascending.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.0.ids)
    }

    /// Names of the species.
    #[getter]
    fn species(&self) -> Vec<String> {
        self.0.species.clone()
    }

    /// Names of the fields, whether they change from frame to frame, and their units.
    #[getter]
    fn fields(&self) -> Vec<(&'static str, bool, &str)> {
        let fields = self.0.fields.iter().zip(&self.0.units);
        fields.map(|(&field, unit)| (field.name(), Frames::varies(field), unit.as_str())).collect()
    }

    /// Values of a field in a frame; None if the trajectory does not have it.
    fn read<'py>(&self, py: Python<'py>, name: &str, frame: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
        let field = field_named(name)?;
        let values = detached(py, || self.0.read(field, frame))?;
        values.map(|values| matrix(py, values, field.components())).transpose()
    }
}
