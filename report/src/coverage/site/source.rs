//! The page of a source file: each line with whether it ran, and which outcomes of its decisions were never taken.

use std::collections::BTreeMap;

use maud::{Markup, html};
use trodden_insight::coverage::{Coverage, Line, Ratio};
use trodden_insight::source::Sources;

use super::{File, INDEX, Package, frame};
use crate::coverage::marks;
use crate::words::{percent, thousands};

/// One line, of all methods that have code there.
#[derive(Default)]
struct Marked {
    /// True if code of it ran.
    ran: bool,
    /// True if there is code of it that did not.
    missed: bool,
    count: u64,
    branches: Ratio,
    /// Which outcomes of its decisions were never taken.
    never: Vec<Markup>,
}

impl Marked {
    fn add(&mut self, line: &Line) {
        let known = line.covered_instructions + line.missed_instructions > 0;
        self.ran |= line.count > 0;
        self.missed |= if known {
            line.missed_instructions > 0
        } else {
            line.count == 0
        };
        self.count = self.count.max(line.count);
        self.branches += line.branch_ratio();
    }

    /// Its colour, and the same in words.
    fn class(&self) -> (&'static str, &'static str) {
        match (self.ran, self.missed || self.branches.missed() > 0) {
            (false, _) => ("never", "did not run"),
            (true, true) => ("partly", "ran in part"),
            (true, false) => ("ran", "ran"),
        }
    }
}

pub(super) fn page(coverage: &Coverage, package: &Package, file: &File, sources: &Sources) -> String {
    let lines = lines(file);
    let class = file.methods.first().map_or("", |method| method.class());
    let source = sources.find(class, Some(file.name));
    let text = source.as_ref().map_or(&[][..], |source| &source.lines);
    let last = lines.keys().next_back().copied().unwrap_or(0) as usize;
    let text_of = |number: u32| text.get((number as usize).checked_sub(1)?);
    let without = source.is_none();
    // Without text, only the lines that have code are of use.
    let numbers: Vec<u32> = if without {
        lines.keys().copied().collect()
    } else {
        (1..=text.len().max(last.min(text.len() + 1)) as u32).collect()
    };
    let covered = lines.values().map(|line| Ratio::one(line.ran)).sum::<Ratio>();
    let branches = lines.values().map(|line| line.branches).sum::<Ratio>();
    let share = |ratio: Ratio| ratio.share().map_or("n/a".to_owned(), percent);
    let content = html! {
        section {
            p { (share(covered)) " of " (thousands(covered.total)) " lines ran, " (share(branches)) " of "
                (thousands(branches.total)) " branches." }
            @if without { p.note { "The source was not found. Name its folder or " code { "-sources.jar" } " by " code { "--sources PLACE" } "." } }
            @if last > text.len() && !without {
                p.warning { "The class has code in line " (last) ", but this source has " (text.len()) " lines: it is not the one that was compiled." }
            }
            div.scroll { table.code {
                thead.unseen { tr { th { "Line" } @if coverage.has_paths { th { "Times" } } th { "Source, and outcomes that were never taken" } } }
                tbody { @for number in numbers {
                    (row(coverage, number, text_of(number), lines.get(&number)))
                } }
            } }
        }
    };
    let up = format!("../{INDEX}");
    let trail = [("Coverage", up.as_str()), (package.title(), INDEX)];
    frame(coverage, file.name, "../", &trail, &content)
}

fn row(coverage: &Coverage, number: u32, text: Option<&String>, line: Option<&Marked>) -> Markup {
    let class = line.map(Marked::class);
    html! {
        tr id={ "L" (number) } class=[class.map(|(class, _)| class)] {
            td.line title=[class.map(|(_, words)| words)] { (number) }
            @if coverage.has_paths { td.num { @if let Some(line) = line { (thousands(line.count)) } } }
            td.text {
                code { (text.map_or("", String::as_str)) }
                @if let Some(line) = line {
                    // Where nothing ran, that says all.
                    @if line.ran { @for never in &line.never { " " span.why { (never) } } }
                }
            }
        }
    }
}

fn lines(file: &File) -> BTreeMap<u32, Marked> {
    let mut lines: BTreeMap<u32, Marked> = BTreeMap::new();
    for method in &file.methods {
        for (number, line) in method.lines() {
            lines.entry(number).or_default().add(&line);
        }
        for never in marks::all_never_taken(method) {
            if let Some(line) = never.at.line.and_then(|number| lines.get_mut(&number)) {
                line.never.push(never.markup());
            }
        }
    }
    lines
}
