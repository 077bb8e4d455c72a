//! The Code attribute: instructions walked over in place, targets resolved on demand.

use super::class::{Attribute, Attributes};
use super::opcodes::{self as op, KIND, LENGTH, kind};
use super::pool::Pool;
use super::reader::{Read, Reader, fault, get_u2, get_u4};

/// Longest code array (JVMS 4.7.3: less than 65,536).
pub const MAX_CODE: usize = 65_535;

/// An exception table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// First bytecode index covered.
    pub start: u32,
    /// First bytecode index no more covered.
    pub end: u32,
    /// Where the handler is.
    pub handler: u32,
    /// Pool index of the class caught; 0 for any.
    pub catch_type: u16,
}

/// An instruction that ends a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Where it is.
    pub pc: u32,
    /// Its opcode.
    pub op: u8,
    /// Behind it.
    pub next: u32,
}

/// Notes about each bytecode index, made while code is read: bits of [`mark`]. The memory is used again.
#[derive(Debug, Default)]
pub struct Marks {
    bits: Vec<u8>,
    /// Instructions that end blocks, in order.
    pub control: Vec<Control>,
}

/// Properties that can be noted about a bytecode index.
pub mod mark {
    /// An instruction starts here.
    pub const START: u8 = 1;
    /// A block starts here.
    pub const LEADER: u8 = 2;
    /// A branch, switch or exception leads here.
    pub const TARGET: u8 = 4;
    /// A stack map frame holds here.
    pub const FRAME: u8 = 8;
}

impl Marks {
    fn reset(&mut self, len: usize) {
        self.control.clear();
        self.bits.clear();
        self.bits.resize(len + 1, 0);
    }

    /// Returns true if an instruction starts at this bytecode index.
    #[inline]
    pub fn is_start(&self, pc: u32) -> bool {
        self.has(pc, mark::START)
    }

    /// Returns true if one of these is noted about a bytecode index.
    #[inline]
    pub fn has(&self, pc: u32, marks: u8) -> bool {
        self.bits.get(pc as usize).is_some_and(|m| m & marks != 0)
    }

    /// Number of the first bytecode indices about which one of these is noted.
    pub fn count(&self, below: u32, marks: u8) -> usize {
        let bits = self.bits[..below as usize].iter();
        bits.filter(|&&m| m & marks != 0).count()
    }

    /// Notes something about a bytecode index of the code.
    #[inline]
    pub fn add(&mut self, pc: u32, marks: u8) {
        self.bits[pc as usize] |= marks;
    }
}

/// A Code attribute without faults in its outer structure.
#[derive(Clone, Debug)]
pub struct Code<'a> {
    /// Operand stack size.
    pub max_stack: u16,
    /// Local variable slots.
    pub max_locals: u16,
    /// The code array.
    pub bytes: &'a [u8],
    /// Absolute offset of the code array in the class file.
    pub offset: usize,
    /// Kinds ([`kind`]) of all instructions together; `SUBROUTINE` only if there really is one.
    pub kinds: u8,
    handlers: &'a [u8],
    attributes: Attributes<'a>,
}

impl<'a> Code<'a> {
    /// Returns true if this instruction may throw, apart from a lack of memory or stack in code that it does
    /// not call.
    pub fn may_throw(&self, pc: u32, opcode: u8, pool: &Pool) -> bool {
        let resolves = match opcode {
            op::LDC => pool.is_resolved_late(self.bytes[pc as usize + 1].into()),
            op::LDC_W | op::LDC2_W => pool.is_resolved_late(get_u2(self.bytes, pc as usize + 1)),
            _ => false,
        };
        resolves || KIND[opcode as usize] & kind::THROWS != 0
    }

