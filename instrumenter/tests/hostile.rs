//! Damaged and oversized class files: no panic, errors that say where, no quadratic behaviour.

use std::time::{Duration, Instant};

use crate::common::Random;
use trodden_instrumenter::{
    ClassIds, EventProbes, Filter, InstrumentOptions, Instrumenter, Preparation, ProbeKind, round_trip,
};

const FIXTURES: [&[u8]; 2] = [
    include_bytes!("fixtures/Shapes.class"),
    include_bytes!("fixtures/Small.class"),
];
const IDS: ClassIds = ClassIds::new(1, 2);

fn instrumenters() -> Vec<Instrumenter> {
    let of = |kind| {
        let mut options = InstrumentOptions::new(kind);
        options.filter = Filter::new(&["*"], &[]).unwrap();
        Instrumenter::new(options)
    };
    ProbeKind::ALL.into_iter().map(of).collect()
}

#[test]
fn round_trips_are_identical() {
    for class in FIXTURES {
        assert_eq!(round_trip(class).unwrap(), class);
    }
}

#[test]
fn emitted_classes_survive_a_round_trip_and_are_recognised() {
    for class in FIXTURES {
        for instrumenter in instrumenters() {
            let Preparation::Ready(prepared) = instrumenter.prepare(class).unwrap() else {
                panic!("nothing to instrument");
            };
            let emitted = prepared.emit(IDS);
            assert_eq!(emitted, prepared.emit(IDS));
            assert_eq!(round_trip(&emitted).unwrap(), emitted);
            // By whatever probe, whichever probe is to come.
            for again in instrumenters() {
                match again.prepare(&emitted).unwrap() {
                    Preparation::Unchanged { skipped } => {
                        assert_eq!(skipped[0].reason, "already instrumented by Trodden")
                    }
                    Preparation::Ready(_) => panic!("instrumented twice"),
                }
            }
        }
    }
}

/// One entry of the constant pool says that a class is instrumented, once, even if no probe calls anything.
#[test]
fn the_mark_is_there_once() {
    let name = b"java/lang/Trodden";
    for class in FIXTURES {
        for instrumenter in instrumenters() {
            let Preparation::Ready(prepared) = instrumenter.prepare(class).unwrap() else {
                panic!("nothing to instrument");
            };
            let emitted = prepared.emit(IDS);
            let found = emitted.windows(name.len()).filter(|w| w == name).count();
            assert_eq!(found, 1, "{:?}", instrumenter.options().probes);
        }
    }
}

/// With no place left for the mark, the class is left alone; with exactly one, it gets it.
#[test]
fn a_full_constant_pool_has_no_room_for_the_mark() {
    // iload_0; ifeq +4; iconst_0; istore_0; return: two paths, and small numbers, so probe safepoint needs no
    // constants.
    let class = class_with(&[0x1a, 0x99, 0, 5, 0x03, 0x3b, 0xb1], &[]);
    let mut options = InstrumentOptions::new(ProbeKind::Safepoint);
    options.filter = Filter::new(&["*"], &[]).unwrap();
    let instrumenter = Instrumenter::new(options);
    for (left, fits) in [(0, false), (1, true), (2, true)] {
        let filled = filled(&class, 8, 65_535 - left);
        match instrumenter.prepare(&filled).unwrap() {
            Preparation::Ready(prepared) => {
                assert!(fits, "{left} free");
                let emitted = prepared.emit(IDS);
                assert_eq!(round_trip(&emitted).unwrap(), emitted);
                assert!(matches!(
                    instrumenter.prepare(&emitted).unwrap(),
                    Preparation::Unchanged { .. }
                ));
            }
            Preparation::Unchanged { skipped } => {
                assert!(!fits, "{left} free");
                assert_eq!(skipped[0].reason, "constant pool is full");
            }
        }
    }
}

