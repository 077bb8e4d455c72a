//! CPU samples as stacks in which methods may be followed by the path that they took.
//!
//! How the time of a block is divided among paths is said in [`crate::path_time`]. Here it is done for each stack.

use crate::path_time::{Division, Times};
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

    /// Which ways the time of a place belongs to, each with its part; a single one is certain, unless it stands for several.
    pub fn at(&self, bci: Option<u16>) -> Vec<(Way, f64)> {
        let mut parts: Vec<(Way, f64)> = Vec::new();
        let mut others = 0.0;
        for &(path, part) in self.division.at(self.method.map, bci) {
            match self.ways[path as usize] {
                Way::Path(number) => parts.push((Way::Path(number), part)),
                _ => others += part,
            }
        }
        if others > 0.0 {
            parts.push((Way::Others, others));
        }
        if parts.is_empty() {
            parts.push((Way::Unknown, 1.0));
        }
        parts
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
