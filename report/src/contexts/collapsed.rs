//! Contexts as stacks of names, as flame graphs and other tools want them.

use std::collections::HashMap;
use std::fmt::Write;

use trodden_profile::options::ContextWeight;

use super::ContextsView;
use crate::exports::{Export, Frame, FrameKind, Node, Unit, Value};
use crate::words;

/// Deepest stacks: what is called beyond is counted in one more frame, `[deeper]`. A recursion of a million activations would be
/// a million lines of up to a million frames.
const DEEPEST: u32 = 1024;
const DEEPER: &str = "[deeper]";

/// Contexts by what their frames are called: overloads and, unless they are told apart, call sites fall together.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    names: Vec<String>,
    /// Parallel to the names: source file, and the method's first line.
    places: Vec<(Option<String>, Option<u32>)>,
    nodes: Vec<Stack>,
}

#[derive(Debug)]
struct Stack {
    parent: Option<u32>,
    name: u32,
    calls: u64,
    /// And those of all below.
    inclusive: u64,
}

impl Stacks {
    /// Of all contexts that were counted, or only the hot ones if `phi` was asked for. Stacks are cut at `deepest`.
    pub fn of(view: &ContextsView, deepest: u32) -> Self {
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
                            let mut name = format!("{}.{}", words::dotted(class), method.name);
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

    /// Most frames of a stack.
    pub fn depth(&self) -> usize {
        let mut depths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for stack in &self.nodes {
            depths.push(stack.parent.map_or(1, |parent| depths[parent as usize] + 1));
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Calls of all stacks.
    pub fn calls(&self) -> u64 {
        let first = self.nodes.iter().filter(|stack| stack.parent.is_none());
        first.map(|stack| stack.inclusive).sum()
    }

    /// One line per stack that has calls of its own, sorted; stacks whose calls and those of all below are fewer than `least` are left
    /// out.
    pub fn lines(&self, least: u64) -> Vec<String> {
        let mut lines = Vec::new();
        for stack in self
            .nodes
            .iter()
            .filter(|stack| stack.calls > 0 && stack.inclusive >= least)
        {
            let mut names = vec![stack.name];
            let mut above = stack.parent;
            while let Some(parent) = above {
                names.push(self.nodes[parent as usize].name);
                above = self.nodes[parent as usize].parent;
            }
            let names: Vec<&str> = names
                .iter()
                .rev()
                .map(|&name| &*self.names[name as usize])
                .collect();
            lines.push(format!("{} {}", names.join(";"), stack.calls));
        }
        lines.sort_unstable();
        lines
    }
}

/// All of them, for other tools.
pub(crate) fn export(view: &ContextsView) -> Export {
    let stacks = Stacks::of(view, DEEPEST);
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
        values: vec![Value { name, unit }],
        leaves: "contexts",
        notes: vec![view.summary()],
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
        own: [stack.calls, 0],
    });
    export.nodes = nodes.collect();
    export
}
