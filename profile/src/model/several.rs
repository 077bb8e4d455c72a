//! Texts of merged runs: the different values of a property, with a separator between them.

use std::collections::BTreeSet;

/// Between different values of the same property. The values must not contain it.
pub(crate) const SEPARATOR: &str = " + ";

/// The values of a property of a run: several, if runs that differ were merged.
pub fn values(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(SEPARATOR)
}

/// All different values of two runs, in order; empty ones are left out.
pub(crate) fn list(a: &str, b: &str) -> String {
    let all: BTreeSet<&str> = values(a)
        .chain(values(b))
        .filter(|value| !value.is_empty())
        .collect();
    all.into_iter().collect::<Vec<_>>().join(SEPARATOR)
}

/// Like [`list`], of a property that a run may lack.
pub(crate) fn list_of_known(a: Option<&str>, b: Option<&str>) -> Option<String> {
    Some(list(a.unwrap_or_default(), b.unwrap_or_default())).filter(|all| !all.is_empty())
}
