//! A path in JSON, as several documents have it.

use serde::Serialize;
use trodden_insight::decisions::{Decision, Decisions};
use trodden_insight::names;
use trodden_insight::view::PathView;
use trodden_profile::{Key, MethodMap, PathDescription, Place};

#[derive(Serialize)]
pub(crate) struct Path {
    id: u64,
    key: String,
    count: u64,
    flow: u64,
    share: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<PathTime>,
    start: Point,
    end: Point,
    steps: Vec<Step>,
}

/// CPU time, with shares of the method's.
#[derive(Serialize)]
struct PathTime {
    samples: f64,
    answered: u64,
    divided: f64,
    seconds: f64,
    share: f64,
    interval: [f64; 2],
    certain: f64,
}

#[derive(Serialize)]
struct Point {
    kind: &'static str,
    line: Option<u32>,
    bci: u32,
}

#[derive(Serialize)]
struct Step {
    bci: u32,
    line: Option<u32>,
    branch: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
}

pub(crate) fn path(view: &PathView, map: &MethodMap, graph: Key, decisions: &Decisions) -> Path {
    let d: &PathDescription = &view.description;
    let (start_kind, end_kind) = decisions.kinds(map, d);
    let point = |kind, at: Place| Point {
        kind,
        line: at.line,
        bci: at.bci,
    };
    Path {
        id: view.number,
        key: view.key(graph).to_string(),
        count: view.count,
        flow: view.flow,
        share: view.share,
        time: view.time.map(|time| PathTime {
            samples: time.samples,
            answered: time.answered,
            divided: time.by_counts,
            seconds: time.ns / 1e9,
            share: time.share,
            interval: time.interval,
            certain: time.certain,
        }),
        start: point(start_kind, d.start),
        end: point(end_kind, d.end),
        steps: map
            .steps(&view.edges)
            .zip(view.decided(map))
            .map(|(s, edge)| Step {
                bci: s.at.bci,
                line: s.at.line,
                branch: names::decision(&s.label),
                condition: decisions.of(edge.from.index()).and_then(Decision::phrase),
                outcome: decisions.outcome(edge.from.index(), edge.index as usize),
            })
            .collect(),
    }
}
