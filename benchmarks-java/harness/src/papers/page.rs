//! The page that shows the papers' figures beside ours.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::found::Found;
use super::paper::{How, Paper};

/// Folder of the plots, relative to the page.
pub const PLOTS: &str = "evidence";

/// A paper's section: its heading, its table, plots, where differences come from, and what is not redone.
pub fn section(paper: &Paper, found: &Found) -> String {
    let mut text = format!(
        "\n## {}\n*{}.* {}\n\n| figure | what | paper | ours | aim | run |\n| --- | --- | --- | --- | --- | --- |\n",
        paper.name, paper.title, paper.setting
    );
    let (mut differences, mut tested, mut not) = (String::new(), String::new(), String::new());
    for item in &paper.items {
        match &item.how {
            How::Measured { rows, difference, .. } => {
                for row in rows {
                    let value = found.values.get(&row.measure);
                    let ours = value.map_or("not measured", |value| &value.text);
                    let runs: BTreeSet<String> = value.map_or(BTreeSet::new(), |value| value.runs.clone());
                    let _ = writeln!(
                        text,
                        "| {} | {}: {} | {} | {ours} | {} | {} |",
                        item.figure,
                        item.what,
                        row.what,
                        row.paper,
                        row.aim,
                        links(&runs)
                    );
                }
                let _ = writeln!(
                    differences,
                    "- **{}** ({}). {difference}",
                    item.figure, item.place
                );
            }
            How::Tested(test) => {
                let _ = writeln!(
                    tested,
                    "- **{}** ({}), {}: [`{test}`](../../{test}).",
                    item.figure, item.place, item.what
                );
            }
            How::Not(reason) => {
                let _ = writeln!(
                    not,
                    "- **{}** ({}), {}. {reason}",
                    item.figure, item.place, item.what
                );
            }
        }
    }
    for (name, picture) in &found.plots {
        let _ = write!(
            text,
            "\n![{}]({PLOTS}/{name}.svg)\n\n{}\n",
            picture.caption, picture.caption
        );
    }
    let _ = write!(text, "\n**Where the difference comes from**\n\n{differences}");
    if !tested.is_empty() {
        let _ = write!(
            text,
            "\n**Examples and algorithms, checked by tests**\n\n{tested}"
        );
    }
    if !not.is_empty() {
        let _ = write!(text, "\n**Not redone**\n\n{not}");
    }
    text
}

/// Links to runs, each by what is after its date.
fn links(runs: &BTreeSet<String>) -> String {
    let link = |run: &String| {
        let name = run.get(11..).unwrap_or(run);
        format!("[{name}](../runs/{run})")
    };
    if runs.is_empty() {
        "–".to_owned()
    } else {
        runs.iter().map(link).collect::<Vec<_>>().join(", ")
    }
}

/// What stands before all sections.
pub fn head() -> String {
    "# Evidence: the five papers' tables and figures, for our programs\n\
     Made by `trodden-bench papers all --from benchmarks-java/runs` from committed runs and from the papers' values in `benchmarks-java/papers`; a test compares this page with what \
     they give. Edit those, not this page. `trodden-bench papers NAME` measures anew what `--from` takes from runs, `--quick` at sizes of minutes.\n\n\
     Ratios are of interleaved runs, shares against exact profiles ([how](benchmarks.md#how-to-measure)). The machine was shared in most runs; in those of the label `papers` it was \
     busy with up to twenty other processes on its two processors, so of their times only large differences count. *a to b (c)*: least, greatest, median of the programs; of ratios, *c (a to b)* with the \
     geometric mean.\n"
        .to_owned()
}
