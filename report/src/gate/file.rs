//! The text format: one line per test, then per method with its paths; what methods and paths are called stands at the
//! end, each once.
//!
//! Columns are separated by tabs. Names hold no control characters: profiles are read with those replaced.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use trodden_insight::gate::{GateFile, GateMethod, GatePath, GateTest, Outside};
use trodden_profile::ShapeHasher;

use super::record::share;
use super::text::limit_words;

const FIRST: &str = "trodden-gate\t1";
const ABOUT: &str = "\
# Executed bytecode instructions per test, for `trodden gate compare`; no time is in it. Columns:
# test: instructions (least of the runs), most of the runs, allocated bytes, name; why it is unstable, if it is
# own:  instructions of the test's own threads alone, least and most of the runs, if others worked or they differ
# limit: how much more work the test itself allows
# time: microseconds that it took with the probes in it, least and most of the runs; only if it was asked for
# new:  executed instructions that make an object or arrays; without such a line it is not known
# out:  calls of code that is not counted; calls that may be
# in:   instructions of a method in that test, its calls, its key; + and its calls of code that is not counted;
#       then its paths: how often, * and key
# at the end, method: key, hash of the code, source file and line, class, name; path: key, instructions, words
";

/// Methods by key, with their paths by key: these stand once, at the end.
type Words<'t> = BTreeMap<u64, (&'t GateMethod, BTreeMap<u32, &'t GatePath>)>;

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
        /// The error.
        what: LineError,
    },
}

/// An error in a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It belongs to a line that is not there.
    #[error("{0}")]
    Alone(&'static str),
    /// A column is not what it should be: the column, and what it should be.
    #[error("'{0}' is no {1}")]
    Column(String, &'static str),
    /// No such line is known.
    #[error("'{word}' with {columns} columns is not known")]
    Unknown {
        /// Its first column.
        word: String,
        /// Number of columns.
        columns: usize,
    },
    /// A test counted a method, or a path, that no line describes.
    #[error("{0} has no words")]
    NoWords(String),
    /// Two tests have one name.
    #[error("test '{0}' is there twice")]
    Twice(String),
}

/// The line that a line belongs to is not there.
impl From<&'static str> for LineError {
    fn from(what: &'static str) -> Self {
        LineError::Alone(what)
    }
}

/// The file's text.
pub fn to_text(file: &GateFile) -> String {
    let mut out = format!("{FIRST}\n{ABOUT}runs\t{}\n", file.runs);
    let mut words = Words::new();
    for test in &file.tests {
        let allocated = test.allocated.map_or_else(|| "-".to_owned(), |n| n.to_string());
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
        if let Some([least, most]) = test.own.filter(|own| Some(*own) != test.implied_own()) {
            let _ = writeln!(out, "own\t{least}\t{most}");
        }
        if let Some(limit) = test.limit {
            let _ = writeln!(out, "limit\t{}", limit_words(limit));
        }
        if let Some(time) = test.time {
            let [least, most] = time.map(|nanos| nanos / 1000);
            let _ = writeln!(out, "time\t{least}\t{most}");
        }
        if let Some(allocations) = test.allocations {
            let _ = writeln!(out, "new\t{allocations}");
        }
        if let Some(Outside { calls, perhaps }) = test.outside.filter(|out| *out != Outside::default()) {
            let _ = writeln!(out, "out\t{calls}\t{perhaps}");
        }
        for method in &test.methods {
            let key = key(method);
            let _ = write!(out, "in\t{}\t{}\t{key:012x}", method.instructions, method.calls);
            if method.outside > 0 {
                let _ = write!(out, "\t+{}", method.outside);
            }
            let known = words.entry(key).or_insert_with(|| (method, BTreeMap::new()));
            for path in &method.paths {
                let _ = write!(out, "\t{}*{:08x}", path.count, path.key);
                known.1.insert(path.key, path);
            }
            out.push('\n');
        }
    }
    for (key, (method, paths)) in words {
        let place = match (&method.file, method.line) {
            (Some(file), line) => format!("{}:{}", clean(file), line.unwrap_or(0)),
            (None, _) => "-".to_owned(),
        };
        let (class, name) = (clean(&method.class), clean(&method.name));
        let _ = writeln!(
            out,
            "method\t{key:012x}\t{:016x}\t{place}\t{class}\t{name}",
            method.code
        );
        for (key, path) in paths {
            let _ = writeln!(out, "path\t{key:08x}\t{}\t{}", path.length, clean(&path.text));
        }
    }
    out
}

