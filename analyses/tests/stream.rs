//! The event stream against brute force: stacks with calls, exceptions, gaps and late attach.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use proptest::prelude::*;
use trodden_analyses::MethodTable;
use trodden_analyses::kpaths::{BoundedForest, ChunkPairs, SlabForest};
use trodden_analyses::stream::{
    BurstWindows, KForest, KPathStream, KPathsOptions, KSink, NullStream, PathCounts, Pipeline, ReplayError,
    StreamAnalysis, TraceRecorder, replay,
};
use trodden_numbering::{EdgeWeights, FlowGraph, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::events::{Event, EventKinds, ThreadInfo, Word};
use trodden_profile::facts::{self, Fact};
use trodden_profile::options::ProfileOptions;
use trodden_profile::trace::{TraceReader, TraceWriter};
use trodden_profile::{BlockExit, BlockInfo, ClassMap, EdgeLabel, MethodMap, Profile, RunInfo, Skipped};

type Sequences = BTreeMap<(u32, Vec<u64>), u64>;

/// One activation of a generated program, with what it does in order.
#[derive(Clone, Debug)]
struct Call {
    method: u32,
    steps: Vec<Step>,
    ends: Ends,
}

#[derive(Clone, Debug)]
enum Step {
    Path(u32),
    /// If the callee throws, it is caught here.
    Call(Call),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    /// Returns, and the return ends this path.
    Returns(u32),
    /// Returns without a word about its last path.
    Exits,
    /// Throws.
    Throws,
}

fn call() -> impl Strategy<Value = Call> {
    let ends = || {
        prop_oneof![
            4 => (0..4u32).prop_map(Ends::Returns),
            1 => Just(Ends::Exits),
            2 => Just(Ends::Throws),
        ]
    };
    let leaf = (
        0..3u32,
        prop::collection::vec((0..4u32).prop_map(Step::Path), 0..12),
        ends(),
    );
    let leaf = leaf.prop_map(|(method, steps, ends)| Call { method, steps, ends });
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let step = prop_oneof![3 => (0..4u32).prop_map(Step::Path), 1 => inner.prop_map(Step::Call)];
        (0..3u32, prop::collection::vec(step, 0..10), ends()).prop_map(|(method, steps, ends)| Call {
            method,
            steps,
            ends,
        })
    })
}

/// Writes words as a probe does: lazily about exceptions.
#[derive(Default)]
struct Probe {
    words: Vec<u64>,
    /// The thread's depth as the probes know it: too high while an exception has not been noticed.
    depth: u32,
    /// The true paths of each activation.
    truth: Vec<(u32, Vec<u64>)>,
    /// Per path of these, the index of its word.
    places: Vec<Vec<usize>>,
    /// Per word, the depth as the probes knew it before.
    depths: Vec<u32>,
    /// Write `OnlyPath` where that is possible.
    short: bool,
}

impl Probe {
    fn event(&mut self, own_depth: u32, event: Event) {
        if self.depth != own_depth {
            self.depths.push(self.depth);
            self.depth = own_depth;
            self.words.push(Word::unwound(own_depth).0);
        }
        self.depths.push(self.depth);
        self.words.push(event.word().0);
    }

    /// `true` if it threw. `callers`: how many activations are below.
    fn run(&mut self, call: &Call, callers: u32) -> bool {
        let method = call.method;
        let index = self.truth.len();
        self.truth.push((method, Vec::new()));
        self.places.push(Vec::new());
        if self.short
            && call.steps.is_empty()
            && let Ends::Returns(path) = call.ends
        {
            self.truth[index].1.push(u64::from(path));
            self.event(callers, Event::OnlyPath { method, path });
            self.places[index].push(self.words.len() - 1);
            return false;
        }
        self.event(
            callers,
            Event::Enter {
                method,
                call_site: None,
            },
        );
        self.depth = callers + 1;
        let own = callers + 1;
        for step in &call.steps {
            match step {
                &Step::Path(path) => {
                    self.truth[index].1.push(u64::from(path));
                    self.event(own, Event::PathEnd { method, path });
                    self.places[index].push(self.words.len() - 1);
                }
                Step::Call(callee) => {
                    self.run(callee, own);
                }
            }
        }
        match call.ends {
            Ends::Returns(path) => {
                self.truth[index].1.push(u64::from(path));
                self.event(own, Event::LastPath { method, path });
                self.places[index].push(self.words.len() - 1);
            }
            Ends::Exits => self.event(own, Event::Exit { method }),
            Ends::Throws => return true,
        }
        self.depth = callers;
        false
    }
}

