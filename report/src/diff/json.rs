//! JSON, format `trodden-diff` version 1. Keys may be added; what is here keeps its name and shape.

use serde::Serialize;

use super::finding::{BranchChange, Diff, MethodChange, Reason};

#[derive(Serialize)]
struct Document<'d> {
    format: &'static str,
    version: u32,
    summary: Summary<'d>,
    methods: Vec<Method<'d>>,
}

#[derive(Serialize)]
struct Summary<'d> {
    work: [u64; 2],
    scale: f64,
    exact: [bool; 2],
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

impl Diff {
    /// JSON, format `trodden-diff` version 1.
    ///
    /// # Errors
    /// If the JSON writer fails.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let document = Document {
            format: "trodden-diff",
            version: 1,
            summary: Summary {
                work: self.summary.work,
                scale: self.summary.scale,
                exact: self.summary.exact,
                threshold: self.summary.threshold,
                more: self.more,
                methods: &self.summary.matched,
            },
            methods: self.methods.iter().map(method).collect(),
        };
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }
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
