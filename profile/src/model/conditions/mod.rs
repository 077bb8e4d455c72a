//! What branches decide, in the source's terms.

pub(crate) mod codec;
mod merge;
pub(crate) mod section;

use std::collections::BTreeMap;

use trodden_numbering::{BlockId, FlowGraph};

use super::map::{ClassMap, EdgeLabel};
use crate::model::codec::Problem;

/// What is known of the decisions of a profile's methods, by class and method (positions in the profile).
pub type Conditions = BTreeMap<(u32, u32), MethodConditions>;

/// The construct of the source that a decision belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConditionKind {
    /// `if`.
    If,
    /// `while`.
    While,
    /// `for` with a condition.
    For,
    /// `for` over the elements of something.
    ForEach,
    /// `do` … `while`.
    DoWhile,
    /// A loop, but which kind is not known.
    Loop,
    /// `?:`, or a boolean that is computed by branches.
    Value,
    /// `switch` or `when`.
    Switch,
    /// One of several `?.` of Kotlin that lead to the same place if there is nothing.
    SafeCall,
}

impl ConditionKind {
    /// All of them, in the order of their numbers in files.
    pub const ALL: [ConditionKind; 9] = [
        ConditionKind::If,
        ConditionKind::While,
        ConditionKind::For,
        ConditionKind::ForEach,
        ConditionKind::DoWhile,
        ConditionKind::Loop,
        ConditionKind::Value,
        ConditionKind::Switch,
        ConditionKind::SafeCall,
    ];

    /// Its keyword for people: `if`, `for`, `do … while`; `condition` for what computes a value.
    pub fn keyword(self) -> &'static str {
        match self {
            ConditionKind::If => "if",
            ConditionKind::While => "while",
            ConditionKind::For | ConditionKind::ForEach => "for",
            ConditionKind::DoWhile => "do … while",
            ConditionKind::Loop => "loop",
            ConditionKind::Value => "condition",
            ConditionKind::Switch => "switch",
            ConditionKind::SafeCall => "?.",
        }
    }
}

/// What the compiler made on its own: the source has no such branch, or has it once where the code has it twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CompilerMade {
    /// The check whether assertions are on, in front of `assert`.
    Assert,
    /// Choosing by a string's hash code, and comparing with the strings that share it.
    StringSwitch,
    /// The table from an enum's constants to the numbers of a `switch`.
    EnumSwitch,
    /// What a `switch` or `when` does when no case fits although all are listed.
    NoMatch,
    /// Leaving a monitor when an exception passes.
    Synchronized,
    /// Closing the resources of `try (…)`.
    TryWithResources,
    /// A second copy of a `finally` block.
    FinallyCopy,
    /// A method of a record, or `values` and `valueOf` of an enum.
    GeneratedMethod,
    /// A bridge, an accessor, or another synthetic method that stands for no source.
    Synthetic,
    /// Making a lambda again when it is deserialised.
    DeserializeLambda,
    /// A null check that Kotlin adds where Java is called or calls.
    KotlinNullCheck,
    /// Kotlin's choice between an argument and its default value.
    KotlinDefaultArgument,
    /// The state machine of a suspending function.
    KotlinCoroutine,
    /// The check whether a `lateinit` property was set.
    KotlinLateinit,
    /// Code of an inline function that stands in the file of another one.
    KotlinInlined,
    /// A constructor without parameters that does nothing: private, so that nobody makes instances, or an enum's.
    EmptyConstructor,
    /// Marked as generated: by an annotation that is called `Generated` or the like, on the method or its class.
    MarkedGenerated,
}

impl CompilerMade {
    /// All of them, in the order of their numbers in files.
    pub const ALL: [CompilerMade; 17] = [
        CompilerMade::Assert,
        CompilerMade::StringSwitch,
        CompilerMade::EnumSwitch,
        CompilerMade::NoMatch,
        CompilerMade::Synchronized,
        CompilerMade::TryWithResources,
        CompilerMade::FinallyCopy,
        CompilerMade::GeneratedMethod,
        CompilerMade::Synthetic,
        CompilerMade::DeserializeLambda,
        CompilerMade::KotlinNullCheck,
        CompilerMade::KotlinDefaultArgument,
        CompilerMade::KotlinCoroutine,
        CompilerMade::KotlinLateinit,
        CompilerMade::KotlinInlined,
        CompilerMade::EmptyConstructor,
        CompilerMade::MarkedGenerated,
    ];

