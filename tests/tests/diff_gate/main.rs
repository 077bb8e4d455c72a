//! Comparisons of runs: `trodden diff`, `trodden gate`, keys, and the memory of runs.

mod builds;
mod diff;
mod gate;
mod keys;
mod memory;
