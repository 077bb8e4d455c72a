//! Contexts from the words of the event stream.

use std::num::{NonZeroU32, NonZeroU64};

use trodden_analyses::MethodTable;
use trodden_analyses::contexts::*;
use trodden_analyses::stream::{Pipeline, StreamAnalysis};
use trodden_profile::events::{CALL_UNDER_WAY, Event, NO_CALL_SITE, ThreadInfo, Word};
use trodden_profile::options::ContextWeight;

fn enter(method: u32, site: u16) -> u64 {
    Word::enter(method, Some(site)).0
}

fn stream(algorithm: Algorithm, bursts: Option<BurstOptions>) -> ContextStream {
    let options = ContextOptions {
        algorithm,
        thresholds: Thresholds::of_phi(0.01).unwrap(),
        bursts,
        seed: 3,
        ..ContextOptions::default()
    };
    ContextStream::new(options).unwrap()
}

/// Contexts by method numbers, with their counts, sorted; of threads that get these words, in batches of any
/// size.
fn contexts(algorithm: Algorithm, threads: &[Vec<u64>]) -> (Vec<(Vec<u32>, u64)>, ContextResult) {
    let analysis = stream(algorithm, None);
    let mut result = analysis.result();
    for (id, words) in threads.iter().enumerate() {
        let info = ThreadInfo {
            id: id as u64,
            ..ThreadInfo::default()
        };
        let mut thread = analysis.thread(&info);
        for batch in words.chunks(1 + id * 2) {
            analysis.consume(&mut thread, batch);
        }
        analysis.add(&mut result, &thread).unwrap();
    }
    let hot = result.contexts.hot(0.01).unwrap();
    let mut all: Vec<_> = hot
        .hot()
        .map(|(at, node)| {
            let bounds = node.bounds.unwrap();
            assert_eq!(bounds.lower, bounds.upper);
            (
                hot.path(at).iter().map(|frame| frame.method).collect(),
                bounds.lower,
            )
        })
        .collect();
    all.sort_unstable();
    (all, result)
}

const COUNTING: [Algorithm; 5] = [
    Algorithm::Exact,
    Algorithm::LazySpaceSaving,
    Algorithm::BucketSpaceSaving,
    Algorithm::LossyCounting,
    Algorithm::StickySampling,
];

#[test]
fn words_become_calls() {
    let words = vec![
        Word::path_end(9, 0).0, // began before the stream: an orphan
        enter(1, 4),
        Word::only_path(2, 0).0,
        enter(3, 8),
        enter(3, 8),
        Word::unwound(2).0, // both 3s are gone
        Word::path_end(1, 5).0,
        enter(3, 8),
        Word::exit(3).0,
        Word::last_path(1, 0).0,
        u64::MAX, // no word
        Word::block(9, 1).0,
        enter(4, 1),
        Word::GAP.0, // after it, nothing of the above is on the stack
        enter(5, 0),
        Word::exit(6).0, // nor is a 6
        enter(7, 0),
        Word::unwound(5).0, // more than were entered
        enter(8, 0),
    ];
    let expected: Vec<(Vec<u32>, u64)> = vec![
        (vec![5], 2),
        (vec![7], 2),
        (vec![8], 2),
        (vec![9], 2),
        (vec![9, 1], 2),
        (vec![9, 1, 2], 2),
        (vec![9, 1, 3], 4),
        (vec![9, 1, 3, 3], 2),
        (vec![9, 4], 2),
    ];
    for algorithm in COUNTING {
        let (all, result) = contexts(algorithm, &[words.clone(), words.clone()]);
        assert_eq!(all, expected, "{}", algorithm.name());
        let tally = result.tally;
        assert_eq!(
            (tally.orphans, tally.gaps, tally.bad_words, tally.lost_exits),
            (2, 2, 2, 2)
        );
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
    }
    assert!("lru".parse::<Algorithm>().is_err());
}

#[test]
fn a_gap_may_say_how_many_enters_rebuild_the_stack() {
    let words = vec![
        enter(1, 0),
        enter(2, 0),
        Word(Word::GAP.0 + 2).0,
        enter(1, 0),
        enter(2, 0),
        enter(3, 0),
    ];
    let (all, _) = contexts(Algorithm::LazySpaceSaving, &[words]);
    assert_eq!(all, [(vec![1], 1), (vec![1, 2], 1), (vec![1, 2, 3], 1)]);
}

