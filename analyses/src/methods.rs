//! From the index in a path event to the method's path map.

use std::sync::Arc;

use trodden_profile::{ClassMap, ClassProfile, MethodMap};

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

/// All instrumented methods, in the order of registration: the classes' methods lie side by side.
#[derive(Clone, Debug, Default)]
pub struct MethodTable {
    classes: Vec<(u32, Arc<ClassMap>)>,
    methods: u32,
}

impl MethodTable {
    /// Registers a class; the index of its first method, the others follow. `None` if that would exceed `u32`.
    pub fn add_class(&mut self, class: Arc<ClassMap>) -> Option<u32> {
        let first = self.methods;
        self.methods = first.checked_add(u32::try_from(class.methods.len()).ok()?)?;
        self.classes.push((first, class));
        Some(first)
    }

    /// Number of methods.
    pub fn len(&self) -> u32 {
        self.methods
    }

    /// Is no method registered?
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
        // Of several classes with the same first index all but the last are empty.
        let after = self.classes.partition_point(|(first, _)| *first <= index);
        let (first, class) = &self.classes[after.checked_sub(1)?];
        MethodRef::new(Arc::clone(class), (index - first) as usize)
    }
}
