//! Windows of made-up JVMs, out of real profiles; and what a store must say of them, by way of the report.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use trodden_numbering::{BlockId, EdgeRef};
use trodden_profile::facts::Facts;
use trodden_profile::{Profile, edge_key};
use trodden_report::{Report, ReportOptions};
use trodden_store::tables::Table;
use trodden_store::{State, Store};

/// 2026-11-25T00:00:00Z
pub const DAY: u64 = 1_795_564_800_000;
pub const HOUR: u64 = 3_600_000;

/// A profile of `tests/data`, made by running `Shop.java` there.
pub fn fixture(name: &str) -> Profile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(format!("{name}.trodden"));
    Profile::load(path).unwrap()
}

/// A window.
#[derive(Clone, Debug)]
pub struct Window {
    pub service: &'static str,
    pub build: &'static str,
    pub jvm: u128,
    pub window: u64,
    pub started_ms: u64,
    /// All counts of the profile that it is made of are that many times as high.
    pub times: u64,
}

impl Window {
    pub fn new(jvm: u128, window: u64, started_ms: u64) -> Window {
        Window {
            service: "shop",
            build: "one",
            jvm,
            window,
            started_ms,
            times: 1 + (jvm as u64 * 31 + window * 7) % 13,
        }
    }

    /// As a profile: that of a fixture, with other counts and facts.
    pub fn profile(&self, of: &Profile) -> Profile {
        let mut profile = of.clone();
        for counts in profile.classes.iter_mut().flat_map(|class| &mut class.counts) {
            counts.paths.values_mut().for_each(|count| *count *= self.times);
            counts.partial.values_mut().for_each(|count| *count *= self.times);
        }
        let mut facts: Vec<(String, String)> = profile
            .run
            .facts
            .texts()
            .map(|(name, text)| (name.to_owned(), text.into_owned()))
            .collect();
        let own = [
            ("service", self.service.to_owned()),
            ("build", self.build.to_owned()),
            ("host", format!("host{}", self.jvm % 5)),
            ("labels", "region:eu+zone:a".to_owned()),
            ("jvm_id", format!("{:032x}", self.jvm)),
            ("window", self.window.to_string()),
            ("window_started_ms", self.started_ms.to_string()),
            ("window_ended_ms", (self.started_ms + 60_000).to_string()),
        ];
        facts.extend(own.map(|(name, text)| (name.to_owned(), text)));
        profile.run.facts = Facts::from_iter(facts);
        profile
    }

    /// As a file in a folder, named as the agent names them.
    pub fn save(&self, of: &Profile, folder: &Path) -> PathBuf {
        let path = folder.join(format!("{:032x}-{:08}.trodden", self.jvm, self.window));
        std::fs::write(&path, self.profile(of).to_bytes().unwrap()).unwrap();
        path
    }
}

/// The keys that are counted: service, build, day, class, method, descriptor, key.
pub type Counts = BTreeMap<[String; 7], u64>;

fn key(window: &Window, parts: [&str; 4]) -> [String; 7] {
    let day = trodden_store::Day::of_ms(window.started_ms as i64).to_string();
    let [class, method, descriptor, key] = parts;
    [window.service, window.build, &day, class, method, descriptor, key].map(str::to_owned)
}

/// The counts of paths that profiles have, by the report.
pub fn paths_of(windows: &[Window], of: &Profile) -> Counts {
    let mut counts = Counts::new();
    for window in windows {
        let profile = window.profile(of);
        let report = Report::new(&profile, &ReportOptions::default()).unwrap();
        for method in &report.view().methods {
            let graph = method.map.graph_key();
            for path in method.paths.iter().chain(&method.partial) {
                let path_key = path.key(graph).to_string();
                let key = key(
                    window,
                    [method.class, &method.map.name, &method.map.descriptor, &path_key],
                );
                *counts.entry(key).or_default() += path.count;
            }
        }
    }
    counts
}

