//! Files are compared with the log before a row of them counts: a flipped bit is an error, not another sum.
//!
//! A checksum of pages alone would leave footers and heads of pages out, which say what is skipped; the log has the SHA-256 of
//! the whole file.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use datafusion::common::Result;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::datasource::physical_plan::parquet::DefaultParquetFileReaderFactory;
use datafusion::parquet::arrow::arrow_reader::ArrowReaderOptions;
use datafusion::parquet::arrow::async_reader::AsyncFileReader;
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::future::BoxFuture;
use futures::{FutureExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::sync::OnceCell;

use super::files::{DataFile, Files};
use crate::error::StoreError;
use crate::log::Hasher;

/// Up to this size a file is read once, as a whole, and its parts are taken from memory. Of a larger one the
/// hash is computed first, and the parts are read again.
const MAX_WHOLE: u64 = 16 << 20;

type ReadResult<T> = std::result::Result<T, ParquetError>;

/// The files that were compared already, of all questions to an engine.
#[derive(Default)]
pub(super) struct Sound(Mutex<HashMap<Path, Arc<OnceCell<()>>>>);

impl Sound {
    fn cell(&self, path: &Path) -> Arc<OnceCell<()>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(path.clone()).or_default())
    }
}

impl Debug for Sound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "{} files", known.len())
    }
}

/// Opens files of a store.
#[derive(Debug)]
pub(super) struct Opener {
    store: Arc<dyn ObjectStore>,
    place: Arc<str>,
    files: HashMap<Path, DataFile>,
    sound: Arc<Sound>,
}

impl Opener {
    /// For some files of a store.
    pub fn new(of: &Files, chosen: &[DataFile], sound: &Arc<Sound>) -> Opener {
        Opener {
            store: Arc::clone(&of.store),
            place: of.place.as_str().into(),
            files: chosen
                .iter()
                .map(|file| (file.path.clone(), file.clone()))
                .collect(),
            sound: Arc::clone(sound),
        }
    }
}

impl ParquetFileReaderFactory for Opener {
    fn create_reader(
        &self,
        partition_index: usize,
        file: PartitionedFile,
        metadata_size_hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>> {
        let known = self.files.get(&file.object_meta.location).cloned();
        let inner = DefaultParquetFileReaderFactory::new(Arc::clone(&self.store)).create_reader(
            partition_index,
            file,
            metadata_size_hint,
            metrics,
        )?;
        let Some(file) = known else {
            return Ok(inner);
        };
        Ok(Box::new(Checked {
            inner,
            store: Arc::clone(&self.store),
            place: Arc::clone(&self.place),
            sound: self.sound.cell(&file.path),
            file,
            whole: None,
        }))
    }
}

/// A file that is compared with the log before its first byte is handed out.
struct Checked {
    inner: Box<dyn AsyncFileReader + Send>,
    store: Arc<dyn ObjectStore>,
    place: Arc<str>,
    file: DataFile,
    sound: Arc<OnceCell<()>>,
    whole: Option<Bytes>,
}

impl Checked {
    async fn check(&mut self) -> ReadResult<()> {
        let cell = Arc::clone(&self.sound);
        cell.get_or_try_init(|| self.compare()).await.map(|_| ())
    }

    async fn compare(&mut self) -> ReadResult<()> {
        let failed = |error: object_store::Error| ParquetError::External(Box::new(error));
        let found = self.store.get(&self.file.path).await.map_err(failed)?;
        let mut hasher = Hasher::default();
        let mut length = 0;
        if self.file.size <= MAX_WHOLE {
            let bytes = found.bytes().await.map_err(failed)?;
            length = bytes.len() as u64;
            hasher.add(&bytes);
            self.whole = Some(bytes);
        } else {
            let mut parts = found.into_stream();
            while let Some(part) = parts.try_next().await.map_err(failed)? {
                length += part.len() as u64;
                hasher.add(&part);
            }
        }
        let hash = hasher.finish();
        if length == self.file.size && hash == self.file.sha256 {
            return Ok(());
        }
        self.whole = None;
        Err(ParquetError::External(Box::new(StoreError::other_bytes(
            &self.place,
            &self.file.path,
            (length, &hash),
            (self.file.size, &self.file.sha256),
        ))))
    }

    async fn part(&mut self, range: Range<u64>) -> ReadResult<Bytes> {
        self.check().await?;
        let Some(whole) = &self.whole else {
            return self.inner.get_bytes(range).await;
        };
        if range.start <= range.end && range.end <= whole.len() as u64 {
            Ok(whole.slice(range.start as usize..range.end as usize))
        } else {
            Err(ParquetError::EOF(format!(
                "bytes {range:?} of a file of {}",
                whole.len()
            )))
        }
    }
}

impl AsyncFileReader for Checked {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ReadResult<Bytes>> {
        self.part(range).boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, ReadResult<Vec<Bytes>>> {
        async move {
            self.check().await?;
            if self.whole.is_none() {
                return self.inner.get_byte_ranges(ranges).await;
            }
            let mut parts = Vec::with_capacity(ranges.len());
            for range in ranges {
                parts.push(self.part(range).await?);
            }
            Ok(parts)
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ReadResult<Arc<ParquetMetaData>>> {
        async move {
            self.check().await?;
            let Some(whole) = &self.whole else {
                return self.inner.get_metadata(options).await;
            };
            let mut reader = ParquetMetaDataReader::new();
            if let Some(options) = options {
                reader = reader
                    .with_column_index_policy(options.column_index_policy())
                    .with_offset_index_policy(options.offset_index_policy());
            }
            Ok(Arc::new(reader.parse_and_finish(whole)?))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::sha256;
    use crate::tables::Table;

    /// The first bytes of a file as a question gets them, if the log says that it has the hash of `written`.
    async fn first_bytes(written: &[u8], found: Vec<u8>) -> ReadResult<Bytes> {
        let path = Path::from("data/one.parquet");
        let store: Arc<dyn ObjectStore> = Arc::new(object_store::memory::InMemory::new());
        store.put(&path, found.into()).await.unwrap();
        let file = DataFile {
            table: Table::Paths,
            path: path.clone(),
            size: written.len() as u64,
            rows: 1,
            sha256: sha256(written),
            service: String::new(),
            build: String::new(),
            day: None,
        };
        let opener = Opener {
            store,
            place: "memory".into(),
            files: HashMap::from([(path.clone(), file)]),
            sound: Arc::default(),
        };
        let opened = PartitionedFile::new(path.to_string(), written.len() as u64);
        let mut reader = opener
            .create_reader(0, opened, None, &ExecutionPlanMetricsSet::new())
            .unwrap();
        reader.get_bytes(0..4).await
    }

    /// Files that are read as a whole, and those that are read twice: one bit is one too many, wherever it is.
    #[tokio::test]
    async fn files_of_any_size_are_compared() {
        for size in [4 << 10, MAX_WHOLE as usize + 1] {
            let written = vec![7; size];
            assert_eq!(first_bytes(&written, written.clone()).await.unwrap(), &[7; 4][..]);
            for at in [0, size - 1] {
                let mut found = written.clone();
                found[at] ^= 1;
                let error = first_bytes(&written, found).await.unwrap_err().to_string();
                assert!(error.contains("SHA-256"), "{size} bytes, {at}: {error}");
            }
            let shorter = written[1..].to_vec();
            assert!(first_bytes(&written, shorter).await.is_err());
        }
    }
}
