//! Ids of instrumented classes and methods.
//!
//! The list of classes is what everything else follows from: which ids are given out, and two indexes. A
//! class is added in two steps. The *plan* does all that can fail or panic and changes nothing; the *commit*
//! only puts finished values where room was made for them. Should a commit panic all the same, its tables may
//! disagree: the registry is *damaged*, gives out no more ids, and shows what was there before. See
//! `jvm/guard.rs` for what a panic becomes.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use rustc_hash::FxHashMap;
use trodden_analyses::{MethodLookup, MethodRef, MethodTable};
use trodden_instrumenter::{ClassCoverage, ClassIds, CounterSlot, MethodCode, ProbeKind};
use trodden_profile::structural::GraphLayout;
use trodden_profile::{
    ClassMap, ClassProfile, CounterLayout, MethodConditions, MethodMap, Pages, Profile, facts, same_paths,
};

use crate::classes::left_alone::LeftAlone;
use crate::classes::originals::Originals;
use crate::classes::outputs::{Bases, Outputs};
use crate::classes::request_names::RequestNames;
use crate::classes::silenced::Silenced;
use crate::locks::{lock, read, write};
use crate::threads::{ThreadBlock, ThreadBlocks};

/// One registered class.
#[derive(Clone)]
pub struct ClassEntry {
    /// Its path map.
    pub map: Arc<ClassMap>,
    /// The ids in its probes.
    pub ids: ClassIds,
    /// The use of its counter slots.
    pub slots: Slots,
    /// Where its methods keep the path register and where their instructions went (parallel to the map's
    /// methods); kept only if frames are read. Empty: the class is unchanged.
    pub code: Option<Arc<Vec<MethodCode>>>,
}

impl ClassEntry {
    /// The position of a method, if it has a path map.
    pub fn position(&self, name: &str, descriptor: &str) -> Option<usize> {
        let is_it = |map: &MethodMap| map.name == name && map.descriptor == descriptor;
        self.map.methods.iter().position(is_it)
    }

    /// The method and the path that a slot counts, if it is one of this class.
    fn path_of(&self, slot: CounterSlot) -> Option<(usize, u64)> {
        let Slots::Paths(layout) = &self.slots else {
            return None;
        };
        let offset = slot.0.checked_sub(self.ids.first_counter.0)?;
        let methods = self.map.methods.iter().zip(&layout.base).enumerate();
        let path = |(method, (map, base)): (usize, (&MethodMap, &Option<u32>))| {
            let path = u64::from(offset.checked_sub((*base)?)?);
            (path < map.num_paths()).then_some((method, path))
        };
        methods.into_iter().find_map(path)
    }
}

/// The class, method and path that a slot counts. `last`: the last class that begins at a slot or before it.
/// Slots on the second page of a pair belong to classes that begin one page earlier.
pub fn path_of<'c>(
    slot: CounterSlot,
    last: impl Fn(CounterSlot) -> Option<&'c ClassEntry>,
) -> Option<(&'c ClassEntry, usize, u64)> {
    let at = [Some(slot.0), slot.0.checked_sub(Pages::SLOTS)];
    at.into_iter().flatten().find_map(|at| {
        let entry = last(CounterSlot(at))?;
        let (method, path) = entry.path_of(slot)?;
        Some((entry, method, path))
    })
}

/// The use of a class's counter slots: probes are of one kind.
#[derive(Clone)]
pub enum Slots {
    /// Its paths.
    Paths(Arc<CounterLayout>),
    /// Its structure graphs.
    Graphs(Arc<GraphLayout>),
    /// Its probes of coverage.
    Coverage(Arc<ClassCoverage>),
}

impl Slots {
    /// Those of a class whose paths are counted, sampled or reported.
    pub fn paths(map: &ClassMap) -> Self {
        Slots::Paths(Arc::new(CounterLayout::of(map)))
    }

