//! The view, drawn.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span as Piece, Text};
use ratatui::widgets::{Paragraph, Wrap};
use trodden_report::{OnePath, share_is_known, thousands};

use super::model::{About, Model, Opened, Row, Sort, Span, Table};

/// The longest that fits is shown.
const HELP: [&str; 2] = [
    "↑↓ move  Enter open  t e d sort  r span  space freeze  ? help  q quit",
    "↑↓ move  Enter open  t e d sort  ? help  q quit",
];
const HELP_OPENED: [&str; 2] = [
    "↑↓ scroll  Backspace back  r span  space freeze  ? help  q quit",
    "↑↓ scroll  Backspace back  ? help  q quit",
];
/// Below this width the table has fewer columns.
const NARROW: usize = 80;
/// Columns of the numbers in front of a path.
const NUMBERS: usize = 36;
const EXPLAINED: &str = "\
↑ ↓ j k        move; page keys, Home and End as well
Enter          open a method, or elsewhere: the methods that
               have its time, and their callers
Esc Backspace  back
t e d          sort by time, by executions, by decisions
r              the last interval, or all since the start
space          freeze the screen, or go on; the program runs
?              this help
q Ctrl-C       leave; the program gets its own code back

time           the method's part of the program's CPU time, with callees
               that have no row. It is sampled, so it is rough at first.
executions/s   paths that ended: ways through the method, or through the
               body of a loop
decisions/s    branches and switches on them
–              not known";

const HOT: Style = Style::new().fg(Color::Yellow);
const WAY: Style = Style::new().fg(Color::Cyan);

/// Draws it, and sets the number of rows that fit in the model.
pub fn draw(frame: &mut Frame, model: &mut Model) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Min(1), Constraint::Length(1)])
            .areas(frame.area());
    let width = usize::from(frame.area().width);
    frame.render_widget(Paragraph::new(heading(model, width)), head);
    let helps = if model.opened.is_some() { HELP_OPENED } else { HELP };
    let help = helps.into_iter().find(|help| help.chars().count() <= width);
    let help = help.unwrap_or(helps[helps.len() - 1]);
    frame.render_widget(Paragraph::new(help).dim(), foot);
    // One line is the table's own heading.
    model.page = usize::from(body.height).saturating_sub(1);
    let text = if model.help {
        Text::raw(EXPLAINED)
    } else if model.table().is_none() {
        Text::raw("waiting for the first counts …")
    } else if model.opened.is_some() {
        let width = usize::from(body.width).max(20);
        let lines = opened_lines(model, width);
        scrolled(model, lines, body)
    } else {
        methods(model, body)
    };
    // All other text is broken where it is made.
    let text = Paragraph::new(text);
    let text = if model.help {
        text.wrap(Wrap { trim: false })
    } else {
        text
    };
    frame.render_widget(text, body);
}

fn heading(model: &Model, width: usize) -> Text<'static> {
    let mut first = vec![Piece::raw("trodden top  ").bold()];
    // What must be seen comes first: the line may be cut.
    if model.frozen {
        first.push(Piece::raw("FROZEN").reversed());
        first.push(Piece::raw("  "));
    }
    if model.stands_still() {
        first.push(Piece::raw("NOT RECORDING: stopped by another command").reversed());
        first.push(Piece::raw("  "));
    }
    first.push(Piece::raw(format!("{} {}", model.pid, model.name)).bold());
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
    let second = about.map(|about| sums(about, width)).unwrap_or_default();
    Text::from(vec![Line::from(first), Line::raw(second)])
}

