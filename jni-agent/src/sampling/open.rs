//! Open paths when a profile is written: of the open activations of all platform threads.
//!
//! A frame of a method with probes has the path register in a local; with the frame's bytecode index, that is
//! the block that runs and the number of the prefix that led there. All other threads are suspended while
//! frames and dense counters are read, so that no path is counted both as open and as ended. While they are,
//! no Java code is called and no object is made: a suspended thread may hold any lock, and may keep the
//! garbage collector waiting.
//!
//! Not read: virtual threads other than the calling one (the JVM lists none), frames of classes whose probes
//! were taken out in the meantime, and frames that stand inside of a probe.

use std::time::{Duration, Instant};

use jvmti_bindings::sys::jvmti::jvmtiFrameInfo;
use rustc_hash::FxHashMap;
use trodden_instrumenter::{Filter, MethodCode, MethodId};
use trodden_profile::{BlockExit, ClassMap};

use crate::classes::{Lookup, Method, resolve};
use crate::host::Host;
use crate::jvm::{Jni, JvmError, Jvmti, LocalFrame, ThreadRef};
use crate::sampling::safepoint::block_of;

/// Frames asked for at a time.
const FRAMES: usize = 512;
/// A local of the n-th frame costs a walk over n frames: after this time, no more are read.
const MAX_TIME: Duration = Duration::from_secs(5);

/// Open paths, from frames.
#[derive(Debug, Default)]
pub struct OpenPaths {
    /// Method, register as it is in the method, block, and how many frames had these.
    pub paths: FxHashMap<(MethodId, u32, u32), u64>,
    /// Frames of methods with probes that were read.
    pub read: u64,
    /// Such frames that could not be.
    pub unread: u64,
}

/// Threads that stand still until this is dropped.
pub struct Suspended<'a> {
    jvmti: Jvmti,
    threads: Vec<ThreadRef>,
    _frame: LocalFrame<'a>,
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            let _ = self.jvmti.resume(&self.threads);
        }
    }
}

/// Suspends all threads but the calling one, and reads all frames of methods with probes.
pub fn read<'a>(host: &Host, filter: &Filter, jni: Jni<'a>) -> Result<(OpenPaths, Suspended<'a>), JvmError> {
    let jvmti = host.jvmti;
    let mut suspended = Suspended {
        jvmti,
        threads: Vec::new(),
        _frame: jni.frame(1024)?,
    };
    let own = jvmti.current_thread()?;
    let mut others: Vec<ThreadRef> = jvmti.threads()?.to_vec();
    others.retain(|&thread| !jni.same(thread, own));
    if !others.is_empty() {
        let worked = jvmti.suspend(&others)?;
        let still = others.iter().zip(worked).filter(|(_, worked)| *worked);
        suspended.threads = still.map(|(&thread, _)| thread).collect();
    }
    let mut reader = Reader {
        host,
        filter,
        jni,
        methods: FxHashMap::default(),
        until: Instant::now() + MAX_TIME,
        open: OpenPaths::default(),
    };
    for &thread in suspended.threads.iter().chain([&own]) {
        reader.thread(thread);
    }
    Ok((reader.open, suspended))
}

struct Reader<'r> {
    host: &'r Host,
    filter: &'r Filter,
    jni: Jni<'r>,
    methods: FxHashMap<usize, Option<Method>>,
    until: Instant,
    open: OpenPaths,
}

impl Reader<'_> {
    fn thread(&mut self, thread: ThreadRef) {
        let mut frames = vec![jvmtiFrameInfo::default(); FRAMES];
        let mut first = 0;
        // An error: the thread has ended, or there are no more frames.
        while let Ok(count @ 1..) = self.host.jvmti.stack_from(thread, first, &mut frames) {
            for (depth, frame) in (first..).zip(&frames[..count]) {
                self.frame(thread, depth, frame);
            }
            first += count;
            if count < FRAMES {
                break;
            }
        }
    }

    fn frame(&mut self, thread: ThreadRef, depth: usize, frame: &jvmtiFrameInfo) {
        let Some(method) = self.method(frame) else { return };
        let code = &method.code[method.position];
        let place = u32::try_from(frame.location).ok();
        let block =
            place.and_then(|place| Some((place, block_of(&method.map, method.position, code, place)?)));
        let Some((place, block)) = block.filter(|_| Instant::now() < self.until) else {
            self.open.unread += 1;
            return;
        };
        if is_counted(&method.map, method.position, block, old_place(code, place)) {
            return;
        }
        match self.host.jvmti.local_int(thread, depth, code.register_slot) {
            Ok(register) => {
                self.open.read += 1;
                let path = (method.id, register as u32, block);
                *self.open.paths.entry(path).or_default() += 1;
            }
            Err(_) => self.open.unread += 1,
        }
    }

    fn method(&mut self, frame: &jvmtiFrameInfo) -> Option<Method> {
        let Reader {
            host, filter, jni, ..
        } = *self;
        let look = || match resolve(host.jvmti, &host.registry, filter, jni, frame.method) {
            Lookup::Found(method) => is_current(host, &method, frame).then_some(method),
            Lookup::Never | Lookup::NotYet => None,
        };
        self.methods
            .entry(frame.method as usize)
            .or_insert_with(look)
            .clone()
    }
}

/// True if the frame runs the code that the agent has made last. What was loaded before profiling began or
/// has lost its probes does not.
fn is_current(host: &Host, method: &Method, frame: &jvmtiFrameInfo) -> bool {
    !host.jvmti.is_obsolete(frame.method) && !host.registry.silenced.had(&method.map.name)
}

fn old_place(code: &MethodCode, place: u32) -> u32 {
    let at = code.pc_map.partition_point(|&(new, _)| new < place);
    code.pc_map.get(at).map_or(u32::MAX, |&(_, old)| old)
}

/// At an instruction that leaves the method, its path has been counted.
fn is_counted(map: &ClassMap, method: usize, block: u32, place: u32) -> bool {
    let block = &map.methods[method].blocks[block as usize];
    place == block.last && matches!(block.exit, BlockExit::Return | BlockExit::Throw)
}