    /// On which pages they are.
    fn pages(&self) -> Pages {
        match self {
            Slots::Paths(layout) => layout.pages,
            Slots::Graphs(_) | Slots::Coverage(_) => Pages::Any,
        }
    }

    /// Number of slots.
    fn number(&self) -> u32 {
        match self {
            Slots::Paths(layout) => layout.slots,
            Slots::Graphs(graphs) => graphs.slots,
            Slots::Coverage(coverage) => coverage.layout().1,
        }
    }
}

/// The key of a class: configuration, bytes, name, and which profile of this run it is numbered by
/// (0: none).
type Key = (usize, [u8; 32], String, u64);

/// All classes ever instrumented in this JVM. Classes are known by name and bytes: code that loads the same
/// bytes again gets the same ids, so loading and unloading in a loop costs nothing.
#[derive(Default)]
pub struct Registry {
    inner: RwLock<Inner>,
    /// Their bytes.
    pub originals: Originals,
    /// Methods that go without probes for the time being.
    pub silenced: Silenced,
    /// Classes and methods that stay unchanged.
    pub left_alone: LeftAlone,
    /// Code that was instrumented offline.
    pub outputs: Outputs,
    /// Names of requests.
    pub requests: RequestNames,
    /// Held while room is made for the probes of a class.
    making_room: Mutex<()>,
    /// Grows when instructions of a class may be at other places than before.
    moves: AtomicU64,
}

#[derive(Default)]
struct Inner {
    /// Settings that shape path maps; a change makes all classes new ones.
    configurations: Vec<String>,
    current: usize,
    /// Every class with the configuration that it belongs to; ids in ascending order, without gaps.
    classes: Vec<(usize, ClassEntry)>,
    /// Indexes into `classes`.
    by_key: FxHashMap<Key, usize>,
    by_name: FxHashMap<String, Vec<usize>>,
    /// One past the last slot that threads have; by default that of the largest blocks.
    slots: Option<u32>,
    /// A commit is in progress, or one panicked: the number of classes before it.
    commits: Option<usize>,
}

/// Classes with their ids, ready to be added.
struct Plan {
    /// Each with its key. A key that is known already keeps the class that it had.
    classes: Vec<(Key, ClassEntry)>,
    /// What is free after the last class, and on which pages that one is.
    next: ClassIds,
    pages: Option<Pages>,
    /// Where slots end.
    slots: u32,
}

/// Why a class gets no ids: it stays unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoIds {
    /// All are given out.
    #[error(
        "no more numbers for classes, methods or paths in this JVM (fewer where ulimit -v limits address space)"
    )]
    Exhausted,
    /// The Java heap has no room for its probes, or there are more than there may be.
    #[error("no room in the Java heap for its probes")]
    NoRoom,
    /// An earlier class could not be added.
    #[error("an internal error damaged the list of classes: no more classes are instrumented")]
    Damaged,
}

impl Plan {
    /// Most methods that ids can be given to.
    const METHODS: u32 = i32::MAX as u32 - 1;

    /// Adds a class after those planned before.
    fn add(&mut self, key: Key, map: Arc<ClassMap>, slots: Slots) -> Result<ClassIds, NoIds> {
        checkpoint();
        let free = self.next.first_counter.0;
        let first = begin(free, self.pages, slots.pages()).ok_or(NoIds::Exhausted)?;
        let ids = ClassIds::new(first, self.next.first_method.0);
        let entry = ClassEntry {
            ids,
            slots,
            code: None,
            map,
        };
        self.next = after(&entry)
            .filter(|_| end(&entry).is_some_and(|end| end <= self.slots))
            .ok_or(NoIds::Exhausted)?;
        self.pages = Some(entry.slots.pages());
        self.classes.push((key, entry));
        Ok(ids)
    }
}

/// Slots of a pair of pages.
const PAIR: u32 = 2 * Pages::SLOTS;

