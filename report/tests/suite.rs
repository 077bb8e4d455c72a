//! The tests of reports as one program: they are linked once.

mod browser;
mod common;
mod contexts;
mod coverage;
mod coverage_change;
mod cpu;
mod diff;
mod diff_time;
mod exports;
mod exports_callgrind;
mod exports_jfr;
mod exports_time;
mod findings;
mod formats;
mod hostile;
mod kpaths;
mod one_method;
mod path_time;
mod rooms;
mod slow;
mod subpaths;
