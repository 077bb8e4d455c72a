//! Do CPU samples agree with other profilers about where the time goes? The same work once under each: ours,
//! ours again (how much two runs differ anyway), async-profiler, the JVM's flight recorder.
//!
//! A method's share is that of the samples whose innermost Java frame is its, so that what lies below Java
//! code (native functions, the kernel, the JVM) counts for who called it, in every tool. Threads without Java
//! frames (compilers, collectors) are left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::error::{Error, Result, io};
use crate::jvm::Config;
use crate::long;
use crate::overhead;
use crate::record::Record;
use crate::workload::Workload;
use crate::workspace::Workspace;
use crate::{Plan, progress};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// Programs, as NAME:ITERATIONS
    #[arg(long, value_delimiter = ',', required = true)]
    pub work: Vec<String>,
    /// The one processor of all JVMs
    #[arg(long)]
    pub processor: Option<u32>,
    /// The trodden command (default: target/release/trodden)
    #[arg(long)]
    pub trodden: Option<PathBuf>,
}

/// Each method's share of all samples, by `package/Class.method`.
type Shares = BTreeMap<String, f64>;

/// Smaller shares are not written down, though compared.
const SHOWN: f64 = 0.001;
const OURS: &str = "trodden:probe=none,sample=1ms";
const HEAD: [&str; 6] = [
    "JDK",
    "program",
    "compared",
    "of its first ten, in our first ten",
    "rank correlation of these",
    "shares of all methods that overlap, %",
];

/// Measures, and returns the summary.
///
/// # Errors
/// If a program fails, or a tool's output is not understood.
pub fn run(
    plan: &Plan,
    workspace: &Workspace,
    work: &[(Workload, u32)],
    arguments: &Arguments,
    trodden: &Path,
    record: &Record,
) -> Result<String> {
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let mut raw = record.raw("jdk,program,tool,method,share")?;
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    let mut text = String::new();
    for (program, iterations) in long::programs(plan, work, folder.path()) {
        let (jdk, workload) = (program.jdk, program.workload);
        let mut measured: Vec<(&str, Shares)> = Vec::new();
        for name in ["ours", "ours again", "async-profiler", "jfr"] {
            progress(&format!("{} {} {name}", jdk.version, workload.name));
            let is_ours = name.starts_with("ours");
            let config = if is_ours {
                Config::parse(OURS)?
            } else {
                overhead::tool(workspace, trodden, name, folder.path())?
            };
            let ran = program.run(&config, iterations, &config.jvm, arguments.processor)?;
            let shares = match name {
                "async-profiler" => {
                    let file = folder.path().join("async.txt");
                    collapsed(&std::fs::read_to_string(&file).map_err(io("read", &file))?)
                }
                "jfr" => flight(&jdk.home.join("bin/jfr"), &folder.path().join("jfr.jfr"))?,
                _ => ours(
                    &long::json(trodden, "report", &[&ran.profile])?,
                    trodden,
                    &ran.profile,
                )?,
            };
            for (method, share) in shares.iter().filter(|(_, share)| **share >= SHOWN) {
                raw.line(&format!(
                    "{},{},{name},{method},{share:.5}",
                    jdk.version, workload.name
                ))?;
            }
            measured.push((name, shares));
        }
        let (_, first) = &measured[0];
        for (name, shares) in &measured[1..] {
            let agreement = Agreement::of(shares, first);
            rows.push(vec![
                jdk.version.clone(),
                workload.name.clone(),
                (*name).to_owned(),
                agreement.common.to_string(),
                agreement
                    .correlation
                    .map_or("–".to_owned(), |r| format!("{r:.2}")),
                format!("{:.1}", 100.0 * agreement.overlap),
            ]);
        }
        text = format!(
            "Shares of methods in the samples of three profilers, against ours; all but the recorder's samples are taken by \
             CPU time. \"ours again\" is a second run of ours: what no tool could better.\n\n{}",
            long::table(&rows)
        );
        record.write("summary.md", &text)?;
    }
    Ok(text)
}

/// How far two profilers agree.
struct Agreement {
    /// Of the other's first ten methods, so many are in our first ten.
    common: usize,
    /// Spearman's, of the other's first ten, by their shares there and here.
    correlation: Option<f64>,
    /// Sum of the lesser share of each method.
    overlap: f64,
}

impl Agreement {
    fn of(other: &Shares, ours: &Shares) -> Self {
        let first = |shares: &Shares| {
            let mut all: Vec<(String, f64)> = shares.iter().map(|(m, s)| (m.clone(), *s)).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
            all.truncate(10);
            all
        };
        let (theirs, mine) = (first(other), first(ours));
        let here = |method: &str| ours.get(method).copied().unwrap_or(0.0);
        let pairs: Vec<(f64, f64)> = theirs.iter().map(|(m, share)| (*share, here(m))).collect();
        Agreement {
            common: theirs
                .iter()
                .filter(|(m, _)| mine.iter().any(|(n, _)| n == m))
                .count(),
            correlation: spearman(&pairs),
            overlap: other.iter().map(|(m, share)| share.min(here(m))).sum(),
        }
    }
}

/// Spearman's rank correlation; equal values share the mean of their ranks. `None` if all values of one side
/// are equal.
fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        let rank = |value: &f64| {
            let less = values.iter().filter(|v| *v < value).count();
            let equal = values.iter().filter(|v| *v == value).count();
            less as f64 + (equal as f64 - 1.0) / 2.0
        };
        values.iter().map(rank).collect()
    };
    let a = ranks(pairs.iter().map(|pair| pair.0).collect());
    let b = ranks(pairs.iter().map(|pair| pair.1).collect());
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let product = |x: &[f64], mean_x: f64, y: &[f64], mean_y: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum()
    };
    let spread = (product(&a, mean_a, &a, mean_a) * product(&b, mean_b, &b, mean_b)).sqrt();
    (spread > 0.0).then(|| product(&a, mean_a, &b, mean_b) / spread)
}

