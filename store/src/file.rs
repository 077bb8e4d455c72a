//! Parquet files: how they are written, named and read.

use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{RecordBatch, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::metadata::SortingColumn;
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::error::{StoreError, Unfit};
use crate::log::{self, DATA, Day, FileEntry, Granularity};
use crate::numbers::numbered;
use crate::tables::Table;

/// Rows of a row group: what a reader skips, or reads at a time.
const ROW_GROUP: usize = 128 * 1024;
/// Rows of a page: its least and greatest value are known, so that it can be skipped alone.
const PAGE: usize = 10_000;
/// Folder names are percent-encoded, but for these.
const ENCODED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');
/// Longer ones are cut: file systems know names of 255 bytes.
const LONGEST: usize = 180;

/// The values that all rows of a file have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Partition {
    pub table: Table,
    pub service: String,
    pub build: String,
    /// None in tables without days.
    pub day: Option<Day>,
}

impl Partition {
    pub fn of(file: &FileEntry) -> Partition {
        Partition {
            table: file.table,
            service: file.service.clone(),
            build: file.build.clone(),
            day: file.day,
        }
    }

    /// A name for a new file, from the root of the store, that no other one has.
    fn new_path(&self) -> String {
        let mut path = format!(
            "{DATA}/{}/service={}/build={}",
            self.table,
            folder_name(&self.service),
            folder_name(&self.build)
        );
        if let Some(day) = self.day {
            path += &format!("/day={day}");
        }
        path + &format!("/{}.parquet", uuid::Uuid::new_v4().simple())
    }
}

/// A folder's name for a service or a build. Readers of the files take it from their columns; it need not be
/// turned back.
fn folder_name(name: &str) -> String {
    let encoded = utf8_percent_encode(name, &ENCODED).to_string();
    if encoded.len() <= LONGEST {
        return encoded;
    }
    let mut cut = LONGEST - 17;
    // Not within an escape.
    while encoded.as_bytes()[cut - 1] == b'%' || encoded.as_bytes()[cut - 2] == b'%' {
        cut -= 1;
    }
    format!("{}~{}", &encoded[..cut], &log::sha256(name.as_bytes())[..16])
}

/// A file in the making.
pub(crate) struct FileWriter {
    partition: Partition,
    writer: ArrowWriter<Vec<u8>>,
    rows: u64,
}

/// Facts about a file in the log, in addition to its number of rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Contents {
    /// When the first and the last of its windows began.
    pub times: Option<(i64, i64)>,
    /// The time unit that its windows were combined into.
    pub grain: Option<Granularity>,
    /// Windows that its rows are of, in the table of windows.
    pub windows: Option<u64>,
}

/// A file that is ready, and what the log says of it.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub entry: FileEntry,
    pub bytes: Vec<u8>,
}

impl FileWriter {
    pub fn new(partition: Partition) -> Result<Self, StoreError> {
        let schema = partition.table.schema();
        let properties = properties(partition.table, &schema)?;
        let writer = ArrowWriter::try_new(Vec::new(), Arc::new(numbered(&schema)), Some(properties));
        Ok(FileWriter {
            writer: writer.map_err(|e| StoreError::tables("write Parquet", e))?,
            partition,
            rows: 0,
        })
    }

    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        self.rows += batch.num_rows() as u64;
        self.writer
            .write(batch)
            .map_err(|e| StoreError::tables("write Parquet", e))
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// About how many bytes so far.
    pub fn bytes(&self) -> usize {
        self.writer.bytes_written() + self.writer.in_progress_size()
    }

    /// The file, and its entry.
    pub fn finish(self, of: Contents) -> Result<NewFile, StoreError> {
        let bytes = self
            .writer
            .into_inner()
            .map_err(|e| StoreError::tables("write Parquet", e))?;
        let entry = FileEntry {
            table: self.partition.table,
            path: self.partition.new_path(),
            rows: self.rows,
            bytes: bytes.len() as u64,
            sha256: log::sha256(&bytes),
            service: self.partition.service,
            build: self.partition.build,
            day: self.partition.day,
            from_ms: of.times.map(|(from, _)| from),
            to_ms: of.times.map(|(_, to)| to),
            grain: of.grain,
            windows: of.windows,
        };
        Ok(NewFile { entry, bytes })
    }
}

