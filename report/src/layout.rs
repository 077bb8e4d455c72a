//! Placing a control-flow graph in layers, in Sugiyama's four steps: turn retreating edges round, put each block
//! below its predecessors, order each layer by barycentres, choose x coordinates by least squares.
//!
//! All steps are polynomial in blocks and edges. Why no crate does this:
//! docs/decisions/reports.md, "The report lays out control-flow graphs itself".

use std::collections::HashMap;

use trodden_insight::view::MethodView;
use trodden_numbering::{BlockId, EdgeRef, FlowGraph};

/// Graphs with more blocks are cut down to their hot part.
pub(crate) const MAX_BLOCKS: usize = 150;
const BOX_HEIGHT: f64 = 40.0;
const LAYER_GAP: f64 = 52.0;
const NODE_GAP: f64 = 26.0;
const LANE_WIDTH: f64 = 12.0;
const MARGIN: f64 = 14.0;
const ORDER_SWEEPS: usize = 12;
const PLACE_SWEEPS: usize = 16;

/// A placed graph.
pub(crate) struct Drawing {
    pub width: f64,
    pub height: f64,
    pub blocks: Vec<Placed>,
    pub edges: Vec<Curve>,
    /// Blocks left out because there were too many.
    pub hidden: usize,
}

/// A placed block; `x`, `y` is the top left corner.
pub(crate) struct Placed {
    pub block: usize,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub label: String,
}

/// A routed edge.
pub(crate) struct Curve {
    pub edge: EdgeRef,
    /// SVG path data.
    pub data: String,
    /// The curve runs from target to source (an upward edge): the arrow head belongs at its start.
    pub reversed: bool,
    /// Where a label next to the source fits.
    pub label_at: (f64, f64),
}

/// The label of a block: its lines, or its bytecode range.
pub(crate) fn label(view: &MethodView, block: usize) -> String {
    let info = &view.map.blocks[block];
    match (view.map.line(info.start), view.map.line(info.last)) {
        (Some(first), Some(last)) if first < last => format!("lines {first}–{last}"),
        (Some(first), Some(last)) if first > last => format!("lines {first}, {last}"),
        (Some(line), _) => format!("line {line}"),
        _ => format!("bytecode {}–{}", info.start, info.last),
    }
}

/// The blocks to show: all, or the busiest [`MAX_BLOCKS`] and those of the hottest path (as far as they fit).
pub(crate) fn shown(view: &MethodView) -> Vec<usize> {
    let mut blocks: Vec<usize> = (0..view.map.blocks.len()).collect();
    if blocks.len() > MAX_BLOCKS {
        let mut hot = vec![false; blocks.len()];
        for block in view.hottest().iter().flat_map(|p| &p.description.blocks) {
            hot[block.index()] = true;
        }
        let entry = view.map.graph.entry().index();
        blocks.sort_by_key(|&b| (b != entry, !hot[b], std::cmp::Reverse(view.edges.blocks[b]), b));
        blocks.truncate(MAX_BLOCKS);
        blocks.sort_unstable();
    }
    blocks
}

/// Lays out the graph of a method. `None` if there is nothing to place or the path map is damaged.
pub(crate) fn place(view: &MethodView) -> Option<Drawing> {
    let shown = shown(view);
    if shown.is_empty() || view.map.graph.num_blocks() != view.map.blocks.len() {
        return None;
    }
    let node_of: HashMap<usize, usize> = shown.iter().enumerate().map(|(node, &b)| (b, node)).collect();
    let labels: Vec<String> = shown.iter().map(|&b| label(view, b)).collect();
    let widths = labels
        .iter()
        .map(|l| (l.chars().count() as f64 * 7.4 + 24.0).max(64.0));
    let mut names = Vec::new();
    let mut edges = Vec::new();
    for (node, &block) in shown.iter().enumerate() {
        let from = BlockId::new(block);
        for (index, to) in view.map.graph.successors(from).iter().enumerate() {
            if let Some(&target) = node_of.get(&to.index()) {
                let index = index as u32;
                names.push(EdgeRef { from, index });
                edges.push((node, target));
            }
        }
    }
    let layers = Layers::new(widths.collect(), &edges);
    let curves = names.iter().zip(&layers.chains);
    Some(Drawing {
        width: layers.width(),
        height: layers.y(layers.order.len()) - LAYER_GAP + MARGIN,
        edges: curves.map(|(&edge, chain)| layers.curve(edge, chain)).collect(),
        hidden: view.map.blocks.len() - shown.len(),
        blocks: shown
            .iter()
            .zip(labels)
            .enumerate()
            .map(|(node, (&block, label))| Placed {
                block,
                x: layers.x[node] - layers.widths[node] / 2.0,
                y: layers.y(layers.rank[node]),
                width: layers.widths[node],
                height: BOX_HEIGHT,
                label,
            })
            .collect(),
    })
}

