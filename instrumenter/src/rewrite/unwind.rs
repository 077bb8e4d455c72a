//! Which parts of a method a handler of ours can cover that catches everything.
//!
//! A handler's frame must hold wherever the handler may be entered from. It claims nothing of the method's
//! own locals, so only constructors are special: before `super()` (or `this()`) a frame has to say that
//! `this` is uninitialised, after it a frame must not, and the call itself cannot be covered at all. So there
//! are two handlers, and the call has to be found: the first one of an `<init>` that no `new` in front of it
//! accounts for. The class file's frames must agree; where they do not, or the code jumps about in a way that
//! cannot be followed here, that part goes without a handler.

use crate::classfile::class::{Attribute, Class, Method};
use crate::classfile::code::Code;
use crate::classfile::frames;
use crate::classfile::opcodes::{self as op, KIND, kind};
use crate::classfile::reader::{Read, get_u2};

/// A part of the old code under one handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// From behind the call at this bytecode index; `None`: from behind the method entry's probe.
    pub from: Option<u32>,
    /// Up to the call at this bytecode index, which is not covered itself; `None`: up to the end.
    pub to: Option<u32>,
    /// True if `this` is uninitialised there.
    pub uninitialized_this: bool,
}

const ALL: Covered = Covered {
    from: None,
    to: None,
    uninitialized_this: false,
};

/// The parts that can be covered, in order.
pub fn covered(
    class: &Class,
    method: &Method,
    code: &Code,
    frames: Option<&Attribute>,
) -> Read<Vec<Covered>> {
    let is_static = method.access & 0x0008 != 0;
    if is_static || method.name != b"<init>" || class.name == b"java/lang/Object" {
        return Ok(vec![ALL]);
    }
    let Some(Found {
        call,
        is_straight,
        keeps_this,
        ..
    }) = find(class, code)
    else {
        return Ok(Vec::new());
    };
    let mut agrees = true;
    let told = match frames {
        Some(frames) => frames::each_this(frames, |pc, uninitialized| {
            agrees &= uninitialized == (pc <= call)
        })?,
        None => is_straight,
    };
    if !told || !agrees {
        return Ok(Vec::new());
    }
    let before = Covered {
        to: Some(call),
        uninitialized_this: true,
        ..ALL
    };
    let after = Covered {
        from: Some(call),
        ..ALL
    };
    Ok(if keeps_this {
        vec![before, after]
    } else {
        vec![after]
    })
}

const FSTORE_0: u8 = 67;
const DSTORE_0: u8 = 71;

struct Found {
    /// The call of `super()` or `this()`.
    call: u32,
    /// True if there is no jump and no handler in front of it.
    is_straight: bool,
    /// True if `this` is in its local up to there.
    keeps_this: bool,
    /// True for the call of `Object`'s constructor, which throws nothing.
    of_object: bool,
}

/// Returns true if an exception may leave the constructor that no handler of ours can catch: out of its call
/// of `super()` or `this()`.
pub fn calls_other_constructor(class: &Class, method: &Method, code: &Code) -> bool {
    method.name == b"<init>"
        && class.name != b"java/lang/Object"
        && find(class, code).is_none_or(|found| !found.of_object)
}

fn find(class: &Class, code: &Code) -> Option<Found> {
    let operand = |pc: u32| get_u2(code.bytes, pc as usize + 1);
    let mut made = Vec::new();
    let (mut is_straight, mut keeps_this) = (true, true);
    for (pc, opcode) in code.instructions(0, code.len()) {
        match opcode {
            op::NEW => made.push(class.pool.class_name(operand(pc))?),
            op::INVOKESPECIAL => {
                let (owner, name) = class.pool.method_name(operand(pc))?;
                if name != b"<init>" {
                    continue;
                }
                match made.last() {
                    Some(&last) if last == owner => drop(made.pop()),
                    // What was made last is still waiting.
                    Some(_) => return None,
                    None => {
                        is_straight &= code.handlers().all(|handler| handler.handler > pc);
                        return Some(Found {
                            call: pc,
                            is_straight,
                            keeps_this,
                            of_object: owner == b"java/lang/Object",
                        });
                    }
                }
            }
            // Stores to local 0, and to 0 and 1.
            op::ISTORE..=op::ASTORE if code.bytes[pc as usize + 1] == 0 => keeps_this = false,
            op::ISTORE_0 | op::LSTORE_0 | FSTORE_0 | DSTORE_0 | op::ASTORE_0 => keeps_this = false,
            op::WIDE => {
                keeps_this &=
                    code.bytes[pc as usize + 1] == op::IINC || get_u2(code.bytes, pc as usize + 2) != 0
            }
            _ if KIND[opcode as usize] & kind::CONTROL != 0 => is_straight = false,
            _ => {}
        }
    }
    None
}
