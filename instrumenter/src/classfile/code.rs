//! The Code attribute, decoded into instructions and handlers.

use super::class::Attribute;
use super::opcodes::{self as op, LENGTH};
use super::pool::Pool;
use super::reader::{Read, Reader, fault};

/// Longest code array (JVMS 4.7.3: less than 65,536).
pub const MAX_CODE: usize = 65_535;

/// An instruction's place. Operands stay in the code array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Bytecode index.
    pub pc: u32,
    /// Opcode (`wide` for widened ones).
    pub op: u8,
    /// Length in bytes.
    pub len: u32,
}

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

/// A decoded switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Absolute target of the default case.
    pub default: u32,
    /// Keys with absolute targets, in file order.
    pub cases: Vec<(i32, u32)>,
}

/// A decoded Code attribute.
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
    /// Instructions in order.
    pub instructions: Vec<Instruction>,
    /// Exception table.
    pub handlers: Vec<Handler>,
    /// Attributes of the code.
    pub attributes: Vec<Attribute<'a>>,
    /// Per bytecode index: does an instruction start here?
    starts: Vec<bool>,
}

impl<'a> Code<'a> {
    /// Decodes a Code attribute. Every branch target, handler and range bound is checked to be on an instruction.
    pub fn read(attribute: &Attribute<'a>, pool: &Pool<'a>) -> Read<Self> {
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
        let instructions = decode(bytes, offset)?;
        let mut starts = vec![false; len + 1];
        for instruction in &instructions {
            starts[instruction.pc as usize] = true;
        }
        let count = reader.u2()?;
        let mut handlers = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let at = reader.offset();
            let [start, end, handler] = [reader.u2()?, reader.u2()?, reader.u2()?].map(u32::from);
            let entry = Handler {
                start,
                end,
                handler,
                catch_type: reader.u2()?,
            };
            let on_instruction = |pc: u32| starts.get(pc as usize) == Some(&true);
            if start >= end
                || !on_instruction(start)
                || !(on_instruction(end) || end as usize == len)
                || !on_instruction(handler)
            {
                return fault(
                    at,
                    format!("exception table entry {start}..{end} -> {handler} is not on instructions"),
                );
            }
            handlers.push(entry);
        }
        let attributes = Attribute::read_all(&mut reader, pool)?;
        reader.finish("the Code attribute")?;
        if attributes.iter().filter(|a| a.name == b"StackMapTable").count() > 1 {
            return fault(offset, "the Code attribute has two StackMapTables");
        }
        Ok(Code {
            max_stack,
            max_locals,
            bytes,
            offset,
            instructions,
            handlers,
            attributes,
            starts,
        })
    }

    /// Does an instruction start at this bytecode index?
    pub fn is_start(&self, pc: u32) -> bool {
        self.starts.get(pc as usize) == Some(&true)
    }

    /// Start of the instruction that this bytecode index lies in; `None` behind the last one.
    pub fn start_of(&self, pc: u32) -> Option<u32> {
        let inside = pc < self.len();
        inside.then(|| (0..=pc).rev().find(|&pc| self.is_start(pc)))?
    }

    /// Length of the code in bytes.
    pub fn len(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn operand_reader(&self, pc: u32, skip: usize) -> Reader<'a> {
        let from = (pc as usize + skip).min(self.bytes.len());
        Reader::new(&self.bytes[from..], self.offset + from)
    }

    /// Absolute target of a branch, goto or jsr.
    pub fn target(&self, instruction: &Instruction) -> Read<u32> {
        let mut reader = self.operand_reader(instruction.pc, 1);
        let delta = match instruction.op {
            op::GOTO_W | op::JSR_W => reader.u4()? as i32,
            _ => i32::from(reader.u2()? as i16),
        };
        self.resolve(instruction.pc, delta)
    }

    fn resolve(&self, pc: u32, delta: i32) -> Read<u32> {
        let target = i64::from(pc) + i64::from(delta);
        match u32::try_from(target) {
            Ok(target) if self.is_start(target) => Ok(target),
            _ => fault(
                self.offset + pc as usize,
                format!("branch at {pc} to {target}, where no instruction starts"),
            ),
        }
    }

    /// Decodes a switch.
    pub fn switch(&self, instruction: &Instruction) -> Read<Switch> {
        let pc = instruction.pc;
        let mut reader = self.operand_reader(pc, 1 + padding(pc));
        let default = self.resolve(pc, reader.u4()? as i32)?;
        let mut cases = Vec::new();
        if instruction.op == op::TABLESWITCH {
            let low = reader.u4()? as i32;
            let high = reader.u4()? as i32;
            for key in low..=high {
                cases.push((key, self.resolve(pc, reader.u4()? as i32)?));
            }
        } else {
            for _ in 0..reader.u4()? {
                let key = reader.u4()? as i32;
                cases.push((key, self.resolve(pc, reader.u4()? as i32)?));
            }
        }
        Ok(Switch { default, cases })
    }
}

/// Padding bytes between a switch opcode at `pc` and its operands.
pub fn padding(pc: u32) -> usize {
    (3 - pc % 4) as usize
}

fn decode(bytes: &[u8], offset: usize) -> Read<Vec<Instruction>> {
    let mut instructions = Vec::with_capacity(bytes.len() / 2);
    let mut pc = 0usize;
    while pc < bytes.len() {
        let op = bytes[pc];
        let len = match LENGTH[op as usize] {
            0 => variable_length(bytes, pc, offset)?,
            len => len as usize,
        };
        if len > bytes.len() - pc {
            return fault(
                offset + pc,
                format!("instruction at {pc} runs past the end of the code"),
            );
        }
        instructions.push(Instruction {
            pc: pc as u32,
            op,
            len: len as u32,
        });
        pc += len;
    }
    Ok(instructions)
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
