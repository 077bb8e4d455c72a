//! The path map: what is needed to turn a path number back into bytecode and source lines.

use std::borrow::Cow;

use trodden_numbering::{BlockId, PathDag, SimpleGraph};

use crate::model::inlining::InlinedCode;
use crate::model::shapes::MethodShape;

/// One line-number entry: the line of the instructions from `bci` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineEntry {
    /// First bytecode index the entry speaks of.
    pub bci: u32,
    /// Source line, from 1.
    pub line: u32,
}

/// How a block's last instruction leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockExit {
    /// Runs on into the next block.
    FallThrough,
    /// `goto`.
    Goto,
    /// Conditional branch: two out-edges, [`EdgeLabel::Taken`] and [`EdgeLabel::NotTaken`], in that order.
    Branch,
    /// `tableswitch` or `lookupswitch`: one out-edge per distinct target.
    Switch,
    /// A return instruction.
    Return,
    /// `athrow`.
    Throw,
}

/// What following an edge means in bytecode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EdgeLabel {
    /// Ran on into the next block.
    FallThrough,
    /// Followed a `goto`.
    Goto,
    /// The conditional branch jumped.
    Taken,
    /// The conditional branch did not jump.
    NotTaken,
    /// A switch went here for these keys, and for all others if `default`.
    Switch {
        /// The keys, ascending.
        keys: Vec<i32>,
        /// Is this the default target?
        default: bool,
    },
}

/// A basic block in bytecode terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockInfo {
    /// Bytecode index of the first instruction.
    pub start: u32,
    /// Bytecode index after the last instruction.
    pub end: u32,
    /// Bytecode index of the last instruction (the branch, if it is one).
    pub last: u32,
    /// How the block is left.
    pub exit: BlockExit,
    /// Labels of the out-edges, in successor order.
    pub labels: Cow<'static, [EdgeLabel]>,
}

/// The path map of one method. Bytecode indices are those of the original, uninstrumented code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodMap {
    /// Name, as in the class file (modified UTF-8 decoded).
    pub name: String,
    /// Descriptor, as in the class file.
    pub descriptor: String,
    /// Bytes of bytecode before instrumentation.
    pub code_length: u32,
    /// Blocks in bytecode order.
    pub blocks: Vec<BlockInfo>,
    /// The blocks' edges; extra starts are exception handlers.
    pub graph: SimpleGraph,
    /// Path starts, ends and edge values.
    pub dag: PathDag,
    /// Line entries by ascending bytecode index; empty without a LineNumberTable. All are lines of the class's file: code
    /// that was inlined has the line of the call.
    pub lines: Vec<LineEntry>,
    /// The code that was inlined, by ascending bytecode index; each piece has a line entry at its start, if there are any.
    pub inlined: Vec<InlinedCode>,
    /// Numbers of paths that the probes do not report (one iteration of a single-path loop), ascending.
    pub unobserved: Vec<u64>,
    /// What the code is compared by with that of another build; `None` in profiles of versions that did not record it.
    pub shape: Option<MethodShape>,
}

impl MethodMap {
    /// Name and descriptor.
    pub fn title(&self) -> String {
        format!("{}{}", self.name, self.descriptor)
    }

    /// The source line of a bytecode index, if the class file has it.
    pub fn line(&self, bci: u32) -> Option<u32> {
        let after = self.lines.partition_point(|e| e.bci <= bci);
        after.checked_sub(1).map(|i| self.lines[i].line)
    }

    /// The block that contains a bytecode index.
    pub fn block_at(&self, bci: u32) -> Option<BlockId> {
        let after = self.blocks.partition_point(|b| b.start <= bci);
        let index = after.checked_sub(1)?;
        (bci < self.blocks[index].end).then(|| BlockId::new(index))
    }

    /// Number of possible paths.
    pub fn num_paths(&self) -> u64 {
        self.dag.num_paths()
    }
}

/// The path map of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassMap {
    /// Internal name, with slashes.
    pub name: String,
    /// SHA-256 of the class bytes that were given to the instrumenter.
    pub sha256: [u8; 32],
    /// The SourceFile attribute.
    pub source_file: Option<String>,
    /// The methods that carry probes, in class-file order.
    pub methods: Vec<MethodMap>,
}

