//! Rows of several files of one table become rows of fewer. Sorting and adding up is DataFusion's, within
//! bounds of memory: what does not fit goes to the disk meanwhile.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, FieldRef, Float64Type, Int64Type, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::{StreamExt, TryStreamExt};

use super::buckets::Buckets;
use crate::error::{StoreError, Unfit};
use crate::file::{Contents, FileWriter, NewFile, Partition, read_all};
use crate::log::{FileEntry, Granularity};
use crate::store::Store;
use crate::tables::{REQUEST_EDGE_SUMS, REQUEST_SUMS, Table};

/// Memory for sorting and adding up, in bytes.
const MEMORY: usize = 512 << 20;
/// The part of it for merging the rows that went to the disk.
const MERGING: usize = 64 << 20;
/// Columns with many different texts: as dictionaries, each batch would carry all of them.
const MANY: [&str; 8] = [
    "graph", "path", "edge", "context", "caller", "along", "chain", "text",
];

/// The files that are to be merged.
pub(super) struct Merge<'a> {
    pub store: &'a Store,
    pub partition: Partition,
    pub files: &'a [FileEntry],
    pub grain: Option<Granularity>,
    pub buckets: Option<Buckets>,
    pub target: u64,
}

impl Merge<'_> {
    /// Writes the new files.
    pub async fn run(&self, added: &mut Vec<FileEntry>) -> Result<(), StoreError> {
        let table = self.partition.table;
        let failed = |error: DataFusionError| self.failed(error);
        let before = Arc::new(Mutex::new(Sums::of(table)));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(FairSpillPool::new(MEMORY)));
        let config = SessionConfig::new()
            .with_target_partitions(1)
            .with_sort_spill_reservation_bytes(MERGING);
        let context = SessionContext::new_with_config_rt(config, runtime.build_arc().map_err(failed)?);
        let source = Source {
            store: self.store.clone(),
            schema: plain(&table.schema()),
            files: self.files.to_vec(),
            sums: Arc::clone(&before),
        };
        let source =
            StreamingTable::try_new(plain(&table.schema()), vec![Arc::new(source)]).map_err(failed)?;
        context.register_table("rows", Arc::new(source)).map_err(failed)?;
        if let Some(buckets) = &self.buckets {
            context.register_udf(buckets.function());
        }
        let sql = statement(table, self.buckets.is_some());
        let rows = context.sql(&sql).await.map_err(failed)?;
        let mut rows = rows.execute_stream().await.map_err(failed)?;
        let mut after = Sums::of(table);
        let mut writer: Option<FileWriter> = None;
        let mut windows = 0u64;
        while let Some(batch) = rows.try_next().await.map_err(failed)? {
            let batch = self.conform(&batch)?;
            after.add(&batch).map_err(|unfit| self.broken(&unfit))?;
            if table == Table::Windows {
                windows += sum(&batch, "merged").map_err(|unfit| self.broken(&unfit))? as u64;
            }
            let open = match writer.take() {
                Some(open) => open,
                None => FileWriter::new(self.partition.clone())?,
            };
            let open = writer.insert(open);
            open.write(&batch)?;
            if (open.bytes() as u64 >= self.target || open.rows() >= super::ROWS)
                && let Some(full) = writer.take()
            {
                self.finish(full, &mut windows, added).await?;
            }
        }
        if let Some(last) = writer.filter(|writer| writer.rows() > 0) {
            self.finish(last, &mut windows, added).await?;
        }
        let before = before.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if before == after {
            Ok(())
        } else {
            Err(self.broken(&format!("sums were {before}, and became {after}")))
        }
    }

    async fn finish(
        &self,
        writer: FileWriter,
        windows: &mut u64,
        added: &mut Vec<FileEntry>,
    ) -> Result<(), StoreError> {
        let from = self.files.iter().filter_map(|file| file.from_ms).min();
        let to = self.files.iter().filter_map(|file| file.to_ms).max();
        let has_windows = matches!(self.partition.table, Table::Windows | Table::Paths);
        let NewFile { entry, bytes } = writer.finish(Contents {
            times: from.zip(to),
            grain: self.grain.filter(|_| has_windows),
            windows: (self.partition.table == Table::Windows).then_some(std::mem::take(windows)),
        })?;
        // Named before it is written: if that fails half-way, it is deleted.
        added.push(entry.clone());
        self.store.write(&entry.path, bytes).await
    }

    /// Into the table's own types; variances into errors.
    fn conform(&self, batch: &RecordBatch) -> Result<RecordBatch, StoreError> {
        let schema = self.partition.table.schema();
        let failed = |e: datafusion::arrow::error::ArrowError| StoreError::tables("compact", e);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
        for field in schema.fields() {
            let column = batch.column_by_name(field.name());
            let column =
                column.ok_or_else(|| self.broken(&format!("the column '{}' went missing", field.name())))?;
            columns.push(if column.data_type() == field.data_type() {
                Arc::clone(column)
            } else {
                cast(column, field.data_type()).map_err(failed)?
            });
        }
        if let (Some((at, _)), true) = (schema.column_with_name("error"), self.adds_up()) {
            let counts = column(batch, "count").map_err(|unfit| self.broken(&unfit))?;
            let counts = counts.as_primitive::<Int64Type>();
            let variances = columns[at].as_primitive::<Float64Type>();
            let errors = variances.iter().zip(counts.iter()).map(|(variance, count)| {
                let count = count.unwrap_or(0) as f64;
                variance.map(|variance| if count > 0.0 { variance.sqrt() / count } else { 0.0 })
            });
            columns[at] = Arc::new(errors.collect::<Float64Array>());
        }
        RecordBatch::try_new(schema, columns).map_err(failed)
    }

    /// Returns true if rows are added up, and not just sorted.
    fn adds_up(&self) -> bool {
        adds_up(self.partition.table, self.buckets.is_some())
    }

    fn failed(&self, error: DataFusionError) -> StoreError {
        // Our own errors come through DataFusion unchanged.
        match error {
            DataFusionError::External(inner) => match inner.downcast::<StoreError>() {
                Ok(own) => *own,
                Err(other) => StoreError::tables("compact", other),
            },
            other => StoreError::tables("compact", other),
        }
    }

    fn broken(&self, reason: &dyn fmt::Display) -> StoreError {
        let partition = &self.partition;
        let day = partition.day.map_or_else(String::new, |day| format!(", {day}"));
        StoreError::Tables {
            action: format!(
                "compact {} of {} {}{day}",
                partition.table, partition.service, partition.build
            ),
            reason: reason.to_string(),
        }
    }
}