fn run_probe(calls: &[Call], short: bool) -> Probe {
    let mut probe = Probe {
        short,
        ..Probe::default()
    };
    for call in calls {
        probe.run(call, 0);
    }
    probe
}

fn record(calls: &[Call], short: bool) -> (Vec<u64>, Vec<(u32, Vec<u64>)>) {
    let probe = run_probe(calls, short);
    (probe.words, probe.truth)
}

fn n_grams(activations: &[(u32, Vec<u64>)], k: usize) -> Sequences {
    let mut counts = Sequences::new();
    for (method, paths) in activations {
        for n in 1..=k {
            for gram in paths.windows(n) {
                *counts.entry((*method, gram.to_vec())).or_default() += 1;
            }
        }
    }
    counts
}

/// Feeds words in batches of a size, to one thread.
fn fed<A: StreamAnalysis>(analysis: &A, words: &[u64], batch: usize) -> A::Thread {
    let mut thread = analysis.thread(&ThreadInfo::default());
    for batch in words.chunks(batch.max(1)) {
        analysis.consume(&mut thread, batch);
    }
    thread
}

fn k_result<S: KSink<Forest: Sync> + Sync>(
    options: &KPathsOptions,
    words: &[u64],
    batch: usize,
) -> Sequences {
    let analysis = KPathStream::<S>::new(options).unwrap();
    let mut result = analysis.result();
    analysis.add(&mut result, &fed(&analysis, words, batch)).unwrap();
    let rows = result.forests[0].0.iteration_forest().sequences();
    rows.into_iter().map(|(m, p, c)| ((m, p), c)).collect()
}