    /// Reads a Code attribute and notes where instructions are. Every handler and range bound is checked to
    /// be on an instruction; branch targets are when they are asked for.
    pub fn read(attribute: &Attribute<'a>, pool: &Pool<'a>, marks: &mut Marks) -> Read<Self> {
        let mut reader = attribute.reader();
        let max_stack = reader.u2()?;
        let max_locals = reader.u2()?;
        let at = reader.offset();
        let len = reader.u4()? as usize;
        if len == 0 || len > MAX_CODE {
            return fault(at, format!("code length {len} is not in 1..=65535"));
        }
        let offset = reader.offset();
        let bytes = reader.bytes(len)?;
        let kinds = decode(bytes, offset, marks)?;
        let count = reader.u2()? as usize;
        let table = reader;
        for _ in 0..count {
            let at = reader.offset();
            let entry = [reader.u2()?, reader.u2()?, reader.u2()?, reader.u2()?];
            check_handler(&Handler::new(entry), len, marks, at)?;
        }
        let handlers = { table }.bytes(count * 8)?;
        let attributes = Attributes { reader };
        let mut frame_tables = 0;
        Attribute::read_each(&mut reader, pool, |attribute| {
            frame_tables += u32::from(attribute.name == b"StackMapTable");
        })?;
        reader.finish("the Code attribute")?;
        if frame_tables > 1 {
            return fault(offset, "the Code attribute has two StackMapTables");
        }
        Ok(Code {
            max_stack,
            max_locals,
            bytes,
            offset,
            kinds,
            handlers,
            attributes,
        })
    }

    /// Length of the code in bytes.
    pub fn len(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// The exception table.
    pub fn handlers(&self) -> impl ExactSizeIterator<Item = Handler> + use<'a> {
        let entries = self.handlers.chunks_exact(8);
        entries.map(|entry| Handler::new([0, 2, 4, 6].map(|at| get_u2(entry, at))))
    }

    /// The attributes of the code.
    pub fn attributes(&self, pool: &Pool<'a>) -> impl Iterator<Item = Attribute<'a>> {
        self.attributes.iter(pool)
    }

    /// Bytecode indices and opcodes of the instructions between two instruction starts.
    pub fn instructions(&self, from: u32, to: u32) -> impl Iterator<Item = (u32, u8)> + use<'a> {
        instructions(self.bytes, from, to)
    }

    /// Absolute target of a branch or goto.
    pub fn target(&self, pc: u32, marks: &Marks) -> Read<u32> {
        let delta = match self.bytes[pc as usize] {
            op::GOTO_W => get_u4(self.bytes, pc as usize + 1) as i32,
            _ => i32::from(get_u2(self.bytes, pc as usize + 1) as i16),
        };
        self.resolve(pc, delta, marks)
    }

    fn resolve(&self, pc: u32, delta: i32, marks: &Marks) -> Read<u32> {
        let target = i64::from(pc) + i64::from(delta);
        match u32::try_from(target) {
            Ok(target) if marks.is_start(target) => Ok(target),
            _ => fault(
                self.offset + pc as usize,
                format!("branch at {pc} to {target}, where no instruction starts"),
            ),
        }
    }

    /// The switch at a bytecode index.
    pub fn switch(&self, pc: u32) -> Switch<'a> {
        let operands = &self.bytes[pc as usize + 1 + padding(pc)..];
        let (low, header, size) = match self.bytes[pc as usize] {
            op::TABLESWITCH => (Some(get_u4(operands, 4) as i32), 12, 4),
            _ => (None, 8, 8),
        };
        let count = match low {
            Some(low) => (i64::from(get_u4(operands, 8) as i32) - i64::from(low) + 1) as usize,
            None => get_u4(operands, 4) as usize,
        };
        Switch {
            pc,
            default: get_u4(operands, 0) as i32,
            low,
            cases: &operands[header..header + size * count],
        }
    }

    /// Fails unless all targets of a switch are instructions.
    pub fn check_switch(&self, switch: &Switch, marks: &Marks) -> Read<()> {
        self.resolve(switch.pc, switch.default, marks)?;
        switch
            .deltas()
            .try_for_each(|(_, delta)| self.resolve(switch.pc, delta, marks).map(drop))
    }
}

/// A switch instruction, its cases undecoded.
#[derive(Clone, Copy, Debug)]
pub struct Switch<'a> {
    pc: u32,
    default: i32,
    /// The first key of a tableswitch.
    low: Option<i32>,
    cases: &'a [u8],
}

/// Bytecode indices and opcodes of the instructions of a method's code between two instruction starts, up to
/// one that is cut off.
pub fn instructions(bytes: &[u8], from: u32, to: u32) -> impl Iterator<Item = (u32, u8)> {
    let mut pc = from as usize;
    std::iter::from_fn(move || {
        let at = pc;
        let op = *bytes.get(at).filter(|_| at < to as usize)?;
        pc += match LENGTH[op as usize] {
            0 => variable_length(bytes, at, 0).ok()?,
            len => len as usize,
        };
        Some((at as u32, op))
    })
}

impl<'a> Switch<'a> {
    /// Absolute target of the default case.
    pub fn default(&self) -> u32 {
        self.pc.wrapping_add_signed(self.default)
    }

