//! Stacks for other tools: collapsed lines, speedscope, pprof, OTLP, Firefox Profiler. One model, [`Export`],
//! written by each format. Callgrind's (lines, calls and jumps) and JFR's (events) are made of the view itself.
//!
//! What stands in a stack depends on what was recorded. Calling contexts are call stacks, and so are CPU samples, in
//! which the innermost method whose paths were counted has its path below it. Counts of paths have no callers: their stack
//! is package, class, method and, as the leaf, the path in the source's terms. A file may hold stacks of both kinds, each
//! with numbers that the other does not have.

mod bound;
mod callgrind;
mod collapsed;
mod firefox;
mod jfr;
mod model;
mod origin;
mod otlp;
pub(crate) mod paths;
mod pprof;
mod speedscope;
mod strings;

use trodden_insight::view::View;

pub(crate) use callgrind::write as callgrind;
pub(crate) use collapsed::write as collapsed;
pub(crate) use firefox::write as firefox;
pub(crate) use jfr::write as jfr;
pub(crate) use model::{Export, Frame, FrameKind, NOTHING, Node, Numbers, Unit, VALUES, Value, title, whole};
pub use model::{StackKind, Weight};
pub(crate) use otlp::write as otlp;
pub(crate) use otlp::write_json as otlp_json;
pub(crate) use pprof::write as pprof;
pub(crate) use speedscope::write as speedscope;

use crate::kinds::KINDS;
use crate::options::ReportError;
use crate::options::ReportOptions;

/// Contexts or paths with less than one part in so many of the total are added up.
const PARTS: u128 = 10_000;

/// The stacks of a profile, as the options ask for.
///
/// # Errors
/// If it has none, or not those that were asked for.
pub(crate) fn of(view: &View, options: &ReportOptions) -> Result<Export, ReportError> {
    let calls = || KINDS.into_iter().find_map(|kind| kind.stacks(view));
    let timed = || KINDS.into_iter().find_map(|kind| kind.time_stacks(view));
    let is_there = !view.methods.is_empty();
    let paths = |shape| is_there.then(|| paths::of(view, options, &shape));
    let (by_path, by_method) = (
        paths::Shape {
            with_paths: true,
            with_time: true,
        },
        paths::Shape {
            with_paths: false,
            with_time: true,
        },
    );
    let mut export = match options.stacks {
        Some(StackKind::Calls) => calls().or_else(timed).ok_or(ReportError::NoContexts)?,
        Some(StackKind::Paths) => paths(by_path).ok_or_else(|| nothing(view))?,
        Some(StackKind::Methods) => paths(by_method).ok_or_else(|| nothing(view))?,
        None => {
            let counted = || {
                calls().or_else(|| {
                    paths(paths::Shape {
                        with_paths: true,
                        with_time: false,
                    })
                })
            };
            match (timed(), counted()) {
                (Some(timed), Some(counted)) if options.weight == Some(Weight::Time) => {
                    timed.clone().with(counted).unwrap_or(timed)
                }
                (Some(timed), Some(counted)) => timed.with(counted.clone()).unwrap_or(counted),
                (one, other) => one.or(other).ok_or_else(|| nothing(view))?,
            }
        }
    };
    if let Some(weight) = options.weight {
        first(&mut export, weight)?;
    }
    export.notes.insert(0, format!("Command: {}", title(view.run)));
    // Hot contexts only, by their own threshold: what else there is was not asked for.
    let all = options.all || options.contexts.phi.is_some();
    Ok(bound::within(export, if all { 0 } else { PARTS }))
}

fn nothing(view: &View) -> ReportError {
    let kinds = KINDS.iter().filter(|kind| kind.is_in(view));
    let kinds: Vec<&str> = kinds.map(|kind| kind.key()).collect();
    ReportError::NoStacks(if kinds.is_empty() {
        "no path was counted".to_owned()
    } else {
        format!("it has only {}", kinds.join(" and "))
    })
}

/// Puts a number first.
fn first(export: &mut Export, weight: Weight) -> Result<(), ReportError> {
    let wanted = match weight {
        Weight::Executions => ["executions", "samples"],
        Weight::Instructions => ["instructions"; 2],
        Weight::Time => ["time"; 2],
    };
    let is_wanted = |value: &Value| wanted.iter().any(|name| value.name.ends_with(name));
    match export.values.iter().position(is_wanted) {
        Some(at) => {
            export.values[..=at].rotate_right(1);
            for node in &mut export.nodes {
                node.own[..=at].rotate_right(1);
            }
            Ok(())
        }
        None => Err(ReportError::NoWeight {
            wanted: wanted[0],
            known: export
                .values
                .iter()
                .map(|value| value.name)
                .collect::<Vec<_>>()
                .join(" and "),
        }),
    }
}
