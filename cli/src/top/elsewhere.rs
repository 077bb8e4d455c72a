//! The CPU time that no method of the table has: in which methods it is, and where these were called from.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use trodden_profile::{CpuFrame, CpuSamples, Profile, printable};

use super::model::Names;

/// Callers of a method that are named at most, the nearest first.
const CALLERS: usize = 4;
/// Ways to a method that are shown at most.
const WAYS: usize = 3;

/// A method without a row, or what the JVM was busy with.
#[derive(Clone, Debug, PartialEq)]
pub struct Elsewhere {
    /// `a.b.C.m`, fit for a terminal.
    pub title: String,
    /// Its part of the program's CPU time, 0 to 1.
    pub share: f64,
    /// True if it has probes. Then no path of it came to its end in this time.
    pub has_probes: bool,
    /// Callers, the nearest first, with the part of the time that they have; those with most come first.
    pub from: Vec<(String, f64)>,
}

/// The methods that have no row, by their time.
pub fn elsewhere(profile: &Profile, has_row: impl Fn(&Names) -> bool) -> Vec<Elsewhere> {
    let Some(cpu) = &profile.cpu else {
        return Vec::new();
    };
    let mapped: HashSet<(&str, &str, &str)> = (profile.classes.iter())
        .flat_map(|class| {
            let methods = class.map.methods.iter();
            methods.map(|map| (&*class.map.name, &*map.name, &*map.descriptor))
        })
        .collect();
    // Per frame: has it probes, and a row?
    let known: Vec<(bool, bool)> = (cpu.frames.iter())
        .map(|frame| {
            let names = (&*frame.class, &*frame.name, &*frame.descriptor);
            let has_probes = mapped.contains(&names);
            let names = (frame.class.clone(), frame.name.clone(), frame.descriptor.clone());
            (has_probes, has_probes && has_row(&names))
        })
        .collect();
    let mut found: BTreeMap<usize, HashMap<Vec<usize>, u64>> = BTreeMap::new();
    let mut stack: Vec<usize> = Vec::new();
    for node in cpu.tree.nodes() {
        stack.truncate((node.depth as usize).saturating_sub(1));
        stack.push(node.frame as usize);
        if node.own.ns == 0 {
            continue;
        }
        // The time of a stack is that of its nearest method with probes, as in the table.
        let nearest = stack.iter().rposition(|&frame| known[frame].0);
        if nearest.is_some_and(|at| known[stack[at]].1) {
            continue;
        }
        let at = nearest.unwrap_or(stack.len() - 1);
        let callers = stack[..at].iter().rev().take(CALLERS).copied().collect();
        *found.entry(stack[at]).or_default().entry(callers).or_default() += node.own.ns;
    }
    let all = cpu.total().ns.max(1) as f64;
    let mut methods: Vec<(u64, Elsewhere)> = found
        .into_iter()
        .map(|(frame, ways)| method(cpu, frame, ways, known[frame].0, all))
        .collect();
    methods.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.title.cmp(&other.title)));
    methods.into_iter().map(|(_, method)| method).collect()
}

fn method(
    cpu: &CpuSamples,
    frame: usize,
    ways: HashMap<Vec<usize>, u64>,
    has_probes: bool,
    all: f64,
) -> (u64, Elsewhere) {
    let ns: u64 = ways.values().sum();
    let mut ways = Vec::from_iter(ways);
    ways.sort_by_key(|(callers, ns)| (Reverse(*ns), callers.clone()));
    let names = |callers: &[usize]| {
        let names = callers.iter().map(|&caller| title(&cpu.frames[caller]));
        Vec::from_iter(names).join(" ← ")
    };
    let from = (ways.iter().filter(|(callers, _)| !callers.is_empty()).take(WAYS))
        .map(|(callers, ns)| (names(callers), *ns as f64 / all))
        .collect();
    let method = Elsewhere {
        title: title(&cpu.frames[frame]),
        share: ns as f64 / all,
        has_probes,
        from,
    };
    (ns, method)
}

fn title(frame: &CpuFrame) -> String {
    let name = match frame.class.as_str() {
        "" => frame.name.clone(),
        class => format!("{}.{}", class.replace('/', "."), frame.name),
    };
    printable(&name).into_owned()
}
