//! Names of files for names that class files may make up.

use std::collections::BTreeSet;

/// Longer names are cut; a file system takes 255 bytes.
const LONGEST: usize = 120;

/// The names that a folder has.
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// A folder with these.
    pub fn new(taken: &[&str]) -> Self {
        Names(taken.iter().map(|name| name.to_lowercase()).collect())
    }

    /// A new name like the one wanted, of characters that no file system and no link takes for something else; not
    /// the same as another one where capitals do not count.
    pub fn add(&mut self, wanted: &str, end: &str) -> String {
        let plain = |c: char| match c {
            c if c.is_ascii_alphanumeric() || "._$-".contains(c) => c,
            _ => '_',
        };
        let stem: String = wanted.chars().take(LONGEST).map(plain).collect();
        // No hidden file, and no way up.
        let stem = if stem.starts_with('.') {
            format!("_{stem}")
        } else {
            stem
        };
        let first = format!("{stem}{end}");
        let others = (2..).map(|number| format!("{stem}-{number}{end}"));
        let mut names = std::iter::once(first).chain(others);
        let free = names.find(|name| self.0.insert(name.to_lowercase()));
        free.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_harmless_and_differ() {
        let mut names = Names::new(&["index.html"]);
        assert_eq!(names.add("Index", ".html"), "Index-2.html");
        assert_eq!(names.add("A$b", ".html"), "A$b.html");
        assert_eq!(names.add("a$B", ".html"), "a$B-2.html");
        assert_eq!(names.add("../../etc", ""), "_.._.._etc");
        assert_eq!(names.add("x\"/><é", ""), "x_____");
        assert!(names.add(&"n".repeat(1000), ".html").len() < 200);
    }
}
