//! Code that ran, or may have run, in static initialisers.
//!
//! A static initialiser runs once, in whichever test comes first; had that test not been there, another one
//! would have run it. So what it calls may concern any test, whoever is recorded with it.

use std::collections::{BTreeMap, HashMap, HashSet};

use trodden_profile::{Callee, MethodMap, Profile};

use crate::view;

/// A method: positions of its class and of itself.
pub type Place = (u32, u32);

/// Methods, each with the class in whose initialiser it may have run, by test (its position in the
/// profile). Calls go by what instructions name: where that method is not counted, to all of that name and
/// descriptor. An initialiser calls only methods that ran in the same test.
#[derive(Debug, Default)]
pub struct Initialisers<'p> {
    reached: BTreeMap<(usize, Place), &'p str>,
}

impl<'p> Initialisers<'p> {
    /// Follows the calls of all initialisers.
    pub fn of(profile: &'p Profile) -> Self {
        let mut exact: HashMap<Callee, Place> = HashMap::new();
        let mut by_name: HashMap<u32, Vec<Place>> = HashMap::new();
        let mut initialisers: Vec<(Place, &str)> = Vec::new();
        for (place, class, map) in methods(profile) {
            let callee = Callee::new(class, &map.name, &map.descriptor);
            exact.insert(callee, place);
            match map.name.as_str() {
                "<clinit>" => initialisers.push((place, class)),
                // No constructor takes another's place.
                "<init>" => {}
                _ => by_name.entry(callee.method).or_default().push(place),
            }
        }
        let mut reached = BTreeMap::new();
        for (at, test) in profile.by_test.iter().enumerate() {
            let counted = test.methods.iter().filter(|part| view::ran(&part.counts));
            let ran: HashSet<Place> = counted.map(|part| (part.class, part.method)).collect();
            let mut open = initialisers.clone();
            while let Some((place, class)) = open.pop() {
                if !ran.contains(&place) || reached.contains_key(&(at, place)) {
                    continue;
                }
                reached.insert((at, place), class);
                let map = &profile.classes[place.0 as usize].map.methods[place.1 as usize];
                for callee in map.shape.iter().flat_map(|shape| &shape.calls) {
                    // A subclass may have the method, too.
                    let named = by_name.get(&callee.method).into_iter().flatten();
                    open.extend(exact.get(callee).into_iter().chain(named).map(|&to| (to, class)));
                }
            }
        }
        Initialisers { reached }
    }

    /// The class in whose initialiser a method may have run during a test.
    pub fn owner(&self, test: usize, place: Place) -> Option<&'p str> {
        self.reached.get(&(test, place)).copied()
    }
}

fn methods(profile: &Profile) -> impl Iterator<Item = (Place, &str, &MethodMap)> {
    (0u32..).zip(&profile.classes).flat_map(|(at, class)| {
        let methods = (0u32..).zip(&class.map.methods);
        methods.map(move |(index, map)| ((at, index), class.map.name.as_str(), map))
    })
}
