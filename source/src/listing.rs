//! A method's instructions with their short forms spelled out, and patterns over them.

use std::ops::Range;

use trodden_classfile::class::Class;
use trodden_classfile::code::Code;
use trodden_classfile::opcodes::{self as op, KIND, kind};
use trodden_classfile::reader::{get_u2, get_u4};

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Bytecode index.
    pub pc: u32,
    /// Opcode; `aload_1` is `aload`, `ldc_w` is `ldc`, `goto_w` is `goto`.
    pub opcode: u8,
    /// The local variable that it loads or stores.
    pub slot: Option<u16>,
    /// Where a jump leads.
    pub target: Option<u32>,
}

/// All instructions of a method, in order.
#[derive(Debug)]
pub struct Listing<'m, 'a> {
    class: &'m Class<'a>,
    code: &'m Code<'a>,
    all: Vec<Instruction>,
}

impl<'m, 'a> Listing<'m, 'a> {
    /// Reads the instructions of a method.
    pub fn new(class: &'m Class<'a>, code: &'m Code<'a>) -> Self {
        let all = code.instructions(0, code.len());
        Listing {
            class,
            code,
            all: all.map(|(pc, opcode)| instruction(code, pc, opcode)).collect(),
        }
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// All instructions, in order.
    pub fn all(&self) -> &[Instruction] {
        &self.all
    }

    /// The instruction at a position.
    pub fn get(&self, position: usize) -> Option<&Instruction> {
        self.all.get(position)
    }

    /// Position of the first instruction at or behind a bytecode index.
    pub fn position(&self, pc: u32) -> usize {
        self.all.partition_point(|instruction| instruction.pc < pc)
    }

    /// Where the instruction at a position ends.
    pub fn end(&self, position: usize) -> u32 {
        self.all.get(position + 1).map_or(self.code.len(), |next| next.pc)
    }

    /// The instruction at a position is a call of such a method.
    pub fn is_call(&self, position: usize, method: (&[u8], &[u8])) -> Option<&'a [u8]> {
        let call = self
            .all
            .get(position)
            .filter(|i| (op::INVOKEVIRTUAL..=185).contains(&i.opcode))?;
        let member = self
            .class
            .pool
            .member(get_u2(self.code.bytes, call.pc as usize + 1))?;
        ((member.name, member.descriptor) == method).then_some(member.class)
    }

    /// The instruction at a position reads or writes a static field of the class with this name.
    pub fn is_own_static(&self, position: usize, opcode: u8, name: &[u8]) -> bool {
        let Some(access) = self.all.get(position).filter(|i| i.opcode == opcode) else {
            return false;
        };
        let member = self
            .class
            .pool
            .member(get_u2(self.code.bytes, access.pc as usize + 1));
        member.is_some_and(|member| member.class == self.class.name && member.name == name)
    }

    /// The instructions from a position on have these opcodes.
    pub fn has(&self, position: usize, opcodes: &[u8]) -> bool {
        let there = self.all.get(position..position + opcodes.len());
        there.is_some_and(|there| there.iter().zip(opcodes).all(|(i, &opcode)| i.opcode == opcode))
    }
}

fn instruction(code: &Code, pc: u32, opcode: u8) -> Instruction {
    let at = pc as usize;
    let byte = |offset: usize| code.bytes.get(at + offset).copied().unwrap_or(0);
    let short = |first: u8, base: u8| (base + (opcode - first) / 4, Some(u16::from((opcode - first) % 4)));
    let wide = || (byte(1), Some(get_u2(code.bytes, at + 2)));
    let (opcode, slot) = match opcode {
        op::ILOAD_0..op::ILOAD_0_END => short(op::ILOAD_0, op::ILOAD),
        op::ISTORE_0..op::ISTORE_0_END => short(op::ISTORE_0, op::ISTORE),
        op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE => (opcode, Some(u16::from(byte(1)))),
        op::WIDE if byte(1) == op::IINC => (op::IINC, None),
        op::WIDE => wide(),
        op::LDC_W | op::LDC2_W => (op::LDC, None),
        op::GOTO_W => (op::GOTO, None),
        _ => (opcode, None),
    };
    let delta = match code.bytes[at] {
        op::GOTO_W => Some(get_u4(code.bytes, at + 1) as i32),
        original if KIND[original as usize] & (kind::BRANCH | kind::GOTO) != 0 => {
            Some(i32::from(get_u2(code.bytes, at + 1) as i16))
        }
        _ => None,
    };
    Instruction {
        pc,
        opcode,
        slot,
        target: delta.map(|delta| pc.wrapping_add_signed(delta)),
    }
}

