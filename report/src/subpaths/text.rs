//! Subpaths in words.

use trodden_insight::subpaths::{BlockStep, Part, Shown, SubpathsView, error};

use crate::text::{HOT, Page, TITLE};
use crate::words::{percent, thousands};

/// The text above the list.
pub(crate) fn about(view: &SubpathsView) -> String {
    let about = view.about;
    let (sampled, distinct) = view.sampled();
    let every = match about.distance {
        (least, most) if least == most => format!("one in {}", thousands(least)),
        (least, most) => format!("one in {} to {}", thousands(least), thousands(most)),
    };
    let order = match about.order.as_str() {
        "calls" => "",
        _ => " Blocks of a callee come before those of the path that called it.",
    };
    let life = about.half_life.map_or_else(String::new, |life| {
        format!(" What ran {} blocks ago counts half.", thousands(life))
    });
    let window = about.sliding_window.map_or_else(String::new, |blocks| {
        format!(
            " Only the last {} blocks of each thread count.",
            thousands(blocks)
        )
    });
    let left_out = match view.left_out.0 {
        0 => String::new(),
        some => format!(" {} of them were left out.", thousands(some)),
    };
    let starts = match about.starts.as_str() {
        "anywhere" => String::new(),
        "headers" => " Only subpaths that begin at a loop's header were looked at.".to_owned(),
        other => match other.strip_prefix("prefer:") {
            Some(weight) => format!(
                " Loop headers were {weight} times as likely to begin a sample; estimates allow for that."
            ),
            None => format!(" Begun at: {other}."),
        },
    };
    let identity = match about.identity.as_str() {
        "rotation" => "",
        _ => {
            " Subpaths of one length that have the same blocks an odd number of times are counted as one (xor)."
        }
    };
    let bursts = about.bursts.as_ref().map_or_else(String::new, |bursts| {
        format!(
            " Only bursts were counted ({bursts}): each part of the program weighs by the time that it takes, and ± does not \
             include that error."
        )
    });
    if about.is_exact() {
        return format!(
            "In {} blocks all subpaths (lengths {}) were counted, so ± is 0: {} different ones, {} times in total. {} more, of \
             which no part ran twice, are not listed. Shares are of all places where a subpath could \
             begin.{left_out}{order}{identity}{bursts}",
            thousands(about.blocks),
            about.lengths,
            thousands(distinct),
            thousands(sampled),
            thousands(view.once)
        );
    }
    format!(
        "Estimates from {} samples of {} different subpaths; a sample began at {every} of {} {places}. The true count is within \
         ± in 95 % of cases. Shares are of all places where a subpath could begin.{left_out}{order}{starts}{identity}{life}{window}{bursts}",
        thousands(sampled),
        thousands(distinct),
        thousands(about.places),
        places = if about.starts == "headers" {
            "loop headers"
        } else {
            "blocks"
        }
    )
}

/// The first line of a subpath.
pub(crate) fn head(shown: &Shown) -> String {
    let subpath = shown.subpath;
    format!(
        "{} times (± {}), {}: {} blocks, in {} samples",
        thousands(subpath.estimate),
        percent(error(subpath)),
        percent(shown.share),
        thousands(u64::from(subpath.length)),
        thousands(subpath.sampled)
    )
}

/// Its blocks.
pub(crate) fn route(shown: &Shown) -> String {
    let mut words = String::new();
    let mut before = None;
    write(&shown.parts, &shown.steps, &mut before, &mut words);
    match shown.missing {
        0 => {}
        missing if words.is_empty() => {
            let blocks = thousands(u64::from(missing));
            words = format!("{blocks} blocks that were not recorded: it ran once");
        }
        missing => words.push_str(&format!(
            " … and {} blocks that were not recorded",
            thousands(u64::from(missing))
        )),
    }
    words.trim_start().to_owned()
}

fn write<'p>(
    parts: &[Part],
    steps: &[BlockStep<'p>],
    before: &mut Option<(&'p str, &'p str, &'p str)>,
    out: &mut String,
) {
    for part in parts {
        match part {
            Part::One(step) => {
                let step = &steps[*step as usize];
                let method = (
                    step.class,
                    step.method.name.as_str(),
                    step.method.descriptor.as_str(),
                );
                // The method is named where it changes.
                out.push(' ');
                if before.replace(method) != Some(method) {
                    out.push_str(&name(step));
                }
                out.push_str(&place(step));
            }
            Part::Times(times, body) => {
                out.push_str(&format!(" {times} × ["));
                let mut inside = String::new();
                *before = None;
                write(body, steps, before, &mut inside);
                out.push_str(inside.trim_start());
                out.push(']');
                *before = None;
            }
        }
    }
}

/// Class without its package, and method.
pub(crate) fn name(step: &BlockStep) -> String {
    let class = step.class.rsplit('/').next().unwrap_or(step.class);
    format!("{class}.{}", step.method.name)
}

/// Line, or bytecode index.
pub(crate) fn place(step: &BlockStep) -> String {
    match step.line {
        Some(line) => format!(":{line}"),
        None => format!("@{}", step.bci),
    }
}

/// All of it for a terminal.
pub(super) fn lines(view: &SubpathsView, top: usize, page: &mut Page) {
    page.styled_line(
        TITLE,
        "Hot subpaths (sequences of basic blocks, across loops and calls)",
    );
    page.wrapped(2, &about(view));
    for shown in view.shown(top) {
        let head = format!("{:>3}. {}", shown.rank, head(&shown));
        page.styled_line(HOT, &head);
        page.wrapped(5, &route(&shown));
    }
    let more = view.chosen.len().saturating_sub(top);
    if more > 0 {
        page.line(&format!(
            "{} more are in the sample; raise --top to see them.",
            thousands(more as u64)
        ));
    }
    page.line("");
}