fn properties(table: Table, schema: &Schema) -> Result<WriterProperties, StoreError> {
    let level = ZstdLevel::try_new(3).map_err(|e| StoreError::tables("write Parquet", e))?;
    // Parquet counts leaves; the only column with several, a map, is the last one.
    let sorting = table.order().iter().filter_map(|name| {
        let column = schema.index_of(name).ok()?;
        Some(SortingColumn {
            column_idx: column as i32,
            descending: false,
            nulls_first: true,
        })
    });
    Ok(WriterProperties::builder()
        .set_created_by(concat!("trodden-store ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(true)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_data_page_row_count_limit(PAGE)
        .set_sorting_columns(Some(sorting.collect()))
        .build())
}

/// All rows of a file. Columns that its store did not know are null.
///
/// # Errors
/// If it is no Parquet file, or not of this table.
pub(crate) fn read_all(
    bytes: Bytes,
    table: Table,
) -> Result<impl Iterator<Item = Result<RecordBatch, ArrowError>>, Unfit> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    let schema = table.schema();
    same_columns(table, &schema, builder.schema())?;
    let reader = builder.with_batch_size(8192).build()?;
    Ok(reader.map(move |batch| {
        let batch = batch?;
        let column = |field: &FieldRef| match batch.column_by_name(field.name()) {
            Some(column) if column.data_type() == field.data_type() => Ok(Arc::clone(column)),
            // Numbers of the columns within it are a part of its type.
            Some(column) => cast(column, field.data_type()),
            None => Ok(new_null_array(field.data_type(), batch.num_rows())),
        };
        let columns: Result<_, ArrowError> = schema.fields().iter().map(column).collect();
        RecordBatch::try_new(Arc::clone(&schema), columns?)
    }))
}

/// Some columns of a file's rows.
///
/// # Errors
/// If it is no Parquet file, or has not these columns.
pub(crate) fn read_columns(bytes: Bytes, columns: &[&str]) -> Result<ParquetRecordBatchReader, Unfit> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    for name in columns {
        builder
            .schema()
            .index_of(name)
            .map_err(|_| Unfit::no_column(name))?;
    }
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
    Ok(builder.with_projection(mask).with_batch_size(8192).build()?)
}

/// Checks that these are the columns of the table, but for [later ones](Table::later).
fn same_columns(table: Table, expected: &Schema, found: &Schema) -> Result<(), Unfit> {
    let kind = |schema: &Schema| -> Vec<(String, DataType, bool)> {
        let field = |field: &FieldRef| {
            (
                field.name().clone(),
                field.data_type().clone(),
                field.is_nullable(),
            )
        };
        schema.fields().iter().map(field).collect()
    };
    let (mut expected, found) = (kind(expected), kind(found));
    expected
        .retain(|(name, ..)| found.iter().any(|field| field.0 == *name) || !table.later().contains(&&**name));
    let same = |one: &(String, DataType, bool), other: &(String, DataType, bool)| {
        one.0 == other.0 && one.1.equals_datatype(&other.1) && one.2 == other.2
    };
    if expected.len() == found.len() && expected.iter().zip(&found).all(|(one, other)| same(one, other)) {
        return Ok(());
    }
    let other = expected
        .iter()
        .find(|field| !found.iter().any(|found| same(field, found)));
    Err(match other {
        Some((name, ..)) => Unfit::OtherColumn(name.clone()),
        None => Unfit::MoreColumns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Array, make_array};
    use datafusion::common::ScalarValue;

    /// Files of stores from before have no such columns.
    #[test]
    fn columns_that_came_later_are_null() {
        let schema = Table::Windows.schema();
        let before: Vec<usize> = (0..schema.fields().len())
            .filter(|&at| !Table::Windows.later().contains(&schema.field(at).name().as_str()))
            .collect();
        let write = |columns: &[usize]| {
            let some = Arc::new(schema.project(columns).unwrap());
            let one = |field: &FieldRef| {
                if let DataType::Map(..) = field.data_type() {
                    let none = new_null_array(field.data_type(), 1).to_data();
                    return make_array(none.into_builder().nulls(None).build().unwrap());
                }
                let value = ScalarValue::new_default(field.data_type()).unwrap();
                value.to_array_of_size(1).unwrap()
            };
            let arrays = some.fields().iter().map(one);
            let batch = RecordBatch::try_new(some.clone(), arrays.collect()).unwrap();
            let mut writer = ArrowWriter::try_new(Vec::new(), some, None).unwrap();
            writer.write(&batch).unwrap();
            Bytes::from(writer.into_inner().unwrap())
        };
        let batches: Vec<_> = read_all(write(&before), Table::Windows).unwrap().collect();
        let [Ok(batch)] = &batches[..] else {
            panic!("{batches:?}")
        };
        assert_eq!(batch.schema(), schema);
        for name in Table::Windows.later() {
            assert!(batch.column_by_name(name).unwrap().is_null(0), "{name}");
        }
        // Any other column has to be there.
        let error = read_all(write(&before[1..]), Table::Windows)
            .map(drop)
            .unwrap_err();
        assert!(
            error.to_string().contains("another column 'service', or none"),
            "{error}"
        );
    }

    #[test]
    fn names_of_folders() {
        assert_eq!(folder_name("shop-1.2_x"), "shop-1.2_x");
        assert_eq!(folder_name("a/b=c d%é"), "a%2Fb%3Dc%20d%25%C3%A9");
        let long = folder_name(&"é".repeat(300));
        assert!(long.len() <= LONGEST, "{}", long.len());
        assert_ne!(long, folder_name(&"é".repeat(301)));
        let cut = long.split('~').next().unwrap();
        assert!(cut.len().is_multiple_of(3), "{cut}");
    }
}
