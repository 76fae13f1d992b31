//! A simulation that Python advances.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use hilbrium::deck::{self, Checked};
use hilbrium::particles::{Field, Particles};
use hilbrium::run::session::{SETTABLE, Session as Inner};
use hilbrium::space::Boundary;
use hilbrium::{Error, Result};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{Failure, guarded};
use crate::files::{field_named, matrix};

/// Interval at which Python's signal handlers run while a call computes.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// Number of the signal by which an interrupted run stops.
const SIGINT: usize = 2;

/// Values of fields of all particles by field name.
type Values<'py> = Vec<(String, PyReadonlyArray1<'py, f64>)>;

/// A simulation of one process. Other threads of Python wait while one of them computes.
#[pyclass(frozen)]
pub struct Session {
    /// `None` after a panic, which may have left it inconsistent.
    inner: Mutex<Option<Inner>>,
    /// The thread that computes. Signal handlers of Python run on it meanwhile.
    owner: Mutex<Option<ThreadId>>,
}

/// Locks; a panic of another thread does not matter.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mistakes of a deck as an error.
fn checked(text: &str, name: &str, overrides: &[String], given: bool) -> Result<Checked> {
    let examined = deck::examine_for_session(name, text, overrides, given);
    examined.map_err(|report| Error::Deck { report: report.to_string() })
}

/// Checks the deck `text`, called `name` in messages, and returns it with all defaults. With `given` its
/// particles are given, and it has no start.
#[pyfunction]
pub fn check_deck(
    py: Python<'_>,
    text: String,
    name: String,
    overrides: Vec<String>,
    given: bool,
) -> PyResult<String> {
    crate::error::detached(py, || checked(&text, &name, &overrides, given).map(|deck| deck.resolved))
}

/// Builds particles of given values; row k has the k-th value.
fn particles(ids: Option<Vec<u64>>, values: Vec<(Field, Vec<f64>)>) -> Result<Particles> {
    let wrong = |what: String| Err(Error::usage(what, "give one row of values for each particle"));
    let Some((_, positions)) = values.iter().find(|(field, _)| *field == Field::Position) else {
        return wrong("the start has no positions".into());
    };
    let count = positions.len() / 3;
    let fields: Vec<Field> = values.iter().map(|(field, _)| *field).collect();
    let mut particles = Particles::new(&fields, count);
    if let Some(ids) = ids {
        if ids.len() != count {
            return wrong(format!("there are {} ids and positions of {count} particles", ids.len()));
        }
        particles.id = ids;
    }
    for (field, values) in values {
        let width = field.components();
        if values.len() != width * count {
            return wrong(format!("{} has {} values for {count} particles", field.name(), values.len()));
        }
        for component in 0..width {
            let column = values.iter().skip(component).step_by(width);
            particles
                .component_mut(field, component)
                .iter_mut()
                .zip(column)
                .for_each(|(to, from)| *to = *from);
        }
    }
    Ok(particles)
}

/// Copies arrays and finds their fields.
fn copied(values: Values<'_>) -> PyResult<Vec<(Field, Vec<f64>)>> {
    let copy = |(name, values): (String, PyReadonlyArray1<'_, f64>)| {
        Ok((field_named(&name)?, values.as_array().to_vec()))
    };
    values.into_iter().map(copy).collect()
}

/// Runs Python's signal handlers at intervals, and keeps the exception that they raise.
struct Interrupts {
    last: Instant,
    raised: Option<PyErr>,
}

impl Interrupts {
    fn new() -> Self {
        Interrupts { last: Instant::now(), raised: None }
    }

    /// Whether a handler has raised an exception; on a thread without the interpreter's lock.
    fn pending(&mut self) -> bool {
        if self.raised.is_none() && self.last.elapsed() >= SIGNAL_INTERVAL {
            self.raised = Python::attach(|py| py.check_signals()).err();
            self.last = Instant::now();
        }
        self.raised.is_some()
    }

    /// Returns the exception that a handler has raised, caused by the error of the call if it has one; else
    /// the outcome of the call.
    fn or_raised<T>(self, py: Python<'_>, outcome: PyResult<T>) -> PyResult<T> {
        let Some(raised) = self.raised else { return outcome };
        if let Err(error) = outcome {
            raised.set_cause(py, Some(error));
        }
        Err(raised)
    }
}

