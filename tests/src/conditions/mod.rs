//! Conditions recovered from bytecode against what javac's own parser finds on the same line of the source.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_instrumenter::{InstrumentOptions, Instrumenter, Preparation, ProbeKind};
use trodden_profile::{ClassMap, Condition, ConditionKind};
use trodden_source::text::{MatchQuality, SourceFile, Token, fit, stripped, tokens};
use trodden_source::{Classes, recover};
use zip::ZipArchive;

use crate::build::{ROOT, cached, javac};
use crate::jdk::Jdk;
use crate::{Result, build, process};

const LIMIT: Duration = Duration::from_secs(600);

/// Libraries with sources on Maven Central: group:artifact:version.
pub const LIBRARIES: &[&str] = &[
    "commons-cli:commons-cli:1.6.0",
    "org.apache.commons:commons-lang3:3.14.0",
    "org.jsoup:jsoup:1.17.2",
    "com.google.guava:guava:33.2.1-jre",
];

/// How a recovered condition compares with the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// The same, but for what bytecode does not have (qualifiers, casts, parentheses).
    Same,
    /// The same, but with a constant's value in place of its name or `…` in place of a part.
    Compatible,
    /// The opposite of the source's: as true, but not as the source has it.
    Opposite,
    /// It is not known.
    Unknown,
    /// The source has no such condition on that line.
    Wrong,
}

/// A condition of the source, by javac's parser.
#[derive(Clone, Debug)]
pub struct Truth {
    /// `if`, `while`, `for`, `foreach`, `do`, `value`, `switch`, `assert`; with `not-` in front for operands
    /// of what is negated as a whole.
    pub kind: String,
    /// First line.
    pub first: u32,
    /// Last line.
    pub last: u32,
    /// Source text.
    pub text: String,
}

/// One branch, judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// `file:line`.
    pub place: String,
    /// Name of the method.
    pub method: String,
    /// The recovered condition.
    pub condition: Condition,
    /// From bytecode alone.
    pub bytecode: Judgement,
    /// The text from the source.
    pub text: Option<String>,
    /// See `text`.
    pub with_source: Judgement,
    /// True if the kind of construct is right. Unknown without a truth of the same text.
    pub kind: Option<bool>,
    /// The conditions of the source on the line.
    pub truths: Vec<String>,
}

/// All conditions of one library.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Each branch and switch that the compiler did not add.
    pub judged: Vec<Judged>,
    /// Branches that the compiler added, by rule.
    pub made: BTreeMap<&'static str, usize>,
}

/// Class files by internal name.
#[derive(Debug, Default)]
pub struct Jar(HashMap<String, Vec<u8>>);

impl Classes for Jar {
    fn class(&self, name: &str) -> Option<std::borrow::Cow<'_, [u8]>> {
        self.0.get(name).map(|bytes| bytes.as_slice().into())
    }
}

impl Jar {
    /// Reads a jar.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(file: &Path) -> Result<Self> {
        let mut zip = ZipArchive::new(std::fs::File::open(file)?)?;
        let mut jar = Jar::default();
        for index in 0..zip.len() {
            let mut entry = zip.by_index(index)?;
            let name = entry.name()?.into_owned();
            if let Some(class) = name.strip_suffix(".class").filter(|n| !n.starts_with("META-INF")) {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes)?;
                jar.0.insert(class.to_owned(), bytes);
            }
        }
        Ok(jar)
    }

    /// Reads all class files below a folder.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of_folder(folder: &Path) -> Result<Self> {
        let mut jar = Jar::default();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(&next)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "class") {
                    let relative = path.strip_prefix(folder)?.with_extension("");
                    let name = relative.to_string_lossy().into_owned();
                    jar.0.insert(name, std::fs::read(&path)?);
                }
            }
        }
        Ok(jar)
    }
}

