//! Executes the rewritten code along random walks, looking only at the path register and the calls to the shim,
//! and compares with path numbers added up from the P-DAG along the same walk of the original graph.
//!
//! Neither the rewriter nor its reader nor the placement (`Plan`) is trusted: code is decoded by `common`, and
//! expected numbers come from `PathDag` values, starts and ends alone.

mod common;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use common::{Class, Constant, Method, Random};
use trodden_instrumenter::{
    ClassIds, Filter, Guide, InstrumentOptions, Instrumenter, MethodCode, Preparation, ProbeKind,
};
use trodden_numbering::{BlockId, EdgeRef, FlowGraph, PathEnd, StartKind};
use trodden_profile::events::EventKinds;
use trodden_profile::{BlockExit, ClassProfile, CounterLayout, EdgeLabel, MethodCounts, MethodMap, Profile};

const IDS: [ClassIds; 2] = [
    ClassIds {
        first_counter: 3,
        first_method: 40,
    },
    ClassIds {
        first_counter: 70_000,
        first_method: 1 << 20,
    },
];

/// What the P-DAG says along a walk.
struct Expected<'m> {
    map: &'m MethodMap,
    number: u64,
    /// First block and edges since the path's start; checked against regeneration.
    first: BlockId,
    edges: Vec<EdgeRef>,
    /// Paths that must be reported, in order, and how many were ended but are not observed.
    reports: Vec<u64>,
    ended: u64,
}

impl<'m> Expected<'m> {
    fn enter(map: &'m MethodMap, kind: StartKind, block: BlockId) -> u64 {
        let start = map
            .dag
            .starts()
            .iter()
            .find(|s| s.kind == kind && s.block == block);
        start
            .unwrap_or_else(|| panic!("no {kind:?} start at {block:?}"))
            .value
    }

    fn end(&mut self, end: PathEnd) {
        let path = self
            .map
            .dag
            .regenerate(&self.map.graph, self.number)
            .expect("a path of that number");
        assert_eq!(
            (path.first, &path.edges, path.end),
            (self.first, &self.edges, end)
        );
        self.ended += 1;
        if self.map.unobserved.binary_search(&self.number).is_err() {
            self.reports.push(self.number);
        }
    }

    fn start(&mut self, kind: StartKind, block: BlockId) {
        self.number = Self::enter(self.map, kind, block);
        self.first = block;
        self.edges.clear();
        self.arrive(block);
    }

    fn arrive(&mut self, block: BlockId) {
        if let Some(cause) = self.map.dag.end_cause(block) {
            self.end(PathEnd::At(block, cause));
            self.number = self
                .map
                .dag
                .restart(block)
                .expect("paths restart where they end")
                .value;
            self.first = block;
            self.edges.clear();
        }
    }

    fn follow(&mut self, from: BlockId, index: u32) -> BlockId {
        let edge = EdgeRef { from, index };
        self.number += self.map.dag.value(edge);
        self.edges.push(edge);
        let to = self.map.graph.successors(from)[index as usize];
        self.arrive(to);
        to
    }
}

struct Walk<'w> {
    class: &'w Class,
    old: &'w Method,
    new: &'w Method,
    map: &'w MethodMap,
    old_of: HashMap<u32, u32>,
    slot: u16,
    base: u64,
    kind: ProbeKind,
    events: EventKinds,
    /// Constant that names the method (or its class) in calls to the shim.
    ids: [i64; 2],
}

/// A value on the probes' own operand stack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Int(i64),
    Address,
    Depth,
}

