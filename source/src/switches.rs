//! What the ways of a `switch` mean: labels as the source has them, not hash codes, ordinals or positions.

use std::collections::BTreeMap;

use trodden_classfile::class::Class;
use trodden_classfile::code::{Code, Marks};
use trodden_classfile::decode;
use trodden_classfile::opcodes as op;
use trodden_classfile::pool::Constant;
use trodden_profile::{Condition, ConditionKind, EdgeLabel, Outcome};

use crate::bootstrap::Bootstrap;
use crate::decide::Known;
use crate::expression::{Id, Name, Node};
use crate::interpret::Relation;
use crate::print::{character, simple, string};

/// Labels that one way of a switch shows at most.
const MAX_LABELS: usize = 4;

/// Labels by key; a key without entry is not known, unless there is no table at all: then keys are numbers.
type Labels = BTreeMap<i32, String>;

/// The condition of a switch.
pub fn switch(known: &Known, block: usize, over: Id) -> Condition {
    let (subject, labels) = labels(known, block, over);
    let text = subject.and_then(|id| known.printer().expression(id));
    let outcomes = known.map.blocks[block].labels.iter().enumerate();
    let outcomes = outcomes.map(|(edge, label)| {
        let target = known.successors(block).nth(edge);
        outcome(known, label, labels.as_ref(), target)
    });
    Condition {
        block: block as u32,
        kind: ConditionKind::Switch,
        text,
        outcomes: outcomes.collect(),
        made: None,
    }
}

fn outcome(known: &Known, label: &EdgeLabel, labels: Option<&Table>, target: Option<usize>) -> Outcome {
    let EdgeLabel::Switch { keys, default } = label else {
        return Outcome::Unknown;
    };
    let mut words = Vec::new();
    for key in keys {
        let word = match labels {
            Some(table) => match table.label(known, *key, target) {
                Some(word) => word,
                // Positions that stand for nothing are what the default is made of.
                None if *default => continue,
                None => return Outcome::Unknown,
            },
            None => key.to_string(),
        };
        words.push(word);
    }
    if words.is_empty() {
        return match default {
            true => Outcome::Case("default".into()),
            false => Outcome::Unknown,
        };
    }
    let more = words.len() > MAX_LABELS;
    let count = words.len();
    words.truncate(if more { 2 } else { MAX_LABELS });
    let mut text = format!("case {}", words.join(", "));
    if more {
        text.push_str(&format!(", … ({count} cases)"));
    }
    if *default {
        text.push_str(", default");
    }
    Outcome::Case(text)
}

/// What the keys of a switch stand for.
#[derive(Debug)]
enum Table {
    /// Text by key.
    Text(Labels),
    /// Numbers that are characters.
    Characters,
    /// Types by key; the variable that is bound stands at the target.
    Types(BTreeMap<i32, (String, Vec<u8>)>),
    /// Nothing is known.
    Unknown,
}

impl Table {
    fn label(&self, known: &Known, key: i32, target: Option<usize>) -> Option<String> {
        match self {
            Table::Text(labels) => labels.get(&key).cloned(),
            Table::Characters => Some(match u32::try_from(key).ok().and_then(char::from_u32) {
                Some(c) => character(c),
                None => key.to_string(),
            }),
            Table::Types(_) if key == -1 => Some("null".to_owned()),
            Table::Types(types) => {
                let (text, class) = types.get(&key)?;
                let bound = target.and_then(|target| bound(known, target, class));
                Some(match bound {
                    Some(name) => format!("{text} {name}"),
                    None => text.clone(),
                })
            }
            Table::Unknown => None,
        }
    }
}

/// The variable that a block binds to what it casts to a class.
fn bound(known: &Known, block: usize, class: &[u8]) -> Option<String> {
    let block = &known.map.blocks[block];
    let named = known.interpreted.named.iter();
    let mut within = named.filter(|s| (block.start..block.end).contains(&s.pc));
    let store = within.next()?;
    match known.interpreted.arena.get(store.value) {
        Node::Cast(to, _) if to == class => Some(decode(store.name).into_owned()),
        _ => None,
    }
}

