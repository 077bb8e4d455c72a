//! The controller of `probe=auto` and of structural profiles: takes probes out where enough is known, puts
//! them back for a look.
//!
//! *In*: the counters of all threads, or what windows of structure graphs counted, at intervals. *Out*:
//! classes sent through the hook again, in batches, with probes in other methods than before; a
//! [`ProbeHistory`] of when which method was counted, from which a dump estimates the whole run. After Yasue,
//! Suganuma, Komatsu and Nakatani, *Structural Path Profiling* ("SPP"), figure 5 (the profile controller).
//! With `probe=auto` for Ball-Larus paths: there a loop is profiled for a fixed number of paths, here a
//! method until its shares are known.
//!
//! | module | work |
//! | --- | --- |
//! | `counts` | what the counters say at one moment |
//! | `watch` | is a method's path profile known well enough? |
//! | `choose` | which classes to take probes out of, which to give them back |
//! | `budget` | what profiling has cost so far, against the budget |
//! | `limiter` | how often code may be changed at most, whatever the options ask for |
//! | `long` | how long a program has to run before its code is changed, where the options ask for nothing |
//! | `complete` | what a dump makes of the history |
//! | `renumber` | other numbers for hot classes, by what was counted so far; the one part that takes no probe out |
//! | `history` | when which method was counted, and what it did meanwhile; estimates |
//!
//! The same thread looks, decides and retransforms; the program's threads only count. Limits are
//! constants of the file that keeps them; `docs/auto.md` says what they mean and what they rest on.

mod budget;
mod choose;
mod complete;
mod counts;
mod history;
mod limiter;
mod long;
mod renumber;
mod watch;

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_instrumenter::{ClassIds, MethodId};
use trodden_profile::options::format_duration;

use crate::classes::{ClassEntry, retransform};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::log::{debug, info, warning};
use crate::sampling::{compiler_seconds, processor_seconds};
use crate::settings::Settings;
use crate::structural::Windows;
use crate::threads::Shim;

use budget::{OverheadBudget, Price};
use choose::{Candidate, HotMethod};
pub use complete::complete;
use counts::CounterReading;
pub use history::ProbeHistory;
use history::Reason;
use limiter::ChangeLimiter;
pub use renumber::Renumber;
use watch::Watch;

/// Time between looks at the counters, and between looks where nothing has been expensive for a while.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
const MAX_LOOK_INTERVAL: Duration = Duration::from_secs(4);
/// Looking may take this part of the time, unless looks are then this far apart.
const LOOKING: u32 = 200;
const MAX_LOOK_DELAY: Duration = Duration::from_secs(5);
/// Methods with fewer path ends per second cost nothing worth a retransformation.
const MIN_RATE: f64 = 5_000.0;
/// Longest time that a method is waited for whose shares keep moving.
const PATIENCE: Duration = Duration::from_secs(6);
/// Path ends without which a method never goes silent.
const MIN_PATH_ENDS: u64 = 1_000;
/// How long ready classes wait for others, so that one retransformation does for all: twice as long each
/// time, unless they are nearly all that counting costs. Compiled code that has methods of many classes
/// inlined is thrown away each time that one of them changes.
const GATHER: Duration = Duration::from_secs(5);
const MAX_GATHER: Duration = Duration::from_secs(160);
/// Share of what counting costs that is nearly all.
const NEARLY_ALL: f64 = 0.9;
/// Shortest time with probes: what a program does once, at its start, is over by then; and when a class gets
/// its probes back, its compiled code is back as well.
const REARMED: Duration = Duration::from_millis(1_500);
/// Time until a class gets its probes back the first time, and the longest time.
const FIRST_PAUSE: Duration = Duration::from_secs(20);
const MAX_PAUSE: Duration = Duration::from_secs(600);
/// Most classes that get their probes back at once.
const AT_ONCE: usize = 8;

/// A class that has, or had, hot methods.
struct ClassState {
    name: String,
    silent: Vec<bool>,
    /// When probes were last taken out or put back.
    since: Instant,
    /// How long to leave it alone the next time.
    pause: Duration,
    /// When it was found ready the first time since.
    ready: Option<Instant>,
    /// Path ends per second of its silent methods when they were counted.
    weight: f64,
    /// Path ends counted until probes were last put back.
    counted: u64,
}

/// The controller's thread's own state.
pub struct Controller {
    host: &'static Host,
    /// Structure graphs, and the paths of their windows, if these are profiled.
    windows: Option<(Arc<Mutex<Windows>>, NonZeroU32)>,
    history: Arc<Mutex<ProbeHistory>>,
    allowance: f64,
    /// A fixed time between taking probes out and putting them back.
    rearm: Option<Duration>,
    /// True if code is changed only in programs that run for long: where no option asks for changes.
    only_long: bool,
    budget: OverheadBudget,
    limiter: ChangeLimiter,
    last: CounterReading,
    next_look: Instant,
    between: Duration,
    gather: Duration,
    /// By a class's first method.
    classes: FxHashMap<MethodId, ClassState>,
    /// By method.
    watches: FxHashMap<MethodId, Watch>,
}

