//! What branches decide, in the source's terms.

pub(crate) mod codec;
mod merge;
pub(crate) mod section;

use std::collections::BTreeMap;

use trodden_numbering::{BlockId, FlowGraph};

use super::map::{ClassMap, MethodMap};
use crate::model::codec::Problem;
use crate::model::fault::{Fault, ensure};

/// What is known of the decisions of a profile's methods, by class and method (positions in the profile).
pub type Conditions = BTreeMap<(u32, u32), MethodConditions>;

/// Declares an enum with a list of all its values and a name for each.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident, $(#[$name_doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type { $($(#[$vdoc])* $variant,)+ }

        impl $type {
            /// All of them, in the order of their numbers in files.
            pub const ALL: [$type; [$($word),+].len()] = [$($type::$variant),+];

            $(#[$name_doc])*
            pub fn $name(self) -> &'static str {
                match self { $($type::$variant => $word,)+ }
            }
        }
    };
}

named! {
    /// The construct of the source that a decision belongs to.
    ConditionKind,
    /// Its keyword for people: `if`, `for`, `do … while`; `condition` for what computes a value.
    keyword {
        /// `if`.
        If = "if",
        /// `while`.
        While = "while",
        /// `for` with a condition.
        For = "for",
        /// `for` over the elements of something.
        ForEach = "for",
        /// `do` … `while`.
        DoWhile = "do … while",
        /// A loop, but which kind is not known.
        Loop = "loop",
        /// `?:`, or a boolean that is computed by branches.
        Value = "condition",
        /// `switch` or `when`.
        Switch = "switch",
        /// One of several `?.` of Kotlin that lead to the same place if there is nothing.
        SafeCall = "?.",
    }
}

named! {
    /// Code that the compiler made on its own: the source has no such branch, or has it once where the code has it twice.
    CompilerMade,
    /// A short name: `assert`, `string-switch`, …
    name {
        /// The check whether assertions are on, in front of `assert`.
        Assert = "assert",
        /// Choosing by a string's hash code, and comparing with the strings that share it.
        StringSwitch = "string-switch",
        /// The table from an enum's constants to the numbers of a `switch`.
        EnumSwitch = "enum-switch",
        /// The way of a `switch` or `when` when no case fits although all are listed.
        NoMatch = "no-match",
        /// Leaving a monitor when an exception passes.
        Synchronized = "synchronized",
        /// Closing the resources of `try (…)`.
        TryWithResources = "try-with-resources",
        /// A second copy of a `finally` block.
        FinallyCopy = "finally-copy",
        /// A method of a record, or `values` and `valueOf` of an enum.
        GeneratedMethod = "generated-method",
        /// A bridge, an accessor, or another synthetic method that has no source.
        Synthetic = "synthetic",
        /// Making a lambda again when it is deserialised.
        DeserializeLambda = "deserialize-lambda",
        /// A null check that Kotlin adds where Java is called or calls.
        KotlinNullCheck = "kotlin-null-check",
        /// Kotlin's choice between an argument and its default value.
        KotlinDefaultArgument = "kotlin-default-argument",
        /// The state machine of a suspending function.
        KotlinCoroutine = "kotlin-coroutine",
        /// The check whether a `lateinit` property was set.
        KotlinLateinit = "kotlin-lateinit",
        /// Code of an inline function in the file of another one.
        KotlinInlined = "kotlin-inlined",
        /// A constructor without parameters that does nothing: private, so that no instances are made, or an enum's.
        EmptyConstructor = "empty-constructor",
        /// Marked as generated: by an annotation that is called `Generated` or the like, on the method or its class.
        MarkedGenerated = "marked-generated",
    }
}

/// What following an edge means in the terms of the condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The condition held.
    Yes,
    /// It did not.
    No,
    /// The loop continues.
    Again,
    /// The loop is over.
    Done,
    /// A switch went this way: `case "GET"`, `case RED, GREEN`, `default`.
    Case(String),
    /// Not known.
    Unknown,
}

impl Outcome {
    /// `yes`, `no`, `again`, `done`, the case; nothing if it is not known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Outcome::Yes => Some("yes"),
            Outcome::No => Some("no"),
            Outcome::Again => Some("again"),
            Outcome::Done => Some("done"),
            Outcome::Case(label) => Some(label),
            Outcome::Unknown => None,
        }
    }
}

/// What is decided at the end of a block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    /// Number of the block.
    pub block: u32,
    /// The construct.
    pub kind: ConditionKind,
    /// The condition as the source has it, as far as the bytecode shows: `!sku.startsWith("Z")`; what a switch
    /// switches over; `x : xs` of a `for` over elements. None if it is not known.
    pub text: Option<String>,
    /// What each out-edge means, in successor order.
    pub outcomes: Vec<Outcome>,
    /// The source has no such decision.
    pub made: Option<CompilerMade>,
}

impl Condition {
    /// What following the out-edge with this position means.
    pub fn outcome(&self, edge: usize) -> &Outcome {
        self.outcomes.get(edge).unwrap_or(&Outcome::Unknown)
    }
}

/// Instructions that the source does not have: from `start` to before `end`, in bytecode indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeRange {
    /// The first one.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// Instructions that repeat others, as the copies of a `finally` block do: those from `start` on the same as those from
/// `of` on, in bytecode indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeCopy {
    /// The first one.
    pub start: u32,
    /// The one that it repeats. It is above, and repeats none itself.
    pub of: u32,
    /// Bytes of either.
    pub length: u32,
}

