//! The contents of a profile: path maps, counts, and other kinds of data; their file, merge and metrics.

mod accuracy;
mod basis;
mod burst_groups;
mod by_test;
pub(crate) mod codec;
mod command;
pub(crate) mod conditions;
mod contexts;
pub(crate) mod counts;
mod coverage;
mod cpu;
mod describe;
mod edges;
mod errors;
mod executed;
pub mod facts;
pub(crate) mod fault;
mod file;
mod hotspot;
mod identity;
pub(crate) mod inlining;
mod kinds;
mod known;
mod kpaths;
pub(crate) mod map;
mod maps;
mod memory;
mod merge;
mod observations;
mod parts;
mod places;
mod preorder;
mod printable;
pub(crate) mod profile;
mod requests;
mod section;
mod several;
pub(crate) mod shapes;
mod since;
pub mod structural;
mod subpaths;
mod subtract;
mod translate;

pub use accuracy::{Accuracy, AccuracyOptions, MethodAccuracy, compare, flow};
pub use basis::{CountBasis, Rate};
pub use burst_groups::{BURST_GROUPS, ByGroup, product_interval};
pub use by_test::TestCounts;
pub use codec::{FORMAT_VERSION, LoadError, Problem, ReadError, SaveError, SectionProblem, WriteError};
pub use command::without_values;
pub use conditions::{
    CodeCopy, CodeRange, CompilerMade, Condition, ConditionKind, Conditions, MethodConditions, Outcome,
    check_conditions,
};
pub use contexts::{BurstGroups, ContextNode, ContextRow, ContextTree, Contexts, PhiOutOfRange};
pub use counts::{MethodCounts, MethodPart};
pub use coverage::{Covered, MethodCovered};
pub use cpu::{
    CUT_OFF, CpuFailure, CpuFrame, CpuFrameKind, CpuNode, CpuRow, CpuSamples, CpuTime, CpuTree, FrameLines,
    MethodTime, PathAtPlace, PathWaits, PathsAtPlaces, PlaceTime, STANDARD_ERRORS, UnequalSamples, WaitsOf,
    share_interval, share_interval_of,
};
pub use describe::{EndKind, PathDescription, Place, Step};
pub use edges::{BranchCounts, EdgeProfile};
pub use errors::{MergeError, SubtractError};
pub use executed::{ExecutedMethod, ExecutedPath, UnreadableCount};
pub use fault::Fault;
pub use hotspot::{HotSpotBranch, HotSpotMethod};
pub use identity::{Key, edge_key, path_key};
pub use inlining::InlinedCode;
pub use kpaths::{
    ForestNode, ForestProblem, Forests, KPaths, KPathsOverlap, LevelOverlap, MethodOverlap, PathForest,
    kpaths_overlap,
};
pub use map::{BlockExit, BlockInfo, ClassMap, CounterLayout, EdgeLabel, LineEntry, MethodMap, Pages};
pub use maps::MapsWriter;
pub use memory::{Alike, Known, LeftAlone, Memory, MemoryRun, Remembered, alike};
pub use merge::merge;
pub use observations::Observation;
pub use printable::{is_control, printable, printable_lines};
pub use profile::{ClassProfile, Profile, RunInfo, Skipped};
pub use requests::{RequestName, RequestSample, Requests};
pub use several::values;
pub use shapes::{BlockShape, Callee, MethodShape, ShapeHasher};
pub use subpaths::{
    ExactSubpaths, KNOWN_SUBPATH, OFTEN, RankedSubpath, Subpath, SubpathAccuracy, SubpathRun, Subpaths,
    least_rotation, subpath_accuracy,
};
pub use subtract::subtract;
pub use translate::same_paths;
