//! Tables of a `WITH` that are made once. DataFusion makes such a table again wherever it is named, all of
//! them at the same time: a large one that is named five times takes five times its memory.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::ast::{Cte, Query, Statement, visit_relations};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::head::InParts;

/// A question in steps: the tables that are made first, in order, and the SELECT that is left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Steps {
    pub first: Vec<Step>,
    pub last: String,
}

/// A table that is made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub name: String,
    pub sql: String,
    /// For a part of the rows of another table at a time.
    pub in_parts: bool,
}

impl Steps {
    /// Takes the tables out of the question's `WITH`. Each may use those before it, and any others before it
    /// in the `WITH`.
    ///
    /// # Errors
    /// If the question is no SQL, or names a table that its `WITH` does not have.
    pub fn of(sql: &str, once: &[String], parts: Option<&InParts>) -> Result<Steps, DataFusionError> {
        let parted = parts.map_or(&[][..], |parts| &parts.tables);
        if let Some(parts) = parts.filter(|parts| !once.contains(&parts.of)) {
            return Err(wrong(&format!(
                "'{}' is parted, so it has to be made once",
                parts.of
            )));
        }
        let made = |name: &String| once.contains(name) || parted.contains(name);
        let mut steps = Steps {
            first: Vec::new(),
            last: sql.to_owned(),
        };
        if once.is_empty() && parted.is_empty() {
            return Ok(steps);
        }
        let parsed = Parser::parse_sql(&GenericDialect {}, sql)?;
        let [Statement::Query(query)] = &parsed[..] else {
            return Err(wrong("'once' is for one SELECT"));
        };
        let mut query: Query = (**query).clone();
        let Some(mut with) = query.with.clone() else {
            return Err(wrong("'once' names tables of a WITH, and there is none"));
        };
        let mut kept: Vec<Cte> = Vec::new();
        for table in std::mem::take(&mut with.cte_tables) {
            let name = table.alias.name.value.clone();
            if !made(&name) {
                kept.push(table);
                continue;
            }
            let mut select = (*table.query).clone();
            if select.with.is_some() {
                return Err(wrong("a table that is made once has no WITH of its own"));
            }
            let needed = needed(&select, &kept);
            if !needed.is_empty() {
                let mut before = with.clone();
                before.cte_tables = needed;
                select.with = Some(before);
            }
            steps.first.push(Step {
                in_parts: parted.contains(&name),
                name,
                sql: select.to_string(),
            });
        }
        let mut named = once.iter().chain(parted);
        if let Some(missing) = named.find(|name| steps.first.iter().all(|step| step.name != **name)) {
            return Err(wrong(&format!("the WITH has no table '{missing}'")));
        }
        let of_parts: Vec<&String> = steps
            .first
            .iter()
            .skip_while(|step| !step.in_parts)
            .map(|step| &step.name)
            .take(parted.len())
            .collect();
        if of_parts != parted.iter().collect::<Vec<_>>() {
            return Err(wrong(
                "tables that are made in parts stand in their order, and no other table that is made between them",
            ));
        }
        query.with = None;
        with.cte_tables = needed(&query, &kept);
        if !with.cte_tables.is_empty() {
            query.with = Some(with);
        }
        steps.last = query.to_string();
        Ok(steps)
    }
}

/// Tables of a `WITH` that a SELECT needs, itself or for others of them: the rest may name tables that are no longer there.
fn needed(select: &Query, tables: &[Cte]) -> Vec<Cte> {
    let mut names = relations(select);
    let mut needed: Vec<Cte> = Vec::new();
    for table in tables.iter().rev() {
        if names.contains(&table.alias.name.value) {
            names.extend(relations(&table.query));
            needed.push(table.clone());
        }
    }
    needed.reverse();
    needed
}

/// The names of tables in a SELECT.
fn relations(select: &Query) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let _: ControlFlow<()> = visit_relations(select, |name| {
        names.extend(name.0.last().map(|part| part.to_string()));
        ControlFlow::Continue(())
    });
    names
}

fn wrong(what: &str) -> DataFusionError {
    DataFusionError::Plan(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(of: &str, tables: &[&str]) -> InParts {
        InParts {
            of: of.to_owned(),
            by: crate::tables::Table::Paths,
            tables: tables.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    fn steps(sql: &str, once: &[&str], parts: Option<&InParts>) -> Result<Steps, String> {
        let once: Vec<String> = once.iter().map(|&name| name.to_owned()).collect();
        Steps::of(sql, &once, parts).map_err(|error| error.to_string())
    }

    const THREE: &str = "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a), c AS (SELECT x FROM b) SELECT b.x FROM b JOIN c ON b.x = c.x";

    #[test]
    fn tables_are_taken_out_in_order() {
        let taken = steps(THREE, &["b"], None).unwrap();
        let expected = Step {
            name: "b".to_owned(),
            sql: "WITH a AS (SELECT 1 AS x) SELECT x FROM a".to_owned(),
            in_parts: false,
        };
        assert_eq!(taken.first, [expected]);
        assert_eq!(
            taken.last,
            "WITH c AS (SELECT x FROM b) SELECT b.x FROM b JOIN c ON b.x = c.x"
        );
        let all = steps(THREE, &["a", "b", "c"], None).unwrap();
        assert_eq!(all.first.len(), 3);
        assert_eq!(all.last, "SELECT b.x FROM b JOIN c ON b.x = c.x");
        assert_eq!(steps(THREE, &[], None).unwrap().last, THREE);
        assert!(steps(THREE, &["d"], None).unwrap_err().contains("no table 'd'"));
        assert!(
            steps("SELECT 1", &["d"], None)
                .unwrap_err()
                .contains("there is none")
        );
        assert!(
            steps("DROP TABLE x", &["d"], None)
                .unwrap_err()
                .contains("one SELECT")
        );
    }

    #[test]
    fn tables_in_parts_stand_together() {
        let taken = steps(THREE, &["a"], Some(&parts("a", &["b", "c"]))).unwrap();
        let in_parts: Vec<(&str, bool)> = taken
            .first
            .iter()
            .map(|step| (&*step.name, step.in_parts))
            .collect();
        assert_eq!(in_parts, [("a", false), ("b", true), ("c", true)]);
        let wrong = |once: &[&str], parts: &InParts| steps(THREE, once, Some(parts)).unwrap_err();
        assert!(wrong(&["b"], &parts("a", &["c"])).contains("'a' is parted, so it has to be made once"));
        assert!(wrong(&["a"], &parts("a", &["c", "b"])).contains("stand in their order"));
        assert!(wrong(&["a"], &parts("a", &["b", "d"])).contains("no table 'd'"));
    }
}
