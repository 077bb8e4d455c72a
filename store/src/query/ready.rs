//! Questions that come with Trodden.

use super::error::{QueryError, nearest};
use super::head::Query;

/// Names and SQL, in the order in which people see them.
pub const READY: [(&str, &str); 8] = [
    (
        "hot-methods",
        include_str!("../../../docs/fleet/queries/hot-methods.sql"),
    ),
    (
        "never-taken",
        include_str!("../../../docs/fleet/queries/never-taken.sql"),
    ),
    (
        "never-ran",
        include_str!("../../../docs/fleet/queries/never-ran.sql"),
    ),
    ("changed", include_str!("../../../docs/fleet/queries/changed.sql")),
    (
        "odd-hosts",
        include_str!("../../../docs/fleet/queries/odd-hosts.sql"),
    ),
    (
        "coverage",
        include_str!("../../../docs/fleet/queries/coverage.sql"),
    ),
    (
        "contexts-to",
        include_str!("../../../docs/fleet/queries/contexts-to.sql"),
    ),
    (
        "slow-requests",
        include_str!("../../../docs/fleet/queries/slow-requests.sql"),
    ),
];

/// The question of this name.
///
/// # Errors
/// If there is none; it names similar ones.
pub fn ready(name: &str) -> Result<Query, QueryError> {
    match READY.iter().find(|(known, _)| *known == name) {
        Some((name, sql)) => Query::parse(name, sql),
        None => {
            let names = READY.map(|(name, _)| name);
            let near = nearest(name, names).map_or(String::new(), |near| format!("; did you mean '{near}'?"));
            Err(QueryError::Asked(format!(
                "there is no question '{name}'{near} There are {}; --sql asks one of your own.",
                names.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_what_it_asks() {
        for (name, _) in READY {
            let query = ready(name).unwrap();
            assert!(query.question.ends_with('?'), "{name}: {}", query.question);
            assert!(query.params.iter().all(|param| !param.about.is_empty()), "{name}");
        }
    }

    #[test]
    fn near_names_are_told() {
        assert!(
            ready("hot-method")
                .unwrap_err()
                .to_string()
                .contains("did you mean 'hot-methods'?")
        );
    }
}