/// The counts of edges that profiles have, by the report; of those that are known and not 0.
pub fn edges_of(windows: &[Window], of: &Profile) -> Counts {
    let mut counts = Counts::new();
    for window in windows {
        let profile = window.profile(of);
        let report = Report::new(&profile, &ReportOptions::default()).unwrap();
        for method in &report.view().methods {
            let graph = method.map.graph_key();
            for branch in &method.branches {
                let ways = method.map.blocks[branch.block].labels.len() as u32;
                for index in 0..ways {
                    let edge = EdgeRef {
                        from: BlockId::new(branch.block),
                        index,
                    };
                    let edge_text = edge_key(graph, edge).to_string();
                    let key = key(
                        window,
                        [method.class, &method.map.name, &method.map.descriptor, &edge_text],
                    );
                    if let Some(count) = method.edge_count(edge).filter(|&count| count > 0) {
                        *counts.entry(key).or_default() += count;
                    }
                }
            }
        }
    }
    counts
}

/// All rows of a table, as any reader of Parquet gets them.
pub async fn rows(store: &Store, state: &State, table: Table) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    for file in state.files(table) {
        let found = store
            .objects()
            .get_opts(&store.location(file), Default::default())
            .await
            .unwrap();
        let bytes = found.bytes().await.unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes)
            .unwrap()
            .build()
            .unwrap();
        batches.extend(reader.map(Result::unwrap));
    }
    batches
}

pub fn texts(batch: &RecordBatch, name: &str) -> ArrayRef {
    cast(batch.column_by_name(name).unwrap(), &DataType::Utf8).unwrap()
}

pub fn text(batch: &RecordBatch, name: &str, row: usize) -> String {
    texts(batch, name).as_string::<i32>().value(row).to_owned()
}

pub fn numbers<'b>(batch: &'b RecordBatch, name: &str) -> &'b datafusion::arrow::array::Int64Array {
    batch.column_by_name(name).unwrap().as_primitive::<Int64Type>()
}

/// The sum of a column of numbers.
pub async fn sum(store: &Store, table: Table, name: &str) -> i64 {
    let state = store.state().await.unwrap();
    let batches = rows(store, &state, table).await;
    batches
        .iter()
        .flat_map(|batch| numbers(batch, name).iter().flatten())
        .sum()
}

/// The counts of a table, added up over everything but the day.
pub async fn counts_in(store: &Store, table: Table, what: &str) -> Counts {
    let state = store.state().await.unwrap();
    let mut counts = Counts::new();
    for batch in rows(store, &state, table).await {
        let columns = ["service", "build", "day", "class", "method", "descriptor", what]
            .map(|name| texts(&batch, name));
        let count = numbers(&batch, "count");
        for row in 0..batch.num_rows() {
            if count.is_null(row) {
                continue;
            }
            let key = columns
                .each_ref()
                .map(|column| column.as_string::<i32>().value(row).to_owned());
            *counts.entry(key).or_default() += count.value(row) as u64;
        }
    }
    counts
}

/// The store has exactly these windows, with all their counts, and is sound.
pub async fn assert_holds(store: &Store, windows: &[Window], of: &Profile) {
    let expected = paths_of(windows, of);
    assert_eq!(counts_in(store, Table::Paths, "path").await, expected);
    assert_eq!(counts_in(store, Table::PathDays, "path").await, expected);
    assert_eq!(
        counts_in(store, Table::EdgeDays, "edge").await,
        edges_of(windows, of)
    );
    let state = store.state().await.unwrap();
    assert_eq!(state.windows().len(), windows.len() as u64);
    for window in windows {
        assert!(
            state
                .windows()
                .contains(&format!("{:032x}", window.jvm), window.window),
            "{window:?}"
        );
    }
    assert_eq!(sum(store, Table::Windows, "merged").await, windows.len() as i64);
    let found = store.verify().await.unwrap();
    assert_eq!(found.problems, Vec::<String>::new());
}
