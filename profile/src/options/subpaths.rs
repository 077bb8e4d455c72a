//! Options of profile `subpaths`.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;

use super::value_error::ValueError;
use super::values::{Share, SubpathCounts, SubpathIdentity, SubpathLengths, parse_amount};

/// Options of profile `subpaths`.
///
/// *Online Subpath Profiling* (Oren, Matias and Sagiv, CC 2002: "OSP") calls its algorithm a framework; most
/// of these are the choices that it leaves open in sections 2.3, 2.4 and 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubpathChoices {
    /// Most bytes of a thread's sample.
    pub footprint: u32,
    /// How long subpaths are.
    pub lengths: SubpathLengths,
    /// Where subpaths begin.
    pub starts: SubpathStarts,
    /// Which of them are the same one.
    pub identity: SubpathIdentity,
    /// Blocks of a thread after which what was counted before counts half; `None`: nothing fades.
    pub half_life: Option<NonZeroU64>,
    /// Number of the last blocks of each thread that count; `None`: all do. Not with a half-life.
    pub sliding_window: Option<NonZeroU64>,
    /// How far apart samples are.
    pub distance: SubpathDistance,
    /// What of the sample goes into the profile.
    pub threshold: SubpathThreshold,
    /// A sample, or all.
    pub counts: SubpathCounts,
}

impl Default for SubpathChoices {
    fn default() -> Self {
        SubpathChoices {
            footprint: 1 << 20,
            lengths: SubpathLengths::default(),
            starts: SubpathStarts::Anywhere,
            identity: SubpathIdentity::Rotation,
            half_life: None,
            sliding_window: None,
            distance: SubpathDistance::Auto,
            threshold: SubpathThreshold::None,
            counts: SubpathCounts::Sampled,
        }
    }
}

/// Where subpaths begin (OSP section 5: paths that start at a back edge may be preferred).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SubpathStarts {
    /// At any block.
    #[default]
    Anywhere,
    /// At any block, at a loop's header this number of times as likely: 1 to [`MAX_PREFERENCE`].
    Prefer(NonZeroU32),
    /// At loops' headers alone.
    Headers,
}

/// The most that loop headers can be preferred.
pub const MAX_PREFERENCE: u32 = 1_000_000;

impl fmt::Display for SubpathStarts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubpathStarts::Anywhere => f.write_str("anywhere"),
            SubpathStarts::Prefer(weight) => write!(f, "prefer:{weight}"),
            SubpathStarts::Headers => f.write_str("headers"),
        }
    }
}

impl FromStr for SubpathStarts {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Self, ValueError> {
        let weight = |text: &str| {
            text.parse()
                .ok()
                .filter(|w: &NonZeroU32| w.get() <= MAX_PREFERENCE)
        };
        match given {
            "anywhere" => Ok(SubpathStarts::Anywhere),
            "headers" => Ok(SubpathStarts::Headers),
            _ => (given.strip_prefix("prefer:").and_then(weight))
                .map(SubpathStarts::Prefer)
                .ok_or_else(|| {
                    let kinds =
                        "is none of anywhere, headers and prefer:WEIGHT with a whole WEIGHT from 1 to 1000000";
                    ValueError::refused(given, kinds)
                }),
        }
    }
}

/// The mean distance between samples, in blocks: OSP's `f` (section 2.3, "Sampling and Skipping").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SubpathDistance {
    /// Dense at first, then 1,000; 4,096 where probes skip.
    #[default]
    Auto,
    /// `start` at first, and `floor` once there are some thousand samples: it is raised further only where
    /// the footprint is full.
    From {
        /// At first.
        start: NonZeroU32,
        /// Later on; at least `start`.
        floor: NonZeroU32,
    },
    /// The threshold by OSP's equation 1 for a run of this number of blocks, the footprint, and an average
    /// count in the sample.
    Expect {
        /// Blocks that the run is expected to have.
        blocks: NonZeroU64,
        /// Expected gain: average count of a subpath in the sample.
        gain: NonZeroU32,
    },
}

impl fmt::Display for SubpathDistance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubpathDistance::Auto => f.write_str("auto"),
            SubpathDistance::From { start, floor } => write!(f, "{start}:{floor}"),
            SubpathDistance::Expect { blocks, gain } => write!(f, "expect:{blocks}:{gain}"),
        }
    }
}

impl FromStr for SubpathDistance {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Self, ValueError> {
        let parse = || {
            if given == "auto" {
                return Some(SubpathDistance::Auto);
            }
            if let Some(expected) = given.strip_prefix("expect:") {
                let (blocks, gain) = expected.split_once(':').unwrap_or((expected, "1"));
                return Some(SubpathDistance::Expect {
                    blocks: NonZeroU64::new(parse_amount(blocks)?)?,
                    gain: gain.parse().ok()?,
                });
            }
            let (start, floor) = given.split_once(':')?;
            let number = |text| NonZeroU32::new(u32::try_from(parse_amount(text)?).ok()?);
            let (start, floor) = (number(start)?, number(floor)?);
            (start <= floor).then_some(SubpathDistance::From { start, floor })
        };
        let kinds = "is none of auto, START:FLOOR (two numbers of blocks, the second not the smaller) and \
                     expect:BLOCKS:GAIN (such as expect:200M:10)";
        parse().ok_or_else(|| ValueError::refused(given, kinds))
    }
}

