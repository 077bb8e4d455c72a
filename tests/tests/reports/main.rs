//! What is written for others and read by their programs, and what a terminal shows.

mod conditions;
mod exports;
mod schemas;
mod stores;
mod top;
