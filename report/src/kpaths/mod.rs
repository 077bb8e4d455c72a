//! The k-iteration path forest of a method in each format.

mod compare;
mod dot;
mod html;
mod json;
pub(crate) mod section;
mod text;

use trodden_insight::kpaths::{Line, Tree, Trees, margin};

use crate::words::{percent, share_is_known, thousands};

/// `X % (Y %)`, the label of k-BLPP's figures.
pub(crate) fn label(of_parent: f64, of_root: f64) -> String {
    format!("{} ({})", percent(of_parent), percent(of_root))
}

/// ` ± 1.2` behind a share of bursts, or ` ± ?` where little is known: too few bursts, or what came next was
/// hardly ever seen. Nothing where all was counted.
pub(crate) fn margin_of(trees: &Trees, share: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        _ if !trees.has_intervals => String::new(),
        None => " ± ?".to_owned(),
        Some((low, high)) if !share_is_known([low, high]) => " ± ?".to_owned(),
        Some(interval) => format!(" ± {:.1}", 100.0 * margin(share, interval)),
    }
}

/// The label of a line.
pub(crate) fn label_of_line(trees: &Trees, tree: &Tree, line: &Line) -> String {
    let margin = margin_of(trees, line.of_parent, line.interval);
    let of_root = percent(tree.nodes[line.last].of_root);
    format!("{}{margin} ({of_root})", percent(line.of_parent))
}

/// How far bursts make estimates of the numbers, as a sentence.
pub(crate) fn bursts(trees: &Trees) -> Option<String> {
    let bursts = trees.bursts.as_ref()?;
    let margin = if trees.has_intervals {
        " ±: where a share would be, 95 times of 100, had bursts fallen at other times."
    } else {
        ""
    };
    Some(format!(
        "Only bursts were counted ({bursts}): counts are of these, shares are estimates for the whole run.{margin} \
         --burst off counts all."
    ))
}

/// The inexactness of the counters, as a sentence.
pub(crate) fn error(trees: &Trees) -> Option<String> {
    let (index, most) = trees.missing.iter().enumerate().max_by_key(|&(_, n)| n)?;
    Some(format!(
        "Rare sequences were dropped while recording: counts may be too low, for sequences of {} paths by at most {} in total.",
        index + 2,
        thousands(*most)
    ))
}
