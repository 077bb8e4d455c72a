//! The key `contexts` of the JSON report, as `docs/schema` has it.

use serde::Serialize;
use trodden_insight::contexts::ContextsView;
use trodden_insight::names;
use trodden_profile::{CpuTime, Key};

use crate::object::object;

fn time(time: CpuTime) -> impl Serialize {
    object! { "samples": time.samples, "seconds": time.ns as f64 / 1e9 }
}

/// The path that the caller took to the call.
fn along(view: &ContextsView, at: usize) -> Option<impl Serialize + use<>> {
    let (from, caller, path) = view.path_to_call(at)?;
    let steps = caller.steps(&path.edges).map(|step| {
        object! { "bci": step.at.bci, "line": step.at.line, "branch": names::decision(&step.label) }
    });
    let steps: Vec<_> = steps.collect();
    let path = caller.describe_path(&path);
    let (start, _) = view.decisions(from).kinds(caller, &path);
    Some(object! {
        "register": view.nodes()[at].prefix?,
        // `entry`, `header`, `handler` or `cut`; and where.
        "start": start,
        "bci": path.start.bci,
        "line": path.start.line,
        "steps": steps,
    })
}

/// The hottest contexts and their callers.
pub(crate) fn document(view: &ContextsView, top: usize) -> impl Serialize {
    let contexts = view.contexts;
    let mut keys: Vec<Key> = Vec::new();
    let tree = view.with_callers(&view.chosen(top)).into_iter();
    let tree = tree.map(|(at, parent)| {
        let node = &view.nodes()[at];
        let key = view.key(at, parent.map(|parent| keys[parent]));
        keys.push(key);
        let (class, method) = view.method(node);
        object! {
            "key": key.to_string(),
            "parent": parent,
            "depth": node.depth,
            "class": class,
            "name": &method.name,
            "descriptor": &method.descriptor,
            "site": node.site.map(|bci| object! { "bci": bci, "line": view.call_line(at) }),
            "along"?: along(view, at),
            "calls": node.calls.map(|(least, _)| least),
            "at_most": node.calls.map(|(_, most)| most),
            "share_interval": view.share_interval(at),
            "hot": view.hot[at],
            "time": view.times.as_ref().map(|times| object! {
                "own": time(times.own[at]),
                "total": time(times.whole[at]),
            }),
        }
    });
    object! {
        "algorithm": &contexts.algorithm,
        "weight": contexts.weight.name(),
        "exact": contexts.is_exact(),
        "phi": contexts.thresholds.map(|(phi, _)| phi),
        "epsilon": contexts.thresholds.map(|(_, epsilon)| epsilon),
        "bursts": contexts.bursts.as_deref(),
        "calls": contexts.calls,
        "threshold": view.threshold,
        "absent": contexts.absent,
        "nodes": contexts.tree.nodes().len() as u64,
        "hot": view.hot.iter().filter(|&&hot| hot).count() as u64,
        "peak_nodes": contexts.peak_nodes,
        "peak_bytes": contexts.peak_bytes,
        "dropped": contexts.dropped,
        "orphans": contexts.orphans,
        "time": view.times.as_ref().map(|times| object! {
            "sampled": time(times.total),
            "placed": time(times.placed()),
        }),
        "tree": tree.collect::<Vec<_>>(),
    }
}