/// Where each method of a class has its exact counters: dense slots in one array per class, or a hash table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterLayout {
    /// Per method: first slot in the class's dense array, or `None` if its paths are hashed.
    pub base: Vec<Option<u32>>,
    /// Per method: the slot, behind all of these, that counts how often a constructor was begun, where probes
    /// count that; `None` for other methods, and where there is no room.
    pub begun: Vec<Option<u32>>,
    /// Length of the dense array, with the gap between its parts.
    pub slots: u32,
    /// Where the array may be.
    pub pages: Pages,
}

/// On which pages of memory the dense array of a class is. A right to write is one to a whole page: who waits
/// for the next count of a method is woken by all counts on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Anywhere, without a gap.
    Any,
    /// On the first page of a pair, this many slots; those of [callers](CounterLayout::apart) on the same
    /// places of the second one.
    Pair(u32),
    /// From the beginning of a pair of pages on; those of callers after the others, from this slot on, the
    /// first of a page.
    Own(u32),
}

impl Pages {
    /// Slots of a page: 4 KiB. Where pages are larger, less is apart.
    pub const SLOTS: u32 = 512;

    /// The first slot of [callers](CounterLayout::apart) in their class, if these are apart.
    fn callers(self) -> Option<u32> {
        match self {
            Pages::Any => None,
            Pages::Pair(_) => Some(Self::SLOTS),
            Pages::Own(callers) => Some(callers),
        }
    }
}

impl CounterLayout {
    /// Most paths a method may have to be counted in dense slots.
    pub const DENSE_LIMIT: u64 = 4096;
    /// Most slots of one class; methods that do not fit any more are hashed.
    pub const SLOTS_LIMIT: u64 = 1 << 20;

    /// The layout of a class: a function of its path map alone, so that readers of counters can make it again.
    pub fn of(class: &ClassMap) -> Self {
        Self::of_methods(&class.methods)
    }

    /// The layout for methods.
    pub fn of_methods(methods: &[MethodMap]) -> Self {
        let (layout, _) = Self::parts(methods, |_| false);
        layout
    }

    /// The layout for methods, of which some are callers: methods whose paths lead to path ends of others, and
    /// in which none ends in between. Counts of the others, which come far more often, are on other pages.
    pub fn apart(methods: &[MethodMap], is_caller: impl Fn(usize) -> bool) -> Self {
        let (mut layout, of_callers) = Self::parts(methods, &is_caller);
        let width = layout.slots.max(of_callers);
        layout.pages = if width <= Pages::SLOTS {
            Pages::Pair(width)
        } else {
            Pages::Own(layout.slots.next_multiple_of(Pages::SLOTS))
        };
        if let Some(callers) = layout.pages.callers().filter(|_| of_callers > 0) {
            layout.slots = callers + of_callers;
            for (_, base) in layout
                .base
                .iter_mut()
                .enumerate()
                .filter(|(at, _)| is_caller(*at))
            {
                *base = base.map(|base| base + callers);
            }
        }
        layout
    }

    /// The first slot of the part that a method's slots are in, and its own first slot counted from there: its
    /// path register runs from that on. `None`: its paths are hashed.
    pub fn in_part(&self, method: usize) -> (u32, Option<u32>) {
        let base = self.base[method];
        let callers = self.pages.callers().filter(|&first| base >= Some(first));
        let part = callers.unwrap_or(0);
        (part, base.map(|base| base - part))
    }

    /// The layout without callers' slots, and the number of those, which are counted from 0.
    fn parts(methods: &[MethodMap], is_caller: impl Fn(usize) -> bool) -> (Self, u32) {
        let mut slots = [0u64; 2];
        let place = |(at, method): (usize, &MethodMap)| {
            let paths = method.num_paths();
            let fits = paths <= Self::DENSE_LIMIT && slots[0] + slots[1] + paths <= Self::SLOTS_LIMIT;
            fits.then(|| {
                let part = &mut slots[usize::from(is_caller(at))];
                *part += paths;
                (*part - paths) as u32
            })
        };
        let base = methods.iter().enumerate().map(place).collect();
        let [mut others, of_callers] = slots;
        let mut one = |method: &MethodMap| {
            let fits = method.name == "<init>" && others + of_callers < Self::SLOTS_LIMIT;
            fits.then(|| {
                others += 1;
                others as u32 - 1
            })
        };
        let begun = methods.iter().map(&mut one).collect();
        let layout = CounterLayout {
            base,
            begun,
            slots: others as u32,
            pages: Pages::Any,
        };
        (layout, of_callers as u32)
    }
}