    /// A short name: `assert`, `string-switch`, …
    pub fn name(self) -> &'static str {
        match self {
            CompilerMade::Assert => "assert",
            CompilerMade::StringSwitch => "string-switch",
            CompilerMade::EnumSwitch => "enum-switch",
            CompilerMade::NoMatch => "no-match",
            CompilerMade::Synchronized => "synchronized",
            CompilerMade::TryWithResources => "try-with-resources",
            CompilerMade::FinallyCopy => "finally-copy",
            CompilerMade::GeneratedMethod => "generated-method",
            CompilerMade::Synthetic => "synthetic",
            CompilerMade::DeserializeLambda => "deserialize-lambda",
            CompilerMade::KotlinNullCheck => "kotlin-null-check",
            CompilerMade::KotlinDefaultArgument => "kotlin-default-argument",
            CompilerMade::KotlinCoroutine => "kotlin-coroutine",
            CompilerMade::KotlinLateinit => "kotlin-lateinit",
            CompilerMade::KotlinInlined => "kotlin-inlined",
            CompilerMade::EmptyConstructor => "empty-constructor",
            CompilerMade::MarkedGenerated => "marked-generated",
        }
    }
}

/// What following an edge means in the terms of the condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The condition held.
    Yes,
    /// It did not.
    No,
    /// The loop goes on.
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

    /// What a conditional branch's label means; for a switch use [`outcome`](Self::outcome).
    pub fn of_branch(&self, label: &EdgeLabel) -> &Outcome {
        self.outcome(match label {
            EdgeLabel::NotTaken => 1,
            _ => 0,
        })
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
pub fn check_conditions(class: &ClassMap, method: u32, of: &MethodConditions) -> Result<(), String> {
    check_method(class, method as usize, of).map_err(|problem| problem.to_string())
}

/// Those of one method of a class.
pub(in crate::model) fn check_method(
    class: &ClassMap,
    method: usize,
    of: &MethodConditions,
) -> Result<(), Problem> {
    let problem = |what: String| {
        let method = class.methods.get(method);
        Err(Problem {
            class: Some(class.name.clone()),
            method: method.map(|m| format!("{}{}", m.name, m.descriptor)),
            what,
        })
    };
    let Some(map) = class.methods.get(method) else {
        return problem(format!("conditions of method {method}, which is not there"));
    };
    let ascending = |blocks: Vec<u32>| {
        let there = blocks.iter().all(|&block| (block as usize) < map.blocks.len());
        there && blocks.is_sorted_by(|a, b| a < b)
    };
    if !ascending(of.conditions.iter().map(|c| c.block).collect()) {
        return problem("the conditions are not of its blocks, or not in order".to_owned());
    }
    if !ascending(of.made.iter().map(|&(block, _)| block).collect()) {
        return problem("what the compiler made is not of its blocks, or not in order".to_owned());
    }
    if !ascending(of.restarts.clone()) {
        return problem("where patterns begin again is not of its blocks, or not in order".to_owned());
    }
    let apart = |pieces: Vec<(u32, u32)>| {
        let within = pieces
            .iter()
            .all(|&(start, end)| start < end && end <= map.code_length);
        within && pieces.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    };
    if !apart(of.left_out.iter().map(|range| (range.start, range.end)).collect()) {
        return problem("instructions that are left out are not of its code, or not in order".to_owned());
    }
    let end = |from: u32, copy: &CodeCopy| from.saturating_add(copy.length);
    let below = |copy: &CodeCopy| end(copy.of, copy) <= copy.start;
    let copies = of.copies.iter().map(|copy| (copy.start, end(copy.start, copy)));
    if !apart(copies.collect()) || !of.copies.iter().all(below) {
        return problem("instructions that repeat others are not of its code, or not in order".to_owned());
    }
    for condition in &of.conditions {
        let edges = map.graph.successors(BlockId::new(condition.block as usize)).len();
        if condition.outcomes.len() != edges {
            return problem(format!(
                "the condition of block {} has {} outcomes, the block {edges} edges",
                condition.block,
                condition.outcomes.len()
            ));
        }
    }
    Ok(())
}
