//! Statistics of columns from a Parquet file's foot, by which readers leave files out.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::datatypes::DataType;
use datafusion::parquet::arrow::async_reader::MetadataFetch;
use datafusion::parquet::errors::{ParquetError, Result as ParquetResult};
use datafusion::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use datafusion::parquet::file::statistics::Statistics;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::error::StoreError;
use crate::log::FileEntry;
use crate::numbers::id;
use crate::store::Store;

/// Bytes of a file's end that are read first: its foot is in them.
const FOOT: usize = 64 * 1024;

/// Statistics of a file's columns, by their numbers. Bounds are in Iceberg's form.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Columns {
    pub sizes: Vec<(i32, i64)>,
    pub values: Vec<(i32, i64)>,
    pub nulls: Vec<(i32, i64)>,
    pub lower: Vec<(i32, Vec<u8>)>,
    pub upper: Vec<(i32, Vec<u8>)>,
}

/// Parts of a file.
struct Parts {
    objects: Arc<dyn ObjectStore>,
    path: Path,
}

impl MetadataFetch for Parts {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        let part = async move { self.objects.get_range(&self.path, range).await };
        part.map(|part| part.map_err(|e| ParquetError::External(Box::new(e))))
            .boxed()
    }
}

impl Store {
    /// Statistics of a file's columns.
    pub(super) async fn statistics(&self, file: &FileEntry) -> Result<Columns, StoreError> {
        Ok(columns(file, &self.foot(file).await?))
    }

    /// Returns true if the columns of a file have numbers: those of versions before tables were published have none.
    pub(super) async fn is_numbered(&self, file: &FileEntry) -> Result<bool, StoreError> {
        let foot = self.foot(file).await?;
        let root = foot.file_metadata().schema_descr().root_schema();
        Ok(root
            .get_fields()
            .iter()
            .all(|field| field.get_basic_info().has_id()))
    }

    async fn foot(&self, file: &FileEntry) -> Result<ParquetMetaData, StoreError> {
        let path = self.location(file);
        let parts = Parts {
            objects: self.objects(),
            path: path.clone(),
        };
        let reader = ParquetMetaDataReader::new().with_prefetch_hint(Some(FOOT));
        match reader.load_and_finish(parts, file.bytes).await {
            Ok(foot) => Ok(foot),
            Err(ParquetError::External(source)) => {
                Err(StoreError::tables(format!("read {}", self.within(&path)), source))
            }
            Err(error) => Err(self.damaged(path, error)),
        }
    }
}

fn columns(file: &FileEntry, foot: &ParquetMetaData) -> Columns {
    let mut columns = Columns::default();
    let leaves = foot.file_metadata().schema_descr();
    for field in file.table.schema().fields() {
        // Of a map only its keys and values are columns of the file.
        if matches!(field.data_type(), DataType::Map(..)) {
            continue;
        }
        let Some(leaf) = leaves
            .columns()
            .iter()
            .position(|leaf| leaf.name() == field.name())
        else {
            continue;
        };
        let number = id(field.name());
        let chunks = || foot.row_groups().iter().map(|group| group.column(leaf));
        columns
            .sizes
            .push((number, chunks().map(|chunk| chunk.compressed_size()).sum()));
        columns
            .values
            .push((number, chunks().map(|chunk| chunk.num_values()).sum()));
        let statistics: Option<Vec<&Statistics>> = chunks().map(|chunk| chunk.statistics()).collect();
        let Some(statistics) = statistics else { continue };
        let nulls: Option<u64> = statistics.iter().map(|part| part.null_count_opt()).sum();
        if let Some(nulls) = nulls {
            columns.nulls.push((number, nulls as i64));
        }
        let is_all_null = |part: &&&Statistics| part.min_bytes_opt().is_none();
        if statistics.iter().any(|part| is_all_null(&part)) {
            continue;
        }
        let bounds = |of: fn(&Statistics) -> Option<&[u8]>| {
            let bounds = statistics.iter().filter_map(|part| of(part));
            bounds
                .map(|bytes| Bound::new(field.data_type(), bytes))
                .collect::<Option<Vec<Bound>>>()
        };
        if let Some(least) =
            bounds(Statistics::min_bytes_opt).and_then(|all| all.into_iter().min_by(Bound::order))
        {
            columns.lower.push((number, least.bytes(field.data_type())));
        }
        if let Some(most) =
            bounds(Statistics::max_bytes_opt).and_then(|all| all.into_iter().max_by(Bound::order))
        {
            columns.upper.push((number, most.bytes(field.data_type())));
        }
    }
    columns
}

/// A bound in Parquet's plain encoding.
#[derive(Debug, PartialEq)]
enum Bound {
    Number(i64),
    Float(f64),
    Text(Vec<u8>),
}

impl Bound {
    fn new(kind: &DataType, bytes: &[u8]) -> Option<Bound> {
        Some(match kind {
            DataType::Boolean => Bound::Number(i64::from(*bytes.first()?)),
            DataType::Date32 => Bound::Number(i64::from(i32::from_le_bytes(bytes.try_into().ok()?))),
            // Milliseconds in the file, microseconds in Iceberg.
            DataType::Timestamp(..) => {
                Bound::Number(i64::from_le_bytes(bytes.try_into().ok()?).saturating_mul(1_000))
            }
            DataType::Int64 => Bound::Number(i64::from_le_bytes(bytes.try_into().ok()?)),
            DataType::Float64 => Bound::Float(f64::from_le_bytes(bytes.try_into().ok()?)),
            _ => Bound::Text(bytes.to_vec()),
        })
    }

    fn order(&self, other: &Bound) -> std::cmp::Ordering {
        match (self, other) {
            (Bound::Number(one), Bound::Number(other)) => one.cmp(other),
            (Bound::Float(one), Bound::Float(other)) => one.total_cmp(other),
            (Bound::Text(one), Bound::Text(other)) => one.cmp(other),
            _ => std::cmp::Ordering::Equal,
        }
    }

    fn bytes(self, kind: &DataType) -> Vec<u8> {
        match self {
            Bound::Number(number) => match kind {
                DataType::Boolean => vec![number as u8],
                DataType::Date32 => (number as i32).to_le_bytes().to_vec(),
                _ => number.to_le_bytes().to_vec(),
            },
            Bound::Float(number) => number.to_le_bytes().to_vec(),
            Bound::Text(bytes) => bytes,
        }
    }
}