impl Controller {
    /// Before the program runs with probes.
    pub fn new(
        host: &'static Host,
        windows: Option<(Arc<Mutex<Windows>>, NonZeroU32)>,
        history: Arc<Mutex<ProbeHistory>>,
        settings: &Settings,
    ) -> Self {
        let now = Instant::now();
        let (allowance, rearm) = (settings.options.allowance(), settings.options.retiring.rearm);
        let price = windows.as_ref().map_or(Price::COUNT, |_| Price::SWITCH);
        Controller {
            host,
            only_long: windows.is_none() && rearm.is_none() && settings.options.retiring.share.is_none(),
            windows,
            history,
            allowance,
            rearm,
            budget: OverheadBudget::new(allowance, price, now),
            limiter: ChangeLimiter::new(now),
            last: CounterReading::empty(now),
            next_look: now + rearm.unwrap_or(LOOK_INTERVAL).min(LOOK_INTERVAL),
            between: LOOK_INTERVAL,
            gather: GATHER,
            classes: FxHashMap::default(),
            watches: FxHashMap::default(),
        }
    }

    /// The work of the clock's thread.
    pub fn look_if_due(&mut self, shim: &Shim, jni: Jni<'_>) -> Result<(), JvmError> {
        if Instant::now() < self.next_look {
            return Ok(());
        }
        let begin = Instant::now();
        let now = match &self.windows {
            Some((windows, window)) => CounterReading::of_windows(self.host, windows, *window, shim, jni)?,
            None => CounterReading::take(self.host, shim, jni)?,
        };
        let candidates = self.look(&now);
        let tail = self.allowance / 4.0 / self.budget.price();
        let expensive = choose::expensive(candidates, tail);
        let busy = !expensive.is_empty();
        let looking = (begin.elapsed() * LOOKING).min(MAX_LOOK_DELAY);
        self.take_out(jni, &now, expensive)?;
        self.put_back(jni, &now)?;
        self.budget.look(&mut lock(&self.history).totals);
        self.last = now;
        self.between = if busy {
            LOOK_INTERVAL
        } else {
            (self.between + self.between / 4).min(MAX_LOOK_INTERVAL)
        };
        self.next_look = match self.rearm {
            Some(fixed) => begin + self.between.min(fixed),
            None => begin + self.between.max(looking),
        };
        Ok(())
    }

    /// Shortest time with probes.
    fn least_time(&self) -> Duration {
        self.rearm.map_or(REARMED, |fixed| fixed.min(REARMED))
    }

    /// Judges every method that is hot at the moment.
    fn look(&mut self, now: &CounterReading) -> Vec<Candidate> {
        let seconds = (now.at - self.last.at).as_secs_f64().max(1e-6);
        let overdrawn = self.budget.overdrawn(now.at);
        let mut candidates = Vec::new();
        let mut path_ends = 0;
        for class in self.host.registry.classes() {
            let state = self.classes.get(&class.ids.first_method);
            let mut candidate = Candidate {
                first_method: class.ids.first_method,
                rate: 0.0,
                counted: 0,
                hot: Vec::new(),
                blocked: false,
            };
            let mut cooled = Vec::new();
            for (position, map) in class.map.methods.iter().enumerate() {
                let id = class.ids.first_method.at(position);
                let ended = now
                    .total(&class, position)
                    .saturating_sub(self.last.total(&class, position));
                path_ends += ended;
                candidate.counted += now.total(&class, position);
                // Old activations of a method without probes may go on counting: that is no reason to do
                // anything.
                if state.is_some_and(|state| state.silent[position]) {
                    continue;
                }
                let rate = ended as f64 / seconds;
                candidate.rate += rate;
                if rate < MIN_RATE {
                    cooled.push((id, position));
                    continue;
                }
                let counts = now.paths(&class, position);
                let watch = self
                    .watches
                    .entry(id)
                    .or_insert_with(|| Watch::begin(self.last.at, self.last.paths(&class, position)));
                let judged = watch.judge(now.at, &counts);
                let known = now.is_full(id).unwrap_or(judged);
                candidate.blocked |= watch.long_activations(map, now, &counts);
                let time = now.at - watch.begin;
                let late = overdrawn || self.rearm.is_some() || time >= PATIENCE;
                let enough = watch.total >= MIN_PATH_ENDS && time >= self.least_time();
                if self.windows.is_none() {
                    lock(&self.history).steady(id, known && enough);
                }
                candidate.hot.push(HotMethod {
                    position,
                    rate,
                    known: known && enough,
                    overdue: late && enough,
                });
            }
            for (id, position) in cooled {
                self.settle(now, &class, id, position);
            }
            candidate.counted -= state.map_or(0, |state| state.counted.min(candidate.counted));
            if candidate.rate > 0.0 {
                candidates.push(candidate);
            }
        }
        self.budget.counted(path_ends);
        candidates
    }

