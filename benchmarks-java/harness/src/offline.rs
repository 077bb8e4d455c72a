//! How fast `trodden instrument` is, against JaCoCo's offline instrumenter and a bare reading and writing
//! with ASM: MB of class bytes per second of wall time, from jar to jar. Runs alternate; the median of the
//! rounds is shown.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::compile::compile;
use crate::error::{Error, Result, io};
use crate::long;
use crate::progress;
use crate::record::Record;
use crate::stats::Spread;
use crate::workspace::{Jdk, Workspace};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// Rounds; the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// The trodden command (default: target/release/trodden)
    #[arg(long)]
    pub trodden: Option<PathBuf>,
    /// Jars
    #[arg(required = true)]
    pub jars: Vec<PathBuf>,
}

/// Competitors, in the order of the columns.
const HEAD: [&str; 7] = [
    "jar",
    "class MB",
    "trodden, 1 thread",
    "trodden, all",
    "JaCoCo offline",
    "ASM copy, cold",
    "ASM copy, warm (20th round)",
];
/// Rounds inside one JVM, the last of which is the warm one.
const WARM: u32 = 20;

/// Measures, and returns the table.
///
/// # Errors
/// If a jar cannot be read, or a program fails.
pub fn run(
    workspace: &Workspace,
    jdk: &Jdk,
    arguments: &Arguments,
    trodden: &Path,
    record: &Record,
) -> Result<String> {
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let asm = workspace.set("asm")?;
    let jacoco = workspace.set("jacoco")?;
    let classes = folder.path().join("classes");
    compile(
        jdk,
        &[workspace.root().join("offline/AsmCopy.java")],
        &asm,
        &classes,
    )?;
    let class_path = std::env::join_paths(std::iter::once(&classes).chain(&asm))
        .map_err(|e| Error::Usage(format!("class path: {e}")))?;
    let (out, jacoco_out) = (folder.path().join("out.jar"), folder.path().join("jacoco"));
    let mut raw = record.raw("jdk,jar,who,round,seconds")?;
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for jar in &arguments.jars {
        let name = jar.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let megabytes = class_bytes(jar)? as f64 / 1e6;
        let mut seconds: [Vec<f64>; 5] = Default::default();
        for round in 0..arguments.rounds {
            progress(&format!("{name} {}/{}", round + 1, arguments.rounds));
            let instrument = || {
                let mut command = Command::new(trodden);
                command
                    .arg("instrument")
                    .arg(jar)
                    .args(["--strip-signatures", "--probe", "counters", "-o"])
                    .arg(&out);
                command
            };
            let copy = |rounds: u32| {
                let mut command = Command::new(jdk.java());
                command
                    .arg("-cp")
                    .arg(&class_path)
                    .arg("AsmCopy")
                    .arg(jar)
                    .arg(rounds.to_string())
                    .arg(&out);
                command
            };
            if jacoco_out.exists() {
                std::fs::remove_dir_all(&jacoco_out).map_err(io("remove", &jacoco_out))?;
            }
            let mut offline = Command::new(jdk.java());
            offline
                .arg("-jar")
                .args(&jacoco)
                .arg("instrument")
                .arg(jar)
                .arg("--dest")
                .arg(&jacoco_out);
            let times = [
                timed(instrument().env("RAYON_NUM_THREADS", "1"))?.0,
                timed(&mut instrument())?.0,
                timed(&mut offline)?.0,
                timed(&mut copy(1))?.0,
                last_number(&timed(&mut copy(WARM))?.1)?,
            ];
            for ((who, time), all) in HEAD[2..].iter().zip(times).zip(&mut seconds) {
                // Commas divide the fields.
                let who = who.replace(',', "");
                raw.line(&format!("{},{name},{who},{round},{time:.4}", jdk.version))?;
                all.push(time);
            }
        }
        let rate = |seconds: &Vec<f64>| {
            Spread::of(seconds).map_or("-".into(), |s| format!("{:.1}", megabytes / s.median))
        };
        let mut row = vec![name, format!("{megabytes:.1}")];
        row.extend(seconds.iter().map(rate));
        rows.push(row);
        record.write("summary.md", &long::table(&rows))?;
    }
    Ok(long::table(&rows))
}

/// Seconds from start to exit, and standard output.
fn timed(command: &mut Command) -> Result<(f64, String)> {
    let program = command.get_program().to_owned();
    let begin = Instant::now();
    let output = command.output().map_err(io("start", &program))?;
    let seconds = begin.elapsed().as_secs_f64();
    if output.status.success() {
        return Ok((seconds, String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    Err(Error::Program {
        program: program.to_string_lossy().into_owned(),
        problem: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

fn last_number(text: &str) -> Result<f64> {
    let number = text.lines().last().and_then(|line| line.trim().parse().ok());
    number.ok_or_else(|| Error::Program {
        program: "AsmCopy".to_owned(),
        problem: format!("did not end with a number: '{text}'"),
    })
}

/// Bytes of all class files in a jar, unpacked.
fn class_bytes(jar: &Path) -> Result<u64> {
    let file = File::open(jar).map_err(io("open", jar))?;
    let wrong = |e: zip::result::ZipError| Error::Program {
        program: jar.display().to_string(),
        problem: e.to_string(),
    };
    let mut archive = zip::ZipArchive::new(file).map_err(wrong)?;
    let mut bytes = 0;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(wrong)?;
        if entry.name().map_err(wrong)?.ends_with(".class") {
            bytes += entry.size();
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_fail_are_errors() {
        assert_eq!(timed(Command::new("echo").arg("1.5")).unwrap().1, "1.5\n");
        assert!(timed(&mut Command::new("false")).is_err());
        assert_eq!(last_number("3\n1.5\n").unwrap(), 1.5);
        assert!(last_number("").is_err());
    }
}
