//! What a run adds to the memory, and what the next one takes from it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::{Alike, Known, LeftAlone, Memory, MemoryRun, Remembered, alike};
use crate::model::accuracy::flow;
use crate::model::conditions::MethodConditions;
use crate::model::counts::MethodCounts;
use crate::model::map::{ClassMap, MethodMap};
use crate::model::profile::{ClassProfile, Profile};
use crate::model::translate::Renumbering;

/// Runs after which a method that was not measured is forgotten, and so measured again.
const MAX_AGE: u64 = 50;
/// Share of the time, or of the decisions, of the methods that are measured.
const MEASURED_SHARE: f64 = 0.95;

/// Class, name, descriptor.
type Key = (String, String, String);

/// A method of the memory.
struct Entry {
    sha256: [u8; 32],
    source_file: Option<String>,
    map: MethodMap,
    counts: MethodCounts,
    conditions: Option<MethodConditions>,
    about: Remembered,
}

impl Memory {
    /// Takes in a run: methods that it measured replace what was known of them, all others stay unchanged. Methods that
    /// have no [shape](MethodMap::shape) are not remembered.
    pub fn learn(&mut self, run: &Profile) {
        let number = self.runs.last().map_or(1, |last| last.number.saturating_add(1));
        let mut entries = self.entries();
        let all = run
            .classes
            .iter()
            .flat_map(|c| c.map.methods.iter().zip(&c.counts));
        let decisions: u128 = all.map(|(map, counts)| u128::from(decisions(map, counts))).sum();
        for (c, class) in run.classes.iter().enumerate() {
            for (m, (map, counts)) in class.map.methods.iter().zip(&class.counts).enumerate() {
                let key = key(&class.map.name, map);
                let place = (c as u32, m as u32);
                let before = entries.remove(&key);
                let Some(shape) = &map.shape else { continue };
                let same = |e: &&Entry| e.map.shape.as_ref().is_some_and(|old| old.code == shape.code);
                let before = before.as_ref().filter(same);
                let own = self::decisions(map, counts) as f64;
                let about = Remembered {
                    run: number,
                    decisions: (own / (decisions as f64).max(1.0)).min(1.0),
                    time: before.and_then(|e| e.about.time),
                    steady: run.steady.contains(&place),
                    as_before: before.and_then(|e| as_before(e, map, counts)),
                };
                let entry = Entry {
                    sha256: class.map.sha256,
                    source_file: class.map.source_file.clone(),
                    map: map.clone(),
                    counts: counts.clone(),
                    conditions: run.conditions.get(&place).cloned(),
                    about,
                };
                entries.insert(key, entry);
            }
        }
        if let Some(times) = own_times(run) {
            for ((class, name, descriptor), entry) in &mut entries {
                let time = times.get(&(class.as_str(), name.as_str(), descriptor.as_str()));
                entry.about.time = Some(time.copied().unwrap_or(0.0));
            }
        }
        entries.retain(|_, entry| entry.about.run + MAX_AGE > number);
        self.runs.push(MemoryRun {
            number,
            started_ms: run.run.started_ms,
            seconds: run.run.seconds,
            jvm: run.run.jvm.clone(),
            version: run.run.version.clone(),
        });
        self.set(entries, Some(number));
    }

