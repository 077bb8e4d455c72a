//! The tests of the analyses as one program: they are linked once.

mod analyses;
mod contexts;
mod kpaths;
#[path = "../benches/random/mod.rs"]
mod random;
mod rooms;
mod stream;
mod subpaths;
mod timed;
