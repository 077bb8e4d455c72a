//! The key `remembered` of the JSON report.

use serde::Serialize;
use trodden_profile::Known;

use super::RememberedView;
use crate::section::Extent;
use crate::text::route;

#[derive(Serialize)]
pub(crate) struct Method {
    class: String,
    method: String,
    descriptor: String,
    /// `settled` or `cold`.
    because: &'static str,
    measured_in: Run,
    decisions_share: f64,
    time_share: Option<f64>,
    paths_counted: u64,
    paths: Vec<Path>,
}

#[derive(Serialize)]
struct Run {
    number: u64,
    started_ms: u64,
    seconds: f64,
    jvm: String,
    version: String,
}

#[derive(Serialize)]
struct Path {
    id: u64,
    count: u64,
    share: f64,
    text: String,
}

pub(super) fn document(all: &[RememberedView], extent: &Extent) -> Vec<Method> {
    all.iter()
        .take(extent.top)
        .map(|one| method(one, extent.paths))
        .collect()
}

fn method(one: &RememberedView, paths: usize) -> Method {
    let view = &one.method;
    let path = |path: &crate::view::PathView| Path {
        id: path.number,
        count: path.count,
        share: path.share_of_method,
        text: route(path, view.map, view.decisions()),
    };
    Method {
        class: view.class.to_owned(),
        method: view.map.name.clone(),
        descriptor: view.map.descriptor.clone(),
        because: match one.known {
            Known::Settled => "settled",
            Known::Cold => "cold",
        },
        measured_in: Run {
            number: one.run.number,
            started_ms: one.run.started_ms,
            seconds: one.run.seconds,
            jvm: one.run.jvm.clone(),
            version: one.run.version.clone(),
        },
        decisions_share: one.about.decisions,
        time_share: one.time,
        paths_counted: view.count,
        paths: view.paths.iter().take(paths).map(path).collect(),
    }
}
