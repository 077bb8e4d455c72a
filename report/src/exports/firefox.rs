//! Firefox Profiler: its *processed profile format*, version 60, one thread per value over shared tables.
//!
//! The viewer brings older versions up to its own, and refuses newer ones; 60 is the first with shared
//! tables. Its samples need times: here they are numbered, and the x axis means nothing.

use serde_json::{Value as Json, json};
use trodden_insight::view::View;

use super::strings::Strings;
use super::{Export, FrameKind, Unit, title};

/// Version of the processed profile format.
const VERSION: u32 = 60;
/// Version of Firefox's own format, which these profiles never had.
const GECKO: u32 = 30;

/// The whole file.
pub(crate) fn write(export: &Export, view: &View) -> Result<String, serde_json::Error> {
    let mut strings = Strings::default();
    let frames = &export.frames;
    let names: Vec<i32> = frames.iter().map(|frame| strings.number(&frame.name)).collect();
    // Files by their own numbers.
    let mut sources = Strings::default();
    let of_frames: Vec<Option<i32>> = frames
        .iter()
        .map(|frame| frame.file.as_deref().map(|file| sources.number(file)))
        .collect();
    let filenames: Vec<i32> = sources.all().iter().map(|file| strings.number(file)).collect();
    let count = frames.len();
    let nothing = || vec![Json::Null; count];
    let category = |kind: FrameKind| match kind {
        FrameKind::Group => 0,
        FrameKind::Method => 1,
        FrameKind::Path => 2,
    };
    let document = json!({
        "meta": {
            "interval": 1,
            "startTime": view.run.started_ms,
            "processType": 0,
            "product": title(view.run),
            "importedFrom": format!("Trodden {}", env!("CARGO_PKG_VERSION")),
            "arguments": export.notes.join(" "),
            "stackwalk": 0,
            "version": GECKO,
            "preprocessedProfileVersion": VERSION,
            "symbolicated": true,
            "markerSchema": [],
            "categories": [
                {"name": "Other", "color": "grey", "subcategories": ["Other"]},
                {"name": "Method", "color": "blue", "subcategories": ["Other"]},
                {"name": "Path", "color": "orange", "subcategories": ["Other"]},
            ],
        },
        "libs": [],
        "pages": [],
        "shared": {
            "stackTable": {
                "frame": export.nodes.iter().map(|node| node.frame).collect::<Vec<_>>(),
                "prefix": export.nodes.iter().map(|node| node.parent).collect::<Vec<_>>(),
                "length": export.nodes.len(),
            },
            "frameTable": {
                "address": vec![-1; count],
                "inlineDepth": vec![0; count],
                "category": frames.iter().map(|frame| category(frame.kind)).collect::<Vec<_>>(),
                "subcategory": vec![0; count],
                "func": (0..count).collect::<Vec<_>>(),
                "nativeSymbol": nothing(),
                "innerWindowID": nothing(),
                "line": frames.iter().map(|frame| frame.line).collect::<Vec<_>>(),
                "column": nothing(),
                "length": count,
            },
            "funcTable": {
                "name": names,
                "isJS": vec![false; count],
                "relevantForJS": vec![false; count],
                "resource": vec![-1; count],
                "source": of_frames,
                "lineNumber": frames.iter().map(|frame| frame.line).collect::<Vec<_>>(),
                "columnNumber": nothing(),
                "length": count,
            },
            "resourceTable": {"type": [], "lib": [], "name": [], "host": [], "length": 0},
            "nativeSymbols": {"libIndex": [], "address": [], "name": [], "functionSize": [], "length": 0},
            "sources": {
                "id": vec![Json::Null; filenames.len()],
                "filename": filenames,
                "length": sources.all().len(),
            },
            "stringArray": strings.into_table(),
        },
        "threads": (0..export.values.len()).map(|at| thread(export, at)).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string(&document)? + "\n")
}

fn thread(export: &Export, at: usize) -> Json {
    let value = &export.values[at];
    let samples: Vec<(u32, u64)> = export
        .samples()
        .map(|(node, sample)| (node, sample.own[at]))
        .filter(|&(_, own)| own > 0)
        .collect();
    let weight = |&(_, own): &(u32, u64)| match value.unit {
        Unit::Nanoseconds => json!(own as f64 / 1e6),
        Unit::Count | Unit::Bytes => json!(own),
    };
    json!({
        "name": value.name,
        "isMainThread": at == 0,
        "processType": "default",
        "processName": "Trodden",
        "processStartupTime": 0,
        "processShutdownTime": null,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "pid": "0",
        "tid": at,
        "samples": {
            "stack": samples.iter().map(|sample| sample.0).collect::<Vec<_>>(),
            "time": (0..samples.len()).collect::<Vec<_>>(),
            "weight": samples.iter().map(weight).collect::<Vec<_>>(),
            "weightType": match value.unit {
                Unit::Count => "samples",
                Unit::Nanoseconds => "tracing-ms",
                Unit::Bytes => "bytes",
            },
            "length": samples.len(),
        },
        "markers": {
            "data": [], "name": [], "startTime": [], "endTime": [], "phase": [], "category": [], "length": 0,
        },
    })
}
