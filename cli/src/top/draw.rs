//! The view, drawn.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span as Piece, Text};
use ratatui::widgets::Paragraph;
use trodden_report::OnePath;

use super::model::{About, Model, Opened, Row, Sort, Span};

const HELP: &str = "↑↓ move  Enter open  t e d sort  r span  space freeze  ? help  q quit";
const HELP_OPENED: &str = "↑↓ scroll  Backspace back  r span  space freeze  ? help  q quit";
const EXPLAINED: &str = "\
↑ ↓ j k        move; page keys, Home and End as well
Enter          open a method: its paths and branches
Esc Backspace  back
t e d          sort by time, by executions, by decisions
r              the last interval, or all since the start
space          freeze what is shown, or go on; the program runs on all the while
?              this help
q Ctrl-C       leave; the program gets its own code back

time           of the program's CPU time: in the method, and in callees that have no row.
               It is sampled, so short intervals tell it roughly.
executions/s   acyclic paths that ended: ways through the method, or through a loop's body
decisions/s    branches and switches on them
–              not known";

const HOT: Style = Style::new().fg(Color::Yellow);
const WAY: Style = Style::new().fg(Color::Cyan);

/// Draws it, and tells the model how many rows fit.
pub fn draw(frame: &mut Frame, model: &mut Model) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Min(1), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(heading(model)), head);
    let help = match model.opened {
        Some(_) => HELP_OPENED,
        None => HELP,
    };
    frame.render_widget(Paragraph::new(help).dim(), foot);
    // One line is the table's own heading.
    model.page = usize::from(body.height).saturating_sub(1);
    let text = if model.help {
        Text::raw(EXPLAINED)
    } else if model.table().is_none() {
        Text::raw("waiting for the first counts …")
    } else if let Some(opened) = &mut model.opened {
        scrolled(opened, body)
    } else {
        methods(model, body)
    };
    frame.render_widget(Paragraph::new(text), body);
}

fn heading(model: &Model) -> Text<'static> {
    let mut first = vec![
        Piece::raw("trodden top  ").bold(),
        Piece::raw(format!("{} {}", model.pid, model.name)).bold(),
    ];
    let about = model.table().map(|table| &table.about);
    if let Some(seconds) = model.seconds() {
        first.push(Piece::raw(format!("  for {seconds:.0} s")));
    }
    if let Some(about) = about {
        first.push(Piece::raw(match model.span {
            Span::Recent => format!("  in the last {:.1} s", about.seconds),
            Span::All => "  since the start".to_owned(),
        }));
    }
    if model.frozen {
        first.push(Piece::raw("  FROZEN").reversed());
    }
    if model.stands_still() {
        first.push(Piece::raw("  NOT RECORDING: stopped by another command").reversed());
    }
    let second = about.map(sums).unwrap_or_default();
    Text::from(vec![Line::from(first), Line::raw(second)])
}

fn sums(about: &About) -> String {
    let mut parts = Vec::new();
    match about.processors {
        Some(processors) => parts.push(format!("{processors:.2} CPUs busy")),
        None => parts.push("CPU –".to_owned()),
    }
    if let Some(samples) = about.samples {
        parts.push(format!("{} samples", thousands(samples as f64)));
    }
    let per_second = |count: u64| match about.seconds > 0.0 {
        true => thousands(count as f64 / about.seconds),
        false => "–".to_owned(),
    };
    let what = match about.exact {
        true => "paths/s",
        false => "sampled paths/s",
    };
    parts.push(format!("{} {what}", per_second(about.paths)));
    parts.push(format!("{} decisions/s", per_second(about.decisions)));
    if let Some(elsewhere) = about.elsewhere {
        parts.push(format!("{} elsewhere", percent(Some(elsewhere))));
    }
    parts.join("  ")
}