    /// A method that is not hot now: if it has its probes back, the interval without them ended with the
    /// rates of now.
    fn settle(&self, now: &CounterReading, class: &ClassEntry, id: MethodId, position: usize) {
        if let Some(watch) = self.watches.get(&id)
            && now.at - watch.begin >= self.least_time()
        {
            let rates = watch.all_rates(now.at, &now.paths(class, position));
            lock(&self.history).settled(id, &rates);
        }
    }

    /// Takes the probes out of what is known well enough, if there is enough of it to be worth a
    /// retransformation.
    fn take_out(
        &mut self,
        jni: Jni<'_>,
        now: &CounterReading,
        expensive: Vec<Candidate>,
    ) -> Result<(), JvmError> {
        let all: f64 = expensive.iter().map(|c| c.rate).sum();
        let classes = self.host.registry.classes();
        let by_id: FxHashMap<MethodId, _> = classes.iter().map(|c| (c.ids.first_method, c)).collect();
        let mut waited = false;
        let mut ready = Vec::new();
        for candidate in expensive {
            let Some(&class) = by_id.get(&candidate.first_method) else {
                continue;
            };
            if !candidate.is_ready() {
                continue;
            }
            let state = self
                .classes
                .entry(candidate.first_method)
                .or_insert_with(|| ClassState {
                    name: class.map.name.clone(),
                    silent: vec![false; class.map.methods.len()],
                    since: now.at,
                    // Twice that after the first time, as nothing has changed since.
                    pause: FIRST_PAUSE / 2,
                    ready: None,
                    weight: 0.0,
                    counted: 0,
                });
            let first = *state.ready.get_or_insert(now.at);
            waited |= now.at - first >= self.gather || self.rearm.is_some();
            ready.push((candidate, class));
        }
        let worth: f64 = ready.iter().map(|(c, _)| c.rate).sum();
        let compiled = self.budget.compiled();
        let paid = choose::have_paid(ready.iter().map(|(c, _)| c), self.budget.price(), compiled);
        if ready.is_empty() || (worth < NEARLY_ALL * all && !waited) || (!paid && self.rearm.is_none()) {
            return Ok(());
        }
        if !self.runs_long(choose::price(ready.len()).max(compiled), 1) || !self.may_change() {
            return Ok(());
        }
        self.gather = (self.gather * 2).min(MAX_GATHER);
        let mut changed = Vec::new();
        {
            let mut history = lock(&self.history);
            for (candidate, class) in &ready {
                let Some(state) = self.classes.get_mut(&candidate.first_method) else {
                    continue;
                };
                let others = if state.silent.contains(&true) {
                    state.weight
                } else {
                    0.0
                };
                let mut has_moved = false;
                for hot in &candidate.hot {
                    let id = candidate.first_method.at(hot.position);
                    let Some(watch) = self.watches.remove(&id) else {
                        continue;
                    };
                    let counts = now.paths(class, hot.position);
                    let rates = watch.rates(now.at, &counts);
                    let reason = match (hot.known, self.budget.overdrawn(now.at)) {
                        (true, _) if now.is_full(id).is_some() => Reason::Full,
                        (true, _) => Reason::Known,
                        (false, true) => Reason::Budget,
                        (false, false) => Reason::Overdue,
                    };
                    has_moved |= history.silenced(id, now.at, rates, reason);
                    state.silent[hot.position] = true;
                }
                // What did not change since the last time need not be looked at so soon again.
                state.pause = if has_moved {
                    FIRST_PAUSE
                } else {
                    (state.pause * 2).min(MAX_PAUSE)
                };
                state.weight = candidate.rate + others;
                state.since = now.at;
                state.ready = None;
                changed.push(class.ids);
            }
        }
        let what = format!(
            "lose their probes, {worth:.0} of {all:.0} path ends a second; {}",
            self.budget
        );
        self.send(jni, &changed, &what, false);
        Ok(())
    }

