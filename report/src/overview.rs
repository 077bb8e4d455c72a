//! The first screen: what stands out, and the hot methods with their hot paths. At most 60 lines; all the rest is a
//! question away (`--method`, `--all`).

use trodden_insight::left_out::LeftOut;
use trodden_insight::names;
use trodden_insight::route::{between, stops};
use trodden_insight::view::{MethodView, PathView, View, hotter};
use trodden_profile::RunInfo;

use crate::findings::{self, Finding};
use crate::hotspot;
use crate::kinds::KINDS;
use crate::memory;
use crate::rows::{Row, fitted, tell_apart};
use crate::text::{DECISION, HOT, Page, SOFT, TITLE, elide, wrap};
use crate::words::{self, cut, percent, thousands};

/// Columns that a terminal has at least.
pub(crate) const MIN_WIDTH: usize = 60;
/// Most lines.
const MOST_LINES: usize = 60;
/// Findings on the first screen; the page and the JSON have all.
const FINDINGS: usize = 5;
/// Lines behind which only the first three of them are shown.
const CAUSES_LINES: usize = 24;
/// Asides there.
const ASIDES: usize = 3;
/// Columns of a path that are worth having next to its numbers; else it is below them.
const LEAST_COLUMNS: usize = 40;

/// Writes it. `width`: columns of the terminal.
pub(crate) fn write(view: &View, top: usize, paths: usize, width: usize, color: bool) -> String {
    let width = width.clamp(MIN_WIDTH, 200);
    let mut page = Page::new(color);
    let found = findings::find(view);
    head(&mut page, view, width);
    causes(&mut page, &found, FINDINGS, CAUSES_LINES, width);
    for kind in KINDS {
        kind.overview(view, width, &mut page);
    }
    let ending = [asides(&page, &found, width), ending(view, width)].concat();
    title(&mut page, view, width);
    let rows = ranked(view);
    let mut shown = 0;
    for row in rows.iter().take(top) {
        let lines = match row {
            Ranked::Method(method) => method_lines(&page, method, view.times().is_some(), paths, width),
            Ranked::LeftOut(left) => left_out_lines(&page, left, paths, width),
        };
        let used = page.out.lines().count() + lines.len() + ending.len() + 2;
        if used > MOST_LINES && shown > 0 {
            break;
        }
        lines.iter().for_each(|line| page.line(line));
        shown += 1;
    }
    let more = rows.len() - shown;
    if more > 0 {
        let what = if more == 1 { "method" } else { "methods" };
        let text = format!("{:>9} more {what} ran", thousands(more as u64));
        page.styled_line(SOFT, &text);
    }
    page.line("");
    ending.iter().for_each(|line| page.line(line));
    page.out
}

/// A method in the list of hot ones.
pub(crate) enum Ranked<'v, 'p> {
    Method(&'v MethodView<'p>),
    LeftOut(&'v LeftOut<'p>),
}

/// Methods with counted paths and those whose paths are not known, most own time first.
pub(crate) fn ranked<'v, 'p>(view: &'v View<'p>) -> Vec<Ranked<'v, 'p>> {
    let time = |method: &MethodView| method.time.as_ref().map_or(0, |time| time.near.ns);
    let mut left = view.left_out.iter().peekable();
    let mut all = Vec::new();
    for method in &view.methods {
        while let Some(left) = left.next_if(|left| left.near.ns > time(method)) {
            all.push(Ranked::LeftOut(left));
        }
        all.push(Ranked::Method(method));
    }
    all.extend(left.map(Ranked::LeftOut));
    all
}

/// The code that takes the time, if that is known.
fn causes(page: &mut Page, found: &[Finding], most: usize, lines: usize, width: usize) {
    let causes = found.iter().filter(|finding| !finding.aside);
    let mut numbered = (1..).zip(causes.take(most)).peekable();
    if numbered.peek().is_none() {
        return;
    }
    heading(page, "What stands out");
    for (number, finding) in numbered {
        // On a narrow terminal a sentence takes more lines; the first three are always there.
        if number > 3 && page.out.lines().count() > lines {
            break;
        }
        one(page, number, finding, width);
    }
    page.line("");
}

/// Facts that explain no time: a line each, where the terminal is wide enough; the last words decide.
fn asides(page: &Page, found: &[Finding], width: usize) -> Vec<String> {
    let asides = found.iter().filter(|finding| finding.aside).take(ASIDES);
    let mut lines: Vec<String> = asides
        .flat_map(|finding| {
            let lines = wrap(&finding.text, width - 4).into_iter().enumerate();
            lines.map(|(i, line)| page.styled(SOFT, &format!("{}{line}", if i == 0 { "  " } else { "    " })))
        })
        .collect();
    if !lines.is_empty() {
        lines.insert(0, page.styled(TITLE, "Also"));
        lines.push(String::new());
    }
    lines
}

