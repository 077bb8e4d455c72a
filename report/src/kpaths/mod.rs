//! The k-iteration path forest of a method in each format.

mod compare;
mod dot;
mod html;
mod json;
pub(crate) mod section;
mod text;

use trodden_insight::kpaths::Trees;

use crate::words::{percent, thousands};

/// `X % (Y %)`, the label of k-BLPP's figures.
pub(crate) fn label(of_parent: f64, of_root: f64) -> String {
    format!("{} ({})", percent(of_parent), percent(of_root))
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
