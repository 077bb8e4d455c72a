//! Rows as columns, and these as Parquet files.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array, MapBuilder,
    RecordBatch, StringArray, StringBuilder, StringDictionaryBuilder, TimestampMillisecondArray,
};
use datafusion::arrow::datatypes::{DataType, Int32Type};
use rayon::prelude::*;
use trodden_profile::Key;

use super::batch::{Batch, Build, CHAIN, ContextSum, CountSum, EdgeSum, Group, MethodSum};
use super::extract::{PathRow, WindowRow};
use super::known::Dimensions;
use super::requests::{BandSum, TakenSum};
use super::signatures::{Order, Signature, Signatures};
use crate::error::StoreError;
use crate::file::{Contents, FileWriter, NewFile, Partition};
use crate::log::Day;
use crate::tables::Table;

/// Rows that become columns at a time.
const CHUNK: usize = 32 * 1024;

/// The files of a batch, but for those that say what there is.
pub(crate) fn fact_files(batch: &mut Batch, signatures: &Signatures) -> Result<Vec<NewFile>, StoreError> {
    let order = Order::of(signatures);
    let mut files = Vec::new();
    for ((build, day), group) in &mut batch.groups {
        let scope = Scope {
            build,
            day: Some(*day),
            order: &order,
            times: times(&group.windows),
        };
        group.sort(&order);
        let group = &*group;
        let tables = [
            Table::Windows,
            Table::Paths,
            Table::PathDays,
            Table::EdgeDays,
            Table::MethodDays,
            Table::ContextDays,
            Table::RequestDays,
            Table::RequestEdgeDays,
        ];
        let written: Result<Vec<Option<NewFile>>, StoreError> = tables
            .into_par_iter()
            .map(|table| scope.facts(table, group))
            .collect();
        files.extend(written?.into_iter().flatten());
    }
    Ok(files)
}

/// The files that say what there is.
pub(crate) fn dimension_files(
    build: &Build,
    new: &Dimensions,
    signatures: &Signatures,
) -> Result<Vec<NewFile>, StoreError> {
    let order = Order::of(signatures);
    let scope = Scope {
        build,
        day: None,
        order: &order,
        times: None,
    };
    let files = [scope.methods(new)?, scope.branches(new)?, scope.texts(new)?];
    Ok(files.into_iter().flatten().collect())
}

fn times(windows: &[WindowRow]) -> Option<(i64, i64)> {
    let started = || windows.iter().map(|window| window.about.started_ms);
    started().min().zip(started().max())
}

impl Group {
    /// Into the order of the tables.
    fn sort(&mut self, order: &Order) {
        let windows = &self.windows;
        let place = |window: u32| {
            let about = &windows[window as usize].about;
            (&about.host, &about.jvm, about.window)
        };
        self.paths.par_sort_unstable_by(|(a_window, a), (b_window, b)| {
            let key = |row: &PathRow| (order.rank(row.signature), row.path, row.graph);
            key(a)
                .cmp(&key(b))
                .then_with(|| place(*a_window).cmp(&place(*b_window)))
        });
    }
}

/// The values that all files of a group have in common.
struct Scope<'a> {
    build: &'a Build,
    day: Option<Day>,
    order: &'a Order,
    times: Option<(i64, i64)>,
}