/// Fetches a library's jar and its sources: (jar, folder of sources).
///
/// # Errors
/// If Maven fails.
pub fn fetch(library: &str) -> Result<(PathBuf, PathBuf)> {
    let name = library.split(':').nth(1).ok_or("group:artifact:version")?;
    let folder = cached(&format!("library-{name}"), &[], &[library], |out| {
        for artifact in [library.to_owned(), format!("{library}:jar:sources")] {
            let mut maven = Command::new("mvn");
            maven.args([
                "-q",
                "-B",
                "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
            ]);
            maven.arg(format!("-Dartifact={artifact}"));
            maven.arg(format!("-DoutputDirectory={}", out.display()));
            build::run_maven(&mut maven)?;
        }
        let sources = out.join("sources");
        for entry in std::fs::read_dir(out)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.ends_with("-sources.jar") {
                ZipArchive::new(std::fs::File::open(&path)?)?.extract(&sources)?;
            } else {
                std::fs::rename(&path, out.join("classes.jar"))?;
            }
        }
        Ok(())
    })?;
    Ok((folder.join("classes.jar"), folder.join("sources")))
}

/// The conditions that javac's parser finds in sources: by file, relative to the folder.
///
/// # Errors
/// If the parser cannot be run.
pub fn truths(sources: &Path) -> Result<HashMap<String, Vec<Truth>>> {
    let jdk = &Jdk::oldest()?;
    let source = Path::new(ROOT).join("conditions/Conditions.java");
    let parser = cached("conditions", std::slice::from_ref(&source), &[], |out| {
        javac(jdk, ".", std::slice::from_ref(&source), out)
    })?;
    let work = tempfile::tempdir()?;
    let list = work.path().join("list");
    let mut java = jdk.command("java");
    java.arg("-cp")
        .arg(&parser)
        .arg("Conditions")
        .arg(&list)
        .arg(sources);
    process::run(&mut java, LIMIT)?.success()?;
    let mut found: HashMap<String, Vec<Truth>> = HashMap::new();
    for line in std::fs::read_to_string(&list)?.lines() {
        let fields: Vec<&str> = line.splitn(5, '\t').collect();
        let &[file, kind, first, last, text] = fields.as_slice() else {
            return Err(format!("not five fields: {line}").into());
        };
        found.entry(file.to_owned()).or_default().push(Truth {
            kind: kind.to_owned(),
            first: first.parse()?,
            last: last.parse()?,
            text: text.to_owned(),
        });
    }
    Ok(found)
}

/// The path map of a class, of all methods with branches.
pub fn map_of(bytes: &[u8]) -> Option<std::sync::Arc<ClassMap>> {
    let options = InstrumentOptions::new(ProbeKind::Counters);
    match Instrumenter::new(options).prepare(bytes) {
        Ok(Preparation::Ready(prepared)) => Some(prepared.map().clone()),
        _ => None,
    }
}

/// Judges all branches of the classes in a jar.
///
/// # Errors
/// If a class cannot be read.
pub fn judge(jar: &Jar, sources: &Path, truths: &HashMap<String, Vec<Truth>>) -> Result<Library> {
    let mut names: Vec<&String> = jar.0.keys().collect();
    names.sort();
    let mut library = Library::default();
    let mut texts: HashMap<String, Option<SourceFile>> = HashMap::new();
    for name in names {
        let bytes = &jar.0[name];
        let Some(map) = map_of(bytes) else { continue };
        let package = name.rsplit_once('/').map_or("", |(package, _)| package);
        let file = map.source_file.as_deref().unwrap_or_default();
        let file = format!("{package}/{file}").trim_start_matches('/').to_owned();
        let Some(truths) = truths.get(&file) else { continue };
        let text = texts.entry(file.clone()).or_insert_with(|| {
            let text = std::fs::read_to_string(sources.join(&file)).ok()?;
            Some(SourceFile::new(text))
        });
        let all = recover(bytes, &map, jar, |_| true).map_err(|e| format!("{name}: {}", e.message))?;
        for (method, conditions) in map.methods.iter().zip(&all) {
            for condition in &conditions.conditions {
                let made = conditions.made(condition.block).or(condition.made);
                if let Some(made) = made {
                    *library.made.entry(made.name()).or_default() += 1;
                    continue;
                }
                let Some(line) = method.line(method.blocks[condition.block as usize].last) else {
                    continue;
                };
                let here = truths.iter().filter(|t| (t.first..=t.last).contains(&line));
                let here: Vec<&Truth> = here.collect();
                let with_text = text.as_ref().and_then(|text| text.condition(line, condition));
                let (bytecode, kind) = compare(condition.text.as_deref(), condition.kind, &here);
                let plain = with_text.as_ref().map(|t| t.text.as_str());
                let (with_source, _) = compare(plain, condition.kind, &here);
                library.judged.push(Judged {
                    place: format!("{file}:{line}"),
                    method: method.name.clone(),
                    condition: condition.clone(),
                    bytecode,
                    text: with_text.map(|t| t.text),
                    with_source,
                    kind,
                    truths: here.iter().map(|t| format!("{} {}", t.kind, t.text)).collect(),
                });
            }
        }
    }
    Ok(library)
}

