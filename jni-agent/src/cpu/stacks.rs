//! The tree: what was sampled so far, in bounded memory.

use std::collections::BTreeMap;
use std::iter::successors;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_instrumenter::CounterSlot;
use trodden_profile::{CpuFailure, CpuFrame, CpuFrameKind, CpuRow, CpuSamples, CpuTime};

use super::buffer::{NextCount, RawFrame, Taken, Wait};
use super::methods::MethodVersion;
use super::next_write::{Answer, Calls, NextWrite, Outcome};
use super::pending::{Doubt, Instead, Pending, Slots, Waiter};
use super::reasons::{place, reason};
use crate::classes::{CodePlaces, Places};
use crate::log::warning;
use crate::sampling::SplitMix;

/// Different stacks that are kept at most: some 20 MB.
const NODES: usize = 1 << 18;
/// Different methods that are kept at most.
const METHODS: usize = 1 << 17;

/// Above stacks whose outer frames are not known.
const CUT: &str = "[deeper frames]";
/// A method that was unloaded before its name was looked up, or an old version of one that has no id yet.
const UNKNOWN: &str = "[unknown method]";
/// Methods for which there is no room.
const OTHER: &str = "[other methods]";

/// Classes whose code is the profiler's, by prefix: what probes call, in code that is instrumented at class
/// load and ahead of its run.
pub const OURS: &[&str] = &["java/lang/Trodden", "trodden/Runtime"];

/// Where a stack's samples go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spot {
    /// To a node. Is it the stack's own, or one above, for want of room?
    Node { at: u32, whole: bool },
    /// To no method of the program: it is inside of a call of a probe.
    Probe,
}

/// The number of a frame's method, and the length of the code if that is an old version's.
type Seen = (u32, Option<u32>);

/// Key of a node: parent + 1, frame, bytecode index + 1.
type Key = (u32, u32, u32);

/// How the stacks of samples are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StackReader {
    /// Not yet: sampling never began.
    #[default]
    None,
    /// By the handler of a signal, wherever a thread is.
    Handler,
    /// At safepoints.
    Safepoint,
}

impl StackReader {
    /// The word of profiles.
    pub fn name(self) -> &'static str {
        match self {
            StackReader::None => "",
            StackReader::Handler => "async",
            StackReader::Safepoint => "safepoint",
        }
    }
}

/// Samples of all threads.
#[derive(Default)]
pub struct Stacks {
    /// The interval, once sampling has begun.
    interval: Option<Duration>,
    reader: StackReader,
    nodes: Vec<CpuRow>,
    known: FxHashMap<Key, u32>,
    frames: Vec<CpuFrame>,
    /// By frame: is it the profiler's own code?
    ours: Vec<bool>,
    /// Numbers of frames.
    by_name: FxHashMap<CpuFrame, u32>,
    /// By frame, where its lines begin, in the version of the method that was seen first.
    lines: FxHashMap<u32, Box<[(u16, u16)]>>,
    /// Frames by ids of methods, as long as these are valid.
    by_id: FxHashMap<usize, Seen>,
    /// True if there was a frame without a name since the last question.
    nameless: bool,
    /// Who knows where probes have moved instructions to. Samples have the places in the code that runs;
    /// those of the tree are of the code as it was compiled.
    code: Option<&'static dyn CodePlaces>,
    /// Where instructions are, as long as no class is changed; and the number that tells that.
    places: FxHashMap<Seen, Places>,
    moves: u64,
    /// Nodes by the hash of a whole stack, as long as ids are valid: most stacks come again.
    by_stack: FxHashMap<u64, Spot>,
    /// Samples inside of calls of probes. They are in no node: the program without probes has no such time.
    probes: CpuTime,
    failed: BTreeMap<i32, CpuTime>,
    lost: CpuTime,
    shortened: CpuTime,
    cut: CpuTime,
    /// Samples that wait for their paths.
    pending: Pending,
    /// Where samples in doubt were, by their tickets, until their answers come.
    instead: FxHashMap<u64, Instead>,
    /// Where those that waited were, by the hash of their stack, as long as ids are valid.
    doubts: FxHashMap<u64, Doubts>,
    draws: u64,
    /// The node that a method's last sample is at, by frame.
    last: FxHashMap<u32, u32>,
    /// Where calls are in methods, each list once; never freed, as handlers read them.
    calls: FxHashSet<&'static Calls>,
    /// Ids of methods whose slots the handler knows, or that have none.
    targeted: FxHashSet<usize>,
    /// Frames and paths by slot.
    by_slot: FxHashMap<u32, Option<(u32, u64)>>,
    /// CPU time of the process in former intervals.
    process: Duration,
    limit: Option<usize>,
}

