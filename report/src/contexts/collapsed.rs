//! Collapsed stacks: `frame;frame;frame COUNT`, as flame graph viewers read them.

use std::collections::HashMap;
use std::fmt::Write;

use super::ContextsView;
use crate::words;

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
            let mut intern = |name: String, names: &mut Vec<String>| {
                let next = names.len() as u32;
                *numbers.entry(name).or_insert_with_key(|name| {
                    names.push(name.clone());
                    next
                })
            };
            let parent = path.last().copied();
            let stack = if node.depth > deepest + 1 {
                parent.unwrap_or(0)
            } else {
                let name = if node.depth > deepest {
                    intern(DEEPER.to_owned(), &mut stacks.names)
                } else {
                    let line = view.options.call_sites.then(|| view.call_line(at)).flatten();
                    *of_methods
                        .entry((node.class, node.method, line))
                        .or_insert_with(|| {
                            let (class, method) = view.method(node);
                            let mut name = match frames {
                                Frames::Names => format!("{}.{}", words::dotted(class), method.name),
                                Frames::Signatures => view.title(node),
                            };
                            if let Some(line) = line {
                                // Writing to a String cannot fail.
                                let _ = write!(name, "@{line}");
                            }
                            intern(name.replace(';', ":"), &mut stacks.names)
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

    /// One line per stack that has calls of its own, sorted.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for stack in self.nodes.iter().filter(|stack| stack.calls > 0) {
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

/// The whole output.
pub(crate) fn lines(view: &ContextsView) -> String {
    let mut out = Stacks::of(view, Frames::Names).lines().join("\n");
    if !out.is_empty() {
        out.push('\n');
    }
    out
}