/// Activations from before profiling are below what depths count, and may go whenever nothing else is there.
#[test]
fn calls_of_activations_from_before() {
    let below = |method, call| Word::below(method, call).0;
    let unknown = Word::enter(3, None).0;
    let words = vec![
        Word::before(2).0,
        below(1, Some(5)),
        below(2, Some(7)),
        unknown,
        enter(4, 8),
        enter(4, 9),
        Word::unwound(1).0, // both 4s are gone
        enter(4, 8),
        Word::exit(4).0,
        Word::exit(3).0,
        unknown,
        Word::exit(3).0,
        // The upper one is gone, the lower one calls from elsewhere.
        Word::before(1).0,
        below(1, Some(6)),
        unknown,
        Word::exit(3).0,
        Word::before(1).0,
        below(1, None),
        unknown,
        Word::unwound(0).0, // the 3 is gone, and it is not among those that are counted
        unknown,
        Word::exit(3).0,
        Word::before(0).0,
        unknown,
        Word::exit(3).0,
    ];
    let expected: Vec<(Vec<(u32, u16)>, u64)> = vec![
        (vec![(1, UNKNOWN_SITE), (2, 5), (3, 7)], 2),
        (vec![(1, UNKNOWN_SITE), (2, 5), (3, 7), (4, 8)], 2),
        (vec![(1, UNKNOWN_SITE), (2, 5), (3, 7), (4, 8), (4, 9)], 1),
        (vec![(1, UNKNOWN_SITE), (3, 6)], 1),
        (vec![(1, UNKNOWN_SITE), (3, UNKNOWN_SITE)], 2),
        (vec![(3, UNKNOWN_SITE)], 1),
    ];
    for algorithm in COUNTING {
        // The second thread's words come in batches of three.
        let (_, result) = contexts(algorithm, &[words.clone(), words.clone()]);
        assert_eq!(result.tally, Default::default());
        let hot = result.contexts.hot(0.01).unwrap();
        let mut all: Vec<(Vec<(u32, u16)>, u64)> = hot
            .hot()
            .map(|(at, node)| {
                let path = hot
                    .path(at)
                    .iter()
                    .map(|frame| (frame.method, frame.site))
                    .collect();
                (path, node.bounds.unwrap().lower / 2)
            })
            .collect();
        let mut expected = expected.clone();
        all.sort_unstable();
        expected.sort_unstable();
        assert_eq!(all, expected, "{algorithm:?}");
    }
}

#[test]
fn a_prefix_belongs_to_the_next_enter() {
    let prefix = |register| Event::Prefix { method: 1, register }.word().0;
    let words = vec![
        enter(1, 0),
        prefix(6),
        enter(2, 3),
        Word::exit(2).0,
        Word::path_end(1, 0).0,
        prefix(7), // the callee was not instrumented
        Word::path_end(1, 0).0,
        enter(2, 3), // so this is the same call as before
        Word::exit(2).0,
    ];
    let (_, result) = contexts(Algorithm::Exact, &[words]);
    let hot = result.contexts.hot(0.0).unwrap();
    let mut prefixes: Vec<_> = hot
        .nodes()
        .iter()
        .map(|node| (node.frame.method, node.frame.prefix))
        .collect();
    prefixes.sort_unstable();
    assert_eq!(prefixes, [(1, None), (2, Some(6))]);
}

#[test]
fn paths_to_calls_hold_for_the_call() {
    let prefix = |method, register| Event::Prefix { method, register }.word().0;
    let words = vec![
        enter(1, 0),
        prefix(1, 6),
        enter(2, 3),
        prefix(2, 9),
        enter(3, 1),
        Word::exit(3).0,
        Word::exit(2).0,
        enter(4, 3), // code without probes, which 1 called on that path, calls back
        Word::exit(4).0,
        prefix(1, 7),
        Word::enter(5, None).0, // an initialiser: the JVM calls it
        Word::exit(5).0,
        enter(2, 8), // the call for which 5 was initialised
        enter(6, 1), // 2 has not reported any path yet
    ];
    let (_, result) = contexts(Algorithm::Exact, &[words]);
    let hot = result.contexts.hot(0.0).unwrap();
    let mut prefixes: Vec<_> = (0..hot.nodes().len())
        .map(|at| {
            let path = hot.path(at);
            let methods: Vec<u32> = path.iter().map(|frame| frame.method).collect();
            (methods, path.last().unwrap().prefix)
        })
        .collect();
    prefixes.sort_unstable();
    let expected = [
        (vec![1], None),
        (vec![1, 2], Some(6)),
        (vec![1, 2], Some(7)),
        (vec![1, 2, 3], Some(9)),
        (vec![1, 2, 6], None),
        (vec![1, 4], Some(6)),
        (vec![1, 5], None),
    ];
    assert_eq!(prefixes, expected);
}

