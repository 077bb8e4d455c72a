//! Answers for people: Java's names, the source's conditions, large numbers that can be read, and not too
//! many rows.

use trodden_profile::printable;
use trodden_report::{dotted, percent, signature, thousands};

use super::answer::{Answer, Value};

/// Columns that are for programs: keys, and values that a column next to them says better.
const LEFT_OUT: [&str; 7] = ["graph", "edge", "path", "bci", "descriptor", "method", "outcome"];
/// Characters of a cell at most.
const CELL: usize = 100;

/// A column as people see it.
struct Column {
    title: String,
    /// Numbers stand below each other.
    right: bool,
    cells: Vec<String>,
}

impl Answer {
    /// For a terminal: at most `top` rows.
    pub fn text(&self, top: usize) -> String {
        let columns = self.shown(top);
        let mut out = self.title();
        for note in self.notes() {
            out += &format!("  {note}\n");
        }
        if self.rows.is_empty() {
            out += "  nothing\n";
            return out;
        }
        let width = |column: &Column| {
            let cells = column
                .cells
                .iter()
                .chain([&column.title])
                .map(|cell| cell.chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = columns.iter().map(width).collect();
        let line = |cell: &dyn Fn(&Column) -> String| {
            let mut line = String::new();
            for (column, &width) in columns.iter().zip(&widths) {
                let cell = cell(column);
                let pad = " ".repeat(width - cell.chars().count());
                let cell = if column.right { pad + &cell } else { cell + &pad };
                line += "  ";
                line += &cell;
            }
            line.trim_end().to_owned() + "\n"
        };
        out += &line(&|column| column.title.clone());
        for row in 0..self.rows.len().min(top) {
            out += &line(&|column| column.cells[row].clone());
        }
        out += &self.more(top, "raise --top to see them");
        out
    }

    /// For an issue or a page in Markdown: at most `top` rows.
    pub fn markdown(&self, top: usize) -> String {
        let columns = self.shown(top);
        let mut out = format!("## {}\n", escaped(self.title().trim_end()).replace('\n', "  \n"));
        for note in self.notes() {
            out += &format!("\n{}\n", escaped(&note));
        }
        if self.rows.is_empty() {
            return out + "\nNothing.\n";
        }
        let line = |cell: &dyn Fn(&Column) -> String| {
            let cells: Vec<String> = columns.iter().map(cell).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        out += "\n";
        out += &line(&|column| escaped(&column.title));
        out += &line(&|column| if column.right { "---:" } else { "---" }.to_owned());
        for row in 0..self.rows.len().min(top) {
            out += &line(&|column| escaped(&column.cells[row]));
        }
        let more = self.more(top, "raise --top to see them");
        if more.is_empty() {
            out
        } else {
            out + "\n" + more.trim_start()
        }
    }

    /// The question, and its parameters.
    fn title(&self) -> String {
        let params = self.params.iter().filter(|(_, value)| !value.is_empty());
        let params: Vec<String> = params
            .map(|(name, value)| format!("{name} {}", printable(value)))
            .collect();
        let question = if self.question.is_empty() {
            &self.name
        } else {
            &self.question
        };
        if params.is_empty() {
            format!("{}\n", printable(question))
        } else {
            format!("{}\n  {}\n", printable(question), params.join(", "))
        }
    }

    fn more(&self, top: usize, how: &str) -> String {
        match self.rows.len().saturating_sub(top) {
            0 => String::new(),
            more => format!("  and {} more; {how}\n", thousands(more as u64)),
        }
    }

    fn shown(&self, top: usize) -> Vec<Column> {
        let rows = &self.rows[..self.rows.len().min(top)];
        let has = |name: &str| self.column(name).is_some();
        let of_methods = has("class") && has("method");
        let of_ways = has("condition") && has("outcome");
        let mut columns = Vec::new();
        let mut last = Vec::new();
        let unlike = |name: &str| {
            // A parameter that says the same in each row says it at the top.
            !self
                .params
                .iter()
                .any(|(param, value)| param == name && !value.is_empty())
        };
        for name in &self.columns {
            let place = self.column(name);
            let column = |title: &str, right: bool, cell: &dyn Fn(&[Value]) -> String| Column {
                title: printable(&title.replace('_', " ")).into_owned(),
                right,
                cells: rows.iter().map(|row| elide(&cell(row))).collect(),
            };
            match name.as_str() {
                "class" if of_methods => last.push(column("method", false, &|row| self.method(row))),
                "condition" if of_ways => last.push(column("way out", false, &|row| self.way(row))),
                "line" if of_ways => {}
                "class" => last.push(column("class", false, &|row| self.class(row))),
                "method" | "outcome" if !of_methods || (name == "outcome" && !of_ways) => {
                    columns.push(column(name, false, &|row| self.plain(row, name)));
                }
                left_out if LEFT_OUT.contains(&left_out) && (of_methods || has("class")) => {}
                "service" | "build" if !unlike(name) => {}
                "text" => last.push(column("path", false, &|row| self.plain(row, name))),
                "chain" => last.push(column("chain of calls", false, &|row| {
                    dotted(&self.plain(row, name))
                })),
                "certain" => columns.push(column("", false, &|row| self.certainty(row).to_owned())),
                // Above the table, for all rows of a service.
                "missing" | "lacking" | "unended" if has("certain") => {}
                name if name.ends_with("_ns") => {
                    let title = name.trim_end_matches("_ns");
                    columns.push(column(title, true, &|row| match self.get(row, name).number() {
                        Some(ns) => format!("{:.2} s", ns as f64 / 1e9),
                        None => "–".to_owned(),
                    }));
                }
                name => {
                    let right = rows
                        .iter()
                        .filter_map(|row| row.get(place?))
                        .any(|value| value.float().is_some());
                    columns.push(column(name, right, &|row| self.plain(row, name)));
                }
            }
        }
        columns.extend(last);
        columns
    }

    fn plain(&self, row: &[Value], name: &str) -> String {
        let share = matches!(name, "moved") || name.ends_with("share");
        match self.get(row, name) {
            Value::Null => "–".to_owned(),
            Value::Number(number) if name != "line" => signed(*number),
            Value::Float(number) if share && *number < 0.0 => format!("−{}", percent(-number)),
            Value::Float(number) if name == "moved" && *number > 0.0 => format!("+{}", percent(*number)),
            Value::Float(number) if share => percent(*number),
            Value::Flag(true) => "yes".to_owned(),
            Value::Flag(false) => "no".to_owned(),
            value => value.printable(),
        }
    }

    /// How sure it is that something did not run.
    pub(crate) fn certainty(&self, row: &[Value]) -> &'static str {
        let some = |name: &str| self.get(row, name).number().is_some_and(|number| number > 0);
        match self.get(row, "certain") {
            Value::Flag(true) => "never",
            _ if some("missing") || some("unended") => "not known",
            _ => "not seen",
        }
    }

    /// `shop.Shop`.
    pub(crate) fn class(&self, row: &[Value]) -> String {
        let class = self.get(row, "class").text().unwrap_or("–");
        printable(&dotted(class)).into_owned()
    }

    /// `shop.Shop.price(int)`.
    pub(crate) fn method(&self, row: &[Value]) -> String {
        let of = |name: &str| self.get(row, name).text().unwrap_or("–");
        let name = match self.column("descriptor") {
            Some(_) => signature(of("method"), of("descriptor")),
            None => of("method").to_owned(),
        };
        // Code that belongs to no class: what the JVM does, frames of which nothing is known.
        let text = match of("class") {
            "" => name,
            class => format!("{}.{name}", dotted(class)),
        };
        printable(&text).into_owned()
    }

    /// `line 17: age < 12 → yes`.
    pub(crate) fn way(&self, row: &[Value]) -> String {
        let of = |name: &str| self.get(row, name).text();
        if of("condition").is_none() && of("outcome").is_none() {
            return "–".to_owned();
        }
        let line = self
            .get(row, "line")
            .number()
            .map_or(String::new(), |line| format!("line {line}: "));
        let outcome = of("outcome").unwrap_or("–");
        let way = match of("condition") {
            Some(condition) => format!("{condition} → {outcome}"),
            None => format!("branch {outcome}"),
        };
        printable(&(line + &way)).into_owned()
    }
}

/// A text as Markdown shows it.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '|' | '\\' | '<' | '*' | '_' | '`' | '[') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn signed(number: i64) -> String {
    let digits = thousands(number.unsigned_abs());
    if number < 0 {
        format!("−{digits}")
    } else {
        digits
    }
}

fn elide(text: &str) -> String {
    match text.char_indices().nth(CELL) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
