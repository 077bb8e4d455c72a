//! Where an instruction that runs stands in the method as it was compiled: probes move what comes behind
//! them.

use std::sync::Arc;

use trodden_instrumenter::{CounterSlot, MethodCode};

use crate::classes::registry::{ClassEntry, Registry, Slots};

/// Where the instructions of a method went.
#[derive(Clone, Debug, PartialEq)]
pub enum Places {
    /// Nowhere: it has no probes.
    Same,
    /// As the code of its class says, at this position.
    Moved(Arc<Vec<MethodCode>>, usize),
    /// It has probes, and it is not known where these are.
    Unknown,
}

impl Places {
    /// The place in the method as it was compiled. One inside a probe is that of the instruction behind it,
    /// as the probe stands in front of that.
    pub fn compiled(&self, bci: u16) -> Option<u16> {
        match self {
            Places::Same => Some(bci),
            Places::Unknown => None,
            Places::Moved(code, position) => {
                let places = &code.get(*position)?.pc_map;
                let at = places.partition_point(|&(new, _)| new < u32::from(bci));
                places.get(at).and_then(|&(_, old)| u16::try_from(old).ok())
            }
        }
    }
}

/// The slots of a method's paths in each thread's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSlots {
    /// The first one.
    pub first: u32,
    /// How many: at least 1.
    pub number: u32,
}

impl PathSlots {
    /// True if a slot is one of these.
    pub fn contains(self, slot: u32) -> bool {
        (self.first..self.first + self.number).contains(&slot)
    }
}

impl Registry {
    /// True if a method of a class is without its probes for the time being.
    fn is_silent(&self, entry: &ClassEntry, position: usize) -> bool {
        let silent = self.silenced.of(entry.ids);
        silent.is_some_and(|silent| silent.get(position).copied().unwrap_or(false))
    }
}

/// Who knows where instructions went.
pub trait CodePlaces: Sync {
    /// Another number than before: what was known may be wrong.
    fn moves(&self) -> u64;

    /// Where the instructions of a method are that runs now, or of an old version of it with so many bytes of
    /// code. The class's name must say which it is.
    fn places(&self, class: &str, name: &str, descriptor: &str, old_code: Option<u32>) -> Places;

    /// The slots in which the paths of a method are counted, if its probes do that now. The class's name must
    /// say which it is.
    fn slots(&self, class: &str, name: &str, descriptor: &str) -> Option<PathSlots>;

    /// The path that a slot counts: class, method, descriptor and number.
    fn path_of(&self, slot: CounterSlot) -> Option<(String, String, String, u64)>;

    /// True if the path that a slot counts goes through the block of a place, in the method as it was
    /// compiled.
    fn is_on_path(&self, slot: CounterSlot, bci: u16) -> bool;
}

impl CodePlaces for Registry {
    fn moves(&self) -> u64 {
        Registry::moves(self)
    }

    fn places(&self, class: &str, name: &str, descriptor: &str, old_code: Option<u32>) -> Places {
        if !self.has_class_named(class) {
            return Places::Same;
        }
        let Some(entry) = self.only_class_named(class) else {
            return Places::Unknown;
        };
        let methods = &entry.map.methods;
        // A method without a path map takes no probes.
        let Some(position) = entry.position(name, descriptor) else {
            return Places::Same;
        };
        if let Some(length) = old_code {
            // Probes only ever add to it.
            return if length == methods[position].code_length {
                Places::Same
            } else {
                Places::Unknown
            };
        }
        if self.is_silent(&entry, position) {
            return Places::Same;
        }
        match entry.code {
            // The class was left unchanged.
            Some(code) if code.is_empty() => Places::Same,
            Some(code) => Places::Moved(code, position),
            None => Places::Unknown,
        }
    }

    fn slots(&self, class: &str, name: &str, descriptor: &str) -> Option<PathSlots> {
        let entry = self.only_class_named(class)?;
        let position = entry.position(name, descriptor)?;
        if self.is_silent(&entry, position) {
            return None;
        }
        let Slots::Paths(layout) = &entry.slots else {
            return None;
        };
        let first = entry.ids.first_counter.plus((*layout.base.get(position)?)?).0;
        let number = u32::try_from(entry.map.methods[position].num_paths()).ok()?;
        (number > 0).then_some(PathSlots { first, number })
    }

    fn path_of(&self, slot: CounterSlot) -> Option<(String, String, String, u64)> {
        let (entry, method, path) = self.path_of_slot(slot)?;
        let map = &entry.map.methods[method];
        let [class, name, descriptor] = [&entry.map.name, &map.name, &map.descriptor].map(String::clone);
        Some((class, name, descriptor, path))
    }

    fn is_on_path(&self, slot: CounterSlot, bci: u16) -> bool {
        let found = self.path_of_slot(slot).and_then(|(entry, method, path)| {
            let map = &entry.map.methods[method];
            let block = map.block_at(bci.into())?;
            let path = map.dag.regenerate(&map.graph, path).ok()?;
            Some(path.blocks(&map.graph).contains(&block))
        });
        found.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_behind_probes() {
        // Three bytes of a probe in front of the second instruction.
        let code = MethodCode {
            register_slot: 1,
            pc_map: vec![(0, 0), (4, 1), (6, 3)],
        };
        let moved = Places::Moved(Arc::new(vec![code]), 0);
        let found = [0, 1, 3, 4, 6, 7].map(|bci| moved.compiled(bci));
        assert_eq!(found, [Some(0), Some(1), Some(1), Some(1), Some(3), None]);
        assert_eq!(
            (Places::Same.compiled(7), Places::Unknown.compiled(7)),
            (Some(7), None)
        );
    }
}
