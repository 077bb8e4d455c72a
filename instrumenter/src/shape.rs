//! From code to its [`MethodShape`]: what does not change when only line numbers, pool indices or the order
//! of members do.

use std::collections::HashMap;

use trodden_classfile::class::Class;
use trodden_classfile::code::{Code, Marks};
use trodden_classfile::decode;
use trodden_classfile::opcodes::{self as op, KIND, kind};
use trodden_classfile::pool::{Pool, tag};
use trodden_classfile::reader::{Fault, get_u2, get_u4};
use trodden_numbering::{BlockId, FlowGraph, SimpleGraph};
use trodden_profile::{
    BlockInfo, BlockShape, Callee, ClassMap, EdgeLabel, MethodMap, MethodShape, ShapeHasher,
};

use crate::error::ClassError;

/// One past the last opcode.
const OPCODES: usize = 202;

/// Hashes of the constants of the class that is being read. The memory is used again.
#[derive(Debug, Default)]
pub struct ShapeScratch {
    /// Per pool index; 0 if it has not been computed.
    hashes: Vec<u64>,
}

impl ShapeScratch {
    /// Forgets the constants of the class before.
    pub fn reset(&mut self, pool: &Pool) {
        self.hashes.clear();
        self.hashes.resize(pool.len(), 0);
    }

    /// The hash of an entry's contents, not of its index.
    fn constant(&mut self, pool: &Pool, index: u16) -> u64 {
        match self.hashes.get(usize::from(index)) {
            Some(&0) => {}
            known => return known.copied().unwrap_or(0),
        }
        let Some((kind, payload)) = pool.raw(index) else {
            return 0;
        };
        let first = || payload.first_chunk().map_or(0, |two| u16::from_be_bytes(*two));
        let second = || {
            payload
                .get(2..4)
                .map_or(0, |two| u16::from_be_bytes([two[0], two[1]]))
        };
        let mut hasher = ShapeHasher::default();
        let hash = match kind {
            tag::UTF8 => ShapeHasher::of_name(pool.utf8(index).unwrap_or_default()),
            tag::NAME_AND_TYPE => {
                hasher.add(self.text(pool, first()));
                hasher.add(self.text(pool, second()));
                hasher.finish()
            }
            _ => {
                hasher.add(u64::from(kind));
                match kind {
                    tag::INTEGER | tag::FLOAT => hasher.add(u64::from(get_u4(payload, 0))),
                    tag::LONG | tag::DOUBLE => {
                        hasher.add(u64::from(get_u4(payload, 0)));
                        hasher.add(u64::from(get_u4(payload, 4)));
                    }
                    tag::CLASS | tag::STRING | tag::METHOD_TYPE => hasher.add(self.text(pool, first())),
                    tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF => {
                        hasher.add(self.class(pool, first()));
                        hasher.add(self.name_and_type(pool, second()));
                    }
                    // Only name and type: the methods behind a call site that is linked at run time
                    // (`lambda$main$3`) are numbered again by each build.
                    tag::DYNAMIC | tag::INVOKE_DYNAMIC => hasher.add(self.name_and_type(pool, second())),
                    _ => {}
                }
                hasher.finish()
            }
        }
        .max(1);
        self.hashes[usize::from(index)] = hash;
        hash
    }

    fn of_kind(&mut self, pool: &Pool, index: u16, wanted: u8) -> u64 {
        match pool.raw(index) {
            Some((kind, _)) if kind == wanted => self.constant(pool, index),
            _ => 0,
        }
    }

    fn text(&mut self, pool: &Pool, index: u16) -> u64 {
        self.of_kind(pool, index, tag::UTF8)
    }

    fn name_and_type(&mut self, pool: &Pool, index: u16) -> u64 {
        self.of_kind(pool, index, tag::NAME_AND_TYPE)
    }

    /// The name of a class, without the entry around it.
    fn class(&mut self, pool: &Pool, index: u16) -> u64 {
        match pool.raw(index) {
            Some((tag::CLASS, payload)) => self.text(pool, get_u2(payload, 0)),
            _ => 0,
        }
    }

