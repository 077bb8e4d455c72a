//! CPU samples in each format.

mod export;
mod flame;
mod html;
mod json;
pub(crate) mod section;
mod text;

use trodden_insight::cpu::{short_title, title};
use trodden_insight::names;
use trodden_profile::{CpuFrame, CpuFrameKind};

use crate::words;

/// The title within this number of columns: a method's parameters go first, then its package, so that its name is there.
pub(crate) fn title_within(frame: &CpuFrame, width: usize) -> String {
    let mut candidates = vec![title(frame)];
    if frame.kind != CpuFrameKind::Other {
        candidates.push(format!("{}.{}(…)", names::dotted(&frame.class), frame.name));
        candidates.push(format!("{}(…)", short_title(frame)));
    }
    let last = candidates.last().cloned().unwrap_or_default();
    let mut fitting = candidates
        .into_iter()
        .filter(|name| name.chars().count() <= width);
    fitting.next().unwrap_or_else(|| words::cut(&last, width))
}
