//! How subpaths are sampled.

use std::num::NonZeroU64;

use trodden_profile::options::{ProfileOptions, SubpathDistance, SubpathIdentity, SubpathStarts};

use super::lengths::Lengths;
use super::{SubpathError, sample};

/// The options of a [`Sampler`](super::Sampler).
#[derive(Clone, Debug, PartialEq)]
pub struct SubpathOptions {
    /// Lengths and their probabilities.
    pub lengths: Lengths,
    /// Most bytes of a thread's sample, tables and descriptions included.
    pub footprint: usize,
    /// The mean distance between samples, in blocks, at the beginning of a run. See
    /// [`expecting`](Self::expecting).
    pub start: u32,
    /// The mean distance that is not gone below for long (OSP section 3.1, "Sampling and Efficiency
    /// Tradeoff"): once there are [`ENOUGH`] samples, the distance grows until it is there. At least `start`.
    pub floor: u32,
    /// The floor where probes skip ([`Sampler::skipping`](super::Sampler::skipping)): beginning a sample
    /// costs more there than the path ends between samples do.
    pub skipping_floor: u32,
    /// Where subpaths are to begin. A loop's header counts, whether it is reached by a back edge or for the
    /// first time. Estimates allow for a preference; with headers alone, counts are of subpaths that begin
    /// there.
    pub starts: SubpathStarts,
    /// Which subpaths are the same.
    pub identity: SubpathIdentity,
    /// After this number of blocks of a thread, older counts weigh half (OSP section 2.4, "aging").
    pub half_life: Option<u64>,
    /// Only subpaths within this number of last blocks of a thread count (OSP section 2.4, "sliding window").
    /// Not with a half-life.
    pub window: Option<u64>,
    /// Bursts by the clock, in option syntax, if the stream is of these alone.
    pub bursts: Option<String>,
    /// Determines, with the stream, everything that is random.
    pub seed: u64,
}

/// Samples after which the mean distance between them begins to grow towards the floor.
pub const ENOUGH: u64 = 8192;

/// Samples per byte of footprint that are plenty: with more, the mean distance grows beyond the floor, and
/// sampling costs ever less of a longer run (OSP section 2.2: o(1) per block). With 1 MB, the count of
/// a subpath that has 1 % of the samples is known to within 1.4 %, with 64 KB to within 5 %.
pub const PLENTIFUL_SAMPLES_PER_BYTE: u64 = 2;

/// Number of samples that a sliding window is to have, where no distance is given.
const IN_WINDOW: u64 = 2048;

/// The mean distance in bursts, where none is given. (At the beginning it is the usual one.)
const IN_BURSTS: u32 = 64;

impl Default for SubpathOptions {
    fn default() -> Self {
        SubpathOptions {
            lengths: Lengths::default(),
            footprint: 1 << 20,
            start: 16,
            floor: 1000,
            skipping_floor: 4096,
            starts: SubpathStarts::Anywhere,
            identity: SubpathIdentity::Rotation,
            half_life: None,
            window: None,
            bursts: None,
            seed: 0,
        }
    }
}

impl SubpathOptions {
    /// With the mean distance of OSP's equation 1, for a stream of this number of blocks and an expected gain
    /// (average count of a subpath in the sample).
    #[must_use]
    pub fn expecting(mut self, blocks: u64, gain: f64) -> Self {
        let subpaths = sample::capacity(self.footprint) as f64;
        let distance = blocks as f64 / (subpaths * gain.max(1.0));
        self.start = distance.clamp(1.0, f64::from(u32::MAX)) as u32;
        self.floor = self.floor.max(self.start);
        self.skipping_floor = self.skipping_floor.max(self.start);
        self
    }

    /// Options from those of a profile.
    pub fn from_options(options: &ProfileOptions) -> Self {
        let choices = options.subpaths;
        let plain = SubpathOptions {
            lengths: choices.lengths.into(),
            footprint: choices.footprint as usize,
            starts: choices.starts,
            identity: choices.identity,
            half_life: choices.half_life.map(NonZeroU64::get),
            window: choices.sliding_window.map(NonZeroU64::get),
            bursts: (options.has_bursts_in_program()).then(|| options.burst.to_string()),
            seed: options.seed,
            ..SubpathOptions::default()
        };
        match choices.distance {
            // Bursts are a small part of the run, so samples in them are closer.
            SubpathDistance::Auto if plain.bursts.is_some() => SubpathOptions {
                floor: IN_BURSTS,
                ..plain
            },
            SubpathDistance::Auto => plain.for_window(),
            SubpathDistance::From { start, floor } => SubpathOptions {
                start: start.get(),
                floor: floor.get(),
                skipping_floor: floor.get(),
                ..plain
            },
            SubpathDistance::Expect { blocks, gain } => plain.expecting(blocks.get(), f64::from(gain.get())),
        }
    }

    /// With distances at which a window has [`IN_WINDOW`] samples, if the usual ones are larger.
    fn for_window(mut self) -> Self {
        if let Some(window) = self.window {
            let most = (window / IN_WINDOW).clamp(1, u64::from(u32::MAX)) as u32;
            self.start = self.start.min(most);
            self.floor = self.floor.min(most);
            self.skipping_floor = self.skipping_floor.min(most);
        }
        self
    }

    /// Checks that they are in range.
    ///
    /// # Errors
    /// Says what is not.
    pub fn check(&self) -> Result<(), SubpathError> {
        let wrong = |what: String| Err(SubpathError::Range(what));
        if !(sample::MIN_FOOTPRINT..=sample::MAX_FOOTPRINT).contains(&self.footprint) {
            let (least, most) = (sample::MIN_FOOTPRINT, sample::MAX_FOOTPRINT);
            return wrong(format!(
                "a footprint of {} is not from {least} to {most} bytes",
                self.footprint
            ));
        }
        if self.start == 0 || self.floor < self.start || self.skipping_floor < self.start {
            return wrong(format!(
                "a first distance of {} is not from 1 to the later ones, {} and {}",
                self.start, self.floor, self.skipping_floor
            ));
        }
        match (self.window, self.half_life) {
            (Some(0), _) => wrong("a window of no blocks".to_owned()),
            (Some(_), Some(_)) => wrong("a half-life and a window at once".to_owned()),
            (None, Some(0)) => wrong("a half-life of no blocks".to_owned()),
            _ => Ok(()),
        }
    }

    /// How many samples are expected of an item when the mean distance is `f`: one that begins elsewhere, and
    /// one that begins at a loop's header.
    pub(super) fn rates(&self, f: u64) -> Rates {
        let one = 1.0 / f as f64;
        let (elsewhere, header) = match self.starts {
            SubpathStarts::Anywhere => (one, one),
            SubpathStarts::Prefer(weight) => {
                let more = f64::from(weight.get()) - 1.0;
                (one, one + (one * more).min(1.0))
            }
            SubpathStarts::Headers => (0.0, one),
        };
        Rates { elsewhere, header }
    }
}

/// Expected samples per item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rates {
    pub elsewhere: f64,
    pub header: f64,
}

impl Rates {
    /// The one for a sample that counts as one that begins at a header, or not.
    pub fn get(self, header: bool) -> f64 {
        if header { self.header } else { self.elsewhere }
    }

    /// The shares of samples that stay when these rates follow others.
    pub fn keep(self, before: Rates) -> Rates {
        let share = |now: f64, before: f64| if before > 0.0 { now / before } else { 0.0 };
        Rates {
            elsewhere: share(self.elsewhere, before.elsewhere),
            header: share(self.header, before.header),
        }
    }
}
