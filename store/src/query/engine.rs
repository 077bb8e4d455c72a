//! DataFusion over a store's files, with a bound on memory; what does not fit goes to disk.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::{ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool, TrackConsumersPool};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};

use super::answer::Answer;
use super::checked::{Opener, Sound};
use super::error::QueryError;
use super::files::{DataFile, Files, Gap};
use super::head::Query;
use super::notes::nothing_there;
use super::once::{Step, Steps};
use super::params::{Given, Param, Params};
use super::scan::Scan;
use super::views::View;
use crate::tables::Table;

/// Where the engine reads from, whatever kind of store that is.
const URL: &str = "trodden://store";

/// The resources that the engine may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for what grows with the data: groups, joins, sorting.
    pub memory: usize,
    /// Threads.
    pub threads: Option<NonZeroUsize>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory: 768 << 20,
            threads: None,
        }
    }
}

/// The resources that an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// From the question to its answer.
    pub time: Duration,
    /// Files that could have rows that matter.
    pub files: usize,
    /// Files of the tables that the question names.
    pub files_of_tables: usize,
    /// Bytes that were spilled to disk.
    pub spilled: usize,
}

/// Tables by their names.
type Tables = Vec<(String, Arc<dyn TableProvider>)>;

/// Bytes of memory for each row of a table that is looked at in parts.
const BYTES_OF_A_ROW: usize = 768;
/// Each part reads the files again.
const MOST_PARTS: usize = 64;

/// A table that was made.
struct Made {
    name: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Made {
    fn as_table(&self) -> Result<(String, Arc<dyn TableProvider>), DataFusionError> {
        let table = MemTable::try_new(self.schema.clone(), vec![self.batches.clone()])?;
        Ok((self.name.clone(), Arc::new(table)))
    }
}

/// Ways to save memory that are tried when it does not suffice, in this order: each is slower than the one
/// before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thrift {
    /// Joins by hash, whose tables have to fit.
    None,
    /// Joins by sorting, which go to disk.
    SortedJoins,
    /// The same, and no sort takes what another needs to go to disk.
    EqualShares,
}

/// Answers questions about the files of a store.
#[derive(Debug)]
pub struct Engine {
    files: Files,
    limits: Limits,
    sound: Arc<Sound>,
}

impl Engine {
    /// One over these files.
    pub fn new(files: Files, limits: Limits) -> Self {
        Engine {
            files,
            limits,
            sound: Arc::default(),
        }
    }

    /// The files.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Answers a question.
    ///
    /// # Errors
    /// If it makes no sense, or cannot be answered.
    pub async fn ask(&self, query: &Query, given: &Given) -> Result<(Answer, Spent), QueryError> {
        let began = Instant::now();
        let mut query = query.clone();
        let undeclared = query.params.is_empty();
        let params = Params::of(&mut query, given, &self.files)?;
        let chosen = |file: &&DataFile| {
            if undeclared {
                params.chooses(file)
            } else {
                params.concerns(&query, file)
            }
        };
        let chosen: Vec<&DataFile> = self.files.files.iter().filter(chosen).collect();
        let steps = Steps::of(&query.sql, &query.once, query.parts.as_ref())?;
        let mut tables = self.tables(&params, &chosen)?;
        let mut spilled = 0;
        let mut made: Vec<Made> = Vec::new();
        let mut first = steps.first.iter();
        while let Some(step) = first.next() {
            let table = match query.parts.as_ref().filter(|_| step.in_parts) {
                Some(parts) => {
                    let others = first.by_ref().take(parts.tables.len() - 1);
                    let steps: Vec<&Step> = std::iter::once(step).chain(others).collect();
                    let of = made.iter().find(|table| table.name == parts.of);
                    let of = of.ok_or_else(|| QueryError::Failed(format!("no table '{}'", parts.of)))?;
                    let rows = chosen.iter().filter(|file| file.table == parts.by);
                    let number = self.number_of_parts(rows.map(|file| file.rows).sum());
                    self.in_parts(&steps, (of, number), &tables, &query.views, &mut spilled)
                        .await?
                }
                None => self.made(step, &tables, &query.views, &mut spilled).await?,
            };
            tables.push(table.as_table()?);
            made.push(table);
        }
        let (plan, batches) = self
            .step(&steps.last, &tables, &query.views, &mut spilled)
            .await?;
        let mut spent = Spent {
            spilled,
            ..Spent::default()
        };
        let named: Vec<Table> = Table::ALL.into_iter().filter(|&table| query.has(table)).collect();
        let of_tables = || self.files.files.iter().filter(|file| named.contains(&file.table));
        spent.files_of_tables = of_tables().count();
        spent.files = chosen.iter().filter(|file| named.contains(&file.table)).count();
        let mut answer = Answer::new(&query, &params, &plan.schema(), &batches)?;
        answer.nothing_there = nothing_there(&self.files, &query, &params, answer.rows.is_empty());
        spent.time = began.elapsed();
        Ok((answer, spent))
    }

