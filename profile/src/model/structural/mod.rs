//! Structural path profiles: each loop of a method counted on its own.
//!
//! Yasue, Suganuma, Komatsu and Nakatani, *Structural Path Profiling* ("SPP"), figures 3 and 7. The structure graphs themselves are
//! made by `trodden-numbering`; here is what was counted of them, for a whole program.

mod codec;
mod compare;
mod merge;
pub(crate) mod section;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use trodden_numbering::structure::Structure;
use trodden_numbering::{EdgeWeights, FlowGraph, NumberingError, NumberingOptions};

pub use compare::{StructuralAccuracy, compare_structural};

use crate::model::map::CounterLayout;

/// The structure graphs of a method, from its control-flow graph alone: every reader of the path map numbers them alike. (So out-edges
/// are in the order of the class file; weights of edges may differ from run to run.)
///
/// # Errors
/// As [`Structure::build`].
pub fn structure_of(graph: &impl FlowGraph) -> Result<Structure, NumberingError> {
    Structure::build(graph, &EdgeWeights::uniform(graph), &NumberingOptions::default())
}

/// Where a structure graph has its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphSlots {
    /// Its first slot, counted from the class's first; also what the graph is known by.
    pub first: u32,
    /// Has each path a slot? If not, it has the first only, and its paths are hashed.
    pub dense: bool,
}

/// Where all structure graphs of a class have their counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphLayout {
    graphs: Vec<GraphSlots>,
    /// Per method: the index of its outline among the class's graphs, and behind the last method their number.
    methods: Vec<u32>,
    /// Slots of the class.
    pub slots: u32,
}

impl GraphLayout {
    /// The layout for methods whose structure graphs have these numbers of paths.
    pub fn of<'a>(methods: impl IntoIterator<Item = &'a [u64]>) -> Self {
        let mut layout = GraphLayout {
            methods: vec![0],
            ..GraphLayout::default()
        };
        for graphs in methods {
            for &paths in graphs {
                let all = u64::from(layout.slots) + paths;
                let dense = paths <= CounterLayout::DENSE_LIMIT && all <= CounterLayout::SLOTS_LIMIT;
                layout.graphs.push(GraphSlots {
                    first: layout.slots,
                    dense,
                });
                layout.slots += if dense { paths as u32 } else { 1 };
            }
            layout.methods.push(layout.graphs.len() as u32);
        }
        layout
    }

    /// The graphs of a method, by its position in the path map: the outline first. Empty if there is no such method.
    pub fn of_method(&self, method: usize) -> &[GraphSlots] {
        let bounds = self.methods.get(method).zip(self.methods.get(method + 1));
        let range = bounds.map(|(&from, &to)| from as usize..to as usize);
        range.and_then(|range| self.graphs.get(range)).unwrap_or_default()
    }

    /// The graphs of all methods.
    pub fn graphs(&self) -> &[GraphSlots] {
        &self.graphs
    }
}

/// What was counted of one structure graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphCounts {
    /// Windows that were filled.
    pub windows: u64,
    /// Path number to how often it was counted, in windows of its own: the *local profile*.
    pub local: BTreeMap<u64, u64>,
    /// Path number to how often it is estimated to have been taken in the whole run: the *global profile*.
    pub global: BTreeMap<u64, u64>,
    /// Was the local profile scaled by the graph's own rate? If not, then by the coefficient of SPP figure 7: how often the graph around
    /// it goes through this loop, over how often this loop was seen to be entered. Always so for outlines.
    pub by_rate: bool,
}

impl GraphCounts {
    /// Paths counted in windows.
    pub fn local_total(&self) -> u64 {
        self.local
            .values()
            .fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Paths estimated for the whole run.
    pub fn global_total(&self) -> u64 {
        self.global
            .values()
            .fold(0, |sum, &count| sum.saturating_add(count))
    }
}

/// What was counted of one method's structure graphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodStructure {
    /// In the order of [`Structure::graphs`]: the outline first.
    pub graphs: Vec<GraphCounts>,
}

/// A structural path profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structural {
    /// Paths after which a graph is switched off until its next window; `None`: every path was counted.
    pub window: Option<NonZeroU32>,
    /// By class and method, as indices into the profile's classes and their path maps. Methods without counts are left out.
    pub methods: BTreeMap<(u32, u32), MethodStructure>,
}
