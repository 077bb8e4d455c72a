//! The key `time` of the JSON report, as `docs/schema` has it.

use serde::Serialize;
use trodden_insight::cpu::CpuView;
use trodden_insight::cpu::stacks::Divided;
use trodden_profile::{CpuFrame, CpuFrameKind, CpuTime, MethodTime};

use crate::object::{Each, Fields, Object, object};

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn time(time: CpuTime) -> Object<impl Fields> {
    object! { "samples": time.samples, "seconds": seconds(time.ns) }
}

pub(super) fn document<'v>(cpu: &CpuView<'v>, divided: Divided, top: usize) -> impl Serialize + use<'v> {
    let about = cpu.about;
    let share = |of: CpuTime| {
        object! { ..time(of), "share": cpu.share(of), "interval": cpu.interval(of) }
    };
    let method = |&(frame, of): &(&'v CpuFrame, &'v MethodTime)| {
        object! {
            "class": &frame.class,
            "name": &frame.name,
            "descriptor": &frame.descriptor,
            "kind": match frame.kind {
                CpuFrameKind::Java => "java",
                CpuFrameKind::Native => "native",
                CpuFrameKind::Other => "other",
            },
            "self": share(of.all.own),
            "total": share(of.all.total),
        }
    };
    let failed = about.failed.iter().map(|failed| {
        object! { "reason": &failed.reason, ..time(failed.time) }
    });
    object! {
        "reader": &about.reader,
        "interval_ns": about.interval_ns,
        ..time(cpu.total),
        "process_seconds": about.process_ns.map(seconds),
        "unsampled_seconds": cpu.unsampled_ns().map(seconds),
        "missed_seconds": cpu.missed_ns().map(seconds),
        // Samples in methods with counted paths, and as many of these as are divided among paths by their counts.
        "path_samples": divided.samples,
        "divided_samples": divided.by_counts,
        // What samples found inside of probes.
        "probe_seconds": cpu.probes.map(|probes| probes.as_secs_f64()),
        "lost": time(about.lost),
        "cut": time(about.cut),
        "shortened": time(about.shortened),
        "failed": Each(failed),
        "methods": cpu.methods.iter().take(top).map(method).collect::<Vec<_>>(),
    }
}