/// Instructions that match one place of a pattern. Variables and labels have numbers: the same number is the
/// same variable.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Loads an object from a variable.
    Load(u8),
    /// Stores an object to a variable.
    Store(u8),
    /// Any instruction of this opcode.
    Is(u8),
    /// A jump of this opcode to a label.
    Jump(u8, u8),
    /// No instruction: the label is here.
    Label(u8),
    /// Two instructions: the object of a variable is closed, by the same method as in other places of the
    /// pattern.
    Close(u8),
    /// `Throwable.addSuppressed`.
    AddSuppressed,
    /// `$closeResource`, which javac 9 and 10 add to a class.
    CloseResource,
}

/// A pattern that is being matched: what its variables and labels are so far.
#[derive(Clone, Debug)]
pub struct Matcher<'l, 'm, 'a> {
    listing: &'l Listing<'m, 'a>,
    /// Position of the next instruction.
    pub at: usize,
    slots: Vec<(u8, u16)>,
    labels: Vec<(u8, u32)>,
    owners: Vec<(u8, &'a [u8])>,
}

/// The value of a number; the first time, it gets this one.
fn bind<V: Copy + PartialEq>(known: &mut Vec<(u8, V)>, number: u8, value: V) -> bool {
    match known.iter().find(|&&(of, _)| of == number) {
        Some(&(_, old)) => old == value,
        None => {
            known.push((number, value));
            true
        }
    }
}

impl<'l, 'm, 'a> Matcher<'l, 'm, 'a> {
    /// Nothing is matched yet.
    pub fn new(listing: &'l Listing<'m, 'a>, at: usize) -> Self {
        Matcher {
            listing,
            at,
            slots: Vec::new(),
            labels: Vec::new(),
            owners: Vec::new(),
        }
    }

    /// Matches further steps; if they do not fit, nothing changes.
    pub fn take(&mut self, steps: &[Step]) -> bool {
        let before = self.clone();
        let all = steps.iter().all(|&step| self.step(step));
        if !all {
            *self = before;
        }
        all
    }

    fn step(&mut self, step: Step) -> bool {
        let Some(&next) = self.listing.get(self.at) else {
            return false;
        };
        let throwable = b"java/lang/Throwable";
        let fits = match step {
            Step::Label(label) => return bind(&mut self.labels, label, next.pc),
            Step::Load(variable) => next.opcode == op::ALOAD && self.is(variable, next.slot),
            Step::Store(variable) => next.opcode == op::ASTORE && self.is(variable, next.slot),
            Step::Is(opcode) => next.opcode == opcode,
            Step::Jump(opcode, label) => {
                next.opcode == opcode && next.target.is_some_and(|to| bind(&mut self.labels, label, to))
            }
            Step::Close(variable) => {
                if !self.step(Step::Load(variable)) {
                    return false;
                }
                let owner = self.listing.is_call(self.at, (b"close", b"()V"));
                owner.is_some_and(|owner| bind(&mut self.owners, variable, owner))
            }
            Step::AddSuppressed => {
                let method = (&b"addSuppressed"[..], &b"(Ljava/lang/Throwable;)V"[..]);
                self.listing.is_call(self.at, method) == Some(throwable)
            }
            Step::CloseResource => {
                let method = (
                    &b"$closeResource"[..],
                    &b"(Ljava/lang/Throwable;Ljava/lang/AutoCloseable;)V"[..],
                );
                self.listing.is_call(self.at, method).is_some()
            }
        };
        self.at += usize::from(fits);
        fits
    }

    fn is(&mut self, variable: u8, slot: Option<u16>) -> bool {
        slot.is_some_and(|slot| bind(&mut self.slots, variable, slot))
    }

    /// The nearest match of steps that begins at `from` or above it, with what is known of the variables.
    /// Says where it is; the matcher is behind it.
    pub fn take_above(&mut self, from: usize, steps: &[Step]) -> Option<Range<usize>> {
        (0..=from).rev().find_map(|start| {
            let before = self.at;
            self.at = start;
            if self.take(steps) {
                return Some(start..self.at);
            }
            self.at = before;
            None
        })
    }
}
