//! The key `subpaths` of the JSON report, as `docs/schema` has it.

use serde::Serialize;
use trodden_insight::subpaths::{Part, Shown, SubpathsView};

use super::text;
use crate::object::object;
use crate::section::Json;

pub(crate) fn document<'a>(view: &'a SubpathsView<'a>, top: usize) -> impl Serialize + use<'a> {
    let about = view.about;
    let (sampled, distinct) = view.sampled();
    let subpath = |shown: Shown<'a>| {
        object! {
            "rank": shown.rank,
            "length": shown.subpath.length,
            "sampled": shown.subpath.sampled,
            "estimate": shown.subpath.estimate,
            "low": shown.subpath.low,
            "high": shown.subpath.high,
            "share": shown.share,
            "text": text::route(&shown),
            "steps": steps(&shown.parts, &shown),
            "missing": shown.missing,
        }
    };
    object! {
        "lengths": &about.lengths,
        "order": &about.order,
        "identity": &about.identity,
        "starts": &about.starts,
        "footprint": about.footprint,
        "half_life": about.half_life,
        "sliding_window": about.sliding_window,
        "bursts": about.bursts.as_deref(),
        "threads": about.threads,
        "blocks": about.blocks,
        "places": about.places,
        "drawn": about.drawn,
        "drawn_blocks": about.drawn_blocks,
        "sampled": sampled,
        "distinct": distinct,
        "left_out": view.left_out.0,
        "exact": about.is_exact(),
        "distance": about.distance,
        "peak_bytes": about.peak_bytes,
        "working_bytes": about.working_bytes,
        "subpaths": view.shown(top).map(subpath).collect::<Vec<_>>(),
    }
}

/// Blocks, and what is repeated, with its own steps.
fn steps<'a>(parts: &[Part], shown: &Shown<'a>) -> Vec<Json<'a>> {
    let step = |part: &Part| match part {
        Part::One(step) => {
            let step = &shown.steps[*step as usize];
            Box::new(object! {
                "class": step.class,
                "method": &step.method.name,
                "descriptor": &step.method.descriptor,
                "bci": step.bci,
                "line": step.line,
            }) as Json
        }
        Part::Times(times, body) => Box::new(object! { "times": *times, "steps": steps(body, shown) }),
    };
    parts.iter().map(step).collect()
}
