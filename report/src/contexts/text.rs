//! Contexts for a terminal: a tree of the hottest ones and their callers.

use trodden_insight::contexts::ContextsView;
use trodden_profile::facts;

use crate::text::{Page, TITLE};
use crate::words::{self, percent, thousands};

/// Levels of indentation; deeper ones tell their depth.
const DEEPEST: u32 = 24;
/// Columns of an interval.
const WIDE: usize = 15;
/// Longest chain of callers that is written out.
const CHAIN: usize = 4;

/// Lines without their ends.
pub(super) fn write(view: &ContextsView, top: usize, page: &mut Page) {
    page.styled_line(
        TITLE,
        "Hot calling contexts (calls of each, those of its callees not included)",
    );
    if let Some((summary, tree)) = lines(view, top).split_first() {
        page.wrapped(2, summary);
        tree.iter().for_each(|line| page.line(line));
    }
    page.line("");
}

fn lines(view: &ContextsView, top: usize) -> Vec<String> {
    let mut out = vec![summary(view)];
    let chosen = view.chosen(top);
    if chosen.is_empty() {
        out.push("No context is hot.".to_owned());
        return out;
    }
    let exact = view.contexts.is_exact();
    let most = if exact { "" } else { "at most" };
    out.push(format!(
        "{:>15} {most:>15} {:>8}{}{}  context",
        view.contexts.weight.unit(),
        "share",
        interval_column(view, "95 % interval"),
        time_columns(view, "own time", "in all")
    ));
    let width = 41 + interval_column(view, "").len() + time_columns(view, "", "").len();
    let list = view.with_callers(&chosen);
    let mut children = vec![0u32; list.len()];
    for (_, parent) in &list {
        if let Some(parent) = parent {
            children[*parent] += 1;
        }
    }
    // Levels as they are drawn: chains of callers that nobody asked for are drawn as one.
    let mut levels: Vec<u32> = Vec::with_capacity(list.len());
    let dull = |at: usize| children[at] == 1 && !view.hot[list[at].0];
    let mut at = 0;
    while at < list.len() {
        let level = list[at].1.map_or(0, |parent| levels[parent] + 1);
        let chain = (at..list.len()).take_while(|&next| dull(next)).count();
        if chain > CHAIN {
            out.push(line(view, list[at].0, level));
            out.push(format!(
                "{:>width$}{}… {} more callers, one below the other",
                "",
                indent(level + 1),
                thousands(chain as u64 - 2)
            ));
            levels.push(level);
            levels.extend((1..chain).map(|_| level + 1));
            out.push(line(view, list[at + chain - 1].0, level + 2));
            levels[at + chain - 1] = level + 2;
            at += chain;
            continue;
        }
        out.push(line(view, list[at].0, level));
        levels.push(level);
        at += 1;
    }
    let hot = view.hot.iter().filter(|&&hot| hot).count();
    let shown = chosen.iter().filter(|&&at| view.hot[at]).count();
    if hot > shown {
        out.push(format!(
            "{} more contexts are hot; raise --top to see them.",
            thousands((hot - shown) as u64)
        ));
    }
    out
}

fn indent(level: u32) -> String {
    if level > DEEPEST {
        format!("{}»{} ", "  ".repeat(DEEPEST as usize), level)
    } else {
        "  ".repeat(level as usize)
    }
}

/// The column of intervals, which is there if there are any.
fn interval_column(view: &ContextsView, text: &str) -> String {
    if view.has_intervals() {
        format!(" {text:>WIDE$}")
    } else {
        String::new()
    }
}

/// The columns of CPU time, which are there if there are samples.
fn time_columns(view: &ContextsView, own: &str, whole: &str) -> String {
    match view.times {
        Some(_) => format!(" {own:>8} {whole:>8}"),
        None => String::new(),
    }
}

fn line(view: &ContextsView, at: usize, level: u32) -> String {
    let node = &view.nodes()[at];
    let (calls, most, share) = match node.calls {
        Some((least, most)) => {
            let most = if least == most {
                String::new()
            } else {
                thousands(most)
            };
            (thousands(least), most, percent(view.share(least)))
        }
        None => (String::new(), String::new(), String::new()),
    };
    let interval = view.share_interval(at).map_or(String::new(), words::share_range);
    let interval = interval_column(view, &interval);
    let time = view.time_shares(at).map(|shares| shares.map(percent));
    let time = time.map_or(String::new(), |[own, whole]| time_columns(view, &own, &whole));
    let called = match (node.site, view.call_line(at)) {
        (_, Some(line)) => format!("line {line}: "),
        (Some(bci), None) => format!("bci {bci}: "),
        (None, None) => String::new(),
    };
    let along = view
        .call_path_text(at)
        .map_or(String::new(), |path| format!("  [{path}]"));
    format!(
        "{calls:>15} {most:>15} {share:>8}{interval}{time}  {}{called}{}{along}",
        indent(level),
        view.title(node)
    )
}

/// The counts, in a sentence.
pub(crate) fn summary(view: &ContextsView) -> String {
    let contexts = view.contexts;
    let hot = view.hot.iter().filter(|&&hot| hot).count() as u64;
    let unit = contexts.weight.unit();
    let how = match contexts.thresholds {
        None => "all of them, exactly".to_owned(),
        Some((phi, epsilon)) => format!(
            "algorithm {}, phi = {phi}, epsilon = {epsilon}: counters are off by {} {unit} at most",
            contexts.algorithm,
            words::thousands((epsilon * contexts.calls as f64).ceil() as u64)
        ),
    };
    let bursts = contexts.bursts.as_ref().map_or(String::new(), |bursts| match contexts.calls {
        0 => format!(
            " No {unit} fell into a burst ({bursts}): the program may have ended too soon; --burst off counts all."
        ),
        _ => {
            let taken = view.profile.run.facts.get(facts::CONTEXTS_BURSTS);
            let taken = taken.map_or("bursts".to_owned(), |n| {
                format!("{} of them, a thread each", words::thousands(n))
            });
            let error = if view.has_intervals() {
                "Intervals tell of chance: where a share would lie, 95 times of 100, had bursts fallen at other \
                 times. Parts of the run weigh by the time that they take; what that changes is not known."
            } else {
                "How far off these are is not known: there were too few bursts."
            };
            format!(
                " Only bursts were counted ({bursts}; {taken}): numbers are of {unit} within them, and shares are \
                 estimates for the whole run. {error}"
            )
        }
    });
    let time = view.times.as_ref().map_or(String::new(), |times| {
        format!(
            " CPU time is of {} samples, those in what a context calls that has no probes included: {} of it is in \
             contexts of the tree, the rest in others.",
            words::thousands(times.total.samples),
            words::percent(times.placed().ns as f64 / times.total.ns.max(1) as f64),
        )
    });
    format!(
        "{} {unit} in {} contexts ({how}). {} are hot: {} {unit} or more.{bursts}{time}",
        words::thousands(contexts.calls),
        words::thousands(contexts.tree.nodes().len() as u64),
        words::thousands(hot),
        words::thousands(view.threshold),
    )
}
