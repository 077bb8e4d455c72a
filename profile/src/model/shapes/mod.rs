//! What a method's code is compared by between two builds of a program.
//!
//! Path numbers, bytecode indices and pool indices have no meaning outside of the class file they belong to. A
//! [`MethodShape`] keeps what does: hashes of the code in symbolic terms, block by block.

pub(super) mod codec;
mod merge;
pub(crate) mod section;

use trodden_numbering::{BlockId, FlowGraph};

use crate::model::map::{BlockExit, MethodMap};

/// The code of a method in terms that hold in other builds of the class.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MethodShape {
    /// Hash of all instructions with their operands as names and values, and of how blocks follow each other. Equal
    /// for equal code, whatever the line numbers, pool indices and widths of instructions are.
    pub code: u64,
    /// Parallel to the path map's blocks.
    pub blocks: Vec<BlockShape>,
    /// What the blocks call, in the order of bytecode indices.
    pub calls: Vec<Callee>,
}

/// A basic block of a [`MethodShape`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockShape {
    /// Hash of the opcodes, without operands. Instructions that push an `int` constant are all alike, and so are the
    /// short, long and wide forms of an instruction, and the two kinds of switch.
    pub opcodes: u32,
    /// Number of instructions.
    pub instructions: u32,
    /// Number of entries in [`MethodShape::calls`] that are this block's.
    pub calls: u32,
    /// Number of instructions that make an object or arrays; `None` in older profiles.
    pub allocations: Option<u32>,
}

/// What a call instruction names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Callee {
    /// Hash of the internal name of the class that the instruction names. The method that is called may be a
    /// subclass's.
    pub owner: u32,
    /// Hash of method name and descriptor.
    pub method: u32,
}

/// The hash of a [`MethodShape`]: multiply and rotate, then mixed. It is part of the file format and never changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShapeHasher(u64);

impl ShapeHasher {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    /// Adds bytes, and how many they are.
    #[inline]
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.add(u64::from_le_bytes(word.try_into().unwrap_or_default()));
        }
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        self.add(u64::from_le_bytes(last));
        self.add(bytes.len() as u64);
    }

    /// The hash of one name, as the class file has it. Never 0.
    pub fn of_name(name: &[u8]) -> u64 {
        let mut hasher = ShapeHasher::default();
        hasher.add_bytes(name);
        hasher.finish().max(1)
    }

    /// The hash of everything that was added.
    pub fn finish(self) -> u64 {
        let mixed = (self.0 ^ self.0 >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        mixed ^ mixed >> 33
    }
}

impl Callee {
    /// The callee that a call of this method names, if it names this class (internal name).
    pub fn new(class: &str, name: &str, descriptor: &str) -> Self {
        let mut method = ShapeHasher::default();
        method.add(ShapeHasher::of_name(name.as_bytes()));
        method.add(ShapeHasher::of_name(descriptor.as_bytes()));
        Callee {
            owner: ShapeHasher::of_name(class.as_bytes()) as u32,
            method: method.finish().max(1) as u32,
        }
    }
}

impl MethodShape {
    /// The calls of all blocks, in their order.
    pub fn calls_by_block(&self) -> impl Iterator<Item = &[Callee]> {
        let mut rest = self.calls.as_slice();
        self.blocks.iter().map(move |block| {
            let (calls, after) = rest.split_at(block.calls as usize);
            rest = after;
            calls
        })
    }

    /// The calls of one block; for those of all, [`calls_by_block`](Self::calls_by_block) goes over them once.
    pub fn calls_of(&self, block: BlockId) -> &[Callee] {
        let before = &self.blocks[..block.index()];
        let start: usize = before.iter().map(|b| b.calls as usize).sum();
        &self.calls[start..start + self.blocks[block.index()].calls as usize]
    }
}

impl MethodMap {
    /// Hash of the flow graph: the opcodes of each block, how it ends and what follows it. Operands, line numbers and
    /// bytecode indices are not in it. `None` if the profile was recorded without shapes.
    pub fn graph_shape(&self) -> Option<u64> {
        let shape = self.shape.as_ref()?;
        let mut hasher = ShapeHasher::default();
        for (index, (block, own)) in self.blocks.iter().zip(&shape.blocks).enumerate() {
            hasher.add(u64::from(own.opcodes));
            hasher.add(match block.exit {
                BlockExit::FallThrough | BlockExit::Goto => 0,
                BlockExit::Branch => 1,
                BlockExit::Switch => 2,
                BlockExit::Return => 3,
                BlockExit::Throw => 4,
            });
            for to in self.graph.successors(BlockId::new(index)) {
                hasher.add(to.index() as u64 + 1);
            }
        }
        hasher.add(0);
        for start in self.graph.extra_starts() {
            hasher.add(start.index() as u64);
        }
        Some(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        // Profiles of other versions have these numbers in them.
        let callee = Callee::new("shop/Order", "price", "(I)J");
        assert_eq!((callee.owner, callee.method), (957_227_571, 339_884_213));
        assert_eq!(ShapeHasher::of_name(b"aLongerName"), 12_806_488_054_049_698_551);
    }
}
