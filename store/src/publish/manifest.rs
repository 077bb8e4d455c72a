//! Manifests, which name files of data with what is in them, and lists of manifests: Avro files with the fields of
//! Iceberg's specification, v2.

use std::sync::LazyLock;

use apache_avro::types::Value;
use apache_avro::{Codec, DeflateSettings, Reader, Schema, Writer};
use serde_json::json;

use super::schema::{self, partitioned};
use super::statistics::Columns;
use crate::error::StoreError;
use crate::file::Partition;
use crate::log::FileEntry;
use crate::tables::Table;

/// A manifest that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The commit for which it was written.
    pub commit: u64,
    /// Its length.
    pub bytes: u64,
}

/// A snapshot: the tables as of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub commit: u64,
    /// When the commit was made, in milliseconds since 1970-01-01.
    pub at_ms: u64,
}

/// A manifest, as a list names it.
pub(super) struct Listed<'a> {
    pub path: String,
    pub manifest: Manifest,
    pub partition: &'a Partition,
    pub files: usize,
    pub rows: u64,
}

/// A field of a record: number, name and type.
fn field(number: i32, name: &str, kind: serde_json::Value) -> serde_json::Value {
    json!({"name": name, "type": kind, "field-id": number})
}

/// The same, which may be missing.
fn optional(number: i32, name: &str, kind: serde_json::Value) -> serde_json::Value {
    json!({"name": name, "type": ["null", kind], "default": null, "field-id": number})
}

/// Values by the numbers of columns: Avro's own maps have texts as keys.
fn by_column(name: &str, key: i32, value: i32, kind: &str) -> serde_json::Value {
    json!({"type": "array", "logicalType": "map", "items": {
        "type": "record", "name": name, "fields": [field(key, "key", json!("int")), field(value, "value", json!(kind))],
    }})
}

fn entry_schema(table: Table) -> Result<Schema, StoreError> {
    let partition = partitioned(table).map(|(name, number)| {
        let kind = match name {
            "day" => json!({"type": "int", "logicalType": "date"}),
            _ => json!("string"),
        };
        optional(number, name, kind)
    });
    let partition = json!({"type": "record", "name": "r102", "fields": partition.collect::<Vec<_>>()});
    let file = json!({"type": "record", "name": "r2", "fields": [
        field(134, "content", json!("int")),
        field(100, "file_path", json!("string")),
        field(101, "file_format", json!("string")),
        field(102, "partition", partition),
        field(103, "record_count", json!("long")),
        field(104, "file_size_in_bytes", json!("long")),
        optional(108, "column_sizes", by_column("k117_v118", 117, 118, "long")),
        optional(109, "value_counts", by_column("k119_v120", 119, 120, "long")),
        optional(110, "null_value_counts", by_column("k121_v122", 121, 122, "long")),
        optional(125, "lower_bounds", by_column("k126_v127", 126, 127, "bytes")),
        optional(128, "upper_bounds", by_column("k129_v130", 129, 130, "bytes")),
    ]});
    let entry = json!({"type": "record", "name": "manifest_entry", "fields": [
        field(0, "status", json!("int")),
        optional(1, "snapshot_id", json!("long")),
        optional(3, "sequence_number", json!("long")),
        optional(4, "file_sequence_number", json!("long")),
        field(2, "data_file", file),
    ]});
    Schema::parse(&entry).map_err(failed)
}

static LIST: LazyLock<serde_json::Value> = LazyLock::new(|| {
    let summary = json!({"type": "record", "name": "r508", "fields": [
        field(509, "contains_null", json!("boolean")),
        optional(518, "contains_nan", json!("boolean")),
        optional(510, "lower_bound", json!("bytes")),
        optional(511, "upper_bound", json!("bytes")),
    ]});
    json!({"type": "record", "name": "manifest_file", "fields": [
        field(500, "manifest_path", json!("string")),
        field(501, "manifest_length", json!("long")),
        field(502, "partition_spec_id", json!("int")),
        field(517, "content", json!("int")),
        field(515, "sequence_number", json!("long")),
        field(516, "min_sequence_number", json!("long")),
        field(503, "added_snapshot_id", json!("long")),
        field(504, "added_files_count", json!("int")),
        field(505, "existing_files_count", json!("int")),
        field(506, "deleted_files_count", json!("int")),
        field(512, "added_rows_count", json!("long")),
        field(513, "existing_rows_count", json!("long")),
        field(514, "deleted_rows_count", json!("long")),
        optional(507, "partitions", json!({"type": "array", "items": summary, "element-id": 508})),
    ]})
});

fn failed(error: apache_avro::Error) -> StoreError {
    StoreError::tables("write Avro", error)
}

fn record<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Record(fields.map(|(name, value)| (name.to_owned(), value)).into())
}

fn columns<T: Clone>(all: &[(i32, T)], value: impl Fn(T) -> Value) -> Value {
    let all = all.iter().cloned();
    Value::Array(
        all.map(|(key, of)| record([("key", Value::Int(key)), ("value", value(of))]))
            .collect(),
    )
}

