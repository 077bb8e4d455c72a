//! Stacks for other tools: collapsed lines, speedscope, pprof, OTLP, Firefox Profiler. One model, [`Export`],
//! written by each format.
//!
//! What stands in a stack depends on what was recorded. Calling contexts are call stacks, and so are CPU samples, in
//! which the innermost method whose paths were counted has its path below it. Counts of paths have no callers: their stack
//! is package, class, method and, as the leaf, the path in the source's terms. A file may hold stacks of both kinds, each
//! with numbers that the other does not have.

mod bound;
mod collapsed;
mod firefox;
mod origin;
mod otlp;
pub(crate) mod paths;
mod pprof;
mod speedscope;
mod strings;

use std::borrow::Cow;
use std::collections::HashMap;

use trodden_profile::RunInfo;

use crate::ReportError;
use crate::ReportOptions;
use crate::section::SECTIONS;
use crate::view::View;
use crate::words;

pub(crate) use collapsed::write as collapsed;
pub(crate) use firefox::write as firefox;
pub(crate) use otlp::write as otlp;
pub(crate) use otlp::write_json as otlp_json;
pub(crate) use pprof::write as pprof;
pub(crate) use speedscope::write as speedscope;

/// What stacks are made of.
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

/// Contexts or paths with less than one part in so many of the total are added up.
const PARTS: u128 = 10_000;

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

/// What is counted.
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

/// What a frame stands for.
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
    /// What the leaves are, for what is added up: `contexts`.
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
    fn with(mut self, other: Export) -> Option<Export> {
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

/// The stacks of a profile, as the options ask for.
///
/// # Errors
/// If it has none, or not those that were asked for.
pub(crate) fn of(view: &View, options: &ReportOptions) -> Result<Export, ReportError> {
    let calls = || SECTIONS.into_iter().find_map(|kind| kind.stacks(view));
    let timed = || SECTIONS.into_iter().find_map(|kind| kind.time_stacks(view));
    let is_there = !view.methods.is_empty();
    let paths = |shape| is_there.then(|| paths::of(view, options, &shape));
    let (by_path, by_method) = (
        paths::Shape {
            with_paths: true,
            with_time: true,
        },
        paths::Shape {
            with_paths: false,
            with_time: true,
        },
    );
    let mut export = match options.stacks {
        Some(StackKind::Calls) => calls().or_else(timed).ok_or(ReportError::NoContexts)?,
        Some(StackKind::Paths) => paths(by_path).ok_or_else(|| nothing(view))?,
        Some(StackKind::Methods) => paths(by_method).ok_or_else(|| nothing(view))?,
        None => {
            let counted = || {
                calls().or_else(|| {
                    paths(paths::Shape {
                        with_paths: true,
                        with_time: false,
                    })
                })
            };
            match (timed(), counted()) {
                (Some(timed), Some(counted)) if options.weight == Some(Weight::Time) => {
                    timed.clone().with(counted).unwrap_or(timed)
                }
                (Some(timed), Some(counted)) => timed.with(counted.clone()).unwrap_or(counted),
                (one, other) => one.or(other).ok_or_else(|| nothing(view))?,
            }
        }
    };
    if let Some(weight) = options.weight {
        first(&mut export, weight)?;
    }
    export.notes.insert(0, format!("Command: {}", title(view.run)));
    // Hot contexts only, by their own threshold: what else there is was not asked for.
    let all = options.all || options.contexts.phi.is_some();
    Ok(bound::within(export, if all { 0 } else { PARTS }))
}

fn nothing(view: &View) -> ReportError {
    let kinds = SECTIONS.iter().filter(|kind| kind.is_in(view));
    let kinds: Vec<&str> = kinds.map(|kind| kind.key()).collect();
    ReportError::NoStacks(if kinds.is_empty() {
        "no path was counted".to_owned()
    } else {
        format!("it has only {}", kinds.join(" and "))
    })
}

/// Puts a number first.
fn first(export: &mut Export, weight: Weight) -> Result<(), ReportError> {
    let wanted = match weight {
        Weight::Executions => ["executions", "samples"],
        Weight::Instructions => ["instructions"; 2],
        Weight::Time => ["time"; 2],
    };
    let is_wanted = |value: &Value| wanted.iter().any(|name| value.name.ends_with(name));
    match export.values.iter().position(is_wanted) {
        Some(at) => {
            export.values[..=at].rotate_right(1);
            for node in &mut export.nodes {
                node.own[..=at].rotate_right(1);
            }
            Ok(())
        }
        None => Err(ReportError::NoWeight {
            wanted: wanted[0],
            known: export
                .values
                .iter()
                .map(|value| value.name)
                .collect::<Vec<_>>()
                .join(" and "),
        }),
    }
}

/// A number in formats that have a sign.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The program's name in a profile: its command, or that it is not known.
pub(crate) fn title(run: &RunInfo) -> String {
    match run.command.as_str() {
        "" => "Java program".to_owned(),
        command => words::cut(command, 100),
    }
}