/// The first slot of a class that is on these pages, after the last one, which is on those.
fn begin(free: u32, last: Option<Pages>, pages: Pages) -> Option<u32> {
    let fits = match pages {
        Pages::Any => matches!(last, None | Some(Pages::Any)),
        Pages::Pair(width) => {
            matches!(last, None | Some(Pages::Pair(_))) && free % PAIR + width <= Pages::SLOTS
        }
        Pages::Own(_) => false,
    };
    if fits {
        Some(free)
    } else {
        free.checked_next_multiple_of(PAIR)
    }
}

/// What is free after a class for one with the same kind of pages; `None` if there are no such ids.
fn after(entry: &ClassEntry) -> Option<ClassIds> {
    let methods = u32::try_from(entry.map.methods.len()).ok()?;
    let method = entry.ids.first_method.0.checked_add(methods)?;
    let slots = match entry.slots.pages() {
        Pages::Pair(width) => width,
        Pages::Any | Pages::Own(_) => entry.slots.number(),
    };
    let counter = entry.ids.first_counter.0.checked_add(slots)?;
    (method <= Plan::METHODS && counter <= ThreadBlocks::MAX_SLOTS).then_some(ClassIds::new(counter, method))
}

/// One past the last slot of a class and of those before it.
fn end(entry: &ClassEntry) -> Option<u32> {
    let free = after(entry)?.first_counter.0;
    match entry.slots.pages() {
        Pages::Pair(_) => free.checked_next_multiple_of(PAIR),
        Pages::Any | Pages::Own(_) => Some(free),
    }
}

impl Inner {
    /// What is free after the last class. All but that have others after them, so there are such ids.
    fn next(&self) -> ClassIds {
        let last = self.classes().last();
        last.and_then(|(_, entry)| after(entry))
            .unwrap_or(ClassIds::new(ThreadBlock::HEADER, 0))
    }

    /// A plan to begin with.
    fn plan(&self) -> Result<Plan, NoIds> {
        match self.commits {
            Some(_) => Err(NoIds::Damaged),
            None => Ok(Plan {
                classes: Vec::new(),
                next: self.next(),
                pages: self.classes().last().map(|(_, entry)| entry.slots.pages()),
                slots: self.slots.unwrap_or(ThreadBlocks::MAX_SLOTS),
            }),
        }
    }

    /// Adds what was planned.
    fn commit(&mut self, plan: Plan) {
        // Here, too, all that can fail comes first.
        let configuration = self.current;
        let names: Vec<String> = plan
            .classes
            .iter()
            .map(|(_, entry)| entry.map.name.clone())
            .collect();
        self.classes.reserve(names.len());
        self.by_key.reserve(names.len());
        self.by_name.reserve(names.len());
        for name in &names {
            self.by_name.entry(name.clone()).or_default().reserve(1);
        }
        checkpoint();
        self.commits = Some(self.classes.len());
        for ((key, entry), name) in plan.classes.into_iter().zip(names) {
            let index = self.classes.len();
            self.classes.push((configuration, entry));
            checkpoint();
            self.by_key.entry(key).or_insert(index);
            checkpoint();
            self.by_name.entry(name).or_default().push(index);
        }
        checkpoint();
        self.commits = None;
    }

    /// The classes that are whole.
    fn classes(&self) -> &[(usize, ClassEntry)] {
        &self.classes[..self.commits.unwrap_or(self.classes.len())]
    }

    /// The class of a key.
    fn of_key(&self, key: &Key) -> Option<&ClassEntry> {
        let &class = self.by_key.get(key)?;
        self.classes().get(class).map(|(_, entry)| entry)
    }

    /// The classes of this name in the current configuration.
    fn current_named(&self, name: &str) -> impl Iterator<Item = &ClassEntry> {
        let named = self.by_name.get(name).into_iter().flatten();
        let named = named.filter_map(|&class| self.classes().get(class));
        let current = named.filter(|(configuration, _)| *configuration == self.current);
        current.map(|(_, entry)| entry)
    }
}

