//! The tables of a store and their columns, as `docs/fleet/tables.md` has them.
//!
//! Names are text in dictionaries: a file says a class's name once, and engines that know no dictionaries
//! (Spark) read plain text. Everything that identifies a row's place (`service`, `build`, `day`) is a column
//! too, so that a file can be read alone.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use serde::{Deserialize, Serialize};

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Table {
    /// Windows of JVMs: when, where, how exact.
    Windows,
    /// Counts of paths per window.
    Paths,
    /// Counts of paths per day, all JVMs of a service and build together.
    PathDays,
    /// Counts of edges per day.
    EdgeDays,
    /// Work and CPU time of methods per day.
    MethodDays,
    /// Calls in calling contexts per day.
    ContextDays,
    /// Requests per host, day and band of latency.
    RequestDays,
    /// Outcomes that they took.
    RequestEdgeDays,
    /// Methods that carried probes.
    Methods,
    /// Their branches, each way out a row.
    Branches,
    /// The text of counted paths.
    PathTexts,
}

/// Columns of [`Table::RequestDays`] that add up.
pub(crate) const REQUEST_SUMS: [&str; 8] = [
    "requests",
    "unreadable",
    "samples",
    "weight",
    "squares",
    "latency_ns",
    "collected",
    "waited",
];

/// Columns of [`Table::RequestEdgeDays`] that add up.
pub(crate) const REQUEST_EDGE_SUMS: [&str; 4] = ["samples", "weight", "times", "latency_ns"];

impl Table {
    /// All of them.
    pub const ALL: [Table; 11] = [
        Table::Windows,
        Table::Paths,
        Table::PathDays,
        Table::EdgeDays,
        Table::MethodDays,
        Table::ContextDays,
        Table::RequestDays,
        Table::RequestEdgeDays,
        Table::Methods,
        Table::Branches,
        Table::PathTexts,
    ];

