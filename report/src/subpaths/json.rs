//! The key `subpaths` of the JSON report, as `docs/schema` has it.

use serde::Serialize;
use trodden_insight::subpaths::{Part, Shown, SubpathsView};

use super::text;

#[derive(Serialize)]
pub(crate) struct Document<'a> {
    lengths: &'a str,
    order: &'a str,
    identity: &'a str,
    starts: &'a str,
    footprint: u64,
    half_life: Option<u64>,
    sliding_window: Option<u64>,
    bursts: Option<&'a str>,
    threads: u64,
    blocks: u64,
    places: u64,
    drawn: u64,
    drawn_blocks: u64,
    sampled: u64,
    distinct: u64,
    left_out: u64,
    exact: bool,
    distance: [u64; 2],
    peak_bytes: u64,
    working_bytes: u64,
    subpaths: Vec<Subpath<'a>>,
}

#[derive(Serialize)]
struct Subpath<'a> {
    rank: usize,
    length: u32,
    sampled: u64,
    estimate: u64,
    low: u64,
    high: u64,
    share: f64,
    text: String,
    steps: Vec<Step<'a>>,
    missing: u32,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Step<'a> {
    Block {
        class: &'a str,
        method: &'a str,
        descriptor: &'a str,
        bci: u32,
        line: Option<u32>,
    },
    Repeated {
        times: u32,
        steps: Vec<Step<'a>>,
    },
}

pub(crate) fn document<'a>(view: &'a SubpathsView<'a>, top: usize) -> Document<'a> {
    let about = view.about;
    let (sampled, distinct) = view.sampled();
    let subpath = |shown: Shown<'a>| Subpath {
        rank: shown.rank,
        length: shown.subpath.length,
        sampled: shown.subpath.sampled,
        estimate: shown.subpath.estimate,
        low: shown.subpath.low,
        high: shown.subpath.high,
        share: shown.share,
        text: text::route(&shown),
        steps: steps(&shown.parts, &shown),
        missing: shown.missing,
    };
    Document {
        lengths: &about.lengths,
        order: &about.order,
        identity: &about.identity,
        starts: &about.starts,
        footprint: about.footprint,
        half_life: about.half_life,
        sliding_window: about.sliding_window,
        bursts: about.bursts.as_deref(),
        threads: about.threads,
        blocks: about.blocks,
        places: about.places,
        drawn: about.drawn,
        drawn_blocks: about.drawn_blocks,
        sampled,
        distinct,
        left_out: view.left_out.0,
        exact: about.is_exact(),
        distance: [about.distance.0, about.distance.1],
        peak_bytes: about.peak_bytes,
        working_bytes: about.working_bytes,
        subpaths: view.shown(top).map(subpath).collect(),
    }
}

fn steps<'a>(parts: &[Part], shown: &Shown<'a>) -> Vec<Step<'a>> {
    let step = |part: &Part| match part {
        Part::One(step) => {
            let step = &shown.steps[*step as usize];
            Step::Block {
                class: step.class,
                method: &step.method.name,
                descriptor: &step.method.descriptor,
                bci: step.bci,
                line: step.line,
            }
        }
        Part::Times(times, body) => Step::Repeated {
            times: *times,
            steps: steps(body, shown),
        },
    };
    parts.iter().map(step).collect()
}