/// An edge as nodes from layer to layer, downwards; all but the first and last are lanes (dummy nodes).
struct Chain {
    nodes: Vec<usize>,
    /// The edge itself runs upwards.
    reversed: bool,
}

struct Layers {
    /// Nodes up to this are blocks, the rest lanes.
    blocks: usize,
    widths: Vec<f64>,
    rank: Vec<usize>,
    /// Nodes per layer, left to right.
    order: Vec<Vec<usize>>,
    /// Centre of each node.
    x: Vec<f64>,
    chains: Vec<Chain>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Layers {
    fn new(widths: Vec<f64>, edges: &[(usize, usize)]) -> Self {
        let blocks = widths.len();
        let (retreating, topological) = walk(blocks, edges);
        let mut rank = vec![0usize; blocks];
        let mut out = vec![Vec::new(); blocks];
        for (&(from, to), &back) in edges.iter().zip(&retreating) {
            match (from == to, back) {
                (true, _) => {}
                (false, true) => out[to].push(from),
                (false, false) => out[from].push(to),
            }
        }
        for &node in &topological {
            for &to in &out[node] {
                rank[to] = rank[to].max(rank[node] + 1);
            }
        }
        let mut layers = Layers {
            blocks,
            widths,
            rank,
            order: Vec::new(),
            x: Vec::new(),
            chains: Vec::new(),
            above: Vec::new(),
            below: Vec::new(),
        };
        for (&(from, to), &reversed) in edges.iter().zip(&retreating) {
            layers.add_chain(from, to, reversed);
        }
        layers.join();
        layers.sort();
        layers.spread();
        layers
    }

    fn add_chain(&mut self, from: usize, to: usize, reversed: bool) {
        let (top, bottom) = if reversed { (to, from) } else { (from, to) };
        let mut nodes = vec![top];
        for rank in self.rank[top] + 1..self.rank[bottom] {
            nodes.push(self.rank.len());
            self.rank.push(rank);
            self.widths.push(LANE_WIDTH);
        }
        nodes.push(bottom);
        self.chains.push(Chain { nodes, reversed });
    }

    fn join(&mut self) {
        let nodes = self.rank.len();
        self.above = vec![Vec::new(); nodes];
        self.below = vec![Vec::new(); nodes];
        for chain in self.chains.iter().filter(|c| c.nodes[0] != c.nodes[1]) {
            for pair in chain.nodes.windows(2) {
                self.below[pair[0]].push(pair[1]);
                self.above[pair[1]].push(pair[0]);
            }
        }
        let deepest = self.rank.iter().copied().max().unwrap_or(0);
        self.order = vec![Vec::new(); deepest + 1];
        for (node, &rank) in self.rank.iter().enumerate() {
            self.order[rank].push(node);
        }
    }

    /// Orders layers by barycentres, down and up in turn, keeping the order with the fewest crossings.
    fn sort(&mut self) {
        let mut best = (self.crossings(), self.order.clone());
        for sweep in 0..ORDER_SWEEPS {
            let down = sweep % 2 == 0;
            let position = &mut positions(&self.order, self.rank.len());
            let count = self.order.len();
            for step in 1..count {
                let layer = if down { step } else { count - 1 - step };
                let neighbours = if down { &self.above } else { &self.below };
                let key = |node: usize| {
                    let sum: f64 = neighbours[node].iter().map(|&n| position[n]).sum();
                    if neighbours[node].is_empty() {
                        position[node]
                    } else {
                        sum / neighbours[node].len() as f64
                    }
                };
                let mut keyed: Vec<(f64, usize)> = self.order[layer].iter().map(|&n| (key(n), n)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.order[layer] = keyed.into_iter().map(|(_, n)| n).collect();
                for (i, &node) in self.order[layer].iter().enumerate() {
                    position[node] = i as f64;
                }
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.order.clone());
            }
        }
        self.order = best.1;
    }

    /// Crossings between neighbouring layers: inversions of the edges sorted by their upper end.
    fn crossings(&self) -> usize {
        let position = positions(&self.order, self.rank.len());
        let mut total = 0;
        for layer in &self.order {
            let mut seen: Vec<f64> = Vec::new();
            for &node in layer {
                let mut ends: Vec<f64> = self.below[node].iter().map(|&n| position[n]).collect();
                ends.sort_by(f64::total_cmp);
                total += ends
                    .iter()
                    .map(|e| seen.len() - seen.partition_point(|s| s <= e))
                    .sum::<usize>();
                for end in ends {
                    seen.insert(seen.partition_point(|s| *s <= end), end);
                }
            }
        }
        total
    }

    /// Moves nodes towards the mean of their neighbours as far as order and gaps allow.
    fn spread(&mut self) {
        self.x = vec![0.0; self.rank.len()];
        for layer in 0..self.order.len() {
            self.settle(layer, |_| 0.0);
        }
        for sweep in 0..PLACE_SWEEPS {
            let count = self.order.len();
            for step in 0..count {
                let down = sweep % 2 == 0;
                let layer = if down { step } else { count - 1 - step };
                let x = self.x.clone();
                let wishes: HashMap<usize, f64> = self.order[layer]
                    .iter()
                    .map(|&node| {
                        let all = self.above[node].iter().chain(&self.below[node]);
                        let side = if down {
                            &self.above[node]
                        } else {
                            &self.below[node]
                        };
                        let mean = |sum: f64, n: usize| if n == 0 { x[node] } else { sum / n as f64 };
                        // The last sweeps look both ways, so that neither side stays crooked.
                        let wish = if sweep + 4 >= PLACE_SWEEPS || side.is_empty() {
                            let n = self.above[node].len() + self.below[node].len();
                            mean(all.map(|&n| x[n]).sum(), n)
                        } else {
                            mean(side.iter().map(|&n| x[n]).sum(), side.len())
                        };
                        (node, wish)
                    })
                    .collect();
                self.settle(layer, |node| wishes[&node]);
            }
        }
        let left = (0..self.x.len())
            .map(|n| self.x[n] - self.widths[n] / 2.0)
            .fold(f64::MAX, f64::min);
        self.x.iter_mut().for_each(|x| *x += MARGIN - left);
    }

    /// Places a layer as near to the wishes as its order and gaps allow, in the least-squares sense (pool
    /// adjacent violators). Lanes weigh more, which keeps long edges straight.
    fn settle(&mut self, layer: usize, wish: impl Fn(usize) -> f64) {
        let nodes = &self.order[layer];
        // Each pool: (weighted mean, weight, members). Offsets turn "at least a gap apart" into "ascending".
        let mut pools: Vec<(f64, f64, usize)> = Vec::new();
        let mut offsets = Vec::new();
        let mut offset = 0.0;
        for (i, &node) in nodes.iter().enumerate() {
            if i > 0 {
                let before = nodes[i - 1];
                let gap = if node >= self.blocks && before >= self.blocks {
                    4.0
                } else {
                    NODE_GAP
                };
                offset += (self.widths[before] + self.widths[node]) / 2.0 + gap;
            }
            offsets.push(offset);
            let weight = if node >= self.blocks { 4.0 } else { 1.0 };
            pools.push((wish(node) - offset, weight, 1));
            while let [.., a, b] = pools.as_slice() {
                if a.0 <= b.0 {
                    break;
                }
                let weight = a.1 + b.1;
                let merged = ((a.0 * a.1 + b.0 * b.1) / weight, weight, a.2 + b.2);
                pools.truncate(pools.len() - 2);
                pools.push(merged);
            }
        }
        let settled = pools
            .iter()
            .flat_map(|&(x, _, members)| std::iter::repeat_n(x, members));
        for ((&node, x), offset) in nodes.iter().zip(settled).zip(offsets) {
            self.x[node] = x + offset;
        }
    }

    fn y(&self, rank: usize) -> f64 {
        MARGIN + rank as f64 * (BOX_HEIGHT + LAYER_GAP)
    }

    fn width(&self) -> f64 {
        let right = (0..self.x.len())
            .map(|n| self.x[n] + self.widths[n] / 2.0)
            .fold(0.0, f64::max);
        // Room for a loop from a block to itself.
        let loops = self.chains.iter().any(|c| c.nodes[0] == c.nodes[1]);
        right + MARGIN + if loops { 40.0 } else { 0.0 }
    }

    /// Where an edge to `other` leaves the box: edges share its width in the order of their other ends.
    fn port(&self, node: usize, other: usize, down: bool) -> f64 {
        if node >= self.blocks {
            return self.x[node];
        }
        let ends = if down {
            &self.below[node]
        } else {
            &self.above[node]
        };
        let before = ends.iter().filter(|&&e| self.x[e] < self.x[other]).count();
        let same = ends.iter().filter(|&&e| self.x[e] == self.x[other]).count();
        let slot = before as f64 + (same as f64 + 1.0) / 2.0;
        self.x[node] + self.widths[node] * (slot / (ends.len() as f64 + 1.0) - 0.5)
    }

    fn curve(&self, edge: EdgeRef, chain: &Chain) -> Curve {
        let (first, last) = (chain.nodes[0], chain.nodes[chain.nodes.len() - 1]);
        if first == last {
            let (x, y) = (self.x[first] + self.widths[first] / 2.0, self.y(self.rank[first]));
            let (low, high, far) = (y + BOX_HEIGHT * 0.75, y + BOX_HEIGHT * 0.25, x + 34.0);
            return Curve {
                edge,
                data: format!("M{x:.1} {low:.1} C{far:.1} {low:.1}, {far:.1} {high:.1}, {x:.1} {high:.1}"),
                reversed: false,
                label_at: (far, y + BOX_HEIGHT + 10.0),
            };
        }
        // Parallel edges (both outcomes lead to one block) bow apart.
        let twins = self.below[first]
            .iter()
            .filter(|&&n| n == chain.nodes[1] && n < self.blocks)
            .count();
        let bow = if twins > 1 {
            (f64::from(edge.index) - (twins as f64 - 1.0) / 2.0) * 44.0
        } else {
            0.0
        };
        let mut data = String::new();
        let mut label_at = (0.0, 0.0);
        let segments = chain.nodes.len() - 1;
        for (i, pair) in chain.nodes.windows(2).enumerate() {
            let (a, b) = (pair[0], pair[1]);
            let (ax, ay) = (self.port(a, b, true), self.y(self.rank[a]) + BOX_HEIGHT);
            let (bx, by) = (self.port(b, a, false), self.y(self.rank[b]));
            let middle = (ay + by) / 2.0;
            if i == 0 {
                data = format!("M{ax:.1} {ay:.1}");
            } else {
                data += &format!(" L{ax:.1} {ay:.1}");
            }
            data += &format!(
                " C{:.1} {middle:.1}, {:.1} {middle:.1}, {bx:.1} {by:.1}",
                ax + bow,
                bx + bow
            );
            // Next to the source's layer, but where the edges of one branch have parted.
            if !chain.reversed && i == 0 {
                label_at = (ax + (bx - ax) * 0.8 + bow, ay + LAYER_GAP * 0.66);
            } else if chain.reversed && i == segments - 1 {
                label_at = (bx + (ax - bx) * 0.8 + bow, by - LAYER_GAP * 0.6);
            }
        }
        Curve {
            edge,
            data,
            reversed: chain.reversed,
            label_at,
        }
    }
}

fn positions(order: &[Vec<usize>], nodes: usize) -> Vec<f64> {
    let mut position = vec![0.0; nodes];
    for layer in order {
        for (i, &node) in layer.iter().enumerate() {
            position[node] = i as f64;
        }
    }
    position
}

/// Depth-first walk from all nodes in order: which edges retreat, and a topological order of the rest (with
/// retreating ones turned round).
fn walk(nodes: usize, edges: &[(usize, usize)]) -> (Vec<bool>, Vec<usize>) {
    let mut out = vec![Vec::new(); nodes];
    for (index, &(from, to)) in edges.iter().enumerate() {
        out[from].push((index, to));
    }
    let mut retreating = vec![false; edges.len()];
    // 0 unseen, 1 on the stack, 2 done.
    let mut state = vec![0u8; nodes];
    let mut postorder = Vec::with_capacity(nodes);
    for root in 0..nodes {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut stack = vec![(root, 0)];
        while let Some(top) = stack.last_mut() {
            let node = top.0;
            let Some(&(index, to)) = out[node].get(top.1) else {
                state[node] = 2;
                postorder.push(node);
                stack.pop();
                continue;
            };
            top.1 += 1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    stack.push((to, 0));
                }
                1 => retreating[index] = true,
                _ => {}
            }
        }
    }
    // A retreating edge leads to an ancestor, which reverse postorder lists first: turned round it fits too.
    postorder.reverse();
    (retreating, postorder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes of a layer must not overlap and edges must run downwards, whatever the graph.
    fn check(nodes: usize, edges: &[(usize, usize)]) {
        let layers = Layers::new(vec![80.0; nodes], edges);
        for layer in &layers.order {
            for pair in layer.windows(2) {
                let apart = layers.x[pair[1]] - layers.x[pair[0]];
                assert!(
                    apart >= (layers.widths[pair[0]] + layers.widths[pair[1]]) / 2.0,
                    "{edges:?}"
                );
            }
        }
        for (chain, &(from, to)) in layers
            .chains
            .iter()
            .zip(edges)
            .filter(|(_, (from, to))| from != to)
        {
            assert!(
                chain
                    .nodes
                    .windows(2)
                    .all(|p| layers.rank[p[0]] + 1 == layers.rank[p[1]]),
                "{edges:?}"
            );
            let ends = (chain.nodes[0], chain.nodes[chain.nodes.len() - 1]);
            assert_eq!(ends, if chain.reversed { (to, from) } else { (from, to) });
        }
        assert!(layers.x.iter().all(|x| x.is_finite()));
    }

    #[test]
    fn random_graphs_are_laid_out() {
        let mut seed = 1u64;
        let mut next = |below: usize| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below
        };
        for round in 0..300 {
            let nodes = 1 + next(if round % 50 == 0 { MAX_BLOCKS } else { 20 });
            let edges: Vec<_> = (0..next(2 * nodes + 1))
                .map(|_| (next(nodes), next(nodes)))
                .collect();
            check(nodes, &edges);
        }
    }

    #[test]
    fn rows_of_diamonds_take_no_exponential_time() {
        let diamonds = MAX_BLOCKS / 3;
        let edges: Vec<_> = (0..diamonds - 1)
            .flat_map(|i| {
                [
                    (3 * i, 3 * i + 1),
                    (3 * i, 3 * i + 2),
                    (3 * i + 1, 3 * i + 3),
                    (3 * i + 2, 3 * i + 3),
                ]
            })
            .collect();
        check(3 * diamonds, &edges);
    }
}
