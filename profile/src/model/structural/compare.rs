//! How well an estimated structural profile predicts a complete one (SPP's own comparison: "offline complete path profiles").

use std::collections::BTreeMap;

use trodden_numbering::FlowGraph;
use trodden_numbering::structure::{Node, Structure, StructureGraph};

use super::structure_of;
use crate::model::accuracy::{Accuracy, AccuracyOptions, Flows};
use crate::model::counts::add_up;
use crate::model::map::MethodMap;
use crate::model::profile::Profile;

/// Result of [`compare_structural`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StructuralAccuracy {
    /// Wall weight matching (PEP section 6.3) over structural paths by branch flow, from 0 to 1; `None` if there is no flow.
    pub path_accuracy: Option<f64>,
    /// Number of hot structural paths in the complete profile.
    pub hot_paths: usize,
    /// Branch flow on all structural paths, in the complete profile.
    pub exact_flow: u64,
    /// The same in the estimate.
    pub estimated_flow: u64,
    /// Mean over methods of how much their loops' local distributions agree with the complete ones: per structure graph the sum over
    /// its paths of the lesser share, weighted by exact flow. So it does not depend on how well methods are compared with each other.
    pub local_overlap: Option<f64>,
    /// Methods of the estimate that the complete profile does not have.
    pub unmatched_methods: usize,
}

type Key<'a> = (&'a str, [u8; 32], &'a str, &'a str);

/// Graphs of one method with their counts.
type Tables<'a> = (&'a MethodMap, Vec<BTreeMap<u64, u64>>, Vec<BTreeMap<u64, u64>>);

/// Compares global structural profiles of the same work; `None` unless both profiles have one.
pub fn compare_structural(
    exact: &Profile,
    estimate: &Profile,
    options: &AccuracyOptions,
) -> Option<StructuralAccuracy> {
    let (exact, mut guessed) = (tables(exact)?, tables(estimate)?);
    let mut result = StructuralAccuracy::default();
    let mut flows = Flows::default();
    let (mut agreement, mut weight) = (0.0, 0.0);
    for (index, (key, (map, actual, _))) in exact.iter().enumerate() {
        let Ok(structure) = structure_of(&map.graph) else {
            continue;
        };
        let estimate = guessed.remove(key);
        let estimate = estimate.filter(|(other, ..)| other.graph == map.graph);
        for (graph, of) in structure.graphs().iter().enumerate() {
            let add = |counts: &BTreeMap<u64, u64>, into: &mut BTreeMap<(usize, u64), u64>| {
                let mut sum = 0u64;
                for (&path, &count) in counts {
                    let flow = branches(map, &structure, of, path).saturating_mul(count);
                    // A graph's numbers are below 2^31.
                    into.insert((index, (graph as u64) << 32 | path), flow);
                    sum = sum.saturating_add(flow);
                }
                sum
            };
            let flow = add(&actual[graph], &mut flows.exact);
            result.exact_flow = result.exact_flow.saturating_add(flow);
            let mut overlap = 0.0;
            if let Some((_, global, local)) = &estimate {
                let flow = add(&global[graph], &mut flows.estimate);
                result.estimated_flow = result.estimated_flow.saturating_add(flow);
                overlap = agree(&actual[graph], &local[graph]);
            }
            agreement += overlap * flow as f64;
            weight += flow as f64;
        }
    }
    result.unmatched_methods = guessed.len();
    result.local_overlap = (weight > 0.0).then(|| agreement / weight);
    let mut accuracy = Accuracy {
        exact_flow: result.exact_flow,
        ..Accuracy::default()
    };
    flows.finish(options.hot_threshold, &mut accuracy);
    result.path_accuracy = accuracy.path_accuracy;
    result.hot_paths = accuracy.hot_paths;
    Some(result)
}

/// Per method: global and local counts. A class that is there twice (two loaders) is added up.
fn tables(profile: &Profile) -> Option<BTreeMap<Key<'_>, Tables<'_>>> {
    let mut all: BTreeMap<Key, Tables> = BTreeMap::new();
    for (&(class, method), counts) in &profile.structural.as_ref()?.methods {
        let Some(class) = profile.classes.get(class as usize) else {
            continue;
        };
        let Some(map) = class.map.methods.get(method as usize) else {
            continue;
        };
        let key = (&*class.map.name, class.map.sha256, &*map.name, &*map.descriptor);
        let graphs = counts.graphs.len();
        let empty = || (map, vec![BTreeMap::new(); graphs], vec![BTreeMap::new(); graphs]);
        let (_, global, local) = all.entry(key).or_insert_with(empty);
        for (index, counts) in counts.graphs.iter().enumerate() {
            for (sums, counts) in [(&mut *global, &counts.global), (&mut *local, &counts.local)] {
                add_up(&mut sums[index], counts);
            }
        }
    }
    Some(all)
}

/// Branch decisions on a structural path: those of its own blocks. Its inner loops make theirs on paths of their own.
fn branches(map: &MethodMap, structure: &Structure, of: &StructureGraph, path: u64) -> u64 {
    let Ok(path) = of.path(path) else { return 0 };
    let decides = |node: &&Node| match node {
        Node::Block(block) => structure.graph_of(*block).is_some() && map.graph.successors(*block).len() > 1,
        _ => false,
    };
    path.nodes.iter().filter(decides).count() as u64
}

/// Sum over paths of the lesser of both shares, from 0 to 1.
fn agree(one: &BTreeMap<u64, u64>, other: &BTreeMap<u64, u64>) -> f64 {
    let sum = |counts: &BTreeMap<u64, u64>| counts.values().map(|&c| c as f64).sum::<f64>();
    let (a, b) = (sum(one), sum(other));
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    let lesser = |(path, &count): (&u64, &u64)| {
        let other = other.get(path).copied().unwrap_or(0) as f64 / b;
        other.min(count as f64 / a)
    };
    one.iter().map(lesser).sum()
}
