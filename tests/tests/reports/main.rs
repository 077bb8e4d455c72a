//! Exports that other programs read, and views on a terminal.

mod assistants;
mod callgrind;
mod conditions;
mod editors;
mod exports;
mod jfr;
mod schemas;
mod stores;
mod top;
