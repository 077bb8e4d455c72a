//! Methods that are too large for a probe in front of each call: first these probes go, then all of them.

use crate::common::{self, Class};
use trodden_instrumenter::{
    CallWeight, ClassIds, EventProbes, Filter, InstrumentOptions, Instrumenter, Preparation, ProbeKind,
    round_trip,
};
use trodden_profile::Skipped;

const IDS: ClassIds = ClassIds::new(7, 300);

/// HotSpot's `HugeMethodLimit`, and the class file format's own.
const LIMITS: [(usize, &str); 2] = [
    (
        8_000,
        "probes would push it over HotSpot's 8,000-byte compilation limit",
    ),
    (65_535, "probes would push it over 65,535 bytes"),
];

/// All kinds of probes that report call sites: their names, and what they call in front of a call, at the
/// beginning, and at the end.
fn kinds() -> Vec<(Instrumenter, [&'static str; 3])> {
    let kind = |probes: EventProbes, calls| {
        let mut options = InstrumentOptions::new(probes);
        options.filter = Filter::new(&["*"], &[]).unwrap();
        (Instrumenter::new(options), calls)
    };
    vec![
        kind(
            EventProbes::Calls(CallWeight::Nothing),
            ["call", "enterFrom", "exit"],
        ),
        kind(
            EventProbes::Calls(CallWeight::Paths),
            ["call", "enterFrom", "lastPath"],
        ),
        kind(
            EventProbes::Calls(CallWeight::Time),
            ["call", "enterTimed", "exitTimed"],
        ),
        kind(
            EventProbes::Calls(CallWeight::PathsToCalls),
            ["callAlong", "enterAlong", "exitAlong"],
        ),
        kind(EventProbes::CallBursts, ["calls", "begins", "ends"]),
    ]
}

fn u2(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(&(value as u16).to_be_bytes());
}

/// A class of version 49 (no frames) whose one static method of that name calls another class `calls` times,
/// in a try block whose handler returns.
fn class_with(name: &str, calls: usize, loops: bool) -> Vec<u8> {
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49];
    u2(&mut out, 13);
    for text in ["Big", "java/lang/Object", name, "()V", "Code", "called", "Other"] {
        out.push(1);
        u2(&mut out, text.len());
        out.extend_from_slice(text.as_bytes());
    }
    // 8, 9, 12: the classes; 10: called()V; 11: Other.called()V.
    out.extend_from_slice(&[7, 0, 1, 7, 0, 2, 12, 0, 6, 0, 4, 10, 0, 12, 0, 10, 7, 0, 7]);
    for field in [0x21, 8, 9, 0, 0, 1, 9, 3, 4, 1, 5] {
        u2(&mut out, field);
    }
    let mut code = [0xb8, 0, 11].repeat(calls);
    if loops {
        // aconst_null; ifnonnull to the last call.
        code.extend_from_slice(&[0x01, 0xc7]);
        code.extend_from_slice(&(-4i16).to_be_bytes());
    }
    let handler = code.len() + 1;
    // return; pop; return.
    code.extend_from_slice(&[0xb1, 0x57, 0xb1]);
    out.extend_from_slice(&(20 + code.len() as u32).to_be_bytes());
    u2(&mut out, 1);
    u2(&mut out, 0);
    out.extend_from_slice(&(code.len() as u32).to_be_bytes());
    out.extend_from_slice(&code);
    for field in [1, 0, handler - 1, handler, 0, 0, 0] {
        u2(&mut out, field);
    }
    out
}

/// The outcome for the method.
#[derive(Debug, PartialEq)]
enum Form {
    Full { bytes: usize },
    WithoutCallSites { bytes: usize, reason: String },
    LeftAlone { reason: String },
}

