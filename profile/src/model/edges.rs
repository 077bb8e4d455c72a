//! Edge profile from path counts (PEP sections 3.3 and 4.3).

use trodden_numbering::{BlockId, EdgeRef, Path, PathEnd, Rows};

use crate::model::counts::MethodCounts;
use crate::model::describe::Place;
use crate::model::map::{BlockExit, EdgeLabel, MethodMap};

/// How often each block was run and each edge followed in one method. Sums saturate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeProfile {
    /// Per block: how often its body was run.
    pub blocks: Vec<u64>,
    /// Per block and out-edge, in successor order: how often it was followed.
    pub edges: Rows<u64>,
    /// Counts whose number names no path of the map: they are in no other sum.
    pub unknown: u64,
}

/// Outcomes of one conditional branch or switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCounts {
    /// The block that the branch ends.
    pub block: BlockId,
    /// Where the branch instruction is.
    pub at: Place,
    /// Each out-edge's label and count, in successor order.
    pub outcomes: Vec<(EdgeLabel, u64)>,
}

impl BranchCounts {
    /// How often the branch was decided.
    pub fn total(&self) -> u64 {
        self.outcomes.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    /// How often a conditional branch jumped; `None` for a switch.
    pub fn taken(&self) -> Option<u64> {
        self.of(&EdgeLabel::Taken)
    }

    /// How often a conditional branch did not jump; `None` for a switch.
    pub fn not_taken(&self) -> Option<u64> {
        self.of(&EdgeLabel::NotTaken)
    }

    fn of(&self, label: &EdgeLabel) -> Option<u64> {
        self.outcomes.iter().find(|(l, _)| l == label).map(|(_, n)| *n)
    }
}

impl EdgeProfile {
    /// All zeros, in the shape of a method.
    pub fn new(map: &MethodMap) -> Self {
        EdgeProfile {
            blocks: vec![0; map.blocks.len()],
            edges: Rows::zeroed(map.blocks.len(), |block| map.blocks[block].labels.len()),
            unknown: 0,
        }
    }

    /// The edge profile behind a method's path counts, partial ones included. Counts whose numbers name no path
    /// are summed up in [`unknown`](EdgeProfile::unknown).
    pub fn of(map: &MethodMap, counts: &MethodCounts) -> Self {
        let mut profile = Self::new(map);
        for executed in map.executed(counts) {
            match executed {
                Ok(executed) => profile.add(map, &executed.path, executed.times),
                Err(unreadable) => profile.unknown = profile.unknown.saturating_add(unreadable.times),
            }
        }
        profile
    }

    /// Adds `times` runs of a regenerated path of this method. The block in which a prefix stopped has run,
    /// at least in part.
    pub fn add(&mut self, map: &MethodMap, path: &Path, times: u64) {
        for edge in &path.edges {
            bump(
                self.edges
                    .get_mut(edge.from.index())
                    .and_then(|e| e.get_mut(edge.index as usize)),
                times,
            );
        }
        for block in path.blocks(&map.graph) {
            bump(self.blocks.get_mut(block.index()), times);
        }
        if let PathEnd::Stopped(block) = path.end {
            bump(self.blocks.get_mut(block.index()), times);
        }
    }

    /// Per block and out-edge how often it was followed, as numbers from which edges are weighted.
    pub fn frequencies(&self) -> Vec<Vec<f64>> {
        let row = |row: &[u64]| row.iter().map(|&times| times as f64).collect();
        self.edges.iter().map(row).collect()
    }

    /// How often an edge was followed; 0 if there is no such edge.
    pub fn count(&self, edge: EdgeRef) -> u64 {
        let edges = self.edges.get(edge.from.index());
        edges
            .and_then(|e| e.get(edge.index as usize))
            .copied()
            .unwrap_or(0)
    }

    /// The branch table: every conditional branch and switch of the method in bytecode order, those never
    /// reached included.
    pub fn branches(&self, map: &MethodMap) -> Vec<BranchCounts> {
        let decides = |exit| matches!(exit, BlockExit::Branch | BlockExit::Switch);
        let row = |(index, block): (usize, &crate::model::map::BlockInfo)| BranchCounts {
            block: BlockId::new(index),
            at: map.place(block.last),
            outcomes: block
                .labels
                .iter()
                .enumerate()
                .map(|(i, label)| {
                    let edge = EdgeRef {
                        from: BlockId::new(index),
                        index: i as u32,
                    };
                    (label.clone(), self.count(edge))
                })
                .collect(),
        };
        map.blocks
            .iter()
            .enumerate()
            .filter(|(_, b)| decides(b.exit))
            .map(row)
            .collect()
    }
}

fn bump(counter: Option<&mut u64>, times: u64) {
    if let Some(counter) = counter {
        *counter = counter.saturating_add(times);
    }
}
