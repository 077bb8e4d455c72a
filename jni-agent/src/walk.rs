//! Walks of the stack: which activations a thread is in, and where each of them calls the next one. At the beginnings of bursts, those of
//! methods with probes; when profiling has begun in the middle of a run, those from before, whose code has none.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use jvmti_bindings::sys::jni::jmethodID;
use jvmti_bindings::sys::jvmti::jvmtiFrameInfo;
use rustc_hash::FxHashMap;
use trodden_instrumenter::Filter;
use trodden_profile::events::{CALL_UNDER_WAY, Word};

use crate::agent::Agent;
use crate::jvm::Jni;
use crate::jvm::jvmti::ThreadRef;
use crate::method_events::Followed;
use crate::safepoint::{Lookup, Method, resolve, resolve_name};

/// Frames that are asked for at first. Most stacks have fewer.
const USUAL: usize = 256;
/// A stack of this many frames is not walked: the thread is left out of the burst.
const MOST: usize = 8192;
/// Walks after which methods are looked up anew: ids of unloaded methods may be used again.
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
type LookUp = fn(&Agent, &Filter, Jni<'_>, jmethodID) -> Lookup;

/// What is known of a method by its JVMTI id.
#[derive(Clone)]
enum Known {
    Probed(Method),
    /// Never will have probes.
    Other,
    /// Had none when there were so many classes with probes.
    NotAmong(usize),
}

impl Walker {
    /// The words that tell the stack of `thread`, which is the calling one (null will do): `Enter` per activation with probes (with the
    /// JVM's events: of a method that is followed), the outermost first, and the `Call` of the last one. The innermost activation is left
    /// out if it is one of `begins`, which is about to tell its beginning itself. `None`: the stack is too deep.
    pub fn stack(&self, agent: &Agent, jni: Jni<'_>, thread: ThreadRef, begins: u32) -> Option<Vec<u64>> {
        let settings = agent.active()?;
        let filter = &settings.instrumenter.options().filter;
        let look_up = match settings.options.has_events_of_jvm() {
            true => resolve_name,
            false => resolve,
        };
        let frames = self.frames(agent, thread)?;
        let found = frames.iter().filter_map(|frame| {
            let method = self.method(agent, filter, jni, frame.method, look_up)?;
            // An activation from before its class got probes tells nothing: it is like code without.
            (!agent.jvmti.is_obsolete(frame.method)).then_some((method, frame.location))
        });
        let mut found: Vec<(Method, i64)> = found.collect();
        if found.first().is_some_and(|(method, _)| method.index == begins) {
            found.remove(0);
        }
        Some(words(&found))
    }

    /// The words that tell in which activations from before profiling the calling thread is: of code without probes, in methods that have
    /// some by now. `None`: in none, or the stack is too deep. The thread must be in no other activation with probes but one that begins.
    pub fn before(&self, agent: &Agent, jni: Jni<'_>) -> Option<Vec<u64>> {
        let settings = agent.active()?;
        let filter = &settings.instrumenter.options().filter;
        // Code that is older than this profile may have had other probes, which moved its instructions.
        let knows_places = agent.registry.has_one_configuration();
        let mut found: Vec<(u32, Option<u16>)> = Vec::new();
        let mut calls = true;
        for frame in self.frames(agent, std::ptr::null_mut())? {
            let Some(method) = self.method(agent, filter, jni, frame.method, resolve_name) else {
                continue;
            };
            let initialises = method.map.methods[method.position].name == "<clinit>";
            if agent.jvmti.is_obsolete(frame.method) {
                let bci = u16::try_from(frame.location)
                    .ok()
                    .filter(|&bci| bci < CALL_UNDER_WAY);
                found.push((method.index, bci.filter(|_| calls && knows_places)));
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
            .map(|&(method, call)| Word::below(method, call).0);
        Some(
            std::iter::once(Word::before(found.len() as u32).0)
                .chain(words)
                .collect(),
        )
    }

    /// Another profile begins: methods may have other numbers.
    pub fn forget(&self) {
        let mut methods = self.lock_write();
        methods.clear();
        // From 1 on. Under the lock: what is looked up from here on is of the new generation.
        let generation = self.generation.load(Ordering::Relaxed).wrapping_add(1);
        self.generation.store(generation.max(1), Ordering::Release);
    }

    /// Changes whenever what was known of methods is known no more; 0 as long as nothing is.
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Acquire)
    }

    /// Is a method followed, with the JVM's events? And is that so for good, as far as this generation goes?
    pub fn followed(&self, agent: &Agent, jni: Jni<'_>, method: jmethodID) -> (Option<Followed>, bool) {
        let Some(settings) = agent.active() else {
            return (None, false);
        };
        let filter = &settings.instrumenter.options().filter;
        match self.known(agent, filter, jni, method, resolve_name) {
            // Left out of walks, too: its code may have had other probes, so its places mean nothing.
            Known::Probed(_) if agent.jvmti.is_obsolete(method) => (None, true),
            Known::Probed(method) => {
                let followed = Followed {
                    index: method.index,
                    initialises: method.map.methods[method.position].name == "<clinit>",
                };
                (Some(followed), true)
            }
            Known::Other => (None, true),
            Known::NotAmong(_) => (None, false),
        }
    }

    /// Stacks that were too deep to be walked.
    pub fn too_deep(&self) -> u64 {
        self.too_deep.load(Ordering::Relaxed)
    }

    /// The frames of the calling thread, from the innermost on. `None`: there are too many.
    fn frames(&self, agent: &Agent, thread: ThreadRef) -> Option<Vec<jvmtiFrameInfo>> {
        if self.walks.fetch_add(1, Ordering::Relaxed) % CACHE_WALKS == CACHE_WALKS - 1 {
            self.forget();
        }
        let mut frames = vec![jvmtiFrameInfo::default(); USUAL];
        let mut count = agent.jvmti.stack(thread, &mut frames).ok()?;
        if count == USUAL {
            frames.resize(MOST, jvmtiFrameInfo::default());
            count = agent.jvmti.stack(thread, &mut frames).ok()?;
        }
        if count == MOST {
            self.too_deep.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        frames.truncate(count);
        Some(frames)
    }

    fn lock_write(&self) -> std::sync::RwLockWriteGuard<'_, FxHashMap<usize, Known>> {
        self.methods.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The method of a frame, looked up as `look_up` does unless it is known.
    fn method(
        &self,
        agent: &Agent,
        filter: &Filter,
        jni: Jni<'_>,
        method: jmethodID,
        look_up: LookUp,
    ) -> Option<Method> {
        match self.known(agent, filter, jni, method, look_up) {
            Known::Probed(method) => Some(method),
            Known::Other | Known::NotAmong(_) => None,
        }
    }

    fn known(
        &self,
        agent: &Agent,
        filter: &Filter,
        jni: Jni<'_>,
        method: jmethodID,
        look_up: LookUp,
    ) -> Known {
        let key = method as usize;
        let known = {
            let methods = self.methods.read().unwrap_or_else(PoisonError::into_inner);
            methods.get(&key).cloned()
        };
        match known {
            Some(Known::NotAmong(before)) if before != agent.registry.sizes().0 => {}
            Some(known) => return known,
            None => {}
        }
        // Before the look: a class that comes meanwhile is looked for again.
        let classes = agent.registry.sizes().0;
        let known = match look_up(agent, filter, jni, method) {
            Lookup::Found(method) => Known::Probed(method),
            Lookup::Never => Known::Other,
            Lookup::NotYet => Known::NotAmong(classes),
        };
        self.lock_write().insert(key, known.clone());
        known
    }
}

/// `found`: from the innermost outwards, each with its place in the rewritten code.
fn words(found: &[(Method, i64)]) -> Vec<u64> {
    let mut words = Vec::with_capacity(found.len() + 1);
    let mut site = None;
    for (method, location) in found.iter().rev() {
        // Initialisers are not called, the JVM runs them.
        let called_from = match method.map.methods[method.position].name.as_str() {
            "<clinit>" => None,
            _ => site,
        };
        words.push(Word::enter(method.index, called_from).0);
        site = old_place(method, *location);
    }
    if let (Some((method, _)), Some(bci)) = (found.first(), site) {
        words.push(Word::call(method.index, bci.into()).0);
    }
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