/// The decisions of one method.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MethodConditions {
    /// One per block that ends with a branch or switch, ascending by block.
    pub conditions: Vec<Condition>,
    /// Blocks that the compiler made on its own, ascending.
    pub made: Vec<(u32, CompilerMade)>,
    /// The whole method is the compiler's.
    pub method: Option<CompilerMade>,
    /// Instructions that coverage leaves out, ascending. Blocks in [`made`](Self::made) are not repeated here.
    pub left_out: Vec<CodeRange>,
    /// Instructions that coverage counts for others, ascending.
    pub copies: Vec<CodeCopy>,
    /// Blocks in which a `switch` over patterns looks for the next case when a guard did not hold, ascending: the header of a
    /// loop in the code, not in the source.
    pub restarts: Vec<u32>,
}

impl MethodConditions {
    /// True if more conditions are known than in another reading of the same code; of two that know as many, for one of
    /// them.
    pub(crate) fn knows_more_than(&self, other: &MethodConditions) -> bool {
        let known = |of: &MethodConditions| of.conditions.iter().filter(|c| c.text.is_some()).count();
        (known(self), self) > (known(other), other)
    }

    /// Texts that may hold any character.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().flat_map(|condition| {
            let outcomes = condition.outcomes.iter().filter_map(Outcome::text);
            condition.text.as_deref().into_iter().chain(outcomes)
        })
    }

    /// The same texts, to be changed.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.conditions.iter_mut().flat_map(|condition| {
            let labels = condition.outcomes.iter_mut().filter_map(|outcome| match outcome {
                Outcome::Case(label) => Some(label),
                _ => None,
            });
            condition.text.iter_mut().chain(labels)
        })
    }

    /// The decision at the end of a block.
    pub fn of_block(&self, block: u32) -> Option<&Condition> {
        let at = self.conditions.binary_search_by_key(&block, |c| c.block).ok()?;
        Some(&self.conditions[at])
    }

    /// Only what coverage has to know of code that did not run: what the compiler made, and decisions that are counted
    /// together. No texts, and else none of the source's own conditions.
    pub fn marks(&self) -> MethodConditions {
        let together = |condition: &Condition| {
            let compares = condition.kind == ConditionKind::Switch && condition.outcomes.len() == 2;
            condition.kind == ConditionKind::SafeCall || compares
        };
        let made = self
            .conditions
            .iter()
            .filter(|condition| condition.made.is_some() || together(condition));
        let bare = |outcome: &Outcome| match outcome {
            Outcome::Case(_) => Outcome::Case(String::new()),
            _ => Outcome::Unknown,
        };
        let mark = |condition: &Condition| Condition {
            text: None,
            outcomes: if together(condition) {
                condition.outcomes.iter().map(bare).collect()
            } else {
                vec![Outcome::Unknown; condition.outcomes.len()]
            },
            ..condition.clone()
        };
        MethodConditions {
            conditions: made.map(mark).collect(),
            made: self.made.clone(),
            method: self.method,
            left_out: self.left_out.clone(),
            copies: self.copies.clone(),
            restarts: self.restarts.clone(),
        }
    }

    /// Did the compiler make this block on its own?
    pub fn made(&self, block: u32) -> Option<CompilerMade> {
        let of_block = || {
            let at = self.made.binary_search_by_key(&block, |&(b, _)| b).ok()?;
            Some(self.made[at].1)
        };
        self.method.or_else(of_block)
    }
}

/// Checks that they are of blocks that a method has, in order, with one outcome per edge.
///
/// # Errors
/// What does not fit, and of which method.
pub fn check_conditions(class: &ClassMap, method: u32, of: &MethodConditions) -> Result<(), Box<Problem>> {
    let Some(map) = class.methods.get(method as usize) else {
        let fault = Fault::NoItem("conditions", "method", method.into());
        return Err(Problem::of_class(&class.name, fault));
    };
    check_of_method(map, of).map_err(|fault| Problem::of_method(&class.name, map, fault))
}

pub(in crate::model) fn check_of_method(map: &MethodMap, of: &MethodConditions) -> Result<(), Fault> {
    let blocks = |items, blocks: Vec<u32>| {
        let are_there = blocks.iter().all(|&block| (block as usize) < map.blocks.len());
        ensure(are_there && blocks.is_sorted_by(|a, b| a < b), || {
            Fault::NotOfMethod(items)
        })
    };
    blocks("conditions", of.conditions.iter().map(|c| c.block).collect())?;
    blocks(
        "blocks that the compiler made",
        of.made.iter().map(|&(block, _)| block).collect(),
    )?;
    blocks("blocks where patterns begin again", of.restarts.clone())?;
    let apart = |items, pieces: Vec<(u32, u32)>| {
        let is_within = |&(start, end): &(u32, u32)| start < end && end <= map.code_length;
        let in_order = pieces.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        ensure(in_order && pieces.iter().all(is_within), || {
            Fault::NotOfMethod(items)
        })
    };
    let left_out = of.left_out.iter().map(|range| (range.start, range.end));
    apart("instructions that are left out", left_out.collect())?;
    let end = |from: u32, copy: &CodeCopy| from.saturating_add(copy.length);
    let copies = of.copies.iter().map(|copy| (copy.start, end(copy.start, copy)));
    apart("instructions that repeat others", copies.collect())?;
    let below = of.copies.iter().all(|copy| end(copy.of, copy) <= copy.start);
    ensure(below, || Fault::NotOfMethod("instructions that are repeated"))?;
    for condition in &of.conditions {
        let edges = map.graph.successors(BlockId::new(condition.block as usize)).len();
        Fault::sizes(
            "outcomes of a condition",
            condition.outcomes.len(),
            "edges of its block",
            edges,
        )?;
    }
    Ok(())
}
