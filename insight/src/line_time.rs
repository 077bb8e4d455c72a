//! Time of source lines: of each line of a method, with what it called, and of each method called there.

use std::collections::{BTreeMap, HashMap};

use crate::path_time::Times;

/// Times of lines by frame of the samples, then line.
#[derive(Debug, Default)]
pub struct LineTimes(HashMap<u32, BTreeMap<u32, LineTime>>);

/// CPU time of a line, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTime {
    /// In the line and in everything that it called.
    pub ns: u64,
    /// In what it called, by frame, most first.
    pub callees: Vec<(u32, u64)>,
}

/// A frame and a line of it.
type Line = (u32, u32);
/// A line, and the frame of what it calls.
type Call = (Line, u32);

impl LineTimes {
    /// `line` is the line of a place in a frame, if it is wanted and known. A stack counts once for a line, and for a call
    /// in it, even where a method calls itself.
    pub fn new(times: &Times, line: impl Fn(u32, u16) -> Option<u32>) -> Self {
        let tree = &times.samples.tree;
        let totals = tree.totals();
        let mut of_lines: HashMap<Line, u64> = HashMap::new();
        let mut of_calls: HashMap<Call, u64> = HashMap::new();
        // Lines and calls on the current stack, and how often.
        let mut stack: Vec<(Option<Line>, Option<Call>)> = Vec::new();
        let mut lines: HashMap<Line, u32> = HashMap::new();
        let mut calls: HashMap<Call, u32> = HashMap::new();
        for (node, total) in tree.nodes().iter().zip(&totals) {
            for (here, call) in stack.drain(node.depth as usize - 1..) {
                here.map(|here| lines.entry(here).and_modify(|times| *times -= 1));
                call.map(|call| calls.entry(call).and_modify(|times| *times -= 1));
            }
            let above = stack.last().and_then(|&(here, _)| here);
            let call = above.map(|above| (above, node.frame));
            let line = node.bci.and_then(|bci| line(node.frame, bci));
            let here = line.map(|line| (node.frame, line));
            stack.push((here, call));
            let first = |times: &mut u32| {
                *times += 1;
                *times == 1
            };
            if let Some(here) = here.filter(|&here| first(lines.entry(here).or_default())) {
                let sum = of_lines.entry(here).or_default();
                *sum = sum.saturating_add(total.ns);
            }
            if let Some(call) = call.filter(|&call| first(calls.entry(call).or_default())) {
                let sum = of_calls.entry(call).or_default();
                *sum = sum.saturating_add(total.ns);
            }
        }
        let mut all = LineTimes::default();
        for ((frame, line), ns) in of_lines {
            all.0.entry(frame).or_default().entry(line).or_default().ns = ns;
        }
        for (((frame, line), callee), ns) in of_calls {
            let of_line = all.0.entry(frame).or_default().entry(line).or_default();
            of_line.callees.push((callee, ns));
        }
        for of_line in all.0.values_mut().flat_map(BTreeMap::values_mut) {
            of_line
                .callees
                .sort_by_key(|&(callee, ns)| (std::cmp::Reverse(ns), callee));
        }
        all
    }

    /// The times of a frame, by line.
    pub fn of_frame(&self, frame: usize) -> Option<&BTreeMap<u32, LineTime>> {
        self.0.get(&u32::try_from(frame).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use trodden_profile::{CpuFrame, CpuFrameKind, CpuRow, CpuSamples, CpuTime};

    use super::*;

    #[test]
    fn a_line_has_its_time_and_that_of_its_calls() {
        let frame = |name: &str| CpuFrame {
            class: "a/B".to_owned(),
            name: name.to_owned(),
            descriptor: "()V".to_owned(),
            kind: CpuFrameKind::Java,
        };
        let row = |parent, frame, bci, samples| CpuRow {
            parent,
            frame,
            bci,
            own: CpuTime { samples, ns: samples },
        };
        // `m` at line 1 calls `m` at line 2, which calls `x`; `m` at line 1 also works on its own and calls `y`.
        let rows = [
            row(None, 0, Some(10), 5),
            row(Some(0), 0, Some(20), 7),
            row(Some(1), 1, None, 100),
            row(Some(0), 2, None, 30),
            row(Some(2), 0, Some(10), 3),
        ];
        let mut samples = CpuSamples::default();
        samples.set_stacks(vec![frame("m"), frame("x"), frame("y")], &rows);
        let times = Times::new(&samples, &HashSet::new());
        let lines = LineTimes::new(&times, |frame, bci| (frame == 0).then_some(u32::from(bci) / 10));
        let of_m = lines.of_frame(0).unwrap();
        assert_eq!(
            of_m[&1].ns, 145,
            "the inner call at the same line is in the outer one"
        );
        assert_eq!(of_m[&1].callees, [(0, 110), (2, 30)]);
        assert_eq!((of_m[&2].ns, &of_m[&2].callees[..]), (110, &[(1, 103)][..]));
        assert_eq!(lines.of_frame(1), None);
    }
}