/// Where instructions went that were moved twice. What the second move found in a probe of the first
/// belongs to the instruction behind that, as there.
fn moved_again(first: &[(u32, u32)], second: &[(u32, u32)]) -> Vec<(u32, u32)> {
    if first.is_empty() {
        return second.to_vec();
    }
    let compiled = |&(new, between): &(u32, u32)| {
        let at = first.partition_point(|&(moved, _)| moved < between);
        first.get(at).map(|&(_, old)| (new, old))
    };
    second.iter().filter_map(compiled).collect()
}

impl Registry {
    /// Threads have slots up to here: fewer where address space is limited.
    pub fn limit_slots(&self, slots: u32) {
        write(&self.inner).slots = Some(slots);
    }

    /// Makes a configuration the current one. Returns whether it differs from the one before.
    pub fn configure(&self, configuration: &str) -> bool {
        let mut inner = write(&self.inner);
        let known = inner.configurations.iter().position(|c| c == configuration);
        let index = known.unwrap_or_else(|| {
            inner.configurations.push(configuration.to_owned());
            inner.configurations.len() - 1
        });
        let changed = index != inner.current;
        inner.current = index;
        if changed {
            self.left_alone.clear();
        }
        changed
    }

    /// True if no other configuration's probes can be in the code that runs.
    pub fn has_one_configuration(&self) -> bool {
        self.read().configurations.len() <= 1
    }

    /// As [`ids_with`](Self::ids_with), with slots one behind the other.
    #[cfg(test)]
    pub fn ids(&self, map: &Arc<ClassMap>, guide: u64) -> Result<ClassIds, NoIds> {
        Ok(self.ids_with(map, Slots::paths(map), guide)?.0)
    }

    /// True if a class's methods have the paths that they had before it was numbered by a profile of this
    /// run, or if it is new.
    pub fn has_same_paths(&self, map: &ClassMap) -> bool {
        let inner = self.read();
        let key = (inner.current, map.sha256, map.name.clone(), 0);
        let Some(entry) = inner.of_key(&key) else {
            return true;
        };
        let before = &entry.map.methods;
        before.len() == map.methods.len() && before.iter().zip(&map.methods).all(|(a, b)| same_paths(a, b))
    }

    /// The ids of a class, given out at its first appearance; true if this is it. `guide`: the fingerprint of
    /// the profile of this run that it is numbered by; 0 for none.
    ///
    /// # Errors
    /// If there are no more ids.
    pub fn ids_with(&self, map: &Arc<ClassMap>, slots: Slots, guide: u64) -> Result<(ClassIds, bool), NoIds> {
        let mut inner = write(&self.inner);
        let key = (inner.current, map.sha256, map.name.clone(), guide);
        if let Some(entry) = inner.of_key(&key) {
            return Ok((entry.ids, false));
        }
        let mut plan = inner.plan()?;
        let ids = plan.add(key, Arc::clone(map), slots)?;
        inner.commit(plan);
        Ok((ids, true))
    }

    /// The ids of a class with probes of coverage. `make_room`: for all probes below a number; asked by one
    /// thread at a time.
    ///
    /// # Errors
    /// If there are no more ids, or there is no room.
    pub fn ids_with_room(
        &self,
        map: &Arc<ClassMap>,
        coverage: ClassCoverage,
        make_room: impl Fn(u32) -> bool,
    ) -> Result<ClassIds, NoIds> {
        let _alone = lock(&self.making_room);
        let end = self.counters().0.checked_add(coverage.layout().1);
        if !end.is_some_and(make_room) {
            return Err(NoIds::NoRoom);
        }
        Ok(self.ids_with(map, Slots::Coverage(Arc::new(coverage)), 0)?.0)
    }

