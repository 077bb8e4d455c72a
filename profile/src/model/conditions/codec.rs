//! The section with conditions: writing and reading.

use super::{
    CodeCopy, CodeRange, CompilerMade, Condition, ConditionKind, Conditions, MethodConditions, Outcome,
};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::fault::Fault;
use crate::model::profile::Profile;
use crate::model::section::{Records, SectionReader};

/// Its tag.
pub(crate) const CONDITIONS: Tag = *b"cond";

/// The tag of what is said of instructions rather than of decisions.
pub(crate) const RANGES: Tag = *b"rang";

/// Writes the conditions: one record per method.
pub(super) fn write(conditions: &Conditions, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut records = Records::new(CONDITIONS);
    let mut ranges = Records::new(RANGES);
    for (&place, of) in conditions {
        put_method(&mut records.plain, place, of);
        records.end()?;
        put_ranges(&mut ranges.plain, place, of);
        ranges.end()?;
    }
    records.append_to(out)?;
    ranges.append_to(out)
}

/// Writes the record of a method's instructions, if it has one.
pub(in crate::model) fn put_ranges(plain: &mut Encoder, (class, method): (u32, u32), of: &MethodConditions) {
    if !has_ranges(of) {
        return;
    }
    plain.uint(u64::from(class));
    plain.uint(u64::from(method));
    plain.len(of.left_out.len());
    for range in &of.left_out {
        plain.uint(u64::from(range.start));
        plain.uint(u64::from(range.end));
    }
    plain.len(of.copies.len());
    for copy in &of.copies {
        plain.uint(u64::from(copy.start));
        plain.uint(u64::from(copy.of));
        plain.uint(u64::from(copy.length));
    }
    plain.len(of.restarts.len());
    for &block in &of.restarts {
        plain.uint(u64::from(block));
    }
}

fn ranges(d: &mut Decoder<'_>, conditions: &mut Conditions) -> Decoded<()> {
    let (class, method) = (d.u32("class of instructions")?, d.u32("method of instructions")?);
    let left_out = d.list("instructions that are left out", |d, _| {
        Ok(CodeRange {
            start: d.u32("first instruction that is left out")?,
            end: d.u32("end of instructions that are left out")?,
        })
    })?;
    let copies = d.list("instructions that repeat others", |d, _| {
        Ok(CodeCopy {
            start: d.u32("first instruction that repeats another")?,
            of: d.u32("instruction that is repeated")?,
            length: d.u32("length of what is repeated")?,
        })
    })?;
    let restarts = d.list("blocks where patterns begin again", |d, _| {
        d.u32("block where patterns begin again")
    })?;
    let of = conditions.entry((class, method)).or_default();
    if has_ranges(of) {
        return Err(Fault::MethodTwice("instructions", class, method).into());
    }
    (of.left_out, of.copies, of.restarts) = (left_out, copies, restarts);
    Ok(())
}

fn has_ranges(of: &MethodConditions) -> bool {
    !of.left_out.is_empty() || !of.copies.is_empty() || !of.restarts.is_empty()
}

/// Writes the record of a method: of which class, and which of its methods.
pub(in crate::model) fn put_method(plain: &mut Encoder, (class, method): (u32, u32), of: &MethodConditions) {
    plain.uint(u64::from(class));
    put_known(plain, method, of);
}

/// What is known of a method, behind its position in the class.
fn put_known(plain: &mut Encoder, method: u32, of: &MethodConditions) {
    plain.uint(u64::from(method));
    plain.byte(made_number(of.method));
    plain.len(of.made.len());
    for &(block, made) in &of.made {
        plain.uint(u64::from(block));
        plain.byte(made_number(Some(made)));
    }
    plain.len(of.conditions.len());
    for condition in &of.conditions {
        put(plain, condition);
    }
}

/// Conditions go straight into the profile.
pub(super) struct Reading;

impl SectionReader for Reading {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, profile: &mut Profile) -> Decoded<()> {
        if tag == RANGES {
            d.records(|d| ranges(d, &mut profile.conditions))
        } else {
            d.records(|d| record(d, &mut profile.conditions))
        }
    }
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

fn record(d: &mut Decoder<'_>, conditions: &mut Conditions) -> Decoded<()> {
    let class = d.u32("class of conditions")?;
    let (method, known) = known(d)?;
    let of = conditions.entry((class, method)).or_default();
    if of.method.is_some() || !of.made.is_empty() || !of.conditions.is_empty() {
        return Err(Fault::MethodTwice("conditions", class, method).into());
    }
    (of.method, of.made, of.conditions) = (known.method, known.made, known.conditions);
    Ok(())
}

fn known(d: &mut Decoder<'_>) -> Decoded<(u32, MethodConditions)> {
    let method = d.u32("method of conditions")?;
    let of = MethodConditions {
        method: made(d)?,
        made: d.list("blocks that the compiler made", |d, _| {
            let block = d.u32("block that the compiler made")?;
            let made = made(d)?.ok_or(Fault::NoSuch(MADE, 0))?;
            Ok((block, made))
        })?,
        conditions: d.list("conditions", |d, _| condition(d))?,
        ..MethodConditions::default()
    };
    Ok((method, of))
}

/// Writes what is known of a class's methods, as a trace has it.
pub(crate) fn put_of_class(plain: &mut Encoder, first_method: u32, methods: &[(u32, MethodConditions)]) {
    plain.uint(u64::from(first_method));
    plain.len(methods.len());
    for (method, of) in methods {
        put_known(plain, *method, of);
    }
}

/// Reads that again.
pub(crate) fn of_class(d: &mut Decoder<'_>) -> Decoded<(u32, Vec<(u32, MethodConditions)>)> {
    let first_method = d.u32("id of the first method of conditions")?;
    let methods = d.list("methods with conditions", |d, _| known(d))?;
    Ok((first_method, methods))
}

/// The field that says why the compiler made something.
const MADE: &str = "reason of the compiler";

fn made(d: &mut Decoder<'_>) -> Decoded<Option<CompilerMade>> {
    let number = d.byte(MADE)?;
    let Some(index) = usize::from(number).checked_sub(1) else {
        return Ok(None);
    };
    let made = CompilerMade::ALL.get(index);
    Ok(Some(*made.ok_or(Fault::NoSuch(MADE, number.into()))?))
}

fn condition(d: &mut Decoder<'_>) -> Decoded<Condition> {
    let block = d.u32("block of a condition")?;
    let number = d.byte("kind of a condition")?;
    let kind = ConditionKind::ALL.get(usize::from(number));
    let kind = kind.ok_or(Fault::NoSuch("kind of condition", number.into()))?;
    Ok(Condition {
        block,
        kind: *kind,
        made: made(d)?,
        text: d.option("has a condition a text?", |d| d.string("condition"))?,
        outcomes: d.list("outcomes", |d, _| {
            Ok(match d.byte("outcome")? {
                0 => Outcome::Unknown,
                1 => Outcome::Yes,
                2 => Outcome::No,
                3 => Outcome::Again,
                4 => Outcome::Done,
                5 => Outcome::Case(d.string("case")?),
                other => return Err(Fault::NoSuch("outcome", other.into()).into()),
            })
        })?,
    })
}
