//! Who is who: ids of instrumented classes and methods.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use trodden_analyses::{MethodLookup, MethodRef, MethodTable};
use trodden_instrumenter::{ClassIds, MethodCode};
use trodden_profile::{ClassMap, CounterLayout, Skipped};

use crate::blocks::{Block, Blocks};

/// One registered class.
#[derive(Clone)]
pub struct ClassEntry {
    /// Its path map.
    pub map: Arc<ClassMap>,
    /// The ids in its probes.
    pub ids: ClassIds,
    /// Where its counters are.
    pub layout: Arc<CounterLayout>,
    /// Where its methods keep the path register (parallel to the map's methods); kept for `safepoint` only.
    pub code: Option<Arc<Vec<MethodCode>>>,
}

/// All classes ever instrumented in this JVM. Classes are known by name and bytes: whatever loads the same bytes
/// again gets the same ids, so loading and unloading in a loop costs nothing.
#[derive(Default)]
pub struct Registry {
    inner: RwLock<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Settings that shape path maps; a change makes all classes new ones.
    configurations: Vec<String>,
    current: usize,
    by_key: FxHashMap<(usize, [u8; 32], String), usize>,
    /// By class index.
    classes: Vec<(usize, ClassEntry)>,
    methods: MethodTable,
    /// First counter slot that is not given out.
    counters: u32,
    skipped: BTreeSet<Skipped>,
}

/// No more ids: the class stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no more class or method numbers in this JVM")]
pub struct Exhausted;

impl Registry {
    /// Makes a configuration the current one. Returns whether it differs from the one before.
    pub fn configure(&self, configuration: &str) -> bool {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let known = inner.configurations.iter().position(|c| c == configuration);
        let index = known.unwrap_or_else(|| {
            inner.configurations.push(configuration.to_owned());
            inner.configurations.len() - 1
        });
        let changed = index != inner.current;
        inner.current = index;
        if changed {
            inner.skipped.clear();
        }
        changed
    }

    /// The ids of a class, given out at its first appearance.
    pub fn ids(&self, map: &Arc<ClassMap>) -> Result<ClassIds, Exhausted> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let key = (inner.current, map.sha256, map.name.clone());
        if let Some(&class) = inner.by_key.get(&key) {
            return Ok(inner.classes[class].1.ids);
        }
        let class = inner.classes.len();
        let layout = Arc::new(CounterLayout::of(map));
        let method_limit = i32::MAX as u32 - 1;
        inner.counters = inner.counters.max(Block::HEADER);
        if inner.methods.len() > method_limit - map.methods.len() as u32
            || inner.counters + layout.slots > Blocks::SLOTS
        {
            return Err(Exhausted);
        }
        let ids = ClassIds {
            first_counter: inner.counters,
            first_method: inner.methods.add_class(Arc::clone(map)).ok_or(Exhausted)?,
        };
        inner.counters += layout.slots;
        let entry = ClassEntry {
            map: Arc::clone(map),
            ids,
            layout,
            code: None,
        };
        let configuration = inner.current;
        inner.classes.push((configuration, entry));
        inner.by_key.insert(key, class);
        Ok(ids)
    }

    /// Keeps where a class's methods have their path register.
    pub fn set_code(&self, map: &ClassMap, code: Vec<MethodCode>) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let key = (inner.current, map.sha256, map.name.clone());
        if let Some(&class) = inner.by_key.get(&key) {
            inner.classes[class].1.code = Some(Arc::new(code));
        }
    }

    /// Notes what is left alone.
    pub fn skip(&self, skipped: impl IntoIterator<Item = Skipped>) {
        let mut skipped = skipped.into_iter().peekable();
        if skipped.peek().is_some() {
            let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
            inner.skipped.extend(skipped);
        }
    }

    /// What is left alone in the current configuration, sorted.
    pub fn skipped(&self) -> Vec<Skipped> {
        self.read().skipped.iter().cloned().collect()
    }

    /// The classes of the current configuration.
    pub fn classes(&self) -> Vec<ClassEntry> {
        self.classes_from(&mut 0)
    }

    /// The classes of the current configuration among those that came after the first `seen` ones, which is moved on.
    pub fn classes_from(&self, seen: &mut usize) -> Vec<ClassEntry> {
        let inner = self.read();
        let new = inner.classes.get(*seen..).unwrap_or_default().iter();
        *seen = inner.classes.len();
        let current = |(configuration, _): &&(usize, ClassEntry)| *configuration == inner.current;
        new.filter(current).map(|(_, entry)| entry.clone()).collect()
    }

    /// The methods of the current configuration.
    pub fn method_table(&self) -> MethodTable {
        let mut table = MethodTable::default();
        for entry in self.classes() {
            // Ids were given out once each, so they cannot be taken.
            let _ = table.insert_class(entry.ids.first_method, entry.map);
        }
        table
    }

    /// The class of this name, if the current configuration has exactly one.
    pub fn only_class_named(&self, name: &str) -> Option<ClassEntry> {
        let inner = self.read();
        let mut found = inner
            .classes
            .iter()
            .filter(|(configuration, entry)| *configuration == inner.current && entry.map.name == name);
        let first = found.next()?;
        found.next().is_none().then(|| first.1.clone())
    }

    /// Number of counter slots given out, in all configurations.
    pub fn counters(&self) -> u32 {
        self.read().counters
    }

    /// Numbers of classes and of methods, of all configurations.
    pub fn sizes(&self) -> (usize, u32) {
        let inner = self.read();
        (inner.classes.len(), inner.methods.len())
    }

    /// Has a class of this name ever been instrumented?
    pub fn names(&self) -> std::collections::HashSet<String> {
        self.read()
            .classes
            .iter()
            .map(|(_, entry)| entry.map.name.clone())
            .collect()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MethodLookup for Registry {
    fn method(&self, index: u32) -> Option<MethodRef> {
        self.read().methods.method(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str, hash: u8) -> Arc<ClassMap> {
        Arc::new(ClassMap {
            name: name.to_owned(),
            sha256: [hash; 32],
            source_file: None,
            methods: Vec::new(),
        })
    }

    #[test]
    fn same_bytes_same_ids() {
        let registry = Registry::default();
        let first = registry.ids(&map("a/B", 1)).unwrap();
        assert_eq!(registry.ids(&map("a/B", 1)).unwrap(), first);
        assert_eq!(registry.sizes().0, 1);
        registry.ids(&map("a/B", 2)).unwrap();
        registry.ids(&map("a/C", 1)).unwrap();
        assert_eq!(registry.sizes().0, 3);
    }

    #[test]
    fn another_configuration_makes_other_classes() {
        let registry = Registry::default();
        assert!(!registry.configure("counters"));
        let first = registry.ids(&map("a/B", 1)).unwrap();
        assert!(!registry.configure("counters"));
        assert!(registry.configure("yieldpoint"));
        assert!(registry.classes().is_empty());
        registry.ids(&map("a/B", 1)).unwrap();
        assert_eq!(registry.sizes().0, 2);
        assert!(registry.configure("counters"));
        assert_eq!(registry.ids(&map("a/B", 1)).unwrap(), first);
        assert_eq!(registry.classes().len(), 1);
        assert_eq!(registry.names().len(), 1);
    }
}
