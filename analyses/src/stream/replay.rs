//! A trace through a pipeline, as if the program ran again.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::sync::Arc;

use trodden_profile::events::EventKinds;
use trodden_profile::trace::{TraceError, TraceItem, TraceReader, Truncation};
use trodden_profile::{ClassMap, MethodConditions, Problem, Profile, RunInfo, check_conditions, facts};

use super::{OnlyPaths, Pipeline, StreamError, ThreadStream};
use crate::{MethodTable, MethodsTaken};

/// Why a trace could not be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Its classes contradict each other.
    #[error("the trace is inconsistent: {0}")]
    Classes(#[from] MethodsTaken),
    /// Its conditions do not fit its classes.
    #[error("the trace is inconsistent: {0}")]
    Conditions(Box<Problem>),
    /// Its conditions are of a class that it does not have.
    #[error("the trace is inconsistent: conditions of a class with method {0}, which is not there")]
    NoClass(u32),
    /// It lacks what the analyses need.
    #[error("the trace has no {missing}: it was recorded for another kind of profile")]
    Kinds {
        /// Description of the missing events.
        missing: &'static str,
    },
    /// An analysis has no result.
    #[error(transparent)]
    Stream(#[from] StreamError),
}

/// The result of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The profile, with the recorded run's facts and those of the analyses.
    pub profile: Profile,
    /// Where the trace is cut off, if it is. The profile then has the fact `truncated`.
    pub truncation: Option<Truncation>,
}

/// Feeds a trace to a pipeline that nothing has been fed to. `progress` is called now and then with the bytes
/// read.
///
/// # Errors
/// If the trace is damaged, or lacks what the analyses need. One that is just cut off is replayed as far as
/// it goes.
pub fn replay<R: Read>(
    mut trace: TraceReader<R>,
    pipeline: &Pipeline,
    mut progress: impl FnMut(u64),
) -> Result<Replayed, ReplayError> {
    lacks(trace.kinds(), pipeline.needs()).map_or(Ok(()), |missing| Err(ReplayError::Kinds { missing }))?;
    let mut methods = MethodTable::default();
    let mut threads: HashMap<u64, ThreadStream> = HashMap::new();
    let (mut run, mut skipped) = (RunInfo::default(), Vec::new());
    let mut decisions = Decisions::default();
    loop {
        progress(trace.offset());
        let Some(item) = trace.next_item()? else { break };
        match item {
            TraceItem::Run(info) => run = info,
            TraceItem::Class { first_method, map } => {
                if let Some(shared) = pipeline.methods() {
                    shared.insert_class(first_method, Arc::clone(&map))?;
                }
                decisions.classes.insert(first_method, Arc::clone(&map));
                methods.insert_class(first_method, map)?;
            }
            TraceItem::Conditions {
                first_method,
                methods,
            } => decisions.add(first_method, methods)?,
            TraceItem::Skipped(entries) => skipped.extend(entries),
            TraceItem::ThreadStart(info) => {
                threads.insert(info.id, pipeline.open(info));
            }
            TraceItem::Words { thread, words } => {
                if let Some(thread) = threads.get(&thread) {
                    thread.consume(words);
                }
            }
            TraceItem::ThreadEnd(id) => {
                threads.remove(&id);
            }
        }
    }
    progress(trace.offset());
    // In a fixed order, so that the same trace gives the same profile.
    let mut running: Vec<(u64, ThreadStream)> = threads.into_iter().collect();
    running.sort_unstable_by_key(|&(id, _)| id);
    running.into_iter().for_each(|(_, thread)| thread.end());
    let mut profile = pipeline.profile_of(run, &methods, &OnlyPaths::default())?;
    let truncation = trace.truncation();
    if truncation.is_some() {
        profile.run.facts.set(facts::TRUNCATED, "true");
    }
    decisions.put_into(&mut profile);
    skipped.sort();
    skipped.dedup();
    profile.skipped = skipped;
    Ok(Replayed { profile, truncation })
}

/// The conditions of decisions, by class.
#[derive(Default)]
struct Decisions {
    /// By the id of the first method.
    classes: HashMap<u32, Arc<ClassMap>>,
    /// By name and hash of the class, then by position of the method.
    known: HashMap<(String, [u8; 32]), BTreeMap<u32, MethodConditions>>,
}

impl Decisions {
    fn add(&mut self, first_method: u32, methods: Vec<(u32, MethodConditions)>) -> Result<(), ReplayError> {
        let class = self.classes.get(&first_method);
        let class = class.ok_or(ReplayError::NoClass(first_method))?;
        let known = self.known.entry((class.name.clone(), class.sha256)).or_default();
        for (method, of) in methods {
            check_conditions(class, method, &of).map_err(ReplayError::Conditions)?;
            known.insert(method, of);
        }
        Ok(())
    }

    /// As in a profile that the agent writes: all of methods that ran, of others what the compiler made.
    fn put_into(mut self, profile: &mut Profile) {
        let ran = profile.methods_that_ran();
        for (position, class) in profile.classes.iter().enumerate() {
            let key = (class.map.name.clone(), class.map.sha256);
            for (method, of) in self.known.remove(&key).unwrap_or_default() {
                let of = if ran.contains(&(position, method as usize)) {
                    of
                } else {
                    of.marks()
                };
                if of != MethodConditions::default() {
                    profile.conditions.insert((position as u32, method), of);
                }
            }
        }
    }
}

/// A description of the events that a stream lacks.
fn lacks(there: EventKinds, wanted: EventKinds) -> Option<&'static str> {
    if there.has(wanted) {
        return None;
    }
    Some(match wanted {
        _ if wanted.paths && !there.paths => "paths",
        _ if wanted.activations && !there.activations => "activations",
        _ if wanted.call_sites && !there.call_sites => "call sites",
        _ if wanted.blocks && !there.blocks => "basic blocks",
        _ => "calls of methods without loops (event OnlyPath is used)",
    })
}
