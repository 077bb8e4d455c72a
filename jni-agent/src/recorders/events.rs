//! A stream of events (`probe=events`), which analyses consume or a trace keeps; all of it, or bursts by the
//! clock.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_VIRTUAL_THREAD_END,
};
use trodden_analyses::stream::{OnlyPaths, Pipeline};
use trodden_profile::{RunInfo, facts};

use super::recorder::{Begin, BeginError, Moment, OnTick, ReadError, Reading, Recorder, Totals, idle};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::{BurstPace, ExactCounts, ProgramTime};
use crate::settings::Settings;
use crate::stream::Recording;
use crate::threads::Shim;

/// The streams of all threads, and bursts so far.
pub struct Events {
    recording: &'static Recording,
    bursts: Mutex<Bursts>,
    /// Counts of slots at the last reset, to be subtracted: only threads themselves write them.
    baseline: Mutex<ExactCounts>,
    pace: Mutex<(ProgramTime, BurstPace)>,
}

#[derive(Clone, Copy, Default)]
struct Bursts {
    number: u64,
    lasted: Duration,
}

impl Events {
    /// No burst yet.
    pub fn new(recording: &'static Recording) -> Self {
        Events {
            recording,
            bursts: Mutex::default(),
            baseline: Mutex::default(),
            pace: Mutex::default(),
        }
    }
}

impl Recorder for Events {
    fn prepare(&self, host: &Host, jni: Jni<'_>, settings: &mut Settings) -> Result<(), BeginError> {
        let options = &settings.options;
        if options.has_events_of_jvm() {
            let granted = host.granted;
            let steps = granted.steps;
            if !granted.method_events
                || options.has_steps_of_jvm() != steps
                || steps && !self.recording.steps.can_follow(host, jni)
            {
                return Err(BeginError::NeedsMethodEvents);
            }
            // Now: in an event of a thread nothing may run Java code.
            host.find_virtual_threads(jni);
        }
        Ok(())
    }

    fn begin(&self, host: &Host, begin: Begin<'_>) -> Result<(), BeginError> {
        let settings = begin.settings;
        // Only newer JVMs have virtual threads; on older ones both fail, and nothing is lost.
        let virtual_threads = (host.jvmti).add_capabilities(|set| set.set_can_support_virtual_threads(true));
        if virtual_threads.is_ok() {
            let _ = host.jvmti.notify(JVMTI_EVENT_VIRTUAL_THREAD_END, true);
        }
        host.jvmti.notify(JVMTI_EVENT_THREAD_END, true)?;
        if let Some(bytes) = settings.alloc_interval() {
            (host.jvmti).add_capabilities(|set| set.set_can_generate_sampled_object_alloc_events(true))?;
            host.jvmti.set_heap_sampling_interval(bytes)?;
            self.recording.set_alloc_interval(bytes);
            host.jvmti.notify(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, true)?;
        }
        let watching = host.is_up() && settings.follows_stacks();
        let pipeline = match begin.trace {
            Some(trace) => {
                let kinds = settings.instrumenter.options().probes.events();
                Pipeline::new().with_recorder(trace, kinds)
            }
            None if begin.before.is_some() => {
                self.recording.streams.watch(watching);
                return Ok(());
            }
            None => Pipeline::with_lookup(&settings.options, Arc::clone(&host.registry) as _)?,
        };
        self.recording.streams.begin(pipeline, watching);
        Ok(())
    }

