//! The text format: one line per test, then per method, then per path; words of paths at the end, each once.
//!
//! Columns are separated by tabs. Names hold no control characters: profiles are read with those replaced.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use super::{GateFile, GateMethod, GatePath, GateTest};

const FIRST: &str = "trodden-gate\t1";
const ABOUT: &str = "\
# Executed bytecode instructions per test, for `trodden gate compare`; no time is in it. Columns:
# test: instructions (least of the runs), most of the runs, allocated bytes, name; why it is unstable, if it is
# method: instructions, calls, hash of the code, source file and line, class, name with parameters
# path: how often it ran, its key; the words of each key, with the path's instructions, stand at the end
";

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is something else.
    #[error("this is no gate file, or one of another version: it does not begin with 'trodden-gate 1'")]
    NoGate,
    /// A line that makes no sense.
    #[error("line {line}: {what}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

impl GateFile {
    /// The file's text.
    pub fn to_text(&self) -> String {
        let mut out = format!("{FIRST}\n{ABOUT}runs\t{}\n", self.runs);
        let mut words: BTreeMap<u64, (u64, &str)> = BTreeMap::new();
        let unknown = "-".to_owned();
        for test in &self.tests {
            let allocated = test.allocated.map_or(unknown.clone(), |n| n.to_string());
            let _ = write!(
                out,
                "test\t{}\t{}\t{allocated}\t{}",
                test.instructions,
                test.most,
                clean(&test.name)
            );
            if let Some(reason) = &test.unstable {
                let _ = write!(out, "\t{}", clean(reason));
            }
            out.push('\n');
            for method in &test.methods {
                let place = match (&method.file, method.line) {
                    (Some(file), Some(line)) => format!("{}:{line}", clean(file)),
                    (Some(file), None) => format!("{}:0", clean(file)),
                    (None, _) => unknown.clone(),
                };
                let _ = writeln!(
                    out,
                    "method\t{}\t{}\t{:016x}\t{place}\t{}\t{}",
                    method.instructions,
                    method.calls,
                    method.code,
                    clean(&method.class),
                    clean(&method.name)
                );
                for path in &method.paths {
                    let _ = writeln!(out, "path\t{}\t{:016x}", path.count, path.key);
                    words.insert(path.key, (path.length, &path.text));
                }
            }
        }
        for (key, (length, text)) in words {
            let _ = writeln!(out, "words\t{key:016x}\t{length}\t{}", clean(text));
        }
        out
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// If it is no such file, or is damaged.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut lines = text.lines().enumerate();
        if lines.next().is_none_or(|(_, line)| line != FIRST) {
            return Err(FileError::NoGate);
        }
        let mut file = GateFile::default();
        let mut words: BTreeMap<u64, (u64, String)> = BTreeMap::new();
        for (index, line) in lines {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let columns: Vec<&str> = line.split('\t').collect();
            file.line(&columns, &mut words).map_err(|what| FileError::Line {
                line: index + 1,
                what,
            })?;
        }
        for method in file.tests.iter_mut().flat_map(|test| &mut test.methods) {
            for path in &mut method.paths {
                if let Some((length, text)) = words.get(&path.key) {
                    (path.length, path.text) = (*length, text.clone());
                }
            }
        }
        file.tests.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(twice) = file.tests.windows(2).find(|pair| pair[0].name == pair[1].name) {
            let what = format!("test '{}' is there twice", twice[0].name);
            return Err(FileError::Line { line: 0, what });
        }
        Ok(file)
    }

    fn line(&mut self, columns: &[&str], words: &mut BTreeMap<u64, (u64, String)>) -> Result<(), String> {
        match columns {
            ["runs", runs] => self.runs = number(runs)?,
            ["test", instructions, most, allocated, name, reason @ ..] if reason.len() <= 1 => {
                self.tests.push(GateTest {
                    name: (*name).to_owned(),
                    instructions: number(instructions)?,
                    most: number(most)?,
                    allocated: (*allocated != "-").then(|| number(allocated)).transpose()?,
                    unstable: reason.first().map(|&reason| reason.to_owned()),
                    methods: Vec::new(),
                });
            }
            ["method", instructions, calls, code, place, class, name] => {
                let (file, line) = match place.rsplit_once(':') {
                    Some((file, line)) => (Some(file.to_owned()), Some(number(line)?).filter(|&n| n > 0)),
                    None => (None, None),
                };
                let test = self.tests.last_mut().ok_or("a method without a test")?;
                test.methods.push(GateMethod {
                    class: (*class).to_owned(),
                    name: (*name).to_owned(),
                    code: hash(code)?,
                    file,
                    line,
                    calls: number(calls)?,
                    instructions: number(instructions)?,
                    paths: Vec::new(),
                });
            }
            ["path", count, key] => {
                let method = self.tests.last_mut().and_then(|test| test.methods.last_mut());
                method.ok_or("a path without a method")?.paths.push(GatePath {
                    key: hash(key)?,
                    count: number(count)?,
                    ..GatePath::default()
                });
            }
            ["words", key, length, text] => {
                words.insert(hash(key)?, (number(length)?, (*text).to_owned()));
            }
            [word, ..] => return Err(format!("'{word}' with {} columns is not known", columns.len())),
            [] => {}
        }
        Ok(())
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("'{text}' is no number, or too large"))
}

fn hash(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|_| format!("'{text}' is no hash"))
}

/// Tabs and line breaks would end a column.
fn clean(text: &str) -> String {
    text.replace(|c: char| c.is_control(), "\u{fffd}")
}
