//! Build tools and instrumentation ahead of a run.

mod instrumented;
mod maven;
mod offline;
mod plugins;
mod strangers;
mod two_agents;
