//! Patterns of file names: `trodden-%p.trodden`.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use super::value_error::{ValueError, file_name};

/// The file name of a profile, with places that are filled in when it is written.
///
/// `%p` is the process id, `%t` the UTC time as `YYYYMMDD-HHMMSS`, `%{NAME}` the environment variable,
/// `%%` a percent sign.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FilePattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Text(String),
    Pid,
    Time,
    Env(String),
}

/// Format that the extension of a profile's file name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// `.trodden`, and any extension that is not known: the profile itself.
    Trodden,
    /// `.trace`: the event stream itself.
    Trace,
    /// `.json`: the JSON report.
    Json,
    /// `.html`: the HTML report.
    Html,
    /// `.txt`: the text report.
    Text,
    /// `.dot`: flow graphs for Graphviz.
    Dot,
    /// `.svg`: a flow graph as a picture.
    Svg,
    /// `.collapsed`: calling contexts, or paths, as collapsed stacks.
    Collapsed,
    /// `.speedscope.json`: the same for speedscope.
    Speedscope,
    /// `.pb.gz`, `.pprof`: the same for pprof.
    Pprof,
    /// `.otlp`: the same for OpenTelemetry, as a protocol buffer.
    Otlp,
    /// `.otlp.json`: the same as JSON.
    OtlpJson,
    /// `.firefox.json`: the same for Firefox Profiler.
    Firefox,
    /// `.callgrind`: lines, calls and jumps for KCachegrind.
    Callgrind,
    /// `.jfr`: CPU samples as a file of Java Flight Recorder.
    Jfr,
    /// `.sarif`: the findings at their lines.
    Sarif,
}

impl FileFormat {
    /// Endings of file names that ask for a format; of two that fit the first one counts.
    pub const ENDINGS: [(&'static str, FileFormat); 18] = [
        (".trodden", FileFormat::Trodden),
        (".html", FileFormat::Html),
        (".htm", FileFormat::Html),
        (".speedscope.json", FileFormat::Speedscope),
        (".firefox.json", FileFormat::Firefox),
        (".otlp.json", FileFormat::OtlpJson),
        (".json", FileFormat::Json),
        (".txt", FileFormat::Text),
        (".dot", FileFormat::Dot),
        (".svg", FileFormat::Svg),
        (".collapsed", FileFormat::Collapsed),
        (".pb.gz", FileFormat::Pprof),
        (".pprof", FileFormat::Pprof),
        (".otlp", FileFormat::Otlp),
        (".callgrind", FileFormat::Callgrind),
        (".jfr", FileFormat::Jfr),
        (".sarif", FileFormat::Sarif),
        (".trace", FileFormat::Trace),
    ];

    /// The format that a file name's ending asks for; the profile itself if it asks for none.
    pub fn from_name(name: &str) -> Self {
        let found = Self::ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
        found.map_or(FileFormat::Trodden, |&(_, format)| format)
    }
}

/// A pattern names an environment variable that is not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("file pattern '{pattern}': environment variable {variable} is not set")]
pub struct UnsetVariable {
    /// The pattern.
    pub pattern: String,
    /// The variable.
    pub variable: String,
}

impl FilePattern {
    /// The pattern as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The format its extension asks for.
    pub fn format(&self) -> FileFormat {
        FileFormat::from_name(&self.text)
    }

    /// Does every process get a file of its own?
    pub fn has_pid(&self) -> bool {
        self.parts.contains(&Part::Pid)
    }

    /// A pattern for exactly this name.
    pub fn literal(name: &str) -> Self {
        let text = name.replace('%', "%%");
        FilePattern {
            parts: vec![Part::Text(name.to_owned())],
            text,
        }
    }

    /// The name for a process, a time and an environment.
    ///
    /// # Errors
    /// If the pattern names a variable that `env` does not know.
    pub fn expand(
        &self,
        pid: u32,
        time: SystemTime,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<String, UnsetVariable> {
        let mut name = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => name.push_str(text),
                Part::Pid => name.push_str(&pid.to_string()),
                Part::Time => name.push_str(&utc_stamp(time)),
                Part::Env(variable) => name.push_str(&env(variable).ok_or_else(|| UnsetVariable {
                    pattern: self.text.clone(),
                    variable: variable.clone(),
                })?),
            }
        }
        Ok(name)
    }

    /// Could some process at some time have got this name? Variables that are not set match anything.
    pub fn matches(&self, name: &str, env: impl Fn(&str) -> Option<String>) -> bool {
        let env = |variable: &str| env(variable);
        matches_parts(&self.parts, name, &env)
    }
}

