//! The `.trace` file: what is written is read; a piece of one is read as far as it goes; anything else is an error.

use crate::common;
use crate::common::conditions::any_conditions;
use crate::common::*;
use proptest::prelude::*;
use trodden_profile::events::{Event, EventKinds, MAX_METHOD, ThreadInfo, Word};
use trodden_profile::trace::{TraceError, TraceItem, TraceReader, TraceWriter, Truncation};
use trodden_profile::{ClassMap, MethodConditions, Profile, ReadError, RunInfo, Skipped};

/// What a trace holds, in order.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    Run(RunInfo),
    Class(u32, ClassMap),
    Conditions(u32, Vec<(u32, MethodConditions)>),
    Skipped(Vec<Skipped>),
    Start(ThreadInfo),
    Words(u64, Vec<u64>),
    End(u64),
}

fn items(bytes: &[u8]) -> Result<(Vec<Item>, Option<Truncation>), TraceError> {
    let mut reader = TraceReader::new(bytes)?;
    let mut items = Vec::new();
    while let Some(item) = reader.next_item()? {
        items.push(match item {
            TraceItem::Run(run) => Item::Run(run),
            TraceItem::Class { first_method, map } => Item::Class(first_method, (*map).clone()),
            TraceItem::Conditions {
                first_method,
                methods,
            } => Item::Conditions(first_method, methods),
            TraceItem::Skipped(entries) => Item::Skipped(entries),
            TraceItem::ThreadStart(thread) => Item::Start(thread),
            TraceItem::Words { thread, words } => Item::Words(thread, words.to_vec()),
            TraceItem::ThreadEnd(thread) => Item::End(thread),
        });
    }
    Ok((items, reader.truncation()))
}

fn written(items: &[Item], kinds: EventKinds) -> Vec<u8> {
    let [Item::Run(first), between @ .., Item::Run(last)] = items else {
        panic!("runs come first and last")
    };
    let mut trace = TraceWriter::new(Vec::new(), kinds, first).unwrap();
    for item in between {
        match item {
            Item::Class(first, map) => trace.define_class(*first, map).unwrap(),
            Item::Conditions(first, methods) => trace.conditions(*first, methods).unwrap(),
            Item::Skipped(entries) => trace.skipped(entries).unwrap(),
            Item::Start(thread) => trace.thread_start(thread).unwrap(),
            Item::Words(thread, words) => trace.chunk(*thread, words).unwrap(),
            Item::End(thread) => trace.thread_end(*thread).unwrap(),
            Item::Run(_) => unreachable!("the strategy makes no other run"),
        }
    }
    trace.finish(last).unwrap()
}

fn any_event() -> impl Strategy<Value = Event> {
    let method = || prop_oneof![8 => 0..4u32, 1 => 0..=MAX_METHOD];
    let argument = || prop_oneof![8 => 0..20u32, 1 => any::<u32>()];
    let site = prop_oneof![Just(None), (0..0xffffu16).prop_map(Some)];
    prop_oneof![
        6 => (method(), argument()).prop_map(|(method, path)| Event::PathEnd { method, path }),
        3 => (method(), site).prop_map(|(method, call_site)| Event::Enter { method, call_site }),
        1 => method().prop_map(|method| Event::Exit { method }),
        2 => (method(), argument()).prop_map(|(method, path)| Event::LastPath { method, path }),
        1 => (method(), argument()).prop_map(|(method, path)| Event::OnlyPath { method, path }),
        1 => argument().prop_map(|depth| Event::Unwound { depth }),
        1 => (method(), argument()).prop_map(|(method, block)| Event::Block { method, block }),
        1 => (method(), argument()).prop_map(|(method, register)| Event::Prefix { method, register }),
        1 => Just(Event::Gap),
    ]
}

fn any_words(length: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(any_event().prop_map(|event| event.word().0), length)
}