proptest! {
    /// Nothing but the depth is known of what had begun: what follows is kept apart all the same, also in
    /// recursion.
    #[test]
    fn a_stream_that_begins_in_the_middle(
        calls in prop::collection::vec(call(), 1..6), short in any::<bool>(), cut in any::<prop::sample::Index>(), k in 2..6u32,
    ) {
        let probe = run_probe(&calls, short);
        prop_assume!(!probe.words.is_empty());
        let cut = cut.index(probe.words.len());
        let mut words = vec![Word::unwound(probe.depths[cut]).0];
        words.extend_from_slice(&probe.words[cut..]);
        let rest: Vec<(u32, Vec<u64>)> = probe.truth.iter().zip(&probe.places).map(|((method, paths), places)| {
            let from = places.iter().take_while(|&&place| place < cut).count();
            (*method, paths[from..].to_vec())
        }).collect();
        let options = KPathsOptions { k, ..KPathsOptions::default() };
        prop_assert_eq!(k_result::<SlabForest>(&options, &words, 7), n_grams(&rest, k as usize));
    }

    #[test]
    fn k_paths_of_words_are_the_n_grams(
        calls in prop::collection::vec(call(), 1..6), k in 2..6u32, short: bool, batch in 1..40usize,
    ) {
        let (words, truth) = record(&calls, short);
        let options = KPathsOptions { k, ..KPathsOptions::default() };
        let expected = n_grams(&truth, k as usize);
        prop_assert_eq!(&k_result::<SlabForest>(&options, &words, batch), &expected);
        prop_assert_eq!(&k_result::<ChunkPairs>(&options, &words, batch), &expected);
        // A budget that is never used up changes nothing.
        let options = KPathsOptions { nodes: Some(1 << 20), ..options };
        prop_assert_eq!(&k_result::<BoundedForest>(&options, &words, batch), &expected);
        // Nor do windows that take every activation.
        let all = BurstWindows::new(NonZeroU64::new(4).unwrap(), NonZeroU32::new(4).unwrap());
        let options = KPathsOptions { nodes: None, bursts: all, ..options };
        prop_assert_eq!(&k_result::<SlabForest>(&options, &words, batch), &expected);
        prop_assert_eq!(&k_result::<ChunkPairs>(&options, &words, batch), &expected);
    }

    #[test]
    fn path_counts_are_the_counts(
        calls in prop::collection::vec(call(), 1..6), short: bool, batch in 1..40usize,
    ) {
        let (words, truth) = record(&calls, short);
        let mut result = PathCounts.result();
        PathCounts.add(&mut result, &fed(&PathCounts, &words, batch)).unwrap();
        let counts = result.into_iter();
        let counts: Sequences = counts.map(|(key, n)| (((key >> 32) as u32, vec![key & 0xffff_ffff]), n)).collect();
        prop_assert_eq!(counts, n_grams(&truth, 1));
    }

    /// A stream without its beginning, or with a hole that a gap reports: each sequence still is one that
    /// the program executed, and no path that is there is lost.
    #[test]
    fn holes_make_no_false_sequences(
        calls in prop::collection::vec(call(), 1..6), k in 2..6u32, from in 0..1000usize, length in 0..50usize,
    ) {
        let (mut words, truth) = record(&calls, false);
        let from = if words.is_empty() { 0 } else { from % words.len() };
        let to = (from + length).min(words.len());
        let hole: Vec<u64> = words.splice(from..to, [Word::GAP.0]).collect();
        let options = KPathsOptions { k, ..KPathsOptions::default() };
        let found = k_result::<ChunkPairs>(&options, &words, 7);
        let paths = |words: &[u64]| words.iter().filter(|&&w| [0, 3, 4].contains(&(w >> 60))).count() as u64;
        let all: u64 = truth.iter().map(|(_, paths)| paths.len() as u64).sum();
        let level_1: u64 = found.iter().filter(|((_, p), _)| p.len() == 1).map(|(_, &n)| n).sum();
        prop_assert_eq!(level_1 + paths(&hole), all);
        // Where no method calls itself, not even by way of others, what comes after the hole cannot be
        // mistaken.
        let recursive = calls.iter().any(recursive);
        if !recursive {
            let truth = n_grams(&truth, k as usize);
            for (sequence, count) in found {
                let true_count = truth.get(&sequence).copied().unwrap_or(0);
                prop_assert!(count <= true_count, "{:?}: {} > {}", sequence, count, true_count);
            }
        }
    }

    /// Activations of one path are reported first where they are mixed with others: it makes no difference.
    #[test]
    fn what_is_taken_apart_counts_the_same(
        words in prop::collection::vec(any_word(), 0..3000), k in 2..6u32, batch in 1..3000usize,
    ) {
        let options = KPathsOptions { k, ..KPathsOptions::default() };
        let in_order = k_result::<SlabForest>(&options, &words, batch);
        prop_assert_eq!(k_result::<ChunkPairs>(&options, &words, batch), in_order);
    }

    /// Any words at all.
    #[test]
    fn nothing_panics(words in prop::collection::vec(any_word(), 0..200), k in 2..5u32) {
        let options = KPathsOptions { k, nodes: Some(40), ..KPathsOptions::default() };
        let found = k_result::<BoundedForest>(&options, &words, 9);
        let paths = words.iter().filter(|&&w| [0, 3, 4].contains(&(w >> 60))).count() as u64;
        let level_1: u64 = found.iter().filter(|((_, p), _)| p.len() == 1).map(|(_, &n)| n).sum();
        prop_assert_eq!(level_1, paths);
    }
}

/// Mostly words that probes write, of few methods and depths.
fn any_word() -> impl Strategy<Value = u64> {
    prop_oneof![
        20 => (0..9u64, 0..3u64, 0..4u64).prop_map(|(kind, method, argument)| kind << 60 | method << 32 | argument),
        1 => any::<u64>(),
    ]
}

fn recursive(call: &Call) -> bool {
    fn calls(call: &Call, above: &mut Vec<u32>) -> bool {
        if above.contains(&call.method) {
            return true;
        }
        above.push(call.method);
        let found = call.steps.iter().any(|step| match step {
            Step::Call(callee) => calls(callee, above),
            Step::Path(_) => false,
        });
        above.pop();
        found
    }
    calls(call, &mut Vec::new())
}

