//! From single steps to path ends: what the probes of the event stream would write, had the code any.
//!
//! A step names an instruction that is about to be executed. The first instruction of a block says that an
//! edge into the block was followed, so the updates of the plan (PEP section 3.2) can be done here as probes
//! do them. Of the path that an activation was on when the burst began nothing is known; the next one begins
//! at a loop's header or an exception handler.

use std::sync::Arc;

use trodden_instrumenter::MethodId;
use trodden_numbering::{BlockId, EdgeOp, FlowGraph as _, Plan, Update};
use trodden_profile::events::Word;
use trodden_profile::{BlockExit, ClassMap, MethodMap};

/// The block of a bytecode index at which no instruction begins that a path may pass.
const NOWHERE: u32 = u32::MAX;
/// Blocks whose first instruction may have been executed as one with that before it, in a row.
const MAX_HIDDEN: usize = 4;

/// A method, as single steps are to be read.
#[derive(Debug)]
pub struct Route {
    id: MethodId,
    class: Arc<ClassMap>,
    position: usize,
    /// The block of each bytecode index.
    blocks: Box<[u32]>,
    /// True if a block begins or ends with the instruction there.
    borders: Box<[bool]>,
    plan: Plan,
}

impl Route {
    /// The method at a position of its class. `skip_single_path_loops`: as it was numbered for.
    pub fn new(id: MethodId, class: Arc<ClassMap>, position: usize, skip_single_path_loops: bool) -> Self {
        let map = &class.methods[position];
        let mut blocks = vec![NOWHERE; map.code_length as usize].into_boxed_slice();
        for (number, block) in map.blocks.iter().enumerate() {
            if let Some(range) = blocks.get_mut(block.start as usize..block.end as usize) {
                range.fill(number as u32);
            }
        }
        let mut borders = vec![false; blocks.len()].into_boxed_slice();
        for bci in map.blocks.iter().flat_map(|block| [block.start, block.last]) {
            if let Some(border) = borders.get_mut(bci as usize) {
                *border = true;
            }
        }
        let plan = Plan::new(&map.graph, &map.dag, skip_single_path_loops);
        Route {
            id,
            class,
            position,
            blocks,
            borders,
            plan,
        }
    }

    fn map(&self) -> &MethodMap {
        &self.class.methods[self.position]
    }

    fn block_at(&self, bci: u32) -> u32 {
        self.blocks.get(bci as usize).copied().unwrap_or(NOWHERE)
    }

    /// True if the instruction there may be the next one after a call in a block returned.
    fn continues(&self, block: u32, at: u32, bci: u32) -> bool {
        let info = &self.map().blocks[block as usize];
        let next = self.map().graph.successors(BlockId::new(block as usize));
        let into = self.block_at(bci);
        if into == block && at != NOWHERE && bci > at {
            return true;
        }
        at == info.last && matches!(next, [one] if one.index() == into as usize)
    }

    /// True if the instruction there returns.
    fn returns_at(&self, bci: u32) -> bool {
        let block = self.map().blocks.get(self.block_at(bci) as usize);
        block.is_some_and(|block| block.exit == BlockExit::Return && block.last == bci)
    }

    /// The work on the way from the end of one block into another.
    fn edge(&self, from: u32, to: u32) -> Way {
        let successors = self.map().graph.successors(BlockId::new(from as usize));
        let mut found = (0..successors.len()).filter(|&index| successors[index].index() == to as usize);
        let Some(index) = found.next() else {
            return Way::None;
        };
        let op = self.plan.edges[from as usize][index];
        // A decision that goes on at the same place either way; or it ran on into a handler, unless it threw
        // what that catches.
        let runs_on = self.map().blocks[from as usize].exit == BlockExit::FallThrough;
        if found.next().is_some() || runs_on && self.handler(to).is_some() {
            Way::Unknown(op.restart)
        } else {
            Way::Op(op)
        }
    }

    /// The work at the beginning of a handler.
    fn handler(&self, block: u32) -> Option<EdgeOp> {
        let mut starts = self.plan.extra_starts.iter();
        let found = starts.find(|(start, _)| start.index() == block as usize);
        found.map(|&(_, op)| op)
    }
}

/// How a block was reached.
enum Way {
    /// By no edge.
    None,
    Op(EdgeOp),
    /// In one of several ways; the value with which the next path starts there, if one does.
    Unknown(Option<u64>),
}

