//! Carrying out rewritten code, as far as probes are concerned.

use std::collections::HashMap;

use trodden_instrumenter::ProbeKind;
use trodden_numbering::{BlockId, StartKind};
use trodden_profile::events::EventKinds;
use trodden_profile::{BlockExit, EdgeLabel, MethodMap};

use super::oracle::{Expected, Report};
use crate::common::{self, Class, Constant, Method, Random};

/// A method with probes, and the original.
pub struct Walk<'w> {
    pub class: &'w Class,
    pub old: &'w Method,
    pub new: &'w Method,
    pub map: &'w MethodMap,
    /// New to old bytecode index.
    pub old_of: HashMap<u32, u32>,
    /// Slot of the (first) path register.
    pub slot: u16,
    /// Last slot of a path register.
    pub last_register: u16,
    /// The number that is added to path numbers in the register.
    pub base: u64,
    /// The method's first slot, of all.
    pub first_slot: i64,
    /// The slot that counts how often a constructor was begun.
    pub begun: Option<i64>,
    pub kind: ProbeKind,
    pub events: EventKinds,
    /// True if paths are counted that an exception cuts off.
    pub cuts: bool,
    /// Constant that names the method (or its class) in calls to the shim.
    pub ids: [i64; 2],
}

/// A value on the probes' own operand stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Int(i64),
    Address,
    NoAddress,
    Depth,
}

const INVOKESPECIAL: u8 = 0xb7;
const ATHROW: u8 = 0xbf;

/// Returns true if an instruction may throw. Without constants, some of which may.
fn may_throw(op: u8) -> bool {
    let arrays = matches!(op, 0x2e..=0x35 | 0x4f..=0x56 | 0xbc..=0xbe | 0xc5);
    let divisions = matches!(op, 0x6c | 0x6d | 0x70 | 0x71);
    let members = matches!(op, 0xb2..=0xbb);
    arrays || divisions || members || matches!(op, ATHROW | 0xc0..=0xc3)
}

