//! The tests of the agent as one program: they are linked once.

mod common;
mod loaders;
mod overflows;
mod rooms;
mod smoke;
