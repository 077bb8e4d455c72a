//! Subpaths from the event stream of a run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::options::{ProfileOptions, SubpathThreshold};
use trodden_profile::{Profile, facts};

use super::SubpathError;
use super::merged::MergedSubpaths;
use super::options::{ENOUGH, SubpathOptions};
use super::order::{Order, WordOrder};
use super::sampler::Sampler;
use super::shapes::MethodShapes;
use super::skipping::Wanted;
use crate::stream::{StreamAnalysis, StreamError};
use crate::{MethodLookup, MethodPlaces};

/// The analysis: a [`Sampler`] per thread, merged in the result.
#[derive(Clone)]
pub struct SubpathStream {
    options: Arc<SubpathOptions>,
    order: Order,
    skips: bool,
    threshold: SubpathThreshold,
    shapes: Arc<MethodShapes>,
    /// Number of samples of all threads, from which follows whether there are enough.
    drawn: Arc<AtomicU64>,
    latest: Arc<Mutex<Option<MergedSubpaths>>>,
}

/// The state of one thread.
#[derive(Clone, Debug)]
pub struct SubpathThread {
    words: WordOrder,
    sampler: Sampler,
}

impl SubpathStream {
    /// The analysis with these options. It has to know each method before the first path of it comes.
    ///
    /// # Errors
    /// If the options are out of range.
    pub fn new(
        options: SubpathOptions,
        order: Order,
        methods: Arc<dyn MethodLookup + Send + Sync>,
    ) -> Result<Self, SubpathError> {
        options.check()?;
        Ok(SubpathStream {
            options: Arc::new(options),
            order,
            skips: false,
            threshold: SubpathThreshold::None,
            shapes: Arc::new(MethodShapes::new(methods)),
            drawn: Arc::default(),
            latest: Arc::default(),
        })
    }

    /// The analysis with the options of a profile.
    ///
    /// # Errors
    /// If they are out of range.
    pub fn from_options(
        options: &ProfileOptions,
        methods: Arc<dyn MethodLookup + Send + Sync>,
    ) -> Result<Self, SubpathError> {
        let mut stream =
            SubpathStream::new(SubpathOptions::from_options(options), Order::default(), methods)?;
        stream.threshold = options.subpaths.threshold;
        Ok(stream)
    }

    /// The same for a stream from which path ends are left out that it can do without, if it is in the order
    /// of path ends.
    #[must_use]
    pub fn skipping(mut self) -> Self {
        self.skips = self.order == Order::PathEnds;
        self
    }

    /// The options.
    pub fn options(&self) -> &SubpathOptions {
        &self.options
    }

    /// The shapes of paths.
    pub fn shapes(&self) -> &MethodShapes {
        &self.shapes
    }

    /// The result as of the last time that a profile was written, by this analysis or a clone of it.
    pub fn latest(&self) -> Option<MergedSubpaths> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// With which distance a thread begins: the more samples there are of others, the larger, so that the
    /// 100,000th thread does not start from scratch.
    fn start(&self) -> u32 {
        let start = self.options.start;
        let floor = if self.skips {
            self.options.skipping_floor
        } else {
            self.options.floor
        };
        let so_far = 1 + self.drawn.load(Ordering::Relaxed) / ENOUGH;
        (u64::from(start) * so_far).min(u64::from(floor)) as u32
    }
}

impl StreamAnalysis for SubpathStream {
    type Thread = SubpathThread;
    type Result = MergedSubpaths;

    fn needs(&self) -> EventKinds {
        match self.order {
            Order::PathEnds => EventKinds::PATHS,
            Order::Calls => EventKinds {
                call_sites: true,
                only_paths: false,
                ..EventKinds::ACTIVATION_PATHS
            },
        }
    }

    fn thread(&self, info: &ThreadInfo) -> SubpathThread {
        let options = Arc::clone(&self.options);
        let sampler = if self.skips {
            Sampler::skipping(options, info.id, self.start())
        } else {
            Sampler::new(options, info.id, self.start())
        };
        SubpathThread {
            words: WordOrder::new(self.order),
            sampler,
        }
    }

    fn skips(&self) -> bool {
        self.skips
    }

    fn wanted(&self, thread: &mut SubpathThread) -> Wanted {
        thread.sampler.wanted()
    }

    fn consume(&self, thread: &mut SubpathThread, words: &[u64]) {
        let before = thread.sampler.tally().drawn;
        thread.words.consume(words, &*self.shapes, &mut thread.sampler);
        let drawn = thread.sampler.tally().drawn - before;
        if drawn > 0 {
            self.drawn.fetch_add(drawn, Ordering::Relaxed);
        }
    }

    fn reset(&self, thread: &mut SubpathThread) {
        thread.words.reset();
        thread.sampler.reset();
    }

    fn result(&self) -> MergedSubpaths {
        MergedSubpaths::new(&self.options)
    }

    fn add(&self, result: &mut MergedSubpaths, thread: &SubpathThread) -> Result<(), StreamError> {
        result.add(&thread.sampler);
        result.note(thread.words.tally(), thread.words.bytes());
        Ok(())
    }

    fn write(
        &self,
        result: &MergedSubpaths,
        places: &MethodPlaces,
        profile: &mut Profile,
    ) -> Result<(), StreamError> {
        let stats = result.stats();
        let mut unknown = stats.unknown;
        let section = result.section(&self.options, self.order, places, &mut unknown);
        profile.subpaths = Some(section);
        profile.keep_subpaths(self.threshold);
        // Counts of paths may be there as well, exact ones; without any, nothing is.
        let counted = profile.classes.iter().flat_map(|class| &class.counts);
        profile.run.exact &= counted.into_iter().any(|counts| !counts.paths.is_empty());
        let skipping = if self.skips { "probes" } else { "consumer" };
        profile.run.facts.set(facts::SUBPATHS_SKIPPING, skipping);
        profile.run.facts.add(facts::SUBPATHS_UNKNOWN, unknown);
        profile.run.facts.add(facts::GAPS, stats.gaps);
        profile.run.facts.add(facts::BAD_WORDS, stats.bad_words);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = Some(result.clone());
        Ok(())
    }
}
