//! Methods without probes, as HotSpot counted their branches: shares of outcomes, and the time that is certain for each.
//!
//! The time of an outcome is that of code that is reached by it alone. Code after the branches' ways have met again is
//! nobody's: counts of branches do not say which way a sample there came.

use std::collections::HashMap;

use trodden_numbering::{BlockId, EdgeRef};
use trodden_profile::{CpuTime, HotSpotMethod, MethodMap, Place, share_interval};

use crate::decisions::Decisions;
use crate::names;
use crate::only_by::reached_only_by;
use crate::source::{SourceText, Sources};

/// The branches of a method that HotSpot counted.
#[derive(Debug)]
pub struct HotSpotView<'p> {
    /// The method.
    pub method: &'p HotSpotMethod,
    /// What the branches decide.
    pub decisions: Decisions,
    /// Branches of the source, most certain time first.
    pub branches: Vec<HotSpotBranchView>,
}

/// One branch or switch.
#[derive(Clone, Debug, PartialEq)]
pub struct HotSpotBranchView {
    /// Number of the block that it ends.
    pub block: usize,
    /// Where it is.
    pub at: Place,
    /// Executions that HotSpot counted, until it stopped.
    pub counted: u64,
    /// Its outcomes, in the order of the bytecode.
    pub outcomes: Vec<HotSpotOutcome>,
}

/// One outcome of it.
#[derive(Clone, Debug, PartialEq)]
pub struct HotSpotOutcome {
    /// `yes`, `again`, `case "GET"`; `taken` where that is all that is known.
    pub text: String,
    /// Of the executions that were counted, 0 to 1.
    pub share: f64,
    /// The time of code that only this outcome leads to; `None` if there are no samples, or no such code.
    pub time: Option<CertainTime>,
}

/// A part of the method's time that is an outcome's for certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CertainTime {
    /// Samples and time.
    pub time: CpuTime,
    /// Of the method's time, 0 to 1.
    pub share: f64,
    /// The bounds of that share (95 %).
    pub interval: (f64, f64),
}

impl HotSpotBranchView {
    /// The largest certain time among its outcomes.
    fn most_time(&self) -> u64 {
        let times = self.outcomes.iter().filter_map(|outcome| outcome.time);
        times.map(|own| own.time.ns).max().unwrap_or(0)
    }
}

impl<'p> HotSpotView<'p> {
    /// The branches of a method. `time_at`: its time by bytecode index, with that of code that it calls and that has no
    /// row of its own. `bytecode`: decisions are shown as what the bytecode did.
    pub fn new(
        method: &'p HotSpotMethod,
        time_at: impl Iterator<Item = (u16, CpuTime)>,
        sources: &Sources,
        bytecode: bool,
    ) -> Self {
        let map = &method.map;
        let decisions = if bytecode {
            Decisions::default()
        } else {
            let source = sources.find(&method.class, method.source_file.as_deref());
            Decisions::new(map, &method.conditions, source.as_deref().map(SourceText::file))
        };
        let mut of_blocks = vec![CpuTime::default(); map.blocks.len()];
        for (bci, time) in time_at {
            if let Some(block) = map.block_at(bci.into()) {
                let sum = &mut of_blocks[block.index()];
                *sum = sum.plus(time);
            }
        }
        let whole = of_blocks.iter().copied().fold(CpuTime::default(), CpuTime::plus);
        let edges = method.branches.iter().flat_map(|branch| {
            (0..branch.outcomes.len()).map(|index| names::edge(branch.block as usize, index))
        });
        let own = time_of_edges(map, &edges.collect::<Vec<_>>(), &of_blocks);
        let mut branches = Vec::new();
        for counts in &method.branches {
            let block = counts.block as usize;
            if decisions.made(block).is_some() {
                continue;
            }
            let counted = counts.total();
            let outcome = |(index, &times): (usize, &u64)| {
                let edge = names::edge(block, index);
                let time = own.get(&edge).filter(|_| !whole.is_none());
                HotSpotOutcome {
                    text: decisions.outcome_or_label(map, edge),
                    share: times as f64 / counted.max(1) as f64,
                    time: time.map(|&time| CertainTime {
                        time,
                        share: time.ns as f64 / whole.ns.max(1) as f64,
                        interval: share_interval(time.samples, whole.samples),
                    }),
                }
            };
            branches.push(HotSpotBranchView {
                block,
                at: map.place(map.blocks[block].last),
                counted,
                outcomes: counts.outcomes.iter().enumerate().map(outcome).collect(),
            });
        }
        branches.sort_by_key(|branch| {
            (
                std::cmp::Reverse((branch.most_time(), branch.counted)),
                branch.block,
            )
        });
        HotSpotView {
            method,
            decisions,
            branches,
        }
    }
}