    /// Makes a table.
    async fn made(
        &self,
        step: &Step,
        tables: &Tables,
        views: &[&View],
        spilled: &mut usize,
    ) -> Result<Made, DataFusionError> {
        let (plan, batches) = self.step(&step.sql, tables, views, spilled).await?;
        Ok(Made {
            name: step.name.clone(),
            schema: plan.schema(),
            batches,
        })
    }

    /// Makes tables for a part of the rows of one at a time, and keeps the last of them.
    async fn in_parts(
        &self,
        steps: &[&Step],
        (of, number): (&Made, usize),
        tables: &Tables,
        views: &[&View],
        spilled: &mut usize,
    ) -> Result<Made, DataFusionError> {
        let whole = concat_batches(&of.schema, &of.batches)?;
        let length = whole.num_rows().div_ceil(number).max(1);
        let mut kept: Option<Made> = None;
        for from in (0..whole.num_rows().max(1)).step_by(length) {
            let part = whole.slice(from, length.min(whole.num_rows() - from));
            let part = Made {
                name: of.name.clone(),
                schema: of.schema.clone(),
                batches: vec![part],
            };
            let mut tables: Tables = tables
                .iter()
                .filter(|(name, _)| *name != of.name)
                .cloned()
                .collect();
            tables.push(part.as_table()?);
            let mut last = None;
            for step in steps {
                let made = self.made(step, &tables, views, spilled).await?;
                tables.push(made.as_table()?);
                last = Some(made);
            }
            match (&mut kept, last) {
                (Some(kept), Some(last)) => kept.batches.extend(last.batches),
                (kept, last) => *kept = last,
            }
        }
        kept.ok_or_else(|| DataFusionError::Plan("no table is made in parts".to_owned()))
    }

    /// In how many parts a table of that number of rows is looked at.
    fn number_of_parts(&self, rows: u64) -> usize {
        let fit = (self.limits.memory / BYTES_OF_A_ROW).max(1) as u64;
        usize::try_from(rows.div_ceil(fit)).map_or(MOST_PARTS, |parts| parts.clamp(1, MOST_PARTS))
    }

    /// Runs one SELECT; adds to the bytes that were spilled.
    async fn step(
        &self,
        sql: &str,
        tables: &Tables,
        views: &[&View],
        spilled: &mut usize,
    ) -> Result<(Arc<dyn ExecutionPlan>, Vec<RecordBatch>), DataFusionError> {
        let mut done = self.run(sql, tables, views, Thrift::None).await;
        for thrift in [Thrift::SortedJoins, Thrift::EqualShares] {
            match &done {
                Err(error) if matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)) => {}
                _ => break,
            }
            done = self.run(sql, tables, views, thrift).await;
        }
        let (plan, batches) = done?;
        *spilled += spilled_by(&plan);
        Ok((plan, batches))
    }

    async fn run(
        &self,
        sql: &str,
        tables: &Tables,
        views: &[&View],
        thrift: Thrift,
    ) -> Result<(Arc<dyn ExecutionPlan>, Vec<RecordBatch>), DataFusionError> {
        let session = self.session(thrift)?;
        for (name, table) in tables {
            session.register_table(name.as_str(), table.clone())?;
        }
        // One SELECT: nothing that writes, or reads other files.
        let only = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        for view in views {
            let frame = session.sql_with_options(view.sql, only).await?;
            session.register_table(view.name, frame.into_view())?;
        }
        let frame = session.sql_with_options(sql, only).await?;
        let plan = frame.create_physical_plan().await?;
        let batches = collect(plan.clone(), session.task_ctx()).await?;
        Ok((plan, batches))
    }

    /// The tables that a question can name: the store's, of files that were chosen, `gaps` and `params`.
    fn tables(&self, params: &Params, chosen: &[&DataFile]) -> Result<Tables, DataFusionError> {
        let of = |table: Table| -> (String, Arc<dyn TableProvider>) {
            let files = chosen.iter().filter(|file| file.table == table);
            let files: Vec<DataFile> = files.map(|&file| file.clone()).collect();
            let opener = Opener::new(&self.files, &files, &self.sound);
            (
                table.name().to_owned(),
                Arc::new(Scan::new(table, url(), files, opener)),
            )
        };
        let mut tables: Tables = Table::ALL.into_iter().map(of).collect();
        tables.push(("gaps".to_owned(), Arc::new(gaps(&self.files.gaps)?)));
        tables.push(("params".to_owned(), Arc::new(row(params)?)));
        Ok(tables)
    }

    fn session(&self, thrift: Thrift) -> Result<SessionContext, DataFusionError> {
        let top = const { NonZeroUsize::new(3).unwrap() };
        let memory = self.limits.memory;
        let pool: Arc<dyn MemoryPool> = match thrift {
            // The first taker is served first: equal shares would be tiny, as questions with many steps have
            // hundreds of takers, most of which need next to nothing.
            Thrift::None | Thrift::SortedJoins => {
                Arc::new(TrackConsumersPool::new(GreedyMemoryPool::new(memory), top))
            }
            Thrift::EqualShares => Arc::new(TrackConsumersPool::new(FairSpillPool::new(memory), top)),
        };
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc()?;
        runtime.register_object_store(url().as_ref(), self.files.store.clone());
        let mut config = SessionConfig::new();
        config = match (thrift, self.limits.threads) {
            (Thrift::None, Some(threads)) => config.with_target_partitions(threads.get()),
            (Thrift::None, None) => config,
            // With one lane, all joins would be by hash. Each sort holds memory back for its merge: many of
            // them, and little.
            (Thrift::SortedJoins, _) => config
                .with_target_partitions(2)
                .with_sort_spill_reservation_bytes(memory / 64),
            // Few sorts, of much: keys of many columns take as much in the merge as the rows do.
            (Thrift::EqualShares, _) => config
                .with_target_partitions(2)
                .with_batch_size(1024)
                .with_sort_spill_reservation_bytes(memory / 3),
        };
        let options = config.options_mut();
        options.execution.parquet.pushdown_filters = true;
        options.optimizer.prefer_hash_join = thrift == Thrift::None;
        Ok(SessionContext::new_with_config_rt(config, runtime))
    }
}

