//! Changes as `git diff` (or `diff -u`) writes them, by the lines of the old files.

/// The changes in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// Its path before the change, or after it if it is new, without `a/` and `b/`.
    pub path: String,
    /// It came, went, got another name, or is not text: no lines can be told.
    pub whole: bool,
    pub pieces: Vec<Piece>,
}

/// Lines that were taken out, and what was put there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The first line taken out; of a mere insertion the line behind it.
    pub first: u32,
    pub removed: Vec<String>,
    pub added: Vec<String>,
}

impl Piece {
    /// Old lines between which the change stands, both included: of an insertion those around it.
    pub fn lines(&self) -> (u32, u32) {
        match self.removed.len() as u32 {
            0 => (self.first.saturating_sub(1), self.first),
            removed => (self.first, self.first + removed - 1),
        }
    }
}

/// Why a text is no diff.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// A line is not as it should be.
    #[error("line {number} of the diff: {what}: {line}")]
    Line {
        /// From 1.
        number: usize,
        /// The error.
        what: &'static str,
        /// The line.
        line: String,
    },
    /// Lines of a change are missing.
    #[error("the diff ends in the middle of a change")]
    Ends,
}

/// Reads a diff.
///
/// # Errors
/// If it is none.
pub fn parse(text: &str) -> Result<Vec<FileChange>, ChangeError> {
    let mut files: Vec<FileChange> = Vec::new();
    // Lines that are left of a hunk, old and new, and the number of the next old one.
    let (mut old, mut new, mut at) = (0u32, 0u32, 0u32);
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &'static str| ChangeError::Line {
            number: number + 1,
            what,
            line: line.to_owned(),
        };
        if old > 0 || new > 0 {
            let file = files.last_mut().ok_or_else(|| wrong("belongs to no file"))?;
            let (kind, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
            let text = rest.to_owned();
            match kind {
                "\\" => continue,
                " " => open = false,
                _ if !open => {
                    file.pieces.push(Piece {
                        first: at,
                        ..Piece::default()
                    });
                    open = true;
                }
                _ => {}
            }
            let piece = file.pieces.last_mut();
            let less = |left: u32| left.checked_sub(1).ok_or_else(|| wrong("is one too many"));
            match (kind, piece) {
                (" ", _) => (old, new, at) = (less(old)?, less(new)?, at + 1),
                ("-", Some(piece)) => {
                    (old, at) = (less(old)?, at + 1);
                    piece.removed.push(text);
                }
                ("+", Some(piece)) => {
                    new = less(new)?;
                    piece.added.push(text);
                }
                _ => return Err(wrong("is no line of a change")),
            }
        } else if let Some(rest) = line.strip_prefix("@@ -") {
            let (from, rest) = rest.split_once(" +").ok_or_else(|| wrong("is no header"))?;
            let to = rest.split(' ').next().unwrap_or_default();
            let range = |text: &str| -> Option<(u32, u32)> {
                match text.split_once(',') {
                    Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
                    None => Some((text.parse().ok()?, 1)),
                }
            };
            let (start, count) = range(from).ok_or_else(|| wrong("is no header"))?;
            let (_, added) = range(to).ok_or_else(|| wrong("is no header"))?;
            // Of nothing, the line in front of it is named.
            (old, new, at) = (count, added, if count == 0 { start + 1 } else { start });
            open = false;
            files.last().ok_or_else(|| wrong("belongs to no file"))?;
        } else if let Some(rest) = line.strip_prefix("diff --git ") {
            let path = rest.split(" b/").last().unwrap_or(rest);
            files.push(FileChange {
                path: path.to_owned(),
                // Until lines are shown: a mere change of mode, a rename, something binary.
                whole: true,
                ..FileChange::default()
            });
        } else if let Some(path) = line.strip_prefix("--- ") {
            let path = name(path);
            match files.last_mut() {
                Some(file) if file.pieces.is_empty() && file.whole => file.whole = path.is_none(),
                _ => files.push(FileChange {
                    whole: path.is_none(),
                    ..FileChange::default()
                }),
            }
            if let (Some(path), Some(file)) = (path, files.last_mut()) {
                file.path = path;
            }
        } else if let Some(path) = line.strip_prefix("+++ ")
            && let Some(file) = files.last_mut()
        {
            match name(path) {
                Some(path) if file.path.is_empty() => file.path = path,
                Some(path) if path != file.path => file.whole = true,
                Some(_) => {}
                None => file.whole = true,
            }
        }
    }
    match old + new {
        0 => Ok(files),
        _ => Err(ChangeError::Ends),
    }
}

/// The path of a `---` or `+++` line; none of `/dev/null`.
fn name(text: &str) -> Option<String> {
    let path = text.split('\t').next().unwrap_or_default().trim_end();
    let path = path.trim_matches('"');
    let plain = path
        .strip_prefix("a/")
        .or(path.strip_prefix("b/"))
        .unwrap_or(path);
    (path != "/dev/null").then(|| plain.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_old_file() {
        let text = "diff --git a/x/A.java b/x/A.java
index 1..2 100644
--- a/x/A.java
+++ b/x/A.java
@@ -3,4 +3,5 @@ class A {
 three
-four
+vier
+und
 five
 six
@@ -20,0 +22 @@
+new
diff --git a/x/B.java b/x/B.java
new file mode 100644
--- /dev/null
+++ b/x/B.java
@@ -0,0 +1 @@
+--- all new
diff --git a/i.png b/i.png
Binary files a/i.png and b/i.png differ
";
        let files = parse(text).unwrap();
        let told: Vec<_> = files
            .iter()
            .map(|f| (f.path.as_str(), f.whole, f.pieces.len()))
            .collect();
        assert_eq!(
            told,
            [("x/A.java", false, 2), ("x/B.java", true, 1), ("i.png", true, 0)]
        );
        let lines: Vec<_> = files[0].pieces.iter().map(Piece::lines).collect();
        assert_eq!(lines, [(4, 4), (20, 21)]);
        assert_eq!(files[0].pieces[0].added, ["vier", "und"]);
    }

    #[test]
    fn what_is_no_diff_is_refused() {
        for text in ["@@ -1 +1 @@\n-a\n+b\n", "--- a/A\n+++ b/A\n@@ -1,2 +1 @@\n-a\n"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
