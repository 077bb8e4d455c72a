//! A very small assembler for probe code.

use super::shim::ShimMethod;
use crate::classfile::opcodes as op;
use crate::classfile::pool::{PoolBuilder, PoolFull};
use crate::classfile::reader::put_u2;

/// Appends instructions to a buffer, and their constants to a pool.
pub struct Asm<'b, 'p, 'a> {
    out: &'b mut Vec<u8>,
    /// Where constants go.
    pub pool: &'b mut PoolBuilder<'p, 'a>,
    shim: &'b str,
}

impl<'b, 'p, 'a> Asm<'b, 'p, 'a> {
    /// An assembler whose shim calls go to the class `shim`.
    pub fn new(out: &'b mut Vec<u8>, pool: &'b mut PoolBuilder<'p, 'a>, shim: &'b str) -> Self {
        Asm { out, pool, shim }
    }

    /// Always the wide form: the length of a probe must depend on its value alone, never on how full the pool
    /// is.
    fn ldc(&mut self, value: i32) -> Result<(), PoolFull> {
        let index = self.pool.integer(value)?;
        self.out.push(op::LDC_W);
        put_u2(self.out, index);
        Ok(())
    }

    /// Pushes an int in as few bytes as possible.  `… -> …, value`
    pub fn push(&mut self, value: i32) -> Result<(), PoolFull> {
        match value {
            -1..=5 => self.out.push((i32::from(op::ICONST_0) + value) as u8),
            -128..=127 => self.out.extend_from_slice(&[op::BIPUSH, value as u8]),
            -32768..=32767 => {
                self.out.push(op::SIPUSH);
                put_u2(self.out, value as u16);
            }
            _ => self.ldc(value)?,
        }
        Ok(())
    }

    /// Pushes an id in exactly three bytes, so that code size does not depend on which ids were given out.
    /// `… -> …, id`
    pub fn push_id(&mut self, id: u32) -> Result<(), PoolFull> {
        if id <= i16::MAX as u32 {
            self.out.push(op::SIPUSH);
            put_u2(self.out, id as u16);
        } else {
            self.ldc(id as i32)?;
        }
        Ok(())
    }

    fn local(&mut self, short: u8, long: u8, slot: u16) {
        match slot {
            0..=3 => self.out.push(short + slot as u8),
            4..=255 => self.out.extend_from_slice(&[long, slot as u8]),
            _ => {
                self.out.extend_from_slice(&[op::WIDE, long]);
                put_u2(self.out, slot);
            }
        }
    }

    /// Pushes no address of a block.  `… -> …, long`
    pub fn push_no_block(&mut self) {
        self.out.push(op::LCONST_0);
    }

    /// `… -> …, int`
    pub fn iload(&mut self, slot: u16) {
        self.local(op::ILOAD_0, op::ILOAD, slot);
    }

    /// `…, int -> …`
    pub fn istore(&mut self, slot: u16) {
        self.local(op::ISTORE_0, op::ISTORE, slot);
    }

    /// `… -> …, long`
    pub fn lload(&mut self, slot: u16) {
        self.local(op::LLOAD_0, op::LLOAD, slot);
    }

    /// `…, long -> …`
    pub fn lstore(&mut self, slot: u16) {
        self.local(op::LSTORE_0, op::LSTORE, slot);
    }

    /// Adds a positive value to an int local.  `… -> …`
    pub fn add(&mut self, slot: u16, value: i32) -> Result<(), PoolFull> {
        match (slot, value) {
            (0..=255, 1..=127) => self.out.extend_from_slice(&[op::IINC, slot as u8, value as u8]),
            (_, 1..=32767) => {
                self.out.extend_from_slice(&[op::WIDE, op::IINC]);
                put_u2(self.out, slot);
                put_u2(self.out, value as u16);
            }
            _ => {
                self.iload(slot); // … int
                self.push(value)?; // … int int
                self.out.push(op::IADD); // … int
                self.istore(slot); // …
            }
        }
        Ok(())
    }

    /// Sets an int local.  `… -> …`
    pub fn set(&mut self, slot: u16, value: i32) -> Result<(), PoolFull> {
        self.push(value)?; // … int
        self.istore(slot); // …
        Ok(())
    }

    /// Returns the shim's class if the first argument, behind `this`, is its name. What follows is jumped to
    /// at [`Asm::SHIM_ANSWERED`], with nothing on the stack.  `… -> …`
    pub fn answer_for_shim(&mut self) -> Result<(), PoolFull> {
        let class = self.pool.class(self.shim.as_bytes())?;
        self.out.push(op::ALOAD_1); // … name
        self.call_shim(ShimMethod::IsShim)?; // … is
        self.out.extend_from_slice(&[op::IFEQ, 0, 7, op::LDC_W]);
        put_u2(self.out, class); // … class
        // No other frame can be at the instruction behind this one.
        self.out.extend_from_slice(&[op::ARETURN, op::NOP]);
        Ok(())
    }

    /// Where [`Asm::answer_for_shim`] jumps to, from its own beginning.
    pub const SHIM_ANSWERED: u32 = 11;

    /// Calls a static method of the shim.
    pub fn call_shim(&mut self, method: ShimMethod) -> Result<(), PoolFull> {
        let (name, descriptor) = method.signature();
        let method = self.pool.methodref(self.shim, name, descriptor)?;
        self.out.push(op::INVOKESTATIC);
        put_u2(self.out, method);
        Ok(())
    }
}