impl Session {
    fn new(py: Python<'_>, begin: impl FnOnce() -> Result<Inner> + Send) -> PyResult<Self> {
        let inner = crate::error::detached(py, begin)?;
        Ok(Session { inner: Mutex::new(Some(inner)), owner: Mutex::new(None) })
    }

    /// Calls `work` without the interpreter's lock. A panic ends the session. Fails in a signal handler that
    /// interrupts another call on this thread, since waiting for that call would never end.
    fn call<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Inner) -> Result<T> + Send,
    ) -> PyResult<T> {
        let outcome = py.detach(|| {
            let this = thread::current().id();
            if *lock(&self.owner) == Some(this) {
                let remedy = "do not use it in signal handlers: use it after the call that they interrupt";
                return Err(Failure::Stated(Error::usage("the simulation computes now", remedy)));
            }
            let mut inner = lock(&self.inner);
            let Some(session) = inner.as_mut() else {
                let what = "an internal error has ended this simulation";
                return Err(Failure::Stated(Error::usage(what, "start a new one")));
            };
            *lock(&self.owner) = Some(this);
            let outcome = guarded(|| work(session));
            *lock(&self.owner) = None;
            if matches!(outcome, Err(Failure::Panic(_))) {
                *inner = None;
            }
            outcome
        });
        outcome.map_err(PyErr::from)
    }
}

#[pymethods]
impl Session {
    /// Starts from a deck.
    #[staticmethod]
    fn of_text(py: Python<'_>, text: String, name: String, overrides: Vec<String>) -> PyResult<Self> {
        Self::new(py, || Inner::start(&checked(&text, &name, &overrides, false)?))
    }

    /// Starts from a deck file.
    #[staticmethod]
    fn of_file(py: Python<'_>, path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        Self::new(py, || Inner::start(&deck::read_for_session(&path, &overrides)?))
    }

    /// Starts from a deck without a start, and values of particles by field name. `species` are the names
    /// that values of the field species index.
    #[staticmethod]
    fn of_particles(
        py: Python<'_>,
        text: String,
        name: String,
        overrides: Vec<String>,
        species: Vec<String>,
        ids: Option<Vec<u64>>,
        values: Values<'_>,
    ) -> PyResult<Self> {
        let values = copied(values)?;
        Self::new(py, move || {
            let deck = checked(&text, &name, &overrides, true)?;
            Inner::start_from(&deck, &species, particles(ids, values)?)
        })
    }

    /// Advances by a number of steps; returns how many were performed before an interrupt.
    fn advance(&self, py: Python<'_>, steps: u64) -> PyResult<u64> {
        let mut interrupts = Interrupts::new();
        let advanced = self.call(py, |session| session.advance(steps, || interrupts.pending()));
        interrupts.or_raised(py, advanced)
    }