/// All findings, in the long report.
pub(crate) fn stands_out(page: &mut Page, view: &View, width: usize) {
    let found = findings::find(view);
    causes(page, &found, usize::MAX, usize::MAX, width);
    let asides: Vec<&Finding> = found.iter().filter(|finding| finding.aside).collect();
    if !asides.is_empty() {
        heading(page, "Also");
        for finding in asides {
            for (text, indent) in [(&finding.text, 2), (&finding.evidence, 5)] {
                for line in wrap(text, width - indent) {
                    page.line(&format!("{}{line}", " ".repeat(indent)));
                }
            }
        }
        page.line("");
    }
}

/// Says what the numbers of the list are.
fn title(page: &mut Page, view: &View, width: usize) {
    let text = match view.times() {
        Some(_) => words::HOT_BY_TIME,
        None => "Hot methods (share of all decisions), with their hot paths",
    };
    wrap(text, width).iter().for_each(|line| heading(page, line));
}

fn heading(page: &mut Page, text: &str) {
    page.styled_line(TITLE, text);
}

fn head(page: &mut Page, view: &View, width: usize) {
    let title = cut(&format!("Trodden: {}", program(view.run)), width);
    heading(page, &title);
    let t = view.totals;
    let counted = format!(
        "{} paths with {} decisions in {}, ",
        thousands(t.paths),
        thousands(t.flow),
        words::methods(t.methods)
    );
    // All that ran may be known from earlier runs.
    let nothing = view.run.has_time_only() || t.methods == 0 && !view.methods.is_empty();
    let counted = if nothing { "" } else { &counted };
    let mut text = format!(
        "{counted}{:.1} s. {}",
        view.run.seconds,
        words::how_counted(view.run, view.basis)
    );
    if t.unreadable > 0 {
        text += &format!(
            " {} counts name no path and are in no sum (see --all).",
            thousands(t.unreadable)
        );
    }
    wrap(&text, width).iter().for_each(|line| page.line(line));
    page.line("");
}

/// The program without its arguments' arguments: what fits a line.
fn program(run: &RunInfo) -> &str {
    match run.command.as_str() {
        "" => "which paths the program took",
        command => words::program(command),
    }
}

fn one(page: &mut Page, number: usize, finding: &Finding, width: usize) {
    let text = format!("{number}. {}", finding.text);
    for (i, line) in wrap(&text, width - 5).iter().enumerate() {
        let line = page.styled(HOT, line);
        page.line(&format!("{}{line}", if i == 0 { "  " } else { "     " }));
    }
    for line in fitted(&finding.evidence, "", width - 5) {
        let evidence = page.styled(SOFT, &line);
        page.line(&format!("     {evidence}"));
    }
}

/// `timed`: are methods shown by their CPU time?
fn method_lines(page: &Page, method: &MethodView, timed: bool, paths: usize, width: usize) -> Vec<String> {
    let name = page.styled(TITLE, &name(method, width - 11));
    let mut lines = match &method.time {
        None if timed => {
            let about = format!("{:>10}no sample; {} of all decisions", "", percent(method.share));
            vec![format!("{:>8}  {name}", "–"), page.styled(SOFT, &about)]
        }
        None => vec![format!("{:>8}  {name}", percent(method.share))],
        Some(time) => {
            let mut about = wrap(&words::of_which_paths(time, method.share), width - 10);
            if let Some(divided) = words::divided(time) {
                about.extend(wrap(&divided, width - 10));
            }
            let about = about
                .iter()
                .map(|line| page.styled(SOFT, &format!("{:>10}{line}", "")));
            let mut lines = vec![format!("{:>8}  {name}", percent(time.share))];
            lines.extend(about);
            lines
        }
    };
    if let Some(earlier) = &method.earlier {
        lines.push(page.styled(SOFT, &format!("{:>10}{}", "", memory::mark(earlier))));
    }
    let all = hottest_first(method);
    let shown = &all[..all.len().min(paths)];
    let rows: Vec<Row> = shown
        .iter()
        .map(|(path, is_prefix)| row(method, path, *is_prefix))
        .collect();
    let numbers: Vec<String> = shown.iter().map(|(path, _)| numbers(path)).collect();
    let indent = numbers
        .iter()
        .map(|text| text.chars().count() + 1)
        .max()
        .unwrap_or(0);
    let beside = width.saturating_sub(indent) >= LEAST_COLUMNS;
    let indent = if beside { indent } else { 12 };
    for (numbers, text) in numbers.iter().zip(tell_apart(&rows, width - indent)) {
        let mut before = format!("{numbers:indent$}");
        if !beside {
            lines.push(numbers.trim_end().to_owned());
            before = " ".repeat(indent);
        }
        for line in text {
            lines.push(format!("{before}{}", page.styled(DECISION, &line)));
            before = " ".repeat(indent);
        }
    }
    let count = all.len();
    if count > paths {
        let what = if count - paths == 1 { "path" } else { "paths" };
        let rest = format!("{:>18}and {} more {what}", "", thousands((count - paths) as u64));
        lines.push(page.styled(SOFT, &rest));
    }
    lines
}

