//! Errors of a question.

use std::error::Error;

use datafusion::error::DataFusionError;

use crate::error::StoreError;
use crate::tables::Table;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The question, or one of its parameters, makes no sense: usage.
    #[error("{0}")]
    Asked(String),
    /// The SQL cannot be run over the tables of a store.
    #[error("{0}")]
    Sql(String),
    /// The engine failed: a file cannot be read, memory or disk is used up.
    #[error("the query failed: {0}")]
    Failed(String),
}

impl QueryError {
    /// Returns true if the question has to be changed.
    pub fn is_usage(&self) -> bool {
        matches!(self, QueryError::Asked(_) | QueryError::Sql(_))
    }
}

impl From<DataFusionError> for QueryError {
    fn from(error: DataFusionError) -> Self {
        if let Some(own) = own(&error) {
            return QueryError::Failed(own.to_string());
        }
        let root = error.find_root();
        match root {
            // Near names of columns are in the message; of tables they are not.
            DataFusionError::Plan(what) if what.contains(" not supported: ") => {
                QueryError::Sql(format!("a question is one SELECT, and changes nothing ({what})"))
            }
            DataFusionError::Plan(what) => QueryError::Sql(with_near_tables(what)),
            DataFusionError::SchemaError(what, _) => QueryError::Sql(what.to_string()),
            DataFusionError::SQL(what, _) => QueryError::Sql(format!("this is no SQL: {what}")),
            DataFusionError::NotImplemented(what) => QueryError::Sql(what.clone()),
            DataFusionError::ResourcesExhausted(what) => QueryError::Failed(format!(
                "{what}. Raise --memory, or ask about less: --since, --service, --build"
            )),
            other => QueryError::Failed(other.to_string()),
        }
    }
}

/// The store's own error, if one is behind it.
fn own(error: &DataFusionError) -> Option<&StoreError> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(own) = error.downcast_ref() {
            return Some(own);
        }
        cause = error.source();
    }
    None
}

fn with_near_tables(what: &str) -> String {
    let Some(name) = what
        .strip_prefix("table 'datafusion.public.")
        .and_then(|rest| rest.split_once('\''))
    else {
        return what.to_owned();
    };
    let names = || Table::ALL.iter().map(|table| table.name());
    let near = nearest(name.0, names()).map_or(String::new(), |near| format!(". Did you mean '{near}'?"));
    let all: Vec<&str> = names().collect();
    format!(
        "there is no table '{}'{near}\nThere are {}, gaps and params.",
        name.0,
        all.join(", ")
    )
}

/// The name that is most like another one, if one is near.
pub(super) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |other: &str| datafusion::common::utils::datafusion_strsim::levenshtein(name, other);
    let near = names.into_iter().map(|other| (distance(other), other)).min()?;
    (near.0 <= 2.max(name.len() / 3)).then_some(near.1)
}