#[test]
fn late_attach_counts_orphans() {
    let analysis = KPathStream::<ChunkPairs>::new(&KPathsOptions::default()).unwrap();
    let words = [
        Word::path_end(1, 5),
        Word::path_end(1, 6),
        Word::enter(2, None),
        Word::path_end(2, 7),
        Word::last_path(2, 8),
        Word::last_path(1, 9),
        Word::exit(0),
        Word::last_path(0, 3),
    ];
    let words: Vec<u64> = words.iter().map(|word| word.0).collect();
    let mut result = analysis.result();
    analysis.add(&mut result, &fed(&analysis, &words, 3)).unwrap();
    assert_eq!((result.tally.orphans, result.tally.lost_exits), (2, 1));
    let forest = result.forests[0].0.iteration_forest();
    assert_eq!(forest.count(1, &[5, 6, 9]), 1);
    assert_eq!(forest.count(2, &[7, 8]), 1);
    assert_eq!(forest.count(0, &[3]), 1);
}

/// A dump in mid-run changes nothing; a reset forgets, and open activations continue.
#[test]
fn profiles_at_any_time() {
    let pipeline = Pipeline::new()
        .with(PathCounts)
        .with(NullStream(EventKinds::default()));
    let pipeline = pipeline.with_k_paths(&KPathsOptions::default()).unwrap();
    assert_eq!(pipeline.needs(), EventKinds::ACTIVATION_PATHS);
    let methods = MethodTable::default();
    let threads: Vec<_> = (0..3)
        .map(|id| {
            pipeline.open(ThreadInfo {
                id,
                ..ThreadInfo::default()
            })
        })
        .collect();
    let known = |names: [Fact<u64>; 3]| {
        let profile = pipeline.profile(&methods).unwrap();
        names.map(|fact| profile.run.facts.get(fact).unwrap())
    };
    for thread in &threads {
        thread.consume(&[Word::enter(1, None).0, Word::path_end(1, 2).0]);
    }
    assert_eq!(known([facts::EVENTS, facts::UNKNOWN, facts::ORPHANS]), [6, 3, 0]);
    for (index, thread) in threads.into_iter().enumerate() {
        thread.consume(&[Word::path_end(1, 2).0]);
        if index > 0 {
            thread.end();
        } else {
            std::mem::forget(thread);
        }
    }
    assert_eq!(pipeline.threads(), (3, 2));
    assert_eq!(
        known([facts::EVENTS, facts::UNKNOWN, facts::KPATHS_UNKNOWN]),
        [9, 6, 6]
    );
    pipeline.reset();
    assert_eq!(
        known([facts::EVENTS, facts::UNKNOWN, facts::KPATHS_UNKNOWN]),
        [0, 0, 0]
    );
}

#[test]
fn reset_keeps_the_stack() {
    for bursts in [None, BurstWindows::new(NonZeroU64::MIN, NonZeroU32::MIN)] {
        let options = KPathsOptions {
            k: 3,
            bursts,
            ..KPathsOptions::default()
        };
        let analysis = KPathStream::<ChunkPairs>::new(&options).unwrap();
        let mut thread = analysis.thread(&ThreadInfo::default());
        let before = [
            Word::enter(1, None),
            Word::path_end(1, 1),
            Word::enter(2, None),
            Word::path_end(2, 1),
        ];
        let after = [
            Word::last_path(2, 2),
            Word::path_end(1, 2),
            Word::last_path(1, 3),
            Word::only_path(0, 0),
        ];
        analysis.consume(&mut thread, &before.map(|word| word.0));
        analysis.reset(&mut thread);
        analysis.consume(&mut thread, &after.map(|word| word.0));
        let mut result = analysis.result();
        analysis.add(&mut result, &thread).unwrap();
        let forest = result.forests[0].0.iteration_forest();
        // With bursts, activations that were open are not taken up again.
        let open = u64::from(bursts.is_none());
        assert_eq!(forest.count(1, &[2, 3]), open);
        assert_eq!(forest.count(2, &[2]), open);
        assert_eq!(forest.count(1, &[1]), 0);
        assert_eq!(forest.count(0, &[0]), 1);
        assert_eq!(result.tally.orphans, 0);
    }
}

