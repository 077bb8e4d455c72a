//! Guided numbers are not to cost a method its place in its callers' compiled code.
//!
//! HotSpot looks at how much bytecode a method has before it inlines a call of it. Where register updates are
//! decides how much that is: one on a jump to a block that others reach too needs a jump of its own (6
//! bytes), one on the way that falls through does not (3). An update that is not run saves a fraction of a
//! nanosecond; a call that is not inlined costs more than that.

use trodden_profile::MethodMap;

use super::judge::{one_end, unobserved};
use super::{Candidate, ClassIds, Job, counter_layout, graph_layout, mark};
use crate::classfile::class::Class;
use crate::classfile::pool::PoolBuilder;
use crate::options::InstrumentOptions;
use crate::rewrite::RewriteScratch;

/// Bytes of code up to which HotSpot inlines: any call (`MaxInlineSize`, `C1MaxInlineSize`), and those that
/// are hot (`FreqInlineSize`).
const LIMITS: [u32; 2] = [35, 325];

/// Returns true if a method with `code_length` bytes of code can be within a limit at all.
pub fn matters(code_length: u32) -> bool {
    code_length <= LIMITS[LIMITS.len() - 1]
}

/// Takes the numbers without a guide for methods that guided numbers would push over one of the limits, and
/// others would not.
pub fn keep<'a>(
    options: &InstrumentOptions,
    class: &Class<'a>,
    methods: &mut [Candidate<'a>],
    maps: &mut [MethodMap],
    scratch: &mut RewriteScratch,
) {
    if methods.iter().all(|candidate| candidate.unguided.is_none()) {
        return;
    }
    let layout = counter_layout(options, methods, maps);
    let graphs = graph_layout(methods);
    let mut pool = PoolBuilder::new(&class.pool);
    if mark(options, &mut pool).is_err() {
        // The check of whether it fits will report it.
        return;
    }
    let mut written = Vec::new();
    // With short ids and with long ones: which it will be is not known yet.
    let mut limits_passed = |position: usize, candidate: &Candidate<'a>, map: &MethodMap| -> usize {
        let passed = [ClassIds::NARROWEST, ClassIds::WIDEST].map(|ids| {
            let job = Job {
                shim: &options.shim.class,
                class,
                layout: &layout,
                graphs: &graphs,
                ids,
            };
            written.clear();
            let length = job.rewrite(position, candidate, map, &mut pool, scratch, &mut written);
            length.map_or(LIMITS.len(), |length| {
                LIMITS.iter().filter(|&&limit| length > limit).count()
            })
        });
        passed.into_iter().sum()
    };
    for (position, (candidate, map)) in methods.iter_mut().zip(maps).enumerate() {
        let Some(mut other) = candidate.unguided.take() else {
            continue;
        };
        let guided = limits_passed(position, candidate, map);
        if guided == 0 {
            continue;
        }
        let mut exchange = |candidate: &mut Candidate, map: &mut MethodMap| {
            std::mem::swap(&mut candidate.plan, &mut other.plan);
            std::mem::swap(&mut map.dag, &mut other.dag);
            map.unobserved = unobserved(&candidate.plan);
            candidate.one_end = one_end(map);
        };
        exchange(candidate, map);
        if limits_passed(position, candidate, map) < guided {
            candidate.guided = false
        } else {
            exchange(candidate, map)
        }
    }
}