impl Stacks {
    /// Sampling begins, with this CPU time from sample to sample, by this reader.
    pub fn begin(&mut self, interval: Duration, reader: StackReader) {
        self.interval = Some(interval);
        self.reader = reader;
    }

    /// How stacks are read.
    pub fn reader(&self) -> StackReader {
        self.reader
    }

    /// Who knows where instructions are.
    pub fn find_places_by(&mut self, code: &'static dyn CodePlaces) {
        self.code = Some(code);
    }

    /// Forgets all samples.
    pub fn reset(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.reset();
        *self = Stacks {
            pending,
            calls: std::mem::take(&mut self.calls),
            interval: self.interval,
            reader: self.reader,
            limit: self.limit,
            code: self.code,
            ..Stacks::default()
        };
    }

    /// Ids of methods may be of others from now on.
    pub fn forget_methods(&mut self) {
        self.by_id.clear();
        self.by_stack.clear();
        self.doubts.clear();
        self.forget_targets();
    }

    fn forget_targets(&mut self) {
        self.targeted.clear();
        if let Some(next_write) = self.pending.from {
            next_write.targets().forget();
        }
    }

    /// Samples wait for their paths here from now on; `None`: they do not wait.
    pub fn answer_by(&mut self, next_write: Option<&'static NextWrite>) {
        self.pending.from = next_write;
        self.instead.clear();
        self.forget_targets();
    }

    /// No sample waits any more; those that do stay without answer.
    pub fn close_answers(&mut self) {
        if let Some(next_write) = self.pending.from {
            next_write.close();
        }
    }

    /// Answers that have come since the last call.
    pub fn take_answers(&mut self) -> Vec<Answer> {
        let mut answers = Vec::new();
        if let Some(next_write) = self.pending.from {
            self.pending.lost += next_write.take(|answer| answers.push(answer));
            if !next_write.is_whole() {
                warning!(
                    "another handler of SIGSEGV was installed: time is divided among paths by their counts from here on"
                );
                next_write.close();
                self.pending.from = None;
            }
        }
        answers
    }

    /// Gives the samples that these are for their paths. `sampled`: nanoseconds that samples since the last
    /// call represent. Returns the nanoseconds that answers took in handlers.
    pub fn answer(&mut self, answers: Vec<Answer>, sampled: u64) -> u64 {
        let mut pending = std::mem::take(&mut self.pending);
        for answer in answers {
            let instead = self.instead.remove(&answer.ticket).or_else(|| self.usual(answer));
            for (doubt, moved) in pending.answer(answer, self, instead) {
                self.end_doubt(doubt, instead.filter(|_| moved).map(|instead| instead.node));
            }
        }
        if std::mem::take(&mut pending.lost) > 0 {
            pending.drop_all();
            self.instead.clear();
        }
        self.pending = pending;
        self.pending
            .from
            .map_or(0, |next_write| next_write.budget(sampled))
    }

    /// Where the method of a path end was last, whose stack is not known.
    fn usual(&mut self, answer: Answer) -> Option<Instead> {
        let slot = match answer.outcome {
            Outcome::Elsewhere(slot) => slot,
            _ => answer.first?,
        };
        let (frame, _) = self.path_of(slot)?;
        let node = *self.last.get(&frame)?;
        let bci = self.nodes.get(node as usize)?.bci;
        Some(Instead {
            node,
            frame,
            bci,
            slot,
        })
    }

    /// It is known where a sample in doubt was: at this node, if not where it seemed to be.
    fn end_doubt(&mut self, doubt: Doubt, instead: Option<u32>) {
        self.doubts.entry(doubt.stack).or_default().add(instead);
        if let Some(node) = instead
            && let Ok([from, to]) = self.nodes.get_disjoint_mut([doubt.node as usize, node as usize])
        {
            from.own = from.own.less(doubt.time);
            to.own = to.own.plus(doubt.time);
        }
    }