fn numbers(path: &PathView) -> String {
    match path.time {
        Some(time) if !words::share_is_known(time.interval) => {
            format!(
                "{:>16} {:<9} ×{:<13}",
                words::TIME_NOT_KNOWN,
                "",
                thousands(path.count)
            )
        }
        Some(time) => format!(
            "{:>16} {:<9} ×{:<13}",
            percent(time.share),
            words::range(time.interval),
            thousands(path.count)
        ),
        None => format!(
            "{:>16}  ×{:<13}",
            percent(path.share_of_method),
            thousands(path.count)
        ),
    }
}

/// A method whose paths are not known: why, and where its time is.
fn left_out_lines(page: &Page, left: &LeftOut, places: usize, width: usize) -> Vec<String> {
    let title = elide(&left.title_with_file(), width - 11);
    let mut lines = vec![format!(
        "{:>8}  {}",
        percent(left.share(left.near)),
        page.styled(TITLE, &title)
    )];
    let about = format!(
        "with callees {} of the whole time; its paths are not known: {}",
        percent(left.share(left.total)),
        left.reason
    );
    for line in wrap(&about, width - 10) {
        lines.push(page.styled(SOFT, &format!("{:>10}{line}", "")));
    }
    let outcomes = hotspot::lines(left, places);
    if !outcomes.is_empty() {
        for line in wrap(hotspot::ABOUT, width - 10) {
            lines.push(page.styled(SOFT, &format!("{:>10}{line}", "")));
        }
        for (time, share, text) in outcomes {
            let before = format!("{:>9}{time:<15} {share:>7} of times  ", "");
            let columns = width.saturating_sub(before.chars().count()).max(LEAST_COLUMNS);
            lines.push(format!(
                "{before}{}",
                page.styled(DECISION, &elide(&text, columns))
            ));
        }
        return lines;
    }
    for (place, time) in left.places.iter().take(places) {
        let share = percent(left.share(*time));
        lines.push(format!(
            "{share:>16} {}",
            page.styled(DECISION, &names::place(*place))
        ));
    }
    lines
}

/// Its paths and prefixes of paths, those with most time first, then those with most decisions. The second: is it a prefix?
fn hottest_first<'m>(method: &'m MethodView) -> Vec<(&'m PathView, bool)> {
    let whole = method.paths.iter().map(|path| (path, false));
    let mut all: Vec<_> = whole
        .chain(method.partial.iter().map(|path| (path, true)))
        .collect();
    all.sort_by(|(a, _), (b, _)| hotter(a, b));
    all
}

fn row(method: &MethodView, path: &PathView, is_prefix: bool) -> Row {
    let mut stops = stops(path, method.map, method.decisions());
    if is_prefix {
        stops.push("cut short".to_owned());
    }
    let what = if is_prefix { "prefix" } else { "path" };
    Row {
        stops,
        between: between(method.decisions()),
        name: format!("{what} {}", path.number),
    }
}

/// The method's name, which is never cut; its parameters, its package, then its place go first.
fn name(method: &MethodView, width: usize) -> String {
    let fits = |name: &String| name.chars().count() <= width;
    let without = format!("{}.{}(…)", names::dotted(method.class), method.map.name);
    let short = format!("{}(…)", method.short_name());
    let placed = |name: &str| names::with_file(name.to_owned(), method.source_file, method.map.place(0));
    let candidates = [method.title_with_file(), placed(&without), placed(&short)];
    candidates.into_iter().find(fits).unwrap_or(short)
}

fn ending(view: &View, width: usize) -> Vec<String> {
    let mut all = Vec::new();
    let left: usize = view.skipped.values().map(Vec::len).sum();
    if left > 0 {
        let reason = view.skipped.iter().max_by_key(|(_, list)| list.len());
        let most = reason.map_or("", |(reason, _)| reason);
        all.push(if left == 1 {
            format!("One class or method was left as it was: {most}.")
        } else {
            format!(
                "{} classes and methods were left as they were, mostly: {most}.",
                thousands(left as u64)
            )
        });
    }
    if let Some(method) = view.methods.first() {
        all.push(format!(
            "One method in full: --method {}. All of them: --all. As a page: -o page.html.",
            shell_safe(&method.short_name())
        ));
    }
    all.iter().flat_map(|text| wrap(text, width)).collect()
}

/// A method pattern as one can paste it.
fn shell_safe(name: &str) -> String {
    let pattern = match name.rsplit_once('.') {
        Some((class, method)) => format!("{class}#{method}"),
        None => name.to_owned(),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '_' | '.');
    if pattern.chars().all(plain) {
        pattern
    } else {
        format!("'{pattern}'")
    }
}
