//! JSON, format `trodden-report` version 1. Keys may be added; what is here keeps its name and shape.

mod path;

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;
use trodden_insight::decisions::Decision;
use trodden_insight::left_out;
use trodden_insight::names::{self, edge};
use trodden_insight::path_time::TimeView;
use trodden_insight::view::{BranchView, MethodView, PathView, Reasons, Unreadable, View};
use trodden_profile::{CompilerMade, EdgeLabel, Key, edge_key};

pub(crate) use path::path;

use crate::findings;
use crate::hotspot;
use crate::kinds::Keys;
use crate::object::{self, Each, Either, Fields, Object, filled, object, part_of};
use crate::options::ReportError;
use crate::section::Extent;
use crate::words;

fn listed<'a>(all: &Reasons<'a>) -> Vec<impl Serialize + use<'a>> {
    let entries = all
        .iter()
        .flat_map(|(&reason, list)| list.iter().map(move |&(class, method)| (class, method, reason)));
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(|&(class, method, _)| (class, method));
    let entry = |(class, method, reason)| object! { "class": class, "method": method, "reason": reason };
    entries.into_iter().map(entry).collect()
}

pub(crate) fn write<'p>(
    view: &'p View<'p>,
    extent: &'p Extent<'p>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let run = view.run;
    let found = findings::find(view);
    let methods = view.methods.iter().take(extent.top);
    let by_hotspot = view
        .left_out
        .iter()
        .filter_map(|left| Some((left, left.hotspot.as_ref()?)));
    let by_hotspot = by_hotspot.take(extent.top);
    let if_any = |all: &Reasons<'p>| (!all.is_empty()).then(|| listed(all));
    let document = object! {
        "format": "trodden-report",
        "version": 1,
        "run": object! {
            "jvm": &run.jvm,
            "command": &run.command,
            "started_ms": run.started_ms,
            "seconds": run.seconds,
            "probe": &run.probe,
            "schedule": &run.schedule,
            "interval_ns": run.interval_ns,
            "exact": run.exact,
            // `exact`, `estimates` of the whole run, or `samples`.
            "counts": words::basis(view.basis),
            "options": &run.options,
            "trodden": &run.version,
            "facts": run.facts.texts().collect::<BTreeMap<_, _>>(),
        },
        "totals": object! {
            "paths": view.totals.paths,
            "flow": view.totals.flow,
            "methods": view.totals.methods,
            "unreadable": view.totals.unreadable,
        },
        "findings": Each(found.iter().map(|one| finding(view, one))),
        // Behind those with counts methods without probes, whose branches HotSpot counted.
        "methods": Each(
            methods
                .map(|one| Either::One(method(one, extent)))
                .chain(by_hotspot.map(|(left, branches)| Either::Other(hotspot::json(left, branches)))),
        ),
        // Methods with CPU time whose paths are not known.
        "left_out"?: filled(&view.left_out).map(|all| Each(all.iter().map(left_out))),
        "skipped": listed(&view.skipped),
        // Methods whose callees have no call sites in them.
        "without_call_sites"?: if_any(&view.without_call_sites),
        // Methods in which paths that an exception cut off are not counted.
        "without_cut_paths"?: if_any(&view.without_cut_paths),
        ..Keys::of(|kind| kind.json(view, extent)),
    };
    Ok(object::write(&document, out)?)
}

fn finding<'a>(view: &'a View<'a>, finding: &'a crate::Finding) -> impl Serialize {
    let method = finding.method.map(|index| &view.methods[index]);
    let left = finding
        .not_measured
        .as_ref()
        .map(|(class, method)| (class.as_str(), method.as_str()));
    let left_name = left.and_then(|(_, method)| Some(method.split_at(method.find('(')?)));
    let name = method
        .map(|m| m.map.name.as_str())
        .or(left_name.map(|(name, _)| name));
    object! {
        "kind": finding.kind.name(),
        "class"?: method.map(|m| m.class).or(left.map(|(class, _)| class)),
        "name"?: name,
        "descriptor"?: method
            .map(|m| m.map.descriptor.as_str())
            .or(left_name.map(|(_, descriptor)| descriptor)),
        "method"?: name,
        "line"?: finding.line,
        "condition"?: finding.condition.as_deref(),
        "outcome"?: finding.outcome.as_deref(),
        // A path of the method.
        "path"?: finding.path,
        "text": finding.text.as_str(),
        "evidence": finding.evidence.as_str(),
        // Of the program's time.
        "share": finding.share,
        "severity": if finding.aside { "aside" } else { "cause" },
    }
}

fn method<'a>(view: &'a MethodView<'a>, extent: &Extent) -> impl Serialize {
    let graph = view.map.graph_key();
    let most = extent.paths;
    let paths = |list: &'a [PathView]| {
        let one = move |p: &PathView| path(p, view.map, graph, view.decisions());
        Each(list.iter().take(most).map(one))
    };
    object! {
        "class": view.class,
        "name": &view.map.name,
        "descriptor": &view.map.descriptor,
        "source_file": view.source_file,
        // Keys are the same in every JVM.
        "graph": graph.to_string(),
        "count": view.count,
        "flow": view.flow,
        "share": view.share,
        "possible_paths": view.map.num_paths(),
        "time"?: view.time.as_ref().map(method_time),
        "paths": paths(&view.paths),
        "branches": Each(view.branches.iter().filter_map(move |b| branch(view, graph, b))),
        "switches": Each(view.branches.iter().filter_map(move |b| switch(view, graph, b))),
        "partial"?: filled(&view.partial).map(paths),
        "unobserved"?: filled(&view.unobserved).map(paths),
        "unreadable"?: filled(&view.unreadable).map(|all| Each(all.iter().map(unreadable))),
        "observation"?: view.observation.map(|o| object! {
            "counted": o.counted,
            "seconds": o.seconds,
            "exact_until": o.until,
            "windows": o.windows,
            "reason": &o.reason,
        }),
        ..Keys::of(|kind| kind.json_of_method(view, extent)),
    }
}

