//! The tests of the instrumenter as one program: they are linked once.

mod common;
mod guided;
mod hostile;
mod large;
mod listing;
mod register;
mod requests;
mod rooms;
mod shapes_later;
