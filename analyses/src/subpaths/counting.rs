//! Every subpath of a run counted: the truth that estimates are compared with (OSP section 3.1, "Accuracy of
//! Results").

use std::sync::Arc;

use rustc_hash::FxHashMap;
use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::options::{ProfileOptions, SubpathStarts, SubpathThreshold};
use trodden_profile::{Profile, SubpathRun, facts};

use super::SubpathError;
use super::exact::{ExactCounts, ExactSubpaths};
use super::merged::placed;
use super::options::SubpathOptions;
use super::order::{BlockStream, Order, OrderTally, WordOrder};
use super::runs::{self, Run};
use super::shapes::{MethodShapes, PathShapes};
use super::window::Window;
use crate::stream::{StreamAnalysis, StreamError};
use crate::{MethodLookup, MethodPlaces};

/// Most different windows of blocks of a thread, unless a footprint says otherwise.
const WINDOWS: usize = 4_000_000;
/// Bytes that one takes, roughly: its count, and its description if it comes again.
const BYTES: usize = 128;
/// Bytes of a description at most: what does not fit is left out at its end.
const TEXT: usize = 256;

/// The analysis with `counts=exact`: an [`ExactSubpaths`] per thread, and what each subpath looks like.
///
/// Subpaths are described when a window onto the stream comes for the second time, so that the many that are
/// executed once take a count each and no more; only their number is reported.
#[derive(Clone)]
pub struct SubpathCounting {
    options: Arc<SubpathOptions>,
    windows: usize,
    threshold: SubpathThreshold,
    shapes: Arc<MethodShapes>,
}

/// The state of one thread.
#[derive(Clone, Debug)]
pub struct CountingThread {
    words: WordOrder,
    blocks: Described,
}

/// Counts of several threads, with descriptions.
#[derive(Clone, Debug, Default)]
pub struct CountedSubpaths {
    counts: Option<ExactCounts>,
    looks: FxHashMap<u64, Box<[u8]>>,
    threads: u64,
    bytes: u64,
    tally: OrderTally,
}

#[derive(Clone, Debug)]
struct Described {
    exact: ExactSubpaths,
    window: Window,
    begun: bool,
    looks: FxHashMap<u64, Box<[u8]>>,
    text: u64,
}

impl BlockStream for Described {
    fn run(&mut self, shapes: &impl PathShapes, run: Run, header: bool) {
        if !std::mem::replace(&mut self.begun, true) {
            self.window.restart(self.exact.blocks());
        }
        self.window.push(run);
        self.exact.run(shapes, run, header);
        let mut pieces = Vec::new();
        for again in self.exact.again() {
            if self.looks.contains_key(&again.key) {
                continue;
            }
            pieces.clear();
            self.window
                .cut(again.end - u64::from(again.length), again.length, &mut pieces);
            let mut text = Vec::new();
            runs::pack(again.length, &pieces, TEXT, &mut text);
            self.text += text.len() as u64;
            self.looks.insert(again.key, text.into());
        }
        self.window
            .trim(self.exact.blocks().saturating_sub(self.exact.longest()));
    }

    fn hole(&mut self) {
        self.exact.hole();
        self.begun = false;
    }
}

impl SubpathCounting {
    /// Options from those of a profile: the lengths, and how much memory. A preference for beginnings makes
    /// no difference where all are counted; nothing fades.
    ///
    /// # Errors
    /// If the options are out of range, or only those that begin at loop headers are to be counted.
    pub fn from_options(
        options: &ProfileOptions,
        methods: Arc<dyn MethodLookup + Send + Sync>,
    ) -> Result<Self, SubpathError> {
        let windows = if options.is_given("footprint") {
            (options.subpaths.footprint as usize / BYTES).max(1)
        } else {
            WINDOWS
        };
        let settings = SubpathOptions::from_options(options);
        settings.check()?;
        if settings.starts == SubpathStarts::Headers
            || settings.half_life.is_some()
            || settings.window.is_some()
        {
            let what = "counts=exact counts subpaths that begin anywhere, at any time: not with starts=headers, half-life or a sliding window";
            return Err(SubpathError::Range(what.to_owned()));
        }
        Ok(SubpathCounting {
            options: Arc::new(settings),
            windows,
            threshold: options.subpaths.threshold,
            shapes: Arc::new(MethodShapes::new(methods)),
        })
    }

    fn lengths(&self) -> Vec<u32> {
        self.options.lengths.all().collect()
    }
}

