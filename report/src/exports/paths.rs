//! Stacks of a profile that counts paths: package, class, method, path.

use std::collections::HashSet;

use super::{Export, Frame, FrameKind, Unit, Value};
use crate::ReportOptions;
use crate::findings::instructions;
use crate::text::route;
use crate::view::{MethodView, PathView, View};
use crate::words::{self, Counts, cut, dotted};

/// Characters of a path's text; its number comes before it.
const LONGEST: usize = 240;

/// All chosen methods; those beyond `top` together. Without `with_paths` their paths are added up, too.
pub(super) fn of(view: &View, options: &ReportOptions, with_paths: bool) -> Export {
    let mut export = Export {
        leaves: if with_paths { "paths" } else { "methods" },
        notes: vec![words::how_counted(view.run)],
        ..Export::default()
    };
    let [executions, executed] = match Counts::of(view.run) {
        Counts::Exact => ["executions", "instructions"],
        Counts::Estimates => ["estimated-executions", "estimated-instructions"],
        Counts::Samples => ["path-samples", "sampled-instructions"],
    };
    export.values.push(value(executions));
    let knows = |method: &MethodView| {
        let shape = method.map.shape.as_ref();
        shape.is_some_and(|shape| shape.blocks.len() == method.map.blocks.len())
    };
    let unknown = view.methods.iter().filter(|method| !knows(method)).count();
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
    let top = if options.top == 0 { usize::MAX } else { options.top };
    let more = view.methods.len().saturating_sub(top);
    let mut names = HashSet::new();
    for (at, method) in view.methods.iter().enumerate() {
        let parent = match at < top {
            true => method_node(&mut export, method),
            false => {
                let frame = export.frame(Frame::group(format!("[{more} more methods]")));
                export.node(None, frame)
            }
        };
        for path in method.paths.iter().chain(&method.partial) {
            let node = if with_paths && at < top {
                let frame = path_frame(method, path, &mut names);
                let frame = export.frame(frame);
                export.node(Some(parent), frame)
            } else {
                parent
            };
            let blocks = path.description.blocks.iter();
            let one: u64 = blocks.map(|block| instructions(method.map, block.index())).sum();
            let all = if unknown == 0 {
                one.saturating_mul(path.count)
            } else {
                0
            };
            export.add(node, [path.count, all]);
        }
    }
    export
}

fn value(name: &'static str) -> Value {
    Value {
        name,
        unit: Unit::Count,
    }
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

/// Viewers that list frames by name must not take two paths for one: the method is in the name, with its
/// package and parameters where the short name is another's as well.
fn path_frame(method: &MethodView, path: &PathView, names: &mut HashSet<String>) -> Frame {
    let stopped = match path.description.end_kind {
        trodden_profile::EndKind::Stopped => format!(
            ", {}",
            words::ends(path.description.end_kind, path.description.end)
        ),
        _ => String::new(),
    };
    let text = cut(&route(path, method.map, method.decisions()), LONGEST);
    let name = |method: &str| format!("{method} #{}: {text}{stopped}", path.number);
    let mut full = name(&method.short_name());
    if !names.insert(full.clone()) {
        full = name(&method.title());
        names.insert(full.clone());
    }
    Frame {
        name: full,
        kind: FrameKind::Path,
        file: file(method),
        line: path.description.start.line,
    }
}

/// `demo/Shop.java`.
fn file(method: &MethodView) -> Option<String> {
    let file = method.source_file?;
    Some(match method.class.rsplit_once('/') {
        Some((package, _)) => format!("{package}/{file}"),
        None => file.to_owned(),
    })
}
