//! Trees for a terminal.

use trodden_insight::findings::ratio;
use trodden_insight::kpaths::{Fold, Limits, Line, Tree, Trees, leftovers};
use trodden_insight::view::MethodView;
use trodden_profile::KPaths;

use super::{label, label_of_line, margin_of};
use crate::text::{DECISION, HOT, Page, SOFT, WIDTH, wrap};
use crate::words::{percent, thousands};

/// Lines of one tree at most.
const MOST: usize = 40;
/// Levels of lines at most, so that a page of 100 columns has room for words.
const DEEPEST: usize = 14;
/// Always-last paths that are listed at most.
const LISTED: usize = 8;

/// A line of text and what it is.
pub(crate) enum Row {
    Title(String),
    Note(String),
    /// What is drawn in front of the first line, and of the ones that do not fit it; the label; words that may be broken.
    Branch([String; 2], String, String),
}

/// The section of a method; empty if it has no forest.
pub(crate) fn lines(kpaths: Option<&KPaths>, method: &MethodView, limits: &Limits) -> Vec<Row> {
    let Some(trees) = Trees::new(kpaths, method, limits) else {
        return Vec::new();
    };
    let mut out = vec![Row::Title(format!(
        "what came next, in sequences of up to {} paths: share of the line above (share of the first path)",
        trees.k
    ))];
    out.extend(super::bursts(&trees).map(Row::Note));
    out.extend(super::error(&trees).map(Row::Note));
    for (tree, interval) in trees.trees.iter().zip(&trees.intervals) {
        let root = tree.root();
        let share = ratio(root.count, trees.total);
        let words = format!(
            "{} times, {}{} of this method's paths",
            thousands(root.count),
            percent(share),
            margin_of(&trees, share, *interval)
        );
        out.push(Row::Branch(
            Default::default(),
            format!("path {}", root.path),
            words,
        ));
        let lines = tree.lines(limits.fold(Fold::Chains));
        let mut rows = Vec::new();
        let mut drawing = Drawing {
            trees: &trees,
            tree,
            lines: &lines,
            limits,
            rows: &mut rows,
        };
        drawing.below(&lines[0], "");
        let cut = rows.len().saturating_sub(MOST);
        rows.truncate(MOST);
        out.append(&mut rows);
        if cut > 0 {
            let text = format!(
                "… and {} more lines; raise --min-root or --min-parent to have fewer",
                thousands(cut as u64)
            );
            out.push(Row::Note(text));
        }
    }
    if trees.more > 0 {
        out.push(Row::Note(format!(
            "… and trees of {} more paths",
            thousands(trees.more as u64)
        )));
    }
    if !trees.last.is_empty() {
        let mut shown: Vec<String> = trees
            .last
            .iter()
            .take(LISTED)
            .map(|(n, _)| n.to_string())
            .collect();
        shown.extend((trees.last.len() > LISTED).then(|| "…".to_owned()));
        out.push(Row::Note(format!(
            "never followed by another path: {}",
            shown.join(", ")
        )));
    }
    for (number, path) in &trees.paths {
        let words = match path {
            Ok(_) => trees.routes[number].clone(),
            Err(error) => format!("names no path: {error}"),
        };
        let indent = [String::new(), " ".repeat(4)];
        out.push(Row::Branch(indent, format!("{number}:"), words));
    }
    out
}

struct Drawing<'a> {
    trees: &'a Trees,
    tree: &'a Tree,
    lines: &'a [Line],
    limits: &'a Limits,
    rows: &'a mut Vec<Row>,
}

impl Drawing<'_> {
    /// What stands below a line, each with `before` in front.
    fn below(&mut self, line: &Line, before: &str) {
        let rest = leftovers(self.tree, line, self.limits);
        let mut left = line.children.len() + rest.len();
        let mut draw = |label: String, words: String| {
            left -= 1;
            let (first, others) = if left > 0 {
                ("├─ ", "│  ")
            } else {
                ("└─ ", "   ")
            };
            let others = format!("{before}{others}");
            (
                Row::Branch([format!("{before}{first}"), others.clone()], label, words),
                others,
            )
        };
        for &child in &line.children {
            let child = &self.lines[child];
            let mut steps: Vec<String> = child.steps.iter().map(ToString::to_string).collect();
            let too_deep = child.depth >= DEEPEST && !child.children.is_empty();
            steps.extend(too_deep.then(|| "…".to_owned()));
            let (row, before) = draw(label_of_line(self.trees, self.tree, child), steps.join(" → "));
            self.rows.push(row);
            if !too_deep {
                self.below(child, &before);
            }
        }
        for (words, of_line, of_root) in rest {
            self.rows.push(draw(label(of_line, of_root), words).0);
        }
    }
}

/// The trees of a method for a terminal.
pub(super) fn write(rows: &[Row], page: &mut Page) {
    for row in rows {
        match row {
            Row::Title(text) => {
                for line in wrap(text, WIDTH - 3) {
                    let line = page.styled(SOFT, &line);
                    page.line(&format!("   {line}"));
                }
            }
            Row::Note(text) => page.wrapped(5, text),
            Row::Branch([first, others], label, words) => {
                let used = 5 + first.chars().count() + label.chars().count() + 2;
                let label = page.styled(HOT, label);
                for (i, text) in wrap(words, WIDTH.saturating_sub(used).max(20)).iter().enumerate() {
                    let text = page.styled(DECISION, text);
                    if i == 0 {
                        page.line(&format!("     {first}{label}  {text}"));
                    } else {
                        let gap = " ".repeat(used - 5 - others.chars().count());
                        page.line(&format!("     {others}{gap}{text}"));
                    }
                }
            }
        }
    }
}
