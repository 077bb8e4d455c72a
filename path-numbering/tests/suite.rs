//! The tests of the numbering as one program: they are linked once.

mod checker;
mod heuristics;
mod numbering;
mod properties;
mod rooms;
mod structure;
