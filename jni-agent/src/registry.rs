//! Who is who: ids of instrumented classes and methods.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_analyses::{MethodLookup, MethodRef, MethodTable};
use trodden_instrumenter::{ClassIds, MethodCode, SkipReason};
use trodden_profile::structural::GraphLayout;
use trodden_profile::{ClassMap, CounterLayout, Profile, Skipped, same_paths};

use crate::ahead::Bases;
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
    /// Where its structure graphs have their counters; only if these are profiled.
    pub graphs: Option<Arc<GraphLayout>>,
    /// Where its methods keep the path register (parallel to the map's methods); kept for `safepoint` only.
    pub code: Option<Arc<Vec<MethodCode>>>,
}

/// What tells classes apart: configuration, bytes, name, and which profile of this run it is numbered by (0: none).
type Key = (usize, [u8; 32], String, u64);

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
    by_key: FxHashMap<Key, usize>,
    by_name: FxHashMap<String, Vec<usize>>,
    /// By class index.
    classes: Vec<(usize, ClassEntry)>,
    methods: MethodTable,
    /// First counter slot that is not given out.
    counters: u32,
    skipped: BTreeSet<Skipped>,
    /// By a class's first method: which of its methods go without probes for the time being.
    silent: FxHashMap<u32, Arc<[bool]>>,
    /// Names of all classes that ever were in it.
    silenced: FxHashSet<String>,
    /// Outputs of `trodden instrument` in use: where their slots and methods begin.
    units: FxHashMap<String, Bases>,
    /// Names of their classes.
    ahead: FxHashSet<String>,
}

impl Inner {
    fn add(&mut self, configuration: usize, entry: ClassEntry) {
        let name = entry.map.name.clone();
        self.by_name.entry(name).or_default().push(self.classes.len());
        self.classes.push((configuration, entry));
    }

    /// The classes of this name in the current configuration.
    fn current_named(&self, name: &str) -> impl Iterator<Item = &ClassEntry> {
        let named = self.by_name.get(name).into_iter().flatten();
        let named = named.map(|&class| &self.classes[class]);
        let current = named.filter(|(configuration, _)| *configuration == self.current);
        current.map(|(_, entry)| entry)
    }
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

    /// Is there no other configuration, whose probes may still be in what runs?
    pub fn has_one_configuration(&self) -> bool {
        self.read().configurations.len() <= 1
    }

    /// The ids of a class, given out at its first appearance. `guide`: the fingerprint of the profile of this run that it is numbered
    /// by; 0 for none.
    pub fn ids(&self, map: &Arc<ClassMap>, guide: u64) -> Result<ClassIds, Exhausted> {
        Ok(self.register(map, None, guide)?.0)
    }

    /// Do a class's methods have the paths that they had before it was numbered by a profile of this run? True if it is new.
    pub fn has_same_paths(&self, map: &ClassMap) -> bool {
        let inner = self.read();
        let key = (inner.current, map.sha256, map.name.clone(), 0);
        let Some(&class) = inner.by_key.get(&key) else {
            return true;
        };
        let before = &inner.classes[class].1.map.methods;
        before.len() == map.methods.len() && before.iter().zip(&map.methods).all(|(a, b)| same_paths(a, b))
    }

    /// Those of a class whose structure graphs are counted. Tells whether this is its first appearance.
    pub fn ids_with(
        &self,
        map: &Arc<ClassMap>,
        graphs: Option<GraphLayout>,
    ) -> Result<(ClassIds, bool), Exhausted> {
        self.register(map, graphs, 0)
    }

