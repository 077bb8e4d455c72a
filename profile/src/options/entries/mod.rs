//! The entries of all options, by group: how each is read and printed, and where it applies.

pub(super) mod basics;
pub(super) mod burst;
pub(super) mod code;
pub(super) mod contexts;
pub(super) mod fleet;
pub(super) mod kpaths;
pub(super) mod output;
pub(super) mod sampling;
pub(super) mod structural;
pub(super) mod subpaths;