    /// Runs to the end of the deck with its outputs. An interrupt stops the run after a checkpoint.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        let mut interrupts = Interrupts::new();
        let signal = AtomicUsize::new(0);
        let ended = self.call(py, |session| {
            // signal handlers run on this thread alone, so that the run has another
            thread::scope(|scope| {
                let (send, ended) = mpsc::channel();
                let signal = &signal;
                scope.spawn(move || {
                    let ended = guarded(|| session.run(&mut || signal.load(Ordering::Relaxed)));
                    let _ = send.send(ended);
                });
                loop {
                    match ended.recv_timeout(SIGNAL_INTERVAL) {
                        Ok(outcome) => return outcome.map_or_else(resume, Ok),
                        Err(mpsc::RecvTimeoutError::Timeout) if interrupts.pending() => {
                            signal.store(SIGINT, Ordering::Relaxed);
                        }
                        Err(_) => {}
                    }
                }
            })
        });
        interrupts.or_raised(py, ended.map(drop))
    }

    /// Values of a field, by ascending id; None if the particles do not have it now.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let field = field_named(name)?;
        let values = self.call(py, |session| session.values(field))?;
        values.map(|values| matrix(py, values, field.components())).transpose()
    }

    /// Sets fields of all particles, by ascending id, and evaluates the forces.
    fn set(&self, py: Python<'_>, values: Values<'_>) -> PyResult<()> {
        let values = copied(values)?;
        self.call(py, |session| session.set(&values))
    }

    /// Energies and other observables.
    fn energies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.call(py, |session| session.energies())?;
        let (all, seen) = (PyDict::new(py), &found.observed);
        for (name, value) in [
            ("kinetic", Some(seen.kinetic)),
            ("thermal", Some(seen.thermal)),
            ("potential", Some(seen.potential)),
            ("pair", found.pair),
            ("gravity", found.gravity),
            ("external", seen.external),
            ("total", Some(seen.total_energy())),
            ("heat", seen.heat),
            ("conserved", Some(seen.conserved_energy())),
            ("temperature", seen.molecular.map(|molecular| molecular.temperature)),
            ("pressure", seen.molecular.map(|molecular| molecular.pressure)),
        ] {
            if let Some(value) = value {
                all.set_item(name, value)?;
            }
        }
        Ok(all)
    }

    /// The ids, ascending.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let ids = self.call(py, |session| Ok(session.ids()))?;
        Ok(PyArray1::from_vec(py, ids))
    }

    /// Names of the fields that the particles have now.
    fn fields(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        self.call(py, |session| Ok(session.fields().iter().map(|field| field.name()).collect()))
    }

    /// Names of the fields that can be set.
    fn settable(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        self.call(py, |session| {
            let known = SETTABLE.iter().filter(|field| session.fields().contains(field));
            Ok(known.map(|field| field.name()).collect())
        })
    }

    /// Lower and upper corner of the box, and whether it is periodic, per dimension.
    #[getter(r#box)]
    fn space(&self, py: Python<'_>) -> PyResult<([f64; 3], [f64; 3], [bool; 3])> {
        self.call(py, |session| {
            let bx = session.simulation().domain.bx;
            let periodic = bx.boundary.map(|boundary| boundary == Boundary::Periodic);
            Ok((bx.lower.into(), bx.upper.into(), periodic))
        })
    }

    /// Time.
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.call(py, |session| Ok(session.simulation().time))
    }

    /// Number of steps done.
    #[getter]
    fn step(&self, py: Python<'_>) -> PyResult<u64> {
        self.call(py, |session| Ok(session.simulation().step))
    }

    /// Length of the next step, as the criteria limit it.
    #[getter]
    fn next_step(&self, py: Python<'_>) -> PyResult<f64> {
        self.call(py, |session| Ok(session.simulation().next_step))
    }

    /// Whether the end of the deck is reached.
    #[getter]
    fn is_done(&self, py: Python<'_>) -> PyResult<bool> {
        self.call(py, |session| Ok(session.is_done()))
    }

    /// Notes of the start.
    #[getter]
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.call(py, |session| Ok(session.notes().to_vec()))
    }

    /// The deck with all defaults.
    #[getter]
    fn deck(&self, py: Python<'_>) -> PyResult<String> {
        self.call(py, |session| Ok(session.deck().resolved.clone()))
    }

    /// Name of the device on which the particles live, if they do.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.call(py, |session| Ok(session.simulation().device().map(|device| device.name())))
    }

    /// Names of the species, in the order of the values of the field species.
    #[getter]
    fn species<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let names = self.call(py, |session| {
            Ok(session.simulation().plan.species.iter().map(|kind| kind.name.clone()).collect::<Vec<_>>())
        })?;
        PyList::new(py, names)
    }

    /// Name of the unit with these exponents of mass, length and time.
    fn unit(&self, py: Python<'_>, exponents: [i32; 3]) -> PyResult<String> {
        self.call(py, |session| Ok(session.simulation().plan.units.name(exponents)))
    }

    /// Name of the unit of a field.
    fn unit_of(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let field = field_named(name)?;
        self.call(py, |session| {
            let units = &session.simulation().plan.units;
            Ok(match field {
                Field::Charge => units.charge_name().to_owned(),
                _ => units.name(field.dimensions()),
            })
        })
    }
}

/// Continues a panic of another thread on this one.
fn resume<T>(failure: Failure) -> Result<T> {
    match failure {
        Failure::Stated(error) => Err(error),
        Failure::Panic(message) => std::panic::resume_unwind(Box::new(message)),
    }
}
