//! Options of all that is made of the event stream.

use super::entry::{Effect, Level, OptionEntry, Use};
use super::values::{Burst, BurstEvents, ConsumedBy};

/// Options of all that is made of the event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamChoices {
    /// Which part of the stream.
    pub burst: Burst,
    /// Bursts by the clock: what reports calls, returns and paths in them.
    pub burst_events: BurstEvents,
    /// Which threads run the analyses.
    pub consumer: ConsumedBy,
}

impl Default for StreamChoices {
    fn default() -> Self {
        StreamChoices {
            burst: Burst::Off,
            burst_events: BurstEvents::Probes,
            consumer: ConsumedBy::Program,
        }
    }
}

pub(super) const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "burst",
        value: "off|static:INTERVAL:LENGTH|adaptive:INTERVAL:LENGTH:RR",
        default: "off",
        example: "static:100:10",
        help: "kpaths: only LENGTH of every INTERVAL activations; contexts: of every INTERVAL calls and returns. With times \
               (2ms:200us) by the clock: nothing is reported but for LENGTH of every INTERVAL. profile=contexts alone takes \
               these unless this, or algorithm, is given; kpaths and subpaths take them with burst-events=jvm",
        replay: true,
        uses: &[Use::KPATHS, Use::CONTEXTS, Use::SUBPATHS],
        effect: Effect::Classes,
        set: |o, value| Ok(o.stream.burst = value.parse()?),
        get: |o| Some(o.stream.burst.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "burst-events",
        value: "probes|jvm",
        default: "probes",
        example: "jvm",
        help: "What reports calls, returns and paths in bursts: probes in the code (calls and returns only), or the JVM itself \
               (from its start only; nothing is in the code between bursts)",
        level: Level::Research,
        uses: &[Use::TIMED_BURSTS],
        effect: Effect::Classes,
        set: |o, value| Ok(o.stream.burst_events = value.parse()?),
        get: |o| Some(o.stream.burst_events.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "consumer",
        value: "program|agent",
        default: "program",
        example: "agent",
        help: "Which threads run the analyses, the program's or one of the agent's",
        level: Level::Research,
        uses: &[Use::EVENTS],
        effect: Effect::Classes,
        set: |o, value| Ok(o.stream.consumer = value.parse()?),
        get: |o| Some(o.stream.consumer.to_string()),
        ..OptionEntry::PLAIN
    },
];