impl StreamAnalysis for SubpathCounting {
    type Thread = CountingThread;
    type Result = CountedSubpaths;

    fn needs(&self) -> EventKinds {
        EventKinds::PATHS
    }

    fn thread(&self, _: &ThreadInfo) -> CountingThread {
        let exact = ExactSubpaths::new(&self.lengths(), self.options.identity, self.windows);
        CountingThread {
            words: WordOrder::new(Order::PathEnds),
            blocks: Described {
                exact: exact.noting(),
                window: Window::default(),
                begun: false,
                looks: FxHashMap::default(),
                text: 0,
            },
        }
    }

    fn consume(&self, thread: &mut CountingThread, words: &[u64]) {
        thread.words.consume(words, &*self.shapes, &mut thread.blocks);
    }

    fn reset(&self, thread: &mut CountingThread) {
        thread.words.reset();
        let fresh = self.thread(&ThreadInfo::default());
        thread.blocks = fresh.blocks;
    }

    fn result(&self) -> CountedSubpaths {
        CountedSubpaths::default()
    }

    fn add(&self, result: &mut CountedSubpaths, thread: &CountingThread) -> Result<(), StreamError> {
        let own = &thread.blocks;
        let tally = thread.words.tally();
        result.tally.unknown += tally.unknown;
        result.tally.gaps += tally.gaps;
        result.tally.bad_words += tally.bad_words;
        if own.exact.blocks() == 0 {
            return Ok(());
        }
        result.threads += 1;
        result.bytes += own.exact.bytes() + own.text;
        let counts = own.exact.counts();
        match &mut result.counts {
            Some(all) => all.add(&counts),
            None => result.counts = Some(counts),
        }
        for (&key, text) in &own.looks {
            result.looks.entry(key).or_insert_with(|| text.clone());
        }
        Ok(())
    }

    fn write(
        &self,
        result: &CountedSubpaths,
        places: &MethodPlaces,
        profile: &mut Profile,
    ) -> Result<(), StreamError> {
        let none = ExactCounts::default();
        let counts = result.counts.as_ref().unwrap_or(&none);
        let mut unknown = result.tally.unknown;
        let mut once = 0;
        let mut section = trodden_profile::Subpaths {
            lengths: self.options.lengths.to_string(),
            order: Order::PathEnds.name().to_owned(),
            identity: self.options.identity.name().to_owned(),
            starts: "anywhere".to_owned(),
            footprint: (self.windows * BYTES) as u64,
            half_life: None,
            sliding_window: None,
            bursts: self.options.bursts.clone(),
            threads: result.threads,
            blocks: counts.blocks(),
            places: counts.blocks(),
            drawn: 0,
            drawn_blocks: 0,
            distance: (1, 1),
            peak_bytes: result.bytes,
            working_bytes: 0,
            subpaths: Vec::new(),
        };
        for (key, length, count) in counts.ranking() {
            let Some((_, pieces, missing)) = result.looks.get(&key).and_then(|text| runs::unpack(text))
            else {
                once += 1;
                continue;
            };
            let pieces: Option<Vec<SubpathRun>> = pieces.iter().map(|run| placed(run, places)).collect();
            let Some(runs) = pieces else {
                unknown += count;
                continue;
            };
            section.drawn += count;
            section.drawn_blocks = section.drawn_blocks.saturating_add(count * u64::from(length));
            section.subpaths.push(trodden_profile::Subpath {
                length,
                sampled: count,
                estimate: count,
                low: count,
                high: count,
                runs,
                missing,
            });
        }
        profile.subpaths = Some(section);
        profile.keep_subpaths(self.threshold);
        let counted: Vec<String> = counts.lengths().iter().map(u32::to_string).collect();
        profile.run.facts.set(facts::SUBPATHS_COUNTED, "exact");
        if counts.longest() < self.options.lengths.longest() {
            // The longest were given up for want of memory.
            profile
                .run
                .facts
                .set(facts::SUBPATHS_LENGTHS_COUNTED, counted.join("+"));
        }
        profile.run.facts.add(facts::SUBPATHS_EXECUTED_ONCE, once);
        profile.run.facts.add(facts::SUBPATHS_UNKNOWN, unknown);
        profile.run.facts.add(facts::GAPS, result.tally.gaps);
        profile.run.facts.add(facts::BAD_WORDS, result.tally.bad_words);
        Ok(())
    }
}
