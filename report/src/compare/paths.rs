//! Paths and branches of two profiles (PEP section 6).

use std::fmt::Write;

use serde_json::json;
use trodden_profile::Accuracy;

use super::pair::{share, write_rows};

pub(super) fn json(a: &Accuracy) -> serde_json::Value {
    let methods: Vec<_> = a
        .methods
        .iter()
        .map(|m| {
            json!({
                "class": m.class, "name": m.name, "descriptor": m.descriptor,
                "exact_flow": m.exact_flow, "estimated_flow": m.estimated_flow,
                "exact_share": m.exact_share, "estimated_share": m.estimated_share,
            })
        })
        .collect();
    json!({
        "path_accuracy": a.path_accuracy,
        "edge_relative_overlap": a.edge_relative_overlap,
        "edge_absolute_overlap": a.edge_absolute_overlap,
        "hot_paths": a.hot_paths,
        "hot_flow": a.hot_flow,
        "exact_flow": a.exact_flow,
        "estimated_flow": a.estimated_flow,
        "unobserved_paths": a.unobserved_paths,
        "unobserved_flow": a.unobserved_flow,
        "unobserved_share": a.unobserved_share,
        "unseen_branch_share": a.unseen_branch_share,
        "unknown_branch_share": a.unknown_branch_share,
        "unknown": a.unknown,
        "unmatched_methods": a.unmatched_methods,
        "methods": methods,
    })
}

/// For a terminal.
pub(super) fn text(a: &Accuracy) -> String {
    let rows = [
        ("path accuracy", share(a.path_accuracy)),
        ("edge relative overlap", share(a.edge_relative_overlap)),
        ("edge absolute overlap", share(a.edge_absolute_overlap)),
        ("hot paths", a.hot_paths.to_string()),
        ("flow, exact", a.exact_flow.to_string()),
        ("flow, estimated", a.estimated_flow.to_string()),
        ("left out, not observed", share(Some(a.unobserved_share))),
        ("branches never estimated", share(Some(a.unseen_branch_share))),
        ("branches not to be known", share(Some(a.unknown_branch_share))),
        ("methods not matched", a.unmatched_methods.to_string()),
        ("counts without a path", a.unknown.to_string()),
    ];
    let mut out = String::new();
    write_rows(&mut out, rows);
    if !a.methods.is_empty() {
        out.push_str("\nmethods whose share of flow differs most (exact, estimated)\n");
    }
    for m in &a.methods {
        let class = m.class.replace('/', ".");
        let (exact, estimate) = (share(Some(m.exact_share)), share(Some(m.estimated_share)));
        let _ = writeln!(
            out,
            "{exact:>9} {estimate:>9}  {class}.{}{}",
            m.name, m.descriptor
        );
    }
    out
}