    /// The node of a sample that does not wait, by that of its stack: where a random one was of those which
    /// waited in doubt.
    fn drawn(&mut self, at: u32, stack: u64) -> u32 {
        let Some(doubts) = self.doubts.get(&stack) else {
            return at;
        };
        self.draws = self.draws.wrapping_add(SplitMix::GAMMA);
        doubts.draw(SplitMix::mixed(self.draws)).unwrap_or(at)
    }

    /// Tells the handler which slots the methods of a stack have.
    fn target(&mut self, stack: &[RawFrame], found: &[Option<Seen>]) {
        let (Some(next_write), Some(code)) = (self.pending.from, self.code) else {
            return;
        };
        for (raw, seen) in stack.iter().zip(found) {
            if let Some((frame, old)) = *seen
                && self.targeted.insert(raw.method)
            {
                let method = &self.frames[frame as usize];
                let of_method = || code.slots(&method.class, &method.name, &method.descriptor);
                next_write
                    .targets()
                    .set(raw.method, old.is_none().then(of_method).flatten());
            }
        }
    }

    /// The process has used this CPU time in an interval that is over.
    pub fn add_process_time(&mut self, spent: Duration) {
        self.process += spent;
    }

    /// There was no room for these samples, which represent this CPU time in nanoseconds.
    pub fn lose(&mut self, samples: u64, ns: u64) {
        self.lost = self.lost.plus(CpuTime { samples, ns });
    }

    /// Adds a sample. `look_up` finds the method of an id.
    pub fn add(&mut self, sample: Taken<'_>, mut look_up: impl FnMut(usize) -> Option<MethodVersion>) {
        let time = CpuTime {
            samples: 1,
            ns: sample.nanos,
        };
        let (spot, hash) = match sample.stack {
            Ok(stack) => {
                let (spot, hash) = self.known_spot(stack, (sample.cut, sample.in_call), &mut look_up);
                (spot, Some(hash))
            }
            Err(reason) => {
                let sum = self.failed.entry(reason).or_default();
                *sum = sum.plus(time);
                let frame = self.frame(CpuFrame::other(place(reason)));
                let (at, whole) = self.child(None, frame, None);
                (Spot::Node { at, whole }, None)
            }
        };
        if let Some(next) = sample.instead {
            return self.add_instead(next, spot);
        }
        let Spot::Node { mut at, whole } = spot else {
            self.probes = self.probes.plus(time);
            return;
        };
        if let (Some(stack), None) = (hash, sample.waits.innermost) {
            at = self.drawn(at, stack);
        }
        if let (Ok(stack), Some(hash)) = (sample.stack, hash) {
            let doubt = Doubt {
                node: at,
                stack: hash,
                time,
            };
            let callers = sample.waits.callers.into_iter().flatten();
            let callers = callers.map(|wait| (wait, false));
            let innermost = sample.waits.innermost.map(|wait| (wait, true));
            for (wait, is_innermost) in innermost.into_iter().chain(callers) {
                self.add_wait(&wait, is_innermost, stack, doubt, &mut look_up);
            }
        }
        if sample.cut {
            self.cut = self.cut.plus(time);
        }
        if !whole {
            self.shortened = self.shortened.plus(time);
        }
        // There is one: the limit is at least 1.
        if let Some(row) = self.nodes.get_mut(at as usize) {
            row.own = row.own.plus(time);
            self.last.insert(row.frame, at);
        }
    }

    /// Where a stack's samples go, and the stack's hash.
    fn known_spot(
        &mut self,
        stack: &[RawFrame],
        (cut, in_call): (bool, bool),
        look_up: &mut impl FnMut(usize) -> Option<MethodVersion>,
    ) -> (Spot, u64) {
        let moves = self.code.map_or(0, CodePlaces::moves);
        if self.moves != moves {
            self.moves = moves;
            self.places.clear();
            self.by_stack.clear();
            // Other slots are learnt with the next sample; until then no path end comes to the old ones.
            self.targeted.clear();
        }
        let hash = hash(stack, [cut, in_call]);
        if let Some(&known) = self.by_stack.get(&hash) {
            return (known, hash);
        }
        let (found, named) = self.spot(stack, (cut, in_call), look_up);
        if self.by_stack.len() >= self.limit() {
            self.by_stack.clear();
            self.doubts.clear();
        }
        if named {
            self.by_stack.insert(hash, found);
        }
        self.nameless |= !named;
        (found, hash)
    }