fn matches_parts(parts: &[Part], name: &str, env: &dyn Fn(&str) -> Option<String>) -> bool {
    let Some((first, rest)) = parts.split_first() else {
        return name.is_empty();
    };
    let after_each_prefix = |is_part: &dyn Fn(&str) -> bool| {
        let ends = (0..=name.len()).filter(|&end| name.is_char_boundary(end));
        ends.into_iter()
            .any(|end| is_part(&name[..end]) && matches_parts(rest, &name[end..], env))
    };
    let after = |text: &str| {
        name.strip_prefix(text)
            .is_some_and(|name| matches_parts(rest, name, env))
    };
    match first {
        Part::Text(text) => after(text),
        Part::Env(variable) => match env(variable) {
            Some(value) => after(&value),
            None => after_each_prefix(&|_| true),
        },
        Part::Pid => after_each_prefix(&|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit())),
        Part::Time => after_each_prefix(&|s| {
            let stamp = |(i, b): (usize, u8)| if i == 8 { b == b'-' } else { b.is_ascii_digit() };
            s.len() == 15 && s.bytes().enumerate().all(stamp)
        }),
    }
}

impl FromStr for FilePattern {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        file_name(text)?;
        let wrong = |why| Err(ValueError::refused(text, why));
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(percent) = rest.find('%') {
            literal.push_str(&rest[..percent]);
            rest = &rest[percent + 1..];
            let special = match rest.chars().next() {
                Some('%') => {
                    literal.push('%');
                    rest = &rest[1..];
                    continue;
                }
                Some('p') => Part::Pid,
                Some('t') => Part::Time,
                Some('{') => match rest.find('}') {
                    Some(close) if close > 1 => Part::Env(rest[1..close].to_owned()),
                    Some(_) => return wrong("has a '%{}' that names no variable"),
                    None => return wrong("has a '%{' that no '}' closes"),
                },
                Some(other) => return Err(ValueError::Place(other, text.to_owned())),
                None => return wrong("ends in a single '%'; write '%%' for the sign itself"),
            };
            rest = match &special {
                Part::Env(variable) => &rest[variable.len() + 2..],
                _ => &rest[1..],
            };
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal)));
            }
            parts.push(special);
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(FilePattern {
            text: text.to_owned(),
            parts,
        })
    }
}

impl fmt::Display for FilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Default for FilePattern {
    fn default() -> Self {
        FilePattern {
            text: "trodden-%p.trodden".to_owned(),
            parts: vec![
                Part::Text("trodden-".to_owned()),
                Part::Pid,
                Part::Text(".trodden".to_owned()),
            ],
        }
    }
}

/// `YYYYMMDD-HHMMSS` in UTC, by the Gregorian calendar.
fn utc_stamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    // Count from 0000-03-01, so that leap days come last in a year; an era is 400 years.
    days += 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..=9 => (era * 400 + year, month + 3),
        _ => (era * 400 + year + 1, month - 9),
    };
    let (h, m, s) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}-{h:02}{m:02}{s:02}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn env(name: &str) -> Option<String> {
        (name == "HOST").then(|| "alpha".to_owned())
    }

    #[test]
    fn expands_all_places() {
        let pattern: FilePattern = "a%%-%p-%t-%{HOST}.trodden".parse().unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(1_709_210_096);
        let name = pattern.expand(42, time, env).unwrap();
        assert_eq!(name, "a%-42-20240229-123456-alpha.trodden");
        assert!(pattern.matches(&name, env));
        assert!(!pattern.matches("a%-x-20240229-123456-alpha.trodden", env));
        assert!(!pattern.matches("a%-42-20240229-123456-beta.trodden", env));
    }

    #[test]
    fn stamps_at_the_edges_of_months() {
        for (seconds, stamp) in [
            (0, "19700101-000000"),
            (951_782_399, "20000228-235959"),
            (951_782_400, "20000229-000000"),
            (4_107_542_399, "21000228-235959"),
            (4_107_542_400, "21000301-000000"),
            (1_767_225_599, "20251231-235959"),
        ] {
            assert_eq!(utc_stamp(UNIX_EPOCH + Duration::from_secs(seconds)), stamp);
        }
    }

    #[test]
    fn unset_variable_is_named() {
        let pattern: FilePattern = "%{NOPE}.trodden".parse().unwrap();
        let error = pattern.expand(1, UNIX_EPOCH, env).unwrap_err().to_string();
        assert!(error.contains("NOPE"), "{error}");
    }

    #[test]
    fn bad_patterns_are_refused() {
        for text in ["", "%", "a%", "a%q", "%{A", "%{}", "%é"] {
            assert!(text.parse::<FilePattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn literal_names_stay_as_they_are() {
        let pattern = FilePattern::literal("100%p.html");
        assert_eq!(pattern.expand(1, UNIX_EPOCH, env).unwrap(), "100%p.html");
        assert_eq!(
            pattern
                .as_str()
                .parse::<FilePattern>()
                .unwrap()
                .expand(1, UNIX_EPOCH, env)
                .unwrap(),
            "100%p.html"
        );
        assert_eq!(pattern.format(), FileFormat::Html);
    }
}
