//! Branches as HotSpot counted them: lines of text, JSON, and a part of the page.

use maud::{Markup, html};
use serde::Serialize;
use trodden_insight::hotspot::{CertainTime, HotSpotBranchView, HotSpotOutcome, HotSpotView};
use trodden_insight::left_out::LeftOut;

use crate::object::{Each, object, part_of};
use crate::words::{self, percent, range};

/// The meaning of the numbers.
pub(crate) const ABOUT: &str = "branches as HotSpot counted them before it compiled the method; times are of code that only \
     this outcome leads to";

/// Outcomes with a row on the page, at most.
const ROWS: usize = 60;

/// An outcome with its branch.
type Row<'v> = (&'v HotSpotBranchView, &'v HotSpotOutcome);

/// Outcomes with most time first, then those of branches that ran most. Branches that always went one way have no row: their
/// time is that of the code in front of them.
fn rows<'v>(view: &'v HotSpotView) -> Vec<Row<'v>> {
    let branches = view.branches.iter();
    let mut rows: Vec<Row> = branches
        .flat_map(|branch| branch.outcomes.iter().map(move |outcome| (branch, outcome)))
        .collect();
    rows.retain(|(_, outcome)| outcome.share > 0.0 && outcome.share < 1.0);
    let time = |outcome: &HotSpotOutcome| outcome.time.map_or(0, |own| own.time.ns);
    rows.sort_by_key(|(branch, outcome)| std::cmp::Reverse((time(outcome), branch.counted)));
    rows
}

/// `3485 x != null → yes`.
fn text(view: &HotSpotView, (branch, outcome): Row) -> String {
    let asked = view.decisions.asked(&view.method.map, branch.block);
    let line = branch.at.line.map_or_else(String::new, |line| format!("{line} "));
    // Of a branch of which nothing else is known the line is what is asked.
    let line = if asked.starts_with("line ") { "" } else { &line };
    format!("{line}{asked} → {}", outcome.text)
}

/// Text of the outcome with most time, if that is known of one.
pub(crate) fn hottest(view: &HotSpotView) -> Option<String> {
    let row = rows(view).into_iter().next()?;
    let own = row.1.time.filter(|own| own.time.samples > 0)?;
    Some(format!(
        "line {}, {} of the cases, leads alone to code with {} of its own time",
        text(view, row),
        percent(row.1.share),
        percent(own.share),
    ))
}

/// `12.3 % 11–14 %`, or nothing where no code is the outcome's alone.
fn time(own: Option<CertainTime>) -> String {
    own.map_or_else(String::new, |own| {
        let interval = own.interval.into();
        if words::share_is_known(interval) {
            format!("{} {}", percent(own.share), range(interval))
        } else {
            words::TIME_NOT_KNOWN.to_owned()
        }
    })
}

/// Numbers and text of the first rows, none where no branch went more than one way: the time of the outcome, its share of the branch's executions, the decision.
pub(crate) fn lines(left: &LeftOut, most: usize) -> Vec<(String, String, String)> {
    let Some(view) = &left.hotspot else {
        return Vec::new();
    };
    let rows = rows(view).into_iter().take(most);
    rows.map(|row| (time(row.1.time), percent(row.1.share), text(view, row)))
        .collect()
}

/// The rows on the page, with the meaning of their numbers; nothing where there are none.
pub(crate) fn html(view: &HotSpotView) -> Markup {
    let rows = rows(view);
    if rows.is_empty() {
        return html! {};
    }
    html! {
        p.note { "Branches as HotSpot counted them before it compiled the method. Times are of code that only this outcome leads to, as shares of the method's own time." }
        div.scroll { table {
            thead { tr { th.num scope="col" { "Time" } th.num scope="col" { "Of its executions" } th scope="col" { "Outcome" } } }
            tbody { @for row in rows.iter().take(ROWS) { tr {
                td.num { (time(row.1.time)) }
                td.num { (percent(row.1.share)) }
                td.text { code { (text(view, *row)) } }
            } } }
        } }
        @if rows.len() > ROWS { p.note { "… and " (rows.len() - ROWS) " more." } }
    }
}

/// A method without probes whose branches HotSpot counted: shares, and no counts.
pub(crate) fn json<'v>(left: &'v LeftOut, view: &'v HotSpotView) -> impl Serialize {
    let branches = view.branches.iter().map(move |branch| {
        let outcomes = branch.outcomes.iter();
        let decision = view.decisions.of(branch.block);
        object! {
            "bci": branch.at.bci,
            "line": branch.at.line,
            "condition": decision.and_then(|decision| decision.text.as_deref()),
            "source": "hotspot",
            "outcomes": Each(outcomes.clone().map(|outcome| object! {
                "outcome": outcome.text.as_str(),
                "share": outcome.share,
            })),
            // Of code that only this outcome leads to; shares are of the method's time.
            "outcome_time": Each(outcomes.filter_map(|outcome| {
                let own = outcome.time?;
                Some(object! {
                    "outcome": outcome.text.as_str(),
                    "samples": own.time.samples,
                    "share": own.share,
                    "interval": [own.interval.0, own.interval.1],
                })
            })),
        }
    });
    object! {
        "class": left.class,
        "name": left.name,
        "descriptor": left.descriptor,
        "source_file": view.method.source_file.as_deref(),
        "reason": left.reason.as_str(),
        "time": object! {
            "near": part_of(left.near, left.program),
            "total": part_of(left.total, left.program),
        },
        "paths": [(); 0],
        "branches": Each(branches),
    }
}