fn adds_up(table: Table, buckets: bool) -> bool {
    buckets || !matches!(table, Table::Windows | Table::Paths)
}

/// The SQL for the rows of a table.
fn statement(table: Table, buckets: bool) -> String {
    let order = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let sorted = order(table.order());
    if !adds_up(table, buckets) {
        return format!("SELECT * FROM rows ORDER BY {sorted}");
    }
    // What rows are the same by; and how the other columns are summed up.
    let method = ["class", "method", "descriptor"];
    let variance = "CASE WHEN count(\"error\") = count(*) THEN sum(\"error\" * \"count\" * \"error\" * \"count\") END AS \"error\"";
    let first = |name: &str| format!("first_value(\"{name}\") AS \"{name}\"");
    let summed = |name: &str| format!("sum(\"{name}\") AS \"{name}\"");
    let all = |name: &str| format!("bool_and(\"{name}\") AS \"{name}\"");
    let most = |name: &str| format!("max(\"{name}\") AS \"{name}\"");
    let least = |name: &str| format!("min(\"{name}\") AS \"{name}\"");
    let mut same = vec!["service", "build"];
    if !table.is_timeless() {
        same.push("day");
    }
    let counted = || vec![summed("count"), all("exact"), variance.to_owned()];
    let others = match table {
        Table::Windows => {
            same.extend(["host", "jvm", "window"]);
            let mut others: Vec<String> = ["merged", "path_ends", "lost", "cpu_ns"].map(summed).into();
            others.extend(["exact", "complete"].map(all));
            others.extend(["probe", "java", "command", "labels"].map(first));
            others.extend(["started", "claimed"].map(least));
            others.push(most("ended"));
            others.push("bool_or(\"is_last\") AS \"is_last\"".to_owned());
            others
        }
        Table::Paths => {
            same.extend(["host", "jvm", "window"]);
            same.extend(method);
            same.extend(["graph", "path"]);
            counted()
        }
        Table::PathDays => {
            same.extend(method);
            same.extend(["graph", "path"]);
            counted()
        }
        Table::EdgeDays => {
            same.extend(method);
            same.extend(["graph", "edge"]);
            vec![summed("count"), all("exact")]
        }
        Table::MethodDays => {
            same.extend(method);
            ["paths", "decisions", "cpu_ns", "samples"].map(summed).into()
        }
        Table::ContextDays => {
            same.extend(["context", "caller"]);
            same.extend(method);
            same.extend(["site", "along", "depth"]);
            vec![first("chain"), summed("count"), all("exact")]
        }
        Table::RequestDays => {
            same.extend(["host", "request", "from_ns"]);
            REQUEST_SUMS.map(summed).into()
        }
        Table::RequestEdgeDays => {
            same.extend(["host", "request", "from_ns"]);
            same.extend(method);
            same.extend(["graph", "edge"]);
            REQUEST_EDGE_SUMS.map(summed).into()
        }
        Table::Methods => {
            same.extend(method);
            same.push("graph");
            vec![first("source_file"), most("line"), most("possible_paths")]
        }
        Table::Branches => {
            same.extend(method);
            same.extend(["graph", "edge"]);
            // The row that says what is decided represents the others.
            let known = |name: &str| {
                format!("first_value(\"{name}\" ORDER BY (\"condition\" IS NULL), \"outcome\") AS \"{name}\"")
            };
            ["bci", "line", "condition", "outcome", "made"].map(known).into()
        }
        Table::PathTexts => {
            same.extend(method);
            same.extend(["graph", "path"]);
            vec![first("text"), most("decisions")]
        }
    };
    let names = order(&same);
    let rows = if buckets {
        let columns = table.schema();
        let columns = columns.fields().iter().map(|field| match field.name().as_str() {
            "window" => "bucket(\"jvm\", \"window\") AS \"window\"".to_owned(),
            name => format!("\"{name}\""),
        });
        let columns: Vec<String> = columns.collect();
        format!("(SELECT {} FROM rows)", columns.join(", "))
    } else {
        "rows".to_owned()
    };
    format!(
        "SELECT {names}, {} FROM {rows} GROUP BY {names} ORDER BY {sorted}",
        others.join(", ")
    )
}