fn same_kind(kind: ConditionKind, truth: &str) -> bool {
    let truth = truth.trim_start_matches("not-");
    match kind {
        ConditionKind::If => matches!(truth, "if" | "assert" | "value"),
        ConditionKind::Value => matches!(truth, "value" | "if"),
        ConditionKind::While => truth == "while",
        ConditionKind::For => truth == "for",
        ConditionKind::ForEach => truth == "foreach",
        ConditionKind::DoWhile => truth == "do",
        ConditionKind::Loop => matches!(truth, "for" | "while" | "do"),
        ConditionKind::Switch => truth == "switch",
        ConditionKind::SafeCall => truth == "?.",
    }
}

fn compare(text: Option<&str>, kind: ConditionKind, truths: &[&Truth]) -> (Judgement, Option<bool>) {
    let Some(text) = text else {
        return (Judgement::Unknown, None);
    };
    let fit_of = |text: &str, truth: &Truth| {
        let (a, b) = (tokens(text), tokens(&truth.text));
        let (a, b): (Vec<&Token>, Vec<&Token>) = (a.iter().collect(), b.iter().collect());
        fit(&stripped(&a), &stripped(&b))
    };
    let best = truths
        .iter()
        .map(|truth| fit_of(text, truth))
        .max()
        .unwrap_or(MatchQuality::No);
    let right = |found: MatchQuality| {
        let of = truths.iter().filter(|truth| fit_of(text, truth) == found);
        Some(of.into_iter().any(|truth| same_kind(kind, &truth.kind)))
    };
    match best {
        MatchQuality::Same => (Judgement::Same, right(MatchQuality::Same)),
        MatchQuality::Compatible => (Judgement::Compatible, right(MatchQuality::Compatible)),
        MatchQuality::No => {
            let opposites = opposites(text);
            let opposite = truths
                .iter()
                .any(|t| opposites.iter().any(|text| fit_of(text, t) != MatchQuality::No));
            if opposite {
                (Judgement::Opposite, None)
            } else {
                (Judgement::Wrong, None)
            }
        }
    }
}

/// Texts that say the opposite.
fn opposites(text: &str) -> Vec<String> {
    const SIGNS: [(&str, &str); 6] = [
        (" == ", " != "),
        (" != ", " == "),
        (" < ", " >= "),
        (" >= ", " < "),
        (" > ", " <= "),
        (" <= ", " > "),
    ];
    let mut found = Vec::new();
    for (sign, other) in SIGNS {
        if text.contains(sign) {
            found.push(text.replacen(sign, other, 1));
        }
    }
    match text.strip_prefix('!') {
        Some(rest) => found.push(rest.to_owned()),
        None => found.push(format!("!{text}")),
    }
    found
}

/// The counts as a table.
pub fn table(rows: &[(String, Library)]) -> String {
    use Judgement::*;
    let mut out = String::from(
        "| library | branches | same | compatible | opposite | unknown | wrong | kind right | with source: right | unknown | wrong |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (name, library) in rows {
        let of = |judgement| library.judged.iter().filter(|j| j.bytecode == judgement).count();
        let text = |judgement| {
            library
                .judged
                .iter()
                .filter(|j| j.with_source == judgement)
                .count()
        };
        let kinds: Vec<bool> = library.judged.iter().filter_map(|j| j.kind).collect();
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {} | {} | {} of {} | {} | {} | {} |",
            library.judged.len(),
            of(Same),
            of(Compatible),
            of(Opposite),
            of(Unknown),
            of(Wrong),
            kinds.iter().filter(|&&k| k).count(),
            kinds.len(),
            text(Same) + text(Compatible),
            text(Unknown),
            text(Opposite) + text(Wrong),
        );
    }
    out
}