/// What a switch is over in the source, and what its keys stand for.
fn labels(known: &Known, block: usize, over: Id) -> (Option<Id>, Option<Table>) {
    let arena = &known.interpreted.arena;
    match known.node(over) {
        // Enums: a table from ordinals to numbers.
        Node::Index(table, ordinal, _) => {
            let Node::Call {
                receiver: Some(subject),
                member,
                ..
            } = known.node(ordinal)
            else {
                return (Some(over), None);
            };
            if member.name != b"ordinal" {
                return (Some(over), None);
            }
            let (class, name) = match known.node(table) {
                Node::Field { owner: None, member } if member.name.starts_with(b"$") => {
                    (member.class, member.name)
                }
                Node::Call {
                    receiver: None,
                    member,
                    ..
                } if member.name.starts_with(b"$") => (member.class, member.name),
                _ => return (Some(over), None),
            };
            let labels = match class == known.class.name {
                true => constants(known.class, name),
                false => {
                    let bytes = known.classes.class(&decode(class));
                    bytes.and_then(|bytes| constants(&Class::read(&bytes).ok()?, name))
                }
            };
            (Some(subject), Some(labels.map_or(Table::Unknown, Table::Text)))
        }
        Node::Call {
            receiver: Some(subject),
            member,
            ..
        } if member.class == b"java/lang/String" && member.name == b"hashCode" => {
            (Some(subject), Some(Table::Unknown))
        }
        Node::Dynamic { index, arguments, .. } => {
            let subject = arena.list(arguments).first().copied();
            match types(known, index) {
                Some(types) => (subject, Some(Table::Types(types))),
                None => (subject, Some(Table::Unknown)),
            }
        }
        // The second half of a switch over strings: positions of the strings.
        Node::Local {
            name: Name::None,
            slot,
            ..
        } => {
            let of_slot = |s: &StringSwitch| s.block < block && s.positions(known, slot).is_some();
            match string_switches(known).into_iter().rfind(of_slot) {
                Some(strings) => {
                    let labels = strings.positions(known, slot).unwrap_or_default();
                    (Some(strings.subject), Some(Table::Text(labels)))
                }
                None => (None, None),
            }
        }
        _ if arena.ty(arena.bare(over)) == b'C' => (Some(over), Some(Table::Characters)),
        _ => (Some(over), None),
    }
}

/// Choosing among strings by hash code.
#[derive(Debug)]
pub struct StringSwitch<'a> {
    /// Block of the switch over hash codes.
    pub block: usize,
    /// What is switched over.
    pub subject: Id,
    /// Blocks that compare with one of the strings.
    pub equals: Vec<(usize, &'a [u8])>,
}

impl StringSwitch<'_> {
    /// Where each string leaves its position in a local variable: string by position. None if they leave none.
    pub fn positions(&self, known: &Known, slot: u16) -> Option<Labels> {
        let mut labels = Labels::new();
        for &(block, text) in &self.equals {
            let (equal, _) = ways_of_comparison(known, block);
            let yes = &known.map.blocks[equal];
            let stores = known.interpreted.stores.iter();
            let mut within = stores.filter(|s| s.slot == slot && (yes.start..yes.end).contains(&s.pc));
            let Node::Int(position) = known.node(within.next()?.value) else {
                return None;
            };
            labels.insert(position, string(&decode(text)));
        }
        (!labels.is_empty()).then_some(labels)
    }
}

