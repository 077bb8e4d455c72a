//! Which tests reach what: a line, an outcome of a decision, code that a change touches.
//!
//! *In*: a profile with counts per test ([`TestCounts`]), and a place, or a change as `git diff` writes it.
//! *Out*: names of tests. Where it cannot be known which tests a change may concern, the answer is all of
//! them, and why.

mod change;

mod initialisers;
mod statements;

use std::collections::BTreeMap;

use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{BlockExit, ClassMap, EdgeProfile, MethodMap, Profile, TestCounts};

pub use crate::unified_diff::ChangeError;
pub use change::{Selection, tests_of_change};

use crate::decisions::Decisions;
use crate::names;
use crate::source::is_of;

/// A method that has code of a line, and who runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Class and method: `shop.Order.price(int)`.
    pub method: String,
    /// Tests that run the line, and how often.
    pub tests: Vec<(String, u64)>,
    /// Outcomes of decisions on the line, in words, and the tests that take them.
    pub outcomes: Vec<(String, Vec<String>)>,
}

/// Who runs a line of a source file, which is named by the end of its path (`Order.java`, `shop/Order.java`);
/// nothing if no code of that line is in the profile.
pub fn tests_for(profile: &Profile, file: &str, line: u32) -> Vec<Reached> {
    let mut found = Vec::new();
    for (position, class) in profile.classes.iter().enumerate() {
        if !is_of(&class.map, file) {
            continue;
        }
        for (index, method) in class.map.methods.iter().enumerate() {
            let place = (position as u32, index as u32);
            let blocks = blocks_of(method, line);
            if !blocks.is_empty() {
                found.push(reached(profile, place, (&class.map, method), &blocks));
            }
        }
    }
    found
}

fn reached(
    profile: &Profile,
    place: (u32, u32),
    (class, map): (&ClassMap, &MethodMap),
    blocks: &[usize],
) -> Reached {
    let conditions = profile.conditions.get(&place);
    let decisions = conditions.map_or_else(Decisions::default, |of| Decisions::new(map, of, None));
    let mut tests = Vec::new();
    let mut outcomes: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for block in blocks.iter().copied().filter(|&block| decides(map, block)) {
        for edge in 0..map.graph.successors(BlockId::new(block)).len() {
            outcomes.insert((block, edge), Vec::new());
        }
    }
    for (test, edges) in profile
        .by_test
        .iter()
        .filter_map(|test| Some((test, edges(test, place, map)?)))
    {
        let times = blocks.iter().map(|&block| edges.blocks[block]).max().unwrap_or(0);
        if times == 0 {
            continue;
        }
        tests.push((test.name.clone(), times));
        for (&(block, edge), names) in &mut outcomes {
            if edges.edges[block][edge] > 0 {
                names.push(test.name.clone());
            }
        }
    }
    let words = |((block, index), tests): ((usize, usize), Vec<String>)| {
        (decisions.followed(map, names::edge(block, index)), tests)
    };
    Reached {
        method: names::title(&class.name, &map.name, &map.descriptor),
        tests,
        outcomes: outcomes.into_iter().map(words).collect(),
    }
}

/// The counts of a test in a method, if it ran it.
fn edges(test: &TestCounts, (class, method): (u32, u32), map: &MethodMap) -> Option<EdgeProfile> {
    let at = test
        .methods
        .binary_search_by_key(&(class, method), |m| (m.class, m.method));
    Some(EdgeProfile::of(map, &test.methods[at.ok()?].counts))
}

fn decides(map: &MethodMap, block: usize) -> bool {
    matches!(map.blocks[block].exit, BlockExit::Branch | BlockExit::Switch)
        && map.graph.successors(BlockId::new(block)).len() > 1
}

/// Blocks that have code of a line.
fn blocks_of(map: &MethodMap, line: u32) -> Vec<usize> {
    let mut ranges = Vec::new();
    for (index, entry) in map
        .lines
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.line == line)
    {
        let end = map.lines.get(index + 1).map_or(map.code_length, |next| next.bci);
        ranges.push(entry.bci..end);
    }
    let has = |block: &usize| {
        let info = &map.blocks[*block];
        ranges
            .iter()
            .any(|range| info.start < range.end && range.start < info.end)
    };
    (0..map.blocks.len()).filter(has).collect()
}
