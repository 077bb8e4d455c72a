//! Which method of the one profile is which of the other, and which of their blocks are alike.

use std::collections::{BTreeMap, HashMap};

use similar::{Algorithm, DiffOp, capture_diff_slices};
use trodden_profile::BlockExit;

use super::side::Side;

/// How a method was found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Matched {
    /// The same code.
    Same,
    /// The same flow graph and opcodes; names or constants differ.
    Graph,
    /// Some blocks are alike.
    Partial,
    /// Only in the second profile.
    New,
    /// Only in the first profile.
    Gone,
}

impl Matched {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Matched::Same => "same",
            Matched::Graph => "graph",
            Matched::Partial => "partial",
            Matched::New => "new",
            Matched::Gone => "gone",
        }
    }
}

/// Two methods that are one, or one that has no other.
#[derive(Debug)]
pub struct Pair {
    pub before: Option<usize>,
    pub after: Option<usize>,
    pub matched: Matched,
    /// Per block of the second method: the same one in the first. Empty if there is only one.
    pub blocks: Vec<Option<usize>>,
}

/// Methods with fewer blocks are too much alike to be found again under another name.
const BLOCKS_OF_MOVED: usize = 4;

/// Least share of the blocks that two methods of one name must have in common to be one.
const MIN_LIKENESS: f64 = 0.5;
/// Most pairs of methods of one class and name that are compared block by block.
const MAX_COMPARED: usize = 400;

/// Pairs all methods of two profiles.
pub fn pair(before: &[Side], after: &[Side]) -> Vec<Pair> {
    let mut found = Pairing {
        before,
        after,
        free_before: vec![true; before.len()],
        free_after: vec![true; after.len()],
        pairs: Vec::new(),
    };
    let named = |side: &Side| {
        Some((
            side.class.to_owned(),
            side.map.name.clone(),
            side.map.descriptor.clone(),
        ))
    };
    // First what is surely the same; then by name, whatever the code has become; then what was renamed or moved.
    found.by(|side| Some((named(side)?, code(side)?)));
    // Bodies of lambdas are numbered again by each build: `lambda$main$3` may have been `lambda$main$2`; and so are anonymous
    // classes: `Shop$2` may have been `Shop$1`.
    found.by(|side| Some((lambda_of(side)?, code(side)?)));
    found.by(|side| Some((unnumbered(side)?, code(side)?)));
    found.by(|side| Some((named(side)?, graph(side))));
    found.by(|side| Some((lambda_of(side)?, graph(side))));
    found.by(|side| Some((unnumbered(side)?, graph(side))));
    found.by(|side| {
        if is_anonymous(side.class) {
            None
        } else {
            named(side)
        }
    });
    found.by(|side| {
        large(side)
            .then(|| code(side))
            .flatten()
            .map(|code| (code, graph(side)))
    });
    // Parameters, a result or an anonymous class's number may have changed together with the code.
    found.by_likeness();
    found.by(named);
    found.by(|side| large(side).then(|| (graph(side), side.map.descriptor.clone())));
    found.rest()
}

fn large(side: &Side) -> bool {
    side.map.num_blocks() >= BLOCKS_OF_MOVED
}

/// Class and method that a lambda's body belongs to.
fn lambda_of(side: &Side) -> Option<(String, String, String)> {
    let (owner, number) = side.map.name.strip_prefix("lambda$")?.rsplit_once('$')?;
    number.parse::<u32>().ok()?;
    Some((
        side.class.to_owned(),
        owner.to_owned(),
        side.map.descriptor.clone(),
    ))
}

/// Class, name and descriptor of a method of an anonymous class, without the numbers of anonymous classes.
fn unnumbered(side: &Side) -> Option<(String, String, String)> {
    is_anonymous(side.class).then(|| {
        (
            without_numbers(side.class),
            side.map.name.clone(),
            without_numbers(&side.map.descriptor),
        )
    })
}

/// `Shop$1` and what is within it.
fn is_anonymous(class: &str) -> bool {
    class.split('$').skip(1).any(is_number)
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())
}

/// `Shop$` for `Shop$1`, in names of classes and in descriptors.
fn without_numbers(name: &str) -> String {
    let mut parts = name.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push('$');
        out += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out
}

fn code(side: &Side) -> Option<u64> {
    side.map.shape.as_ref().map(|shape| shape.code)
}

/// The flow graph; without shapes, what the path map alone says of it.
fn graph(side: &Side) -> (Option<u64>, Vec<usize>) {
    match side.map.graph_shape() {
        Some(shape) => (Some(shape), Vec::new()),
        None => {
            let row = |block: usize| {
                let to = side.successors(block).iter().map(|b| b.index() + 8);
                to.chain([exit_kind(side.map.blocks[block].exit) as usize])
            };
            (None, (0..side.map.num_blocks()).flat_map(row).collect())
        }
    }
}

fn exit_kind(exit: BlockExit) -> u8 {
    match exit {
        BlockExit::FallThrough | BlockExit::Goto => 0,
        BlockExit::Branch => 1,
        BlockExit::Switch => 2,
        BlockExit::Return => 3,
        BlockExit::Throw => 4,
    }
}

struct Pairing<'s, 'p> {
    before: &'s [Side<'p>],
    after: &'s [Side<'p>],
    free_before: Vec<bool>,
    free_after: Vec<bool>,
    pairs: Vec<Pair>,
}

