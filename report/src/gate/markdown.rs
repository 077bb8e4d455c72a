//! Markdown, for a comment on a change.

use std::fmt::Write;

use super::compare::{GateComparison, TestChange, Verdict};
use super::text::{limit_words, of_method, of_path, signed};
use crate::diff::escape_markdown as escape;
use crate::words::thousands;

/// Rows of the table.
const MOST_ROWS: usize = 50;

impl GateComparison {
    /// Markdown: a sentence, a table of tests, what is unstable folded.
    pub fn markdown(&self) -> String {
        let mut out = format!("**{}**\n", escape(&self.headline()));
        let listed = self.worth_a_word();
        if !listed.is_empty() {
            out += "\n| test | change | before | after | what grew |\n| --- | ---: | ---: | ---: | --- |\n";
        }
        for test in listed.iter().take(MOST_ROWS) {
            out += &row(test);
        }
        if listed.len() > MOST_ROWS {
            let _ = writeln!(out, "\n… and {} more.", listed.len() - MOST_ROWS);
        }
        let calls = self.calling_more();
        if !calls.is_empty() {
            out += "\n<details><summary>Tests that call more code that is not counted (the JDK, libraries)</summary>\n\n";
            for (test, said) in calls.iter().take(MOST_ROWS) {
                let _ = writeln!(out, "- {}: {}", escape(&test.name), escape(said));
            }
            if calls.len() > MOST_ROWS {
                let _ = writeln!(out, "- … and {} more", calls.len() - MOST_ROWS);
            }
            out += "\n</details>\n";
        }
        let unstable: Vec<&TestChange> = self.tests.iter().filter(|test| test.unstable.is_some()).collect();
        if !unstable.is_empty() {
            out += "\n<details><summary>Tests whose work is not the same in each run</summary>\n\n";
            for test in unstable {
                let reason = test.unstable.as_deref().unwrap_or_default();
                let _ = writeln!(out, "- {}: {}", escape(&test.name), escape(reason));
            }
            out += "\n</details>\n";
        }
        out += "\nCounted: executed bytecode instructions, which depend on the code and its input, not on the machine. They are no time.\n";
        out
    }
}

fn row(test: &TestChange) -> String {
    let count = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), thousands);
    let change = match (test.verdict, test.change) {
        (Verdict::New, _) => "new".to_owned(),
        (Verdict::Gone, _) => "gone".to_owned(),
        (Verdict::Broken, Some(change)) => match test.limit.filter(|_| test.own_limit) {
            Some(limit) => format!("**{}** (allowed: {})", signed(change), limit_words(limit)),
            None => format!("**{}**", signed(change)),
        },
        (Verdict::Unsure, Some(change)) => format!("{} (not the same twice)", signed(change)),
        (_, Some(change)) => signed(change),
        (_, None) => "?".to_owned(),
    };
    let what = test.moved.as_ref().map_or_else(String::new, |moved| {
        let word = if test.grew().is_some() { "" } else { "shrank: " };
        let path = of_path(moved).map_or_else(String::new, |path| format!("<br>path {}", escape(&path)));
        format!(
            "{word}{}: {}{path}",
            escape(&moved.title()),
            escape(&of_method(moved))
        )
    });
    let [before, after] = test.instructions.map(count);
    format!(
        "| {} | {change} | {before} | {after} | {what} |\n",
        escape(&test.name)
    )
}
