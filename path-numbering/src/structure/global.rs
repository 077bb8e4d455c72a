//! From local counts to global ones (SPP figure 7).

use std::collections::BTreeMap;

use super::{Node, Structure};
use crate::regenerate::RegenerateError;

/// Why local counts cannot be made global.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobalError {
    /// Not one table of counts for each structure graph.
    #[error("counts of {given} graphs for a method with {graphs}")]
    Graphs {
        /// Tables given.
        given: usize,
        /// Structure graphs of the method.
        graphs: usize,
    },
    /// A number that names no path of its graph.
    #[error("structure graph {graph}: {error}")]
    Path {
        /// Which graph.
        graph: usize,
        /// The cause.
        error: RegenerateError,
    },
}

impl Structure {
    /// Global counts of all paths. `local` has a table (path number to count) per graph, each counted over a
    /// window of its own; the outline's counts are taken as global. A loop's counts are multiplied by how
    /// often it is entered according to the global counts of the graph around it, over how often it was
    /// entered while it was counted. A loop of which no entry was seen keeps no count: nothing is known of
    /// its share.
    ///
    /// # Errors
    /// If the tables do not fit the graphs.
    pub fn global(&self, local: &[BTreeMap<u64, u64>]) -> Result<Vec<BTreeMap<u64, f64>>, GlobalError> {
        if local.len() != self.graphs.len() {
            return Err(GlobalError::Graphs {
                given: local.len(),
                graphs: self.graphs.len(),
            });
        }
        let mut global = Vec::with_capacity(local.len());
        // How often each loop is entered, by its global parent paths. Parents come before their loops.
        let mut entries = vec![0.0; local.len()];
        for (graph, (counts, of)) in local.iter().zip(&self.graphs).enumerate() {
            let path = |&number: &u64| {
                let path = of.path(number);
                path.map_err(|error| GlobalError::Path { graph, error })
            };
            let paths = counts.keys().map(path).collect::<Result<Vec<_>, _>>()?;
            let coefficient = if of.parent.is_none() {
                1.0
            } else {
                let entered =
                    |(path, count): (&super::StructuralPath, u64)| if path.enters() { count } else { 0 };
                let seen: u64 = paths.iter().zip(counts.values().copied()).map(entered).sum();
                if seen == 0 {
                    0.0
                } else {
                    entries[graph] / seen as f64
                }
            };
            let mut scaled = BTreeMap::new();
            for (path, (&number, &count)) in paths.iter().zip(counts) {
                let count = count as f64 * coefficient;
                scaled.insert(number, count);
                for node in &path.nodes {
                    if let Node::Loop(inner) = *node {
                        entries[inner] += count;
                    }
                }
            }
            global.push(scaled);
        }
        Ok(global)
    }
}
