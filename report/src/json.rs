//! JSON, format `trodden-report` version 1. Keys may be added; what is here keeps its name and shape.

mod path;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use serde::{Serialize, Serializer};
use trodden_insight::decisions::Decision;
use trodden_insight::left_out;
use trodden_insight::names;
use trodden_insight::path_time::TimeView;
use trodden_insight::view::{BranchView, Fork, MethodView, PathView, Reasons, View};
use trodden_numbering::{BlockId, EdgeRef};
use trodden_profile::{CompilerMade, CpuTime, Key, edge_key, printable_lines};

pub(crate) use path::{Path, path};

use crate::findings;
use crate::kinds::Keys;
use crate::options::ReportError;
use crate::section::Extent;
use crate::words;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    run: Run<'a>,
    totals: Totals,
    findings: Vec<Finding<'a>>,
    methods: Methods<'a>,
    /// Methods with CPU time whose paths are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOut<'a>>,
    skipped: Vec<Skipped<'a>>,
    /// Methods whose callees have no call sites in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without_call_sites: Vec<Skipped<'a>>,
    /// Methods in which paths that an exception cut off are not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without_cut_paths: Vec<Skipped<'a>>,
    #[serde(flatten)]
    kinds: Keys<'a>,
}

/// Methods, each of which is made as it is written: all of them are many times the profile.
struct Methods<'a> {
    views: &'a [MethodView<'a>],
    extent: &'a Extent<'a>,
}

impl Serialize for Methods<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let methods = self.views.iter().take(self.extent.top);
        serializer.collect_seq(methods.map(|one| method(one, self.extent)))
    }
}

#[derive(Serialize)]
struct Run<'a> {
    jvm: &'a str,
    command: &'a str,
    started_ms: u64,
    seconds: f64,
    probe: &'a str,
    schedule: Option<&'a str>,
    interval_ns: Option<u64>,
    exact: bool,
    /// The meaning of counts: `exact`, `estimates` of the whole run, or `samples`.
    counts: &'static str,
    options: &'a str,
    trodden: &'a str,
    facts: BTreeMap<&'a str, Cow<'a, str>>,
}

#[derive(Serialize)]
struct Totals {
    paths: u64,
    flow: u64,
    methods: u64,
    unreadable: u64,
}

/// The findings.
#[derive(Serialize)]
struct Finding<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    descriptor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
    /// A path of the method.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<u64>,
    text: &'a str,
    evidence: &'a str,
    /// Of the program's time.
    share: Option<f64>,
    /// `cause` or `aside`.
    severity: &'static str,
}

#[derive(Serialize)]
struct Method<'a> {
    class: &'a str,
    name: &'a str,
    descriptor: &'a str,
    source_file: Option<&'a str>,
    /// Of its flow graph: keys are the same in every JVM.
    graph: String,
    count: u64,
    flow: u64,
    share: f64,
    possible_paths: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<MethodTime>,
    paths: Vec<Path>,
    branches: Vec<Branch>,
    switches: Vec<Switch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partial: Vec<Path>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unobserved: Vec<Path>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<Unreadable<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<Observation<'a>>,
    #[serde(flatten)]
    kinds: Keys<'a>,
}

/// A method whose paths are not known.
#[derive(Serialize)]
struct LeftOut<'a> {
    class: &'a str,
    name: &'a str,
    descriptor: &'a str,
    reason: &'a str,
    time: LeftOutTime,
    /// Most time first.
    lines: Vec<Line>,
}

/// CPU time, with shares of the program's.
#[derive(Serialize)]
struct LeftOutTime {
    near: Time,
    total: Time,
}

/// Its time is in the line and in methods without a row of their own that are called there.
#[derive(Serialize)]
struct Line {
    line: u32,
    #[serde(flatten)]
    time: Time,
}

/// How much of a method's count was counted; the rest is estimated.
#[derive(Serialize)]
struct Observation<'a> {
    counted: u64,
    seconds: f64,
    exact_until: f64,
    windows: u32,
    reason: &'a str,
}

/// CPU time, with shares of the program's.
#[derive(Serialize)]
struct MethodTime {
    #[serde(rename = "self")]
    own: Time,
    near: Time,
    total: Time,
    unplaced: Time,
    answered: u64,
    divided: f64,
}

#[derive(Serialize)]
struct Time {
    samples: u64,
    seconds: f64,
    share: f64,
}

