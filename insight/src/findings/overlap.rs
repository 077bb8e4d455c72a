//! How much of the same time several [candidates](Candidate) have, by the samples, and where it is spent.

use std::collections::HashMap;

use trodden_profile::{CpuFrame, CpuTime};

use super::causes::{Candidate, What};
use crate::path_time::Times;
use crate::view::View;

/// Where most of a candidate's time is, if it has a half there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// The method that it calls: a position among the frames.
    pub callee: Option<usize>,
    /// The line of its own method.
    pub line: Option<u32>,
}

/// Times of candidates and of their common parts, in nanoseconds.
pub struct Overlap {
    times: Vec<f64>,
    both: Vec<f64>,
    /// Of the common parts those where the second one is called by the first.
    called: Vec<f64>,
    callees: Vec<HashMap<u32, f64>>,
    lines: Vec<HashMap<u32, f64>>,
}

/// A candidate on the stack: its part of what is called there, and how deep that is.
#[derive(Clone, Copy)]
struct Active {
    part: f64,
    depth: usize,
}

impl Overlap {
    pub fn new(view: &View, times: &Times, all: &[Candidate]) -> Self {
        let mut found = Overlap {
            times: vec![0.0; all.len()],
            both: vec![0.0; all.len() * all.len()],
            called: vec![0.0; all.len() * all.len()],
            callees: vec![HashMap::new(); all.len()],
            lines: vec![HashMap::new(); all.len()],
        };
        let mut by_frame: HashMap<u32, Vec<usize>> = HashMap::new();
        for (index, candidate) in all.iter().enumerate() {
            by_frame.entry(candidate.frame as u32).or_default().push(index);
        }
        // Per depth: the frame, and what is active there or above.
        let mut frames: Vec<(u32, Option<u16>)> = Vec::new();
        let mut actives: Vec<Vec<Option<Active>>> = Vec::new();
        for node in times.samples.tree.nodes() {
            let depth = node.depth as usize - 1;
            frames.truncate(depth);
            actives.truncate(depth);
            let mut here = actives.last().cloned().unwrap_or_else(|| vec![None; all.len()]);
            if times.mapped[node.frame as usize] {
                // A method that has a row of its own ends what its caller has itself.
                for (active, candidate) in here.iter_mut().zip(all) {
                    if matches!(candidate.what, What::Own) {
                        *active = None;
                    }
                }
            }
            for &index in by_frame.get(&node.frame).map_or(&[][..], Vec::as_slice) {
                let candidate = &all[index];
                // Of a method that calls itself, the innermost call counts.
                let part = match (&candidate.what, candidate.method) {
                    (What::Own, _) => 1.0,
                    (_, Some(method)) => candidate.part(view.methods[method].map, node.bci),
                    (_, None) => 0.0,
                };
                here[index] = (part > 0.0).then_some(Active { part, depth });
            }
            frames.push((node.frame, node.bci));
            if !node.own.is_none() {
                found.add(view, times, all, &here, &frames, node.own);
            }
            actives.push(here);
        }
        found
    }

    fn add(
        &mut self,
        view: &View,
        times: &Times,
        all: &[Candidate],
        here: &[Option<Active>],
        frames: &[(u32, Option<u16>)],
        time: CpuTime,
    ) {
        let ns = time.ns as f64;
        let active: Vec<(usize, Active)> = (0..).zip(here).filter_map(|(at, a)| Some((at, (*a)?))).collect();
        for &(one, Active { part, depth }) in &active {
            self.times[one] += part * ns;
            for &(other, with) in &active {
                let common = part.min(with.part) * ns;
                self.both[one * all.len() + other] += common;
                if with.depth > depth {
                    self.called[one * all.len() + other] += common;
                }
            }
            let called = frames[depth + 1..].iter().map(|(frame, _)| *frame);
            let mut called = called.filter(|&frame| is_named(&times.samples.frames[frame as usize]));
            if let Some(callee) = called.next() {
                *self.callees[one].entry(callee).or_default() += part * ns;
            }
            let line = all[one].method.zip(frames[depth].1);
            if let Some(line) = line.and_then(|(m, bci)| view.methods[m].map.line(bci.into())) {
                *self.lines[one].entry(line).or_default() += part * ns;
            }
        }
    }

    /// A candidate's time.
    pub fn time(&self, one: usize) -> f64 {
        self.times[one]
    }

    /// The share of a candidate's time that another one has as well.
    pub fn covered(&self, one: usize, other: usize) -> f64 {
        self.both[one * self.times.len() + other] / self.times[one].max(1.0)
    }

    /// True if another one is mostly below a candidate on the stack, where both are.
    pub fn is_below(&self, one: usize, other: usize) -> bool {
        let at = one * self.times.len() + other;
        self.called[at] > 0.5 * self.both[at]
    }

    /// Where most of a candidate's time is.
    pub fn spent(&self, one: usize) -> Spent {
        let most = |parts: &HashMap<u32, f64>| {
            let most = parts.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
            most.filter(|(_, ns)| **ns >= 0.5 * self.times[one])
                .map(|(&at, _)| at)
        };
        Spent {
            callee: most(&self.callees[one]).map(|frame| frame as usize),
            line: most(&self.lines[one]),
        }
    }
}

/// Frames that a call goes through before it comes to what the source names.
fn is_named(frame: &CpuFrame) -> bool {
    !frame.class.starts_with("java/lang/invoke/")
        && !frame.class.contains("$$Lambda")
        && !frame.class.is_empty()
}