#[test]
fn random_words_do_no_harm() {
    let mut state = 1u64;
    for &algorithm in Algorithm::ALL {
        for kind in [
            BurstKind::Static,
            BurstKind::Adaptive {
                reenable: NonZeroU32::new(2),
            },
        ] {
            let bursts = BurstOptions {
                interval: NonZeroU64::new(20).unwrap(),
                length: NonZeroU64::new(7).unwrap(),
                kind,
            };
            for bursts in [None, Some(bursts)] {
                let pipeline = Pipeline::new().with(stream(algorithm, bursts));
                let thread = pipeline.open(ThreadInfo::default());
                for round in 0..200 {
                    let words: Vec<u64> = (0..50)
                        .map(|_| {
                            state = state
                                .wrapping_mul(6364136223846793005)
                                .wrapping_add(1442695040888963407);
                            let (kind, method) = (state >> 60 & 0xf, state >> 40 & 3);
                            kind << 60 | method << 32 | state >> 20 & 0xf
                        })
                        .collect();
                    thread.consume(&words);
                    if round == 100 {
                        pipeline.reset();
                    }
                }
                let profile = pipeline.profile(&MethodTable::default()).unwrap();
                let calls = profile.contexts.map(|contexts| contexts.calls);
                assert_eq!(
                    calls.is_some_and(|calls| calls > 0),
                    algorithm != Algorithm::Null,
                    "{algorithm}"
                );
            }
        }
    }
}

#[test]
fn bursts_that_overlap_are_refused() {
    let bursts = Some(BurstOptions {
        interval: NonZeroU64::MIN,
        length: NonZeroU64::MAX,
        kind: BurstKind::Static,
    });
    let options = ContextOptions {
        bursts,
        ..ContextOptions::default()
    };
    assert!(matches!(
        ContextStream::new(options),
        Err(ContextError::BurstLength { .. })
    ));
}

/// Contexts as method numbers and call sites, with their own weights.
type Weights = Vec<(Vec<(u32, u16)>, u64)>;

/// Own weights of all contexts.
fn weights(options: ContextOptions, words: &[u64]) -> (Weights, ContextResult) {
    let analysis = ContextStream::new(options).unwrap();
    let mut thread = analysis.thread(&ThreadInfo::default());
    analysis.consume(&mut thread, words);
    let mut result = analysis.result();
    analysis.add(&mut result, &thread).unwrap();
    let hot = result.contexts.hot(1e-4).unwrap();
    let mut all: Vec<_> = (0..)
        .zip(hot.nodes())
        .filter_map(|(at, node)| {
            let path = hot
                .path(at)
                .iter()
                .map(|frame| (frame.method, frame.site))
                .collect();
            Some((path, node.bounds?.lower)).filter(|&(_, weight)| weight > 0)
        })
        .collect();
    all.sort_unstable();
    (all, result)
}

