//! Any bytes: an error, or the pieces of a trace; never a panic. Every word that comes out is one of an event, memory
//! stays in step with the input, and what was read whole is the same after writing and reading it again.
//!
//! Run: `cargo +nightly fuzz run trace` in `profile/`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trodden_profile::RunInfo;
use trodden_profile::events::{EventKinds, Word};
use trodden_profile::trace::{TraceItem, TraceReader, TraceWriter};
use trodden_profile_fuzz::mend;

/// What comes out, and the trace that holds the same.
fn copy(bytes: &[u8]) -> Option<(Vec<String>, Vec<u8>)> {
    let mut reader = TraceReader::new(bytes).ok()?;
    let mut items = Vec::new();
    let mut last = RunInfo::default();
    let mut writer: Option<TraceWriter<Vec<u8>>> = None;
    let kinds: EventKinds = reader.kinds();
    while let Some(item) = reader.next_item().ok()? {
        items.push(format!("{item:?}"));
        if let (None, TraceItem::Run(run)) = (&writer, &item) {
            writer = Some(TraceWriter::new(Vec::new(), kinds, run).expect("the run was read"));
            continue;
        }
        let writer = writer.as_mut().expect("a run comes first");
        match item {
            TraceItem::Run(run) => {
                // Only the last one can be written.
                items.pop();
                last = run;
            }
            TraceItem::Class { first_method, map } => {
                writer
                    .define_class(first_method, &map)
                    .expect("what was read can be written");
            }
            TraceItem::Conditions {
                first_method,
                methods,
            } => writer.conditions(first_method, &methods).expect("written"),
            TraceItem::Skipped(entries) if entries.is_empty() || entries.len() > 1000 => {
                items.pop();
            }
            TraceItem::Skipped(entries) => writer.skipped(&entries).expect("written"),
            TraceItem::ThreadStart(thread) => writer.thread_start(&thread).expect("written"),
            TraceItem::Words { thread, words } => {
                assert!(words.iter().all(|&word| Word(word).decode().is_ok()));
                if words.is_empty() {
                    items.pop();
                } else {
                    writer.chunk(thread, words).expect("written");
                }
            }
            TraceItem::ThreadEnd(thread) => writer.thread_end(thread).expect("written"),
        }
    }
    items.push(format!("{:?}", TraceItem::Run(last.clone())));
    Some((items, writer?.finish(&last).expect("written")))
}

fuzz_target!(|bytes: &[u8]| {
    for bytes in [bytes.to_vec(), mend(bytes)] {
        if let Some((items, written)) = copy(&bytes) {
            let (again, _) = copy(&written).expect("what was written can be read");
            assert_eq!(items, again);
        }
    }
});
