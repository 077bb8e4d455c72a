//! Small questions that rules ask about a method.

use trodden_classfile::opcodes as op;
use trodden_profile::BlockExit;

use crate::bootstrap::Bootstrap;
use crate::expression::{Id, Name, Node};
use crate::interpret::Relation;
use crate::known::Known;

impl<'a> Known<'_, 'a> {
    /// Blocks that lead to a block.
    pub fn predecessors(&self, block: usize) -> Vec<usize> {
        let all = 0..self.map.blocks.len();
        all.filter(|&from| self.successors(from).any(|to| to == block))
            .collect()
    }

    /// Where a block leads that asks whether a constant is zero. No compiler keeps a condition of the source that
    /// is constant, but javac asks so whether a part of a pattern fits that fits always.
    pub fn decided(&self, block: usize) -> Option<usize> {
        let test = self.test(block).filter(|test| test.right.is_none())?;
        let Node::Int(value) = self.node(test.left) else {
            return None;
        };
        let (jump, next) = self.flow.targets(block);
        match test.relation {
            Relation::Equal => Some(if value == 0 { jump } else { next }),
            Relation::NotEqual => Some(if value == 0 { next } else { jump }),
            _ => None,
        }
    }

    /// Returns true if a block ends with a throw.
    pub fn throws(&self, block: usize) -> bool {
        self.map.blocks[block].exit == BlockExit::Throw
    }

    /// The object that a block makes and throws.
    pub fn thrown(&self, block: usize) -> Option<Node<'a>> {
        let of = self.map.blocks.get(block).filter(|_| self.throws(block))?;
        let mut last = None;
        for (pc, opcode) in self.code.instructions(of.start, of.end) {
            if opcode == op::NEW {
                let at = pc as usize + 1;
                let index = u16::from_be_bytes([self.code.bytes[at], self.code.bytes[at + 1]]);
                last.get_or_insert(self.class.pool.class_name(index)?);
            }
        }
        let arguments = None;
        last.map(|class| Node::New { class, arguments })
    }

    /// The line of the branch at a block's end.
    pub fn line_of(&self, block: usize) -> Option<u32> {
        self.map.line(self.map.blocks[block].last)
    }

    /// The receiver of a call of that name in a block.
    pub fn calls(&self, block: usize, name: &[u8]) -> Option<Id> {
        let of = &self.map.blocks[block];
        let calls = self.interpreted.calls.iter();
        let mut within = calls.filter(|(pc, _)| (of.start..of.end).contains(pc));
        within.find_map(|&(_, call)| match self.interpreted.arena.get(call) {
            Node::Call {
                receiver: Some(receiver),
                member,
                ..
            } if member.name == name => Some(receiver),
            _ => None,
        })
    }

    /// Returns true for a local variable without name that holds the result of a call of that name.
    pub fn stored_call(&self, id: Id, name: &[u8]) -> bool {
        let Node::Local {
            slot,
            name: Name::None,
            ..
        } = self.node(id)
        else {
            return false;
        };
        let mut stores = self.interpreted.stores.iter().filter(|s| s.slot == slot);
        stores.any(|s| matches!(self.node(s.value), Node::Call { member, .. } if member.name == name))
    }

    /// Returns true if the method writes to a static field with such a name, or reads one.
    pub fn puts_static(&self, wanted: impl Fn(&[u8]) -> bool) -> bool {
        let mut instructions = self.code.instructions(0, self.code.len());
        instructions.any(|(pc, opcode)| {
            if !matches!(opcode, 178 | op::PUTSTATIC) {
                return false;
            }
            let at = pc as usize + 1;
            let index = u16::from_be_bytes([self.code.bytes[at], self.code.bytes[at + 1]]);
            self.class
                .pool
                .member(index)
                .is_some_and(|member| wanted(member.name))
        })
    }

    /// Returns true if the method uses a bootstrap method of that class.
    pub fn links_to(&self, class: &[u8]) -> bool {
        let mut instructions = self.code.instructions(0, self.code.len());
        instructions.any(|(pc, opcode)| {
            let at = pc as usize + 1;
            opcode == op::INVOKEDYNAMIC && {
                let index = u16::from_be_bytes([self.code.bytes[at], self.code.bytes[at + 1]]);
                let bootstrap = self.class.pool.dynamic(index).map(|(bootstrap, ..)| bootstrap);
                let bootstrap = bootstrap.and_then(|number| Bootstrap::read(self.class, number));
                bootstrap.is_some_and(|b| b.method.class == class)
            }
        })
    }

    /// Returns true for the class of this function's continuations: `Outer$function$1`.
    pub fn is_own_continuation(&self, class: &[u8]) -> bool {
        let mut prefix = self.class.name.to_vec();
        prefix.push(b'$');
        prefix.extend_from_slice(self.method.name);
        prefix.push(b'$');
        class.starts_with(&prefix)
    }
}
