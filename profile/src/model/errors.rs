//! Why profiles cannot be combined.

use trodden_numbering::RegenerateError;

use crate::model::kpaths::ForestProblem;

/// Why profiles cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Same class bytes, but their paths begin or end at different places (another path limit, say).
    #[error(
        "class {class}, method {method}: the profiles cut this method into different paths; \
         record both with the same path limit"
    )]
    DifferentPaths {
        /// Internal name.
        class: String,
        /// Name and descriptor.
        method: String,
    },
    /// A count's number names no path, so it cannot be translated into the other profile's numbers.
    #[error("class {class}, method {method}: {source}")]
    NoSuchPath {
        /// Internal name.
        class: String,
        /// Name and descriptor.
        method: String,
        /// Which number.
        source: RegenerateError,
    },
    /// Data that were recorded with different settings have nothing to add up.
    #[error("{what} is {} in input {}, but {} in input {}", .values[0], .inputs[0] + 1, .values[1], .inputs[1] + 1)]
    Unlike {
        /// The setting: `k of the path forest`.
        what: &'static str,
        /// Which profiles, in the order given, from 0.
        inputs: [usize; 2],
        /// Its value in each.
        values: [String; 2],
    },
    /// The sum of a method's data cannot be.
    #[error("class {class}, method {method}: {source}")]
    Sum {
        /// Internal name.
        class: String,
        /// Name and descriptor.
        method: String,
        /// Why.
        source: ForestProblem,
    },
}

/// Why a profile has no difference from an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubtractError {
    /// Something was counted less often in the later profile: they are not of the same recording, or it was reset.
    #[error("{what}: counts have fallen, so the profiles are no two readings of one recording")]
    Fell {
        /// The item: a class and method, or a kind of data.
        what: String,
    },
    /// The numbers are estimates, which have no exact difference.
    #[error("{what} have no exact difference between two moments")]
    Estimates {
        /// The kind of items.
        what: &'static str,
    },
    /// Counts cannot be brought under the later profile's numbers, or a class is in a profile more than once and
    /// its counts do not add up.
    #[error(transparent)]
    Merge(#[from] MergeError),
}