/// Reads a file's text.
///
/// # Errors
/// If it is no such file, or is damaged.
pub fn parse(text: &str) -> Result<GateFile, FileError> {
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, line)| line != FIRST) {
        return Err(FileError::NoGate);
    }
    let mut reader = Reader::default();
    for (index, line) in lines {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let columns: Vec<&str> = line.split('\t').collect();
        reader.line(&columns).map_err(|what| FileError::Line {
            line: index + 1,
            what,
        })?;
    }
    reader.finish().map_err(|what| FileError::Line {
        line: text.lines().count(),
        what,
    })
}

/// The key of a method in a file.
fn key(method: &GateMethod) -> u64 {
    let mut hasher = ShapeHasher::default();
    hasher.add_bytes(method.class.as_bytes());
    hasher.add_bytes(method.name.as_bytes());
    hasher.finish() >> 16
}

/// The lines read so far.
#[derive(Default)]
struct Reader {
    file: GateFile,
    /// Per test, per method: its key.
    keys: Vec<Vec<u64>>,
    methods: BTreeMap<u64, (GateMethod, BTreeMap<u32, GatePath>)>,
    /// Key of the method that paths belong to.
    last: Option<u64>,
}

impl Reader {
    fn line(&mut self, columns: &[&str]) -> Result<(), LineError> {
        match columns {
            ["runs", runs] => self.file.runs = number(runs)?,
            ["test", instructions, most, allocated, name, reason @ ..] if reason.len() <= 1 => {
                self.keys.push(Vec::new());
                let mut test = GateTest {
                    name: (*name).to_owned(),
                    instructions: number(instructions)?,
                    most: number(most)?,
                    own: None,
                    allocated: (*allocated != "-").then(|| number(allocated)).transpose()?,
                    time: None,
                    allocations: None,
                    outside: Some(Outside::default()),
                    limit: None,
                    unstable: reason.first().map(|&reason| reason.to_owned()),
                    methods: Vec::new(),
                };
                test.own = test.implied_own();
                self.file.tests.push(test);
            }
            ["own", least, most] => {
                let test = self.file.tests.last_mut().ok_or("own threads without a test")?;
                test.own = Some([number(least)?, number(most)?]);
            }
            ["limit", words] => {
                let test = self.file.tests.last_mut().ok_or("a limit without a test")?;
                test.limit = Some(share(words).ok_or_else(|| column(words, "percentage"))?);
            }
            ["time", least, most] => {
                let test = self.file.tests.last_mut().ok_or("a time without a test")?;
                let [least, most] =
                    [number(least)?, number(most)?].map(|micros: u64| micros.saturating_mul(1000));
                test.time = Some([least, most]);
            }
            ["new", allocations] => {
                let test = self.file.tests.last_mut().ok_or("allocations without a test")?;
                test.allocations = Some(number(allocations)?);
            }
            ["out", calls, perhaps] => {
                let test = self.file.tests.last_mut().ok_or("calls without a test")?;
                test.outside = Some(Outside {
                    calls: number(calls)?,
                    perhaps: number(perhaps)?,
                });
            }
            ["in", instructions, calls, key, paths @ ..] => {
                let (outside, paths) = match paths {
                    [first, rest @ ..] if first.starts_with('+') => (number(&first[1..])?, rest),
                    paths => (0, paths),
                };
                let at = self.file.tests.last_mut().zip(self.keys.last_mut());
                let (test, keys) = at.ok_or("a method without a test")?;
                keys.push(hash(key)?);
                let path = |text: &&str| {
                    let (count, key) = text.split_once('*').ok_or_else(|| column(text, "path"))?;
                    Ok::<_, LineError>(GatePath {
                        key: u32::from_str_radix(key, 16).map_err(|_| column(key, "key"))?,
                        count: number(count)?,
                        ..GatePath::default()
                    })
                };
                test.methods.push(GateMethod {
                    calls: number(calls)?,
                    instructions: number(instructions)?,
                    outside,
                    paths: paths.iter().map(path).collect::<Result<_, _>>()?,
                    ..GateMethod::default()
                });
            }
            ["method", key, code, place, class, name] => {
                let (file, line) = match place.rsplit_once(':') {
                    Some((file, line)) => (Some(file.to_owned()), Some(number(line)?).filter(|&n| n > 0)),
                    None => (None, None),
                };
                let method = GateMethod {
                    class: (*class).to_owned(),
                    name: (*name).to_owned(),
                    code: hash(code)?,
                    file,
                    line,
                    ..GateMethod::default()
                };
                let key = hash(key)?;
                self.last = Some(key);
                self.methods.insert(key, (method, BTreeMap::new()));
            }
            ["path", key, length, text] => {
                let method = self.last.and_then(|last| self.methods.get_mut(&last));
                let key = u32::from_str_radix(key, 16).map_err(|_| column(key, "key"))?;
                let path = GatePath {
                    key,
                    length: number(length)?,
                    text: (*text).to_owned(),
                    ..GatePath::default()
                };
                method.ok_or("a path without a method")?.1.insert(key, path);
            }
            [word, ..] => {
                return Err(LineError::Unknown {
                    word: (*word).to_owned(),
                    columns: columns.len(),
                });
            }
            [] => {}
        }
        Ok(())
    }