#[derive(Serialize)]
struct Branch {
    bci: u32,
    line: Option<u32>,
    /// Null where it is not known: see `reason`.
    taken: Option<u64>,
    not_taken: Option<u64>,
    /// Keys of both edges, the one that is taken first.
    edges: [String; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// What *taken* and *not taken* mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<[Option<String>; 2]>,
    /// CPU time of the paths with each outcome, in the order of `edges` or `cases`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outcome_time: Vec<OutcomeTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler_made: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undercounted: bool,
    /// Why numbers are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// CPU time of an outcome, with its share of the method's.
#[derive(Serialize)]
struct OutcomeTime {
    outcome: String,
    samples: f64,
    answered: u64,
    divided: f64,
    share: f64,
    interval: [f64; 2],
}

#[derive(Serialize)]
struct Switch {
    bci: u32,
    line: Option<u32>,
    cases: Vec<Case>,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// CPU time of the paths with each outcome, in the order of `edges` or `cases`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outcome_time: Vec<OutcomeTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler_made: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undercounted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Case {
    case: String,
    /// Key of its edge.
    edge: String,
    /// As the source has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// Null where it is not known.
    count: Option<u64>,
    line: Option<u32>,
}

#[derive(Serialize)]
struct Unreadable<'a> {
    id: u64,
    count: u64,
    error: &'a str,
}

#[derive(Serialize)]
struct Skipped<'a> {
    class: &'a str,
    method: Option<&'a str>,
    reason: &'a str,
}

fn listed<'a>(all: &Reasons<'a>) -> Vec<Skipped<'a>> {
    let mut listed: Vec<Skipped> = all
        .iter()
        .flat_map(|(reason, list)| {
            list.iter().map(move |&(class, method)| Skipped {
                class,
                method,
                reason,
            })
        })
        .collect();
    listed.sort_by_key(|s| (s.class, s.method));
    listed
}

pub(crate) fn write<'p>(
    view: &'p View<'p>,
    extent: &'p Extent<'p>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let run = view.run;
    let found = findings::find(view);
    let document = Document {
        format: "trodden-report",
        version: 1,
        run: Run {
            jvm: &run.jvm,
            command: &run.command,
            started_ms: run.started_ms,
            seconds: run.seconds,
            probe: &run.probe,
            schedule: run.schedule.as_deref(),
            interval_ns: run.interval_ns,
            exact: run.exact,
            counts: words::basis(view.basis),
            options: &run.options,
            trodden: &run.version,
            facts: run.facts.texts().collect(),
        },
        totals: Totals {
            paths: view.totals.paths,
            flow: view.totals.flow,
            methods: view.totals.methods,
            unreadable: view.totals.unreadable,
        },
        findings: found.iter().map(|f| finding(view, f)).collect(),
        methods: Methods {
            views: &view.methods,
            extent,
        },
        left_out: view.left_out.iter().map(left_out).collect(),
        skipped: listed(&view.skipped),
        without_call_sites: listed(&view.without_call_sites),
        without_cut_paths: listed(&view.without_cut_paths),
        kinds: Keys::of(|kind| kind.json(view, extent)),
    };
    let mut out = Printable(BufWriter::new(out));
    serde_json::to_writer_pretty(&mut out, &document).map_err(|e| {
        if e.is_io() {
            ReportError::Write(e.into())
        } else {
            ReportError::Json(e)
        }
    })?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// JSON's own escapes for what the JSON writer leaves: marks that turn the direction of writing around, and the upper control
/// characters. The writer gives whole characters.
struct Printable<W>(W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
        if bytes.iter().all(is_plain) {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => self.0.write_all(printable_lines(text).as_bytes())?,
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn finding<'a>(view: &'a View, finding: &'a crate::Finding) -> Finding<'a> {
    let method = finding.method.map(|index| &view.methods[index]);
    let left = finding
        .not_measured
        .as_ref()
        .map(|(class, method)| (class.as_str(), method.as_str()));
    let left_name = left.and_then(|(_, method)| Some(method.split_at(method.find('(')?)));
    let name = method
        .map(|m| m.map.name.as_str())
        .or(left_name.map(|(name, _)| name));
    Finding {
        kind: finding.kind.name(),
        class: method.map(|m| m.class).or(left.map(|(class, _)| class)),
        name,
        method: name,
        descriptor: method
            .map(|m| m.map.descriptor.as_str())
            .or(left_name.map(|(_, descriptor)| descriptor)),
        line: finding.line,
        condition: finding.condition.as_deref(),
        outcome: finding.outcome.as_deref(),
        path: finding.path,
        text: &finding.text,
        evidence: &finding.evidence,
        share: finding.share,
        severity: if finding.aside { "aside" } else { "cause" },
    }
}

fn method<'a>(view: &'a MethodView<'a>, extent: &Extent) -> Method<'a> {
    let graph = view.map.graph_key();
    let paths = |list: &[PathView]| {
        let one = |p: &PathView| path(p, view.map, graph, view.decisions());
        list.iter().take(extent.paths).map(one).collect()
    };
    Method {
        class: view.class,
        name: &view.map.name,
        descriptor: &view.map.descriptor,
        source_file: view.source_file,
        graph: graph.to_string(),
        count: view.count,
        flow: view.flow,
        share: view.share,
        possible_paths: view.map.num_paths(),
        time: view.time.as_ref().map(method_time),
        paths: paths(&view.paths),
        branches: view
            .branches
            .iter()
            .filter_map(|b| branch(view, graph, b))
            .collect(),
        switches: (view.branches.iter())
            .filter_map(|b| switch(view, graph, b))
            .collect(),
        partial: paths(&view.partial),
        unobserved: paths(&view.unobserved),
        observation: view.observation.map(|o| Observation {
            counted: o.counted,
            seconds: o.seconds,
            exact_until: o.until,
            windows: o.windows,
            reason: &o.reason,
        }),
        kinds: Keys::of(|kind| kind.json_of_method(view, extent)),
        unreadable: view
            .unreadable
            .iter()
            .map(|u| Unreadable {
                id: u.number,
                count: u.count,
                error: &u.error,
            })
            .collect(),
    }
}

fn left_out<'a>(left: &'a left_out::LeftOut) -> LeftOut<'a> {
    let time = |time| part_of(time, left.program);
    let lines = left.places.iter().filter_map(|&(place, of_line)| {
        Some(Line {
            line: place.line?,
            time: time(of_line),
        })
    });
    LeftOut {
        class: left.class,
        name: left.name,
        descriptor: left.descriptor,
        reason: &left.reason,
        time: LeftOutTime {
            near: time(left.near),
            total: time(left.total),
        },
        lines: lines.collect(),
    }
}

