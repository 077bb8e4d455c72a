//! What each test of a run counted, for `trodden gate`: a listener in the program says where tests end.

mod codec;
mod merge;
pub(crate) mod section;
mod subtract;

use crate::model::counts::MethodPart;

/// What was counted during one test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Its name; [`BETWEEN`](Self::BETWEEN) and [`TOGETHER`](Self::TOGETHER) are none.
    pub name: String,
    /// How often it ran.
    pub times: u64,
    /// Of a benchmark: how many operations it did. 0 for a test.
    pub operations: u64,
    /// How much more work it may do than before, in its own words: `0.5%`.
    pub max_growth: Option<String>,
    /// Bytes that its thread allocated, if that is known.
    pub allocated: Option<u64>,
    /// How long it took, in nanoseconds, if that is known: while its work was counted.
    pub nanos: Option<u64>,
    /// Methods that ran, in the order of classes and methods.
    pub methods: Vec<MethodPart>,
    /// Of these, what threads counted whose work may fall into another test the next time: other threads than the
    /// test's own that were there before the test, or were still there at its end. In the same order.
    pub others: Vec<MethodPart>,
}

impl TestCounts {
    /// The name of what ran between tests.
    pub const BETWEEN: &'static str = "(between tests)";
    /// The name of what ran while there were several tests at the same time: it is not known whose it is.
    pub const TOGETHER: &'static str = "(tests at the same time)";

    /// Is a name that of a test?
    pub fn is_test(name: &str) -> bool {
        name != Self::BETWEEN && name != Self::TOGETHER
    }
}
