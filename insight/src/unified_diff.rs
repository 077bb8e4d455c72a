//! Changes as `git diff` (or `diff -u`) writes them: names of files, and lines of the old and of the new
//! ones.
//!
//! Crates that read such files know one file only, or neither quoted names nor renames; so this is our own.

/// The changes in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// Its path before the change, or after it if it is new, without `a/` and `b/`.
    pub path: String,
    /// Its path after the change; none if it is gone.
    pub new_path: Option<String>,
    /// True if it was added, deleted or renamed, or is not text: its old lines are not known.
    pub whole: bool,
    pub pieces: Vec<Piece>,
}

/// Lines that were taken out, and what was put there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The first line taken out; of a mere insertion the line after it.
    pub first: u32,
    pub removed: Vec<String>,
    /// The first line of the new file that was put there.
    pub first_new: u32,
    pub added: Vec<String>,
    /// The line in front of it in the old and in the new file, without empty lines and comments of a line, as far
    /// as the diff has them.
    pub before: [Option<String>; 2],
}

impl Piece {
    /// Old lines between which the change stands, both included: of an insertion those around it.
    pub fn lines(&self) -> (u32, u32) {
        match self.removed.len() as u32 {
            0 => (self.first.saturating_sub(1), self.first),
            removed => (self.first, self.first + removed - 1),
        }
    }

    /// Lines of the new file that were put there.
    pub fn new_lines(&self) -> std::ops::Range<u32> {
        self.first_new..self.first_new.saturating_add(self.added.len() as u32)
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
    /// It names no file.
    #[error("this is no diff: it names no file (git diff writes one, without --stat, --color and the like)")]
    NoFile,
}

/// The files of a diff that is being read.
#[derive(Default)]
struct Reader {
    files: Vec<FileChange>,
    /// The name before the change, as a `---` line has it; `/dev/null` is a name.
    old_name: Option<String>,
    /// Lines that are left of a hunk, old and new.
    left: (u32, u32),
    /// The numbers of the next lines, old and new.
    next: (u32, u32),
    /// The last line was of a piece.
    open: bool,
    /// The last lines of the hunk, old and new, that are neither empty nor a comment.
    last: [Option<String>; 2],
    /// Lines of a `diff --git` header are being read, before the first hunk.
    header: bool,
}

/// Reads a diff.
///
/// # Errors
/// If it is none.
pub fn parse(text: &str) -> Result<Vec<FileChange>, ChangeError> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &'static str| ChangeError::Line {
            number: number + 1,
            what,
            line: line.to_owned(),
        };
        if reader.left == (0, 0) {
            reader.outside(line).map_err(wrong)?;
        } else {
            reader.within(line).map_err(wrong)?;
        }
    }
    if reader.left != (0, 0) {
        return Err(ChangeError::Ends);
    }
    if reader.files.is_empty() && !text.trim().is_empty() {
        return Err(ChangeError::NoFile);
    }
    Ok(reader.files)
}

impl Reader {
    /// A line of a hunk.
    fn within(&mut self, line: &str) -> Result<(), &'static str> {
        const ONE_TOO_MANY: &str = "is one too many";
        let file = self.files.last_mut().ok_or("belongs to no file")?;
        let (kind, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        match kind {
            // No line end at the end of the file.
            "\\" => return Ok(()),
            " " => self.open = false,
            _ if !self.open => {
                file.pieces.push(Piece {
                    first: self.next.0,
                    first_new: self.next.1,
                    before: self.last.clone(),
                    ..Piece::default()
                });
                self.open = true;
            }
            _ => {}
        }
        let (old, new) = match kind {
            " " => (1, 1),
            "-" => (1, 0),
            "+" => (0, 1),
            _ => return Err("is no line of a change"),
        };
        let (left_old, left_new) = self.left;
        self.left = (
            left_old.checked_sub(old).ok_or(ONE_TOO_MANY)?,
            left_new.checked_sub(new).ok_or(ONE_TOO_MANY)?,
        );
        self.next = (self.next.0 + old, self.next.1 + new);
        let is_code = !text.trim().is_empty() && !text.trim_start().starts_with("//");
        for (side, last) in [old, new].into_iter().zip(&mut self.last) {
            if side == 1 && is_code {
                *last = Some(text.to_owned());
            }
        }
        match (kind, file.pieces.last_mut()) {
            ("-", Some(piece)) => piece.removed.push(text.to_owned()),
            ("+", Some(piece)) => piece.added.push(text.to_owned()),
            _ => {}
        }
        Ok(())
    }

