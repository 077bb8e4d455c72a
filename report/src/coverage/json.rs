//! JSON, format `trodden-coverage` version 1: the sidecar of LCOV and JaCoCo's XML, which have no word for
//! paths.

use serde::Serialize;
use trodden_insight::coverage::{
    BranchCoverage, Counters, Coverage, MethodCoverage, Nearest, OutcomeCoverage, Ratio,
};
use trodden_insight::decisions::{Decision, Decisions};
use trodden_insight::names;
use trodden_insight::view::PathView;
use trodden_profile::{Key, MethodMap, Place, printable_lines};

use super::CoverageWriteError;
use super::{criteria, text};
use crate::json::{Path, path};
use crate::words;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    /// What ran and was not counted, in words, if anything was.
    not_counted: Option<String>,
    /// Most paths of a method in `totals`.
    path_cap: u64,
    totals: Totals,
    methods: Vec<Method<'a>>,
    uncounted: Vec<Uncounted<'a>>,
    other_bytes: &'a [String],
}

#[derive(Serialize)]
struct Totals {
    /// Null if it is not known which paths ran.
    paths: Option<Part>,
    branches: Part,
    lines: Part,
    methods: Part,
    classes: Part,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcdc: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prime_paths: Option<Part>,
}

/// A part of a whole.
#[derive(Serialize)]
pub(super) struct Part {
    covered: u64,
    total: u64,
}

/// Sums of one method.
#[derive(Serialize)]
struct MethodTotals {
    /// Null if it is not known which paths ran.
    paths: Option<Part>,
    branches: Part,
    lines: Part,
}

/// A branch or switch of the source.
#[derive(Serialize)]
struct Branch {
    line: Option<u32>,
    bci: u32,
    /// Null if it is not known.
    condition: Option<String>,
    #[serde(flatten)]
    outcomes: Outcomes,
}

/// Which outcomes were taken.
#[derive(Serialize)]
#[serde(untagged)]
enum Outcomes {
    Condition { yes: bool, no: bool },
    Switch { outcomes: Vec<Case> },
}

#[derive(Serialize)]
struct Case {
    label: String,
    taken: bool,
}

#[derive(Serialize)]
struct Method<'a> {
    class: &'a str,
    name: &'a str,
    descriptor: &'a str,
    source_file: Option<&'a str>,
    graph: String,
    line: Option<u32>,
    possible_paths: u64,
    /// Null if it is not known which paths ran.
    covered_paths: Option<u64>,
    ran: bool,
    totals: MethodTotals,
    branches: Vec<Branch>,
    paths: Vec<Path>,
    nearest: Option<NearestPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcdc: Option<Vec<criteria::JsonDecision>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prime_paths: Option<criteria::Primes>,
}

#[derive(Serialize)]
struct NearestPath {
    path: Path,
    flip: Option<Flip>,
}

#[derive(Serialize)]
struct Flip {
    bci: u32,
    line: Option<u32>,
    seen: String,
    instead: String,
    of_path: u64,
    of_count: u64,
}

#[derive(Serialize)]
struct Uncounted<'a> {
    class: &'a str,
    method: &'a str,
    reason: &'a str,
}

impl From<Ratio> for Part {
    fn from(ratio: Ratio) -> Self {
        Part {
            covered: ratio.covered,
            total: ratio.total,
        }
    }
}

pub(super) fn write(coverage: &Coverage) -> Result<String, CoverageWriteError> {
    let sums = coverage.counters();
    let uncounted = coverage.uncounted.iter().map(|one| Uncounted {
        class: &one.class,
        method: &one.method,
        reason: &one.reason,
    });
    let document = Document {
        format: "trodden-coverage",
        version: 1,
        not_counted: words::not_counted(&coverage.run),
        path_cap: coverage.cap(),
        totals: Totals {
            paths: coverage.has_paths().then(|| sums.paths.into()),
            branches: sums.branches.into(),
            lines: sums.lines.into(),
            methods: sums.methods.into(),
            classes: sums.classes.into(),
            mcdc: coverage.options.mcdc.then(|| sums.mcdc.into()),
            prime_paths: coverage.options.prime_paths.map(|_| sums.prime_paths.into()),
        },
        methods: coverage.methods.iter().map(method).collect(),
        uncounted: uncounted.collect(),
        other_bytes: &coverage.other_bytes,
    };
    let mut out = serde_json::to_string_pretty(&document)?;
    out.push('\n');
    // JSON's own escapes: what the writer leaves as it is are marks that turn the direction of writing
    // around, and the upper control characters.
    Ok(printable_lines(&out).into_owned())
}

fn method(method: &MethodCoverage) -> Method<'_> {
    let map = method.map();
    let graph = map.graph_key();
    let sums = Counters::of([method], u64::MAX);
    let view = |number: u64, count: u64| {
        let found = map.dag.regenerate(&map.graph, number).ok()?;
        Some(path(
            &PathView::new(map, found, number, count),
            map,
            graph,
            &method.decisions,
        ))
    };
    let counts = method.counts.paths.iter().filter(|&(_, &count)| count > 0);
    Method {
        class: method.class(),
        name: &map.name,
        descriptor: &map.descriptor,
        source_file: method.source_file(),
        graph: graph.to_string(),
        line: method.lines().keys().next().copied(),
        possible_paths: map.num_paths(),
        covered_paths: method.has_paths.then_some(method.paths.covered),
        ran: method.ran(),
        totals: MethodTotals {
            paths: method.has_paths.then(|| method.paths.into()),
            branches: sums.branches.into(),
            lines: sums.lines.into(),
        },
        branches: method.branches().iter().map(|one| branch(method, one)).collect(),
        paths: counts
            .filter_map(|(&number, &count)| view(number, count))
            .collect(),
        nearest: method
            .nearest()
            .map(|found| nearest(map, graph, &method.decisions, &found)),
        mcdc: criteria::decisions(method),
        prime_paths: criteria::primes(method),
    }
}

fn branch(method: &MethodCoverage, branch: &BranchCoverage) -> Branch {
    let decision = method.decisions.of(branch.block);
    let taken = |yes: bool| {
        let mut outcomes = branch.outcomes.iter();
        outcomes.any(|outcome| method.is_yes(outcome) == yes && outcome.count > 0)
    };
    let case = |outcome: &OutcomeCoverage| Case {
        label: method.label(outcome),
        taken: outcome.count > 0,
    };
    Branch {
        line: branch.line,
        bci: method.map().blocks[branch.block].last,
        condition: decision.and_then(Decision::phrase),
        outcomes: if method.is_switch(branch) {
            Outcomes::Switch {
                outcomes: branch.outcomes.iter().map(case).collect(),
            }
        } else {
            Outcomes::Condition {
                yes: taken(true),
                no: taken(false),
            }
        },
    }
}

fn nearest(map: &MethodMap, graph: Key, decisions: &Decisions, nearest: &Nearest) -> NearestPath {
    let flip = nearest.flip.map(|flip| {
        let Place { bci, line } = text::branch(map, flip.seen);
        let way = |edge: trodden_numbering::EdgeRef| {
            names::decision(&map.blocks[edge.from.index()].labels[edge.index as usize])
        };
        Flip {
            bci,
            line,
            seen: way(flip.seen),
            instead: way(flip.instead),
            of_path: flip.of,
            of_count: flip.count,
        }
    });
    NearestPath {
        path: path(
            &PathView::new(map, nearest.path.clone(), nearest.number, 0),
            map,
            graph,
            decisions,
        ),
        flip,
    }
}