    /// The stack of a path end at which another sample is.
    fn add_instead(&mut self, NextCount { ticket, slot }: NextCount, spot: Spot) {
        if let Spot::Node { at, whole: true } = spot
            && let Some(&CpuRow { frame, bci, .. }) = self.nodes.get(at as usize)
        {
            let instead = Instead {
                node: at,
                frame,
                bci,
                slot,
            };
            self.instead.insert(ticket, instead);
        }
    }

    /// A sample waits for the path of an activation on its stack. `doubt`: what is known of the sample, if it
    /// is in doubt.
    fn add_wait(
        &mut self,
        wait: &Wait,
        is_innermost: bool,
        stack: &[RawFrame],
        doubt: Doubt,
        look_up: &mut impl FnMut(usize) -> Option<MethodVersion>,
    ) {
        let Some(raw) = stack.get(wait.depth as usize) else {
            return;
        };
        let Some(seen) = self.method_of(raw, look_up) else {
            return;
        };
        let bci = u16::try_from(raw.bci).ok();
        let waiter = Waiter {
            frame: seen.0,
            bci: bci.and_then(|bci| self.compiled(seen, bci)),
            is_innermost,
            time: CpuTime {
                ns: (doubt.time.ns as f64 * f64::from(wait.represents)) as u64,
                ..doubt.time
            },
            doubt: wait.is_doubtful.then_some(doubt),
        };
        self.pending.add(wait.ticket, waiter);
    }

    /// Where a stack's samples go, and whether all its frames have names.
    fn spot(
        &mut self,
        stack: &[RawFrame],
        (cut, in_call): (bool, bool),
        look_up: &mut impl FnMut(usize) -> Option<MethodVersion>,
    ) -> (Spot, bool) {
        // Before anything is added to the tree.
        let found: Vec<Option<Seen>> = stack.iter().map(|raw| self.method_of(raw, look_up)).collect();
        let named = found.iter().all(Option::is_some);
        self.target(stack, &found);
        let is_ours = |seen: &Option<Seen>| seen.is_some_and(|(frame, _)| self.ours[frame as usize]);
        // What is in the frames of a probe that was inlined belongs to the method around it.
        let inner = found.iter().rposition(is_ours).map_or(0, |last| last + 1);
        if inner > 0 && (in_call || inner == stack.len()) {
            return (Spot::Probe, named);
        }
        let mut at = None;
        if cut {
            let frame = self.frame(CpuFrame::other(CUT));
            let (node, whole) = self.child(None, frame, None);
            if !whole {
                return (Spot::Node { at: node, whole }, named);
            }
            at = Some(node);
        }
        for (raw, seen) in stack.iter().zip(found).skip(inner).rev() {
            let seen = seen.unwrap_or_else(|| (self.frame(CpuFrame::other(UNKNOWN)), None));
            let bci = u16::try_from(raw.bci).ok();
            let bci = bci.and_then(|bci| self.compiled(seen, bci));
            let (node, whole) = self.child(at, seen.0, bci);
            if !whole {
                return (Spot::Node { at: node, whole }, named);
            }
            at = Some(node);
        }
        let spot = Spot::Node {
            at: at.unwrap_or_default(),
            whole: at.is_some(),
        };
        (spot, named)
    }

    /// A frame's method, if it has a name.
    fn method_of(
        &mut self,
        raw: &RawFrame,
        look_up: &mut impl FnMut(usize) -> Option<MethodVersion>,
    ) -> Option<Seen> {
        if let Some(&seen) = self.by_id.get(&raw.method) {
            return Some(seen);
        }
        let found = (raw.method != 0).then(|| look_up(raw.method)).flatten()?;
        let is_method = found.frame.kind == CpuFrameKind::Java;
        let seen = (self.frame(found.frame), found.old_code);
        if is_method && !found.lines.is_empty() {
            self.lines.entry(seen.0).or_insert_with(|| found.lines.into());
        }
        self.by_id.insert(raw.method, seen);
        if let Some(next_write) = self.pending.from {
            let known = self.calls.get(&found.calls).copied();
            let calls = known.unwrap_or_else(|| Box::leak(Box::new(found.calls)));
            self.calls.insert(calls);
            next_write.targets().set_calls(raw.method, calls);
        }
        Some(seen)
    }

    /// True if there was a frame without a name since the last call.
    pub fn take_nameless(&mut self) -> bool {
        std::mem::take(&mut self.nameless)
    }

