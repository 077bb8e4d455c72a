//! Ball-Larus path numbering over abstract flow graphs.
//!
//! *In*: a [`FlowGraph`] (blocks, ordered successors, extra path starts) and, per block, how likely each
//! out-edge is ([`EdgeWeights`]). *Out*: a [`PathDag`] (the paper's P-DAG: which blocks end paths, where
//! paths start, the value of every edge), a [`Plan`] (what has to be added to, read from and written to the
//! path register, and where), and regeneration of paths from numbers.
//!
//! Follows Ball and Larus' numbering as restated by Bond and McKinley, *Continuous Path and Edge Profiling*
//! (MICRO 2005; "PEP" in comments), sections 3.1 (truncation, numbering), 3.2 (paths end at loop headers,
//! partial numbers), 3.4 (smart numbering).
//!
//! ```
//! use trodden_numbering::{BlockId, EdgeWeights, NumberingOptions, PathDag, SimpleGraph};
//!
//! // if (c) { a } else { b }; return
//! let graph = SimpleGraph::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
//! let dag = PathDag::build(&graph, &EdgeWeights::uniform(&graph), &NumberingOptions::default()).unwrap();
//! assert_eq!(dag.num_paths(), 2);
//! let path = dag.regenerate(&graph, 1).unwrap();
//! assert_eq!(path.blocks(&graph), vec![BlockId::new(0), BlockId::new(2), BlockId::new(3)]);
//! ```
//!
//! Nothing in this crate knows about the JVM. Feature `test-support` adds what only tests and fuzz targets
//! use: `generate`, which makes graphs from arbitrary bytes, and `checker`, which tests a numbering without
//! using its code.

#[cfg(any(test, feature = "test-support"))]
pub mod checker;
mod coverage;
mod dag;
#[cfg(any(test, feature = "test-support"))]
pub mod generate;
mod graph;
pub mod heuristics;
mod loops;
mod numbering;
mod plan;
mod regenerate;
mod rows;
pub mod structure;
mod walk;

pub use coverage::{CoveragePlan, Ran};
pub use dag::{EndCause, NumberingError, NumberingOptions, PathDag, PathStart, StartKind};
pub use graph::{BlockId, EdgeRef, EdgeWeights, FlowGraph, SimpleGraph};
pub use numbering::{Numbering, Scratch};
pub use plan::{EdgeOp, Plan, SilentEdge, Update};
pub use regenerate::{Path, PathEnd, RegenerateError};
pub use rows::Rows;

/// The worked example of `docs/path-numbering.md`, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../docs/path-numbering.md")]
mod manual {}