/// A table's columns, with plain texts where there are many different ones.
fn plain(schema: &Schema) -> SchemaRef {
    let field = |field: &FieldRef| {
        if MANY.contains(&field.name().as_str()) {
            Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8))
        } else {
            Arc::clone(field)
        }
    };
    Arc::new(Schema::new(
        schema.fields().iter().map(field).collect::<Vec<FieldRef>>(),
    ))
}

/// Files, one after the other, as rows.
struct Source {
    store: Store,
    schema: SchemaRef,
    files: Vec<FileEntry>,
    /// The sums of the rows that were read.
    sums: Arc<Mutex<Sums>>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files", self.files.len())
    }
}

impl PartitionStream for Source {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (store, sums, schema) = (
            self.store.clone(),
            Arc::clone(&self.sums),
            Arc::clone(&self.schema),
        );
        let files = futures::stream::iter(self.files.clone()).then(move |file| {
            let (store, sums, schema) = (store.clone(), Arc::clone(&sums), Arc::clone(&schema));
            async move {
                let external = |error: StoreError| DataFusionError::External(Box::new(error));
                let bytes = store.read_file(&file).await.map_err(external)?;
                let path = store.location(&file);
                let damaged = move |reason: Unfit| external(store.damaged(path.clone(), reason));
                let reader = read_all(bytes, file.table).map_err(&damaged)?;
                let batches = reader.map(move |batch| {
                    let batch = batch.map_err(|e| damaged(e.into()))?;
                    let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
                    sums.add(&batch).map_err(&damaged)?;
                    let columns = batch
                        .columns()
                        .iter()
                        .zip(schema.fields())
                        .map(|(column, field)| {
                            if column.data_type() == field.data_type() {
                                Ok(Arc::clone(column))
                            } else {
                                cast(column, field.data_type())
                            }
                        });
                    let columns: Result<Vec<ArrayRef>, _> = columns.collect();
                    Ok(RecordBatch::try_new(Arc::clone(&schema), columns?)?)
                });
                Ok::<_, DataFusionError>(futures::stream::iter(batches))
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            files.try_flatten(),
        ))
    }
}

/// Sums of all numbers that add up: they are the same before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sums(Vec<(&'static str, i128)>);

impl Sums {
    fn of(table: Table) -> Sums {
        let columns: &[&str] = match table {
            Table::Windows => &["merged", "path_ends", "lost", "cpu_ns"],
            Table::Paths | Table::PathDays | Table::EdgeDays | Table::ContextDays => &["count"],
            Table::MethodDays => &["paths", "decisions", "cpu_ns", "samples"],
            Table::RequestDays => &REQUEST_SUMS,
            Table::RequestEdgeDays => &REQUEST_EDGE_SUMS,
            Table::Methods | Table::Branches | Table::PathTexts => &[],
        };
        Sums(columns.iter().map(|&name| (name, 0)).collect())
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<(), Unfit> {
        for (name, total) in &mut self.0 {
            *total += sum(batch, name)?;
        }
        Ok(())
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|(name, sum)| format!("{name} {sum}")).collect();
        f.write_str(&parts.join(", "))
    }
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef, Unfit> {
    batch.column_by_name(name).ok_or_else(|| Unfit::no_column(name))
}

/// The sum of a column of numbers, which are all at least 0.
fn sum(batch: &RecordBatch, name: &str) -> Result<i128, Unfit> {
    let column = column(batch, name)?;
    if *column.data_type() != DataType::Int64 {
        return Err(Unfit::NoNumbers(name.to_owned()));
    }
    let numbers = column.as_primitive::<Int64Type>();
    let mut sum = 0i128;
    for number in numbers.iter().flatten() {
        if number < 0 {
            return Err(Unfit::Overflow(name.to_owned()));
        }
        sum += i128::from(number);
    }
    Ok(sum)
}