/// The time of blocks that are reached by an edge alone, for each edge that leads to such blocks.
fn time_of_edges(map: &MethodMap, edges: &[EdgeRef], times: &[CpuTime]) -> HashMap<EdgeRef, CpuTime> {
    let of_blocks = |(edge, blocks): (EdgeRef, Vec<BlockId>)| {
        let times = blocks.into_iter().map(|block| times[block.index()]);
        (edge, times.fold(CpuTime::default(), CpuTime::plus))
    };
    reached_only_by(map, edges).into_iter().map(of_blocks).collect()
}

#[cfg(test)]
mod tests {
    use trodden_numbering::{EdgeWeights, NumberingOptions, PathDag, SimpleGraph};
    use trodden_profile::{BlockExit, BlockInfo, EdgeLabel, HotSpotBranch};

    use super::*;

    /// A loop at block 1: 0 → 1; 1 → 2 or 5; 2 → 3 or 4; 3 → 4; 4 → 1. Blocks have ten bytes.
    fn looping() -> MethodMap {
        let graph = SimpleGraph::new(6, &[(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 4), (4, 1)]);
        let weights = EdgeWeights::uniform(&graph);
        let dag = PathDag::build(&graph, &weights, &NumberingOptions::default()).unwrap();
        let block = |index: u32| {
            let branch = vec![EdgeLabel::Taken, EdgeLabel::NotTaken];
            let (exit, labels) = match index {
                1 | 2 => (BlockExit::Branch, branch),
                5 => (BlockExit::Return, Vec::new()),
                _ => (BlockExit::FallThrough, vec![EdgeLabel::FallThrough]),
            };
            BlockInfo {
                start: index * 10,
                end: index * 10 + 10,
                last: index * 10 + 7,
                exit,
                labels: labels.into(),
            }
        };
        MethodMap {
            name: "m".to_owned(),
            descriptor: "()V".to_owned(),
            code_length: 60,
            blocks: (0..6).map(block).collect(),
            graph,
            dag,
            lines: Vec::new(),
            inlined: Vec::new(),
            unobserved: Vec::new(),
            shape: None,
        }
    }

    #[test]
    fn outcomes_have_the_time_of_code_that_they_alone_reach() {
        let branch = |block, outcomes: [u64; 2]| HotSpotBranch {
            block,
            outcomes: outcomes.to_vec(),
        };
        let method = HotSpotMethod {
            class: "a/B".to_owned(),
            source_file: None,
            map: looping(),
            conditions: Default::default(),
            branches: vec![branch(1, [90, 10]), branch(2, [30, 60])],
        };
        let samples = [1, 2, 4, 8, 16, 32];
        let time = |(block, samples): (u16, u64)| {
            (
                block * 10 + 3,
                CpuTime {
                    samples,
                    ns: samples * 1000,
                },
            )
        };
        let view = HotSpotView::new(&method, (0..).zip(samples).map(time), &Sources::new(&[]), false);
        let found: Vec<_> = (view.branches.iter())
            .map(|branch| {
                (
                    branch.block,
                    branch
                        .outcomes
                        .iter()
                        .map(|o| (o.share, o.time.map(|own| own.time.samples)))
                        .collect::<Vec<_>>(),
                )
            })
            .collect();
        // By the first way out of 1 the blocks 2, 3 and 4 are reached, by the other one 5. Of those of 2 one alone leads to 3;
        // 4 is reached by both.
        let expected = [
            (1, vec![(0.9, Some(4 + 8 + 16)), (0.1, Some(32))]),
            (2, vec![(30.0 / 90.0, Some(8)), (60.0 / 90.0, None)]),
        ];
        assert_eq!(found, expected);
        let all = view.branches[1].outcomes[0].time.unwrap();
        assert!(
            (all.share - 8.0 / 63.0).abs() < 1e-9 && all.interval.0 < all.share && all.share < all.interval.1
        );
    }
}
