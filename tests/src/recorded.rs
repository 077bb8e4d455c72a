//! A recorded event stream, taken apart slowly and obviously, without the code that the product consumes it
//! with.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use trodden_profile::events::{Event, Word};
use trodden_profile::trace::{TraceItem, TraceReader};

use crate::Result;
use crate::profile::Sequences;
use crate::trace::MethodId;

/// The contents of a trace.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Per method, the paths of each of its activations that ended or that its thread left open.
    pub sequences: Sequences,
    /// Words.
    pub words: u64,
    /// Threads.
    pub threads: usize,
    /// Words that say that exceptions have unwound activations.
    pub unwindings: u64,
}

/// An activation in progress: method id, and the paths that it has ended.
type Activation = (u32, Vec<u64>);

#[derive(Default)]
struct Sorted {
    done: BTreeMap<u32, Vec<Vec<u64>>>,
}

impl Sorted {
    fn end(&mut self, (method, paths): Activation) {
        if !paths.is_empty() {
            self.done.entry(method).or_default().push(paths);
        }
    }
}

/// Reads a complete trace.
///
/// # Errors
/// If it is damaged, cut off, or its words do not fit together.
pub fn read(file: &Path) -> Result<Recorded> {
    let mut reader = TraceReader::new(BufReader::new(File::open(file)?))?;
    let mut recorded = Recorded::default();
    let mut sorted = Sorted::default();
    let mut methods: BTreeMap<u32, MethodId> = BTreeMap::new();
    let mut stacks: BTreeMap<u64, Vec<Activation>> = BTreeMap::new();
    while let Some(item) = reader.next_item()? {
        match item {
            TraceItem::Class { first_method, map } => {
                for (id, method) in (first_method..).zip(&map.methods) {
                    let known = methods.insert(id, MethodId::new(&map, method));
                    assert!(known.is_none(), "method {id} is there twice");
                }
            }
            TraceItem::ThreadStart(info) => {
                recorded.threads += 1;
                stacks.insert(info.id, Vec::new());
            }
            TraceItem::Words { thread, words } => {
                recorded.words += words.len() as u64;
                let stack = stacks.get_mut(&thread).ok_or("words of no thread")?;
                for &word in words {
                    let event = Word(word).decode()?;
                    recorded.unwindings += u64::from(matches!(event, Event::Unwound { .. }));
                    take(stack, event, &mut sorted)?;
                }
            }
            TraceItem::ThreadEnd(thread) => {
                let stack = stacks.remove(&thread).ok_or("the end of no thread")?;
                stack.into_iter().for_each(|activation| sorted.end(activation));
            }
            TraceItem::Run(_) | TraceItem::Conditions { .. } | TraceItem::Skipped(_) => {}
        }
    }
    if let Some(truncation) = reader.truncation() {
        return Err(format!("{}: cut off: {truncation:?}", file.display()).into());
    }
    for stack in stacks.into_values() {
        stack.into_iter().for_each(|activation| sorted.end(activation));
    }
    for (id, sequences) in sorted.done {
        let method = methods
            .get(&id)
            .ok_or_else(|| format!("no path map of method {id}"))?;
        recorded
            .sequences
            .entry(method.clone())
            .or_default()
            .extend(sequences);
    }
    Ok(recorded)
}

fn take(stack: &mut Vec<Activation>, event: Event, sorted: &mut Sorted) -> Result<()> {
    let depth = stack.len();
    match event {
        Event::Enter { method, .. } => stack.push((method, Vec::new())),
        Event::PathEnd { method, path } => top(stack, method)?.push(path.into()),
        Event::LastPath { method, path } => {
            top(stack, method)?.push(path.into());
            sorted.end(stack.pop().expect("just looked at"));
        }
        Event::OnlyPath { method, path } => sorted.end((method, vec![path.into()])),
        Event::Unwound { depth: remain } => {
            if remain as usize > depth {
                return Err(format!("{remain} activations of {depth} remain").into());
            }
            for activation in stack.drain(remain as usize..) {
                sorted.end(activation);
            }
        }
        other => return Err(format!("{other:?} was not asked for").into()),
    }
    Ok(())
}

/// The paths of the topmost activation, which must be one of `method`.
fn top(stack: &mut [Activation], method: u32) -> Result<&mut Vec<u64>> {
    let topmost = stack.last().map(|(topmost, _)| *topmost);
    match stack.last_mut() {
        Some((_, paths)) if topmost == Some(method) => Ok(paths),
        _ => Err(format!("a path of {method} while {topmost:?} is topmost").into()),
    }
}