/// A trace of up to three threads at a time, classes and skipped entries in between.
fn any_items() -> impl Strategy<Value = Vec<Item>> {
    #[derive(Clone, Debug)]
    enum Step {
        Toggle(u64, String, bool),
        Words(u64, Vec<u64>),
        Class(u32, ClassMap),
        Conditions(u32, u32, MethodConditions),
        Skipped(String),
    }
    let step = prop_oneof![
        1 => (0..3u64, "[a-zä ]{0,6}", any::<bool>()).prop_map(|(id, name, v)| Step::Toggle(id, name, v)),
        4 => (0..3u64, any_words(1..60)).prop_map(|(id, words)| Step::Words(id, words)),
        1 => (any::<u32>(), any_class("a/B")).prop_map(|(first, class)| {
            let mut map = (*class.map).clone();
            // A trace has no shapes, and does not say where inlined code comes from.
            for method in &mut map.methods {
                method.shape = None;
                method.inlined.clear();
            }
            Step::Class(first, map)
        }),
        1 => (any::<u32>(), 0..9u32, any_method("m").prop_flat_map(|map| any_conditions(&map)))
            .prop_map(|(first, method, of)| Step::Conditions(first, method, of)),
        1 => "[a-z/]{1,9}".prop_map(Step::Skipped),
    ];
    (any_run(), prop::collection::vec(step, 0..20), any_run()).prop_map(|(first, steps, last)| {
        let mut items = vec![Item::Run(first)];
        let mut live = Vec::new();
        for step in steps {
            match step {
                Step::Toggle(id, ..) if live.contains(&id) => {
                    live.retain(|&other| other != id);
                    items.push(Item::End(id));
                }
                Step::Toggle(id, name, is_virtual) => {
                    live.push(id);
                    items.push(Item::Start(ThreadInfo { id, name, is_virtual }));
                }
                Step::Words(id, words) if live.contains(&id) => items.push(Item::Words(id, words)),
                Step::Words(..) => {}
                Step::Class(first, map) => items.push(Item::Class(first, map)),
                Step::Conditions(first, method, of) => {
                    // Traces have conditions only.
                    let of = MethodConditions {
                        left_out: Vec::new(),
                        copies: Vec::new(),
                        restarts: Vec::new(),
                        ..of
                    };
                    items.push(Item::Conditions(first, vec![(method, of)]))
                }
                Step::Skipped(class) => {
                    let (method, reason) = (None, "no code".to_owned());
                    items.push(Item::Skipped(vec![Skipped {
                        class,
                        method,
                        reason,
                    }]));
                }
            }
        }
        items.push(Item::Run(last));
        items
    })
}

fn kinds() -> impl Strategy<Value = EventKinds> {
    (0..32u8).prop_map(|bits| EventKinds::from_bits(bits).unwrap())
}

