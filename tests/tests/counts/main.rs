//! Counts in real JVMs: paths, subpaths and events against independent oracles.

mod events;
mod feasible;
mod feedback;
mod guided;
mod live;
mod pattern_switches;
mod real_trace;
mod requests;
mod shared_classes;
mod subpaths;
mod turns;