/// As many sums as fit, in their order; of those that do not, the decisions go first, then the samples.
fn sums(about: &About, width: usize) -> String {
    let mut parts = vec![match about.processors {
        Some(processors) => format!("{processors:.2} CPUs busy"),
        None => "CPU –".to_owned(),
    }];
    let samples = about
        .samples
        .map(|samples| format!("{} samples", thousands(samples)));
    parts.extend(samples.clone());
    let per_second = |count: u64| {
        if about.seconds > 0.0 {
            thousands((count as f64 / about.seconds).round() as u64)
        } else {
            "–".to_owned()
        }
    };
    let what = if about.exact { "paths/s" } else { "sampled paths/s" };
    parts.push(format!("{} {what}", per_second(about.paths)));
    let decisions = format!("{} decisions/s", per_second(about.decisions));
    parts.push(decisions.clone());
    if let Some(elsewhere) = about.elsewhere {
        parts.push(format!("{} elsewhere", percent(Some(elsewhere))));
    }
    for dropped in [Some(decisions), samples].into_iter().flatten() {
        if parts.join("  ").chars().count() > width {
            parts.retain(|part| *part != dropped);
        }
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
    let width = usize::from(area.width);
    // Where there is no room for both rates, that which sorts is shown.
    let rates = [
        (width >= NARROW || model.sort != Sort::Decisions).then_some((executions, Sort::Executions)),
        (width >= NARROW || model.sort == Sort::Decisions).then_some(("decisions/s", Sort::Decisions)),
    ];
    let room_of_rate = if width >= NARROW { 16 } else { 14 };
    let mut headings = vec![column("time", Sort::Time, 8)];
    let mut left = width.saturating_sub(10);
    for (name, sort) in rates.into_iter().flatten() {
        headings.push(column(name, sort, room_of_rate));
        left = left.saturating_sub(room_of_rate);
    }
    headings.push(Piece::raw("  method").dim());
    let mut lines = vec![Line::from(headings)];
    let room = usize::from(area.height).saturating_sub(1).max(1);
    let first = (model.selected + 1).saturating_sub(room);
    let rows = table.rows.iter().enumerate().skip(first).take(room);
    for (at, row) in rows {
        let mut line = format!("{:>8}", percent(row.time));
        for (_, sort) in rates.into_iter().flatten() {
            let of_row = if sort == Sort::Decisions {
                row.decisions
            } else {
                row.executions
            };
            line += &format!("{:>room_of_rate$}", rate(of_row));
        }
        line += &format!("  {}", fitting(row, left));
        let line = Line::raw(format!("{line:<width$}"));
        lines.push(if at == model.selected {
            line.reversed()
        } else {
            line
        });
    }
    if table.rows.iter().all(Row::is_elsewhere) {
        let text = "no path of a measured method ended in this time (--include says which are measured)";
        lines.extend(wrapped(text, width).into_iter().map(Line::raw));
    }
    Text::from(lines)
}

fn opened_lines(model: &Model, width: usize) -> Vec<Line<'static>> {
    match (&model.opened, model.table()) {
        (Some(opened), Some(table)) if opened.is_elsewhere() => without_rows(table, width),
        (Some(opened), _) => method(opened, width),
        (None, _) => Vec::new(),
    }
}

fn scrolled(model: &mut Model, lines: Vec<Line<'static>>, area: Rect) -> Text<'static> {
    let last = lines.len().saturating_sub(usize::from(area.height));
    let Some(opened) = &mut model.opened else {
        return Text::default();
    };
    opened.scroll = opened.scroll.min(last);
    Text::from(lines.into_iter().skip(opened.scroll).collect::<Vec<_>>())
}

/// The methods that have no row.
fn without_rows(table: &Table, width: usize) -> Vec<Line<'static>> {
    let about = "Elsewhere: CPU time in methods without probes, such as the JDK's, which no measured method called; and in \
                 measured methods of which no path ended in this time. --include measures more.";
    let mut lines: Vec<Line> = wrapped(about, width)
        .into_iter()
        .map(|line| Line::raw(line).dim())
        .collect();
    for method in &table.elsewhere {
        let title = name_within(&method.title, width.saturating_sub(10));
        lines.push(Line::from(vec![
            Piece::styled(format!("{:>8}  ", percent(Some(method.share))), HOT),
            Piece::raw(title.to_owned()),
        ]));
        if method.has_probes {
            lines.push(Line::raw(format!("{:>10}no path ended", "")).dim());
        }
        for (callers, share) in &method.from {
            let room = width.saturating_sub(12);
            let callers: Vec<&str> = callers.split(' ').map(|name| name_within(name, room)).collect();
            let text = format!("{} from {}", percent(Some(*share)), callers.join(" "));
            let rows = wrapped(&text, room).into_iter();
            lines.extend(rows.map(|line| Line::styled(format!("            {line}"), WAY)));
        }
    }
    lines
}

