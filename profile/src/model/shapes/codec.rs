//! The section with the shapes of methods: writing and reading. It belongs to the path maps, but has sections of its own: readers
//! of older versions ignore it, and older files do without.

use std::sync::Arc;

use super::{BlockShape, Callee, MethodShape};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::fault::Fault;
use crate::model::profile::{ClassProfile, Profile};
use crate::model::section::{Records, SectionReader};

/// What there is of a method.
const NO_SHAPE: u8 = 0;
const WITHOUT: u8 = 1;
const WITH_ALLOCATIONS: u8 = 2;

/// Its tag.
pub(in crate::model) const SHAPES: Tag = *b"shap";

/// Writes one record per class that has shapes.
pub(super) fn write(profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut records = Records::new(SHAPES);
    for (index, class) in profile.classes.iter().enumerate() {
        put_class(&mut records.plain, index, class);
        records.end()?;
    }
    records.append_to(out)
}

/// Writes the record of a class, which has this number in the file, if it has shapes.
pub(in crate::model) fn put_class(plain: &mut Encoder, index: usize, class: &ClassProfile) {
    if class.map.methods.iter().all(|m| m.shape.is_none()) {
        return;
    }
    plain.uint(index as u64);
    for method in &class.map.methods {
        let Some(shape) = &method.shape else {
            plain.byte(NO_SHAPE);
            continue;
        };
        let known = shape.blocks.iter().all(|block| block.allocations.is_some());
        plain.byte(if known { WITH_ALLOCATIONS } else { WITHOUT });
        put(plain, shape);
    }
}

/// Hashes stand together, and so do numbers: the one kind does not compress, the other does.
fn put(out: &mut Encoder, shape: &MethodShape) {
    out.bytes.extend_from_slice(&shape.code.to_le_bytes());
    for block in &shape.blocks {
        out.bytes.extend_from_slice(&block.opcodes.to_le_bytes());
    }
    for block in &shape.blocks {
        out.uint(u64::from(block.instructions));
        out.uint(u64::from(block.calls));
    }
    if shape.blocks.iter().all(|block| block.allocations.is_some()) {
        for block in &shape.blocks {
            out.uint(u64::from(block.allocations.unwrap_or_default()));
        }
    }
    for callee in &shape.calls {
        out.bytes.extend_from_slice(&callee.owner.to_le_bytes());
        out.bytes.extend_from_slice(&callee.method.to_le_bytes());
    }
}

/// Shapes go straight into the path maps that were read before.
pub(super) struct Reading;

impl SectionReader for Reading {
    fn section(&mut self, _: Tag, d: &mut Decoder<'_>, profile: &mut Profile) -> Decoded<()> {
        d.records(|d| record(d, &mut profile.classes))
    }
}

fn record(d: &mut Decoder<'_>, classes: &mut [ClassProfile]) -> Decoded<()> {
    let index = d.u32("class of a shape")?;
    let class = classes.get_mut(index as usize);
    let class = class.ok_or(Fault::NoItem("shapes", "class", index.into()))?;
    let map = Arc::make_mut(&mut class.map);
    for method in &mut map.methods {
        method.shape = match d.byte("kind of a shape")? {
            NO_SHAPE => None,
            kind @ (WITHOUT | WITH_ALLOCATIONS) => {
                Some(shape(d, method.blocks.len(), kind == WITH_ALLOCATIONS)?)
            }
            other => return Err(Fault::NoSuch("kind of shape", other.into()).into()),
        };
    }
    Ok(())
}

fn shape(d: &mut Decoder<'_>, blocks: usize, allocations: bool) -> Decoded<MethodShape> {
    let code = u64::from_le_bytes(d.array("hash of the code")?);
    let hash = |d: &mut Decoder<'_>, what| -> Decoded<u32> { Ok(u32::from_le_bytes(d.array(what)?)) };
    let mut shape = MethodShape {
        code,
        blocks: Vec::with_capacity(blocks),
        calls: Vec::new(),
    };
    for _ in 0..blocks {
        shape.blocks.push(BlockShape {
            opcodes: hash(d, "hash of a block")?,
            ..BlockShape::default()
        });
    }
    let mut calls = 0u64;
    for block in &mut shape.blocks {
        block.instructions = d.u32("instructions of a block")?;
        block.calls = d.u32("calls of a block")?;
        calls += u64::from(block.calls);
    }
    for block in shape.blocks.iter_mut().filter(|_| allocations) {
        block.allocations = Some(d.u32("allocations of a block")?);
    }
    for _ in 0..calls {
        shape.calls.push(Callee {
            owner: hash(d, "class of a call")?,
            method: hash(d, "method of a call")?,
        });
    }
    shape.calls.shrink_to_fit();
    Ok(shape)
}
