//! The tests of the command line as one program: they are linked once.

mod attach;
mod cli;
mod instrument;
mod instrument_broken;
mod instrument_memory;
mod instrument_nested;
mod kpaths;
mod large_profiles;
mod lsp;
mod mcp;
mod outputs;
mod replay;
mod rooms;
mod slow;
mod store;
mod zips;