    /// The method that a call names, if it names its class; call sites that are linked at run time do not.
    fn callee(&mut self, pool: &Pool, index: u16) -> Option<Callee> {
        let (tag::METHODREF | tag::INTERFACE_METHODREF, payload) = pool.raw(index)? else {
            return None;
        };
        Some(Callee {
            owner: self.class(pool, get_u2(payload, 0)) as u32,
            method: self.name_and_type(pool, get_u2(payload, 2)) as u32,
        })
    }
}

/// The shapes of a class's methods, from its bytes and the path map made from them, in the map's order. What
/// [`InstrumentOptions::shapes`](crate::InstrumentOptions::shapes) leaves out of the map.
///
/// # Errors
/// If the bytes are not a well-formed class file, or not those of the map.
pub fn shapes(bytes: &[u8], map: &ClassMap) -> Result<Vec<MethodShape>, ClassError> {
    let class = Class::read(bytes).map_err(|fault| ClassError::new(Some(&map.name), None, fault))?;
    let by_name: HashMap<_, _> = class
        .methods
        .iter()
        .map(|method| ((decode(method.name), decode(method.descriptor)), method))
        .collect();
    let mut scratch = ShapeScratch::default();
    scratch.reset(&class.pool);
    let mut marks = Marks::default();
    let outside = |message: &str| Fault {
        offset: 0,
        message: message.to_owned(),
    };
    let mut shape_of = |method: &MethodMap| {
        let wrong = |fault| {
            let signature = format!("{}{}", method.name, method.descriptor);
            ClassError::new(Some(&map.name), Some(signature), fault)
        };
        let key = (method.name.as_str().into(), method.descriptor.as_str().into());
        let attribute = by_name.get(&key).and_then(|found| found.code.as_ref());
        let attribute = attribute.ok_or_else(|| wrong(outside("the method has no code here")))?;
        let code = Code::read(attribute, &class.pool, &mut marks).map_err(wrong)?;
        if code.len() != method.code_length {
            return Err(wrong(outside("the path map is of other code")));
        }
        Ok(shape(
            &class.pool,
            &code,
            &method.blocks,
            &method.graph,
            &mut scratch,
        ))
    };
    map.methods.iter().map(&mut shape_of).collect()
}

/// The shape of a method whose blocks are known. The class's constants are forgotten by
/// [`reset`](ShapeScratch::reset) only.
pub fn shape(
    pool: &Pool,
    code: &Code,
    blocks: &[BlockInfo],
    graph: &SimpleGraph,
    scratch: &mut ShapeScratch,
) -> MethodShape {
    let mut whole = ShapeHasher::default();
    let mut shapes = Vec::with_capacity(blocks.len());
    let mut calls = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let mut opcodes = ShapeHasher::default();
        let mut instructions = 0;
        let mut allocations = 0;
        let before = calls.len();
        for (pc, opcode) in code.instructions(block.start, block.end) {
            instructions += 1;
            let (normal, operand) = normal(pool, code, pc as usize, opcode, scratch);
            opcodes.add(u64::from(normal));
            whole.add(operand.rotate_left(8) ^ u64::from(normal));
            allocations += u32::from(matches!(
                opcode,
                op::NEW | op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY
            ));
            if KIND[opcode as usize] & kind::CALL != 0 {
                calls.extend(scratch.callee(pool, get_u2(code.bytes, pc as usize + 1)));
            }
        }
        for to in graph.successors(BlockId::new(index)) {
            whole.add(to.index() as u64);
        }
        for label in block.labels.iter() {
            if let EdgeLabel::Switch { keys, default } = label {
                keys.iter().for_each(|&key| whole.add(u64::from(key as u32)));
                whole.add(u64::from(*default));
            }
        }
        shapes.push(BlockShape {
            opcodes: opcodes.finish() as u32,
            instructions,
            calls: (calls.len() - before) as u32,
            allocations: Some(allocations),
        });
    }
    add_handlers(&mut whole, pool, code, blocks, scratch);
    MethodShape {
        code: whole.finish(),
        blocks: shapes,
        calls,
    }
}

