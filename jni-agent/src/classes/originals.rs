//! The original bytes of instrumented classes, what their branches decide, and their shapes.
//!
//! Conditions are recovered when a profile is written, and only for methods that ran, and shapes are made
//! then: at class load that work would be the program's.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, RwLock};

use rustc_hash::FxHashMap;
use trodden_instrumenter::shapes;
use trodden_profile::{ClassMap, ClassProfile, Conditions, MethodConditions, MethodShape};
use trodden_source::{Classes, LabelTables, recover};

use crate::jvm::catch;
use crate::locks::{lock, read, write};

/// Name and SHA-256.
type Key = (String, [u8; 32]);

/// Class files, and the conditions that were recovered from them so far.
#[derive(Default)]
pub struct Originals {
    classes: RwLock<FxHashMap<Key, Arc<Original>>>,
    /// By name: the classes in which compilers keep the labels of `switch` over enums.
    tables: RwLock<LabelTables>,
}

/// Conditions of code that was instrumented ahead are all in `found` from the beginning.
struct Original {
    bytes: Option<Arc<[u8]>>,
    found: Mutex<Found>,
    /// Parallel to the methods of the one path map that they are made for.
    shapes: Mutex<Option<(Arc<ClassMap>, Vec<MethodShape>)>>,
}

/// By position of the method; valid for one path map.
#[derive(Default)]
struct Found {
    map: Option<Arc<ClassMap>>,
    /// With true in full, of methods that ran; otherwise only [marks](MethodConditions::marks).
    methods: BTreeMap<usize, (MethodConditions, bool)>,
}

impl Originals {
    /// Keeps the bytes of a class that gets probes.
    pub fn keep(&self, map: &ClassMap, bytes: &[u8]) {
        let key = (map.name.clone(), map.sha256);
        if !read(&self.classes).contains_key(&key) {
            let original = Arc::new(Original {
                bytes: Some(bytes.into()),
                found: Mutex::default(),
                shapes: Mutex::default(),
            });
            write(&self.classes).entry(key).or_insert(original);
        }
    }

    /// Keeps the bytes of any class, if labels of an enum's `switch` stand there.
    pub fn keep_table(&self, name: &str, bytes: &[u8]) {
        if LabelTables::are_in(name, bytes) {
            write(&self.tables).keep(name, bytes);
        }
    }

    /// Takes the conditions of a class that was instrumented ahead, by position of the method.
    pub fn adopt(&self, map: &Arc<ClassMap>, methods: BTreeMap<usize, MethodConditions>) {
        let key = (map.name.clone(), map.sha256);
        let original = Arc::new(Original {
            bytes: None,
            found: Mutex::new(Found {
                map: Some(Arc::clone(map)),
                methods: methods
                    .into_iter()
                    .map(|(method, of)| (method, (of, true)))
                    .collect(),
            }),
            shapes: Mutex::default(),
        });
        write(&self.classes).entry(key).or_insert(original);
    }

    /// What the branches of methods that ran decide, as far as that is known; of other methods which ones the
    /// compiler made.
    pub fn conditions(&self, classes: &[ClassProfile], ran: impl Fn(usize, usize) -> bool) -> Conditions {
        let mut all = Conditions::new();
        for (position, class) in classes.iter().enumerate() {
            let key = (class.map.name.clone(), class.map.sha256);
            let Some(original) = read(&self.classes).get(&key).cloned() else {
                continue;
            };
            let mut found = lock(&original.found);
            let bytes = original.bytes.as_deref();
            if bytes.is_some() && !found.map.as_ref().is_some_and(|map| Arc::ptr_eq(map, &class.map)) {
                *found = Found {
                    map: Some(Arc::clone(&class.map)),
                    methods: BTreeMap::new(),
                };
            }
            let ran = |method: usize| ran(position, method);
            if let Some(bytes) = bytes {
                self.recover_into(&mut found, bytes, &class.map, ran);
            }
            for (&method, (of, _)) in &found.methods {
                let of = if ran(method) { of.clone() } else { of.marks() };
                if of != MethodConditions::default() {
                    all.insert((position as u32, method as u32), of);
                }
            }
        }
        all
    }

