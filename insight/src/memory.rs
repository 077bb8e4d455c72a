//! Methods that this run did not measure, because earlier runs know them. They are shown among the others: with the counts of
//! the run that measured them, the time that they take in this one, and a mark. Their counts are in no sum of this run.

use std::collections::HashMap;
use std::rc::Rc;

use trodden_profile::{Known, MemoryRun, Profile, Remembered};

use crate::pattern::MethodPattern;
use crate::source::Sources;
use crate::view::{MethodView, View};

/// Where the counts of a method come from that this run did not measure.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'p> {
    /// The run that measured it.
    pub run: &'p MemoryRun,
    /// Knowledge in addition to its counts.
    pub about: &'p Remembered,
    /// Why it was not measured again.
    pub known: Known,
    /// Milliseconds from that run's begin to this one's; `None` if one of both is not known.
    pub age_ms: Option<u64>,
}

/// The methods that a run left to earlier ones, with their counts.
pub fn methods<'p>(
    profile: &'p Profile,
    pattern: Option<&MethodPattern>,
    sources: &Rc<Sources>,
    bytecode: bool,
) -> Vec<MethodView<'p>> {
    let Some(memory) = profile.memory.as_deref() else {
        return Vec::new();
    };
    let mut about: HashMap<(&str, &str, &str), &Remembered> = HashMap::new();
    for (class, known) in memory.found.classes.iter().zip(&memory.about) {
        for (map, known) in class.map.methods.iter().zip(known) {
            about.insert((&class.map.name, &map.name, &map.descriptor), known);
        }
    }
    let reasons = profile.skipped.iter().filter_map(|skipped| {
        let known = Known::of_reason(&skipped.reason)?;
        Some(((skipped.class.as_str(), skipped.method.clone()?), known))
    });
    let reasons: HashMap<(&str, String), Known> = reasons.collect();
    let began = profile.run.started_ms;
    let found = View::new(&memory.found, pattern, sources, bytecode);
    // With a pattern that matches none, methods that never ran are in the view; here none is.
    let ran = found.methods.into_iter().filter(|method| method.count > 0);
    let marked = |mut method: MethodView<'p>| {
        let map = method.map;
        let about = *about.get(&(method.class, map.name.as_str(), map.descriptor.as_str()))?;
        let known = *reasons.get(&(method.class, format!("{}{}", map.name, map.descriptor)))?;
        let run = memory.run(about.run)?;
        let both = run.started_ms > 0 && began >= run.started_ms;
        method.set_earlier(Earlier {
            run,
            about,
            known,
            age_ms: both.then(|| began - run.started_ms),
        });
        Some(method)
    };
    ran.filter_map(marked).collect()
}