impl Walk<'_> {
    fn run(&self, random: &mut Random, steps: usize) -> (u64, u64) {
        let code = &self.new.code;
        let mut expected = Expected {
            map: self.map,
            number: 0,
            first: BlockId::new(0),
            edges: Vec::new(),
            reports: Vec::new(),
            ended: 0,
        };
        expected.start(StartKind::Entry, BlockId::new(0));
        let mut block = BlockId::new(0);
        let mut old_at = 0;
        let mut locals: HashMap<u16, Value> = HashMap::new();
        let mut stack: Vec<Value> = Vec::new();
        let mut reports: Vec<u64> = Vec::new();
        let mut pc = 0u32;
        let (mut done, mut probes) = (0, 0);
        loop {
            let op = code[pc as usize];
            let next = pc + common::length(code, pc);
            let Some(&old) = self.old_of.get(&pc) else {
                probes += 1;
                assert!(probes < 40 * (steps + 10), "probe code runs in circles");
                pc = self.probe(pc, next, &mut locals, &mut stack, &mut reports);
                continue;
            };
            // An old instruction: the one that the walk of the original graph is at, with the register right.
            assert!(
                stack.is_empty(),
                "a probe left something on the stack before {old}"
            );
            assert_eq!(old, old_at, "went to the wrong place");
            assert_eq!(self.map.block_at(old), Some(block));
            assert_eq!(op, self.old.code[old as usize], "opcode at {old}");
            self.assert_hands_off(code, pc);
            let info = &self.map.blocks[block.index()];
            let leaves = old == info.last && matches!(info.exit, BlockExit::Return | BlockExit::Throw);
            let register = Value::Int((expected.number + self.base) as i64);
            assert_eq!(locals.get(&self.slot), Some(&register), "register at {old}");
            done += 1;
            let covering = |handlers: &[(u32, u32, u32)], at: u32| -> Vec<usize> {
                (0..handlers.len())
                    .filter(|&i| handlers[i].0 <= at && at < handlers[i].1)
                    .collect()
            };
            let handlers = covering(&self.new.handlers, pc);
            assert_eq!(handlers, covering(&self.old.handlers, old), "handlers of {old}");
            if !handlers.is_empty() && !leaves && random.below(12) == 0 {
                // An exception in the middle of a block: the path so far is lost.
                let taken = handlers[random.below(handlers.len())];
                pc = self.new.handlers[taken].2;
                old_at = self.old.handlers[taken].2;
                block = self.map.block_at(old_at).expect("a handler is in a block");
                expected.start(StartKind::Handler, block);
                continue;
            }
            if leaves {
                expected.end(PathEnd::Exit(block));
                if info.exit == BlockExit::Throw && !handlers.is_empty() {
                    let taken = handlers[random.below(handlers.len())];
                    pc = self.new.handlers[taken].2;
                    old_at = self.old.handlers[taken].2;
                    block = self.map.block_at(old_at).expect("a handler is in a block");
                    expected.start(StartKind::Handler, block);
                    if done < steps {
                        continue;
                    }
                } else {
                    self.compare(&expected, &reports);
                    return (expected.ended, reports.len() as u64);
                }
            }
            if done >= steps {
                // Stopped in the middle; what was reported until now must be a beginning of what was expected.
                if self.kind != ProbeKind::Safepoint {
                    assert!(
                        expected.reports.starts_with(&reports),
                        "{:?} {reports:?}",
                        expected.reports
                    );
                }
                return (expected.ended, reports.len() as u64);
            }
            if old != info.last {
                old_at += common::length(&self.old.code, old);
                pc = next;
                continue;
            }
            let index;
            (index, pc) = self.leave(info.exit, random, pc, next, block);
            block = expected.follow(block, index);
            old_at = self.map.blocks[block.index()].start;
        }
    }

    /// Chooses how a block is left: the edge's position, and where the new code goes.
    fn leave(&self, exit: BlockExit, random: &mut Random, pc: u32, next: u32, block: BlockId) -> (u32, u32) {
        let code = &self.new.code;
        let target = || match code[pc as usize] {
            0xc8 => (pc as i32 + common::i4(code, pc + 1)) as u32,
            _ => (pc as i32 + i32::from(common::u2(code, pc + 1) as i16)) as u32,
        };
        match exit {
            BlockExit::FallThrough => (0, next),
            BlockExit::Goto => (0, target()),
            BlockExit::Branch => match random.below(2) {
                0 => (0, target()),
                _ => (1, next),
            },
            BlockExit::Switch => {
                let cases = common::switch(code, pc);
                let (key, to) = cases[random.below(cases.len())];
                let labels = &self.map.blocks[block.index()].labels;
                let is = |label: &EdgeLabel| match (label, key) {
                    (EdgeLabel::Switch { keys, .. }, Some(key)) => keys.contains(&key),
                    (EdgeLabel::Switch { default, .. }, None) => *default,
                    _ => false,
                };
                (
                    labels.iter().position(is).expect("every case is an edge") as u32,
                    to,
                )
            }
            BlockExit::Return | BlockExit::Throw => unreachable!("left already"),
        }
    }

    /// Old code must not touch the locals of the probes.
    fn assert_hands_off(&self, code: &[u8], pc: u32) {
        let used = match code[pc as usize] {
            0x15..=0x19 | 0x36..=0x3a | 0x84 => u16::from(code[pc as usize + 1]),
            0xc4 => common::u2(code, pc + 2),
            _ => return,
        };
        assert!(used < self.slot, "old code uses slot {used}");
    }

    /// One instruction of a probe.
    fn probe(
        &self,
        pc: u32,
        next: u32,
        locals: &mut HashMap<u16, Value>,
        stack: &mut Vec<Value>,
        reports: &mut Vec<u64>,
    ) -> u32 {
        let code = &self.new.code;
        let byte = |i: u32| code[(pc + i) as usize];
        let mut slot = |slot: u16, stack: &mut Vec<Value>, load: bool| {
            assert!((self.slot..self.new.max_locals).contains(&slot), "slot {slot}");
            match load {
                true => stack.push(*locals.get(&slot).expect("assigned before it is read")),
                false => drop(locals.insert(slot, stack.pop().unwrap())),
            }
        };
        match byte(0) {
            op @ 0x02..=0x08 => stack.push(Value::Int(i64::from(op) - 3)),
            0x10 => stack.push(Value::Int(i64::from(byte(1) as i8))),
            0x11 => stack.push(Value::Int(i64::from(common::u2(code, pc + 1) as i16))),
            0x13 => match &self.class.pool[&(common::u2(code, pc + 1) as usize)] {
                Constant::Integer(value) => stack.push(Value::Int(i64::from(*value))),
                other => panic!("ldc_w of {other:?}"),
            },
            0x15 | 0x16 => slot(u16::from(byte(1)), stack, true),
            0x36 | 0x37 => slot(u16::from(byte(1)), stack, false),
            op @ 0x1a..=0x21 => slot(u16::from((op - 0x1a) % 4), stack, true),
            op @ 0x3b..=0x42 => slot(u16::from((op - 0x3b) % 4), stack, false),
            0x60 => match (stack.pop(), stack.pop()) {
                (Some(Value::Int(a)), Some(Value::Int(b))) => stack.push(Value::Int(a + b)),
                other => panic!("iadd of {other:?}"),
            },
            0x84 => self.increase(locals, u16::from(byte(1)), i64::from(byte(2) as i8)),
            0xc4 if byte(1) == 0x84 => self.increase(
                locals,
                common::u2(code, pc + 2),
                i64::from(common::u2(code, pc + 4) as i16),
            ),
            0xc4 => slot(common::u2(code, pc + 2), stack, matches!(byte(1), 0x15 | 0x16)),
            0xa7 => return (pc as i32 + i32::from(common::u2(code, pc + 1) as i16)) as u32,
            0xc8 => return (pc as i32 + common::i4(code, pc + 1)) as u32,
            0xb8 => self.call(common::u2(code, pc + 1) as usize, stack, reports),
            other => panic!("opcode {other} in a probe at {pc}"),
        }
        next
    }

    fn increase(&self, locals: &mut HashMap<u16, Value>, slot: u16, by: i64) {
        assert_eq!(slot, self.slot);
        match locals.get_mut(&slot) {
            Some(Value::Int(value)) => *value += by,
            other => panic!("iinc of {other:?}"),
        }
    }

    fn call(&self, callee: usize, stack: &mut Vec<Value>, reports: &mut Vec<u64>) {
        let (class, name) = self.class.callee(callee);
        assert_eq!(class, "java/lang/Trodden");
        let [first_counter, method_id] = self.ids;
        // Upper half of an event's word: kind and method.
        let upper = |kind: i64| Some(Value::Int(kind << 28 | method_id));
        match name.as_str() {
            "counters" => {
                assert_eq!(stack.pop(), Some(Value::Int(first_counter)));
                return stack.push(Value::Address);
            }
            "events" => return stack.push(Value::Address),
            "enter" => {
                assert_eq!(stack.pop(), upper(1));
                assert_eq!(stack.pop(), Some(Value::Address));
                return stack.push(Value::Depth);
            }
            _ => {}
        }
        let Some(Value::Int(value)) = stack.pop() else {
            panic!("no path number")
        };
        let first = stack.pop();
        match (name.as_str(), &first) {
            ("count", Some(Value::Address)) => {}
            ("count", Some(Value::Int(id))) => assert_eq!(*id, first_counter),
            ("pathEnd" | "countHashed", Some(Value::Int(id))) => assert_eq!(*id, method_id),
            ("onlyPath", _) => assert_eq!(first, upper(4)),
            ("path" | "lastPath", _) => {
                assert_eq!(first, upper(if name == "path" { 0 } else { 3 }));
                let keeps_depth = self.events.activations;
                assert!(!keeps_depth || stack.pop() == Some(Value::Depth));
                assert_eq!(stack.pop(), Some(Value::Address));
            }
            other => panic!("call of {other:?}"),
        }
        reports.push(u64::try_from(value).unwrap() - self.base);
    }

    fn compare(&self, expected: &Expected, reports: &[u64]) {
        if self.kind == ProbeKind::Safepoint {
            assert!(reports.is_empty());
        } else {
            assert_eq!(expected.reports, reports, "reported paths");
        }
    }
}

