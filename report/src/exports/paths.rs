//! Stacks of a profile that counts paths: package, class, method, path.

use std::collections::HashSet;

use trodden_insight::cpu::stacks::Divided;
use trodden_insight::names;
use trodden_insight::names::dotted;
use trodden_insight::path_time::{ROUNDING, Times, in_parts};
use trodden_insight::route::route;
use trodden_insight::view::{MethodView, PathView, View};
use trodden_profile::CountBasis;

use super::{Export, Frame, FrameKind, Unit, Value};
use crate::options::ReportOptions;
use crate::words::{self, cut};

/// Characters of a path's text; its number comes before it.
const LONGEST: usize = 240;
/// The meaning of a path's time, and how many samples were divided by counts.
pub(crate) fn time_of_paths(divided: Divided) -> String {
    let number = match divided.by_counts.round() as u64 {
        0 => "no sample here".to_owned(),
        by_counts => format!(
            "{} of {} samples here ({})",
            words::thousands(by_counts),
            words::thousands(divided.samples),
            words::percent(divided.share())
        ),
    };
    format!(
        "CPU time of a path is its own and that of what it calls whose paths are not counted. Where several paths go through the \
         same code, a sample belongs to the one that was seen to end next; where none was seen, its time is divided by how often \
         each ran: {number}. [path not known] is time in code of which neither tells who ran it."
    )
}

/// Content of stacks of paths.
pub(crate) struct Shape {
    /// Is each path a leaf? If not, the paths of a method are added up.
    pub with_paths: bool,
    /// Does a path have its CPU time, if there are samples?
    pub with_time: bool,
}

/// All chosen methods; those beyond `top` together.
pub(super) fn of(view: &View, options: &ReportOptions, shape: &Shape) -> Export {
    let times = view.times().filter(|_| shape.with_time);
    let (export, knows_instructions) = values(view, shape, times.is_some());
    let mut stacks = PathStacks {
        export,
        names: PathFrames::of(view),
        times,
        knows_instructions,
        timed: 0,
        divided: Divided::default(),
    };
    let top = if options.top == 0 { usize::MAX } else { options.top };
    let more = view.methods.len().saturating_sub(top);
    // Counts of earlier runs are none of this one's.
    let methods = view.methods.iter().enumerate();
    for (at, method) in methods.filter(|(_, method)| method.earlier.is_none()) {
        let parent = if at < top {
            method_node(&mut stacks.export, method)
        } else {
            let frame = stacks
                .export
                .frame(Frame::group(format!("[{more} more methods]")));
            stacks.export.node(None, frame)
        };
        stacks.add(method, parent, shape.with_paths && at < top);
    }
    let PathStacks {
        mut export,
        timed,
        divided,
        ..
    } = stacks;
    if times.is_some() {
        export.notes.push(time_of_paths(divided));
    }
    // Where only some methods were asked for, the others' time is no one's here.
    if let Some(times) = times.filter(|times| options.method.is_none() && times.total.ns > timed) {
        let frame = export.frame(Frame::group("[in no counted method]"));
        let node = export.node(None, frame);
        export.add(node, [times.total.ns - timed, 0, 0]);
    }
    export
}

/// An export without stacks, with the units of its numbers; true if instructions are among them.
fn values(view: &View, shape: &Shape, with_time: bool) -> (Export, bool) {
    let mut export = Export {
        leaves: if shape.with_paths { "paths" } else { "methods" },
        notes: vec![words::how_counted(view.run, view.basis)],
        ..Export::default()
    };
    if with_time {
        export.values.push(Value {
            name: "time",
            unit: Unit::Nanoseconds,
            sampled_ns: sampled_ns(view),
        });
    }
    let [executions, executed] = match view.basis {
        CountBasis::Exact => ["executions", "instructions"],
        CountBasis::Weighted(_) | CountBasis::Estimated(_) => {
            ["estimated-executions", "estimated-instructions"]
        }
        CountBasis::Sampled(_) => ["path-samples", "sampled-instructions"],
    };
    export.values.push(value(executions));
    let knows = |method: &&MethodView| {
        let shape = method.map.shape.as_ref();
        shape.is_some_and(|shape| shape.blocks.len() == method.map.blocks.len())
    };
    let unknown = view.methods.len() - view.methods.iter().filter(knows).count();
    match unknown {
        0 => export.values.push(value(executed)),
        _ => export.notes.push(format!(
            "Executed instructions are left out: those of {unknown} methods are not known."
        )),
    }
    if view.totals.unreadable > 0 {
        export.notes.push(format!(
            "{} counts name no path and are left out.",
            view.totals.unreadable
        ));
    }
    (export, unknown == 0)
}

/// The stacks of the methods so far.
struct PathStacks<'v> {
    export: Export,
    names: PathFrames,
    times: Option<&'v Times<'v>>,
    knows_instructions: bool,
    /// Nanoseconds that stacks have so far.
    timed: u64,
    divided: Divided,
}