/// A time, with its share of the program's.
fn part_of(time: CpuTime, program: CpuTime) -> Time {
    Time {
        samples: time.samples,
        seconds: time.ns as f64 / 1e9,
        share: time.ns as f64 / program.ns.max(1) as f64,
    }
}

fn method_time(view: &TimeView) -> MethodTime {
    let time = |time| part_of(time, view.program);
    MethodTime {
        own: time(view.own),
        near: time(view.near),
        total: time(view.total),
        unplaced: time(view.unplaced),
        answered: view.answered,
        divided: view.by_counts,
    }
}

/// The key of a block's edge.
fn edge(graph: Key, block: usize, index: usize) -> String {
    let edge = EdgeRef {
        from: BlockId::new(block),
        index: index as u32,
    };
    edge_key(graph, edge).to_string()
}

/// The times of a branch's or switch's outcomes; of those that no counted path has none.
fn outcome_times(method: &MethodView, view: &BranchView) -> Vec<OutcomeTime> {
    let labels = method.map.blocks[view.block].labels.iter().enumerate();
    let times = labels.filter_map(|(index, label)| {
        let edge = EdgeRef {
            from: BlockId::new(view.block),
            index: index as u32,
        };
        let time = method.time_of(edge)?;
        let known = method.decisions().outcome(view.block, index);
        Some(OutcomeTime {
            outcome: known.unwrap_or_else(|| names::decision(label)),
            samples: time.samples,
            answered: time.answered,
            divided: time.by_counts,
            share: time.share,
            interval: time.interval,
        })
    });
    times.collect()
}

fn branch(method: &MethodView, graph: Key, view: &BranchView) -> Option<Branch> {
    let decision = method.decisions().of(view.block);
    let Fork::Branch { taken, not_taken } = view.fork else {
        return None;
    };
    Some(Branch {
        bci: view.at.bci,
        line: view.at.line,
        taken,
        not_taken,
        edges: [0, 1].map(|index| edge(graph, view.block, index)),
        condition: decision.and_then(Decision::phrase),
        outcomes: decision.map(|_| [0, 1].map(|edge| method.decisions().outcome(view.block, edge))),
        outcome_time: outcome_times(method, view),
        compiler_made: decision.and_then(|d| d.made).map(CompilerMade::name),
        undercounted: view.undercounted,
        reason: view.unknown(),
    })
}

fn switch(method: &MethodView, graph: Key, view: &BranchView) -> Option<Switch> {
    let decisions = method.decisions();
    let decision = decisions.of(view.block);
    let Fork::Switch(cases) = &view.fork else {
        return None;
    };
    Some(Switch {
        bci: view.at.bci,
        line: view.at.line,
        cases: cases
            .iter()
            .enumerate()
            .map(|(index, c)| Case {
                case: names::decision(&c.label),
                edge: edge(graph, view.block, index),
                label: decisions.outcome(view.block, index),
                count: c.count,
                line: c.target.line,
            })
            .collect(),
        condition: decision.and_then(Decision::phrase),
        outcome_time: outcome_times(method, view),
        compiler_made: decision.and_then(|d| d.made).map(CompilerMade::name),
        undercounted: view.undercounted,
        reason: view.unknown(),
    })
}
