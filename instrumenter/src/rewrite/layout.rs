//! From a list of code pieces to bytes: positions, branch sizes, switch padding.

use crate::classfile::code::{Code, MAX_CODE, padding};
use crate::classfile::opcodes as op;
use crate::classfile::reader::put_u4;

/// A place in the new code that jumps can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(u32);

/// A piece of new code, or a note about a place.
#[derive(Clone, Debug)]
pub enum Item {
    /// Old code, copied: no branches inside.
    Old {
        /// First byte.
        from: u32,
        /// After the last byte.
        to: u32,
    },
    /// An old branch or goto.
    Branch {
        /// Its old place.
        pc: u32,
        /// Its opcode.
        op: u8,
        /// Where it leads now.
        target: Label,
    },
    /// An old switch.
    Switch {
        /// Its old place.
        pc: u32,
        /// tableswitch or lookupswitch.
        op: u8,
        /// Where the default leads now.
        default: Label,
        /// Keys and where they lead now.
        cases: Vec<(i32, Label)>,
    },
    /// Probe code: a range of the inserted bytes.
    Inserted {
        /// First byte.
        from: usize,
        /// After the last byte.
        to: usize,
    },
    /// A new goto.
    Jump(Label),
    /// The label is here.
    Mark(Label),
    /// What is inserted in front of this old instruction begins here.
    Begin(u32),
}

/// Why code cannot be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// More than 65,535 bytes.
    TooLarge,
    /// A conditional branch would have to reach further than 32 KB.
    BranchTooFar,
}

/// The code to be.
#[derive(Debug, Default)]
pub struct Layout {
    items: Vec<Item>,
    /// Bytes that [`Item::Inserted`] refers to.
    pub inserted: Vec<u8>,
    labels: u32,
}

/// Laid-out code.
#[derive(Debug)]
pub struct Placed {
    /// The code array.
    pub code: Vec<u8>,
    labels: Vec<u32>,
    exact: Vec<u32>,
    begin: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Placed {
    /// New bytecode index of a label.
    pub fn label(&self, label: Label) -> u32 {
        self.labels[label.0 as usize]
    }

    /// New bytecode index of an old instruction.
    pub fn exact(&self, pc: u32) -> Option<u32> {
        self.exact.get(pc as usize).copied().filter(|&new| new != NOWHERE)
    }

    /// New bytecode index of what is inserted before an old instruction, else of the instruction itself.
    pub fn begin(&self, pc: u32) -> Option<u32> {
        self.begin
            .get(pc as usize)
            .copied()
            .filter(|&new| new != NOWHERE)
            .or_else(|| self.exact(pc))
    }
}

impl Layout {
    /// A new label, not placed yet.
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Appends an item.
    pub fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Appends what was written to `inserted` since it had `from` bytes.
    pub fn push_inserted(&mut self, from: usize) {
        let to = self.inserted.len();
        if to > from {
            self.items.push(Item::Inserted { from, to });
        }
    }

    /// Gives every item its place and writes the code.
    pub fn place(&self, code: &Code) -> Result<Placed, LayoutError> {
        let mut wide = vec![false; self.items.len()];
        let mut labels = vec![NOWHERE; self.labels as usize];
        let len = loop {
            let len = self.positions(&wide, &mut labels);
            if !self.widen(&mut wide, &labels)? {
                break len;
            }
        };
        if len as usize > MAX_CODE {
            return Err(LayoutError::TooLarge);
        }
        let mut placed = Placed {
            code: Vec::with_capacity(len as usize),
            labels,
            exact: vec![NOWHERE; code.bytes.len() + 1],
            begin: vec![NOWHERE; code.bytes.len() + 1],
        };
        for (item, &wide) in self.items.iter().zip(&wide) {
            self.write(item, wide, code, &mut placed);
        }
        debug_assert_eq!(placed.code.len(), len as usize);
        placed.exact[code.bytes.len()] = len;
        Ok(placed)
    }

