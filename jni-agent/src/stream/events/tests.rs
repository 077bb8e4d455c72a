use trodden_analyses::MethodPlaces;
use trodden_analyses::stream::{NullStream, StreamAnalysis, StreamError};
use trodden_profile::Profile;
use trodden_profile::events::EventKinds;

use super::stream::DEEP;
use super::*;
use crate::jvm::{Panicked, catch};

/// Streams whose consumers count words, and the blocks for them.
struct Bench {
    blocks: ThreadBlocks,
    streams: Streams,
}

impl Bench {
    /// Nothing consumes yet.
    fn new() -> Self {
        Bench {
            blocks: ThreadBlocks::new(),
            streams: Streams::default(),
        }
    }

    /// Each thread consumes its own events, of these kinds.
    fn of(kinds: EventKinds) -> Self {
        let bench = Bench::new();
        bench.begin(kinds, false);
        bench
    }

    fn begin(&self, kinds: EventKinds, watching: bool) {
        let pipeline = Pipeline::new().with(NullStream(kinds));
        self.streams.begin(pipeline, watching);
    }

    /// A new thread's block.
    fn thread(&self, id: u64) -> ThreadBlock {
        let block = self.blocks.reserve_small();
        self.streams.thread_begins(block, info(id));
        block
    }

    /// Words that the last pipeline has consumed.
    fn words(&self) -> u64 {
        self.streams.pipeline().unwrap().words()
    }
}

fn info(id: u64) -> ThreadInfo {
    ThreadInfo {
        id,
        ..ThreadInfo::default()
    }
}

fn fill(block: ThreadBlock, words: u64) {
    (0..words).for_each(|_| block.append_for_test(u64::MAX));
}

#[test]
fn every_word_is_consumed_once() {
    let bench = Bench::new();
    let Bench { blocks, streams } = &bench;
    let pipeline = Pipeline::new().with(NullStream(EventKinds::PATHS));
    streams.begin(pipeline, false);
    let block = blocks.reserve_small();
    let fiber = ThreadInfo {
        is_virtual: true,
        ..info(7)
    };
    streams.thread_begins(block, fiber);
    fill(block, 100);
    streams.drain(block, || None);
    assert_eq!(block.words(), 0);
    fill(block, 3);
    streams.flush();
    assert_eq!((bench.words(), block.words()), (103, 3));
    streams.flush();
    fill(block, 4);
    streams.thread_ends(blocks, 7);
    streams.flush();
    assert_eq!(bench.words(), 107);
    assert_eq!(blocks.reserve_small(), block);
}

#[test]
fn events_of_threads_without_memory_are_lost() {
    let Bench { blocks, streams } = Bench::of(EventKinds::PATHS);
    let sink = blocks.sink();
    fill(sink, 50);
    streams.drain(sink, || None);
    assert_eq!(streams.lost(), 50);
    assert_eq!(sink.words(), 0);
}

/// Panics at the word 13.
struct Superstitious;

impl StreamAnalysis for Superstitious {
    type Thread = ();
    type Result = ();

    fn needs(&self) -> EventKinds {
        EventKinds::PATHS
    }

    fn thread(&self, _: &ThreadInfo) {}

    fn consume(&self, _: &mut (), words: &[u64]) {
        assert!(!words.contains(&13), "on purpose");
    }

    fn reset(&self, _: &mut ()) {}

    fn result(&self) {}

    fn add(&self, _: &mut (), _: &()) -> std::result::Result<(), StreamError> {
        Ok(())
    }

    fn write(&self, _: &(), _: &MethodPlaces, _: &mut Profile) -> std::result::Result<(), StreamError> {
        Ok(())
    }
}

/// What made an analysis panic is not given to it again, nor what comes after it; other threads are not
/// affected.
#[test]
fn a_stream_whose_analysis_panics_is_closed() {
    let bench = Bench::new();
    bench.streams.begin(Pipeline::new().with(Superstitious), false);
    let (one, other) = (bench.thread(1), bench.thread(2));
    [1, 2, 13].into_iter().for_each(|word| one.append_for_test(word));
    let drained = catch("a test", || bench.streams.drain(one, || None));
    assert_eq!(drained, Err(Panicked("on purpose".to_owned())));
    [4, 5].into_iter().for_each(|word| one.append_for_test(word));
    bench.streams.drain(one, || None);
    assert_eq!((one.words(), bench.streams.lost()), (0, 2));
    [6, 7, 8].into_iter().for_each(|word| other.append_for_test(word));
    bench.streams.drain(other, || None);
    assert_eq!((other.words(), bench.streams.lost()), (0, 2));
    bench.streams.thread_ends(&bench.blocks, 1);
    assert_eq!(bench.streams.lost(), 2);
    // A new profile has another analysis.
    bench.begin(EventKinds::PATHS, false);
    let third = bench.thread(3);
    fill(third, 4);
    bench.streams.drain(third, || None);
    assert_eq!(bench.words(), 4);
}

#[test]
fn a_new_profile_ends_the_streams_of_the_old_one() {
    let bench = Bench::of(EventKinds::PATHS);
    let block = bench.thread(1);
    fill(block, 5);
    let old = bench.streams.pipeline().unwrap();
    bench.begin(EventKinds::PATHS, false);
    assert_eq!((old.words(), old.threads()), (5, (1, 1)));
    // What was consumed for the old one is not for the new one.
    fill(block, 2);
    bench.streams.drain(block, || None);
    assert_eq!(bench.words(), 2);
}