    /// Takes in the classes of an output of `trodden instrument`, which have their numbers already: counted
    /// from the output's own beginning, in the order of its path map.
    ///
    /// `make_room`: as of [`ids_with_room`](Self::ids_with_room), for an output with probes of coverage.
    ///
    /// # Errors
    /// If there are not that many numbers left, or there is no room. Nothing is taken in then.
    pub fn adopt(&self, unit: &str, map: Profile, make_room: impl Fn(u32) -> bool) -> Result<Bases, NoIds> {
        let _alone = lock(&self.making_room);
        let covers = map.run.probe == ProbeKind::Coverage.name();
        let slots = |class: &ClassProfile| {
            if covers {
                Slots::Coverage(Arc::new(ClassCoverage::of_map(&class.map)))
            } else {
                Slots::paths(&class.map)
            }
        };
        let slots: Vec<Slots> = map.classes.iter().map(slots).collect();
        if covers {
            let mut probes = slots.iter().map(Slots::number);
            let end = probes.try_fold(self.counters().0, u32::checked_add);
            if !end.is_some_and(make_room) {
                return Err(NoIds::NoRoom);
            }
        }
        let mut inner = write(&self.inner);
        let mut plan = inner.plan()?;
        let mut bases = None;
        let mut conditions: Vec<BTreeMap<usize, MethodConditions>> = Vec::new();
        conditions.resize_with(map.classes.len(), BTreeMap::new);
        for ((class, method), of) in map.conditions {
            conditions[class as usize].insert(method as usize, of);
        }
        let classes: Vec<Arc<ClassMap>> = map.classes.into_iter().map(|class| class.map).collect();
        for (class, slots) in classes.iter().zip(slots) {
            let key = (inner.current, class.sha256, class.name.clone(), 0);
            let ids = plan.add(key, Arc::clone(class), slots)?;
            bases.get_or_insert(ids);
        }
        let bases = bases.unwrap_or(plan.next);
        inner.commit(plan);
        drop(inner);
        let names: HashSet<&str> = classes.iter().map(|class| class.name.as_str()).collect();
        self.left_alone.forget_instrumented(&names);
        self.left_alone.add(map.skipped);
        let cut_paths = map.run.facts.get(facts::CUT_PATHS);
        let counts_cut_paths = cut_paths.is_some_and(|value| value == "count");
        let names = names.into_iter().map(str::to_owned);
        self.outputs.add(unit, bases, names, counts_cut_paths);
        for (class, methods) in classes.iter().zip(conditions) {
            self.originals.adopt(class, methods);
        }
        Ok(bases)
    }

    /// Keeps where a class's methods have their path register.
    pub fn set_code(&self, map: &ClassMap, code: Vec<MethodCode>) {
        let mut inner = write(&self.inner);
        let key = (inner.current, map.sha256, map.name.clone(), 0);
        if let Some(&class) = inner.by_key.get(&key) {
            inner.classes[class].1.code = Some(Arc::new(code));
        }
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    /// Methods of a class have been moved once more, by probes around them: name and descriptor, and (new,
    /// old) bytecode index of each instruction.
    pub fn move_code(&self, map: &ClassMap, moved: &[(String, Vec<(u32, u32)>)]) {
        let mut inner = write(&self.inner);
        let key = (inner.current, map.sha256, map.name.clone(), 0);
        if let Some(&class) = inner.by_key.get(&key)
            && let Some(code) = inner.classes[class].1.code.as_mut()
        {
            for (method, code) in map.methods.iter().zip(Arc::make_mut(code)) {
                let signature = format!("{}{}", method.name, method.descriptor);
                if let Some((_, places)) = moved.iter().find(|(moved, _)| *moved == signature) {
                    code.pc_map = moved_again(&code.pc_map, places);
                }
            }
        }
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    /// Another number than before: what was known of places in code may be wrong.
    pub fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed) + self.silenced.changes()
    }

    /// The classes of the current configuration.
    pub fn classes(&self) -> Vec<ClassEntry> {
        self.classes_from(&mut 0)
    }

