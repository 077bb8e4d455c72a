//! The key `contexts` of the JSON report, as `docs/schema` has it.

use serde::Serialize;
use trodden_insight::contexts::ContextsView;
use trodden_insight::names;
use trodden_profile::{CpuTime, Key};

/// The contexts of a report.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    algorithm: &'a str,
    weight: &'static str,
    exact: bool,
    phi: Option<f64>,
    epsilon: Option<f64>,
    bursts: Option<&'a str>,
    calls: u64,
    threshold: u64,
    absent: u64,
    nodes: u64,
    hot: u64,
    peak_nodes: u64,
    peak_bytes: u64,
    dropped: u64,
    orphans: u64,
    time: Option<Times>,
    tree: Vec<Node<'a>>,
}

#[derive(Serialize)]
struct Node<'a> {
    key: String,
    parent: Option<usize>,
    depth: u32,
    class: &'a str,
    name: &'a str,
    descriptor: &'a str,
    site: Option<Site>,
    #[serde(skip_serializing_if = "Option::is_none")]
    along: Option<Along>,
    calls: Option<u64>,
    at_most: Option<u64>,
    share_interval: Option<[f64; 2]>,
    hot: bool,
    time: Option<NodeTimes>,
}

/// CPU time of all contexts.
#[derive(Serialize)]
struct Times {
    sampled: Time,
    placed: Time,
}

/// CPU time of a context.
#[derive(Serialize)]
struct NodeTimes {
    own: Time,
    total: Time,
}

#[derive(Serialize)]
struct Time {
    samples: u64,
    seconds: f64,
}

impl From<CpuTime> for Time {
    fn from(time: CpuTime) -> Self {
        Time {
            samples: time.samples,
            seconds: time.ns as f64 / 1e9,
        }
    }
}

#[derive(Serialize)]
struct Site {
    bci: u16,
    line: Option<u32>,
}

/// The path that the caller took to the call.
#[derive(Serialize)]
struct Along {
    register: u32,
    /// `entry`, `header`, `handler` or `cut`; and where.
    start: &'static str,
    bci: u32,
    line: Option<u32>,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    bci: u32,
    line: Option<u32>,
    branch: String,
}

fn along(view: &ContextsView, at: usize) -> Option<Along> {
    let (from, caller, path) = view.path_to_call(at)?;
    let steps = caller.steps(&path.edges).map(|step| Step {
        bci: step.at.bci,
        line: step.at.line,
        branch: names::decision(&step.label),
    });
    let steps = steps.collect();
    let path = caller.describe_path(&path);
    let (start, _) = view.decisions(from).kinds(caller, &path);
    Some(Along {
        register: view.nodes()[at].prefix?,
        start,
        bci: path.start.bci,
        line: path.start.line,
        steps,
    })
}

/// The hottest contexts and their callers.
pub(crate) fn document<'a>(view: &'a ContextsView, top: usize) -> Document<'a> {
    let contexts = view.contexts;
    let mut keys: Vec<Key> = Vec::new();
    let tree = view.with_callers(&view.chosen(top)).into_iter();
    let tree = tree.map(|(at, parent)| {
        let node = &view.nodes()[at];
        let key = view.key(at, parent.map(|parent| keys[parent]));
        keys.push(key);
        let (class, method) = view.method(node);
        Node {
            key: key.to_string(),
            parent,
            depth: node.depth,
            class,
            name: &method.name,
            descriptor: &method.descriptor,
            site: node.site.map(|bci| Site {
                bci,
                line: view.call_line(at),
            }),
            along: along(view, at),
            calls: node.calls.map(|(least, _)| least),
            at_most: node.calls.map(|(_, most)| most),
            share_interval: view.share_interval(at),
            hot: view.hot[at],
            time: view.times.as_ref().map(|times| NodeTimes {
                own: times.own[at].into(),
                total: times.whole[at].into(),
            }),
        }
    });
    Document {
        algorithm: &contexts.algorithm,
        weight: contexts.weight.name(),
        exact: contexts.is_exact(),
        phi: contexts.thresholds.map(|(phi, _)| phi),
        epsilon: contexts.thresholds.map(|(_, epsilon)| epsilon),
        bursts: contexts.bursts.as_deref(),
        calls: contexts.calls,
        threshold: view.threshold,
        absent: contexts.absent,
        nodes: contexts.tree.nodes().len() as u64,
        hot: view.hot.iter().filter(|&&hot| hot).count() as u64,
        peak_nodes: contexts.peak_nodes,
        peak_bytes: contexts.peak_bytes,
        dropped: contexts.dropped,
        orphans: contexts.orphans,
        time: view.times.as_ref().map(|times| Times {
            sampled: times.total.into(),
            placed: times.placed().into(),
        }),
        tree: tree.collect(),
    }
}