/// What a run that took a few random paths would tell.
fn random_guide(options: &InstrumentOptions, bytes: &[u8], random: &mut Random) -> Option<Arc<Guide>> {
    let Ok(Preparation::Ready(prepared)) = Instrumenter::new(options.clone()).prepare(bytes) else {
        return None;
    };
    let mut counts = |method: &MethodMap| {
        let some = (0..3).map(|_| random.below(method.dag.num_paths() as usize) as u64);
        MethodCounts {
            paths: some.zip([1, 20, 300]).collect(),
            ..MethodCounts::default()
        }
    };
    let class = ClassProfile {
        counts: prepared.map().methods.iter().map(&mut counts).collect(),
        map: prepared.map().clone(),
    };
    Some(Arc::new(Guide::new(&Profile {
        classes: vec![class],
        ..Profile::default()
    })))
}

/// Walks every instrumented method of a class with every strategy. Returns methods, and paths ended.
fn check(bytes: &[u8], walks: usize, steps: usize, limit: u64, random: &mut Random) -> (u64, u64) {
    let old = Class::parse(bytes);
    let (mut methods, mut ended) = (0, 0);
    let all_activations = EventKinds {
        only_paths: false,
        ..EventKinds::ACTIVATION_PATHS
    };
    // Structure graphs have a register each and report other paths; those are compared in running programs (`tests/tests/structural.rs`).
    let of_paths = |kind: &ProbeKind| *kind != ProbeKind::Structural;
    let default = ProbeKind::ALL.into_iter().filter(of_paths);
    let default = default.map(|kind| (kind, EventKinds::ACTIVATION_PATHS));
    let others = [EventKinds::PATHS, all_activations].map(|events| (ProbeKind::Events, events));
    for (kind, events) in default.chain(others) {
        for ids in IDS {
            let mut options = InstrumentOptions::new(kind);
            options.events = events;
            options.filter = Filter::new(&["*", "java.*", "jdk.*", "sun.*"], &[]).unwrap();
            options.path_limit = limit;
            if ids == IDS[1] {
                options.guide = random_guide(&options, bytes, random);
            }
            let prepared = match Instrumenter::new(options).prepare(bytes) {
                Ok(Preparation::Ready(prepared)) => prepared,
                Ok(Preparation::Unchanged { .. }) => return (methods, ended),
                Err(error) => panic!("{error}"),
            };
            let map = prepared.map();
            let (bytes, codes) = prepared.emit_with_code(ids);
            let new = Class::parse(&bytes);
            let layout = CounterLayout::of(map);
            for (
                position,
                (
                    method,
                    MethodCode {
                        register_slot,
                        pc_map,
                    },
                ),
            ) in map.methods.iter().zip(&codes).enumerate()
            {
                let find = |class: &Class| {
                    let is = |m: &Method| m.name == method.name && m.descriptor == method.descriptor;
                    class
                        .methods
                        .iter()
                        .position(is)
                        .expect("the method is still there")
                };
                let (old_method, new_method) = (&old.methods[find(&old)], &new.methods[find(&new)]);
                assert_eq!(*register_slot, old_method.max_locals);
                let walk = Walk {
                    class: &new,
                    old: old_method,
                    new: new_method,
                    map: method,
                    old_of: pc_map.iter().copied().collect(),
                    slot: *register_slot,
                    base: match kind {
                        ProbeKind::Counters => u64::from(layout.base[position].unwrap_or(0)),
                        _ => 0,
                    },
                    kind,
                    events,
                    ids: [
                        i64::from(ids.first_counter),
                        i64::from(ids.first_method) + position as i64,
                    ],
                };
                methods += 1;
                for _ in 0..walks {
                    ended += walk.run(random, steps).0;
                }
            }
        }
    }
    (methods, ended)
}