/// Where the JVM reports calls, no method is left out because there is no room for probes.
#[test]
fn what_gets_no_probes_needs_no_room() {
    let [probed, unprobed] = [EventProbes::CallBursts, EventProbes::JvmCallBursts].map(|probes| {
        let mut options = InstrumentOptions::new(probes);
        options.filter = Filter::new(&["*"], &[]).unwrap();
        Instrumenter::new(options)
    });
    // As large as may be compiled.
    let large = class_with(&[[0; 7_999].as_slice(), &[0xb1]].concat(), &[]);
    let full = filled(&class_with(&[0xb1], &[]), 8, 65_535);
    for class in [large, full] {
        match probed.prepare(&class).unwrap() {
            Preparation::Unchanged { skipped } => assert_eq!(skipped.len(), 1),
            Preparation::Ready(_) => panic!("there is no room for probes"),
        }
        match unprobed.prepare(&class).unwrap() {
            Preparation::Ready(prepared) => {
                assert_eq!((prepared.map().methods.len(), prepared.skipped()), (1, &[][..]));
            }
            Preparation::Unchanged { skipped } => panic!("{skipped:?}"),
        }
    }
}

/// The class with Integer constants behind its own, so that the pool's count becomes `to`.
fn filled(class: &[u8], from: usize, to: usize) -> Vec<u8> {
    let mut out = class.to_vec();
    out[8..10].copy_from_slice(&(to as u16).to_be_bytes());
    // The pool ends where the access flags of `class_with` begin.
    let end = 10
        + ["Big", "java/lang/Object", "m", "(I)V", "Code"]
            .map(|t| 3 + t.len())
            .iter()
            .sum::<usize>()
        + 6;
    let more: Vec<u8> = (from..to)
        .flat_map(|i| [&[3][..], &(i as u32).to_be_bytes()].concat())
        .collect();
    out.splice(end..end, more);
    out
}

#[test]
fn mutations_never_panic_and_errors_tell_where() {
    let mut random = Random(0xbad);
    let instrumenters = instrumenters();
    let (mut errors, mut read, mut emitted) = (0, 0, 0);
    for round in 0..20_000 {
        let mut bytes = FIXTURES[round % 2].to_vec();
        if random.below(8) == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        for _ in 0..1 + random.below(3) {
            let Some(last) = bytes.len().checked_sub(1) else {
                break;
            };
            let at = random.below(last + 1);
            bytes[at] = [random.below(256) as u8, 0, 255, bytes[at] ^ 1 << random.below(8)][random.below(4)];
        }
        let readable = round_trip(&bytes);
        match &readable {
            Ok(once) => {
                read += 1;
                assert_eq!(&round_trip(once).unwrap(), once);
            }
            Err(error) => {
                errors += 1;
                assert!(error.offset <= bytes.len(), "{error}");
                assert!(!error.message.is_empty());
            }
        }
        let instrumenter = &instrumenters[round % 3];
        if let Ok(Preparation::Ready(prepared)) = instrumenter.prepare(&bytes) {
            let class = prepared.emit(IDS);
            emitted += 1;
            // A method with a broken debug table stays unchanged, and is still broken.
            if readable.is_ok() {
                round_trip(&class).unwrap_or_else(|error| panic!("round {round}: {error}"));
            }
        }
    }
    assert!(
        errors > 2_000 && read > 2_000 && emitted > 2_000,
        "{errors} {read} {emitted}"
    );
}

fn u2(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(&(value as u16).to_be_bytes());
}

/// A class of version 49 (no frames) with one static method `m(I)V`.
fn class_with(code: &[u8], handlers: &[[usize; 3]]) -> Vec<u8> {
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49];
    u2(&mut out, 8);
    for text in ["Big", "java/lang/Object", "m", "(I)V", "Code"] {
        out.push(1);
        u2(&mut out, text.len());
        out.extend_from_slice(text.as_bytes());
    }
    out.extend_from_slice(&[7, 0, 1, 7, 0, 2]);
    for field in [0x21, 6, 7, 0, 0, 1, 9, 3, 4, 1, 5] {
        u2(&mut out, field);
    }
    out.extend_from_slice(&(12 + code.len() as u32 + 8 * handlers.len() as u32).to_be_bytes());
    u2(&mut out, 4);
    u2(&mut out, 1);
    out.extend_from_slice(&(code.len() as u32).to_be_bytes());
    out.extend_from_slice(code);
    u2(&mut out, handlers.len());
    for [start, end, handler] in handlers {
        [*start, *end, *handler, 0]
            .into_iter()
            .for_each(|v| u2(&mut out, v));
    }
    u2(&mut out, 0);
    u2(&mut out, 0);
    out
}

