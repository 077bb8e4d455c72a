//! Changes of whole statements, each on a line of its own, in Java.
//!
//! Such a change concerns only what runs the statement: no other statement begins, ends or branches
//! elsewhere. To say so takes the text alone, and whatever is not plainly of this kind is not: lines that
//! begin or end in the middle of a statement, labels, declarations, blocks, handlers, statements that
//! replace none.

use crate::unified_diff::Piece;

/// A line with a whole statement, or with the whole beginning of one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    /// Statements that end on the line.
    Whole,
    /// The one statement that an `if` or a loop without braces has.
    Body,
    /// The beginning of an `if`, a loop or a switch, up to its brace: what is in front of its parenthesis.
    Header(String),
    /// The same without a brace.
    Bare(String),
}

/// Numbers of the old lines whose statements changed, if the change is one of whole statements.
pub fn changed(piece: &Piece) -> Option<Vec<u32>> {
    let [before, before_new] = &piece.before;
    let old = lines(&piece.removed, before.as_deref())?;
    let new = lines(&piece.added, before_new.as_deref())?;
    let is_plain = |lines: &[(usize, Line)]| lines.iter().all(|(_, line)| *line == Line::Whole);
    let same = || {
        old.iter()
            .map(|(_, line)| line)
            .eq(new.iter().map(|(_, line)| line))
    };
    let fits = !old.is_empty() && (is_plain(&old) && is_plain(&new) || same());
    fits.then(|| old.iter().map(|(at, _)| piece.first + *at as u32).collect())
}

/// The kinds of lines that are not empty; none if one is of no kind.
fn lines(lines: &[String], before: Option<&str>) -> Option<Vec<(usize, Line)>> {
    let mut before = before.and_then(code);
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = code(line)?;
        if !text.is_empty() {
            found.push((at, kind(&text, before.as_deref()?)?));
            before = Some(text);
        }
    }
    Some(found)
}

/// A line without its comment, strings emptied. None with comments and strings that may be of several lines.
fn code(line: &str) -> Option<String> {
    if ["\"\"\"", "/*", "*/", "\\u"]
        .iter()
        .any(|mark| line.contains(mark))
    {
        return None;
    }
    let mut text = String::new();
    let mut rest = line.chars().peekable();
    while let Some(one) = rest.next() {
        match one {
            '/' if rest.peek() == Some(&'/') => break,
            '"' | '\'' => {
                loop {
                    match rest.next()? {
                        '\\' => drop(rest.next()),
                        end if end == one => break,
                        _ => {}
                    }
                }
                text.extend([one, one]);
            }
            _ => text.push(one),
        }
    }
    Some(text.trim().to_owned())
}

fn kind(text: &str, before: &str) -> Option<Line> {
    let is_body = matches!(header(before), Some((_, "")));
    if !is_body && !before.ends_with([';', '{', '}']) {
        return None;
    }
    match header(text) {
        Some((begin, "{")) => Some(Line::Header(begin)),
        Some((begin, "")) => Some(Line::Bare(begin)),
        _ if !is_whole(text) => None,
        _ if !is_body => Some(Line::Whole),
        _ => is_single(text).then_some(Line::Body),
    }
}

/// The beginning of an `if`, a loop or a switch: what is in front of its parenthesis, and what follows it.
fn header(text: &str) -> Option<(String, &str)> {
    let (begin, rest) = text.split_once('(')?;
    let words: Vec<&str> = begin.split_whitespace().collect();
    let keyword = match words.as_slice() {
        [keyword] | ["else", keyword] | ["}", "else", keyword] => keyword,
        _ => return None,
    };
    if !["if", "for", "while", "switch"].contains(keyword) {
        return None;
    }
    let mut open = 1;
    for (at, one) in rest.char_indices() {
        match one {
            '(' => open += 1,
            ')' => open -= 1,
            '{' | '}' => return None,
            _ => {}
        }
        if open == 0 {
            return Some((words.join(" "), rest[at + 1..].trim()));
        }
    }
    None
}

/// True for statements that begin and end on this line and declare nothing.
fn is_whole(text: &str) -> bool {
    const NONE: [&str; 22] = [
        "case",
        "default",
        "else",
        "catch",
        "finally",
        "do",
        "try",
        "class",
        "interface",
        "enum",
        "record",
        "instanceof",
        "final",
        "static",
        "private",
        "protected",
        "public",
        "abstract",
        "native",
        "volatile",
        "transient",
        "sealed",
    ];
    let mut open = Vec::new();
    for one in text.chars() {
        match one {
            '(' | '[' => open.push(one),
            ')' if open.pop() != Some('(') => return false,
            ']' if open.pop() != Some('[') => return false,
            '{' | '}' | '@' => return false,
            _ => {}
        }
    }
    let begins = |one: char| is_of_name(one) || ['(', '+', '-'].contains(&one);
    text.ends_with(';')
        && text.starts_with(begins)
        && open.is_empty()
        && !words(text).any(|word| ["case", "default"].contains(&word))
        && !NONE.contains(&first_word(text))
        && !is_labelled(text)
        && !declares(text)
}

