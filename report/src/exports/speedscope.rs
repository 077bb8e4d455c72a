//! speedscope's own file format: one profile per value over shared frames.

use serde::Serialize;
use trodden_insight::view::View;

use super::{Export, Unit, title};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: String,
    exporter: String,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: Vec<Profile>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    unit: &'static str,
    start_value: u64,
    end_value: u128,
    samples: Vec<Vec<u32>>,
    weights: Vec<u64>,
}

/// The whole file.
pub(crate) fn write(export: &Export, view: &View) -> Result<String, serde_json::Error> {
    let frames = export.frames.iter().map(|frame| Frame {
        name: &frame.name,
        file: frame.file.as_deref(),
        line: frame.line,
    });
    let totals = export.totals();
    let profile = |(at, value): (usize, &super::Value)| {
        let samples = || export.samples().filter(move |(_, node)| node.own[at] > 0);
        let root_first = |node| {
            let mut stack = export.stack(node);
            stack.reverse();
            stack
        };
        Profile {
            kind: "sampled",
            name: value.name,
            unit: match value.unit {
                Unit::Count => "none",
                Unit::Nanoseconds => "nanoseconds",
                Unit::Bytes => "bytes",
            },
            start_value: 0,
            end_value: totals[at],
            samples: samples().map(|(node, _)| root_first(node)).collect(),
            weights: samples().map(|(_, node)| node.own[at]).collect(),
        }
    };
    let document = Document {
        schema: "https://www.speedscope.app/file-format-schema.json",
        name: title(view.run),
        exporter: format!("trodden@{}", env!("CARGO_PKG_VERSION")),
        active_profile_index: 0,
        shared: Shared {
            frames: frames.collect(),
        },
        profiles: export.values.iter().enumerate().map(profile).collect(),
    };
    Ok(serde_json::to_string(&document)? + "\n")
}
