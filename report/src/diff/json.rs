//! JSON, format `trodden-diff` version 1. Keys may be added; what is here keeps its name and shape.

use serde::Serialize;
use trodden_insight::cpu::title;
use trodden_insight::diff::{BranchChange, Diff, MethodChange, Reason};
use trodden_insight::diff::{MethodTimeChange, PathTimeChange, TimeChange, TimeDiff};

use crate::object::{self, Each, object};
use crate::section::Json;

/// JSON, format `trodden-diff` version 1.
///
/// # Errors
/// If the JSON writer fails.
pub fn json(diff: &Diff) -> Result<String, serde_json::Error> {
    let document = object! {
        "format": "trodden-diff",
        "version": 1,
        "summary": object! {
            "work": diff.summary.work,
            "scale": diff.summary.scale,
            "exact": diff.summary.exact,
            "runs": diff.runs,
            "threshold": diff.summary.threshold,
            "more": diff.more,
            "methods": &diff.summary.matched,
        },
        "methods": Each(diff.methods.iter().map(method)),
        // If only one run has samples: which one.
        "time"?: match (&diff.time, diff.only_timed) {
            (Some(time), _) => Some(times(time)),
            (None, Some(which)) => Some(Box::new(object! { "only": ["before", "after"][which] }) as Json),
            (None, None) => None,
        },
    };
    object::to_string(&document)
}

fn method(change: &MethodChange) -> impl Serialize {
    let paths = change.paths.iter().map(|path| {
        object! { "text": &path.text, "count": path.count, "per_entry": path.per_entry }
    });
    object! {
        "class": &change.class,
        "name": &change.name,
        "descriptor": &change.descriptor,
        "renamed_from"?: change.renamed_from.as_deref(),
        "matched": change.matched.name(),
        "reason": match change.reason {
            Reason::Behaviour => "behaviour",
            Reason::Calls => "calls",
            Reason::Code => "code",
            Reason::Consequence => "consequence",
        },
        "because_of": change.because_of,
        "entries": change.entries,
        "work": change.work,
        "effect": change.effect,
        "share": change.share,
        "time"?: change.time.as_ref().map(time),
        "cause": change.cause.as_ref().map(branch),
        "branches": Each(change.branches.iter().map(branch)),
        "paths": Each(paths),
        "new_lines": &change.new_lines,
        "gone_lines": &change.gone_lines,
    }
}

fn branch(change: &BranchChange) -> impl Serialize {
    object! {
        "line": change.line,
        "bci": change.bci,
        "condition": change.condition.as_deref(),
        "outcome": change.outcome.as_str(),
        "probability": change.probability,
        "reached": change.reached,
        "new": change.is_new,
        "gone": change.is_gone,
        "effect": change.effect,
    }
}

/// CPU time of both runs.
fn times(of: &TimeDiff) -> Json<'_> {
    Box::new(object! {
        "seconds": [0, 1].map(|which| of.total[which].ns as f64 / 1e9 / of.runs[which].max(1) as f64),
        "same_work_seconds": of.same_work.map(|ns| ns / 1e9),
        "distinguishable": of.is_distinct,
        "samples": of.total.map(|time| time.samples),
        "scale": of.scale,
        "more": of.more,
        "indistinguishable": of.alike,
        "methods": Each(of.methods.iter().map(timed_method)),
    })
}

fn timed_method(change: &MethodTimeChange) -> impl Serialize {
    let path = |path: &PathTimeChange| {
        object! { "text": path.text.clone(), "count": path.count, "time": time(&path.time) }
    };
    object! {
        "class": &change.method.class,
        "name": &change.method.name,
        "descriptor": &change.method.descriptor,
        "renamed_from"?: change.renamed_from.as_ref().map(title),
        "measured": change.measured,
        "near": time(&change.near),
        "total": time(&change.total),
        "calls": change.calls,
        "listed": change.listed,
        "paths": Each(change.paths.iter().map(path)),
    }
}

fn time(of: &TimeChange) -> impl Serialize + use<> {
    object! {
        "seconds": of.ns.map(|ns| ns / 1e9),
        "change": of.change / 1e9,
        "interval": of.interval.map(|ns| ns / 1e9),
        "share": of.share,
        "share_interval": of.share_interval,
        "distinguishable": of.is_distinct(),
    }
}
