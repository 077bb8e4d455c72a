//! `trodden compare`: how well one profile predicts another (PEP section 6).

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;
use trodden_analyses::contexts::{ContextComparison, compare as compare_contexts};
use trodden_profile::options::Share;
use trodden_profile::structural::{StructuralAccuracy, compare_structural};
use trodden_profile::{
    Accuracy, AccuracyOptions, KPathsOverlap, OFTEN, Profile, SubpathAccuracy, printable_lines,
    subpath_accuracy,
};

use crate::error::CliError;
use crate::output;

/// Compares a profile with an exact one, or one run with another.
#[derive(Args)]
pub struct CompareArgs {
    /// The profile that is taken for the truth.
    exact: PathBuf,
    /// The profile that is judged.
    estimate: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    format: CompareFormat,
    /// Calling contexts: from which share of all calls on a context is hot [default: as the estimate was
    /// counted].
    #[arg(long, value_name = "SHARE")]
    phi: Option<Share>,
}

/// Formats of `trodden compare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// For the terminal.
    Text,
    /// For programs.
    Json,
}

/// Does it.
pub fn compare(args: &CompareArgs) -> Result<(), CliError> {
    let exact = Profile::load(&args.exact).map_err(CliError::failed)?;
    let estimate = Profile::load(&args.estimate).map_err(CliError::failed)?;
    // Of every structural path, whole paths are estimates all the same.
    let complete = |profile: &Profile| profile.structural.as_ref().is_some_and(|s| s.window.is_none());
    if !exact.run.exact && !complete(&exact) {
        output::complain(&format!(
            "note: {} was sampled, not counted exactly",
            args.exact.display()
        ));
    }
    let accuracy = trodden_profile::compare(&exact, &estimate, &AccuracyOptions::default());
    let overlap = trodden_profile::kpaths_overlap(&exact, &estimate);
    if overlap.is_none() {
        for (one, other) in [(&exact, &args.estimate), (&estimate, &args.exact)] {
            if one.kpaths.is_some() {
                output::complain(&format!(
                    "note: {} has no k-iteration paths to compare",
                    other.display()
                ));
            }
        }
    }
    let contexts = contexts(args, &exact, &estimate)?;
    let subpaths = subpaths(args, &exact, &estimate);
    let structural = compare_structural(&exact, &estimate, &AccuracyOptions::default());
    let text = match args.format {
        CompareFormat::Text => {
            // Paths are compared where there are some, and where there is nothing else.
            let others = contexts.is_some() || subpaths.is_some();
            let mut parts = Vec::new();
            if !others || has_paths(&exact) {
                let overlap = overlap.map_or(String::new(), |o| overlap_text(&o));
                parts.push(text(&accuracy) + &overlap);
            }
            parts.extend(structural.iter().map(structural_text));
            parts.extend(contexts.iter().map(contexts_text));
            parts.extend(subpaths.iter().map(subpaths_text));
            parts.join("\n")
        }
        CompareFormat::Json => {
            let mut document = as_json(&accuracy);
            if let Some(overlap) = &overlap {
                document["kpaths"] = overlap_json(overlap);
            }
            if let Some(contexts) = &contexts {
                document["contexts"] = contexts_json(contexts);
            }
            if let Some(structural) = &structural {
                document["structural"] = structural_json(structural);
            }
            if let Some(subpaths) = &subpaths {
                document["subpaths"] = subpaths_json(subpaths);
            }
            format!("{document:#}\n")
        }
    };
    output::write(None, printable_lines(&text).as_bytes())
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
    let mut out = String::from("structural paths (each loop on its own)\n");
    for (name, value) in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name:<26} {value:>16}");
    }
    out
}

/// Subpaths, if both have some.
fn subpaths(args: &CompareArgs, exact: &Profile, estimate: &Profile) -> Option<SubpathAccuracy> {
    for (one, other) in [(exact, &args.estimate), (estimate, &args.exact)] {
        if one.subpaths.is_some() && (exact.subpaths.is_none() || estimate.subpaths.is_none()) {
            output::complain(&format!("note: {} has no subpaths to compare", other.display()));
        }
    }
    if estimate.subpaths.is_some() && exact.subpaths.as_ref().is_some_and(|all| !all.is_exact()) {
        output::complain(&format!(
            "note: the subpaths of {} are estimates too; for exact counts replay a trace with --counts exact",
            args.exact.display()
        ));
    }
    subpath_accuracy(exact, estimate)
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

/// Thresholds of hot edge coverage: shares of the hottest context's calls (HCCT figure 7).
const TAUS: [f64; 5] = [0.001, 0.005, 0.01, 0.05, 0.1];

fn contexts(
    args: &CompareArgs,
    exact: &Profile,
    estimate: &Profile,
) -> Result<Option<ContextComparison>, CliError> {
    if exact
        .contexts
        .as_ref()
        .is_some_and(|contexts| !contexts.is_exact())
        && estimate.contexts.is_some()
    {
        output::complain(&format!(
            "note: not all contexts of {} were counted; its lower bounds are taken for the truth",
            args.exact.display()
        ));
    }
    for (one, other) in [(exact, &args.estimate), (estimate, &args.exact)] {
        if one.contexts.is_some() && (exact.contexts.is_none() || estimate.contexts.is_none()) {
            output::complain(&format!("note: {} has no contexts to compare", other.display()));
        }
    }
    let weights = [exact, estimate].map(|profile| profile.contexts.as_ref().map(|contexts| contexts.weight));
    if let [Some(one), Some(other)] = weights
        && one != other
    {
        return Err(CliError::failed(format!(
            "contexts of the one count {one}, of the other {other}"
        )));
    }
    compare_contexts(exact, estimate, args.phi.map(Share::get), &TAUS).map_err(CliError::failed)
}

fn has_paths(profile: &Profile) -> bool {
    let mut counts = profile.classes.iter().flat_map(|class| &class.counts);
    counts.any(|counts| !counts.paths.is_empty())
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
    for (name, value) in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name:<26} {value:>16}");
    }
    out
}

fn as_json(a: &Accuracy) -> serde_json::Value {
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
        "\nk-iteration paths: overlap of all sequences of a length (different ones: exact, estimated, in both)\n",
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

fn share(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |v| format!("{:.2} %", 100.0 * v))
}

fn text(a: &Accuracy) -> String {
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
    for (name, value) in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name:<26} {value:>16}");
    }
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
