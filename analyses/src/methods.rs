//! From the index in a path event to the method's path map.

use std::sync::{Arc, PoisonError, RwLock};

use trodden_profile::{ClassMap, ClassProfile, MethodCounts, MethodMap};

use crate::PathAnalysis;

/// A method of a class map that may be kept.
#[derive(Clone, Debug)]
pub struct MethodRef {
    class: Arc<ClassMap>,
    method: usize,
}

impl MethodRef {
    /// Method number `method` of the class map; `None` if it has no such method.
    pub fn new(class: Arc<ClassMap>, method: usize) -> Option<Self> {
        (method < class.methods.len()).then_some(MethodRef { class, method })
    }

    /// The class's path map.
    pub fn class(&self) -> &Arc<ClassMap> {
        &self.class
    }

    /// The method's path map.
    pub fn map(&self) -> &MethodMap {
        &self.class.methods[self.method]
    }
}

/// Finds the path map of a method. Asked only at a path's first occurrence, so it may take a lock.
pub trait MethodLookup {
    /// The method of an index, if it was given out.
    fn method(&self, index: u32) -> Option<MethodRef>;
}

/// Indices that two classes claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("class {class}: of the {methods} method ids from {first} on, one is taken or too high")]
pub struct MethodsTaken {
    /// The class that came second.
    pub class: String,
    /// Its first index.
    pub first: u32,
    /// How many it claims.
    pub methods: u32,
}

/// From a method's index to its place in a profile's classes.
#[derive(Clone, Debug, Default)]
pub struct MethodPlaces(Vec<(u32, u32, usize)>);

impl MethodPlaces {
    /// Index of the class in the profile, and of the method in the class.
    pub fn place(&self, method: u32) -> Option<(usize, usize)> {
        let after = self.0.partition_point(|(first, ..)| *first <= method);
        let (first, methods, class) = *self.0.get(after.checked_sub(1)?)?;
        (method - first < methods).then_some((class, (method - first) as usize))
    }
}

/// All instrumented methods, in the order of registration: the methods of a class are adjacent.
#[derive(Clone, Debug, Default)]
pub struct MethodTable {
    classes: Vec<(u32, Arc<ClassMap>)>,
    methods: u32,
}

impl MethodTable {
    /// Registers a class; the index of its first method, the others follow. `None` if that would exceed
    /// `u32`.
    pub fn add_class(&mut self, class: Arc<ClassMap>) -> Option<u32> {
        let first = self.methods;
        self.methods = first.checked_add(u32::try_from(class.methods.len()).ok()?)?;
        self.classes.push((first, class));
        Some(first)
    }

    /// Registers a class whose methods' indices have been given out already, `first` being that of the first
    /// one. Classes may come in any order.
    ///
    /// # Errors
    /// If one of these indices belongs to another class, or they exceed `u32`. Nothing is registered then.
    pub fn insert_class(&mut self, first: u32, class: Arc<ClassMap>) -> Result<(), MethodsTaken> {
        let methods = class.methods.len() as u32;
        let taken = || MethodsTaken {
            class: class.name.clone(),
            first,
            methods,
        };
        let end = first.checked_add(methods).ok_or_else(taken)?;
        let at = self
            .classes
            .partition_point(|(other, map)| *other < first || (*other == first && map.methods.is_empty()));
        // Empty classes take no index.
        let before = self.classes[..at]
            .iter()
            .rfind(|(_, map)| !map.methods.is_empty());
        let free = methods == 0
            || before.is_none_or(|(other, map)| other + map.methods.len() as u32 <= first)
                && self.classes.get(at).is_none_or(|(other, _)| *other >= end);
        if !free {
            return Err(taken());
        }
        self.methods = self.methods.max(end);
        self.classes.insert(at, (first, class));
        Ok(())
    }

    /// The class profiles of a profile in which nothing is counted, sorted as in a file, and where each
    /// method is.
    pub fn places(&self) -> (Vec<ClassProfile>, MethodPlaces) {
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        order.sort_by_key(|&i| {
            let (first, map) = &self.classes[i];
            (&map.name, map.sha256, *first)
        });
        let mut places = vec![(0, 0, 0); order.len()];
        let mut profiles = Vec::with_capacity(order.len());
        for (index, &i) in order.iter().enumerate() {
            let (first, map) = &self.classes[i];
            places[i] = (*first, map.methods.len() as u32, index);
            profiles.push(ClassProfile {
                map: Arc::clone(map),
                counts: vec![MethodCounts::default(); map.methods.len()],
            });
        }
        places.retain(|&(_, methods, _)| methods > 0);
        (profiles, MethodPlaces(places))
    }

    /// Number of methods, or one more than the largest index where some are not given out.
    pub fn len(&self) -> u32 {
        self.methods
    }

    /// Returns true if no method is registered.
    pub fn is_empty(&self) -> bool {
        self.methods == 0
    }

    /// All classes with what an analysis found in them, sorted as in a profile. Classes without any count are
    /// kept: that a method was watched and never ran is a finding.
    pub fn class_profiles(&self, analysis: &impl PathAnalysis) -> Vec<ClassProfile> {
        let profile = |(first, class): &(u32, Arc<ClassMap>)| ClassProfile {
            map: Arc::clone(class),
            counts: (0..class.methods.len() as u32)
                .map(|i| analysis.method_counts(first + i))
                .collect(),
        };
        let mut profiles: Vec<ClassProfile> = self.classes.iter().map(profile).collect();
        profiles.sort_by(|a, b| (&a.map.name, a.map.sha256).cmp(&(&b.map.name, b.map.sha256)));
        profiles
    }
}

impl MethodLookup for MethodTable {
    fn method(&self, index: u32) -> Option<MethodRef> {
        let after = self.classes.partition_point(|(first, _)| *first <= index);
        let before = self.classes[..after].iter();
        let (first, class) = before.rev().find(|(_, class)| !class.methods.is_empty())?;
        MethodRef::new(Arc::clone(class), (index - first) as usize)
    }
}

/// A table that grows while analyses look things up in it.
#[derive(Debug, Default)]
pub struct SharedMethods(RwLock<MethodTable>);

impl SharedMethods {
    /// Registers a class; see [`MethodTable::insert_class`].
    ///
    /// # Errors
    /// As there.
    pub fn insert_class(&self, first: u32, class: Arc<ClassMap>) -> Result<(), MethodsTaken> {
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        table.insert_class(first, class)
    }
}

impl MethodLookup for SharedMethods {
    fn method(&self, index: u32) -> Option<MethodRef> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .method(index)
    }
}
