//! Causes of a program's time: outcomes of decisions, paths and methods, without those that others explain.

mod causes;
mod explained;
mod overlap;

pub use causes::{Candidate, What};
pub use explained::{Cause, causes};
pub use overlap::Spent;

use crate::view::{MethodView, View};

/// Executed bytecode instructions.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Per method of the view.
    pub methods: Vec<u64>,
    /// The time of all of them.
    pub total: u64,
}

impl Work {
    /// Of all methods of a view.
    pub fn of(view: &View) -> Work {
        // Work of an earlier run is none of this one's.
        let work_of = |method: &MethodView| method.earlier.map_or_else(|| work_of(method), |_| 0);
        let methods: Vec<u64> = view.methods.iter().map(work_of).collect();
        let total = methods.iter().fold(0u64, |sum, &n| sum.saturating_add(n));
        Work { methods, total }
    }

    /// A method's share.
    pub fn share(&self, method: usize) -> f64 {
        ratio(self.methods[method], self.total)
    }
}

/// Executed bytecode instructions of a method.
pub fn work_of(view: &MethodView) -> u64 {
    view.map.work(&view.edges)
}

/// A share; 0 of nothing.
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
