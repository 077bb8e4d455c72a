//! Hot subpaths of two profiles.

use std::fmt::Write;

use serde_json::json;
use trodden_profile::{OFTEN, SubpathAccuracy, subpath_accuracy};

use crate::compare::{Compared, Pair, share};

pub(super) fn compare(pair: &Pair, notes: &mut Vec<String>) -> Option<Compared> {
    pair.note_missing("subpaths", |profile| profile.subpaths.is_some(), notes);
    if pair.estimate.subpaths.is_some() && pair.exact.subpaths.as_ref().is_some_and(|all| !all.is_exact()) {
        notes.push(format!(
            "the subpaths of {} are estimates too; for exact counts replay a trace with --counts exact",
            pair.options.names[0]
        ));
    }
    let found = subpath_accuracy(pair.exact, pair.estimate)?;
    Some(Compared {
        text: subpaths_text(&found),
        json: subpaths_json(&found),
        stands_alone: true,
    })
}

fn subpaths_json(a: &SubpathAccuracy) -> serde_json::Value {
    let hottest = a.hottest.iter().map(|row| {
        json!({
            "exact_rank": (row.rank > 0).then_some(row.rank), "sampled": row.sampled, "estimate": row.estimate,
            "exact": row.exact, "error": row.error(), "length": row.length,
        })
    });
    json!({
        "hottest": hottest.collect::<Vec<_>>(),
        "right": a.right,
        "often_sampled": a.often,
        "intervals_that_hold": a.inside,
    })
}

fn subpaths_text(a: &SubpathAccuracy) -> String {
    let mut out = format!(
        "hot subpaths: {} of the first {} are among the ten that really are the most frequent\n",
        a.right,
        a.hottest.len()
    );
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{:>4} {:>10} {:>9} {:>16} {:>16} {:>9} {:>7}",
        "rank", "exact rank", "samples", "estimate", "exact", "error", "blocks"
    );
    for (at, row) in a.hottest.iter().enumerate() {
        let (rank, error) = match row.rank {
            0 => ("-".to_owned(), "-".to_owned()),
            rank => (rank.to_string(), share(Some(row.error()))),
        };
        let _ = writeln!(
            out,
            "{:>4} {rank:>10} {:>9} {:>16} {:>16} {error:>9} {:>7}",
            at + 1,
            row.sampled,
            row.estimate,
            row.exact,
            row.length
        );
    }
    let _ = writeln!(
        out,
        "of {} subpaths that are at least {OFTEN} times in the sample, {} have an interval that holds the exact count",
        a.often, a.inside
    );
    out
}
