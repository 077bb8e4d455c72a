//! `structural`: a path register per depth of loops, and a window per structure graph.
//!
//! After Yasue, Suganuma, Komatsu and Nakatani, *Structural Path Profiling*, figure 6. There the compiler
//! puts instrumentation code in for one structure graph and takes it out again; here the code of all graphs
//! of a method is there at once, and each path end asks the switch of its graph whether it is to be
//! counted. Loops next to each other are never in progress at the same time, so registers are per depth and
//! not per graph.

use trodden_numbering::structure::{Op, Structure, StructurePlan};
use trodden_numbering::{BlockId, EdgeOp, FlowGraph, NumberingError, Plan, Rows, SimpleGraph, Update};
use trodden_profile::structural::structure_of;

use super::asm::Asm;
use super::shim::ShimMethod;
use super::strategy::{PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;

/// Longest step: `wide iload; ldc_w; iadd; wide istore`, or `ldc_w; wide iload; invokestatic`.
const STEP: usize = 4 + 3 + 1 + 4;
/// A goto behind the steps of an edge.
const GOTO: usize = 3;

/// Counts path ends of structure graphs whose switch is on.
#[derive(Debug)]
pub struct Structural;

/// The operations of the probes of one method.
#[derive(Clone, Debug)]
pub struct StructuralCode {
    /// The different rows of steps.
    programs: Vec<Vec<Op>>,
    /// Per block: the row of steps on leaving the method there.
    exits: Vec<Option<usize>>,
    /// Per structure graph: how many loops are around it.
    depths: Vec<u16>,
    /// Per structure graph: number of its paths.
    paths: Vec<u64>,
    registers: u16,
    /// Steps in all places.
    steps: usize,
    /// Places with steps.
    places: usize,
}

impl StructuralCode {
    /// The steps of a method, and a plan whose [`Update::Run`] names one of [`programs`](Self::program).
    ///
    /// # Errors
    /// If a structure graph has too many paths, whatever is cut.
    pub fn new(graph: &SimpleGraph) -> Result<(Self, Plan), NumberingError> {
        let structure = structure_of(graph)?;
        let steps = StructurePlan::new(&structure, graph);
        let mut code = StructuralCode {
            programs: Vec::new(),
            exits: Vec::with_capacity(steps.exits.len()),
            depths: structure.graphs().iter().map(|g| g.depth() as u16).collect(),
            paths: paths_of(&structure),
            registers: 0,
            steps: 0,
            places: 0,
        };
        code.registers = 1 + code.depths.iter().copied().max().unwrap_or(0);
        for ops in &steps.exits {
            let exit = (!ops.is_empty()).then(|| code.program(ops));
            code.exits.push(exit);
        }
        let mut edges = Rows::default();
        for block in (0..graph.num_blocks()).map(BlockId::new) {
            for ops in &steps.edges[block.index()] {
                edges.push(code.place(ops));
            }
            edges.end_row();
        }
        let plan = Plan {
            entry: code.place(&steps.entry),
            edges,
            extra_starts: steps
                .extra_starts
                .iter()
                .map(|(block, ops)| (*block, code.place(ops)))
                .collect(),
            silent: Vec::new(),
        };
        Ok((code, plan))
    }

    fn program(&mut self, ops: &[Op]) -> usize {
        self.steps += ops.len();
        self.places += 1;
        if let Some(known) = self.programs.iter().position(|program| program == ops) {
            return known;
        }
        self.programs.push(ops.to_vec());
        self.programs.len() - 1
    }

    fn place(&mut self, ops: &[Op]) -> EdgeOp {
        let update = match ops {
            [] => Update::Keep,
            ops => Update::Run(self.program(ops) as u32),
        };
        EdgeOp {
            update,
            restart: None,
        }
    }

    /// Path registers needed.
    pub fn registers(&self) -> u16 {
        self.registers
    }

    /// Per structure graph: number of its paths.
    pub fn paths(&self) -> &[u64] {
        &self.paths
    }

    /// Bytes that the probes add at most.
    pub fn most_bytes(&self) -> usize {
        self.steps * STEP + self.places * GOTO + usize::from(self.registers) * STEP
    }

    /// Constants that the probes add at most.
    pub fn most_constants(&self) -> usize {
        2 * self.depths.len() + self.steps
    }

    /// Types of the locals behind the first register.
    pub fn locals(&self) -> impl Iterator<Item = VerificationType> {
        (1..self.registers).map(|_| VerificationType::Integer)
    }

    /// Writes what is done on entry before the plan's own steps: frames say that there is a number in each
    /// register from here on.
    pub fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        (1..self.registers).try_for_each(|depth| asm.set(method.register + depth, 0))
    }

    /// Writes a row of steps, by its number.
    pub fn emit(&self, program: u32, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        let ops = self.programs.get(program as usize);
        for &op in ops.into_iter().flatten() {
            match op {
                Op::Set { graph, value } => asm.set(self.register(method, graph), value as i32)?,
                Op::Add { graph, value } => asm.add(self.register(method, graph), value as i32)?,
                Op::End { graph } => self.end(method, graph, asm)?,
            }
        }
        Ok(())
    }

    /// Writes what is done where the method is left.
    pub fn exit(&self, block: usize, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        match self.exits.get(block) {
            Some(&Some(program)) => self.emit(program as u32, method, asm),
            _ => Ok(()),
        }
    }

    fn register(&self, method: &ProbedMethod, graph: usize) -> u16 {
        method.register + self.depths[graph]
    }

    fn end(&self, method: &ProbedMethod, graph: usize, asm: &mut Asm) -> Result<(), PoolFull> {
        let register = self.register(method, graph);
        let Some(slots) = method.graphs.get(graph) else {
            return Ok(());
        };
        asm.push_id(method.first_counter.plus(slots.first).0)?; // … slot
        asm.iload(register); // … slot path
        let callee = if slots.dense {
            ShimMethod::StructuralPath
        } else {
            ShimMethod::StructuralHashed
        };
        asm.call_shim(callee) // …
    }
}

fn paths_of(structure: &Structure) -> Vec<u64> {
    structure.graphs().iter().map(|g| g.dag().num_paths()).collect()
}

impl ProbeStrategy for Structural {
    fn stack(&self) -> u16 {
        2
    }

    fn path_end(&self, _: &ProbedMethod, _: PathEnd, _: &mut Asm) -> Result<(), PoolFull> {
        // Said by the steps of the method.
        Ok(())
    }

    fn is_structural(&self) -> bool {
        true
    }
}
