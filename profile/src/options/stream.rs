//! Options of all that is made of the event stream.

use super::entry::{Effect, Level, OptionEntry, Use};
use super::values::{Burst, ConsumedBy};

/// Options of all that is made of the event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamChoices {
    /// Profiles `kpaths` and `contexts`: which part of the stream.
    pub burst: Burst,
    /// Which threads run the analyses.
    pub consumer: ConsumedBy,
}

impl Default for StreamChoices {
    fn default() -> Self {
        StreamChoices {
            burst: Burst::Off,
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
        help: "kpaths: only LENGTH of every INTERVAL activations; contexts: of every INTERVAL calls and returns, or with times \
               (2ms:200us) probes are off but for LENGTH of every INTERVAL. profile=contexts alone takes bursts by the clock \
               unless this, or algorithm, is given",
        replay: true,
        uses: &[Use::KPATHS, Use::CONTEXTS],
        effect: Effect::Classes,
        set: |o, value| Ok(o.stream.burst = value.parse()?),
        get: |o| Some(o.stream.burst.to_string()),
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