/// Threads at once, each on its own and dumps in between: the sum is what each did.
#[test]
fn threads_do_not_mix() {
    let pipeline = Pipeline::new()
        .with(PathCounts)
        .with_k_paths(&KPathsOptions::default())
        .unwrap();
    let methods = MethodTable::default();
    std::thread::scope(|scope| {
        for id in 0..4 {
            let pipeline = &pipeline;
            scope.spawn(move || {
                for part in 0..50 {
                    let thread = pipeline.open(ThreadInfo {
                        id: id * 100 + part,
                        ..ThreadInfo::default()
                    });
                    for _ in 0..20 {
                        thread.consume(&[
                            Word::enter(1, None).0,
                            Word::path_end(1, 2).0,
                            Word::last_path(1, 3).0,
                        ]);
                    }
                }
            });
        }
        let mut last = 0;
        for _ in 0..20 {
            let profile = pipeline.profile(&methods).unwrap();
            let seen = profile.run.facts.get(facts::UNKNOWN).unwrap();
            assert!(seen >= last);
            last = seen;
        }
    });
    let profile = pipeline.profile(&methods).unwrap();
    assert_eq!(
        profile.run.facts.text("unknown").as_deref(),
        Some(&*(4 * 50 * 20 * 2).to_string())
    );
    assert_eq!(
        profile.run.facts.text("kpaths_unknown").as_deref(),
        Some(&*(4 * 50 * 20 * 2).to_string())
    );
    assert_eq!(pipeline.threads(), (200, 200));
}

/// A class whose methods have two branches one after the other: four paths.
pub(crate) fn class(name: &str, methods: u32) -> ClassMap {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)];
    let graph = SimpleGraph::new(7, &edges);
    let weights = EdgeWeights::uniform(&graph);
    let dag = PathDag::build(&graph, &weights, &NumberingOptions::default()).unwrap();
    let block = |index: usize| {
        let (exit, labels) = match graph.successors(trodden_numbering::BlockId::new(index)).len() {
            0 => (BlockExit::Return, vec![]),
            1 => (BlockExit::FallThrough, vec![EdgeLabel::FallThrough]),
            _ => (BlockExit::Branch, vec![EdgeLabel::Taken, EdgeLabel::NotTaken]),
        };
        let start = index as u32 * 10;
        BlockInfo {
            start,
            end: start + 10,
            last: start + 7,
            exit,
            labels: labels.into_iter().collect(),
        }
    };
    let blocks: Vec<BlockInfo> = (0..7).map(block).collect();
    let method = |index: u32| MethodMap {
        name: format!("m{index}"),
        descriptor: "()V".to_owned(),
        code_length: 70,
        blocks: blocks.clone(),
        graph: graph.clone(),
        dag: dag.clone(),
        lines: Vec::new(),
        unobserved: Vec::new(),
        inlined: Vec::new(),
        shape: None,
    };
    ClassMap {
        name: name.to_owned(),
        sha256: [7; 32],
        source_file: None,
        methods: (0..methods).map(method).collect(),
    }
}

