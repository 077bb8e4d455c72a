//! Rows of paths that can be told apart: each begins where it differs from the others, and no two of them read the same.

use crate::text::wrap;

/// Lines of a row at most.
const MAX_LINES: usize = 3;
/// The part that is left out.
const LEFT_OUT: &str = "…";

/// A path to be shown in a row.
pub(crate) struct Row {
    /// Its stops, in order.
    pub stops: Vec<String>,
    /// The code between two stops.
    pub between: &'static str,
    /// A name that no other row has.
    pub name: String,
}

impl Row {
    fn text(&self, from: usize) -> String {
        let rest = self.stops[from..].join(self.between);
        if from == 0 {
            rest
        } else {
            format!("{LEFT_OUT}{}{rest}", self.between)
        }
    }

    /// How many stops it has in common with another one, but for its last.
    fn common(&self, other: &Row) -> usize {
        let pairs = self.stops.iter().zip(&other.stops);
        let same = pairs.take_while(|(own, other)| own == other).count();
        same.min(self.stops.len().saturating_sub(1))
    }
}

/// The lines of each row. A row that fits one line is shown as a whole.
pub(crate) fn tell_apart(rows: &[Row], width: usize) -> Vec<Vec<String>> {
    let texts: Vec<String> = rows.iter().map(|row| text(row, rows, width)).collect();
    let shown: Vec<Vec<String>> = texts.iter().map(|text| fitted(text, "", width)).collect();
    let named = |(index, lines): (usize, &Vec<String>)| {
        let twins = shown.iter().filter(|other| *other == lines).count();
        if twins > 1 {
            fitted(&texts[index], &format!(" ({})", rows[index].name), width)
        } else {
            lines.clone()
        }
    };
    shown.iter().enumerate().map(named).collect()
}

fn text(row: &Row, rows: &[Row], width: usize) -> String {
    let whole = row.text(0);
    if whole.chars().count() <= width {
        return whole;
    }
    let others = rows.iter().filter(|other| !std::ptr::eq(*other, row));
    let common: Vec<usize> = others
        .map(|other| row.common(other))
        .filter(|&same| same > 0)
        .collect();
    let first = common.iter().copied().min().unwrap_or(0);
    let last = common.iter().copied().max().unwrap_or(0);
    let text = row.text(first);
    if last <= first + 1 || wrap(&text, width).len() <= MAX_LINES {
        return text;
    }
    // The first stop that another row does not have, and from that on that no other row has.
    format!(
        "{LEFT_OUT}{0}{1}{0}{2}",
        row.between,
        row.stops[first],
        row.text(last)
    )
}

/// As many lines as a row may have; `end` is never cut off.
pub(crate) fn fitted(text: &str, end: &str, width: usize) -> Vec<String> {
    let mut lines = wrap(&format!("{text}{end}"), width);
    if lines.len() > MAX_LINES {
        lines = wrap(text, width);
        lines.truncate(MAX_LINES);
        let end = format!("{LEFT_OUT}{end}");
        if let Some(last) = lines.last_mut() {
            let room = width.saturating_sub(end.chars().count());
            *last = last.chars().take(room).collect::<String>() + &end;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, stops: &[&str]) -> Row {
        Row {
            stops: stops.iter().map(|stop| (*stop).to_owned()).collect(),
            between: " · ",
            name: name.to_owned(),
        }
    }

    #[test]
    fn what_fits_is_whole() {
        let rows = [
            row("path 1", &["7 a → yes", "9"]),
            row("path 2", &["7 a → no", "9"]),
        ];
        assert_eq!(tell_apart(&rows, 60), [["7 a → yes · 9"], ["7 a → no · 9"]]);
    }

    #[test]
    fn rows_begin_where_they_differ() {
        let begin = ["7 a → yes", "8 bbbbbbbbbb → yes"];
        let with = |end: &str| row(end, &[&begin[..], &[end, "20 cccccccccccccccccc → no"]].concat());
        let rows = [with("69 user.audited() → yes"), with("69 user.audited() → no")];
        assert_eq!(
            tell_apart(&rows, 60),
            [
                ["… · 69 user.audited() → yes · 20 cccccccccccccccccc → no"],
                ["… · 69 user.audited() → no · 20 cccccccccccccccccc → no"]
            ]
        );
        assert_eq!(
            tell_apart(&rows, 20)[1],
            ["… · 69", "user.audited() → no", "· 20…"]
        );
    }

    #[test]
    fn no_two_rows_read_the_same() {
        // Many paths of long stops, some with the same stops, at all widths.
        for width in [24, 60, 80, 100, 200] {
            for count in 2..12usize {
                let rows: Vec<Row> = (0..count)
                    .map(|at| {
                        let stop = |i: usize| format!("{i} condition{}() → {}", i % 3, (at >> i) & 1);
                        let stops: Vec<String> =
                            (0..20).map(|i| stop(if i % 7 == 6 { i } else { 30 })).collect();
                        let stops: Vec<&str> = stops.iter().map(String::as_str).collect();
                        row(&format!("path {at}"), &stops)
                    })
                    .collect();
                let shown = tell_apart(&rows, width);
                for (at, lines) in shown.iter().enumerate() {
                    assert!(!shown[..at].contains(lines), "{width}: {shown:#?}");
                    assert!(lines.len() <= MAX_LINES && lines.iter().all(|l| l.chars().count() <= width));
                }
            }
        }
    }
}
