//! Markdown about a method, or about a branch.

use std::fmt::Write;

use trodden_insight::hotspot::HotSpotBranchView;
use trodden_insight::left_out::LeftOut;
use trodden_insight::route::route;
use trodden_insight::view::{BranchView, MethodView, PathView, View};
use trodden_profile::printable;

use super::{asked, outcomes, share, time, titles};
use crate::diff::escape_markdown;
use crate::words::{self, percent, thousands};

/// Paths of a method that are listed.
const PATHS: usize = 5;
/// Columns of a path.
const ROUTE: usize = 120;
/// Cases of a switch that are listed.
const CASES: usize = 20;

/// A method: calls, time, and its paths with most time, or most decisions.
pub fn method(view: &View, method: &MethodView) -> String {
    let mut out = format!("**{}**: {}", escape(&method.title()), titles::calls(view, method));
    if let Some(time) = time(method) {
        let _ = write!(out, "; {}", escape(&words::time_of_method(time)));
    }
    let _ = writeln!(out, "; {} of all decisions.\n", percent(method.share));
    if let Some(divided) = time(method).and_then(words::divided) {
        let _ = writeln!(out, "{}.\n", escape(&divided));
    }
    out += &paths(method);
    out
}

fn paths(method: &MethodView) -> String {
    let timed = time(method).is_some();
    let mut out = String::new();
    let all = method.paths.len() + method.partial.len();
    if all == 0 {
        return out;
    }
    out += if timed {
        "| time | times | path |\n| ---: | ---: | --- |\n"
    } else {
        "| decisions | times | path |\n| ---: | ---: | --- |\n"
    };
    for path in method.all_paths().take(PATHS) {
        let share = match path.time.filter(|_| timed) {
            Some(time) => words::share_of_time(time.share, time.interval),
            None if timed => "–".to_owned(),
            None => percent(path.share_of_method),
        };
        let _ = writeln!(
            out,
            "| {share} | {} | {} |",
            thousands(path.count),
            code_in_table(&words::cut(&way(path, method), ROUTE))
        );
    }
    let more = all.saturating_sub(PATHS);
    let possible = thousands(method.map.num_paths());
    let more = if more > 0 {
        format!("{} more ran; ", thousands(more as u64))
    } else {
        String::new()
    };
    let _ = writeln!(out, "\n{more}{possible} are possible.");
    out
}

/// A path's lines and decisions, and where it begins and ends.
fn way(path: &PathView, method: &MethodView) -> String {
    let decisions = method.decisions();
    let ends = decisions.ends(method.map, &path.description);
    format!("{}, to {ends}", route(path, method.map, decisions))
}

/// A branch or switch: each outcome with its number, share and time.
pub fn branch(method: &MethodView, branch: &BranchView) -> String {
    let all = outcomes(method, branch);
    let timed = all.iter().any(|outcome| outcome.time.is_some());
    let mut out = heading(asked(method, branch).as_deref());
    out += if timed {
        "| outcome | times | share | of the method's time with callees |\n| --- | ---: | ---: | ---: |\n"
    } else {
        "| outcome | times | share |\n| --- | ---: | ---: |\n"
    };
    for outcome in all.iter().take(CASES) {
        let times = match outcome.count {
            Some(0) => "never".to_owned(),
            count => words::count(count),
        };
        let share = share(outcome, &all).map_or_else(|| "–".to_owned(), percent);
        let _ = write!(out, "| {} | {times} | {share} |", escape(&outcome.text));
        if timed {
            let time = outcome.time.map_or_else(
                || "–".to_owned(),
                |time| words::share_of_time(time.share, time.interval),
            );
            let _ = write!(out, " {time} |");
        }
        out.push('\n');
    }
    if all.len() > CASES {
        let _ = writeln!(out, "\n{} more outcomes.", all.len() - CASES);
    }
    if let Some(why) = branch.unknown() {
        let _ = writeln!(out, "\nNot known how often: it {}.", escape(why));
    }
    out
}

/// The question of a branch, above the table of its outcomes.
pub(super) fn heading(asked: Option<&str>) -> String {
    match asked {
        Some(asked) => format!("{}\n\n", code(asked)),
        None => "The branch of this line:\n\n".to_owned(),
    }
}

/// A method whose paths are not known.
pub fn left_out(left: &LeftOut) -> String {
    format!(
        "**{}**: {}.\n",
        escape(&left.title()),
        escape(&titles::left_out_title(left))
    )
}

/// A branch as HotSpot counted it before it compiled the method.
pub fn hotspot_branch(asked: Option<&str>, branch: &HotSpotBranchView) -> String {
    let asked = asked.map_or_else(|| "The branch of this line".to_owned(), code);
    let mut out = format!(
        "{asked}, as HotSpot counted it before it compiled the method\n\n\
         | outcome | share | time of its own code |\n| --- | ---: | ---: |\n"
    );
    for outcome in branch.outcomes.iter().take(CASES) {
        let time = outcome.time.map_or_else(
            || "–".to_owned(),
            |own| words::share_of_time(own.share, own.interval.into()),
        );
        let _ = writeln!(
            out,
            "| {} | {} | {time} |",
            escape(&outcome.text),
            percent(outcome.share)
        );
    }
    out
}

pub(super) fn escape(text: &str) -> String {
    escape_markdown(&printable(text))
}

/// A piece of code in a table: there a bar is escaped even within code.
fn code_in_table(text: &str) -> String {
    code(&text.replace('|', "\\|"))
}

fn code(text: &str) -> String {
    let text = printable(text);
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence} {text} {fence}")
}
