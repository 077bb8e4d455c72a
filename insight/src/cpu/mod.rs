//! CPU samples in reports: which methods the time goes to, the JDK's and native ones included.

pub mod stacks;

use std::time::Duration;

use trodden_profile::{CpuFrame, CpuFrameKind, CpuSamples, CpuTime, MethodTime, facts, share_interval};

use crate::names;
use crate::view::View;

/// CPU samples, ready to be shown.
pub struct CpuView<'v> {
    /// The samples.
    pub about: &'v CpuSamples,
    /// All of it, but for lost samples.
    pub total: CpuTime,
    /// True if the samples are too few to say where the time was.
    pub few: bool,
    /// Methods with their times, most own time first.
    pub methods: Vec<(&'v CpuFrame, &'v MethodTime)>,
    /// Time that samples found inside of probes, which is no method's. Not known of merged profiles of which one does not tell.
    pub probes: Option<Duration>,
    /// CPU time of the sampled threads by their own clocks. Not known where stacks are read at safepoints, and of older files.
    pub threads: Option<Duration>,
    /// The clock of the samples: [`facts::CPU_CLOCK`]. Not known of older files.
    pub clock: Option<String>,
}

impl<'v> CpuView<'v> {
    /// The CPU time of a view, if it has samples.
    pub fn of(view: &'v View<'_>) -> Option<Self> {
        let times = view.sampled.as_ref()?;
        let mut methods: Vec<_> = times.samples.frames.iter().zip(&times.methods).collect();
        methods.sort_by(|(one, a), (other, b)| b.all.own.ns.cmp(&a.all.own.ns).then(one.cmp(other)));
        Some(CpuView {
            about: times.samples,
            total: times.total,
            few: times.if_enough().is_none(),
            methods,
            probes: view.run.facts.get(facts::PROBES_MS),
            threads: view.run.facts.get(facts::SAMPLED_THREADS_MS),
            clock: view.run.facts.get(facts::CPU_CLOCK),
        })
    }

    /// The share of a time in all of it.
    pub fn share(&self, time: CpuTime) -> f64 {
        time.ns as f64 / self.total.ns.max(1) as f64
    }

    /// Where the share would be in 95 of 100 runs like this.
    pub fn interval(&self, time: CpuTime) -> [f64; 2] {
        // By the share of the time, which samples may have unequal parts of, and the number of all.
        let part = (self.share(time) * self.total.samples as f64).round() as u64;
        let (low, high) = share_interval(part, self.total.samples);
        [low.min(self.share(time)), high.max(self.share(time))]
    }

    /// CPU time of threads that are not sampled: those of the JVM itself, and ours. With what samples found in probes.
    pub fn unsampled_ns(&self) -> Option<u64> {
        let sampled = self.total.plus(self.about.lost).ns + self.missed_ns().unwrap_or(0);
        Some(self.about.process_ns?.saturating_sub(sampled))
    }

    /// CPU time of sampled threads that no sample stands for: of those that ended before they got one, most of all.
    pub fn missed_ns(&self) -> Option<u64> {
        let probes = self.probes.unwrap_or_default().as_nanos() as u64;
        let sampled = self.total.plus(self.about.lost).ns + probes;
        Some((self.threads?.as_nanos() as u64).saturating_sub(sampled))
    }

    /// The same methods, most time with what they call first.
    pub fn by_total(&self) -> Vec<&(&'v CpuFrame, &'v MethodTime)> {
        let mut all: Vec<_> = self.methods.iter().collect();
        all.sort_by(|(one, a), (other, b)| b.all.total.ns.cmp(&a.all.total.ns).then(one.cmp(other)));
        all
    }
}

/// `a.b.C.m(int)`, or what there is instead of a method.
pub fn title(frame: &CpuFrame) -> String {
    match frame.kind {
        CpuFrameKind::Other => frame.name.clone(),
        _ => names::title(&frame.class, &frame.name, &frame.descriptor),
    }
}

/// `C.m`, or what there is instead of a method.
pub fn short_title(frame: &CpuFrame) -> String {
    match frame.kind {
        CpuFrameKind::Other => frame.name.clone(),
        _ => format!("{}.{}", names::simple(&frame.class), frame.name),
    }
}
