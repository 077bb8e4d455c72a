//! Arbitrary CPU samples.

use proptest::collection::vec;
use proptest::prelude::*;
use trodden_profile::{CpuFailure, CpuFrame, CpuFrameKind, CpuRow, CpuSamples, CpuTime};

fn any_time() -> impl Strategy<Value = CpuTime> {
    (0..1000u64, 0..1u64 << 40).prop_map(|(samples, ns)| CpuTime { samples, ns })
}

fn any_frame() -> impl Strategy<Value = CpuFrame> {
    let kind = prop::sample::select(&CpuFrameKind::ALL[..]);
    ("[a-c/]{0,3}", "[a-c]{1,2}", "[()IV]{0,3}", kind).prop_map(|(class, name, descriptor, kind)| CpuFrame {
        class,
        name,
        descriptor,
        kind,
    })
}

/// Stacks of few methods, so that many are the same, as the agent would hand them over.
pub fn any_stacks() -> impl Strategy<Value = (Vec<CpuFrame>, Vec<CpuRow>)> {
    let row = (
        any::<u8>(),
        any::<u8>(),
        proptest::option::of(prop_oneof![0..3u16, Just(u16::MAX)]),
        any_time(),
    );
    (vec(any_frame(), 1..6), vec(row, 0..30)).prop_map(|(frames, rows)| {
        let row = |(at, (parent, frame, bci, own)): (usize, (u8, u8, Option<u16>, CpuTime))| CpuRow {
            // One of the rows before, or none.
            parent: (u32::from(parent) % (at as u32 + 1)).checked_sub(1),
            frame: u32::from(frame) % frames.len() as u32,
            bci,
            own,
        };
        let rows = rows.into_iter().enumerate().map(row).collect();
        (frames, rows)
    })
}

/// All that a run can tell.
pub fn any_cpu() -> impl Strategy<Value = CpuSamples> {
    let failed = proptest::collection::btree_map("[a-z-]{1,5}", any_time(), 0..3);
    let reader = prop::sample::select(vec!["async", "safepoint"]);
    let rest = (any_time(), any_time(), any_time());
    let line = (0..6u32, prop_oneof![0..4u16, Just(u16::MAX)], 0..4u32);
    let lines = vec(line, 0..8);
    (
        any_stacks(),
        reader,
        1..1u64 << 40,
        any::<Option<u32>>(),
        rest,
        failed,
        lines,
    )
        .prop_map(
            |((frames, rows), reader, interval_ns, process, (lost, shortened, cut), failed, lines)| {
                let failed = failed
                    .into_iter()
                    .map(|(reason, time)| CpuFailure { reason, time });
                let mut cpu = CpuSamples {
                    reader: reader.to_owned(),
                    interval_ns,
                    process_ns: process.map(u64::from),
                    lost,
                    shortened,
                    cut,
                    failed: failed.collect(),
                    ..CpuSamples::default()
                };
                cpu.set_stacks(frames.clone(), &rows);
                cpu.set_lines(&frames, lines);
                cpu
            },
        )
}
