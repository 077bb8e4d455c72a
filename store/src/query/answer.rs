//! Answers, and the forms in which programs read them. Spark's side (`store/spark/trodden_spark.py`) writes the same bytes.

use std::fmt::Write;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Float64Type, Int64Type, Schema, TimeUnit, TimestampMillisecondType,
};

use super::error::QueryError;
use super::head::Query;
use super::params::Params;
use crate::log::Day;

/// One value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, or not known.
    Null,
    /// Text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// A number.
    Float(f64),
    /// Yes or no.
    Flag(bool),
    /// A day.
    Day(Day),
    /// Milliseconds since 1970-01-01 UTC.
    Time(i64),
    /// Texts by name: labels.
    Map(Vec<(String, Option<String>)>),
}

/// All rows of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The question's name.
    pub name: String,
    /// The question in one line, or empty.
    pub question: String,
    /// Parameters and their values.
    pub params: Vec<(String, String)>,
    /// Names of columns.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
    /// A sentence that says so, if the store has nothing of what was asked about.
    pub nothing_there: Option<String>,
}

impl Answer {
    pub(super) fn new(
        query: &Query,
        params: &Params,
        schema: &Schema,
        batches: &[RecordBatch],
    ) -> Result<Self, QueryError> {
        let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut rows = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
        for batch in batches {
            let columns: Vec<Vec<Value>> = batch
                .columns()
                .iter()
                .map(|column| values(column))
                .collect::<Result<_, _>>()?;
            let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
            rows.extend(
                (0..batch.num_rows())
                    .map(|_| columns.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>()),
            );
        }
        Ok(Answer {
            name: query.name.clone(),
            question: query.question.clone(),
            params: params
                .texts()
                .map(|(name, text)| (name.to_owned(), text))
                .collect(),
            columns,
            rows,
            nothing_there: None,
        })
    }

    /// Position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// A value of a row; `Null` if there is no such column.
    pub fn get<'a>(&self, row: &'a [Value], column: &str) -> &'a Value {
        self.column(column)
            .and_then(|at| row.get(at))
            .unwrap_or(&Value::Null)
    }

    /// JSON: format `trodden-query`, version 1; a row a line.
    pub fn json(&self) -> String {
        let mut out = format!(
            "{{\n\"format\": \"trodden-query\",\n\"version\": 1,\n\"query\": {},\n\"params\": {{{}}},\n\"columns\": [{}],\n\"rows\": [",
            quoted(&self.name),
            list(
                self.params
                    .iter()
                    .map(|(name, value)| format!("{}: {}", quoted(name), quoted(value)))
            ),
            list(self.columns.iter().map(|column| quoted(column)))
        );
        for (index, row) in self.rows.iter().enumerate() {
            let pairs = self
                .columns
                .iter()
                .zip(row)
                .map(|(column, value)| format!("{}: {}", quoted(column), value.json()));
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(out, "{comma}\n{{{}}}", list(pairs));
        }
        out += "\n]\n}\n";
        out
    }

    /// CSV as RFC 4180 has it, with names of columns first.
    pub fn csv(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| cells.collect::<Vec<_>>().join(",") + "\r\n";
        let mut out = line(&mut self.columns.iter().map(|column| csv_cell(column)));
        for row in &self.rows {
            out += &line(&mut row.iter().map(|value| csv_cell(&value.plain())));
        }
        out
    }
}

impl Value {
    /// As CSV has it: nothing for what is not known.
    pub fn plain(&self) -> String {
        match self {
            Value::Null => String::new(),
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Float(number) => float(*number),
            Value::Flag(flag) => flag.to_string(),
            Value::Day(day) => day.to_string(),
            Value::Time(ms) => time(*ms),
            // As the agent's option and a window's facts have them.
            Value::Map(pairs) => {
                let pair = |(key, value): &(String, Option<String>)| {
                    format!("{key}:{}", value.as_deref().unwrap_or_default())
                };
                pairs.iter().map(pair).collect::<Vec<_>>().join("+")
            }
        }
    }

    /// For people: no name in it can steer a terminal, or break a line.
    pub fn printable(&self) -> String {
        trodden_profile::printable(&self.plain()).into_owned()
    }

    fn json(&self) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Float(number) if !number.is_finite() => "null".to_owned(),
            Value::Number(_) | Value::Float(_) | Value::Flag(_) => self.plain(),
            Value::Map(pairs) => {
                let pair = |(key, value): &(String, Option<String>)| {
                    let value = value.as_deref().map_or_else(|| "null".to_owned(), quoted);
                    format!("{}: {value}", quoted(key))
                };
                format!("{{{}}}", list(pairs.iter().map(pair)))
            }
            _ => quoted(&self.plain()),
        }
    }

    /// Its text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Its number, if it is a whole one.
    pub fn number(&self) -> Option<i64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Its number, if it is one.
    pub fn float(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }
}

/// The shortest digits that mean this number, without exponents: other languages agree about these.
fn float(number: f64) -> String {
    // A minus in front of nothing says how it was rounded, and no more.
    let number = if number == 0.0 { 0.0 } else { number };
    let digits = number.to_string();
    if digits.contains('.') || !number.is_finite() {
        digits
    } else {
        digits + ".0"
    }
}

