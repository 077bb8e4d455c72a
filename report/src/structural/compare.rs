//! Structural paths of two profiles.

use serde_json::json;
use trodden_profile::AccuracyOptions;
use trodden_profile::structural::{StructuralAccuracy, compare_structural};

use crate::compare::{Compared, Pair, share, write_rows};

pub(super) fn compare(pair: &Pair) -> Option<Compared> {
    let found = compare_structural(pair.exact, pair.estimate, &AccuracyOptions::default())?;
    Some(Compared {
        text: structural_text(&found),
        json: structural_json(&found),
        stands_alone: false,
    })
}

fn structural_json(s: &StructuralAccuracy) -> serde_json::Value {
    json!({
        "path_accuracy": s.path_accuracy,
        "local_overlap": s.local_overlap,
        "hot_paths": s.hot_paths,
        "exact_flow": s.exact_flow,
        "estimated_flow": s.estimated_flow,
        "unmatched_methods": s.unmatched_methods,
    })
}

fn structural_text(s: &StructuralAccuracy) -> String {
    let rows = [
        ("path accuracy", share(s.path_accuracy)),
        ("overlap within loops", share(s.local_overlap)),
        ("hot structural paths", s.hot_paths.to_string()),
        ("flow, exact", s.exact_flow.to_string()),
        ("flow, estimated", s.estimated_flow.to_string()),
        ("methods not matched", s.unmatched_methods.to_string()),
    ];
    let mut out = String::from("structural paths (each loop counted separately)\n");
    write_rows(&mut out, rows);
    out
}