/// A method whose last instruction lets execution run on is left alone; the class's other methods take
/// probes.
#[test]
fn code_that_runs_off_the_end_is_the_methods_own_trouble() {
    // iload_0; ifeq +5; iconst_0; istore_0; then return or nop.
    let sound = class_with(&[0x1a, 0x99, 0, 5, 0x03, 0x3b, 0xb1], &[]);
    let runs_off = class_with(&[0x1a, 0x99, 0, 5, 0x03, 0x3b, 0x00], &[]);
    // The two differ in one instruction of their only method: put both methods into one class.
    let texts = ["Big", "java/lang/Object", "m", "(I)V", "Code"];
    let methods = 10 + texts.map(|t| 3 + t.len()).iter().sum::<usize>() + 6 + 10;
    let method = methods + 2..sound.len() - 2;
    let both = [
        &sound[..methods],
        &[0, 2],
        &sound[method.clone()],
        &runs_off[method],
        &[0, 0],
    ]
    .concat();
    assert_eq!(round_trip(&both).unwrap(), both);
    for instrumenter in instrumenters() {
        let Preparation::Ready(prepared) = instrumenter.prepare(&both).unwrap() else {
            panic!("the sound method takes no probes");
        };
        assert_eq!(prepared.map().methods.len(), 1);
        assert_eq!(prepared.skipped().len(), 1);
        assert_eq!(
            prepared.skipped()[0].reason,
            "execution can run off the end of the code"
        );
        let emitted = prepared.emit(IDS);
        assert_eq!(round_trip(&emitted).unwrap(), emitted);
        match instrumenter.prepare(&runs_off).unwrap() {
            Preparation::Unchanged { skipped } => assert_eq!(skipped.len(), 1),
            Preparation::Ready(_) => panic!("it has no end to report paths at"),
        }
    }
}

/// Both sides of the largest methods: very many branches, very many handlers, one target of very many
/// branches.
#[test]
fn big_methods_take_no_quadratic_time() {
    let branches: Vec<u8> = [0x1a, 0x99, 0, 3]
        .repeat(16_000)
        .into_iter()
        .chain([0xb1])
        .collect();
    let handlers: Vec<[usize; 3]> = (0..6_000).map(|i| [4 * i, 4 * i + 4, 4 * i + 4]).collect();
    let one_target: Vec<u8> = (0..8_000u32)
        .flat_map(|i| [&[0x1a, 0x99][..], &((4 * 8_000 - 4 * i - 1) as u16).to_be_bytes()].concat())
        .chain([0xb1])
        .collect();
    let full = vec![[0, 1, 1]; 65_535];
    for (name, code, handlers) in [
        ("branches", &branches, &[][..]),
        ("handlers", &branches, &handlers),
        ("one target", &one_target, &[]),
        ("equal handlers", &branches, &full),
    ] {
        let class = class_with(code, handlers);
        let from = Instant::now();
        assert_eq!(round_trip(&class).unwrap(), class, "{name}");
        for instrumenter in instrumenters() {
            if let Ok(Preparation::Ready(prepared)) = instrumenter.prepare(&class) {
                round_trip(&prepared.emit(IDS)).unwrap();
            }
        }
        let took = from.elapsed();
        println!("{name}: {took:?}");
        // Unoptimised and on a busy machine; quadratic it was minutes.
        assert!(took < Duration::from_secs(30), "{name} took {took:?}");
    }
}

#[test]
fn two_code_attributes_are_an_error() {
    let mut class = class_with(&[0xb1], &[]);
    let at = class.len() - 2 - (12 + 1) - 6;
    let code = class[at..class.len() - 2].to_vec();
    class[at - 1] = 2;
    let end = class.len() - 2;
    class.splice(end..end, code);
    let error = round_trip(&class).unwrap_err();
    assert_eq!(error.message, "a method has two Code attributes");
}