    fn on_ticks(self: Arc<Self>, _: &'static Host, settings: &Settings) -> OnTick {
        match settings.bursts() {
            Some(lengths) => Box::new(move |now: &Moment<'_>| self.burst(now, lengths)),
            None => idle(),
        }
    }

    fn pause(&self, host: &Host, shim: &Shim, jni: Jni<'_>) {
        let _ = shim.set_burst(jni, 0);
        if host.granted.method_events {
            self.recording.method_events.end(host.jvmti);
        }
        // It may be off already.
        let _ = host.jvmti.notify(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, false);
    }

    fn reset(&self, host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<(), JvmError> {
        *lock(&self.baseline) = ExactCounts::read(host, shim, jni)?;
        *lock(&self.bursts) = Bursts::default();
        let streams = &self.recording.streams;
        if let Some(pipeline) = streams.pipeline() {
            streams.flush();
            streams.forget_charges();
            pipeline.reset();
        }
        Ok(())
    }

    fn describe(&self, _: &Settings, run: &mut RunInfo) {
        run.exact = true;
    }

    fn totals(&self, reading: Reading<'_>) -> Result<Totals, ReadError> {
        let (recording, settings) = (self.recording, reading.settings);
        let pipeline = recording.streams.pipeline().ok_or(ReadError::Nothing)?;
        recording.streams.flush();
        let mut lost = recording.streams.lost();
        let mut only_paths = OnlyPaths::default();
        if settings.options.counts_only_paths() {
            // Before the table of methods: what is counted has its method there.
            only_paths = self.only_paths(&reading)?;
            lost += reading.shim.lost(reading.jni)?.max(0) as u64;
        }
        let methods = reading.host.registry.method_table();
        let mut profile = pipeline.profile_of(reading.run, &methods, &only_paths)?;
        let facts = &mut profile.run.facts;
        facts.set(facts::LOST, lost);
        if settings.bursts().is_some() {
            let bursts = *lock(&self.bursts);
            facts.set(facts::BURSTS, bursts.number);
            facts.set(facts::BURST_NS, bursts.lasted);
            facts.set(facts::BURSTS_TOO_DEEP, recording.walker.too_deep());
            if settings.options.has_events_of_jvm() {
                let switching = Duration::from_nanos(recording.method_events.switching());
                facts.set(facts::BURST_SWITCH_NS, switching);
            }
        }
        if settings.follows_stacks() {
            let (walks, given_up) = recording.streams.walks();
            facts.set(facts::STACKS_WALKED, walks);
            facts.set(facts::STACKS_GIVEN_UP, given_up);
        }
        if settings.alloc_interval().is_some() {
            facts.set(facts::ALLOC_SAMPLES, recording.streams.charges());
        }
        Ok(Totals {
            profile,
            first_methods: None,
        })
    }

    fn status(&self, settings: &Settings) -> Vec<(&'static str, String)> {
        match settings.bursts() {
            Some(_) => vec![("bursts", lock(&self.bursts).number.to_string())],
            None => Vec::new(),
        }
    }
}

impl Events {
    /// Activations of one path since the last reset, of methods that count these in slots.
    fn only_paths(&self, reading: &Reading<'_>) -> Result<OnlyPaths, JvmError> {
        let counts = ExactCounts::read(reading.host, reading.shim, reading.jni)?;
        let baseline = lock(&self.baseline);
        let mut counted = OnlyPaths::default();
        for entry in reading.host.registry.classes() {
            for method in 0..entry.map.methods.len() {
                let paths = counts.of_method(&baseline, &entry, method).paths;
                if !paths.is_empty() {
                    counted.insert(entry.ids.first_method.at(method).0, paths);
                }
            }
        }
        Ok(counted)
    }

    /// Lets probes report calls and returns for some time, or the JVM these or paths.
    fn burst(&self, now: &Moment<'_>, lengths: [Duration; 2]) -> Result<(), JvmError> {
        let (events, jvmti) = (&self.recording.method_events, now.host.jvmti);
        let options = &now.settings.options;
        let of_jvm = options.has_events_of_jvm();
        // Bursts of probes come too often for that.
        let mut pace = of_jvm.then(|| lock(&self.pace));
        if let Some((time, pace)) = pace.as_deref_mut() {
            time.list();
            if !pace.may_begin(time.now(), lengths) {
                return Ok(());
            }
        }
        let number = self.recording.next_burst();
        if of_jvm {
            events.begin(jvmti, number, options.has_steps_of_jvm())?
        } else {
            now.shim.set_burst(now.jni, number)?
        }
        lock(&self.bursts).number += 1;
        let begun = Instant::now();
        let length = lengths[1];
        match pace.as_deref_mut() {
            Some((time, pace)) => pace.last(time.now(), length, || {
                now.signal.nap(length);
                time.now()
            }),
            None => now.signal.nap(length),
        }
        let took = begun.elapsed();
        if of_jvm {
            events.end(jvmti)
        } else {
            now.shim.set_burst(now.jni, 0)?
        }
        lock(&self.bursts).lasted += took;
        Ok(())
    }
}