impl Scope<'_> {
    fn facts(&self, table: Table, group: &Group) -> Result<Option<NewFile>, StoreError> {
        match table {
            Table::Windows => self.windows(group),
            Table::Paths => self.paths(group),
            Table::PathDays => self.path_days(group),
            Table::EdgeDays => self.edge_days(group),
            Table::MethodDays => self.method_days(group),
            Table::ContextDays => self.context_days(group),
            Table::RequestDays => self.request_days(group),
            Table::RequestEdgeDays => self.request_edge_days(group),
            Table::Methods | Table::Branches | Table::PathTexts => Ok(None),
        }
    }

    /// A file of rows, which `columns` turns into all columns behind `service`, `build` and `day`.
    fn file<R>(
        &self,
        table: Table,
        rows: &[R],
        columns: impl Fn(&[R]) -> Vec<ArrayRef>,
    ) -> Result<Option<NewFile>, StoreError> {
        if rows.is_empty() {
            return Ok(None);
        }
        let mut writer = FileWriter::new(Partition {
            table,
            service: self.build.service.clone(),
            build: self.build.build.clone(),
            day: self.day,
        })?;
        for chunk in rows.chunks(CHUNK) {
            let mut all = vec![
                same(&self.build.service, chunk.len()),
                same(&self.build.build, chunk.len()),
            ];
            if let Some(day) = self.day {
                all.push(Arc::new(Date32Array::from_value(day.0, chunk.len())));
            }
            all.extend(columns(chunk));
            let batch = RecordBatch::try_new(table.schema(), all);
            writer.write(&batch.map_err(|e| StoreError::tables(format!("make rows of {table}"), e))?)?;
        }
        let contents = Contents {
            times: self.times,
            grain: None,
            windows: (table == Table::Windows).then_some(rows.len() as u64),
        };
        writer.finish(contents).map(Some)
    }

    fn class_method_descriptor(&self, signatures: impl Iterator<Item = Signature> + Clone) -> [ArrayRef; 3] {
        let name = |signature: Signature| self.order.names(signature);
        [
            names(signatures.clone().map(|of| &*name(of).class)),
            names(signatures.clone().map(|of| &*name(of).method)),
            names(signatures.map(|of| &*name(of).descriptor)),
        ]
    }

    fn windows(&self, group: &Group) -> Result<Option<NewFile>, StoreError> {
        let mut rows: Vec<&WindowRow> = group.windows.iter().collect();
        rows.sort_unstable_by_key(|row| (&row.about.host, &row.about.jvm, row.about.window));
        self.file(Table::Windows, &rows, |rows| {
            let about = || rows.iter().map(|row| &row.about);
            vec![
                names(about().map(|about| &*about.host)),
                names(about().map(|about| &*about.jvm)),
                numbers(about().map(|about| about.window)),
                numbers(rows.iter().map(|_| 1)),
                timestamps(about().map(|about| about.started_ms)),
                timestamps(about().map(|about| about.ended_ms)),
                maybe_timestamps(about().map(|about| about.claimed_ms)),
                flags(rows.iter().map(|row| row.exact)),
                flags(rows.iter().map(|row| row.complete)),
                flags(about().map(|about| about.is_last)),
                names(rows.iter().map(|row| &*row.probe)),
                names(rows.iter().map(|row| &*row.java)),
                names(rows.iter().map(|row| &*row.command)),
                numbers(rows.iter().map(|row| row.path_ends)),
                numbers(rows.iter().map(|row| row.lost)),
                maybe_numbers(rows.iter().map(|row| row.cpu_ns)),
                labels(rows.iter().map(|row| &*row.about.labels)),
            ]
        })
    }

    fn paths(&self, group: &Group) -> Result<Option<NewFile>, StoreError> {
        self.file(Table::Paths, &group.paths, |rows| {
            let about = || {
                rows.iter()
                    .map(|(window, _)| &group.windows[*window as usize].about)
            };
            let of = || rows.iter().map(|(_, row)| row);
            let mut columns = vec![
                names(about().map(|about| &*about.host)),
                names(about().map(|about| &*about.jvm)),
                numbers(about().map(|about| about.window)),
            ];
            columns.extend(self.class_method_descriptor(of().map(|row| row.signature)));
            columns.extend([
                keys(of().map(|row| row.graph)),
                keys(of().map(|row| row.path)),
                numbers(of().map(|row| row.count)),
                flags(of().map(|row| row.exact)),
                floats(of().map(|row| row.error)),
            ]);
            columns
        })
    }

    fn path_days(&self, group: &Group) -> Result<Option<NewFile>, StoreError> {
        let mut sums: Vec<(PathRow, CountSum)> = Vec::new();
        for (_, row) in &group.paths {
            let same = |last: &&mut (PathRow, CountSum)| {
                (last.0.signature, last.0.path, last.0.graph) == (row.signature, row.path, row.graph)
            };
            match sums.last_mut().filter(same) {
                Some((_, sum)) => sum.add(row),
                None => sums.push((*row, CountSum::of(row))),
            }
        }
        self.file(Table::PathDays, &sums, |rows| {
            let mut columns =
                Vec::from(self.class_method_descriptor(rows.iter().map(|(row, _)| row.signature)));
            columns.extend([
                keys(rows.iter().map(|(row, _)| row.graph)),
                keys(rows.iter().map(|(row, _)| row.path)),
                numbers(rows.iter().map(|(_, sum)| sum.count)),
                flags(rows.iter().map(|(_, sum)| sum.exact)),
                floats(rows.iter().map(|(_, sum)| sum.error())),
            ]);
            columns
        })
    }

    fn edge_days(&self, group: &Group) -> Result<Option<NewFile>, StoreError> {
        let mut rows: Vec<((Signature, Key, Key), EdgeSum)> =
            group.edges.iter().map(|(key, sum)| (*key, *sum)).collect();
        rows.sort_unstable_by_key(|((signature, graph, edge), _)| {
            (self.order.rank(*signature), *edge, *graph)
        });
        self.file(Table::EdgeDays, &rows, |rows| {
            let mut columns =
                Vec::from(self.class_method_descriptor(rows.iter().map(|((signature, ..), _)| *signature)));
            columns.extend([
                keys(rows.iter().map(|((_, graph, _), _)| *graph)),
                keys(rows.iter().map(|((.., edge), _)| *edge)),
                maybe_numbers(rows.iter().map(|(_, sum)| sum.count)),
                flags(rows.iter().map(|(_, sum)| sum.exact)),
            ]);
            columns
        })
    }

    fn method_days(&self, group: &Group) -> Result<Option<NewFile>, StoreError> {
        let mut rows: Vec<(Signature, MethodSum)> =
            group.methods.iter().map(|(key, sum)| (*key, *sum)).collect();
        rows.sort_unstable_by_key(|(signature, _)| self.order.rank(*signature));
        self.file(Table::MethodDays, &rows, |rows| {
            let mut columns =
                Vec::from(self.class_method_descriptor(rows.iter().map(|(signature, _)| *signature)));
            columns.extend([
                numbers(rows.iter().map(|(_, sum)| sum.paths)),
                numbers(rows.iter().map(|(_, sum)| sum.decisions)),
                maybe_numbers(rows.iter().map(|(_, sum)| sum.cpu.map(|(ns, _)| ns))),
                maybe_numbers(rows.iter().map(|(_, sum)| sum.cpu.map(|(_, samples)| samples))),
            ]);
            columns
        })
    }

    fn context_days(&self, group: &Group) -> Result<Option<NewFile>, StoreError> {
        let mut rows: Vec<(Key, &ContextSum)> = group.contexts.iter().map(|(key, sum)| (*key, sum)).collect();
        rows.sort_unstable_by_key(|(key, sum)| (self.order.rank(sum.signature), *key));
        self.file(Table::ContextDays, &rows, |rows| {
            let of = || rows.iter().map(|(_, sum)| *sum);
            let mut columns = vec![
                keys(rows.iter().map(|(key, _)| *key)),
                maybe_keys(of().map(|sum| sum.caller)),
            ];
            columns.extend(self.class_method_descriptor(of().map(|sum| sum.signature)));
            let chains: Vec<String> = of().map(|sum| self.chain(sum)).collect();
            columns.extend([
                maybe_numbers(of().map(|sum| sum.site.map(u64::from))),
                maybe_keys(of().map(|sum| sum.along)),
                numbers(of().map(|sum| u64::from(sum.depth))),
                names(chains.iter().map(String::as_str)),
                numbers(of().map(|sum| sum.count)),
                flags(of().map(|sum| sum.exact)),
            ]);
            columns
        })
    }

    fn request_days(&self, group: &Group) -> Result<Option<NewFile>, StoreError> {
        let mut rows: Vec<_> = group.requests.iter().collect();
        rows.sort_unstable_by_key(|((host, band), _)| (band, host));
        self.file(Table::RequestDays, &rows, |rows| {
            let sums = |number: fn(&BandSum) -> u64| numbers(rows.iter().map(move |(_, sum)| number(sum)));
            vec![
                names(rows.iter().map(|((host, _), _)| &**host)),
                names(rows.iter().map(|((_, band), _)| &*band.request)),
                numbers(rows.iter().map(|((_, band), _)| band.from_ns)),
                sums(|sum| sum.requests),
                sums(|sum| sum.unreadable),
                sums(|sum| sum.samples),
                sums(|sum| sum.weight),
                sums(|sum| sum.squares),
                sums(|sum| sum.latency_ns),
                sums(|sum| sum.collected),
                sums(|sum| sum.waited),
            ]
        })
    }

    fn request_edge_days(&self, group: &Group) -> Result<Option<NewFile>, StoreError> {
        let mut rows: Vec<_> = group.taken.iter().collect();
        rows.sort_unstable_by_key(|((host, taken), _)| {
            let rank = self.order.rank(taken.signature);
            (rank, taken.edge, &taken.band, host, taken.graph)
        });
        self.file(Table::RequestEdgeDays, &rows, |rows| {
            let taken = || rows.iter().map(|((_, taken), _)| taken);
            let sums = |number: fn(&TakenSum) -> u64| numbers(rows.iter().map(move |(_, sum)| number(sum)));
            let mut columns = vec![
                names(rows.iter().map(|((host, _), _)| &**host)),
                names(taken().map(|taken| &*taken.band.request)),
                numbers(taken().map(|taken| taken.band.from_ns)),
            ];
            columns.extend(self.class_method_descriptor(taken().map(|taken| taken.signature)));
            columns.extend([
                keys(taken().map(|taken| taken.graph)),
                keys(taken().map(|taken| taken.edge)),
                sums(|sum| sum.samples),
                sums(|sum| sum.weight),
                sums(|sum| sum.times),
                sums(|sum| sum.latency_ns),
            ]);
            columns
        })
    }

    /// The methods of a context, innermost first.
    fn chain(&self, sum: &ContextSum) -> String {
        let mut text = String::new();
        for (at, &signature) in sum.chain.iter().enumerate() {
            if at > 0 {
                text += " < ";
            }
            if at == CHAIN {
                text += "…";
                break;
            }
            let names = self.order.names(signature);
            text += &names.class;
            text += ".";
            text += &names.method;
        }
        text
    }

    fn methods(&self, new: &Dimensions) -> Result<Option<NewFile>, StoreError> {
        let mut rows: Vec<_> = new.methods.iter().collect();
        rows.sort_unstable_by_key(|row| (self.order.rank(row.signature), row.graph));
        self.file(Table::Methods, &rows, |rows| {
            let mut columns = Vec::from(self.class_method_descriptor(rows.iter().map(|row| row.signature)));
            columns.extend([
                keys(rows.iter().map(|row| row.graph)),
                maybe_names(rows.iter().map(|row| row.source_file.as_deref())),
                maybe_numbers(rows.iter().map(|row| row.line.map(u64::from))),
                numbers(rows.iter().map(|row| row.possible_paths)),
            ]);
            columns
        })
    }

    fn branches(&self, new: &Dimensions) -> Result<Option<NewFile>, StoreError> {
        let mut rows: Vec<_> = new.branches.iter().collect();
        rows.sort_unstable_by_key(|row| (self.order.rank(row.signature), row.way.bci, row.edge, row.graph));
        self.file(Table::Branches, &rows, |rows| {
            let mut columns = Vec::from(self.class_method_descriptor(rows.iter().map(|row| row.signature)));
            columns.extend([
                keys(rows.iter().map(|row| row.graph)),
                keys(rows.iter().map(|row| row.edge)),
                numbers(rows.iter().map(|row| u64::from(row.way.bci))),
                maybe_numbers(rows.iter().map(|row| row.way.line.map(u64::from))),
                maybe_names(rows.iter().map(|row| row.way.condition.as_deref())),
                names(rows.iter().map(|row| &*row.way.outcome)),
                flags(rows.iter().map(|row| row.way.made)),
            ]);
            columns
        })
    }

    fn texts(&self, new: &Dimensions) -> Result<Option<NewFile>, StoreError> {
        let mut rows: Vec<_> = new.texts.iter().collect();
        rows.sort_unstable_by_key(|row| (self.order.rank(row.signature), row.path));
        self.file(Table::PathTexts, &rows, |rows| {
            let mut columns = Vec::from(self.class_method_descriptor(rows.iter().map(|row| row.signature)));
            columns.extend([
                keys(rows.iter().map(|row| row.graph)),
                keys(rows.iter().map(|row| row.path)),
                names(rows.iter().map(|row| &*row.text)),
                numbers(rows.iter().map(|row| row.decisions)),
            ]);
            columns
        })
    }
}

