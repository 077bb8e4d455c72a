//! Which windows of a JVM are combined.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, TimestampMillisecondType};
use datafusion::common::DataFusionError;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use rustc_hash::FxHashMap;

use crate::error::{StoreError, Unfit};
use crate::file::read_columns;
use crate::log::{FileEntry, Granularity};
use crate::store::Store;
use crate::tables::dictionary;

/// Per JVM: from which window on (ascending) rows get which number, that of their bucket's first window.
#[derive(Clone)]
pub(super) struct Buckets(Arc<FxHashMap<String, Vec<(i64, i64)>>>);

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buckets of {} JVMs", self.0.len())
    }
}

impl Buckets {
    /// From the rows of windows of a day.
    pub async fn of(store: &Store, files: &[FileEntry], grain: Granularity) -> Result<Buckets, StoreError> {
        let length = match grain {
            Granularity::Hour => 3_600_000,
            Granularity::Day => 86_400_000,
        };
        let mut rows: FxHashMap<String, Vec<(i64, i64)>> = FxHashMap::default();
        for file in files {
            let damaged = |reason: Unfit| store.damaged(store.location(file), reason);
            let bytes = store.read_file(file).await?;
            for batch in read_columns(bytes, &["jvm", "window", "started"]).map_err(damaged)? {
                let batch = batch.map_err(|e| damaged(e.into()))?;
                let column = |name: &str, kind: DataType| {
                    let column = batch
                        .column_by_name(name)
                        .ok_or_else(|| damaged(Unfit::no_column(name)))?;
                    if *column.data_type() == kind {
                        Ok(Arc::clone(column))
                    } else {
                        cast(column, &kind).map_err(|e| damaged(e.into()))
                    }
                };
                let jvm = column("jvm", DataType::Utf8)?;
                let window = column("window", DataType::Int64)?;
                let started = column("started", crate::tables::timestamp())?;
                let window = window.as_primitive::<Int64Type>().values();
                let started = started.as_primitive::<TimestampMillisecondType>().values();
                for (row, jvm) in jvm.as_string::<i32>().iter().flatten().enumerate() {
                    let place = (window[row], started[row].div_euclid(length));
                    match rows.get_mut(jvm) {
                        Some(rows) => rows.push(place),
                        None => drop(rows.insert(jvm.to_owned(), vec![place])),
                    }
                }
            }
        }
        for places in rows.values_mut() {
            *places = runs(places);
        }
        Ok(Buckets(Arc::new(rows)))
    }

    /// The number of the bucket's first window; the window itself, if it is not known.
    fn first(&self, jvm: &str, window: i64) -> i64 {
        let Some(runs) = self.0.get(jvm) else {
            return window;
        };
        let after = runs.partition_point(|&(from, _)| from <= window);
        after.checked_sub(1).map_or(window, |at| runs[at].1)
    }

    /// As a function of SQL: `bucket(jvm, window)`.
    pub fn function(&self) -> ScalarUDF {
        let buckets = self.clone();
        let apply = move |arguments: &[ColumnarValue]| -> Result<ColumnarValue, DataFusionError> {
            let arrays = ColumnarValue::values_to_arrays(arguments)?;
            let jvm = cast(&arrays[0], &DataType::Utf8)?;
            let windows = arrays[1].as_primitive::<Int64Type>().values().iter();
            let jvms = jvm.as_string::<i32>();
            let firsts = windows
                .enumerate()
                .map(|(row, &window)| buckets.first(jvms.value(row), window));
            let firsts: ArrayRef = Arc::new(Int64Array::from_iter_values(firsts));
            Ok(ColumnarValue::Array(firsts))
        };
        create_udf(
            "bucket",
            vec![dictionary(), DataType::Int64],
            DataType::Int64,
            Volatility::Immutable,
            Arc::new(apply),
        )
    }
}

/// From (window, bucket) to (window, first window of the bucket), ascending, without what follows from the
/// one before.
fn runs(places: &mut [(i64, i64)]) -> Vec<(i64, i64)> {
    places.sort_unstable();
    let mut first: BTreeMap<i64, i64> = BTreeMap::new();
    for &(window, bucket) in places.iter() {
        first.entry(bucket).or_insert(window);
    }
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for &(window, bucket) in places.iter() {
        let first = first[&bucket];
        if runs.last().is_none_or(|last| last.1 != first) {
            runs.push((window, first));
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_get_the_number_of_the_first() {
        // The clock went back once.
        let mut places = [(5, 0), (3, 0), (7, 1), (9, 1), (12, 0), (13, 2)];
        let of = runs(&mut places);
        assert_eq!(of, [(3, 3), (7, 7), (12, 3), (13, 13)]);
        let buckets = Buckets(Arc::new(FxHashMap::from_iter([("a".to_owned(), of)])));
        let first = |window| buckets.first("a", window);
        assert_eq!([3, 5, 7, 9, 12, 13].map(first), [3, 3, 7, 7, 3, 13]);
        assert_eq!((buckets.first("b", 4), first(1)), (4, 1));
    }
}
