//! What follows what: the k-iteration path forest of a method, pruned and folded for reading.
//!
//! Pruning and labels are those of k-BLPP (D'Elia and Demetrescu, OOPSLA 2013) figures 6 and 9: a node goes, with all
//! below it, if its counter is too small a share of its parent's or of its root's; what stays is labelled `X % (Y %)`
//! with these two shares.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use trodden_profile::{ByGroup, KPaths, product_interval};

use crate::findings::ratio;
use crate::view::{MethodView, NoPath, PathView};

/// The part of k-iteration path forests that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KPathsOptions {
    /// Least share of its parent's counter that a node must have to be shown, 0 to 1. `None`: 0.01.
    pub min_parent: Option<f64>,
    /// Least share of its root's counter, 0 to 1. `None` leaves it to the format (text, DOT and SVG 0.05, HTML and JSON
    /// 0.01).
    pub min_root: Option<f64>,
    /// Show every node on its own: fold no runs and no chains.
    pub unfold: bool,
}

/// Thresholds for one format.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// See [`KPathsOptions::min_parent`].
    pub min_parent: f64,
    /// See [`KPathsOptions::min_root`].
    pub min_root: f64,
    /// See [`KPathsOptions::unfold`].
    pub unfold: bool,
    /// Trees of a method at most, the most frequent roots first.
    pub trees: usize,
}

impl KPathsOptions {
    /// The thresholds of a format that shows this much.
    pub fn limits(&self, min_root: f64, trees: usize) -> Limits {
        Limits {
            min_parent: self.min_parent.unwrap_or(0.01),
            min_root: self.min_root.unwrap_or(min_root),
            unfold: self.unfold,
            trees,
        }
    }
}

impl Limits {
    /// The folded part where a format folds this much.
    pub fn fold(&self, fold: Fold) -> Fold {
        if self.unfold { Fold::Nothing } else { fold }
    }
}

/// The trees of a method that are shown.
pub struct Trees {
    /// Paths of a sequence at most.
    pub k: u32,
    /// The bursts that alone were counted, in option syntax.
    pub bursts: Option<String>,
    /// True if shares have intervals: bursts were of the clock.
    pub has_intervals: bool,
    /// Path ends in the whole forest.
    pub total: u64,
    /// Sequences in the whole forest.
    pub sequences: usize,
    /// At index `i`: occurrences of sequences of `i + 2` paths that are missing at most.
    pub missing: Vec<u64>,
    /// The share of the method's path ends that each tree's first path has, in 95 of 100 runs like this one.
    /// Parallel to `trees`.
    pub intervals: Vec<Option<(f64, f64)>>,
    /// The most frequent root first. Only those after which something came.
    pub trees: Vec<Tree>,
    /// Trees that are not shown because there are too many.
    pub more: usize,
    /// Roots after which nothing came: number and counter, the most frequent first.
    pub last: Vec<(u64, u64)>,
    /// The paths in the trees by number; an error for a number that names no path.
    pub paths: BTreeMap<u64, Result<PathView, NoPath>>,
    /// Their routes.
    pub routes: BTreeMap<u64, String>,
}

/// A tree: the nodes that are shown, in preorder, the most frequent child first.
pub struct Tree {
    /// The nodes.
    pub nodes: Vec<TreeNode>,
}

/// A node: a sequence of paths.
pub struct TreeNode {
    /// The last path.
    pub path: u64,
    /// Paths in the sequence: 1 at the root.
    pub length: u32,
    /// Its counter.
    pub count: u64,
    /// The most it can be, if cold sequences were pruned while recording.
    pub at_most: u64,
    /// Position of the node above.
    pub parent: Option<usize>,
    /// Positions of the nodes below.
    pub children: Vec<usize>,
    /// Share of the occurrences of the sequence above whose continuation was seen.
    pub of_parent: f64,
    /// Share of the root's: the product of the shares on the way from there.
    pub of_root: f64,
    /// Per group of bursts, its counter and the occurrences whose continuation was seen, if there are groups.
    by_group: Option<[ByGroup; 2]>,
    /// Children that are not shown: how many, and their counters.
    pub hidden: (usize, u64),
    /// How often nothing came after it. 0 at the deepest level, where it is not known.
    pub ended: u64,
    /// Occurrences whose continuation was seen, or that ended.
    pub known: u64,
}

