//! Methods by their ids (`jmethodID`), and for how long these are valid.
//!
//! The JVM walks stacks only through methods that have ids, and makes these when somebody asks. So all
//! methods of a class get theirs when the class is prepared. An id is valid only as long as its class is
//! loaded; one of a class that has gone must not be shown to the JVM, which may read memory that is somebody
//! else's by then. So each id is remembered with a weak reference to its class: it is looked up only while a
//! strong one, made of that, keeps the class alive.
//!
//! A class that is redefined or retransformed while one of its methods runs goes on in the old version of
//! that,
//! which has no id: a `main` that loops for ever does so after an attach, for ever. It gets one when somebody
//! asks for the stack of its thread ([`Methods::register_running`]).

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use jvmti_bindings::sys::jni::jmethodID;
use jvmti_bindings::sys::jvmti::jvmtiFrameInfo;
use rustc_hash::{FxHashMap, FxHashSet};
use trodden_classfile::code::instructions;
use trodden_classfile::opcodes::{INVOKEDYNAMIC, INVOKEVIRTUAL};
use trodden_profile::{CpuFrame, CpuFrameKind};

use super::buffer::FRAMES;
use crate::jvm::{ClassRef, Jni, JvmError, Jvmti, WeakRef};
use crate::locks::lock;

/// Local references to all loaded classes at once: the most that can be asked for.
const ROOM: i32 = 1 << 16;
/// Local references to all threads.
const THREADS: i32 = 4096;
/// Classes between two looks for those that have gone, at least.
const SWEEP: usize = 1000;

/// The ids of all methods of all classes.
#[derive(Default)]
pub struct Methods {
    known: Mutex<Known>,
    /// True once an id has changed hands.
    changed: AtomicBool,
}

/// The method of an id.
#[derive(Clone, Debug)]
pub struct MethodVersion {
    /// The method.
    pub frame: CpuFrame,
    /// For a version that has been replaced but still runs: bytes of its code.
    pub old_code: Option<u32>,
    /// Where its lines begin: bytecode index and line, ascending.
    pub lines: Vec<(u16, u16)>,
    /// Bytecode indices of its calls, ascending.
    pub calls: Vec<u16>,
}

#[derive(Default)]
struct Known {
    /// True while it is kept up to date.
    on: bool,
    /// Number of the class of an id.
    by_id: FxHashMap<usize, u32>,
    /// Lengths of code of old versions, by their ids.
    old: FxHashMap<usize, u32>,
    classes: Vec<Option<WeakRef>>,
    /// Numbers that are free again.
    free: Vec<u32>,
    /// Classes since the last sweep.
    news: usize,
}

impl Methods {
    /// Gives ids to the methods of all classes that are there.
    ///
    /// # Errors
    /// If the JVM does not tell them.
    pub fn register_loaded(&self, jvmti: Jvmti, jni: Jni<'_>) -> Result<(), JvmError> {
        lock(&self.known).on = true;
        let _frame = jni.frame(ROOM)?;
        for class in jvmti.loaded_classes()? {
            self.register(jvmti, jni, class);
        }
        Ok(())
    }

    /// Gives ids to a class's methods. Of a class that is not prepared yet nothing is known.
    pub fn register(&self, jvmti: Jvmti, jni: Jni<'_>, class: ClassRef) {
        let Ok(methods) = jvmti.class_methods(class) else {
            return;
        };
        let Some(first) = methods.first().map(|id| id.addr()) else {
            return;
        };
        let mut known = lock(&self.known);
        if !known.on {
            return;
        }
        // It may have been prepared while the list of all classes was gone through.
        if let Some(&number) = known.by_id.get(&first)
            && let Some(Some(weak)) = known.classes.get(number as usize)
            && jni.same(weak.raw(), class.raw())
        {
            return;
        }
        let Some(weak) = jni.weak_class(class) else { return };
        let number = match known.free.pop() {
            Some(number) => {
                known.classes[number as usize] = Some(weak);
                number
            }
            None => {
                known.classes.push(Some(weak));
                known.classes.len() as u32 - 1
            }
        };
        known.by_id.reserve(methods.len());
        for method in methods.iter() {
            if known.by_id.insert(method.addr(), number).is_some() {
                known.old.remove(&method.addr());
                self.changed.store(true, Ordering::Relaxed);
            }
        }
        known.news += 1;
    }