#[test]
fn a_thread_with_a_stream_joins_bursts() {
    let bench = Bench::of(EventKinds::ACTIVATION_PATHS);
    let Bench { blocks, streams } = &bench;
    let block = blocks.reserve_small();
    assert!(!streams.join(block, 0, &[]), "a block without a thread");
    streams.thread_begins(block, info(1));
    let stack = [Word::enter(3, None).0, Word::call(3, 1).0];
    assert!((0..1000).all(|_| streams.join(block, 0, &stack)));
    // Per burst one word about it, and two of the stack.
    assert_eq!(bench.words(), 3000);
}

#[test]
fn blocks_that_the_agent_makes_for_threads_come_back_when_these_end() {
    let bench = Bench::of(EventKinds::ACTIVATION_PATHS);
    let Bench { blocks, streams } = &bench;
    let made = bench.thread(1);
    (0..300).for_each(|_| streams.append(made, Word::exit(1).0));
    // Probes have another one made for the same thread: what was reported before is consumed, and no other
    // thread gets the block.
    let other = bench.thread(1);
    assert_eq!((bench.words(), streams.block_of(1)), (300, Some(other)));
    assert!(!streams.join(made, 0, &[]));
    assert!((0..100).all(|_| blocks.reserve_small() != made));
    streams.append(other, Word::exit(1).0);
    streams.thread_ends(blocks, 1);
    assert_eq!((bench.words(), streams.block_of(1)), (301, None));
    assert_eq!(blocks.reserve_small(), other);
}

#[test]
fn allocations_are_words_of_the_thread() {
    let bench = Bench::of(EventKinds::ACTIVATION_PATHS);
    let streams = &bench.streams;
    bench.thread(1);
    assert_eq!(streams.block_of(2), None);
    let block = streams.block_of(1).unwrap();
    (0..300).for_each(|_| streams.charge(block, 16));
    // Two words.
    streams.charge(block, 1 << 32);
    streams.flush();
    assert_eq!((streams.charges(), bench.words()), (301, 302));
}

#[test]
fn threads_are_watched_until_nothing_from_before_is_left() {
    let bench = Bench::new();
    let streams = &bench.streams;
    let [one, other, busy] = [1, 2, 3].map(|id| bench.thread(id));
    busy.set_activations_for_test(1);
    bench.begin(EventKinds::ACTIVATION_PATHS, true);
    assert_eq!(
        [one, other, busy].map(ThreadBlock::is_watched),
        [true, true, false]
    );
    let told = bench.words();
    let list = vec![Word::before(1).0, Word::below(7, Some(3)).0];
    // Classes are still getting their probes: what is not there yet may come.
    streams.found_before(other, None, streams.is_settled());
    assert!(other.is_watched());
    streams.settled();
    for _ in 0..3 {
        streams.found_before(one, Some(list.clone()), streams.is_settled());
    }
    assert_eq!(bench.words(), told + 2, "only what is new is sent");
    streams.found_before(one, None, streams.is_settled());
    assert_eq!((bench.words(), one.is_watched()), (told + 3, false));
    for _ in 1..MAX_WALKS - 1 {
        streams.found_before(other, Some(list.clone()), true);
    }
    assert_eq!((other.is_watched(), streams.walks().1), (true, 0));
    streams.found_before(other, Some(list.clone()), true);
    assert_eq!((other.is_watched(), streams.walks().1), (false, 1));
    // The list and its end.
    assert_eq!(bench.words(), told + 6);
    // Threads to come are looked at once; where none can be in anything, none is watched.
    let late = bench.thread(4);
    assert!(late.is_watched());
    bench.begin(EventKinds::ACTIVATION_PATHS, false);
    assert!([one, other, busy, late].iter().all(|block| !block.is_watched()));
}

#[test]
fn a_new_consumer_is_told_how_deep_the_thread_is() {
    let bench = Bench::new();
    let block = bench.thread(1);
    block.set_activations_for_test(5);
    for kinds in [EventKinds::PATHS, EventKinds::ACTIVATION_PATHS] {
        bench.begin(kinds, false);
        assert_eq!(bench.words(), u64::from(kinds.activations), "{kinds:?}");
    }
}

#[test]
fn activations_that_are_no_more_are_forgotten() {
    let bench = Bench::of(EventKinds::ACTIVATION_PATHS);
    let block = bench.thread(1);
    let drain = |depth, frames| {
        block.set_activations_for_test(depth);
        let mut asked = false;
        bench.streams.drain(block, || {
            asked = true;
            Some(frames)
        });
        asked
    };
    assert!(!drain(DEEP - 1, 3));
    // Deep, but so is the stack.
    assert!(drain(5000, 5001));
    assert!(!drain(5000 + DEEP, 5001));
    assert_eq!(bench.words(), 0);
    // It is no more, but that is not known yet.
    assert!(drain(12_000, 20));
    assert_eq!(bench.words(), 2);
    // What was sent is not looked for again.
    assert!(!drain(12_001, 20));
    assert_eq!(bench.words(), 2);
    // All have ended, an outer one has reported.
    assert!(!drain(1, 20));
    assert!(drain(4 * DEEP, 20));
    assert_eq!(bench.words(), 4);
}
