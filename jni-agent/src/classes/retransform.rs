//! Sending loaded classes through the hook again, in batches: a call costs about 10 ms, a class half a
//! millisecond.

use std::time::{Duration, Instant};

use crate::classes::hook::whole_class;
use crate::classes::registry::Registry;
use crate::jvm::{ClassRef, Jni, JvmError, Jvmti};
use crate::log::{debug, warning};

/// Classes per call. More would stop the program for longer at a time.
const BATCH: usize = 128;

/// The outcome for the classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Sent through the hook.
    pub classes: usize,
    /// Refused by the JVM.
    pub failed: usize,
    /// Calls with several classes.
    pub calls: u64,
    /// Their time.
    pub took: Duration,
    /// The longest of these.
    pub longest: Duration,
}

/// Retransforms all loaded classes whose name is wanted.
pub fn retransform(
    jvmti: Jvmti,
    jni: Jni<'_>,
    registry: &Registry,
    wanted: impl Fn(&str) -> bool,
) -> Restored {
    let frame = jni.frame(1024);
    let result = frame.and_then(|_frame| all(jvmti, registry, wanted));
    result.unwrap_or_else(|e| {
        warning!("classes that are already loaded stay as they are: {e}");
        Restored::default()
    })
}

fn all(jvmti: Jvmti, registry: &Registry, wanted: impl Fn(&str) -> bool) -> Result<Restored, JvmError> {
    let mut classes = Vec::new();
    for class in jvmti.loaded_classes()? {
        // A class may be unloading or broken: one without a name is no candidate.
        if let Ok(Some(name)) = jvmti.class_name(class)
            && wanted(&name)
            && jvmti.is_modifiable(class)
        {
            classes.push((class, name));
        }
    }
    let mut result = Restored::default();
    for batch in classes.chunks(BATCH) {
        let refs: Vec<ClassRef> = batch.iter().map(|(class, _)| *class).collect();
        let begin = Instant::now();
        let done = jvmti.retransform(&refs);
        let took = begin.elapsed();
        result.calls += 1;
        result.took += took;
        result.longest = result.longest.max(took);
        if done.is_ok() {
            result.classes += batch.len();
            continue;
        }
        // One class fails a whole batch: find it.
        for (class, name) in batch {
            match jvmti.retransform(&[*class]) {
                Ok(()) => result.classes += 1,
                Err(e) => {
                    debug!("{name}: {e}");
                    registry
                        .left_alone
                        .add([whole_class(name, format!("loaded before profiling, and: {e}"))]);
                    result.failed += 1;
                }
            }
        }
    }
    Ok(result)
}