#[test]
fn bursts_of_the_program_bring_their_stacks() {
    let under_way = |method| Word::enter(method, Some(CALL_UNDER_WAY)).0;
    let words = [
        Word::burst(1, 0, 2).0,
        Word::enter(1, None).0,
        enter(2, 10),
        Word::call(2, 20).0,
        under_way(3), // 1@- 2@10 3@20
        under_way(4), // nothing is known of where 3 called it
        Word::exit(4).0,
        Word::call(3, 7).0,
        under_way(4), // 3 called it at 7
        Word::exit(4).0,
        under_way(4), // code without probes calls again
        Word::exit(4).0,
        Word::exit(3).0,
        under_way(5),           // 2 called it at 20, by code without probes
        Word::enter(6, None).0, // an initialiser
        Word::call(6, 1).0,
        under_way(4),
        Word::call(1, 30).0, // all of these have ended
        under_way(7),
        Word::exit(9).0, // it is not known: nor is what is below
        under_way(8),
        // Another burst, each call of which represents five.
        Word::burst(5, 0, 0).0,
        under_way(1),
        Word::call(1, 3).0,
        under_way(2),
        // Begun in an initialiser, which 1 caused by a call at 40: that continues when it has ended.
        Word::burst(1, 0, 2).0,
        Word::enter(1, None).0,
        Word::call(1, 40).0,
        Word::enter(6, None).0,
        Word::call(6, 1).0,
        under_way(4),
        Word::exit(4).0,
        Word::exit(6).0,
        under_way(9),
    ];
    let none = UNKNOWN_SITE;
    let two = [(1, none), (2, 10)];
    let below = |path: &[(u32, u16)]| [&two[..], path].concat();
    let mut expected = vec![
        (vec![(1, none)], 5),
        (vec![(1, none), (2, 3)], 5),
        (below(&[(3, 20)]), 1),
        (below(&[(3, 20), (4, none)]), 1),
        (below(&[(3, 20), (4, 7)]), 2),
        (below(&[(5, 20)]), 1),
        (below(&[(5, 20), (6, none)]), 1),
        (below(&[(5, 20), (6, none), (4, 1)]), 1),
        (vec![(1, none), (7, 30)], 1),
        (vec![(1, none), (6, none), (4, 1)], 1),
        (vec![(1, none), (9, 40)], 1),
        (vec![(8, none)], 1),
    ];
    expected.sort_unstable();
    let options = |algorithm| ContextOptions {
        algorithm,
        in_program: Some("static:2ms:1ms".parse().unwrap()),
        ..ContextOptions::default()
    };
    for algorithm in COUNTING {
        let (all, result) = weights(options(algorithm), &words);
        assert_eq!(all, expected, "{algorithm}");
        assert_eq!((result.bursts.bursts, result.bursts.walked), (3, 4));
        let tally = result.tally;
        assert_eq!((tally.orphans, tally.lost_exits, tally.bad_words), (0, 1, 0));
    }
    // A method that does not report where it calls catches what ended a constructor.
    let (all, result) = weights(
        options(Algorithm::Exact),
        &[
            Word::burst(1, 0, 0).0,
            under_way(1),
            under_way(2),
            Word::call(2, 4).0,
            under_way(3),
            Word::call(1, NO_CALL_SITE).0,
            under_way(4),
        ],
    );
    let (caught, called) = ((vec![(1, none), (4, none)], 1), (vec![(1, none), (2, none)], 1));
    assert!(
        all.contains(&caught) && all.contains(&called) && all.len() == 4,
        "{all:?}"
    );
    assert_eq!(result.tally, Default::default());
    // A call of what no walk has found.
    let (all, result) = weights(
        options(Algorithm::Exact),
        &[Word::burst(1, 0, 0).0, Word::call(3, 4).0, under_way(5)],
    );
    assert_eq!(all, [(vec![(3, none), (5, 4)], 1)]);
    assert_eq!(result.tally.orphans, 1);
}

#[test]
fn weights_are_charged_to_the_current_context() {
    let words = [
        Word::charge(1000).0, // no method's
        enter(1, 0),
        Word::charge(5).0,
        enter(2, 0),
        Word::charge(70).0,
        Word::charge(80_000).0,
        Word::exit(2).0,
        Word::charge(6).0,
        enter(3, 0),
        Word::unwound(1).0,
        Word::charge(7).0,
        Word::exit(1).0,
        Word::charge(1000).0,
    ];
    let options = |algorithm, weight| ContextOptions {
        algorithm,
        weight,
        ..ContextOptions::default()
    };
    for algorithm in [Algorithm::Exact, Algorithm::LazySpaceSaving] {
        for weight in [ContextWeight::Time, ContextWeight::Alloc] {
            let (all, result) = weights(options(algorithm, weight), &words);
            let heavy = 80_070;
            assert_eq!(
                all,
                [(vec![(1, 0)], 18), (vec![(1, 0), (2, 0)], heavy)],
                "{algorithm}"
            );
            assert_eq!(result.contexts.total(), heavy + 18, "{algorithm}");
        }
    }
}
