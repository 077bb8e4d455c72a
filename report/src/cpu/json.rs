//! The key `time` of the JSON report, as `docs/schema` has it.

use serde::Serialize;
use trodden_insight::cpu::CpuView;
use trodden_insight::cpu::stacks::Divided;
use trodden_profile::{CpuFrameKind, CpuTime};

#[derive(Serialize)]
pub(super) struct Document {
    reader: String,
    interval_ns: u64,
    samples: u64,
    seconds: f64,
    process_seconds: Option<f64>,
    unsampled_seconds: Option<f64>,
    missed_seconds: Option<f64>,
    /// Samples in methods with counted paths.
    path_samples: u64,
    /// As many of these as are divided among paths by their counts.
    divided_samples: f64,
    /// What samples found inside of probes.
    probe_seconds: Option<f64>,
    lost: Time,
    cut: Time,
    shortened: Time,
    failed: Vec<Failed>,
    methods: Vec<Method>,
}

#[derive(Serialize)]
struct Time {
    samples: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct Failed {
    reason: String,
    samples: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct Method {
    class: String,
    name: String,
    descriptor: String,
    kind: &'static str,
    #[serde(rename = "self")]
    own: Share,
    total: Share,
}

#[derive(Serialize)]
struct Share {
    samples: u64,
    seconds: f64,
    share: f64,
    interval: [f64; 2],
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn time(time: CpuTime) -> Time {
    Time {
        samples: time.samples,
        seconds: seconds(time.ns),
    }
}

pub(super) fn document(cpu: &CpuView, divided: Divided, top: usize) -> Document {
    let about = cpu.about;
    let share = |time: CpuTime| Share {
        samples: time.samples,
        seconds: seconds(time.ns),
        share: cpu.share(time),
        interval: cpu.interval(time),
    };
    let methods = cpu.methods.iter().take(top).map(|(frame, time)| Method {
        class: frame.class.clone(),
        name: frame.name.clone(),
        descriptor: frame.descriptor.clone(),
        kind: match frame.kind {
            CpuFrameKind::Java => "java",
            CpuFrameKind::Native => "native",
            CpuFrameKind::Other => "other",
        },
        own: share(time.all.own),
        total: share(time.all.total),
    });
    let failed = about.failed.iter().map(|failed| Failed {
        reason: failed.reason.clone(),
        samples: failed.time.samples,
        seconds: seconds(failed.time.ns),
    });
    Document {
        reader: about.reader.clone(),
        interval_ns: about.interval_ns,
        samples: cpu.total.samples,
        seconds: seconds(cpu.total.ns),
        process_seconds: about.process_ns.map(seconds),
        unsampled_seconds: cpu.unsampled_ns().map(seconds),
        missed_seconds: cpu.missed_ns().map(seconds),
        path_samples: divided.samples,
        divided_samples: divided.by_counts,
        probe_seconds: cpu.probes.map(|probes| probes.as_secs_f64()),
        lost: time(about.lost),
        cut: time(about.cut),
        shortened: time(about.shortened),
        failed: failed.collect(),
        methods: methods.collect(),
    }
}