    /// Gives ids to the old versions of methods that run, and learns them. Reads the stacks of all threads
    /// twice.
    pub fn register_running(&self, jvmti: Jvmti, jni: Jni<'_>) {
        let before = self.unknown_running(jvmti, jni);
        if before.is_empty() {
            return;
        }
        let Ok(_frame) = jni.frame(ROOM) else { return };
        // All classes are held from here on. What was on a stack before and is still on one was there in
        // between as well, so that its class is among them: its id stands for it.
        if jvmti.loaded_classes().is_err() {
            return;
        }
        let mut ids = self.unknown_running(jvmti, jni);
        ids.retain(|id| before.contains(id));
        for id in ids {
            self.register_old(jvmti, jni, std::ptr::without_provenance_mut(id));
        }
    }

    /// Ids on stacks that are not known.
    fn unknown_running(&self, jvmti: Jvmti, jni: Jni<'_>) -> FxHashSet<usize> {
        let mut ids = FxHashSet::default();
        let Ok(_frame) = jni.frame(THREADS) else {
            return ids;
        };
        let mut frames = vec![jvmtiFrameInfo::default(); FRAMES];
        for &thread in jvmti.threads().iter().flat_map(|threads| threads.iter()) {
            let count = jvmti.stack(thread, &mut frames).unwrap_or(0).min(FRAMES);
            ids.extend(frames[..count].iter().map(|frame| frame.method.addr()));
        }
        let known = lock(&self.known);
        ids.retain(|id| !known.by_id.contains_key(id));
        ids
    }

    /// Learns an old version, whose class is held by the caller.
    fn register_old(&self, jvmti: Jvmti, jni: Jni<'_>, method: jmethodID) {
        if !jvmti.is_obsolete(method) {
            return;
        }
        let found = jvmti.declaring_class(method);
        let (Ok(class), Ok(length)) = (found, jvmti.code_length(method)) else {
            return;
        };
        let current = jvmti.class_methods(class);
        let first = current
            .iter()
            .flat_map(|ids| ids.first())
            .next()
            .map(|id| id.addr());
        let mut known = lock(&self.known);
        let number = first.and_then(|first| known.by_id.get(&first).copied());
        if let Some(number) = number
            && let Some(Some(weak)) = known.classes.get(number as usize)
            && jni.same(weak.raw(), class.raw())
        {
            known.by_id.insert(method.addr(), number);
            known.old.insert(method.addr(), length);
        }
    }

    /// True if an id has changed hands, or its class has gone, since the last call: earlier results must be
    /// forgotten then.
    pub fn have_changed(&self, jni: Jni<'_>) -> bool {
        let mut known = lock(&self.known);
        let alive = known.classes.len() - known.free.len();
        if known.news > SWEEP.max(alive / 4) {
            known.news = 0;
            known.sweep(jni, &self.changed);
        }
        self.changed.swap(false, Ordering::Relaxed)
    }

