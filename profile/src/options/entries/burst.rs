//! The option about which part of the event stream is seen.

use crate::options::entry::{Effect, OptionEntry, TakenBy, Use};
use crate::options::values::Burst;

pub const ENTRIES: &[OptionEntry] = &[OptionEntry {
    name: "burst",
    value: "off|static:INTERVAL:LENGTH|jvm:INTERVAL:LENGTH|adaptive:INTERVAL:LENGTH:RR",
    default: "off",
    example: "static:100:10",
    help: "Only LENGTH of every INTERVAL is seen: in activations, calls or time; jvm: events of the JVM, without probes. adaptive is for replays",
    taken: TakenBy::Both,
    only_replayed: |o| matches!(o.burst, Burst::Adaptive { .. }),
    uses: &[Use::KPATHS, Use::CONTEXTS, Use::SUBPATHS],
    effect: Effect::Classes,
    set: |o, value| Ok(o.burst = value.parse()?),
    get: |o| Some(o.burst.to_string()),
    ..OptionEntry::PLAIN
}];
