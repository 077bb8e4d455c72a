//! Tables of a `WITH` that are made once. DataFusion makes such a table again wherever it is named, all of
//! them at the same time: a large one that is named five times takes five times its memory.

use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::ast::{Cte, Query, Statement};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

/// A question in steps: the SELECT of each table that is made first, by its name, and the SELECT that is
/// left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Steps {
    pub first: Vec<(String, String)>,
    pub last: String,
}

impl Steps {
    /// Takes the tables out of the question's `WITH`. Each may use those before it, and any others before it
    /// in the `WITH`.
    ///
    /// # Errors
    /// If the question is no SQL, or names a table that its `WITH` does not have.
    pub fn of(sql: &str, once: &[String]) -> Result<Steps, DataFusionError> {
        let mut steps = Steps {
            first: Vec::new(),
            last: sql.to_owned(),
        };
        if once.is_empty() {
            return Ok(steps);
        }
        let parsed = Parser::parse_sql(&GenericDialect {}, sql)?;
        let [Statement::Query(query)] = &parsed[..] else {
            return Err(wrong("'once' is for one SELECT"));
        };
        let mut query: Query = (**query).clone();
        let Some(with) = &mut query.with else {
            return Err(wrong("'once' names tables of a WITH, and there is none"));
        };
        let mut kept: Vec<Cte> = Vec::new();
        for table in std::mem::take(&mut with.cte_tables) {
            let name = table.alias.name.value.clone();
            if !once.contains(&name) {
                kept.push(table);
                continue;
            }
            let mut select = (*table.query).clone();
            if select.with.is_some() {
                return Err(wrong("a table that is made once has no WITH of its own"));
            }
            if !kept.is_empty() {
                let mut before = with.clone();
                before.cte_tables.clone_from(&kept);
                select.with = Some(before);
            }
            steps.first.push((name, select.to_string()));
        }
        if let Some(missing) = once
            .iter()
            .find(|name| steps.first.iter().all(|(made, _)| made != *name))
        {
            return Err(wrong(&format!("the WITH has no table '{missing}'")));
        }
        if kept.is_empty() {
            query.with = None;
        } else {
            with.cte_tables = kept;
        }
        steps.last = query.to_string();
        Ok(steps)
    }
}

fn wrong(what: &str) -> DataFusionError {
    DataFusionError::Plan(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(sql: &str, once: &[&str]) -> Result<Steps, String> {
        let once: Vec<String> = once.iter().map(|&name| name.to_owned()).collect();
        Steps::of(sql, &once).map_err(|error| error.to_string())
    }

    #[test]
    fn tables_are_taken_out_in_order() {
        let sql = "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a), c AS (SELECT x FROM b) SELECT b.x FROM b JOIN c ON b.x = c.x";
        let taken = steps(sql, &["b"]).unwrap();
        assert_eq!(
            taken.first,
            [(
                "b".to_owned(),
                "WITH a AS (SELECT 1 AS x) SELECT x FROM a".to_owned()
            )]
        );
        assert_eq!(
            taken.last,
            "WITH a AS (SELECT 1 AS x), c AS (SELECT x FROM b) SELECT b.x FROM b JOIN c ON b.x = c.x"
        );
        let all = steps(sql, &["a", "b", "c"]).unwrap();
        assert_eq!(all.first.len(), 3);
        assert_eq!(all.last, "SELECT b.x FROM b JOIN c ON b.x = c.x");
        assert_eq!(steps(sql, &[]).unwrap().last, sql);
        assert!(steps(sql, &["d"]).unwrap_err().contains("no table 'd'"));
        assert!(steps("SELECT 1", &["d"]).unwrap_err().contains("there is none"));
        assert!(steps("DROP TABLE x", &["d"]).unwrap_err().contains("one SELECT"));
    }
}
