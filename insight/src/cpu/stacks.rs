//! CPU samples as stacks in which methods may be followed by the path that they took.
//!
//! How the time of a block is divided among paths is said in [`crate::path_time`]. Here it is done for each stack.

use trodden_profile::CpuTime;

use crate::path_time::{Division, Part, ROUNDING, Times};
use crate::view::{MethodView, PathView, View};

/// Paths of a method that are told apart; the others are one.
const MOST_PATHS: usize = 20;

/// A way through a method, where stacks are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// The path at this position in [`Split::shown`].
    Path(u32),
    /// Paths that took less than those.
    Others,
    /// The counts do not tell.
    Unknown,
}

/// The part of a place's time that a way has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The way.
    pub way: Way,
    /// Its part, 0 to 1.
    pub share: f64,
    /// As much of the part as was not divided by counts.
    pub known: f64,
}

impl Piece {
    /// The part that is divided by counts.
    pub fn by_counts(&self) -> f64 {
        match self.way {
            Way::Unknown => 0.0,
            _ => (self.share - self.known).max(0.0),
        }
    }
}

/// How the stacks of a method are split.
pub struct Split<'v, 'p> {
    /// The method.
    pub method: &'v MethodView<'p>,
    /// The paths that are told apart, most time first.
    pub shown: Vec<&'v PathView>,
    /// How many there are beside these.
    pub others: usize,
    division: Division,
    /// By position of the path in the division: as what it is shown.
    ways: Vec<Way>,
}

impl<'v, 'p> Split<'v, 'p> {
    fn new(method: &'v MethodView<'p>) -> Self {
        let mut order: Vec<(usize, &PathView)> = method.all_paths().enumerate().collect();
        let ns = |path: &PathView| path.time.map_or(0.0, |time| time.ns);
        order.sort_by(|a, b| ns(b.1).total_cmp(&ns(a.1)).then(a.0.cmp(&b.0)));
        order.retain(|(_, path)| ns(path) > 0.0);
        let all = order.len();
        // One alone needs no place of its own.
        let shown = if all > MOST_PATHS + 1 { MOST_PATHS } else { all };
        let mut ways = vec![Way::Others; method.all_paths().count()];
        for (number, (at, _)) in (0..).zip(order.iter().take(shown)) {
            ways[*at] = Way::Path(number);
        }
        Split {
            method,
            shown: order.iter().take(shown).map(|(_, path)| *path).collect(),
            others: all - shown,
            division: method.division(),
            ways,
        }
    }

    /// Which ways the time of a place belongs to. Parts add up to one, and are the same on all stacks that go through the
    /// place.
    pub fn at(&self, bci: Option<u16>) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut others = Piece {
            way: Way::Others,
            share: 0.0,
            known: 0.0,
        };
        let mut placed = 0.0;
        for &Part { path, share, known } in self.division.at(self.method.map, bci) {
            placed += share;
            let way = self.ways[path as usize];
            if way == Way::Others {
                others.share += share;
                others.known += known;
            } else {
                pieces.push(Piece { way, share, known });
            }
        }
        if others.share > 0.0 {
            pieces.push(others);
        }
        if placed < 1.0 - ROUNDING {
            pieces.push(Piece {
                way: Way::Unknown,
                share: 1.0 - placed,
                known: 0.0,
            });
        } else if let [only] = &mut pieces[..] {
            // Whichever of them it was.
            only.known = only.share;
        }
        pieces
    }
}

/// Per frame of the samples: how it is split, for those whose paths were counted.
pub fn splits<'v, 'p>(view: &'v View<'p>, times: &Times) -> Vec<Option<Split<'v, 'p>>> {
    let mut all: Vec<Option<Split>> = Vec::new();
    all.resize_with(times.samples.frames.len(), || None);
    for method in view.methods.iter().filter(|method| method.count > 0) {
        if let Some(frame) = times.frame(method.names()) {
            all[frame] = Some(Split::new(method));
        }
    }
    all
}

/// Samples in methods whose paths were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Divided {
    /// All of them.
    pub samples: u64,
    /// As many as are divided among paths by their counts.
    pub by_counts: f64,
}

impl Divided {
    /// Adds samples, and the part of them that is divided by counts.
    pub fn add(&mut self, time: CpuTime, by_counts: f64) {
        self.samples += time.samples;
        self.by_counts += time.samples as f64 * by_counts;
    }

    /// The part that is divided by counts, 0 to 1.
    pub fn share(self) -> f64 {
        self.by_counts / self.samples.max(1) as f64
    }
}

/// How many samples are divided among paths of the innermost method with a path map on their stacks.
pub fn divided(splits: &[Option<Split>], times: &Times) -> Divided {
    let mut sum = Divided::default();
    // Per depth: the part that is divided, if the paths of such a method were counted.
    let mut above: Vec<Option<f64>> = Vec::new();
    for node in times.samples.tree.nodes() {
        above.truncate(node.depth as usize - 1);
        let by_counts = match splits.get(node.frame as usize).and_then(Option::as_ref) {
            Some(split) => Some(split.at(node.bci).iter().map(Piece::by_counts).sum()),
            None if times.is_mapped(node.frame) => None,
            None => above.last().copied().flatten(),
        };
        if let Some(by_counts) = by_counts {
            sum.add(node.own, by_counts);
        }
        above.push(by_counts);
    }
    sum
}