fn method(opened: &Opened, width: usize) -> Vec<Line<'static>> {
    let title = wrapped(&opened.title, width).into_iter();
    let mut lines: Vec<Line> = title.map(|line| Line::raw(line).bold()).collect();
    let Some(row) = &opened.row else {
        lines.push(Line::raw("did not run in this time"));
        return lines;
    };
    let numbers_of_row = format!(
        "{} of the CPU time  {} executions/s  {} decisions/s",
        percent(row.time),
        rate(row.executions),
        rate(row.decisions)
    );
    lines.extend(wrapped(&numbers_of_row, width).into_iter().map(Line::raw));
    if let Some(unplaced) = row.unplaced.filter(|part| *part > 0.0) {
        let text = format!(
            "{} of its time is on no path that was counted",
            percent(Some(unplaced))
        );
        lines.push(Line::raw(text).dim());
    }
    if let Some(divided) = &opened.method.divided {
        let rows = wrapped(divided, width).into_iter();
        lines.extend(rows.map(|line| Line::raw(line).dim()));
    }
    let from_to = |path: &OnePath| {
        let what = if path.prefix { ", cut short" } else { "" };
        format!("{}{what}", path.from_to)
    };
    // Below the numbers where there is no room beside them.
    let longest = opened
        .method
        .paths
        .iter()
        .map(|path| from_to(path).chars().count());
    let beside = longest.max().unwrap_or(0) + NUMBERS <= width;
    let heading = if beside { "  path" } else { "" };
    lines.push(Line::raw(format!("{:>8} {:<11}{:>14}{heading}", "time", "", "executions/s")).dim());
    let all: u64 = opened.method.paths.iter().map(|path| path.count).sum();
    for path in &opened.method.paths {
        let part = row.executions.filter(|_| all > 0);
        let mut row = numbers(path, part.map(|rate| rate * path.count as f64 / all as f64));
        if beside {
            row.push_span(Piece::raw(format!("  {}", from_to(path))).dim());
            lines.push(row);
        } else {
            lines.push(row);
            let rows = wrapped(&from_to(path), width.saturating_sub(11)).into_iter();
            lines.extend(rows.map(|line| Line::raw(format!("          {line}")).dim()));
        }
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
        Some(time) if !share_is_known(time.interval) => ("not known".to_owned(), String::new()),
        Some(time) => {
            let [from, to] = time.interval.map(|share| share * 100.0);
            (percent(Some(time.share)), format!("{from:.0}–{to:.0} %"))
        }
        None => ("–".to_owned(), String::new()),
    };
    Line::from(vec![
        Piece::styled(format!("{share:>8} "), HOT),
        Piece::raw(format!("{range:<11}{:>14}", rate(rate_of_path))),
    ])
}

/// A method's name, without what there is no room for: its package, then its class.
fn name_within(name: &str, width: usize) -> &str {
    let fits = |name: &&str| name.chars().count() <= width;
    // Parameters have packages, too.
    let end = name.find('(').unwrap_or(name.len());
    let points = name[..end].rmatch_indices('.').map(|(at, _)| at);
    let mut cut: Vec<&str> = points.take(2).map(|at| &name[at + 1..]).collect();
    let method = cut.first().copied().unwrap_or(name);
    cut.reverse();
    std::iter::once(name).chain(cut).find(fits).unwrap_or(method)
}

/// The name, without its package if there is no room.
fn fitting(row: &Row, width: usize) -> &str {
    if row.title.chars().count() > width {
        name_within(&row.short, width)
    } else {
        &row.title
    }
}

/// A share, if it is known.
fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), trodden_report::percent)
}

/// A number per second.
fn rate(rate: Option<f64>) -> String {
    match rate {
        None => "–".to_owned(),
        Some(rate) if rate > 0.0 && rate < 10.0 => format!("{rate:.1}"),
        Some(rate) => thousands(rate.round() as u64),
    }
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