    /// The methods that a run need not measure.
    pub fn left_alone(&self) -> impl Iterator<Item = LeftAlone<'_>> {
        let worth = self.worth();
        let classes = self.found.classes.iter().zip(&self.about).enumerate();
        classes.flat_map(move |(c, (class, about))| {
            let worth = worth.clone();
            let methods = class.map.methods.iter().zip(&class.counts).zip(about).enumerate();
            methods.filter_map(move |(m, ((map, counts), about))| {
                let known = match () {
                    () if about.is_settled() => Known::Settled,
                    // What has never run costs nothing, and shall be seen when it does.
                    () if counts.total() == 0 || worth.contains(&(c, m)) => return None,
                    () => Known::Cold,
                };
                Some(LeftAlone {
                    class: &class.map.name,
                    sha256: class.map.sha256,
                    name: &map.name,
                    descriptor: &map.descriptor,
                    code: map.shape.as_ref()?.code,
                    known,
                })
            })
        })
    }

    /// What is known of the methods that a run left alone, for its profile; `None` if there are none.
    pub fn of_left_alone(&self, run: &Profile) -> Option<Memory> {
        let known = run.skipped.iter().filter_map(|skipped| {
            Known::of_reason(&skipped.reason)?;
            Some((skipped.class.as_str(), skipped.method.as_deref()?))
        });
        let known: BTreeSet<(&str, &str)> = known.collect();
        let mut entries = self.entries();
        entries.retain(|(class, name, descriptor), _| {
            known.contains(&(class.as_str(), format!("{name}{descriptor}").as_str()))
        });
        if entries.is_empty() {
            return None;
        }
        let mut memory = Memory {
            runs: self.runs.clone(),
            ..Memory::default()
        };
        memory.set(entries, None);
        Some(memory)
    }

    /// What guides the numbering of methods that are measured again: their maps and counts.
    pub fn guide(&self) -> Profile {
        let left: BTreeSet<(&str, &str, &str)> = self
            .left_alone()
            .map(|left| (left.class, left.name, left.descriptor))
            .collect();
        let mut entries = self.entries();
        entries.retain(|(class, name, descriptor), entry| {
            !left.contains(&(class, name, descriptor)) && entry.counts.total() > 0
        });
        let mut memory = Memory::default();
        memory.set(entries, None);
        Profile {
            conditions: BTreeMap::new(),
            ..memory.found
        }
    }

    /// Keeps that number of methods: those that have most of the decisions.
    pub fn shrink(&mut self, methods: usize) {
        let mut entries: Vec<_> = self.entries().into_iter().collect();
        entries.sort_by(|(a, one), (b, other)| {
            let weight = |e: &Entry| e.about.decisions.max(e.about.time.unwrap_or(0.0));
            weight(other).total_cmp(&weight(one)).then(a.cmp(b))
        });
        entries.truncate(methods);
        self.set(entries.into_iter().collect(), None);
    }

    /// Methods that together have nearly all of the time, and those that have nearly all of the decisions.
    fn worth(&self) -> BTreeSet<(usize, usize)> {
        let places = || {
            let classes = self.about.iter().enumerate();
            classes.flat_map(|(c, about)| about.iter().enumerate().map(move |(m, about)| ((c, m), about)))
        };
        let mut worth = BTreeSet::new();
        let shares: [fn(&Remembered) -> f64; 2] =
            [|about| about.decisions, |about| about.time.unwrap_or(0.0)];
        for share in shares {
            let mut all: Vec<_> = places().map(|(place, about)| (share(about), place)).collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let wanted = MEASURED_SHARE * all.iter().map(|(share, _)| share).sum::<f64>();
            let mut sum = 0.0;
            for (share, place) in all.into_iter().filter(|(share, _)| *share > 0.0) {
                if sum >= wanted {
                    break;
                }
                sum += share;
                worth.insert(place);
            }
        }
        worth
    }

    fn entries(&self) -> BTreeMap<Key, Entry> {
        let mut entries = BTreeMap::new();
        for (c, (class, about)) in self.found.classes.iter().zip(&self.about).enumerate() {
            let methods = class.map.methods.iter().zip(&class.counts).zip(about);
            for (m, ((map, counts), &about)) in methods.enumerate() {
                let entry = Entry {
                    sha256: class.map.sha256,
                    source_file: class.map.source_file.clone(),
                    map: map.clone(),
                    counts: counts.clone(),
                    conditions: self.found.conditions.get(&(c as u32, m as u32)).cloned(),
                    about,
                };
                entries.insert(key(&class.map.name, map), entry);
            }
        }
        entries
    }

    /// Sets the methods; runs of which nothing is left are forgotten, but for the one of that number.
    fn set(&mut self, entries: BTreeMap<Key, Entry>, keep: Option<u64>) {
        let named: BTreeSet<u64> = entries
            .values()
            .map(|entry| entry.about.run)
            .chain(keep)
            .collect();
        self.runs.retain(|run| named.contains(&run.number));
        let mut by_class: BTreeMap<(String, [u8; 32]), Vec<Entry>> = BTreeMap::new();
        for ((class, ..), entry) in entries {
            by_class.entry((class, entry.sha256)).or_default().push(entry);
        }
        self.found = Profile::default();
        self.about.clear();
        for (c, ((name, sha256), entries)) in by_class.into_iter().enumerate() {
            let mut map = ClassMap {
                name,
                sha256,
                source_file: entries.first().and_then(|entry| entry.source_file.clone()),
                methods: Vec::new(),
            };
            let (mut counts, mut about) = (Vec::new(), Vec::new());
            for (m, entry) in entries.into_iter().enumerate() {
                if let Some(conditions) = entry.conditions {
                    self.found.conditions.insert((c as u32, m as u32), conditions);
                }
                map.methods.push(entry.map);
                counts.push(entry.counts);
                about.push(entry.about);
            }
            let map = Arc::new(map);
            self.found.classes.push(ClassProfile { map, counts });
            self.about.push(about);
        }
    }
}

fn key(class: &str, map: &MethodMap) -> Key {
    (class.to_owned(), map.name.clone(), map.descriptor.clone())
}

fn decisions(map: &MethodMap, counts: &MethodCounts) -> u64 {
    let flows = counts
        .paths
        .iter()
        .map(|(&number, &times)| flow(map, number, times));
    flows.fold(0, u64::saturating_add)
}

/// Did the method take the same paths as it did before? `None`: too little of it ran to tell.
fn as_before(before: &Entry, map: &MethodMap, counts: &MethodCounts) -> Option<bool> {
    // Another build's method may lie elsewhere, and is compared by its numbers if these are made alike.
    let numbers = Renumbering::new(&before.map, map);
    let old = if before.map.dag == map.dag && before.map.graph == map.graph {
        Cow::Borrowed(&before.counts)
    } else if numbers.is_possible() {
        numbers.counts(&before.counts).ok()?
    } else {
        return None;
    };
    match alike(&old.paths, &counts.paths) {
        Alike::Yes => Some(true),
        Alike::No => Some(false),
        // Once compared, a short run does not change it.
        Alike::Unknown => before.about.as_before,
    }
}

/// Each method's own share of the CPU time that was sampled.
fn own_times(run: &Profile) -> Option<HashMap<(&str, &str, &str), f64>> {
    let cpu = run.cpu.as_ref()?;
    let all = cpu.total().ns;
    if all == 0 {
        return None;
    }
    let mut times = HashMap::new();
    for node in cpu.tree.nodes() {
        let Some(frame) = cpu.frames.get(node.frame as usize) else {
            continue;
        };
        let key = (
            frame.class.as_str(),
            frame.name.as_str(),
            frame.descriptor.as_str(),
        );
        *times.entry(key).or_insert(0.0) += node.own.ns as f64 / all as f64;
    }
    times
        .values_mut()
        .for_each(|share: &mut f64| *share = share.min(1.0));
    Some(times)
}
