//! Counts of a request as slots and keys, and as methods and paths of a profile.

use std::collections::{BTreeMap, HashMap};

use trodden_instrumenter::{CounterSlot, MethodId};
use trodden_profile::{MethodCounts, MethodPart};

use crate::classes::{ClassEntry, Registry, Slots, path_of};
use crate::sampling::{ExactCounts, Placement, add_counts};
use crate::threads::{Cut, Hashed, ThreadBlock};

/// Counts of a thread between two moments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Delta {
    /// Slots of paths, from 0, and counts.
    pub dense: Box<[(u32, u32)]>,
    /// Paths without slots.
    pub hashed: Box<[(Hashed, u32)]>,
    /// Paths that exceptions cut off.
    pub cut: Box<[(Cut, u32)]>,
}

impl Delta {
    /// Memory that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.dense) + size_of_val(&*self.hashed) + size_of_val(&*self.cut) + size_of::<Self>()
    }
}

/// Makes vectors of a profile, each once.
pub struct Parts<'a> {
    placement: &'a Placement,
    /// By first slot.
    classes: BTreeMap<u32, ClassEntry>,
    by_method: BTreeMap<MethodId, ClassEntry>,
    known: HashMap<&'a Delta, u32>,
    vectors: Vec<Vec<MethodPart>>,
}

impl<'a> Parts<'a> {
    /// No vectors yet.
    pub fn new(registry: &Registry, placement: &'a Placement) -> Self {
        let entries = registry.classes();
        Parts {
            placement,
            by_method: (entries.iter())
                .map(|entry| (entry.ids.first_method, entry.clone()))
                .collect(),
            // Classes without slots begin where the next one does.
            classes: (entries.into_iter())
                .filter(|entry| matches!(&entry.slots, Slots::Paths(layout) if layout.slots > 0))
                .map(|entry| (entry.ids.first_counter.0, entry))
                .collect(),
            known: HashMap::new(),
            vectors: Vec::new(),
        }
    }

    /// The number of the vector with these counts.
    pub fn vector(&mut self, counts: &'a Delta) -> u32 {
        if let Some(&known) = self.known.get(counts) {
            return known;
        }
        let number = self.vectors.len() as u32;
        let parts = self.parts(counts);
        self.vectors.push(parts);
        self.known.insert(counts, number);
        number
    }

    /// All vectors so far.
    pub fn vectors(self) -> Vec<Vec<MethodPart>> {
        self.vectors
    }

    /// The methods of counts, in order.
    fn parts(&self, delta: &Delta) -> Vec<MethodPart> {
        let mut methods: BTreeMap<(u32, u32), MethodCounts> = BTreeMap::new();
        for &(slot, count) in &delta.dense {
            let slot = slot + ThreadBlock::HEADER;
            if let Some((entry, method, path)) = self.path_of(slot)
                && let Some(place) = self.placement.of(entry.ids.first_method.at(method))
            {
                let counts = methods.entry(place).or_default();
                *counts.paths.entry(path).or_default() += u64::from(count);
            }
        }
        // Few: the way of whole profiles.
        let mut rest = ExactCounts::none(CounterSlot(0));
        rest.without_died = true;
        rest.hashed = (delta.hashed.iter())
            .map(|&(key, count)| (key, i64::from(count)))
            .collect();
        rest.cut = (delta.cut.iter())
            .map(|&(key, count)| (key, i64::from(count)))
            .collect();
        let hashed = rest.hashed.keys().map(|&(method, _)| method);
        let cut = rest.cut.keys().map(|&(method, ..)| method);
        let mut more: Vec<MethodId> = hashed.chain(cut).collect();
        more.sort_unstable();
        more.dedup();
        for id in more {
            let entry = self.by_method.range(..=id).next_back();
            if let Some((first, entry)) = entry
                && let Some(place) = self.placement.of(id)
            {
                let method = (id.0 - first.0) as usize;
                let counts = rest.of_method(&ExactCounts::default(), entry, method);
                add_counts(methods.entry(place).or_default(), &counts);
            }
        }
        let part = |((class, method), counts)| MethodPart {
            class,
            method,
            counts,
        };
        methods.into_iter().map(part).collect()
    }

    /// The class, method and path of a slot; `None` for one that counts something else.
    fn path_of(&self, slot: u32) -> Option<(&ClassEntry, usize, u64)> {
        let last = |at: CounterSlot| Some(self.classes.range(..=at.0).next_back()?.1);
        path_of(CounterSlot(slot), last)
    }
}
