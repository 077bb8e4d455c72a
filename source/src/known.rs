//! A method with everything that is known about it, for what decides about its branches.

use std::cell::OnceCell;

use trodden_classfile::class::{Class, Method};
use trodden_classfile::code::Code;
use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::MethodMap;

use crate::classes::Classes;
use crate::expression::{Id, Node};
use crate::flow::Flow;
use crate::interpret::{Decision, Interpreted, Test};
use crate::listing::Listing;
use crate::print::{Dialect, Printer};
use crate::rules::ClassMarks;
use crate::variables::Variables;

/// A method, with everything that is known about it.
pub struct Known<'m, 'a> {
    /// Its class.
    pub class: &'m Class<'a>,
    /// Itself.
    pub method: &'m Method<'a>,
    /// Its code.
    pub code: &'m Code<'a>,
    /// Its blocks.
    pub map: &'m MethodMap,
    /// Its expressions.
    pub interpreted: &'m Interpreted<'a>,
    /// Its variables.
    pub variables: &'m Variables<'a>,
    /// How its conditions are oriented.
    pub flow: &'m Flow<'m>,
    /// Its language.
    pub dialect: Dialect,
    /// Properties of its class that concern all methods.
    pub marks: ClassMarks,
    /// Other classes.
    pub classes: &'m dyn Classes,
    pub(crate) listing: OnceCell<Listing<'m, 'a>>,
}

impl<'m, 'a> Known<'m, 'a> {
    /// Its instructions.
    pub fn listing(&self) -> &Listing<'m, 'a> {
        self.listing.get_or_init(|| Listing::new(self.class, self.code))
    }

    /// Writes expressions.
    pub fn printer(&self) -> Printer<'_, 'a> {
        Printer {
            arena: &self.interpreted.arena,
            variables: self.variables,
            class: self.class.name,
            dialect: self.dialect,
        }
    }

    /// The test of a block that ends with a conditional jump.
    pub fn test(&self, block: usize) -> Option<Test> {
        match self.interpreted.blocks.get(block)?.decision? {
            Decision::Test(test) => Some(test),
            Decision::Switch(_) => None,
        }
    }

    /// Where a block leads.
    pub fn successors(&self, block: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let to = self.map.graph.successors(BlockId::new(block));
        to.iter().map(|to| to.index())
    }

    /// The expression without casts and conversions around it.
    pub fn node(&self, id: Id) -> Node<'a> {
        self.interpreted.arena.get(self.interpreted.arena.bare(id))
    }
}
