//! Exports that other programs read, and views on a terminal.

mod conditions;
mod editors;
mod exports;
mod schemas;
mod stores;
mod top;
