//! Numbers of columns, by which readers of Iceberg know them whatever they are called.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema};
use datafusion::parquet::arrow::PARQUET_FIELD_ID_META_KEY;

/// Names of columns: a column's number is its place, for ever. New ones come at the end.
const COLUMNS: [&str; 57] = [
    "service",
    "build",
    "day",
    "host",
    "jvm",
    "window",
    "merged",
    "started",
    "ended",
    "claimed",
    "exact",
    "complete",
    "is_last",
    "probe",
    "java",
    "command",
    "path_ends",
    "lost",
    "cpu_ns",
    "labels",
    "key",
    "value",
    "class",
    "method",
    "descriptor",
    "graph",
    "path",
    "count",
    "error",
    "edge",
    "paths",
    "decisions",
    "samples",
    "context",
    "caller",
    "site",
    "along",
    "depth",
    "chain",
    "source_file",
    "line",
    "possible_paths",
    "bci",
    "condition",
    "outcome",
    "made",
    "text",
    "request",
    "from_ns",
    "requests",
    "unreadable",
    "weight",
    "squares",
    "latency_ns",
    "collected",
    "waited",
    "times",
];

/// A column's number.
pub(crate) fn id(name: &str) -> i32 {
    let place = COLUMNS.iter().position(|column| *column == name);
    place.map_or(0, |place| place as i32 + 1)
}

/// The schema with which files are written: each column has its number in it, for readers of Iceberg.
pub(crate) fn numbered(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let DataType::Map(entries, sorted) = field.data_type() else {
            return with_number(field.as_ref().clone());
        };
        let DataType::Struct(pair) = entries.data_type() else {
            return with_number(field.as_ref().clone());
        };
        let pair: Fields = pair
            .iter()
            .map(|field| with_number(field.as_ref().clone()))
            .collect();
        let entries = entries.as_ref().clone().with_data_type(DataType::Struct(pair));
        with_number(
            field
                .as_ref()
                .clone()
                .with_data_type(DataType::Map(Arc::new(entries), *sorted)),
        )
    });
    Schema::new(fields.collect::<Vec<Field>>())
}

fn with_number(field: Field) -> Field {
    let number = id(field.name()).to_string();
    field.with_metadata([(PARQUET_FIELD_ID_META_KEY.to_owned(), number)].into())
}

/// The largest number.
pub(crate) fn last_number() -> usize {
    COLUMNS.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Table;

    #[test]
    fn all_columns_have_numbers_of_their_own() {
        for table in Table::ALL {
            for field in table.schema().fields() {
                assert_ne!(id(field.name()), 0, "{table}: {}", field.name());
            }
        }
        let mut names = COLUMNS.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COLUMNS.len());
        // They are in files that stay.
        assert_eq!((id("service"), id("labels"), id("text")), (1, 20, 47));
    }
}
