//! Walks of the stack: which activations a thread is in, and where each of them calls the next one. At the
//! beginnings of bursts, those of methods with probes; when profiling has begun in the middle of a run, those
//! from before, whose code has none.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use jvmti_bindings::sys::jni::jmethodID;
use jvmti_bindings::sys::jvmti::jvmtiFrameInfo;
use rustc_hash::FxHashMap;
use trodden_instrumenter::{Filter, MethodId};
use trodden_profile::events::{CALL_UNDER_WAY, Word};

use crate::classes::{Lookup, Method, Registry, resolve, resolve_name};
use crate::host::Host;
use crate::jvm::{Jni, Jvmti, ThreadRef};
use crate::locks::{read, write};
use crate::stream::Reporter;

/// Frames that are asked for at first. Most stacks have fewer.
const USUAL: usize = 256;
/// A stack of this many frames is not walked: the thread is left out of the burst.
const MAX_FRAMES: usize = 8192;
/// Walks after which methods are looked up again: ids of unloaded methods may be used again.
const CACHE_WALKS: u64 = 1 << 16;

/// Finds the methods of frames, and remembers them.
#[derive(Default)]
pub struct Walker {
    methods: RwLock<FxHashMap<usize, Known>>,
    /// How often it has forgotten them.
    generation: AtomicU32,
    walks: AtomicU64,
    too_deep: AtomicU64,
}

/// How methods are looked up that are not known.
type LookUp = fn(Jvmti, &Registry, &Filter, Jni<'_>, jmethodID) -> Lookup;

/// A method, by its JVMTI id.
#[derive(Clone)]
enum Known {
    Probed(Method),
    /// Never will have probes.
    Other,
    /// Had none with this number of classes with probes.
    NotAmong(usize),
}

impl Walker {
    /// The words for the stack of a thread: `Enter` per activation
    /// with probes (with the JVM's events: of a method that is followed), the outermost first, and the `Call`
    /// of the last one. The innermost activation is left out if it is one of `begins`, which is about to
    /// report its beginning itself. `None`: the stack is too deep.
    pub fn stack(&self, from: Reporter<'_>, begins: MethodId) -> Option<Vec<u64>> {
        let Reporter {
            host, jni, thread, ..
        } = from;
        let settings = host.active()?;
        let filter = &settings.instrumenter.options().filter;
        let look_up = if settings.options.has_events_of_jvm() {
            resolve_name
        } else {
            resolve
        };
        let frames = self.frames(host, thread)?;
        let found = frames.iter().filter_map(|frame| {
            let method = self.method(host, filter, jni, frame.method, look_up)?;
            // An activation from before its class got probes reports nothing: it is like code without.
            (!host.jvmti.is_obsolete(frame.method)).then_some((method, frame.location))
        });
        let mut found: Vec<(Method, i64)> = found.collect();
        if found.first().is_some_and(|(method, _)| method.id == begins) {
            found.remove(0);
        }
        Some(words(&found))
    }

    /// The words for the activations from before profiling that the calling thread is in: of code without
    /// probes, in methods that have some by now. `None`: in none, or the stack is too deep. The thread must
    /// be in no other activation with probes but one that begins.
    pub fn before(&self, host: &Host, jni: Jni<'_>) -> Option<Vec<u64>> {
        let settings = host.active()?;
        let filter = &settings.instrumenter.options().filter;
        // Code that is older than this profile may have had other probes, which moved its instructions.
        let knows_places = host.registry.has_one_configuration();
        let mut found: Vec<(MethodId, Option<u16>)> = Vec::new();
        let mut calls = true;
        for frame in self.frames(host, std::ptr::null_mut())? {
            let Some(method) = self.method(host, filter, jni, frame.method, resolve_name) else {
                continue;
            };
            let initialises = method.initialises();
            if host.jvmti.is_obsolete(frame.method) {
                let bci = u16::try_from(frame.location)
                    .ok()
                    .filter(|&bci| bci < CALL_UNDER_WAY);
                found.push((method.id, bci.filter(|_| calls && knows_places)));
            }
            // Initialisers are not called, the JVM runs them.
            calls = !initialises;
        }
        if found.is_empty() {
            return None;
        }
        let words = found
            .iter()
            .rev()
            .map(|&(method, call)| Word::below(method.0, call).0);
        Some(
            std::iter::once(Word::before(found.len() as u32).0)
                .chain(words)
                .collect(),
        )
    }

    /// Another profile begins: methods may have other numbers.
    pub fn forget(&self) {
        let mut methods = write(&self.methods);
        methods.clear();
        // From 1 on. Under the lock: what is looked up from here on is of the new generation.
        let generation = self.generation.load(Ordering::Relaxed).wrapping_add(1);
        self.generation.store(generation.max(1), Ordering::Release);
    }

    /// Changes whenever what was known of methods is known no more; 0 as long as nothing is.
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Acquire)
    }

    /// The method, if it is followed with the JVM's events; and whether that is so for good, as far as this
    /// generation goes.
    pub fn probed(&self, host: &Host, jni: Jni<'_>, method: jmethodID) -> (Option<Method>, bool) {
        let Some(settings) = host.active() else {
            return (None, false);
        };
        let filter = &settings.instrumenter.options().filter;
        match self.known(host, filter, jni, method, resolve_name) {
            // Left out of walks, too: its code may have had other probes, so its places mean nothing.
            Known::Probed(_) if host.jvmti.is_obsolete(method) => (None, true),
            Known::Probed(method) => (Some(method), true),
            Known::Other => (None, true),
            Known::NotAmong(_) => (None, false),
        }
    }

    /// Stacks that were too deep to be walked.
    pub fn too_deep(&self) -> u64 {
        self.too_deep.load(Ordering::Relaxed)
    }

    /// The frames of the calling thread, from the innermost on. `None`: there are too many.
    fn frames(&self, host: &Host, thread: ThreadRef) -> Option<Vec<jvmtiFrameInfo>> {
        if self.walks.fetch_add(1, Ordering::Relaxed) % CACHE_WALKS == CACHE_WALKS - 1 {
            self.forget();
        }
        let mut frames = vec![jvmtiFrameInfo::default(); USUAL];
        let mut count = host.jvmti.stack(thread, &mut frames).ok()?;
        if count == USUAL {
            frames.resize(MAX_FRAMES, jvmtiFrameInfo::default());
            count = host.jvmti.stack(thread, &mut frames).ok()?;
        }
        if count == MAX_FRAMES {
            self.too_deep.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        frames.truncate(count);
        Some(frames)
    }

    /// The method of a frame, looked up as `look_up` does unless it is known.
    fn method(
        &self,
        host: &Host,
        filter: &Filter,
        jni: Jni<'_>,
        method: jmethodID,
        look_up: LookUp,
    ) -> Option<Method> {
        match self.known(host, filter, jni, method, look_up) {
            Known::Probed(method) => Some(method),
            Known::Other | Known::NotAmong(_) => None,
        }
    }

    fn known(&self, host: &Host, filter: &Filter, jni: Jni<'_>, method: jmethodID, look_up: LookUp) -> Known {
        let key = method as usize;
        let known = {
            let methods = read(&self.methods);
            methods.get(&key).cloned()
        };
        match known {
            Some(Known::NotAmong(before)) if before != host.registry.sizes().0 => {}
            Some(known) => return known,
            None => {}
        }
        // Before the look: a class that comes meanwhile is looked for again.
        let classes = host.registry.sizes().0;
        let known = match look_up(host.jvmti, &host.registry, filter, jni, method) {
            Lookup::Found(method) => Known::Probed(method),
            Lookup::Never => Known::Other,
            Lookup::NotYet => Known::NotAmong(classes),
        };
        write(&self.methods).insert(key, known.clone());
        known
    }
}