    /// The classes of the current configuration among those that came after the first `seen` ones, which is
    /// moved on.
    pub fn classes_from(&self, seen: &mut usize) -> Vec<ClassEntry> {
        let inner = self.read();
        let new = inner.classes().get(*seen..).unwrap_or_default().iter();
        *seen = inner.classes().len();
        let current = |(configuration, _): &&(usize, ClassEntry)| *configuration == inner.current;
        new.filter(current).map(|(_, entry)| entry.clone()).collect()
    }

    /// The methods of the current configuration.
    pub fn method_table(&self) -> MethodTable {
        let mut table = MethodTable::default();
        for entry in self.classes() {
            // Ids were given out once each, so they cannot be taken.
            let _ = table.insert_class(entry.ids.first_method.0, entry.map);
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

    /// True if the current configuration has a class of this name.
    pub fn has_class_named(&self, name: &str) -> bool {
        self.read().current_named(name).next().is_some()
    }

    /// The class, method and path that a slot counts.
    pub fn path_of_slot(&self, slot: CounterSlot) -> Option<(ClassEntry, usize, u64)> {
        let inner = self.read();
        let classes = inner.classes();
        let found = path_of(slot, |at| {
            let after = classes.partition_point(|(_, entry)| entry.ids.first_counter <= at);
            // Classes without slots begin where the next one does.
            let mut before = classes[..after].iter();
            Some(&before.rfind(|(_, entry)| entry.slots.number() > 0)?.1)
        });
        found.map(|(entry, method, path)| (entry.clone(), method, path))
    }

    /// One past the last counter slot that is given out, in any configuration.
    pub fn counters(&self) -> CounterSlot {
        let inner = self.read();
        let last = inner.classes().last().and_then(|(_, entry)| end(entry));
        CounterSlot(last.unwrap_or(ThreadBlock::HEADER))
    }

    /// Numbers of classes and of methods, of all configurations.
    pub fn sizes(&self) -> (usize, u32) {
        let inner = self.read();
        (inner.classes().len(), inner.next().first_method.0)
    }

    /// Names of all classes that were ever instrumented.
    pub fn names(&self) -> HashSet<String> {
        self.read()
            .classes()
            .iter()
            .map(|(_, entry)| entry.map.name.clone())
            .collect()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Inner> {
        read(&self.inner)
    }
}

/// Where a test may make the registry panic.
#[cfg(not(test))]
fn checkpoint() {}
#[cfg(test)]
use tests::checkpoint;

impl MethodLookup for Registry {
    fn method(&self, index: u32) -> Option<MethodRef> {
        let inner = self.read();
        let classes = inner.classes();
        let after = classes.partition_point(|(_, entry)| entry.ids.first_method.0 <= index);
        let (_, entry) = classes[..after]
            .iter()
            .rfind(|(_, entry)| !entry.map.methods.is_empty())?;
        let position = (index - entry.ids.first_method.0) as usize;
        MethodRef::new(Arc::clone(&entry.map), position)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use trodden_instrumenter::{InstrumentOptions, Instrumenter, Preparation, ProbeKind, SkipReason};
    use trodden_profile::Skipped;

    use super::*;
    use crate::jvm::{Panicked, catch};

    thread_local! {
        /// Checkpoints that this thread passes before one panics.
        static PANIC_AFTER: Cell<Option<u32>> = const { Cell::new(None) };
    }

    pub(super) fn checkpoint() {
        let left = PANIC_AFTER.get();
        PANIC_AFTER.set(left.and_then(|left| left.checked_sub(1)));
        assert!(left != Some(0), "on purpose");
    }

    /// Runs an action that panics after so many checkpoints; false if it passed fewer.
    fn panics_after(checkpoints: u32, action: impl FnOnce()) -> bool {
        PANIC_AFTER.set(Some(checkpoints));
        let result = catch("a test", action);
        PANIC_AFTER.set(None);
        assert!(
            result.is_ok() || result == Err(Panicked("on purpose".to_owned())),
            "{result:?}"
        );
        result.is_err()
    }

    /// Everything that can be seen of a registry agrees, and no id belongs to two classes.
    fn check(registry: &Registry) {
        let classes = registry.classes();
        let mut next = ClassIds::new(ThreadBlock::HEADER, 0);
        for entry in &classes {
            assert_eq!(entry.ids, next, "{}", entry.map.name);
            next = after(entry).unwrap();
            assert!(registry.has_class_named(&entry.map.name));
            for position in 0..entry.map.methods.len() {
                let found = registry.method(entry.ids.first_method.at(position).0).unwrap();
                assert!(Arc::ptr_eq(found.class(), &entry.map));
            }
        }
        assert_eq!(registry.counters(), next.first_counter);
        assert_eq!(registry.sizes(), (classes.len(), next.first_method.0));
        assert!(registry.method(next.first_method.0).is_none());
        assert_eq!(registry.names().len(), classes.len());
        assert_eq!(registry.method_table().len(), next.first_method.0);
    }

    /// Wherever adding classes panics, the registry is as it was before, or as it is after; and ids that it
    /// gives out later are no other class's.
    #[test]
    fn a_panic_in_the_middle_leaves_the_registry_whole() {
        let (mut unharmed, mut damaged) = (0, 0);
        for adopts in [false, true] {
            let mut checkpoints = 0;
            loop {
                let registry = Registry::default();
                let shapes = shapes();
                registry.ids(&shapes, 0).unwrap();
                let before = registry.classes().len();
                let panicked = panics_after(checkpoints, || {
                    if adopts {
                        let _ = registry.adopt("one", output(&["x/Y", "x/X"]), |_| true);
                    } else {
                        let _ = registry.ids(&map("a/B", 1), 0);
                    }
                });
                check(&registry);
                if !panicked {
                    assert!(checkpoints >= 4 && registry.classes().len() > before);
                    break;
                }
                assert_eq!(registry.classes().len(), before);
                assert_eq!(registry.outputs.bases("one"), None);
                assert!(!registry.has_class_named("a/B") && !registry.has_class_named("x/Y"));
                // What was known stays known.
                assert_eq!(registry.ids(&shapes, 0).unwrap(), registry.classes()[0].ids);
                match registry.ids(&map("a/B", 1), 0) {
                    Ok(_) => unharmed += 1,
                    Err(e) => {
                        assert_eq!(e, NoIds::Damaged);
                        assert_eq!(
                            registry.adopt("two", output(&["y/Z"]), |_| true),
                            Err(NoIds::Damaged)
                        );
                        damaged += 1;
                    }
                }
                check(&registry);
                checkpoints += 1;
            }
        }
        assert!(unharmed > 0 && damaged > 0, "{unharmed} {damaged}");
    }

    /// A class with methods and counters.
    fn shapes() -> Arc<ClassMap> {
        let bytes = include_bytes!("../../../instrumenter/tests/fixtures/Shapes.class");
        let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Counters));
        match instrumenter.prepare(bytes) {
            Ok(Preparation::Ready(prepared)) => Arc::clone(prepared.map()),
            _ => panic!("a class with probes"),
        }
    }

    /// The path map of an output of `trodden instrument`.
    fn output(names: &[&str]) -> Profile {
        Profile {
            classes: names
                .iter()
                .map(|name| trodden_profile::ClassProfile {
                    map: map(name, 2),
                    counts: Vec::new(),
                })
                .collect(),
            ..Profile::default()
        }
    }

    #[test]
    fn ids_run_out_before_they_overflow() {
        let plan = |counters, methods| Plan {
            classes: Vec::new(),
            next: ClassIds::new(counters, methods),
            pages: None,
            slots: ThreadBlocks::MAX_SLOTS,
        };
        let key = (0, [1; 32], "a/B".to_owned(), 0);
        for mut last in [
            plan(ThreadBlocks::MAX_SLOTS, 0),
            plan(0, Plan::METHODS),
            plan(u32::MAX, u32::MAX),
        ] {
            assert_eq!(
                last.add(key.clone(), shapes(), Slots::paths(&shapes())),
                Err(NoIds::Exhausted)
            );
        }
        assert_eq!(
            plan(0, 0).add(key.clone(), shapes(), Slots::paths(&shapes())),
            Ok(ClassIds::new(0, 0))
        );
        let small = Plan {
            slots: 1,
            ..plan(0, 0)
        };
        assert_eq!(
            { small }.add(key, shapes(), Slots::paths(&shapes())),
            Err(NoIds::Exhausted)
        );
    }

    fn map(name: &str, hash: u8) -> Arc<ClassMap> {
        Arc::new(ClassMap {
            name: name.to_owned(),
            sha256: [hash; 32],
            source_file: None,
            methods: Vec::new(),
        })
    }

    /// Whatever pages classes have, a slot belongs to one path, and that of a caller shares no page with
    /// that of another method.
    #[test]
    fn each_slot_counts_one_path_and_callers_are_apart() {
        let registry = Registry::default();
        let one = &shapes().methods[0];
        let mut state = 7u64;
        let mut below = |number: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % number
        };
        for class in 0..300 {
            let number = if class % 30 == 0 { 700 } else { below(30) as usize };
            let map = ClassMap {
                name: format!("C{class}"),
                sha256: [0; 32],
                source_file: None,
                methods: vec![one.clone(); number],
            };
            let callers: Vec<bool> = (0..number).map(|_| below(3) == 0).collect();
            let layout = match class % 7 {
                0 => CounterLayout::of(&map),
                _ => CounterLayout::apart(&map.methods, |method| callers[method]),
            };
            let map = Arc::new(map);
            let slots = Slots::Paths(Arc::new(layout.clone()));
            let ids = registry.ids_with(&map, slots, 0).unwrap().0;
            let page = |base: u32| (ids.first_counter.0 + base) / Pages::SLOTS;
            let pages = |wanted: bool| -> HashSet<u32> {
                let of = layout.base.iter().zip(&callers).filter(|(_, is)| **is == wanted);
                let ends = |base: u32| [page(base), page(base + one.num_paths() as u32 - 1)];
                of.flat_map(|(base, _)| ends(base.unwrap())).collect()
            };
            assert!(
                layout.pages == Pages::Any || pages(true).is_disjoint(&pages(false)),
                "{class}"
            );
        }
        let mut seen = HashSet::new();
        for entry in registry.classes() {
            let Slots::Paths(layout) = &entry.slots else {
                unreachable!()
            };
            for (method, base) in layout.base.iter().enumerate() {
                for path in 0..one.num_paths() {
                    let slot = entry.ids.first_counter.plus(base.unwrap() + path as u32);
                    assert!(seen.insert(slot) && slot < registry.counters());
                    let found = registry
                        .path_of_slot(slot)
                        .map(|(at, method, path)| (at.ids, method, path));
                    assert_eq!(found, Some((entry.ids, method, path)));
                }
            }
        }
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
        // The name does not say which of two it is.
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
        let skipped = |class: &str, reason: SkipReason| Skipped {
            class: class.to_owned(),
            method: None,
            reason: reason.text().to_owned(),
        };
        registry.left_alone.add([
            skipped("x/Y", SkipReason::AlreadyInstrumented),
            skipped("x/Z", SkipReason::AlreadyInstrumented),
            skipped("x/Y", SkipReason::TooManyPaths),
        ]);
        assert_eq!(registry.outputs.bases("one"), None);
        let bases = registry.adopt("one", output(&["x/Y", "x/X"]), |_| true).unwrap();
        assert_eq!(registry.outputs.bases("one"), Some(bases));
        assert_eq!(registry.classes().len(), 3);
        assert!(registry.outputs.have("x/Y") && !registry.outputs.have("x/Z"));
        // What counts by itself is not left alone any more.
        let left: Vec<_> = registry
            .left_alone
            .list()
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