/// Records and analyses at once: the trace, and the profile as the agent would have it.
fn live(programs: &[Vec<Call>], options: &ProfileOptions, batch: usize, finish: bool) -> (Vec<u8>, Profile) {
    let run = RunInfo {
        probe: "events".to_owned(),
        exact: true,
        ..RunInfo::default()
    };
    let kinds = EventKinds::ACTIVATION_PATHS;
    let recorder = Arc::new(TraceRecorder::new(
        TraceWriter::new(Vec::new(), kinds, &run).unwrap(),
    ));
    let pipeline = Pipeline::from_options(options)
        .unwrap()
        .with_recorder(recorder.clone(), kinds);
    let mut methods = MethodTable::default();
    let streams: Vec<Vec<u64>> = programs.iter().map(|calls| record(calls, true).0).collect();
    let threads: Vec<_> = (0..streams.len() as u64)
        .map(|id| {
            pipeline.open(ThreadInfo {
                id,
                name: format!("t{id}"),
                is_virtual: id > 0,
            })
        })
        .collect();
    let longest = streams.iter().map(Vec::len).max().unwrap_or(0);
    for from in (0..longest).step_by(batch) {
        for (thread, stream) in threads.iter().zip(&streams) {
            let to = (from + batch).min(stream.len());
            if from < to {
                thread.consume(&stream[from..to]);
            }
        }
        // Classes come when they come.
        if from == 0 {
            for (first, name) in [(1, "b/C"), (0, "a/B")] {
                let class = class(name, if first == 0 { 1 } else { 2 });
                recorder.define_class(first, &class);
                methods.insert_class(first, Arc::new(class)).unwrap();
            }
        }
    }
    let skipped = vec![Skipped {
        class: "x".to_owned(),
        method: None,
        reason: "y".to_owned(),
    }];
    recorder.skipped(&skipped);
    let mut threads = threads.into_iter();
    let running = threads.next();
    threads.for_each(|thread| thread.end());
    let mut profile = pipeline.profile(&methods).unwrap();
    let run = RunInfo { seconds: 2.0, ..run };
    profile.run = RunInfo {
        facts: profile.run.facts,
        exact: profile.run.exact,
        ..run.clone()
    };
    profile.skipped = skipped;
    let trace = if finish {
        recorder.finish(&run).unwrap().unwrap()
    } else {
        Vec::new()
    };
    drop(running);
    (trace, profile)
}

fn any_options() -> impl Strategy<Value = ProfileOptions> {
    prop::sample::select(vec![
        vec![("profile", "paths")],
        vec![("profile", "kpaths"), ("k", "3")],
        vec![("profile", "paths+kpaths"), ("k", "4")],
        vec![("profile", "kpaths"), ("k", "3"), ("budget", "12")],
        vec![("profile", "kpaths"), ("k", "3"), ("burst", "static:5:3")],
        vec![("profile", "kpaths+paths"), ("burst", "static:5:3")],
    ])
    .prop_map(|pairs| ProfileOptions::from_pairs(&pairs).unwrap())
}

proptest! {
    /// A replay gives the profile that the run gave.
    #[test]
    fn a_replay_is_the_run_again(
        programs in prop::collection::vec(prop::collection::vec(call(), 1..4), 1..4),
        options in any_options(), batch in 1..40usize,
    ) {
        let (trace, profile) = live(&programs, &options, batch, true);
        let mut seen = 0;
        let reader = TraceReader::new(&trace[..]).unwrap();
        let again = replay(reader, &Pipeline::from_options(&options).unwrap(), |at| seen = at).unwrap();
        prop_assert_eq!(seen, trace.len() as u64);
        prop_assert_eq!(again.truncation, None);
        prop_assert_eq!(again.profile.to_bytes().unwrap(), profile.to_bytes().unwrap());
        prop_assert_eq!(again.profile, profile);
    }

    /// Any analysis of a recording: as if it had been there, and as brute force has it.
    #[test]
    fn any_analysis_of_a_recording(
        programs in prop::collection::vec(prop::collection::vec(call(), 1..4), 1..4), k in 2..6u32,
    ) {
        let options = |pairs: &[(&str, &str)]| ProfileOptions::from_pairs(pairs).unwrap();
        let (trace, _) = live(&programs, &options(&[("profile", "paths")]), 11, true);
        let kpaths = options(&[("profile", "kpaths"), ("k", &k.to_string())]);
        let reader = TraceReader::new(&trace[..]).unwrap();
        let profile = replay(reader, &Pipeline::from_options(&kpaths).unwrap(), |_| ()).unwrap().profile;
        let mut expected = Sequences::new();
        for calls in &programs {
            for (sequence, count) in n_grams(&record(calls, true).1, k as usize) {
                *expected.entry(sequence).or_default() += count;
            }
        }
        // Method 0 is a/B's only one, 1 and 2 are b/C's.
        let ids = [(0, 0), (1, 0), (1, 1)];
        let forests = profile.kpaths.unwrap().methods;
        let mut found = Sequences::new();
        for (place, forest) in &forests {
            let method = ids.iter().position(|id| id == place).unwrap() as u32;
            found.extend(forest.sequences().map(|(sequence, count)| ((method, sequence), count)));
        }
        prop_assert_eq!(&found, &expected);
        for (method, (class, index)) in ids.into_iter().enumerate() {
            let level_1 = expected.iter().filter(|((m, paths), _)| *m == method as u32 && paths.len() == 1);
            let level_1: BTreeMap<u64, u64> = level_1.map(|((_, paths), &count)| (paths[0], count)).collect();
            prop_assert_eq!(&profile.classes[class].counts[index].paths, &level_1);
        }
    }

    /// Killed anywhere: what is whole is replayed, and the profile says that it is not all.
    #[test]
    fn a_killed_run_is_replayed_as_far_as_it_goes(
        programs in prop::collection::vec(prop::collection::vec(call(), 1..4), 1..4), at in any::<prop::sample::Index>(),
    ) {
        let options = ProfileOptions::default();
        let (trace, profile) = live(&programs, &options, 5, true);
        let cut = &trace[..at.index(trace.len())];
        if let Ok(reader) = TraceReader::new(cut) {
            let part = replay(reader, &Pipeline::from_options(&options).unwrap(), |_| ()).unwrap();
            prop_assert!(part.truncation.is_some());
            let truncated = part.profile.run.facts.get(facts::TRUNCATED);
            prop_assert_eq!(truncated.as_deref(), Some("true"));
            let total = |p: &Profile| -> u64 { p.classes.iter().flat_map(|c| &c.counts).map(|c| c.total()).sum() };
            prop_assert!(total(&part.profile) <= total(&profile));
            part.profile.to_bytes().unwrap();
        }
    }
}