#[test]
fn fixtures_report_the_paths_they_walk() {
    let mut random = Random(0x7421);
    let shapes = include_bytes!("fixtures/Shapes.class");
    let (methods, ended) = check(shapes, 400, 400, i32::MAX as u64, &mut random);
    assert_eq!(methods, 9 * 6 * 2);
    assert!(ended > 30_000, "{ended} paths");
    // With few numbers cut points end paths inside of the methods.
    let (methods, _) = check(shapes, 200, 400, 12, &mut random);
    assert!(methods > 30, "{methods} methods");
    let (methods, _) = check(
        include_bytes!("fixtures/Small.class"),
        100,
        300,
        i32::MAX as u64,
        &mut random,
    );
    assert_eq!(methods, 6 * 2);
}

fn jdks() -> Vec<PathBuf> {
    let given = std::env::var_os("TRODDEN_TEST_JDKS")
        .map(|homes| std::env::split_paths(&homes).collect())
        .unwrap_or_else(|| {
            std::env::var_os("JAVA_HOME")
                .map(PathBuf::from)
                .into_iter()
                .collect::<Vec<_>>()
        });
    let found = std::fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path());
    let mut homes: Vec<PathBuf> = if given.is_empty() { found.collect() } else { given };
    homes.retain(|home| home.join("lib/modules").is_file() && home.join("bin/jimage").is_file());
    homes
        .iter_mut()
        .for_each(|h| *h = h.canonicalize().unwrap_or_default());
    homes.sort();
    homes.dedup();
    homes
}