    /// The path map with the shapes of its methods; as it is, if it has them or the bytes are not here.
    pub fn shaped(&self, map: &Arc<ClassMap>) -> Arc<ClassMap> {
        let original = read(&self.classes).get(&(map.name.clone(), map.sha256)).cloned();
        let bytes = original.as_ref().and_then(|original| original.bytes.as_deref());
        let (Some(original), Some(bytes)) = (&original, bytes) else {
            return Arc::clone(map);
        };
        let mut known = lock(&original.shapes);
        if !known.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, map)) {
            // A class whose shapes cannot be made has none; its counts are as good as ever.
            let made = catch("making shapes", || shapes(bytes, map));
            *known = made.ok().and_then(Result::ok).map(|made| (Arc::clone(map), made));
        }
        let Some((_, shapes)) = known.as_ref() else {
            return Arc::clone(map);
        };
        let mut shaped = ClassMap::clone(map);
        for (method, shape) in shaped.methods.iter_mut().zip(shapes) {
            method.shape = Some(shape.clone());
        }
        Arc::new(shaped)
    }

    fn recover_into(&self, found: &mut Found, bytes: &[u8], map: &ClassMap, ran: impl Fn(usize) -> bool) {
        let known = |method: usize| match found.methods.get(&method) {
            Some((_, full)) => *full || !ran(method),
            None => false,
        };
        let new: Vec<usize> = (0..map.methods.len()).filter(|&method| !known(method)).collect();
        if new.is_empty() {
            return;
        }
        // A class whose conditions cannot be recovered has none; its counts are as good as ever.
        let recovered = catch("recovering conditions", || {
            recover(bytes, map, self, |method| new.binary_search(&method).is_ok())
        });
        let mut recovered = recovered.ok().and_then(Result::ok).unwrap_or_default();
        for method in new {
            let of = recovered.get_mut(method).map(std::mem::take).unwrap_or_default();
            let of = if ran(method) {
                (of, true)
            } else {
                (of.marks(), false)
            };
            found.methods.insert(method, of);
        }
    }
}

impl Classes for Originals {
    fn class(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let tables = read(&self.tables);
        let table = tables.class(name)?;
        Some(Cow::Owned(table.into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trodden_instrumenter::{InstrumentOptions, Instrumenter, Preparation, ProbeKind};
    use trodden_profile::MethodCounts;

    #[test]
    fn conditions_come_from_the_bytes_that_were_kept() {
        let bytes = include_bytes!("../../../instrumenter/tests/fixtures/Shapes.class");
        let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Counters));
        let Preparation::Ready(prepared) = instrumenter.prepare(bytes).unwrap() else {
            panic!("Shapes has branches");
        };
        let originals = Originals::default();
        let class = ClassProfile {
            map: Arc::clone(prepared.map()),
            counts: vec![MethodCounts::default(); prepared.map().methods.len()],
        };
        let classes = [class];
        assert_eq!(originals.conditions(&classes, |_, _| true), Conditions::new());
        originals.keep(prepared.map(), bytes);
        let one = originals.conditions(&classes, |_, method| method == 0);
        // Of methods that did not run there are only marks.
        assert!(
            one.iter()
                .all(|(&place, of)| place == (0, 0) || *of == of.marks()),
            "{one:?}"
        );
        let all = originals.conditions(&classes, |_, _| true);
        assert!(all.len() > 1, "{all:?}");
        assert_eq!(originals.conditions(&classes, |_, _| true), all);
        let texts = all
            .values()
            .flat_map(|of| &of.conditions)
            .filter(|c| c.text.is_some());
        assert!(texts.count() > 3, "{all:?}");
    }

    #[test]
    fn shapes_come_from_the_bytes_that_were_kept() {
        let bytes = include_bytes!("../../../instrumenter/tests/fixtures/Shapes.class");
        let map = |shapes| {
            let instrumenter = Instrumenter::new(InstrumentOptions {
                shapes,
                ..InstrumentOptions::new(ProbeKind::Counters)
            });
            match instrumenter.prepare(bytes).unwrap() {
                Preparation::Ready(prepared) => Arc::clone(prepared.map()),
                Preparation::Unchanged { .. } => panic!("Shapes has branches"),
            }
        };
        let (without, with) = (map(false), map(true));
        let originals = Originals::default();
        assert!(Arc::ptr_eq(&originals.shaped(&without), &without));
        originals.keep(&without, bytes);
        assert_eq!(originals.shaped(&without), with);
        assert_eq!(originals.shaped(&without), with);
    }
}
