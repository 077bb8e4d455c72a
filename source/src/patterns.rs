//! `switch` over patterns, as javac 21 and ECJ write it: a call site says which pattern fits, from a number
//! on, and a `switch` leads to the cases. Where the guard of a case, or a part of its pattern, does not fit,
//! the call site is asked again from the next number on: a jump back that is no loop of the source.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use trodden_classfile::class::Class;
use trodden_classfile::decode;
use trodden_classfile::opcodes as op;
use trodden_classfile::pool::Constant;
use trodden_classfile::reader::get_u2;
use trodden_profile::{BlockExit, ConditionKind, MethodConditions, Outcome};

use crate::bootstrap::Bootstrap;
use crate::expression::{Id, Name, Node};
use crate::interpret::Decision;
use crate::known::Known;
use crate::print::{simple, string};

/// Instructions of a record's pattern that are read.
const MAX_PATTERN: usize = 200;

/// The `switch` over patterns that a block ends with.
#[derive(Debug)]
pub struct PatternSwitch {
    block: usize,
    /// The meaning of each number: the text, and for a type its internal name.
    types: BTreeMap<i32, (String, Vec<u8>)>,
    /// The value that is switched over, if it is known.
    pub subject: Option<Id>,
    /// Not over a part of a record that is a number.
    over_objects: bool,
    /// Blocks that jump back to it.
    restarts: Vec<usize>,
    /// Blocks from which these are reached.
    undecided: BTreeSet<usize>,
}

impl PatternSwitch {
    /// The switch at the end of a block, if it is one over patterns.
    pub fn at(known: &Known, block: usize) -> Option<Self> {
        let Decision::Switch(over) = known.interpreted.blocks.get(block)?.decision? else {
            return None;
        };
        let Node::Dynamic { index, arguments, .. } = known.node(over) else {
            return None;
        };
        let types = types(known, index)?;
        let (.., descriptor) = known.class.pool.dynamic(index)?;
        let before = known.predecessors(block).into_iter();
        let restarts: Vec<usize> = before
            .filter(|&from| from > block && known.map.blocks[from].exit == BlockExit::Goto)
            .collect();
        let mut undecided: BTreeSet<usize> = restarts.iter().copied().collect();
        let mut open = restarts.clone();
        while let Some(at) = open.pop() {
            let before = known.predecessors(at).into_iter();
            open.extend(before.filter(|&from| from > block && undecided.insert(from)));
        }
        Some(PatternSwitch {
            block,
            types,
            subject: subject(
                known,
                block,
                known.interpreted.arena.list(arguments).first().copied(),
            ),
            over_objects: matches!(descriptor.get(1), Some(b'L' | b'[')),
            restarts,
            undecided,
        })
    }

    /// Returns true for the number of `null` where that cannot be.
    pub fn is_impossible(&self, key: i32) -> bool {
        key == -1 && !self.over_objects
    }

    /// A case: `Circle c when c.r() > 3`, `Pair(Circle a, Circle b)`, `null`.
    pub fn label(&self, known: &Known, key: i32, target: Option<usize>) -> Option<String> {
        if key == -1 {
            return Some("null".to_owned());
        }
        let (text, class) = self.types.get(&key)?;
        let Some(target) = target.filter(|_| !class.is_empty()) else {
            return Some(text.clone());
        };
        let mut label = match bound(known, target) {
            Some(name) => format!("{text} {name}"),
            None => match record(known, target, class) {
                Some(components) => format!("{text}({components})"),
                None => text.clone(),
            },
        };
        let parts: Vec<Option<String>> = self.guard(known, target);
        if !parts.is_empty() {
            let all: Option<Vec<String>> = parts.into_iter().collect();
            let text = all.map_or("…".to_owned(), |all| all.join(" && "));
            label.push_str(&format!(" when {text}"));
        }
        Some(label)
    }

    /// Returns true if a block leads back to the switch, whatever happens.
    fn fails(&self, known: &Known, mut block: usize) -> bool {
        for _ in 0..4 {
            if self.restarts.contains(&block) {
                return true;
            }
            let mut ways = known.successors(block);
            match (ways.next(), ways.next()) {
                (Some(to), None) if to > block => block = to,
                _ => return false,
            }
        }
        false
    }

