//! Which blocks' frequencies follow from the counts, where probes do not report every path.

use trodden_numbering::{EdgeRef, FlowGraph, Path, PathEnd};

use crate::model::counts::MethodCounts;
use crate::model::map::MethodMap;

impl MethodMap {
    /// Per block: do the counts say how often it ran, and how often each of its out-edges was followed?
    ///
    /// `false` for the blocks of each path that the probes do not report
    /// ([`unobserved`](MethodMap::unobserved): one iteration of a loop with a single path) once that loop was reached.
    /// The path leads from the loop's header back to the header. So a run may contain any number of these iterations,
    /// and all other counts stay the same: nothing else in the profile says how many there were. The counts of such a
    /// block are those of the runs that *left* the loop. Its share of taken branches is therefore wrong and not just
    /// inexact: a loop that runs a million times and ends once would show its exit as taken in 100 % of the cases.
    ///
    /// `true` for all other blocks: every path through them is reported. Their frequencies are exact where path counts
    /// are exact, and shares of their out-edges are unbiased where paths are sampled. `true` as well for blocks of a
    /// loop that no counted path enters or leaves: such a loop did not run at all, or it was never seen.
    ///
    /// Paths that an exception cuts off, or that are open when the run ends, are another matter: they are counted in
    /// no block.
    pub fn known_blocks(&self, counts: &MethodCounts) -> Vec<bool> {
        let mut known = vec![true; self.graph.num_blocks()];
        if self.unobserved.is_empty() {
            return known;
        }
        let reached = self.seen_at(counts);
        for &number in &self.unobserved {
            let Ok(path) = self.dag.regenerate(&self.graph, number) else {
                continue;
            };
            let blocks = path.blocks(&self.graph);
            if blocks.iter().any(|block| reached[block.index()]) {
                blocks.iter().for_each(|block| known[block.index()] = false);
            }
        }
        known
    }

    /// Is this edge's frequency known? Of a block that is not [known](MethodMap::known_blocks), only out-edges that
    /// leave the loop are: each path that follows one of them is reported.
    pub fn known_edge(&self, known_blocks: &[bool], edge: EdgeRef) -> bool {
        let is_known = known_blocks.get(edge.from.index()).is_none_or(|known| *known);
        is_known || !self.unobserved_paths().any(|path| path.edges.contains(&edge))
    }

    fn unobserved_paths(&self) -> impl Iterator<Item = Path> {
        let path = |&number: &u64| self.dag.regenerate(&self.graph, number).ok();
        self.unobserved.iter().filter_map(path)
    }

    /// Per block: was some counted path there, be it only to end on arrival?
    fn seen_at(&self, counts: &MethodCounts) -> Vec<bool> {
        let mut seen = vec![false; self.graph.num_blocks()];
        for executed in self.executed(counts).flatten() {
            let path = executed.path;
            for block in path.blocks(&self.graph) {
                seen[block.index()] = true;
            }
            if let PathEnd::At(block, _) | PathEnd::Stopped(block) = path.end {
                seen[block.index()] = true;
            }
        }
        seen
    }
}