/// An open activation.
#[derive(Clone, Debug)]
struct Activation {
    route: Arc<Route>,
    /// Where its frame is: below its caller's.
    frame: usize,
    block: u32,
    /// The last instruction that was reported.
    at: u32,
    /// The path register, if it is known.
    register: Option<u64>,
    /// It has said that it returns.
    told: bool,
    /// Its last instruction returns.
    returns: bool,
}

impl Activation {
    /// True if it has ended when an activation in a frame executes something.
    fn has_ended(&self, frame: usize) -> bool {
        self.frame < frame || self.returns && self.frame != frame
    }

    /// It is in a block that it was not in before, or at the beginning of its block again.
    fn arrive(&mut self, block: u32, bci: u32, tell: &mut impl FnMut(Word)) {
        let route = Arc::clone(&self.route);
        let blocks = &route.map().blocks;
        for _ in 0..MAX_HIDDEN {
            let info = &blocks[self.block as usize];
            // Only a block that was executed to its end is left by an edge. Of one that runs on into the
            // next, HotSpot may have executed the last two instructions as one.
            let ended = info.exit == BlockExit::FallThrough || self.at == info.last;
            let way = if ended {
                route.edge(self.block, block)
            } else {
                Way::None
            };
            if !matches!(way, Way::None) {
                return self.take(way, block, tell);
            }
            if bci == blocks[block as usize].start
                && let Some(op) = route.handler(block)
            {
                return self.take(Way::Op(op), block, tell);
            }
            // The first instruction of the next block, executed as one with the last of this.
            let next = route.map().graph.successors(BlockId::new(self.block as usize));
            let (BlockExit::FallThrough, &[next]) = (info.exit, next) else {
                break;
            };
            let next = next.index() as u32;
            self.at = blocks[next as usize].start;
            self.take(route.edge(self.block, next), next, tell);
            if next == block {
                return;
            }
        }
        self.take(Way::None, block, tell);
    }

    fn take(&mut self, way: Way, block: u32, tell: &mut impl FnMut(Word)) {
        self.block = block;
        match way {
            Way::Op(op) => self.follow(op, tell),
            Way::Unknown(restart) => self.register = restart,
            Way::None => self.register = None,
        }
    }

    fn follow(&mut self, op: EdgeOp, tell: &mut impl FnMut(Word)) {
        match op.update {
            Update::Keep => {}
            Update::Add(value) => self.register = self.register.map(|register| register + value),
            Update::Set(value) => self.register = Some(value),
            // Of structure graphs.
            Update::Run(_) => self.register = None,
        }
        if let Some(start) = op.restart {
            if let Some(register) = self.register {
                tell(Word::path_end(self.route.id.0, register as u32));
            }
            self.register = Some(start);
        }
    }

    /// The last instruction of a block is about to be executed. What a block without edges ends, it says.
    fn leave(&mut self, exit: BlockExit, activations: bool, tell: &mut impl FnMut(Word)) {
        self.returns = exit == BlockExit::Return;
        let Some(path) = self.register.map(|register| register as u32) else {
            return;
        };
        let id = self.route.id.0;
        match exit {
            BlockExit::Return if activations => {
                tell(Word::last_path(id, path));
                self.told = true;
            }
            BlockExit::Return | BlockExit::Throw => tell(Word::path_end(id, path)),
            BlockExit::FallThrough | BlockExit::Goto | BlockExit::Branch | BlockExit::Switch => return,
        }
        self.register = None;
    }
}

/// The activations of a thread in a burst.
#[derive(Debug, Default)]
pub struct Follower {
    open: Vec<Activation>,
    /// The method and the instruction of the last step, if it was in a method that is followed.
    last: Option<(Arc<Route>, u32)>,
    /// True if beginnings and ends of activations are reported.
    activations: bool,
    /// True of a virtual thread, whose frames move.
    is_virtual: bool,
}

impl Follower {
    /// Another burst begins, or another thread is followed.
    pub fn restart(&mut self, activations: bool, is_virtual: bool) {
        self.open.clear();
        self.last = None;
        self.activations = activations;
        self.is_virtual = is_virtual;
    }

    /// An activation begins, in a new frame.
    pub fn enter(&mut self, route: &Arc<Route>, frame: usize, tell: &mut impl FnMut(Word)) {
        self.end_below(frame + 1, tell);
        let first = route.map().graph.entry().index() as u32;
        self.push(route, frame, (first, NOWHERE), tell)
            .follow(route.plan.entry, tell);
    }