    /// The parts of a case's guard that `&&` joins; nothing in place of one whose text is not known.
    fn guard(&self, known: &Known, target: usize) -> Vec<Option<String>> {
        let (mut parts, mut either) = (Vec::new(), Vec::new());
        let mut accepts = None;
        let mut at = target;
        while self.undecided.contains(&at) {
            let Some(test) = known.test(at) else {
                let mut ways = known.successors(at);
                match (ways.next(), ways.next()) {
                    (Some(to), None) if to > at => at = to,
                    _ => break,
                }
                continue;
            };
            let (jump, next) = known.flow.targets(at);
            let pattern = known.decided(at).is_some()
                || matches!(known.node(test.left), Node::InstanceOf(of, _) if !self.is_named(known, of));
            let (fits, holds) = match (self.fails(known, jump), self.fails(known, next)) {
                (true, false) => (next, false),
                (false, true) => (jump, true),
                // One side of `||`: what accepts the case is decided.
                _ if !self.undecided.contains(&jump) => {
                    either.push(known.printer().test(&test, true));
                    accepts.get_or_insert(destination(known, jump));
                    at = next;
                    continue;
                }
                _ => {
                    parts.push(None);
                    break;
                }
            };
            let text = known.printer().test(&test, holds);
            if !pattern {
                if either.is_empty() {
                    parts.push(text);
                } else {
                    either.push(text);
                    let all: Option<Vec<String>> = either.drain(..).collect();
                    let text = all.map(|all| all.join(" || "));
                    parts.push(text.filter(|_| accepts.take() == Some(destination(known, fits))));
                }
            }
            at = fits;
        }
        parts
    }

    /// Returns true for a variable of the source.
    fn is_named(&self, known: &Known, id: Id) -> bool {
        matches!(
            known.node(id),
            Node::Local {
                name: Name::Known(_) | Name::Parameter(_),
                ..
            }
        )
    }
}

/// Where a block leads that only jumps; else itself.
fn destination(known: &Known, block: usize) -> usize {
    let info = &known.map.blocks[block];
    let jumps = info.exit == BlockExit::Goto && info.start == info.last;
    let to = known.successors(block).next();
    to.filter(|_| jumps).unwrap_or(block)
}

/// The value that the compiler keeps in a variable of its own.
fn subject(known: &Known, block: usize, over: Option<Id>) -> Option<Id> {
    let Node::Local {
        name: Name::None,
        slot,
        ..
    } = known.node(over?)
    else {
        return over;
    };
    let before = known.map.blocks[block].last;
    let mut stores = known.interpreted.stores.iter().rev();
    let store = stores.find(|store| store.slot == slot && store.pc < before)?;
    Some(store.value)
}

/// The variable that a block binds, with or without a cast.
fn bound(known: &Known, block: usize) -> Option<String> {
    let listing = known.listing();
    let start = listing.position(known.map.blocks[block].start);
    let store = start
        + if listing.has(start + 1, &[op::CHECKCAST]) {
            2
        } else {
            1
        };
    let is_any = |position, opcodes: RangeInclusive<u8>| {
        let there = listing.get(position);
        there.is_some_and(|instruction| opcodes.contains(&instruction.opcode))
    };
    if !is_any(start, op::ILOAD..=op::ALOAD) || !is_any(store, op::ISTORE..=op::ASTORE) {
        return None;
    }
    match known
        .variables
        .at(listing.get(store)?.slot?, listing.end(store))?
    {
        (Name::Known(name), _) => Some(decode(name).into_owned()),
        _ => None,
    }
}

/// The components of a record's pattern, `Circle a, Circle b`; `…` if there are patterns inside of it; none
/// if it is no record's. Taking a record apart calls its accessors, one after the other.
fn record(known: &Known, target: usize, class: &[u8]) -> Option<String> {
    let listing = known.listing();
    let start = listing.position(known.map.blocks[target].start);
    let casts = listing.has(start, &[op::ALOAD, op::CHECKCAST]);
    let accessor = |position: usize| {
        let call = listing.get(position).filter(|i| i.opcode == op::INVOKEVIRTUAL)?;
        let member = known
            .class
            .pool
            .member(get_u2(known.code.bytes, call.pc as usize + 1))?;
        member.descriptor.starts_with(b"()").then_some(member)
    };
    let first = (start + 2..start + 5).find(|&position| accessor(position).is_some())?;
    if !casts || accessor(first).is_none_or(|member| member.class != class) {
        return None;
    }
    let mut components: Vec<(Vec<u8>, String, Option<String>)> = Vec::new();
    for position in first..(first + MAX_PATTERN).min(listing.len()) {
        let instruction = listing.get(position)?;
        if let Some(member) = accessor(position) {
            let again = components.iter().any(|(name, ..)| name == member.name);
            if member.class != class || again {
                break;
            }
            components.push((member.name.to_vec(), type_of(&member.descriptor[2..]), None));
            continue;
        }
        let Some((_, ty, name)) = components.last_mut() else {
            continue;
        };
        match instruction.opcode {
            op::CHECKCAST if name.is_none() => {
                let of = known
                    .class
                    .pool
                    .class_name(get_u2(known.code.bytes, instruction.pc as usize + 1));
                *ty = simple(of?);
            }
            op::ISTORE..=op::ASTORE if name.is_none() => {
                let slot = instruction.slot?;
                if let Some((Name::Known(of), _)) = known.variables.at(slot, listing.end(position)) {
                    *name = Some(decode(of).into_owned());
                }
            }
            // The guard, or the body.
            op::ISTORE..=op::ASTORE | op::GETSTATIC..=op::INVOKEDYNAMIC | op::IRETURN..=op::RETURN => break,
            _ => (),
        }
    }
    let all = components.into_iter();
    let all: Option<Vec<String>> = all.map(|(_, ty, name)| Some(format!("{ty} {}", name?))).collect();
    Some(all.map_or("…".to_owned(), |all| all.join(", ")))
}

