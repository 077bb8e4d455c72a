//! Outputs of `trodden instrument` in use: code with counters of its own.

use std::sync::RwLock;

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_instrumenter::ClassIds;

use crate::locks::{read, write};

/// Where the slots and the methods of an output begin.
pub type Bases = ClassIds;

/// All outputs in use.
#[derive(Default)]
pub struct Outputs(RwLock<Inner>);

#[derive(Default)]
struct Inner {
    bases: FxHashMap<String, Bases>,
    /// True if there is one whose probes count no paths that an exception cuts off.
    without_cut_paths: bool,
    /// Names of their classes.
    classes: FxHashSet<String>,
}

impl Outputs {
    /// An output is in use from now on.
    pub fn add(
        &self,
        unit: &str,
        bases: Bases,
        classes: impl IntoIterator<Item = String>,
        counts_cut_paths: bool,
    ) {
        let mut inner = write(&self.0);
        inner.bases.insert(unit.to_owned(), bases);
        inner.classes.extend(classes);
        inner.without_cut_paths |= !counts_cut_paths;
    }

    /// Where an output begins, if it is in use.
    pub fn bases(&self, unit: &str) -> Option<Bases> {
        read(&self.0).bases.get(unit).copied()
    }

    /// Number of outputs.
    pub fn number(&self) -> usize {
        read(&self.0).bases.len()
    }

    /// True if all of them count paths that an exception cuts off.
    pub fn count_cut_paths(&self) -> bool {
        !read(&self.0).without_cut_paths
    }

    /// True if classes of this name are among them.
    pub fn have(&self, class: &str) -> bool {
        read(&self.0).classes.contains(class)
    }
}
