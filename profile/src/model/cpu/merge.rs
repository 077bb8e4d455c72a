//! CPU samples of several profiles into one.

use std::collections::BTreeMap;

use super::{CpuFailure, CpuFrame, CpuRow, CpuSamples, CpuTime, PathWaits, PathsAtPlaces};
use crate::model::several::list;

/// The sum: every stack has the samples that it has in all of them. `numbered_alike`: true for methods whose paths
/// have the same numbers in all of them; paths of other methods are left out.
pub(super) fn merge<'p>(
    all: impl Iterator<Item = &'p CpuSamples>,
    numbered_alike: impl Fn(&CpuFrame) -> bool,
) -> Option<CpuSamples> {
    let mut merged: Option<CpuSamples> = None;
    let mut frames: Vec<CpuFrame> = Vec::new();
    let mut rows: Vec<CpuRow> = Vec::new();
    let mut lines: Vec<(u32, u16, u32)> = Vec::new();
    let mut failed: BTreeMap<&str, CpuTime> = BTreeMap::new();
    let mut paths = PathsAtPlaces::default();
    let mut waits = PathWaits::default();
    for one in all {
        let (first_frame, first_row) = (frames.len() as u32, rows.len() as u32);
        frames.extend(one.frames.iter().cloned());
        rows.extend(one.tree.rows().into_iter().map(|row| CpuRow {
            parent: row.parent.map(|parent| first_row + parent),
            frame: first_frame + row.frame,
            ..row
        }));
        let of_one = one.list_lines();
        lines.extend(of_one.map(|(frame, bci, line)| (first_frame + frame, bci, line)));
        let has_numbers = |frame: u32| one.frames.get(frame as usize).is_some_and(&numbered_alike);
        let of_one = one
            .paths
            .with_frames(|frame| has_numbers(frame).then_some(first_frame + frame));
        of_one.iter().for_each(|(at, time)| paths.add(at, time));
        waits = waits.plus(one.waits);
        for CpuFailure { reason, time } in &one.failed {
            let sum = failed.entry(reason).or_default();
            *sum = sum.plus(*time);
        }
        merged = Some(match merged {
            None => CpuSamples {
                reader: one.reader.clone(),
                interval_ns: one.interval_ns,
                process_ns: one.process_ns,
                lost: one.lost,
                shortened: one.shortened,
                cut: one.cut,
                ..CpuSamples::default()
            },
            Some(sum) => CpuSamples {
                reader: list(&sum.reader, &one.reader),
                interval_ns: sum.interval_ns.min(one.interval_ns),
                // What is not known of one is not known of all.
                process_ns: sum
                    .process_ns
                    .zip(one.process_ns)
                    .map(|(a, b)| a.saturating_add(b)),
                lost: sum.lost.plus(one.lost),
                shortened: sum.shortened.plus(one.shortened),
                cut: sum.cut.plus(one.cut),
                ..CpuSamples::default()
            },
        });
    }
    let mut merged = merged?;
    merged.set_stacks(frames.clone(), &rows);
    merged.set_lines(&frames, lines);
    merged.set_paths(&frames, &paths);
    merged.waits = waits;
    let failure = |(reason, time): (&str, CpuTime)| CpuFailure {
        reason: reason.to_owned(),
        time,
    };
    merged.failed = failed.into_iter().map(failure).collect();
    Some(merged)
}
