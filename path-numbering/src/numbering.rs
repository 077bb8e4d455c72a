//! From graph to P-DAG and plan in one go, with memory that is used again: for callers that number one method
//! after the other.

use crate::dag::{Counting, NumberingError, NumberingOptions, PathDag, validate};
use crate::graph::{BlockId, EdgeWeights, FlowGraph};
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
    /// The same P-DAG as [`PathDag::build`] makes with the weights of [`EdgeWeights::heuristic`], from a
    /// single walk over the graph.
    ///
    /// # Errors
    /// As [`PathDag::build`].
    pub fn number<'s, G: FlowGraph>(
        &'s mut self,
        graph: &'s G,
        hints: &impl BranchHints,
        options: &NumberingOptions,
    ) -> Result<Numbering<'s, G>, NumberingError> {
        self.number_by(graph, hints, None, options)
    }

    /// As [`Scratch::number`], but where a former run was measured, its frequencies decide (PEP section 3.4):
    /// those of a block's out-edges, in successor order. Blocks whose edges were never followed, or for which
    /// nothing is given, are numbered by prediction; so is the order among edges that were followed equally
    /// often.
    ///
    /// # Errors
    /// As [`PathDag::build`].
    pub fn number_measured<'s, G: FlowGraph>(
        &'s mut self,
        graph: &'s G,
        hints: &impl BranchHints,
        measured: &EdgeWeights,
        options: &NumberingOptions,
    ) -> Result<Numbering<'s, G>, NumberingError> {
        self.number_by(graph, hints, Some(measured), options)
    }

    fn number_by<'s, G: FlowGraph>(
        &'s mut self,
        graph: &'s G,
        hints: &impl BranchHints,
        measured: Option<&EdgeWeights>,
        options: &NumberingOptions,
    ) -> Result<Numbering<'s, G>, NumberingError> {
        validate(graph)?;
        self.walk.run(graph);
        let mut weights = std::mem::take(&mut self.weights);
        if options.smart {
            self.analysis.run(graph, hints, &self.walk);
            self.analysis.weights(graph, hints, &self.walk, &mut weights);
            if let Some(measured) = measured {
                add_measured(&mut weights, measured);
            }
        }
        let weights = EdgeWeights::from_rows(weights);
        let dag = PathDag::from_walk(graph, &weights, options, &self.walk, &mut self.counting);
        self.weights = weights.into_rows();
        Ok(Numbering {
            graph,
            scratch: self,
            dag: dag?,
        })
    }
}

/// Puts measured frequencies above predictions, which are probabilities and so decide only among equals.
fn add_measured(weights: &mut Rows<f64>, measured: &EdgeWeights) {
    for row in 0..weights.len() {
        for (weight, &times) in weights[row].iter_mut().zip(measured.row(BlockId::new(row))) {
            *weight += times;
        }
    }
}

impl<G: FlowGraph> Numbering<'_, G> {
    /// [`Plan::new`] for this graph.
    pub fn plan(&mut self, skip_single_path_loops: bool) -> Plan {
        let Scratch { walk, restarts, .. } = &mut *self.scratch;
        let walk = skip_single_path_loops.then_some(&*walk);
        Plan::from_walk(self.graph, &self.dag, walk, restarts)
    }
}
