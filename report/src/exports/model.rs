//! Stacks with their numbers: the one model that each format writes.

use std::borrow::Cow;
use std::collections::HashMap;

use trodden_profile::RunInfo;

use crate::words;

/// The frames of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackKind {
    /// Who called whom: calling contexts or, if there are none, stacks of CPU samples.
    Calls,
    /// Package, class, method; the path is the leaf.
    Paths,
    /// Package, class, method.
    Methods,
}

/// Which number of a stack comes first; collapsed stacks have no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// How often paths ran.
    Executions,
    /// Bytecode instructions that they executed.
    Instructions,
    /// CPU time, of the stacks that were sampled by it.
    Time,
}

/// Most numbers that a stack has.
pub(crate) const VALUES: usize = 3;
/// The numbers of a stack, in the order of [`Export::values`]; 0 where there is none.
pub(crate) type Numbers = [u64; VALUES];
/// No number at all.
pub(crate) const NOTHING: Numbers = [0; VALUES];

/// A number that each stack has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// `executions`; `estimated-executions`, `path-samples`, `calls-at-least` where it is no exact count.
    pub name: &'static str,
    pub unit: Unit,
    /// CPU time from sample to sample, in nanoseconds on average, if it comes from samples and not from counting each.
    pub sampled_ns: Option<u64>,
}

impl Value {
    /// A number that was counted, not sampled by CPU time.
    pub fn counted(name: &'static str, unit: Unit) -> Self {
        let sampled_ns = None;
        Value {
            name,
            unit,
            sampled_ns,
        }
    }

    /// Its name for stores: some refuse a hyphen.
    pub fn stored_name(self) -> Cow<'static, str> {
        if self.name.contains('-') {
            self.name.replace('-', "_").into()
        } else {
            self.name.into()
        }
    }

    /// What happened from one thing that was counted to the next: of what kind, in what unit, and how many of them.
    pub fn period(self) -> (Cow<'static, str>, Unit, u64) {
        match self.sampled_ns {
            Some(ns) => ("cpu".into(), Unit::Nanoseconds, ns),
            None => (self.stored_name(), self.unit, 1),
        }
    }
}

/// The quantity that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Count,
    Nanoseconds,
    Bytes,
}

impl Unit {
    /// As pprof and OTLP call it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Count => "count",
            Unit::Nanoseconds => "nanoseconds",
            Unit::Bytes => "bytes",
        }
    }
}

/// The meaning of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FrameKind {
    /// A package, a class, or several things together.
    Group,
    Method,
    Path,
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub name: String,
    pub kind: FrameKind,
    /// `demo/Shop.java`.
    pub file: Option<String>,
    /// Where it begins.
    pub line: Option<u32>,
}

impl Frame {
    /// One that stands for several things.
    pub fn group(name: impl Into<String>) -> Self {
        Frame {
            name: name.into(),
            kind: FrameKind::Group,
            file: None,
            line: None,
        }
    }
}

/// One stack: a frame below another stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Comes before this one.
    pub parent: Option<u32>,
    pub frame: u32,
    /// Without those of stacks below.
    pub own: Numbers,
}

/// All stacks of a profile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Export {
    /// One to [`VALUES`].
    pub values: Vec<Value>,
    pub frames: Vec<Frame>,
    pub nodes: Vec<Node>,
    /// The leaves, for what is added up: `contexts`.
    pub leaves: &'static str,
    /// How the numbers came about, in sentences.
    pub notes: Vec<String>,
    /// The numbers of frames, and of nodes by parent and frame, of those that were looked up.
    pub numbers: HashMap<Frame, u32>,
    pub known: HashMap<(Option<u32>, u32), u32>,
}

impl Export {
    /// The number of a frame.
    pub fn frame(&mut self, frame: Frame) -> u32 {
        let next = self.frames.len() as u32;
        *self.numbers.entry(frame).or_insert_with_key(|frame| {
            self.frames.push(frame.clone());
            next
        })
    }

    /// The stack with this frame below another.
    pub fn node(&mut self, parent: Option<u32>, frame: u32) -> u32 {
        let next = self.nodes.len() as u32;
        *self.known.entry((parent, frame)).or_insert_with(|| {
            self.nodes.push(Node {
                parent,
                frame,
                own: NOTHING,
            });
            next
        })
    }

    /// Adds numbers to a stack's own.
    pub fn add(&mut self, node: u32, own: Numbers) {
        let sum = &mut self.nodes[node as usize].own;
        *sum = std::array::from_fn(|at| sum[at].saturating_add(own[at]));
    }

    /// With the stacks and numbers of another one behind its own. `None`: they have numbers of the same name, or too many.
    pub fn with(mut self, other: Export) -> Option<Export> {
        let first = self.values.len();
        let is_twice = |value: &Value| self.values.iter().any(|own| own.name == value.name);
        if other.values.iter().any(is_twice) || first + other.values.len() > VALUES {
            return None;
        }
        let mut places = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            let frame = self.frame(other.frames[node.frame as usize].clone());
            let place = self.node(node.parent.map(|parent| places[parent as usize]), frame);
            let mut own = node.own;
            own.rotate_right(first);
            self.add(place, own);
            places.push(place);
        }
        self.values.extend(other.values);
        self.notes.extend(other.notes);
        self.leaves = "stacks";
        Some(self)
    }

    /// Sums over all stacks.
    pub fn totals(&self) -> [u128; VALUES] {
        std::array::from_fn(|at| self.nodes.iter().map(|node| u128::from(node.own[at])).sum())
    }

    /// The stacks that have numbers of their own.
    pub fn samples(&self) -> impl Iterator<Item = (u32, &Node)> {
        let all = (0..).zip(&self.nodes);
        all.filter(|(_, node)| node.own != NOTHING)
    }

    /// The frames of a stack, its leaf first.
    pub fn stack(&self, node: u32) -> Vec<u32> {
        let mut frames = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at {
            let node = &self.nodes[node as usize];
            frames.push(node.frame);
            at = node.parent;
        }
        frames
    }
}

/// A number in formats that have a sign.
pub(crate) fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The program's name in a profile: its command, or that it is not known.
pub(crate) fn title(run: &RunInfo) -> String {
    match run.command.as_str() {
        "" => "Java program".to_owned(),
        command => words::cut(command, 100),
    }
}
