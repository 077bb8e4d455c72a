//! `coverage`: a byte for each probe, set once when execution passes it.
//!
//! The shim keeps the bytes in arrays that the compilers take for constant where they are not 0 (`@Stable`):
//! what has been passed before code is compiled is not in the compiled code any more, and nothing has to be
//! taken out. Why it is not an `invokedynamic`:
//! docs/decisions/coverage.md, "Coverage is kept in stable bytes, which compiled code drops".

use trodden_numbering::CoveragePlan;
use trodden_profile::{ClassMap, MethodMap};

use super::asm::Asm;
use super::shim::ShimMethod;
use super::strategy::{PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::pool::PoolFull;

/// Marks which blocks and which ways of decisions ran.
#[derive(Debug)]
pub struct Coverage;

impl ProbeStrategy for Coverage {
    fn stack(&self) -> u16 {
        1
    }

    fn path_end(&self, _: &ProbedMethod, _: PathEnd, _: &mut Asm) -> Result<(), PoolFull> {
        Ok(())
    }

    fn keeps_register(&self) -> bool {
        false
    }

    fn is_coverage(&self) -> bool {
        true
    }

    fn run(&self, method: &ProbedMethod, program: u32, asm: &mut Asm) -> Result<(), PoolFull> {
        let first = method.first_counter.plus(method.counter_base.unwrap_or(0));
        asm.push_id(first.plus(program).0)?; // … probe
        asm.call_shim(ShimMethod::Covered) // …
    }
}

/// The probes of the methods of a class, and what they imply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassCoverage {
    /// Per method of the path map.
    pub methods: Vec<CoveragePlan>,
}

impl ClassCoverage {
    /// The same for code that was instrumented ahead
    /// ([`coverage_by_map`](crate::InstrumentOptions::coverage_by_map)): which instructions may throw is in
    /// no path map, so all may.
    pub fn of_map(map: &ClassMap) -> Self {
        let plan = |method: &MethodMap| CoveragePlan::new(&method.graph, vec![false; method.blocks.len()]);
        ClassCoverage {
            methods: map.methods.iter().map(plan).collect(),
        }
    }

    /// Per method: its first probe, counted from the class's first; and how many there are in all.
    pub fn layout(&self) -> (Vec<u32>, u32) {
        let mut sum = 0;
        let first = |plan: &CoveragePlan| {
            let first = sum;
            sum += plan.probes();
            first
        };
        let firsts = self.methods.iter().map(first).collect();
        (firsts, sum)
    }
}
