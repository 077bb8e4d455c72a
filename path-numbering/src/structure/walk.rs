//! Following an activation through all structure graphs at once: the plan, carried out.

use super::Structure;
use super::plan::{Op, StructurePlan};
use crate::graph::{BlockId, EdgeRef, FlowGraph};

/// One path register for each structure graph of a method, for one activation.
///
/// Each call hands the paths that ended, as (graph, path number), to a closure.
#[derive(Clone, Debug)]
pub struct Walker {
    plan: StructurePlan,
    registers: Vec<Option<u64>>,
}

impl Walker {
    /// Before an activation, with the graph that `structure` was built from.
    pub fn new(structure: &Structure, graph: &impl FlowGraph) -> Self {
        Walker {
            plan: StructurePlan::new(structure, graph),
            registers: vec![None; structure.graphs.len()],
        }
    }

    /// The method is entered. (A path ends there only if it is cut at once.)
    pub fn enter(&mut self, mut ended: impl FnMut(usize, u64)) {
        self.registers.fill(None);
        run(&self.plan.entry, &mut self.registers, &mut ended);
    }

    /// The path register of each graph; none where no path is in progress.
    pub fn registers(&self) -> &[Option<u64>] {
        &self.registers
    }

    /// An edge is followed.
    pub fn follow(&mut self, edge: EdgeRef, mut ended: impl FnMut(usize, u64)) {
        run(self.plan.op(edge), &mut self.registers, &mut ended);
    }

    /// Control appears at an exception handler, wherever it was before. (A path ends there only if it is cut
    /// at once.)
    pub fn handler(&mut self, block: BlockId, mut ended: impl FnMut(usize, u64)) {
        self.registers.fill(None);
        let here = self.plan.extra_starts.iter().find(|(start, _)| *start == block);
        if let Some((_, ops)) = here {
            run(ops, &mut self.registers, &mut ended);
        }
    }

    /// The activation ends in a block without successors.
    pub fn exit(&mut self, block: BlockId, mut ended: impl FnMut(usize, u64)) {
        run(&self.plan.exits[block.index()], &mut self.registers, &mut ended);
        self.registers.fill(None);
    }
}

/// Executes these operations.
fn run(ops: &[Op], registers: &mut [Option<u64>], ended: &mut impl FnMut(usize, u64)) {
    for &op in ops {
        match op {
            Op::Set { graph, value } => registers[graph] = Some(value),
            Op::Add { graph, value } => registers[graph] = registers[graph].map(|r| r + value),
            Op::End { graph } => {
                if let Some(number) = registers[graph].take() {
                    ended(graph, number);
                }
            }
        }
    }
}
