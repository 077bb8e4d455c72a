//! Faults in the data of a profile or a trace.

use std::ops::RangeInclusive;
use std::str::Utf8Error;

use crate::model::codec::{ReadError, SECTION_LIMIT};
use crate::model::kpaths::ForestProblem;
use crate::options::ValueError;

/// A rule of the format or of the data model that data break. The first value names the field or the items.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Fewer bytes are left than the field takes: needed, left.
    #[error("{0}: {1} bytes are needed, {2} are left")]
    Short(&'static str, usize, usize),
    /// The section ends within a number.
    #[error("{0}: a number is cut off")]
    CutOff(&'static str),
    /// A number has more bits than its field.
    #[error("{0}: the number does not fit {1} bits")]
    TooWide(&'static str, u32),
    /// A list claims more items than there are bytes: claimed, left.
    #[error("{0}: {1} items cannot be in the {2} bytes that are left")]
    TooMany(&'static str, u64, usize),
    /// A text is not UTF-8.
    #[error("{0} is not UTF-8: {1}")]
    NotUtf8(&'static str, Utf8Error),
    /// A flag is neither set nor clear.
    #[error("{0}: {1} is neither 0 nor 1")]
    NotBoolean(&'static str, u8),
    /// A number has no meaning in its field.
    #[error("{1} is no {0}")]
    NoSuch(&'static str, i64),
    /// Bits are set after the stated number of them.
    #[error("{0}: bits behind the last of {1}")]
    ExtraBits(&'static str, usize),
    /// A section has bytes that no reader expects.
    #[error("there is more than belongs here")]
    Extra,
    /// A section has more bytes than readers take.
    #[error("a section of {0} bytes exceeds the limit of {SECTION_LIMIT}")]
    TooLong(usize),

    /// Items are not in their order, or are repeated.
    #[error("the {0} are not in order")]
    NotInOrder(&'static str),
    /// Sections describe the same twice.
    #[error("the file tells about its {0} twice")]
    Twice(&'static str),
    /// A method has the same data twice: class, method.
    #[error("method {2} of class {1} has its {0} twice")]
    MethodTwice(&'static str, u32, u32),
    /// Items are there, but not the section that describes them.
    #[error("there are {1} {0}, but nothing tells about them")]
    Untold(&'static str, u64),
    /// There are more or fewer items than stated: found, stated.
    #[error("the file holds {1} {0}, it says {2}")]
    Number(&'static str, u64, u64),
    /// Two lists should be parallel: length of the first, name and length of the other.
    #[error("there are {1} {0}, but {3} {2}")]
    Sizes(&'static str, usize, &'static str, usize),

    /// The profile has no such method: class, method.
    #[error("there is no method {2} of class {1} for {0}")]
    NoMethod(&'static str, usize, usize),
    /// The data name an item that is not there: kind of item, its number.
    #[error("there is no {1} {2} for {0}")]
    NoItem(&'static str, &'static str, u64),
    /// The method has no such block: block, number of blocks.
    #[error("{0} {1} does not exist (of {2} blocks)")]
    NoBlock(&'static str, usize, usize),
    /// The method has no such path.
    #[error("{0}: no path has the number {1}")]
    NoPath(&'static str, u64),
    /// Items are not of the method, or not in order.
    #[error("{0} are not of the method, or not in order")]
    NotOfMethod(&'static str),

    /// A number is outside of its limits.
    #[error("{0}: {1} is not from {start} to {end}", start = .2.start(), end = .2.end())]
    Range(&'static str, u64, RangeInclusive<u64>),
    /// A time is none.
    #[error("{0}: {1} is no duration in seconds")]
    NotSeconds(&'static str, f64),
    /// A number that is negative, or none.
    #[error("{0} is {1}")]
    NotNumber(&'static str, f64),
    /// A share is none.
    #[error("{0}: {1} is no share from 0 to 1")]
    NotShare(&'static str, f64),
    /// Thresholds of contexts that exclude each other: phi, epsilon.
    #[error("contexts with phi = {0} and epsilon = {1}")]
    Thresholds(f64, f64),
    /// The weight of contexts is not known.
    #[error(transparent)]
    Weight(#[from] ValueError),

    /// A node of a tree is not below the one before it: position, depth, depth before.
    #[error("{0} {1} is at depth {2} after {3}")]
    Depth(&'static str, usize, u32, usize),
    /// A node of a tree does not come after its sibling.
    #[error("{0} {1} is not behind its sibling")]
    Sibling(&'static str, usize),
    /// A node of a tree is above the root.
    #[error("a {0} rises above its root")]
    AboveRoot(&'static str),
    /// A method's path forest is none: class, method.
    #[error("method {1} of class {0}: {2}")]
    Forest(usize, usize, ForestProblem),

    /// Bytecode indices of a block: block, first, last, end.
    #[error("block {0} has impossible bytecode indices (start {1}, last {2}, end {3})")]
    Indices(usize, u32, u32, u32),
    /// A block that returns or throws has successors.
    #[error("block {0} leaves the method, but has successors")]
    Leaves(usize),
    /// Paths begin again where none ends.
    #[error("paths restart at block {0} but do not end there")]
    Restart(usize),
    /// An edge was followed between blocks of which one did not run.
    #[error("coverage has the way from block {0} to block {1}, of which one did not run")]
    Way(usize, usize),
    /// The path forests of groups of bursts have no sum.
    #[error("path forests of groups of bursts: {0}")]
    Forests(ForestProblem),
    /// Counts of groups of bursts do not add up to those of all.
    #[error("path forests of groups of bursts do not add up to those of all")]
    Groups,
    /// The structure graphs of a method cannot be made: class, method.
    #[error("structure graphs of method {1} of class {0}, which cannot be made")]
    NoStructure(u32, u32),

    /// A profile in a section of this one cannot be read.
    #[error("the profile inside: {0}")]
    Inner(Box<ReadError>),
    /// A profile in a section of this one has another in a section.
    #[error("the profile inside has another one inside")]
    Nested,
    /// The profile in a memory has other data than paths.
    #[error("the memory holds more than paths")]
    MemoryOfMore,

    /// A class in a trace has counts.
    #[error("a class in a trace has no counts, but there are some")]
    Counted,
    /// A thread begins that has not ended.
    #[error("thread {0} begins, but it is running")]
    Running(u64),
    /// Words of a thread that has not begun.
    #[error("thread {0} is not running")]
    NotRunning(u64),
    /// A word needs the topmost activation, which is not known.
    #[error("the topmost activation's method is not known")]
    NoActivation,
}

/// Refuses data that break a rule.
pub(crate) fn ensure(holds: bool, fault: impl FnOnce() -> Fault) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(fault()) }
}

impl Fault {
    /// Refuses lists of different lengths.
    pub(crate) fn sizes(
        one: &'static str,
        length: usize,
        other: &'static str,
        expected: usize,
    ) -> Result<(), Fault> {
        ensure(length == expected, || Fault::Sizes(one, length, other, expected))
    }

    /// Refuses a number outside of its limits.
    pub(crate) fn range(what: &'static str, value: u64, limits: RangeInclusive<u64>) -> Result<(), Fault> {
        ensure(limits.contains(&value), || Fault::Range(what, value, limits))
    }

    /// Refuses items that are not in order.
    pub(crate) fn order(what: &'static str, is_sorted: bool) -> Result<(), Fault> {
        ensure(is_sorted, || Fault::NotInOrder(what))
    }

    /// Refuses another number of items than was stated.
    pub(crate) fn number(what: &'static str, found: u64, stated: u64) -> Result<(), Fault> {
        ensure(found == stated, || Fault::Number(what, found, stated))
    }

    /// Refuses what is no time.
    pub(crate) fn seconds(what: &'static str, seconds: f64) -> Result<(), Fault> {
        let is_time = seconds.is_finite() && seconds >= 0.0;
        ensure(is_time, || Fault::NotSeconds(what, seconds))
    }
}