    fn size(item: &Item, wide: bool, at: u32) -> u32 {
        match item {
            Item::Old { from, to } => to - from,
            Item::Branch { op: op::GOTO_W, .. } => 5,
            Item::Branch { .. } | Item::Jump(_) => 3 + 2 * u32::from(wide),
            Item::Switch { op, cases, .. } => {
                let operands = if *op == op::TABLESWITCH {
                    12 + 4 * cases.len()
                } else {
                    8 + 8 * cases.len()
                };
                1 + padding(at) as u32 + operands as u32
            }
            Item::Inserted { from, to } => (to - from) as u32,
            Item::Mark(_) | Item::Begin(_) => 0,
        }
    }

    fn positions(&self, wide: &[bool], labels: &mut [u32]) -> u32 {
        let mut at = 0;
        for (item, &wide) in self.items.iter().zip(wide) {
            if let Item::Mark(label) = item {
                labels[label.0 as usize] = at;
            }
            at += Self::size(item, wide, at);
        }
        at
    }

    /// Widens gotos that do not reach; true if there was one.
    fn widen(&self, wide: &mut [bool], labels: &[u32]) -> Result<bool, LayoutError> {
        let mut changed = false;
        let mut at = 0u32;
        for (item, wide) in self.items.iter().zip(wide.iter_mut()) {
            let target = match item {
                Item::Branch { op, target, .. } if *op != op::GOTO_W => Some(*target),
                Item::Jump(target) => Some(*target),
                _ => None,
            };
            let size = Self::size(item, *wide, at);
            if let Some(target) = target.filter(|_| !*wide) {
                let delta = i64::from(labels[target.0 as usize]) - i64::from(at);
                if i16::try_from(delta).is_err() {
                    if matches!(item, Item::Branch { op, .. } if *op != op::GOTO) {
                        return Err(LayoutError::BranchTooFar);
                    }
                    *wide = true;
                    changed = true;
                }
            }
            at += size;
        }
        Ok(changed)
    }

    fn write(&self, item: &Item, wide: bool, code: &Code, placed: &mut Placed) {
        let at = placed.code.len() as u32;
        let delta = |labels: &[u32], target: Label| labels[target.0 as usize].wrapping_sub(at);
        let out = &mut placed.code;
        match item {
            Item::Old { from, to } => {
                for pc in *from..*to {
                    if code.is_start(pc) {
                        placed.exact[pc as usize] = at + pc - from;
                    }
                }
                out.extend_from_slice(&code.bytes[*from as usize..*to as usize]);
            }
            Item::Branch { pc, op, target } => {
                placed.exact[*pc as usize] = at;
                write_jump(out, *op, wide, delta(&placed.labels, *target));
            }
            Item::Jump(target) => write_jump(out, op::GOTO, wide, delta(&placed.labels, *target)),
            Item::Switch {
                pc,
                op,
                default,
                cases,
            } => {
                placed.exact[*pc as usize] = at;
                out.push(*op);
                out.extend(std::iter::repeat_n(0, padding(at)));
                put_u4(out, delta(&placed.labels, *default));
                if *op == op::TABLESWITCH {
                    put_u4(out, cases[0].0 as u32);
                    put_u4(out, cases[cases.len() - 1].0 as u32);
                } else {
                    put_u4(out, cases.len() as u32);
                }
                for (key, target) in cases {
                    if *op == op::LOOKUPSWITCH {
                        put_u4(out, *key as u32);
                    }
                    put_u4(out, delta(&placed.labels, *target));
                }
            }
            Item::Inserted { from, to } => out.extend_from_slice(&self.inserted[*from..*to]),
            Item::Mark(_) => {}
            Item::Begin(pc) => placed.begin[*pc as usize] = at,
        }
    }
}

fn write_jump(out: &mut Vec<u8>, op: u8, wide: bool, delta: u32) {
    if wide || op == op::GOTO_W {
        out.push(op::GOTO_W);
        put_u4(out, delta);
    } else {
        out.push(op);
        out.extend_from_slice(&(delta as u16).to_be_bytes());
    }
}
