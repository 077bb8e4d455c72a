//! Lines of a terminal page: styles, breaks.

use anstyle::{AnsiColor, Style};

/// Columns of a terminal page.
pub(crate) const WIDTH: usize = 100;
pub(crate) const TITLE: Style = Style::new().bold();
pub(crate) const HOT: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const DECISION: Style = AnsiColor::Cyan.on_default();
pub(crate) const SOFT: Style = Style::new().dimmed();

/// A page being written.
pub(crate) struct Page {
    pub out: String,
    pub color: bool,
}

impl Page {
    /// An empty page; `color` adds ANSI styles.
    pub(crate) fn new(color: bool) -> Self {
        let out = String::new();
        Page { out, color }
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.color {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// A line of one style.
    pub(crate) fn styled_line(&mut self, style: Style, text: &str) {
        let text = self.styled(style, text);
        self.line(&text);
    }

    /// Numbers, with a name in what they leave of the line.
    pub(crate) fn row(&mut self, numbers: &str, name: &str) {
        let width = WIDTH.saturating_sub(numbers.chars().count());
        let name = self.styled(HOT, &elide(name, width));
        self.line(&format!("{numbers}{name}"));
    }

    /// A paragraph, broken at spaces, later lines indented by `indent`.
    pub(crate) fn wrapped(&mut self, indent: usize, text: &str) {
        for line in wrap(text, WIDTH - indent) {
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }
}

/// Breaks lines that are too long for a terminal, with their indentation; escapes of styles have no width.
pub(crate) fn within(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let indent = line.chars().take_while(|c| *c == ' ').count().min(width / 2);
        let mut used = 0;
        for (i, word) in line.split(' ').enumerate() {
            let length = visible(word);
            if i > 0 && used + 1 + length > width && used > indent {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                used = indent;
            } else if i > 0 {
                out.push(' ');
                used += 1;
            }
            // A name that is too long for any line; with escapes of styles it is left as it is.
            let mut rest = word;
            while used + visible(rest) > width && !rest.contains('\u{1b}') {
                let cut = cut_of(rest, width - used);
                out.push_str(&rest[..cut]);
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                (rest, used) = (&rest[cut..], indent);
            }
            out.push_str(rest);
            used += visible(rest);
        }
        out.push('\n');
    }
    out
}

/// Columns of a text with escapes of styles.
fn visible(text: &str) -> usize {
    let mut columns = 0;
    let mut is_escape = false;
    for c in text.chars() {
        match (is_escape, c) {
            (false, '\u{1b}') => is_escape = true,
            (true, 'm') => is_escape = false,
            (true, _) => (),
            (false, _) => columns += 1,
        }
    }
    columns
}

/// Breaks at spaces, but not in front of a `%`; a word longer than a line is broken where it must.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let lines = wrapped(&text.replace(" %", GLUED), width);
    lines.into_iter().map(|line| line.replace(GLUED, " %")).collect()
}

/// Stands for a space in front of a `%` while lines are broken.
const GLUED: &str = "\u{a0}%";

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (i, word) in text.split(' ').enumerate() {
        let mut length = word.chars().count();
        if i > 0 && used + 1 + length <= width {
            lines.last_mut().unwrap_or(&mut String::new()).push(' ');
            used += 1;
        } else if i > 0 {
            lines.push(String::new());
            used = 0;
        }
        let mut rest = word;
        while used + length > width {
            let cut = cut_of(rest, width - used);
            if let Some(last) = lines.last_mut() {
                last.push_str(&rest[..cut]);
            }
            rest = &rest[cut..];
            length = rest.chars().count();
            lines.push(String::new());
            used = 0;
        }
        if let Some(last) = lines.last_mut() {
            last.push_str(rest);
        }
        used += length;
    }
    lines
}

/// Where a word with more characters than there are columns is broken: behind a point, a `$` or a parenthesis if
/// there is one in the second half, so that the parts of a name stay whole.
fn cut_of(word: &str, columns: usize) -> usize {
    let end = word.char_indices().nth(columns).map_or(word.len(), |(at, _)| at);
    let joint = word[..end].rfind(['.', '$', '(']).map(|at| at + 1);
    joint.filter(|at| at * 2 >= end && *at < end).unwrap_or(end)
}

/// Keeps the end of a long name: the method is worth more than the package.
pub(crate) fn elide(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(length - (width - 1)).collect();
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping() {
        assert_eq!(wrap("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("a bcdef g", 3), ["a", "bcd", "ef", "g"]);
        assert_eq!(wrap("", 3), [""]);
        // Parts of names stay whole.
        assert_eq!(
            wrap("in Outer$Inner.method() now", 14),
            ["in", "Outer$Inner.", "method() now"]
        );
        assert_eq!(
            wrap("in A.method(int,int) now", 12),
            ["in", "A.method(", "int,int) now"]
        );
        assert_eq!(wrap("ab 10 %", 5), ["ab", "10 %"]);
        assert_eq!(elide("a.b.C.m()", 5), "….m()");
        assert_eq!(within("  ab cd ef\ngh", 7), "  ab cd\n  ef\ngh\n");
        assert_eq!(within("  abcdefgh ij", 6), "  abcd\n  efgh\n  ij\n");
        assert_eq!(within("\u{1b}[1mab\u{1b}[0m cd", 5), "\u{1b}[1mab\u{1b}[0m cd\n");
    }
}