/// A type of a descriptor, as source files write it.
fn type_of(descriptor: &[u8]) -> String {
    match descriptor {
        [b'L', name @ .., b';'] => simple(name),
        [b'[', ..] => simple(descriptor),
        primitive => {
            let array = [b"[", primitive].concat();
            simple(&array).trim_end_matches("[]").to_owned()
        }
    }
}

/// The types of a `switch` over patterns, by position.
fn types(known: &Known, index: u16) -> Option<BTreeMap<i32, (String, Vec<u8>)>> {
    const SWITCHES: &[u8] = b"java/lang/runtime/SwitchBootstraps";
    let (bootstrap, ..) = known.class.pool.dynamic(index)?;
    let bootstrap = Bootstrap::read(known.class, bootstrap)?;
    let enums = bootstrap.is(SWITCHES, b"enumSwitch");
    if !bootstrap.is(SWITCHES, b"typeSwitch") && !enums {
        return None;
    }
    let mut types = BTreeMap::new();
    for (position, &argument) in bootstrap.arguments.iter().enumerate() {
        let entry = match known.class.pool.constant(argument) {
            Some(Constant::Class(name)) => (simple(name), name.to_vec()),
            Some(Constant::String(name)) if enums => (decode(name).into_owned(), Vec::new()),
            Some(Constant::String(text)) => (string(&decode(text)), Vec::new()),
            Some(Constant::Integer(number)) => (number.to_string(), Vec::new()),
            _ => match primitive(known.class, argument) {
                Some((name, descriptor)) => (name, descriptor.to_vec()),
                None => match enum_constant(known.class, argument) {
                    Some(text) => (text, Vec::new()),
                    None => continue,
                },
            },
        };
        types.insert(position as i32, entry);
    }
    Some(types)
}

/// A type of numbers, where the class file describes one: its name in the source, and its descriptor.
fn primitive<'a>(class: &Class<'a>, index: u16) -> Option<(String, &'a [u8])> {
    let (bootstrap, descriptor, _) = class.pool.dynamic(index)?;
    let bootstrap = Bootstrap::read(class, bootstrap)?;
    let is = bootstrap.is(b"java/lang/invoke/ConstantBootstraps", b"primitiveClass");
    is.then(|| (type_of(descriptor), descriptor))
}

/// `Color.RED`, where the class file describes a constant of an enum: by the name of the class, which is
/// described itself, and that of the constant.
fn enum_constant(class: &Class, index: u16) -> Option<String> {
    let text = |index: u16| match class.pool.constant(index) {
        Some(Constant::String(text)) => Some(decode(text).into_owned()),
        _ => None,
    };
    let arguments = |index: u16| {
        let (bootstrap, ..) = class.pool.dynamic(index)?;
        Some(Bootstrap::read(class, bootstrap)?.arguments)
    };
    let described = arguments(index)?;
    let name = described.iter().find_map(|&argument| text(argument))?;
    let of_class = described.iter().find_map(|&argument| arguments(argument))?;
    let owner = of_class.iter().find_map(|&argument| text(argument))?;
    let owner = owner.rsplit(['.', '$']).next().unwrap_or_default();
    Some(format!("{owner}.{name}"))
}

/// Notes where patterns begin again, and turns the conditions of guards: they hold if the case is taken, and
/// belong to no loop.
pub fn note(known: &Known, out: &mut MethodConditions) {
    for block in 0..known.map.blocks.len() {
        let Some(switch) = PatternSwitch::at(known, block) else {
            continue;
        };
        if switch.restarts.is_empty() {
            continue;
        }
        out.restarts.push(switch.block as u32);
        for condition in &mut out.conditions {
            let at = condition.block as usize;
            let Some(test) = known.test(at).filter(|_| switch.undecided.contains(&at)) else {
                continue;
            };
            let (jump, next) = known.flow.targets(at);
            let jump_is_yes = switch.fails(known, next) || !switch.undecided.contains(&jump);
            condition.kind = ConditionKind::If;
            condition.text = known.text(at, &test, jump_is_yes);
            condition.outcomes = vec![Outcome::Yes, Outcome::No];
            if !jump_is_yes {
                condition.outcomes.reverse();
            }
        }
    }
}
