//! Requests of one kind against what they do.

use rustc_hash::FxHashMap;
use trodden_profile::{RequestName, RequestSample};

use super::features::Features;

/// The samples of one kind of requests, and what those with the same paths do.
pub struct Table<'p> {
    /// The samples.
    pub samples: &'p [RequestSample],
    /// Per sample: the row of its paths.
    pub row_of: Vec<u32>,
    /// Number of rows.
    pub rows: usize,
    /// Their features.
    pub columns: Vec<Column>,
}

/// Features that occur in the same rows, each as often.
pub struct Column {
    /// The features.
    pub features: Vec<u32>,
    /// Rows with their counts, the largest first.
    pub entries: Vec<(u32, u64)>,
}

impl<'p> Table<'p> {
    /// The samples of a name.
    pub fn new(name: &'p RequestName, features: &Features) -> Self {
        let mut vectors: FxHashMap<u32, u32> = FxHashMap::default();
        let mut columns: FxHashMap<u32, Vec<(u32, u64)>> = FxHashMap::default();
        let row_of = name.samples.iter().map(|sample| {
            let next = vectors.len() as u32;
            *vectors.entry(sample.vector).or_insert_with(|| {
                let row = features.rows.get(sample.vector as usize);
                for &(feature, count) in row.into_iter().flatten() {
                    columns.entry(feature).or_default().push((next, count));
                }
                next
            })
        });
        let row_of = row_of.collect();
        let mut alike: FxHashMap<Vec<(u32, u64)>, Vec<u32>> = FxHashMap::default();
        for (feature, entries) in columns {
            alike.entry(entries).or_default().push(feature);
        }
        let column = |(mut entries, mut features): (Vec<(u32, u64)>, Vec<u32>)| {
            entries.sort_unstable_by_key(|&(row, count)| (std::cmp::Reverse(count), row));
            features.sort_unstable();
            Column { features, entries }
        };
        let mut columns: Vec<Column> = alike.into_iter().map(column).collect();
        columns.sort_unstable_by(|a, b| a.features.cmp(&b.features));
        Table {
            samples: &name.samples,
            row_of,
            rows: vectors.len(),
            columns,
        }
    }

    /// Sums over the samples of each row.
    pub fn by_row(&self, value: impl Fn(usize, &RequestSample) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.rows];
        for (index, (sample, &row)) in self.samples.iter().zip(&self.row_of).enumerate() {
            sums[row as usize] += value(index, sample);
        }
        sums
    }
}

impl Column {
    /// The rows that do it more often than this.
    pub fn above(&self, limit: u64) -> &[(u32, u64)] {
        &self.entries[..self.entries.partition_point(|&(_, count)| count > limit)]
    }

    /// Count per row.
    pub fn counts(&self, rows: usize) -> Vec<u64> {
        let mut counts = vec![0; rows];
        for &(row, count) in &self.entries {
            counts[row as usize] = count;
        }
        counts
    }
}

/// The latency of a sample without collections.
pub fn own_ns(sample: &RequestSample) -> u64 {
    sample.latency_ns.saturating_sub(sample.collections_ns)
}