/// Tables have signed numbers: what does not fit is as much as that can say.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn same(text: &str, rows: usize) -> ArrayRef {
    let keys = Int32Array::from_value(0, rows);
    Arc::new(DictionaryArray::new(
        keys,
        Arc::new(StringArray::from(vec![text])),
    ))
}

fn names<'a>(texts: impl Iterator<Item = &'a str>) -> ArrayRef {
    maybe_names(texts.map(Some))
}

fn maybe_names<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    texts.for_each(|text| builder.append_option(text));
    Arc::new(builder.finish())
}

fn keys(keys: impl Iterator<Item = Key>) -> ArrayRef {
    maybe_keys(keys.map(Some))
}

fn maybe_keys(keys: impl Iterator<Item = Option<Key>>) -> ArrayRef {
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    keys.for_each(|key| builder.append_option(key.map(|key| key.to_string())));
    Arc::new(builder.finish())
}

fn numbers(numbers: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(numbers.map(signed)))
}

fn maybe_numbers(numbers: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(numbers.map(|number| number.map(signed)).collect::<Int64Array>())
}

fn flags(flags: impl Iterator<Item = bool>) -> ArrayRef {
    Arc::new(flags.map(Some).collect::<BooleanArray>())
}

fn floats(numbers: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(numbers.collect::<Float64Array>())
}

fn timestamps(times: impl Iterator<Item = i64>) -> ArrayRef {
    maybe_timestamps(times.map(Some))
}

fn maybe_timestamps(times: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(times.collect::<TimestampMillisecondArray>().with_timezone("UTC"))
}

fn labels<'a>(all: impl Iterator<Item = &'a [(String, String)]>) -> ArrayRef {
    let fields = match Table::Windows
        .schema()
        .field_with_name("labels")
        .map(|field| field.data_type().clone())
    {
        Ok(DataType::Map(entries, _)) => match entries.data_type() {
            DataType::Struct(fields) => Some((fields[0].clone(), fields[1].clone())),
            _ => None,
        },
        _ => None,
    };
    let names = datafusion::arrow::array::MapFieldNames {
        entry: "entries".to_owned(),
        key: "key".to_owned(),
        value: "value".to_owned(),
    };
    let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
    if let Some((key, value)) = fields {
        builder = builder.with_keys_field(key).with_values_field(value);
    }
    for labels in all {
        for (key, value) in labels {
            builder.keys().append_value(key);
            builder.values().append_value(value);
        }
        // It fails only if there are more keys than values.
        let _ = builder.append(true);
    }
    Arc::new(builder.finish())
}
