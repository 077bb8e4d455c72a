//! Calling contexts of two profiles.

use serde_json::json;
use trodden_analyses::contexts::{ContextComparison, compare as compare_contexts};

use crate::compare::{CompareError, Compared, Pair, share, write_rows};

/// Thresholds of hot edge coverage: shares of the hottest context's calls (HCCT figure 7).
const TAUS: [f64; 5] = [0.001, 0.005, 0.01, 0.05, 0.1];

pub(super) fn compare(pair: &Pair, notes: &mut Vec<String>) -> Result<Option<Compared>, CompareError> {
    let [exact, estimate] = [pair.exact, pair.estimate].map(|profile| profile.contexts.as_ref());
    if exact.is_some_and(|contexts| !contexts.is_exact()) && estimate.is_some() {
        notes.push(format!(
            "not all contexts of {} were counted; its lower bounds are taken for the truth",
            pair.options.names[0]
        ));
    }
    pair.note_missing("contexts", |profile| profile.contexts.is_some(), notes);
    if let [Some(one), Some(other)] =
        [exact, estimate].map(|contexts| contexts.map(|contexts| contexts.weight))
        && one != other
    {
        let what = format!("contexts of the one count {one}, of the other {other}");
        return Err(CompareError::Unlike(what));
    }
    let found = compare_contexts(pair.exact, pair.estimate, pair.options.phi, &TAUS)?;
    Ok(found.map(|found| Compared {
        text: contexts_text(&found),
        json: contexts_json(&found),
        stands_alone: true,
    }))
}

fn contexts_json(c: &ContextComparison) -> serde_json::Value {
    let a = &c.accuracy;
    let coverage = a
        .coverage
        .iter()
        .map(|(tau, coverage)| json!({"tau": tau, "coverage": coverage}));
    json!({
        "phi": c.phi,
        "exact_calls": c.calls[0],
        "estimated_calls": c.calls[1],
        "exact_contexts": c.exact_contexts,
        "contexts": a.contexts,
        "hot": a.hot,
        "truly_hot": a.truly_hot,
        "false_positives": a.false_positives,
        "false_negatives": a.false_negatives,
        "unknown": a.unknown,
        "overlap": a.overlap,
        "hot_edge_coverage": coverage.collect::<Vec<_>>(),
        "full_coverage_above": a.full_coverage_above,
        "uncovered_max_percent": a.uncovered_max,
        "uncovered_average_percent": a.uncovered_average,
        "lower_error_percent": {"max": a.lower.max, "average": a.lower.average},
        "upper_error_percent": {"max": a.upper.max, "average": a.upper.average},
        "intervals": c.intervals.map(|(hold, of)| json!({"hold": hold, "of": of})),
        "peak_contexts_share": c.peak_contexts_share,
        "peak_bytes_share": c.peak_bytes_share,
    })
}

fn contexts_text(c: &ContextComparison) -> String {
    let a = &c.accuracy;
    let mut out = format!("calling contexts, hot from phi = {} on\n", c.phi);
    let percent = |value: f64| format!("{value:.3} %");
    let mut rows = vec![
        ("calls, exact", c.calls[0].to_string()),
        ("calls, estimated", c.calls[1].to_string()),
        ("contexts, exact", c.exact_contexts.to_string()),
        ("contexts, hot and above", a.contexts.to_string()),
        ("reported as hot", a.hot.to_string()),
        ("truly hot", a.truly_hot.to_string()),
        ("false positives", a.false_positives.to_string()),
        ("false negatives", a.false_negatives.to_string()),
        ("not in the exact tree", a.unknown.to_string()),
        ("degree of overlap", share(Some(a.overlap))),
        ("full coverage above tau", format!("{:.6}", a.full_coverage_above)),
        ("uncovered, max", percent(a.uncovered_max)),
        ("uncovered, average", percent(a.uncovered_average)),
        ("error of lower bounds, max", percent(a.lower.max)),
        ("  average", percent(a.lower.average)),
        ("error of upper bounds, max", percent(a.upper.max)),
        ("  average", percent(a.upper.average)),
        ("peak contexts, of exact", share(Some(c.peak_contexts_share))),
        ("peak bytes, of exact", share(Some(c.peak_bytes_share))),
    ];
    if let Some((hold, of)) = c.intervals {
        rows.push((
            "exact share in the interval",
            format!("{hold} of {of} hot contexts"),
        ));
    }
    let names: Vec<String> = a
        .coverage
        .iter()
        .map(|(tau, _)| format!("hot edge coverage {tau}"))
        .collect();
    rows.extend(
        names
            .iter()
            .zip(&a.coverage)
            .map(|(name, (_, coverage))| (&**name, share(Some(*coverage)))),
    );
    write_rows(&mut out, rows);
    out
}
