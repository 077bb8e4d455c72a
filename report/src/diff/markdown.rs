//! Markdown, for a comment on a change.

use std::fmt::Write;

use trodden_insight::diff::{Diff, MethodChange, Reason};
use trodden_insight::source::Sources;

use super::text;
use super::text::{line_list, odds, place, signed_percent, source_line};
use super::time_words;
use crate::words::thousands;

/// Branches and paths shown per method.
const MOST_ROWS: usize = 5;

/// Markdown, for a comment on a change: a sentence, a table of methods, details folded.
pub fn markdown(diff: &Diff, sources: &Sources) -> String {
    let mut out = String::new();
    let (leading, following) = text::places_of_time(diff);
    if let Some(time) = leading {
        out += &time_words::time_markdown(diff, time);
    }
    if text::counts_paths(diff) {
        let _ = writeln!(out, "**{}**", escape(&text::headline(diff)));
    }
    let [heading, ruler] = match diff.time {
        Some(_) => [" change of the CPU time |", " ---: |"],
        None => ["", ""],
    };
    if !diff.methods.is_empty() {
        let _ = writeln!(
            out,
            "\n| method | change of the work |{heading} calls before | calls after | cause |"
        );
        let _ = writeln!(out, "| --- | ---: |{ruler} ---: | ---: | --- |");
    }
    for change in &diff.methods {
        let [before, after] = change.entries.map(thousands);
        let time = change
            .time
            .as_ref()
            .map_or(String::new(), |time| format!(" {} |", time_words::brief(time)));
        let _ = writeln!(
            out,
            "| {} | {} |{time} {before} | {after} | {} |",
            escape(&change.title()),
            signed_percent(change.share),
            escape(&text::cause(diff, change))
        );
    }
    for change in diff.methods.iter().filter(|c| c.reason == Reason::Behaviour) {
        out += &details(change, sources);
    }
    out.push('\n');
    if let Some(time) = following {
        out += &time_words::time_markdown(diff, time);
        out.push('\n');
    }
    for line in text::closing(diff) {
        let _ = writeln!(out, "{}  ", escape(&line));
    }
    out
}

fn details(change: &MethodChange, sources: &Sources) -> String {
    let mut out = format!("\n<details><summary>{}</summary>\n\n", escape(&change.title()));
    let file = change.source_file.as_deref();
    let line = change.cause.as_ref().and_then(|cause| cause.line);
    if let Some((line, text)) = source_line(sources, &change.class, file, line) {
        let _ = writeln!(
            out,
            "Line {line}:\n\n```java\n{}\n```\n",
            text.replace("```", "'''")
        );
    }
    if !change.branches.is_empty() {
        out += "| branch | outcome | before | after |\n| --- | --- | ---: | ---: |\n";
    }
    for branch in change.branches.iter().take(MOST_ROWS) {
        let what = branch.condition.clone().unwrap_or_default();
        let share = |which: usize, is_there: bool| {
            if is_there {
                odds(branch.probability[which])
            } else {
                "not there".to_owned()
            }
        };
        let _ = writeln!(
            out,
            "| {} {} | {} | {} | {} |",
            place(branch),
            escape(&what),
            escape(&branch.outcome),
            share(0, !branch.is_new),
            share(1, !branch.is_gone)
        );
    }
    for (words, lines) in [
        ("New code", &change.new_lines),
        ("Code that is gone", &change.gone_lines),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(out, "\n{words}: {}", line_list(lines));
        }
    }
    out + "\n</details>\n"
}

/// Names may hold anything: nothing in them is Markdown or HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
