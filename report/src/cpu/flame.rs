//! The data of the icicle of CPU time. Stacks are told apart by the place in which a method that can be split was: which paths
//! went there, and with which part, is told once for each such place. The script splits what the reader wants to see.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;
use trodden_insight::cpu::stacks::{Divided, Piece, Split, Way, divided, splits};
use trodden_insight::cpu::{CpuView, title};
use trodden_insight::route::route;
use trodden_insight::view::View;

use crate::html::embed::Exact;
use crate::words::cut;

/// Chains in the page at most.
const MOST_CHAINS: usize = 20_000;
/// Characters of a path's text.
const LONGEST: usize = 240;

/// A place of a method: its ways, each with its part, and as much of it as was not divided by counts.
type Place = Vec<(u32, f64, f64)>;
/// A place whose parts can be looked up: their bits.
type PlaceKey = Vec<(u32, [u64; 2])>;

/// A chain of calls.
struct Chain {
    parent: Option<u32>,
    frame: u32,
    place: i64,
    own: u64,
    inclusive: u64,
}

/// What the script draws from.
#[derive(Serialize)]
pub(super) struct Data {
    total: Exact,
    names: Vec<String>,
    /// What a way is called, and what it is: 0 a path, 1 several of them, 2 not known.
    ways: Vec<(String, u8)>,
    places: Vec<Place>,
    /// Position of the caller or -1, name, place or -1, own, and what was left out below it.
    chains: Vec<(i64, u32, i64, Exact, Exact)>,
    /// How many chains are left out, and what is least for one that is not.
    #[serde(skip)]
    pub left_out: (u64, u64),
    /// Can any method be split?
    #[serde(skip)]
    pub can_split: bool,
    /// Samples that are divided among paths by their counts.
    #[serde(skip)]
    pub divided: Divided,
}

/// Where a method's samples are, and what its ways are called.
#[derive(Default)]
struct Places {
    ways: Vec<(String, u8)>,
    places: Vec<Place>,
    numbers: HashMap<(u32, Way), u32>,
    known: HashMap<(u32, PlaceKey), i64>,
}

impl Places {
    /// The number of a place. Places whose ways are alike are one.
    fn of(&mut self, frame: u32, split: &Split, bci: Option<u16>) -> i64 {
        let mut place = Place::new();
        for Piece { way, share, known } in split.at(bci) {
            let next = self.ways.len() as u32;
            let number = *self.numbers.entry((frame, way)).or_insert(next);
            if number == next {
                self.ways.push(name(split, way));
            }
            place.push((number, share, known));
        }
        let key = place
            .iter()
            .map(|&(way, share, known)| (way, [share, known].map(f64::to_bits)))
            .collect();
        let next = self.places.len() as i64;
        let number = *self.known.entry((frame, key)).or_insert(next);
        if number == next {
            self.places.push(place);
        }
        number
    }
}

fn name(split: &Split, way: Way) -> (String, u8) {
    match way {
        Way::Path(number) => {
            let path = split.shown[number as usize];
            let text = route(path, split.method.map, split.method.decisions());
            (format!("path {}: {}", path.number, cut(&text, LONGEST)), 0)
        }
        Way::Others => (format!("{} other paths", split.others), 1),
        Way::Unknown => ("path not known".to_owned(), 2),
    }
}

/// The larger chains of a profile.
pub(super) fn data(cpu: &CpuView, view: &View) -> Option<Data> {
    let times = view.sampled.as_ref()?;
    let splits = splits(view, times);
    let mut places = Places::default();
    let mut chains: Vec<Chain> = Vec::new();
    let mut known: HashMap<(Option<u32>, u32, i64), u32> = HashMap::new();
    let mut above: Vec<u32> = Vec::new();
    for node in cpu.about.tree.nodes() {
        above.truncate(node.depth as usize - 1);
        let parent = above.last().copied();
        let split = splits.get(node.frame as usize).and_then(Option::as_ref);
        let place = split.map_or(-1, |split| places.of(node.frame, split, node.bci));
        let next = chains.len() as u32;
        let chain = *known.entry((parent, node.frame, place)).or_insert(next);
        if chain == next {
            chains.push(Chain {
                parent,
                frame: node.frame,
                place,
                own: 0,
                inclusive: 0,
            });
        }
        let chain_of = &mut chains[chain as usize];
        chain_of.own = chain_of.own.saturating_add(node.own.ns);
        above.push(chain);
    }
    // Callers come before those that they called.
    for at in (0..chains.len()).rev() {
        let chain = &mut chains[at];
        chain.inclusive = chain.inclusive.saturating_add(chain.own);
        let (parent, inclusive) = (chain.parent, chain.inclusive);
        if let Some(parent) = parent {
            let above = &mut chains[parent as usize];
            above.inclusive = above.inclusive.saturating_add(inclusive);
        }
    }
    let mut sizes: Vec<u64> = chains.iter().map(|chain| chain.inclusive).collect();
    sizes.sort_unstable_by_key(|&size| Reverse(size));
    // Of chains of the same size there are all or none: the choice must not depend on their order.
    let least = sizes.get(MOST_CHAINS).map_or(1, |&next| next.saturating_add(1));
    let mut rows: Vec<(i64, u32, i64, Exact, Exact)> = Vec::new();
    let mut at: Vec<i64> = Vec::with_capacity(chains.len());
    for chain in &chains {
        let parent = chain.parent.map_or(-1, |parent| at[parent as usize]);
        if chain.inclusive >= least {
            at.push(rows.len() as i64);
            rows.push((parent, chain.frame, chain.place, Exact(chain.own), Exact(0)));
            continue;
        }
        at.push(-1);
        // Below one that is left out there is nothing that is not: its size has all of them.
        if parent >= 0 {
            let left_out = &mut rows[parent as usize].4;
            left_out.0 = left_out.0.saturating_add(chain.inclusive);
        }
    }
    let small = chains
        .iter()
        .filter(|chain| chain.inclusive > 0 && chain.inclusive < least);
    Some(Data {
        total: Exact(cpu.total.ns),
        names: cpu.about.frames.iter().map(title).collect(),
        can_split: !places.ways.is_empty(),
        divided: divided(&splits, times),
        ways: places.ways,
        places: places.places,
        chains: rows,
        left_out: (small.count() as u64, least),
    })
}
