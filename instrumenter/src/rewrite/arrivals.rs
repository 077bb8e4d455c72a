//! The ways into a block, grouped by what they do to the path register.
//!
//! An edge's update ("add 3") must not be seen by the block's other edges. Instead of splitting the edge at
//! its source, which would need a stack map frame that the class file does not have, the update stands right
//! in front of the target, where the target's own frame holds. Edges with the same update share it. All of
//! these jumps lead forward (but for loop edges, which stay the backward jumps they were), so no safepoint
//! poll is added.

use trodden_numbering::{BlockId, EdgeOp, EdgeRef, FlowGraph, Plan, Update};
use trodden_profile::{BlockExit, BlockInfo};

/// How a block is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arrival {
    /// The first operation on the register.
    pub update: Update,
    /// Skips the block's path end and restart (a silent loop edge).
    pub past_restart: bool,
    /// By an exception, and the path that it cuts off is counted first.
    pub cut: bool,
}

/// A place in the new code that jumps can name: an index into a table of places.
pub type Label = u32;

/// All ways into the blocks of a method. The memory is used again.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// Per block.
    pub blocks: Vec<Arriving>,
    /// (block, way in by jump or exception that changes the register), in order; each has a label of its own.
    updates: Vec<(u32, Arrival)>,
    /// Per edge, in the order of [`FlowGraph::edges`]: where a jump along it leads.
    edges: Vec<Label>,
    /// True if each of `updates` has one more label, behind the counting of the path that was cut off.
    cuts: bool,
}

/// The ways into one block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arriving {
    /// The value the register restarts with, if paths end here.
    pub restart: Option<u64>,
    /// How execution runs on into it from the block before (or from method entry).
    pub falls: Option<Arrival>,
    /// True if something jumps to behind the restart.
    pub body_is_target: bool,
    /// Where exceptions arrive, if it is a handler.
    pub handler: Option<Label>,
    /// First of its `updates`.
    first_update: u32,
    /// Behind its last one.
    after_updates: u32,
}

impl Arrivals {
    /// Finds them. Without a plan nothing happens anywhere. `cuts`: paths that an exception cuts off are
    /// counted.
    pub fn find(&mut self, blocks: &[BlockInfo], graph: &impl FlowGraph, plan: Option<&Plan>, cuts: bool) {
        self.cuts = cuts;
        self.blocks.clear();
        self.blocks.resize(blocks.len(), Arriving::default());
        self.updates.clear();
        self.edges.clear();
        let ways = &mut self.blocks;
        if let Some(plan) = plan {
            for ((_, to), op) in graph.edges().zip(plan.edges.items()) {
                let restart = &mut ways[to.index()].restart;
                *restart = restart.or(op.restart);
            }
            // A method that starts with a loop whose only loop edge is silent: nothing else asks for the
            // restart.
            let entry = (graph.entry(), plan.entry);
            for (block, op) in std::iter::once(&entry).chain(&plan.extra_starts) {
                let restart = &mut ways[block.index()].restart;
                *restart = restart.or(op.restart);
            }
        }
        let arrival = |ways: &[Arriving], op: EdgeOp, to: BlockId| Arrival {
            update: op.update,
            past_restart: ways[to.index()].restart.is_some() && op.restart.is_none(),
            cut: false,
        };
        let op_of = |edge: EdgeRef| plan.map_or(EdgeOp::default(), |p| p.op(edge));
        let updates = &mut self.updates;
        let mut jump = |ways: &mut [Arriving], to: BlockId, arrival: Arrival| {
            ways[to.index()].body_is_target |= arrival.past_restart;
            if arrival.update != Update::Keep {
                updates.push((to.index() as u32, arrival));
            }
        };

        ways[graph.entry().index()].falls = plan.map(|p| arrival(ways, p.entry, graph.entry()));
        for (edge, to) in graph.edges() {
            let arrival = arrival(ways, op_of(edge), to);
            if falls_through(&blocks[edge.from.index()], edge.index) {
                ways[to.index()].falls = Some(arrival);
            } else {
                jump(ways, to, arrival);
            }
        }
        // The plan lists handlers in the graph's order.
        let appears = |index: usize| plan.map_or(EdgeOp::default(), |p| p.extra_starts[index].1);
        for (index, &block) in graph.extra_starts().iter().enumerate() {
            let arrival = Arrival {
                cut: cuts,
                ..arrival(ways, appears(index), block)
            };
            jump(ways, block, arrival);
        }
        self.updates.sort_unstable();
        self.updates.dedup();
        for (index, (block, _)) in (0u32..).zip(&self.updates) {
            let way = &mut self.blocks[*block as usize];
            if way.after_updates == 0 {
                way.first_update = index;
            }
            way.after_updates = index + 1;
        }
        for (edge, to) in graph.edges() {
            let label = self.label(to.index(), arrival(&self.blocks, op_of(edge), to));
            self.edges.push(label);
        }
        for (index, &block) in graph.extra_starts().iter().enumerate() {
            let arrival = Arrival {
                cut: cuts,
                ..arrival(&self.blocks, appears(index), block)
            };
            self.blocks[block.index()].handler = Some(self.label(block.index(), arrival));
        }
    }

    /// Number of labels.
    pub fn num_labels(&self) -> usize {
        2 * self.blocks.len() + self.updates.len() * (1 + usize::from(self.cuts))
    }

    /// The label in front of a block's path end.
    pub fn head(&self, block: usize) -> Label {
        2 * block as u32
    }

    /// The label behind a block's path end.
    pub fn body(&self, block: usize) -> Label {
        2 * block as u32 + 1
    }

    /// The distinct ways into a block by jump or exception that change the register, sorted.
    pub fn updates(&self, block: usize) -> impl Iterator<Item = (Label, Arrival)> + Clone + '_ {
        let way = &self.blocks[block];
        let first_label = 2 * self.blocks.len() as u32;
        let updates = &self.updates[way.first_update as usize..way.after_updates as usize];
        let labels = first_label + way.first_update..;
        labels.zip(updates.iter().map(|(_, arrival)| *arrival))
    }

    /// The label behind the counting of a cut path, at the way into a block that has that label.
    pub fn past_cut(&self, update: Label) -> Label {
        update + self.updates.len() as u32
    }

    /// Where one arrives at a block in this way.
    fn label(&self, block: usize, arrival: Arrival) -> Label {
        let found = match arrival.update {
            Update::Keep => None,
            _ => self.updates(block).find(|(_, update)| *update == arrival),
        };
        match found {
            Some((label, _)) => label,
            None if arrival.past_restart => self.body(block),
            None => self.head(block),
        }
    }

    /// Where a jump along the edge of that number leads.
    pub fn edge(&self, edge: usize) -> Label {
        self.edges[edge]
    }
}

/// Returns true if this out-edge runs on into the next block.
fn falls_through(from: &BlockInfo, index: u32) -> bool {
    match from.exit {
        BlockExit::FallThrough => true,
        BlockExit::Branch => index == 1,
        _ => false,
    }
}
