//! A path in JSON, as several documents have it.

use serde::Serialize;
use trodden_insight::decisions::{Decision, Decisions};
use trodden_insight::names;
use trodden_insight::view::PathView;
use trodden_profile::{Key, MethodMap, Place};

use crate::object::object;

pub(crate) fn path(
    view: &PathView,
    map: &MethodMap,
    graph: Key,
    decisions: &Decisions,
) -> impl Serialize + use<> {
    let d = &view.description;
    let (start, end) = decisions.kinds(map, d);
    let point = |kind, at: Place| object! { "kind": kind, "line": at.line, "bci": at.bci };
    let steps = map.steps(&view.edges).zip(view.decided(map)).map(|(step, edge)| {
        object! {
            "bci": step.at.bci,
            "line": step.at.line,
            "branch": names::decision(&step.label),
            "condition"?: decisions.of(edge.from.index()).and_then(Decision::phrase),
            "outcome"?: decisions.outcome(edge.from.index(), edge.index as usize),
        }
    });
    object! {
        "id": view.number,
        "key": view.key(graph).to_string(),
        "count": view.count,
        "flow": view.flow,
        "share": view.share,
        // With shares of the method's.
        "time"?: view.time.map(|time| object! {
            "samples": time.samples,
            "answered": time.answered,
            "divided": time.by_counts,
            "seconds": time.ns / 1e9,
            "share": time.share,
            "interval": time.interval,
            "certain": time.certain,
        }),
        "start": point(start, d.start),
        "end": point(end, d.end),
        "steps": steps.collect::<Vec<_>>(),
    }
}