    /// The place in the method as it was compiled.
    fn compiled(&mut self, seen: Seen, bci: u16) -> Option<u16> {
        let Some(code) = self.code else {
            return Some(bci);
        };
        let method = &self.frames[seen.0 as usize];
        let places = self.places.entry(seen);
        let places =
            places.or_insert_with(|| code.places(&method.class, &method.name, &method.descriptor, seen.1));
        places.compiled(bci)
    }

    fn limit(&self) -> usize {
        self.limit.unwrap_or(NODES)
    }

    /// The number of a frame.
    fn frame(&mut self, frame: CpuFrame) -> u32 {
        if let Some(&number) = self.by_name.get(&frame) {
            return number;
        }
        let frame = if self.frames.len() < METHODS {
            frame
        } else {
            CpuFrame::other(OTHER)
        };
        let next = self.frames.len() as u32;
        *self.by_name.entry(frame).or_insert_with_key(|frame| {
            self.ours
                .push(OURS.iter().any(|ours| frame.class.starts_with(ours)));
            self.frames.push(frame.clone());
            next
        })
    }

    /// The node below another. Where there is no room for it: the other, and that it is not its own.
    fn child(&mut self, parent: Option<u32>, frame: u32, bci: Option<u16>) -> (u32, bool) {
        let key = (
            parent.map_or(0, |parent| parent + 1),
            frame,
            bci.map_or(0, |bci| u32::from(bci) + 1),
        );
        if let Some(&node) = self.known.get(&key) {
            return (node, true);
        }
        // Outermost frames are few, so that each thread has one at least.
        if let Some(parent) = parent.filter(|_| self.nodes.len() >= self.limit()) {
            return (parent, false);
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(CpuRow {
            parent,
            frame,
            bci,
            own: CpuTime::default(),
        });
        self.known.insert(key, node);
        (node, true)
    }

    /// CPU time of samples inside of probes.
    pub fn in_probes(&self) -> Duration {
        Duration::from_nanos(self.probes.ns)
    }

    /// All that was sampled, if sampling ever began. The process has used `more` CPU time in the stretch
    /// under way.
    pub fn samples(&self, more: Duration) -> Option<CpuSamples> {
        let interval = self.interval?;
        let failed = self.failed.iter().map(|(&number, &time)| (reason(number), time));
        let mut failed: Vec<CpuFailure> = failed.map(|(reason, time)| CpuFailure { reason, time }).collect();
        failed.sort();
        let mut samples = CpuSamples {
            reader: self.reader.name().to_owned(),
            interval_ns: interval.as_nanos() as u64,
            process_ns: Some((self.process + more).as_nanos() as u64),
            lost: self.lost,
            shortened: self.shortened,
            cut: self.cut,
            failed,
            ..CpuSamples::default()
        };
        samples.set_stacks(self.frames.clone(), &self.nodes);
        let (paths, waits) = self.pending.answered();
        samples.set_paths(&self.frames, &paths);
        samples.waits = waits;
        let lines = self.nodes.iter().filter_map(|row| {
            let bci = row.bci?;
            Some((row.frame, bci, self.line(row.frame, bci)?))
        });
        samples.set_lines(&self.frames, lines);
        Some(samples)
    }

    /// The line of a place, by the method's own table: right for methods whose instructions no probe moves.
    fn line(&self, frame: u32, bci: u16) -> Option<u32> {
        let starts = self.lines.get(&frame)?;
        let behind = starts.partition_point(|&(start, _)| start <= bci);
        Some(starts[behind.checked_sub(1)?].1.into())
    }
}

impl Slots for Stacks {
    fn path_of(&mut self, slot: u32) -> Option<(u32, u64)> {
        if let Some(&known) = self.by_slot.get(&slot) {
            return known;
        }
        let found = self.code.and_then(|code| code.path_of(CounterSlot(slot)));
        let found = found.map(|(class, name, descriptor, path)| {
            let frame = CpuFrame {
                class,
                name,
                descriptor,
                kind: CpuFrameKind::Java,
            };
            (self.frame(frame), path)
        });
        self.by_slot.insert(slot, found);
        found
    }

    fn is_on_path(&self, slot: u32, bci: u16) -> bool {
        self.code
            .is_some_and(|code| code.is_on_path(CounterSlot(slot), bci))
    }