    /// Gives methods and paths their words.
    fn finish(mut self) -> Result<GateFile, LineError> {
        for (test, keys) in self.file.tests.iter_mut().zip(&self.keys) {
            for (method, key) in test.methods.iter_mut().zip(keys) {
                let known = self.methods.get(key);
                let (words, paths) = known.ok_or_else(|| LineError::NoWords(format!("method {key:012x}")))?;
                let own = std::mem::take(&mut method.paths);
                *method = GateMethod {
                    calls: method.calls,
                    instructions: method.instructions,
                    outside: method.outside,
                    ..words.clone()
                };
                for path in own {
                    let words = paths.get(&path.key);
                    let words = words.ok_or_else(|| LineError::NoWords(format!("path {:08x}", path.key)))?;
                    method.paths.push(GatePath {
                        count: path.count,
                        ..words.clone()
                    });
                }
            }
        }
        self.file.tests.sort_by(|a, b| a.name.cmp(&b.name));
        match self
            .file
            .tests
            .windows(2)
            .find(|pair| pair[0].name == pair[1].name)
        {
            Some(twice) => Err(LineError::Twice(twice[0].name.clone())),
            None => Ok(self.file),
        }
    }
}

fn column(text: &str, wanted: &'static str) -> LineError {
    LineError::Column(text.to_owned(), wanted)
}

fn number<T: FromStr>(text: &str) -> Result<T, LineError> {
    text.parse().map_err(|_| column(text, "number, or too large"))
}

fn hash(text: &str) -> Result<u64, LineError> {
    u64::from_str_radix(text, 16).map_err(|_| column(text, "hash"))
}

/// Tabs and line breaks would end a column.
fn clean(text: &str) -> String {
    text.replace(|c: char| c.is_control(), "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let path = |key, count| GatePath {
            key,
            count,
            length: 7,
            text: "3 · 4 hit != null → yes".to_owned(),
        };
        let method = |name: &str, paths: Vec<GatePath>| GateMethod {
            class: "shop.Cache".to_owned(),
            name: name.to_owned(),
            code: 0x1234,
            file: Some("shop/Cache.java".to_owned()),
            line: Some(3),
            calls: 5,
            instructions: 70,
            outside: u64::from(name.starts_with("get")),
            paths,
        };
        let test = |name: &str, unstable: Option<&str>| GateTest {
            name: name.to_owned(),
            instructions: 100,
            most: 104,
            own: unstable.map_or(Some([90, 90]), |_| None),
            allocated: unstable.map(|_| 16),
            time: unstable.map(|_| [5000, 7000]),
            allocations: unstable.map(|_| 0),
            outside: Some(Outside { calls: 3, perhaps: 1 }),
            limit: unstable.map(|_| 0.005),
            unstable: unstable.map(str::to_owned),
            methods: vec![
                method("get(int)", vec![path(1, 9), path(2, 1)]),
                method("put()", Vec::new()),
            ],
        };
        let mut file = GateFile {
            runs: 2,
            tests: vec![test("a", None), test("b", Some("differs")), test("c", None)],
        };
        file.tests[2].own = Some([100, 104]);
        let text = to_text(&file);
        assert_eq!(text.lines().filter(|line| line.starts_with("own\t")).count(), 1);
        assert_eq!(parse(&text).unwrap(), file);
        assert_eq!(to_text(&parse(&text).unwrap()), text);
        // Each line that is cut off or left out is noticed, or says less; none panics.
        for cut in 0..text.len() {
            if text.is_char_boundary(cut) {
                let _ = parse(&text[..cut]);
            }
        }
    }
}
