//! CPU samples as stacks for other tools.

use trodden_insight::cpu::CpuView;
use trodden_insight::cpu::stacks::{Split, Way, divided, splits};
use trodden_insight::names;
use trodden_insight::path_time::in_parts;
use trodden_insight::view::View;
use trodden_profile::CpuFrameKind;

use super::text;
use crate::exports::paths::{PathFrames, sampled_ns, time_of_paths};
use crate::exports::{Export, Frame, FrameKind, Unit, Value};

/// Deepest stacks; what is below counts for its caller. The agent records no deeper ones.
const DEEPEST: u32 = 1024;

/// Where a stack of the samples is in the export.
struct Place {
    /// Without paths: below it are methods whose paths were counted.
    plain: u32,
    /// With the path of the innermost method whose paths were counted: one for each way, with its part.
    split: Vec<(u32, f64)>,
}

/// All stacks. Places in a method fall together, but for the paths through them: the innermost method whose paths were counted
/// is followed by its path, and that by what it called. A sample is not divided, so where paths are shown there is only time.
pub(super) fn export(cpu: &CpuView, view: &View) -> Option<Export> {
    let times = view.sampled.as_ref()?;
    let splits = splits(view, times);
    let is_split = splits.iter().any(Option::is_some);
    let mut export = Export {
        values: vec![Value {
            name: "time",
            unit: Unit::Nanoseconds,
            sampled_ns: sampled_ns(view),
        }],
        leaves: "stacks",
        notes: [Some(text::about(cpu)), text::notes(cpu)]
            .into_iter()
            .flatten()
            .collect(),
        ..Export::default()
    };
    if is_split {
        export.notes.push(time_of_paths(divided(&splits, times)))
    } else {
        export.values.push(Value {
            name: "samples",
            unit: Unit::Count,
            sampled_ns: sampled_ns(view),
        })
    }
    let frames = frames(cpu, &mut export);
    let ways = ways(&PathFrames::of(view), &splits, &mut export);
    // The stack of each node on the way to the current one.
    let mut above: Vec<Place> = Vec::new();
    for node in cpu.about.tree.nodes() {
        above.truncate(node.depth as usize - 1);
        let parent = above.last();
        let frame = frames.get(node.frame as usize).copied().unwrap_or_default();
        let split = splits.get(node.frame as usize).and_then(Option::as_ref);
        let place = match parent {
            Some(parent) if node.depth > DEEPEST => Place {
                plain: parent.plain,
                split: parent.split.clone(),
            },
            _ => {
                let plain = export.node(parent.map(|parent| parent.plain), frame);
                let split = match (split, parent) {
                    (Some(split), _) => {
                        let pieces = split.at(node.bci).into_iter();
                        let below = pieces.map(|piece| {
                            let frame = ways[node.frame as usize].frame(piece.way);
                            (export.node(Some(plain), frame), piece.share)
                        });
                        below.collect()
                    }
                    (None, Some(parent)) if !times.is_mapped(node.frame) => {
                        let below = parent.split.iter();
                        below
                            .map(|&(parent, part)| (export.node(Some(parent), frame), part))
                            .collect()
                    }
                    (None, _) => vec![(plain, 1.0)],
                };
                Place { plain, split }
            }
        };
        if is_split {
            for (stack, ns) in in_parts(node.own.ns, &place.split) {
                export.add(stack, [ns, 0, 0]);
            }
        } else {
            export.add(place.plain, [node.own.ns, node.own.samples, 0]);
        }
        above.push(place);
    }
    Some(export)
}

/// The methods' frames.
fn frames(cpu: &CpuView, export: &mut Export) -> Vec<u32> {
    let frame = |frame: &trodden_profile::CpuFrame| {
        let (name, kind) = match frame.kind {
            CpuFrameKind::Other => (frame.name.clone(), FrameKind::Group),
            _ => {
                let class = names::dotted(&frame.class);
                (format!("{class}.{}", frame.name), FrameKind::Method)
            }
        };
        export.frame(Frame {
            name,
            kind,
            file: None,
            line: None,
        })
    };
    cpu.about.frames.iter().map(frame).collect()
}

/// The frames of a method's ways.
#[derive(Default)]
struct Ways {
    paths: Vec<u32>,
    others: u32,
    unknown: u32,
}

impl Ways {
    fn frame(&self, way: Way) -> u32 {
        match way {
            Way::Path(number) => self.paths[number as usize],
            Way::Others => self.others,
            Way::Unknown => self.unknown,
        }
    }
}

fn ways(names: &PathFrames, splits: &[Option<Split>], export: &mut Export) -> Vec<Ways> {
    let of = |split: &Option<Split>| {
        let Some(split) = split else {
            return Ways::default();
        };
        let paths = split.shown.iter();
        Ways {
            paths: paths
                .map(|path| export.frame(names.frame(split.method, path)))
                .collect(),
            others: export.frame(names.others(split.method, split.others)),
            unknown: export.frame(names.unknown(split.method)),
        }
    };
    splits.iter().map(of).collect()
}
