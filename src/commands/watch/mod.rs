//! `hilbrium watch`: the state of a run at a glance in a terminal, refreshed while it goes on.

mod facts;
mod view;

use super::Ending;
use crate::run::lock;
use crate::run_report::{self, EnergyDrift};
use crate::status::{self, Condition, State, Status};
use crate::{Error, Result, report};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

/// Interval between two readings of the run's files.
const INTERVAL: Duration = Duration::from_secs(1);

/// Reciprocal of the largest share of the time for reading the record of observables.
const COST_LIMIT: u32 = 20;

/// The state of a run at one moment.
#[derive(Clone, Debug)]
struct Moment {
    status: Status,
    condition: Condition,
}

impl Moment {
    /// Reads the state of the run that writes, or wrote, to `directory`.
    fn read(directory: &Path) -> Result<Self> {
        let status = status::read(directory)?.ok_or_else(|| {
            Error::usage(
                format!("{} holds no run: it has no {}", directory.display(), status::FILE_NAME),
                "name the output directory of a run, `directory` of [output] in its deck",
            )
        })?;
        // who may only read the folder cannot test its lock: the recorded state counts
        let held = lock::find(directory).map_or(status.state == State::Running, |run| run.is_some());
        let condition = Condition::of(status.state, held);
        Ok(Moment { status, condition })
    }
}

/// Shows the run in `directory` until a key ends it; once and as text with `once`, or without a terminal.
pub(super) fn watch(directory: &Path, once: bool) -> Result<Ending> {
    let moment = Moment::read(directory)?;
    if once || !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        report::line(&facts::text(&moment, status::now()));
        return Ok(Ending::Done);
    }
    let failed = |cause: std::io::Error| Error::file("use", Path::new("the terminal"), &cause);
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let shown = show(&mut terminal, directory, moment, failed);
    ratatui::restore();
    shown.map(|()| Ending::Done)
}

/// Draws until a key ends it. If the status cannot be read, the last one stays, with the reason.
fn show(
    terminal: &mut ratatui::DefaultTerminal,
    directory: &Path,
    mut moment: Moment,
    failed: impl Fn(std::io::Error) -> Error,
) -> Result<()> {
    let mut drift = Drift::default();
    let mut trouble = None;
    loop {
        drift.refresh(directory);
        let now = status::now();
        terminal
            .draw(|frame| view::draw(frame, &moment, drift.known.as_ref(), trouble.as_deref(), now))
            .map_err(&failed)?;
        let until = Instant::now() + INTERVAL;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if event::poll(left).map_err(&failed)? {
                match event::read().map_err(&failed)? {
                    Event::Key(key) if ends(key) => return Ok(()),
                    Event::Resize(..) => break,
                    _ => {}
                }
            }
        }
        match Moment::read(directory) {
            Ok(read) => (moment, trouble) = (read, None),
            Err(error) => trouble = Some(error.to_string()),
        }
    }
}

/// Whether a key ends the display: q, Escape, Ctrl-C.
fn ends(key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press
        && (matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
            || key.code == KeyCode::Char('c') && control)
}

/// The drift of the energy. The record of a long run is read less often than the status.
#[derive(Default)]
struct Drift {
    known: Option<EnergyDrift>,
    next: Option<Instant>,
}

impl Drift {
    fn refresh(&mut self, directory: &Path) {
        let begun = Instant::now();
        if self.next.is_some_and(|next| begun < next) {
            return;
        }
        self.known = run_report::energy_drift(directory);
        self.next = Some(begun + INTERVAL.max(begun.elapsed() * COST_LIMIT));
    }
}