/// Shares out of weights.
fn shares(weights: BTreeMap<String, f64>) -> Shares {
    let all: f64 = weights.values().sum();
    weights.into_iter().map(|(m, weight)| (m, weight / all)).collect()
}

/// Ours: time of a method itself; frames that stand for something else than a method are left out.
fn ours(report: &Value, trodden: &Path, profile: &Path) -> Result<Shares> {
    let methods = report["time"]["methods"].as_array();
    let methods = methods.ok_or_else(|| Error::Program {
        program: format!("{} report {}", trodden.display(), profile.display()),
        problem: "there is no time in it".to_owned(),
    })?;
    let mut weights = BTreeMap::new();
    for method in methods {
        let word = |key: &str| method[key].as_str().unwrap_or_default();
        if word("kind") != "java" && word("kind") != "native" {
            continue;
        }
        let name = plain(&format!("{}.{}", word("class"), word("name")));
        *weights.entry(name).or_default() += method["self"]["seconds"].as_f64().unwrap_or_default();
    }
    Ok(shares(weights))
}

/// Lines `frame;frame;frame count`, outermost frame first; Java frames are `package/Class.method`.
fn collapsed(text: &str) -> Shares {
    let mut weights = BTreeMap::new();
    for line in text.lines() {
        let Some((stack, count)) = line.rsplit_once(' ') else {
            continue;
        };
        let innermost = stack.split(';').rev().find(|frame| is_java(frame));
        if let (Some(frame), Ok(count)) = (innermost, count.parse::<f64>()) {
            *weights.entry(plain(frame)).or_default() += count;
        }
    }
    shares(weights)
}

/// Is a frame's name that of a Java method in a package?
fn is_java(frame: &str) -> bool {
    let Some((class, method)) = frame.rsplit_once('.') else {
        return false;
    };
    let word =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_$<>".contains(c));
    // Of hidden classes the name goes on behind the package with an address.
    class.contains('/') && !class.starts_with('/') && class.split(['/', '.', '+']).all(word) && word(method)
}

/// A name without what differs from run to run: numbers of lambdas and addresses of hidden classes.
fn plain(name: &str) -> String {
    let (class, method) = name.rsplit_once('.').unwrap_or((name, ""));
    let end = class
        .find("$$Lambda")
        .map(|at| at + "$$Lambda".len())
        .or_else(|| class.find(".0x"))
        .or_else(|| class.find("+0x"))
        .unwrap_or(class.len());
    format!("{}.{method}", &class[..end])
}

/// The flight recorder's samples, by the tool that belongs to it.
fn flight(tool: &Path, recording: &Path) -> Result<Shares> {
    let output = Command::new(tool)
        .args(["print", "--json", "--stack-depth", "1", "--events"])
        .arg("jdk.ExecutionSample,jdk.NativeMethodSample")
        .arg(recording)
        .output()
        .map_err(io("start", tool))?;
    let failed = |problem: String| Error::Program {
        program: "jfr print".to_owned(),
        problem,
    };
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let all: Value = serde_json::from_slice(&output.stdout).map_err(|e| failed(e.to_string()))?;
    let mut weights = BTreeMap::new();
    for event in all["recording"]["events"].as_array().into_iter().flatten() {
        // Native samples are of threads that wait as well, and say nothing of CPU time.
        if event["type"] != "jdk.ExecutionSample" {
            continue;
        }
        let method = &event["values"]["stackTrace"]["frames"][0]["method"];
        if let (Some(class), Some(name)) = (method["type"]["name"].as_str(), method["name"].as_str()) {
            let name = plain(&format!("{}.{name}", class.replace('.', "/")));
            *weights.entry(name).or_default() += 1.0;
        }
    }
    Ok(shares(weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_compared() {
        let same = [(5.0, 50.0), (4.0, 40.0), (1.0, 2.0)];
        assert_eq!(spearman(&same), Some(1.0));
        assert_eq!(spearman(&same.map(|(a, b)| (a, -b))), Some(-1.0));
        // Ranks 3 2 1 against 2 3 1.
        assert_eq!(spearman(&[(5.0, 4.0), (4.0, 5.0), (1.0, 1.0)]), Some(0.5));
        assert_eq!(spearman(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn the_innermost_java_frame_counts() {
        let text = "a/Main.main;a/b/C.run;memcpy 3\n\
                    a/Main.main;a/b/C$D.<init> 1\n\
                    start_thread;thread_native_entry;Compile::Compile 90\n\
                    a/Main.main;a/C$$Lambda$14.0x0000000800c03000.get;libc.so.6 4\n";
        let found = collapsed(text);
        let expected = [
            ("a/C$$Lambda.get", 0.5),
            ("a/b/C$D.<init>", 0.125),
            ("a/b/C.run", 0.375),
        ];
        assert_eq!(
            found,
            expected
                .map(|(m, share)| (m.to_owned(), share))
                .into_iter()
                .collect()
        );
    }

    #[test]
    fn agreement_of_two() {
        let of = |pairs: &[(&str, f64)]| {
            pairs
                .iter()
                .map(|(m, s)| ((*m).to_owned(), *s))
                .collect::<Shares>()
        };
        let (other, ours) = (
            of(&[("a", 0.5), ("b", 0.3), ("c", 0.2)]),
            of(&[("a", 0.6), ("b", 0.4)]),
        );
        let agreement = Agreement::of(&other, &ours);
        assert_eq!((agreement.common, agreement.correlation), (2, Some(1.0)));
        assert!((agreement.overlap - 0.8).abs() < 1e-9);
    }
}
