//! Columns in Iceberg's terms, and a table's metadata.

use datafusion::arrow::datatypes::{DataType, Field};
use serde_json::{Value, json};
use uuid::Uuid;

use super::manifest::Snapshot;
use crate::numbers::{id, last_number};
use crate::tables::Table;

/// Columns by whose values files are apart, with numbers of their own.
pub(super) const PARTITIONED: [(&str, i32); 3] = [("service", 1000), ("build", 1001), ("day", 1002)];

/// A column's type in Iceberg.
pub(super) fn kind(field: &Field) -> Value {
    match field.data_type() {
        DataType::Int64 => json!("long"),
        DataType::Boolean => json!("boolean"),
        DataType::Float64 => json!("double"),
        DataType::Date32 => json!("date"),
        DataType::Timestamp(..) => json!("timestamptz"),
        DataType::Map(..) => json!({
            "type": "map", "key-id": id("key"), "key": "string", "value-id": id("value"), "value": "string",
            "value-required": false,
        }),
        _ => json!("string"),
    }
}

/// The partition columns of a table, with their numbers.
pub(super) fn partitioned(table: Table) -> impl Iterator<Item = (&'static str, i32)> {
    PARTITIONED
        .into_iter()
        .filter(move |(name, _)| *name != "day" || !table.is_timeless())
}

/// The table's schema.
pub(super) fn schema(table: Table) -> Value {
    let schema = table.schema();
    let fields = schema.fields().iter().map(|field| {
        json!({"id": id(field.name()), "name": field.name(), "required": !field.is_nullable(), "type": kind(field)})
    });
    json!({"type": "struct", "schema-id": 0, "fields": fields.collect::<Vec<Value>>()})
}

/// The table's partitions.
pub(super) fn partition_fields(table: Table) -> Value {
    let fields = partitioned(table).map(|(name, number)| {
        json!({"source-id": id(name), "field-id": number, "name": name, "transform": "identity"})
    });
    Value::Array(fields.collect())
}

/// Numbers for columns of files that have none.
fn names(table: Table) -> Value {
    let schema = table.schema();
    let named = schema.fields().iter().map(|field| {
        let mut named = json!({"field-id": id(field.name()), "names": [field.name()]});
        if let DataType::Map(..) = field.data_type() {
            let inner = ["key", "value"].map(|name| json!({"field-id": id(name), "names": [name]}));
            named["fields"] = Value::Array(inner.into());
        }
        named
    });
    Value::Array(named.collect())
}

/// The metadata of a table, as text.
pub(super) fn metadata(
    table: Table,
    location: &str,
    uuid: Uuid,
    newest: Snapshot,
    snapshots: Vec<Value>,
) -> String {
    let history = snapshots.iter().map(
        |snapshot| json!({"snapshot-id": snapshot["snapshot-id"], "timestamp-ms": snapshot["timestamp-ms"]}),
    );
    let history: Vec<Value> = history.collect();
    json!({
        "format-version": 2,
        "table-uuid": uuid.to_string(),
        "location": location,
        "last-sequence-number": newest.commit,
        "last-updated-ms": newest.at_ms,
        "last-column-id": last_number(),
        "schemas": [schema(table)],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": partition_fields(table)}],
        "default-spec-id": 0,
        "last-partition-id": 1002,
        "properties": {
            "schema.name-mapping.default": names(table).to_string(),
            "trodden.commit": newest.commit.to_string(),
        },
        "current-snapshot-id": newest.commit,
        "snapshots": snapshots,
        "snapshot-log": history,
        "metadata-log": [],
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "refs": {"main": {"snapshot-id": newest.commit, "type": "branch"}},
    })
    .to_string()
}
