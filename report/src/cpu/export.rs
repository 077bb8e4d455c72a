//! CPU samples as stacks for other tools.

use trodden_profile::CpuFrameKind;

use super::{CpuView, text};
use crate::exports::{Export, Frame, FrameKind, Unit, Value};
use crate::words;

/// Deepest stacks; what is below counts for its caller. The agent records no deeper ones.
const DEEPEST: u32 = 1024;

/// All stacks: time, then the number of samples. Places in a method fall together.
pub(super) fn export(cpu: &CpuView) -> Export {
    let mut export = Export {
        values: vec![
            Value {
                name: "time",
                unit: Unit::Nanoseconds,
            },
            Value {
                name: "samples",
                unit: Unit::Count,
            },
        ],
        leaves: "stacks",
        notes: [Some(text::about(cpu)), text::notes(cpu)]
            .into_iter()
            .flatten()
            .collect(),
        ..Export::default()
    };
    let frames: Vec<u32> = cpu
        .about
        .frames
        .iter()
        .map(|frame| {
            let (name, kind) = match frame.kind {
                CpuFrameKind::Other => (frame.name.clone(), FrameKind::Group),
                _ => {
                    let class = words::dotted(&frame.class);
                    (format!("{class}.{}", frame.name), FrameKind::Method)
                }
            };
            export.frame(Frame {
                name,
                kind,
                file: None,
                line: None,
            })
        })
        .collect();
    // The stack of each node on the way to the current one.
    let mut path: Vec<u32> = Vec::new();
    for node in cpu.about.tree.nodes() {
        path.truncate(node.depth as usize - 1);
        let parent = path.last().copied();
        let frame = frames.get(node.frame as usize).copied().unwrap_or_default();
        let stack = match parent {
            Some(parent) if node.depth > DEEPEST => parent,
            _ => export.node(parent, frame),
        };
        export.add(stack, [node.own.ns, node.own.samples]);
        path.push(stack);
    }
    export
}