fn url() -> ObjectStoreUrl {
    ObjectStoreUrl::parse(URL).expect("a URL without a path")
}

/// The view `gaps`: windows that did not come in, by the log.
fn gaps(gaps: &[Gap]) -> Result<MemTable, DataFusionError> {
    let numbers = |number: fn(&Gap) -> u64| {
        let signed = gaps
            .iter()
            .map(|gap| i64::try_from(number(gap)).unwrap_or(i64::MAX));
        Arc::new(Int64Array::from_iter_values(signed))
    };
    let field = |name: &str, kind: DataType| Field::new(name, kind, false);
    let schema = Arc::new(Schema::new(vec![
        field("jvm", DataType::Utf8),
        field("from_window", DataType::Int64),
        field("to_window", DataType::Int64),
    ]));
    let jvms = StringArray::from_iter_values(gaps.iter().map(|gap| gap.jvm.as_str()));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(jvms),
        numbers(|gap| gap.from_window),
        numbers(|gap| gap.to_window),
    ];
    let batch = RecordBatch::try_new(schema.clone(), columns)?;
    MemTable::try_new(schema, vec![vec![batch]])
}

/// The view `params`: one row.
fn row(params: &Params) -> Result<MemTable, DataFusionError> {
    let column = |(name, value): &(String, Param)| {
        let (kind, array): (DataType, ArrayRef) = match value {
            Param::Date(day) => (DataType::Date32, Arc::new(Date32Array::from(vec![day.0]))),
            Param::Text(text) => (DataType::Utf8, Arc::new(StringArray::from(vec![text.as_str()]))),
            Param::Number(number) => (DataType::Int64, Arc::new(Int64Array::from(vec![*number]))),
            Param::Share(number) => (DataType::Float64, Arc::new(Float64Array::from(vec![*number]))),
        };
        (Field::new(name, kind, false), array)
    };
    let mut columns: Vec<(Field, ArrayRef)> = params.values.iter().map(column).collect();
    if columns.is_empty() {
        // A table has columns, and a question without parameters may still count on one row.
        let none: ArrayRef = Arc::new(Int64Array::from(vec![0]));
        columns.push((Field::new("none", DataType::Int64, false), none));
    }
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays)?;
    MemTable::try_new(schema, vec![vec![batch]])
}

/// Bytes that a plan and those below it spilled.
fn spilled_by(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let own = plan.metrics().and_then(|metrics| metrics.spilled_bytes());
    own.unwrap_or(0) + plan.children().into_iter().map(spilled_by).sum::<usize>()
}
