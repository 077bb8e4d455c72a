//! The section with conditions, both ways.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use trodden_numbering::{BlockId, FlowGraph};

use super::{CompilerMade, Condition, ConditionKind, Conditions, MethodConditions, Outcome};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Problem, SECTION_TARGET, Tag};
use crate::model::profile::Profile;

/// Its tag.
pub(crate) const CONDITIONS: Tag = *b"cond";

/// The payloads: one record per method. Another one begins after about 1 MiB.
pub(crate) fn payloads(conditions: &Conditions) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    let mut plain = Encoder::default();
    for (&(class, method), of) in conditions {
        plain.uint(u64::from(class));
        plain.uint(u64::from(method));
        plain.byte(made_number(of.method));
        plain.len(of.made.len());
        for &(block, made) in &of.made {
            plain.uint(u64::from(block));
            plain.byte(made_number(Some(made)));
        }
        plain.len(of.conditions.len());
        for condition in &of.conditions {
            put(&mut plain, condition);
        }
        if plain.bytes.len() >= SECTION_TARGET {
            payloads.push(std::mem::take(&mut plain.bytes));
        }
    }
    if !plain.bytes.is_empty() {
        payloads.push(plain.bytes);
    }
    payloads
}

fn put(out: &mut Encoder, condition: &Condition) {
    out.uint(u64::from(condition.block));
    out.byte(condition.kind as u8);
    out.byte(made_number(condition.made));
    out.option(condition.text.as_deref(), Encoder::string);
    out.len(condition.outcomes.len());
    for outcome in &condition.outcomes {
        match outcome {
            Outcome::Unknown => out.byte(0),
            Outcome::Yes => out.byte(1),
            Outcome::No => out.byte(2),
            Outcome::Again => out.byte(3),
            Outcome::Done => out.byte(4),
            Outcome::Case(label) => {
                out.byte(5);
                out.string(label);
            }
        }
    }
}

/// 0 for what the source has.
fn made_number(made: Option<CompilerMade>) -> u8 {
    made.map_or(0, |made| made as u8 + 1)
}

/// Reads one record.
pub(crate) fn record(d: &mut Decoder<'_>, conditions: &mut Conditions) -> Decoded<()> {
    let place = (d.u32("class of conditions")?, d.u32("method of conditions")?);
    let of = MethodConditions {
        method: made(d)?,
        made: d.list("blocks that the compiler made", |d, _| {
            let block = d.u32("block that the compiler made")?;
            let made = made(d)?.ok_or("a block that the compiler made says not why")?;
            Ok((block, made))
        })?,
        conditions: d.list("conditions", |d, _| condition(d))?,
    };
    match conditions.entry(place) {
        Entry::Vacant(entry) => {
            entry.insert(of);
            Ok(())
        }
        Entry::Occupied(_) => Err(format!(
            "method {} of class {} has its conditions twice",
            place.1, place.0
        )),
    }
}

fn made(d: &mut Decoder<'_>) -> Decoded<Option<CompilerMade>> {
    match d.byte("what the compiler made")? {
        0 => Ok(None),
        number => match CompilerMade::ALL.get(usize::from(number) - 1) {
            Some(&made) => Ok(Some(made)),
            None => Err(format!("what the compiler made: {number} is not known")),
        },
    }
}

fn condition(d: &mut Decoder<'_>) -> Decoded<Condition> {
    let block = d.u32("block of a condition")?;
    let number = d.byte("kind of a condition")?;
    let kind = ConditionKind::ALL.get(usize::from(number));
    Ok(Condition {
        block,
        kind: *kind.ok_or_else(|| format!("kind of a condition: {number} is not known"))?,
        made: made(d)?,
        text: d.option("has a condition a text?", |d| {
            Ok(Arc::from(d.string("condition")?))
        })?,
        outcomes: d.list("outcomes", |d, _| {
            Ok(match d.byte("outcome")? {
                0 => Outcome::Unknown,
                1 => Outcome::Yes,
                2 => Outcome::No,
                3 => Outcome::Again,
                4 => Outcome::Done,
                5 => Outcome::Case(Arc::from(d.string("case")?)),
                other => return Err(format!("outcome: {other} is not known")),
            })
        })?,
    })
}

/// Conditions are of methods and blocks that are there, in order, with one outcome per edge.
pub(crate) fn check(profile: &Profile, conditions: &Conditions) -> Result<(), Problem> {
    for (&(class, method), of) in conditions {
        let problem = |what: String| {
            let class = profile.classes.get(class as usize);
            let method = class.and_then(|c| c.map.methods.get(method as usize));
            Err(Problem {
                class: class.map(|c| c.map.name.clone()),
                method: method.map(|m| format!("{}{}", m.name, m.descriptor)),
                what,
            })
        };
        let found = profile.classes.get(class as usize);
        let Some(map) = found.and_then(|c| c.map.methods.get(method as usize)) else {
            return problem(format!(
                "conditions of method {method} of class {class}, which is not there"
            ));
        };
        let ascending = |blocks: Vec<u32>| {
            let there = blocks.iter().all(|&block| (block as usize) < map.blocks.len());
            there && blocks.is_sorted_by(|a, b| a < b)
        };
        if !ascending(of.conditions.iter().map(|c| c.block).collect()) {
            return problem("the conditions are not of its blocks, or not in order".to_owned());
        }
        if !ascending(of.made.iter().map(|&(block, _)| block).collect()) {
            return problem("what the compiler made is not of its blocks, or not in order".to_owned());
        }
        for condition in &of.conditions {
            let edges = map.graph.successors(BlockId::new(condition.block as usize)).len();
            if condition.outcomes.len() != edges {
                return problem(format!(
                    "the condition of block {} has {} outcomes, the block {edges} edges",
                    condition.block,
                    condition.outcomes.len()
                ));
            }
        }
    }
    Ok(())
}
