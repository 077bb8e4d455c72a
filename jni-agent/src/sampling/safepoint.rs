//! The `safepoint` probe: PEP section 3.2's closing suggestion, reading the path register through the VM's
//! debug information instead of at yieldpoints. Limits: `docs/safepoint.md`.
//!
//! Each tick, every running platform thread is suspended in turn, its innermost instrumented frame looked up,
//! and that frame's register read. The thread continues before anything is done with the value: while it is
//! suspended it may hold any lock of the JVM, and the collector's, so none is taken that another thread holds
//! across a call into the JVM.

use std::sync::Mutex;

use jvmti_bindings::sys::jvmti::{JVMTI_THREAD_STATE_IN_NATIVE, JVMTI_THREAD_STATE_RUNNABLE, jvmtiFrameInfo};
use rustc_hash::FxHashMap;
use trodden_instrumenter::{Filter, MethodCode, MethodId};
use trodden_profile::ClassMap;

use crate::classes::{Lookup, Method, resolve};
use crate::host::Host;
use crate::jvm::{Jni, JvmError, ThreadRef};
use crate::locks::lock;
use crate::sampling::collector::Collector;

/// Frames searched for an instrumented one, from the innermost.
const DEPTH: usize = 64;
/// Ticks after which methods are looked up again: ids of unloaded methods may be used again.
const CACHE_TICKS: u32 = 512;

/// Reads path registers from frames.
#[derive(Default)]
pub struct SafepointSampler {
    methods: FxHashMap<usize, Option<Method>>,
    ticks: u32,
}

/// A reading of a thread's innermost instrumented frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Register value at the top of a block of a method.
    Register {
        method: MethodId,
        block: u32,
        value: u64,
    },
    /// The register could not be read.
    InvalidSlot,
    /// Inside a probe: the register is just being changed.
    InProbe,
}

impl SafepointSampler {
    /// One tick: a reading from each running thread that is in instrumented code.
    pub fn sample(
        &mut self,
        host: &Host,
        collector: &Mutex<Collector>,
        filter: &Filter,
        jni: Jni<'_>,
    ) -> Result<(), JvmError> {
        self.ticks += 1;
        if self.ticks.is_multiple_of(CACHE_TICKS) {
            self.methods.clear();
        }
        let readings = self.all_threads(host, filter, jni)?;
        let mut collector = lock(collector);
        for reading in readings {
            collector.tally.frames += 1;
            match reading {
                Reading::Register { method, block, value } => {
                    collector.stopped(&host.registry, method, block, value);
                }
                Reading::InvalidSlot => collector.tally.invalid_slots += 1,
                Reading::InProbe => collector.tally.implausible += 1,
            }
        }
        Ok(())
    }

    fn all_threads(&mut self, host: &Host, filter: &Filter, jni: Jni<'_>) -> Result<Vec<Reading>, JvmError> {
        let jvmti = host.jvmti;
        let _frame = jni.frame(256)?;
        let own = jvmti.current_thread()?;
        let mut readings = Vec::new();
        for &thread in jvmti.threads()?.iter() {
            // A thread may have ended meanwhile: then there is no state, or nothing to suspend.
            let state = jvmti.thread_state(thread).unwrap_or(0);
            let runs = state & JVMTI_THREAD_STATE_RUNNABLE != 0 && state & JVMTI_THREAD_STATE_IN_NATIVE == 0;
            if !runs || jni.same(thread, own) || jvmti.suspend(&[thread])? != [true] {
                continue;
            }
            let reading = self.read(host, filter, jni, thread);
            jvmti.resume(&[thread])?;
            readings.extend(reading);
        }
        Ok(readings)
    }

    /// The innermost instrumented frame of a suspended thread, if it has one.
    fn read(&mut self, host: &Host, filter: &Filter, jni: Jni<'_>, thread: ThreadRef) -> Option<Reading> {
        let mut frames = [jvmtiFrameInfo::default(); DEPTH];
        let count = host.jvmti.stack(thread, &mut frames).ok()?;
        let (depth, method, location) = (0..count).find_map(|depth| {
            let frame = frames[depth];
            let method = self.method(host, filter, jni, &frame)?;
            Some((depth, method, u32::try_from(frame.location).ok()?))
        })?;
        let code = &method.code[method.position];
        let Some(block) = block_of(&method.map, method.position, code, location) else {
            return Some(Reading::InProbe);
        };
        Some(match host.jvmti.local_int(thread, depth, code.register_slot) {
            Ok(value) => Reading::Register {
                method: method.id,
                block,
                value: u64::from(value as u32),
            },
            Err(_) => Reading::InvalidSlot,
        })
    }

    fn method(
        &mut self,
        host: &Host,
        filter: &Filter,
        jni: Jni<'_>,
        frame: &jvmtiFrameInfo,
    ) -> Option<Method> {
        let key = frame.method as usize;
        if let Some(known) = self.methods.get(&key) {
            return known.clone();
        }
        match resolve(host.jvmti, &host.registry, filter, jni, frame.method) {
            // A class's other versions may come and go: what is not known now may be at the next tick.
            Lookup::NotYet => None,
            Lookup::Never => {
                self.methods.insert(key, None);
                None
            }
            Lookup::Found(method) => {
                self.methods.insert(key, Some(method.clone()));
                Some(method)
            }
        }
    }
}

/// The block that a place in the rewritten code belongs to; `None` inside a probe. All changes of the
/// register stand in front of a block's first instruction, so at any instruction of the program's own the
/// register holds what it held at the top of the block.
pub fn block_of(map: &ClassMap, method: usize, code: &MethodCode, location: u32) -> Option<u32> {
    let at = code
        .pc_map
        .binary_search_by_key(&location, |&(new, _)| new)
        .ok()?;
    let (_, old) = code.pc_map[at];
    map.methods[method]
        .block_at(old)
        .map(|block| block.index() as u32)
}
