//! Cells and tables.

use maud::{Markup, html};
use trodden_report::{percent, thousands};

use crate::query::{Answer, Value};

/// Where a table ends, and how to see the rest.
pub(super) struct Ending {
    pub(super) top: usize,
    pub(super) command: &'static str,
}

/// Columns of an answer; `method` and `way` are combined from several.
pub(super) fn table(answer: &Answer, columns: &[&str], ending: &Ending) -> Markup {
    html! {
        @for note in answer.notes() { p.note { (note) "." } }
        @if answer.rows.is_empty() { p { "None." } } @else {
            div.scroll { table.sortable {
                thead { tr { @for column in columns { (head(column)) } } }
                tbody { @for row in answer.rows.iter().take(ending.top) { tr { @for column in columns { (cell(answer, row, column)) } } } }
            } }
            (more(answer.rows.len(), ending.top, ending.command))
        }
    }
}

/// `and 12 more: trodden store query … never-taken`.
pub(super) fn more(rows: usize, top: usize, command: &str) -> Markup {
    html! {
        @if rows > top {
            p.note { "And " (thousands((rows - top) as u64)) " more: " code { "trodden store query STORE " (command) " --top 0" } }
        }
    }
}

fn head(column: &str) -> Markup {
    let (title, kind) = match column {
        "method" => ("Method", Some("text")),
        "way" => ("Way out", Some("text")),
        "text" => ("Path", Some("text")),
        "kind" => ("What", Some("text")),
        "certain" => ("Sure?", Some("text")),
        "host" => ("Host", Some("text")),
        "build" => ("Build", Some("text")),
        "source_file" => ("Source", Some("text")),
        "line" => ("Line", None),
        "old_share" => ("Share before", None),
        "new_share" => ("Share now", None),
        "old_count" => ("Times before", None),
        "new_count" => ("Times now", None),
        "moved" => ("Work moved", None),
        "method_paths" => ("Method's paths", None),
        "distance" => ("Distance", None),
        "others" => ("Others' average", None),
        "share" => ("Share here", None),
        "request" => ("Request", Some("text")),
        "over_ms" => ("Slow over, ms", None),
        "slow" => ("Slow", None),
        "slow_share" => ("Share of slow", None),
        "other_share" => ("Share of others", None),
        "hosts" => ("Hosts", None),
        "of_hosts" => ("Of", None),
        "with_ms" => ("ms with", None),
        "without_ms" => ("ms without", None),
        "others_share" => ("Share elsewhere", None),
        other => (other, Some("text")),
    };
    html! {
        @match kind {
            Some(kind) => { th scope="col" data-type=(kind) { (title) } }
            None => { th.num scope="col" { (title) } }
        }
    }
}

fn cell(answer: &Answer, row: &[Value], column: &str) -> Markup {
    let value = answer.get(row, column);
    match column {
        "method" => text(&answer.method(row), true),
        "way" => text(&answer.way(row), true),
        "text" => text(&path(value), false),
        "certain" => text(answer.certainty(row), false),
        "old_share" | "new_share" | "share" | "others_share" | "slow_share" | "other_share" => {
            share(value, "")
        }
        "moved" => share(value, "+"),
        "over_ms" | "with_ms" | "without_ms" => html! {
            td.num data-value=(value.float().unwrap_or(-1.0)) { (value.float().map_or("–".to_owned(), |value| format!("{value:.1}"))) }
        },
        "distance" | "others" => html! {
            td.num data-value=(value.float().unwrap_or(-1.0)) { (value.float().map_or("–".to_owned(), |value| format!("{value:.3}"))) }
        },
        _ => match value {
            Value::Number(_) => number(value),
            Value::Null => text("–", false),
            other => text(&other.printable(), false),
        },
    }
}

/// The text of a path.
pub(super) fn path(value: &Value) -> String {
    value.text().map_or("–".to_owned(), |_| value.printable())
}

fn text(text: &str, code: bool) -> Markup {
    html! { td data-value=(text) { @if code { code { (text) } } @else { (text) } } }
}

fn share(value: &Value, plus: &str) -> Markup {
    let shown = match value.float() {
        None => "–".to_owned(),
        Some(share) if share < 0.0 => format!("−{}", percent(-share)),
        Some(share) if share > 0.0 => format!("{plus}{}", percent(share)),
        Some(share) => percent(share),
    };
    html! { td.num data-value=(value.float().unwrap_or(-1.0)) { (shown) } }
}

/// With separators; a dash for what is not known.
pub(super) fn number(value: &Value) -> Markup {
    html! { td.num data-value=(value.number().unwrap_or(-1)) {
        (value.number().map_or("–".to_owned(), |number| thousands(number.unsigned_abs())))
    } }
}

/// Nanoseconds as seconds.
pub(super) fn seconds(value: &Value) -> Markup {
    html! { td.num data-value=(value.number().unwrap_or(-1)) {
        (value.number().map_or("–".to_owned(), |ns| trodden_report::seconds(ns.unsigned_abs())))
    } }
}
