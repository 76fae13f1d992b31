//! The display: laid out for 80 columns and 24 lines, wider and longer where there is room.

use super::{Moment, facts};
use crate::clock::Phase;
use crate::run_report::EnergyDrift;
use crate::status::{Condition, Status};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType, Paragraph, Row, Table, Wrap};

/// Columns of a phase's name, seconds, percentage and imbalance.
const COLUMNS: [u16; 4] = [19, 8, 5, 7];
/// Columns of the right part.
const DETAILS: u16 = 30;

/// Draws a moment of a run. `trouble` is why its files could not be read again; `now` is the wall time
/// (seconds since 1970).
pub(super) fn draw(
    frame: &mut Frame,
    moment: &Moment,
    drift: Option<&EnergyDrift>,
    trouble: Option<&str>,
    now: f64,
) {
    let Moment { status, condition } = moment;
    let warning = trouble.map(str::to_owned).or_else(|| facts::warning(moment, now));
    let [head, gauge, numbers, body, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(1),
        Constraint::Length(2),
        Constraint::Fill(1),
        Constraint::Length(if warning.is_some() { 3 } else { 1 }),
    ])
    .areas(frame.area());
    let title = Line::from(vec![
        Span::styled(condition.name(), Style::new().fg(color(*condition)).add_modifier(Modifier::BOLD)),
        Span::raw("  "),
        Span::raw(status.title.as_str()).bold(),
    ]);
    frame.render_widget(Paragraph::new(vec![title, Line::from(facts::place(status)).dim()]), head);
    let progress = Gauge::default()
        .gauge_style(Style::new().fg(color(*condition)).bg(Color::DarkGray))
        .ratio(status.fraction.clamp(0.0, 1.0))
        .label(facts::progress(status, *condition));
    frame.render_widget(progress, gauge);
    let rates = format!("{}   {}", facts::rates(status, *condition), facts::energy(status));
    frame
        .render_widget(Paragraph::new(vec![Line::from(facts::position(status)), Line::from(rates)]), numbers);
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(DETAILS)]).areas(body);
    phases(frame, left, status);
    let rows = facts::details(status);
    let [details, energy] =
        Layout::vertical([Constraint::Length(rows.len() as u16 + 2), Constraint::Fill(1)]).areas(right);
    let rows = rows.into_iter().map(|(name, value)| Row::new([name.to_owned(), value]));
    let table = Table::new(rows, [Constraint::Length(13), Constraint::Fill(1)]);
    frame.render_widget(table.block(Block::bordered().title("memory, lists, outputs")), details);
    if let Some(drift) = drift.filter(|drift| drift.points.len() > 1) {
        energy_chart(frame, energy, drift);
    }
    let mut lines: Vec<Line> = warning.into_iter().map(|text| Line::from(text).fg(Color::Yellow)).collect();
    lines.push(Line::from("q ends this display, not the run").dim());
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), foot);
}

fn color(condition: Condition) -> Color {
    match condition {
        Condition::Running => Color::Cyan,
        Condition::Done => Color::Green,
        Condition::Stopped => Color::Yellow,
        Condition::Killed | Condition::Failed => Color::Red,
    }
}

/// The phases, longest first: as many as there is room for.
fn phases(frame: &mut Frame, area: Rect, status: &Status) {
    let total = status.total.as_ref().map_or(0.0, |total| total.mean);
    let mut longest: Vec<&Phase> = status.phases.iter().collect();
    longest.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    // borders, and the spaces between five columns
    let bar = usize::from(area.width.saturating_sub(2 + 4 + COLUMNS.iter().sum::<u16>()));
    let rows = longest.into_iter().map(|phase| {
        let share = facts::share(phase.mean, total);
        Row::new([
            phase.name.clone(),
            format!("{:>8.2}", phase.mean),
            format!("{share:>5.1}"),
            "█".repeat((share / 100.0 * bar as f64).round() as usize),
            format!("{:>7.2}", phase.imbalance),
        ])
    });
    let [name, seconds, percent, imbalance] = COLUMNS.map(Constraint::Length);
    let widths = [name, seconds, percent, Constraint::Fill(1), imbalance];
    let header = Row::new(["phase", " seconds", "    %", "", "max/avg"]).dim();
    let table = Table::new(rows, widths).header(header).column_spacing(1);
    frame.render_widget(table.block(Block::bordered().title("phases")), area);
}

/// The drift of the energy over time.
fn energy_chart(frame: &mut Frame, area: Rect, drift: &EnergyDrift) {
    let finite = || drift.points.iter().filter(|(_, change)| change.is_finite());
    let (mut low, mut high) =
        finite().fold((0.0f64, 0.0f64), |(low, high), &(_, change)| (low.min(change), high.max(change)));
    if low == high {
        (low, high) = (low - 1e-16, high + 1e-16);
    }
    let times = || drift.points.iter().map(|&(time, _)| time);
    let bounds = [times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max)];
    let line = Dataset::default()
        .marker(Marker::Braille)
        .graph_type(GraphType::Line)
        .style(Style::new().fg(Color::Cyan))
        .data(&drift.points);
    let labels = [low, high].map(|value| format!("{value:+.1e}"));
    let chart = Chart::new(vec![line])
        .block(Block::bordered().title(drift.label.as_str()))
        .x_axis(Axis::default().bounds(bounds))
        .y_axis(Axis::default().bounds([low, high]).labels(labels));
    frame.render_widget(chart, area);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn screen(moment: &Moment, now: f64, size: [u16; 2]) -> String {
        let drift = EnergyDrift {
            label: "drift of the energy".into(),
            points: (0..50).map(|k| (f64::from(k) * 0.01, 1e-4 * (f64::from(k) * 0.2).sin())).collect(),
        };
        let mut terminal = Terminal::new(TestBackend::new(size[0], size[1])).unwrap();
        terminal.draw(|frame| draw(frame, moment, Some(&drift), None, now)).unwrap();
        terminal.backend().to_string()
    }

    fn moment() -> Moment {
        let phase = |name: &str, mean: f64| Phase {
            name: name.into(),
            min: 0.9 * mean,
            mean,
            max: 1.2 * mean,
            imbalance: 1.2,
        };
        let mut status = crate::status::example();
        status.phases =
            vec![phase("neighbors", 6.0), phase("momentum and energy", 30.0), phase("gravity", 14.0)];
        status.total = Some(phase("total", 50.0));
        Moment { status, condition: Condition::Running }
    }

    #[test]
    fn everything_fits_80_columns_and_24_lines() {
        let moment = moment();
        let text = screen(&moment, moment.status.updated + 1.0, [80, 24]);
        for words in [
            "running",
            "12.5 %",
            "18 s left",
            "momentum and energy",
            "60.0 ███",
            "peak memory",
            "max/avg",
            "+1.0e-4",
        ] {
            assert!(text.contains(words), "{words}:\n{text}");
        }
        assert!(!text.contains("no new status"), "{text}");
        let late = screen(&moment, moment.status.updated + 120.0, [80, 24]);
        assert!(late.contains("no new status for 2m 00s"), "{late}");
    }

    #[test]
    fn a_failed_run_shows_its_message_and_no_size_fails() {
        let mut moment = moment();
        moment.condition = Condition::Failed;
        let text = screen(&moment, 0.0, [80, 24]);
        assert!(text.contains("failed") && text.contains("step 3: it broke"), "{text}");
        for size in [[1, 1], [10, 3], [40, 10], [300, 100]] {
            assert!(!screen(&moment, 0.0, size).is_empty());
        }
    }
}