/// The exception table by blocks and instructions: places may move, as long as they do so with the code.
fn add_handlers(
    whole: &mut ShapeHasher,
    pool: &Pool,
    code: &Code,
    blocks: &[BlockInfo],
    scratch: &mut ShapeScratch,
) {
    for handler in code.handlers() {
        for pc in [handler.start, handler.end, handler.handler] {
            let at = blocks.partition_point(|b| b.start <= pc).saturating_sub(1);
            whole.add(at as u64);
            whole.add(code.instructions(blocks[at].start, pc).count() as u64);
        }
        whole.add(scratch.class(pool, handler.catch_type));
    }
}

/// The opcode of an instruction without the width that it is written in.
const NORMAL: [u8; OPCODES] = {
    let mut normal = [0; OPCODES];
    let mut opcode = 0;
    while opcode < OPCODES {
        let o = opcode as u8;
        normal[opcode] = match o {
            op::ICONST_M1..=8 | op::SIPUSH => op::BIPUSH,
            op::LDC_W => op::LDC,
            // Five kinds of value have four short forms each.
            op::ILOAD_0..=op::ALOAD_3 => op::ILOAD + (o - op::ILOAD_0) / 4,
            op::ISTORE_0..=op::ASTORE_3 => op::ISTORE + (o - op::ISTORE_0) / 4,
            op::GOTO_W => op::GOTO,
            op::LOOKUPSWITCH => op::TABLESWITCH,
            _ => o,
        };
        opcode += 1;
    }
    normal
};

/// An instruction's [normal](NORMAL) opcode, and what its operands say.
fn normal(pool: &Pool, code: &Code, pc: usize, opcode: u8, scratch: &mut ShapeScratch) -> (u8, u64) {
    let bytes = code.bytes;
    let int = |value: i32| u64::from(value as u32);
    let mut normal = NORMAL[opcode as usize];
    let operand = match opcode {
        op::ICONST_M1..=8 => int(i32::from(opcode) - i32::from(op::ICONST_0)),
        op::BIPUSH => int(i32::from(bytes[pc + 1] as i8)),
        op::SIPUSH => int(i32::from(get_u2(bytes, pc + 1) as i16)),
        op::LDC | op::LDC_W => {
            let index = match opcode {
                op::LDC => u16::from(bytes[pc + 1]),
                _ => get_u2(bytes, pc + 1),
            };
            match pool.raw(index) {
                Some((tag::INTEGER, value)) => {
                    normal = op::BIPUSH;
                    u64::from(get_u4(value, 0))
                }
                _ => scratch.constant(pool, index),
            }
        }
        op::ILOAD_0..=op::ALOAD_3 => u64::from((opcode - op::ILOAD_0) % 4),
        op::ISTORE_0..=op::ASTORE_3 => u64::from((opcode - op::ISTORE_0) % 4),
        // The last one is the array of a primitive type.
        op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | op::NEWARRAY => u64::from(bytes[pc + 1]),
        op::IINC => increment(u16::from(bytes[pc + 1]), i16::from(bytes[pc + 2] as i8)),
        op::WIDE => {
            normal = bytes[pc + 1];
            match normal {
                op::IINC => increment(get_u2(bytes, pc + 2), get_u2(bytes, pc + 4) as i16),
                _ => u64::from(get_u2(bytes, pc + 2)),
            }
        }
        // Fields, calls, and what names a class.
        op::LDC2_W | op::GETSTATIC..=op::NEW | op::ANEWARRAY | op::CHECKCAST | op::INSTANCEOF => {
            scratch.constant(pool, get_u2(bytes, pc + 1))
        }
        op::MULTIANEWARRAY => scratch.constant(pool, get_u2(bytes, pc + 1)) ^ u64::from(bytes[pc + 3]),
        // The targets of branches are in their block's successors.
        _ => 0,
    };
    (normal, operand)
}

fn increment(local: u16, by: i16) -> u64 {
    u64::from(local) << 16 | u64::from(by as u16)
}