/// `found`: from the innermost outwards, each with its place in the rewritten code.
fn words(found: &[(Method, i64)]) -> Vec<u64> {
    let mut words = Vec::with_capacity(found.len() + 1);
    // Where the one before is, and what it is.
    let mut caller: Option<(MethodId, u16)> = None;
    let call = |(method, bci): (MethodId, u16)| Word::call(method.0, bci.into()).0;
    for (method, location) in found.iter().rev() {
        let called_from = if method.initialises() {
            // Initialisers are not called, the JVM runs them: in front of the call in progress, with which it
            // continues when they have ended.
            words.extend(caller.map(call));
            None
        } else {
            caller.map(|(_, bci)| bci)
        };
        words.push(Word::enter(method.id.0, called_from).0);
        caller = old_place(method, *location).map(|bci| (method.id, bci));
    }
    words.extend(caller.map(call));
    words
}

/// Where the instruction stood in the method as it was. A method without rewritten code is as it was.
fn old_place(method: &Method, location: i64) -> Option<u16> {
    let location = u32::try_from(location).ok()?;
    let old = match method.code.get(method.position) {
        None => location,
        Some(code) => {
            let places = &code.pc_map;
            let at = places.binary_search_by_key(&location, |&(new, _)| new).ok()?;
            places[at].1
        }
    };
    u16::try_from(old).ok().filter(|&bci| bci < CALL_UNDER_WAY)
}
