//! Methods that go without probes for the time being.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_instrumenter::{ClassIds, MethodId};

use crate::locks::{read, write};

/// Which methods of which classes have lost their probes.
#[derive(Default)]
pub struct Silenced {
    inner: RwLock<Inner>,
    changes: AtomicU64,
}

#[derive(Default)]
struct Inner {
    /// By a class's first method: which of its methods are silent.
    methods: FxHashMap<MethodId, Arc<[bool]>>,
    /// Names of all classes that ever were among them.
    names: FxHashSet<String>,
}

impl Silenced {
    /// Says which methods of a class go without probes the next time it is loaded or retransformed; by
    /// position in the path map.
    pub fn add(&self, name: &str, ids: ClassIds, methods: Arc<[bool]>) {
        let mut inner = write(&self.inner);
        inner.names.insert(name.to_owned());
        inner.methods.insert(ids.first_method, methods);
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Which methods of a class go without probes, if any was ever silenced.
    pub fn of(&self, ids: ClassIds) -> Option<Arc<[bool]>> {
        read(&self.inner).methods.get(&ids.first_method).cloned()
    }

    /// True if a class of this name ever lost probes.
    pub fn had(&self, name: &str) -> bool {
        read(&self.inner).names.contains(name)
    }

    /// All methods are to have probes again.
    pub fn clear(&self) {
        write(&self.inner).methods.clear();
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// How often it has changed.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }
}