fn is_labelled(text: &str) -> bool {
    text.trim_start_matches(is_of_name).trim_start().starts_with(':')
}

/// True for one statement without others in it.
fn is_single(text: &str) -> bool {
    text.matches(';').count() == 1 && !["if", "for", "while", "switch"].contains(&first_word(text))
}

/// True if a line begins as a declaration does: a type, and a name.
fn declares(text: &str) -> bool {
    const STATEMENTS: [&str; 6] = ["return", "throw", "assert", "yield", "break", "continue"];
    if STATEMENTS.contains(&first_word(text)) {
        return false;
    }
    let mut depth = 0;
    let end = text.find(|one: char| {
        match one {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        depth == 0 && !is_of_name(one) && !['.', '>', '[', ']'].contains(&one)
    });
    let (kind, rest) = text.split_at(end.unwrap_or(text.len()));
    let is_array = kind.ends_with(']') && !kind.ends_with("[]");
    !is_array && rest.starts_with(' ') && rest.trim_start().starts_with(is_of_name)
}

fn is_of_name(one: char) -> bool {
    one.is_alphanumeric() || one == '_' || one == '$'
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !is_of_name(one))
}

fn first_word(text: &str) -> &str {
    words(text).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unified_diff::parse;

    /// The old lines of the one change in a hunk that begins at line 10.
    fn of(hunk: &str) -> Option<Vec<u32>> {
        let count = |sides: [char; 2]| hunk.lines().filter(|line| line.starts_with(sides)).count();
        let (old, new) = (count([' ', '-']), count([' ', '+']));
        let diff = format!("--- a/A.java\n+++ b/A.java\n@@ -10,{old} +10,{new} @@\n{hunk}\n");
        changed(&parse(&diff).unwrap()[0].pieces[0])
    }

    #[test]
    fn statements_of_a_line() {
        for hunk in [
            " a();\n-b();\n+c();",
            " a();\n-b();",
            " } // end\n-return x; // why\n+x++;\n+return f(\"a;{\", '\"', x -> x + 1);",
            " a();\n\n // a comment\n-i[0] = 1;\n+i[1] = 1;"
                .replace("\n\n", "\n \n")
                .as_str(),
            " {\n-if (a && b) {\n+if (a || b) {",
            " a();\n-} else if (a) {\n+} else if (b) {",
            " a();\n-for (int i = 0; i < n; i++) {\n+for (int i = 0; i <= n; i++) {",
            " if (a)\n-return 1;\n+return 2;",
            " a();\n-if (a) b();\n+if (c) b();",
            " a();\n-switch (f(x)) {\n+switch (x) {",
            " a();\n-if (a(b))\n-    c();\n+if (b)\n+    d();",
        ] {
            let at = 10 + hunk.lines().position(|line| line.starts_with('-')).unwrap() as u32;
            assert_eq!(
                of(hunk).and_then(|lines| lines.first().copied()),
                Some(at),
                "{hunk}"
            );
        }
        assert_eq!(of(" a();\n-b();\n-\n-c();"), Some(vec![11, 13]));
    }

    /// Each concerns runs that do not come to the lines themselves.
    #[test]
    fn others() {
        for hunk in [
            // What is in front is not known.
            "-b();\n+c();",
            // Something new, of which the place alone is known.
            " a();\n+b();",
            // The middle and the end of a statement, where an operator binds what came earlier.
            " if (a\n-    && b) {\n+    || b) {",
            " x = a &&\n-b;\n+c || b;",
            // Labels, other branches, handlers, blocks.
            " a();\n-case 1:\n+case 2:",
            " a();\n-b();\n+b(); case 4: c();",
            " case 1:\n-b();\n+c();",
            " a();\n-} else {\n+} {",
            " a();\n-else b();\n+b();",
            " a();\n-b: c();\n+d: c();",
            " else\n-b();\n+c();",
            " a();\n-} catch (A e) {\n+} catch (B e) {",
            " a();\n-try {\n+{",
            " a();\n-if (a) {\n+while (a) {",
            " a();\n-if (a) {\n+if (a)",
            " a();\n-if (a) {\n+if (a) { b();",
            // What an `if` without braces has next.
            " if (a)\n-b();",
            " if (a)\n-b();\n+b();\n+c();",
            " if (a)\n-b();\n+b(); c();",
            " if (a)\n-b();\n+if (c) b();",
            // Types and constants of what follows.
            " a();\n-int x = 1;\n+long x = 1;",
            " a();\n-b();\n+Map<String, List<A>> x = b();",
            " a();\n-int[] x = b();\n+int[] x = c();",
            " a();\n-final int x = 1;\n+final int x = 2;",
            // Texts and comments of several lines.
            " a(\"\"\"\n-b();\"\"\");\n+c();\"\"\");",
            " a();\n-*/ b();\n+*/ c();",
        ] {
            assert_eq!(of(hunk), None, "{hunk}");
        }
    }
}
