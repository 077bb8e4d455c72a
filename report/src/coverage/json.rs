//! JSON, format `trodden-coverage` version 1: the sidecar of LCOV and JaCoCo's XML, which have no word for
//! paths.

use std::io::{self, Write};

use serde::Serialize;
use trodden_insight::coverage::{BranchCoverage, Counters, Coverage, MethodCoverage, Nearest, Ratio};
use trodden_insight::decisions::{Decision, Decisions};
use trodden_insight::names;
use trodden_insight::view::PathView;
use trodden_numbering::EdgeRef;
use trodden_profile::{Key, MethodMap};

use super::{criteria, text};
use crate::json::path;
use crate::object::{self, Each, Fields, Object, object};
use crate::words;

/// A part of a whole.
pub(super) fn part(ratio: Ratio) -> Object<impl Fields> {
    object! { "covered": ratio.covered, "total": ratio.total }
}

/// JSON, format `trodden-coverage` version 1.
///
/// # Errors
/// If the JSON writer fails.
pub fn json(coverage: &Coverage) -> io::Result<String> {
    let mut out = Vec::new();
    write_json(coverage, &mut out)?;
    Ok(String::from_utf8(out).expect("JSON is UTF-8"))
}

/// Like [`json`], piece by piece: that of a large program has many times the bytes of its profile.
///
/// # Errors
/// If it cannot be written.
pub fn write_json(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    let sums = coverage.counters();
    let uncounted = coverage.uncounted.iter().map(|one| {
        object! { "class": &one.class, "method": &one.method, "reason": &one.reason }
    });
    let document = object! {
        "format": "trodden-coverage",
        "version": 1,
        // What ran and was not counted, as text, if anything was.
        "not_counted": words::not_counted(&coverage.run),
        // Most paths of a method in `totals`.
        "path_cap": coverage.options.cap,
        "totals": object! {
            // Null if it is not known which paths ran.
            "paths": coverage.has_paths.then(|| part(sums.paths)),
            "branches": part(sums.branches),
            "lines": part(sums.lines),
            "methods": part(sums.methods),
            "classes": part(sums.classes),
            "mcdc"?: coverage.options.mcdc.then(|| part(sums.mcdc)),
            "prime_paths"?: coverage.options.prime_paths.map(|_| part(sums.prime_paths)),
        },
        "methods": Each(coverage.methods.iter().map(method)),
        "uncounted": Each(uncounted),
        "other_bytes": &coverage.other_bytes,
    };
    object::write(&document, out)
}

fn method(method: &MethodCoverage) -> impl Serialize {
    let map = method.map();
    let graph = map.graph_key();
    let sums = Counters::of([method], u64::MAX);
    let view = |number: u64, count: u64| {
        let found = map.dag.regenerate(&map.graph, number).ok()?;
        let view = PathView::new(map, found, number, count);
        Some(path(&view, map, graph, &method.decisions))
    };
    let counts = method.counts.paths.iter().filter(|&(_, &count)| count > 0);
    let paths = counts.filter_map(|(&number, &count)| view(number, count));
    let branches = method.branches();
    object! {
        "class": method.class(),
        "name": &map.name,
        "descriptor": &map.descriptor,
        "source_file": method.source_file(),
        "graph": graph.to_string(),
        "line": method.lines().keys().next().copied(),
        "possible_paths": map.num_paths(),
        // Null if it is not known which paths ran.
        "covered_paths": method.has_paths.then_some(method.paths.covered),
        "ran": method.ran(),
        "totals": object! {
            "paths": method.has_paths.then(|| part(method.paths)),
            "branches": part(sums.branches),
            "lines": part(sums.lines),
        },
        "branches": branches.iter().map(|one| branch(method, one)).collect::<Vec<_>>(),
        "paths": paths.collect::<Vec<_>>(),
        "nearest": method.nearest(1).pop().map(|found| nearest(map, graph, &method.decisions, found)),
        "mcdc"?: criteria::decisions(method),
        "prime_paths"?: criteria::primes(method),
    }
}

/// A branch or switch of the source, and which outcomes were taken.
fn branch(method: &MethodCoverage, branch: &BranchCoverage) -> impl Serialize + use<> {
    let decision = method.decisions.of(branch.block);
    let is_switch = method.is_switch(branch);
    let taken = |yes: bool| {
        let mut outcomes = branch.outcomes.iter();
        outcomes.any(|outcome| method.is_yes(outcome) == yes && outcome.count > 0)
    };
    let cases = branch.outcomes.iter().map(|outcome| {
        object! { "label": method.label(outcome), "taken": outcome.count > 0 }
    });
    object! {
        "line": branch.line,
        "bci": method.map().blocks[branch.block].last,
        // Null if it is not known.
        "condition": decision.and_then(Decision::phrase),
        "yes"?: (!is_switch).then(|| taken(true)),
        "no"?: (!is_switch).then(|| taken(false)),
        "outcomes"?: is_switch.then(|| cases.collect::<Vec<_>>()),
    }
}

fn nearest(map: &MethodMap, graph: Key, decisions: &Decisions, nearest: Nearest) -> impl Serialize + use<> {
    let way = |edge: EdgeRef| names::decision(&map.blocks[edge.from.index()].labels[edge.index as usize]);
    let flip = nearest.flip.map(|flip| {
        let place = text::branch(map, flip.seen);
        object! {
            "bci": place.bci,
            "line": place.line,
            "seen": way(flip.seen),
            "instead": way(flip.instead),
            "of_path": flip.of,
            "of_count": flip.count,
        }
    });
    let view = PathView::new(map, nearest.path, nearest.number, 0);
    object! { "path": path(&view, map, graph, decisions), "flip": flip }
}