    fn leads_to(&self, node: u32, below: u32) -> bool {
        let row = |node: u32| self.nodes.get(node as usize);
        let is_same = |one: &CpuRow, other: &CpuRow| one.frame == other.frame && one.parent == other.parent;
        let callers = successors(row(below), |row| self.nodes.get(row.parent? as usize));
        row(node).is_some_and(|node| callers.skip(1).any(|caller| is_same(caller, node)))
    }
}

/// Where the last samples of a stack were that waited in doubt.
#[derive(Default)]
struct Doubts {
    /// A node, or `None`: where they seemed to be.
    last: Vec<Option<u32>>,
    number: usize,
}

impl Doubts {
    /// How many are kept.
    const KEPT: usize = 32;

    fn add(&mut self, node: Option<u32>) {
        if self.last.len() < Self::KEPT {
            self.last.push(node);
        } else {
            self.last[self.number % Self::KEPT] = node;
        }
        self.number += 1;
    }

    /// One of them, by any number.
    fn draw(&self, random: u64) -> Option<u32> {
        *self.last.get(random as usize % self.last.len().max(1))?
    }
}

/// A hash of a whole stack. Two stacks of a million have the same one with a probability of 1 in 10 million.
fn hash(stack: &[RawFrame], [cut, in_call]: [bool; 2]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let start = 0x243f_6a88_85a3_08d3 ^ u64::from(cut) ^ (u64::from(in_call) << 1);
    stack.iter().fold(start, |hash, frame| {
        mix(mix(hash, frame.method as u64), frame.bci as u32 as u64 | 1 << 40)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use trodden_instrumenter::MethodCode;

    use super::*;
    use crate::classes::PathSlots;
    use crate::cpu::buffer::Waits;

    /// Those from 500 on are old versions, with 40 bytes of code, of those 500 below.
    fn look_up(id: usize) -> Option<MethodVersion> {
        (id < 1000).then(|| MethodVersion {
            frame: CpuFrame {
                class: "a/A".to_owned(),
                name: format!("m{}", id % 500),
                descriptor: "()V".to_owned(),
                kind: CpuFrameKind::Java,
            },
            old_code: (id >= 500).then_some(40),
            lines: vec![(4, 100 + (id % 500) as u16), (8, 200)],
            calls: Vec::new(),
        })
    }

    fn stacks(limit: Option<usize>) -> Stacks {
        let mut stacks = Stacks {
            limit,
            ..Stacks::default()
        };
        stacks.begin(Duration::from_millis(1), StackReader::Handler);
        stacks
    }

    /// Frames as pairs of method and bytecode index, innermost first.
    fn add(stacks: &mut Stacks, frames: &[(usize, i32)], millis: u64) {
        let raw: Vec<RawFrame> = frames
            .iter()
            .map(|&(method, bci)| RawFrame { bci, method })
            .collect();
        let sample = Taken {
            stack: Ok(&raw),
            cut: false,
            nanos: millis * 1_000_000,
            in_call: true,
            waits: Waits::default(),
            instead: None,
        };
        stacks.add(sample, look_up);
    }

    fn lines(samples: &CpuSamples) -> Vec<String> {
        let nodes = samples.tree.nodes().iter();
        nodes
            .map(|node| {
                let frame = &samples.frames[node.frame as usize];
                let (depth, own) = (node.depth, node.own);
                format!(
                    "{depth} {} {:?} {} {}",
                    frame.name,
                    node.bci,
                    own.samples,
                    own.ns / 1_000_000
                )
            })
            .collect()
    }

    #[test]
    fn what_probes_take_is_no_methods() {
        let mut stacks = stacks(None);
        let named = |id: usize| {
            let (class, name) = match id {
                1 => ("a/A", "run"),
                2 => ("java/lang/Trodden", "count"),
                3 => ("jdk/internal/misc/Unsafe", "putLong"),
                _ => return None,
            };
            let frame = CpuFrame {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: "()V".to_owned(),
                kind: CpuFrameKind::Java,
            };
            Some(MethodVersion {
                frame,
                old_code: None,
                lines: Vec::new(),
                calls: Vec::new(),
            })
        };
        for frames in [
            &[(1, 5)][..],
            &[(2, 1), (1, 7)],
            &[(3, 0), (2, 4), (1, 7)],
            &[(3, 0), (1, 9)],
        ] {
            let raw: Vec<RawFrame> = frames
                .iter()
                .map(|&(method, bci)| RawFrame { bci, method })
                .collect();
            // Twice: the second time the stack is known. Then as in code that the probe was inlined in.
            for in_call in [true, true, false, false] {
                let sample = Taken {
                    stack: Ok(&raw),
                    cut: false,
                    nanos: 1_000_000,
                    in_call,
                    waits: Waits::default(),
                    instead: None,
                };
                stacks.add(sample, named);
            }
        }
        assert_eq!(stacks.in_probes(), Duration::from_millis(4));
        let samples = stacks.samples(Duration::ZERO).unwrap();
        assert_eq!(
            lines(&samples),
            [
                "1 run Some(5) 4 4",
                "1 run Some(7) 4 4",
                "1 run Some(9) 0 0",
                "2 putLong Some(0) 4 4"
            ]
        );
    }

    #[test]
    fn stacks_add_up() {
        let mut stacks = stacks(None);
        assert!(Stacks::default().samples(Duration::ZERO).is_none());
        add(&mut stacks, &[(2, 7), (1, 5)], 1);
        add(&mut stacks, &[(2, 7), (1, 5)], 4);
        add(&mut stacks, &[(2, 9), (1, 5)], 1);
        add(&mut stacks, &[(3, -3), (1, 6)], 1);
        assert!(!stacks.take_nameless());
        // An old version of a method that has no id, and one that was unloaded.
        add(&mut stacks, &[(0, 1)], 1);
        add(&mut stacks, &[(5000, 1)], 1);
        assert!(stacks.take_nameless() && !stacks.take_nameless());
        add(&mut stacks, &[(0, 1)], 1);
        assert!(stacks.take_nameless());
        for reason in [-2, -2, -5, -99] {
            let sample = Taken {
                stack: Err(reason),
                cut: false,
                nanos: 2_000_000,
                in_call: false,
                waits: Waits::default(),
                instead: None,
            };
            stacks.add(sample, look_up);
        }
        stacks.lose(2, 3_000_000);
        stacks.add_process_time(Duration::from_millis(30));
        let samples = stacks.samples(Duration::from_millis(12)).unwrap();
        assert_eq!(
            lines(&samples),
            [
                "1 [GC] None 2 4",
                "1 [JVM] None 1 2",
                "1 [unknown Java frame] None 1 2",
                "1 [unknown method] Some(1) 3 3",
                "1 m1 Some(5) 0 0",
                "2 m2 Some(7) 2 5",
                "2 m2 Some(9) 1 1",
                "1 m1 Some(6) 0 0",
                "2 m3 None 1 1",
            ]
        );
        let failed: Vec<(&str, u64)> = samples
            .failed
            .iter()
            .map(|failed| (&*failed.reason, failed.time.samples))
            .collect();
        assert_eq!(failed, [("code-99", 1), ("gc-active", 2), ("unknown-java", 1)]);
        assert_eq!((samples.lost.samples, samples.lost.ns), (2, 3_000_000));
        assert_eq!(
            (samples.interval_ns, samples.process_ns),
            (1_000_000, Some(42_000_000))
        );
    }

    /// `m8` has a probe of three bytes in front of each instruction, at first; where those of `m9` are nobody
    /// knows.
    struct Code(AtomicU64);

    impl CodePlaces for Code {
        fn slots(&self, _: &str, _: &str, _: &str) -> Option<PathSlots> {
            None
        }

        fn path_of(&self, slot: CounterSlot) -> Option<(String, String, String, u64)> {
            let path = u64::from(slot.0.checked_sub(100)?);
            Some(("a/A".to_owned(), "m1".to_owned(), "()V".to_owned(), path))
        }

        fn is_on_path(&self, _: CounterSlot, _: u16) -> bool {
            true
        }

        fn moves(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }

        fn places(&self, _: &str, name: &str, _: &str, old: Option<u32>) -> Places {
            if let Some(length) = old {
                return if length == 40 {
                    Places::Same
                } else {
                    Places::Unknown
                };
            }
            let pc_map = (0..10).map(|old| (4 * old + 3, old)).collect();
            let code = MethodCode {
                register_slot: 0,
                pc_map,
            };
            match (name, self.moves()) {
                ("m9", _) => Places::Unknown,
                ("m8", 0) => Places::Moved(Arc::new(vec![code]), 0),
                _ => Places::Same,
            }
        }
    }

    #[test]
    fn places_are_those_of_the_code_as_it_was_compiled() {
        static CODE: Code = Code(AtomicU64::new(0));
        let mut stacks = stacks(None);
        stacks.find_places_by(&CODE);
        // Inside a probe, at the instruction behind it, twice, at the last one, behind it; and where it is
        // not known.
        for bci in [8, 11, 11, 39, 90] {
            add(&mut stacks, &[(8, bci)], 1);
        }
        add(&mut stacks, &[(9, 5)], 1);
        add(&mut stacks, &[(1, 5)], 1);
        // A version from before the probes, which still runs.
        add(&mut stacks, &[(508, 8)], 1);
        let found = lines(&stacks.samples(Duration::ZERO).unwrap());
        assert_eq!(
            found,
            [
                "1 m1 Some(5) 1 1",
                "1 m8 None 1 1",
                "1 m8 Some(2) 3 3",
                "1 m8 Some(8) 1 1",
                "1 m8 Some(9) 1 1",
                "1 m9 None 1 1",
            ]
        );
        // The probes are gone: what was known is asked for again.
        CODE.0.store(1, Ordering::Relaxed);
        add(&mut stacks, &[(8, 11)], 1);
        let found = lines(&stacks.samples(Duration::ZERO).unwrap());
        assert!(found.contains(&"1 m8 Some(11) 1 1".to_owned()), "{found:?}");
    }

    #[test]
    fn lines_are_those_of_the_methods_tables() {
        let mut stacks = stacks(None);
        for bci in [2, 4, 7, 8, 90] {
            add(&mut stacks, &[(1, bci)], 1);
        }
        add(&mut stacks, &[(2, 5)], 1);
        let mut samples = stacks.samples(Duration::ZERO).unwrap();
        let known = |samples: &CpuSamples, frame| [2, 4, 7, 8, 90].map(|bci| samples.lines.line(frame, bci));
        let of_m1 = [None, Some(101), Some(101), Some(200), Some(200)];
        assert_eq!(known(&samples, 0), of_m1);
        assert_eq!(samples.lines.line(1, 5), Some(102));
        samples.keep_lines(|frame| frame.name == "m1");
        assert_eq!((known(&samples, 0), samples.lines.line(1, 5)), (of_m1, None));
        stacks.reset();
        assert_eq!(stacks.samples(Duration::ZERO).unwrap().lines.line(0, 4), None);
    }

    #[test]
    fn what_has_no_room_goes_to_its_callers() {
        let mut stacks = stacks(Some(3));
        add(&mut stacks, &[(2, 7), (1, 5)], 1);
        add(&mut stacks, &[(4, 0), (3, 0), (2, 8), (1, 5)], 2);
        add(&mut stacks, &[(4, 0), (3, 0), (2, 8), (1, 5)], 2);
        add(&mut stacks, &[(6, 0)], 1);
        let samples = stacks.samples(Duration::ZERO).unwrap();
        assert_eq!(
            lines(&samples),
            [
                "1 m1 Some(5) 0 0",
                "2 m2 Some(7) 1 1",
                "2 m2 Some(8) 2 4",
                "1 m6 Some(0) 1 1"
            ]
        );
        assert_eq!((samples.shortened.samples, samples.shortened.ns), (2, 4_000_000));
    }

    #[test]
    fn ids_that_change_hands_are_looked_up_again() {
        let mut stacks = stacks(None);
        add(&mut stacks, &[(1, 5)], 1);
        let renamed = |_: usize| look_up(77);
        let raw = [RawFrame { bci: 5, method: 1 }];
        let sample = || Taken {
            stack: Ok(&raw),
            cut: true,
            nanos: 1_000_000,
            in_call: true,
            waits: Waits::default(),
            instead: None,
        };
        stacks.add(sample(), renamed);
        stacks.forget_methods();
        stacks.add(sample(), renamed);
        let samples = stacks.samples(Duration::ZERO).unwrap();
        assert_eq!(
            lines(&samples),
            [
                "1 [deeper frames] None 0 0",
                "2 m1 Some(5) 1 1",
                "2 m77 Some(5) 1 1",
                "1 m1 Some(5) 1 1"
            ]
        );
        assert_eq!(samples.cut.samples, 2);
        stacks.reset();
        assert!(stacks.samples(Duration::ZERO).unwrap().tree.is_empty());
    }
}
