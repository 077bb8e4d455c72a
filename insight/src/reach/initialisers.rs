//! What static initialisers may call.
//!
//! A static initialiser runs once, in whichever test comes first; had that test not been there, another one
//! would have run it. So what it calls may concern any test, whoever is recorded with it.

use std::collections::{BTreeMap, HashMap};

use trodden_profile::{Callee, MethodMap, Profile};

/// Methods by position of class and method, each with the class in whose initialiser it may run. Calls go by
/// what instructions name: where that method is not counted, to all of that name and descriptor.
pub fn reached(profile: &Profile) -> BTreeMap<(u32, u32), &str> {
    let mut exact: HashMap<Callee, (u32, u32)> = HashMap::new();
    let mut by_name: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
    let mut open: Vec<((u32, u32), &str)> = Vec::new();
    for (place, class, map) in methods(profile) {
        let callee = Callee::new(class, &map.name, &map.descriptor);
        exact.insert(callee, place);
        match map.name.as_str() {
            "<clinit>" => open.push((place, class)),
            // No constructor takes another's place.
            "<init>" => {}
            _ => by_name.entry(callee.method).or_default().push(place),
        }
    }
    let mut found = BTreeMap::new();
    while let Some((place, class)) = open.pop() {
        if found.contains_key(&place) {
            continue;
        }
        found.insert(place, class);
        let map = &profile.classes[place.0 as usize].map.methods[place.1 as usize];
        for callee in map.shape.iter().flat_map(|shape| &shape.calls) {
            // A subclass may have the method, too.
            let named = by_name.get(&callee.method).into_iter().flatten();
            open.extend(exact.get(callee).into_iter().chain(named).map(|&to| (to, class)));
        }
    }
    found
}

fn methods(profile: &Profile) -> impl Iterator<Item = ((u32, u32), &str, &MethodMap)> {
    (0u32..).zip(&profile.classes).flat_map(|(at, class)| {
        let methods = (0u32..).zip(&class.map.methods);
        methods.map(move |(index, map)| ((at, index), class.map.name.as_str(), map))
    })
}