/// The values that all files of a partition have.
fn values(partition: &Partition) -> Vec<(String, Value)> {
    let value = |name: &str| match name {
        "service" => Value::String(partition.service.clone()),
        "build" => Value::String(partition.build.clone()),
        _ => partition.day.map_or(Value::Null, |day| Value::Date(day.0)),
    };
    partitioned(partition.table)
        .map(|(name, _)| (name.to_owned(), value(name)))
        .collect()
}

fn written(
    schema: &Schema,
    about: &[(&str, String)],
    records: impl Iterator<Item = Value>,
) -> Result<Vec<u8>, StoreError> {
    let mut writer = Writer::with_codec(schema, Vec::new(), Codec::Deflate(DeflateSettings::default()));
    for (key, value) in about {
        writer
            .add_user_metadata((*key).to_owned(), value)
            .map_err(failed)?;
    }
    for record in records {
        let record = record.resolve(schema).map_err(failed)?;
        writer.append_value_ref(&record).map_err(failed)?;
    }
    writer.into_inner().map_err(failed)
}

/// The manifest of a partition: its files, with their URIs and statistics.
pub(super) fn manifest<'a>(
    table: Table,
    partition: &Partition,
    files: impl Iterator<Item = (String, &'a FileEntry, &'a Columns)>,
) -> Result<Vec<u8>, StoreError> {
    let about = [
        ("schema", schema::schema(table).to_string()),
        ("schema-id", "0".to_owned()),
        ("partition-spec", schema::partition_fields(table).to_string()),
        ("partition-spec-id", "0".to_owned()),
        ("format-version", "2".to_owned()),
        ("content", "data".to_owned()),
    ];
    let entries = files.map(|(uri, file, of)| {
        let bytes = |bound: Vec<u8>| Value::Bytes(bound);
        let data = record([
            ("content", Value::Int(0)),
            ("file_path", Value::String(uri)),
            ("file_format", Value::String("PARQUET".to_owned())),
            ("partition", Value::Record(values(partition))),
            ("record_count", Value::Long(file.rows as i64)),
            ("file_size_in_bytes", Value::Long(file.bytes as i64)),
            ("column_sizes", columns(&of.sizes, Value::Long)),
            ("value_counts", columns(&of.values, Value::Long)),
            ("null_value_counts", columns(&of.nulls, Value::Long)),
            ("lower_bounds", columns(&of.lower, bytes)),
            ("upper_bounds", columns(&of.upper, bytes)),
        ]);
        // Added; the numbers of snapshot and sequence are those that the list says of the manifest.
        record([
            ("status", Value::Int(1)),
            ("snapshot_id", Value::Null),
            ("sequence_number", Value::Null),
            ("file_sequence_number", Value::Null),
            ("data_file", data),
        ])
    });
    written(&entry_schema(table)?, &about, entries)
}

/// The list of a snapshot's manifests.
pub(super) fn list(table: Table, snapshot: Snapshot, manifests: &[Listed]) -> Result<Vec<u8>, StoreError> {
    let about = [
        ("snapshot-id", snapshot.commit.to_string()),
        ("sequence-number", snapshot.commit.to_string()),
        ("format-version", "2".to_owned()),
        ("table", table.name().to_owned()),
    ];
    let records = manifests.iter().map(|listed| {
        let summaries = values(listed.partition).into_iter().map(|(_, value)| {
            let bound = match &value {
                Value::String(text) => text.clone().into_bytes(),
                Value::Date(day) => day.to_le_bytes().to_vec(),
                _ => Vec::new(),
            };
            record([
                ("contains_null", Value::Boolean(value == Value::Null)),
                ("contains_nan", Value::Null),
                ("lower_bound", Value::Bytes(bound.clone())),
                ("upper_bound", Value::Bytes(bound)),
            ])
        });
        let commit = listed.manifest.commit as i64;
        record([
            ("manifest_path", Value::String(listed.path.clone())),
            ("manifest_length", Value::Long(listed.manifest.bytes as i64)),
            ("partition_spec_id", Value::Int(0)),
            ("content", Value::Int(0)),
            ("sequence_number", Value::Long(commit)),
            ("min_sequence_number", Value::Long(commit)),
            ("added_snapshot_id", Value::Long(commit)),
            ("added_files_count", Value::Int(listed.files as i32)),
            ("existing_files_count", Value::Int(0)),
            ("deleted_files_count", Value::Int(0)),
            ("added_rows_count", Value::Long(listed.rows as i64)),
            ("existing_rows_count", Value::Long(0)),
            ("deleted_rows_count", Value::Long(0)),
            ("partitions", Value::Array(summaries.collect())),
        ])
    });
    written(&Schema::parse(&LIST).map_err(failed)?, &about, records)
}

/// The manifests that a list names.
pub(super) fn named(list: &[u8]) -> Result<Vec<String>, StoreError> {
    let failed = |error| StoreError::tables("read Avro", error);
    let mut paths = Vec::new();
    for entry in Reader::new(list).map_err(failed)? {
        if let Value::Record(fields) = entry.map_err(failed)? {
            let path = fields.into_iter().find(|(name, _)| name == "manifest_path");
            if let Some((_, Value::String(path))) = path {
                paths.push(path);
            }
        }
    }
    Ok(paths)
}