/// What of a sample is reported (OSP section 2.3, "Reporting the Results": the hottest, or those above a
/// threshold).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubpathThreshold {
    /// All.
    #[default]
    None,
    /// The first ones of the report, in this number.
    Top(NonZeroU32),
    /// Those that are in the sample at least this number of times.
    Samples(NonZeroU64),
    /// Those whose estimate is at least this share of the places where a subpath might have begun.
    Share(Share),
}

impl fmt::Display for SubpathThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubpathThreshold::None => f.write_str("none"),
            SubpathThreshold::Top(number) => write!(f, "top:{number}"),
            SubpathThreshold::Samples(number) => write!(f, "samples:{number}"),
            SubpathThreshold::Share(share) => write!(f, "share:{share}"),
        }
    }
}

impl FromStr for SubpathThreshold {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Self, ValueError> {
        let parse = || {
            Some(match given.split_once(':') {
                None if given == "none" => SubpathThreshold::None,
                Some(("top", number)) => SubpathThreshold::Top(number.parse().ok()?),
                Some(("samples", number)) => SubpathThreshold::Samples(number.parse().ok()?),
                Some(("share", share)) => SubpathThreshold::Share(share.parse().ok()?),
                _ => return None,
            })
        };
        let kinds = "is none of none, top:N, samples:N and share:SHARE (above 0 and up to 1, such as 0.01)";
        parse().ok_or_else(|| ValueError::refused(given, kinds))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ProfileOptions;
    use super::super::entries::subpaths::RESEARCH_ENTRIES;
    use super::super::entry::OptionEntry;
    use super::*;

    fn set(name: &str, value: &str) -> Result<SubpathChoices, ValueError> {
        let entry = RESEARCH_ENTRIES.iter().find(|entry| entry.name == name).unwrap();
        let mut options = ProfileOptions::default();
        (entry.set)(&mut options, value).map(|()| options.subpaths)
    }

    fn value(choices: SubpathChoices, entry: &OptionEntry) -> Option<String> {
        let options = ProfileOptions {
            subpaths: choices,
            ..ProfileOptions::default()
        };
        (entry.get)(&options)
    }

    #[test]
    fn values_read_back() {
        for (name, values) in [
            (
                "starts",
                &["anywhere", "headers", "prefer:1", "prefer:1000000"][..],
            ),
            ("identity", &["rotation", "xor"]),
            ("half-life", &["none", "1", "50000000"]),
            ("sliding-window", &["none", "1", "50000000"]),
            ("distance", &["auto", "1:1", "16:4096", "expect:200000000:10"]),
            (
                "threshold",
                &["none", "top:10", "samples:20", "share:0.01", "share:1e-4"],
            ),
            ("counts", &["sampled", "exact"]),
        ] {
            for given in values {
                let choices = set(name, given).unwrap();
                for entry in RESEARCH_ENTRIES {
                    let expected = if entry.name == name {
                        Some((*given).to_owned())
                    } else {
                        value(SubpathChoices::default(), entry)
                    };
                    assert_eq!(value(choices, entry), expected, "{name}={given}: {}", entry.name);
                }
            }
        }
        assert_eq!(
            set("half-life", "50M").unwrap().half_life,
            NonZeroU64::new(50_000_000)
        );
        assert_eq!(
            set("distance", "expect:2G").unwrap().distance.to_string(),
            "expect:2000000000:1"
        );
    }

    #[test]
    fn nonsense_is_refused_with_what_would_do() {
        for (name, value, hint) in [
            ("starts", "prefer:0", "prefer:WEIGHT"),
            ("starts", "prefer:1000001", "from 1 to 1000000"),
            ("starts", "loops", "headers"),
            ("identity", "rotate", "rotation"),
            ("half-life", "0", "number of blocks"),
            ("half-life", "+5", "number of blocks"),
            ("sliding-window", "0", "number of blocks"),
            ("sliding-window", "-1", "number of blocks"),
            ("distance", "20:10", "START:FLOOR"),
            ("distance", "0:10", "START:FLOOR"),
            ("distance", "expect:0", "expect:BLOCKS:GAIN"),
            ("threshold", "5", "top:N"),
            ("threshold", "share:2", "up to 1"),
            ("counts", "all", "exact"),
        ] {
            let error = set(name, value).unwrap_err();
            assert!(
                error.to_string().contains(hint) && error.to_string().contains(value),
                "{name}={value}: {error}"
            );
        }
    }
}