/// The string that a block compares with `subject.equals("…")`.
fn compared<'a>(known: &Known<'_, 'a>, block: usize) -> Option<&'a [u8]> {
    let test = known.test(block)?;
    match known.node(test.left) {
        Node::Call {
            receiver: Some(_),
            member,
            arguments,
            ..
        } if member.name == b"equals" && test.right.is_none() => {
            let &[text] = known.interpreted.arena.list(arguments) else {
                return None;
            };
            match known.node(text) {
                Node::String(text) => Some(text),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Where a block leads that compares with a string: (equal, not equal).
fn ways_of_comparison(known: &Known, block: usize) -> (usize, usize) {
    let (jump, next) = known.flow.targets(block);
    match jumps_if_equal(known, block) {
        true => (jump, next),
        false => (next, jump),
    }
}

/// Does a block that compares with a string jump if they are equal?
pub fn jumps_if_equal(known: &Known, block: usize) -> bool {
    known
        .test(block)
        .is_some_and(|test| test.relation == Relation::NotEqual)
}

/// All switches over strings of a method.
pub fn string_switches<'a>(known: &Known<'_, 'a>) -> Vec<StringSwitch<'a>> {
    let mut found = Vec::new();
    for (block, facts) in known.interpreted.blocks.iter().enumerate() {
        let Some(crate::interpret::Decision::Switch(over)) = facts.decision else {
            continue;
        };
        let subject = match known.node(over) {
            Node::Call {
                receiver: Some(subject),
                member,
                ..
            } if member.class == b"java/lang/String" && member.name == b"hashCode" => subject,
            _ => continue,
        };
        let mut equals = Vec::new();
        let keys = known.map.blocks[block].labels.iter();
        for (label, target) in keys.zip(known.successors(block)) {
            if matches!(label, EdgeLabel::Switch { keys, .. } if keys.is_empty()) {
                continue;
            }
            let mut at = target;
            while let Some(text) = compared(known, at) {
                if equals.iter().any(|&(block, _)| block == at) {
                    break;
                }
                equals.push((at, text));
                (_, at) = ways_of_comparison(known, at);
            }
        }
        if !equals.is_empty() {
            found.push(StringSwitch {
                block,
                subject,
                equals,
            });
        }
    }
    found
}

/// The constants of an enum by the numbers that a table gives them, from the code that fills the table.
fn constants(class: &Class, table: &[u8]) -> Option<Labels> {
    let mut labels = Labels::new();
    // javac and Kotlin fill fields where the class is initialised, ECJ in a method named like the table.
    let fills = |m: &&trodden_classfile::class::Method| m.name == table || m.name == b"<clinit>";
    for method in class.methods.iter().filter(fills) {
        let Some(attribute) = &method.code else { continue };
        let mut marks = Marks::default();
        let code = Code::read(attribute, &class.pool, &mut marks).ok()?;
        let mut pending = Labels::new();
        let mut current = method.name == table;
        let (mut constant, mut number) = (None, None);
        for (pc, opcode) in code.instructions(0, code.len()) {
            let at = pc as usize;
            let index = |bytes: &[u8]| u16::from_be_bytes([bytes[at + 1], bytes[at + 2]]);
            match opcode {
                178 => {
                    let member = class.pool.member(index(code.bytes))?;
                    match member.descriptor.starts_with(b"[") {
                        true => current = member.name == table,
                        false => constant = Some(member.name),
                    }
                }
                op::PUTSTATIC => {
                    let member = class.pool.member(index(code.bytes))?;
                    if member.name == table {
                        labels.append(&mut pending);
                    }
                    pending.clear();
                }
                3..=8 => number = Some(i32::from(opcode) - 3),
                op::BIPUSH => number = Some(i32::from(code.bytes[at + 1] as i8)),
                op::SIPUSH => number = Some(i32::from(index(code.bytes) as i16)),
                op::IASTORE => {
                    if let (Some(name), Some(number)) = (constant.take(), number.take()) {
                        let name = decode(name).into_owned();
                        match current {
                            true => labels.insert(number, name),
                            false => pending.insert(number, name),
                        };
                    }
                }
                _ => {}
            }
        }
    }
    (!labels.is_empty()).then_some(labels)
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
            _ => continue,
        };
        types.insert(position as i32, entry);
    }
    Some(types)
}
