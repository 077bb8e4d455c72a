//! The first screen: what stands out, and the hot methods with their hot paths. At most 60 lines; all the rest is a
//! question away (`--method`, `--all`).

use std::cmp::Reverse;

use trodden_profile::RunInfo;

use crate::findings::{self, Finding};
use crate::section::SECTIONS;
use crate::text::{DECISION, HOT, Page, SOFT, TITLE, route, wrap};
use crate::view::{MethodView, PathView, View};
use crate::words::{self, cut, percent, thousands};

/// Most lines.
const MOST_LINES: usize = 60;
/// Findings on the first screen; the page and the JSON have all.
const FINDINGS: usize = 5;

/// Writes it. `width`: columns of the terminal.
pub(crate) fn write(view: &View, top: usize, paths: usize, width: usize, color: bool) -> String {
    let width = width.clamp(60, 200);
    let mut page = Page {
        out: String::new(),
        color,
    };
    head(&mut page, view, width);
    for kind in SECTIONS {
        kind.overview(view, width, &mut page);
    }
    stands_out(&mut page, view, width);
    let ending = ending(view, width);
    heading(&mut page, title(view));
    let mut shown = 0;
    for method in view.methods.iter().take(top) {
        let lines = method_lines(&page, method, view.times.is_some(), paths, width);
        let used = page.out.lines().count() + lines.len() + ending.len() + 2;
        if used > MOST_LINES && shown > 0 {
            break;
        }
        lines.iter().for_each(|line| page.line(line));
        shown += 1;
    }
    let more = view.methods.len() - shown;
    if more > 0 {
        let what = if more == 1 { "method" } else { "methods" };
        let text = format!("{:>9} more {what} ran", thousands(more as u64));
        let text = page.styled(SOFT, &text);
        page.line(&text);
    }
    page.line("");
    ending.iter().for_each(|line| page.line(line));
    page.out
}

/// The weightiest findings, if there are any.
pub(crate) fn stands_out(page: &mut Page, view: &View, width: usize) {
    let found = findings::find(view);
    if found.is_empty() {
        return;
    }
    heading(page, "What stands out");
    for (index, finding) in found.iter().take(FINDINGS).enumerate() {
        one(page, index + 1, finding, width);
    }
    page.line("");
}

fn title(view: &View) -> &'static str {
    match view.times {
        Some(_) => "Hot methods (CPU time, that of unmeasured callees too), and the paths that take it",
        None => "Hot methods (share of all decisions), with their hot paths",
    }
}

fn heading(page: &mut Page, text: &str) {
    let text = page.styled(TITLE, text);
    page.line(&text);
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
    let counted = if view.run.has_time_only() { "" } else { &counted };
    let mut text = format!(
        "{counted}{:.1} s. {}",
        view.run.seconds,
        words::how_counted(view.run)
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
        command => command,
    }
}

fn one(page: &mut Page, number: usize, finding: &Finding, width: usize) {
    let text = format!("{number}. {}", finding.text);
    for (i, line) in wrap(&text, width - 5).iter().enumerate() {
        let line = page.styled(HOT, line);
        page.line(&format!("{}{line}", if i == 0 { "  " } else { "     " }));
    }
    let evidence = cut(&finding.evidence, width - 5);
    let evidence = page.styled(SOFT, &evidence);
    page.line(&format!("     {evidence}"));
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
            let about = format!(
                "{:>10}{} with all that it calls; {} of all decisions",
                "",
                percent(time.total_share),
                percent(method.share)
            );
            let about = page.styled(SOFT, &about);
            vec![format!("{:>8}  {name}", percent(time.share)), about]
        }
    };
    let whole = method.paths.iter().map(|path| (path, ""));
    let mut all: Vec<(&PathView, &str)> = whole
        .chain(method.partial.iter().map(|path| (path, " · cut short")))
        .collect();
    all.sort_by_key(|(path, _)| Reverse((path.flow, path.count)));
    let samples = |path: &PathView| path.time.map_or(0.0, |time| time.share);
    all.sort_by(|(a, _), (b, _)| samples(b).total_cmp(&samples(a)));
    let count = all.len();
    let shown: Vec<(String, String)> = all
        .into_iter()
        .take(paths)
        .map(|(path, ending)| {
            let words = route(path, method.map, method.decisions()) + ending;
            (numbers(path), words)
        })
        .collect();
    for (index, (numbers, words)) in shown.iter().enumerate() {
        let left = width.saturating_sub(numbers.chars().count() + 1);
        let others = shown.iter().enumerate().filter(|(other, _)| *other != index);
        let words = cut_where_they_differ(words, others.map(|(_, (_, other))| &**other), left);
        lines.push(format!("{numbers} {}", page.styled(DECISION, &words)));
    }
    if count > paths {
        let what = if count - paths == 1 { "path" } else { "paths" };
        let rest = format!("{:>18}and {} more {what}", "", thousands((count - paths) as u64));
        lines.push(page.styled(SOFT, &rest));
    }
    lines
}

