//! The ways into a block, grouped by what they do to the path register.
//!
//! An edge's update ("add 3") must not be seen by the block's other edges. Instead of splitting the edge at its
//! source, which would need a stack map frame that the class file does not have, the update stands right in
//! front of the target, where the target's own frame holds. Edges with the same update share it. All of these
//! jumps lead forward (but for loop edges, which stay the backward jumps they were), so no safepoint poll is added.

use trodden_numbering::{BlockId, EdgeOp, EdgeRef, FlowGraph, Plan, Update};
use trodden_profile::{BlockExit, BlockInfo};

/// How a block is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arrival {
    /// What happens to the register first.
    pub update: Update,
    /// Skips the block's path end and restart (a silent loop edge).
    pub past_restart: bool,
}

/// All ways into the blocks of a method.
#[derive(Debug)]
pub struct Arrivals {
    /// Per block: the value the register restarts with, if paths end there.
    pub restart: Vec<Option<u64>>,
    /// Per block: distinct ways that jumps and exceptions come in.
    pub jumps: Vec<Vec<Arrival>>,
    /// Per block: how execution runs on into it from the block before (or from method entry).
    pub falls: Vec<Option<Arrival>>,
    /// Per block: how exceptions come in, if it is a handler.
    pub handlers: Vec<Option<Arrival>>,
    /// Per block and edge.
    pub edges: Vec<Vec<Arrival>>,
}

impl Arrivals {
    /// Without a plan nothing happens anywhere.
    pub fn new(blocks: &[BlockInfo], graph: &impl FlowGraph, plan: Option<&Plan>) -> Self {
        let count = blocks.len();
        let mut restart = vec![None; count];
        let op_of = |edge: EdgeRef| plan.map_or(EdgeOp::default(), |p| p.op(edge));
        for (edge, to) in graph.edges() {
            restart[to.index()] = restart[to.index()].or(op_of(edge).restart);
        }
        if let Some(plan) = plan {
            // A method that starts with a loop whose only loop edge is silent: nobody else asks for the restart.
            restart[graph.entry().index()] = restart[graph.entry().index()].or(plan.entry.restart);
            for (block, op) in &plan.extra_starts {
                restart[block.index()] = restart[block.index()].or(op.restart);
            }
        }
        let arrival = |op: EdgeOp, to: BlockId| Arrival {
            update: op.update,
            past_restart: restart[to.index()].is_some() && op.restart.is_none(),
        };

        let mut jumps: Vec<Vec<Arrival>> = vec![Vec::new(); count];
        let mut falls = vec![None; count];
        let mut handlers = vec![None; count];
        let mut edges: Vec<Vec<Arrival>> = vec![Vec::new(); count];
        falls[graph.entry().index()] = plan.map(|p| arrival(p.entry, graph.entry()));
        for (edge, to) in graph.edges() {
            let arrival = arrival(op_of(edge), to);
            edges[edge.from.index()].push(arrival);
            if falls_through(&blocks[edge.from.index()], edge.index) {
                falls[to.index()] = Some(arrival);
            } else {
                jumps[to.index()].push(arrival);
            }
        }
        let mut appear = vec![EdgeOp::default(); count];
        for (block, op) in plan.map_or(&[][..], |p| &p.extra_starts) {
            appear[block.index()] = *op;
        }
        for &block in graph.extra_starts() {
            let arrival = arrival(appear[block.index()], block);
            handlers[block.index()] = Some(arrival);
            jumps[block.index()].push(arrival);
        }
        for list in &mut jumps {
            list.sort();
            list.dedup();
        }
        Arrivals {
            restart,
            jumps,
            falls,
            handlers,
            edges,
        }
    }
}

/// Does this out-edge run on into the next block?
fn falls_through(from: &BlockInfo, index: u32) -> bool {
    match from.exit {
        BlockExit::FallThrough => true,
        BlockExit::Branch => index == 1,
        _ => false,
    }
}