impl Trees {
    /// `None` if the method has no forest, or no path in it ever followed another.
    pub fn new(kpaths: Option<&KPaths>, method: &MethodView, limits: &Limits) -> Option<Self> {
        let (kpaths, (place, forest)) = (kpaths?, method.forest?);
        let mut roots: Vec<_> = forest.roots().collect();
        roots.sort_by_key(|(_, root)| (Reverse(root.count), root.path));
        let (inner, last): (Vec<_>, Vec<_>) = roots
            .into_iter()
            .partition(|(index, _)| forest.children(*index).next().is_some());
        if inner.is_empty() {
            return None;
        }
        let shown = inner.iter().take(limits.trees);
        let trees: Vec<Tree> = shown
            .map(|&(root, _)| Tree::new(kpaths, place, root, limits))
            .collect();
        let all = kpaths.ends_by_group(place);
        let interval = |tree: &Tree| {
            let [count, _] = tree.root().by_group?;
            product_interval(&[[count, all?]])
        };
        let numbers = trees.iter().flat_map(|t| t.nodes.iter().map(|n| n.path));
        let paths: BTreeMap<_, _> = numbers.map(|n| (n, method.path(n))).collect();
        let route = |path: &PathView| crate::route::route(path, method.map, method.decisions());
        let routes = paths
            .iter()
            .filter_map(|(&n, path)| Some((n, route(path.as_ref().ok()?))));
        Some(Trees {
            routes: routes.collect(),
            k: kpaths.k,
            bursts: kpaths.bursts.clone(),
            has_intervals: !kpaths.groups.is_empty(),
            intervals: trees.iter().map(interval).collect(),
            total: forest.total(),
            sequences: forest.nodes().len(),
            missing: forest.missing_by_length().to_vec(),
            more: inner.len() - trees.len(),
            last: last.into_iter().map(|(_, n)| (n.path, n.count)).collect(),
            paths,
            trees,
        })
    }
}

impl Tree {
    fn new(kpaths: &KPaths, place: (usize, usize), root: usize, limits: &Limits) -> Self {
        let (forest, k) = (&kpaths.methods[&place], kpaths.k);
        let cuts = forest.has_cuts();
        let mut tree = Tree { nodes: Vec::new() };
        let all = forest.nodes();
        let mut sequence = Vec::new();
        let mut stack = vec![(root, None)];
        while let Some((index, parent)) = stack.pop() {
            let node = &all[index];
            sequence.truncate(node.length as usize - 1);
            sequence.push(node.path);
            let at = tree.nodes.len();
            let above: Option<&TreeNode> = parent.map(|p: usize| &tree.nodes[p]);
            let at_most = node.count.saturating_add(forest.missing(node.length));
            let mut children: Vec<_> = forest.children(index).collect();
            let below: u64 = children.iter().fold(0, |sum, (_, c)| c.count.saturating_add(sum));
            let all_children = children.len();
            let of_parent = above.map_or(1.0, |above| ratio(node.count, above.known));
            // Without cuts from the counters alone, without errors of rounding.
            let of_root = match above {
                Some(above) if cuts => above.of_root * of_parent,
                _ => ratio(node.count, all[root].count),
            };
            children.retain(|(_, c)| {
                let share = ratio(c.count, node.known());
                share >= limits.min_parent && of_root * share >= limits.min_root
            });
            let kept: u64 = children.iter().fold(0, |sum, (_, c)| c.count.saturating_add(sum));
            tree.nodes.push(TreeNode {
                path: node.path,
                length: node.length,
                count: node.count,
                at_most: above.map_or(at_most, |above| at_most.min(above.at_most)),
                parent,
                children: Vec::new(),
                of_parent,
                of_root,
                by_group: kpaths.by_group(place, &sequence),
                known: node.known(),
                hidden: (all_children - children.len(), below.saturating_sub(kept)),
                ended: if node.length < k {
                    node.known().saturating_sub(below)
                } else {
                    0
                },
            });
            if let Some(parent) = parent {
                tree.nodes[parent].children.push(at);
            }
            // The most frequent comes off the stack first.
            children.sort_by_key(|(_, c)| (c.count, Reverse(c.path)));
            stack.extend(children.into_iter().map(|(child, _)| (child, Some(at))));
        }
        tree
    }
}

/// Which nodes share a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Each node is on its own.
    Nothing,
    /// Immediate repetitions of the same path: `5 ×4`.
    Runs,
    /// Whatever nearly always comes next: `38 → 86 ×3 → 755`.
    Chains,
}

/// Nodes that are shown as one: each but the last has only one child that is shown.
pub struct Line {
    /// The paths.
    pub steps: Vec<Step>,
    /// Index of the line above.
    pub parent: Option<usize>,
    /// Positions of the lines below.
    pub children: Vec<usize>,
    /// Index of its last node; counters and shares are that one's.
    pub last: usize,
    /// The last node's share of the line above.
    pub of_parent: f64,
    /// The same share in 95 of 100 runs like this one, if that is known.
    pub interval: Option<(f64, f64)>,
    /// Lines above it.
    pub depth: usize,
}

/// A path that comes one or more times in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub path: u64,
    /// Repetitions.
    pub times: u32,
}

/// A line may lose this share of its first node's counter on the way to its last: what comes next is then still
/// "nearly always" the same.
pub const LOSS: f64 = 0.05;
/// The same for a run of one path. A loop that goes round n times loses one n-th with each round.
const LOSS_OF_RUN: f64 = 0.25;

