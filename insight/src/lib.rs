//! Facts that are derived of a profile: numbers, places and names; no format, and no sentence.
//!
//! *In*: a [`Profile`](trodden_profile::Profile) (counts and path maps; no class files needed) and, if there
//! are any, source folders. *Out*: plain data, which `trodden-report` writes.
//!
//! * [`view`]: methods by *branch flow*, the measure of Bond and McKinley (MICRO 2005, section 6.3),
//!   `F(p) = freq(p) * branches(p)`, with their paths, [decisions] and [time](path_time); kinds of data that are not
//!   paths: [`contexts`], [`kpaths`], [`subpaths`], [`structural`], [`cpu`], [`memory`].
//! * [`findings`]: causes of a program's time.
//! * [`coverage`] and [`criteria`]: which paths, branches and lines ran, of all code or of a change; MC/DC and
//!   prime paths.
//! * [`diff`]: what changed between two runs. [`gate`]: the work of tests compared with an earlier build's.
//! * [`slow`]: what slow requests do differently.
//! * [`edited`]: lines of a profile in sources that were edited since.
//! * [`reach`]: which tests run a line, or code that a change touches.

pub mod contexts;
pub mod coverage;
pub mod cpu;
pub mod criteria;
pub mod decisions;
pub mod diff;
pub mod edited;
pub mod findings;
pub mod gate;
pub mod hotspot;
pub mod kpaths;
pub mod left_out;
pub mod line_time;
pub mod memory;
pub mod names;
mod only_by;
pub mod path_time;
pub mod pattern;
pub mod reach;
pub mod route;
pub mod slow;
pub mod source;
pub mod structural;
pub mod subpaths;
mod unified_diff;
pub mod view;
