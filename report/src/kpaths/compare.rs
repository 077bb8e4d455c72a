//! k-iteration path forests of two profiles.

use std::fmt::Write;

use serde_json::json;
use trodden_profile::{KPathsOverlap, kpaths_overlap};

use crate::compare::{Compared, Pair, share};

pub(super) fn compare(pair: &Pair, notes: &mut Vec<String>) -> Option<Compared> {
    let found = kpaths_overlap(pair.exact, pair.estimate);
    if found.is_none() {
        pair.note_missing("k-iteration paths", |profile| profile.kpaths.is_some(), notes);
    }
    found.map(|found| Compared {
        text: overlap_text(&found),
        json: overlap_json(&found),
        stands_alone: false,
    })
}

fn overlap_json(o: &KPathsOverlap) -> serde_json::Value {
    let levels = o.levels.iter().map(|l| {
        json!({
            "length": l.length, "overlap": l.overlap,
            "exact_sequences": l.sequences[0], "estimated_sequences": l.sequences[1], "common": l.common,
        })
    });
    let methods = o.methods.iter().map(|m| {
        json!({
            "class": m.class, "name": m.name, "descriptor": m.descriptor,
            "exact_share": m.share[0], "estimated_share": m.share[1], "overlap": m.overlap,
        })
    });
    json!({
        "k": o.k,
        "levels": levels.collect::<Vec<_>>(),
        "methods": methods.collect::<Vec<_>>(),
        "unmatched_methods": o.unmatched_methods,
    })
}

fn overlap_text(o: &KPathsOverlap) -> String {
    let mut out = String::from(
        "k-iteration paths: overlap of all sequences of a length (different ones: exact, estimated, in both)\n",
    );
    for l in &o.levels {
        let [exact, estimated] = l.sequences;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{:>9} {:>9} {exact:>11} {estimated:>11} {:>11}",
            l.length,
            share(l.overlap),
            l.common
        );
    }
    if !o.methods.is_empty() {
        out.push_str(
            "\nmethods whose sequences differ most (share of path ends: exact, estimated; overlap)\n",
        );
    }
    for m in &o.methods {
        let [exact, estimated] = m.share.map(|s| share(Some(s)));
        let class = m.class.replace('/', ".");
        let overlap = share(m.overlap);
        let _ = writeln!(
            out,
            "{exact:>9} {estimated:>9} {overlap:>9}  {class}.{}{}",
            m.name, m.descriptor
        );
    }
    out
}