#[test]
fn a_trace_without_activations_has_no_k_paths() {
    let run = RunInfo::default();
    let trace = TraceWriter::new(Vec::new(), EventKinds::PATHS, &run)
        .unwrap()
        .finish(&run)
        .unwrap();
    let k_paths = Pipeline::new().with_k_paths(&KPathsOptions::default()).unwrap();
    let error = replay(TraceReader::new(&trace[..]).unwrap(), &k_paths, |_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the trace has no activations: it was recorded for another kind of profile"
    );
    let paths = Pipeline::new().with(PathCounts);
    assert!(replay(TraceReader::new(&trace[..]).unwrap(), &paths, |_| ()).is_ok());
}

#[test]
fn methods_of_two_classes_are_told() {
    let run = RunInfo::default();
    let mut trace = TraceWriter::new(Vec::new(), EventKinds::PATHS, &run).unwrap();
    trace.define_class(0, &class("a/B", 2)).unwrap();
    trace.define_class(1, &class("c/D", 1)).unwrap();
    let trace = trace.finish(&run).unwrap();
    let error = replay(TraceReader::new(&trace[..]).unwrap(), &Pipeline::new(), |_| ()).unwrap_err();
    assert!(matches!(error, ReplayError::Classes(_)), "{error}");
    assert!(error.to_string().contains("c/D"), "{error}");
}

/// A full disk ends the recording, not the program.
#[test]
fn a_recorder_that_fails_is_quiet_until_the_end() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let run = RunInfo::default();
    let writer = TraceWriter::new(Full(300), EventKinds::PATHS, &run).unwrap();
    let recorder = Arc::new(TraceRecorder::new(writer));
    let pipeline = Pipeline::new()
        .with(PathCounts)
        .with_recorder(recorder.clone(), EventKinds::PATHS);
    let thread = pipeline.open(ThreadInfo::default());
    for path in 0..100 {
        thread.consume(&[Word::path_end(1, path).0]);
    }
    thread.end();
    assert_eq!(recorder.written(), None);
    assert!(recorder.finish(&run).is_err());
    assert_eq!(
        pipeline
            .profile(&MethodTable::default())
            .unwrap()
            .run
            .facts
            .get(facts::EVENTS),
        Some(100)
    );
}