fn time(ms: i64) -> String {
    match chrono::DateTime::from_timestamp_millis(ms) {
        Some(at) => at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        None => ms.to_string(),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Keys and values of the map are texts.
fn is_of_texts(map: &dyn Array) -> bool {
    let map = map.as_map();
    map.keys().data_type().is_string() && map.values().data_type().is_string()
}

fn values(column: &dyn Array) -> Result<Vec<Value>, QueryError> {
    let to = |kind: &DataType| cast(column, kind).map_err(|e| QueryError::Failed(e.to_string()));
    let all = |value: &dyn Fn(usize) -> Value| {
        let one = |at| {
            if column.is_null(at) {
                Value::Null
            } else {
                value(at)
            }
        };
        (0..column.len()).map(one).collect()
    };
    Ok(match column.data_type() {
        DataType::Boolean => all(&|at| Value::Flag(column.as_boolean().value(at))),
        DataType::Date32 => all(&|at| Value::Day(Day(column.as_primitive::<Date32Type>().value(at)))),
        DataType::Timestamp(_, zone) => {
            let times = to(&DataType::Timestamp(TimeUnit::Millisecond, zone.clone()))?;
            all(&|at| Value::Time(times.as_primitive::<TimestampMillisecondType>().value(at)))
        }
        kind if kind.is_integer() => {
            let numbers = to(&DataType::Int64)?;
            // Too large for it, of a type without signs: not known is better than wrong.
            let one = |at: usize| {
                if numbers.is_null(at) {
                    Value::Null
                } else {
                    Value::Number(numbers.as_primitive::<Int64Type>().value(at))
                }
            };
            all(&one)
        }
        kind if kind.is_floating() || kind.is_decimal() => {
            let numbers = to(&DataType::Float64)?;
            all(&|at| Value::Float(numbers.as_primitive::<Float64Type>().value(at)))
        }
        DataType::Null => all(&|_| Value::Null),
        DataType::Map(..) if is_of_texts(column) => {
            let maps = column.as_map();
            let texts = |column: &dyn Array| {
                cast(column, &DataType::Utf8).map_err(|e| QueryError::Failed(e.to_string()))
            };
            let (keys, values) = (texts(maps.keys())?, texts(maps.values())?);
            let (keys, values) = (keys.as_string::<i32>(), values.as_string::<i32>());
            let offsets = maps.value_offsets();
            let value = |at: usize| (!values.is_null(at)).then(|| values.value(at).to_owned());
            all(&|row| {
                let entries = offsets[row] as usize..offsets[row + 1] as usize;
                Value::Map(entries.map(|at| (keys.value(at).to_owned(), value(at))).collect())
            })
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => {
            let texts = to(&DataType::Utf8)?;
            all(&|at| Value::Text(texts.as_string::<i32>().value(at).to_owned()))
        }
        other => {
            let name = format!("a column of type {other}");
            let format = datafusion::arrow::util::display::FormatOptions::default();
            let texts = datafusion::arrow::util::display::ArrayFormatter::try_new(column, &format)
                .map_err(|e| QueryError::Failed(format!("{name}: {e}")))?;
            all(&|at| Value::Text(texts.value(at).to_string()))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        Answer {
            name: "x".to_owned(),
            question: String::new(),
            params: vec![("since".to_owned(), "2026-11-25".to_owned())],
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![
                vec![Value::Text("x, \"y\"".to_owned()), Value::Float(0.00001)],
                vec![Value::Null, Value::Float(-0.0)],
                vec![Value::Time(1), Value::Float(1e21)],
                vec![
                    Value::Map(vec![
                        ("region".to_owned(), Some("eu".to_owned())),
                        ("zone".to_owned(), None),
                    ]),
                    Value::Null,
                ],
            ],
            nothing_there: None,
        }
    }

    #[test]
    fn json_is_json() {
        let json: serde_json::Value = serde_json::from_str(&answer().json()).unwrap();
        assert_eq!(json["rows"][0]["a"], "x, \"y\"");
        assert_eq!(json["rows"][0]["b"], 0.00001);
        assert_eq!(json["rows"][1]["a"], serde_json::Value::Null);
        assert_eq!(json["rows"][2]["b"], 1e21);
        assert_eq!(json["params"]["since"], "2026-11-25");
        assert_eq!(json["rows"][3]["a"]["region"], "eu");
        assert_eq!(json["rows"][3]["a"]["zone"], serde_json::Value::Null);
    }

    #[test]
    fn csv_quotes_what_has_to_be() {
        let csv = answer().csv();
        let lines: Vec<&str> = csv.split("\r\n").collect();
        assert_eq!(lines[..3], ["a,b", "\"x, \"\"y\"\"\",0.00001", ",0.0"]);
        assert_eq!(lines[3], "1970-01-01T00:00:00.001Z,1000000000000000000000.0");
        assert_eq!(lines[4], "region:eu+zone:,");
    }
}