impl PathStacks<'_> {
    /// A method below `parent`, each path with a frame of its own or none.
    fn add(&mut self, method: &MethodView, parent: u32, with_paths: bool) {
        let mut nodes = Vec::new();
        for path in method.all_paths() {
            let node = self.node(parent, with_paths.then(|| self.names.frame(method, path)));
            nodes.push(node);
            let blocks = path.description.blocks.iter();
            let one: u64 = blocks.map(|block| method.map.instructions(block.index())).sum();
            let instructions = if self.knows_instructions {
                one.saturating_mul(path.count)
            } else {
                0
            };
            self.export.add(
                node,
                match self.times {
                    Some(_) => [0, path.count, instructions],
                    None => [path.count, instructions, 0],
                },
            );
        }
        let Some(times) = self.times else { return };
        let Some(frame) = times.frame(method.names()) else {
            return;
        };
        let division = method.division();
        for (&bci, time) in &times.near_places[frame] {
            self.timed += time.ns;
            let pieces = division.at(method.map, bci);
            let mut parts: Vec<(u32, f64)> = pieces
                .iter()
                .map(|part| (nodes[part.path as usize], part.share))
                .collect();
            let placed: f64 = parts.iter().map(|part| part.1).sum();
            if placed < 1.0 - ROUNDING {
                let node = self.node(parent, with_paths.then(|| self.names.unknown(method)));
                parts.push((node, 1.0 - placed));
            }
            for (node, ns) in in_parts(time.ns, &parts) {
                self.export.add(node, [ns, 0, 0]);
            }
            let by_counts = pieces.iter().map(|part| part.share - part.known).sum();
            self.divided.add(*time, by_counts);
        }
    }

    /// The node of a frame below `parent`; without a frame `parent` itself.
    fn node(&mut self, parent: u32, frame: Option<Frame>) -> u32 {
        let Some(frame) = frame else { return parent };
        let frame = self.export.frame(frame);
        self.export.node(Some(parent), frame)
    }
}

/// CPU time from sample to sample, in nanoseconds: on average, as the system's clock may tick more slowly than was asked for.
pub(crate) fn sampled_ns(view: &View) -> Option<u64> {
    let total = view.times()?.total;
    Some(total.ns.checked_div(total.samples)?.max(1))
}

fn value(name: &'static str) -> Value {
    Value::counted(name, Unit::Count)
}

fn method_node(export: &mut Export, method: &MethodView) -> u32 {
    let class = dotted(method.class);
    let mut parent = None;
    if let Some((package, _)) = class.rsplit_once('.') {
        let frame = export.frame(Frame::group(package));
        parent = Some(export.node(parent, frame));
    }
    let frame = export.frame(Frame {
        file: file(method),
        ..Frame::group(class)
    });
    parent = Some(export.node(parent, frame));
    let frame = export.frame(Frame {
        name: method.title(),
        kind: FrameKind::Method,
        file: file(method),
        line: method.map.lines.iter().map(|entry| entry.line).min(),
    });
    export.node(parent, frame)
}

/// What paths are called in stacks. Viewers that list frames by name must not take two paths for one: the method is in the
/// name, with its package and parameters where the short name is another's as well.
pub(crate) struct PathFrames {
    /// Short names that several methods have.
    shared: HashSet<String>,
}

impl PathFrames {
    /// Of all methods.
    pub fn of(view: &View) -> Self {
        let mut seen = HashSet::new();
        let names = view.methods.iter().map(MethodView::short_name);
        PathFrames {
            shared: names.filter(|name| !seen.insert(name.clone())).collect(),
        }
    }

    fn method(&self, method: &MethodView) -> String {
        let short = method.short_name();
        if self.shared.contains(&short) {
            method.title()
        } else {
            short
        }
    }

    /// The frame of a path: `Shop.price #4: 6 hit → no`.
    pub fn frame(&self, method: &MethodView, path: &PathView) -> Frame {
        let stopped = match path.description.end_kind {
            trodden_profile::EndKind::Stopped => format!(
                ", {}",
                names::ends(path.description.end_kind, path.description.end)
            ),
            _ => String::new(),
        };
        let text = cut(&route(path, method.map, method.decisions()), LONGEST);
        Frame {
            name: format!("{} #{}: {text}{stopped}", self.method(method), path.number),
            kind: FrameKind::Path,
            file: file(method),
            line: path.description.start.line,
        }
    }

    /// The frame of what no counted path is known to have taken.
    pub fn unknown(&self, method: &MethodView) -> Frame {
        Frame::group(format!("{} [path not known]", self.method(method)))
    }

    /// The frame of paths that are shown together.
    pub fn others(&self, method: &MethodView, paths: usize) -> Frame {
        Frame::group(format!("{} [{paths} other paths]", self.method(method)))
    }
}

/// `demo/Shop.java`.
pub(super) fn file(method: &MethodView) -> Option<String> {
    let file = method.source_file?;
    Some(match method.class.rsplit_once('/') {
        Some((package, _)) => format!("{package}/{file}"),
        None => file.to_owned(),
    })
}
