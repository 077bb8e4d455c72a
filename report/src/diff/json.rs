//! JSON, format `trodden-diff` version 1. Keys may be added; what is here keeps its name and shape.

use serde::Serialize;
use trodden_insight::cpu::title;
use trodden_insight::diff::{BranchChange, Diff, MethodChange, Reason};
use trodden_insight::diff::{TimeChange, TimeDiff};

#[derive(Serialize)]
struct Document<'d> {
    format: &'static str,
    version: u32,
    summary: Summary<'d>,
    methods: Vec<Method<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Times<'d>>,
}

/// CPU time of both runs. With samples of only one there is nothing but which.
#[derive(Serialize)]
#[serde(untagged)]
enum Times<'d> {
    Only {
        only: &'static str,
    },
    Both {
        seconds: [f64; 2],
        same_work_seconds: [f64; 2],
        distinguishable: bool,
        samples: [u64; 2],
        scale: Option<f64>,
        more: usize,
        indistinguishable: usize,
        methods: Vec<TimedMethod<'d>>,
    },
}

#[derive(Serialize)]
struct TimedMethod<'d> {
    class: &'d str,
    name: &'d str,
    descriptor: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_from: Option<String>,
    measured: bool,
    near: Time,
    total: Time,
    calls: Option<[u64; 2]>,
    listed: Option<usize>,
    paths: Vec<TimedPath<'d>>,
}

#[derive(Serialize)]
struct TimedPath<'d> {
    text: &'d str,
    count: [u64; 2],
    time: Time,
}

#[derive(Serialize)]
struct Time {
    seconds: [f64; 2],
    change: f64,
    interval: [f64; 2],
    share: f64,
    share_interval: [f64; 2],
    distinguishable: bool,
}

#[derive(Serialize)]
struct Summary<'d> {
    work: [u64; 2],
    scale: f64,
    exact: [bool; 2],
    runs: [usize; 2],
    threshold: f64,
    more: usize,
    methods: &'d std::collections::BTreeMap<&'static str, usize>,
}

#[derive(Serialize)]
struct Method<'d> {
    class: &'d str,
    name: &'d str,
    descriptor: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_from: Option<&'d str>,
    matched: &'static str,
    reason: &'static str,
    because_of: Option<usize>,
    entries: [u64; 2],
    work: [u64; 2],
    effect: f64,
    share: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Time>,
    cause: Option<Branch<'d>>,
    branches: Vec<Branch<'d>>,
    paths: Vec<Path<'d>>,
    new_lines: &'d [u32],
    gone_lines: &'d [u32],
}

#[derive(Serialize)]
struct Branch<'d> {
    line: Option<u32>,
    bci: u32,
    condition: Option<&'d str>,
    outcome: &'d str,
    probability: [Option<f64>; 2],
    reached: [u64; 2],
    new: bool,
    gone: bool,
    effect: f64,
}

#[derive(Serialize)]
struct Path<'d> {
    text: &'d str,
    count: [u64; 2],
    per_entry: [f64; 2],
}

/// JSON, format `trodden-diff` version 1.
///
/// # Errors
/// If the JSON writer fails.
pub(super) fn json(diff: &Diff) -> Result<String, serde_json::Error> {
    let document = Document {
        format: "trodden-diff",
        version: 1,
        summary: Summary {
            work: diff.summary.work,
            scale: diff.summary.scale,
            exact: diff.summary.exact,
            runs: diff.runs,
            threshold: diff.summary.threshold,
            more: diff.more,
            methods: &diff.summary.matched,
        },
        methods: diff.methods.iter().map(method).collect(),
        time: match (&diff.time, diff.only_timed) {
            (Some(time), _) => Some(times(time)),
            (None, Some(which)) => Some(Times::Only {
                only: ["before", "after"][which],
            }),
            (None, None) => None,
        },
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn method(change: &MethodChange) -> Method<'_> {
    let paths = change.paths.iter().map(|path| Path {
        text: &path.text,
        count: path.count,
        per_entry: path.per_entry,
    });
    Method {
        class: &change.class,
        name: &change.name,
        descriptor: &change.descriptor,
        renamed_from: change.renamed_from.as_deref(),
        matched: change.matched.name(),
        reason: match change.reason {
            Reason::Behaviour => "behaviour",
            Reason::Calls => "calls",
            Reason::Code => "code",
            Reason::Consequence => "consequence",
        },
        because_of: change.because_of,
        entries: change.entries,
        work: change.work,
        effect: change.effect,
        share: change.share,
        time: change.time.as_ref().map(time),
        cause: change.cause.as_ref().map(branch),
        branches: change.branches.iter().map(branch).collect(),
        paths: paths.collect(),
        new_lines: &change.new_lines,
        gone_lines: &change.gone_lines,
    }
}

fn branch(change: &BranchChange) -> Branch<'_> {
    Branch {
        line: change.line,
        bci: change.bci,
        condition: change.condition.as_deref(),
        outcome: &change.outcome,
        probability: change.probability,
        reached: change.reached,
        new: change.is_new,
        gone: change.is_gone,
        effect: change.effect,
    }
}

fn times(of: &TimeDiff) -> Times<'_> {
    let methods = of.methods.iter().map(|change| TimedMethod {
        class: &change.method.class,
        name: &change.method.name,
        descriptor: &change.method.descriptor,
        renamed_from: change.renamed_from.as_ref().map(title),
        measured: change.measured,
        near: time(&change.near),
        total: time(&change.total),
        calls: change.calls,
        listed: change.listed,
        paths: (change.paths.iter())
            .map(|path| TimedPath {
                text: &path.text,
                count: path.count,
                time: time(&path.time),
            })
            .collect(),
    });
    Times::Both {
        seconds: [0, 1].map(|which| of.total[which].ns as f64 / 1e9 / of.runs[which].max(1) as f64),
        same_work_seconds: of.same_work.map(|ns| ns / 1e9),
        distinguishable: of.is_distinct,
        samples: of.total.map(|time| time.samples),
        scale: of.scale,
        more: of.more,
        indistinguishable: of.alike,
        methods: methods.collect(),
    }
}

fn time(of: &TimeChange) -> Time {
    Time {
        seconds: of.ns.map(|ns| ns / 1e9),
        change: of.change / 1e9,
        interval: of.interval.map(|ns| ns / 1e9),
        share: of.share,
        share_interval: of.share_interval,
        distinguishable: of.is_distinct(),
    }
}
