//! pprof: the gzipped protocol buffer that `go tool pprof` reads (google/pprof, `proto/profile.proto`).

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use prost::Message;

use super::{Export, Unit, title};
use crate::view::View;

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

/// The table of strings; the first is empty.
#[derive(Default)]
struct Strings<'s>(Vec<String>, HashMap<&'s str, i64>);

impl<'s> Strings<'s> {
    fn number(&mut self, text: &'s str) -> i64 {
        let next = self.0.len() as i64;
        *self.1.entry(text).or_insert_with(|| {
            self.0.push(text.to_owned());
            next
        })
    }
}

/// The whole file.
pub(crate) fn write(export: &Export, view: &View) -> io::Result<Vec<u8>> {
    let program = title(view.run);
    let mut strings = Strings::default();
    strings.number("");
    let sample_type = export.values.iter().map(|value| ValueType {
        kind: strings.number(value.name),
        unit: strings.number(match value.unit {
            Unit::Count => "count",
            Unit::Nanoseconds => "nanoseconds",
            Unit::Bytes => "bytes",
        }),
    });
    let sample_type: Vec<ValueType> = sample_type.collect();
    let (mut location, mut function) = (Vec::new(), Vec::new());
    for (id, frame) in (1..).zip(&export.frames) {
        let (name, line) = (strings.number(&frame.name), frame.line.unwrap_or(0).into());
        function.push(Function {
            id,
            name,
            system_name: name,
            filename: strings.number(frame.file.as_deref().unwrap_or("")),
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
    let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
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
    });
    let profile = Profile {
        default_sample_type: sample_type[0].kind,
        sample_type,
        sample: sample.collect(),
        mapping: vec![Mapping {
            id: 1,
            filename: strings.number(&program),
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
        }],
        location,
        function,
        comment: export.notes.iter().map(|note| strings.number(note)).collect(),
        time_nanos: whole(view.run.started_ms.saturating_mul(1_000_000)),
        duration_nanos: (view.run.seconds * 1e9) as i64,
        string_table: strings.0,
    };
    // The same profile gives the same bytes.
    let mut out = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::default());
    out.write_all(&profile.encode_to_vec())?;
    out.finish()
}
