//! The tests of profiles as one program: they are linked once.

mod accuracy;
mod basis;
mod by_test;
mod codec;
mod common;
mod conditions;
mod contexts;
mod covered;
mod cpu;
mod golden;
mod hotspot;
mod inlined;
mod known;
mod kpaths;
mod memory;
mod merge;
mod requests;
mod rooms;
mod spool;
mod structural;
mod subpaths;
mod subtract;
mod trace;
