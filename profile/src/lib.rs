//! The data model of Trodden.
//!
//! *In*: path maps from the instrumenter, counts from the agent. *Out*: a [`Profile`], its versioned
//! `.trodden` codec, the paths behind its numbers ([`MethodMap::describe`]), and accuracy metrics.
//! What a path map holds is PEP's P-DAG (Bond and McKinley, MICRO 2005, section 3.2) joined to bytecode
//! indices and line numbers, so that a reader needs no class file.
//!
//! ```
//! use trodden_profile::{AccuracyOptions, Profile, compare, merge};
//!
//! let run = Profile::default();
//! let file = run.to_bytes().unwrap();
//! assert_eq!(Profile::read(&file).unwrap(), run);
//! assert_eq!(merge([&run, &run]).unwrap(), run);
//! // Nothing was counted, so there is nothing to predict.
//! assert_eq!(compare(&run, &run, &AccuracyOptions::default()).path_accuracy, None);
//! ```

mod accuracy;
mod codec;
mod contexts;
mod describe;
mod edges;
pub mod events;
mod kpaths;
mod map;
mod merge;
mod observation;
pub mod options;
mod profile;
mod schedule;
pub mod structural;
mod subpaths;
pub mod trace;
mod translate;

pub use accuracy::{Accuracy, AccuracyOptions, MethodAccuracy, compare, flow};
pub use codec::{FORMAT_VERSION, LoadError, Problem, ReadError, SaveError, WriteError};
pub use contexts::{ContextNode, ContextRow, ContextTree, Contexts, PhiOutOfRange};
pub use describe::{EndKind, PathDescription, Place, Step};
pub use edges::{BranchCounts, EdgeProfile};
pub use kpaths::{
    ForestNode, ForestProblem, KPaths, KPathsOverlap, LevelOverlap, MAX_K, MethodOverlap, PathForest,
    kpaths_overlap,
};
pub use map::{BlockExit, BlockInfo, ClassMap, CounterLayout, EdgeLabel, LineEntry, MethodMap};
pub use merge::{MergeError, merge};
pub use observation::Observation;
pub use profile::{ClassProfile, MethodCounts, Profile, RunInfo, Skipped};
pub use schedule::{Schedule, ScheduleError};
pub use subpaths::{
    KNOWN_SUBPATH, MAX_SUBPATH, OFTEN, RankedSubpath, Subpath, SubpathAccuracy, SubpathRun, Subpaths,
    least_rotation, subpath_accuracy,
};
pub use translate::same_paths;