fn methods(model: &Model, area: Rect) -> Text<'static> {
    let Some(table) = model.table() else {
        return Text::default();
    };
    let exact = table.about.exact;
    let column = |name: &str, sort: Sort, width: usize| {
        let mark = if model.sort == sort { "▼" } else { "" };
        let text = Piece::raw(format!("{:>width$}", format!("{mark}{name}")));
        if model.sort == sort {
            text.bold()
        } else {
            text.dim()
        }
    };
    let executions = if exact { "executions/s" } else { "samples/s" };
    let mut lines = vec![Line::from(vec![
        column("time", Sort::Time, 8),
        column(executions, Sort::Executions, 16),
        column("decisions/s", Sort::Decisions, 16),
        Piece::raw("  method").dim(),
    ])];
    let room = usize::from(area.height).saturating_sub(1).max(1);
    let first = (model.selected + 1).saturating_sub(room);
    let rows = table.rows.iter().enumerate().skip(first).take(room);
    for (at, row) in rows {
        let name = fitting(row, usize::from(area.width).saturating_sub(42));
        let line = format!(
            "{:>8}{:>16}{:>16}  {name}",
            percent(row.time),
            rate(row.executions),
            rate(row.decisions)
        );
        let width = usize::from(area.width);
        let line = format!("{line:<width$}");
        lines.push(match at == model.selected {
            true => Line::raw(line).reversed(),
            false => Line::raw(line),
        });
    }
    if table.rows.is_empty() {
        lines.push(Line::raw(
            "no path of a measured method ended in this time (--include says which are measured)",
        ));
    }
    Text::from(lines)
}

fn scrolled(opened: &mut Opened, area: Rect) -> Text<'static> {
    let lines = method(opened, usize::from(area.width).max(20));
    let most = lines.len().saturating_sub(usize::from(area.height));
    opened.scroll = opened.scroll.min(most);
    Text::from(lines.into_iter().skip(opened.scroll).collect::<Vec<_>>())
}

fn method(opened: &Opened, width: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<Line> = vec![Line::raw(opened.title.clone()).bold()];
    let Some(row) = &opened.row else {
        lines.push(Line::raw("did not run in this time"));
        return lines;
    };
    lines.push(Line::raw(format!(
        "{} of the CPU time  {} executions/s  {} decisions/s",
        percent(row.time),
        rate(row.executions),
        rate(row.decisions)
    )));
    if let Some(unplaced) = row.unplaced.filter(|part| *part > 0.0) {
        let text = format!(
            "of {} of its time no counted path is known to have taken it",
            percent(Some(unplaced))
        );
        lines.push(Line::raw(text).dim());
    }
    lines.push(Line::raw(format!("{:>8} {:<11}{:>14}  path", "time", "", "executions/s")).dim());
    let all: u64 = opened.method.paths.iter().map(|path| path.count).sum();
    for path in &opened.method.paths {
        let part = row.executions.filter(|_| all > 0);
        lines.push(numbers(
            path,
            part.map(|rate| rate * path.count as f64 / all as f64),
        ));
        for line in wrapped(&path.way, width.saturating_sub(11)) {
            lines.push(Line::from(Piece::styled(format!("          {line}"), WAY)));
        }
    }
    if !opened.method.branches.is_empty() {
        lines.push(Line::raw("branches").dim());
    }
    for branch in &opened.method.branches {
        let mut indent = "  ";
        for line in wrapped(branch, width.saturating_sub(7)) {
            lines.push(Line::raw(format!("{indent}{line}")));
            indent = "      ";
        }
    }
    lines
}

fn numbers(path: &OnePath, rate_of_path: Option<f64>) -> Line<'static> {
    let (share, range) = match &path.time {
        Some(time) => {
            let [from, to] = time.interval.map(|share| share * 100.0);
            (percent(Some(time.share)), format!("{from:.0}–{to:.0} %"))
        }
        None => ("–".to_owned(), String::new()),
    };
    let what = if path.prefix { ", cut short" } else { "" };
    Line::from(vec![
        Piece::styled(format!("{share:>8} "), HOT),
        Piece::raw(format!("{range:<11}{:>14}", rate(rate_of_path))),
        Piece::raw(format!("  {}{what}", path.from_to)).dim(),
    ])
}

/// The name, without its package if there is no room.
fn fitting(row: &Row, width: usize) -> &str {
    match row.title.chars().count() > width {
        true => &row.short,
        false => &row.title,
    }
}

/// A share with one decimal; one that is not zero is never shown as zero.
fn percent(share: Option<f64>) -> String {
    match share {
        None => "–".to_owned(),
        Some(share) if share > 0.0 && share < 0.0005 => "<0.1 %".to_owned(),
        Some(share) => format!("{:.1} %", share * 100.0),
    }
}

/// A number per second.
fn rate(rate: Option<f64>) -> String {
    match rate {
        None => "–".to_owned(),
        Some(rate) if rate > 0.0 && rate < 10.0 => format!("{rate:.1}"),
        Some(rate) => thousands(rate),
    }
}

fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Broken at spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        let Some(line) = lines.last_mut() else { continue };
        if used > 0 || line.ends_with(' ') {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += length;
    }
    lines
}
