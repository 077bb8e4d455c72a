//! The work of a test, and what it did before: the data behind `trodden gate`.
//!
//! *In*: exactly counted profiles, some of each test. *Out*: a [`GateFile`], and of two of these a [`GateComparison`].
//!
//! The measure is executed bytecode instructions: each path's count times the instructions of its blocks, with paths that
//! were cut off up to the block in which they stopped. It is not time.
//!
//! 1. `measure` turns a profile into instructions per method and path.
//! 2. `compare` finds what grew, by method and path; `verdict` says which of that fails.

mod compare;
mod measure;
mod verdict;

pub use compare::{GateComparison, GateOptions, Grew, TestChange};
pub use measure::{Lacks, Measured, MeasuredMethod};
pub use verdict::{OTHERS, Verdict};

/// A method, or a path, below this share of its test's instructions is not in the file.
pub const LISTED: f64 = 0.002;
/// Most methods of a test in the file.
pub const MOST_METHODS: usize = 16;
/// Most paths of a method in the file.
pub const MOST_PATHS: usize = 6;

/// The counts of the tests of one build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateFile {
    /// How often the command ran.
    pub runs: u32,
    /// By name.
    pub tests: Vec<GateTest>,
}

/// The counts of one test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateTest {
    /// Its name.
    pub name: String,
    /// Executed instructions; the least of its runs.
    pub instructions: u64,
    /// The most of its runs.
    pub most: u64,
    /// Those of the test's own threads alone, least and most of its runs: its thread, and threads that it began and that
    /// have ended when it did. `None`: the numbers of its runs are no measure of what it differs by.
    pub own: Option<[u64; 2]>,
    /// Bytes allocated, if that is known; the least of its runs.
    pub allocated: Option<u64>,
    /// How long it took with the probes in it, in nanoseconds, if that is known: the least and the most of its runs.
    pub time: Option<[u64; 2]>,
    /// Executed instructions that make an object or arrays, if that is known; those of the run with the least
    /// instructions.
    pub allocations: Option<u64>,
    /// Calls that leave what is counted, if that is known; those of the run with the least instructions.
    pub outside: Option<Outside>,
    /// How much more work it may do than before, if it says so itself, as a share.
    pub limit: Option<f64>,
    /// If its runs differ: in what, and why as far as that can be told.
    pub unstable: Option<String>,
    /// The methods with most instructions, by name.
    pub methods: Vec<GateMethod>,
}

/// Executed call instructions that name a class that was not counted, such as one of the JDK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Calls of methods that no counted class has.
    pub calls: u64,
    /// Of methods that a counted class has too, such as `toString()`: it may be that one which ran.
    pub perhaps: u64,
}

/// The counts of one method in a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateMethod {
    /// Class with dots.
    pub class: String,
    /// Name with the types of its parameters.
    pub name: String,
    /// Hash of its code: see [`MethodShape::code`](trodden_profile::MethodShape::code).
    pub code: u64,
    /// The class's source file below its source folder, if it is known.
    pub file: Option<String>,
    /// Its first line.
    pub line: Option<u32>,
    /// Activations that began.
    pub calls: u64,
    /// Executed instructions, without those of callees.
    pub instructions: u64,
    /// Its [calls](Outside::calls) of what is not counted.
    pub outside: u64,
    /// The paths with most instructions, by [key](GatePath::key).
    pub paths: Vec<GatePath>,
}

/// The counts of one path of a method in a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatePath {
    /// Hash of its decisions and the opcodes of its blocks, among the paths of its method: the same in another build, if
    /// nothing on the path has changed.
    pub key: u32,
    /// How often it ran.
    pub count: u64,
    /// Its instructions.
    pub length: u64,
    /// The path in words.
    pub text: String,
}

impl GateMethod {
    /// `shop.Cache.lookup(String)`.
    pub fn title(&self) -> String {
        format!("{}.{}", self.class, self.name)
    }
}

impl GateTest {
    /// [`own`](Self::own) where a file does not say it: of a stable test what it is altogether.
    pub fn implied_own(&self) -> Option<[u64; 2]> {
        self.unstable.is_none().then_some([self.instructions, self.most])
    }

    /// True if its runs differ, but not in the work of its own threads.
    pub fn differs_by_others(&self) -> bool {
        self.unstable.is_some() && self.own.is_some_and(|[least, most]| least == most)
    }

    /// More instructions than that no method has executed that is not listed.
    pub fn least_listed(&self) -> u64 {
        let least = self.methods.iter().map(|method| method.instructions).min();
        match least {
            Some(least) if self.methods.len() >= MOST_METHODS => least,
            _ => (self.instructions as f64 * LISTED) as u64,
        }
    }
}