    /// The method of an id, if its class is there.
    pub fn version(&self, jvmti: Jvmti, jni: Jni<'_>, id: usize) -> Option<MethodVersion> {
        // The reference is made under the lock, as a sweep deletes weak ones.
        let (class, old_code) = {
            let known = lock(&self.known);
            let number = *known.by_id.get(&id)?;
            let weak = known.classes.get(number as usize)?.as_ref()?;
            (jni.strong_class(weak)?, known.old.get(&id).copied())
        };
        let method = std::ptr::without_provenance_mut(id);
        let name = jvmti.class_name(class);
        let lines = jvmti.lines(method);
        let calls = calls(&jvmti.bytecodes(method).unwrap_or_default());
        let found = name.and_then(|name| Ok((name, jvmti.method_name(method)?, jvmti.is_native(method)?)));
        jni.delete_local(class.raw());
        let (class, (name, descriptor), native) = found.ok()?;
        let frame = CpuFrame {
            class: lasting(&class?),
            name,
            descriptor,
            kind: if native {
                CpuFrameKind::Native
            } else {
                CpuFrameKind::Java
            },
        };
        Some(MethodVersion {
            frame,
            old_code,
            lines,
            calls,
        })
    }

    /// Forgets all.
    pub fn forget(&self, jni: Jni<'_>) {
        let known = std::mem::take(&mut *lock(&self.known));
        for weak in known.classes.into_iter().flatten() {
            jni.delete_weak(weak);
        }
    }
}

impl Known {
    /// Forgets classes that have gone.
    fn sweep(&mut self, jni: Jni<'_>, changed: &AtomicBool) {
        let mut any = false;
        for (number, class) in self.classes.iter_mut().enumerate() {
            if let Some(weak) = class.take_if(|weak| jni.same(weak.raw(), std::ptr::null_mut())) {
                jni.delete_weak(weak);
                self.free.push(number as u32);
                any = true;
            }
        }
        if any {
            let classes = &self.classes;
            self.by_id.retain(|_, number| classes[*number as usize].is_some());
            self.old.retain(|id, _| self.by_id.contains_key(id));
            changed.store(true, Ordering::Relaxed);
        }
    }
}

/// Bytecode indices of the calls in a method's code.
fn calls(code: &[u8]) -> Vec<u16> {
    let all = instructions(code, 0, code.len() as u32);
    let calls = all.filter(|(_, opcode)| (INVOKEVIRTUAL..=INVOKEDYNAMIC).contains(opcode));
    calls.filter_map(|(bci, _)| u16::try_from(bci).ok()).collect()
}

/// A class's name without what is another one in each run: the address in that of a hidden class, the number
/// in that of a lambda.
fn lasting(name: &str) -> String {
    let hidden = |at: &usize| name[*at + 1..].starts_with("0x");
    let end = name.rfind(['.', '+']).filter(hidden).unwrap_or(name.len());
    let name = &name[..end];
    const LAMBDA: &str = "$$Lambda";
    match name.find(LAMBDA) {
        Some(at) => name[..at + LAMBDA.len()].to_owned(),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{calls, lasting};

    #[test]
    fn calls_are_found_between_other_instructions() {
        // aload_0, sipush 0xb6b6, invokevirtual, lconst_0, invokestatic, invokedynamic, invokeinterface,
        // return.
        let code = [
            0x2a, 0x11, 0xb6, 0xb6, 0xb6, 0, 1, 9, 0xb8, 0, 2, 0xba, 0, 3, 0, 0, 0xb9, 0, 4, 1, 0, 0xb1,
        ];
        assert_eq!(calls(&code), [4, 8, 11, 16]);
        assert_eq!(calls(&[]), []);
    }

    #[test]
    fn names_are_the_same_in_each_run() {
        for (name, lasts) in [
            ("a/B", "a/B"),
            ("a/B$$Lambda$14.0x0000000800c03000", "a/B$$Lambda"),
            ("a/B$$Lambda.0x00007f1c3c001400", "a/B$$Lambda"),
            (
                "java/lang/invoke/LambdaForm$MH.0x0000000800c0",
                "java/lang/invoke/LambdaForm$MH",
            ),
            ("a/B+0x0000000800c0", "a/B"),
            ("a/plus+minus", "a/plus+minus"),
        ] {
            assert_eq!(lasting(name), lasts);
        }
    }
}
