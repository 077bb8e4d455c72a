//! The check that a store is what its log says, and that its tables fit each other.

use std::collections::BTreeMap;

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Date32Type, Int64Type};
use rustc_hash::{FxHashMap, FxHasher};

use crate::error::{StoreError, Unfit};
use crate::file::read_all;
use crate::log::{Day, FileEntry};
use crate::store::Store;
use crate::tables::Table;

/// Counts of what was checked, and the faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files.
    pub files: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
    /// The faults, one sentence each.
    pub problems: Vec<String>,
}

/// Sums of a service's build and day.
#[derive(Default)]
struct Sums {
    /// Windows by their rows, and path ends that they say.
    windows: i128,
    path_ends: i128,
    /// Counts of paths.
    paths: i128,
    /// The rest of each path's count when its day's sums are taken off.
    rest: FxHashMap<u64, i128>,
    /// Path ends of methods.
    methods: i128,
    /// Some number is as large as can be: sums are not.
    full: bool,
    /// A file could not be read: sums say nothing.
    partial: bool,
}

impl Store {
    /// Reads all of the store and checks it: bytes against their SHA-256, rows and columns against the log,
    /// sums of tables against each other.
    ///
    /// # Errors
    /// If the log cannot be read. Faults of files are no error, but reported.
    pub async fn verify(&self) -> Result<Verified, StoreError> {
        let state = self.state().await?;
        let mut found = Verified::default();
        let mut units: BTreeMap<(String, String, Option<Day>), Vec<&FileEntry>> = BTreeMap::new();
        for file in state.all_files() {
            let unit = (file.service.clone(), file.build.clone(), file.day);
            units.entry(unit).or_default().push(file);
        }
        let mut windows = 0i128;
        for ((service, build, day), files) in units {
            let mut sums = Sums::default();
            for file in files {
                found.files += 1;
                found.rows += file.rows;
                found.bytes += file.bytes;
                if let Err(problem) = self.verify_file(file, &mut sums).await {
                    sums.partial = true;
                    found.problems.push(problem.to_string());
                }
            }
            windows += sums.windows;
            let Some(day) = day.filter(|_| !sums.partial && !sums.full) else {
                continue;
            };
            let of = format!("{service}, build {build}, {day}");
            let mut differ = |what: &str, one: i128, other: i128| {
                if one != other {
                    found.problems.push(format!("{of}: {what}: {one} and {other}"));
                }
            };
            differ(
                "path ends of windows, and counts of paths",
                sums.path_ends,
                sums.paths,
            );
            differ(
                "path ends of windows, and of methods",
                sums.path_ends,
                sums.methods,
            );
            let differing = sums.rest.values().filter(|&&rest| rest != 0).count();
            differ(
                "paths whose sum per day is another than that of their windows",
                differing as i128,
                0,
            );
        }
        let known = i128::from(state.windows().len());
        if windows > known {
            found.problems.push(format!(
                "the number of windows is {windows}, and the log knows {known}"
            ));
        }
        Ok(found)
    }

    async fn verify_file(&self, file: &FileEntry, sums: &mut Sums) -> Result<(), StoreError> {
        let bytes = self.read_file(file).await?;
        let wrong = |reason: Unfit| self.damaged(self.location(file), reason);
        let mut rows = 0u64;
        let mut windows = 0i128;
        for batch in read_all(bytes, file.table).map_err(wrong)? {
            let batch = batch.map_err(|e| wrong(e.into()))?;
            rows += batch.num_rows() as u64;
            check_place(file, &batch).map_err(wrong)?;
            windows += sums.add(file.table, &batch).map_err(wrong)?;
        }
        if rows != file.rows {
            return Err(wrong(Unfit::OtherRows {
                found: rows,
                expected: file.rows,
            }));
        }
        match file.windows {
            Some(expected) if i128::from(expected) != windows => Err(wrong(Unfit::OtherWindows {
                found: windows,
                expected,
            })),
            _ => Ok(()),
        }
    }
}

/// Checks that all rows are of the service, build and day that the log says.
fn check_place(file: &FileEntry, batch: &RecordBatch) -> Result<(), Unfit> {
    for (name, expected) in [("service", &file.service), ("build", &file.build)] {
        let texts = text(batch, name)?;
        let other = texts
            .as_string::<i32>()
            .iter()
            .flatten()
            .find(|found| found != expected);
        if let Some(other) = other {
            return Err(Unfit::OtherName {
                column: name,
                found: other.to_owned(),
                expected: expected.clone(),
            });
        }
    }
    if let Some(day) = file.day {
        let days = column(batch, "day")?;
        let other = days
            .as_primitive::<Date32Type>()
            .iter()
            .flatten()
            .find(|&found| found != day.0);
        if let Some(other) = other {
            return Err(Unfit::OtherDay {
                found: Day(other),
                expected: day,
            });
        }
    }
    Ok(())
}

impl Sums {
    /// Adds a file's rows; the windows in it.
    fn add(&mut self, table: Table, batch: &RecordBatch) -> Result<i128, Unfit> {
        let mut windows = 0;
        match table {
            Table::Windows => {
                windows = self.sum(batch, "merged")?;
                self.windows += windows;
                self.path_ends += self.sum(batch, "path_ends")?;
            }
            Table::Paths => {
                self.paths += self.sum(batch, "count")?;
                self.take(batch, 1)?;
            }
            Table::PathDays => self.take(batch, -1)?,
            Table::MethodDays => self.methods += self.sum(batch, "paths")?,
            _ => {}
        }
        Ok(windows)
    }

    fn sum(&mut self, batch: &RecordBatch, name: &str) -> Result<i128, Unfit> {
        let mut sum = 0;
        for number in column(batch, name)?.as_primitive::<Int64Type>().iter().flatten() {
            if number < 0 {
                return Err(Unfit::Negative {
                    column: name.to_owned(),
                    number,
                });
            }
            self.full |= number == i64::MAX;
            sum += i128::from(number);
        }
        Ok(sum)
    }

    fn take(&mut self, batch: &RecordBatch, sign: i128) -> Result<(), Unfit> {
        use std::hash::{Hash, Hasher};
        let names = ["class", "method", "descriptor", "graph", "path"];
        let names: Result<Vec<_>, Unfit> = names.into_iter().map(|name| text(batch, name)).collect();
        let names = names?;
        let counts = column(batch, "count")?.as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let mut hasher = FxHasher::default();
            names
                .iter()
                .for_each(|name| name.as_string::<i32>().value(row).hash(&mut hasher));
            self.full |= counts.value(row) == i64::MAX;
            *self.rest.entry(hasher.finish()).or_default() += sign * i128::from(counts.value(row));
        }
        Ok(())
    }
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef, Unfit> {
    batch.column_by_name(name).ok_or_else(|| Unfit::no_column(name))
}

fn text(batch: &RecordBatch, name: &str) -> Result<ArrayRef, Unfit> {
    Ok(cast(column(batch, name)?, &DataType::Utf8)?)
}
