//! Contexts as stacks of names, as pictures and other tools want them.

use std::collections::HashMap;
use std::fmt::Write;

use trodden_insight::contexts::ContextsView;
use trodden_insight::names;
use trodden_profile::options::ContextWeight;

use super::text::summary;
use crate::exports::{Export, Frame, FrameKind, Node, Unit, Value};

/// Deepest stacks: what is called beyond is counted in one more frame, `[deeper]`. A recursion of a million activations would be
/// a million lines of up to a million frames.
const DEEPEST: u32 = 1024;
const DEEPER: &str = "[deeper]";

/// What frames are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// `a.b.C.m`: overloads fall together.
    Names,
    /// `a.b.C.m(int)`.
    Signatures,
}

/// Contexts by what their frames are called; unless they are told apart, call sites fall together.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    pub names: Vec<String>,
    /// Parallel to the names: source file, and the method's first line.
    pub places: Vec<(Option<String>, Option<u32>)>,
    /// Callers before those that they called.
    pub nodes: Vec<Stack>,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Stack {
    pub parent: Option<u32>,
    /// Position of its last frame's name.
    pub name: u32,
    pub calls: u64,
    /// And those of all below.
    pub inclusive: u64,
}

impl Stacks {
    /// Of all contexts that were counted, or only the hot ones if `phi` was asked for. Stacks are cut at [`DEEPEST`].
    pub fn of(view: &ContextsView, frames: Frames) -> Self {
        let deepest = DEEPEST;
        let mut stacks = Stacks::default();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut of_methods: HashMap<(u32, u32, Option<u32>), u32> = HashMap::new();
        let mut known: HashMap<(Option<u32>, u32), u32> = HashMap::new();
        // The stack of each context on the way to the current one.
        let mut path: Vec<u32> = Vec::new();
        let only_hot = view.options.phi.is_some() || view.pattern.is_some();
        for (at, node) in view.nodes().iter().enumerate() {
            path.truncate(node.depth as usize - 1);
            let mut intern = |name: String, place, stacks: &mut Stacks| {
                let next = stacks.names.len() as u32;
                *numbers.entry(name).or_insert_with_key(|name| {
                    stacks.names.push(name.clone());
                    stacks.places.push(place);
                    next
                })
            };
            let parent = path.last().copied();
            let stack = if node.depth > deepest + 1 {
                parent.unwrap_or(0)
            } else {
                let name = if node.depth > deepest {
                    intern(DEEPER.to_owned(), (None, None), &mut stacks)
                } else {
                    let line = view.options.call_sites.then(|| view.call_line(at)).flatten();
                    *of_methods
                        .entry((node.class, node.method, line))
                        .or_insert_with(|| {
                            let (class, method) = view.method(node);
                            let mut name = match frames {
                                Frames::Names => format!("{}.{}", names::dotted(class), method.name),
                                Frames::Signatures => view.title(node),
                            };
                            if let Some(line) = line {
                                // Writing to a String cannot fail.
                                let _ = write!(name, "@{line}");
                            }
                            intern(name.replace(';', ":"), view.place(node), &mut stacks)
                        })
                };
                let next = stacks.nodes.len() as u32;
                let stack = *known.entry((parent, name)).or_insert(next);
                if stack == next {
                    stacks.nodes.push(Stack {
                        parent,
                        name,
                        calls: 0,
                        inclusive: 0,
                    });
                }
                stack
            };
            path.push(stack);
            if view.hot[at] || !only_hot {
                let calls = &mut stacks.nodes[stack as usize].calls;
                *calls = calls.saturating_add(node.estimate());
            }
        }
        for at in (0..stacks.nodes.len()).rev() {
            let Stack { parent, calls, .. } = stacks.nodes[at];
            stacks.nodes[at].inclusive += calls;
            if let Some(parent) = parent {
                stacks.nodes[parent as usize].inclusive += stacks.nodes[at].inclusive;
            }
        }
        stacks
    }
}

/// All of them, for other tools.
pub(crate) fn export(view: &ContextsView) -> Export {
    let stacks = Stacks::of(view, Frames::Names);
    let contexts = view.contexts;
    let (names, unit) = match contexts.weight {
        ContextWeight::Calls => (["calls", "calls-at-least", "calls-in-bursts"], Unit::Count),
        ContextWeight::Time => (["time", "time-at-least", "time-in-bursts"], Unit::Nanoseconds),
        ContextWeight::Alloc => (
            ["allocated", "allocated-at-least", "allocated-in-bursts"],
            Unit::Bytes,
        ),
    };
    let name = match (&contexts.bursts, contexts.is_exact()) {
        (Some(_), _) => names[2],
        (None, false) => names[1],
        (None, true) => names[0],
    };
    let mut export = Export {
        values: vec![Value::counted(name, unit)],
        leaves: "contexts",
        notes: vec![summary(view)],
        ..Export::default()
    };
    let frames = stacks.names.into_iter().zip(stacks.places);
    let frames = frames.map(|(name, (file, line))| Frame {
        kind: if name == DEEPER {
            FrameKind::Group
        } else {
            FrameKind::Method
        },
        name,
        file,
        line,
    });
    export.frames = frames.collect();
    let nodes = stacks.nodes.iter().map(|stack| Node {
        parent: stack.parent,
        frame: stack.name,
        own: [stack.calls, 0, 0],
    });
    export.nodes = nodes.collect();
    export
}