fn form(instrumenter: &Instrumenter, [call, enter, exit]: [&str; 3], class: &[u8], calls: usize) -> Form {
    let prepared = match instrumenter.prepare(class).unwrap() {
        Preparation::Ready(prepared) => prepared,
        Preparation::Unchanged { skipped } => {
            assert!(skipped.len() == 1 && !skipped[0].has_probes(), "{skipped:?}");
            let reason = skipped[0].reason.clone();
            return Form::LeftAlone { reason };
        }
    };
    let (emitted, codes) = prepared.emit_with_code(IDS);
    assert_eq!(round_trip(&emitted).unwrap(), emitted);
    let emitted = Class::parse(&emitted);
    let method = &emitted.methods[0];
    // What it calls of the shim, and where.
    let mut called: Vec<(String, u32)> = Vec::new();
    let mut pc = 0;
    while pc < method.code.len() as u32 {
        if method.code[pc as usize] == 0xb8 {
            let (class, name) = emitted.callee(usize::from(common::u2(&method.code, pc + 1)));
            if class != "Other" {
                called.push((name, pc));
            }
        }
        pc += common::length(&method.code, pc);
    }
    let count = |name: &str| called.iter().filter(|(called, _)| called == name).count();
    assert_eq!(count(enter) + count("initialise"), 1, "{called:?}");
    // At both returns, and where an exception leaves the method.
    let left = if exit == "lastPath" { count("exit") } else { 0 };
    assert_eq!(count(exit) + left, 3, "{called:?}");
    // The method's own handler, and ours behind it.
    assert_eq!(method.handlers.len(), 2);
    let bytes = method.code.len();
    match prepared.skipped() {
        [] => {
            assert_eq!(count(call), calls, "{called:?}");
            assert_eq!(codes[0].pc_map.len(), calls + 3);
            Form::Full { bytes }
        }
        [Skipped { reason, .. }] => {
            assert!(prepared.skipped()[0].has_probes(), "{reason}");
            // One where the exception is caught.
            let caught: Vec<u32> = called
                .iter()
                .filter(|(name, _)| ["call", "calls"].contains(&name.as_str()))
                .map(|&(_, pc)| pc)
                .collect();
            let (_, end, handler) = method.handlers[0];
            assert!(
                caught.len() == 1 && caught[0] > handler && handler >= end,
                "{called:?}"
            );
            assert!(codes[0].pc_map.is_empty());
            let reason = reason.strip_prefix(Skipped::NO_CALL_SITES).unwrap().to_owned();
            Form::WithoutCallSites { bytes, reason }
        }
        more => panic!("{more:?}"),
    }
}

/// Up to each limit a method has all probes, then those that fit: where it changes is where it has to, to the
/// byte.
#[test]
fn call_sites_go_before_methods_do() {
    for (instrumenter, names) in kinds() {
        let of = |calls: usize| form(&instrumenter, names, &class_with("m", calls, false), calls);
        let size = |form: &Form| match form {
            Form::Full { bytes } | Form::WithoutCallSites { bytes, .. } => *bytes,
            Form::LeftAlone { .. } => panic!("{form:?}"),
        };
        // Sizes are linear but for the places of calls, which are pushed in one to three bytes.
        let (few, more) = (size(&of(100)), size(&of(110)));
        let per_call = (more - few) / 10;
        assert!((more - few).is_multiple_of(10) && per_call > 10, "{names:?}");
        for (limit, why) in LIMITS {
            // A method that is huge already may grow up to the second limit.
            let from = if limit == 8_000 { 1 } else { 2_700 };
            let fits = |calls: usize| matches!(of(calls), Form::Full { .. });
            let (mut low, mut high) = (from, (limit - 3) / 3);
            if limit == 8_000 {
                while high - low > 1 {
                    let middle = (low + high) / 2;
                    *(if fits(middle) { &mut low } else { &mut high }) = middle;
                }
                assert!(
                    size(&of(low)) <= limit && size(&of(low)) + per_call > limit,
                    "{names:?} {low}"
                );
            }
            let without = |calls: usize| match of(calls) {
                Form::WithoutCallSites { bytes, reason } => {
                    assert_eq!(reason, why, "{names:?} {calls}");
                    assert!(bytes <= limit);
                    bytes
                }
                other => panic!("{names:?} {calls}: {other:?}"),
            };
            let first = if limit == 8_000 { high } else { 6_000 };
            let added = without(first) - (3 * first + 3);
            assert!(added < 64, "{names:?}: {added}");
            // The last one with room for that.
            let last = (limit - added - 3) / 3;
            assert_eq!(without(last), 3 * last + 3 + added);
            assert_eq!(
                of(last + 1),
                Form::LeftAlone {
                    reason: why.to_owned()
                },
                "{names:?}"
            );
        }
        // Just above the first limit without probes: there is nothing to lose.
        assert!(matches!(of(2_700), Form::Full { .. }), "{names:?}");
    }
}