fn classes(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => classes(&path, into),
            path if path.extension().is_some_and(|e| e == "class") => into.push(path),
            _ => {}
        }
    }
}

/// Real code: java.util of each JDK that is found (none is needed, the fixtures are always checked).
#[test]
fn jdk_classes_report_the_paths_they_walk() {
    let mut random = Random(0x900d);
    for home in jdks() {
        let directory = tempfile::tempdir().unwrap();
        let done = Command::new(home.join("bin/jimage"))
            .args(["extract", "--include", "regex:/java.base/java/util/.*", "--dir"])
            .arg(directory.path())
            .arg(home.join("lib/modules"))
            .status()
            .expect("jimage runs");
        assert!(done.success(), "{home:?}");
        let mut paths = Vec::new();
        classes(directory.path(), &mut paths);
        paths.sort();
        let (mut methods, mut ended) = (0, 0);
        for (index, path) in paths.iter().enumerate() {
            let limit = [i32::MAX as u64, 40][index % 2];
            let (m, e) = check(&std::fs::read(path).unwrap(), 4, 250, limit, &mut random);
            methods += m;
            ended += e;
        }
        println!("{}: {methods} methods, {ended} paths", home.display());
        assert!(
            methods > 6_000 && ended > 100_000,
            "{methods} methods, {ended} paths"
        );
    }
}
