//! How options are written: escapes, lists, lines of a properties file. What they mean is not known here.

/// The pairs of a properties file.
///
/// # Errors
/// The number, from 1, and the text of the first line that is none.
pub(super) fn properties(text: &str) -> Result<Vec<(String, String)>, (usize, String)> {
    let mut pairs = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        match line.split_once(['=', ':']) {
            Some((name, value)) => pairs.push((name.trim().to_owned(), value.trim().to_owned())),
            None => {
                return Err((index + 1, line.to_owned()));
            }
        }
    }
    Ok(pairs)
}

/// Between values of a list.
const JOINTS: [char; 2] = ['+', ','];

/// Splits at separators that no backslash precedes; escapes are left in.
pub(super) fn split_unescaped<'a>(text: &'a str, separators: &[char]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, c) in text.char_indices() {
        if separators.contains(&c) && !escaped {
            parts.push(&text[start..at]);
            start = at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    parts.push(&text[start..]);
    parts
}

/// Takes the backslash off separators and `\\`; others stay.
pub(super) fn unescape(text: &str, separators: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && (separators.contains(&next) || next == '\\') => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

/// Puts a backslash before what [`unescape`] would take for more than itself.
pub(super) fn escape(text: &str, separators: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if separators.contains(&c) || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The values of a list.
pub(super) fn split_list(value: &str) -> Vec<String> {
    let parts = split_unescaped(value, &JOINTS).into_iter();
    parts.map(|part| unescape(part, &JOINTS)).collect()
}

/// A list as [`split_list`] reads it.
pub(super) fn join_list<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let escaped: Vec<String> = values.map(|value| escape(value, &JOINTS)).collect();
    escaped.join("+")
}