    /// A method that is not followed executes an instruction.
    #[inline]
    pub fn elsewhere(&mut self) {
        self.last = None;
    }

    /// An instruction is about to be executed by the activation in a frame. Those in lower frames have ended.
    #[inline]
    pub fn step(&mut self, route: &Arc<Route>, bci: u32, frame: usize, tell: &mut impl FnMut(Word)) {
        if self.is_virtual {
            self.move_frame(route, bci, frame, tell);
        }
        if self.open.last().is_some_and(|top| top.has_ended(frame)) {
            self.end_below(frame, tell);
        }
        match &mut self.last {
            Some((of, at)) if Arc::ptr_eq(of, route) => *at = bci,
            last => *last = Some((Arc::clone(route), bci)),
        }
        self.follow_step(route, bci, frame, tell);
    }

    fn follow_step(&mut self, route: &Arc<Route>, bci: u32, frame: usize, tell: &mut impl FnMut(Word)) {
        let activations = self.activations;
        let known = |top: &&mut Activation| top.frame == frame && Arc::ptr_eq(&top.route, route);
        let Some(activation) = self.open.last_mut().filter(known) else {
            return self.found(route, bci, frame, tell);
        };
        let block = route.block_at(bci);
        if block == activation.block && !route.borders[bci as usize] {
            activation.at = bci;
            return;
        }
        if block == NOWHERE {
            // No instruction is there.
            return;
        }
        let info = &route.map().blocks[block as usize];
        if block != activation.block || bci == info.start && activation.at != NOWHERE {
            activation.arrive(block, bci, tell);
        }
        activation.at = bci;
        if bci == info.last {
            activation.leave(info.exit, activations, tell);
        }
    }

    /// A virtual thread has its frames in other places after it was parked: if the innermost activation that
    /// is known continues with this instruction, that is its frame now.
    fn move_frame(&mut self, route: &Arc<Route>, bci: u32, frame: usize, tell: &mut impl FnMut(Word)) {
        // The innermost first, which it nearly always is.
        if self.open.iter().rev().any(|one| one.frame == frame) {
            return;
        }
        while self.open.last().is_some_and(|top| top.returns) {
            self.pop(tell);
        }
        if let Some(top) = self.open.last_mut()
            && Arc::ptr_eq(&top.route, route)
            && route.continues(top.block, top.at, bci)
        {
            top.frame = frame;
        }
    }

    /// Activations whose frames are lower than this one have ended.
    fn end_below(&mut self, frame: usize, tell: &mut impl FnMut(Word)) {
        while let Some(top) = self.open.last().filter(|top| top.has_ended(frame)) {
            // HotSpot keeps a step from us if the last one was at the same instruction of the same method:
            // where one activation returns into another, which returns at once.
            if let Some((of, at)) = &self.last
                && top.register.is_some()
                && ![NOWHERE, *at].contains(&top.at)
                && Arc::ptr_eq(of, &top.route)
                && of.returns_at(*at)
            {
                let (route, at, frame) = (Arc::clone(of), *at, top.frame);
                self.follow_step(&route, at, frame, tell);
            }
            self.pop(tell);
        }
    }

    fn pop(&mut self, tell: &mut impl FnMut(Word)) {
        if let Some(top) = self.open.pop()
            && self.activations
            && !top.told
        {
            tell(Word::exit(top.route.id.0));
        }
    }

    fn push(
        &mut self,
        route: &Arc<Route>,
        frame: usize,
        (block, at): (u32, u32),
        tell: &mut impl FnMut(Word),
    ) -> &mut Activation {
        if self.activations {
            tell(Word::enter(route.id.0, None));
        }
        self.open.push(Activation {
            route: Arc::clone(route),
            frame,
            block,
            at,
            register: None,
            told: false,
            returns: false,
        });
        let top = self.open.len() - 1;
        &mut self.open[top]
    }

    /// An activation from before the burst comes up, or a thread that is virtual has moved.
    #[cold]
    fn found(&mut self, route: &Arc<Route>, bci: u32, frame: usize, tell: &mut impl FnMut(Word)) {
        self.end_below(frame + 1, tell);
        let block = route.block_at(bci);
        if block == NOWHERE {
            return;
        }
        let activation = self.push(route, frame, (block, bci), tell);
        if bci == route.map().blocks[block as usize].start {
            // However it came here, a path begins.
            let start = route.map().dag.restart(BlockId::new(block as usize));
            activation.register = start.map(|start| start.value);
        }
    }
}
