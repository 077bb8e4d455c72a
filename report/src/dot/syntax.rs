//! Words of DOT.

/// How nodes and edges of what is hottest look.
pub(crate) const HOT: &str = ", color=\"#c2410c\", penwidth=2.5";

/// A double-quoted DOT string.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}