impl Walk<'_> {
    /// Walks from the entry until the method is left, or for `steps` instructions. Returns how many paths
    /// ended.
    pub fn run(&self, expected: &mut dyn Expected, random: &mut Random, steps: usize) -> u64 {
        let code = &self.new.code;
        expected.start(StartKind::Entry, BlockId::new(0));
        let mut block = BlockId::new(0);
        let mut old_at = 0;
        let mut locals: HashMap<u16, Value> = HashMap::new();
        let mut stack: Vec<Value> = Vec::new();
        let mut reports: Vec<Report> = Vec::new();
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
            for (depth, number) in expected.registers() {
                let register = Value::Int((number + self.base) as i64);
                assert_eq!(
                    locals.get(&(self.slot + depth)),
                    Some(&register),
                    "register {depth} at {old}"
                );
            }
            done += 1;
            let covering = |handlers: &[(u32, u32, u32)], at: u32| -> Vec<usize> {
                (0..handlers.len())
                    .filter(|&i| handlers[i].0 <= at && at < handlers[i].1)
                    .collect()
            };
            let mut handlers = covering(&self.new.handlers, pc);
            // Those of the probes come last.
            let own = handlers.partition_point(|&handler| handler < self.old.handlers.len());
            let of_probes = handlers.split_off(own);
            assert_eq!(handlers, covering(&self.old.handlers, old), "handlers of {old}");
            assert!(
                of_probes.len() <= usize::from(self.cuts),
                "{of_probes:?} at {old}"
            );
            let throws = may_throw(op) && !leaves;
            if self.cuts && throws && of_probes.is_empty() {
                assert_eq!(
                    (self.map.name.as_str(), op),
                    ("<init>", INVOKESPECIAL),
                    "at {old}"
                );
            }
            if throws && !of_probes.is_empty() && random.below(40) == 0 {
                // An exception that nothing of the method's own catches.
                expected.cut(block);
                let mut at = self.new.handlers[of_probes[0]].2;
                while code[at as usize] != ATHROW {
                    let next = at + common::length(code, at);
                    at = self.probe(at, next, &mut locals, &mut stack, &mut reports);
                }
                self.compare(expected.reports(), &reports);
                return expected.ended();
            }
            if !handlers.is_empty() && !leaves && (throws || !self.cuts) && random.below(12) == 0 {
                // An exception in the middle of a block: the path so far is cut off.
                if self.cuts {
                    expected.cut(block);
                }
                let taken = handlers[random.below(handlers.len())];
                pc = self.new.handlers[taken].2;
                old_at = self.old.handlers[taken].2;
                block = self.map.block_at(old_at).expect("a handler is in a block");
                expected.start(StartKind::Handler, block);
                continue;
            }
            if leaves {
                expected.exit(block);
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
                    self.compare(expected.reports(), &reports);
                    return expected.ended();
                }
            }
            if done >= steps {
                // Stopped in the middle; what was reported until now must be a beginning of what was
                // expected.
                if self.kind != ProbeKind::Safepoint {
                    let all = expected.reports();
                    assert!(all.starts_with(&reports), "{all:?} {reports:?}");
                }
                return expected.ended();
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
        reports: &mut Vec<Report>,
    ) -> u32 {
        let code = &self.new.code;
        let byte = |i: u32| code[(pc + i) as usize];
        let mut slot = |slot: u16, stack: &mut Vec<Value>, load: bool| {
            assert!((self.slot..self.new.max_locals).contains(&slot), "slot {slot}");
            if load {
                stack.push(*locals.get(&slot).expect("assigned before it is read"))
            } else {
                locals.insert(slot, stack.pop().unwrap());
            }
        };
        match byte(0) {
            0x09 => stack.push(Value::NoAddress),
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
            0x9b => match stack.pop() {
                Some(Value::Int(value)) if value < 0 => {
                    return (pc as i32 + i32::from(common::u2(code, pc + 1) as i16)) as u32;
                }
                Some(Value::Int(_)) => {}
                other => panic!("iflt of {other:?}"),
            },
            0xa7 => return (pc as i32 + i32::from(common::u2(code, pc + 1) as i16)) as u32,
            0xc8 => return (pc as i32 + common::i4(code, pc + 1)) as u32,
            0xb8 => self.call(common::u2(code, pc + 1) as usize, stack, reports),
            other => panic!("opcode {other} in a probe at {pc}"),
        }
        next
    }

    fn increase(&self, locals: &mut HashMap<u16, Value>, slot: u16, by: i64) {
        assert!((self.slot..=self.last_register).contains(&slot), "iinc of {slot}");
        match locals.get_mut(&slot) {
            Some(Value::Int(value)) => *value += by,
            other => panic!("iinc of {other:?}"),
        }
    }

    fn call(&self, callee: usize, stack: &mut Vec<Value>, reports: &mut Vec<Report>) {
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
            "events" => {
                if let Some(Value::Address | Value::NoAddress) = stack.last() {
                    stack.pop();
                }
                return stack.push(Value::Address);
            }
            "lastOrOnlyPath" => assert_eq!(stack.pop(), Some(Value::Int(self.first_slot))),
            "cut" => {
                let mut int = || match stack.pop() {
                    Some(Value::Int(value)) => value,
                    other => panic!("{other:?} for cut"),
                };
                let (block, register, method) = (int(), int(), int());
                assert_eq!(method, method_id);
                if let Ok(block) = u32::try_from(block) {
                    let path = u64::try_from(register).unwrap() - self.base;
                    let cut = Some(block);
                    reports.push(Report { graph: 0, path, cut });
                }
                return;
            }
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
        if self.begun == Some(value) {
            // A constructor begins, which is no path's end.
            assert_eq!((name.as_str(), first), ("count", Some(Value::Int(first_counter))));
            return;
        }
        match (name.as_str(), &first) {
            ("count", Some(Value::Address)) => {}
            ("count", Some(Value::Int(id))) if self.kind == ProbeKind::Events => {
                assert_eq!(*id, self.first_slot)
            }
            ("count", Some(Value::Int(id))) => assert_eq!(*id, first_counter),
            ("pathEnd" | "countHashed", Some(Value::Int(id))) => assert_eq!(*id, method_id),
            ("structuralPath" | "structuralHashed", Some(Value::Int(slot))) => {
                let graph = usize::try_from(*slot).expect("slots are positive");
                let path = u64::try_from(value).expect("a path number");
                return reports.push(Report {
                    graph,
                    path,
                    cut: None,
                });
            }
            ("onlyPath", _) => assert_eq!(first, upper(4)),
            // Not before its first path is the activation in the stream.
            ("pathReporting", _) => {
                assert_eq!(first, upper(0));
                assert!(matches!(stack.pop(), Some(Value::Int(-1) | Value::Depth)));
                assert_eq!(stack.pop(), Some(Value::Address));
                stack.push(Value::Depth);
            }
            ("lastOrOnlyPath", _) => {
                assert_eq!(first, upper(3));
                match (stack.pop(), stack.pop()) {
                    (Some(Value::Depth), Some(Value::Address)) => {}
                    (Some(Value::Int(-1)), Some(Value::NoAddress)) => {}
                    other => panic!("{other:?} for lastOrOnlyPath"),
                }
            }
            ("path" | "lastPath", _) => {
                assert_eq!(first, upper(if name == "path" { 0 } else { 3 }));
                let keeps_depth = self.events.activations;
                assert!(!keeps_depth || stack.pop() == Some(Value::Depth));
                assert_eq!(stack.pop(), Some(Value::Address));
            }
            other => panic!("call of {other:?}"),
        }
        let path = u64::try_from(value).unwrap() - self.base;
        reports.push(Report {
            graph: 0,
            path,
            cut: None,
        });
    }

    fn compare(&self, expected: &[Report], reports: &[Report]) {
        if self.kind == ProbeKind::Safepoint {
            assert!(reports.is_empty());
        } else {
            assert_eq!(expected, reports, "reported paths");
        }
    }
}
