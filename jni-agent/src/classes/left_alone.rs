//! Classes and methods that stay unchanged, with the reasons.

use std::collections::{BTreeSet, HashSet};
use std::sync::RwLock;

use trodden_instrumenter::SkipReason;
use trodden_profile::Skipped;

use crate::locks::{read, write};

/// Classes and methods that are left alone in the current configuration.
#[derive(Default)]
pub struct LeftAlone(RwLock<BTreeSet<Skipped>>);

impl LeftAlone {
    /// Notes more of it.
    pub fn add(&self, skipped: impl IntoIterator<Item = Skipped>) {
        let mut skipped = skipped.into_iter().peekable();
        if skipped.peek().is_some() {
            write(&self.0).extend(skipped);
        }
    }

    /// Classes of these names were instrumented offline: the agent saw them before their output was known.
    pub fn forget_instrumented(&self, names: &HashSet<&str>) {
        let instrumented = SkipReason::AlreadyInstrumented.text();
        let left = |s: &Skipped| s.reason != instrumented || !names.contains(s.class.as_str());
        write(&self.0).retain(left);
    }

    /// All of it, sorted.
    pub fn list(&self) -> Vec<Skipped> {
        read(&self.0).iter().cloned().collect()
    }

    /// Another configuration begins.
    pub fn clear(&self) {
        write(&self.0).clear();
    }
}