    fn register(
        &self,
        map: &Arc<ClassMap>,
        graphs: Option<GraphLayout>,
        guide: u64,
    ) -> Result<(ClassIds, bool), Exhausted> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let key = (inner.current, map.sha256, map.name.clone(), guide);
        if let Some(&class) = inner.by_key.get(&key) {
            return Ok((inner.classes[class].1.ids, false));
        }
        let class = inner.classes.len();
        let layout = Arc::new(CounterLayout::of(map));
        let slots = graphs.as_ref().map_or(layout.slots, |graphs| graphs.slots);
        let method_limit = i32::MAX as u32 - 1;
        inner.counters = inner.counters.max(Block::HEADER);
        if inner.methods.len() > method_limit - map.methods.len() as u32
            || inner.counters + slots > Blocks::SLOTS
        {
            return Err(Exhausted);
        }
        let ids = ClassIds {
            first_counter: inner.counters,
            first_method: inner.methods.add_class(Arc::clone(map)).ok_or(Exhausted)?,
        };
        inner.counters += slots;
        let entry = ClassEntry {
            map: Arc::clone(map),
            ids,
            layout,
            graphs: graphs.map(Arc::new),
            code: None,
        };
        let configuration = inner.current;
        inner.add(configuration, entry);
        inner.by_key.insert(key, class);
        Ok((ids, true))
    }

    /// Where an output of `trodden instrument` begins, if it is in use.
    pub fn unit(&self, unit: &str) -> Option<Bases> {
        self.read().units.get(unit).copied()
    }

    /// Takes in the classes of an output of `trodden instrument`, which have their numbers already: counted from the output's
    /// own beginning, in the order of its path map.
    ///
    /// # Errors
    /// If there are not that many numbers left.
    pub fn adopt(&self, unit: &str, map: Profile) -> Result<Bases, Exhausted> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.counters = inner.counters.max(Block::HEADER);
        let bases = (inner.counters, inner.methods.len());
        let layouts = map.classes.iter().map(|class| CounterLayout::of(&class.map));
        let layouts: Vec<Arc<CounterLayout>> = layouts.map(Arc::new).collect();
        let slots: u64 = layouts.iter().map(|layout| u64::from(layout.slots)).sum();
        let methods: u64 = map
            .classes
            .iter()
            .map(|class| class.map.methods.len() as u64)
            .sum();
        if u64::from(bases.0) + slots > u64::from(Blocks::SLOTS)
            || u64::from(bases.1) + methods >= i32::MAX as u64
        {
            return Err(Exhausted);
        }
        let names: HashSet<&str> = map.classes.iter().map(|class| class.map.name.as_str()).collect();
        let instrumented = SkipReason::AlreadyInstrumented.text();
        // The agent came by first, and did not know yet that they count by themselves.
        inner
            .skipped
            .retain(|s| s.reason != instrumented || !names.contains(s.class.as_str()));
        inner.skipped.extend(map.skipped);
        let configuration = inner.current;
        for (class, layout) in map.classes.into_iter().zip(layouts) {
            let first_method = inner.methods.add_class(Arc::clone(&class.map)).ok_or(Exhausted)?;
            let ids = ClassIds {
                first_counter: inner.counters,
                first_method,
            };
            inner.counters += layout.slots;
            inner.ahead.insert(class.map.name.clone());
            let key = (configuration, class.map.sha256, class.map.name.clone(), 0);
            let index = inner.classes.len();
            inner.by_key.entry(key).or_insert(index);
            let entry = ClassEntry {
                map: class.map,
                ids,
                layout,
                graphs: None,
                code: None,
            };
            inner.add(configuration, entry);
        }
        inner.units.insert(unit.to_owned(), bases);
        Ok(bases)
    }

    /// Number of outputs of `trodden instrument` in use.
    pub fn units(&self) -> usize {
        self.read().units.len()
    }

    /// Keeps where a class's methods have their path register.
    pub fn set_code(&self, map: &ClassMap, code: Vec<MethodCode>) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let key = (inner.current, map.sha256, map.name.clone(), 0);
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
        let mut found = inner.current_named(name);
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    }

    /// Has the current configuration a class of this name?
    pub fn has_class_named(&self, name: &str) -> bool {
        self.read().current_named(name).next().is_some()
    }

    /// Says which methods of a class go without probes the next time it is loaded or retransformed; by position in the
    /// path map.
    pub fn silence(&self, name: &str, ids: ClassIds, methods: Arc<[bool]>) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.silenced.insert(name.to_owned());
        inner.silent.insert(ids.first_method, methods);
    }

    /// Which methods of a class go without probes, if any was ever silenced.
    pub fn silent(&self, ids: ClassIds) -> Option<Arc<[bool]>> {
        self.read().silent.get(&ids.first_method).cloned()
    }

    /// Did a class of this name ever lose probes?
    pub fn was_silenced(&self, name: &str) -> bool {
        self.read().silenced.contains(name)
    }

    /// All methods are to have probes again.
    pub fn silence_none(&self) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.silent.clear();
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

    /// Do classes of this name count by themselves, instrumented ahead?
    pub fn counts_itself(&self, name: &str) -> bool {
        self.read().ahead.contains(name)
    }

    /// Names of all classes that were ever instrumented.
    pub fn names(&self) -> HashSet<String> {
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
        registry.configure("one");
        let first = registry.ids(&map("a/B", 1), 0).unwrap();
        assert_eq!(registry.ids(&map("a/B", 1), 0).unwrap(), first);
        assert_eq!(registry.sizes().0, 1);
        registry.ids(&map("a/B", 2), 0).unwrap();
        registry.ids(&map("a/C", 1), 0).unwrap();
        assert_eq!(registry.sizes().0, 3);
        // Two of one name cannot be told apart by it.
        assert!(registry.has_class_named("a/B") && !registry.has_class_named("a/D"));
        assert!(registry.only_class_named("a/B").is_none());
        assert!(registry.only_class_named("a/C").is_some());
        registry.configure("another one");
        assert!(!registry.has_class_named("a/B"));
        assert!(registry.only_class_named("a/C").is_none());
    }

    #[test]
    fn outputs_have_their_own_numbers() {
        let registry = Registry::default();
        registry.ids(&map("a/B", 1), 0).unwrap();
        let output = |names: &[&str]| Profile {
            classes: names
                .iter()
                .map(|name| trodden_profile::ClassProfile {
                    map: map(name, 2),
                    counts: Vec::new(),
                })
                .collect(),
            ..Profile::default()
        };
        let skipped = |class: &str, reason: SkipReason| Skipped {
            class: class.to_owned(),
            method: None,
            reason: reason.text().to_owned(),
        };
        registry.skip([
            skipped("x/Y", SkipReason::AlreadyInstrumented),
            skipped("x/Z", SkipReason::AlreadyInstrumented),
            skipped("x/Y", SkipReason::TooManyPaths),
        ]);
        assert_eq!(registry.unit("one"), None);
        let bases = registry.adopt("one", output(&["x/Y", "x/X"])).unwrap();
        assert_eq!(registry.unit("one"), Some(bases));
        assert_eq!(registry.classes().len(), 3);
        assert!(registry.counts_itself("x/Y") && !registry.counts_itself("x/Z"));
        // What counts by itself is not left alone any more.
        let left: Vec<_> = registry
            .skipped()
            .into_iter()
            .map(|s| (s.class, s.reason))
            .collect();
        let text = |reason: SkipReason| reason.text().to_owned();
        let expected = [
            ("x/Y".to_owned(), text(SkipReason::TooManyPaths)),
            ("x/Z".to_owned(), text(SkipReason::AlreadyInstrumented)),
        ];
        assert_eq!(left, expected);
    }

    #[test]
    fn another_configuration_makes_other_classes() {
        let registry = Registry::default();
        assert!(!registry.configure("counters"));
        let first = registry.ids(&map("a/B", 1), 0).unwrap();
        assert!(!registry.configure("counters"));
        assert!(registry.configure("yieldpoint"));
        assert!(registry.classes().is_empty());
        registry.ids(&map("a/B", 1), 0).unwrap();
        assert_eq!(registry.sizes().0, 2);
        assert!(registry.configure("counters"));
        assert_eq!(registry.ids(&map("a/B", 1), 0).unwrap(), first);
        assert_eq!(registry.classes().len(), 1);
        assert_eq!(registry.names().len(), 1);
    }
}