    /// Its name in SQL, in folders and in commits.
    pub fn name(self) -> &'static str {
        match self {
            Table::Windows => "windows",
            Table::Paths => "paths",
            Table::PathDays => "path_days",
            Table::EdgeDays => "edge_days",
            Table::MethodDays => "method_days",
            Table::ContextDays => "context_days",
            Table::RequestDays => "request_days",
            Table::RequestEdgeDays => "request_edge_days",
            Table::Methods => "methods",
            Table::Branches => "branches",
            Table::PathTexts => "path_texts",
        }
    }

    /// Returns true if it says what there is, whenever it ran. Then it has no `day`, and may say the same
    /// twice.
    pub fn is_timeless(self) -> bool {
        matches!(self, Table::Methods | Table::Branches | Table::PathTexts)
    }

    /// Its columns, in order.
    pub fn schema(self) -> SchemaRef {
        let mut fields = vec![name("service"), name("build")];
        if !self.is_timeless() {
            fields.push(Field::new("day", DataType::Date32, false));
        }
        let method = || [name("class"), name("method"), name("descriptor")];
        let window = || [name("host"), name("jvm"), number("window")];
        let band = || [name("host"), name("request"), number("from_ns")];
        match self {
            Table::Windows => {
                fields.extend(window());
                fields.extend([
                    number("merged"),
                    time("started"),
                    time("ended"),
                    time("claimed").with_nullable(true),
                    flag("exact"),
                    flag("complete"),
                    flag("is_last").with_nullable(true),
                    name("probe"),
                    name("java"),
                    name("command"),
                    number("path_ends"),
                    number("lost"),
                    number("cpu_ns").with_nullable(true),
                    labels(),
                ]);
            }
            Table::Paths => {
                fields.extend(window());
                fields.extend(method());
                fields.extend([name("graph"), name("path")]);
                fields.extend(count());
            }
            Table::PathDays => {
                fields.extend(method());
                fields.extend([name("graph"), name("path")]);
                fields.extend(count());
            }
            Table::EdgeDays => {
                fields.extend(method());
                fields.extend([name("graph"), name("edge")]);
                fields.extend([number("count").with_nullable(true), flag("exact")]);
            }
            Table::MethodDays => {
                fields.extend(method());
                fields.extend([number("paths"), number("decisions")]);
                fields.extend([
                    number("cpu_ns").with_nullable(true),
                    number("samples").with_nullable(true),
                ]);
            }
            Table::ContextDays => {
                fields.extend([name("context"), name("caller").with_nullable(true)]);
                fields.extend(method());
                fields.extend([
                    number("site").with_nullable(true),
                    name("along").with_nullable(true),
                    number("depth"),
                    name("chain"),
                    number("count"),
                    flag("exact"),
                ]);
            }
            Table::RequestDays => {
                fields.extend(band());
                fields.extend(REQUEST_SUMS.map(number));
            }
            Table::RequestEdgeDays => {
                fields.extend(band());
                fields.extend(method());
                fields.extend([name("graph"), name("edge")]);
                fields.extend(REQUEST_EDGE_SUMS.map(number));
            }
            Table::Methods => {
                fields.extend(method());
                fields.extend([
                    name("graph"),
                    name("source_file").with_nullable(true),
                    number("line").with_nullable(true),
                    // More than fit into a signed number are as many as that can say.
                    number("possible_paths"),
                ]);
            }
            Table::Branches => {
                fields.extend(method());
                fields.extend([
                    name("graph"),
                    name("edge"),
                    number("bci"),
                    number("line").with_nullable(true),
                    name("condition").with_nullable(true),
                    name("outcome"),
                    flag("made"),
                ]);
            }
            Table::PathTexts => {
                fields.extend(method());
                fields.extend([name("graph"), name("path"), name("text"), number("decisions")]);
            }
        }
        Arc::new(Schema::new(fields))
    }

    /// Columns that files of stores from before do not have: there they are null.
    pub(crate) fn later(self) -> &'static [&'static str] {
        match self {
            Table::Windows => &["claimed", "is_last"],
            _ => &[],
        }
    }

    /// Columns by which rows are sorted in a file: equal names stand together, so that they cost next to
    /// nothing.
    pub fn order(self) -> &'static [&'static str] {
        match self {
            Table::Windows => &["service", "build", "day", "host", "jvm", "window"],
            Table::Paths => &[
                "service",
                "build",
                "day",
                "class",
                "method",
                "descriptor",
                "path",
                "host",
                "jvm",
                "window",
            ],
            Table::PathDays => &["service", "build", "day", "class", "method", "descriptor", "path"],
            Table::EdgeDays => &["service", "build", "day", "class", "method", "descriptor", "edge"],
            Table::MethodDays => &["service", "build", "day", "class", "method", "descriptor"],
            Table::ContextDays => &[
                "service",
                "build",
                "day",
                "class",
                "method",
                "descriptor",
                "context",
            ],
            Table::RequestDays => &["service", "build", "day", "request", "from_ns", "host"],
            Table::RequestEdgeDays => &[
                "service",
                "build",
                "day",
                "class",
                "method",
                "descriptor",
                "edge",
                "request",
                "from_ns",
                "host",
            ],
            Table::Methods => &["service", "build", "class", "method", "descriptor"],
            Table::Branches => &["service", "build", "class", "method", "descriptor", "bci", "edge"],
            Table::PathTexts => &["service", "build", "class", "method", "descriptor", "path"],
        }
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text names no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no table '{0}'; there are {names}", names = Table::ALL.map(Table::name).join(", "))]
pub struct NoTable(String);

impl FromStr for Table {
    type Err = NoTable;

    fn from_str(text: &str) -> Result<Self, NoTable> {
        let found = Table::ALL.into_iter().find(|table| table.name() == text);
        found.ok_or_else(|| NoTable(text.to_owned()))
    }
}

/// How the dictionary columns are typed in memory.
pub fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

fn name(name: &str) -> Field {
    Field::new(name, dictionary(), false)
}

fn number(name: &str) -> Field {
    Field::new(name, DataType::Int64, false)
}

fn flag(name: &str) -> Field {
    Field::new(name, DataType::Boolean, false)
}

fn time(name: &str) -> Field {
    Field::new(name, timestamp(), false)
}

/// How columns with times are typed.
pub(crate) fn timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
}

/// A count, whether it is exact, and its error.
fn count() -> [Field; 3] {
    let error = Field::new("error", DataType::Float64, true);
    [number("count"), flag("exact"), error]
}

fn labels() -> Field {
    let entry = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, true),
    ]);
    let entries = Field::new("entries", DataType::Struct(entry), false);
    Field::new("labels", DataType::Map(Arc::new(entries), false), false)
}
