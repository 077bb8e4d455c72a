//! The meaning of the ways of a `switch`: labels as the source has them, not hash codes, ordinals or
//! positions.

use std::collections::BTreeMap;

use trodden_classfile::class::Class;
use trodden_classfile::code::{Code, Marks};
use trodden_classfile::decode;
use trodden_classfile::opcodes as op;
use trodden_classfile::reader::get_u2;
use trodden_profile::{Condition, ConditionKind, EdgeLabel, Outcome};

use crate::expression::{Id, Name, Node};
use crate::interpret::Relation;
use crate::known::Known;
use crate::patterns::PatternSwitch;
use crate::print::{character, string};

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
        if let Some(Table::Patterns(patterns)) = labels
            && patterns.is_impossible(*key)
        {
            continue;
        }
        let word = match labels {
            Some(table) => match table.label(known, *key, target) {
                Some(word) => word,
                // Positions without a label are what the default is made of.
                None if *default => continue,
                None => return Outcome::Unknown,
            },
            None => key.to_string(),
        };
        words.push(word);
    }
    if words.is_empty() {
        return if *default {
            Outcome::Case("default".into())
        } else {
            Outcome::Unknown
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

/// The meaning of the keys of a switch.
#[derive(Debug)]
enum Table {
    /// Text by key.
    Text(Labels),
    /// Numbers that are characters.
    Characters,
    /// Patterns.
    Patterns(PatternSwitch),
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
            Table::Patterns(patterns) => patterns.label(known, key, target),
            Table::Unknown => None,
        }
    }
}

/// The value that a switch is over in the source, and the meaning of its keys.
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
            let labels = if class == known.class.name {
                constants(known.class, name)
            } else {
                let bytes = known.classes.class(&decode(class));
                bytes.and_then(|bytes| constants(&Class::read(&bytes).ok()?, name))
            };
            (Some(subject), Some(labels.map_or(Table::Unknown, Table::Text)))
        }
        // Enums of the same source file, from javac 21 on: their ordinals.
        Node::Call {
            receiver: Some(subject),
            member,
            ..
        } if member.name == b"ordinal" && member.descriptor == b"()I" => {
            let labels = if member.class == known.class.name {
                ordinals(known.class)
            } else {
                let bytes = known.classes.class(&decode(member.class));
                bytes.and_then(|bytes| ordinals(&Class::read(&bytes).ok()?))
            };
            match labels {
                Some(labels) => (Some(subject), Some(Table::Text(labels))),
                None => (Some(over), None),
            }
        }
        Node::Call {
            receiver: Some(subject),
            member,
            ..
        } if member.class == b"java/lang/String" && member.name == b"hashCode" => {
            (Some(subject), Some(Table::Unknown))
        }
        Node::Dynamic { arguments, .. } => match PatternSwitch::at(known, block) {
            Some(patterns) => (patterns.subject, Some(Table::Patterns(patterns))),
            None => (arena.list(arguments).first().copied(), Some(Table::Unknown)),
        },
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
    /// The value that is switched over.
    pub subject: Id,
    /// Blocks that compare with one of the strings.
    pub equals: Vec<(usize, &'a [u8])>,
}

impl StringSwitch<'_> {
    /// Where each string leaves its position in a local variable: string by position. None if they leave
    /// none.
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
    if jumps_if_equal(known, block) {
        (jump, next)
    } else {
        (next, jump)
    }
}

/// Returns true if a block that compares with a string jumps if they are equal.
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
                op::GETSTATIC => {
                    let member = class.pool.member(index(code.bytes))?;
                    if member.descriptor.starts_with(b"[") {
                        current = member.name == table
                    } else {
                        constant = Some(member.name)
                    }
                }
                op::PUTSTATIC => {
                    let member = class.pool.member(index(code.bytes))?;
                    if member.name == table {
                        labels.append(&mut pending);
                    }
                    pending.clear();
                }
                op::ICONST_0..=op::ICONST_5 => number = Some(i32::from(opcode - op::ICONST_0)),
                op::BIPUSH => number = Some(i32::from(code.bytes[at + 1] as i8)),
                op::SIPUSH => number = Some(i32::from(index(code.bytes) as i16)),
                op::IASTORE => {
                    if let (Some(name), Some(number)) = (constant.take(), number.take()) {
                        let name = decode(name).into_owned();
                        if current {
                            labels.insert(number, name)
                        } else {
                            pending.insert(number, name)
                        };
                    }
                }
                _ => {}
            }
        }
    }
    (!labels.is_empty()).then_some(labels)
}

/// The constants of an enum by their ordinals: in the order in which its initialiser stores them.
fn ordinals(class: &Class) -> Option<Labels> {
    let initialiser = class.methods.iter().find(|method| method.name == b"<clinit>")?;
    let code = Code::read(initialiser.code.as_ref()?, &class.pool, &mut Marks::default()).ok()?;
    let stores = code
        .instructions(0, code.len())
        .filter(|&(_, opcode)| opcode == op::PUTSTATIC);
    let fields = stores.filter_map(|(pc, _)| class.pool.member(get_u2(code.bytes, pc as usize + 1)));
    let constants = fields.filter(|field| {
        let ty = field
            .descriptor
            .strip_prefix(b"L")
            .and_then(|ty| ty.strip_suffix(b";"));
        ty == Some(class.name)
    });
    let labels: Labels = (0..)
        .zip(constants.map(|field| decode(field.name).into_owned()))
        .collect();
    (class.superclass() == Some(b"java/lang/Enum") && !labels.is_empty()).then_some(labels)
}
