//! pprof: the gzipped protocol buffer that `go tool pprof` reads (google/pprof, `proto/profile.proto`).

use std::borrow::Cow;
use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use prost::Message;
use trodden_insight::view::View;

use super::origin::Origin;
use super::strings::Strings;
use super::{Export, title, whole};

#[derive(Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

/// Numbers of strings in the table, as everywhere below.
#[derive(Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Message)]
struct Sample {
    /// The leaf first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
}

#[derive(Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
    #[prost(int64, tag = "5")]
    start_line: i64,
}

/// The whole file.
pub(crate) fn write(export: &Export, view: &View) -> io::Result<Vec<u8>> {
    let program = title(view.run);
    let origin = Origin::of(view.run);
    let labels = origin.named(&[
        ("service", origin.service.as_deref()),
        ("build", origin.build.as_deref()),
        ("host", origin.host.as_deref()),
    ]);
    let names: Vec<Cow<str>> = export.values.iter().map(|value| value.stored_name()).collect();
    // There is one for all values: that of samples has more to tell than that of counts.
    let sampled = export.values.iter().find(|value| value.sampled_ns.is_some());
    let (period, unit, every) = sampled.unwrap_or(&export.values[0]).period();
    let mut table = Strings::with_empty();
    let mut number = |text| i64::from(table.number(text));
    let sample_type: Vec<ValueType> = names
        .iter()
        .zip(&export.values)
        .map(|(name, value)| ValueType {
            kind: number(name),
            unit: number(value.unit.name()),
        })
        .collect();
    let period_type = Some(ValueType {
        kind: number(&period),
        unit: number(unit.name()),
    });
    let label: Vec<Label> = labels
        .iter()
        .map(|(key, value)| Label {
            key: number(key),
            str: number(value),
        })
        .collect();
    let (mut location, mut function) = (Vec::new(), Vec::new());
    for (id, frame) in (1..).zip(&export.frames) {
        let (name, line) = (number(&frame.name), frame.line.unwrap_or(0).into());
        function.push(Function {
            id,
            name,
            system_name: name,
            filename: number(frame.file.as_deref().unwrap_or("")),
            start_line: line,
        });
        location.push(Location {
            id,
            // Without one, pprof looks for a program to take names from.
            mapping_id: 1,
            line: vec![Line {
                function_id: id,
                line,
            }],
        });
    }
    let sample = export.samples().map(|(at, node)| Sample {
        location_id: export
            .stack(at)
            .into_iter()
            .map(|frame| u64::from(frame) + 1)
            .collect(),
        value: node.own[..export.values.len()]
            .iter()
            .map(|&n| whole(n))
            .collect(),
        label: label.clone(),
    });
    let profile = Profile {
        default_sample_type: sample_type[0].kind,
        sample_type,
        sample: sample.collect(),
        mapping: vec![Mapping {
            id: 1,
            filename: number(&program),
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
        }],
        location,
        function,
        comment: export.notes.iter().map(|note| number(note)).collect(),
        time_nanos: whole(origin.started_ns),
        duration_nanos: whole(origin.lasted_ns),
        period_type,
        period: whole(every),
        string_table: table.into_table(),
    };
    // The same profile gives the same bytes.
    let mut out = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::default());
    out.write_all(&profile.encode_to_vec())?;
    out.finish()
}
