//! Limits that an option's value and the data recorded with it have in common.

/// The largest `k` of a k-iteration path forest, in paths. Far beyond what is useful.
pub const MAX_K: u32 = 1024;

/// The longest subpath, in blocks.
pub const MAX_SUBPATH: u32 = 1 << 16;