impl Pairing<'_, '_> {
    /// Pairs those left with an equal key, if as many have it on either side: else it says nothing.
    fn by<K: Ord>(&mut self, key: impl Fn(&Side) -> Option<K>) {
        let mut groups: BTreeMap<K, [Vec<usize>; 2]> = BTreeMap::new();
        for (which, sides, free) in [
            (0, self.before, &self.free_before),
            (1, self.after, &self.free_after),
        ] {
            for (index, side) in sides.iter().enumerate().filter(|(index, _)| free[*index]) {
                if let Some(key) = key(side) {
                    groups.entry(key).or_default()[which].push(index);
                }
            }
        }
        for [before, after] in groups.into_values().filter(|[b, a]| b.len() == a.len()) {
            for (before, after) in before.into_iter().zip(after) {
                self.found(before, after);
            }
        }
    }

    /// Pairs those left of one class and name, the most alike first. Where there is only one on either side and its class has a
    /// name, that says enough.
    fn by_likeness(&mut self) {
        let mut groups: BTreeMap<(String, &str), [Vec<usize>; 2]> = BTreeMap::new();
        for (which, sides, free) in [
            (0, self.before, &self.free_before),
            (1, self.after, &self.free_after),
        ] {
            for (index, side) in sides.iter().enumerate().filter(|(index, _)| free[*index]) {
                let key = (without_numbers(side.class), &*side.map.name);
                groups.entry(key).or_default()[which].push(index);
            }
        }
        for [before, after] in groups.into_values() {
            if let ([b], [a]) = (&before[..], &after[..])
                && !is_anonymous(self.before[*b].class)
                && self.before[*b].class == self.after[*a].class
            {
                self.found(*b, *a);
                continue;
            }
            // Each with each: what a generator wrote is left to the names.
            if before.len() * after.len() > MAX_COMPARED {
                continue;
            }
            let mut alike: Vec<(f64, bool, usize, usize)> = Vec::new();
            for &b in &before {
                for &a in &after {
                    let (one, other) = (&self.before[b], &self.after[a]);
                    let likeness = likeness(one, other);
                    if likeness >= MIN_LIKENESS {
                        let is_named_so =
                            one.class == other.class && one.map.descriptor == other.map.descriptor;
                        alike.push((likeness, is_named_so, b, a));
                    }
                }
            }
            alike.sort_by(|x, y| {
                y.0.total_cmp(&x.0)
                    .then(y.1.cmp(&x.1))
                    .then((x.2, x.3).cmp(&(y.2, y.3)))
            });
            for (_, _, b, a) in alike {
                if self.free_before[b] && self.free_after[a] {
                    self.found(b, a);
                }
            }
        }
    }

    fn found(&mut self, before: usize, after: usize) {
        let (b, a) = (&self.before[before], &self.after[after]);
        let matched = match () {
            () if code(b).is_some() && code(b) == code(a) => Matched::Same,
            () if graph(b) == graph(a) => Matched::Graph,
            () => Matched::Partial,
        };
        let blocks = match matched {
            Matched::Partial => align(b, a),
            _ => (0..a.map.num_blocks()).map(Some).collect(),
        };
        self.free_before[before] = false;
        self.free_after[after] = false;
        self.pairs.push(Pair {
            before: Some(before),
            after: Some(after),
            matched,
            blocks,
        });
    }

    fn rest(mut self) -> Vec<Pair> {
        let gone = (0..self.before.len())
            .filter(|&i| self.free_before[i])
            .map(|i| Pair {
                before: Some(i),
                after: None,
                matched: Matched::Gone,
                blocks: Vec::new(),
            });
        let new = (0..self.after.len())
            .filter(|&i| self.free_after[i])
            .map(|i| Pair {
                before: None,
                after: Some(i),
                matched: Matched::New,
                blocks: Vec::new(),
            });
        self.pairs.extend(gone.chain(new));
        self.pairs
    }
}

/// Blocks that are alike, in the order of the code: the longest common subsequence of their shapes. Where one
/// block has been put between others, those around it are still found.
fn align(before: &Side, after: &Side) -> Vec<Option<usize>> {
    let keys = |side: &Side| -> Vec<(u32, u8)> {
        let shape = side.map.shape.as_ref();
        let key = |(index, block): (usize, &trodden_profile::BlockInfo)| {
            let opcodes = shape.map_or(block.end - block.start, |s| s.blocks[index].opcodes);
            (opcodes, exit_kind(block.exit))
        };
        side.map.blocks.iter().enumerate().map(key).collect()
    };
    let (b, a) = (keys(before), keys(after));
    let mut blocks = vec![None; a.len()];
    for op in capture_diff_slices(Algorithm::Patience, &b, &a) {
        match op {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => (0..len).for_each(|i| blocks[new_index + i] = Some(old_index + i)),
            // A block whose instructions changed between two that did not, decides where it did before.
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } if old_len == new_len => {
                let alike = (0..old_len).all(|i| b[old_index + i].1 == a[new_index + i].1);
                if alike {
                    (0..old_len).for_each(|i| blocks[new_index + i] = Some(old_index + i));
                }
            }
            _ => {}
        }
    }
    blocks
}

/// The share of the blocks of two methods that are alike.
fn likeness(before: &Side, after: &Side) -> f64 {
    let alike = align(before, after).iter().flatten().count() as f64;
    let all = before.map.num_blocks() + after.map.num_blocks();
    2.0 * alike / all.max(1) as f64
}

/// The pair that each method of one side is in.
pub fn index(pairs: &[Pair], of: impl Fn(&Pair) -> Option<usize>) -> HashMap<usize, usize> {
    let place = |(pair, one): (usize, &Pair)| Some((of(one)?, pair));
    pairs.iter().enumerate().filter_map(place).collect()
}
