//! From what the stack holds and how control flows to a method's conditions.

use std::cell::OnceCell;

use trodden_classfile::class::{Class, Method};
use trodden_classfile::code::Code;
use trodden_profile::{BlockExit, Condition, ConditionKind, MethodConditions, MethodMap, Outcome};

use crate::classes::Classes;
use crate::expression::{Name, Node};
use crate::flow::{Flow, Lines, LoopTest};
use crate::interpret::{Decision, Relation, Test, interpret};
use crate::known::Known;
use crate::print::{Dialect, MAX_TEXT};
use crate::rules::ClassMarks;
use crate::switches;
use crate::variables::Variables;
use crate::{patterns, rules};

/// Recovers the conditions of a method.
pub fn method<'a>(
    class: &Class<'a>,
    method: &Method<'a>,
    code: &Code<'a>,
    map: &MethodMap,
    (dialect, marks): (Dialect, ClassMarks),
    classes: &dyn Classes,
) -> MethodConditions {
    let mut variables = Variables::read(class, method, code);
    let interpreted = interpret(class, code, map, &mut variables);
    let flow = Flow::new(map, &interpreted);
    let known = Known {
        class,
        method,
        code,
        map,
        interpreted: &interpreted,
        variables: &variables,
        flow: &flow,
        dialect,
        marks,
        classes,
        listing: OnceCell::new(),
    };
    let mut out = MethodConditions::default();
    for (block, facts) in interpreted.blocks.iter().enumerate() {
        let condition = match (facts.decision, map.blocks[block].exit) {
            (Some(Decision::Test(test)), BlockExit::Branch) => known.branch(block, &test),
            (Some(Decision::Switch(over)), BlockExit::Switch) => switches::switch(&known, block, over),
            _ => continue,
        };
        out.conditions.push(condition);
    }
    patterns::note(&known, &mut out);
    rules::apply(&known, &mut out);
    out
}

/// The question for a part of a record pattern that is a number. The compiler asks it of a constant. JaCoCo
/// counts the branch, so it stays one.
const PART_FITS: &str = "the part fits";

impl<'m, 'a> Known<'m, 'a> {
    fn branch(&self, block: usize, test: &Test) -> Condition {
        let sense = self.flow.sense(block);
        let (jump, next) = self.flow.targets(block);
        let mut text = self.text(block, test, sense);
        let (kind, outcomes) = match self.flow.loop_test(block) {
            Some(of) => {
                let meaning = |to: usize, holds: bool| {
                    if (of.first..=of.last).contains(&to) && to > block {
                        if holds { Outcome::Yes } else { Outcome::No }
                    } else if self.flow.stays(&of, to) {
                        Outcome::Again
                    } else {
                        Outcome::Done
                    }
                };
                let mut kind = self.loop_kind(&of);
                if let Some(elements) = self.elements(block, &of, test) {
                    kind = ConditionKind::ForEach;
                    text = elements;
                }
                (kind, vec![meaning(jump, sense), meaning(next, !sense)])
            }
            None => {
                let kind = if self.flow.makes_value(block) {
                    ConditionKind::Value
                } else {
                    ConditionKind::If
                };
                let mut outcomes = vec![Outcome::Yes, Outcome::No];
                if !sense {
                    outcomes.swap(0, 1);
                }
                (kind, outcomes)
            }
        };
        Condition {
            block: block as u32,
            kind,
            text,
            outcomes,
            made: None,
        }
    }

    /// The test of a block as the source has it.
    pub fn text(&self, block: usize, test: &Test, holds: bool) -> Option<String> {
        match self.decided(block) {
            Some(_) => Some(PART_FITS.to_owned()),
            None => self.printer().test(test, holds),
        }
    }

    /// A `for` leaves its trace in the line table: what runs before the jump back is on the condition's line.
    fn loop_kind(&self, of: &LoopTest) -> ConditionKind {
        if of.unclear {
            return ConditionKind::Loop;
        }
        if !of.before {
            return ConditionKind::DoWhile;
        }
        let lines = Lines::new(self.map, self.code);
        let Some((first, _)) = lines.of_block(of.first) else {
            return ConditionKind::Loop;
        };
        let last = lines.of_block(of.last).map_or(first, |(_, high)| high);
        // Where the condition stands below the body in the code, the update is what comes before it.
        let latch = if of.first > of.header {
            Some(of.first - 1)
        } else {
            self.flow.latches(of).last().copied()
        };
        let update = latch.and_then(|latch| {
            let block = &self.map.blocks[latch];
            let mut instructions = self.code.instructions(block.start, block.end);
            let end = block.end;
            let last = match block.exit {
                BlockExit::Goto => instructions.take_while(|&(pc, _)| pc < block.last).last(),
                BlockExit::FallThrough => instructions.by_ref().last().filter(|_| end > 0),
                _ => None,
            };
            self.map.line(last?.0)
        });
        let (yes, _) = self.flow.ways(of.last);
        let body = self.map.line(self.map.blocks[yes].start);
        let there = |line: Option<u32>| line.is_some_and(|line| (first..=last).contains(&line));
        // Without an update, what comes before the loop: the initialisation.
        let before = of.header.checked_sub(1).map(|block| &self.map.blocks[block]);
        let before = before.filter(|b| b.exit == BlockExit::FallThrough);
        let initialised = before.and_then(|b| self.map.line(b.last));
        match (there(update) || there(initialised), there(body)) {
            (true, true) => ConditionKind::Loop,
            (true, false) => ConditionKind::For,
            (false, _) => ConditionKind::While,
        }
    }

    /// The text of a loop over elements, `x : xs`, if it is such a loop; within, `None` if the names are not
    /// known.
    fn elements(&self, block: usize, of: &LoopTest, test: &Test) -> Option<Option<String>> {
        if of.first != of.last || !self.variables.named() {
            return None;
        }
        let over = match self.node(test.left) {
            Node::Call {
                receiver: Some(iterator),
                member,
                ..
            } if member.name == b"hasNext" && test.right.is_none() => match self.node(iterator) {
                Node::Call {
                    receiver: Some(over),
                    member,
                    ..
                } if member.name == b"iterator" => over,
                _ => return None,
            },
            Node::Local { name: Name::None, .. } => {
                let Node::Local {
                    name: Name::None,
                    slot,
                    ..
                } = self.node(test.right?)
                else {
                    return None;
                };
                if !matches!(test.relation, Relation::GreaterOrEqual | Relation::Less) {
                    return None;
                }
                let before = self.map.blocks[block].start.max(self.map.blocks[of.header].start);
                let stores = self.interpreted.stores.iter();
                let length = stores.rev().find(|s| s.slot == slot && s.pc < before)?;
                match self.node(length.value) {
                    Node::Length(array) => array,
                    _ => return None,
                }
            }
            _ => return None,
        };
        let (yes, _) = self.flow.ways(block);
        let body = &self.map.blocks[yes];
        let within = |pc: u32| (body.start..body.end).contains(&pc);
        let variable = self.interpreted.named.iter().find(|store| within(store.pc));
        let over = self.printer().expression(over);
        let name = variable.map(|store| self.printer().local(&trodden_classfile::decode(store.name)));
        Some(match (name, over) {
            (None, None) => None,
            (name, over) => {
                let between = match self.dialect {
                    Dialect::Java => " : ",
                    Dialect::Kotlin => " in ",
                };
                let cut = || "…".to_owned();
                let (name, over) = (name.unwrap_or_else(cut), over.unwrap_or_else(cut));
                let text = format!("{name}{between}{over}");
                Some(text).filter(|text| text.chars().count() <= MAX_TEXT + 20)
            }
        })
    }
}