fn numbers(path: &PathView) -> String {
    match path.time {
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

/// As much of a route as fits; if that would read like another one's, its first stop and then what is different.
fn cut_where_they_differ<'o>(route: &str, others: impl Iterator<Item = &'o str>, width: usize) -> String {
    const BETWEEN: &str = " · ";
    let stops: Vec<&str> = route.split(BETWEEN).collect();
    let alike = others
        .filter(|other| cut(other, width) == cut(route, width))
        .map(|other| {
            let pairs = stops.iter().zip(other.split(BETWEEN));
            pairs.take_while(|(own, other)| **own == *other).count()
        })
        .max();
    match alike {
        // From there on, but for the first stop, which says where the path starts.
        Some(alike) if (2..stops.len()).contains(&alike) => {
            let rest = stops[alike..].join(BETWEEN);
            let whole = format!("{}{BETWEEN}…{BETWEEN}{rest}", stops[0]);
            match cut(&whole, width) == whole || whole.chars().count() - rest.chars().count() < width / 2 {
                true => cut(&whole, width),
                false => cut(&format!("…{BETWEEN}{rest}"), width),
            }
        }
        _ => cut(route, width),
    }
}

/// The method's name, which is never cut; its parameters, then its package go first.
fn name(method: &MethodView, width: usize) -> String {
    let fits = |name: &String| name.chars().count() <= width;
    let without = format!("{}.{}(…)", words::dotted(method.class), method.map.name);
    let short = format!("{}(…)", method.short_name());
    let candidates = [method.title(), without];
    candidates.into_iter().find(fits).unwrap_or(short)
}

fn ending(view: &View, width: usize) -> Vec<String> {
    let mut all = Vec::new();
    let left: usize = view.skipped.values().map(Vec::len).sum();
    if left > 0 {
        let reason = view.skipped.iter().max_by_key(|(_, list)| list.len());
        let most = reason.map_or("", |(reason, _)| reason);
        all.push(format!(
            "{} classes and methods were left as they were, mostly: {most}.",
            thousands(left as u64)
        ));
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
    match pattern.chars().all(plain) {
        true => pattern,
        false => format!("'{pattern}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_begin_alike() {
        let [one, other] = [
            "7 a → yes · 8 b → yes · 9 c → yes · 10",
            "7 a → yes · 8 b → yes · 9 c → no · 12",
        ];
        let short = |route, other| cut_where_they_differ(route, [other].into_iter(), 26);
        assert_eq!(short(one, other), "… · 9 c → yes · 10");
        assert_eq!(short(other, one), "… · 9 c → no · 12");
        // There is room for both.
        assert_eq!(cut_where_they_differ(one, [other].into_iter(), 80), one);
        let one = "7 a → yes · 8 b → yes · 8 bb → yes · 8 bbb → yes · 9 c → yes · 10";
        let other = "7 a → yes · 8 b → yes · 8 bb → yes · 8 bbb → yes · 9 c → no · 12";
        assert_eq!(
            cut_where_they_differ(one, [other].into_iter(), 40),
            "7 a → yes · … · 9 c → yes · 10"
        );
    }
}