/// A class initialiser that has no loops is never compiled.
#[test]
fn initialisers_without_loops_may_be_large() {
    for (instrumenter, [call, enter, exit]) in kinds() {
        let enter = match enter {
            "enterTimed" => "initialiseTimed",
            "enterAlong" => "initialiseAlong",
            "begins" => "initialises",
            _ => "initialise",
        };
        // `form` counts that one anyway.
        let names = [call, if enter == "initialise" { "-" } else { enter }, exit];
        let of = |loops| form(&instrumenter, names, &class_with("<clinit>", 1_000, loops), 1_000);
        assert!(matches!(of(false), Form::Full { bytes } if bytes > 8_000));
        match of(true) {
            Form::WithoutCallSites { bytes, reason } => assert!(bytes < 8_000 && reason == LIMITS[0].1),
            other => panic!("{other:?}"),
        }
    }
    let counters = InstrumentOptions {
        filter: Filter::new(&["*"], &[]).unwrap(),
        single_path_methods: true,
        ..InstrumentOptions::new(ProbeKind::Counters)
    };
    let instrumenter = Instrumenter::new(counters);
    for (name, loops, takes) in [
        ("<clinit>", false, true),
        ("<clinit>", true, false),
        ("m", false, false),
    ] {
        let class = class_with(name, 2_664, loops);
        let ready = matches!(instrumenter.prepare(&class).unwrap(), Preparation::Ready(_));
        assert_eq!(ready, takes, "{name} {loops}");
    }
}

/// The counting of cut paths goes before the method's counters do: every size near HotSpot's limit has one of
/// three forms, in this order.
#[test]
fn cut_paths_go_before_methods_do() {
    let mut options = InstrumentOptions::new(ProbeKind::Counters);
    options.filter = Filter::new(&["*"], &[]).unwrap();
    options.cut_paths = true;
    options.single_path_methods = true;
    let instrumenter = Instrumenter::new(options);
    let (limit, why) = LIMITS[0];
    let mut forms = Vec::new();
    for calls in limit / 3 - 40..limit / 3 {
        let class = class_with("big", calls, false);
        let form = match instrumenter.prepare(&class).unwrap() {
            Preparation::Unchanged { skipped } => {
                assert_eq!((skipped.len(), skipped[0].reason.as_str()), (1, why));
                2
            }
            Preparation::Ready(prepared) => {
                let emitted = prepared.emit(IDS);
                assert_eq!(round_trip(&emitted).unwrap(), emitted);
                let emitted = Class::parse(&emitted);
                let method = &emitted.methods[0];
                assert!(method.code.len() <= limit);
                let own = method.handlers.len();
                match prepared.skipped() {
                    [] => {
                        assert_eq!(own, 2, "the method's handler, and ours");
                        0
                    }
                    [one] => {
                        assert_eq!(one.reason, format!("{}{why}", Skipped::NO_CUT_PATHS));
                        assert!(one.has_probes());
                        assert_eq!(own, 1);
                        1
                    }
                    more => panic!("{more:?}"),
                }
            }
        };
        forms.push(form);
    }
    assert!(forms.is_sorted(), "{forms:?}");
    assert!((0..3).all(|form| forms.contains(&form)), "{forms:?}");
}