    /// A line between hunks.
    fn outside(&mut self, line: &str) -> Result<(), &'static str> {
        if let Some(rest) = line.strip_prefix("@@ -") {
            return self.hunk(rest);
        }
        if line.starts_with("@@@ ") || line.starts_with("diff --cc ") || line.starts_with("diff --combined ")
        {
            return Err("is of a merge with several old sides: git diff BASE has one");
        }
        if let Some(rest) = line.strip_prefix("diff --git ") {
            let (old, new) = names_of_header(rest);
            self.files.push(FileChange {
                path: old,
                new_path: Some(new),
                // Until lines are shown: a mere change of mode, a rename, something binary.
                whole: true,
                ..FileChange::default()
            });
            self.header = true;
            self.old_name = None;
        } else if let Some(rest) = line.strip_prefix("--- ") {
            if !self.header {
                self.files.push(FileChange::default());
            }
            self.old_name = Some(name(rest));
        } else if let (Some(rest), Some(old), Some(file)) = (
            line.strip_prefix("+++ "),
            self.old_name.take(),
            self.files.last_mut(),
        ) {
            let (old, new) = without_prefixes(old, name(rest));
            file.whole = old.is_none() || new.is_none() || old != new;
            file.path = old.or(new.clone()).unwrap_or_default();
            file.new_path = new;
            self.header = false;
        } else if let (true, Some(file)) = (self.header, self.files.last_mut()) {
            let of = |words: [&str; 2]| {
                words
                    .into_iter()
                    .find_map(|word| line.strip_prefix(word))
                    .map(name)
            };
            if let Some(old) = of(["rename from ", "copy from "]) {
                file.path = old;
            } else if let Some(new) = of(["rename to ", "copy to "]) {
                file.new_path = Some(new);
            } else if line.starts_with("deleted file mode ") {
                file.new_path = None;
            }
        }
        Ok(())
    }

    fn hunk(&mut self, rest: &str) -> Result<(), &'static str> {
        const NO_HEADER: &str = "is no header";
        let (from, rest) = rest.split_once(" +").ok_or(NO_HEADER)?;
        let to = rest.split(' ').next().unwrap_or_default();
        let range = |text: &str| -> Option<(u32, u32)> {
            match text.split_once(',') {
                Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
                None => Some((text.parse().ok()?, 1)),
            }
        };
        // Of nothing, the line in front of it is named.
        let next = |(start, count): (u32, u32)| {
            if count == 0 {
                start.saturating_add(1)
            } else {
                start
            }
        };
        let old = range(from).ok_or(NO_HEADER)?;
        let new = range(to).ok_or(NO_HEADER)?;
        let fits = |(start, count): (u32, u32)| start.checked_add(count).is_some_and(|end| end < u32::MAX);
        if !fits(old) || !fits(new) {
            return Err("has numbers that are too large");
        }
        self.files.last().ok_or("belongs to no file")?;
        self.left = (old.1, new.1);
        self.next = (next(old), next(new));
        self.open = false;
        self.last = Default::default();
        Ok(())
    }
}

/// The path of a `---`, `+++` or `rename` line. Names with unusual characters are quoted as in C; a time may
/// follow.
fn name(text: &str) -> String {
    match quoted(text) {
        Some((name, _)) => name,
        None => text.split('\t').next().unwrap_or_default().to_owned(),
    }
}

/// A name in quotes at the start, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    let mut rest = inside.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => return Some((String::from_utf8_lossy(&bytes).into_owned(), &inside[at + 1..])),
            b'\\' => bytes.push(escaped(&mut rest)?),
            byte => bytes.push(byte),
        }
    }
    None
}

/// The byte of an escape, after the backslash.
fn escaped(rest: &mut impl Iterator<Item = (usize, u8)>) -> Option<u8> {
    let digit = |byte: u8| {
        byte.is_ascii_digit()
            .then(|| u32::from(byte - b'0'))
            .filter(|&d| d < 8)
    };
    Some(match rest.next()?.1 {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        byte @ b'0'..=b'7' => {
            let (second, third) = (digit(rest.next()?.1)?, digit(rest.next()?.1)?);
            u8::try_from(digit(byte)? * 64 + second * 8 + third).ok()?
        }
        byte => byte,
    })
}