/// Every section stored plainly, after `change`; with right checksums.
fn plain_file(bytes: &[u8], change: impl FnMut(&[u8], &mut Vec<u8>)) -> Vec<u8> {
    let decompress = |stored: &[u8], plain| lz4_flex::block::decompress(stored, plain).unwrap();
    with_plain_sections(bytes, decompress, change)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read(items in any_items(), kinds in kinds()) {
        let bytes = written(&items, kinds);
        prop_assert_eq!(TraceReader::new(&bytes[..]).unwrap().kinds(), kinds);
        let (back, truncation) = self::items(&bytes).unwrap();
        prop_assert_eq!(back, items);
        prop_assert_eq!(truncation, None);
    }

    /// Cut off anywhere: all whole sections, and how much is lost.
    #[test]
    fn a_beginning_is_read_as_far_as_it_goes(items in any_items(), at in any::<prop::sample::Index>()) {
        let bytes = written(&items, EventKinds::PATHS);
        let cut = &bytes[..at.index(bytes.len())];
        match self::items(cut) {
            Ok((found, Some(truncation))) => {
                prop_assert_eq!(&found[..], &items[..found.len()]);
                prop_assert_eq!(truncation.offset + truncation.lost, cut.len() as u64);
                let (again, clean) = self::items(&cut[..truncation.offset as usize]).unwrap();
                prop_assert_eq!(again, found);
                prop_assert_eq!(clean.unwrap().lost, 0);
            }
            Ok((_, None)) => prop_assert!(false, "a cut is noticed"),
            // Without its first section it is nothing.
            Err(TraceError::Section(ReadError::Truncated { offset, .. })) => prop_assert_eq!(offset, cut.len() as u64),
            Err(TraceError::NotTrace) => prop_assert!(cut.is_empty()),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn damage_is_noticed(items in any_items(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
        let mut bytes = written(&items, EventKinds::PATHS);
        let at = at.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        // A length that grew looks as if the rest was missing.
        let noticed = self::items(&bytes).is_err_and(|_| true) || self::items(&bytes).unwrap().1.is_some();
        prop_assert!(noticed, "bit {} of byte {}", bit, at);
    }

    /// With right checksums: it reaches the decoder, which gives only words that are events.
    #[test]
    fn damage_under_a_right_checksum_never_panics(
        items in any_items(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), 1..4),
    ) {
        let bytes = plain_file(&written(&items, EventKinds::PATHS), |_, plain| {
            if plain.is_empty() {
                return;
            }
            for (at, bit) in &flips {
                let at = at.index(plain.len());
                plain[at] ^= 1u8 << bit;
            }
        });
        if let Ok((items, _)) = self::items(&bytes) {
            for item in items {
                if let Item::Words(_, words) = item {
                    prop_assert!(words.iter().all(|&word| Word(word).decode().is_ok()));
                }
            }
        }
    }

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(items(&noise).is_err());
        let mut bytes = written(&example(), EventKinds::PATHS)[..10].to_vec();
        bytes.extend(noise);
        prop_assert!(items(&bytes).is_err());
    }
}

#[test]
fn long_chunks_are_cut_and_words_of_no_event_left_out() {
    let run = RunInfo::default();
    let mut trace = TraceWriter::new(Vec::new(), EventKinds::PATHS, &run).unwrap();
    let info = ThreadInfo {
        id: 9,
        name: "main".to_owned(),
        is_virtual: false,
    };
    trace.thread_start(&info).unwrap();
    let words: Vec<u64> = (0..200_000).map(|i| Word::path_end(i % 3, i % 1000).0).collect();
    trace.chunk(9, &words).unwrap();
    trace
        .chunk(9, &[u64::MAX, Word::GAP.0, Word::exit(1).0 | 5])
        .unwrap();
    trace.chunk(9, &[]).unwrap();
    assert_eq!(
        (
            trace.counts().words,
            trace.counts().bad_words,
            trace.counts().chunks
        ),
        (200_001, 2, 5)
    );
    let bytes = trace.finish(&run).unwrap();
    let (items, _) = items(&bytes).unwrap();
    let found: Vec<u64> = items
        .iter()
        .flat_map(|item| match item {
            Item::Words(9, words) => words.clone(),
            _ => Vec::new(),
        })
        .collect();
    assert_eq!(found[..200_000], words);
    assert_eq!(found[200_000..], [Word::GAP.0]);
}

#[test]
fn foreign_files_are_told_apart() {
    let message = |bytes: &[u8]| items(bytes).unwrap_err().to_string();
    assert_eq!(
        message(&Profile::default().to_bytes().unwrap()),
        "this is a profile, not a trace"
    );
    assert!(message(b"").contains("not a Trodden trace"));
    assert!(message(b"PK\x03\x04 and so on, a jar").contains("not a Trodden trace"));
    let trace = written(&example(), EventKinds::PATHS);
    let error = Profile::read(&trace).unwrap_err().to_string();
    assert!(error.contains("trodden replay"), "{error}");
    let mut newer = trace.clone();
    newer[8] = 7;
    assert_eq!(
        message(&newer),
        "trace version 7 is not supported (this build reads 1..=1)"
    );
    let mut longer = trace.clone();
    longer.push(0);
    assert!(
        message(&longer).contains("1 bytes follow the end marker"),
        "{}",
        message(&longer)
    );
}

/// Errors of broken rules name the section's offset.
#[test]
fn broken_rules_are_told() {
    let trace = written(&example(), EventKinds::PATHS);
    let words = |plain: &[u8]| {
        let bytes = plain_file(&trace, |tag, contents| {
            if tag == b"WORD" {
                *contents = plain.to_vec();
            }
        });
        items(&bytes).unwrap_err().to_string()
    };
    for (plain, expected) in [
        (&[7, 1, 14][..], "thread 7 is not running"),
        (&[1, 2, 14], "2 items cannot be in the 1 bytes that are left"),
        (&[1, 1, 0x80], "a number is cut off"),
        (&[1, 1, 0x0f], "15 is no code of a word"),
        (&[1, 1, 0], "the topmost activation's method is not known"),
        (&[1, 1, 7], "the topmost activation's method is not known"),
        (&[1, 1, 14, 14], "there is more than belongs here"),
        (
            &[1, 1, 0x1e],
            "argument of a word without one: 1 is not from 0 to 0",
        ),
        (
            &[1, 1, 0x05, 0xff, 0xff, 3],
            "call site: 65535 is not from 0 to 65534",
        ),
        (&[1, 1, 0x04 | 0x80, 0xff, 0xff, 0xff, 0xff, 0x7f], "method"),
    ] {
        let error = words(plain);
        assert!(error.contains(expected), "{plain:?}: {error}");
        assert!(error.contains("section 'WORD' at offset"), "{error}");
    }
    let mut end = plain_file(&trace, |_, _| ());
    let length = end.len();
    end[length - 1] ^= 1;
    let error = items(&end).unwrap_err().to_string();
    assert!(
        error.contains("section 'END ' at offset") && error.contains("checksum"),
        "{error}"
    );
}

/// The trace of the documentation: `abs` is called twice from a loop of a method that was entered before.
fn example() -> Vec<Item> {
    let profile = common::example();
    let first = RunInfo {
        jvm: "OpenJDK 17".to_owned(),
        command: "Abs".to_owned(),
        started_ms: 1,
        probe: "events".to_owned(),
        exact: true,
        version: "0.1.0".to_owned(),
        ..RunInfo::default()
    };
    let last = RunInfo {
        seconds: 0.5,
        ..first.clone()
    };
    let words = [
        Event::PathEnd { method: 4, path: 1 },
        Event::OnlyPath { method: 7, path: 0 },
        Event::PathEnd { method: 4, path: 300 },
        Event::Enter {
            method: 7,
            call_site: None,
        },
        Event::LastPath { method: 7, path: 1 },
        Event::Enter {
            method: 5,
            call_site: Some(20),
        },
        Event::Unwound { depth: 1 },
        Event::PathEnd { method: 4, path: 2 },
        Event::LastPath { method: 4, path: 3 },
    ];
    vec![
        Item::Run(first),
        Item::Start(ThreadInfo {
            id: 1,
            name: "main".to_owned(),
            is_virtual: false,
        }),
        Item::Class(7, (*profile.classes[0].map).clone()),
        Item::Words(1, words.iter().map(|event| event.word().0).collect()),
        Item::Skipped(profile.skipped),
        Item::End(1),
        Item::Run(last),
    ]
}

/// The annotated example is a trace, and the one that it says it is.
#[test]
fn the_documented_example_is_right() {
    let bytes: Vec<u8> = include_str!("trace.hex")
        .lines()
        .map(|line| line.split('#').next().unwrap())
        .flat_map(str::split_whitespace)
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect();
    assert_eq!(items(&bytes).unwrap(), (example(), None));
    assert_eq!(
        bytes,
        plain_file(&written(&example(), EventKinds::ACTIVATION_PATHS), |_, _| ())
    );
}

/// For a change of the example.
#[test]
#[ignore = "prints the bytes of trace.hex"]
fn print_the_example() {
    for byte in plain_file(&written(&example(), EventKinds::ACTIVATION_PATHS), |_, _| ()) {
        print!("{byte:02x} ");
    }
}