    /// Gives some classes their probes back, if the budget allows.
    fn put_back(&mut self, jni: Jni<'_>, now: &CounterReading) -> Result<(), JvmError> {
        let due = |state: &ClassState| {
            let pause = self.rearm.unwrap_or(state.pause);
            state.silent.contains(&true) && now.at.saturating_duration_since(state.since) >= pause
        };
        let mut chosen: Vec<(MethodId, f64)> = self
            .classes
            .iter()
            .filter(|(_, state)| due(state))
            .map(|(&id, state)| (id, state.weight * (now.at - state.since).as_secs_f64()))
            .collect();
        if chosen.is_empty() {
            return Ok(());
        }
        chosen.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        chosen.truncate(AT_ONCE);
        let weight: f64 = chosen.iter().map(|(id, _)| self.classes[id].weight).sum();
        let counting = weight * self.budget.price() * self.least_time().as_secs_f64();
        if self.rearm.is_none() && !self.budget.allows(now.at, chosen.len(), counting) {
            return Ok(());
        }
        // They come out again.
        if !self.runs_long(choose::price(chosen.len()), 2) || !self.may_change() {
            return Ok(());
        }
        let mut changed = Vec::new();
        {
            let mut history = lock(&self.history);
            for class in self.host.registry.classes() {
                let first = class.ids.first_method;
                if !chosen.iter().any(|&(id, _)| id == first) {
                    continue;
                }
                let Some(state) = self.classes.get_mut(&first) else {
                    continue;
                };
                for (position, silent) in state.silent.iter_mut().enumerate() {
                    if std::mem::take(silent) {
                        let id = first.at(position);
                        history.counted_again(id, now.at);
                        self.watches
                            .insert(id, Watch::begin(now.at, now.paths(&class, position)));
                    }
                }
                state.since = now.at;
                let methods = 0..class.map.methods.len();
                state.counted = methods.map(|position| now.total(&class, position)).sum();
                changed.push(class.ids);
            }
        }
        self.send(jni, &changed, "get their probes back", true);
        Ok(())
    }

    /// True if the program has run for long enough: a change, which costs `price` seconds at least and makes
    /// `changes` of them necessary, is a small part of it. Not asked where the user wants changes.
    fn runs_long(&self, price: f64, changes: u32) -> bool {
        !self.only_long || long::allows(processor_seconds(), self.limiter.changes(), (price, changes))
    }

    /// True if the limit allows a change of code now. The first time that it does not, the user is warned, if
    /// a fixed time was asked for.
    fn may_change(&mut self) -> bool {
        let allowed = self.limiter.allows(Instant::now(), compiler_seconds());
        if !allowed && self.limiter.put_off() == 1 {
            let percent = limiter::SHARE * 100.0;
            match self.rearm {
                Some(rearm) => warning!(
                    "budget={}%:{}: code is changed less often than that, so that it takes at most {percent:.0} % of the run",
                    self.allowance * 100.0,
                    format_duration(rearm)
                ),
                None => {
                    info!("code is changed less often, so that it takes at most {percent:.0} % of the run")
                }
            }
        }
        lock(&self.history).totals.put_off = self.limiter.put_off();
        allowed
    }

    /// Switches the structure graphs of the classes of these names off, or on.
    fn switch(&self, names: &FxHashSet<String>) {
        let Some((windows, window)) = &self.windows else {
            return;
        };
        let mut windows = lock(windows);
        for (&first, state) in &self.classes {
            if names.contains(&state.name) {
                windows.silence(&self.host.blocks, first, &state.silent, Some(*window));
            }
        }
    }

    /// Retransforms classes whose silent methods have changed, and keeps the account. `what`: for the log.
    fn send(&mut self, jni: Jni<'_>, changed: &[ClassIds], what: &str, rearmed: bool) {
        let mut names = FxHashSet::default();
        for &ids in changed {
            let state = &self.classes[&ids.first_method];
            let silent = Arc::from(state.silent.as_slice());
            self.host.registry.silenced.add(&state.name, ids, silent);
            names.insert(state.name.clone());
        }
        self.switch(&names);
        debug!("auto: {} classes {what}", names.len());
        self.budget.before();
        let begin = Instant::now();
        let wanted = |name: &str| names.contains(name);
        let done = retransform(self.host.jvmti, jni, &self.host.registry, wanted);
        self.budget.retransformed(done.took, done.classes);
        // With the search for the classes: where very many are loaded that takes longer than the rest.
        let took = begin.elapsed();
        self.limiter
            .changed(Instant::now(), took, done.classes, compiler_seconds());
        let mut history = lock(&self.history);
        let totals = &mut history.totals;
        totals.retransformations += done.calls;
        totals.longest_pause = totals.longest_pause.max(done.longest);
        totals.pauses += done.took;
        totals.failed += done.failed as u64;
        if rearmed {
            totals.rearmed += done.classes as u64
        } else {
            totals.retired += done.classes as u64
        }
    }
}
