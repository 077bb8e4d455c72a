//! Time in reports against what programs measure of themselves.

mod cpu;
mod faults;
mod hotspot;
mod paths;
mod slow;
mod stacks;
