//! Trees as lists of their nodes in preorder, siblings by key: calling contexts, and stacks of CPU samples.

use crate::model::fault::{Fault, ensure};

/// A node of such a tree.
pub(crate) trait Node: Copy {
    /// Key by which a node differs from its siblings.
    type Key: Copy + Ord;

    /// The word for it in messages.
    const NAME: &'static str;

    /// Nodes from the root down to it: 1 at a root.
    fn depth(&self) -> u32;

    /// The node at another depth.
    fn at_depth(self, depth: u32) -> Self;

    /// Its key.
    fn key(&self) -> Self::Key;

    /// Adds a node of the same place.
    fn add(&mut self, other: &Self);
}

/// Refuses nodes that are not in order, or at an impossible depth.
pub(crate) fn check<N: Node>(nodes: &[N]) -> Result<(), Fault> {
    let mut last: Vec<N::Key> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let above = (node.depth() as usize).checked_sub(1);
        let above = above.filter(|&above| above <= last.len());
        let above = above.ok_or(Fault::Depth(N::NAME, at, node.depth(), last.len()))?;
        let is_behind = last.get(above).is_none_or(|before| *before < node.key());
        ensure(is_behind, || Fault::Sibling(N::NAME, at))?;
        last.truncate(above);
        last.push(node.key());
    }
    Ok(())
}

/// Rows of the same place.
enum Rows {
    One(u32),
    Many(Vec<u32>),
}

/// Rows by the row of their parent.
struct Children {
    /// Of each row, where those of its own begin; of the roots first.
    begin: Vec<u32>,
    rows: Vec<u32>,
}

impl Children {
    /// The children of a row, or the roots.
    fn of(&mut self, parent: Option<u32>) -> &mut [u32] {
        let at = parent.map_or(0, |parent| parent as usize + 1);
        &mut self.rows[self.begin[at] as usize..self.begin[at + 1] as usize]
    }

    /// Those of a number of rows that are there and whose parents are.
    fn new(count: usize, parent: impl Fn(u32) -> Option<Option<u32>>) -> Self {
        // Twice, as the rows themselves may be anywhere: how many each has, then which.
        let mut begin = vec![0u32; count + 2];
        let mut is_there = vec![false; count];
        let slot = |parent: Option<u32>| parent.map_or(0, |parent| parent as usize + 1);
        for at in 0..count {
            if let Some(parent) = parent(at as u32)
                && parent.is_none_or(|parent| is_there[parent as usize])
            {
                is_there[at] = true;
                begin[slot(parent) + 1] += 1;
            }
        }
        let mut sum = 0;
        for first in &mut begin {
            sum += *first;
            *first = sum;
        }
        let mut rows = vec![0; sum as usize];
        let mut next = begin.clone();
        for at in (0..count as u32).filter(|&at| is_there[at as usize]) {
            let next = &mut next[slot(parent(at).flatten())];
            rows[*next as usize] = at;
            *next += 1;
        }
        Children { begin, rows }
    }
}

/// A tree from rows in any order but that parents come first, and the index of each row's node. `row` gives a row's
/// node, and the row of its parent. Rows of the same place are added up. Rows without a node are left out, with those
/// below them. Needs little more memory than the tree: rows need not be anywhere, and there may be millions.
pub(crate) fn from_rows<N: Node>(
    count: usize,
    row: impl Fn(u32) -> (Option<u32>, Option<N>),
) -> (Vec<N>, Vec<Option<u32>>) {
    let mut children = Children::new(count, |at| {
        let (parent, node) = row(at);
        node.map(|_| parent)
    });
    let key = |at: u32| row(at).1.map(|node| node.key());
    let mut tree = Vec::with_capacity(children.rows.len());
    let mut places = vec![None; count];
    let mut stack: Vec<(Rows, u32)> = Vec::new();
    // Siblings in the order of their keys; the last ones first.
    let push = |stack: &mut Vec<(Rows, u32)>, rows: &mut [u32], depth: u32| {
        rows.sort_by_key(|&at| key(at));
        let groups = rows.chunk_by(|&a, &b| key(a) == key(b)).rev();
        stack.extend(groups.map(|group| match group {
            [only] => (Rows::One(*only), depth),
            group => (Rows::Many(group.to_vec()), depth),
        }));
    };
    push(&mut stack, children.of(None), 1);
    while let Some((rows, depth)) = stack.pop() {
        let same: &[u32] = match &rows {
            Rows::One(at) => std::slice::from_ref(at),
            Rows::Many(rows) => rows,
        };
        for &at in same {
            places[at as usize] = Some(tree.len() as u32);
        }
        let mut nodes = same.iter().filter_map(|&at| row(at).1);
        let Some(first) = nodes.next() else { continue };
        let mut node = first.at_depth(depth);
        nodes.for_each(|other| node.add(&other));
        tree.push(node);
        match rows {
            Rows::One(at) => push(&mut stack, children.of(Some(at)), depth + 1),
            Rows::Many(rows) => {
                let below = rows.iter().flat_map(|&at| children.of(Some(at)).to_vec());
                push(&mut stack, &mut below.collect::<Vec<u32>>(), depth + 1);
            }
        }
    }
    (tree, places)
}

/// Per node the index of its parent.
pub(crate) fn parents<N: Node>(nodes: &[N]) -> Vec<Option<u32>> {
    let mut path: Vec<u32> = Vec::new();
    let parent = |(at, node): (u32, &N)| {
        path.truncate(node.depth() as usize - 1);
        let parent = path.last().copied();
        path.push(at);
        parent
    };
    (0..).zip(nodes).map(parent).collect()
}

/// Per node its value combined with those of all nodes below it.
pub(crate) fn inclusive<N: Node, T: Copy>(
    nodes: &[N],
    value: impl FnMut(&N) -> T,
    combine: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut values: Vec<T> = nodes.iter().map(value).collect();
    for (at, parent) in parents(nodes).into_iter().enumerate().rev() {
        if let Some(parent) = parent {
            values[parent as usize] = combine(values[parent as usize], values[at]);
        }
    }
    values
}