    /// Number of cases.
    pub fn len(&self) -> usize {
        self.cases.len() / if self.low.is_some() { 4 } else { 8 }
    }

    /// Keys with absolute targets, in file order.
    pub fn cases(&self) -> impl Iterator<Item = (i32, u32)> + use<'a> {
        let pc = self.pc;
        self.deltas()
            .map(move |(key, delta)| (key, pc.wrapping_add_signed(delta)))
    }

    /// Keys with targets relative to the switch.
    fn deltas(&self) -> impl Iterator<Item = (i32, i32)> + use<'a> {
        let Switch { low, cases, .. } = *self;
        let size = if low.is_some() { 4 } else { 8 };
        cases.chunks_exact(size).enumerate().map(move |(index, case)| {
            let to = get_u4(case, size - 4) as i32;
            match low {
                Some(low) => (low.wrapping_add(index as i32), to),
                None => (get_u4(case, 0) as i32, to),
            }
        })
    }
}

/// Padding bytes between a switch opcode at `pc` and its operands.
pub fn padding(pc: u32) -> usize {
    (3 - pc % 4) as usize
}

impl Handler {
    fn new([start, end, handler, catch_type]: [u16; 4]) -> Self {
        Handler {
            start: u32::from(start),
            end: u32::from(end),
            handler: u32::from(handler),
            catch_type,
        }
    }
}

fn check_handler(entry: &Handler, len: usize, marks: &Marks, at: usize) -> Read<()> {
    let &Handler {
        start, end, handler, ..
    } = entry;
    if start >= end
        || !marks.is_start(start)
        || !(marks.is_start(end) || end as usize == len)
        || !marks.is_start(handler)
    {
        return fault(
            at,
            format!("exception table entry {start}..{end} -> {handler} is not on instructions"),
        );
    }
    Ok(())
}

/// Notes where instructions start and which end blocks; returns the kinds of all together.
fn decode(bytes: &[u8], offset: usize, marks: &mut Marks) -> Read<u8> {
    marks.reset(bytes.len());
    let Marks { bits, control } = marks;
    let mut kinds = 0;
    let mut pc = 0usize;
    while let Some(&op) = bytes.get(pc) {
        bits[pc] = mark::START;
        let len = match LENGTH[op as usize] {
            0 => variable_length(bytes, pc, offset)?,
            len => len as usize,
        };
        let kind = KIND[op as usize];
        let next = pc + len;
        if next > bytes.len() {
            return fault(
                offset + pc,
                format!("instruction at {pc} runs past the end of the code"),
            );
        }
        if kind & (kind::CONTROL | kind::SUBROUTINE) != 0 {
            if kind & kind::CONTROL != 0 {
                control.push(Control {
                    pc: pc as u32,
                    op,
                    next: next as u32,
                });
            } else if op == op::WIDE && bytes[pc + 1] != op::RET {
                pc = next;
                continue;
            }
        }
        kinds |= kind;
        pc = next;
    }
    Ok(kinds)
}

fn variable_length(bytes: &[u8], pc: usize, offset: usize) -> Read<usize> {
    let op = bytes[pc];
    let mut reader = Reader::new(&bytes[pc + 1..], offset + pc + 1);
    match op {
        op::WIDE => match reader.u1()? {
            op::IINC => Ok(6),
            op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | op::RET => Ok(4),
            other => fault(offset + pc, format!("wide before opcode {other} at {pc}")),
        },
        op::TABLESWITCH => {
            let pad = padding(pc as u32);
            reader.bytes(pad + 4)?;
            let low = i64::from(reader.u4()? as i32);
            let high = i64::from(reader.u4()? as i32);
            match high - low + 1 {
                count @ 1.. if count <= reader.remaining() as i64 / 4 => {
                    Ok(1 + pad + 12 + 4 * count as usize)
                }
                _ => fault(offset + pc, format!("tableswitch at {pc} from {low} to {high}")),
            }
        }
        op::LOOKUPSWITCH => {
            let pad = padding(pc as u32);
            reader.bytes(pad + 4)?;
            let pairs = reader.u4()? as usize;
            if pairs > reader.remaining() / 8 {
                return fault(offset + pc, format!("lookupswitch at {pc} with {pairs} pairs"));
            }
            Ok(1 + pad + 8 + 8 * pairs)
        }
        other => fault(offset + pc, format!("unknown opcode {other} at {pc}")),
    }
}