fn unreadable(count: &Unreadable) -> impl Serialize {
    object! { "id": count.number, "count": count.count, "error": count.error.as_str() }
}

/// A method whose paths are not known. Its time is in the line and in methods without a row of their own that are called
/// there.
fn left_out(left: &left_out::LeftOut) -> impl Serialize {
    let program = left.program;
    let lines = left.places.iter().filter_map(move |&(place, of_line)| {
        Some(object! { "line": place.line?, ..part_of(of_line, program) })
    });
    object! {
        "class": left.class,
        "name": left.name,
        "descriptor": left.descriptor,
        "reason": left.reason.as_str(),
        "time": object! {
            "near": part_of(left.near, program),
            "total": part_of(left.total, program),
        },
        // Most time first.
        "lines": Each(lines),
    }
}

fn method_time(view: &TimeView) -> impl Serialize + use<> {
    object! {
        "self": part_of(view.own, view.program),
        "near": part_of(view.near, view.program),
        "total": part_of(view.total, view.program),
        "unplaced": part_of(view.unplaced, view.program),
        "cut_off": part_of(view.cut_off, view.program),
        "answered": view.answered,
        "divided": view.by_counts,
    }
}

/// The key of a block's edge.
fn key(graph: Key, block: usize, index: usize) -> String {
    edge_key(graph, edge(block, index)).to_string()
}

/// The times of a branch's or switch's outcomes, with shares of the method's; of those that no counted path has none.
fn outcome_times(method: &MethodView, view: &BranchView) -> Vec<impl Serialize + use<>> {
    let labels = method.map.blocks[view.block].labels.iter().enumerate();
    let times = labels.filter_map(|(index, label)| {
        let time = method.time_of(edge(view.block, index))?;
        let known = method.decisions().outcome(view.block, index);
        Some(object! {
            "outcome": known.unwrap_or_else(|| names::decision(label)),
            "samples": time.samples,
            "answered": time.answered,
            "divided": time.by_counts,
            "share": time.share,
            "interval": time.interval,
        })
    });
    times.collect()
}

fn branch(method: &MethodView, graph: Key, view: &BranchView) -> Option<impl Serialize + use<>> {
    if view.is_switch {
        return None;
    }
    let decisions = method.decisions();
    let decision = decisions.of(view.block);
    let count = |label: EdgeLabel| {
        let mut labels = method.map.blocks[view.block].labels.iter();
        method.edge_count(edge(view.block, labels.position(|of| *of == label)?))
    };
    Some(object! {
        "bci": view.at.bci,
        "line": view.at.line,
        // Null where it is not known: see `reason`.
        "taken": count(EdgeLabel::Taken),
        "not_taken": count(EdgeLabel::NotTaken),
        // Keys of both edges, the one that is taken first.
        "edges": [0, 1].map(|index| key(graph, view.block, index)),
        "condition"?: decision.and_then(Decision::phrase),
        // What *taken* and *not taken* mean.
        "outcomes"?: decision.map(|_| [0, 1].map(|edge| decisions.outcome(view.block, edge))),
        ..of_any_branch(method, view),
    })
}

fn switch(method: &MethodView, graph: Key, view: &BranchView) -> Option<impl Serialize + use<>> {
    if !view.is_switch {
        return None;
    }
    let decisions = method.decisions();
    let labels = &method.map.blocks[view.block].labels;
    let cases = labels.iter().zip(view.outcomes(method)).enumerate();
    let cases = cases.map(|(index, (label, outcome))| {
        object! {
            "case": names::decision(label),
            "edge": key(graph, view.block, index),
            // As the source has it.
            "label"?: decisions.outcome(view.block, index),
            // Null where it is not known.
            "count": outcome.count,
            "line": outcome.target.line,
        }
    });
    Some(object! {
        "bci": view.at.bci,
        "line": view.at.line,
        "cases": cases.collect::<Vec<_>>(),
        "condition"?: decisions.of(view.block).and_then(Decision::phrase),
        ..of_any_branch(method, view),
    })
}

/// The last keys of branches and switches.
fn of_any_branch(method: &MethodView, view: &BranchView) -> Object<impl Fields + use<>> {
    let made = method.decisions().made(view.block);
    object! {
        // CPU time of each outcome, in the order of `edges` or `cases`.
        "outcome_time"?: Some(outcome_times(method, view)).filter(|times| !times.is_empty()),
        "compiler_made"?: made.map(CompilerMade::name),
        "undercounted"?: view.undercounted.then_some(true),
        // Why numbers are not known.
        "reason"?: view.unknown(),
    }
}
