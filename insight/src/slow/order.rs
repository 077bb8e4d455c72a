//! The order in which a request comes to its decisions: by calls, then by bytecode index.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use trodden_profile::{Callee, MethodMap, Profile};

/// A method, by position of class and method.
type Place = (u32, u32);

/// Positions of methods in the order of calls.
pub struct CallOrder {
    positions: FxHashMap<Place, Vec<u32>>,
}

/// Calls of each method: the bytecode index of the block that makes them, and the callee.
pub type Calls = FxHashMap<Place, Vec<(u32, Place)>>;

impl CallOrder {
    /// From the method that handles requests, if it is one of the profile's; else from methods that are called by none.
    pub fn new(profile: &Profile, calls: &Calls, handler: &str) -> Self {
        let mut open: VecDeque<Place> = named(profile, handler).into();
        if open.is_empty() {
            let mut called: Vec<Place> = calls.values().flatten().map(|&(_, callee)| callee).collect();
            called.sort_unstable();
            let not_called = calls.keys().filter(|place| called.binary_search(place).is_err());
            let mut roots: Vec<Place> = not_called.copied().collect();
            roots.sort_unstable();
            open = roots.into();
        }
        let mut positions: FxHashMap<Place, Vec<u32>> =
            open.iter().map(|&place| (place, Vec::new())).collect();
        while let Some(place) = open.pop_front() {
            let at = positions[&place].clone();
            for &(bci, callee) in calls.get(&place).map_or(&[][..], Vec::as_slice) {
                positions.entry(callee).or_insert_with(|| {
                    open.push_back(callee);
                    at.iter().copied().chain([bci]).collect()
                });
            }
        }
        CallOrder { positions }
    }

    /// The position of a branch; those that are not known to be called come last.
    pub fn of(&self, place: Place, bci: u32) -> (bool, Vec<u32>, Place, u32) {
        let position = self.positions.get(&place);
        let of_branch = |at: &Vec<u32>| at.iter().copied().chain([bci]).collect();
        (
            position.is_none(),
            position.map_or_else(Vec::new, of_branch),
            place,
            bci,
        )
    }
}

/// The methods that a name of requests has: `shop.Server#handle`.
fn named(profile: &Profile, handler: &str) -> Vec<Place> {
    let Some((class, method)) = handler.split_once('#') else {
        return Vec::new();
    };
    let class = class.replace('.', "/");
    let classes = profile
        .classes
        .iter()
        .enumerate()
        .filter(|(_, of)| of.map.name == class);
    let places = classes.flat_map(|(at, of)| {
        let methods = of.map.methods.iter().enumerate();
        let named = methods.filter(|(_, map)| map.name == method || map.title() == method);
        named.map(move |(index, _)| (at as u32, index as u32))
    });
    places.collect()
}

/// The calls of a profile: those that its code names and, where CPU time was sampled, those that stacks have.
pub fn calls(profile: &Profile) -> Calls {
    let mut exact: FxHashMap<Callee, Place> = FxHashMap::default();
    let mut by_name: FxHashMap<u32, Vec<Place>> = FxHashMap::default();
    let mut names: FxHashMap<(&str, &str, &str), Place> = FxHashMap::default();
    for (place, class, map) in methods(profile) {
        let callee = Callee::new(class, &map.name, &map.descriptor);
        exact.insert(callee, place);
        by_name.entry(callee.method).or_default().push(place);
        names.insert((class, &map.name, &map.descriptor), place);
    }
    let mut calls = Calls::default();
    for (place, _, map) in methods(profile) {
        let of = calls.entry(place).or_default();
        let Some(shape) = &map.shape else {
            continue;
        };
        for (block, callees) in map.blocks.iter().zip(shape.calls_by_block()) {
            for callee in callees {
                let one = exact.get(callee).map(std::slice::from_ref);
                let reached = one.or_else(|| by_name.get(&callee.method).map(Vec::as_slice));
                of.extend(reached.into_iter().flatten().map(|&to| (block.start, to)));
            }
        }
    }
    let frames = profile.cpu.iter().flat_map(|cpu| &cpu.frames);
    let frames: Vec<Option<Place>> = frames
        .map(|frame| {
            names
                .get(&(&*frame.class, &*frame.name, &*frame.descriptor))
                .copied()
        })
        .collect();
    // Per depth: the nearest method with a path map, and where it was.
    let mut stack: Vec<Option<(Place, u32)>> = Vec::new();
    for node in profile.cpu.iter().flat_map(|cpu| cpu.tree.nodes()) {
        stack.truncate(node.depth as usize - 1);
        let above = stack.last().copied().flatten();
        let here = frames.get(node.frame as usize).copied().flatten();
        if let (Some((caller, bci)), Some(callee)) = (above, here) {
            calls.entry(caller).or_default().push((bci, callee));
        }
        stack.push(here.map(|place| (place, node.bci.map_or(0, u32::from))).or(above));
    }
    for of in calls.values_mut() {
        of.sort_unstable();
        of.dedup();
    }
    calls
}

fn methods(profile: &Profile) -> impl Iterator<Item = (Place, &str, &MethodMap)> {
    let classes = profile.classes.iter().enumerate();
    classes.flat_map(|(class, of)| {
        let methods = of.map.methods.iter().enumerate();
        methods.map(move |(method, map)| ((class as u32, method as u32), of.map.name.as_str(), map))
    })
}
