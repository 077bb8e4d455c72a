//! A table of a store for DataFusion: the Parquet files that were named, and no others. Nothing is listed, and as the log
//! has the files' sizes, nothing is asked before the first byte that is read.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result, Statistics, stats::Precision};
use datafusion::datasource::TableType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use object_store::ObjectMeta;

use super::checked::Opener;
use super::files::DataFile;
use crate::tables::{Table, dictionary};

/// First bytes to read from a file's end: its footer is in them, so that one request is enough for it.
const FOOTER: usize = 64 * 1024;

/// Files of one table.
#[derive(Debug)]
pub(super) struct Scan {
    schema: SchemaRef,
    url: ObjectStoreUrl,
    files: Vec<DataFile>,
    opener: Arc<Opener>,
}

impl Scan {
    pub(super) fn new(table: Table, url: ObjectStoreUrl, files: Vec<DataFile>, opener: Opener) -> Self {
        Scan {
            schema: in_engine(table),
            url,
            files,
            opener: Arc::new(opener),
        }
    }
}

/// Names are texts of their own here: grouping and joining by several columns is made for these, not for dictionaries.
fn in_engine(table: Table) -> SchemaRef {
    let dictionary = dictionary();
    let field = |field: &Arc<Field>| {
        if *field.data_type() == dictionary {
            field.as_ref().clone().with_data_type(DataType::Utf8View)
        } else {
            field.as_ref().clone()
        }
    };
    Arc::new(Schema::new(
        table.schema().fields().iter().map(field).collect::<Vec<Field>>(),
    ))
}

#[async_trait]
impl TableProvider for Scan {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut options = state.table_options().parquet.clone();
        options.global.metadata_size_hint = Some(FOOTER);
        let opener: Arc<Opener> = Arc::clone(&self.opener);
        let source = ParquetSource::new(self.schema.clone())
            .with_table_parquet_options(options)
            .with_parquet_file_reader_factory(opener);
        let lanes = state
            .config()
            .target_partitions()
            .clamp(1, self.files.len().max(1));
        let mut groups: Vec<FileGroup> = vec![FileGroup::default(); lanes];
        let (mut total, mut rows) = (0, 0);
        for (index, file) in self.files.iter().enumerate() {
            groups[index % lanes].push(PartitionedFile::new_from_meta(ObjectMeta {
                location: file.path.clone(),
                last_modified: chrono::DateTime::UNIX_EPOCH,
                size: file.size,
                e_tag: None,
                version: None,
            }));
            total += file.size as usize;
            rows += file.rows as usize;
        }
        // How large a table is decides which side of a join is kept in memory.
        let statistics = Statistics {
            num_rows: Precision::Inexact(rows),
            total_byte_size: Precision::Inexact(total),
            ..Statistics::new_unknown(&self.schema)
        };
        let config = FileScanConfigBuilder::new(self.url.clone(), Arc::new(source))
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
