//! The section with the shapes of methods, both ways. It belongs to the path maps, but stands apart from them: readers
//! of older versions ignore it, and older files do without.

use std::sync::Arc;

use super::error::{Problem, WriteError};
use super::wire::{Decoded, Decoder, Encoder};
use super::{SECTION_TARGET, Tag};
use crate::model::profile::{ClassProfile, Profile};
use crate::model::shape::{BlockShape, Callee, MethodShape};

/// Its tag.
pub(super) const SHAPES: Tag = *b"shap";

/// The payloads: one record per class that has shapes. Another one begins after about 1 MiB.
///
/// # Errors
/// If a shape does not fit its method's blocks.
pub(super) fn payloads(profile: &Profile) -> Result<Vec<Vec<u8>>, WriteError> {
    let mut payloads = Vec::new();
    let mut plain = Encoder::default();
    for (index, class) in profile.classes.iter().enumerate() {
        if class.map.methods.iter().all(|m| m.shape.is_none()) {
            continue;
        }
        plain.uint(index as u64);
        for method in &class.map.methods {
            let Some(shape) = &method.shape else {
                plain.byte(0);
                continue;
            };
            if let Err(what) = fits(shape, method.blocks.len()) {
                return Err(WriteError::Invalid(Problem {
                    class: Some(class.map.name.clone()),
                    method: Some(format!("{}{}", method.name, method.descriptor)),
                    what,
                }));
            }
            plain.byte(1);
            put(&mut plain, shape);
        }
        if plain.bytes.len() >= SECTION_TARGET {
            payloads.push(std::mem::take(&mut plain.bytes));
        }
    }
    if !plain.bytes.is_empty() {
        payloads.push(plain.bytes);
    }
    Ok(payloads)
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
    for callee in &shape.calls {
        out.bytes.extend_from_slice(&callee.owner.to_le_bytes());
        out.bytes.extend_from_slice(&callee.method.to_le_bytes());
    }
}

/// Does a shape speak of so many blocks, and of the calls in them?
fn fits(shape: &MethodShape, blocks: usize) -> Result<(), String> {
    let calls: u64 = shape.blocks.iter().map(|b| u64::from(b.calls)).sum();
    match () {
        () if shape.blocks.len() != blocks => Err(format!(
            "the shape has {} blocks, the path map {blocks}",
            shape.blocks.len()
        )),
        () if calls != shape.calls.len() as u64 => Err(format!(
            "the shape has {} calls, its blocks {calls}",
            shape.calls.len()
        )),
        () => Ok(()),
    }
}

/// Reads one record into the path maps that were read before.
pub(super) fn record(d: &mut Decoder<'_>, classes: &mut [ClassProfile]) -> Decoded<()> {
    let index = d.u32("class of a shape")?;
    let Some(class) = classes.get_mut(index as usize) else {
        return Err(format!("shapes of class {index}, which is not there"));
    };
    let map = Arc::make_mut(&mut class.map);
    for method in &mut map.methods {
        method.shape = match d.boolean("is there a shape?")? {
            true => Some(shape(d, method.blocks.len())?),
            false => None,
        };
    }
    Ok(())
}

fn shape(d: &mut Decoder<'_>, blocks: usize) -> Decoded<MethodShape> {
    let code = u64::from_le_bytes(d.array("hash of the code")?);
    let hash = |d: &mut Decoder<'_>, what| Ok::<u32, String>(u32::from_le_bytes(d.array(what)?));
    let mut shape = MethodShape {
        code,
        blocks: Vec::new(),
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
    for _ in 0..calls {
        shape.calls.push(Callee {
            owner: hash(d, "class of a call")?,
            method: hash(d, "method of a call")?,
        });
    }
    Ok(shape)
}
