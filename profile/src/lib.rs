//! The data model of Trodden.
//!
//! *In*: path maps from the instrumenter, counts from the agent. *Out*: a [`Profile`], its versioned
//! `.trodden` codec, the paths behind its numbers ([`MethodMap::describe`]), and accuracy metrics.
//!
//! Five rooms, each of which may use those before it: [`output`] (how files are written, whole or not at all),
//! [`options`] (the words of a request, and their limits), `model` (path map, profile, file, merge, metrics), `stream` ([`events`], and [`trace`] files of them) and [`spool`] (windows of many JVMs).
//!
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

mod model;
pub mod options;
pub mod output;
pub mod spool;
mod stream;

pub use model::facts;
pub use model::structural;
pub use model::{
    Accuracy, AccuracyOptions, Alike, BURST_GROUPS, BlockExit, BlockInfo, BlockShape, BranchCounts,
    BurstGroups, ByGroup, CUT_OFF, Callee, ClassMap, ClassProfile, CodeCopy, CodeRange, CompilerMade,
    Condition, ConditionKind, Conditions, ContextNode, ContextRow, ContextTree, Contexts, CountBasis,
    CounterLayout, Covered, CpuFailure, CpuFrame, CpuFrameKind, CpuNode, CpuRow, CpuSamples, CpuTime,
    CpuTree, EdgeLabel, EdgeProfile, EndKind, ExactSubpaths, ExecutedMethod, ExecutedPath, FORMAT_VERSION,
    Fault, ForestNode, ForestProblem, Forests, FrameLines, HotSpotBranch, HotSpotMethod, InlinedCode,
    KNOWN_SUBPATH, KPaths, KPathsOverlap, Key, Known, LeftAlone, LevelOverlap, LineEntry, LoadError,
    MapsWriter, Memory, MemoryRun, MergeError, MethodAccuracy, MethodConditions, MethodCounts, MethodCovered,
    MethodMap, MethodOverlap, MethodPart, MethodShape, MethodTime, OFTEN, Observation, Outcome, Pages,
    PathAtPlace, PathDescription, PathForest, PathWaits, PathsAtPlaces, PhiOutOfRange, Place, PlaceTime,
    Problem, Profile, RankedSubpath, Rate, ReadError, Remembered, RequestName, RequestSample, Requests,
    RunInfo, STANDARD_ERRORS, SaveError, SectionProblem, ShapeHasher, Skipped, Step, Subpath,
    SubpathAccuracy, SubpathRun, Subpaths, SubtractError, TestCounts, UnequalSamples, UnreadableCount,
    WaitsOf, WriteError, alike, check_conditions, compare, edge_key, flow, is_control, kpaths_overlap,
    least_rotation, merge, path_key, printable, printable_lines, product_interval, same_paths,
    share_interval, share_interval_of, subpath_accuracy, subtract, values, without_values,
};
pub use options::{MAX_K, MAX_SUBPATH, Schedule};
pub use stream::{events, trace};
