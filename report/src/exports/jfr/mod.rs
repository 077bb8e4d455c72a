//! Java Flight Recorder's format, version 2.1: CPU samples as events `jdk.ExecutionSample`, in one chunk.
//!
//! The header is followed by events, constants and types; each of the two last is found by its position in the header. Stacks
//! are those of the samples, with lines and bytecode indices. Paths are not in them: readers look a frame's method up, and
//! add its time to that method.

mod bytes;
mod constants;
mod metadata;
mod spread;

use trodden_insight::left_out;
use trodden_insight::view::View;
use trodden_profile::CpuTime;

use self::bytes::Bytes;
use self::constants::{ONLY, Place, Stacks};
use self::metadata::{JVM, RECORDING, SAMPLE, SETTING};
use super::origin::Origin;
use super::title;
use crate::options::ReportError;

/// Most events of a file, and if all were asked for.
const MAX_EVENTS: [u64; 2] = [1 << 20, 1 << 26];
/// Most frames of all stacks together.
const MAX_FRAMES: usize = 1 << 23;
/// Bytes of a chunk's header.
const HEADER: u64 = 68;
/// Numbers are compressed.
const COMPRESSED: [u8; 4] = [0, 0, 0, 1];
/// Ticks are nanoseconds.
const TICKS_PER_SECOND: u64 = 1_000_000_000;
/// The recording's name, which JMC shows.
const NAME: &str = "CPU samples of Trodden; times and threads of samples are not known";

/// The whole file.
///
/// # Errors
/// If there are no CPU samples.
pub(crate) fn write(view: &View, all: bool) -> Result<Vec<u8>, ReportError> {
    let times = view.sampled.as_ref().filter(|times| times.total.samples > 0);
    let times = times.ok_or(ReportError::NoSamples)?;
    let nodes = times.samples.tree.nodes();
    let own: Vec<CpuTime> = nodes.iter().map(|node| node.own).collect();
    let numbers = spread::numbers(&own, MAX_EVENTS[usize::from(all)]);

    let of_methods = view.maps();
    let frames = &times.samples.frames;
    let maps: Vec<_> = (frames.iter())
        .map(|frame| (&*frame.class, &*frame.name, &*frame.descriptor))
        .map(|names| of_methods.get(&names).copied())
        .collect();

    let depths = nodes.iter().zip(&numbers).filter(|(_, number)| **number > 0);
    let mut stacks = Stacks::new(frames, deepest(depths.map(|(node, _)| node.depth as usize)));
    let mut stack: Vec<Place> = Vec::new();
    // Of nodes without events: none.
    let mut known = vec![0; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        stack.truncate(node.depth as usize - 1);
        let frame = node.frame as usize;
        let line = node
            .bci
            .and_then(|bci| left_out::line(times, frame, maps[frame], bci));
        stack.push(Place {
            frame: node.frame,
            line,
            bci: node.bci,
        });
        if numbers[at] > 0 {
            known[at] = stacks.add(&stack);
        }
    }

    let origin = Origin::of(view.run);
    let mut body = Bytes::default();
    about(view, times.total, &origin, &mut body);
    for event in spread::events(&own, &numbers, origin.lasted_ns) {
        body.event(SAMPLE, |out| {
            out.number(event.at);
            for number in [ONLY, known[event.stack as usize], ONLY, event.ns] {
                out.number(number);
            }
        });
    }
    let constants = HEADER + body.len();
    stacks.write(&mut body);
    let types = HEADER + body.len();
    metadata::write(&mut body);

    let mut file = Bytes::default();
    file.raw(b"FLR\0\0\x02\0\x01");
    for number in [
        HEADER + body.len(),
        constants,
        types,
        origin.started_ns,
        origin.lasted_ns,
        // The tick of the begin.
        0,
        TICKS_PER_SECOND,
    ] {
        file.header_number(number);
    }
    file.raw(&COMPRESSED);
    file.append(&body);
    Ok(file.into_vec())
}

/// The recording, how samples were taken, and the JVM.
fn about(view: &View, total: CpuTime, origin: &Origin, out: &mut Bytes) {
    const BEGIN: u64 = 0;
    out.event(RECORDING, |event| {
        event.number(BEGIN);
        event.number(ONLY);
        event.text(NAME);
        event.number(origin.started_ns / 1_000_000);
        event.number(origin.lasted_ns / 1_000_000);
    });
    let period = format!("{} ns", total.ns / total.samples.max(1));
    for (name, value) in [("enabled", "true"), ("period", &period)] {
        out.event(SETTING, |event| {
            event.number(BEGIN);
            event.number(SAMPLE.into());
            event.text(name);
            event.text(value);
        });
    }
    out.event(JVM, |event| {
        event.number(BEGIN);
        event.text(&view.run.jvm);
        event.text(&title(view.run));
    });
}

/// Most frames that each stack may have, so that all of them have [`MAX_FRAMES`] at most.
fn deepest(depths: impl Iterator<Item = usize>) -> usize {
    let depths: Vec<usize> = depths.collect();
    let fits = |most: usize| depths.iter().map(|&depth| depth.min(most)).sum::<usize>() <= MAX_FRAMES;
    let mut most = depths.iter().copied().max().unwrap_or(1);
    while most > 1 && !fits(most) {
        most = most * 3 / 4;
    }
    most
}