impl Tree {
    /// The tree as lines, in preorder; the first one is the root alone.
    pub fn lines(&self, fold: Fold) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let mut stack = vec![(0, None)];
        while let Some((first, parent)) = stack.pop() {
            let at = lines.len();
            let mut line = Line {
                steps: Vec::new(),
                parent,
                children: Vec::new(),
                last: first,
                of_parent: 1.0,
                interval: None,
                depth: 0,
            };
            line.push(self.nodes[first].path);
            // Of the first node's occurrences.
            let mut kept = 1.0;
            while let (Some(_), [only]) = (parent, &self.nodes[line.last].children[..]) {
                let (node, child) = (&self.nodes[line.last], &self.nodes[*only]);
                let loss = match fold {
                    Fold::Nothing => break,
                    Fold::Runs | Fold::Chains if child.path == node.path => LOSS_OF_RUN,
                    Fold::Runs => break,
                    Fold::Chains => LOSS,
                };
                let rest = kept * child.of_parent;
                if rest < 1.0 - loss {
                    break;
                }
                kept = rest;
                line.last = *only;
                line.push(child.path);
            }
            if let Some(parent) = parent {
                let above: &mut Line = &mut lines[parent];
                above.children.push(at);
                line.of_parent = kept * self.nodes[first].of_parent;
                line.interval = self.interval(above.last, line.last);
                line.depth = above.depth + 1;
            }
            let children = self.nodes[line.last].children.iter().rev();
            stack.extend(children.map(|&child| (child, Some(at))));
            lines.push(line);
        }
        lines
    }

    /// The share of a node in one above it, in 95 of 100 runs like this one: with none, and with all, of the
    /// continuations that were not seen. What takes long is more often cut than what is over soon, so those
    /// that were seen need not be a fair part.
    fn interval(&self, above: usize, node: usize) -> Option<(f64, f64)> {
        let (mut least, mut most) = (Vec::new(), Vec::new());
        let mut at = node;
        while at != above {
            let parent = self.nodes[at].parent?;
            let ([count, _], [all, known]) = (self.nodes[at].by_group?, self.nodes[parent].by_group?);
            let mut with_unseen = count;
            with_unseen.plus(&all.minus(&known)?);
            least.push([count, all]);
            most.push([with_unseen, all]);
            at = parent;
        }
        Some((product_interval(&least)?.0, product_interval(&most)?.1))
    }

    /// The interval of [`of_parent`](TreeNode::of_parent) of a node, given by its position, if it is known.
    pub fn share_interval(&self, node: usize) -> Option<(f64, f64)> {
        self.interval(self.nodes[node].parent?, node)
    }

    /// The first path alone.
    pub fn root(&self) -> &TreeNode {
        &self.nodes[0]
    }
}

impl Line {
    fn push(&mut self, path: u64) {
        match self.steps.last_mut() {
            Some(step) if step.path == path => step.times += 1,
            _ => self.steps.push(Step { path, times: 1 }),
        }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.times {
            1 => write!(f, "{}", self.path),
            times => write!(f, "{} ×{times}", self.path),
        }
    }
}

/// Half the width of the interval of a share, on its wider side.
pub fn margin(share: f64, (low, high): (f64, f64)) -> f64 {
    (share - low).max(high - share)
}

/// What came after a line besides its children, if it is worth a line by the same threshold: words, share of the line,
/// share of the root.
pub fn leftovers(tree: &Tree, line: &Line, limits: &Limits) -> Vec<(String, f64, f64)> {
    let node = &tree.nodes[line.last];
    let (others, count) = node.hidden;
    let words = match others {
        1 => "one other path".to_owned(),
        n => format!("{n} other paths, each below the threshold"),
    };
    [(words, count), ("the call ended".to_owned(), node.ended)]
        .into_iter()
        .map(|(words, count)| {
            (
                words,
                ratio(count, node.known),
                node.of_root * ratio(count, node.known),
            )
        })
        .filter(|&(_, of_line, of_root)| {
            of_root > 0.0 && of_line >= limits.min_parent && of_root >= limits.min_root
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use trodden_profile::{BURST_GROUPS, PathForest};

    use super::*;

    #[test]
    fn continuations_that_were_not_seen_may_be_any() {
        // Path 1, after it 60 times path 2, 20 times path 3, and 20 times the end of a burst.
        let group = || {
            let nodes = [(1, 1, 1000), (2, 2, 600), (2, 3, 200), (1, 2, 600), (1, 3, 200)];
            let forest = PathForest::from_preorder(nodes).unwrap();
            let forest = forest.with_cuts([(&[1][..], 200)]);
            std::iter::once(((0, 0), forest)).collect()
        };
        let kpaths = KPaths {
            k: 2,
            ..KPaths::default()
        };
        let groups = (0..BURST_GROUPS).map(|_| group()).collect();
        let kpaths = kpaths.with_groups(groups).unwrap();
        let tree = Tree::new(&kpaths, (0, 0), 0, &KPathsOptions::default().limits(0.0, 1));
        let shares: Vec<_> = (1..3)
            .map(|at| (tree.nodes[at].of_parent, tree.share_interval(at).unwrap()))
            .collect();
        for ((share, (low, high)), (least, most)) in shares.into_iter().zip([(0.6, 0.8), (0.2, 0.4)]) {
            assert!(share > least && share < most, "{share}");
            assert!((least - 0.01..least).contains(&low), "{low}");
            assert!((most..most + 0.01).contains(&high), "{high}");
        }
    }
}