/// Both names of `diff --git`. Without quotes nothing separates them; but they are the same, as renames have
/// lines of their own.
fn names_of_header(rest: &str) -> (String, String) {
    let pair = match quoted(rest) {
        Some((old, rest)) => (old, name(rest.trim_start())),
        None => match rest.find(" \"") {
            Some(at) => (rest[..at].to_owned(), name(&rest[at + 1..])),
            None => halves(rest),
        },
    };
    match without_prefixes(pair.0.clone(), pair.1.clone()) {
        (Some(old), Some(new)) => (old, new),
        _ => pair,
    }
}

fn halves(rest: &str) -> (String, String) {
    let spaces = rest
        .match_indices(' ')
        .map(|(at, _)| (&rest[..at], &rest[at + 1..]));
    let same = |(old, new): &(&str, &str)| {
        let behind = |name: &str| name.split_once('/').map(|(_, path)| path.to_owned());
        old == new || (behind(old).is_some() && behind(old) == behind(new))
    };
    let both = spaces.clone().find(same).or(spaces.into_iter().next());
    both.map_or_else(
        || (rest.to_owned(), rest.to_owned()),
        |(old, new)| (old.to_owned(), new.to_owned()),
    )
}

/// Both names without git's prefixes: `a/` and `b/`, or those of `diff.mnemonicPrefix`; with `--no-prefix`
/// there are none, and both begin alike. None for `/dev/null`.
fn without_prefixes(old: String, new: String) -> (Option<String>, Option<String>) {
    const NONE: &str = "/dev/null";
    const PREFIXES: [&str; 6] = ["a/", "b/", "c/", "i/", "o/", "w/"];
    let prefix = |name: &str| PREFIXES.into_iter().find(|prefix| name.starts_with(prefix));
    let prefixed = match (prefix(&old), prefix(&new)) {
        (Some(one), Some(other)) => one != other,
        (Some(_), None) => new == NONE,
        (None, Some(_)) => old == NONE,
        (None, None) => false,
    };
    let plain = |name: String| match prefix(&name).filter(|_| prefixed) {
        _ if name == NONE => None,
        Some(prefix) => Some(name[prefix.len()..].to_owned()),
        None => Some(name),
    };
    (plain(old), plain(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_both_files() {
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
@@ -30,2 +32,0 @@
-gone
--- gone, too
diff --git a/x/B.java b/x/B.java
new file mode 100644
--- /dev/null
+++ b/x/B.java
@@ -0,0 +1 @@
+--- all new
\\ No newline at end of file
diff --git a/i.png b/i.png
Binary files a/i.png and b/i.png differ
";
        let files = parse(text).unwrap();
        let found: Vec<_> = files
            .iter()
            .map(|f| (f.path.as_str(), f.whole, f.pieces.len()))
            .collect();
        assert_eq!(
            found,
            [("x/A.java", false, 3), ("x/B.java", true, 1), ("i.png", true, 0)]
        );
        let lines: Vec<_> = files[0].pieces.iter().map(Piece::lines).collect();
        assert_eq!(lines, [(4, 4), (20, 21), (30, 31)]);
        let lines: Vec<_> = files[0].pieces.iter().map(Piece::new_lines).collect();
        assert_eq!(lines, [4..6, 22..23, 33..33]);
        assert_eq!(files[0].pieces[0].added, ["vier", "und"]);
        assert_eq!(files[1].pieces[0].new_lines(), 1..2);
    }

    /// Pairs of names before and after.
    fn names(text: &str) -> Vec<(String, Option<String>)> {
        let files = parse(text).unwrap();
        files.into_iter().map(|file| (file.path, file.new_path)).collect()
    }

    #[test]
    fn names_are_as_in_the_repository() {
        let hunk = "@@ -1 +1 @@\n-a\n+b\n";
        let pair = |old: &str, new: &str| (old.to_owned(), Some(new.to_owned()));
        // Quoted, with the bytes of characters in octal; with spaces; with the time that diff -u writes.
        let quoted = "diff --git \"a/\\303\\274ber/\\\"A\\\".java\" \"b/\\303\\274ber/\\\"A\\\".java\"\n\
             --- \"a/\\303\\274ber/\\\"A\\\".java\"\n+++ \"b/\\303\\274ber/\\\"A\\\".java\"\n";
        assert_eq!(
            names(&format!("{quoted}{hunk}")),
            [pair("über/\"A\".java", "über/\"A\".java")]
        );
        let spaces = "diff --git a/x y/b/A.java b/x y/b/A.java\n--- a/x y/b/A.java\t\n+++ b/x y/b/A.java\t\n";
        assert_eq!(
            names(&format!("{spaces}{hunk}")),
            [pair("x y/b/A.java", "x y/b/A.java")]
        );
        let times =
            "--- old/A.java\t2026-01-01 10:00:00.0 +0000\n+++ old/A.java\t2026-01-02 10:00:00.0 +0000\n";
        assert_eq!(
            names(&format!("{times}{hunk}")),
            [pair("old/A.java", "old/A.java")]
        );
        // Without lines: a rename, a change of mode, an empty new file, one that is gone.
        let mere = "diff --git a/x/A.java b/y/B C.java\nsimilarity index 100%\nrename from x/A.java\n\
             rename to y/B C.java\ndiff --git a/run me b/run me\nold mode 100644\nnew mode 100755\n\
             diff --git a/E.java b/E.java\nnew file mode 100644\nindex 0..e\n\
             diff --git a/G.java b/G.java\ndeleted file mode 100644\nindex e..0\n";
        assert_eq!(
            names(mere),
            [
                pair("x/A.java", "y/B C.java"),
                pair("run me", "run me"),
                pair("E.java", "E.java"),
                ("G.java".to_owned(), None)
            ]
        );
        // A rename with lines, and a file that is gone with its lines.
        let renamed = "diff --git a/x/A.java b/y/A.java\nsimilarity index 90%\nrename from x/A.java\n\
             rename to y/A.java\n--- a/x/A.java\n+++ b/y/A.java\n@@ -1 +1 @@\n-a\n+b\n\
             diff --git a/G.java b/G.java\ndeleted file mode 100644\n--- a/G.java\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
        assert_eq!(
            names(renamed),
            [pair("x/A.java", "y/A.java"), ("G.java".to_owned(), None)]
        );
        assert!(parse(renamed).unwrap().iter().all(|file| file.whole));
        // Other prefixes, and none: a folder may be called `a`.
        let mnemonic = "diff --git i/a/A.java w/a/A.java\n--- i/a/A.java\n+++ w/a/A.java\n";
        assert_eq!(
            names(&format!("{mnemonic}{hunk}")),
            [pair("a/A.java", "a/A.java")]
        );
        let none = "diff --git a/A.java a/A.java\n--- a/A.java\n+++ a/A.java\n";
        assert_eq!(names(&format!("{none}{hunk}")), [pair("a/A.java", "a/A.java")]);
    }

    #[test]
    fn line_ends_of_other_systems_and_none_at_the_end() {
        let text = "--- a/A.java\r\n+++ b/A.java\r\n@@ -1,2 +1,2 @@\r\n one\r\n-two\r\n\\ No newline at end of file\r\n\
             +zwei\r\n\\ No newline at end of file\r\n--- a/B.java\r\n+++ b/B.java\r\n@@ -0,0 +1 @@\r\n+b";
        let files = parse(text).unwrap();
        let lines: Vec<_> = files
            .iter()
            .map(|f| (f.path.as_str(), f.pieces[0].new_lines()))
            .collect();
        assert_eq!(lines, [("A.java", 2..3), ("B.java", 1..2)]);
        assert_eq!(files[0].pieces[0].added, ["zwei"]);
        assert_eq!(parse("\n"), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_diff_is_refused() {
        for text in [
            "@@ -1 +1 @@\n-a\n+b\n",
            "--- a/A\n+++ b/A\n@@ -1,2 +1 @@\n-a\n",
            "--- a/A\n+++ b/A\n@@ -4294967295 +1 @@\n-a\n+b\n",
            "diff --cc A\n--- a/A\n+++ b/A\n@@@ -1,1 -1,1 +1,2 @@@\n++b\n",
            " A.java | 2 +-\n 1 file changed\n",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
