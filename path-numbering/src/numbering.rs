//! From graph to P-DAG and plan in one go, with memory that is used again: for whoever numbers one method after
//! the other.

use crate::dag::{Counting, NumberingError, NumberingOptions, PathDag, validate};
use crate::graph::{EdgeWeights, FlowGraph};
use crate::heuristics::{Analysis, BranchHints};
use crate::plan::Plan;
use crate::rows::Rows;
use crate::walk::DepthFirst;

/// Working memory of numbering. It keeps the size that the largest graph needed.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    walk: DepthFirst,
    analysis: Analysis,
    weights: Rows<f64>,
    counting: Counting,
    restarts: Vec<Option<u64>>,
}

/// A numbered graph.
#[derive(Debug)]
pub struct Numbering<'s, G> {
    graph: &'s G,
    scratch: &'s mut Scratch,
    /// The P-DAG.
    pub dag: PathDag,
}

impl Scratch {
    /// The same P-DAG as [`PathDag::build`] makes with the weights of [`EdgeWeights::heuristic`], from a single walk
    /// over the graph.
    ///
    /// # Errors
    /// As [`PathDag::build`].
    pub fn number<'s, G: FlowGraph>(
        &'s mut self,
        graph: &'s G,
        hints: &impl BranchHints,
        options: &NumberingOptions,
    ) -> Result<Numbering<'s, G>, NumberingError> {
        validate(graph)?;
        self.walk.run(graph);
        let mut weights = std::mem::take(&mut self.weights);
        if options.smart {
            self.analysis.run(graph, hints, &self.walk);
            self.analysis.weights(graph, hints, &self.walk, &mut weights);
        }
        let weights = EdgeWeights::from_rows(weights);
        let dag = PathDag::of_walk(graph, &weights, options, &self.walk, &mut self.counting);
        self.weights = weights.into_rows();
        Ok(Numbering {
            graph,
            scratch: self,
            dag: dag?,
        })
    }
}

impl<G: FlowGraph> Numbering<'_, G> {
    /// [`Plan::new`] for this graph.
    pub fn plan(&mut self, skip_single_path_loops: bool) -> Plan {
        let Scratch { walk, restarts, .. } = &mut *self.scratch;
        let walk = skip_single_path_loops.then_some(&*walk);
        Plan::of_walk(self.graph, &self.dag, walk, restarts)
    }
}
