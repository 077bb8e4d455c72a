//! What committed runs hold: their raw data, and the tables of their summaries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};

/// All runs, from the oldest to the newest.
pub struct Runs {
    folder: PathBuf,
    names: Vec<String>,
}

/// A file of a run.
#[derive(Clone, Debug)]
pub struct Source {
    /// The run's folder, by its name.
    pub run: String,
    /// The file's text.
    pub text: String,
}

/// A line of a CSV file, by column.
pub type Fields = BTreeMap<String, String>;

impl Runs {
    /// The runs in this folder.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn of(folder: &Path) -> Result<Runs> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(io("list", folder))? {
            let path = entry.map_err(io("list", folder))?.path();
            if let (true, Some(name)) = (path.is_dir(), path.file_name()) {
                names.push(name.to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(Runs {
            folder: folder.to_owned(),
            names,
        })
    }

    /// The folder of a run.
    pub fn folder(&self, run: &str) -> PathBuf {
        self.folder.join(run)
    }

    /// This file of all runs that have it and whose text is as wanted, newest first.
    pub fn with(&self, file: &str, wanted: impl Fn(&str) -> bool) -> Vec<Source> {
        let read = |run: &String| {
            let text = std::fs::read_to_string(self.folder(run).join(file)).ok()?;
            wanted(&text).then(|| Source {
                run: run.clone(),
                text,
            })
        };
        self.names.iter().rev().filter_map(read).collect()
    }

    /// The newest of those.
    pub fn newest(&self, file: &str, wanted: impl Fn(&str) -> bool) -> Option<Source> {
        self.with(file, wanted).into_iter().next()
    }

    /// Those with a CSV file that begins with this line, newest first.
    pub fn with_head(&self, file: &str, head: &str) -> Vec<Source> {
        self.with(file, |text| text.lines().next() == Some(head))
    }
}

impl Source {
    /// Its lines, as CSV without quotes.
    ///
    /// # Errors
    /// If a line has not as many fields as the first.
    pub fn rows(&self) -> Result<Vec<Fields>> {
        let mut lines = self.text.lines().enumerate();
        let head: Vec<&str> = lines
            .next()
            .map_or(Vec::new(), |(_, head)| head.split(',').collect());
        let row = |(at, line): (usize, &str)| {
            let fields: Vec<&str> = line.split(',').collect();
            if fields.len() != head.len() {
                return Err(Error::Parse {
                    line: at + 1,
                    problem: "not as many fields as columns",
                    text: format!("{}: {line}", self.run),
                });
            }
            let named = head.iter().zip(fields);
            Ok(named
                .map(|(name, field)| ((*name).to_owned(), field.to_owned()))
                .collect())
        };
        lines.map(row).collect()
    }

    /// The first table below a line (a bold one, or a heading) that has this in it.
    pub fn table(&self, title: &str) -> Option<Table> {
        let mut lines = self.text.lines();
        lines.find(|line| (line.starts_with("**") || line.starts_with('#')) && line.contains(title))?;
        Table::read(&mut lines)
    }

    /// The first table with this column.
    pub fn table_with(&self, column: &str) -> Option<Table> {
        let mut lines = self.text.lines();
        while let Some(table) = Table::read(&mut lines) {
            if table.head.iter().any(|name| name == column) {
                return Some(table);
            }
        }
        None
    }
}

/// A table of a Markdown text.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub head: Vec<String>,
    /// Cells of the lines.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads on to the next table and its end; `None` if there is none.
    fn read<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<Table> {
        let head = cells(lines.find(|line| line.starts_with('|'))?);
        let mut rows = Vec::new();
        for line in lines.take_while(|line| line.starts_with('|')) {
            let row = cells(line);
            if !row
                .iter()
                .all(|cell| cell.trim_matches([':', '-', ' ']).is_empty())
            {
                rows.push(row);
            }
        }
        Some(Table { head, rows })
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.head.iter().position(|head| head == name)
    }

    /// The numbers that cells of a column begin with, with the first cell of their lines.
    pub fn numbers(&self, name: &str) -> Vec<(String, f64)> {
        let Some(column) = self.column(name) else {
            return Vec::new();
        };
        let of = |row: &Vec<String>| Some((row.first()?.clone(), number(row.get(column)?)?));
        self.rows.iter().filter_map(of).collect()
    }
}

fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|');
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner.split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// The number that a text begins with: `0.52 (0.48–0.68)`, `10 k`, `2e-3 %`, `77,739,567`.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || ".,+-e".contains(c)))
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let value: f64 = digits.trim_end_matches(',').replace(',', "").parse().ok()?;
    Some(match rest.trim_start().chars().next() {
        Some('k') => value * 1e3,
        Some('M') => value * 1e6,
        _ => value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cells() {
        for (text, value) in [
            ("0.52 (0.48–0.68)", 0.52),
            ("10 k", 10e3),
            ("1.1 M", 1.1e6),
            ("2e-3 %", 0.002),
            ("77,739,567", 77_739_567.0),
            ("437 / 437; 72.6 %", 437.0),
            ("1.0, 0.9", 1.0),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!(number("ecj"), None);
        assert_eq!(number("–"), None);
    }

    #[test]
    fn tables_by_title_and_by_column() {
        let source = Source {
            run: "r".to_owned(),
            text: "**One (figure 1)**\n\n| a | b |\n| --- | ---: |\n| x | 1 |\n\n## Two\n| c | d |\n|--|--|\n| y | 2 k |\n| z | 3 |\n".to_owned(),
        };
        assert_eq!(source.table("figure 1").unwrap().rows, [["x", "1"]]);
        assert_eq!(source.table("Two").unwrap().rows.len(), 2);
        let two = source.table_with("d").unwrap();
        assert_eq!(
            two.numbers("d"),
            [("y".to_owned(), 2000.0), ("z".to_owned(), 3.0)]
        );
        assert!(source.table("Three").is_none());
    }

    #[test]
    fn the_newest_run_with_a_file_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for (run, text) in [
            ("2026-01-01-a", "k,v\nx,1\n"),
            ("2026-01-02-b", "k,v\nx,2\n"),
            ("2026-01-03-c", "other\n"),
        ] {
            std::fs::create_dir(folder.path().join(run)).unwrap();
            std::fs::write(folder.path().join(run).join("raw.csv"), text).unwrap();
        }
        let runs = Runs::of(folder.path()).unwrap();
        let found = runs.with_head("raw.csv", "k,v");
        assert_eq!(found[0].run, "2026-01-02-b");
        assert_eq!(found[0].rows().unwrap()[0]["v"], "2");
        assert_eq!(found.len(), 2);
    }
}
